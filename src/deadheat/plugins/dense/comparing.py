"""Count, piece by piece, the scores of a matrix that are above given ones and equal to them: no sort, and no copy.

NumPy sees arrays of PyTorch, JAX, CuPy and others in main memory without a copy, and compares them in pieces that stay
in the cache. What is on another device is counted there by its own library, through the Python array API standard.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.core.arrays import AnyArray, BoolArray, IntArray
from deadheat.core.errors import ParameterError
from deadheat.core.libraries import import_package, polars as pl

BFLOAT16 = np.dtype([("bfloat16", np.uint16)])  # the bits of numbers that NumPy has no type for
_OF_JAX = ("jax", "jaxlib")
_OF_DEVICES = ("torch", "cupy", *_OF_JAX)

Array: TypeAlias = Any  # an array of NumPy or of another library


def _library(given: object) -> str:
    """Return the name of an array's library; others derive classes from those of PyTorch."""
    names = [base.__module__.partition(".")[0] for base in type(given).__mro__]
    return next((name for name in names if name in _OF_DEVICES), names[0])


def _is_array(given: object) -> bool:
    """Return whether an object is an array of another library than NumPy, as the standard or its name tells."""
    if isinstance(given, np.ndarray | np.generic):
        return False
    return hasattr(given, "shape") and (_library(given) in _OF_DEVICES or hasattr(given, "__array_namespace__"))


def is_array(given: object) -> bool:
    """Return whether an object is an array, of NumPy or of another library."""
    return isinstance(given, np.ndarray) or _is_array(given)


def on_device(given: Array) -> bool:
    """Return whether an array is to be left to its own library: it is not in main memory, or NumPy cannot see it."""
    if not _is_array(given):
        return False
    if _library(given) == "torch":
        return bool(given.device.type != "cpu")
    if _library(given) in _OF_JAX:
        return any(one.platform != "cpu" for one in given.devices())
    return True


def in_memory(given: Array) -> object:
    """Return an array of PyTorch or JAX in main memory as NumPy sees it, without a copy; anything else as it is.

    Raises
    ------
    ParameterError
        Its numbers are of a type that NumPy cannot hold, or NumPy would drop its mask or its labels.
    """
    if hasattr(given, "iloc") or hasattr(given, "columns"):
        raise ParameterError(
            found=f"a {type(given).__name__}",
            allowed="an array, whose rows and columns are in the order of the other arguments",
            hint="give its .to_numpy() in that order; query_ids= takes .index, and doc_ids= takes .columns",
        )
    if np.ma.is_masked(given):  # NumPy would drop the mask
        raise ParameterError(
            found="a masked array",
            allowed="an array without a mask",
            hint="give array.data; evaluate_dense takes mask=~array.mask",
        )
    if not _is_array(given) or on_device(given):
        return given
    if _library(given) in _OF_JAX:
        return np.asarray(given)
    import torch  # pyright: ignore[reportMissingImports] - it is there: the array is one of its

    try:
        some = given.detach()
        return some.view(torch.int16).numpy().view(BFLOAT16) if some.dtype == torch.bfloat16 else some.numpy()
    except (TypeError, RuntimeError):  # a sparse or quantised tensor, or 8-bit floats
        raise ParameterError(
            found=f"a tensor of {given.dtype}, {given.layout}",
            allowed="a dense array of numbers",
            hint=f"convert it, as by {'.float()' if given.layout == torch.strided else '.to_dense()'}",
        ) from None


def detached(array: Array) -> Array:
    """Return an array without its gradient, which PyTorch would carry through all that is done with it."""
    return array.detach() if _library(array) == "torch" else array


@cache
def is_short(dtype: np.dtype[Any]) -> bool:
    """Return whether NumPy compares such floats slowly or not at all: float16, bfloat16 and those of 8 bits."""
    return dtype in {np.dtype(np.float16), BFLOAT16} or dtype.name.startswith(("bfloat", "float8"))


def widened(piece: AnyArray) -> AnyArray:
    """Return short floats as float32, which holds each of them exactly; other numbers as they are."""
    if piece.dtype == BFLOAT16:
        bits: NDArray[np.uint32] = np.left_shift(piece.view(np.uint16), np.uint32(16), dtype=np.uint32)
        return bits.view(np.float32)
    return piece.astype(np.float32) if is_short(piece.dtype) else piece


def library_of(array: object) -> Any:  # noqa: ANN401 - a module, which the standard describes
    """Return the functions of the library that counts an array, as the standard names them: NumPy's for what it sees.

    Raises
    ------
    MissingDependencyError
        It is another one, and array-api-compat is not installed.
    """
    if not on_device(array):
        return np
    return import_package(
        "array_api_compat",
        f"arrays of {_library(array)} on {device_of(array)} need the package array-api-compat",
        "dense",
    ).array_namespace(array)


def device_of(array: Array) -> str:
    """Return the name of the device that holds an array."""
    if not _is_array(array):
        return "cpu"
    return ", ".join(sorted(map(str, array.devices() if _library(array) in _OF_JAX else [array.device])))


def to_memory(array: object) -> AnyArray:
    """Return a small array as NumPy's, from any device; short floats as float32."""
    some: Any = in_memory(array)
    if _library(some) == "torch":
        some = in_memory(some.cpu())
    elif _library(some) == "cupy":
        some = some.get()
    elif on_device(some) and _library(some) not in _OF_JAX:
        some = np.from_dlpack(some)
    return widened(np.asarray(some))


def beside(xp: Any, some: AnyArray, like: Any) -> Any:  # noqa: ANN401 - a library and its arrays
    """Return an array of NumPy as one of a library, on the device of another array."""
    if xp is np:
        return some
    if xp.__name__.endswith("torch"):
        return xp.asarray(some, device=like.device)
    return xp.asarray(some, device=None if _library(like) in _OF_JAX else like.device)


IN_CACHE = 1 << 17  # numbers of a piece of several rows in main memory
IN_ROW = 1 << 20  # and of one row
ON_DEVICE = 1 << 25  # and on another device, where each comparison has to be worth its start
LONG = (
    1 << 11
)  # columns from which rows are compared one by one: NumPy counts faster along one row than in each of many
WIDE = 1 << 17  # numbers from which Polars' comparisons, whose results are bits and not bytes, are worth their call
MANY = 24  # judged documents of a query from which sorting its piece is cheaper than comparing each of them
MUCH = MANY << 10  # comparisons of one short row from which it is sorted, too


class Piece(NamedTuple):
    """Some rows and columns of a matrix of scores."""

    scores: Array
    kept: Array | None = None  # which of them count; None for all
    xp: Any = np  # the library of both


class Matrix:
    """Scores, queries by documents, of which all or some are counted.

    Parameters
    ----------
    scores : array of shape (n_queries, n_documents)
        Of NumPy, or of another library on its device.
    mask : array of bool of the same shape and library, optional
        The scores that count.
    """

    def __init__(self, scores: Array, mask: Array | None = None) -> None:
        self.scores, self.mask = scores, mask
        self.shape: tuple[int, int] = (scores.shape[0], scores.shape[1])
        self.library: Any = library_of(scores)

    def pieces(self) -> Iterator[tuple[slice, list[slice]]]:
        """Give the rows that are compared together, and for each the columns, one piece after the other."""
        n_rows, n_columns = self.shape
        in_row, at_once = (IN_ROW, IN_CACHE) if self.library is np else (ON_DEVICE, ON_DEVICE)
        width = min(n_columns, in_row)
        height = max(1, at_once // n_columns)
        columns = [slice(start, min(start + width, n_columns)) for start in range(0, n_columns, width)]
        for start in range(0, n_rows, height):
            yield slice(start, min(start + height, n_rows)), columns

    def piece(self, rows: slice, columns: slice) -> Piece:
        """Return some of the scores."""
        found = self.scores[rows, columns]
        kept = None if self.mask is None else self.mask[rows, columns]
        return Piece(widened(found) if self.library is np else found, kept, self.library)

    def at(self, row: IntArray, column: IntArray) -> Array:
        """Return some scores, on the device of the matrix."""
        found = numbers_at(self.library, self.scores, row, column)
        return widened(found) if self.library is np else found

    def is_kept(self, row: IntArray, column: IntArray) -> BoolArray:
        """Return which of some scores count."""
        if self.mask is None:
            return np.ones(len(row), np.bool_)
        return to_memory(numbers_at(self.library, self.mask, row, column))

    def n_kept(self) -> IntArray:
        """Count the scores of each row that count, of shape (n_queries,)."""
        if self.mask is None:
            return np.full(self.shape[0], self.shape[1], np.int64)
        return to_memory(self.library.count_nonzero(self.mask, axis=1)).astype(np.int64)


def numbers_at(xp: Any, array: Array, row: IntArray, column: IntArray) -> Array:  # noqa: ANN401 - a library
    """Return some numbers of an array of a library."""
    return array[beside(xp, row, array), beside(xp, column, array)]


def first_wrong(piece: Piece, *, may_be_infinite: bool = True) -> tuple[int, int] | None:
    """Return row and column of a score that counts and is NaN (or infinite, if it may not be); None without one."""
    scores, kept, xp = piece
    if xp.isdtype(scores.dtype, ("bool", "integral")):
        return None
    if xp is np and kept is None and may_be_infinite and not np.isnan(scores.max()):
        return None  # twice as fast: the largest of several numbers is NaN if one of them is
    is_wrong = xp.isnan(scores) if may_be_infinite else ~xp.isfinite(scores)
    if kept is not None:
        is_wrong = is_wrong & kept
    if not bool(xp.any(is_wrong)):
        return None
    row, column = xp.nonzero(is_wrong)
    return int(row[0]), int(column[0])


def compare(piece: Piece, row: IntArray, own: Array) -> IntArray:
    """Count, for each of `own`, the scores of its row above it, and those equal to it: of shape (2, n_own).

    Parameters
    ----------
    piece : Piece
    row : ndarray of int, shape (n_own,)
        Of each of `own`, ascending.
    own : array of shape (n_own,)
        Of the library and on the device of the piece.
    """
    above, tied = found = np.zeros((2, len(row)), np.int64)
    n_rows, n_columns = piece.scores.shape
    sizes = np.bincount(row, minlength=n_rows)
    first = np.cumsum(sizes) - sizes
    alone = (sizes > 0 if n_columns >= LONG else sizes * n_columns > MUCH) & (piece.xp is np)
    for number in np.flatnonzero(alone).tolist():
        mine = slice(first[number], first[number] + sizes[number])
        kept = None if piece.kept is None else piece.kept[number]
        above[mine], tied[mine] = _in_one_row(piece.scores[number], own[mine], kept)
    others = np.where(alone, 0, sizes)
    if others.any():
        _in_all_rows(piece, first, others, own, found)
    return found


def _in_one_row(line: AnyArray, own: AnyArray, kept: BoolArray | None) -> IntArray:
    if len(own) > MANY:
        ordered = np.sort(line if kept is None else line[kept])
        first, last = (np.searchsorted(ordered, own, side) for side in ("left", "right"))
        return np.array([len(ordered) - last, last - first])
    if len(line) >= WIDE and line.dtype in (np.float32, np.float64):
        return _by_bits(line, own, kept)
    found = np.empty((2, len(own)), np.int64)
    held = np.empty(len(line), np.bool_)
    for number, one in enumerate(own):
        for counts, is_so in zip(found, (np.greater, np.equal), strict=True):
            is_so(line, one, out=held)
            if kept is not None:
                np.logical_and(held, kept, out=held)
            counts[number] = np.count_nonzero(held)
    return found


def _by_bits(line: AnyArray, own: AnyArray, kept: BoolArray | None) -> IntArray:
    """Compare a long row by Polars."""
    scores, mask = pl.Series(line), None if kept is None else pl.Series(kept)
    counts = [
        [(is_so if mask is None else is_so & mask).sum() for is_so in (scores > one, scores == one)]
        for one in own.tolist()
    ]
    return np.array(counts, np.int64).T


def _in_all_rows(piece: Piece, first: IntArray, sizes: IntArray, own: Array, found: IntArray) -> None:
    """Compare the first of each row's scores with all of its row, in all rows at once; then the second, and so on."""
    scores, kept, xp = piece
    if xp is not np and xp.isdtype(scores.dtype, "bool"):  # the standard has no order of truth values
        scores, own = xp.astype(scores, xp.int8), xp.astype(own, xp.int8)
    places: list[IntArray] = []
    counts: list[Array] = []
    for number in range(int(sizes.max())):
        some = np.flatnonzero(sizes > number)
        part, mask = scores, kept
        if len(some) < len(sizes):
            at = beside(xp, some, scores)
            part, mask = (one if one is None else xp.take(one, at, axis=0) for one in (scores, kept))
        places.append(first[some] + number)
        column = xp.reshape(xp.take(own, beside(xp, places[-1], scores), axis=0), (-1, 1))
        both = (part > column, part == column)
        counts += [_in_each_row(is_so if mask is None else is_so & mask, xp) for is_so in both]
    ends = np.cumsum([len(one) for one in places for _ in ("above", "tied")])
    parts = np.split(to_memory(xp.concat(counts)), ends[:-1])  # which came from the device together
    for place, bigger, equal in zip(places, parts[::2], parts[1::2], strict=True):
        found[:, place] = bigger, equal


def _in_each_row(is_so: Array, xp: Any) -> Array:  # noqa: ANN401 - a library
    if xp is np and is_so.shape[1] < 1 << 16:  # sums of 16 bits are several times as fast as count_nonzero
        return np.add.reduce(is_so.view(np.uint8), axis=1, dtype=np.uint16)
    return xp.count_nonzero(is_so, axis=1)


def compare_some(row: IntArray, own: AnyArray, other_row: IntArray, others: AnyArray) -> IntArray:
    """Count, for each of `own`, the scores among `others` of its row above it, and those equal to it: shape (2, n_own).

    Parameters
    ----------
    row, other_row : ndarray of int
        Ascending.
    own, others : ndarray
    """
    values, codes = np.unique(np.concatenate((others, own)), return_inverse=True)
    keys = np.concatenate((other_row, row)) * len(values) + codes.reshape(-1)  # ordered by row, then by score
    theirs, mine = np.sort(keys[: len(others)]), keys[len(others) :]
    first, last = (np.searchsorted(theirs, mine, side) for side in ("left", "right"))
    return np.array([np.searchsorted(other_row, row, "right") - last, last - first])
