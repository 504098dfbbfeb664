"""Type aliases for arrays, where runs of equal keys start, and SciPy's special functions."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
TextArray: TypeAlias = npt.NDArray[np.object_]
AnyArray: TypeAlias = npt.NDArray[Any]
ArrayLike: TypeAlias = npt.ArrayLike
P = ParamSpec("P")
T = TypeVar("T")


class _Special:
    """The module scipy.special, which takes 0.3 s to load: it is when one of its functions is first called."""

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


def concatenated_ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """Return the ranges ``start, ..., start + size - 1``, concatenated.

    Examples
    --------
    >>> concatenated_ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    return np.arange(sizes.sum()) + np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)


def sums_of(codes: IntArray, values: AnyArray, size: int) -> FloatArray:
    """Return the sum of the values of each code, of shape (size,), added in their order.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
    values : ndarray of numbers, shape (n,)
    size : int
    """
    return np.bincount(codes, values, size).astype(np.float64, copy=False)


def align_values(values: FloatArray, ids: TextArray, wanted: TextArray) -> FloatArray:
    """Return the values of other ids, in their order; NaN of an id without one.

    Parameters
    ----------
    values : ndarray of float, shape (n_ids,)
    ids : ndarray of str, shape (n_ids,)
    wanted : ndarray of str, shape (n_wanted,)

    Examples
    --------
    >>> align_values(np.array([0.5, 1.0]), np.array(["a", "b"]), np.array(["b", "c"])).tolist()
    [1.0, nan]
    """
    found = dict(zip(ids.tolist(), values.tolist(), strict=True))
    return np.array([found.get(one, np.nan) for one in wanted.tolist()], np.float64)


def codes_of(ids: TextArray, among: Iterable[str]) -> IntArray:
    """Return the place of each id among others that have them all, of shape (n_ids,)."""
    places = {one: place for place, one in enumerate(among)}
    return np.array([places[one] for one in ids.tolist()], np.int64)


def places_of(keep: BoolArray | IntArray) -> IntArray:
    """Return the places that are kept: of a mask those where it is true, and else what is given.

    Examples
    --------
    >>> places_of(np.array([True, False, True])).tolist(), places_of(np.array([2, 0])).tolist()
    ([0, 2], [2, 0])
    """
    return np.flatnonzero(keep) if keep.dtype == np.bool_ else np.asarray(keep, np.int64)


def is_member(texts: TextArray, some: TextArray) -> BoolArray:
    """Tell which of `texts` are in `some`, of shape (n_texts,); `np.isin` takes quadratic time on strings.

    Parameters
    ----------
    texts, some : ndarray of str
    """
    wanted = set(some.tolist())
    return np.fromiter((text in wanted for text in texts.tolist()), np.bool_, len(texts))


def with_own_arithmetic(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function that computes under NumPy's defaults: np.seterr of the caller is about the caller's numbers."""

    @wraps(function)
    def computed(*arguments: P.args, **options: P.kwargs) -> T:
        with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
            return function(*arguments, **options)

    return computed
