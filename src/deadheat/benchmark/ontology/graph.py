"""The is_a graph as arrays, level by level.

Nothing is stored for each pair of a term and its ancestor: a chain of 20,000 terms has 200 million of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import numpy as np

from deadheat.arrays import FloatArray, IntArray, run_starts
from deadheat.errors import DataError

MAX_BYTES = 1 << 26  # for the bits that say which terms are below which
WORD = 64
ONES = np.array([number.bit_count() for number in range(256)], np.uint8)
MOST_NAMED = 10  # terms of a cycle


@dataclass(frozen=True, eq=False)
class Graph:
    """A directed acyclic graph of terms.

    Attributes
    ----------
    parents : sequence of tuple of int
        Those of each term.
    child, parent : ndarray of shape (n_edges,)
    depth : ndarray of shape (n_terms,)
        Edges on the shortest path from a root, a term without parents: 0 for a root. Not monotone: a term can be
        nearer to the root than its ancestor.
    level : ndarray of shape (n_terms,)
        Edges on the longest path from a root: always more than those of every ancestor.
    """

    parents: Sequence[tuple[int, ...]]
    child: IntArray
    parent: IntArray
    depth: IntArray
    level: IntArray

    def ancestors(self, term: int) -> tuple[IntArray, IntArray]:
        """Return the ancestors of a term, itself included, and the edges on the shortest path to each."""
        far = {term: 0}
        for nearer in (waiting := [term]):  # which grows during the loop
            for parent in self.parents[nearer]:
                if parent not in far:
                    far[parent] = far[nearer] + 1
                    waiting.append(parent)
        return np.array(waiting), np.array(list(far.values()))

    def inherited(self, values: FloatArray, best: np.ufunc, edge: float = 0.0) -> FloatArray:
        """Return the best of the values of each term and its ancestors, of shape (n_terms,).

        Parameters
        ----------
        values : ndarray of shape (n_terms,)
        best : {np.maximum, np.minimum}
        edge : float, default 0
            What each edge on the path adds.
        """
        found = values[self._order]
        for start, stop, first, terms, others, starts in self._levels:
            own = found[start:stop]
            best(own, found[first] + edge, out=own)
            if len(terms):
                found[terms] = best(found[terms], best.reduceat(found[others] + edge, starts))
        return found[self._rank]

    def n_descendants(self) -> IntArray:
        """Return how many terms are below each, itself included, of shape (n_terms,).

        In a graph that is not a forest, bits say which terms are below each; terms are taken in batches, so that memory
        is bounded for any shape of graph.
        """
        inner = np.unique(self.parent)
        row = np.zeros(len(self.parents), np.int64)
        row[inner] = np.arange(len(inner))
        is_inner = np.isin(self.child, inner)
        up = _grouped(row[self.parent[is_inner]], row[self.child[is_inner]], -self.level[self.parent[is_inner]])
        # of each term that has children: itself, and its children that have none
        rows = np.concatenate((row[inner], row[self.parent[~is_inner]]))
        below = np.concatenate((inner, self.child[~is_inner]))
        counts = np.ones(len(self.parents), np.int64)
        if len(np.unique(self.child)) == len(self.child):
            found = np.bincount(rows, minlength=len(inner))
            for parents, children, starts in up:
                found[parents] += np.add.reduceat(found[children], starts)
            counts[inner] = found
        elif len(inner):
            counts[inner] = _counted(rows, below, up, (len(inner), len(self.parents)))
        return counts

    @cached_property
    def _order(self) -> IntArray:
        """The terms by their level."""
        return np.argsort(self.level, kind="stable")

    @cached_property
    def _rank(self) -> IntArray:
        """The position of each term in that order."""
        return np.argsort(self._order)

    @cached_property
    def _levels(self) -> list[tuple[int, int, IntArray, IntArray, IntArray, IntArray]]:
        """The levels below the roots, by rank.

        Of each: where its terms start and stop; one parent of each term; the terms that have several, their other
        parents, and where those of each begin. (Most terms have one parent, and `reduceat` takes long.)
        """
        sorting = np.lexsort((self.parent, self._rank[self.child]))
        child, parent = self._rank[self.child][sorting], self._rank[self.parent][sorting]
        is_first = np.diff(child, prepend=-1) > 0
        first, roots = parent[is_first], len(self._order) - np.count_nonzero(is_first)
        several = _grouped(child[~is_first], parent[~is_first], self.level[self._order[child[~is_first]]])
        by_level = {int(self.level[self._order[terms[0]]]): (terms, *others) for terms, *others in several}
        none = (np.zeros(0, np.int64),) * 3
        bounds = [roots, *(roots + np.cumsum(np.bincount(self.level)[1:])).tolist()]
        return [
            (start, stop, first[start - roots : stop - roots], *by_level.get(level, none))
            for level, (start, stop) in enumerate(pairwise(bounds), 1)
        ]


def build(ids: Sequence[str], parents: Sequence[tuple[int, ...]], path: Path | None = None) -> Graph:
    """Build the graph of a list of parents.

    Parameters
    ----------
    ids : sequence of str
        The terms, for messages.
    parents : sequence of tuple of int
        The parents of each, as indices.
    path : pathlib.Path, optional
        The file they were read from, for messages.

    Returns
    -------
    Graph

    Raises
    ------
    DataError
        A term is its own ancestor.
    """
    try:
        parents_first = list(TopologicalSorter(dict(enumerate(parents))).static_order())
    except CycleError as error:
        cycle: list[int] = error.args[1]
        named = [ids[term] for term in reversed(cycle)]
        if len(named) > MOST_NAMED + 1:
            named[MOST_NAMED:-1] = [f"... ({len(named) - 1:,} terms)"]
        raise DataError(
            f"the is_a relations form a cycle, but a term must not be its own ancestor: {' is_a '.join(named)}",
            path=path,
        ) from None
    depth, level = [0] * len(parents), [0] * len(parents)
    for term in parents_first:
        if own := parents[term]:
            depth[term], level[term] = min(depth[one] for one in own) + 1, max(level[one] for one in own) + 1
    child = np.repeat(np.arange(len(parents)), [len(own) for own in parents])
    parent = np.array([term for own in parents for term in own], np.int64)
    return Graph(parents, child, parent, np.array(depth), np.array(level))


def _grouped(term: IntArray, other: IntArray, order: IntArray) -> list[tuple[IntArray, IntArray, IntArray]]:
    """Group edges by an order: the terms of each group, their edges' other ends, and where those of each begin."""
    sorting = np.lexsort((term, order))
    term, other, order = term[sorting], other[sorting], order[sorting]
    starts = run_starts(order, term)
    groups = np.searchsorted(starts, bounds := [*run_starts(order).tolist(), len(order)]).tolist()
    return [
        (term[starts[i:j]], other[start:stop], starts[i:j] - start)
        for (i, j), (start, stop) in zip(pairwise(groups), pairwise(bounds), strict=True)
    ]


def _counted(
    rows: IntArray, below: IntArray, up: Sequence[tuple[IntArray, IntArray, IntArray]], shape: tuple[int, int]
) -> IntArray:
    """Count what is below each row: terms that are given, and those below its children.

    Parameters
    ----------
    rows, below : ndarray of shape (n_given,)
    up : sequence of (parents, children, starts)
        Edges between rows, the lowest parents first.
    shape : tuple of int
        Rows, and terms that may be below them.

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    n_rows, n_terms = shape
    counts = np.zeros(n_rows, np.int64)
    widest = n_rows + max((len(children) for _, children, _ in up), default=0)
    width = min(max(1, MAX_BYTES // 8 // widest), -(-n_terms // WORD))  # words of bits, held for each row
    for first in range(0, n_terms, width * WORD):
        bits = np.zeros((n_rows, width), np.uint64)
        own = (below >= first) & (below < first + width * WORD)
        word, bit = np.divmod(below[own] - first, WORD)
        np.bitwise_or.at(bits, (rows[own], word), np.uint64(1) << bit.astype(np.uint64))
        for parents, children, starts in up:
            bits[parents] |= np.bitwise_or.reduceat(bits[children], starts, axis=0)
        counts += ONES[bits.view(np.uint8)].sum(axis=1, dtype=np.int64)
    return counts
