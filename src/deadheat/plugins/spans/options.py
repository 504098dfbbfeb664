"""The options of judged passages: --spans and what goes with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

import deadheat as dh
from deadheat.core.cli.help import option
from deadheat.core.cli.judged import JudgmentsOption
from deadheat.core.cli.options import COLLECTION, FILE
from deadheat.core.cli.paths import asked
from deadheat.core.data.kind_of_judgments import KindOfJudgments

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
    "doc_id_of",
    "duplicates",
    "file_formats",
    "grades",
    "normalize_ids",
    "exclude",
    "then_by",
    "judge",
    "engine",
    "texts",
    *COLLECTION,
)


def _kind() -> KindOfJudgments:
    return dh.Spans.kind_of_judgments


def _open_spans(path: str) -> dh.Spans:
    options = asked()
    return dh.Spans(path, **{name: options[name] for name in ("overlap", "overlap_of", "documents")})


def _open_like(path: str, qrels: dh.Qrels) -> dh.Spans:
    """Read spans under the overlap of earlier ones; a file of format 2 does not say it, and its spans are refused."""
    from deadheat.plugins.spans.spans import SpanRule

    rule = qrels.judging_rule
    overlap = vars(rule) if isinstance(rule, SpanRule) else {}
    return dh.Spans(path, documents=asked()["documents"], **overlap)


JUDGMENTS = JudgmentsOption(
    name="spans",
    typed="--spans",
    others=("overlap", "overlap_of", "documents"),
    refuses=NOT_OF_SPANS,
    runs="runs of chunks",
    kind=_kind,
    open=_open_spans,
    open_like=_open_like,
)
