"""Folders of BEIR and MTEB in place of a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import deadheat as dh
from deadheat.errors import DataError, SwappedFilesError
from support.command import call, ok
from support.error_parts import raises_parts

QRELS = "query-id\tcorpus-id\tscore\nq\td1\t1\n"


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    """As BEIR's downloads are: corpus.jsonl, queries.jsonl and qrels by split."""
    folder = tmp_path / "scifact"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "title": "", "text": "t"}\n')
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "t"}\n')
    (folder / "qrels" / "test.tsv").write_text(QRELS)
    (folder / "qrels" / "train.tsv").write_text(QRELS.replace("d1", "d2"))
    return folder


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    folder = tmp_path / "predictions"
    folder.mkdir()
    document = {"mteb_model_meta": {"model_name": "m"}, "default": {"test": {"q": {"d1": 0.5, "d2": 0.5}}}}
    (folder / "SciFact_predictions.json").write_text(json.dumps(document))
    return folder


@pytest.mark.plugins("exports")
def test_the_test_split_of_beir(beir: Path, predictions: Path) -> None:
    qrels = dh.read_qrels(beir)
    assert qrels.to_dict() == {"q": {"d1": 1.0}}
    (note,) = qrels.notes
    assert note.endswith(" test of scifact; others: train")
    assert (qrels.name, qrels.path) == ("scifact", beir / "qrels" / "test.tsv")
    assert dh.read_qrels(beir / "qrels" / "train.tsv").to_dict() == {"q": {"d2": 1.0}}
    assert dh.evaluate(beir, predictions, ["RR"]).means() == {"RR": (1 + 1 / 2) / 2}
    (beir / "qrels" / "test.tsv").unlink()
    (note,) = dh.read_qrels(beir).notes
    assert note.endswith(" train of scifact")


def test_a_split_is_not_guessed(beir: Path) -> None:
    (beir / "qrels" / "test.tsv").rename(beir / "qrels" / "dev.tsv")
    with raises_parts(DataError, "several splits", found="qrels/dev.tsv, qrels/train.tsv", allowed="one", path=beir):
        dh.read_qrels(beir)


@pytest.mark.plugins("exports")
def test_a_task_is_not_guessed(predictions: Path) -> None:
    file, task = dh.read_run(predictions).notes
    assert file.endswith(" SciFact_predictions.json")
    assert task.endswith(" by m: default/test")
    (predictions / "NQ_predictions.json").write_text("{}")
    with raises_parts(DataError, "several tasks", found="NQ_predictions.json, SciFact_predictions.json"):
        dh.read_run(predictions)


def test_folders_of_the_other_kind(beir: Path, predictions: Path, tmp_path: Path) -> None:
    with raises_parts(SwappedFilesError, "is a data set of BEIR", allowed="run", path=beir):
        dh.read_run(beir)
    with raises_parts(SwappedFilesError, "is predictions of MTEB", allowed="qrels", path=predictions):
        dh.read_qrels(predictions)
    with raises_parts(DataError, r"BEIR \(with qrels/\*.tsv\)", problem="is a directory", path=tmp_path):
        dh.read_run(tmp_path)


def test_a_folder_is_converted(beir: Path, tmp_path: Path) -> None:
    ok("convert", beir, tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == "q 0 d1 1\n"


@pytest.mark.plugins("exports")
def test_the_command_takes_folders(beir: Path, predictions: Path, tmp_path: Path) -> None:
    shown = ok("evaluate", str(beir), str(predictions), "-m", "RR")
    assert "0.7500" in shown
    assert "qrels of the split test" in " ".join(shown.split())
    assert "is a directory, expected" in call("evaluate", tmp_path, predictions).stderr


@pytest.mark.plugins("gates")
def test_other_commands_take_folders(beir: Path, predictions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "0.7500" in ok("gate", beir, predictions, "-c", "RR >= 0.7")
    assert "0.7500" in ok("compare", beir, predictions, predictions / "SciFact_predictions.json", "-m", "RR")
    assert "SciFact_predictions.json" in ok("ties", predictions)
    monkeypatch.chdir(beir)
    assert dh.read_qrels(".").name == "scifact"
