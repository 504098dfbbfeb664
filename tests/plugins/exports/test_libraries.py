"""Objects of ranx and ir_datasets."""

from __future__ import annotations

import importlib
import io
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import deadheat as dh
from deadheat.errors import DataError, MissingDependencyError, SourceTypeError
from support.command import call, ok

QRELS = {"q": {"a": 2.0, "b": 1.0}}
RUN = {"q": {"a": 0.5, "b": 0.5, "c": 0.1}}


def test_objects_like_those_of_ranx() -> None:
    """Which have their dicts under the name of what they are, and turn into dicts."""
    qrels = SimpleNamespace(qrels={}, to_dict=lambda: QRELS)
    run = SimpleNamespace(run={}, to_dict=lambda: RUN)
    assert dh.read_qrels(qrels).to_dict() == QRELS
    assert dh.read_run(run).to_dict() == RUN
    with pytest.raises(SourceTypeError, match="expected qrels, got a run of ranx; were qrels and run given"):
        dh.read_qrels(run)


@pytest.mark.slow
def test_ranx_objects() -> None:
    ranx = pytest.importorskip("ranx", reason="ranx belongs to the extra 'bench'")
    qrels, run = ranx.Qrels({"q": {"a": 2, "b": 1}}), ranx.Run(RUN, name="bm25")
    assert dh.read_qrels(qrels).to_dict() == QRELS
    assert dh.read_run(run).to_dict() == RUN
    assert dh.evaluate({"q": "b"}, run, ["RR"]).means() == {"RR": (1 + 1 / 2) / 2}
    with pytest.raises(
        SourceTypeError, match="expected qrels, got a run of ranx; were qrels and run given in the wrong"
    ):
        dh.read_qrels(run)
    with pytest.raises(SourceTypeError, match="expected run, got a qrels of ranx"):
        dh.read_run(qrels)


@pytest.mark.slow
def test_ranx_computes_the_same_without_ties() -> None:
    ranx = pytest.importorskip("ranx", reason="ranx belongs to the extra 'bench'")
    qrels = ranx.Qrels({"q": {"a": 2, "b": 1}})
    strict = ranx.Run({"q": {"c": 0.9, "a": 0.5, "b": 0.4}})
    ours = dh.evaluate(qrels, strict, ["nDCG@10", "AP", "RR"]).means()
    theirs = ranx.evaluate(qrels, strict, ["ndcg@10", "map", "mrr"])
    assert list(ours.values()) == pytest.approx(list(theirs.values()), abs=1e-12)


def test_objects_like_those_of_ir_datasets() -> None:
    rows = [{"query_id": "q", "doc_id": doc, "relevance": grade} for doc, grade in QRELS["q"].items()]
    data = SimpleNamespace(has_qrels=lambda: True, has_scoreddocs=lambda: False, qrels_iter=lambda: iter(rows))
    assert dh.read_qrels(data).to_dict() == QRELS
    with pytest.raises(DataError, match=r"this data set of ir_datasets has no run \(scoreddocs\)"):
        dh.read_run(data)


class Text(io.BytesIO):
    """What ir_datasets reads from, in place of a download."""

    def stream(self) -> io.BytesIO:
        return io.BytesIO(self.getvalue())


NAME = "deadheat-tried"


@pytest.fixture
def catalogue() -> Any:  # noqa: ANN401 - a module without types
    pytest.importorskip("ir_datasets.formats.trec", reason="ir_datasets is in the peers-test extra")
    return importlib.import_module("ir_datasets")


@pytest.fixture
def in_catalogue(catalogue: Any, monkeypatch: pytest.MonkeyPatch) -> str:  # noqa: ANN401 - a module without types
    formats, base = (importlib.import_module(f"ir_datasets.{name}") for name in ("formats", "datasets.base"))
    qrels = formats.TrecQrels(Text(b"q 0 a 2\nq 0 b 1\n"), {})
    run = formats.trec.TrecScoredDocs(Text(b"q Q0 a 1 0.5 t\nq Q0 b 2 0.5 t\nq Q0 c 3 0.1 t\n"))
    registered = catalogue.registry._registered
    monkeypatch.setitem(registered, NAME, base.Dataset(qrels, run))
    monkeypatch.setitem(registered, f"{NAME}/bare", base.Dataset())
    return f"ir_datasets:{NAME}"


def test_a_data_set_of_ir_datasets(in_catalogue: str, catalogue: Any, tmp_path: Path) -> None:  # noqa: ANN401 - a module
    qrels = dh.read_qrels(in_catalogue)
    assert (qrels.to_dict(), qrels.name, qrels.path) == (QRELS, NAME, None)
    assert dh.read_run(in_catalogue).to_dict() == RUN
    data = catalogue.load(NAME)
    assert dh.evaluate(data, data, ["RR"]).means() == {"RR": 1.0}
    (tmp_path / "x.json").write_text('{"q": ["b"]}')
    assert dh.evaluate(in_catalogue, tmp_path / "x.json", ["P@1"]).means() == {"P@1": 1.0}
    shown = ok("evaluate", in_catalogue, str(tmp_path / "x.json"), "-m", "P@1")
    assert "1.0000" in shown
    assert in_catalogue in shown


def test_data_sets_without_judgments(in_catalogue: str) -> None:
    with pytest.raises(
        DataError, match=r"ir_datasets:deadheat-tried/bare: this data set .* has no judgments \(qrels\)"
    ):
        dh.read_qrels(f"{in_catalogue}/bare")
    with pytest.raises(DataError, match=r"has no run \(scoreddocs\)"):
        dh.read_run(f"{in_catalogue}/bare")
    with pytest.raises(
        DataError, match="ir_datasets:nope: ir_datasets has no data set of this name: names are listed at"
    ):
        dh.read_qrels("ir_datasets:nope")
    assert "no data set of this name" in call("evaluate", "ir_datasets:nope", in_catalogue).stderr


def test_without_ir_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    told = r"needs the package ir_datasets, which is not installed: pip install .deadheat\[ir-datasets\]"
    with pytest.raises(MissingDependencyError, match=told):
        dh.read_qrels("ir_datasets:vaswani")


def test_a_fetch_that_fails(catalogue: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401 - a module
    def fail(_: str) -> Any:  # noqa: ANN401 - as ir_datasets
        def fetch() -> None:
            raise RuntimeError("All download sources failed")

        return SimpleNamespace(has_qrels=lambda: True, has_scoreddocs=lambda: False, qrels_iter=fetch)

    monkeypatch.setattr(catalogue, "load", fail)
    with pytest.raises(DataError, match="ir_datasets:vaswani: ir_datasets cannot fetch it, got All download sources"):
        dh.read_qrels("ir_datasets:vaswani")
