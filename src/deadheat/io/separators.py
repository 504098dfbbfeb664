"""The separators in the bytes of a table: counted to prove a parse correct."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import numpy.typing as npt

from deadheat.io.blanks import may_hold_controls
from deadheat.io.source import whole_lines

Bytes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

_STEP = 1 << 17  # bytes looked at together, so that they and their masks stay in the processor's cache
_NEWLINE, _RETURN, _SPACE, _QUOTE = b'\n\r "'


@dataclass(frozen=True)
class Census:
    """How many lines and separators a table has, if its quotes and line ends make each line a row.

    Attributes
    ----------
    n_lines, n_separators : int
        Separators inside quotes do not count.
    may_hold_controls : bool
        Whether there is a control character, or a byte that may be part of one.
    """

    n_lines: int
    n_separators: int
    may_hold_controls: bool


def count_separators(source: Path | bytes, separator: str, *, skip: int) -> Census | None:
    """Count lines and separators of a table without holding the file in memory.

    Parameters
    ----------
    source : pathlib.Path or bytes
    separator : str
    skip : int
        Length of the header in bytes.

    Returns
    -------
    Census or None
        None if a quote opens or closes where a field does not, if a quoted field has a newline, or if a carriage return
        is not part of a line end: only a reader of rows knows what these mean.
    """
    mark = ord(separator)
    n_lines = n_separators = 0
    is_doubtful = False
    with source.open("rb", buffering=0) if isinstance(source, Path) else BytesIO(source) as file:
        file.seek(skip)
        for block in whole_lines(iter(partial(file.read, _STEP), b"")):
            view = np.frombuffer(block, np.uint8)
            is_newline, is_separator = view == _NEWLINE, view == mark
            is_quote = view == _QUOTE
            if is_quote.any():
                outside = _outside_quotes(view, is_quote, mark)
                if outside is None or (is_newline & ~outside).any():
                    return None
                is_separator &= outside
            n_newlines = np.count_nonzero(is_newline)
            n_returns = _count_returns(view)
            if n_returns is None:
                return None
            n_low = np.count_nonzero(view < _SPACE) - n_newlines - n_returns
            if mark < _SPACE:  # a tab inside quotes is not a separator
                n_low -= np.count_nonzero(is_separator)
            is_doubtful |= bool(n_low) or may_hold_controls(view)
            n_lines += int(n_newlines) + (not block.endswith(b"\n"))
            n_separators += int(np.count_nonzero(is_separator))
    return Census(n_lines, n_separators, is_doubtful)


def _outside_quotes(view: Bytes, is_quote: Mask, mark: int) -> Mask | None:
    """Return which bytes are outside quotes; None if a quote is neither around a field nor doubled inside one."""
    inside = _odd_so_far(is_quote)  # an opening quote is inside, a closing one is not
    if inside[-1]:
        return None
    ends_field = is_quote | (view == mark) | (view == _NEWLINE)
    opens, closes = is_quote & inside, is_quote & ~inside
    if (opens[1:] & ~ends_field[:-1]).any():
        return None
    ends_field |= view == _RETURN
    return None if (closes[:-1] & ~ends_field[1:]).any() else ~inside


def _odd_so_far(mask: Mask) -> Mask:
    """Return for each place whether the number of set bits up to it is odd; works on 64 places at a time, for speed."""
    packed = np.packbits(mask, bitorder="little")
    words = np.zeros(-(-packed.size // 8), "<u8")
    bits = words.view(np.uint8)
    bits[: packed.size] = packed
    for shift in (1, 2, 4, 8, 16, 32):
        words ^= words << np.uint64(shift)
    is_odd = np.logical_xor.accumulate(words >> np.uint64(63) != 0)
    words[1:][is_odd[:-1]] ^= np.uint64(2**64 - 1)
    return np.unpackbits(bits, count=mask.size, bitorder="little").view(bool)


def _count_returns(view: Bytes) -> int | None:
    """Count the carriage returns; None if one of them is not followed by a newline."""
    n_returns = np.count_nonzero(view == _RETURN)
    if n_returns and n_returns != np.count_nonzero((view[:-1] == _RETURN) & (view[1:] == _NEWLINE)):
        return None
    return int(n_returns)
