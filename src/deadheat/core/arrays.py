"""Types of arrays, small operations on arrays of keys and ids, and SciPy's special functions."""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
TextArray: TypeAlias = npt.NDArray[np.object_]
AnyArray: TypeAlias = npt.NDArray[Any]
ArrayLike: TypeAlias = npt.ArrayLike


class _Special:
    """The module scipy.special, which takes 0.3 s to load: it is loaded when a function of it is first called."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - of a module
        from scipy import special

        return getattr(special, name)


special: Any = _Special()


def run_starts(*keys: AnyArray) -> IntArray:
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


def run_sizes(starts: IntArray, size: int) -> IntArray:
    """Return the length of each run.

    Parameters
    ----------
    starts : ndarray of int, shape (n_runs,)
        The index at which each run starts, as of :func:`run_starts`.
    size : int
        The elements of all runs together.

    Examples
    --------
    >>> run_sizes(np.array([0, 3, 4]), 6).tolist(), run_sizes(np.array([], np.int64), 0).tolist()
    ([3, 1, 2], [])
    """
    sizes = np.empty_like(starts)  # np.diff takes three times as long where runs are few
    sizes[:-1] = starts[1:] - starts[:-1]
    sizes[-1:] = size - starts[-1:]
    return sizes


def concatenate_ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """Return the ranges ``start, ..., start + size - 1`` as one array.

    Parameters
    ----------
    starts, sizes : ndarray of int, shape (n_ranges,)

    Examples
    --------
    >>> concatenate_ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    places = np.cumsum(sizes) - sizes  # where each range begins in the result
    return np.arange(sizes.sum()) + np.repeat(starts - places, sizes)


def sum_by_code(codes: IntArray, values: AnyArray, size: int) -> FloatArray:
    """Return the sum of the values of each code, added in their order.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        From 0 to ``size - 1``.
    values : ndarray of numbers, shape (n,)
    size : int

    Returns
    -------
    ndarray of float, shape (size,)
    """
    return np.bincount(codes, values, size).astype(np.float64, copy=False)


def align_values(values: FloatArray, ids: TextArray, wanted: TextArray) -> FloatArray:
    """Return values in the order of other ids; NaN for an id that has no value.

    Parameters
    ----------
    values : ndarray of float, shape (n_ids,)
    ids : ndarray of str, shape (n_ids,)
        Of the values.
    wanted : ndarray of str, shape (n_wanted,)

    Returns
    -------
    ndarray of float, shape (n_wanted,)

    Examples
    --------
    >>> align_values(np.array([0.5, 1.0]), np.array(["a", "b"]), np.array(["b", "c"])).tolist()
    [1.0, nan]
    """
    if are_same_ids(ids, wanted):
        return np.array(values, np.float64)
    value_of_id = dict(zip(ids.tolist(), values.tolist(), strict=True))
    aligned = [value_of_id.get(wanted_id, np.nan) for wanted_id in wanted.tolist()]
    return np.array(aligned, np.float64)


def find_codes(ids: TextArray, among: Iterable[str]) -> IntArray:
    """Return the place of each id among distinct ids that include all of them.

    Examples
    --------
    >>> find_codes(np.array(["b", "a", "b"]), ["a", "b"]).tolist()
    [1, 0, 1]
    """
    places = {known_id: place for place, known_id in enumerate(among)}
    return np.array([places[given_id] for given_id in ids.tolist()], np.int64)


def find_places(keep: BoolArray | IntArray) -> IntArray:
    """Return the places that a mask keeps; places are returned as they are.

    Examples
    --------
    >>> find_places(np.array([True, False, True])).tolist(), find_places(np.array([2, 0])).tolist()
    ([0, 2], [2, 0])
    """
    if keep.dtype == np.bool_:
        return np.flatnonzero(keep)
    return np.asarray(keep, np.int64)


def is_member(texts: TextArray, some: TextArray) -> BoolArray:
    """Tell for each text whether it is among some others; `np.isin` takes quadratic time on strings.

    Parameters
    ----------
    texts : ndarray of str, shape (n_texts,)
    some : ndarray of str, shape (n_some,)

    Returns
    -------
    ndarray of bool, shape (n_texts,)
    """
    if are_same_ids(texts, some):  # as of two runs of the same queries, which may be millions
        return np.ones(len(texts), np.bool_)
    members = set(some.tolist())
    return np.fromiter(map(members.__contains__, texts.tolist()), np.bool_, len(texts))


def are_same_ids(ids: TextArray, others: TextArray) -> bool:
    """Tell whether two arrays have the same ids in the same order.

    Examples
    --------
    >>> are_same_ids(np.array(["a", "b"]), np.array(["a", "b"])), are_same_ids(np.array(["a"]), np.array(["b"]))
    (True, False)
    """
    if ids is others:
        return True
    return len(ids) == len(others) and bool((ids == others).all())


# A decorator for functions that compute under our own settings: those of the caller are about the caller's numbers.
use_default_arithmetic = np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")
