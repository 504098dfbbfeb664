"""bench() into a folder: interrupted and started again, it does no finished work again and gives the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from deadheat.benchmark import Key
from deadheat.cases import Case, Cases
from deadheat.collection import Collection
from deadheat.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

from test_bench import CASES, DOCUMENTS, Counting


def files(folder: Path) -> dict[str, bytes]:
    """Return the content of all files, without how long the searches took."""
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: without_seconds(data) if name.startswith("runs") else data for name, data in found.items()}


def without_seconds(data: bytes) -> bytes:
    return json.dumps({**json.loads(data), "seconds": 0}).encode() if data.startswith(b"{") else data


def test_killed_and_started_again_it_does_no_finished_work_again(tmp_path: Path) -> None:
    whole = Counting()
    expected = dh.bench(CASES, DOCUMENTS, ["bm25", whole], output=tmp_path / "whole", n_resamples=200)
    assert len(whole.searched) == 2

    dying, output = Counting(dies_in=1), tmp_path / "again"
    with pytest.raises(KeyboardInterrupt):
        dh.bench(CASES, DOCUMENTS, ["bm25", dying], output=output, n_resamples=200)
    assert not (output / "report.md").exists()
    second = Counting()
    result = dh.bench(CASES, DOCUMENTS, ["bm25", second], output=output, n_resamples=200)
    assert len(dying.searched) == 1
    assert len(second.searched) == 1
    assert second.searched != dying.searched
    assert len(result.reused) == 3
    assert result.to_polars().equals(expected.to_polars())
    assert files(output) == files(tmp_path / "whole")

    third = Counting()
    dh.bench(CASES, DOCUMENTS, ["bm25", third], output=output, n_resamples=200)
    assert third.searched == []
    assert third.n_indexed == 0


def test_what_has_changed_runs_again(tmp_path: Path) -> None:
    def searches(cases: Cases = CASES, documents: Collection = DOCUMENTS, k: int = 50, limit: int | None = None) -> int:
        retriever = Counting()
        dh.bench(cases, documents, retriever, k=k, output=tmp_path, limit=limit, n_resamples=99, measures="RR")
        return len(retriever.searched)

    assert searches() == 2
    assert searches() == 0
    assert searches(k=40) == 2
    assert searches(documents=Collection("terms", DOCUMENTS.ids, ("a", *DOCUMENTS.texts[1:]), DOCUMENTS.synonyms)) == 2
    assert searches() == 2
    relabelled = Cases("mine", {}, tuple(Case(c.case_id, c.text, ("D1",), (1.0,), language=c.language) for c in CASES))
    assert searches(relabelled) == 0  # what is expected is not what is searched for
    other = Cases("mine", {}, (*CASES.cases[:-1], Case("g3", "Migräne", ("D2",), (1.0,), language="de")))
    assert searches(other) == 1


def test_runs_of_an_older_search_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def reused() -> int:
        return len(dh.bench(CASES, DOCUMENTS, "bm25", output=tmp_path, n_resamples=99, measures="RR").reused)

    assert [reused(), reused()] == [0, 2]
    monkeypatch.setattr("deadheat.benchmark._searching.SEARCH", -1)
    assert [reused(), reused()] == [0, 2]


def test_evaluations_are_those_of_the_last_call(tmp_path: Path) -> None:
    def evaluations(*retrievers: str, limit: int | None = None) -> set[str]:
        dh.bench(CASES, DOCUMENTS, retrievers, "RR", output=tmp_path, limit=limit, n_resamples=99)
        return {path.name for path in (tmp_path / "evaluations").iterdir()}

    ending = (".json", ".parquet")
    both = evaluations("bm25", "bm25(k1=1)")
    assert len(both) == 2 * 2 * 2
    kept = {f"mine.{language}.bm25{end}" for language in ("en", "de") for end in ending}
    (tmp_path / "evaluations" / "notes.txt").write_text("mine")
    quick = evaluations("bm25", limit=1)
    assert quick == both | {"notes.txt"} | {name.replace(".bm25.", ".bm25.limit-1.") for name in kept}
    assert evaluations("bm25") == kept | (quick - both)
    (tmp_path / "bench.json").write_text("half a file")
    assert evaluations("bm25(k1=1)") == both | (quick - both)  # nobody knows what is old


def test_a_damaged_run_is_made_again(tmp_path: Path) -> None:
    dh.bench(CASES, DOCUMENTS, Counting(), output=tmp_path, n_resamples=99, measures="RR")
    (tmp_path / "runs" / "mine.de.counting.k50.parquet").write_bytes(b"half a file")
    retriever = Counting()
    dh.bench(CASES, DOCUMENTS, retriever, output=tmp_path, n_resamples=99, measures="RR")
    assert retriever.searched == [("Fieber", "Schlaf", "Kopfweh")]


def test_a_quick_look_is_kept_apart(tmp_path: Path) -> None:
    dh.bench(CASES, DOCUMENTS, Counting(), output=tmp_path, n_resamples=99, measures="RR")
    before = files(tmp_path)
    result = dh.bench(CASES, DOCUMENTS, Counting(), output=tmp_path, limit=1, n_resamples=99, measures="RR")
    assert [len(part.cases) for part in result.parts.values()] == [1, 1]
    after = files(tmp_path)
    assert {name: after[name] for name in before} == before
    assert "report.limit-1.md" in after
    assert "a quick look, not a result" in after["report.limit-1.md"].decode()


def test_runs_and_evaluations_can_be_read(tmp_path: Path) -> None:
    result = dh.bench(CASES, DOCUMENTS, "bm25", output=tmp_path, n_resamples=200)
    saved = dh.load_evaluation(tmp_path / "evaluations" / "mine.de.bm25.json")
    assert saved.means() == result.evaluations[Key("mine", "de", "bm25")].means()
    run = dh.read_run(tmp_path / "runs" / "mine.de.bm25.k50.parquet")
    assert dh.evaluate(CASES.by_language()["de"].qrels(), run, "RR").means() == {"RR": 2 / 3}
    german, old = CASES.by_language()["de"], {"old": tmp_path / "runs" / "mine.de.bm25.k50.parquet"}
    again = dh.bench(german, DOCUMENTS, old, n_resamples=99)
    assert again.evaluations[Key("mine", "de", "old")].means()["RR"] == 2 / 3


def test_a_report_of_someone_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("mine")
    with pytest.raises(DataError, match="is none of a benchmark"):
        dh.bench(CASES, DOCUMENTS, output=tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be made a folder"):
        dh.bench(CASES, DOCUMENTS, output=tmp_path / "file")
