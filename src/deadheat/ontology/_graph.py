"""The is_a graph as arrays: every ancestor and every descendant of a term, with the length of the way to it."""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

import numpy as np

from deadheat.arrays import run_starts
from deadheat.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from deadheat.arrays import IntArray


@dataclass(frozen=True, eq=False)
class Closure:
    """Terms that are reached from each term, itself among them.

    Attributes
    ----------
    start : ndarray of shape (n_terms + 1,)
        Those of term i stand at ``start[i]`` .. ``start[i + 1] - 1`` of the other two.
    index : ndarray of shape (n_reached,)
    distance : ndarray of shape (n_reached,)
        Edges on the shortest way.
    """

    start: IntArray
    index: IntArray
    distance: IntArray

    def of(self, term: int) -> IntArray:
        """Return the terms reached from one."""
        return self.index[self.start[term] : self.start[term + 1]]

    def distances(self, term: int) -> IntArray:
        """Return how far they are, aligned with :meth:`of`."""
        return self.distance[self.start[term] : self.start[term + 1]]

    def reversed(self) -> Closure:
        """Return what reaches each term."""
        sizes = np.diff(self.start)
        order = np.argsort(self.index, kind="stable")
        origin = np.repeat(np.arange(len(sizes), dtype=self.index.dtype), sizes)[order]
        start = np.concatenate(([0], np.cumsum(np.bincount(self.index, minlength=len(sizes)))))
        return Closure(start, origin, self.distance[order])


@dataclass(frozen=True, eq=False)
class Graph:
    """A directed acyclic graph of terms.

    Attributes
    ----------
    child, parent : ndarray of shape (n_edges,)
    ancestors, descendants : Closure
        With the term itself.
    depth : ndarray of shape (n_terms,)
        Edges on the shortest way from a root, a term without parents: 0 for a root. Not monotone: a term can be
        nearer to the root than its ancestor.
    level : ndarray of shape (n_terms,)
        Edges on the longest way from a root: always more than those of every ancestor.
    """

    child: IntArray
    parent: IntArray
    ancestors: Closure
    descendants: Closure
    depth: IntArray
    level: IntArray


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
    n_terms = len(parents)
    depth, level = np.zeros(n_terms, np.int64), np.zeros(n_terms, np.int64)
    reached: list[IntArray] = [np.zeros(0, np.int32)] * n_terms
    far: list[IntArray] = [np.zeros(0, np.int32)] * n_terms
    for term in _parents_first(ids, parents, path):
        own = parents[term]
        if own:
            depth[term] = min(depth[parent] for parent in own) + 1
            level[term] = max(level[parent] for parent in own) + 1
        index = np.concatenate([np.array([term], np.int32), *(reached[parent] for parent in own)])
        distance = np.concatenate([np.zeros(1, np.int32), *(far[parent] + 1 for parent in own)])
        reached[term], far[term] = (index, distance) if len(own) < 2 else _nearest(index, distance)
    sizes = [len(index) for index in reached]
    ancestors = Closure(np.concatenate(([0], np.cumsum(sizes))), np.concatenate(reached), np.concatenate(far))
    child = np.repeat(np.arange(n_terms), [len(own) for own in parents])
    parent = np.array([term for own in parents for term in own], np.int64)
    return Graph(child, parent, ancestors, ancestors.reversed(), depth, level)


def _parents_first(ids: Sequence[str], parents: Sequence[tuple[int, ...]], path: Path | None) -> list[int]:
    try:
        return list(TopologicalSorter(dict(enumerate(parents))).static_order())
    except CycleError as error:
        cycle: list[int] = error.args[1]
        shown = " is_a ".join(ids[term] for term in reversed(cycle))
        msg = f"the is_a relations form a cycle, a term must not be its own ancestor: {shown}"
        raise DataError(msg, path=path) from None


def _nearest(index: IntArray, distance: IntArray) -> tuple[IntArray, IntArray]:
    """Keep each term once, with its smallest distance."""
    order = np.lexsort((distance, index))
    index, distance = index[order], distance[order]
    first = run_starts(index)
    return index[first], distance[first]
