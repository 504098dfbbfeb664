"""MS MARCO's files: runs of (query, document, rank), and judgments that list (query, relevant document).

Fields are separated by tabs or blanks, and there is no header. Judgments of four fields and runs of six are TREC, as
MS MARCO has them, too. The score of a document is minus its rank; MS MARCO's ranks are a strict order, so a rank that
comes twice in a query is an error.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from deadheat.core.errors import (
    DataError,
    DeadheatWarning,
    DuplicateError,
    FileFormatError,
    MalformedRowError,
    SwappedFilesError,
)
from deadheat.core.io.byte_counts import count_blanks, normalize_blanks
from deadheat.core.io.content import Content
from deadheat.core.io.files import blocks, check_rows, decode_utf8, misleads_polars, refuse_binary
from deadheat.core.io.formats.base import Format, register
from deadheat.core.io.formats.trec import read_trec
from deadheat.core.io.ids import check_ids_of_row, has_control_characters
from deadheat.core.io.kinds import OTHER_KIND, TREC_FIELDS, WRONG_ORDER, Kind
from deadheat.core.io.memory_limits import ROW_BYTES
from deadheat.core.io.notes import Ranked
from deadheat.core.io.unpacking import HEAD
from deadheat.core.io.writing import Compression, write_text
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_count, quote_text

FIELDS: dict[Kind, tuple[str, ...]] = {"qrels": ("query_id", "doc_id"), "run": ("query_id", "doc_id", "rank")}
OF_KIND: dict[Kind, str] = {"qrels": "judgments", "run": "runs"}
RANKED = Ranked("ranks of MS MARCO, without scores: in strict order, no ties")
LISTED = "each row is a relevant document: relevance 1"
RANK = re.compile(r"0*[1-9][0-9]{0,14}", re.ASCII)  # 15 digits, which float64 holds
WHERE_RANKS_TIE = (
    "write the header query_id, doc_id, rank above the rows of a .tsv file, and name the format of the qrels alone"
    " (--input-format qrels=msmarco): in such a table equal ranks tie"
)
WHERE_SCORES_ARE = "if it is a score, write the header query_id, doc_id, score above the rows, and read a .tsv file"


def describe_row(fields: Sequence[str], kind: Kind) -> str:
    """Return what a first row is, if it may be one of MS MARCO's; "" if it is not.

    Examples
    --------
    >>> describe_row(["1048585", "7187158", "1"], "run")
    "query, document and rank, as in MS MARCO's runs"
    >>> describe_row(["1048585", "7187158", "0.5"], "run"), describe_row(["question", "chunk"], "qrels")
    ('', '')
    """
    if len(fields) != len(FIELDS[kind]):
        return ""
    if kind == "run":
        return "query, document and rank, as in MS MARCO's runs" if RANK.fullmatch(fields[2]) else ""
    are_ids = all(any(char.isdigit() for char in field) for field in fields)
    return "a query and a relevant document, as MS MARCO has judgments" if are_ids else ""


def read_msmarco(path: Path, kind: Kind, given: Mapping[str, str]) -> Content:
    """Read a file into query_id, doc_id and the value, in file order.

    Raises
    ------
    FileFormatError, DataError
        With the first line that is wrong.
    """
    if path.is_file() and len(_read_first_row(path)) == len(TREC_FIELDS[kind]):
        return read_trec(path, kind, given)
    frames = list(_read_blocks(path, kind))
    rows = pl.concat(frames)
    if rows.is_empty():
        raise DataError(f"{kind} without a single row", allowed=" ".join(FIELDS[kind]), path=path)
    if kind == "qrels":
        return Content(rows.with_columns(relevance=1.0), (LISTED,))
    _check_ranks(rows, path)
    score = -pl.col("rank").cast(pl.Float64)
    return Content(rows.select("query_id", "doc_id", score=score), (RANKED,))


def _read_first_row(path: Path) -> list[bytes]:
    """Return the fields of the first row; none of an empty file."""
    for block in blocks(path, HEAD):
        refuse_binary(block, path)
        for line in block.split(b"\n"):
            fields = line.split()
            if fields:
                return fields
    return []


def _read_blocks(path: Path, kind: Kind) -> Iterator[pl.DataFrame]:
    """Yield the rows of a file block by block: ids, and of a run ranks."""
    first_line = 1
    for block in blocks(path):
        if first_line == 1:
            refuse_binary(block, path)
        n_block_lines = block.count(b"\n")
        check_rows((first_line + n_block_lines) * ROW_BYTES, path)
        rows = _split(block, kind)
        if rows is None:
            rows = _read_lines(block, kind, path, first_line)
        yield rows
        first_line += n_block_lines


def _split(block: bytes, kind: Kind) -> pl.DataFrame | None:
    """Let Polars split a block of whole lines; None if a line of it may be wrong."""
    if not block.strip() or misleads_polars(block):
        return None
    blanks = count_blanks(block)
    if not blanks.are_regular or blanks.n_crlf or (b" " in block and b"\t" in block):
        block = normalize_blanks(block)
        blanks = count_blanks(block)
    schema: dict[str, pl.DataType | type[pl.DataType]] = dict.fromkeys(FIELDS[kind], pl.String)
    if kind == "run":
        schema["rank"] = pl.Int64
    try:
        rows = pl.read_csv(
            block,
            has_header=False,
            separator="\t" if b"\t" in block else " ",
            quote_char=None,
            schema=schema,
            truncate_ragged_lines=True,
        )
    except pl.exceptions.PolarsError:
        return None
    # a blank follows each field, after the last one the newline
    n_expected = rows.height * len(schema) - blanks.lacks_final_newline
    if blanks.n_blanks != n_expected or any(column.has_nulls() for column in rows):
        return None
    if kind == "run" and not rows["rank"].is_between(1, 10**15 - 1).all():
        return None
    if blanks.may_hold_controls and has_control_characters(rows):
        return None
    return rows


def _read_lines(block: bytes, kind: Kind, path: Path, first_line: int) -> pl.DataFrame:
    """Read the lines of a block, or raise the error of the first line that is wrong."""
    rows: list[tuple[str | int, ...]] = []
    for line, raw in enumerate(block.split(b"\n"), first_line):
        text = decode_utf8(raw, path, line).strip()
        # Split the bytes: str.split() also cuts at blanks beyond ASCII, which an id may contain.
        fields = [field.decode() for field in raw.split()]
        if not fields:
            continue
        if len(fields) != len(FIELDS[kind]):
            raise _misfit(fields, text, kind, path, line)
        query_id, doc_id = fields[:2]
        check_ids_of_row(query_id, doc_id, path, line)
        if kind == "run":
            rows.append((query_id, doc_id, _read_rank(fields[2], path, line)))
        else:
            rows.append((query_id, doc_id))
    schema = {name: pl.Int64 if name == "rank" else pl.String for name in FIELDS[kind]}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _misfit(fields: Sequence[str], text: str, kind: Kind, path: Path, line: int) -> FileFormatError:
    """Return the error of a row with another number of fields than those of its kind."""
    allowed = f"{len(FIELDS[kind])} fields ({' '.join(FIELDS[kind])})"
    found = f"{len(fields)}: {quote_text(text)}"
    other = OTHER_KIND[kind]
    if line == 1 and len(fields) in {len(FIELDS[other]), len(TREC_FIELDS[other])}:
        return SwappedFilesError(allowed=f"{kind} of {allowed}", found=found, hint=WRONG_ORDER[kind], path=path, line=1)
    hint = None
    if line == 1:
        hint = f"if it is of another format: --input-format {other}=msmarco is for {OF_KIND[other]} alone"
    return MalformedRowError(allowed=allowed, found=found, hint=hint, path=path, line=line)


def _read_rank(text: str, path: Path, line: int) -> int:
    if RANK.fullmatch(text):
        return int(text)
    hint = WHERE_SCORES_ARE if "." in text else None
    raise DataError("rank must be a whole number from 1 on", given=text, hint=hint, path=path, line=line)


def _check_ranks(rows: pl.DataFrame, path: Path) -> None:
    """Raise if a rank comes twice in a query; warn of gaps, as MS MARCO's script counts ranks as they are written."""
    is_first = (pl.col("query_id") != pl.col("query_id").shift(1)).fill_null(True)  # noqa: FBT003 - Polars' interface
    rank_before = pl.when(is_first).then(0).otherwise(pl.col("rank").shift(1))
    is_next = pl.col("rank") == rank_before + 1
    checked = rows.select("query_id", is_first=is_first, is_next=is_next)
    first_queries = checked.filter("is_first")["query_id"]
    if checked["is_next"].all() and first_queries.n_unique() == len(first_queries):
        return  # 1, 2, 3 and so on: what nearly all files hold is known without grouping
    by_query = rows.group_by("query_id", maintain_order=True).agg(
        n_documents=pl.len(), n_ranks=pl.col("rank").n_unique(), highest=pl.col("rank").max()
    )
    repeated = by_query.filter(pl.col("n_ranks") < pl.col("n_documents"))["query_id"]
    if len(repeated):
        raise _describe_repeated(rows.filter(pl.col("query_id") == repeated[0]), path)
    with_gaps = by_query.filter(pl.col("highest") > pl.col("n_documents"))
    if with_gaps.height:
        query_id, n_documents, _, highest = with_gaps.row(0)
        warnings.warn(
            f"{path}: ranks of {format_count(with_gaps.height, 'query', 'queries')} have gaps (query {query_id!r}:"
            f" {format_count(n_documents, 'document')}, ranks up to {highest:,}): documents count in their order here,"
            " and MS MARCO's script leaves the places between them empty",
            DeadheatWarning,
            stacklevel=3,
        )


def _describe_repeated(rows_of_query: pl.DataFrame, path: Path) -> DuplicateError:
    """Return the error of the first rank that comes twice among the rows of a query."""
    is_repeated = rows_of_query["rank"].is_duplicated()
    rank = rows_of_query.filter(is_repeated)["rank"][0]
    query_id, doc_id, _ = rows_of_query.filter(pl.col("rank") == rank).row(1)
    line = None
    if path.is_file():
        line = locate_msmarco(path, "run", query_id, doc_id, {})[-1]
    return DuplicateError(
        f"rank {rank} comes twice in query {query_id!r}",
        allowed="each rank once",
        hint=f"if these documents tie, {WHERE_RANKS_TIE}",
        path=path,
        line=line,
    )


def locate_msmarco(path: Path, _kind: Kind, query_id: str, doc_id: str, _given: Mapping[str, str]) -> list[int]:
    """Return the 1-based lines that hold this pair."""
    query = query_id.encode()
    doc = doc_id.encode()
    numbers: list[int] = []
    first_line = 1
    for block in blocks(path):
        for number, line in enumerate(block.split(b"\n"), first_line):
            if doc not in line:  # saves splitting most lines
                continue
            fields = line.split()
            is_trec = len(fields) in {len(names) for names in TREC_FIELDS.values()}
            if fields[0] == query and fields[2 if is_trec else 1] == doc:
                numbers.append(number)
        first_line += block.count(b"\n")
    return numbers


def write_msmarco(rows: pl.DataFrame, file: IO[bytes], kind: Kind, _tag: str, compression: Compression) -> None:
    """Write judgments as pairs, or a run with ranks: by score, highest first, and by row where scores tie."""
    if kind == "qrels":
        _refuse_grades(rows)
        fields = pl.format("{}\t{}", "query_id", "doc_id")
    else:
        _warn_of_ties(rows)
        rank = pl.col("score").rank("ordinal", descending=True).over("query_id")
        fields = pl.format("{}\t{}\t{}", "query_id", "doc_id", rank)
    write_text(rows.select(fields), file, compression)


def _refuse_grades(qrels: pl.DataFrame) -> None:
    others = qrels.filter(pl.col("relevance") != 1)
    if others.height:
        query_id, doc_id, relevance = others.select("query_id", "doc_id", "relevance").row(0)
        raise DataError(
            "MS MARCO's judgments are relevant documents without grades",
            found=f"relevance {relevance:g} of document {doc_id!r} for query {query_id!r}",
            hint="write .qrels or .tsv, which have a column for it",
        )


def _warn_of_ties(run: pl.DataFrame) -> None:
    n_tied = int(run.select("query_id", "score").is_duplicated().sum())
    if n_tied:
        warnings.warn(
            f"{format_count(n_tied, 'document')} with the score of another one of their query: their ranks are those"
            " of the rows, as MS MARCO's ranks are a strict order, and the ties are lost",
            DeadheatWarning,
            stacklevel=3,
        )


register(
    Format(
        name="msmarco",
        suffixes=(),
        read=read_msmarco,
        write=write_msmarco,
        locate=locate_msmarco,
        shows_kind=True,
        describe_row=describe_row,
        splits_at=r"[ \t\n\v\f\r\x00]|^\x{FEFF}",  # as of TREC
    )
)
