"""The blanks in the bytes of a text: counted to prove a parse correct, and normalised for another try."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

_STEP = 1 << 18  # bytes looked at together, so that they and their masks stay in the processor's cache
_SPACE, _NEWLINE, _RETURN, _DELETE = 32, 10, 13, 127
# What bytes.split() takes for a blank, except the newline.
_TO_SPACE = bytes.maketrans(b"\t\v\f\r", b"    ")


@dataclass(frozen=True)
class Census:
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
    """

    n_blanks: int
    n_pairs: int
    n_crlf: int
    lacks_final_newline: bool
    may_hold_controls: bool

    @property
    def are_regular(self) -> bool:
        """Whether no blank follows another, apart from Windows line ends."""
        return self.n_pairs == self.n_crlf


def count_blanks(data: bytes) -> Census:
    """Count the blanks of a text in memory."""
    text = np.frombuffer(b"\n" + data[:1], np.uint8), np.frombuffer(data, np.uint8)
    counts = _counts(text[0])
    for start in range(0, len(data) - 1, _STEP):
        counts += _counts(text[1][start : start + _STEP + 1])
    return _census(counts, data[-1:])


def count_blanks_of_file(path: Path) -> Census:
    """Count the blanks of a file without holding it in memory."""
    memory = bytearray(_STEP + 1)
    buffer = np.frombuffer(memory, np.uint8)
    buffer[0] = _NEWLINE
    counts = np.zeros(4, np.int64)
    with path.open("rb", buffering=0) as file:
        while n_read := file.readinto(memoryview(memory)[1:]):
            counts += _counts(buffer[: n_read + 1])
            buffer[0] = buffer[n_read]
    return _census(counts, buffer[:1].tobytes())


def _counts(view: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Count blanks, pairs, Windows line ends and control characters in ``view[1:]``; ``view[0]`` precedes it."""
    blank = view <= _SPACE
    n_pairs = np.count_nonzero(blank[1:] & blank[:-1])
    n_crlf = np.count_nonzero((view[:-1] == _RETURN) & (view[1:] == _NEWLINE)) if n_pairs else 0
    return np.array([np.count_nonzero(blank[1:]), n_pairs, n_crlf, may_hold_controls(view)], np.int64)


def may_hold_controls(view: npt.NDArray[np.uint8]) -> bool:
    """Return whether there is a DEL, or a byte that can begin a C1 control, a line separator or a byte order mark."""
    if view.max() < _DELETE:
        return False
    return bool(((view == _DELETE) | (view == 0xC2) | (view == 0xE2) | (view == 0xEF)).any())


def _census(counts: npt.NDArray[np.int64], last: bytes) -> Census:
    n_blanks, n_pairs, n_crlf, n_doubtful = counts.tolist()
    return Census(n_blanks, n_pairs, n_crlf, last != b"\n", n_doubtful > 0)


def with_single_blanks(block: bytes) -> bytes:
    """Return the lines with one space between fields, none around them, and no blank lines."""
    data = block.translate(_TO_SPACE)
    text = np.frombuffer(data if data.endswith(b"\n") else data + b"\n", np.uint8)
    is_space = text == _SPACE
    after_blank = np.ones(text.size, bool)
    np.logical_or(is_space[:-1], text[:-1] == _NEWLINE, out=after_blank[1:])
    text = text[~(is_space & after_blank)]
    # Lines now start with a field or are empty, and end with at most one space.
    is_newline = text == _NEWLINE
    after_newline, before_newline = np.ones(text.size, bool), np.zeros(text.size, bool)
    after_newline[1:], before_newline[:-1] = is_newline[:-1], is_newline[1:]
    drop = (is_newline & after_newline) | ((text == _SPACE) & before_newline)
    return bytes(text[~drop])
