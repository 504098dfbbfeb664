"""Saving into a folder: nothing is replaced there, and the baseline of an evaluation is found in it."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from deadheat.core.evaluation.origin import Origin
from deadheat.core.evaluation.save_folder import find_baseline, list_saves, name_of_save
from deadheat.errors import DataError, DuplicateError, ParameterError
from support.command import call, error_of, facts_of, names_in, ok
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {f"q{n}": {"a": 1} for n in range(6)}
GOOD = {query: {"a": 2.0, "b": 1.0} for query in QRELS}
BAD = {query: {"a": 1.0, "b": 2.0} for query in QRELS}


def evaluated(name: str, run: dict[str, dict[str, float]] = GOOD) -> dh.Evaluation:
    return dh.evaluate(QRELS, dh.Run(run, name=name), ["RR"])


def save_at(second: int, folder: Path, name: str, label: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(second))
    return evaluated(name).save(folder, label=label)


def test_every_save_into_a_folder_is_a_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    paths = [evaluated("dense").save(f"{tmp_path}/weeks/", label=label) for label in ("one", "one", "two", "dense", "")]
    assert [path.name for path in paths] == [
        "19700101T000000Z-one-dense.json",
        "19700101T000000Z-one-dense-2.json",
        "19700101T000000Z-two-dense.json",
        "19700101T000000Z-dense.json",
        "19700101T000000Z-dense-2.json",
    ]
    assert {path.parent for path in paths} == {tmp_path / "weeks"}
    assert [dh.load_evaluation(path).means() for path in paths] == [{"RR": 1.0}] * 5


def test_the_name_is_that_of_what_is_in_the_file(tmp_path: Path) -> None:
    path = evaluated("dense").save(tmp_path, label="main/next")
    document = json.loads(path.read_text(encoding="utf-8"))
    seconds = document["time"].replace("-", "").replace(":", "").partition(".")[0]
    assert path.name == f"{seconds}Z-main_next-dense.json"
    copy = dh.load_evaluation(path).save(tmp_path)
    assert copy.name == f"{seconds}Z-main_next-dense-2.json"


def test_the_file_of_one_run_is_not_replaced_by_another_run(tmp_path: Path) -> None:
    """A / becomes a _ in the name of a file."""
    path = evaluated("a/b").save(tmp_path, replace=True)
    assert evaluated("a/b", BAD).save(tmp_path, replace=True) == path
    with raises_parts(DataError, path=tmp_path / "a_b.json") as caught:
        evaluated("a_b").save(tmp_path, replace=True)
    assert names_in(str(caught.value.problem)) == ["a/b", "a_b"]
    (tmp_path / "qrels.json").write_text(json.dumps(QRELS))
    (tmp_path / "a_b.run").write_text("q1 Q0 a 1 1 t\n")
    command = ("evaluate", str(tmp_path / "qrels.json"), str(tmp_path / "a_b.run"), "-m", "RR", "--save", str(tmp_path))
    assert call(*command, "--replace").exit_code == 3
    assert error_of(*command, "--replace").path == tmp_path / "a_b.json"
    assert dh.load_evaluation(path).name == "a/b"


def test_many_savers_at_once_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    evaluations = [evaluated("dense", GOOD if n % 2 else BAD) for n in range(12)]
    with ThreadPoolExecutor(6) as threads:
        paths = list(threads.map(lambda one: one.save(tmp_path, label=""), evaluations))
    assert len(set(paths)) == 12
    values = [dh.load_evaluation(path).means()["RR"] for path in paths]
    assert values == [1.0 if n % 2 else 0.5 for n in range(12)]


def test_one_file_a_run_where_that_is_asked_for(tmp_path: Path) -> None:
    first = evaluated("a/dense").save(tmp_path, replace=True)
    assert first == tmp_path / "a_dense.json"
    assert evaluated("a/dense", BAD).save(tmp_path, replace=True) == first
    assert dh.load_evaluation(first).means() == {"RR": 0.5}
    with pytest.raises(ParameterError, match="replace must be True or False"):
        evaluated("dense").save(tmp_path, replace="yes")  # type: ignore[arg-type]  # what is refused


def test_a_save_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ParameterError):
        evaluated("dense").save(tmp_path, confidence_level=2)
    with pytest.raises(DataError, match="half a surrogate pair"):
        evaluated("dense").save(tmp_path, label="\ud800")
    assert list(tmp_path.iterdir()) == []


def test_a_path_without_a_slash_that_is_no_folder_says_how_to_name_one(tmp_path: Path) -> None:
    with pytest.raises(ParameterError) as caught:
        evaluated("dense").save(tmp_path / "weeks")
    assert names_in(str(caught.value.hint)) == [str(tmp_path / "weeks.json")]
    assert str(caught.value.hint).endswith(" ends in /")
    with pytest.raises(DataError, match="the file name is empty"):
        evaluated("dense").save("")
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot be created as a folder"):
        evaluated("dense").save(f"{tmp_path}/file/")


def test_a_long_name_leaves_room() -> None:
    name = name_of_save("木" * 200, Origin("2026-11-28T20:04:05.123Z", "main"))
    assert name.startswith("20261128T200405Z-main-木木")
    assert len(name.encode()) <= 240


def test_the_baseline_is_the_newest_save_of_the_same_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_at(100, tmp_path, "dense", "", monkeypatch)
    newest = save_at(300, tmp_path, "dense", "", monkeypatch)
    save_at(200, tmp_path, "dense", "", monkeypatch)
    save_at(900, tmp_path, "bm25", "", monkeypatch)
    newest.rename(tmp_path / "0.json")  # names decide nothing
    (tmp_path / "notes.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("x")
    assert find_baseline(tmp_path, "dense") == tmp_path / "0.json"
    assert [save.run for save in list_saves(tmp_path)].count("dense") == 3


def test_without_the_run_the_label_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_at(100, tmp_path, "old", "main", monkeypatch)
    newest = save_at(200, tmp_path, "old", "main", monkeypatch)
    save_at(300, tmp_path, "old", "next", monkeypatch)
    assert find_baseline(tmp_path, "new", Origin("2026-11-28T20:04:05.123Z", "main")) == newest


def test_an_evaluation_is_no_baseline_of_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = save_at(100, tmp_path, "dense", "main", monkeypatch)
    second = save_at(200, tmp_path, "dense", "main", monkeypatch)
    assert find_baseline(tmp_path, "dense", dh.load_evaluation(second).origin) == first
    first.unlink()
    with raises_parts(DataError, match="no earlier", path=tmp_path):
        find_baseline(tmp_path, "dense", dh.load_evaluation(second).origin)


def test_the_baseline_of_a_saved_evaluation_is_an_earlier_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weeks = [save_at(time, tmp_path, "dense", "main", monkeypatch) for time in (100, 200, 300)]
    assert find_baseline(tmp_path, "dense", dh.load_evaluation(weeks[1]).origin) == weeks[0]
    with raises_parts(DataError, match="no earlier", path=tmp_path):
        find_baseline(tmp_path, "dense", dh.load_evaluation(weeks[0]).origin)


def test_an_error_lists_the_saves_where_none_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_at(100, tmp_path, "dense", "main", monkeypatch)
    save_at(200, tmp_path, "bm25", "", monkeypatch)
    with raises_parts(DataError, path=tmp_path) as caught:
        find_baseline(tmp_path, "new")
    problem = str(caught.value.problem)
    assert names_in(problem) == ["new", "bm25", "dense", "main"]
    files = ["19700101T000320Z-bm25.json", "19700101T000140Z-main-dense.json"]
    assert re.findall(r"\S+\.json", problem) == files
    (tmp_path / "empty").mkdir()
    with raises_parts(DataError, path=tmp_path / "empty") as caught:
        find_baseline(tmp_path / "empty", "new")
    assert names_in(str(caught.value.problem)) == []
    assert "--save" in names_in(str(caught.value.hint))


@pytest.mark.parametrize(
    "saves",
    [
        [(100, "dense", "main"), (100, "dense", "next")],  # of one time
        [(100, "dense", "mine"), (200, "dense", "main")],  # the newest has another label
        [(100, "a", "mine"), (200, "b", "mine")],  # two runs have the label
    ],
)
def test_an_error_lists_the_saves_where_several_fit(
    saves: list[tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for second, name, label in saves:
        save_at(second, tmp_path, name, label, monkeypatch)
    with raises_parts(DataError, match="several", path=tmp_path) as caught:
        find_baseline(tmp_path, "dense", Origin("2026-11-28T20:04:05.123Z", "mine"))
    wanted, _, listed = str(caught.value.problem).partition(": ")
    assert names_in(wanted) == ["dense", "mine"]
    found = re.findall(r"run '(\w+)', label '(\w+)'", listed)
    assert sorted(found) == sorted((name, label) for _, name, label in saves)


def test_a_save_whose_lines_another_program_wrote_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save_at(100, tmp_path, "dense", "main", monkeypatch)
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8"))), encoding="utf-8")
    assert find_baseline(tmp_path, "dense") == path


@pytest.mark.plugins("gates")
def test_a_gate_takes_a_folder_as_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_at(100, tmp_path, "dense", "", monkeypatch)
    newest = save_at(200, tmp_path, "dense", "", monkeypatch)
    result = dh.gate(evaluated("dense", BAD), baseline=tmp_path)
    assert not result.passed
    assert result.baseline_file == newest.name
    assert dh.gate(evaluated("dense", BAD), baseline=newest).baseline_file == ""
    with raises_parts(DataError, match="'other'", path=tmp_path):
        dh.gate(evaluated("other"), baseline=str(tmp_path))


@pytest.mark.plugins("gates")
def test_assert_ranking_takes_a_folder_as_baseline(tmp_path: Path) -> None:
    from deadheat.plugins.gates.assertion import check_ranking

    evaluated("run").save(tmp_path, commit="of last week")
    (saved,) = tmp_path.iterdir()
    with pytest.raises(AssertionError, match="against run") as caught:
        check_ranking(QRELS, BAD, baseline=tmp_path)
    assert f"{saved.name}, the newest" in str(caught.value)
    rows = ((query, doc, score) for query, documents in GOOD.items() for doc, score in documents.items())
    result = check_ranking(QRELS, rows, baseline=tmp_path)  # rows that can be read once
    assert result.passed
    assert result.baseline_file == saved.name
    with raises_parts(DataError, match="'other'", path=tmp_path):
        check_ranking(QRELS, dh.Run(BAD, name="other"), baseline=tmp_path)


@pytest.mark.plugins("gates")
def test_an_evaluation_that_was_just_saved_is_no_baseline_of_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from deadheat.plugins.gates.assertion import check_ranking

    last_week = save_at(100, tmp_path, "run", "", monkeypatch)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "200")
    now = evaluated("run", BAD)
    now.save(tmp_path)
    now.save(tmp_path, replace=True)
    assert dh.gate(now, baseline=tmp_path).baseline_file == last_week.name
    with pytest.raises(AssertionError, match=last_week.name):
        check_ranking(now, baseline=tmp_path)
    last_week.unlink()
    with raises_parts(DataError, match="no other", path=tmp_path):
        check_ranking(now, baseline=tmp_path)


@pytest.mark.plugins("gates")
def test_a_pass_against_a_save_of_the_same_commit_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process has saved the run that a test then compares with its save."""
    from deadheat.plugins.gates.assertion import check_ranking

    monkeypatch.setenv("GITHUB_SHA", "1a2b")
    saved = evaluated("run").save(tmp_path)
    with pytest.warns(dh.DeadheatWarning, match=rf"{saved.name}, .* commit"):
        assert check_ranking(QRELS, GOOD, baseline=tmp_path)
    monkeypatch.setenv("GITHUB_SHA", "3c4d")  # a change that moves no value is no mistake
    assert check_ranking(QRELS, GOOD, baseline=tmp_path)


@pytest.mark.slow
@pytest.mark.plugins("gates")
def test_the_commands_keep_every_week(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in (("qrels", QRELS), ("dense", GOOD), ("bm25", BAD)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "100")
    command = ("evaluate", "qrels.json", "dense.json", "-m", "RR", "--label", "", "--save", "weeks/")
    assert facts_of(*command)["saved"] == "weeks/19700101T000140Z-dense.json"
    assert json.loads(ok(*command, "--format", "json"))["saved"] == ["weeks/19700101T000140Z-dense-2.json"]
    both = ok("evaluate", "qrels.json", "dense.json", "bm25.json", "-m", "RR", "--label", "", "--save", "weeks")
    assert "replaced" not in both
    assert len([*(tmp_path / "weeks").iterdir()]) == 4
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "200")
    assert facts_of(*command)["saved"] == "weeks/19700101T000320Z-dense.json"
    document = json.loads(ok("gate", "qrels.json", "dense.json", "--baseline", "weeks", "--format", "json"))
    assert document["baseline_file"] == "19700101T000320Z-dense.json"
    baseline = facts_of("gate", "qrels.json", "dense.json", "--baseline", "weeks/")["baseline"]
    assert baseline.startswith("19700101T000320Z-dense.json, the newest")
    saved = "weeks/19700101T000320Z-dense.json"
    several = call("gate", saved, "--baseline", "weeks")  # two of one time, beside itself
    assert several.exit_code == 3
    assert set(names_in(several.stderr)) == {"dense"}
    earlier = {path.name for path in (tmp_path / "weeks").glob("19700101T000140Z-dense*.json")}
    assert set(re.findall(r"\S+\.json", several.stderr)) == earlier
    none = call("gate", "qrels.json", "qrels.json", "--baseline", "weeks")
    assert none.exit_code == 3
    assert names_in(none.stderr)[0] == "qrels"
    (tmp_path / "gates.toml").write_text('[tool.deadheat.gates]\nbaseline = "weeks"\n')
    assert "the newest save that fits" in ok("gate", "qrels.json", "dense.json", "--config", "gates.toml")


def test_no_name_of_a_folder_is_magic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    names = [evaluated("dense").save(f"{tmp_path}/{folder}/", label="").name for folder in ("history", "weeks")]
    assert names == ["19700101T000000Z-dense.json"] * 2
    assert evaluated("dense").save(f"{tmp_path}/history/", replace=True).name == "dense.json"


@pytest.mark.plugins("agree")
def test_a_folder_of_several_saves_of_a_run_is_no_set_of_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for time in (100, 200):
        save_at(time, tmp_path, "dense", "main", monkeypatch)
    names = sorted(path.name for path in tmp_path.iterdir())
    with raises_parts(DuplicateError, match="--replace", path=tmp_path) as caught:
        dh.agree_systems(tmp_path, tmp_path)
    assert re.findall(r"\S+\.json", str(caught.value.problem)) == names
    with pytest.raises(DuplicateError, match=r"of dense in task .*--replace") as caught:
        dh.leaderboard(tmp_path)
    assert str(caught.value.path) in {str(tmp_path / name) for name in names}
