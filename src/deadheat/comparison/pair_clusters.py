"""Clusters of what languages share: pairs that are one cluster in any language."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass

from deadheat.stats.joining import joined_groups


@dataclass(frozen=True)
class PairClusters:
    """Clusters of pair ids.

    Attributes
    ----------
    codes : dict of str to int
        Of each pair id.
    differ : bool
        Whether some language has them in smaller clusters: these were joined.
    """

    codes: Mapping[str, int]
    differ: bool


def clusters_of_pairs(of_language: Mapping[str, Mapping[str, Collection[Hashable]]]) -> PairClusters:
    """Return the clusters of pairs: queries that depend on each other in one language do so in each comparison with it.

    Parameters
    ----------
    of_language : mapping of str to mapping of str to labels
        By language and pair id: what its query shares with others.

    Examples
    --------
    >>> clusters_of_pairs({"en": {"p": "x", "q": "y"}, "fr": {"p": "x", "q": "x"}})
    PairClusters(codes={'p': 0, 'q': 0}, differ=True)
    """
    labels: dict[str, set[Hashable]] = {}
    for own in of_language.values():
        for pair, held in own.items():
            labels.setdefault(pair, set()).update(held)
    codes = dict(zip(labels, joined_groups(list(labels.values())), strict=True))
    differ = any(_is_finer(own, codes) for own in of_language.values())
    return PairClusters(codes, differ)


def _is_finer(own: Mapping[str, Collection[Hashable]], codes: Mapping[str, int]) -> bool:
    """Tell whether a language alone has more clusters of its pairs than all together."""
    return len(set(joined_groups(list(own.values())))) > len({codes[pair] for pair in own})
