"""The options of judged passages: --spans and what goes with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from deadheat.cli.errors import refuse, refuse_if
from deadheat.cli.help import option
from deadheat.cli.inputs import is_saved
from deadheat.cli.options import COLLECTION, FILE
from deadheat.cli.paths import asked

OPTIONS: dict[str, Callable[[Any], Any]] = {
    "spans": option(
        "--spans",
        **FILE,
        help="In place of QRELS: judged passages (query_id, doc_id, start, end), for runs of chunks with offsets.",
        heading="input",
    ),
    "overlap": option(
        "--overlap",
        type=click.FloatRange(0, 1, min_open=True),
        default=0.5,
        metavar="SHARE",
        help="The share that a relevant chunk covers; default 0.5.",
        heading="input",
    ),
    "overlap_of": option(
        "--overlap-of",
        type=click.Choice(["span", "chunk", "any"]),
        default="span",
        metavar="span|chunk|any",
        help="Of what that is the share: of the span (default), or of the chunk; any: one character is enough.",
        heading="input",
    ),
    "documents": option(
        "--documents",
        **FILE,
        help="The texts (doc_id, text), in which quoted spans are looked up and offsets are checked.",
        heading="input",
    ),
}
NOT_OF_SPANS = (
    "columns",
    "grades",
    "normalize_ids",
    "then_by",
    "repeats",
    "judge",
    "engine",
    "texts",
    *COLLECTION,
)


def with_spans(qrels: str, runs: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the file of judgments and the runs: with --spans, what is in the place of QRELS is a run."""
    spans = asked().get("spans")
    if spans is None:
        refuse([name for name in OPTIONS if name != "spans"], "is about spans: give --spans FILE too")
        return qrels, runs
    refuse(NOT_OF_SPANS, "is not for --spans")
    for path in (qrels, *runs):
        refuse_if(is_saved(path), f"{path} is already evaluated: leave out --spans, which is for runs of chunks")
    return spans, (qrels, *runs)
