"""LlamaIndex's data set of questions and its results, as objects of its form and as it saves them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

import pytest

import deadheat as dh
from deadheat.errors import ParameterError, SourceTypeError, SwappedFilesError
from support.command import call, ok
from support.error_parts import raises_parts

SAVED = {  # as EmbeddingQAFinetuneDataset.save_json writes it: llama_index/finetuning/embeddings/common.py
    "queries": {"q1": "What is it?", "q2": "Why?", "q3": "Who?"},
    "corpus": {"n1": "one", "n2": "two", "n3": "three"},
    "relevant_docs": {"q1": ["n2"], "q2": ["n1", "n3"], "q3": []},
    "mode": "text",
}
QRELS = {"q1": {"n2": 1}, "q2": {"n1": 1, "n3": 1}, "q3": {}}
RUN = {"q1": {"n1": 0.5, "n2": 0.5}, "q2": {"n1": 0.9, "n2": 0.5}}
RR = ((1 + 1 / 2) / 2 + 1 + 0) / 3


class Mode(StrEnum):
    """As RetrievalEvalMode."""

    TEXT = "text"


class Model:
    """As pydantic's models: iterable, and with their fields in the class."""

    model_fields: ClassVar[dict[str, Any]] = {}

    def __init__(self, **fields: Any) -> None:  # noqa: ANN401 - of any type
        vars(self).update(dict.fromkeys(self.model_fields) | fields)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        yield from vars(self).items()


class DataSet(Model):
    """As EmbeddingQAFinetuneDataset."""

    model_fields: ClassVar[dict[str, Any]] = dict.fromkeys(("queries", "corpus", "relevant_docs", "mode"))


class Result(Model):
    """As RetrievalEvalResult."""

    model_fields: ClassVar[dict[str, Any]] = dict.fromkeys(
        ("query", "expected_ids", "expected_texts", "retrieved_ids", "retrieved_texts", "mode", "metric_dict")
    )


RESULTS = [
    Result(
        query="What is it?",
        expected_ids=["n2"],
        retrieved_ids=["n1", "n2"],
        retrieved_texts=["one", "two"],
        mode=Mode.TEXT,
        metric_dict={"mrr": object()},
    ),
    Result(
        query="Why?",
        expected_ids=["n1", "n3"],
        retrieved_ids=["n1", "n2"],
        retrieved_texts=["one", "two"],
        mode=Mode.TEXT,
        metric_dict={"mrr": object()},
    ),
]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "questions.json"
    path.write_text(json.dumps(SAVED, indent=4))
    return path


def test_the_data_set_in_all_forms(saved: Path) -> None:
    for source in (saved, SAVED, DataSet(**SAVED)):
        qrels = dh.read_qrels(source)
        assert qrels.to_dict() == QRELS
        assert dh.evaluate(source, RUN, "RR", missing="empty").means()["RR"] == pytest.approx(RR)


def test_the_data_set_on_the_command_line(saved: Path, tmp_path: Path) -> None:
    run = tmp_path / "run.json"
    run.write_text(json.dumps(RUN))
    header, row = ok("evaluate", saved, run, "-m", "RR", "--format", "csv").splitlines()
    values = dict(zip(header.split(","), row.split(","), strict=True))
    assert float(values["value"]) == pytest.approx(RR)


def test_sets_as_sentence_transformers_has_them() -> None:
    source = {**SAVED, "relevant_docs": {"q1": {"n2"}, "q2": {"n3", "n1"}}}
    assert dh.read_qrels(source).to_dict() == {"q1": {"n2": 1}, "q2": {"n1": 1, "n3": 1}}


def test_what_does_not_fit_together_is_said() -> None:
    source = {**SAVED, "relevant_docs": {"q1": ["n2", "n9"], "q2": ["n9", "n8"]}}
    notes = dh.read_qrels(source).notes
    assert "1 query without relevant_docs is left out: q3" in notes
    assert "2 relevant documents are not in the corpus of the data set: n9, n8" in notes
    assert not [note for note in dh.read_qrels(SAVED).notes if "corpus" in note or "left out" in note]


def test_it_is_no_run(saved: Path) -> None:
    for source in (saved, SAVED, DataSet(**SAVED)):
        with raises_parts(SwappedFilesError) as caught:
            dh.read_run(source)
        assert "retriever.retrieve(text)" in str(caught.value.hint)
    told = call("evaluate", saved, saved)
    assert told.exit_code == 3
    with raises_parts(ParameterError, argument="columns"):
        dh.read_qrels(DataSet(**SAVED), columns={"doc_id": "corpus"})


def test_other_objects_with_such_names_are_not_taken_for_it() -> None:
    """An evaluator of sentence-transformers has lists of queries."""
    with raises_parts(SourceTypeError):
        dh.read_qrels(Model(queries=["a"], corpus=["b"], relevant_docs={"q1": {"b"}}))


def test_results_are_judgments_and_a_run() -> None:
    assert dh.read_qrels(RESULTS).to_dict() == {"What is it?": {"n2": 1}, "Why?": {"n1": 1, "n3": 1}}
    assert dh.read_run(RESULTS).to_dict() == {"What is it?": {"n1": -1, "n2": -2}, "Why?": {"n1": -1, "n2": -2}}
    # n2 is second of the first query, n1 is first of the second, which lacks n3
    assert dh.evaluate(RESULTS, RESULTS, ["RR", "R"]).means() == {"RR": (1 / 2 + 1) / 2, "R": (1 + 1 / 2) / 2}


def test_one_result() -> None:
    assert dh.evaluate(RESULTS[0], RESULTS[0], "RR").means() == {"RR": 0.5}


def test_results_as_json(tmp_path: Path) -> None:
    """As [result.model_dump(mode="json") for result in results] has them."""
    rows = [{**vars(result), "mode": "text", "metric_dict": {"mrr": {"score": 0.5}}} for result in RESULTS]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(rows))
    assert dh.evaluate(path, path, "RR").means() == {"RR": 0.75}


def test_of_results_says_what_reads_them() -> None:
    with raises_parts(SourceTypeError) as caught:
        dh.Run.of_results(RESULTS)
    assert "dh.read_run(results)" in str(caught.value.hint)


def test_rows_of_a_dataclass() -> None:
    @dataclass(slots=True)
    class Row:
        question: str
        chunk_id: str
        score: float
        chunk: object

    rows = [Row("q", "a", 0.5, {}), Row("q", "b", 0.5, object())]
    assert dh.read_run(rows).to_dict() == {"q": {"a": 0.5, "b": 0.5}}
    assert dh.evaluate({"q": ["b"]}, rows, "RR").means() == {"RR": 0.75}
    assert dh.read_run(iter(rows)).to_dict() == {"q": {"a": 0.5, "b": 0.5}}


def test_a_dataclass_without_a_query_is_no_row() -> None:
    @dataclass
    class Node:
        doc_id: str
        score: float

    with raises_parts(SourceTypeError) as caught:
        dh.read_run([Node("a", 0.5)])
    assert "dh.Run.of_results({query: results})" in str(caught.value)
    assert dh.Run.of_results({"q": [Node("a", 0.5)]}).to_dict() == {"q": {"a": 0.5}}
