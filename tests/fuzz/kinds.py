"""The kinds of files that are damaged: how a valid one is made, how deadheat reads it, and what it should say."""

from __future__ import annotations

import atexit
import csv
import gzip
import io
import json
import shutil
import struct
import tempfile
import warnings
import zlib
from abc import abstractmethod
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from unittest.mock import patch
from zipfile import ZIP_DEFLATED, ZipFile

import pyarrow as pa
import pyarrow.parquet as pq

import deadheat as dh
from deadheat.api import blocks
from deadheat.core.data import unread_trec
from deadheat.core.io.records import read_records
from deadheat.core.measures.notation import split_notation
from deadheat.plugins.bench.store import read_finished
from deadheat.plugins.columns import letor
from deadheat.plugins.columns.letor import read_letor
from deadheat.plugins.gates.notation import parse_gate, read_settings
from fuzz import strict
from fuzz.case import Kind
from fuzz.drawings import DrawingSignals, FigureNames
from fuzz.endpoints import Answers, Endpoints, KeptAnswers
from fuzz.mutations import damaged
from fuzz.names import Names
from support.changed_documents import OTHERS, changes, copied, places
from support.changed_saves import change_table, saved_documents, use, write_sealed
from support.parquet_file import Column, File, Page, texts
from support.workbook import write_workbook

if TYPE_CHECKING:
    from random import Random

    from fuzz.strict import Row

IDS = (
    "q1",
    "d1",
    "0880",
    "a b",
    "x,y",
    'say "x"',
    "it's",
    "Müller",
    "日本",
    "1.50",
    "NaN",
    "null",
    "-",
    "#1",
    "HP:0000001",
)
WORDS = tuple(text for text in IDS if " " not in text)
TEXTS = ("", "x", "two words", "a,b", 'the "best"', "two\nlines", "two\r\nlines", "\ttab", "ü")
SCORES = ("1", "2.5", "-3", "0.25", "1e-3", "12", "95", "100.125", "7.", ".5", "+4")
IN_BLOCKS = "-in-blocks"
PACKINGS = (".gz", ".zst")


class Ranking(Kind):
    """A run in one of the formats, sometimes compressed, sometimes damaged after that."""

    @abstractmethod
    def content(self, rng: Random) -> bytes:
        """Return a valid run."""

    @abstractmethod
    def strictly(self, data: bytes) -> list[Row]:
        """Return the rows of a run, or raise `strict.Refused`."""

    def write(self, folder: Path, rng: Random) -> Path:
        data = self.content(rng)
        ending = self.name.removesuffix(IN_BLOCKS)
        packing = rng.choice(("", "", *PACKINGS)) if ending != "parquet" else ""
        late = bool(packing) and rng.random() < 0.25
        if not late and rng.random() < 0.97:  # valid files must be read too
            data = damaged(data, rng)
        data = packed(data, packing, rng)
        path = folder / f"x.{ending}{packing}"
        path.write_bytes(damaged(data, rng) if late else data)
        return path

    def read(self, path: Path) -> list[Row]:
        found = dh.read_run(path, format=self.name).to_polars()
        return [(q, d, repr(score + 0.0)) for q, d, score in found.iter_rows()]

    def expected(self, path: Path) -> list[Row] | None:
        data = unpacked(path.read_bytes())
        try:
            return self.strictly(data)
        except strict.Refused as refused:
            if refused.lines:
                refused.lines |= strict.lines_without_text(data)
            raise


class Trec(Ranking):
    name = "trec"

    def content(self, rng: Random) -> bytes:
        end, rows = rng.choice(("\n", "\n", "\r\n")), _rows(rng, WORDS)
        blank = rng.choice((" ", " ", "\t", "  "))
        return _ended([blank.join((q, "Q0", d, str(n), score, "t")) for n, (q, d, score) in enumerate(rows)], end, rng)

    def strictly(self, data: bytes) -> list[Row]:
        return strict.trec(data)


class TrecInBlocks(Trec):
    """The same runs, read as those that are larger than memory: in blocks, here of a few lines."""

    name = "trec" + IN_BLOCKS

    def read(self, path: Path) -> list[Row]:
        with patch.object(unread_trec, "BLOCK", 40), dh.max_memory(1):
            found = dh.read_run(path, format="trec").to_polars()
        return [(q, d, repr(score + 0.0)) for q, d, score in found.iter_rows()]


class Letor(Ranking):
    name = "letor"

    def content(self, rng: Random) -> bytes:
        names = sorted(rng.sample(range(1, 9), rng.randint(0, 3)))
        lines = []
        for query, doc, relevance in _rows(rng, WORDS):
            own = names if rng.random() < 0.7 else sorted(rng.sample(range(1, 9), rng.randint(0, 3)))
            features = "".join(f" {name}:{rng.choice(SCORES)}" for name in own)
            comment = rng.choice(("", f" # docid = {doc}", f"#docid={doc} inc = 1 prob = 0.2", "# seen"))
            lines.append(f"{relevance} qid:{query}{features}{comment}")
        if rng.random() < 0.2:
            lines.insert(0, "# made by hand")
        return _ended(lines, rng.choice(("\n", "\n", "\r\n")), rng)

    def strictly(self, data: bytes) -> list[Row]:
        return strict.letor(data)

    def read(self, path: Path) -> list[Row]:
        """Return the relevance of each document with its features."""
        found = read_letor(path)
        features = found.matrix(found.names).T.tolist()
        return [
            (query, doc, strict.with_features(relevance, zip(found.names, own, strict=True)))
            for (query, doc, relevance), own in zip(found.rows.iter_rows(), features, strict=True)
        ]


class LetorInBlocks(Letor):
    """The same files, read in blocks of a line or two."""

    name = "letor" + IN_BLOCKS

    def read(self, path: Path) -> list[Row]:
        with patch.object(letor, "blocks", partial(blocks, size=40)):
            return super().read(path)


class PlacedInBlocks(TrecInBlocks):
    """The same runs, placed while they are read: the ranks of judged documents, where half of all are judged."""

    name = "placed" + IN_BLOCKS
    JUDGED: ClassVar = {query: {f"{doc}{n}": 1 for doc in WORDS for n in range(0, 6, 2)} for query in WORDS}

    def write(self, folder: Path, rng: Random) -> Path:
        path = super().write(folder, rng)
        return path.rename(path.with_name(path.name.replace(self.name.removesuffix(IN_BLOCKS), "trec")))

    def read(self, path: Path) -> list[Row]:
        run = dh.read_run(path, format="trec")
        with patch.object(unread_trec, "BLOCK", 40), dh.max_memory(1):
            in_blocks = dh.read_run(path, format="trec")
            in_blocks.check_duplicates()
            found = dh.place(self.JUDGED, in_blocks).to_polars()
        run.check_duplicates()
        held = dh.place(self.JUDGED, run).to_polars()
        assert held.equals(found), f"in blocks {found.rows()}, held {held.rows()}"
        return [(query, doc, f"{above} {tied}") for query, doc, _, above, tied in found.iter_rows()]

    def expected(self, path: Path) -> list[Row] | None:
        """Return the ranks by the definition."""
        rows = Ranking.expected(self, path) or []
        if len({row[:2] for row in rows}) < len(rows):
            raise strict.Refused("a document twice")
        if not any(query in self.JUDGED for query, *_ in rows):
            raise strict.Refused("no query with judgments")
        return strict.ranked(rows, self.JUDGED)


class Table(Ranking):
    separator: ClassVar[str]

    def content(self, rng: Random) -> bytes:
        names = (
            rng.sample(["query_id", "doc_id", "score"], 3) if rng.random() < 0.5 else ["query_id", "doc_id", "score"]
        )
        unread = rng.sample(["rank", "text", "note"], rng.randint(0, 3))
        for name in unread:
            names.insert(rng.randint(0, len(names)), name)
        texts = TEXTS if rng.random() < 0.3 else ("x", "1", "a")
        file = io.StringIO(newline="")
        writer = csv.writer(
            file,
            delimiter=self.separator,
            quoting=rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL)),
            lineterminator=rng.choice(("\n", "\n", "\r\n")),
        )
        writer.writerow(names)
        for n, (query, doc, score) in enumerate(_rows(rng, IDS)):
            row = {"query_id": query, "doc_id": doc, "score": score, "rank": str(n)}
            writer.writerow([row.get(name) or rng.choice(texts) for name in names])
        text = file.getvalue()
        return (text if rng.random() < 0.7 else text.rstrip("\r\n")).encode()

    def strictly(self, data: bytes) -> list[Row]:
        return strict.table(data, self.separator)


class Csv(Table):
    name, separator = "csv", ","


class Tsv(Table):
    name, separator = "tsv", "\t"

    def strictly(self, data: bytes) -> list[Row]:
        """Read TREC with tabs where the first line has no name of a column, and four or six fields."""
        first = next((line for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()), b"")
        fields = {field.strip(b' "') for field in first.strip(b"\r").split(b"\t")}
        known = {name.encode() for names in (strict.QUERY, strict.DOC, strict.SCORE) for name in names}
        known |= {b"relevance", b"label", b"rel", b"relevance_label"}
        is_trec = first.count(b"\t") in {3, 5} and not known & fields
        try:
            return strict.trec(data) if is_trec else super().strictly(data)
        except strict.Refused as refused:  # a carriage return that ends no line is looked for first
            lines = enumerate(data.split(b"\n"), 1)
            refused.lines |= {n for n, line in lines if refused.lines and b"\r" in line.removesuffix(b"\r")}
            raise


class JsonLines(Ranking):
    name = "jsonl"

    def content(self, rng: Random) -> bytes:
        names = rng.choice((("query_id", "doc_id"), ("qid", "docno")))
        lines = []
        for query, doc, score in _rows(rng, IDS):
            row: dict[str, object] = {names[0]: query, names[1]: doc, "score": float(score)}
            if rng.random() < 0.2:
                row[rng.choice(names)] = rng.choice((7, 0, 123))
            if rng.random() < 0.3:
                row["text"] = rng.choice(TEXTS)
            lines.append(json.dumps(row, ensure_ascii=rng.random() < 0.5))
        return _ended(lines, rng.choice(("\n", "\n", "\r\n")), rng)

    def strictly(self, data: bytes) -> list[Row]:
        return strict.json_lines(data)


class Json(Ranking):
    name = "json"

    def content(self, rng: Random) -> bytes:
        run: dict[str, dict[str, float]] = {}
        for query, doc, score in _rows(rng, IDS):
            run.setdefault(query, {})[doc] = float(score)
        return json.dumps(run, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 1))).encode()

    def strictly(self, data: bytes) -> list[Row]:
        return strict.nested(data)


class Parquet(Ranking):
    name = "parquet"
    may_refuse = True

    def content(self, rng: Random) -> bytes:
        queries, docs, scores = zip(*_rows(rng, IDS), strict=True)
        file = io.BytesIO()
        table = pa.table(
            {
                "query_id": pa.array(queries, rng.choice((pa.string(), pa.large_string()))),
                "doc_id": pa.array(docs),
                "score": pa.array([float(score) for score in scores], rng.choice((pa.float64(), pa.float32()))),
            }
        )
        compression = rng.choice(("NONE", "SNAPPY", "ZSTD", "GZIP"))
        pq.write_table(table, file, compression=compression, use_dictionary=rng.random() < 0.5)
        return file.getvalue()

    def read(self, path: Path) -> list[Row]:
        return [(q, d, repr(score + 0.0)) for q, d, score in dh.read_run(path).to_polars().iter_rows()]

    def expected(self, path: Path) -> list[Row] | None:
        """Return the rows that PyArrow reads; what it refuses may be a part of the file that nobody needs."""
        try:
            table = pq.read_table(io.BytesIO(path.read_bytes()), columns=["query_id", "doc_id", "score"])
            rows = [tuple(row.values()) for row in table.to_pylist()]
        except Exception:  # noqa: BLE001 - whatever PyArrow raises
            return None
        if any(None in row for row in rows):
            raise strict.Refused("a null")
        texts = ((*(_decoded(one) for one in (query, doc)), score) for query, doc, score in rows)
        return [(query, doc, repr(float(score) + 0.0)) for query, doc, score in texts]

    def strictly(self, data: bytes) -> list[Row]:
        raise NotImplementedError


class ParquetInBlocks(Parquet):
    """The same runs, read as those that are larger than memory."""

    name = "parquet" + IN_BLOCKS

    def read(self, path: Path) -> list[Row]:
        with dh.max_memory(1):
            return super().read(path)


class ParquetByHand(Kind):
    """A run whose footer and headers of pages say other sizes than it has, or name the same pages again and again."""

    name = "parquet-by-hand"
    SIZES = (-1, 0, 1, 2, 7, 100, 1 << 20, 2**31 - 1, 2**31, 2**32, 2**48, 2**62)

    def write(self, folder: Path, rng: Random) -> Path:
        file = File([self._group(rng) for _ in range(rng.choice((1, 2, 5)))])
        file.n_rows = [columns[0].pages[0].n_values for columns in file.groups]
        path = folder / "valid.parquet"
        if rng.random() < 0.95:
            path = folder / "x.parquet"
            for _ in range(rng.choice((1, 1, 2, 4))):
                self._change(file, rng)
        path.write_bytes(file.written())
        return path

    def _group(self, rng: Random) -> list[Column]:
        queries, docs, scores = zip(*_rows(rng, WORDS), strict=True)
        contents = {"query_id": texts(queries), "doc_id": texts(docs)}
        contents["score"] = struct.pack(f"{len(scores)}d", *map(float, scores))
        return [Column(name, [Page(content, len(scores))]) for name, content in contents.items()]

    def _change(self, file: File, rng: Random) -> None:
        size = rng.choice(self.SIZES) + rng.choice((0, 0, -1, 1))
        column = rng.choice(rng.choice(file.groups))
        kind = rng.randrange(9)
        if kind == 8 and column.pages:
            column.pages[0].encoding = rng.randrange(12)
        elif kind == 0:
            file.n_rows[rng.randrange(len(file.n_rows))] = size
            file.total = rng.choice((None, size))
        elif kind == 1:
            file.groups += [[replace(one, start=4, pages=[]) for one in file.groups[0]]] * rng.choice((1, 1_000))
            file.n_rows += [file.n_rows[0]] * (len(file.groups) - len(file.n_rows))
        elif kind <= 4:
            setattr(column, rng.choice(("n_values", "codec", "start", "size")), size)
        elif column.pages:
            setattr(column.pages[0], rng.choice(("n_values", "n_unpacked", "n_packed")), size)

    def read(self, path: Path) -> list[Row]:
        found = dh.read_run(path).to_polars().rows()
        with dh.max_memory(1):
            assert dh.read_run(path).to_polars().rows() == found
        with suppress(dh.DeadheatError):
            read_records(path)
        return [(query, doc, repr(score + 0.0)) for query, doc, score in found]

    def expected(self, path: Path) -> list[Row] | None:
        """Return the rows of what was not changed."""
        if path.name != "valid.parquet":
            return None
        rows = pq.read_table(path).to_pylist()
        return [(row["query_id"], row["doc_id"], repr(row["score"] + 0.0)) for row in rows]


class LongIds(Kind):
    """Parquet of a few kilobytes whose ids are long, and in many rows; as text, and as categories."""

    name = "long-ids"

    def write(self, folder: Path, rng: Random) -> Path:
        n_rows, length = rng.choice(((10, 10), (2_000, 10_000), (5_000, 1_000_000), (10, 1_000_000)))
        docs = pa.DictionaryArray.from_arrays(pa.array([0] * n_rows, pa.int32()), pa.array(["x" * length]))
        columns = {"query_id": pa.array([f"q{n}" for n in range(n_rows)]), "score": pa.array([1.0] * n_rows)}
        columns["doc_id"] = docs.dictionary_decode() if length * n_rows < 10**8 and rng.random() < 0.5 else docs
        path = folder / "x.parquet"
        pq.write_table(pa.table(columns), path, compression="zstd", dictionary_pagesize_limit=1 << 24)
        return path

    def read(self, path: Path) -> None:
        dh.read_run(path)
        read_records(path)


class Sheet(Kind):
    """A workbook: its bytes or a part of it are damaged, its header is long, or a part of it unpacks to very much."""

    name = "xlsx"

    def write(self, folder: Path, rng: Random) -> Path:
        path = folder / "x.xlsx"
        n_columns = rng.choice((2, 2, 5, 3_000))
        rows: dict[int, list[object]] = {1: [f"c{n}" for n in range(n_columns)]}
        for line in range(2, rng.choice((3, 10, 3_000))):
            rows[line] = [rng.choice((*TEXTS, None, 7, 0.5, True)) for _ in range(rng.randint(0, 3))]
        write_workbook(path, {"A": rows, **({"B": {1: ["x"]}} if rng.random() < 0.2 else {})})
        if rng.random() < 0.3:
            path.write_bytes(damaged(path.read_bytes(), rng))
            return path
        with ZipFile(path) as book:
            parts = {one: book.read(one) for one in book.namelist()}
        part = rng.choice(sorted(parts))
        if rng.random() < 0.8:
            parts[part] = damaged(parts[part], rng)
        elif rng.random() < 0.3:
            parts[part] = parts[part].replace(b"<sheetData>", b"<sheetData>" + b"<row/>" * 2_000_000)
        with ZipFile(path, "w", ZIP_DEFLATED) as book:
            for one, data in parts.items():
                book.writestr(one, data)
        return path

    def read(self, path: Path) -> None:
        read_records(path).frame  # noqa: B018 - made when it is asked for


class Members(Trec):
    """A compressed run in many members, some of them without content, with zeros or other bytes between them."""

    name = "trec-members"
    may_refuse = True
    LONG = "long"

    def write(self, folder: Path, rng: Random) -> Path:
        packing = rng.choice(PACKINGS)
        lines = self.content(rng).splitlines(keepends=True)
        path = folder / f"x.trec{packing}"
        if rng.random() < 0.1:
            path = folder / f"{self.LONG}.trec{packing}"
            lines.append(rng.choice((b"\n", b" \n", b"# a\n")) * rng.choice((1_000, 100_000_000)))
        members = []
        for line in lines:
            members.append(packed(line, packing, rng))
            if rng.random() < 0.2:
                members.append(packed(b"", packing, rng) * rng.choice((1, 100, 20_000)))
            if rng.random() < 0.1 and packing == ".gz":
                members.append(b"\0" * rng.choice((1, 511, 512, 513, 100_000)))
        data = b"".join(members)
        path.write_bytes(damaged(data, rng) if rng.random() < 0.3 else data)
        return path

    def expected(self, path: Path) -> list[Row] | None:
        return None if path.name.startswith(self.LONG) else super().expected(path)


class LabelledCases(Kind):
    name = "cases"

    def write(self, folder: Path, rng: Random) -> Path:
        cases = [
            {"case_id": f"c{n}", "text": text, "expected_ids": rng.sample(["T:1", "T:2", "T:3"], 2), "language": "en"}
            for n, text in enumerate(("fever", "high fever", "a, b"))
        ]
        ending = rng.choice(("json", "jsonl", "csv", "tsv"))
        if ending == "json":
            text = json.dumps({"metadata": {"dataset_id": "x"}, "cases": cases}, indent=rng.choice((None, 1)))
        elif ending == "jsonl":
            text = "".join(json.dumps(case) + "\n" for case in cases)
        else:
            file = io.StringIO()
            writer = csv.DictWriter(file, list(cases[0]), delimiter="," if ending == "csv" else "\t")
            writer.writeheader()
            writer.writerows({**case, "expected_ids": "|".join(case["expected_ids"])} for case in cases)
            text = file.getvalue()
        packing = rng.choice(("", "", *PACKINGS))
        path = folder / f"x.{ending}{packing}"
        path.write_bytes(packed(damaged(text.encode(), rng), packing, rng))
        return path

    def read(self, path: Path) -> None:
        from deadheat.plugins.bench.cases import validate

        validate(path)
        dh.read_cases(path)


class Ontology(Kind):
    name = "ontology"
    OBO = "format-version: 1.4\n\n[Term]\nid: T:1\nname: all\n\n" + "".join(
        f'[Term]\nid: T:{n}\nname: term {n}\nsynonym: "t {n}" EXACT []\nis_a: T:{n // 2} ! parent\n\n'
        for n in range(2, 7)
    )

    def write(self, folder: Path, rng: Random) -> Path:
        if rng.random() < 0.7:
            ending, text = "obo", self.OBO
        else:
            nodes = [
                {"id": f"http://purl.obolibrary.org/obo/T_{n}", "lbl": f"t {n}", "type": "CLASS"} for n in range(1, 5)
            ]
            edges = [{"sub": node["id"], "pred": "is_a", "obj": nodes[0]["id"]} for node in nodes[1:]]
            ending, text = "json", json.dumps({"graphs": [{"id": "x", "nodes": nodes, "edges": edges}]})
        path = folder / f"x.{ending}"
        path.write_bytes(damaged(text.encode(), rng))
        return path

    def read(self, path: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dh.DeadheatWarning)
            dh.read_ontology(path)


class Document(Kind):
    """A JSON document of another tool; its bytes are damaged, or a part of it is of another type, or gone.

    Attributes
    ----------
    holds : {"qrels", "run"}
    """

    holds: ClassVar[str] = "run"

    @abstractmethod
    def document(self, ratings: dict[str, dict[str, float]], rng: Random) -> Any:  # noqa: ANN401 - JSON
        """Return a valid document with these numbers."""

    @staticmethod
    def strictly(data: bytes) -> list[Row] | None:  # noqa: ARG004 - as those of kinds
        """Return the rows of a document, raise `strict.Refused`, or return None for what may be read or refused."""
        return None

    def content(self, rng: Random) -> bytes:
        ratings: dict[str, dict[str, float]] = {}
        for query, doc, score in _rows(rng, WORDS):
            ratings.setdefault(query, {})[doc] = float(score)
        document = self.document(ratings, rng)
        kind = rng.random()
        if kind < 0.4:
            document = rng.choice(list(changes(document)))
        data = json.dumps(document, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 1))).encode()
        return damaged(data, rng) if kind > 0.45 else data

    def write(self, folder: Path, rng: Random) -> Path:
        packing = rng.choice(("", "", *PACKINGS))
        path = folder / f"x.json{packing}"
        path.write_bytes(packed(self.content(rng), packing, rng))
        return path

    def read(self, path: Path) -> list[Row]:
        read = dh.read_qrels if self.holds == "qrels" else dh.read_run
        return _sorted_rows(read(path).to_dict())

    def expected(self, path: Path) -> list[Row] | None:
        data = unpacked(path.read_bytes())
        try:
            rows = self.strictly(data)
        except strict.Refused as refused:
            if refused.lines:
                refused.lines |= strict.lines_without_text(data)
            raise
        return None if rows is None else sorted(rows)


class RankEvalRequest(Document):
    name, holds = "rank-eval-request", "qrels"

    def document(self, ratings: dict[str, dict[str, float]], _: Random) -> Any:  # noqa: ANN401 - JSON
        return {
            "requests": [
                {
                    "id": query,
                    "request": {"query": {"match": {"text": query}}},
                    "ratings": [{"_index": "i", "_id": doc, "rating": n} for doc, n in own.items()],
                }
                for query, own in ratings.items()
            ],
            "metric": {"precision": {"k": 10}},
        }

    strictly = staticmethod(strict.rank_eval_request)


class RankEvalResponse(Document):
    name = "rank-eval-response"

    def document(self, ratings: dict[str, dict[str, float]], rng: Random) -> Any:  # noqa: ANN401 - JSON
        details = {
            query: {
                "metric_score": 0.5,
                "unrated_docs": [],
                "hits": [
                    {"hit": {"_index": "i", "_id": doc, "_score": n}, "rating": rng.choice((None, 1))}
                    for doc, n in own.items()
                ],
            }
            for query, own in ratings.items()
        }
        return {"metric_score": 0.5, "details": details, "failures": rng.choice(({}, {"q9": {"error": {}}}))}

    strictly = staticmethod(strict.rank_eval_response)


class Searches(Document):
    name = "searches"

    def document(self, ratings: dict[str, dict[str, float]], _: Random) -> Any:  # noqa: ANN401 - JSON
        return {query: response(own) for query, own in ratings.items()}

    strictly = staticmethod(strict.searches)


class Judgments(Document):
    name, holds = "opensearch-judgments", "qrels"

    def document(self, ratings: dict[str, dict[str, float]], rng: Random) -> Any:  # noqa: ANN401 - JSON
        found = {
            "name": "mine",
            "judgmentRatings": [
                {"query": query, "ratings": [{"docId": doc, "rating": str(n)} for doc, n in own.items()]}
                for query, own in ratings.items()
            ],
        }
        return found if rng.random() < 0.5 else {"took": 1, "hits": {"hits": [{"_id": "j", "_source": found}]}}


class Quepid(Document):
    name, holds = "quepid", "qrels"

    def document(self, ratings: dict[str, dict[str, float]], rng: Random) -> Any:  # noqa: ANN401 - JSON
        if rng.random() < 0.5:
            return {"queries": [{"query": query, "ratings": own} for query, own in ratings.items()]}
        lists = {
            query: [{"doc_id": doc, "rating": rng.choice((n, n, None))} for doc, n in own.items()]
            for query, own in ratings.items()
        }
        return {"case_name": "mine", "queries": [{"query_text": query, "ratings": own} for query, own in lists.items()]}

    strictly = staticmethod(strict.quepid)


class QuepidTable(Table):
    """The tables of Quepid; what they may lack, and how they quote, only deadheat looks at."""

    name, separator = "quepid-table", ","

    def content(self, rng: Random) -> bytes:
        header = "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating"
        rows = [f"t,mine,1,{query},{doc},{n},text,3" for n, (query, doc, _) in enumerate(_rows(rng, WORDS), 1)]
        return _ended([header, *rows], "\r\n", rng)

    def write(self, folder: Path, rng: Random) -> Path:
        return (path := super().write(folder, rng)).rename(path.with_name(path.name.replace(self.name, "csv")))

    def read(self, path: Path) -> list[Row]:
        for read in (dh.read_run, dh.read_qrels):
            with suppress(dh.DeadheatError):
                read(path).to_dict()
        return []

    def expected(self, _: Path) -> None:
        return None


class Predictions(Document):
    name = "mteb-predictions"

    def document(self, ratings: dict[str, dict[str, float]], rng: Random) -> Any:  # noqa: ANN401 - JSON
        splits = {"test": ratings, **({"dev": ratings} if rng.random() < 0.3 else {})}
        return {"mteb_model_meta": {"model_name": "m"}, "default": splits}


class FolderOfResponses(Kind):
    """A folder with the response to one search in each file, of which one is damaged."""

    name = "folder-of-responses"

    def write(self, folder: Path, rng: Random) -> Path:
        inner = folder / "searches"
        inner.mkdir()
        for query in rng.sample(WORDS, rng.randint(1, 3)):
            own = {doc: float(score) for _, doc, score in _rows(rng, WORDS)}
            (inner / f"{query}.json").write_text(json.dumps(response(own)), encoding="utf-8")
        _damage_one(inner, rng)
        return inner

    def read(self, path: Path) -> list[Row]:
        return _sorted_rows(dh.read_run(path).to_dict())

    def expected(self, path: Path) -> list[Row] | None:
        found: list[Row] = []
        for one in path.glob("*.json"):
            rows = strict.response(one.name.removesuffix(".json"), one.read_bytes())
            if rows is None:
                return None
            found += rows
        return sorted(found)


class FolderOfBeir(Kind):
    """A data set of BEIR: qrels in a table, and a collection and queries that qrels do not need."""

    name = "folder-of-beir"

    def write(self, folder: Path, rng: Random) -> Path:
        (folder / "qrels").mkdir()
        rows = _rows(rng, WORDS)
        for split in rng.choice((["test"], ["test", "dev"], ["dev"])):
            text = "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{d}\t{n}\n" for n, (q, d, _) in enumerate(rows))
            (folder / "qrels" / f"{split}.tsv").write_text(text, encoding="utf-8")
        (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": "x"}\n', encoding="utf-8")
        _damage_one(folder, rng)
        return folder

    def read(self, path: Path) -> list[Row]:
        qrels = dh.read_qrels(path)
        qrels.check_duplicates()
        return _sorted_rows(qrels.to_dict())

    def expected(self, path: Path) -> list[Row] | None:
        file = path / "qrels" / ("test.tsv" if (path / "qrels" / "test.tsv").exists() else "dev.tsv")
        try:
            rows = strict.judgments(file.read_bytes())
        except strict.Refused as refused:
            if refused.lines:
                refused.lines |= strict.lines_without_text(file.read_bytes())
            raise
        return None if rows is None else sorted(rows)


class FolderOfBench(Kind):
    """What a benchmark leaves: every file of it is damaged in turn, and read as ``deadheat report`` does."""

    name = "folder-of-bench"
    may_refuse = True

    def write(self, folder: Path, rng: Random) -> Path:
        inner = folder / "bench"
        shutil.copytree(_bench(), inner)
        _damage_one(inner, rng)
        return inner

    def read(self, path: Path) -> None:
        parts, _, _, _, _ = read_finished(path)
        for found in parts:
            for one in found.evaluations.values():
                one.means()
            for run in found.runs.values():
                run.to_polars()


class State(Kind):
    """The saved state of an accumulator."""

    name = "state"

    def write(self, folder: Path, rng: Random) -> Path:
        path = folder / "x.json"
        accumulator = dh.Accumulator(["RR", "nDCG@10"])
        accumulator.add([[0.9, 0.1, 0.1], [0.2, 0.3, 0.3]], [[0], [2]])
        accumulator.save(path)
        path.write_bytes(damaged(path.read_bytes(), rng))
        return path

    def read(self, path: Path) -> None:
        accumulator = dh.Accumulator(["RR", "nDCG@10"])
        accumulator.resume(path)
        accumulator.means()


class Gates(Kind):
    """A TOML file with gates."""

    name = "gates"
    TOML = (
        '[tool.deadheat.gates]\nchecks = ["nDCG@10 >= 0.8", "each(language): low(RR) > .7", "P(rel=2)@5 >= 0.3"]\n'
        'preset = "rag"\nby = ["language"]\nalpha = 0.05\nno_regression = true\nno_worse_than = 0.01\n'
    )

    def write(self, folder: Path, rng: Random) -> Path:
        path = folder / "x.toml"
        path.write_bytes(damaged(self.TOML.encode(), rng))
        return path

    def read(self, path: Path) -> None:
        read_settings(path)


class Notation(Kind):
    """Measures and gates as people type them."""

    name = "notation"
    WRITTEN = (
        *("nDCG@10", "P(rel=2)@5", "nDCG(gain='exp', discount='zipf(1, 0)')@5", "nDCG(gain={1: 1, 2: 3})@10"),
        *("ndcg_cut_10", "iprec_at_recall_0.10", "RBP(p=0.8)", "low(RR) > 0.7", "each(a, b): P_05 >= .5", "hit rate@3"),
    )

    def write(self, folder: Path, rng: Random) -> Path:
        path = folder / "x.txt"
        path.write_bytes(damaged(" ".join(rng.sample(self.WRITTEN, 2)).encode(), rng))
        return path

    def read(self, path: Path) -> None:
        text = path.read_bytes().decode("utf-8", "replace")
        with suppress(dh.DeadheatError):
            parse_gate(text)
        for one in split_notation(text):
            measure = dh.parse_measure(one)
            again = dh.parse_measure(str(measure))
            assert measure == again, f"{one!r} is {measure}, and that is {again}"


class Saved(Kind):
    """A saved evaluation: every file that saving makes is damaged in turn."""

    name = "saved"

    def write(self, folder: Path, rng: Random) -> Path:
        path = folder / "x.json"
        dh.evaluate(
            {"q": {"a": 1}, "r": {"b": 2}}, {"q": {"a": 1.0, "b": 1.0}, "r": {"b": 3.0}}, ["RR", "nDCG@10"]
        ).save(path)
        target = rng.choice(sorted(folder.iterdir()))
        target.write_bytes(damaged(target.read_bytes(), rng))
        return path

    def read(self, path: Path) -> None:
        evaluation = dh.load_evaluation(path)
        evaluation.means()
        evaluation.to_polars()


class SealedSave(Kind):
    """A saved evaluation with other values or another table, by someone who knows how its hash is made."""

    name = "sealed-save"
    may_refuse = True

    def write(self, folder: Path, rng: Random) -> Path:
        document = json.loads(rng.choice(saved_documents()))
        for _ in range(rng.randint(0, 2)):
            change_table(document, rng)
        if rng.random() < 0.5:
            *way, key = rng.choice(list(places(document)))
            document, inner = copied(document, way)
            inner[key] = rng.choice(OTHERS)
        path = folder / "x.json"
        write_sealed(document, path)
        return path

    def read(self, path: Path) -> None:
        use(path)


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        *(Trec(), TrecInBlocks(), PlacedInBlocks(), Letor(), LetorInBlocks(), Csv(), Tsv(), JsonLines(), Json()),
        *(Parquet(), ParquetInBlocks(), RankEvalRequest(), RankEvalResponse(), Searches(), Judgments(), Quepid()),
        *(QuepidTable(), Predictions(), FolderOfResponses(), FolderOfBeir(), FolderOfBench(), LabelledCases()),
        *(Ontology(), Saved(), SealedSave(), State(), Gates(), Notation()),
        *(Names(), Answers(), Endpoints(), KeptAnswers()),
        *(ParquetByHand(), LongIds(), Sheet(), Members()),
        *(FigureNames(), DrawingSignals()),
    )
}


def response(documents: dict[str, float]) -> Any:  # noqa: ANN401 - JSON
    """Return the response of a search engine."""
    hits = [{"_index": "i", "_id": doc, "_score": score} for doc, score in documents.items()]
    return {"took": 3, "timed_out": False, "_shards": {"total": 1, "failed": 0}, "hits": {"hits": hits}}


@cache
def _bench() -> Path:
    """Return the folder of a finished benchmark."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with warnings.catch_warnings(action="ignore"):
        (folder / "cases.csv").write_text("case_id,text,expected_ids\nc1,fever,D1\nc2,cough,D2\n")
        (folder / "docs.csv").write_text("id,name\nD1,fever and chills\nD2,cough\nD3,feverish cough\n")
        dh.bench(folder / "cases.csv", folder / "docs.csv", ["bm25"], measures=["RR"], output=folder / "results")
    return folder / "results"


def _damage_one(folder: Path, rng: Random) -> None:
    target = rng.choice(sorted(one for one in folder.rglob("*") if one.is_file() and not one.name.startswith(".")))
    if rng.random() < 0.9:
        target.write_bytes(damaged(target.read_bytes(), rng))


def _sorted_rows(held: dict[str, dict[str, float]]) -> list[Row]:
    return sorted((q, d, repr(float(number) + 0.0)) for q, documents in held.items() for d, number in documents.items())


def packed(data: bytes, packing: str, rng: Random) -> bytes:
    """Return compressed bytes, sometimes in several members."""
    if not packing:
        return data
    cut = rng.choice((0, 0, rng.randint(0, len(data))))
    parts = (data[:cut], data[cut:]) if cut else (data,)
    if packing == ".gz":
        return b"".join(gzip.compress(part, mtime=0) for part in parts)
    return b"".join(pa.Codec("zstd").compress(part).to_pybytes() for part in parts)


def unpacked(data: bytes) -> bytes:
    """Return the content of bytes that may be compressed, as Python and PyArrow unpack them."""
    try:
        if data.startswith(b"\x1f\x8b"):
            _check_flags(data)
            return gzip.decompress(data)
        if data.startswith(b"\x28\xb5\x2f\xfd"):
            return pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()
    except (OSError, EOFError, zlib.error) as error:
        raise strict.Refused(f"damaged: {error}") from error
    return data


def _decoded(given: object) -> str:
    """Return an id; a column that is not marked as text has the bytes of one."""
    return given.decode() if isinstance(given, bytes) else str(given)


def _check_flags(data: bytes) -> None:
    """Refuse flags that RFC 1952 reserves: a reader must, and Python's gzip does not."""
    while data.startswith(b"\x1f\x8b"):
        member = zlib.decompressobj(wbits=31)
        member.decompress(data)
        data = member.unused_data


def _rows(rng: Random, ids: tuple[str, ...]) -> list[tuple[str, str, str]]:
    return [(rng.choice(ids), f"{rng.choice(ids)}{n}", rng.choice(SCORES)) for n in range(rng.randint(1, 6))]


def _ended(lines: list[str], end: str, rng: Random) -> bytes:
    return (end.join(lines) + (end if rng.random() < 0.7 else "")).encode()
