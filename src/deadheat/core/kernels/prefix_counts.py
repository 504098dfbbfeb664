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

# `added(ties, j, kind, seen)`: what rank j of the ties adds, of shape (n_ties, 1 or counts + 1, ...). `seen` are the
# documents of each kind above it in the tie, each array along an axis of its own; kinds that these ties lack have no
# axis
Added: TypeAlias = Callable[[IntArray, int, int, Sequence[IntArray]], FloatArray]

# Rows of the arrays of moments; a document adds a value to three of them, and no variance
MEAN, VARIANCE, LOW, HIGH = range(4)
N_MOMENTS = 4
SHIFTED = [MEAN, LOW, HIGH]


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
        """Return how many numbers of seen documents there are."""
        return math.prod(count + 1 for count in self.counts)

    def block_size(self) -> int:
        """Return how many ties are walked together at most."""
        return max(1, MAX_CELLS // self.n_states())


def n_steps(tied: IntArray, counts: IntArray) -> FloatArray:
    """Return how many states each tie has over all its ranks, of shape (n_ties,); parameters as for :func:`moments`."""
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

    `state` has the moments of what the ranks from the current one on add, by tie and by how many documents of each
    kind were seen above it: an axis for each kind that these ties have.
    """
    kinds = [kind for kind, count in enumerate(shape.counts) if count]  # NumPy allows 64 axes
    grid = np.indices([shape.counts[kind] + 1 for kind in kinds], sparse=True)
    nothing = np.zeros([1] * len(kinds), np.int64)
    seen = [nothing] * (kinds[-1] + 1)
    for kind, n_of_kind in zip(kinds, grid, strict=True):
        seen[kind] = n_of_kind
    n_seen = sum(grid, nothing)
    n_plain = shape.tied - sum(shape.counts)
    state = np.zeros((N_MOMENTS, len(ties), *n_seen.shape))
    for j in range(shape.inside, 0, -1):
        n_plain_left = n_plain - (j - 1 - n_seen)
        is_possible = (n_seen < j) & (n_plain_left >= 0)
        numbers_left, states = [n_plain_left], [state]  # by what rank j may hold: a plain document, or one of a kind
        for axis, kind in enumerate(kinds, start=2):
            below = _see_one_more(state, axis)
            below[SHIFTED] += added(ties, j, kind, seen)
            numbers_left.append(shape.counts[kind] - seen[kind] + 0 * n_seen)
            states.append(below)
        chances = np.where(is_possible, np.array(numbers_left), 0)[:, None] / (shape.tied - j + 1)
        state = np.where(is_possible, _mix_states(chances, np.array(states)), 0.0)
        advance(1)
    return state.reshape(N_MOMENTS, len(ties), -1)[:, :, 0]


def _see_one_more(state: FloatArray, axis: int) -> FloatArray:
    """Return, for each state, the moments of the state in which one more document of a kind was seen."""
    without_first = np.delete(state, 0, axis)
    beyond_last = np.zeros_like(np.take(state, [0], axis))
    return np.concatenate((without_first, beyond_last), axis)


def _mix_states(chances: FloatArray, states: FloatArray) -> FloatArray:
    """Return the moments over the kinds that the next document may have, of shape (4, n_ties, ...).

    The variance is the mean of the variances below plus the variance of the means.

    Parameters
    ----------
    chances : ndarray of shape (n_kinds + 1, n_ties or 1, ...)
    states : ndarray of shape (n_kinds + 1, 4, n_ties, ...)
    """
    mean = (chances * states[:, MEAN]).sum(axis=0)
    variance = (chances * (states[:, VARIANCE] + (states[:, MEAN] - mean) ** 2)).sum(axis=0)
    low = np.where(chances > 0, states[:, LOW], np.inf).min(axis=0)
    high = np.where(chances > 0, states[:, HIGH], -np.inf).max(axis=0)
    return np.array([mean, variance, low, high])
