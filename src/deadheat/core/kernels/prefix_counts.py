"""Measures of which a rank adds what its document's kind and the kinds above it decide: infAP, G.

The documents of a tie are of a few kinds, and all others add nothing. What is above the tie does not depend on its
order, so the parts of ties are independent. Inside a tie, the ranks below depend on those above only by how many of
each kind were seen: a state. Mean, variance, minimum and maximum of what is left follow from those of the states one
rank further down, the variance as the mean of the variances below plus the variance of the means.
"""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.segments import MAX_CELLS
from deadheat.core.phases import Advance, lasting

# `added(ties, j, kind, seen)`: what rank j of the ties adds, of shape (n_ties, 1 or counts + 1, ...). `seen` are the
# documents of each kind above it in the tie, each array along an axis of its own; kinds that these ties lack have no
# axis
Added: TypeAlias = Callable[[IntArray, int, int, Sequence[IntArray]], FloatArray]


def n_steps(tied: IntArray, counts: IntArray) -> FloatArray:
    """Return how many states each tie has over all its ranks, of shape (n_ties,); counts as for :func:`moments`."""
    return tied * np.prod(counts + 1.0, axis=1)


def moments(tied: IntArray, inside: IntArray, counts: IntArray, added: Added) -> FloatArray:
    """Return mean, variance, minimum and maximum of each tie's part.

    Parameters
    ----------
    tied, inside : ndarray of shape (n_ties,)
        Documents of each tie, and how many of its ranks may add something: the first ones.
    counts : ndarray of shape (n_ties, n_kinds)
        Documents of each kind; of some kind there is one.
    added : callable

    Returns
    -------
    ndarray of shape (4, n_ties)
    """
    found = np.zeros((4, len(tied)))
    if not len(tied):
        return found
    shapes, of_tie = np.unique(np.column_stack((tied, inside, counts)), axis=0, return_inverse=True)
    order = np.argsort(of_tie.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(of_tie.ravel(), minlength=len(shapes)))
    of_shapes = list(zip(shapes.tolist(), np.split(order, ends[:-1]), strict=True))
    n_ranks = sum(last * -(-len(ties) // _block(kinds)) for (_, last, *kinds), ties in of_shapes)
    with lasting("the exact value of large ties", n_ranks, "; cut at a rank, such as @100, it takes less") as advance:
        for (size, last, *kinds), ties in of_shapes:
            block = _block(kinds)
            for start in range(0, len(ties), block):
                chosen = ties[start : start + block]
                found[:, chosen] = _of_shape(size, last, kinds, chosen, added, advance)
    return found


def _block(kinds: Sequence[int]) -> int:
    """Return how many ties of the same documents are taken together."""
    return max(1, MAX_CELLS // math.prod(count + 1 for count in kinds))


def _of_shape(  # noqa: PLR0917 - what is added, and where
    size: int, last: int, kinds: Sequence[int], ties: IntArray, added: Added, advance: Advance
) -> FloatArray:
    """Return the four numbers of ties with the same number of documents of each kind, down to their last rank."""
    axes = [kind for kind, count in enumerate(kinds) if count]  # NumPy allows 64
    grid = np.indices([kinds[kind] + 1 for kind in axes], sparse=True)
    nothing = np.zeros([1 for _ in axes], np.int64)
    seen = [nothing for _ in range(axes[-1] + 1)]
    for kind, counted in zip(axes, grid, strict=True):
        seen[kind] = counted
    n_seen = sum(grid, nothing)
    state = np.zeros((4, len(ties), *n_seen.shape))
    for j in range(last, 0, -1):
        plain = size - sum(kinds) - (j - 1 - n_seen)
        possible = (n_seen < j) & (plain >= 0)
        numbers, states = [plain], [state]
        for axis, kind in enumerate(axes, 2):
            # with one more document of this kind seen
            moved = np.concatenate((np.delete(state, 0, axis), np.zeros_like(np.take(state, [0], axis))), axis)
            moved[[0, 2, 3]] += added(ties, j, kind, seen)
            numbers.append(kinds[kind] - seen[kind] + 0 * n_seen)
            states.append(moved)
        chances = np.where(possible, np.array(numbers), 0)[:, None] / (size - j + 1)
        state = np.where(possible, _mixed(chances, np.array(states)), 0.0)
        advance(1)
    return state.reshape(4, len(ties), -1)[:, :, 0]


def _mixed(chances: FloatArray, states: FloatArray) -> FloatArray:
    """Return the four numbers over the kinds that the next document may have.

    Parameters
    ----------
    chances : ndarray of shape (n_kinds + 1, n_ties or 1, ...)
    states : ndarray of shape (n_kinds + 1, 4, n_ties, ...)
    """
    mean = (chances * states[:, 0]).sum(axis=0)
    variance = (chances * (states[:, 1] + (states[:, 0] - mean) ** 2)).sum(axis=0)
    low = np.where(chances > 0, states[:, 2], np.inf).min(axis=0)
    high = np.where(chances > 0, states[:, 3], -np.inf).max(axis=0)
    return np.array([mean, variance, low, high])
