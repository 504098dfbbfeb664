"""Fields of cases by the names that users give them, and by names that they say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from deadheat import read_cases
from deadheat.errors import CasesError, ColumnError, ParameterError
from deadheat.plugins.bench.cases import validate
from support.command import call, ok
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("text", ["text", "phrase", "query", "question", "input"])
@pytest.mark.parametrize("ids", ["expected", "expected_id", "expected_ids", "gold", "gold_id", "expected_term"])
def test_columns_as_users_call_them(text: str, ids: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(f"{text},{ids},language\nbrain tumor,d1|d2,en\n")
    (case,) = read_cases(path)
    assert (case.text, case.expected_ids, case.language) == ("brain tumor", ("d1", "d2"), "en")
    assert not [one for one in validate(path).findings if one.kind == "unread_field"]


def test_the_name_of_the_field_itself_counts_before_others(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("query,text,expected,expected_hpo_ids,query_id\nx,pain,no,HP:0012531,q7\n")
    (case,) = read_cases(path)
    assert (case.case_id, case.text, case.expected_ids) == ("q7", "pain", ("HP:0012531",))


def test_json_has_other_names_too_and_its_errors_keep_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('[\n{"phrase": "a",\n"expected_id": "HP:0000001"},\n{"phrase": "b",\n"expected_id": "HP:1"}]')
    with pytest.raises(CasesError, match=r"mine.json:5: .*expected id 'HP:1' does not match") as found:
        read_cases(path)
    assert len(found.value.findings) == 1
    path.write_text(json.dumps([{"phrase": "a", "expected_id": "x"}]))
    assert [case.expected_ids for case in read_cases(path)] == [("x",)]


def test_two_columns_of_expected_things_are_not_guessed(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("text,expected_term,expected_code\na,b,c\n")
    with pytest.raises(ColumnError, match=r"give columns=\{'expected_ids': 'expected_term'\}"):
        read_cases(path)
    (case,) = read_cases(path, columns={"expected_ids": "expected_code"})
    assert case.expected_ids == ("c",)


def test_semicolons_as_excel_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    for first in ("", "sep=;\n"):
        path.write_text(f"{first}phrase;expected_id\npain, chest;HP:0100749|HP:0012531\n")
        (case,) = read_cases(path)
        assert (case.text, len(case.expected_ids), case.line) == ("pain, chest", 2, 3 if first else 2)


def test_names_that_are_said(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("symptom,term\nchest pain,HP:0100749\n")
    named = "text=symptom,expected_ids=term"
    assert call("validate", path).exit_code == 3
    out = ok("validate", path, "--columns", named)
    assert "case, usable" in out
    assert "distinct ids" in out
    documents = tmp_path / "documents.csv"
    documents.write_text("id,text\nHP:0100749,chest pain\nHP:0012531,pain\n")
    assert "RR" in ok("bench", path, "--columns", named, "--collection", documents)
    refused = call("bench", path, "--collection", documents).stderr
    assert "found 'symptom', 'term'; expected case_id, text, expected_ids, ...: give --columns text=symptom" in refused


def test_a_name_that_is_said_counts_instead_of_the_field_of_that_name(tmp_path: Path) -> None:
    for name, text in (
        ("mine.csv", "text,expected_ids,other\na,b,c\n"),
        ("mine.json", '[{"text": "a", "expected_ids": ["b"], "other": ["c"]}]'),
    ):
        path = tmp_path / name
        path.write_text(text)
        (case,) = read_cases(path, columns={"expected_ids": "other"})
        assert case.expected_ids == ("c",)


def test_names_that_are_said_wrongly(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("symptom,term\nchest pain,HP:0100749\n")
    with raises_parts(ColumnError, allowed="one of 'symptom', 'term'", hint="Did you mean 'symptom'?"):
        read_cases(path, columns={"text": "symptm"})
    with raises_parts(ParameterError, argument="columns", given="txt"):
        read_cases(path, columns={"txt": "symptom"})


@pytest.mark.parametrize(
    "header",
    [
        "Begriff,HPO-ID,Sprache,Schwierigkeit",
        "Text,Expected IDs,Language,Difficulty",
        "terme,HPO,langue,difficulté",
        "Término,hpo_id,Idioma,Dificultad",
    ],
)
def test_columns_of_a_spreadsheet_as_a_clinician_writes_it(header: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(f"{header}\nKrampf,HP:0001250,Deutsch,mittel\nfits,HP:0001250,englisch,leicht\n")
    first, second = read_cases(path)
    assert (first.text, first.expected_ids, first.language, first.difficulty) == (
        "Krampf",
        ("HP:0001250",),
        "de",
        "medium",
    )
    assert (second.language, second.difficulty) == ("en", "easy")
    assert not [one for one in validate(path).findings if one.kind in {"unread_field", "schema"}]


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("Spanisch", "es"),
        ("englisch", "en"),
        ("FRANÇAIS", "fr"),
        ("allemand", "de"),
        (" Italienisch ", "it"),
        ("pt_BR", "pt-br"),
        ("Klingonisch", "klingonisch"),
    ],
)
@pytest.mark.parametrize("form", ["csv", "json"])
def test_languages_in_words(word: str, code: str, form: str, tmp_path: Path) -> None:
    path = tmp_path / f"mine.{form}"
    row = {"text": "x", "expected_ids": "D1", "language": word}
    in_json = json.dumps([{**row, "expected_ids": ["D1"]}])
    path.write_text(in_json if form == "json" else f"{','.join(row)}\n{','.join(row.values())}\n")
    (case,) = read_cases(path)
    assert case.language == code
    (bare,) = read_cases(path, columns={"category": "language"}, language=word) if form == "csv" else [case]
    assert bare.language == code


@pytest.mark.parametrize(
    ("word", "level"),
    [
        ("leicht", "easy"),
        ("Mittel", "medium"),
        ("SCHWER", "hard"),
        ("difficile", "hard"),
        ("fácil", "easy"),
        ("ok", "ok"),
    ],
)
def test_difficulties_in_words(word: str, level: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(f"text,expected_ids,difficulty\nx,D1,{word}\n")
    assert [case.difficulty for case in read_cases(path)] == [level]


def test_all_columns_that_lack_are_asked_for_at_once(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("Nr,Kode,Symptom\n1,HP:0001250,Krampf\n2,HP:0002315,Kopfweh seit drei Tagen\n")
    advice = "--columns text=Symptom,expected_ids=Kode"
    result = call("validate", str(path))
    assert "without a column 'text' and without 'expected_ids': found 'Nr', 'Kode', 'Symptom'" in " ".join(
        result.stdout.split()
    )
    assert advice in " ".join(result.stdout.split())
    assert "2 cases, usable" in ok("validate", str(path), *advice.split())
    path.write_text("Symptom\nKrampf\n")
    with pytest.raises(ColumnError, match=r"give columns=\{'text': 'Symptom', 'expected_ids': '\.\.\.'\}"):
        read_cases(path)
