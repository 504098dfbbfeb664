"""The is_a graph as arrays, level by level; information content; and the kinds of similarity of its terms.

Nothing is stored for each pair of a term and its ancestor: a chain of 20,000 terms has 200 million of them.

A kind of similarity compares one term with all terms. Terms without a common ancestor have similarity 0, of every kind.
Where a formula needs *the* common ancestor, it is the one with the most information, or the deepest.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.core.arrays import FloatArray, IntArray, run_starts
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.kernels.segments import divide_or_zero
from deadheat.core.scalars import is_number
from deadheat.core.wording import format_list

MAX_BYTES = 1 << 25  # for the bits that say which terms are below which
MOST_NAMED = 10  # terms of a cycle
NONE = -1.0


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

        Bits say which terms are below each; terms are taken in batches, so that memory is bounded for any shape of
        graph.
        """
        n_terms, upward = len(self.parents), self._order[::-1].tolist()
        counts = np.zeros(n_terms, np.int64)
        width = 1 + 8 * MAX_BYTES // max(1, len(np.unique(self.parent)))  # a leaf has a single bit
        for first in range(0, n_terms, width):
            bits = [0] * n_terms
            for term in upward:
                if first <= term < first + width:
                    bits[term] |= 1 << (term - first)
                for parent in self.parents[term]:
                    bits[parent] |= bits[term]
            counts += [own.bit_count() for own in bits]
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
        terms, others = child[~is_first], parent[~is_first]
        levels = []
        for start, stop in pairwise([roots, *(roots + np.cumsum(np.bincount(self.level)[1:])).tolist()]):
            own = slice(*np.searchsorted(terms, [start, stop]))
            starts = run_starts(terms[own])
            levels.append((start, stop, first[start - roots : stop - roots], terms[own][starts], others[own], starts))
        return levels


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
        named = [ids[term] for term in reversed(error.args[1])]
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
    return Graph(
        parents,
        child=np.repeat(np.arange(len(parents)), [len(own) for own in parents]),
        parent=np.array([term for own in parents for term in own], np.int64),
        depth=np.array(depth),
        level=np.array(level),
    )


def intrinsic(graph: Graph) -> FloatArray:
    r"""Return the intrinsic information content of each term, of shape (n_terms,).

    .. math:: IC(t) = 1 - \log(\text{descendants of t, itself included}) / \log(\text{terms})

    from 0 (a root above all terms) to 1 (a leaf); it rises strictly from a parent to its child.

    References
    ----------
    Seco, Veale and Hayes 2004, "An Intrinsic Information Content Metric for Semantic Similarity in WordNet",
    ECAI 2004, 1089-1090, https://dl.acm.org/doi/10.5555/3000001.3000272.
    """
    covered = graph.n_descendants()
    values = np.zeros(1) if len(covered) == 1 else 1 - np.log(covered) / np.log(len(covered))
    values.setflags(write=False)
    return values


def checked(given: Mapping[str, float], ids: Sequence[str], graph: Graph) -> FloatArray:
    """Return a given information content as an array of shape (n_terms,), or raise `ParameterError`."""
    missing = [term for term in ids if term not in given]
    others = sorted(str(term) for term in given.keys() - set(ids))
    odd = [f"{own!r} for {term!r}" for term, own in given.items() if not (is_number(own) and 0 <= own < np.inf)]
    values = np.zeros(0) if missing or odd else np.array([given[term] for term in ids], np.float64)
    falls = [
        f"{values[parent]:g} for {ids[parent]!r} and {values[child]:g} for its child {ids[child]!r}"
        for child, parent in zip(graph.child.tolist(), graph.parent.tolist(), strict=True)
        if len(values) and values[child] < values[parent]
    ]
    for found, problem, said in (
        (missing, f"must have a value for all {len(ids):,} terms", f"none for {format_list([*map(repr, missing)])}"),
        (others, "must name terms of the ontology only", format_list([*map(repr, others)])),
        (odd, "must be a finite number of 0 or more for each term", ""),
        (falls, "must not fall from a parent to its child", ""),
    ):
        if found:
            raise ParameterError(problem, argument="information_content", found=said or found[0])
    values.setflags(write=False)
    return values


def common(graph: Graph, value: NDArray[Any], term: int) -> FloatArray:
    """Return the largest value of a common ancestor of `term` and each term, `NONE` where there is no such ancestor.

    Parameters
    ----------
    graph : Graph
    value : ndarray of shape (n_terms,)
        Not negative.
    term : int

    Returns
    -------
    ndarray of shape (n_terms,)
    """
    ancestors, _ = graph.ancestors(term)
    largest = np.full(len(value), NONE)
    largest[ancestors] = value[ancestors]
    return graph.inherited(largest, np.maximum)


def resnik(graph: Graph, information: FloatArray, term: int) -> FloatArray:
    r"""Information content of the most informative common ancestor m.

    .. math:: \text{resnik}(a, b) = IC(m)

    From 0 to the highest information content, which is 1 for the intrinsic one; of a term with itself its own
    information content, so less than that for all but leaves.

    References
    ----------
    Resnik 1995, https://doi.org/10.48550/arXiv.cmp-lg/9511007.
    """
    return np.maximum(common(graph, information, term), 0.0)


def lin(graph: Graph, information: FloatArray, term: int) -> FloatArray:
    r"""Share of the information of both terms that their most informative common ancestor m carries.

    .. math:: \text{lin}(a, b) = \frac{2\, IC(m)}{IC(a) + IC(b)}

    From 0 to 1, and 1 for a term with itself (also a root, where the formula is 0/0). With the intrinsic information
    content it is 1 for nothing else; a given one above 0 that is the same for parent and child gives them 1 as well.

    References
    ----------
    Lin 1998, "An Information-Theoretic Definition of Similarity", ICML 1998, 296-304,
    https://dl.acm.org/doi/10.5555/645527.657297.
    """
    shared = np.maximum(common(graph, information, term), 0.0)
    similarity = divide_or_zero(2 * shared, information[term] + information)
    similarity[term] = 1.0
    return similarity


def jiang_conrath(graph: Graph, information: FloatArray, term: int) -> FloatArray:
    r"""Jiang and Conrath's distance, made a similarity as Seco does.

    .. math:: \text{jiang\_conrath}(a, b) = 1 - \frac{IC(a) + IC(b) - 2\, IC(m)}{2 \max IC}

    with the most informative common ancestor m; the largest information content is 1 for the intrinsic one. From 0
    to 1, which a term has with itself.

    References
    ----------
    Jiang and Conrath 1997, https://doi.org/10.48550/arXiv.cmp-lg/9709008; as a similarity: Seco, Veale and Hayes
    2004, https://dl.acm.org/doi/10.5555/3000001.3000272.
    """
    shared = common(graph, information, term)
    distance = information[term] + information - 2 * shared
    similarity = np.where(shared == NONE, 0.0, 1 - divide_or_zero(distance, np.array(2 * information.max())))
    similarity[term] = 1.0
    return similarity


def wu_palmer(graph: Graph, _information: FloatArray, term: int) -> FloatArray:
    r"""Depth of the deepest common ancestor c, relative to that of both terms.

    .. math:: \text{wu\_palmer}(a, b) = \frac{2\, d(c)}{d(a) + d(b)}

    where d counts the terms on the longest path from a root, both ends included: 1 for a root. As a term is then
    always deeper than its ancestors, it is 1 for a term with itself and for nothing else. Above 0 wherever there is
    a common ancestor.

    References
    ----------
    Wu and Palmer 1994, https://doi.org/10.3115/981732.981751.
    """
    depth = graph.level + 1.0
    return np.maximum(2 * common(graph, depth, term) / (depth[term] + depth), 0.0)


def path(graph: Graph, _information: FloatArray, term: int) -> FloatArray:
    r"""Length of the shortest path from one term to the other through a common ancestor.

    .. math:: \text{path}(a, b) = \frac{1}{1 + \min_c (\ell(a, c) + \ell(b, c))}

    with the edges :math:`\ell` on the shortest path up to a common ancestor c: 1 for a term with itself, 1/2 for
    parent and child, 1/3 for siblings.

    References
    ----------
    Rada, Mili, Bicknell and Blettner 1989, https://doi.org/10.1109/21.24528, for the length as a distance.
    """
    ancestors, far = graph.ancestors(term)
    shortest = np.full(len(graph.depth), np.inf)
    shortest[ancestors] = far
    return 1 / (1 + graph.inherited(shortest, np.minimum, 1.0))


def simple_resnik_like(graph: Graph, _information: FloatArray, term: int) -> FloatArray:
    r"""Depth of the deepest common ancestor c, as phentrieve publishes it.

    .. math:: \text{simple\_resnik\_like}(a, b) = depth(c) / D

    with the edges on the shortest path from a root as depth, and D the largest depth of the ontology (14 for the HPO
    of January 2025). A term with itself has 1. Kept as it is, for comparison with published numbers.

    References
    ----------
    phentrieve, https://github.com/berntpopp/phentrieve, ``phentrieve/evaluation/metrics.py``.
    """
    similarity = np.maximum(divide_or_zero(common(graph, graph.depth, term), graph.depth.max()), 0.0)
    similarity[term] = 1.0
    return similarity


def hybrid(graph: Graph, _information: FloatArray, term: int) -> FloatArray:
    r"""Depth of the deepest common ancestor c and the path to it, as phentrieve publishes it.

    .. math:: \text{hybrid}(a, b) = 0.7 \frac{depth(c)}{D} + 0.3 \left(1 - \frac{p}{d_a + d_b}\right), \quad
        p = d_a + d_b - 2\, depth(c)

    and 1 if :math:`p \le 0`; depth, c and D as for `simple_resnik_like`. Depth by the shortest path is not monotone: a
    term can be nearer to the root than its ancestors. Then c is as deep as both terms, p is 0 or less, and **some
    pairs of different terms get 1.0**: 191,083 pairs of the HPO of January 2025, of which 14,025 are ancestor and
    descendant and the others merely relatives, such as multicystic kidney dysplasia and renal amyloidosis. Kept as it
    is, for comparison with published numbers; `lin` has no such pairs.

    References
    ----------
    phentrieve, https://github.com/berntpopp/phentrieve, ``phentrieve/evaluation/metrics.py``.
    """
    depth = graph.depth
    shared, both = common(graph, depth, term), depth[term] + depth
    between = both - 2 * shared
    similarity = 0.7 * divide_or_zero(shared, depth.max()) + 0.3 * (1 - divide_or_zero(between, both))
    similarity[between <= 0] = 1.0
    similarity[shared == NONE] = 0.0
    return similarity


# by the name that kind= takes
# kind(graph, information_content, term) returns an array of shape (n_terms,)
KINDS: dict[str, Callable[[Graph, FloatArray, int], FloatArray]] = {
    kind.__name__: kind for kind in (lin, resnik, jiang_conrath, wu_palmer, path, simple_resnik_like, hybrid)
}
