"""Results of an own search engine: found by the texts of cases, in tables whose columns people name."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import deadheat as dh
from deadheat import RunFile
from deadheat.core.evaluation.saved import is_saved
from deadheat.errors import ColumnError, DataError, FileFormatError, MalformedRowError
from support.command import call, ok
from support.workbook import write_workbook

CASES = "Begriff;HPO-ID\nZittern;HP:0001337\nkann nicht schlafen;HP:0100785\nMüdigkeit;HP:0012378\n"
FOUND = (
    ("Zittern", "HP:0002322", 0.9),
    ("Zittern", "HP:0001337", 0.5),
    ("kann nicht  Schlafen", "HP:0100785", 0.75),
    ("Müdigkeit", "HP:0000001", 0.5),
    ("Müdigkeit", "HP:0012378", 0.5),
)
RR = {"cases-000": 1 / 2, "cases-001": 1.0, "cases-002": 3 / 4}  # the last two documents tie


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases.csv").write_text(CASES, encoding="utf-8")
    ids = ["HP:0001337", "HP:0002322", "HP:0100785", "HP:0012378", "HP:0000001"]
    (tmp_path / "documents.csv").write_text("\n".join(["id,text", *(f"{one},{one}" for one in ids)]))
    return tmp_path


def written(folder: Path, header: str, *, name: str = "mine.csv", mark: str = ",", encoding: str = "utf-8") -> Path:
    rows = [f"{text};{found};{str(score).replace('.', mark)}" for text, found, score in FOUND]
    path = folder / name
    path.write_text("\n".join([header, *rows]), encoding=encoding)
    return path


def values(*arguments: str) -> dict[str, float]:
    """Return RR of each case, as the command saves it."""
    with TemporaryDirectory(dir=".") as out:
        ok("bench", "cases.csv", "--collection", "documents.csv", "-m", "RR", "--output", out, "--quiet", *arguments)
        (path,) = (one for one in Path(out).rglob("*.json") if is_saved(one))
        return {query: own["RR"] for query, own in dh.load_evaluation(path).to_dict().items()}


@pytest.mark.parametrize("header", ["Begriff;Treffer;Score", "phrase;HPO-ID;Punkte", "query;doc_id;score"])
def test_cases_are_found_by_their_texts(folder: Path, header: str) -> None:
    written(folder, header)
    assert values("--retriever", "mine.csv") == pytest.approx(RR)


def test_a_workbook_and_another_encoding_are_read_too(folder: Path) -> None:
    rows = dict(enumerate((("Begriff", "Treffer", "Score"), *FOUND), 1))
    write_workbook(folder / "mine.xlsx", {"Tabelle1": rows})
    assert values("--retriever", "mine.xlsx") == pytest.approx(RR)
    written(folder, "Begriff;Treffer;Score", name="old.csv", encoding="cp1252")
    wrong = call("bench", "cases.csv", "--collection", "documents.csv", "--retriever", "old.csv")
    assert (wrong.exit_code, "--encoding cp1252" in wrong.stderr) == (3, True)
    assert values("--retriever", "old.csv", "--encoding", "cp1252") == pytest.approx(RR)


@pytest.mark.slow
def test_columns_are_named_for_cases_and_for_runs(folder: Path) -> None:
    (folder / "cases.csv").write_text(CASES.replace("Begriff", "Symptom"), encoding="utf-8")
    written(folder, "Symptom;Ding;Wert")
    columns = "text=Symptom,run.doc_id=Ding,run.score=Wert"
    assert values("--retriever", "mine.csv", "--columns", columns) == pytest.approx(RR)
    for wrong, word in (("run.doc_id=Dingg", "mine.csv"), ("run.docid=Ding", "'doc_id'"), ("run.score=", "names")):
        result = call(
            "bench", "cases.csv", "--collection", "documents.csv", "--retriever", "mine.csv", "--columns",
            f"text=Symptom,{wrong}",
        )  # fmt: skip
        assert result.exit_code in {2, 3}
        assert word in result.stderr
    (folder / "some.run").write_text("cases-000 Q0 HP:0001337 1 0.5 x\n")
    found = values("--retriever", "some.run", "--columns", "text=Symptom")  # a TREC file has no columns to name
    assert found["cases-000"] == 1.0


def test_what_a_message_advises_is_an_option(folder: Path) -> None:
    path = folder / "mine.csv"
    path.write_text("Satz;Ding;Wert\nZittern;HP:0001337;1\n")
    arguments = ("bench", "cases.csv", "--collection", "documents.csv", "-m", "RR", "--retriever", "mine.csv")
    wrong = call(*arguments)
    advice = "run.query_id=Satz,run.doc_id=Ding,run.score=Wert"
    assert f"--columns {advice}" in wrong.stderr
    assert call(*arguments, "--columns", advice).exit_code == 0
    path.write_text("query;doc_id;score\nZittern;HP:0001337;1.234,5\nZittern;HP:0002322;0,5\n")
    wrong = call(*arguments)
    assert "--decimal" in wrong.stderr
    assert call(*arguments, "--decimal", ",").exit_code == 0
    for options, named in (
        (("--similarity", "lim", "--ontology", "documents.csv"), "--similarity must be"),
        (("--reranker", "foo"), "--reranker must be"),
        (("--original-texts", "x"), "--original-texts must be"),
    ):
        assert named in call(*arguments, "--decimal", ",", *options).stderr


def test_distances_rank_upwards(folder: Path) -> None:
    (folder / "mine.csv").write_text("query,doc_id,score\nZittern,HP:0001337,0.1\nZittern,HP:0002322,0.9\n")
    assert values("--retriever", "mine.csv", "--ascending")["cases-000"] == 1.0


def test_phrases_that_are_no_case_are_warned_of(folder: Path) -> None:
    path = written(folder, "Begriff;Treffer;Score")
    path.write_text(path.read_text(encoding="utf-8").replace("Zittern", "Zitern"), encoding="utf-8")
    result = call("bench", "cases.csv", "--collection", "documents.csv", "--retriever", "mine.csv", "--format", "json")
    assert "1 query of it is no case: 'Zitern'. Did you mean 'Zittern'?" in result.stderr
    assert any("2 of 3 cases found by their texts" in note for note in json.loads(result.stdout)["notes"])


def test_ids_of_cases_come_first(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("query_id,doc_id,score\nc1,d1,1\nA text,d2,1\na text,d3,1\n")
    run = RunFile(path)
    assert run.look_up(["c1"], ["A text"])["doc_id"].to_list() == ["d1"]
    assert run.look_up(["c1", "c2"], ["-", "A text"]).rows() == [("c1", "d1", 1.0), ("c2", "d2", 1.0)]
    with pytest.raises(DataError, match="'A text', 'a text' are one"):
        run.look_up(["c2"], ["A TEXT"])
    with pytest.raises(DataError, match=r"'c9' .*; it has 'c1'"):
        run.look_up(["c9"], ["another"])


@pytest.mark.parametrize(
    ("content", "kind", "match"),
    [
        ("Begriff,Treffer\nZittern,d1\n", ColumnError, "'query_id'"),
        (
            "Begriff,Treffer,Score\nZittern,d1,viel\n",
            MalformedRowError,
            "mine.csv:2: the score is no number, got 'viel'",
        ),
        ("a b c\n", ColumnError, "query_id"),
    ],
)
def test_tables_that_are_no_results(tmp_path: Path, content: str, kind: Any, match: str) -> None:  # noqa: ANN401 - a class
    path = tmp_path / "mine.csv"
    path.write_text(content)
    with pytest.raises(kind, match=match):
        RunFile(path).look_up(["c1"], ["Zittern"])


def test_a_run_that_is_no_table_keeps_its_error(tmp_path: Path) -> None:
    path = tmp_path / "mine.run"
    path.write_text("1 2 3\n")
    with pytest.raises(FileFormatError, match="expected 6 fields"):
        RunFile(path).look_up(["c1"], ["Zittern"])


def test_how_a_run_is_read_is_part_of_its_key(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("Begriff,Treffer,Score\nZittern,d1,1\n")
    keys = [RunFile(path).key, RunFile(path, columns={"score": "Score"}).key, RunFile(path, ascending=True).key]
    assert len({json.dumps(key) for key in keys}) == 3
