"""What judges write, such as language models: answers that hold a grade, read as judgments or scores, or hold none."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from deadheat.core.io.grades import GRADES, describe_far_grades, normal_words, parse_json, read_grade
from deadheat.core.io.kinds import COLUMN_NAMES, KEYS, VALUE_COLUMN, Kind
from deadheat.core.io.nested import is_dict_of_dicts
from deadheat.core.io.objects import JsonText, read_text
from deadheat.core.io.records import as_text, read_rows
from deadheat.core.structures import copy_with
from deadheat.core.wording import format_count, format_list, quote_text

FAILED = ("error", "drop", "lowest", "bounds")


@dataclass(frozen=True)
class Answer:
    """What a judge wrote for a document.

    Attributes
    ----------
    query_id, doc_id : str
    content : object
        A number, text, or a list of either.
    """

    query_id: str
    doc_id: str
    content: object


@dataclass(frozen=True)
class Reading:
    """What an answer was read as.

    Attributes
    ----------
    grade : float or None
        Of several grades the mean; None if the answer holds none.
    scale : float or None
        The scale that the answer names, such as 10 in "8/10".
    n_failed : int
        Of an answer with several parts, how many hold no grade beside those that do.
    """

    grade: float | None
    scale: float | None = None
    n_failed: int = 0


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
    number_of_words = {words: as_number("grades", number) for words, number in (grades or {}).items()}
    path = as_path(source)
    where = str(path) if path else name or "judgments"
    answers = list(_list_answers(_open_json(source, path), path, grade, where))
    readings = [_read_answer(answer.content, number_of_words, scale) for answer in answers]
    highest_scale = _find_scale(readings, scale, where)
    frame = _make_frame(answers, readings)
    _check_repeated(frame, where)
    table = _make_table(frame, kind, failed, where, highest_scale)
    table.name = name or (make_label(path) if path else kind)
    table.notes = (*table.notes, *_list_notes(frame, readings, number_of_words))
    return table


def _open_json(source: Source, path: Path | None) -> Source:
    """Return the dict of dicts that a JSON file holds; any other source is returned as it is."""
    if path is None or ending(path) != ".json":
        return source
    content = JsonText(read_text(path, "judgments"), path).value
    if isinstance(content, dict) and is_dict_of_dicts(content):
        return content
    return source


def _list_answers(
    source: Source, path: Path | None, grade: str | Callable[[Any], object] | None, where: str
) -> Iterator[Answer]:
    """Give the answer of each row, or of each document of a dict of dicts.

    Parameters
    ----------
    source : path, dict of dict, list of dict or dataframe
    path : Path or None
        Of a source that is a file.
    grade : str, callable or None
        The column of answers, or what takes an answer out of a row; of a dict of dicts, out of what it holds.
    where : str
        How errors name the source.
    """
    if isinstance(source, Mapping):
        yield from _list_nested_answers(source, grade)
        return
    columns: dict[str, str] = {}
    for place, row in enumerate(read_rows(source, path, "judgments"), start=1):
        if not columns:
            columns = _find_columns(list(row), grade, where)
        query_id = as_text(row.get(columns["query_id"]))
        doc_id = as_text(row.get(columns["doc_id"]))
        if not query_id:
            raise DataError(f"row {place} lacks a query_id", path=where)
        if not doc_id:
            raise DataError(f"row {place} lacks a doc_id", path=where)
        content = grade(row) if callable(grade) else row.get(columns["grade"])
        yield Answer(query_id, doc_id, content)


def _list_nested_answers(source: Mapping[Any, Any], grade: str | Callable[[Any], object] | None) -> Iterator[Answer]:
    """Give the answers of a dict of dicts."""
    if not is_dict_of_dicts(source):
        raise SourceTypeError(found=quote_text(str(source)), allowed="a dict of dicts {query: {document: answer}}")
    for query_id, documents in source.items():
        for doc_id, content in documents.items():
            yield Answer(str(query_id), str(doc_id), grade(content) if callable(grade) else content)


def _find_columns(columns: list[str], grade: str | Callable[[Any], object] | None, where: str) -> dict[str, str]:
    """Return which columns hold the query_id, the doc_id and, unless a function finds it, the grade."""
    names = {}
    for key in KEYS:
        names[key] = find_column(COLUMN_NAMES["qrels"][key], columns, f"no column {key}", where)
    if callable(grade):
        return names
    known_columns = GRADES if grade is None else (grade,)
    candidates = [column for column in known_columns if column in columns]
    if len(candidates) > 1:
        listed = " and ".join(candidates)
        raise ColumnError(f"{listed} may both hold the grade", hint="say which one: grade=", path=where)
    names["grade"] = find_column(known_columns, columns, "no column of grades: give grade=", where)
    return names


def _read_answer(content: object, grades: Mapping[str, float], scale: float | None) -> Reading:
    """Read the grade of an answer, or the mean grade of one with several parts.

    Parameters
    ----------
    content : object
        A number, text, or a list of either, which may be written as JSON.
    grades : mapping of str to float
        What words mean.
    scale : float or None
        The highest grade: what is beyond it, or below 0, is none.
    """
    content = parse_json(content, "[")
    parts = content if isinstance(content, list | tuple) else [content]
    values = []
    scales = set()
    for part in parts:
        part_grade = read_grade(part, grades)
        if part_grade.scale is not None:
            scales.add(part_grade.scale)
        value = part_grade.value
        if value is not None and (scale is None or 0 <= value <= scale):
            values.append(value)
    if len(scales) > 1:
        return Reading(None)
    named_scale = scales.pop() if scales else None
    if not values:
        return Reading(None, named_scale)
    with np.errstate(over="ignore"):
        mean = float(np.mean(values))
    grade = mean if math.isfinite(mean) else None
    return Reading(grade, named_scale, len(parts) - len(values))


def _find_scale(readings: Sequence[Reading], scale: float | None, where: str) -> float:
    """Return the highest grade of the only scale that answers or the caller name; 0 if none do."""
    scales = sorted({reading.scale for reading in readings if reading.scale is not None})
    listed = " and ".join(f"{named_scale:g}" for named_scale in scales)
    if scale is not None and scales not in ([], [scale]):
        raise DataError(f"answers are on scale {listed}, not {scale:g}", path=where)
    if len(scales) > 1:
        raise DataError(f"answers are on scale {listed}", path=where)
    return max([*scales, scale or 0])


def _make_frame(answers: Sequence[Answer], readings: Sequence[Reading]) -> pl.DataFrame:
    """Return query_id, doc_id, grade (null if there is none) and answer (as text) of each answer."""
    columns: dict[str, list[Any]] = {
        "query_id": [answer.query_id for answer in answers],
        "doc_id": [answer.doc_id for answer in answers],
        "grade": [reading.grade for reading in readings],
        "answer": [as_text(answer.content) for answer in answers],
    }
    schema = {"query_id": pl.String, "doc_id": pl.String, "grade": pl.Float64, "answer": pl.String}
    return pl.DataFrame(columns, schema=schema)


def _check_repeated(frame: pl.DataFrame, where: str) -> None:
    """Raise if a document is graded more than once for a query."""
    is_repeated = pl.struct("query_id", "doc_id").is_duplicated()
    repeated = find_first_row(frame, is_repeated, "query_id", "doc_id")
    if repeated is not None:
        query_id, doc_id = repeated
        raise DuplicateError(f"document {doc_id!r} is graded more than once for query {query_id!r}", path=where)


def _make_table(frame: pl.DataFrame, kind: Kind, failed: str, where: str, scale: float) -> Qrels | Run:
    """Return the grades as judgments or as a run, with a note of what became of failures.

    Parameters
    ----------
    frame : polars.DataFrame
        As `_make_frame` returns it.
    kind : {"qrels", "run"}
    failed : {"error", "drop", "lowest", "bounds"}
    where : str
        How errors name the source.
    scale : float
        The highest grade, or 0 if no scale is named.
    """
    failures = frame.filter(pl.col("grade").is_null()).select(*KEYS, "answer")
    failure_count = _count_failures(failures, len(frame))
    if len(failures) and failed == "error":
        raise DataError(failure_count, hint='failed="drop", "lowest" or "bounds" goes on without them', path=where)
    graded = frame.drop_nulls("grade")
    if graded.is_empty():
        problem = f"no answer is a grade: {failure_count}" if len(frame) else "there is no answer"
        raise DataError(problem, path=where)
    lowest = min(0.0, cast("float", graded["grade"].min()))
    highest = max(scale, cast("float", graded["grade"].max()))
    kept = graded
    if failed == "lowest":
        kept = frame.with_columns(pl.col("grade").fill_null(lowest))
    elif failed == "bounds" and kind == "run":
        kept = frame.with_columns(pl.col("grade").fill_null(lowest - 1))
    lost_queries = sorted(set(frame["query_id"]).difference(kept["query_id"]))
    attributes: dict[str, object] = {"failures": failures, "notes": ()}
    if len(failures):
        consequence = _describe_consequence(kind, failed, lost_queries, lowest)
        attributes["notes"] = (f"{failure_count}, {consequence}",)
    if failed == "bounds" and kind == "run":
        attributes["are_failures_open"] = bool(len(failures))
    elif failed == "bounds":
        attributes["bare"] = tuple(lost_queries)
        attributes["open_to"] = highest
    rows = kept.select(*KEYS, pl.col("grade").alias(VALUE_COLUMN[kind]))
    table: Qrels | Run = Run.of_checked(rows, where) if kind == "run" else Qrels.of_checked(rows, where)
    return copy_with(table, **attributes)


def _count_failures(failures: pl.DataFrame, n_answers: int) -> str:
    """Say how many answers are no grades, and which these are."""
    texts = []
    for answer in failures["answer"].unique(maintain_order=True):
        texts.append("None" if answer is None else quote_text(answer))
    verb = "is no grade" if len(failures) == 1 else "are no grades"
    return f"{len(failures):,} of {format_count(n_answers, 'answer')} {verb} ({format_list(texts)})"


def _describe_consequence(kind: Kind, failed: str, lost_queries: Sequence[str], lowest: float) -> str:
    """Say what became of answers that are no grades; `lost_queries` have no others."""
    if failed == "lowest":
        return f"counted as {lowest:g}"
    if failed == "bounds" and kind == "run":
        return "ranked last; bounds of an evaluation are over all places that they could have"
    if failed == "bounds":
        return "left out; bounds of an evaluation are over all grades that they could have"
    if lost_queries:
        n_queries = format_count(len(lost_queries), "query", "queries")
        return f"left out, with {n_queries} ({format_list(lost_queries)})"
    return "left out"


def _list_notes(frame: pl.DataFrame, readings: Sequence[Reading], grades: Mapping[str, float]) -> Iterator[str]:
    """Give what may be wrong with answers that were read: far grades, words that no answer holds, parts without one."""
    far_grades = describe_far_grades(frame["grade"].drop_nulls().to_list())
    if far_grades:
        yield far_grades
    if grades:
        all_words = normal_words(" ".join(frame["answer"].drop_nulls()))
        unmet_words = [repr(words) for words in grades if normal_words(words) not in all_words]
        if unmet_words:
            yield f"no answer holds {format_list(unmet_words)}, which would be a grade"
    n_failed_parts = [reading.n_failed for reading in readings if reading.n_failed]
    if n_failed_parts:
        n_documents = format_count(len(n_failed_parts), "document")
        yield (
            f"{n_documents} with several answers of which {sum(n_failed_parts):,} hold no grade: the mean of the others"
            " is taken"
        )
