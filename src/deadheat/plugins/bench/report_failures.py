"""The table of the cases that retrievers failed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deadheat.core.report.model import Column, Table, tabulate
from deadheat.plugins.bench.result import Failure

RETRIEVER = Column("retriever", "retriever", is_name=True)
MOST_IN_FILE = 20  # failed cases of each retriever
MOST_ON_SCREEN = 3
MOST_OF_ALL_ON_SCREEN = 6  # failed cases of all retrievers together, where each still has one


def list_failures(
    part: str, n_cases: int, failures_of: Mapping[str, Sequence[Failure]], *, full: bool
) -> Iterator[Table]:
    """Give the table of a part's failures by retriever, if there are any: few for a screen, many for a file."""
    most = MOST_IN_FILE
    if not full:
        most = min(MOST_ON_SCREEN, max(1, MOST_OF_ALL_ON_SCREEN // len(failures_of)))
    rows: list[dict[str, Any]] = []
    for retriever, failures in failures_of.items():
        for failure in failures[:most]:
            rows.append({"retriever": retriever, "failure": failure, **vars(failure), "rank": failure.rank})
    if not rows:
        return
    has_lines = any(row["line"] for row in rows)
    labels = [RETRIEVER]
    if full or not has_lines:
        labels.append(Column("case_id", "case"))
    if has_lines:
        labels.append(Column("line", "line", lambda row: f"{row['line'] or ''}"))
    columns = [Column("rank", "rank")]
    if full:
        columns += [
            Column("text", "text"),
            Column("expected", "expected", lambda row: "; ".join(map(str, row["expected"]))),
            Column("above", "above it", lambda row: _describe_above(row["failure"])),
        ]
    else:
        columns.append(Column("words", "what stood above it", lambda row: _describe(row["failure"])))
    counts = ", ".join(f"{len(failures):,} by {retriever}" for retriever, failures in failures_of.items())
    title = f"{part}: cases without an expected document first ({counts} of {n_cases:,}), the worst"
    yield tabulate("failures", labels, columns, rows, title=title, is_section=True)


def _describe_above(failure: Failure) -> str:
    """Name the documents that stood above the expected one."""
    text = "; ".join(map(str, failure.above))
    n_more = failure.n_above - len(failure.above)
    if n_more:
        text += f"; and {n_more:,} more"
    return text


def _describe(failure: Failure) -> str:
    """Return text, expected document, and what stood above it, as a sentence."""
    expected = f"{failure.best or failure.expected[0]}"
    n_others = len(failure.expected) - 1
    if n_others > 0:
        expected += f" (and {n_others} more)"
    above = _describe_above(failure) or "nothing found"
    return f"{failure.text!r} expects {expected}: {above}"
