"""What judges write, such as language models: answers that hold a grade, read as judgments or scores, or hold none."""

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import polars as pl

from deadheat.core import hooks
from deadheat.core.checks import as_number, as_positive, check_choice
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rows import find_first_row
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source, as_path, make_label
from deadheat.core.errors import ColumnError, DataError, DuplicateError, SourceTypeError
from deadheat.core.io.columns import find_column
from deadheat.core.io.formats import ending
from deadheat.core.io.grades import GRADES, Grade, describe_far_grades, normal_words, parse_json, read_grade
from deadheat.core.io.kinds import COLUMN_NAMES, KEYS, VALUE_COLUMN, Kind
from deadheat.core.io.nested import is_dict_of_dicts
from deadheat.core.io.objects import JsonText, read_text
from deadheat.core.io.records import as_text, read_rows
from deadheat.core.structures import copy_with
from deadheat.core.wording import format_count, format_list, quote_text

FAILED = ("error", "drop", "lowest", "bounds")


def read_judgments(
    source: Source,
    *,
    kind: Literal["qrels", "run"] = "qrels",
    grade: str | Callable[[Any], object] | None = None,
    grades: Mapping[str, float] | None = None,
    scale: float | None = None,
    failed: str = "error",
    name: str | None = None,
) -> Qrels | Run:
    """Read the grades that a judge wrote, and list the answers without one.

    Parameters
    ----------
    source : path, dict of dict, list of dict or dataframe
        JSON Lines, CSV, TSV, JSON, Parquet or Excel with a row for each document, or ``{query_id: {doc_id: answer}}``.
        An answer is a number, text that holds one ("3", "Score: 2", "8/10"), or a list of several, whose mean is taken.
    kind : {"qrels", "run"}, default "qrels"
        What the grades are: judgments, or the scores of a reranker.
    grade : str or callable, optional
        The column that holds the answer, or a function of the row; by default grade, rating, relevance, judgment,
        label, score, answer, response or output.
    grades : dict of str to float, optional
        What words mean: ``{"Highly relevant": 3, "Related": 1}``.
    scale : float, optional
        The highest grade. "8/10" is grade 8 on scale 10, which must be this one; grades beyond it, or below 0, are
        none.
    failed : {"error", "drop", "lowest", "bounds"}, default "error"
        What becomes of answers that are no grade, as refusals: an error that shows them; they are left out; they count
        as the lowest grade; or they may be any grade, of qrels from 0 to the highest: an evaluation has the range of
        each value then (`Scores.unjudged_min`, `Scores.unjudged_max`), over these documents alone. Of a run they may be
        anywhere in the list: above, below or inside each tie. They rank last in the values. The range of qrels is under
        the tie policy of the values, which is "expected", "doc_id" or "input".
    name : str, optional

    Returns
    -------
    Qrels or Run
        With `failures`: query_id, doc_id and answer of each that failed.

    Raises
    ------
    DataError
        An answer is no grade, answers are on two scales, or a row lacks an id.
    ParameterError
        An argument is out of its range.

    Examples
    --------
    >>> found = read_judgments({"q": {"a": "Score: 2", "b": "not relevant", "c": None}},
    ...                        grades={"not relevant": 0}, failed="drop")
    >>> found.to_dict(), found.failures.rows(), found.notes
    ({'q': {'a': 2.0, 'b': 0.0}}, [('q', 'c', None)], ('1 of 3 answers is no grade (None), left out',))
    """
    check_choice("failed", failed, FAILED)
    hooks.check_setting("failed", failed)
    check_choice("kind", kind, ("qrels", "run"))
    if scale is not None:
        as_positive("scale", scale)
    grades = {word: as_number("grades", number) for word, number in (grades or {}).items()}
    path = as_path(source)
    where = str(path) if path else name or "judgments"
    if path is not None and ending(path) == ".json":
        held = JsonText(read_text(path, "judgments"), path).value
        source = held if isinstance(held, dict) and is_dict_of_dicts(held) else source
    rows = list(_rows(source, path, grade, where))
    each = [_read(answer, grades, scale) for *_, answer in rows]
    read = [one for one, _ in each]
    scales = sorted({one.scale for one in read if one.scale is not None})
    if len(scales) > 1 or (scale is not None and scales not in ([], [scale])):
        held = " and ".join(f"{one:g}" for one in scales)
        raise DataError(f"answers are on scale {held}{'' if scale is None else f', not {scale:g}'}", path=where)
    found = pl.DataFrame(
        {
            "query_id": [query for query, *_ in rows],
            "doc_id": [doc for _, doc, _ in rows],
            "grade": [one.value for one in read],
            "answer": [as_text(answer) for *_, answer in rows],
        },
        schema={"query_id": pl.String, "doc_id": pl.String, "grade": pl.Float64, "answer": pl.String},
    )
    is_repeated = pl.struct("query_id", "doc_id").is_duplicated()
    repeated = find_first_row(found, is_repeated, "query_id", "doc_id")
    if repeated is not None:
        query, doc = repeated
        raise DuplicateError(f"document {doc!r} is graded more than once for query {query!r}", path=where)
    table = _table(found, kind, failed, where, max([*scales, scale or 0]))
    table.name = name or (make_label(path) if path else kind)
    values, all_words = (
        found["grade"].drop_nulls(),
        normal_words(" ".join(found["answer"].drop_nulls()) if grades else ""),
    )
    far = describe_far_grades(values.to_list())
    unmet = [repr(word) for word in grades or () if normal_words(word) not in all_words]
    partial = [n_failed for _, n_failed in each if n_failed]
    told = {
        far: far,
        f"no answer holds {format_list(unmet)}, which would be a grade": unmet,
        f"{format_count(len(partial), 'document')} with several answers of which {sum(partial):,} hold no grade:"
        " the mean of the others is taken": partial,
    }
    table.notes = (*table.notes, *(text for text, items in told.items() if items))
    return table


def _table(found: pl.DataFrame, kind: Kind, failed: str, where: str, scale: float) -> Qrels | Run:
    """Return the grades as a table, with what became of failures; `scale` is the highest grade, or 0."""
    failures = found.filter(pl.col("grade").is_null()).select(*KEYS, "answer")
    raw = ["None" if one is None else quote_text(one) for one in failures["answer"].unique(maintain_order=True)]
    are = "is no grade" if len(failures) == 1 else "are no grades"
    said = f"{len(failures):,} of {format_count(len(found), 'answer')} {are} ({format_list(raw)})"
    if len(failures) and failed == "error":
        raise DataError(said, hint='failed="drop", "lowest" or "bounds" goes on without them', path=where)
    kept = found.drop_nulls("grade")
    if kept.is_empty():
        raise DataError(f"no answer is a grade: {said}" if len(found) else "there is no answer", path=where)
    lowest, highest = min(0.0, cast("float", kept["grade"].min())), max(scale, cast("float", kept["grade"].max()))
    if failed == "lowest" or (failed == "bounds" and kind == "run"):
        kept = found.with_columns(pl.col("grade").fill_null(lowest if failed == "lowest" else lowest - 1))
    lost = tuple(sorted({*found["query_id"]}.difference(kept["query_id"])))  # without a grade
    own = {"are_failures_open": bool(len(failures))} if kind == "run" else {"bare": lost, "open_to": highest}
    at_first, over = ("ranked last", "places") if kind == "run" else ("left out", "grades")
    became = {
        "drop": "left out" + f", with {format_count(len(lost), 'query', 'queries')} ({format_list(lost)})" * bool(lost),
        "lowest": f"counted as {lowest:g}",
        "bounds": f"{at_first}; bounds of an evaluation are over all {over} that they could have",
    }
    return copy_with(
        (Run if kind == "run" else Qrels).of_checked(
            kept.select(*KEYS, pl.col("grade").alias(VALUE_COLUMN[kind])), where
        ),
        failures=failures,
        notes=(f"{said}, {became[failed]}",) if len(failures) else (),
        **(own if failed == "bounds" else {}),
    )


def _rows(
    source: Source, path: Path | None, grade: str | Callable[[Any], object] | None, where: str
) -> Iterator[tuple[str, str, object]]:
    """Yield query_id, doc_id and answer of each row."""
    if isinstance(source, Mapping):
        if not is_dict_of_dicts(source):
            raise SourceTypeError(found=quote_text(str(source)), allowed="a dict of dicts {query: {document: answer}}")
        yield from (
            (str(query), str(doc), grade(answer) if callable(grade) else answer)
            for query, documents in source.items()
            for doc, answer in documents.items()
        )
        return
    names: dict[str, str] = {}
    for place, row in enumerate(read_rows(source, path, "judgments"), start=1):
        names = names or _names(list(row), grade, where)
        query, doc = as_text(row.get(names["query_id"])), as_text(row.get(names["doc_id"]))
        if not query or not doc:
            raise DataError(f"row {place} lacks a {'doc_id' if query else 'query_id'}", path=where)
        yield query, doc, grade(row) if callable(grade) else row.get(names["grade"])


def _names(columns: list[str], grade: str | Callable[[Any], object] | None, where: str) -> dict[str, str]:
    """Return which columns hold the ids and the answer."""
    found = {name: find_column(COLUMN_NAMES["qrels"][name], columns, f"no column {name}", where) for name in KEYS}
    if callable(grade):
        return found
    known = GRADES if grade is None else (grade,)
    several = [one for one in known if one in columns]
    if len(several) > 1:
        raise ColumnError(f"{' and '.join(several)} may both hold the grade", hint="say which one: grade=", path=where)
    return {**found, "grade": find_column(known, columns, "no column of grades: give grade=", where)}


def _read(answer: object, grades: Mapping[str, float] | None, scale: float | None) -> tuple[Grade, int]:
    """Return the grade of an answer, of several the mean of those that are one, and how many of these are none."""
    held = parse_json(answer, "[")
    several = held if isinstance(held, list | tuple) else [held]
    read = [read_grade(one, grades) for one in several]
    values = [one.value for one in read if one.value is not None and (scale is None or 0 <= one.value <= scale)]
    scales = {one.scale for one in read if one.scale is not None}
    if len(scales) > 1:
        return Grade(None), 0
    if not values:
        return Grade(None, scales.pop() if scales else None), 0
    with np.errstate(over="ignore"):
        mean = float(np.mean(values))
    grade = mean if math.isfinite(mean) else None
    return Grade(grade, scales.pop() if scales else None), len(several) - len(values)
