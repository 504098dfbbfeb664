"""The check of a format of files: what is written is read again, and what is damaged is refused with its place."""

from __future__ import annotations

import gzip
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np
import polars as pl

import deadheat as dh
from deadheat.core.errors import DataError, DeadheatError, DuplicateError, ParameterError
from deadheat.core.io.formats import FORMATS, choose_format, find_format, load_third_party, locate, write
from deadheat.core.io.formats.base import Format
from deadheat.core.io.kinds import KEYS, VALUE_COLUMN, Kind
from deadheat.core.random_generators import random_generator
from deadheat.plugins.conformance.failure import CheckFailedError

Row: TypeAlias = tuple[str, str, float]

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
N_ROWS = 40
IDS = ("d1", "007", "1e5", "d-2_x.y/z", "Grün", "文書", "NaN", "true", "x1", "d1.0")  # none of them is a number
VALUES: dict[Kind, tuple[float, ...]] = {
    "qrels": (0, 1, 2, 3, -1, 0.5),
    "run": (1.0, 0.1, -2.5, 1e-300, 123456789.123, 1 / 3, 0.0, 7.0),
}
SPECIAL_IDS = ("two words", 'a "quote"', "a,b", "a\tb", "a;b", "a|b", "a\\b", "a:b", "'a'", "#7")


def check_reader(
    name: str,
    *,
    kinds: Sequence[Kind] = ("qrels", "run"),
    examples: Mapping[str | bytes, Sequence[Row]] | None = None,
    wrong: Mapping[str | bytes, int | None] | None = None,
    rng: int = 0,
) -> None:
    r"""Check a format of files: round trips, compression, places of errors, refusals.

    Rows that the format writes are read again: plain, compressed, with a byte order mark and with Windows' line ends.
    Files that are empty, cut, damaged, binary or of another encoding have to be refused, with their path. A pair that
    comes twice has to be refused with its lines.

    Parameters
    ----------
    name : str
        Of the format, registered.
    kinds : sequence of {"qrels", "run"}, default ("qrels", "run")
        What it is read and written as.
    examples : mapping of str or bytes to sequence of rows, optional
        Files by their content, and the rows (query_id, doc_id, value) of each, in order. They are read as each of
        `kinds`. They hold the format against its description; without them it is only held against itself.
    wrong : mapping of str or bytes to int or None, optional
        Content that has to be refused, and the line that the error names; None: none.
    rng : int, default 0
        The same number draws the same rows.

    Raises
    ------
    CheckFailedError
        An AssertionError with what was found, what was expected, and the file.

    Examples
    --------
    >>> from deadheat.api import check_reader
    >>> check_reader("trec", kinds=["run"], examples={"q Q0 d 1 0.5 tag\n": [("q", "d", 0.5)]}, wrong={"q Q0 d\n": 1})
    """
    if name not in FORMATS:
        load_third_party()
    if name not in FORMATS:
        raise ParameterError("unknown format", argument="name", given=name, allowed=tuple(FORMATS))
    form = FORMATS[name]
    _check_registration(form)
    with TemporaryDirectory() as folder:
        for kind in kinds:
            files = Files(Path(folder) / kind, form, kind)
            files.folder.mkdir()
            rows = _draw_rows(kind, rng)
            _check_round_trips(files, rows)
            _check_special_ids(files)
            _check_places(files, rows)
            _check_damage(files, rows)
            for number, (content, expected) in enumerate((examples or {}).items()):
                _check_example(files, f"example{number}", content, expected)
            for number, (content, line) in enumerate((wrong or {}).items()):
                _check_refused(files, f"wrong{number}", _as_bytes(content), "this content", line)


@dataclass(frozen=True)
class Files:
    """Files of one format and one kind.

    Attributes
    ----------
    folder : pathlib.Path
    form : Format
    kind : {"qrels", "run"}
    """

    folder: Path
    form: Format
    kind: Kind

    @property
    def subject(self) -> str:
        """What messages begin with."""
        return f"{self.form.name}, {self.kind}"

    def path(self, name: str, compressed: str = "") -> Path:
        """Return the path of a file of this name."""
        return self.folder / f"{name}{self.form.suffixes[0]}{compressed}"

    def write(self, rows: Sequence[Row], path: Path) -> Path:
        """Write rows to a file."""
        try:
            write(_frame(rows, self.kind), path, self.kind)
        except DeadheatError as error:
            raise CheckFailedError(self.subject, f"rows cannot be written: {error}", _shown(rows)) from error
        return path

    def write_bytes(self, content: bytes, name: str) -> Path:
        """Write a file as it is."""
        path = self.path(name)
        path.write_bytes(content)
        return path

    def read(self, path: Path) -> list[Row]:
        """Return the rows of a file, in order."""
        table = dh.read_qrels(path) if self.kind == "qrels" else dh.read_run(path)
        frame = table.to_polars()
        return list(frame.select(*KEYS, VALUE_COLUMN[self.kind]).iter_rows())

    def check(self, path: Path, expected: Sequence[Row], what: str) -> None:
        """Compare the rows of a file with those that are expected."""
        try:
            found = self.read(path)
        except Exception as error:
            problem = f"{what} cannot be read: {type(error).__name__}: {error}"
            raise CheckFailedError(self.subject, problem, _beginning(path)) from error
        if found == list(expected):
            return
        for number, (row, right) in enumerate(zip(found, expected, strict=False), start=1):
            if row != right:
                raise CheckFailedError(
                    self.subject, f"{what}: row {number} is read as {row}, expected {right}", _beginning(path)
                )
        problem = f"{what}: {len(found)} rows are read, expected {len(expected)}"
        raise CheckFailedError(self.subject, problem, _beginning(path))


def _frame(rows: Sequence[Row], kind: Kind) -> pl.DataFrame:
    schema = {"query_id": pl.String, "doc_id": pl.String, VALUE_COLUMN[kind]: pl.Float64}
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def _draw_rows(kind: Kind, seed: int) -> list[Row]:
    """Return rows with awkward ids and values, of queries one after the other, no pair twice."""
    drawn = random_generator(seed)
    rows = []
    for query in ("q1", "12", "q-3", "Ärzte"):
        for doc in drawn.permutation(np.array(IDS)).tolist():
            rows.append((query, doc, float(drawn.choice(VALUES[kind]))))
    return rows[:N_ROWS]


def _shown(rows: Sequence[Row]) -> str:
    return "\n".join(f"  {row}" for row in rows[:5])


def _beginning(path: Path) -> str:
    """Return the first lines of a file, for messages."""
    content = path.read_bytes()[:200].decode("utf-8", "backslashreplace")
    return "\n".join(["  the file begins with", *(f"  {line}" for line in content.splitlines()[:5])])


def _as_bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _check_registration(form: Format) -> None:
    """Check the names of the format, and that files of its endings are taken for it."""
    if not form.suffixes:
        raise CheckFailedError(form.name, "it has no ending, by which files are known")
    for suffix in form.suffixes:
        if not suffix.startswith(".") or suffix != suffix.lower():
            raise CheckFailedError(form.name, f"the ending {suffix!r} is not a dot and small letters")
        for compressed in ("", ".gz", ".zst"):
            chosen = choose_format(f"file{suffix}{compressed}")
            if chosen != form.name:
                raise CheckFailedError(form.name, f"file{suffix}{compressed} is read as {chosen}")


def _check_round_trips(files: Files, rows: Sequence[Row]) -> None:
    """Check that rows are read as they were written, also compressed, and with other line ends."""
    path = files.write(rows, files.path("plain"))
    files.check(path, rows, "what was written")
    files.check(files.write(rows[:1], files.path("one")), rows[:1], "one row")
    recognised = find_format(path, None).name
    if recognised != files.form.name:
        raise CheckFailedError(files.subject, f"{path.name} is taken for {recognised}")
    table = dh.read_qrels(path) if files.kind == "qrels" else dh.read_run(path)
    received = pickle.loads(pickle.dumps(table))  # noqa: S301 - written by the line itself
    if not received.to_polars().equals(table.to_polars()):
        raise CheckFailedError(files.subject, "pickled and read again the rows are others")
    if not files.form.is_text:
        return  # it is compressed inside
    content = path.read_bytes()
    packed = files.path("packed", ".gz")
    packed.write_bytes(gzip.compress(content))
    files.check(packed, rows, "a file compressed by gzip")
    for compressed in (".gz", ".zst"):
        files.check(files.write(rows, files.path("written", compressed)), rows, f"what was written to {compressed}")
    marked = files.write_bytes(BYTE_ORDER_MARK + content, "marked")
    files.check(marked, rows, "a file with a byte order mark")
    if b"\n" in content and b"\r" not in content:
        windows = files.write_bytes(content.replace(b"\n", b"\r\n"), "windows")
        files.check(windows, rows, r"a file whose lines end with \r\n")
        files.check(files.write_bytes(content.rstrip(b"\n"), "unended"), rows, "a file without a newline at its end")


def _check_special_ids(files: Files) -> None:
    """Check that ids with separators and quotes are read as they were written, or refused when they are written."""
    for doc in SPECIAL_IDS:
        rows = [("q1", doc, 1.0), ("q1", "d2", 0.0)]
        path = files.path("special")
        try:
            write(_frame(rows, files.kind), path, files.kind)
        except DataError:
            continue  # the format cannot hold it, and says so
        files.check(path, rows, f"the document {doc!r}")


def _check_places(files: Files, rows: Sequence[Row]) -> None:
    """Check that `locate` finds the line of a pair, and that a pair that comes twice is refused with its lines."""
    path = files.write(rows, files.path("places"))
    lines = path.read_bytes().split(b"\n")
    located = [locate(path, files.kind, query, doc) for query, doc, _ in rows]
    has_lines = any(located)
    for (query, doc, _), found in zip(rows, located, strict=True):
        pair = f"({query!r}, {doc!r})"
        if has_lines and len(found) != 1:
            raise CheckFailedError(files.subject, f"locate finds {pair} on the lines {found}, expected one line")
        if has_lines and doc.encode() not in lines[found[0] - 1]:
            problem = f"locate finds {pair} on line {found[0]}, which lacks the document"
            raise CheckFailedError(files.subject, problem, _beginning(path))
    (query, doc, value), *_ = rows
    other_value = 3.0 if value != 3.0 else 2.0
    twice = files.write([*rows, (query, doc, other_value)], files.path("twice"))
    try:
        if not has_lines and files.read(twice) in ([*rows], [(query, doc, other_value), *rows[1:]]):
            return  # a format such as JSON, whose objects cannot have a key twice
        table = dh.read_qrels(twice) if files.kind == "qrels" else dh.read_run(twice)
        table.check_duplicates(now=True)
    except DuplicateError as error:
        found = locate(twice, files.kind, query, doc)
        if has_lines and (len(found) != 2 or not all(str(line) in str(error) for line in found)):
            problem = f"a pair that comes twice is located on the lines {found}, expected two lines, named in the error"
            raise CheckFailedError(files.subject, problem, f"  {error}") from error
        return
    except DeadheatError as error:
        problem = f"a pair that comes twice raises {type(error).__name__}, expected DuplicateError"
        raise CheckFailedError(files.subject, problem, f"  {error}") from error
    raise CheckFailedError(
        files.subject, "a pair that comes twice is taken, expected DuplicateError", _beginning(twice)
    )


def _check_damage(files: Files, rows: Sequence[Row]) -> None:
    """Check that files which hold nothing, or something else, are refused."""
    for name, content, what in _damaged(files, rows):
        _check_refused(files, name, content, what, None)


def _damaged(files: Files, rows: Sequence[Row]) -> Iterator[tuple[str, bytes, str]]:
    content = files.write(rows, files.path("whole")).read_bytes()
    yield "empty", b"", "an empty file"
    yield "binary", b"\x00\x01\xff\xfe" * 64, "a file of random bytes"
    yield "cut", gzip.compress(content)[:60], "a compressed file that is cut"
    if files.form.is_text:
        yield "blank", b"\n\n", "a file of blank lines"
        if "Grün".encode() in content:
            yield "latin", content.replace("Grün".encode(), "Grün".encode("latin-1")), "text that is not UTF-8"
        yield "nul", content.replace(b"d-2_x", b"d-2\x00x"), "a NUL byte in an id"
        for text in ("nan", "x1"):
            changed = _with_value(files, text)
            if changed is not None:
                yield f"value_{text}", changed, f"the value {text!r}"


def _with_value(files: Files, text: str) -> bytes | None:
    """Return a file in which a value is another text; None if the value cannot be found in it."""
    content = files.write([("qa", "da", 17.0)], files.path("value")).read_bytes()
    for written in (b"17.0", b"17"):
        if content.count(written) == 1:
            return content.replace(written, text.encode())
    return None


def _check_refused(files: Files, name: str, content: bytes, what: str, line: int | None) -> None:
    """Check that a file is refused with an error that names it, and the line."""
    path = files.write_bytes(content, name)
    try:
        found = files.read(path)
    except DataError as error:
        if error.path is None or error.path.name != path.name:
            problem = f"{what} is refused with an error that does not name the file"
            raise CheckFailedError(files.subject, problem, f"  {error}") from error
        if line is not None and error.line != line:
            problem = f"{what} is refused with an error for line {error.line}, expected line {line}"
            raise CheckFailedError(files.subject, problem, f"  {error}\n{_beginning(path)}") from error
        return
    except Exception as error:
        problem = f"{what} raises {type(error).__name__} ({error}), expected DataError"
        raise CheckFailedError(files.subject, problem, _beginning(path)) from error
    problem = f"{what} is taken, expected DataError"
    raise CheckFailedError(files.subject, problem, f"{_shown(found)}\n{_beginning(path)}")


def _check_example(files: Files, name: str, content: str | bytes, expected: Sequence[Row]) -> None:
    path = files.write_bytes(_as_bytes(content), name)
    files.check(path, expected, "an example")
