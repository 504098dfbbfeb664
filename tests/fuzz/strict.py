"""Strict readers of every format, written from its description in plain Python: nothing of deadheat is used here."""

from __future__ import annotations

import csv
import difflib
import json
import math
import re
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

Row = tuple[str, str, str]
"""Query, document, and the repr of the number as float64."""

NUMBER = re.compile(r"[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|(?i:inf|infinity))")
CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
NO_TEXT = "no UTF-8 text"
QUERY = ("query_id", "query-id", "qid", "q_id", "query")  # those that the files have, and what damage can make of them
DOC = ("doc_id", "doc-id", "docno", "docid", "doc", "pid", "corpus-id")
SCORE = ("score", "scores")


@dataclass
class Refused(Exception):  # noqa: N818 - what the file is
    """A file that is not what it should be.

    Attributes
    ----------
    why : str
    lines : set of int
        Lines that may be named; empty if the format has none, or if the whole file is meant.
    """

    why: str
    lines: set[int] = field(default_factory=set)


def number(text: str, line: int | None = None) -> str:
    """Return the repr of a score."""
    lines = set() if line is None else {line}
    if not NUMBER.fullmatch(text):
        raise Refused(f"no number: {text[:40]!r}", lines)
    value = float(text)
    if math.isinf(value) and any(char.isdigit() for char in text):
        raise Refused("beyond float64", lines)
    digits = text.lstrip("+-")
    if digits.isdigit() and (len(digits.lstrip("0")) > 17 or int(digits) > 2**53):
        raise Refused("an integer that float64 does not have", lines)
    if not digits.isdigit() and 2**53 <= abs(value) < math.inf and not _is_held(text, value):
        raise Refused("a number that float64 does not have", lines)
    return repr(value + 0.0)


def _is_held(text: str, value: float) -> bool:
    """Tell whether a number is the float64, with as many digits as it has, or with the fewest that tell it."""
    digits = re.sub(r"[eE].*", "", text).translate(dict.fromkeys(map(ord, "+-."))).lstrip("0")
    written = Fraction(text)
    return written in {
        Fraction(value),
        Fraction(repr(value)),
        Fraction(f"{Decimal(value):.{max(len(digits), 1) - 1}e}"),
    }


def ident(text: str, line: int | None = None) -> str:
    """Return an id."""
    if not text or CONTROL.search(text):
        raise Refused(f"no id: {text[:40]!r}", set() if line is None else {line})
    return text


def lines_of(data: bytes) -> Iterator[str]:
    """Yield the lines of a text, each with its newline, up to the first that is no text in UTF-8."""
    if data.startswith(b"\xef\xbb\xbf" * 2):
        raise Refused("two byte order marks", {1})
    for n, line in enumerate(_split(data.removeprefix(b"\xef\xbb\xbf")), 1):
        if not _is_text(line):
            raise Refused(NO_TEXT, {n})
        yield line.decode()


def lines_without_text(data: bytes) -> set[int]:
    """Return the first line that is not UTF-8, and the first with a NUL: whoever decodes all at once names these."""
    lines = _split(data)
    not_utf8 = next((n for n, line in enumerate(lines, 1) if not _is_text(line.replace(b"\0", b""))), 0)
    return {not_utf8, next((n for n, line in enumerate(lines, 1) if b"\0" in line), 0)} - {0}


def trec(data: bytes) -> list[Row]:
    """Six fields a line, separated by blanks of ASCII: query, Q0, document, rank, score, tag.

    Other lines with # are comments, but for those whose first field is the query of a row: which these are is known at
    the end, so that another line that is wrong may be named.
    """
    rows = []
    marked: dict[int, str] = {}
    try:
        for n, line in enumerate(lines_of(data), 1):
            fields = [part.decode() for part in line.encode().split()]
            if line.startswith("#") and not _is_row(fields):
                marked[n] = line
            elif fields:
                rows.append(_row(fields, n))
    except Refused as refused:
        refused.lines |= set(marked)
        if refused.why == NO_TEXT:  # fields may be counted before they are decoded
            counts = {n: len(line.split()) for n, line in enumerate(_split(data), 1) if not line.startswith(b"#")}
            refused.lines |= {n for n, count in counts.items() if count not in {0, 6}}
        raise
    damaged = {n for n, line in marked.items() if line.split()[0] in {row[0] for row in rows} or _holds_controls(line)}
    if damaged:
        raise Refused("a damaged row", damaged)
    return _not_empty(rows)


def _holds_controls(comment: str) -> bool:
    return bool(CONTROL.search(comment.removesuffix("\n").rstrip("\r").replace("\t", " ")))


def _row(fields: list[str], n: int) -> Row:
    if len(fields) != 6:
        raise Refused(f"{len(fields)} fields", {n})
    return ident(fields[0], n), ident(fields[2], n), number(fields[4], n)


def _is_row(fields: list[str]) -> bool:
    return len(fields) == 6 and bool(re.fullmatch(NUMBER.pattern + "|(?i:nan)", fields[4]))


def letor(data: bytes) -> list[Row]:
    """Relevance, ``qid:`` with the query, features, and the document in the comment; else documents are numbered."""
    rows: list[tuple[str, str | None, str]] = []
    for n, line in enumerate(lines_of(data), 1):
        head, _, comment = line.removesuffix("\n").partition("#")
        fields = [text for text in re.split("[ \t]", head.strip(" \t\r")) if text]
        if _holds_controls(comment):
            raise Refused("a comment that may hold a row", {n})
        if not fields:
            continue
        if len(fields) < 2 or not fields[1].startswith("qid:"):
            raise Refused("no query", {n})
        relevance = float(number(fields[0], n))
        if math.isinf(relevance):
            raise Refused("infinite", {n})
        named = re.search(r"(?:^|[^0-9A-Za-z_])[dD][oO][cC]_?[iI][dD]\s*[=:]\s*(\S+)", comment)
        query, doc = ident(fields[1].removeprefix("qid:"), n), ident(named[1], n) if named else None
        rows.append((query, doc, with_features(relevance, _features(fields[2:], n).items())))
    return _not_empty([(query, str(n) if doc is None else doc, rest) for n, (query, doc, rest) in enumerate(rows)])


def with_features(relevance: float, features: Iterable[tuple[str, float]]) -> str:
    """Return the relevance of a document and its features as text, without those that are 0."""
    return " ".join([repr(relevance + 0.0), *(f"{name}:{value!r}" for name, value in features if value)])


def _features(fields: Sequence[str], n: int) -> dict[str, float]:
    found: dict[int, float] = {}
    for text in fields:
        name, mark, value = text.partition(":")
        if not mark or not re.fullmatch("[0-9]{1,10}", name) or int(name) >= 2**32 or int(name) in found:
            raise Refused("no feature", {n})
        found[int(name)] = float(number(value, n))
    return {str(name): found[name] for name in sorted(found)}


def table(data: bytes, separator: str) -> list[Row]:
    """Return the rows of a table with a header, as Python's csv module reads it when it is strict.

    Rows without any text are blank lines; every other one has as many fields as the header.
    """
    header: list[str] | None = None
    places: list[int] = []
    numbers: list[tuple[str, int]] = []  # between semicolons, each with its line
    if separator == "," and _has_semicolons(data):
        separator = ";"
    rows = []
    for n, fields in csv_rows(lines_of(data), separator):
        if not any(fields):
            continue
        if header is None:
            header = [name.strip() for name in fields]
            is_ranked = "rank" in header and not set(header) & set(SCORE)
            if is_ranked and _looks_like_score(header):
                raise Refused("a column like score")
            places = [_place(header, names) for names in (QUERY, DOC, ("rank",) if is_ranked else SCORE)]
            continue
        if len(fields) != len(header):
            raise Refused(f"{len(fields)} fields", {n})
        query, doc, score = (fields[place] for place in places)
        if separator == ";":
            numbers.append((score.strip(), n))
        value = number(_with_point(numbers) if separator == ";" else score.strip(), n)
        value = _of_rank(float(value)) if is_ranked else value
        rows.append((ident(query, n), ident(doc, n), value))
    _refuse_thousands(numbers)
    return _not_empty(rows)


def _of_rank(rank: float) -> str:
    if not (rank >= 1 and rank.is_integer()):
        raise Refused("no rank")
    return repr(-rank)


def _with_point(numbers: list[tuple[str, int]]) -> str:
    """Return the last number with its decimal comma as a point."""
    text, line = numbers[-1]
    if len({mark for one, _ in numbers for mark in ",." if mark in one}) > 1:
        raise Refused("commas and points", {line})
    return text.replace(",", ".")


def _refuse_thousands(numbers: list[tuple[str, int]]) -> None:
    """Refuse numbers whose marks may be decimal marks, or all group thousands."""
    marked = [line for text, line in numbers if "," in text or "." in text]
    grouped = re.compile("[+-]?([0-9]{1,3}|[1-9][0-9]{0,2}([.,][0-9]{3})+)")
    if marked and all(grouped.fullmatch(text) for text, _ in numbers):
        raise Refused("thousands or decimals", {marked[0]})


def _has_semicolons(data: bytes) -> bool:
    """Tell whether the names of the header are between semicolons: known ones, or in a line without a comma."""
    lines = (line for line in data.removeprefix(b"\xef\xbb\xbf").splitlines() if line.strip(b' ,;"'))
    header = next(lines, b"").decode(errors="replace")
    names = {name.strip(' "') for name in header.split(";")}
    return len({*QUERY, *DOC, *SCORE, "rank"} & names) > 1 or (len(names) > 1 and "," not in header)


def _looks_like_score(header: list[str]) -> bool:
    return any(difflib.get_close_matches(name.casefold(), ["score"]) for name in header)


def csv_rows(lines: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the line on which it begins; a carriage return outside quotes stands before a newline."""
    taken: list[str] = []
    reader = csv.reader(map(_kept_in(taken), lines), delimiter=separator, strict=True)
    while True:
        first = reader.line_num + 1
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise Refused(str(error), {first, max(reader.line_num, 1)}) from error
        except Refused as refused:
            refused.lines.add(first)  # where a quote may have been opened
            raise
        if fields is None:
            return
        last = taken[-1]
        body = last.removesuffix("\n").removesuffix("\r") if last.endswith("\n") else last.removesuffix("\r")
        if body.endswith("\r"):
            raise Refused("a carriage return that ends no line", {reader.line_num})
        yield first, fields


def _kept_in(taken: list[str]) -> Callable[[str], str]:
    def keep(line: str) -> str:
        taken.append(line)
        return line

    return keep


def json_lines(data: bytes) -> list[Row]:
    """One object a line; the first says which names the columns have; an id may be a number, as it is written."""
    names, rows = list[str](), list[Row]()
    seen: dict[tuple[int, str], type] = {}  # of which type each id is, by column
    for n, line in enumerate(lines_of(data), 1):
        if not line.strip():
            continue
        pairs: Any = _loads(line, n)
        if not isinstance(pairs, _Object):
            raise Refused("no object", {n})
        keys = [key for key, _ in pairs]
        if not names:
            names = [next((name for name in known if name in keys), "") for known in (QUERY, (*DOC, "doc_ids"), SCORE)]
            if not all(names):
                raise Refused("a column is missing")
        if any(keys.count(name) != 1 for name in names):
            # a line that is no JSON is found first; and where names differ, either line may be called the wrong one
            raise Refused("a key is missing, or twice there", {1, n} | _without_json(data))
        query, doc, value = (dict(pairs)[name] for name in names)
        if not (isinstance(query, str) and isinstance(doc, str) and isinstance(value, _Number)):
            raise Refused("an id that is no text, or a score that is no number", {n})
        score = number(str(value), n)
        if any(
            seen.setdefault((place, str(one)), type(one)) is not type(one) for place, one in enumerate((query, doc))
        ):
            raise Refused("an id that is text and a number", {n})
        rows.append((_whole(ident(query, n), n), _whole(ident(doc, n), n), score))
    return _not_empty(rows)


def _without_json(data: bytes) -> set[int]:
    """Return the lines that are no JSON, up to the first that is no text."""
    found: set[int] = set()
    try:
        for n, line in enumerate(lines_of(data), 1):
            try:
                _loads(line, n)
            except Refused:
                found.add(n)
    except Refused as refused:
        found |= refused.lines
    return found


def nested(data: bytes) -> list[Row]:
    """``{query: {document: score}}``."""
    try:
        text = "".join(lines_of(data))
    except Refused as refused:  # what is no JSON before it may be named as well
        try:
            json.loads(data.decode("utf-8", "replace"), strict=False)
        except json.JSONDecodeError as error:
            refused.lines |= {error.lineno}
        except (ValueError, RecursionError):  # numbers of thousands of digits, thousands of brackets
            refused.lines.clear()
        raise
    queries: Any = _loads(text, None)
    if not isinstance(queries, _Object):
        raise Refused("no object")
    _check_unique(queries)
    rows = []
    for query, documents in queries:
        if not isinstance(documents, _Object):
            raise Refused("no object of documents")
        for doc, value in documents:
            if not isinstance(value, _Number):
                raise Refused("a score that is no number")
            rows.append((_whole(ident(query)), _whole(ident(doc)), number(str(value))))
    return _not_empty(rows)


def ranked(rows: Iterable[Row], judged: Mapping[str, Mapping[str, float]]) -> list[Row]:
    """Return the judged documents with how many are above each, and how many have its score: by the definition."""
    scores: dict[str, dict[str, float]] = {}
    for query, doc, score in rows:
        scores.setdefault(query, {})[doc] = float(score)
    found = [
        (query, doc, sum(other > score for other in own.values()), sum(other == score for other in own.values()))
        for query, own in scores.items()
        for doc, score in own.items()
        if doc in judged.get(query, ())
    ]
    ordered = sorted(found, key=lambda row: (row[0], row[2], row[1]))
    return [(query, doc, f"{above} {tied}") for query, doc, above, tied in ordered]


def judgments(data: bytes) -> list[Row] | None:
    """Return the qrels of BEIR; None where its header is another one, or its quotes open a field of several lines."""
    if not data.startswith(b"query-id\tcorpus-id\tscore\n") or b'"' in data:
        return None
    rows = [*dict.fromkeys(table(data, "\t"))]  # equal judgments are merged
    if len({row[:2] for row in rows}) < len(rows):
        raise Refused("judged twice")
    if any(math.isinf(float(row[2])) for row in rows):
        raise Refused("infinite")
    return rows


def rank_eval_request(data: bytes) -> list[Row] | None:
    """``{"requests": [{"id": query, "ratings": [{"_id": doc, "rating": n}]}]}``."""
    requests = _member(_document(data), "requests", list)
    if requests is None or not requests:
        return None
    found = []
    for request in requests:
        query, ratings = _member(request, "id", str), _member(request, "ratings", list)
        if query is None or ratings is None:
            return None
        found.append((query, [(one, "_id", "rating") for one in ratings]))
    return _rated(found, are_judgments=True)


def rank_eval_response(data: bytes) -> list[Row] | None:
    """``{"metric_score": 1, "details": {query: {"hits": [{"hit": {"_id": doc, "_score": n}}]}}}``."""
    document = _document(data)
    details = _member(document, "details", _Object)
    fails = details is not None and "failures" in dict(document) and _member(document, "failures", _Object) is None
    if details is None or fails or _member(document, "metric_score", _Number) is None:
        return None
    found = []
    for query, detail in details:
        hits = _member(detail, "hits", list)
        if hits is None:
            return None
        found.append((query, [(_member(one, "hit", _Object), "_id", "_score") for one in hits]))
    return _rated(found)


def searches(data: bytes) -> list[Row] | None:
    """``{query: response}``."""
    document = _document(data)
    if not isinstance(document, _Object) or {"hits", "responses", "error"} & {key for key, _ in document}:
        return None
    found = [(query, _hits(held)) for query, held in document]
    return None if any(hits is None for _, hits in found) else _rated([(q, hits or []) for q, hits in found])


def response(query: str, data: bytes) -> list[Row] | None:
    """``{"hits": {"hits": [{"_id": doc, "_score": n}]}}``."""
    hits = _hits(_document(data))
    return None if hits is None else _rated([(query, hits)])


def quepid(data: bytes) -> list[Row] | None:
    """``{"queries": [{"query": query, "ratings": {doc: n}}]}``, or a list of ``{"doc_id": doc, "rating": n}``."""
    queries = _member(_document(data), "queries", list)
    if not queries:
        return None
    found = []
    for one in queries:
        names = [name for name in ("query", "query_text") if _member(one, name, str) is not None]
        ratings = _member(one, "ratings", list) or _member(one, "ratings", _Object)
        if len(names) != 1 or ratings is None:
            return None
        if isinstance(ratings, _Object):
            pairs: list[Any] = [_Object([("doc_id", doc), ("rating", n)]) for doc, n in ratings]
        else:
            pairs = list(ratings)
        if any(_member(pair, "doc_id", str) is None for pair in pairs):
            return None
        rated = [pair for pair in pairs if not isinstance(pair, _Object) or dict(pair).get("rating", "") is not None]
        found.append((str(_member(one, names[0], str)), [(pair, "doc_id", "rating") for pair in rated]))
    if not any(ratings for _, ratings in found):
        raise Refused("no rating")
    return _rated(found, are_judgments=True)


def _document(data: bytes) -> Any:  # noqa: ANN401 - JSON
    document = _loads("".join(lines_of(data)), None)
    _check_unique(document)
    return document


def _member(held: object, key: str, kind: type) -> Any:  # noqa: ANN401 - JSON
    """Return what an object holds under a key; None if it is none, lacks the key, or holds another kind of thing."""
    found = dict(held).get(key) if isinstance(held, _Object) else None
    return found if type(found) is kind else None


def _hits(held: object) -> list[Any] | None:
    hits = _member(_member(held, "hits", _Object), "hits", list)
    return None if hits is None or isinstance(hits, _Object) else [(one, "_id", "_score") for one in hits]


def _rated(queries: list[tuple[str, list[Any]]], *, are_judgments: bool = False) -> list[Row] | None:
    """Return the rows of documents that each have an id and a number; None where some are given in another way.

    A list in which no document has a number is one in strict order, which other readers test. Equal judgments are
    merged. A query with an empty list is a query; only a file without queries is empty.
    """
    if not queries:
        raise Refused("no query")
    rows = []
    for query, documents in queries:
        ident(query)
        for one, id_, value in documents:
            doc, text = _member(one, id_, str), _member(one, value, _Number)
            if doc is None or text is None or not NUMBER.fullmatch(text) or math.isinf(float(text)):
                return None
            rows.append((_whole(ident(query)), _whole(ident(doc)), number(text)))
    if are_judgments:
        rows = [*dict.fromkeys(rows)]
    if len({row[:2] for row in rows}) < len(rows) or len({query for query, _ in queries}) < len([*queries]):
        raise Refused("a document or query twice")
    return rows


class _Number(str):
    """A number of JSON, as it is written."""

    __slots__ = ()


class _Object(list[tuple[str, Any]]):
    """The pairs of an object, also those with the same key."""


def _loads(text: str, line: int | None) -> object:
    try:
        if line is None:
            json.dumps(json.loads(text), ensure_ascii=False).encode()  # a lone surrogate: refused whole
        return json.loads(
            text, object_pairs_hook=_Object, parse_float=_Number, parse_int=_Number, parse_constant=_Number
        )
    except (ValueError, RecursionError) as error:
        raise Refused(f"no JSON: {error}", set() if line is None else {line}) from error


def _check_unique(given: object) -> None:
    if isinstance(given, _Object) and len({key for key, _ in given}) < len(given):
        raise Refused("a key stands twice")
    for value in (
        (value for _, value in given) if isinstance(given, _Object) else given if isinstance(given, list) else ()
    ):
        _check_unique(value)


def _whole(text: str, line: int | None = None) -> str:
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise Refused("half a character", set() if line is None else {line})
    return text


def _split(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in line


def _place(header: list[str], known: Sequence[str]) -> int:
    name = next((name for name in known if name in header), None)
    if name is None or header.count(name) > 1:
        raise Refused("a column is missing, or twice there")
    return header.index(name)


def _not_empty(rows: list[Row]) -> list[Row]:
    if not rows:
        raise Refused("no row")
    return rows
