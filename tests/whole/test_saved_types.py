"""Values of other types in a save, with a hash that fits: each is an error that names the place, or does no harm."""

from __future__ import annotations

import datetime as dt
import json
import warnings
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import deadheat as dh
from deadheat.errors import DataError, FileFormatError, ParameterError
from support.changed_documents import copied, places
from support.changed_saves import change_table, changed_values, saved_documents, use, write_sealed
from support.command import call
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Iterable

QRELS, RUN = {"q1": {"d1": 1}}, {"q1": {"d2": 2.0, "d1": 1.0}}


def faults_in(documents: Iterable[tuple[str, dict[str, Any]]], folder: Path) -> list[str]:
    """Return what is no error of deadheat."""
    path, faults = folder / "x.json", []
    for what, document in documents:
        write_sealed(document, path)
        try:
            use(path)
        except dh.DeadheatError:
            continue
        except Exception as error:  # noqa: BLE001 - what is looked for
            faults.append(f"{what}: {type(error).__name__}: {error}"[:200])
    return faults


@pytest.mark.plugins("spans")
def test_an_object_in_place_of_any_value_is_refused(tmp_path: Path) -> None:
    document = json.loads(saved_documents()[0])
    unread = ["deadheat", "sha256", "data.encoding"]
    for *way, key in places(document):
        place = ".".join(map(str, [*way, key]))
        changed, inner = copied(document, way)
        inner[key] = {"x": {"y": []}}
        write_sealed(changed, tmp_path / "x.json")
        if place in unread or place.startswith("intervals"):
            continue
        with pytest.raises(FileFormatError):
            dh.load_evaluation(tmp_path / "x.json")


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(saved_documents())))
def test_values_of_other_types_are_refused_or_do_no_harm(number: int, tmp_path: Path) -> None:
    document = json.loads(saved_documents()[number])
    with warnings.catch_warnings(action="ignore"):
        assert not faults_in(changed_values(document, 5), tmp_path)


@pytest.mark.slow
def test_changed_tables_are_refused_or_do_no_harm(tmp_path: Path) -> None:
    rng, documents = Random(7), []
    for number in range(150):
        document = json.loads(rng.choice(saved_documents()))
        change_table(document, rng)
        documents.append((f"number {number}", document))
    with warnings.catch_warnings(action="ignore"):
        assert not faults_in(documents, tmp_path)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("label", 1, "label is 1, expected text"),
        ("commit", ["x"], "commit is ['x'], expected text"),
        ("notes", [5], "notes[0] is 5, expected text"),
        ("n_queries", True, "n_queries is True, expected a whole number from 0 on"),
        ("measures", [], "measures is [], expected an object"),
        ("conventions", {"ties": 5}, "ties must be one of"),
        ("data", None, "data is None, expected an object"),
    ],
)
def test_the_error_names_the_place(key: str, value: object, message: str, tmp_path: Path) -> None:
    document = json.loads(saved_documents()[0])
    document[key] = value
    write_sealed(document, tmp_path / "x.json")
    with raises_parts(FileFormatError, path=tmp_path / "x.json") as caught:
        dh.load_evaluation(tmp_path / "x.json")
    assert f"a saved evaluation: {message}" in str(caught.value)


@pytest.mark.parametrize("name", ["label", "commit"])
@pytest.mark.parametrize("given", [1, True, ["a"], b"a", {"a": 1}, dt.date(2026, 1, 1), Path("a")])
@pytest.mark.parametrize("target", ["", "x.json"])
def test_labels_and_commits_are_text(name: str, given: Any, target: str, tmp_path: Path) -> None:  # noqa: ANN401 - none of them is right
    options: Any = {name: given}
    with raises_parts(ParameterError, argument=name, allowed="text", given=given):
        dh.evaluate(QRELS, RUN, "RR").save(tmp_path / target, **options)
    assert not list(tmp_path.iterdir())


def test_a_damaged_save_in_a_folder_is_named_and_the_others_are_shown(tmp_path: Path) -> None:
    for number in (1, 2):
        document = json.loads(saved_documents()[0])
        document["time"] = f"2026-11-0{number}T00:00:00.000Z"
        write_sealed(document, tmp_path / f"week{number}.json")
    document["label"] = 1
    write_sealed(document, tmp_path / "week3.json")
    (tmp_path / "week4.json").write_text((tmp_path / "week1.json").read_text()[:-20])
    found = dh.history(tmp_path)
    assert [step.file for step in found.steps] == [str(tmp_path / f"week{number}.json") for number in (1, 2)]
    wrong, cut = found.notes
    assert "week3.json: " in wrong
    assert "label is 1, expected text" in wrong
    assert "week4.json" in cut
    assert "damaged or incomplete" in cut
    shown = call("history", tmp_path)
    assert "week3.json" in shown.output
    with pytest.raises(FileFormatError, match=r"week3\.json"):
        dh.history([tmp_path / "week1.json", tmp_path / "week3.json"])
    for number in (1, 2):
        (tmp_path / f"week{number}.json").unlink()
    with pytest.raises(FileFormatError, match=r"week3\.json"):
        dh.history(tmp_path)


@pytest.mark.parametrize("given", ["9" * 5000, "9" * 15, str(10**12)])
def test_a_time_that_is_beyond_all_dates_is_refused(
    given: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", given)
    with pytest.raises(DataError, match=r"SOURCE_DATE_EPOCH, .* 9999, got"):
        dh.evaluate(QRELS, RUN, "RR").save(tmp_path / "x.json")


def test_other_text_for_the_time_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "²")  # a digit to Python, and no number
    assert dh.evaluate(QRELS, RUN, "RR").save(tmp_path / "x.json").exists()
