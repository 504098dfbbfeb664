"""The bytes of a text: blanks or separators counted to prove a parse correct, and blanks normalised for another try."""

from dataclasses import dataclass
from functools import cached_property, partial
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deadheat.core.io.files import group_whole_lines
from deadheat.core.io.unpacking import open_file

Bytes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

# Bytes looked at together, so that they and their masks stay in the processor's cache: separators have more masks.
_STEP = 1 << 18
_STEP_OF_SEPARATORS = 1 << 17
_SPACE = ord(" ")
_NEWLINE = ord("\n")
_RETURN = ord("\r")
_QUOTE = ord('"')
_DELETE = 0x7F
# What bytes.split() takes for a blank, except the newline.
_TO_SPACE = bytes.maketrans(b"\t\v\f\r", b"    ")


@dataclass(frozen=True)
class Blanks:
    """How many blanks (bytes up to the space character) a text has.

    Attributes
    ----------
    n_blanks : int
    n_pairs : int
        Blanks right after another blank or at the start of the text.
    n_crlf : int
        Those of them that are Windows line ends.
    lacks_final_newline : bool
    may_hold_controls : bool
        Whether a byte may be part of a control character that is not a blank.
    ends_otherwise : bool
        Whether a line ends with another byte than was asked for; false if none was.
    """

    n_blanks: int
    n_pairs: int
    n_crlf: int
    lacks_final_newline: bool
    may_hold_controls: bool
    ends_otherwise: bool

    @cached_property
    def are_regular(self) -> bool:
        """Whether no blank follows another, apart from Windows line ends."""
        return self.n_pairs == self.n_crlf


def count_blanks(source: Path | bytes, end: int | None = None) -> Blanks:
    """Count the blanks of a text without holding a file in memory, and tell whether a line's last byte is not `end`."""
    memory = bytearray(_STEP + 1)
    buffer = np.frombuffer(memory, np.uint8)
    # masks are written into the same memory for each piece
    blank_memory = np.empty(_STEP + 1, np.bool_)
    pair_memory = np.empty(_STEP + 1, np.bool_)
    n_blanks = n_pairs = n_crlf = 0
    may_hold_controls = ends_otherwise = False
    buffer[0] = _NEWLINE  # before each piece is the last byte of the one before it
    with open_file(source) if isinstance(source, Path) else BytesIO(source) as file:
        while n_read := file.readinto(memoryview(memory)[1:]):
            before = buffer[:n_read]
            piece = buffer[1 : n_read + 1]
            is_blank = np.less_equal(buffer[: n_read + 1], _SPACE, out=blank_memory[: n_read + 1])
            follows_blank = np.logical_and(is_blank[1:], is_blank[:-1], out=pair_memory[:n_read])
            n_blanks += int(np.count_nonzero(is_blank[1:]))
            if follows_blank.any():  # mostly there is none, and this look is the faster one
                n_pairs += int(np.count_nonzero(follows_blank))
                n_crlf += int(np.count_nonzero((before == _RETURN) & (piece == _NEWLINE)))
            may_hold_controls = may_hold_controls or _may_hold_controls(piece)
            if end is not None and not ends_otherwise:
                is_newline = np.equal(piece, _NEWLINE, out=blank_memory[:n_read])
                follows_other = np.not_equal(before, end, out=pair_memory[:n_read])
                ends_otherwise = bool(np.logical_and(is_newline, follows_other, out=is_newline).any())
            buffer[0] = buffer[n_read]
    last = int(buffer[0])
    if end is not None and last not in {_NEWLINE, end}:
        ends_otherwise = True
    return Blanks(
        n_blanks=n_blanks,
        n_pairs=n_pairs,
        n_crlf=n_crlf,
        lacks_final_newline=last != _NEWLINE,
        may_hold_controls=may_hold_controls,
        ends_otherwise=ends_otherwise,
    )


def _may_hold_controls(view: Bytes) -> bool:
    """Return whether there is a DEL, or a byte that can begin a C1 control, a line separator or a byte order mark."""
    if view.max() < _DELETE:  # mostly so, and this look is the faster one
        return False
    return bool(((view == _DELETE) | (view == 0xC2) | (view == 0xE2) | (view == 0xEF)).any())


def normalize_blanks(block: bytes) -> bytes:
    """Return the lines with one space between fields, none around them, and no blank lines."""
    data = block.translate(_TO_SPACE)
    if not data.endswith(b"\n"):
        data += b"\n"
    text = np.frombuffer(data, np.uint8)
    is_space = text == _SPACE
    after_blank = np.ones(text.size, bool)
    np.logical_or(is_space[:-1], text[:-1] == _NEWLINE, out=after_blank[1:])
    text = text[~(is_space & after_blank)]
    # Lines now start with a field or are empty, and end with at most one space.
    is_newline = text == _NEWLINE
    after_newline = np.ones(text.size, bool)
    after_newline[1:] = is_newline[:-1]
    before_newline = np.zeros(text.size, bool)
    before_newline[:-1] = is_newline[1:]
    # blank lines, and spaces at the end of a line; NumPy reuses the memory of masks without a name
    is_dropped = (is_newline & after_newline) | ((text == _SPACE) & before_newline)
    return bytes(text[~is_dropped])


class Separators(NamedTuple):
    """How many lines a table has, how many separators outside quotes, and whether it may hold a control character."""

    n_lines: int
    n_separators: int
    may_hold_controls: bool


def count_separators(source: Path | bytes, separator: str, *, skip: int) -> Separators | None:
    """Count lines and separators of a table without holding the file in memory.

    Parameters
    ----------
    source : pathlib.Path or bytes
    separator : str
    skip : int
        Length of the header in bytes.

    Returns
    -------
    Separators or None
        None if there is a NUL, if a quote opens or closes where a field does not, if a quoted field has a newline, or
        if a carriage return is not part of a line end: only a reader of rows knows what these mean.
    """
    mark = ord(separator)
    n_lines = n_separators = 0
    is_doubtful = False
    with open_file(source) if isinstance(source, Path) else BytesIO(source) as file:
        file.seek(skip)
        for block in group_whole_lines(iter(partial(file.read, _STEP_OF_SEPARATORS), b"")):
            view = np.frombuffer(block, np.uint8)
            # both at once, while the masks of the last block are not yet free: else it takes a tenth longer
            is_newline, is_separator = view == _NEWLINE, view == mark
            is_quote = view == _QUOTE
            if is_quote.any():
                outside = _find_outside_quotes(view, is_quote, mark)
                if outside is None or (is_newline & ~outside).any():
                    return None
                is_separator &= outside
            is_return = view == _RETURN
            n_newlines = np.count_nonzero(is_newline)
            n_returns = np.count_nonzero(is_return)
            if n_returns and n_returns != np.count_nonzero(is_return[:-1] & is_newline[1:]):
                return None
            n_low = np.count_nonzero(view < _SPACE) - n_newlines - n_returns  # control characters, and tabs
            if n_low and not view.all():
                return None
            if mark < _SPACE:  # separators are no control characters; a tab inside quotes is one
                n_low -= np.count_nonzero(is_separator)
            is_doubtful |= bool(n_low) or _may_hold_controls(view)
            n_lines += int(n_newlines) + (not block.endswith(b"\n"))
            n_separators += int(np.count_nonzero(is_separator))
    return Separators(n_lines, n_separators, is_doubtful)


def _find_outside_quotes(view: Bytes, is_quote: Mask, mark: int) -> Mask | None:
    """Return which bytes are outside quotes; None if a quote is neither around a field nor doubled inside one."""
    inside = _is_odd_so_far(is_quote)  # an opening quote is inside, a closing one is not
    if inside[-1]:
        return None
    ends_field = is_quote | (view == mark) | (view == _NEWLINE)
    opens = is_quote & inside
    if (opens[1:] & ~ends_field[:-1]).any():
        return None
    closes = is_quote & ~inside
    ends_field |= view == _RETURN
    if (closes[:-1] & ~ends_field[1:]).any():
        return None
    return ~inside


def _is_odd_so_far(mask: Mask) -> Mask:
    """Tell for each place whether the number of true values up to it, itself included, is odd.

    For speed 64 places are the bits of a word. Shifts by 1, 2, 4, ... put into each bit whether the bits up to it in
    its word are odd in number. Then each word that follows an odd number of bits is inverted.
    """
    packed = np.packbits(mask, bitorder="little")
    words = np.zeros(-(-packed.size // 8), "<u8")
    bits = words.view(np.uint8)
    bits[: packed.size] = packed
    for shift in (1, 2, 4, 8, 16, 32):
        words ^= words << np.uint64(shift)
    is_odd = np.logical_xor.accumulate(words >> np.uint64(63) != 0)
    words[1:][is_odd[:-1]] ^= np.uint64(2**64 - 1)
    return np.unpackbits(bits, count=mask.size, bitorder="little").view(bool)
