"""The tag of a TREC run, which its rows carry as their last field."""

from __future__ import annotations

from collections import deque
from pathlib import Path

from deadheat.io.formats import sniff_format
from deadheat.io.kinds import TREC_FIELDS
from deadheat.io.source import HEAD, blocks, plain_head


def tag_of(path: str | Path) -> str | None:
    """Return the tag in the last row of a file, which trec_eval prints; None for a file that has none, or a pipe.

    Parameters
    ----------
    path : path
        Of a run that was read.
    """
    path = Path(path)
    if not path.is_file() or sniff_format(path) not in {"trec", "tsv"}:
        return None
    rows = [row for row in _end(path).split(b"\n") if row.split()]
    fields = rows[-1].split() if rows else []
    return fields[-1].decode("utf-8", "replace") if len(fields) == len(TREC_FIELDS["run"]) else None


def _end(path: Path) -> bytes:
    """Return the last bytes of a file, unpacked."""
    if plain_head(path) is None:
        return b"".join(deque(blocks(path, has_lines=True), 1))
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - HEAD))
        return file.read()
