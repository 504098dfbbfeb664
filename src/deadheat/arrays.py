"""Type aliases for arrays, and where runs of equal keys start."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
TextArray: TypeAlias = NDArray[np.object_]


def run_starts(*keys: NDArray[Any]) -> IntArray:
    """Return the index at which each run of equal keys starts; equal keys must be adjacent.

    Parameters
    ----------
    *keys : ndarray of shape (n,)

    Returns
    -------
    ndarray of shape (n_runs,)
    """
    size = len(keys[0])
    if not size:
        return np.zeros(0, np.int64)
    changes = np.zeros(size, np.bool_)
    changes[0] = True
    for key in keys:
        changes[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(changes)


def members(texts: TextArray, some: TextArray) -> BoolArray:
    """Tell which of `texts` are in `some`, of shape (n_texts,); `np.isin` takes quadratic time on strings.

    Parameters
    ----------
    texts, some : ndarray of str
    """
    wanted = set(some.tolist())
    return np.fromiter((text in wanted for text in texts.tolist()), np.bool_, len(texts))
