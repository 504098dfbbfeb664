"""JSON lines, one object a row; and JSON, of which a file holds one document.

That is ``{query_id: {doc_id: number}}``, as pytrec_eval and ranx use it, lists, records, or another tool's export.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, compress, islice
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.errors import DataError, FileFormatError, MalformedRowError
from deadheat.core.io.files import (
    PATTERN,
    Compression,
    blocks,
    check_lines_of,
    decode_utf8,
    plain_head,
    read_all,
    refuse_binary,
    value_as_text,
    write_text,
)
from deadheat.core.io.formats.base import (
    CASES,
    ROWS,
    SAMPLE,
    Content,
    Format,
    frame_of_rows,
    ranks_of,
    register,
    split_off,
    which_judged,
)
from deadheat.core.io.kinds import (
    ANSWERABLE,
    CASES_KEYS,
    KEYS,
    SUBTOPIC,
    TEXTS,
    VALUE_COLUMN,
    Kind,
    are_cases,
    is_pattern,
    nearer_names,
    refuse_columns,
    resolve_columns,
    value_column,
)
from deadheat.core.io.objects import JsonText, object_of, parse_json, read_text
from deadheat.core.io.results import lists_of_rows
from deadheat.core.io.sources import read_object
from deadheat.core.io.values import (
    all_numbers,
    are_plain,
    check_ids_of_row,
    check_mapping,
    holds_controls,
    holds_only_ids,
    is_broken,
    read_value,
)
from deadheat.core.libraries import polars as pl
from deadheat.core.scalars import LARGEST_INTEGER
from deadheat.core.wording import quote_text


class JsonNumber(str):
    """A JSON number, as it is written; a record with that text takes a tenth more to read lines with such ids."""

    __slots__ = ()


def read_jsonl(path: Path, kind: Kind, given: Mapping[str, str]) -> Content:
    """Read JSON lines into query_id, doc_id and the value, in file order.

    An id may be a JSON number; its text is the id then.

    Raises
    ------
    ColumnError, FileFormatError, DataError
        With the first line that is wrong.
    """
    head = plain_head(path)
    # scan_ndjson() expands a path as a pattern, and has no option against it.
    data: Path | bytes = path if head is not None and PATTERN.isdisjoint(str(path)) else read_all(path, has_lines=True)
    if isinstance(data, Path):
        refuse_binary(head or b"", path)
        check_lines_of(path)
    return _of_lines(partial(_lines, data, path), data, path, kind, given)


def _of_lines(
    lines: Callable[[], Iterable[tuple[int, str]]],
    data: Path | bytes | list[dict[str, Any]],
    path: Path,
    kind: Kind,
    given: Mapping[str, str],
    *,
    is_split: bool = False,
) -> Content:
    """Read objects, each of which is a row, or has the list of documents of a query.

    Parameters
    ----------
    lines : callable
        Returns the text of each object, and the line on which it begins.
    data : pathlib.Path, bytes or list of dict
        The same as JSON lines, or as Python has read it.
    is_split : bool
        Whether objects that only say which queries no document answers are left out already.
    """
    first = data[0] if isinstance(data, list) else next((row for _, row in _objects(lines(), path)), None)
    if kind == "qrels" and not is_split and _may_name([ANSWERABLE], data):
        is_kept, unanswerable = which_judged([*_objects(lines(), path)], given, path)
        kept = [*compress(lines(), is_kept)]
        own: Any = [*compress(data, is_kept)] if isinstance(data, list) else "\n".join(raw for _, raw in kept).encode()
        return replace(_of_lines(lambda: kept, own, path, kind, given, is_split=True), unanswerable=unanswerable)
    if first is None:
        raise DataError(f"{kind} without a single row", allowed="one JSON object a line", path=path)
    if are_cases(first, kind, given):
        return CASES
    every = data if isinstance(data, list) else (row for _, row in _objects(lines(), path, needed=None))
    is_named = first.keys() >= {*given.values()}
    columns = _columns([first] if is_named else every, kind, given, path)
    others = nearer_names(columns, kind, given) if is_named else []  # the keys of all are known
    has_lists = isinstance(first.get(columns["doc_id"]), list | dict)
    frame = None if isinstance(data, list) or has_lists else _parse(data, columns, others)
    if frame is None and _may_name(others, data):
        columns = _columns(every, kind, given, path)
    if has_lists:
        rows: Iterable[tuple[int | None, dict[str, Any]]] = (
            ((None, row) for row in data)
            if isinstance(data, list)
            else _objects(lines(), path, number=None, needed=None)
        )
        content = Content.of_lists(lists_of_rows(rows, columns, kind, path), columns)
        texts = (raw for _, raw in lines())
        return replace(content, rows=checked(cast("Mapping[str, Any]", content.rows), texts, path, kind))
    if isinstance(data, list):
        frame = _of_objects(data, columns)
    if frame is None:
        frame = frame_of_rows((row for _, row in _rows(lines(), columns, kind, path)), columns)
    if SUBTOPIC in columns:
        return replace(split_off(frame, path), columns=columns)
    has_both = "rank" in first and "score" in columns
    ranks = None if isinstance(data, list) or not has_both else _ranks(data, columns)
    return Content(frame, ranks=ranks, columns=columns)


def _columns(rows: Iterable[dict[str, Any]], kind: Kind, given: Mapping[str, str], path: Path) -> dict[str, str]:
    """Return the columns of objects by what they hold, and which may be lists."""
    known: dict[str, bool] = {}  # whether it holds a list
    for row in rows:
        known |= {name: known.get(name, False) or isinstance(value, list) for name, value in row.items()}
    return resolve_columns(list(known), kind, where=path, given=given, lists=[name for name in known if known[name]])


def keys_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the keys of all objects, in the order in which they are named."""
    return list(dict.fromkeys(name for row in rows for name in row))


def first_objects(path: Path) -> list[dict[str, Any]]:
    """Return the objects on the first lines; a number in them is a `JsonNumber`."""
    return [row for _, row in islice(_objects(_lines(path, path), path), SAMPLE)]


def _may_name(keys: Collection[str], data: Path | bytes | list[dict[str, Any]]) -> bool:
    """Tell whether an object has one of some keys; of text, whether it may."""
    if isinstance(data, list):
        return any(not row.keys().isdisjoint(keys) for row in data)
    quoted = [f'"{key}"'.encode() for key in keys]
    return any(key in block for block in (blocks(data) if isinstance(data, Path) else (data,)) for key in quoted)


def _ranks(data: Path | bytes, columns: dict[str, str]) -> pl.DataFrame | None:
    """Return the ranks and scores of the first rows; null where a field is not a number."""
    names = {"query_id": columns["query_id"], "rank": "rank", "score": columns["score"]}
    if any(map(is_pattern, names.values())):
        return None
    rows = pl.scan_ndjson(data, schema=dict.fromkeys(names.values(), pl.String), n_rows=ROWS, ignore_errors=True)
    return ranks_of(rows.select(**{name: pl.col(column) for name, column in names.items()}))


def locate_in_jsonl(path: Path, kind: Kind, query_id: str, doc_id: str, given: Mapping[str, str]) -> list[int]:
    """Return the 1-based lines that hold this pair."""
    lines = list(_lines(read_all(path, has_lines=True), path))
    columns = _columns((row for _, row in _objects(lines, path)), kind, given, path)
    return [line for line, row in _rows(lines, columns, kind, path) if row[:2] == (query_id, doc_id)]


def _parse(data: Path | bytes, columns: dict[str, str], others: Sequence[str]) -> pl.DataFrame | None:
    """Let Polars read the rows; None where it cannot, or they may not be what the file says, or name other columns."""
    if value_column(columns) is None or any(map(is_pattern, columns.values())):
        return None  # one relevant document a row: few and small; or a name that stands for several columns
    schema = {name: pl.String if canonical in TEXTS else pl.Float64 for canonical, name in columns.items()}
    try:
        own = {canonical: pl.col(name) for canonical, name in columns.items()}
        frame = pl.scan_ndjson(data, schema=schema).select(**own).collect()
    except (pl.exceptions.PolarsError, OSError):
        return None
    if not (holds_only_ids(frame) and are_plain(frame.to_series(-1))) or holds_controls(frame):
        return None
    doubtful = pl.col("line").str.contains("|".join(_doubts(columns, others)))
    names = [name for canonical, name in columns.items() if canonical in KEYS]
    as_numbers = [pl.col("line").str.contains(rf'"{re.escape(name)}"\s*:\s*[-0-9]').sum().alias(name) for name in names]
    looks = pl.scan_lines(data, glob=False).select(pl.len().alias("n"), doubtful.sum().alias("doubtful"), *as_numbers)
    n_lines, n_doubtful, *n_numbers = looks.collect().row(0)
    is_mixed = not {0, n_lines}.issuperset(n_numbers)  # ids that are text, and ids that are numbers
    return frame if n_lines == frame.height and not n_doubtful and not is_mixed else None


def _of_objects(rows: list[dict[str, Any]], columns: dict[str, str]) -> pl.DataFrame | None:
    """Return rows that Python has read as columns; None where they may not be what the file says."""
    held = {canonical: [row.get(name) for row in rows] for canonical, name in columns.items()}
    kinds = {canonical: set(map(type, values)) for canonical, values in held.items()}
    if not all(own in ({str}, {int}) if name in TEXTS else own <= {int, float} for name, own in kinds.items()):
        return None
    frame = pl.DataFrame(
        held, schema={name: pl.String if name in TEXTS else pl.Float64 for name in columns}, strict=False
    )
    numbers = [frame[name] for name in columns if name not in TEXTS]
    return frame if all(map(are_plain, numbers)) and holds_only_ids(frame) and not holds_controls(frame) else None


def _doubts(columns: Mapping[str, str], others: Sequence[str]) -> Iterator[str]:
    """Yield regular expressions of what Polars may read in another way."""
    ids = "|".join(re.escape(name) for canonical, name in columns.items() if canonical in TEXTS)
    # An id that is neither a string nor a plain integer; Polars would turn 1.50 into "1.5" and true into "true".
    yield rf'"(?:{ids})"\s*:\s*(?:-?[0-9]+[.eE]|-0|[^"0-9\s-])'
    # One that holds half of a character, perhaps without the other, for which Polars would put a NUL.
    yield rf'"(?:{ids})"\s*:\s*"(?:[^"\\]|\\.)*\\u[dD][89a-fA-F]'
    # A key that appears twice, of which Polars would take the first, and keys that may say one in another way.
    for name in map(re.escape, columns.values()):
        yield rf'"{name}"\s*:.*"{name}"\s*:'
    # A number that is true or false, which Polars would take for 1 or 0.
    yield rf'"{re.escape(list(columns.values())[-1])}"\s*:\s*[tf]'
    yield r'\\u[^"]*"\s*:'
    if others:
        yield rf'"(?:{"|".join(map(re.escape, others))})"\s*:'


def _rows(
    lines: Iterable[tuple[int, str]], columns: dict[str, str], kind: Kind, path: Path
) -> Iterator[tuple[int, tuple[str | float | None, ...]]]:
    """Yield each row with its line, or raise what is wrong with it."""
    are_numbers: dict[tuple[str, str], bool] = {}  # the ids of each column
    for line, row in _objects(lines, path, needed=columns.values()):
        missing = next((name for key, name in columns.items() if name not in row and key != SUBTOPIC), None)
        if missing is not None:
            raise MalformedRowError(
                f"object without {missing!r}",
                allowed=", ".join(columns.values()),
                hint=quote_text(json.dumps(row)),
                path=path,
                line=line,
            )
        query, doc, *value = (row[name] for key, name in columns.items() if key != SUBTOPIC)
        for name, given in ((columns["query_id"], query), (columns["doc_id"], doc)):
            if not (isinstance(given, str) and given):
                raise MalformedRowError(
                    f"{name} must be a string or a number, got {quote_text(json.dumps(given))}", path=path, line=line
                )
            if is_broken(given):
                raise MalformedRowError(
                    f"{name} {quote_text(given)} has a lone surrogate",
                    allowed="text that UTF-8 can hold",
                    path=path,
                    line=line,
                )
            if are_numbers.setdefault((name, given), is_number := isinstance(given, JsonNumber)) != is_number:
                raise MalformedRowError(
                    f"{name} {str(given)!r} is text and a number",
                    allowed="one or the other in a file",
                    path=path,
                    line=line,
                )
        check_ids_of_row(query, doc, path, line)
        name = list(columns.values())[-1]
        topics = [_subtopic(row.get(columns[SUBTOPIC]), columns[SUBTOPIC], path, line)] if SUBTOPIC in columns else []
        yield line, (str(query), str(doc), *topics, *(_value(one, name, kind, path, line) for one in value))


def _subtopic(given: object, name: str, path: Path, line: int) -> str | None:
    """Return a subtopic as text; it may be missing."""
    if given is None or (isinstance(given, str) and not is_broken(given)):
        return None if given is None else str(given)
    raise MalformedRowError(
        f"{name} must be a string or a number", found=quote_text(json.dumps(given)), path=path, line=line
    )


def _value(given: object, name: str, kind: Kind, path: Path, line: int) -> float:
    if isinstance(given, bool) and kind == "qrels":
        return float(given)
    if not isinstance(given, JsonNumber):
        raise DataError(f"{name} must be a number", given=json.dumps(given), path=path, line=line)
    return read_value(str(given), kind, path=path, line=line)


def _lines(data: Path | bytes, path: Path) -> Iterator[tuple[int, str]]:
    """Yield each line that is not blank with its number."""
    first_line = 1
    for block in blocks(data) if isinstance(data, Path) else (data,):
        for line, raw in enumerate(decode_utf8(block, path, first_line).split("\n"), first_line):
            if raw.strip():
                yield line, raw
        first_line += block.count(b"\n")


def _objects(
    lines: Iterable[tuple[int, str]],
    path: Path,
    *,
    number: Callable[[str], object] | None = JsonNumber,
    needed: Collection[str] | None = (),
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give each object with its line; numbers keep their text."""
    return ((line, object_of(raw, path, line, number=number, needed=needed)) for line, raw in lines)


def write_jsonl(rows: pl.DataFrame, file: IO[bytes], kind: Kind, _tag: str, compression: Compression) -> None:
    """Write an object a line."""
    ids = pl.struct(name for name in TEXTS if name in rows.columns).struct.json_encode().str.strip_suffix("}")
    number = value_as_text(kind).str.replace("inf", "Infinity", literal=True)  # as Python's json writes and reads it
    lines = rows.select(pl.concat_str(ids, pl.lit(f',"{VALUE_COLUMN[kind]}":'), number, pl.lit("}")))
    write_text(lines, file, compression)


register(
    Format(
        name="jsonl",
        suffixes=(".jsonl", ".ndjson"),
        read=read_jsonl,
        write=write_jsonl,
        locate=locate_in_jsonl,
        columns=lambda path: keys_of(first_objects(path)),
        has_subtopics=True,
    )
)


_EXPECTED = "{query_id: {doc_id: number}} or {query_id: [doc_id, ...]}"


def read_nested(path: Path, kind: Kind, given: Mapping[str, str]) -> Content:
    """Read a JSON object of objects or lists, or a list of records, and check it as a dict is checked.

    Raises
    ------
    FileFormatError, DuplicateError, DataError
        With the query and the document that are wrong.
    """
    text = read_text(path, _EXPECTED)
    json_text = JsonText(text, path)
    held = json_text.value
    if isinstance(held, list) and held and all(isinstance(row, dict) for row in held):
        return _of_lines(json_text.texts_of_items, held, path, kind, given)
    if isinstance(held, dict) and any(isinstance(held.get(key), list) for key in CASES_KEYS) and kind == "qrels":
        return CASES
    if not isinstance(held, dict):
        found = "a list" if isinstance(held, list) else quote_text(json.dumps(held))
        raise FileFormatError(found=found, allowed=_EXPECTED, path=path)
    refuse_columns(given, kind, f"{path}, an object")
    content = read_object(held, kind, str(path), {})
    return replace(content, rows=checked(cast("Mapping[str, Any]", content.rows), [text], path, kind))


def checked(held: Mapping[str, Any], texts: Iterable[str], path: Path, kind: Kind) -> Mapping[str, Mapping[str, float]]:
    """Return the queries of a dict of dicts that is in JSON texts; raise for what cannot be evaluated."""
    nested = check_mapping(held, kind, str(path))
    for query, documents in nested.items():
        if not "".join((query, *documents)).isprintable():
            for doc in documents:
                check_ids_of_row(query, doc, path)
        if kind == "run" and bool in set(map(type, documents.values())):
            doc, score = next((doc, score) for doc, score in documents.items() if isinstance(score, bool))
            raise DataError(
                f"score of document {doc!r} for query {query!r} is {json.dumps(score)}", allowed="a number", path=path
            )
    if kind == "run" and isinstance(next(chain.from_iterable(own.values() for own in nested.values()), None), list):
        return nested  # of scores by several keys, which a run checks
    _refuse_rounded(all_numbers(nested, list(nested), kind, str(path)), texts, kind, path)
    return nested


def _refuse_rounded(numbers: FloatArray, texts: Iterable[str], kind: Kind, path: Path) -> None:
    """Raise for a number that became infinite, or another one beyond 2**53; whole numbers were not rounded."""
    large = set(numbers[np.abs(numbers) >= LARGEST_INTEGER].tolist())

    def exact(number: str) -> str:
        if float(number) in large and not number.lstrip("-").isdigit():
            read_value(number, kind, path=path, line=None)
        return number

    for text in texts if large else ():
        parse_json(text, path, number=exact)


def names_in_json(path: Path) -> list[str]:
    """Return the keys of the records, none if there are no records."""
    held = parse_json(read_text(path, _EXPECTED), path)
    return keys_of(row for row in held if isinstance(row, dict)) if isinstance(held, list) else []


def write_nested(rows: pl.DataFrame, file: IO[bytes], kind: Kind, _tag: str, compression: Compression) -> None:
    """Write an object of objects, with a line for each query."""
    nested: dict[str, dict[str, float]] = {}
    for query_id, doc_id, value in rows.iter_rows():
        is_level = kind == "qrels" and value.is_integer() and abs(value) <= LARGEST_INTEGER
        nested.setdefault(query_id, {})[doc_id] = int(value) if is_level else value
    text = ",\n".join(f"{json.dumps(query_id)}: {json.dumps(documents)}" for query_id, documents in nested.items())
    write_text(pl.DataFrame({"line": f"{{{text}}}".split("\n")}), file, compression)


register(Format(name="json", suffixes=(".json",), read=read_nested, write=write_nested, columns=names_in_json))
