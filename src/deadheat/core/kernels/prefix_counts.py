"""Measures in which a rank adds what its document's kind and the kinds above it decide: infAP, G, alpha-nDCG.

docs/math.md, section 10. The documents of a tie are of a few kinds, and all others (plain ones) add nothing. The
documents above the tie do not depend on its order, so the parts of ties are independent. Inside a tie, the ranks below
depend on those above only by how many of each kind were seen: a state. Mean, variance, minimum and maximum of what is
left follow from those of the states one rank further down.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.segments import MAX_CELLS
from deadheat.core.phases import Advance, lasting

# `added(ties, j, kind, seen)` returns what rank j of the ties adds if its document is of the kind. `seen` has an array
# for each kind: how many documents of it are above the rank in the tie. These arrays have an axis for each kind that
# the ties have, and vary along that of their own. The result has the ties before these axes; it may be 1 long where
# nothing varies
Added: TypeAlias = Callable[[IntArray, int, int, Sequence[IntArray]], FloatArray]

# Rows of the arrays of moments
MEAN, VARIANCE, LOW, HIGH = range(4)
N_MOMENTS = 4
MOVED_BY_A_CONSTANT = [MEAN, LOW, HIGH]  # what a rank adds is known given its kind and the counts: it adds no variance


@dataclass(frozen=True)
class Shape:
    """The numbers that ties share if they are walked together.

    Attributes
    ----------
    tied, inside : int
        Documents of the tie, and how many of its ranks may add something: the first ones.
    counts : list of int
        Documents of each kind.
    """

    tied: int
    inside: int
    counts: list[int]

    def n_states(self) -> int:
        """Return how many states there are: each kind may have been seen 0 to all times."""
        return math.prod(count + 1 for count in self.counts)

    def block_size(self) -> int:
        """Return how many ties are walked together at most."""
        return max(1, MAX_CELLS // self.n_states())


def n_steps(tied: IntArray, counts: IntArray) -> FloatArray:
    """Return how many states :func:`moments` computes for each tie, over all its ranks, of shape (n_ties,).

    The parameters are those of :func:`moments`.
    """
    return tied * np.prod(counts + 1.0, axis=1)


def moments(tied: IntArray, inside: IntArray, counts: IntArray, added: Added) -> FloatArray:
    """Return mean, variance, minimum and maximum of each tie's part.

    Parameters
    ----------
    tied, inside : ndarray of shape (n_ties,)
        Documents of each tie, and how many of its ranks may add something: the first ones.
    counts : ndarray of shape (n_ties, n_kinds)
        Documents of each kind; at least one in all.
    added : callable
        Described at :data:`Added`.

    Returns
    -------
    ndarray of shape (4, n_ties)
    """
    results = np.zeros((N_MOMENTS, len(tied)))
    if not len(tied):
        return results
    ties_by_shape = _group_by_shape(tied, inside, counts)
    n_ranks = 0
    for shape, ties in ties_by_shape:
        n_blocks = math.ceil(len(ties) / shape.block_size())
        n_ranks += shape.inside * n_blocks
    with lasting("the exact value of large ties", n_ranks, "; cut at a rank, such as @100, it takes less") as advance:
        for shape, ties in ties_by_shape:
            size = shape.block_size()
            for start in range(0, len(ties), size):
                block = ties[start : start + size]
                results[:, block] = _walk_up(shape, block, added, advance)
    return results


def _group_by_shape(tied: IntArray, inside: IntArray, counts: IntArray) -> list[tuple[Shape, IntArray]]:
    """Return the different shapes of ties, each with its ties; parameters as for :func:`moments`."""
    columns = np.column_stack((tied, inside, counts))
    shapes, shape_of_tie = np.unique(columns, axis=0, return_inverse=True)
    shape_of_tie = shape_of_tie.ravel()
    order = np.argsort(shape_of_tie, kind="stable")
    ends = np.cumsum(np.bincount(shape_of_tie, minlength=len(shapes)))
    ties_by_shape: list[tuple[Shape, IntArray]] = []
    for (n, m, *shape_counts), ties in zip(shapes.tolist(), np.split(order, ends[:-1]), strict=True):
        ties_by_shape.append((Shape(n, m, shape_counts), ties))
    return ties_by_shape


def _walk_up(shape: Shape, ties: IntArray, added: Added, advance: Advance) -> FloatArray:
    """Return the moments of ties of one shape, of shape (4, n_ties), by a walk from the last rank to the first.

    `from_here` has the moments of what the ranks from the current one on add, by tie and by state: an axis for each
    kind that these ties have, along which the number of its documents above the rank goes up.
    """
    kinds = [kind for kind, count in enumerate(shape.counts) if count]  # others have no axis: NumPy allows 64
    seen_of_kinds = np.indices([shape.counts[kind] + 1 for kind in kinds], sparse=True)
    none_seen = np.zeros([1] * len(kinds), np.int64)
    seen = [none_seen] * (kinds[-1] + 1)
    for kind, seen_of_kind in zip(kinds, seen_of_kinds, strict=True):
        seen[kind] = seen_of_kind
    n_seen = sum(seen_of_kinds, none_seen)
    n_plain = shape.tied - sum(shape.counts)
    n_left_of_kinds: list[IntArray] = []
    for kind in kinds:
        n_left = shape.counts[kind] - seen[kind]
        n_left_of_kinds.append(np.broadcast_to(n_left, n_seen.shape))
    from_here = np.zeros((N_MOMENTS, len(ties), *n_seen.shape))
    for j in range(shape.inside, 0, -1):
        n_plain_left = n_plain - (j - 1 - n_seen)
        is_possible = (n_seen < j) & (n_plain_left >= 0)
        numbers_left = np.array([n_plain_left, *n_left_of_kinds])
        moments_then = [from_here]  # if rank j has a plain document; then, if it has one of each kind
        for axis, kind in enumerate(kinds, start=2):
            below = _see_one_more(from_here, axis)
            below[MOVED_BY_A_CONSTANT] += added(ties, j, kind, seen)
            moments_then.append(below)
        n_possible = np.where(is_possible, numbers_left, 0)[:, None]  # the new axis is for the ties
        chances = n_possible / (shape.tied - j + 1)
        from_here = np.where(is_possible, _mix_moments(chances, np.array(moments_then)), 0.0)
        advance(1)
    first_state = 0  # nothing was seen above the first rank
    return from_here.reshape(N_MOMENTS, len(ties), -1)[:, :, first_state]


def _see_one_more(moments_of_states: FloatArray, axis: int) -> FloatArray:
    """Return, for each state, the moments of the state in which one more document of the kind of an axis was seen."""
    without_first = np.delete(moments_of_states, 0, axis)
    beyond_last = np.zeros_like(np.take(moments_of_states, [0], axis))
    return np.concatenate((without_first, beyond_last), axis)


def _mix_moments(chances: FloatArray, moments_then: FloatArray) -> FloatArray:
    """Return the moments over all that the next document may be, from those given what it is.

    The variance is the mean of the variances plus the variance of the means.

    Parameters
    ----------
    chances : ndarray of shape (n_kinds + 1, 1, ...)
        The first is that of a plain document.
    moments_then : ndarray of shape (n_kinds + 1, 4, n_ties, ...)

    Returns
    -------
    ndarray of shape (4, n_ties, ...)
    """
    means = moments_then[:, MEAN]
    mean = (chances * means).sum(axis=0)
    variance = (chances * (moments_then[:, VARIANCE] + (means - mean) ** 2)).sum(axis=0)
    low = np.where(chances > 0, moments_then[:, LOW], np.inf).min(axis=0)
    high = np.where(chances > 0, moments_then[:, HIGH], -np.inf).max(axis=0)
    return np.array([mean, variance, low, high])
