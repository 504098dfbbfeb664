"""Rows of qrels or a run as a command writes them: to a file in the format of its name, or to standard output."""

from __future__ import annotations

import shutil
import tempfile
from typing import TYPE_CHECKING

from deadheat.core.cli.errors import refuse_if
from deadheat.core.cli.paths import STDOUT
from deadheat.core.cli.printing import standard_output
from deadheat.core.io.guarding import name_file_in_errors
from deadheat.core.io.kinds import Kind

if TYPE_CHECKING:
    import polars as pl


def chosen_format_of(target: str, given: str | None = None) -> str:
    """Return the format to write: the one given, else the one that the name implies; without a suffix, TREC."""
    from deadheat.core.io.formats import FORMATS, SUFFIXES, choose_format, ending

    suffix = "" if target == STDOUT else ending(target)
    chosen = choose_format(target, given)  # it knows the formats of other distributions, too
    refuse_if(
        given is None and suffix and suffix not in SUFFIXES,
        f"{target!r} names no format: give --to {', '.join(FORMATS)}",
    )
    return chosen


def write_rows(frame: pl.DataFrame, target: str, kind: Kind, written: str, tag: str) -> None:
    """Write rows in a format, whole or not at all; a run in TREC's has the tag as its last field."""
    from deadheat.core.io.formats import write

    if target != STDOUT:
        write(frame, target, kind, format=written, tag=tag)
        return
    stdout = standard_output()
    with tempfile.TemporaryFile() as held:
        with name_file_in_errors(tempfile.gettempdir()):
            write(frame, held, kind, format=written, tag=tag)
        held.seek(0)
        shutil.copyfileobj(held, stdout.buffer)
        stdout.buffer.flush()
