"""bench() into a folder: interrupted and started again, it does no finished work again and gives the same."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from deadheat import Collection
from deadheat.errors import DataError
from deadheat.plugins.bench.cases import Case, Cases
from deadheat.plugins.bench.result import Key
from support.small_bench import CASES, DOCUMENTS, Counting

if TYPE_CHECKING:
    from pathlib import Path


def files(folder: Path) -> dict[str, bytes]:
    """Return the content of all files, without how long the searches took."""
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: without_seconds(data) if name.startswith("runs") else data for name, data in found.items()}


def without_seconds(data: bytes) -> bytes:
    return json.dumps({**json.loads(data), "seconds": 0}).encode() if data.startswith(b"{") else data


@pytest.mark.slow
def test_killed_and_started_again_it_does_no_finished_work_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")  # evaluations are saved with their time
    whole = Counting()
    expected = dh.bench(CASES, DOCUMENTS, ["bm25", whole], output=tmp_path / "whole", n_resamples=200)
    assert len(whole.searched) == 2

    dying, output = Counting(dies_in=1), tmp_path / "again"
    with pytest.raises(KeyboardInterrupt):
        dh.bench(CASES, DOCUMENTS, ["bm25", dying], output=output, n_resamples=200)
    assert not (output / "report.md").exists()
    second = Counting()
    told: list[str] = []
    result = dh.bench(CASES, DOCUMENTS, ["bm25", second], output=output, n_resamples=200, progress=told.append)
    assert len(dying.searched) == 1
    assert len(second.searched) == 1
    assert second.searched != dying.searched
    assert sum(one.endswith("finished before") for one in told) == 3
    assert result.to_polars().equals(expected.to_polars())
    assert files(output) == files(tmp_path / "whole")

    third = Counting()
    dh.bench(CASES, DOCUMENTS, ["bm25", third], output=output, n_resamples=200)
    assert third.searched == []
    assert third.n_indexed == 0


@pytest.mark.slow
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


@pytest.mark.slow
def test_runs_of_an_older_search_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def reused() -> int:
        told: list[str] = []
        dh.bench(CASES, DOCUMENTS, "bm25", output=tmp_path, n_resamples=99, measures="RR", progress=told.append)
        return sum(one.endswith("finished before") for one in told)

    assert [reused(), reused()] == [0, 2]
    monkeypatch.setattr("deadheat.plugins.bench.searching.SEARCH", -1)
    assert [reused(), reused()] == [0, 2]


@pytest.mark.slow
def test_evaluations_are_those_of_the_last_call(tmp_path: Path) -> None:
    def evaluations(*retrievers: str, limit: int | None = None) -> set[str]:
        dh.bench(CASES, DOCUMENTS, retrievers, "RR", output=tmp_path, limit=limit, n_resamples=99)
        return {path.name for path in (tmp_path / "evaluations").iterdir()}

    both = evaluations("bm25", "bm25(k1=1)")
    assert len(both) == 2 * 2
    kept = {f"mine.{language}.bm25.json" for language in ("en", "de")}
    (tmp_path / "evaluations" / "notes.txt").write_text("mine")
    quick = evaluations("bm25", limit=1)
    assert quick == both | {"notes.txt"} | {name.replace(".bm25.", ".bm25.limit-1.") for name in kept}
    assert evaluations("bm25") == kept | (quick - both)
    (tmp_path / "bench.json").write_text('{"kind": "deadheat bench", "cases": 7}')
    assert evaluations("bm25(k1=1)") == both | (quick - both)  # nobody knows what is old


@pytest.mark.slow
def test_a_damaged_run_is_made_again(tmp_path: Path) -> None:
    dh.bench(CASES, DOCUMENTS, Counting(), output=tmp_path, n_resamples=99, measures="RR")
    (tmp_path / "runs" / "mine.de.counting.k50.parquet").write_bytes(b"half a file")
    retriever = Counting()
    dh.bench(CASES, DOCUMENTS, retriever, output=tmp_path, n_resamples=99, measures="RR")
    assert retriever.searched == [("Fieber", "Schlaf", "Kopfweh")]


@pytest.mark.slow
def test_a_quick_look_is_kept_apart(tmp_path: Path) -> None:
    dh.bench(CASES, DOCUMENTS, Counting(), output=tmp_path, n_resamples=99, measures="RR")
    before = files(tmp_path)
    result = dh.bench(CASES, DOCUMENTS, Counting(), output=tmp_path, limit=1, n_resamples=99, measures="RR")
    assert [len(part.cases) for part in result.parts.values()] == [1, 1]
    after = files(tmp_path)
    assert {name: after[name] for name in before} == before
    assert "report.limit-1.md" in after
    assert "a quick look, not a result" in after["report.limit-1.md"].decode()


@pytest.mark.slow
def test_runs_and_evaluations_can_be_read(tmp_path: Path) -> None:
    result = dh.bench(CASES, DOCUMENTS, "bm25", output=tmp_path, n_resamples=200)
    saved = dh.load_evaluation(tmp_path / "evaluations" / "mine.de.bm25.json")
    assert saved.means() == result.evaluations[Key("mine", "de", "bm25")].means()
    run = dh.read_run(tmp_path / "runs" / "mine.de.bm25.k50.parquet")
    assert dh.evaluate(CASES.by_language()["de"].qrels(), run, "RR", missing="empty").means() == {"RR": 2 / 3}
    german, old = CASES.by_language()["de"], {"old": tmp_path / "runs" / "mine.de.bm25.k50.parquet"}
    again = dh.bench(german, DOCUMENTS, old, n_resamples=99)
    assert again.evaluations[Key("mine", "de", "old")].means()["RR"] == 2 / 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "report.md",
        "bench.json",
        "runs/mine.de.counting.k50.json",
        "runs/mine.de.counting.k50.parquet",
        "evaluations/mine.de.counting.json",
    ],
)
def test_a_file_of_someone_else_is_not_replaced(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    for content in ("# My report: 10 cases", '{"kind": "mine"}', "half a file"):
        (tmp_path / name).write_text(content)
        with pytest.raises(DataError, match="would be replaced") as error:
            dh.bench(CASES, DOCUMENTS, Counting(dies_in=0), "RR", output=tmp_path)
        assert error.value.path == tmp_path / name
        assert files(tmp_path) == {name: without_seconds(content.encode()) if "runs" in name else content.encode()}
    if not name.endswith(".parquet"):  # an empty one has nothing to lose
        (tmp_path / name).write_text("")
        dh.bench(CASES, DOCUMENTS, Counting(), "RR", output=tmp_path, n_resamples=99)
    dh.bench(CASES, DOCUMENTS, Counting(), "RR", output=tmp_path / "other", n_resamples=99)
    dh.bench(CASES, DOCUMENTS, Counting(), "RR", output=tmp_path / "other", n_resamples=99)


def test_a_file_where_the_folder_should_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be created as a folder"):
        dh.bench(CASES, DOCUMENTS, output=tmp_path / "file")


@pytest.mark.slow
def test_what_has_become_someone_elses_is_not_removed(tmp_path: Path) -> None:
    dh.bench(CASES, DOCUMENTS, ["bm25", Counting()], "RR", output=tmp_path, n_resamples=99)
    path = tmp_path / "evaluations" / "mine.de.counting.json"
    path.write_text("mine now")
    dh.bench(CASES, DOCUMENTS, "bm25", "RR", output=tmp_path, n_resamples=99)
    assert path.read_text() == "mine now"
    assert not (tmp_path / "evaluations" / "mine.en.counting.json").exists()


LONG = "token_pattern='" + "|".join(f"[a-z]{{{n},}}" for n in range(2, 80)) + "'"
HOSTILE = [
    "漢" * 60,
    "漢" * 59 + "字",
    "😀" * 90,
    "x" * 400,
    "x" * 399 + "y",
    "con",
    "CON",
    "nul",
    "\uf900",  # which some systems take for the next
    "\u8c48",
    "a/b",
    "a_b",
]


@pytest.mark.slow
def test_names_of_files_are_short_and_apart_whatever_people_call_things(tmp_path: Path) -> None:
    one = Cases("one", {}, (Case("c1", "broken arm", ("D2",), (1.0,), language="x" * 300),), None)
    systems = dict.fromkeys(HOSTILE, f"bm25({LONG})")
    result = dh.bench({"字" * 300: one}, DOCUMENTS, systems, ["RR"], k=50, output=tmp_path, limit=1_000_000)
    assert {key.retriever for key in result.evaluations} == set(HOSTILE)
    for folder, files_each in (("runs", 2), ("evaluations", 1)):
        names = [path.name for path in (tmp_path / folder).iterdir()]
        assert len(names) == files_each * len(HOSTILE)
        assert len({unicodedata.normalize("NFC", name).casefold() for name in names}) == len(names)
        assert max(len(name.encode()) for name in names) <= 255
    told: list[str] = []
    options = {"output": tmp_path, "limit": 1_000_000, "progress": told.append}
    dh.bench({"字" * 300: one}, DOCUMENTS, systems, ["RR"], k=50, **options)  # type: ignore[arg-type]
    assert told
    assert all(line.endswith("finished before") for line in told)


@pytest.mark.parametrize("name", ["con", "NUL", "com1", "aux"])
def test_no_file_is_called_like_a_device_of_windows(tmp_path: Path, name: str) -> None:
    dh.bench({name: CASES}, DOCUMENTS, "bm25", ["RR"], output=tmp_path)
    assert all(path.name.lower().startswith(f"{name.lower()}-") for path in (tmp_path / "evaluations").iterdir())


@pytest.mark.slow
def test_a_name_that_looks_shortened_does_not_take_the_file_of_another(tmp_path: Path) -> None:
    dh.bench(CASES, DOCUMENTS, {"a/b": "bm25"}, ["RR"], output=tmp_path)
    runs = list((tmp_path / "runs").glob("*.json"))
    slug = next(part for part in runs[0].name.split(".") if part.startswith("a_b-"))
    dh.bench(CASES, DOCUMENTS, {"a/b": "bm25", slug: "bm25(b=0)"}, ["RR"], output=tmp_path)
    assert len(list((tmp_path / "runs").glob("*.json"))) == 2 * len(runs)
