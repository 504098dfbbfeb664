"""LETOR files (SVMlight with query ids): a judged document a line, and all its features.

    relevance qid:QUERY 1:0.5 2:0.3 ... # docid = DOCUMENT

All features of a block of lines are written below each other and parsed by Polars at once. A block about which anything
is out of the ordinary is read again line by line, which names the line that is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.errors import ColumnError, DataError, DuplicateError, MalformedRowError
from deadheat.core.io.columns import refuse_columns
from deadheat.core.io.content import Content
from deadheat.core.io.files import blocks, check_rows, decode_utf8, refuse_binary
from deadheat.core.io.formats.base import Format, frame_of_rows, register
from deadheat.core.io.ids import CONTROL, check_comment, check_ids_of_row, has_control_characters
from deadheat.core.io.kinds import KEYS, Kind
from deadheat.core.io.memory_limits import ROW_BYTES
from deadheat.core.io.values import are_plain, read_value
from deadheat.core.io.writing import Compression, value_as_text, write_text
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import quote_text
from deadheat.plugins.columns.score_columns import ScoreColumns, chosen_names

LINE = "relevance qid:QUERY FEATURE:VALUE ... # docid = DOCUMENT"
HIGHEST = 2**32 - 1  # number of a feature
DENSE = 1 << 16  # numbers up to which counting is faster than sorting
MOST_CELLS = 1 << 30  # of features and documents: 8 GB
LACKING = "a feature that a line lacks is 0, as in SVMlight"
NUMBERED = "documents without 'docid = ' are numbered from 0 in the order of the file"
_ID = r"(?:^|[^0-9A-Za-z_])[dD][oO][cC]_?[iI][dD]\s*[=:]\s*(\S+)"  # with no class on which Rust and Python differ
_FIND_ID = re.compile(_ID)
_BEGINS = re.compile(rb"(?:[ \t\r]*(?:#[^\n]*)?\n)*[ \t]*[^\s#]+[ \t]+qid:\S")
_FEATURE = re.compile(r"[0-9]{1,10}", re.ASCII)


@dataclass(frozen=True, eq=False)
class Features:
    """Features of some lines: one row of values a line if all have the same features, else one after the other.

    Attributes
    ----------
    sizes : ndarray of int, shape (n_lines,)
        How many features each line names.
    numbers : ndarray of int
        Of shape (n_features,) if `values` is of shape (n_lines, n_features), else (n_values,).
    values : ndarray of float
    """

    sizes: IntArray
    numbers: IntArray
    values: FloatArray

    def fill(self, matrix: FloatArray, names: IntArray) -> None:
        """Write the features with these numbers, which ascend, into a matrix of zeros, features by lines."""
        place = np.minimum(np.searchsorted(names, self.numbers), len(names) - 1)
        is_wanted = names[place] == self.numbers
        if self.values.ndim == 2:
            matrix[place[is_wanted]] = self.values.T[is_wanted]
        else:
            line = np.repeat(np.arange(len(self.sizes)), self.sizes)
            matrix[place[is_wanted], line[is_wanted]] = self.values[is_wanted]


@dataclass(frozen=True, eq=False)
class Letor:
    """A LETOR file.

    Attributes
    ----------
    path : pathlib.Path
    rows : polars.DataFrame
        query_id, doc_id and relevance.
    lines : ndarray of int, shape (n_rows,)
        The line of each row.
    parts : sequence of Features
    notes : tuple of str
        On the rows.
    """

    path: Path
    rows: pl.DataFrame
    lines: IntArray
    parts: Sequence[Features]
    notes: tuple[str, ...]

    @cached_property
    def numbers(self) -> IntArray:
        """The numbers of all features in the file, ascending."""
        return np.unique(np.concatenate([_distinct(part.numbers) for part in self.parts]))

    @cached_property
    def names(self) -> list[str]:
        """The numbers of all features, as text."""
        return self.numbers.astype(str).tolist()

    @property
    def notes_on_features(self) -> tuple[str, ...]:
        """What was assumed of the features, then the notes on the rows."""
        has_gaps = sum(int(part.sizes.sum()) for part in self.parts) < len(self.rows) * len(self.numbers)
        return (LACKING, *self.notes) if has_gaps else self.notes

    def matrix(self, names: Sequence[str]) -> FloatArray:
        """Return some features, of shape (n_features, n_rows), in the order of their names."""
        if names:
            chosen_names(names, (), self.names, {}, self.path)
        if len(names) * len(self.rows) > MOST_CELLS:
            raise DataError(
                f"{len(names):,} features of {len(self.rows):,} documents are too many at once",
                allowed=f"{MOST_CELLS:,} numbers",
                hint="name some of the features",
                path=self.path,
            )
        wanted, place = np.unique(np.array([int(name) for name in names], np.int64), return_inverse=True)
        matrix, start = np.zeros((len(wanted), len(self.rows))), 0
        for part in self.parts:
            part.fill(matrix[:, start : start + len(part.sizes)], wanted)
            start += len(part.sizes)
        matrix += 0.0  # -0.0 is 0.0
        return matrix if np.array_equal(place, np.arange(len(wanted))) else matrix[place]


def _distinct(numbers: IntArray) -> IntArray:
    return np.flatnonzero(np.bincount(numbers)) if numbers.size and numbers.max() < DENSE else np.unique(numbers)


def is_letor(head: bytes) -> bool:
    """Tell whether a file that begins so is LETOR: its second field is ``qid:`` with an id."""
    return _BEGINS.match(head) is not None


def read_letor(path: Path) -> Letor:
    """Read a LETOR file.

    Raises
    ------
    FileFormatError, DataError, DuplicateError
        With the first line that is wrong.
    """
    frames, lines, parts = [], [], []
    first_line, n_bytes = 1, 0
    for block in blocks(path):
        if first_line == 1:
            refuse_binary(block, path)
        text = decode_utf8(block, path, first_line)
        n_lines = first_line - 1 + block.count(b"\n")  # also blank ones, which would take time without end
        check_rows(n_bytes + n_lines * ROW_BYTES, path)
        if not text.strip(" \t\r\n"):
            first_line = n_lines + 1
            continue
        frame, line, features = _parse(text, first_line) or _read_lines(text, path, first_line)
        first_line = n_lines + 1
        if len(frame):
            frames.append(frame)
            lines.append(line)
            parts.append(features)
            n_bytes += features.values.nbytes + features.numbers.nbytes
    if not frames:
        raise DataError("LETOR without a single row", allowed=LINE, path=path)
    rows = pl.concat(frames)
    numbered = pl.int_range(pl.len()).cast(pl.String)
    lacks_ids = rows["doc_id"].null_count() > 0
    rows = rows.with_columns(pl.coalesce("doc_id", numbered)) if lacks_ids else rows
    return Letor(path, rows, np.concatenate(lines), parts, (NUMBERED,) if lacks_ids else ())


def _parse(text: str, first_line: int) -> tuple[pl.DataFrame, IntArray, Features] | None:
    """Let Polars read the lines; None where it cannot, or where they may not be what the file says."""
    head = pl.col("line").str.splitn("#", 2).struct
    fields = pl.col("head").str.splitn(" ", 3).struct
    squeezed = head[0].str.replace_all(r"[ \t]+", " ") if "  " in text or "\t" in text else head[0]
    lines = pl.DataFrame({"line": text.split("\n")}).with_row_index("n", first_line)
    parts = lines.lazy().select("n", head=squeezed.str.strip_chars(" \r"), comment=head[1]).collect()
    if parts["comment"].str.strip_chars_end("\r").str.replace_all("\t", " ", literal=True).str.contains(CONTROL).any():
        return None  # check_comment looks for the same
    rows = (
        parts.lazy()
        .filter(pl.col("head") != "")
        .select(
            "n",
            query_id=fields[1].str.extract("^qid:(.+)$"),
            doc_id=pl.col("comment").str.extract(_ID),
            relevance=fields[0].cast(pl.Float64, strict=False),
            features=fields[2],
        )
        .collect()
    )
    ids, relevance = rows.select("query_id", "doc_id"), rows["relevance"]
    if ids["query_id"].null_count() or has_control_characters(ids) or not are_plain(relevance):
        return None
    features = _parse_features(rows["features"])
    if features is None:
        return None
    return rows.select("query_id", "doc_id", "relevance"), rows["n"].cast(pl.Int64).to_numpy(), features


def _parse_features(texts: pl.Series) -> Features | None:
    """Parse the features of all lines at once; None where they may not be what the file says."""
    sizes = (texts.str.count_matches(" ", literal=True) + 1).fill_null(0).cast(pl.Int64).to_numpy()
    if not sizes.sum():
        return Features(sizes, np.zeros(0, np.int64), np.zeros(0))
    below = texts.drop_nulls().str.replace_all(" ", "\n", literal=True).str.join("\n").item().encode()
    schema = {"number": pl.UInt32, "value": pl.Float64}
    # Polars passes over a third field, a carriage return at the end of a line, a plus sign and a byte order mark.
    has_plus = b"+" in below and b"\n+" in below  # the first look is the faster one
    if below.count(b":") != sizes.sum() or b"\r" in below or has_plus or not below[:1].isdigit():
        return None
    try:
        found = pl.read_csv(below, has_header=False, separator=":", quote_char=None, schema=schema)
    except pl.exceptions.PolarsError:
        return None
    if len(found) != sizes.sum() or found["number"].null_count() or not are_plain(found["value"]):
        return None
    numbers, values = found["number"].to_numpy().astype(np.int64), found["value"].to_numpy()
    n_features = int(sizes[0])
    if n_features and (sizes == n_features).all():
        table = numbers.reshape(-1, n_features)
        if (table == table[0]).all() and (np.diff(table[0]) > 0).all():
            return Features(sizes, table[0].copy(), values.reshape(-1, n_features))
    line = np.repeat(np.arange(len(sizes)), sizes)
    ascends = (np.diff(numbers) > 0) | (np.diff(line) > 0)
    return Features(sizes, numbers, values) if ascends.all() else None


def _read_lines(text: str, path: Path, first_line: int) -> tuple[pl.DataFrame, IntArray, Features]:
    """Read line by line, or raise what is wrong with the first line that is."""
    rows, lines, features = [], [], []
    for line, raw in enumerate(text.split("\n"), first_line):
        head, _, comment = raw.partition("#")
        fields = [field for field in head.strip(" \t\r").replace("\t", " ").split(" ") if field]
        check_comment(comment, path, line)
        if not fields:
            continue
        if len(fields) < 2 or not fields[1].startswith("qid:") or fields[1] == "qid:":
            has_query = any(field.startswith("qid:") for field in fields)
            raise MalformedRowError(
                allowed=LINE,
                found=quote_text(raw.strip()),
                hint="" if has_query else "without queries there is nothing to rank",
                path=path,
                line=line,
            )
        query, relevance = fields[1].removeprefix("qid:"), read_value(fields[0], "qrels", path=path, line=line)
        found = _FIND_ID.search(comment)
        document = None if found is None else found[1]
        check_ids_of_row(query, document or "", path, line)
        rows.append((query, document, relevance))
        lines.append(line)
        features.append(_features(fields[2:], path, line))
    sizes = np.array([len(own) for own in features], np.int64)
    numbers = np.array([number for own in features for number in own], np.int64)
    values = np.array([value for own in features for value in own.values()], np.float64)
    return frame_of_rows(rows, (*KEYS, "relevance")), np.array(lines, np.int64), Features(sizes, numbers, values)


def _features(fields: Iterable[str], path: Path, line: int) -> dict[int, float]:
    """Return the value of each feature of a line, by its number."""
    found: dict[int, float] = {}
    for field in fields:
        name, mark, text = field.partition(":")
        if not mark or not _FEATURE.fullmatch(name) or int(name) > HIGHEST:
            raise MalformedRowError(
                "not a feature", allowed="NUMBER:VALUE, such as 3:0.25", given=field, path=path, line=line
            )
        number = int(name)
        if number in found:
            raise DuplicateError(f"feature {number} appears twice in one line", allowed="once", path=path, line=line)
        found[number] = read_value(text, "run", path=path, line=line, name=f"feature {number}")
    return found


def _read(path: Path, kind: Kind, given: Mapping[str, str]) -> Content:
    """Return the judgments, or one feature as the scores of a run."""
    refuse_columns({name: own for name, own in given.items() if name != "score"}, kind, f"{path}, a letor file")
    found = read_letor(path)
    if kind == "qrels":
        return Content(found.rows, found.notes)
    if "score" not in given:
        n = len(found.names)
        raise ColumnError(
            f"a run has one score a document, and the file has {n:,} feature{'' if n == 1 else 's'}",
            allowed="one of them as the score",
            hint="name it, as in score=1; dh.evaluate_columns and --score-columns evaluate all",
            path=path,
        )
    scores = pl.Series(found.matrix([given["score"]])[0])
    return Content(found.rows.select("query_id", "doc_id", score=scores), found.notes_on_features)


def read_features(path: Path, names: Sequence[str] | None, _given: Mapping[str, str]) -> ScoreColumns:
    """Return features, by their numbers as text."""
    found = read_letor(path)
    chosen = found.names if names is None else list(dict.fromkeys(names))
    if not chosen:
        raise ColumnError("no feature in the file", allowed=LINE, path=path)
    scores = dict(zip(chosen, found.matrix(chosen), strict=True))
    return ScoreColumns(
        found.rows.select("query_id", "doc_id"), scores, found.notes_on_features, found.rows["relevance"]
    )


def _write(rows: pl.DataFrame, file: IO[bytes], kind: Kind, _tag: str, compression: Compression) -> None:
    """Write judgments, without features."""
    if kind == "run":
        raise DataError("LETOR holds judgments, with scores as features beside them", hint="write a run as .csv")
    parts = (value_as_text(kind), pl.lit(" qid:"), "query_id", pl.lit(" # docid = "), "doc_id")
    write_text(rows.select(pl.concat_str(*parts)), file, compression)


def _locate(path: Path, _kind: Kind, query_id: str, doc_id: str, _given: Mapping[str, str]) -> list[int]:
    found = read_letor(path)
    return found.lines[((found.rows["query_id"] == query_id) & (found.rows["doc_id"] == doc_id)).to_numpy()].tolist()


register(
    Format(
        name="letor",
        suffixes=(".letor", ".svmlight", ".svm", ".libsvm"),
        read=_read,
        write=_write,
        locate=_locate,
        columns=lambda path: ["query_id", "doc_id", "relevance", *read_letor(path).names],
        recognises=is_letor,
        has_all=True,
        splits_at=r"[\s#\x00]",
    )
)
