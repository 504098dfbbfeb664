"""deadheat validate as a user meets it: what it prints, and with which exit code."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from deadheat.errors import DataError
from deadheat.plugins.bench.cases import validate
from support.case_files import FIRST, SECOND, many, written
from support.command import call, names_in, ok

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def test_a_good_file_has_nothing_to_say(folder: Path) -> None:
    written(folder, many(200))
    assert validate("cases.json").findings == ()
    out = ok("validate", "cases.json")
    assert out.splitlines()[0].startswith("set ")
    assert re.search(r"^cases\.json: 200 cases, usable +no findings$", out, re.MULTILINE)


def test_bad_ids_are_exit_code_3_and_all_are_named(folder: Path) -> None:
    table = "text,expected_ids,language\na,HP:0001250|HP:125,de\nb,HP:0001250|HP:0001250,de\nc,HP:12,de\n"
    written(folder, table, "c.csv")
    result = call("validate", "c.csv")
    assert result.exit_code == 3
    assert result.stdout.splitlines()[:3] == [
        "c.csv: 3 cases, 3 errors",
        "       line   finding",
        "─" * 80,
    ]
    for part in (
        "error     2   c-000: expected id 'HP:125'",
        "3   c-001: expected id",
        "4   c-002: expected id 'HP:12'",
    ):
        assert part in result.stdout
    assert "distinct ids" not in result.stdout


def test_warnings_are_exit_code_0(folder: Path) -> None:
    written(folder, [SECOND, SECOND])
    out = ok("validate", "cases.json")
    assert out.partition("\n")[0].split(": ")[1].split(", ") == ["2 cases", "usable", "7 warnings"]
    assert max(map(len, out.splitlines())) <= 80


def test_a_file_that_cannot_be_read_is_one_finding_among_others(folder: Path) -> None:
    written(folder, "{", "broken.json")
    written(folder, many(200), "good.json")
    result = call("validate", "broken.json", "good.json")
    assert result.exit_code == 3
    assert "broken.json: 1 error\n" in result.stdout
    assert re.search(r"^error +1 +invalid JSON, ", result.stdout, re.MULTILINE)
    assert re.search(r"^good\.json: 200 cases, usable +no findings$", result.stdout, re.MULTILINE)
    with pytest.raises(DataError, match="no such file"):
        validate(folder / "nothing.json")


def test_findings_as_json(folder: Path) -> None:
    written(folder, [{"text": "a", "expected_hpo_ids": ["HP:1"]}])
    result = call("validate", "cases.json", "--format", "json")
    document = json.loads(result.stdout)
    assert (result.exit_code, document["is_usable"], document["files"][0]["n_errors"]) == (3, False, 1)
    first = document["files"][0]["findings"][0]
    assert names_in(first.pop("message")) == ["HP:1"]
    assert names_in(first.pop("advice")) == ["HP:0000001"]
    assert first == {
        "level": "error",
        "place": "cases.json:5",
        "case_id": "cases-000",
        "kind": "malformed_id",
        "line": 5,
    }


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "give files to check, or --schema to print the schema"),
        (("cases.json", "--schema"), 2, "give files to check, or --schema"),
        (("case.json",), 3, "case.json: no such file. Did you mean 'cases.json'?"),
        (("cases.json", "--ontology", "hp.obo"), 3, "hp.obo: no such file"),
        (("cases.json", "--id-pattern", "("), 2, "--id-pattern must be a regular expression such as"),
        (("cases.json", "--id-pattern", "a{99999999999}"), 2, "--id-pattern must be a regular expression such as"),
        (("cases.json", "--id-pattern", "(" * 500 + ")" * 500), 2, "--id-pattern must be a regular expression such as"),
        (("cases.json", "-o", "cases.json"), 2, "the output 'cases.json' is the input 'cases.json'"),
    ],
)
def test_mistakes_in_the_command(arguments: tuple[str, ...], code: int, message: str, folder: Path) -> None:
    written(folder, many(1))
    result = call("validate", *arguments)
    assert result.exit_code == code
    assert message in result.stderr


def test_the_schema_goes_to_a_file(folder: Path) -> None:
    ok("validate", "--schema", "-o", "cases.schema.json")
    assert json.loads((folder / "cases.schema.json").read_text())["$id"] == "urn:deadheat:schema:cases:1"


def test_sets_are_summarised(folder: Path) -> None:
    written(folder, [*many(3), *many(1, difficulty="hard", text="Begriff 0")], "a.json")
    written(folder, [FIRST, SECOND], "b.json")
    out = ok("validate", "a.json", "b.json")
    rows = [line.split() for line in out.splitlines()]
    assert ["a", "all", "4", "4", "3", "1"] in rows
    assert ["difficulty", "easy", "3", "3", "3", "0"] in rows
    assert ["b", "all", "2", "3", "3", "0"] in rows
    document = json.loads(ok("validate", "a.json", "b.json", "--format", "json"))
    assert list(document["sets"]["a"]) == ["all", "language", "difficulty", "category", "domain"]
    assert document["sets"]["a"]["difficulty"]["hard"]["n_cases"] == 1
    assert document["sets"]["b"]["difficulty"]["(none)"]["n_cases"] == 1


def test_long_labels_are_broken_to_fit_the_width(folder: Path) -> None:
    rows = [*many(3, domain="Abnormality of blood and blood-forming tissues"), *many(1, domain="Growth abnormality")]
    written(folder, {"metadata": {"dataset_id": "hpo-en-comprehensive-v1"}, "cases": rows})
    out = ok("validate", "cases.json")
    assert max(map(len, out.splitlines())) <= 80
    assert "domain      Abnormality of" in out
    assert ": ids, repeated texts" in out  # of what is not shown
    assert str(rows[0]["domain"]) in ok("validate", "cases.json", "--format", "json")


def test_the_format_of_a_stream_is_an_option(folder: Path) -> None:
    written(folder, many(200), "cases.txt")
    (found,) = json.loads(call("validate", "cases.txt", "--format", "json").stdout)["files"][0]["findings"]
    assert ".json, .jsonl, .csv, .tsv or .xlsx" in found["message"]
    assert found["message"].endswith("give --input-format json")
    assert "200 cases, usable" in ok("validate", "cases.txt", "--input-format", "json")
    assert "Did you mean 'json'?" in call("validate", "cases.txt", "--input-format", "jsn").stderr


def test_sets_of_one_name_are_told_apart(folder: Path) -> None:
    for language in ("german", "english"):
        (folder / language).mkdir()
        written(folder / language, many(2), "tiny.json")
    found = json.loads(ok("validate", "german/tiny.json", "english/tiny.json", "--format", "json"))
    assert list(found["sets"]) == ["german/tiny", "english/tiny"]


def test_a_spreadsheet_saved_by_excel_needs_one_flag(folder: Path) -> None:
    table = "Begriff;HPO-ID;Sprache;Schwierigkeit\r\nKrampfanfälle;HP:0001250;deutsch;leicht\r\n"
    (folder / "c.csv").write_bytes(table.encode("cp1252"))
    result = call("validate", "c.csv")
    assert result.exit_code == 3
    assert "Or give --encoding cp1252" in " ".join(result.stdout.split())
    out = ok("validate", "c.csv", "--encoding", "cp1252")
    assert out.startswith("c.csv: 1 case, usable")
    assert "difficulty  easy" in out
    result = call("validate", "c.csv", "--encoding", "cp99999")
    assert result.exit_code == 2
    assert names_in(result.stderr)[0] == "--encoding"
