"""Which vectors are identical, by hashes of their bits that are verified number by number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from deadheat.arrays import AnyArray, IntArray
from deadheat.errors import DataError
from deadheat.placements.libraries import beside, namespace, on_device, to_memory

AT_ONCE = 1 << 18  # numbers that are looked at together


def first_identical(vectors: Any, noun: str, *, has_length: bool = False) -> IntArray:  # noqa: ANN401 - an array of any library
    """Return for each vector the first one with the same numbers, of shape (n_vectors,); all numbers are checked.

    Parameters
    ----------
    vectors : array of shape (n_vectors, n_dimensions)
    noun : str
        What a vector is, for messages.
    has_length : bool, default False
        Whether a vector of zeros is an error.
    """
    keys = np.empty(vectors.shape[0], np.uint64)
    factors = np.random.default_rng(0).integers(0, 2**64, vectors.shape[1], np.uint64)
    for part, rows in _parts(vectors, np.arange(vectors.shape[0])):
        _check(rows, part.start, noun, has_length=has_length)
        bits = rows.view(np.uint32 if rows.itemsize == 4 else np.uint64)
        keys[part] = bits.astype(np.uint64) @ factors  # modulo 2**64
    _, index, inverse = np.unique(keys, return_index=True, return_inverse=True)
    first = index[inverse]
    copies = np.flatnonzero(first != np.arange(len(first)))
    others: dict[bytes, int] = {}  # what shares a hash with another vector
    for (part, rows), (_, same) in zip(_parts(vectors, copies), _parts(vectors, first[copies]), strict=True):
        for at in np.flatnonzero((rows != same).any(axis=1)).tolist():
            place = int(copies[part][at])
            first[place] = others.setdefault(rows[at].tobytes(), place)
    return first


def _parts(vectors: Any, places: IntArray) -> Iterator[tuple[slice, AnyArray]]:  # noqa: ANN401 - an array of any library
    """Give some vectors as floats in main memory, part by part; -0.0 is 0.0."""
    size = max(1, AT_ONCE // vectors.shape[1])
    for start in range(0, len(places), size):
        part = slice(start, min(start + size, len(places)))
        if on_device(vectors):
            xp = namespace(vectors)
            found = to_memory(xp.take(vectors, beside(xp, places[part], vectors), axis=0))
        else:
            found = to_memory(vectors[places[part]])
        yield part, np.ascontiguousarray(as_floats(found) + 0.0)


def as_floats(numbers: AnyArray) -> AnyArray:
    """Return float32 and float64 as they are, and whole numbers, whose products float64 holds exactly, as float64."""
    return numbers if numbers.dtype in {np.dtype(np.float32), np.dtype(np.float64)} else numbers.astype(np.float64)


def _check(rows: AnyArray, start: int, noun: str, *, has_length: bool) -> None:
    """Raise `DataError` for vectors that have no products, or no cosines."""
    wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(wrong):
        at = int(np.flatnonzero(~np.isfinite(rows[wrong[0]]))[0])
        raise DataError(f"number {at} of {noun} {start + wrong[0]} is {rows[wrong[0], at]}, expected a finite number")
    if has_length and not (is_any := rows.any(axis=1)).all():
        place = start + int(np.flatnonzero(~is_any)[0])
        raise DataError(f"{noun} {place} is a vector of zeros, which has no cosine", hint="similarity='dot' takes it")
