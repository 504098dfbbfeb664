"""The size to which a Zstandard file may unpack, from the headers of its blocks (RFC 8878), without unpacking it."""

from __future__ import annotations

import os
import struct
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

_FRAME, _SKIPPABLE = 0xFD2FB528, 0x184D2A5
_LARGEST_BLOCK = 1 << 17
_RLE, _COMPRESSED = 1, 2


def largest_content(source: Path | bytes) -> int:
    """Return the most bytes to which a file can unpack; for a damaged file, the part before the damage.

    A compressed block counts as full, as usually all but the last of a file are.
    """
    n_bytes = 0
    with source.open("rb") if isinstance(source, Path) else BytesIO(source) as file:
        while len(head := file.read(4)) == 4:
            (magic,) = struct.unpack("<I", head)
            if magic >> 4 == _SKIPPABLE:
                file.seek(int.from_bytes(file.read(4), "little"), os.SEEK_CUR)
            elif magic == _FRAME:
                n_bytes += _largest_frame(file)
            else:
                break
    return n_bytes


def _largest_frame(file: BinaryIO) -> int:
    """Return the largest size of the frame whose magic number was just read, and skip to its end."""
    (descriptor,) = file.read(1) or b"\0"
    is_single_segment = bool(descriptor & 0x20)
    n_size = (int(is_single_segment), 2, 4, 8)[descriptor >> 6]
    n_dictionary = (0, 1, 2, 4)[descriptor & 3]
    file.seek((not is_single_segment) + n_dictionary + n_size, os.SEEK_CUR)
    n_bytes, is_last = 0, False
    while not is_last and len(head := file.read(3)) == 3:
        block = int.from_bytes(head, "little")
        is_last, kind, size = bool(block & 1), block >> 1 & 3, block >> 3
        n_bytes += _LARGEST_BLOCK if kind == _COMPRESSED else size
        file.seek(1 if kind == _RLE else size, os.SEEK_CUR)
    file.seek(4 if descriptor & 4 else 0, os.SEEK_CUR)
    return n_bytes
