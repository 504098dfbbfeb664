"""Shorter lists: the judged documents alone, or the first ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deadheat.arrays import BoolArray
from deadheat.errors import ParameterError
from deadheat.placements.placements import Placements
from deadheat.wording import Advice


def condense(placements: Placements) -> Placements:
    """Return the placements in lists without unjudged documents; those of negative relevance count as unjudged.

    Parameters
    ----------
    placements : Placements

    Examples
    --------
    >>> from deadheat import place
    >>> condensed = condense(place({"q": {"b": 1, "d": 0}}, {"q": {"a": 4, "b": 3, "c": 2, "d": 1}}))
    >>> condensed.above.tolist(), condensed.n_retrieved.tolist()
    ([0, 1], [2])
    """
    kept = _kept(placements, placements.relevance >= 0)
    starts = kept.tie_starts
    tied = np.diff(np.append(starts, len(kept.query)))
    of_query = np.searchsorted(kept.query, kept.query[starts])
    return replace(
        kept,
        n_retrieved=np.bincount(kept.query, minlength=kept.n_queries),
        above=np.repeat(starts - of_query, tied),
        tied=np.repeat(tied, tied),
    )


def truncate(
    placements: Placements, depth: int, ranked: Placements | None = None, *, deepest: int | None = None
) -> Placements:
    """Return the placements in the first documents of each list.

    Parameters
    ----------
    placements : Placements
    depth : int
        Documents of a list that are kept.
    ranked : Placements, optional
        The same documents without ties: says which of a tie remain, where the cut goes through it. What remains of it
        still ties.

    deepest : int, optional
        Rank below which nothing will be looked at. If that is above the cut, a tie that is cut may stay whole.

    Raises
    ------
    ParameterError
        The cut goes through a tie that holds judged documents.

    Examples
    --------
    >>> from deadheat import place
    >>> cut = truncate(place({"q": {"b": 1, "d": 0}}, {"q": {"a": 4, "b": 3, "c": 2, "d": 1}}), 3)
    >>> cut.above.tolist(), cut.n_retrieved.tolist()
    ([1], [3])
    """
    is_cut = (placements.above < depth) & (placements.above + placements.tied > depth)
    if ranked is not None:
        return _remaining(placements, depth, ranked)
    n_retrieved = np.minimum(placements.n_retrieved, depth)
    if deepest is not None and deepest <= depth:
        np.maximum.at(n_retrieved, placements.query[is_cut], (placements.above + placements.tied)[is_cut])
    elif is_cut.any():
        query = placements.query_ids[placements.query[np.flatnonzero(is_cut)[0]]]
        when = f"choose measures with a cutoff up to {depth}, or a rule that breaks ties: "
        raise ParameterError(
            f"cuts a tie of query {query!r}, and which documents remain depends on their order",
            argument="depth",
            given=depth,
            hint=Advice("ties", "doc_id", when=when),
        )
    return replace(_kept(placements, placements.above < depth), n_retrieved=n_retrieved)


def _remaining(placements: Placements, depth: int, ranked: Placements) -> Placements:
    """Return the placements of the documents that are among the first ones in `ranked`, with the ties they had."""
    first = ranked.above < depth
    among = set(zip(ranked.query[first].tolist(), ranked.doc_ids[first].tolist(), strict=True))
    own = zip(placements.query.tolist(), placements.doc_ids.tolist(), strict=True)
    kept = _kept(placements, np.fromiter((pair in among for pair in own), np.bool_, len(placements.query)))
    return replace(
        kept,
        n_retrieved=np.minimum(placements.n_retrieved, depth),
        tied=np.minimum(kept.tied, depth - kept.above),
    )


def _kept(placements: Placements, keep: BoolArray) -> Placements:
    """Return the placements with some of their rows, and without what was before a tie policy."""
    return replace(
        placements,
        query=placements.query[keep],
        doc_ids=placements.doc_ids[keep],
        relevance=placements.relevance[keep],
        above=placements.above[keep],
        tied=placements.tied[keep],
        before=None,
        ends_in_tie=None,
    )
