"""Tables in the objects of other libraries: Hugging Face's datasets, ragas, Arrow, records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deadheat as dh
from deadheat.errors import ColumnError, DataError, SourceTypeError
from support.error_parts import raises_parts

QRELS = {"q": {"a": 2.0, "b": 1.0}}
RUN = {"q": {"a": 0.5, "b": 0.5, "c": 0.1}}
ROWS = [{"query_id": "q", "doc_id": doc, "score": score} for doc, score in RUN["q"].items()]


class HuggingFace:
    """As datasets.Dataset: neither a frame nor Arrow's protocol, but methods that make one."""

    features: dict[str, str] = {}  # noqa: RUF012 - only its name is looked at

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def to_polars(self) -> pl.DataFrame:
        return pl.DataFrame(self.rows)

    def to_pandas(self) -> pd.DataFrame:
        return pd.DataFrame(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)


class Streamed:
    """As datasets.IterableDataset: it can be iterated again."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(ROWS)


@pytest.mark.parametrize(
    "source",
    [
        HuggingFace(ROWS),
        SimpleNamespace(to_pandas=lambda: pd.DataFrame(ROWS)),
        Streamed(),
        ROWS,
        pa.Table.from_pylist(ROWS),
        pa.Table.from_pylist(ROWS).to_reader(),
        pa.RecordBatch.from_pylist(ROWS),
    ],
)
def test_tables_by_their_methods(source: object) -> None:
    run = dh.Run(source)
    assert run.to_dict() == RUN
    assert dh.evaluate({"q": "b"}, run, ["RR"]).means() == {"RR": (1 + 1 / 2) / 2}


def test_a_dict_of_splits_is_refused() -> None:
    splits = {"test": HuggingFace(ROWS), "train": HuggingFace(ROWS)}
    hint = "give one of them, such as dataset['test']"
    with raises_parts(SourceTypeError, found="a dict of the splits test, train", hint=hint):
        dh.Run(splits)


def test_records_of_mixed_types() -> None:
    with raises_parts(ColumnError, "'query_id' .* of several types", found="str, int", path=Path("run")):
        dh.Run([*ROWS, {"query_id": 7, "doc_id": "x", "score": 1.0}])


class Named(NamedTuple):
    doc_id: str
    query_id: str
    score: float


def test_rows_with_names_among_rows_without() -> None:
    named = Named("a", "q", 0.5)
    assert dh.Run([named, {"query_id": "q", "doc_id": "b", "score": 0.5}]).to_dict() == {"q": {"a": 0.5, "b": 0.5}}
    for rows in ([named, ("q", "b", 0.5)], [("q", "b", 0.5), named]):
        with pytest.raises(SourceTypeError, match=r"item .: expected \(query_id, "):
            dh.Run(rows)


def test_whole_numbers_among_others(tmp_path: Path) -> None:
    """JavaScript writes 1.0 as 1."""
    rows = [{"query_id": "q", "doc_id": doc, "score": score} for doc, score in (("a", 1), ("b", 0.5), ("c", 2))]
    (tmp_path / "run.json").write_text(json.dumps(rows))
    for source in (rows, tmp_path / "run.json"):
        assert dh.Run(source).to_dict() == {"q": {"a": 1.0, "b": 0.5, "c": 2.0}}
    rows[0]["score"] = 2**53 + 1
    (tmp_path / "run.json").write_text(json.dumps(rows))
    for source in (rows, tmp_path / "run.json"):
        with pytest.raises(DataError, match=r"several types|2\*\*53"):
            dh.Run(source)


def test_the_real_datasets() -> None:
    datasets = pytest.importorskip("datasets")
    if not hasattr(datasets, "Dataset"):
        pytest.skip("datasets of Hugging Face is not installed: this is the folder of that name")
    data = datasets.Dataset.from_list(ROWS)
    assert dh.Run(data).to_dict() == RUN == dh.Run(data.to_iterable_dataset()).to_dict()
    with pytest.raises(SourceTypeError, match="a dict of the splits test"):
        dh.Run(datasets.DatasetDict({"test": data}))
    beir = datasets.Dataset.from_dict({"query-id": ["q", "q"], "corpus-id": ["a", "b"], "score": [2, 1]})
    assert dh.Qrels(beir).to_dict() == QRELS


SAMPLES = [
    {"user_input": "q1", "retrieved_context_ids": ["a", "b", "c"], "reference_context_ids": ["b"], "response": "r"},
    {"user_input": "q2", "retrieved_context_ids": ["x"], "reference_context_ids": ["x", "y"], "response": "r"},
]
BY_ID = {"q1": {"P": 1 / 3, "R": 1.0}, "q2": {"P": 1.0, "R": 1 / 2}}


@pytest.mark.parametrize("make", [lambda: SimpleNamespace(to_pandas=lambda: pd.DataFrame(SAMPLES)), lambda: SAMPLES])
def test_samples_of_ragas_are_both(make: Any) -> None:  # noqa: ANN401 - objects of any library
    samples = make()
    assert dh.Qrels(samples).notes == dh.Qrels({"q": ["a"]}).notes  # listed without grades
    assert dh.Run(samples).notes == dh.Run({"q": ["a"]}).notes  # in strict order
    assert dh.evaluate(samples, samples, ["P", "R"]).to_dict() == BY_ID


def test_the_real_ragas(tmp_path: Path) -> None:
    schema = pytest.importorskip("ragas.dataset_schema")
    samples = schema.EvaluationDataset.from_list(SAMPLES)
    assert dh.evaluate(samples, samples, ["P", "R"]).to_dict() == BY_ID
    samples.to_jsonl(tmp_path / "x.jsonl")
    assert dh.evaluate(tmp_path / "x.jsonl", tmp_path / "x.jsonl", ["P", "R"]).to_dict() == BY_ID
