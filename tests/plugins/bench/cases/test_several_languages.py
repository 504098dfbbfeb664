"""A row with texts in several languages is a case of each language, and these are a pair."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from deadheat import read_cases
from deadheat.errors import CasesError, ColumnError
from deadheat.plugins.bench.cases import validate
from support.command import call, ok
from support.workbook import write_workbook

if TYPE_CHECKING:
    from pathlib import Path

EXPECTED = [
    ("wide-000-de", "wide-000", "de", "Zittern", ("HP:0001337",), 2),
    ("wide-000-en", "wide-000", "en", "Tremor", ("HP:0001337",), 2),
    ("wide-001-de", "wide-001", "de", "Krampfanfall, Fieber", ("HP:0002373",), 3),
    ("wide-001-en", "wide-001", "en", "Febrile seizure", ("HP:0002373",), 3),
    ("wide-002-de", "wide-002", "de", "Schlaflos", ("HP:0100785",), 4),
]
ROWS = (
    ("Zittern", "Tremor", "HP:0001337"),
    ("Krampfanfall, Fieber", "Febrile seizure", "HP:0002373"),
    ("Schlaflos", "", "HP:0100785"),
)


def told(path: Path, **options: object) -> list[tuple[object, ...]]:
    cases = read_cases(path, **options)  # type: ignore[arg-type]
    return [(case.case_id, case.pair_id, case.language, case.text, case.expected_ids, case.line) for case in cases]


@pytest.mark.parametrize(
    "names",
    [
        ("Begriff deutsch", "Begriff englisch"),
        ("Deutsch", "English"),
        ("de", "en"),
        ("text_de", "text_en"),
        ("Phrase (German)", "Phrase (English)"),
        ("Befund DE", "Befund EN"),
    ],
)
def test_columns_of_languages(tmp_path: Path, names: tuple[str, str]) -> None:
    path = tmp_path / "wide.csv"
    rows = [";".join(row) for row in ((*names, "HPO-ID"), *ROWS)]
    path.write_text("\n".join(rows), encoding="utf-8")
    assert told(path) == EXPECTED
    workbook = write_workbook(
        tmp_path / "wide.xlsx",
        {
            "Tabelle1": {
                1: [*names, "HPO-ID"],
                **{line: [cell or None for cell in row] for line, row in enumerate(ROWS, 2)},
            }
        },
    )
    assert told(workbook) == EXPECTED


def test_columns_that_are_named_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    rows = [";".join(row) for row in (("Patient sagt", "Arzt schreibt", "HPO-ID"), *ROWS)]
    path.write_text("\n".join(rows), encoding="utf-8")
    columns = {"text_de": "Patient sagt", "text_en": "Arzt schreibt"}
    assert told(path, columns=columns) == EXPECTED
    out = json.loads(
        ok("validate", str(path), "--columns", "text_de=Patient sagt,text_en=Arzt schreibt", "--format", "json")
    )
    assert out["files"][0]["n_cases"] == len(EXPECTED)
    one = told(path, columns={"text_de": "Patient sagt"})  # of one language alone
    assert [row[3] for row in one] == ["Zittern", "Krampfanfall, Fieber", "Schlaflos"]


def test_ids_and_pairs_of_the_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("case_id,pair_id,de,en,expected_ids\n7,p1,Zittern,Tremor,d1\n8,,Schlaf,Sleep,d2\n")
    assert [row[:2] for row in told(path)] == [("7-de", "p1"), ("7-en", "p1"), ("8-de", "8"), ("8-en", "8")]


def test_what_is_no_language_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("question_id,question,expected_ids\nq1,pain,d1\n")
    assert told(path) == [("q1", None, None, "pain", ("d1",), 2)]
    path.write_text("Begriff,Englisch,expected_ids\nSchmerz,pain,d1\n")
    assert [row[3] for row in told(path)] == ["Schmerz"]
    (unread,) = [one for one in validate(path).findings if one.kind == "unread_field"]
    assert "text_en" in unread.advice
    path.write_text("Begriff deutsch,Phrase deutsch,Englisch,expected_ids\nSchmerz,Weh,pain,d1\n")
    with pytest.raises(ColumnError, match="without a column 'text'"):
        read_cases(path)


@pytest.mark.parametrize(("header", "cell"), [("Sprache", "de"), ("Begriff", "Schmerz")])
def test_columns_of_languages_beside_another_text_or_language(tmp_path: Path, header: str, cell: str) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(f"Deutsch,Englisch,{header},expected_ids\nSchmerz,pain,{cell},d1\n")
    with pytest.raises(ColumnError, match=repr(header)):
        read_cases(path, columns={"text_de": "Deutsch", "text_en": "Englisch"})


def test_errors_have_the_line_of_the_row(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("Deutsch;Englisch;HPO-ID\nZittern;Tremor;HP:0001337\nSchlaflos;Insomnia;HP:12\n;;HP:0001337\n")
    with pytest.raises(CasesError) as caught:
        read_cases(path)
    found = [(one.line, one.case_id, one.kind) for one in caught.value.findings]
    assert found == [(3, "wide-001-de", "malformed_id"), (3, "wide-001-en", "malformed_id"), (4, "wide-002", "no_text")]


def test_json_has_them_too(tmp_path: Path) -> None:
    path = tmp_path / "wide.json"
    path.write_text('[{"de": "Zittern", "en": "Tremor",\n "expected_ids": ["HP:1"]}]')
    with pytest.raises(CasesError) as caught:
        read_cases(path)
    assert [(one.case_id, one.line) for one in caught.value.findings] == [("wide-000-de", 2), ("wide-000-en", 2)]


def test_a_bench_compares_the_languages_of_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The English text is found first, the German one is not found: RR 1 and 0."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "documents.csv").write_text("id,text\nd1,tremor\nd2,insomnia\n")
    (tmp_path / "wide.csv").write_text("Deutsch,English,expected_ids\nZittern,tremor,d1\nSchlaflos,insomnia,d2\n")
    arguments = ("--collection", "documents.csv", "--retriever", "bm25", "-m", "RR", "--format", "json")
    found = json.loads(call("bench", "wide.csv", *arguments).stdout)
    means = found["means"]["wide"]
    assert {language: own["bm25"]["RR"]["mean"] for language, own in means.items()} == {"de": 0.0, "en": 1.0}
    differences = found["language_differences"]["wide"]["bm25"]
    assert differences["en"]["de"]["RR"]["difference"] == 1.0
