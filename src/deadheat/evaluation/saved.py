"""Saved evaluations: one JSON file, with a head that people and programs read and the tables of all queries below."""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from deadheat.arrays import TextArray
from deadheat.data.tables import hash_of_ids
from deadheat.errors import DataError, FileFormatError, MeasureError, ParameterError
from deadheat.evaluation.conventions import Conventions
from deadheat.evaluation.intervals import KNOWN, Interval, IntervalOptions
from deadheat.evaluation.scores import Scores, intervals
from deadheat.evaluation.stored import StoredError, read_rows, read_tables, tables_of
from deadheat.io.naming import path_named
from deadheat.io.objects import parsed
from deadheat.io.source import decoded, read_all, readable
from deadheat.io.writing import replacing
from deadheat.measures import Measure, parse_measure
from deadheat.measures.stored import StoredMeasure
from deadheat.placements.placements import Placements
from deadheat.version import __version__
from deadheat.wording import as_given

T = TypeVar("T")

KIND, FORMAT, FIRST_FORMAT = "deadheat evaluation", 2, 1
SUFFIX, BESIDE = ".json", ".parquet"  # files of the first format have their queries in a Parquet file beside them
OURS = re.compile(rf'\s*\{{\s*"kind"\s*:\s*"{KIND}"'.encode())
HEAD = 1 << 10  # bytes, enough to recognise a saved evaluation
SHA256 = re.compile("[0-9a-f]{64}")
EQUAL = 1e-9  # relative: another NumPy may sum a mean in another order
ALWAYS = ("ties", "missing", "no_relevant", "score_precision")  # conventions that files of all versions have
HINT = "Evaluation.save or deadheat evaluate --save writes one"


def write(
    path: str | Path,
    scores: Sequence[Scores],
    options: IntervalOptions,
    *,
    name: str,
    query_ids: TextArray,
    conventions: Conventions,
    missing_queries: tuple[str, ...],
    unjudged_queries: tuple[str, ...],
    placements: Placements | None,
    graded: Placements | None,
    qrels: str,
    notes: tuple[str, ...],
) -> None:
    """Write an evaluation to a JSON file: readable means and intervals, and the tables of all queries.

    Missing folders are created. An earlier save is replaced atomically: at any time either the old file or the new one
    is there, complete.

    Parameters
    ----------
    path : path
        Of the JSON file, ``.json``.
    scores : sequence of Scores
    options : IntervalOptions
    name, query_ids, conventions, missing_queries, unjudged_queries, placements, graded, qrels, notes
        As for `Evaluation`; of the qrels the hash.

    Raises
    ------
    ParameterError
        The name does not end in ``.json``, or the interval options do not apply to the measures or clusters.
    DataError
        A file of this name exists and is not a saved evaluation.
    """
    path = path_named(path)
    if path.suffix.lower() != SUFFIX:
        raise ParameterError(
            f"must end in {SUFFIX}",
            argument="path",
            given=str(path),
            hint=f"Did you mean {str(path.with_suffix(SUFFIX))!r}?",
        )
    refuse_foreign(path)
    found = intervals(scores, options)
    document: dict[str, object] = {
        "kind": KIND,
        "format": FORMAT,
        "deadheat": __version__,
        "name": name,
        "conventions": asdict(conventions),
        "n_queries": len(query_ids),
        "measures": {str(one.measure): _summary(one, its) for one, its in zip(scores, found, strict=True)},
        "intervals": options.to_dict(),
        "qrels_hash": qrels,
        "queries_hash": hash_of_ids(query_ids.tolist()),
        "missing_queries": list(missing_queries),
        "unjudged_queries": list(unjudged_queries),
        "notes": list(notes),
    }
    data = tables_of(query_ids, scores, placements, graded)
    try:
        document |= {"sha256": checksum({**document, "data": data}), "data": data}
        written = f"{json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)}\n".encode()
    except UnicodeEncodeError:
        raise DataError(
            f"the name {name!r}, or that of the clusters, has half a surrogate pair, which UTF-8 cannot encode",
            path=path,
        ) from None
    make_folder(path.parent)
    with replacing(path) as file:
        file.write(written)


def is_saved(path: str | Path) -> bool:
    """Return whether a file begins as a saved evaluation does; a pipe is none."""
    path = Path(path)
    if path.suffix.lower() != SUFFIX or not path.is_file():
        return False
    with path.open("rb") as file:
        return OURS.match(file.read(HEAD)) is not None


def refuse_foreign(path: str | Path, ours: re.Pattern[bytes] = OURS, what: str = "saved evaluation") -> None:
    """Raise `DataError` if a save would replace a file that deadheat did not save; an empty file may be replaced.

    Parameters
    ----------
    path : path
    ours : re.Pattern
        What may be replaced begins with it.
    what : str
        What that is called.
    """
    path = Path(path)
    if path.is_dir():
        raise DataError("is a folder", hint="name a file in it", path=path)
    if not path.is_file():
        return
    with path.open("rb") as file:
        head = file.read(HEAD)
    if head and not ours.match(head):
        problem = f"exists and is not a {what}: it would be replaced"
        raise DataError(problem, hint="choose another name", path=path)


def read(path: str | Path) -> tuple[list[Scores], dict[str, Any]]:
    """Return the scores of a saved evaluation, and its other parts by their arguments of `Evaluation`."""
    path = path_named(path)
    if path.suffix.lower() == BESIDE:
        raise FileFormatError(
            "holds the queries of a saved evaluation",
            hint=f"give the JSON file beside it, {path.stem + SUFFIX!r}",
            path=path,
        )
    document = _read_document(path)
    try:
        return _parts(_Members(document), path)
    except StoredError as error:
        raise FileFormatError(f"is not a complete saved evaluation: {error}; {HINT}", path=path) from None


def _summary(scores: Scores, interval: Interval) -> dict[str, object]:
    measure = scores.measure
    numbers = {
        "mean": scores.mean,
        "low": interval.low,
        "high": interval.high,
        "standard_error": interval.standard_error,
        "query_standard_error": interval.query_standard_error,
        "tie_standard_error": interval.tie_standard_error,
        "tie_std": scores.mean_tie_std,
        "tie_min": scores.mean_tie_min,
        "tie_max": scores.mean_tie_max,
    }
    return {
        **{name: _plain(number) for name, number in numbers.items()},
        "n_queries": scores.n_queries,
        **{name: getattr(interval, attribute) for name, attribute in KNOWN.items()},
        "higher_is_better": measure.higher_is_better,
        "total": measure.total,
        "custom": not _can_be_read(measure),
        **({"asked": measure.asked} if measure.asked else {}),
    }


def _plain(number: float) -> float | str | None:
    """Return a number as JSON can hold it; NaN, which means no value, becomes null."""
    return None if math.isnan(number) else number if math.isfinite(number) else str(number)


def _can_be_read(measure: Measure) -> bool:
    """Return whether the notation of a measure parses to it; that of a custom measure may look like another."""
    try:
        return parse_measure(str(measure)) == measure
    except MeasureError:
        return False


def make_folder(folder: Path) -> None:
    """Create a folder, if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise DataError(
            "cannot be created as a folder: part of the path is a file", hint="choose another one", path=folder
        ) from None


def checksum(document: dict[str, Any]) -> str:
    """Return the SHA-256 of a document, apart from the SHA-256 that it states itself."""
    rest = {key: value for key, value in document.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _read_document(path: Path) -> dict[str, Any]:
    """Read the JSON file; raise unless it is a saved evaluation in a known format."""
    text = decoded(read_all(readable(path)), path)
    if not text.lstrip().startswith(("{", "[")):
        raise FileFormatError("holds no JSON", allowed="a saved evaluation", hint=HINT, path=path)
    try:
        document = parsed(text, path)
    except DataError as error:
        raise FileFormatError(
            f"is damaged or incomplete ({error.told(has_place=False)})",
            allowed="a saved evaluation",
            hint=HINT,
            path=path,
            line=error.line,
        ) from None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        is_nested = isinstance(document, dict) and all(isinstance(inner, dict) for inner in document.values())
        what = "what looks like qrels or a run" if document and is_nested else "other JSON"
        raise FileFormatError(f"holds {what}", allowed="a saved evaluation", hint=HINT, path=path)
    given = document.get("format")
    if type(given) is not int or given not in {FIRST_FORMAT, FORMAT}:
        raise FileFormatError(
            f"was saved in format {as_given(given)} by deadheat"
            f" {as_given(document.get('deadheat', 'another version'))}; this is {__version__!r},"
            " which reads 1 and 2: install a newer one, or save the evaluation again",
            path=path,
        )
    if given == FORMAT and document.get("sha256") != checksum(document):
        raise FileFormatError(
            "was changed since it was saved, or is damaged (its SHA-256 differs)",
            hint="save the evaluation again",
            path=path,
        )
    return document


class _Members:
    """The members of a JSON object, checked as they are read."""

    def __init__(self, given: dict[str, Any], place: str = "") -> None:
        self.given = given
        self.place = place

    def take(self, key: str, kind: type[T]) -> T:
        """Return a member of a given type; true and false are not numbers."""
        if key not in self.given:
            self.refuse(key, f"is missing, expected {KINDS[kind]}")
        value = self.given[key]
        if type(value) is not kind:
            self.refuse(key, f"must be {KINDS[kind]}, got {as_given(value)}")
        return value

    def part(self, key: str) -> _Members:
        """Return an object inside this one."""
        return _Members(self.take(key, dict), f"{self.place}{key}.")

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of different strings."""
        listed = self.take(key, list)
        if not all(isinstance(one, str) and one for one in listed) or len(set(listed)) < len(listed):
            self.refuse(key, "must be a list of different strings")
        return tuple(listed)

    def sha256(self, key: str) -> str:
        """Return a hash; empty if there was nothing to hash."""
        value = self.take(key, str)
        if value and not SHA256.fullmatch(value):
            self.refuse(key, f"must be a SHA-256 in hexadecimal digits, got {as_given(value)}")
        return value

    def number(self, key: str) -> float:
        """Return a number as `_plain` writes it; null becomes NaN."""
        value: Any = self.given.get(key, "")
        if value is None:
            return math.nan
        if isinstance(value, str) and value in {"inf", "-inf"}:
            return float(value)
        # an integer may be too large for a float; 1e999 and NaN, which json reads, are not what `_plain` writes
        if isinstance(value, str | bool | list | dict | None) or not -sys.float_info.max <= value <= sys.float_info.max:
            self.refuse(key, f"must be a number or null, got {as_given(value)}")
        return float(value)

    def refuse(self, key: str, problem: str) -> NoReturn:
        """Raise `StoredError` for a member."""
        raise StoredError(f"{self.place}{key} {problem}")


KINDS: dict[type, str] = {
    str: "a string",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


def _parts(document: _Members, path: Path) -> tuple[list[Scores], dict[str, Any]]:
    of_measures = document.part("measures")
    measures = [_measure(notation, of_measures.part(notation)) for notation in of_measures.given]
    if not measures:
        document.refuse("measures", "names none")
    if len(set(measures)) < len(measures):
        document.refuse("measures", "names one twice")
    n_queries, unjudged = document.take("n_queries", int), document.texts("unjudged_queries")
    if document.given["format"] == FIRST_FORMAT:
        query_ids, scores, placed = read_rows(_beside(path, document.part("per_query")), measures, n_queries)
    else:
        query_ids, scores, placed = read_tables(document.take("data", dict), measures, n_queries, unjudged)
    for one in scores:
        _check_summary(one, of_measures.part(str(one.measure)))
    document.part("intervals")
    if document.take("queries_hash", str) != hash_of_ids(query_ids.tolist()):
        document.refuse("queries_hash", "is not that of its queries")
    return scores, {
        "name": document.take("name", str),
        "query_ids": query_ids,
        "conventions": _conventions(document.part("conventions")),
        "missing_queries": document.texts("missing_queries"),
        "unjudged_queries": unjudged,
        **placed,
        "qrels": document.sha256("qrels_hash"),
        "notes": document.texts("notes") if "notes" in document.given else (),  # files of early versions have none
    }


def _beside(path: Path, stated: _Members) -> bytes:
    """Return the Parquet file with the hash that the JSON states: both files may have been renamed."""
    name, sha256 = stated.take("file", str), stated.sha256("sha256")
    if not name or not name.isprintable() or Path(name).name != name:
        stated.refuse("file", f"must be the name of a file beside it, got {as_given(name)}")
    beside = path.with_suffix(BESIDE)
    candidates = [one for one in dict.fromkeys((beside, path.with_name(name))) if one.is_file()]
    if not candidates:
        raise DataError(
            f"no such file; it holds the queries of {path.name}",
            hint="copy it there too, or save the evaluation again",
            path=beside,
        )
    for candidate in candidates:
        data = readable(candidate).read_bytes()
        if hashlib.sha256(data).hexdigest() == sha256:
            return data
    raise FileFormatError(
        f"does not belong to {path.name}, or was changed", hint="save the evaluation again", path=candidates[0]
    )


def _measure(notation: str, of_measure: _Members) -> Measure:
    higher_is_better, total = of_measure.take("higher_is_better", bool), of_measure.take("total", bool)
    if of_measure.take("custom", bool):
        return StoredMeasure(notation=notation, higher_is_better=higher_is_better, total=total)
    try:
        measure = parse_measure(notation)
    except MeasureError as error:
        raise StoredError(f"measures holds {as_given(notation)}, which is not a measure: {error}") from None
    if (str(measure), measure.higher_is_better, measure.total) != (notation, higher_is_better, total):
        of_measure.refuse("higher_is_better", f"and total, or the notation, are not those of {measure}")
    return measure if "asked" not in of_measure.given else _asked(measure, of_measure)


def _asked(measure: Measure, of_measure: _Members) -> Measure:
    """Return the measure under the name by which it was asked for."""
    asked = of_measure.take("asked", str)
    try:
        found = parse_measure(asked)
    except MeasureError:
        found = measure
    if found != measure or found.label != asked:
        of_measure.refuse("asked", f"is {as_given(asked)}, which is no other name of {measure}")
    return found


def _check_summary(scores: Scores, stated: _Members) -> None:
    """Raise if the numbers in the head, which people read, are not those of the scores."""
    if stated.take("n_queries", int) != scores.n_queries:
        stated.refuse("n_queries", f"is not that of its scores, {scores.n_queries}")
    numbers = {
        "mean": scores.mean,
        "tie_std": scores.mean_tie_std,
        "tie_min": scores.mean_tie_min,
        "tie_max": scores.mean_tie_max,
    }
    for name, own in numbers.items():
        given = stated.number(name)
        if not (math.isclose(given, own, rel_tol=EQUAL, abs_tol=EQUAL) or (math.isnan(given) and math.isnan(own))):
            stated.refuse(name, f"is {given!r}, but that of its scores is {own!r}")
    for name in ("low", "high", "standard_error", "query_standard_error", "tie_standard_error"):
        stated.number(name)


def _conventions(stated: _Members) -> Conventions:
    try:
        given: dict[str, Any] = dict.fromkeys(ALWAYS, "")
        given |= {one.name: stated.given[one.name] for one in fields(Conventions) if one.name in stated.given}
        return Conventions(**given)
    except ParameterError as error:
        raise StoredError(f"conventions: {error}") from None
