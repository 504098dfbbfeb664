"""TREC files: rows of fields separated by blanks, read by Polars and proved right by a count of the blanks.

Polars splits at single separators, takes short and long rows in silence, and knows no line numbers. So the file is
parsed at full speed, and its bytes are counted beside it: if every field that is looked at is there and the file holds
exactly as many blanks as rows times fields, then no row is short or long and no blank is where it should not be.
The tag of a run is read only where the last byte of the rows does not show that they have one (`find_last_byte`).
On any doubt the file is read again in blocks, each one with its blanks made regular, and a block that is still in
doubt line by line, which names the line that is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import import_module
from io import BytesIO
from math import inf
from pathlib import Path
from typing import IO

from deadheat.core.errors import Advice, DataError, MalformedRowError, SwappedFilesError
from deadheat.core.io.byte_counts import Blanks, count_blanks, normalize_blanks
from deadheat.core.io.columns import guess_format
from deadheat.core.io.content import COMPARED_ROWS, Content
from deadheat.core.io.decimals import DecimalColumn, get_decimal_mark, may_be_number
from deadheat.core.io.files import (
    BLOCK,
    BOM,
    blocks,
    check_file_lines,
    check_rows,
    decode_utf8,
    misleads_polars,
    read_plain_head,
    refuse_binary,
    refuse_repeated_mark,
)
from deadheat.core.io.formats.base import (
    Format,
    advise_on_row,
    collect_ranks,
    frame_of_rows,
    register,
    split_off_subtopics,
)
from deadheat.core.io.id_hashes import DOC_HASH
from deadheat.core.io.ids import check_comment, check_ids_of_row, has_control_characters
from deadheat.core.io.kinds import KEYS, OTHER_KIND, SUBTOPIC, TREC_FIELDS, VALUE_COLUMN, WRONG_ORDER, Kind
from deadheat.core.io.memory_limits import ROW_BYTES
from deadheat.core.io.splitting import (
    ENDS_EARLY,
    RANK,
    find_last_byte,
    get_begun_blanks,
    is_begun,
    is_small,
    split,
)
from deadheat.core.io.unpacking import HEAD, detect_compression, open_file
from deadheat.core.io.values import are_plain, is_number_text, read_value
from deadheat.core.io.writing import Compression, value_as_text, write_text
from deadheat.core.libraries import polars as pl
from deadheat.core.scalars import LARGEST_INTEGER
from deadheat.core.wording import format_count, quote_text

COMMENT_BYTES = 200  # of memory for a comment, beside its text
COMPARED_BYTES = 1 << 20  # of a file, in which ranks are compared with scores
_MARKED_LINE = re.compile(rb"^[ \t\r\v\f]*#", re.MULTILINE)


def read_trec(path: Path, kind: Kind, _given: Mapping[str, str]) -> Content:
    """Read a TREC file into query_id, doc_id and the value, in file order.

    Raises
    ------
    FileFormatError, DataError
        With the first line that is wrong.
    """
    ranks: pl.DataFrame | None = None
    notes: tuple[str, ...] = ()
    data = _read_small_file(path)
    frame: pl.DataFrame | None = None
    if get_decimal_mark() == ",":
        pass  # Polars would not read the numbers, or read groups of thousands as fractions
    elif data:  # a small file is read once; of a large one, one thread parses the rows and another counts the blanks
        _check_first_row(data, kind, path)
        frame = _read_block(data, kind, path)
        if kind == "run":
            ranks = parse_first_ranks(data)
    elif kind == "run":
        frame, ranks = _read_large_run(path)
    else:
        frame = _read_whole(path, kind)
    if frame is None:
        marked = MarkedLines(kind)
        frame = pl.concat(read_blocks(path, kind, marked))
        notes = note_comments(len(marked.comments), path)
    if frame.is_empty():
        raise DataError(f"{kind} without a single row", allowed=" ".join(TREC_FIELDS[kind]), path=path)
    if kind == "qrels":
        return split_off_subtopics(frame, path, notes)
    hashes = frame.drop_in_place(DOC_HASH) if DOC_HASH in frame.columns else None
    return Content(frame, notes, ranks, hashes=hashes)


def _read_large_run(path: Path) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
    """Return the rows as `_read_whole` does, and the ranks of the first rows.

    A thread of its own parses the ranks in the first bytes while the file is read. Only a file that is being split
    already may do without that: if it is split together with other runs, its ranks are a column of the result.
    """
    if not is_begun(path):
        with ThreadPoolExecutor(1) as thread:
            ranks = thread.submit(read_first_ranks, path)
            frame = _read_whole(path, "run")
            return frame, ranks.result()
    frame = _read_whole(path, "run")
    if frame is None or RANK not in frame.columns:
        return frame, read_first_ranks(path)
    rank = frame.drop_in_place(RANK)
    return frame, pl.DataFrame([frame["query_id"], rank, frame["score"]]).head(COMPARED_ROWS)


def _read_small_file(path: Path) -> bytes | None:
    """Return the bytes of a small file, without a byte order mark.

    Return None for a file that is large or compressed, and for one that is being split already.
    """
    if is_begun(path) or not is_small(path):
        return None
    with open_file(path) as file:
        data = file.read()
    refuse_repeated_mark(data, path)
    return None if detect_compression(data) else data.removeprefix(BOM)


def read_first_ranks(path: Path) -> pl.DataFrame | None:
    """Return the ranks and scores of the first rows of a file; None if it can be read only once, as a pipe."""
    if not path.is_file():
        return None
    first_block = next(blocks(path, COMPARED_BYTES))
    return parse_first_ranks(first_block)


def parse_first_ranks(text: bytes) -> pl.DataFrame | None:
    """Return the ranks and scores of the first rows of a text; null where a field is not a number."""
    head = text[:COMPARED_BYTES]
    end_of_last_line = head.rfind(b"\n") + 1
    lines = head[:end_of_last_line].removeprefix(BOM)
    lines = MarkedLines("run").without_comments(lines, 1)
    has_other_blanks = any(blank in lines for blank in b"\t\v\f\r")
    if has_other_blanks or not count_blanks(lines).are_regular:
        lines = normalize_blanks(lines)
    if misleads_polars(lines):
        return None
    schema = dict.fromkeys(TREC_FIELDS["run"], pl.String)
    rows = pl.scan_csv(lines, has_header=False, separator=" ", quote_char=None, schema=schema, n_rows=COMPARED_ROWS)
    return collect_ranks(rows.select("query_id", "rank", "score"))


def _read_whole(path: Path, kind: Kind) -> pl.DataFrame | None:
    """Return the rows of an uncompressed file, split as a whole; None if it is not proved that they are right."""
    head = read_plain_head(path)
    if not head or misleads_polars(head.removeprefix(BOM)):
        return None
    check_file_lines(path)
    separator = _check_first_row(head, kind, path)
    # Irregular blanks in the head end this at once. If the file is being split already, all blanks are counted anyway.
    if not is_begun(path) and not count_blanks(head).are_regular:
        return None
    last_byte = find_last_byte(head) if kind == "run" else None
    reads_last_field = last_byte is None  # nothing else shows whether a row has its last field
    with ThreadPoolExecutor(1) as thread:
        counting = get_begun_blanks(path, kind, separator, reads_last_field=reads_last_field)
        if counting is None:  # one thread reads and counts while Polars computes
            counting = thread.submit(count_blanks, path, last_byte)
        import_module("numpy.ma")  # Polars imports it later; now, while the file is read, this takes no extra time
        frame = split(path, kind, separator, reads_last_field=reads_last_field)
    if frame is None:
        return None
    blanks = counting.result()
    if not reads_last_field and blanks.ends_otherwise:  # some row ends with another byte: it may lack its tag
        frame = split(path, kind, separator, reads_last_field=True)
    if frame is None or not _is_proved(frame, kind, blanks):
        return None
    if ENDS_EARLY in frame.columns:
        frame.drop_in_place(ENDS_EARLY)
    values = frame[VALUE_COLUMN[kind]]
    return frame if are_plain(values) else None


def note_comments(n_comments: int, path: Path) -> tuple[str, ...]:
    """Return a note on the comments in a file, if it has some."""
    if not n_comments:
        return ()
    return (f"{format_count(n_comments, 'comment line')} skipped in {path}",)


def read_blocks(path: Path, kind: Kind, marked: MarkedLines, size: int = BLOCK) -> Iterator[pl.DataFrame]:
    """Yield the rows of a file block by block, of about `size` bytes each, and add its comments to `marked`.

    Raises
    ------
    DataError
        For the first line that is wrong, be it a row or a comment.
    """
    first_line = 1
    for block_with_comments in blocks(path, size):
        block = marked.without_comments(block_with_comments, first_line)
        n_block_lines = block.count(b"\n")
        n_lines = first_line - 1 + n_block_lines  # blank ones count: a stream of nothing else must come to an end
        check_rows(n_lines * ROW_BYTES + len(marked.comments) * COMMENT_BYTES, path)
        if first_line == 1:  # a wrong comment above the first row is reported, not that row
            marked.check_text(path, above=_find_first_row(block))
            _check_first_row(block, kind, path)
        rows = _read_block(block, kind, path)
        if rows is None:
            try:
                rows = read_lines(block, kind, path, first_line)
            except DataError as error:
                marked.check_text(path, above=error.line or inf)
                raise
        yield rows
        first_line += n_block_lines
    marked.check(path)


def _find_first_row(block: bytes) -> int:
    """Return the 1-based line of the first row in the first block of a file."""
    n_leading_blanks = len(block) - len(block.lstrip())
    return block[:n_leading_blanks].count(b"\n") + 1


@dataclass
class MarkedLines:
    r"""The lines of a file that begin with #: comments, as trec_eval 10 reads them, and rows of queries such as #1.

    Attributes
    ----------
    kind : {"qrels", "run"}
    comments : dict of int to bytes
        By their line numbers.
    queries : set of bytes
        The queries of the rows that begin with #.

    Examples
    --------
    >>> marked = MarkedLines("qrels")
    >>> marked.without_comments(b"# judged by us\nq1 0 d1 1\n#2 0 d1 1\n", 1)
    b'\nq1 0 d1 1\n#2 0 d1 1\n'
    >>> marked.comments
    {1: b'# judged by us'}
    """

    kind: Kind
    comments: dict[int, bytes] = field(default_factory=dict)
    queries: set[bytes] = field(default_factory=set)

    def without_comments(self, block: bytes, first_line: int) -> bytes:
        """Return a block with an empty line for each comment, and keep the comments."""
        if b"#" not in block or not _MARKED_LINE.search(block):  # the first test is the faster one
            return block
        lines = block.split(b"\n")
        for number, line in enumerate(lines):
            if is_comment(line, self.kind):
                self.comments[first_line + number] = line
                lines[number] = b""
            elif line.lstrip().startswith(b"#"):
                self.queries.add(line.split(maxsplit=1)[0])
        return b"\n".join(lines)

    def check_text(self, path: Path, above: float = inf) -> None:
        """Raise for a comment above a line, by default anywhere, that is not UTF-8 or has a control character."""
        for number, line in self.comments.items():
            if number < above:
                check_comment(decode_utf8(line, path, number), path, number)

    def check(self, path: Path) -> None:
        """Raise for a comment that `check_text` refuses, or that is a wrong row: its first field is a query's id."""
        self.check_text(path)
        for number, line in self.comments.items():
            if line.split(maxsplit=1)[0] in self.queries:
                fields = _split_fields(line, self.kind, path, number)
                read_value(fields[_value_place(self.kind)], self.kind, path=path, line=number)


def is_comment(line: bytes, kind: Kind) -> bool:
    """Return whether a line begins with # and is no row: a row of a query that is called #1 begins so, too."""
    if not line.startswith(b"#"):
        return False
    fields = _split_line(line, kind)
    if len(fields) != len(TREC_FIELDS[kind]):
        return True
    value = fields[_value_place(kind)].decode(errors="replace")
    return not may_be_number(value, has_semicolons=False)


def _split_line(line: bytes, kind: Kind) -> list[bytes]:
    r"""Return the fields of a line: between tabs if so many are there that other blanks belong to ids or the tag.

    Bytes are split, as str.split() also cuts at blanks beyond ASCII, which an id may contain.

    Examples
    --------
    >>> _split_line(b"q1\t0\tdoc 1\t1\n", "qrels")
    [b'q1', b'0', b'doc 1', b'1']
    """
    fields = line.split()
    n_fields = len(TREC_FIELDS[kind])
    if len(fields) <= n_fields or line.count(b"\t") != n_fields - 1:
        return fields
    between_tabs = [field.strip() for field in line.split(b"\t")]
    return between_tabs if all(between_tabs) else fields


def _value_place(kind: Kind) -> int:
    """Return the position of the relevance or the score among the fields."""
    return TREC_FIELDS[kind].index(VALUE_COLUMN[kind])


def _read_block(block: bytes, kind: Kind, path: Path) -> pl.DataFrame | None:
    """Read a block of whole lines; None if a line of it may be wrong, or has a comma as its decimal mark."""
    if get_decimal_mark() == ",":
        return None
    if not block.strip():
        return read_lines(b"", kind, path, 1)
    separator = "\t" if b"\t" in block[:1000] else " "
    blanks = count_blanks(block)
    frame = split(block, kind, separator) if blanks.are_regular else None
    if frame is None or not _is_proved(frame, kind, blanks):
        block = normalize_blanks(block)
        separator = " "
        frame = split(block, kind, separator)
        if frame is None or not _is_proved(frame, kind, count_blanks(block)):
            return None
    values = frame[VALUE_COLUMN[kind]]
    if values.null_count():
        return None
    if not are_plain(values) and not _are_large_exact(block, kind, separator, frame, path):
        return None
    return frame.drop(ENDS_EARLY)


def _is_proved(frame: pl.DataFrame, kind: Kind, blanks: Blanks) -> bool:
    """Return whether every row has all its fields, and the bytes have no other blanks than those between fields."""
    if ENDS_EARLY in frame.columns:
        may_end_early = frame[ENDS_EARLY].any()
    else:  # the tags were not read; a row without one would end with its score, and so with another byte
        may_end_early = blanks.ends_otherwise
    if may_end_early or frame["query_id"].null_count() or frame["doc_id"].null_count():
        return False
    if blanks.may_hold_controls and has_control_characters(frame):
        return False
    # A blank follows each field, after the last one the newline; the carriage return of a Windows line is one more.
    expected = frame.height * len(TREC_FIELDS[kind]) + blanks.n_crlf - blanks.lacks_final_newline
    return blanks.n_blanks == expected and blanks.are_regular


def _are_large_exact(block: bytes, kind: Kind, separator: str, frame: pl.DataFrame, path: Path) -> bool:
    """Return whether float64 can hold all large numbers, by their texts."""
    schema = dict.fromkeys(TREC_FIELDS[kind], pl.String)
    texts = pl.read_csv(block, has_header=False, separator=separator, quote_char=None, schema=schema)
    name = VALUE_COLUMN[kind]
    is_large = frame[name].abs() >= LARGEST_INTEGER
    large_texts = texts[name].filter(is_large).unique()
    try:
        for text in large_texts:
            read_value(text, kind, path=path, line=None)
    except DataError:
        return False
    return True


def _check_first_row(head: bytes, kind: Kind, path: Path) -> str:
    """Return the separator of the first row; raise if it shows that this is another kind of file."""
    refuse_binary(head, path)
    line, row = _read_first_row(head[:HEAD], kind)
    n_fields = len(_split_line(row, kind))
    names = TREC_FIELDS[kind]
    text = row.decode("utf-8", "replace").removeprefix("\ufeff").strip()
    if n_fields == len(TREC_FIELDS[OTHER_KIND[kind]]):
        other = "a run" if kind == "qrels" else "qrels"
        raise SwappedFilesError(
            allowed=f"{kind} ({' '.join(names)})",
            found=f"{n_fields} fields as in {other}: {quote_text(text)}",
            hint=WRONG_ORDER[kind],
            path=path,
            line=line,
        )
    if n_fields != len(names):
        hint = _advise_format(text, kind) or advise_on_row(text.split(), kind)
        if hint is not None:
            allowed = f"{len(names)} fields ({' '.join(names)})"
            raise MalformedRowError(allowed=allowed, given=text, hint=hint, path=path, line=line)
    return "\t" if b"\t" in row else " "


def _read_first_row(head: bytes, kind: Kind) -> tuple[int, bytes]:
    """Return the line of the first row with its number; an empty first line if there is no row."""
    for number, line in enumerate(BytesIO(head), 1):
        if line.split() and not is_comment(line, kind):
            return number, line
    return 1, b""


def _advise_format(text: str, kind: Kind) -> Advice | None:
    """Return a hint with the format that a first line looks like; None if it looks like no other format."""
    if text.startswith(("{", "[")):
        return Advice("format", "json", ".json or .jsonl", of=kind, when="this looks like JSON: ")
    form = guess_format(text)
    if form is None:
        return None
    return Advice("format", form, f".{form}", of=kind, when="this looks like a table with a header: ")


def read_lines(block: bytes, kind: Kind, path: Path, first_line: int) -> pl.DataFrame:
    """Read the lines of a block, or raise the error of the first line that is wrong.

    Parameters
    ----------
    block : bytes
        Whole lines.
    kind : {"qrels", "run"}
    path : pathlib.Path
        For the error message.
    first_line : int
        The 1-based number of the block's first line in the file.
    """
    value_place = _value_place(kind)
    decimals = DecimalColumn(VALUE_COLUMN[kind], path, has_semicolons=False)
    rows: list[tuple[str | float, ...]] = []
    for line, raw in enumerate(block.split(b"\n"), first_line):
        fields = _split_fields(raw, kind, path, line)
        if not fields:
            continue
        query_id, second_field, doc_id = fields[:3]
        check_ids_of_row(query_id, doc_id, path, line)
        number = decimals.plain(fields[value_place], line)
        _refuse_comma(number, kind, path, line)
        value = read_value(number, kind, path=path, line=line)
        if kind == "qrels":
            subtopic = second_field
            rows.append((query_id, doc_id, subtopic, value))
        else:
            rows.append((query_id, doc_id, value))
    if kind == "qrels":
        return frame_of_rows(rows, (*KEYS, SUBTOPIC, "relevance"))
    return frame_of_rows(rows, (*KEYS, "score"))


def _refuse_comma(number: str, kind: Kind, path: Path, line: int) -> None:
    """Raise for a number that only has a comma where a point should be, and say how such numbers are read."""
    if "," not in number or not is_number_text(number.replace(",", ".")):
        return
    raise MalformedRowError(
        f"{VALUE_COLUMN[kind]} must be a number with a point",
        given=number,
        hint=Advice("decimal", when="to say that the comma is the decimal mark, "),
        python="as with dh.decimal(','):",
        path=path,
        line=line,
    )


def locate_in_lines(path: Path, kind: Kind, query_id: str, doc_id: str, _given: Mapping[str, str]) -> list[int]:
    """Return the 1-based lines that hold this pair."""
    query = query_id.encode()
    doc = doc_id.encode()
    numbers: list[int] = []
    first_line = 1
    for block in blocks(path):
        lines = block.split(b"\n")
        for number, line in enumerate(lines, first_line):
            if doc not in line:  # saves splitting most lines
                continue
            fields = _split_line(line, kind)
            if len(fields) == len(TREC_FIELDS[kind]) and fields[0] == query and fields[2] == doc:
                numbers.append(number)
        first_line += block.count(b"\n")
    return numbers


def _split_fields(raw: bytes, kind: Kind, path: Path, line: int) -> list[str]:
    """Split a line into as many fields as its kind has, or none if it is blank."""
    text = decode_utf8(raw, path, line)
    fields = [field.decode() for field in _split_line(raw, kind)]
    names = TREC_FIELDS[kind]
    if fields and len(fields) != len(names):
        raise MalformedRowError(
            allowed=f"{len(names)} fields ({' '.join(names)})",
            found=f"{len(fields)}: {quote_text(text.strip())}",
            path=path,
            line=line,
        )
    return fields


def write_trec(rows: pl.DataFrame, file: IO[bytes], kind: Kind, tag: str, compression: Compression) -> None:
    """Write TREC lines; the rank field of a run counts by score, highest first, and by row where scores tie."""
    if kind == "qrels":
        subtopic = SUBTOPIC if SUBTOPIC in rows.columns else pl.lit("0")
        fields = pl.format("{} {} {} {}", "query_id", subtopic, "doc_id", value_as_text(kind))
    else:
        rank = pl.col("score").rank("ordinal", descending=True).over("query_id")
        fields = pl.format("{} Q0 {} {} {} {}", "query_id", "doc_id", rank, value_as_text(kind), pl.lit(tag))
    write_text(rows.select(fields), file, compression)


register(
    Format(
        name="trec",
        suffixes=(".run", ".qrels", ".qrel", ".trec", ".txt"),
        read=read_trec,
        write=write_trec,
        locate=locate_in_lines,
        has_tag=True,
        shows_kind=True,
        has_subtopics=True,
        splits_at=r"[ \t\n\v\f\r\x00]|^\x{FEFF}",  # NUL marks a binary file, a byte order mark is taken off
    )
)
