"""Names that are too long for a table on a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST, STEP = 24, 8
CUT = "…"


def shortened(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of at most 24 columns, cut in the middle; longer ones if else two would look alike.

    Examples
    --------
    >>> shortened(["bm25", "msmarco-passage-dev-cross-encoder-large"])
    ('bm25', 'msmarco-pass…coder-large')
    """
    room = LONGEST
    short = [_cut(name, room) for name in names]
    while len(set(short)) < len(set(names)):
        room += STEP
        short = [_cut(name, room) for name in names]
    return tuple(short)


def _cut(name: str, room: int) -> str:
    if cell_len(name) <= room:
        return name
    right = (room - cell_len(CUT)) // 2
    left = room - cell_len(CUT) - right
    # a wide character that would be cut in two leaves a blank
    return set_cell_size(name, left).rstrip() + CUT + set_cell_size(name[::-1], right)[::-1].lstrip()
