"""Collections: documents from ontologies and tables, and what is refused with which message."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat import Collection
from deadheat.errors import (
    ColumnError,
    DataError,
    DeadheatWarning,
    DuplicateError,
    FileFormatError,
    MalformedRowError,
    ParameterError,
    SourceTypeError,
)
from deadheat.plugins.bench.ontology import Ontology, Synonym
from support.error_parts import raises_parts
from support.shared_data import SHARED, needs_shared_data

if TYPE_CHECKING:
    from pathlib import Path

HPO = SHARED / "data" / "hpo" / "ontology" / "hp-2025-01-16.obo.gz"
TERMS = Ontology.from_parents(
    {"T:1": [], "T:2": ["T:1"]},
    labels={"T:1": "Root", "T:2": "Seizure"},
    synonyms={"T:2": [Synonym("Fits"), Synonym("SEIZURE"), Synonym("Attack", "BROAD")]},
)
OBO = """format-version: 1.2
ontology: t

[Term]
id: T:1
name: Root

[Term]
id: T:2
name: Seizure
synonym: "Fits" EXACT []
synonym: "Attack" BROAD []
is_a: T:1

[Term]
id: T:3
name: gone
is_obsolete: true
"""
GRAPHS = {
    "graphs": [
        {
            "id": "t",
            "nodes": [
                {"id": "T:1", "lbl": "Root", "type": "CLASS"},
                {
                    "id": "T:2",
                    "lbl": "Seizure",
                    "type": "CLASS",
                    "meta": {"synonyms": [{"pred": "hasExactSynonym", "val": "Fits"}]},
                },
            ],
            "edges": [{"sub": "T:2", "pred": "is_a", "obj": "T:1"}],
        }
    ]
}


def written(folder: Path, text: str, name: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_an_object_that_speaks_of_graphs_is_no_ontology(tmp_path: Path) -> None:
    text = json.dumps({"documents": [{"id": "1", "text": "graphs"}, {"id": "2", "text": '"graphs":'}]})
    with raises_parts(MalformedRowError, line=1, found="an object with 'documents'"):
        dh.read_collection(written(tmp_path, text, "d.json"))
    assert dh.read_collection(written(tmp_path, json.dumps({"version": 1} | GRAPHS), "o.json")).ids == ("T:1", "T:2")


def content(collection: dh.Collection) -> list[tuple[str, str, tuple[str, ...]]]:
    return list(zip(collection.ids, collection.texts, collection.synonyms, strict=True))


BOTH = [("a", "Seizure", ("Fits", "Attack")), ("007", "Tremor, fine", ())]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("d.csv", 'doc_id,text,synonyms,more\na,Seizure,Fits|Attack,1\n007,"Tremor, fine",,2\n'),
        ("d.tsv", "_id\tname\tsynonyms\na\tSeizure\tFits | Attack\n007\tTremor, fine\t\n"),
        (
            "d.jsonl",
            '{"_id": "a", "title": "Seizure", "synonyms": ["Fits", "Attack"]}\n{"_id": "007", "title": "Tremor, fine"}',
        ),
        (
            "d.json",
            '[{"id": "a", "label": "Seizure", "synonyms": "Fits|Attack"}, {"id": "007", "label": "Tremor, fine"}]',
        ),
    ],
)
def test_tables(name: str, text: str, tmp_path: Path) -> None:
    collection = dh.read_collection(written(tmp_path, text, name))
    assert content(collection) == BOTH
    assert repr(collection) == "<Collection d: 2 documents, 2 synonyms>"
    assert len(collection) == 2
    bare = dh.read_collection(tmp_path / name, synonyms="none")
    assert bare.synonyms == ((), ())
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert dh.read_collection(packed).fingerprint == collection.fingerprint != bare.fingerprint


def test_parquet(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"id": ["a", "007"], "text": ["Seizure", "Tremor, fine"], "synonyms": [["Fits", "Attack"], None]}
    )
    frame.write_parquet(tmp_path / "d.parquet")
    assert content(dh.read_collection(tmp_path / "d.parquet")) == BOTH
    pl.DataFrame({"id": [1, 2], "text": ["x", "y"]}).write_parquet(tmp_path / "n.parquet")
    assert dh.read_collection(tmp_path / "n.parquet").ids == ("1", "2")


def test_text_is_preferred_to_a_title(tmp_path: Path) -> None:
    path = written(tmp_path, "id,title,text\na,headline,words\n", "d.csv")
    assert dh.read_collection(path).texts == ("words",)


def test_strings_have_the_text_first_and_no_synonym_like_it() -> None:
    collection = dh.read_collection(TERMS, name="terms")
    strings, documents = collection.strings()
    assert strings == ["Root", "Seizure", "Fits"]
    assert np.array_equal(documents, [0, 1, 1])
    assert dh.read_collection(TERMS, synonyms="all").strings()[0] == ["Root", "Seizure", "Fits", "Attack"]
    assert dh.read_collection(TERMS, synonyms="none").strings()[0] == ["Root", "Seizure"]


def test_the_fingerprint_is_of_the_content() -> None:
    first, second = (dh.Collection(name, ("a", "b"), ("x", "y"), ((), ("z",))) for name in ("one", "two"))
    assert first.fingerprint == second.fingerprint
    for other in (
        dh.Collection("one", ("a", "b"), ("x", "y"), (("z",), ())),
        dh.Collection("one", ("b", "a"), ("y", "x"), (("z",), ())),
        dh.Collection("one", ("a", "b"), ("x", "y z"), ((), ())),
    ):
        assert other.fingerprint != first.fingerprint


def test_terms_without_a_label_are_left_out_and_said() -> None:
    terms = Ontology.from_parents({"T:1": [], "T:2": ["T:1"]}, labels={"T:1": "Root"})
    with pytest.warns(DeadheatWarning, match=r"ontology: 1 terms have no label, such as 'T:2', and are left out"):
        assert dh.read_collection(terms).ids == ("T:1",)
    with raises_parts(DataError, allowed="at least one", problem="no term with a label among 1"):
        dh.read_collection(Ontology.from_parents({"T:1": []}))


@pytest.mark.parametrize(("name", "text"), [("t.obo", OBO), ("t.json", json.dumps(GRAPHS))])
def test_ontologies(name: str, text: str, tmp_path: Path) -> None:
    pytest.importorskip("pronto", reason="an ontology is read by pronto (deadheat[ontology])")
    collection = dh.read_collection(written(tmp_path, text, name))
    assert content(collection) == [("T:1", "Root", ()), ("T:2", "Seizure", ("Fits",))]
    assert collection.name == "t"


@pytest.mark.slow
@needs_shared_data
def test_hpo() -> None:
    pytest.importorskip("pronto", reason="an ontology is read by pronto (deadheat[ontology])")
    collection = dh.read_collection(HPO)
    strings, documents = collection.strings()
    assert (len(collection), len(strings), len(documents)) == (19_034, 39_065, 39_065)
    assert len(np.unique(documents)) == 19_034
    assert collection.name == "hp-2025-01-16"


def test_semicolons_separate_fields_too(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("id;text\na;x, y\n")
    assert dh.read_collection(tmp_path / "d.csv").texts == ("x, y",)


@pytest.mark.parametrize(
    ("name", "text", "error", "message"),
    [
        ("d.csv", "", DataError, r"d.csv: empty, expected column names and rows"),
        (
            "d.csv",
            "id,text\n",
            DataError,
            r"d.csv: no document in it, expected at least one with an id and a text",
        ),
        ("d.csv", "id,text\na,x\n,y\n", MalformedRowError, r"d.csv:3: 'id' must be text or a whole number, got ''"),
        (
            "d.csv",
            "id,text\na,x\n\na,y\n",
            DuplicateError,
            r"d.csv:4: document 'a' appears on lines 2 and 4: each id may appear once",
        ),
        ("d.csv", "id,text\na, \n", MalformedRowError, r"d.csv:2: document 'a': 'text' must be text, got ' '"),
        (
            "d.csv",
            "id,txt\na,x\n",
            ColumnError,
            r"without a column 'text': found 'id', 'txt', .* Did you mean 'text'\?$",
        ),
        (
            "d.csv",
            "case_id,text,expected_ids\n1,x,a\n",
            ColumnError,
            r"one of 'doc_id', 'id', '_id'\. Is this the file of c",
        ),
        ("d.csv", "id,synonyms\n1,x\n", ColumnError, r"expected one of 'text', 'label', 'name', 'title'$"),
        ("d.csv", "id,text\na,x,y\n", MalformedRowError, r"d.csv:2: expected 2 fields"),
        (
            "d.jsonl",
            '{"id": "a", "text": "x"}\n{"id": "b"}',
            ColumnError,
            r"d.jsonl:2: documents without a column 'text': found 'id'",
        ),
        (
            "d.jsonl",
            '{"id": 1.5, "text": "x"}',
            MalformedRowError,
            r"d.jsonl:1: 'id' must be text or a whole number, got 1.5",
        ),
        (
            "d.jsonl",
            '{"id": "a", "text": ["x"]}',
            MalformedRowError,
            r"d.jsonl:1: document 'a': 'text' must be text, got",
        ),
        (
            "d.jsonl",
            '{"id": "a", "text": null}',
            MalformedRowError,
            r"d.jsonl:1: document 'a': 'text' must be text, got None",
        ),
        (
            "d.jsonl",
            '{"id": "a", "text": "x", "synonyms": [1]}',
            MalformedRowError,
            r"d.jsonl:1: document 'a': synonyms must be a list of texts, or text with \| between them, got \[1\]",
        ),
        ("d.jsonl", '{"id": "a"', MalformedRowError, r"d.jsonl:1: invalid JSON"),
        (
            "d.json",
            '[{"id": "a", "text": "x"},\n{"id": "a", "text": "y"}]',
            DuplicateError,
            r"d.json:2: .* on lines 1 and 2",
        ),
        (
            "d.json",
            '{"a": "x"}',
            MalformedRowError,
            r"d.json:1: expected a list of documents .*or an ontology as OBO Graphs",
        ),
        ("d.json", '[{"id": "a", "text": "x"},\n7]', MalformedRowError, r"d.json:2: expected a list of documents"),
        (
            "d.txt",
            "a",
            FileFormatError,
            r"d.txt: cannot tell the format of these documents: name the file .csv, .*.obo or .owl",
        ),
    ],
)
def test_a_file_that_is_no_collection(
    name: str, text: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        dh.read_collection(written(tmp_path, text, name))


def test_rows_of_parquet_are_counted(tmp_path: Path) -> None:
    pl.DataFrame({"id": ["a", "a"], "text": ["x", "y"]}).write_parquet(tmp_path / "d.parquet")
    with pytest.raises(DuplicateError, match=r"'a' .*rows 1 and 2"):
        dh.read_collection(tmp_path / "d.parquet")
    pl.DataFrame({"id": ["a", None], "text": ["x", "y"]}).write_parquet(tmp_path / "d.parquet")
    with pytest.raises(DataError, match=r"'id' in row 2 .*, got None"):
        dh.read_collection(tmp_path / "d.parquet")


def test_options_that_are_mistyped(tmp_path: Path) -> None:
    path = written(tmp_path, "id,text\na,x\n", "d.csv")
    with raises_parts(ParameterError, argument="synonyms", given="Exact", allowed=("exact", "all", "none")):
        dh.read_collection(path, synonyms="Exact")
    with raises_parts(ParameterError, given="cvs", problem="unknown format of documents"):
        dh.read_collection(path, format="cvs")
    with raises_parts(DataError, hint="Did you mean 'd.csv'?", problem="no such file"):
        dh.read_collection(tmp_path / "c.csv")


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ((("a", "a"), ("x", "y"), ((), ())), DuplicateError, "own has document 'a' more than once"),
        ((("a", "b"), ("x",), ((), ())), DataError, "for each id, got 2 ids, 1 texts and 2 of synonyms"),
        ((("a",), ("x",), ()), DataError, "for each id, got 1 ids, 1 texts and 0 of synonyms"),
        ((("a",), ("x",), ("fits",)), SourceTypeError, r"synonyms of 'a' must be .* 'fits'; write \['fits'\]"),
    ],
)
def test_a_collection_of_ones_own_is_checked(columns: Any, error: type[Exception], message: str) -> None:  # noqa: ANN401 - wrong ones
    with pytest.raises(error, match=message):
        Collection("own", *columns)


@pytest.mark.parametrize(
    "value", ["[" * 300 + "]" * 300, '{"a":' * 990 + "1" + "}" * 990, "[" * 100_000 + "]" * 100_000]
)
@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_a_deeply_nested_collection_is_bad_data(tmp_path: Path, value: str, ending: str) -> None:
    path = tmp_path / f"docs.{ending}"
    row = f'{{"id": "a", "text": "t", "synonyms": {value}}}'
    path.write_text(f"[{row}]" if ending == "json" else row)
    with pytest.raises(
        DataError, match=rf"docs\.{ending}.*: JSON with lists and objects nested more than 200 levels deep"
    ):
        dh.read_collection(path)


@pytest.mark.parametrize("field", ["id", "text", "synonyms"])
def test_a_long_value_is_cut_in_messages(tmp_path: Path, field: str) -> None:
    path = tmp_path / "docs.json"
    row = {"id": "a", "text": "t", field: [["x" * 10_000]]}
    path.write_text(json.dumps([row]))
    with pytest.raises(DataError, match="must be") as caught:
        dh.read_collection(path)
    assert len(str(caught.value).removeprefix(str(path))) < 250
