"""Judgments under which a saved ranking is scored again: what its evaluation excluded is left out of them, too."""

from __future__ import annotations

from deadheat.core.data.qrels import Qrels
from deadheat.plugins.exclude.exclusion import Exclusion


def exclude_again(judgments: Qrels, before: Qrels) -> Qrels:
    """Return judgments without the pairs that were excluded of earlier ones; as they are if none were.

    Examples
    --------
    >>> before = Exclusion({"u": ["j"]}).of_qrels(Qrels({"u": {"j": 1, "k": 1}}))
    >>> exclude_again(Qrels({"u": {"j": 2, "k": 2}}), before).to_dict()
    {'u': {'k': 2}}
    """
    pairs = getattr(before, "excluded", None)
    if pairs is None:
        return judgments
    return Exclusion(pairs).of_qrels(judgments)
