"""What is different with spans, in the place of judgments of documents."""

from collections.abc import Mapping
from typing import Any

from deadheat.core.data.kind_of_judgments import KindOfJudgments
from deadheat.plugins.spans.of_spans import SPAN_MEASURES, measures_of_spans
from deadheat.plugins.spans.reading import NAMES, ROW


def is_run(rows: list[Any]) -> bool:
    """Tell whether a list is a run of chunks, each of which names its query; else it is the chunks of one query.

    Examples
    --------
    >>> is_run([("q", "d", 0, 10, 1.0)]), is_run([("d", 0, 10, 1.0)])
    (True, False)
    """
    row = next(iter(rows), None)
    if isinstance(row, Mapping):
        return not {*NAMES["query_id"]}.isdisjoint(row)
    return isinstance(row, tuple) and len(row) == len(ROW)


SPANS = KindOfJudgments(
    "spans",
    default_measures=lambda: SPAN_MEASURES,
    measures=measures_of_spans,
    is_run=is_run,
    retrieved="chunks",
)
OLD_SPANS = SPANS._replace(lacks="was saved in format 2, which does not keep how much of a span a chunk has to cover")
