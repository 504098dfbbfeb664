"""Labelled cases: what is read from which format, and what is refused with which message."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

import deadheat as dh
from deadheat.errors import CasesError, ParameterError
from deadheat.plugins.bench.cases import Case, Cases, summarise
from support.case_files import FIRST, METADATA, SECOND, write_cases, written
from support.error_parts import raises_parts
from support.shared_data import BENCHMARKS, COUNTS, needs_shared_data

if TYPE_CHECKING:
    from pathlib import Path


def check_both(cases: dh.Cases) -> None:
    first, second = cases
    assert first == Case(
        "de_neuro_001",
        "Krampfanfälle",
        ("HP:0001250",),
        (1.0,),
        description="German word for seizures",
        language="de",
        difficulty="easy",
        category="exact_match",
        domain="nervous system",
    )
    assert (second.case_id, second.relevance) == (f"{'_'.join(cases.name.split())}-001", (2.0, 0.5))
    assert second.difficulty is None


@pytest.mark.parametrize("key", ["cases", "test_cases"])
def test_json_with_metadata(key: str, tmp_path: Path) -> None:
    cases = dh.read_cases(written(tmp_path, {"metadata": METADATA, key: [FIRST, SECOND]}))
    check_both(cases)
    assert cases.name == "neuro de"
    assert cases.metadata == METADATA
    assert repr(cases) == "<Cases neuro de: 2 cases, languages de>"


def test_names_without_hpo(tmp_path: Path) -> None:
    renamed = {{"expected_hpo_ids": "expected_ids", "hpo_domain": "domain"}.get(key, key): FIRST[key] for key in FIRST}
    plain, hpo = (dh.read_cases(written(tmp_path, [row])) for row in (renamed, FIRST))
    assert plain.cases == hpo.cases
    assert plain.name == "cases"


def test_json_lines(tmp_path: Path) -> None:
    lines = [json.dumps({"metadata": METADATA}), "", json.dumps(FIRST), json.dumps(SECOND)]
    path = tmp_path / "cases.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    cases = dh.read_cases(path)
    check_both(cases)
    assert [case.line for case in cases] == [3, 4]


def test_csv(tmp_path: Path) -> None:
    table = (
        "case_id,text,description,expected_ids,language,difficulty,category,domain,relevance\n"
        "de_neuro_001,Krampfanfälle,German word for seizures,HP:0001250,de,easy,exact_match,nervous system,\n"
        ',"Zittern mit Kribbeln",,HP:0001337 | HP:0003401,de,,,,2|0.5\n'
    )
    cases = dh.read_cases(written(tmp_path, table, "neuro.csv"))
    check_both(cases)
    assert [case.line for case in cases] == [2, 3]


def test_the_table_and_the_judgments_fit_each_other(tmp_path: Path) -> None:
    cases = dh.read_cases(written(tmp_path, {"metadata": METADATA, "cases": [FIRST, SECOND]}))
    frame = cases.queries()
    assert frame.columns == ["query_id", "text", "language", "difficulty", "category", "domain"]
    queries = dh.Queries(frame)
    assert queries.query_ids == list(cases.qrels().to_dict()) == ["de_neuro_001", "neuro_de-001"]
    assert queries.column("difficulty", queries.query_ids) == ["easy", None]
    assert cases.qrels().to_dict()["neuro_de-001"] == {"HP:0001337": 2.0, "HP:0003401": 0.5}
    assert [case.text for case in cases] == ["Krampfanfälle", "Zittern mit Kribbeln"]
    run = {"de_neuro_001": {"HP:0001250": 1.0}, "neuro_de-001": {"HP:0001337": 1.0}}
    assert dh.evaluate(cases.qrels(), run, ["Hit@1"]).means() == {"Hit@1": 1.0}


def test_grades_by_id(tmp_path: Path) -> None:
    row = {**SECOND, "relevance": {"HP:0003401": 1, "HP:0001337": 3}}
    assert dh.read_cases(written(tmp_path, [row])).cases[0].relevance == (3.0, 1.0)


def test_languages(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{**FIRST, "case_id": None, "language": "en"}, SECOND, SECOND]
    cases = dh.read_cases(written(tmp_path, rows), language="fr")
    assert cases.languages == ("en", "fr")
    assert {language: len(part) for language, part in cases.by_language().items()} == {"en": 1, "fr": 2}
    plain = dh.read_cases(written(tmp_path, rows[1:]))
    assert plain.languages == ()
    assert list(plain.by_language()) == [None]


def test_a_language_is_spelled_in_one_way(tmp_path: Path) -> None:
    rows = [{**SECOND, "case_id": code, "language": code} for code in ("en", "EN", "en-gb", "en_GB", "En-GB")]
    cases = dh.read_cases(written(tmp_path, rows))
    assert {language: len(part) for language, part in cases.by_language().items()} == {"en": 2, "en-gb": 3}
    assert dh.read_cases(written(tmp_path, [SECOND]), language="DE").languages == ("de",)


@pytest.mark.parametrize(
    ("folder", "language", "option", "found", "is_said"),
    [
        ("german", None, None, "de", True),
        ("Deutsch", None, None, "de", True),
        ("es", None, None, "es", True),
        ("german", "en", None, "en", False),
        ("german", None, "fr", "fr", False),
        ("cases", None, None, None, False),
        ("german-layperson", None, None, None, False),
    ],
)
def test_the_folder_says_the_language_that_nobody_else_says(
    folder: str, language: str | None, option: str | None, found: str | None, *, is_said: bool, tmp_path: Path
) -> None:
    (tmp_path / folder).mkdir()
    metadata = {"dataset_id": "d"} | ({"language": language} if language else {})
    path = written(tmp_path / folder, {"metadata": metadata, "cases": [FIRST, SECOND]})
    cases = dh.read_cases(path, language=option)
    assert {case.language for case in cases} == {found}
    said = f"d: 2 cases of language {found}, as the folder {folder} says"
    assert cases.notes == ((said,) if is_said else ())


def test_cases_keep_their_own_language_in_a_folder_of_another(tmp_path: Path) -> None:
    (tmp_path / "german").mkdir()
    cases = dh.read_cases(written(tmp_path / "german", [FIRST | {"language": "en"}, SECOND]))
    assert [case.language for case in cases] == ["en", "de"]
    assert cases.notes == ("cases: 1 case of language de, as the folder german says",)
    texts = tmp_path / "terms.csv"
    texts.write_text("id,text\n" + "".join(f"{one},seizure\n" for case in cases for one in case.expected_ids))
    report = dh.bench(cases, texts, "bm25", "RR", n_resamples=99).report()
    assert cases.notes[0] in " ".join(report.split())


def test_a_quick_look(tmp_path: Path) -> None:
    cases = dh.read_cases(written(tmp_path, [FIRST, SECOND]))
    assert [case.case_id for case in cases.limit(1)] == ["de_neuro_001"]
    assert len(cases.limit(99)) == 2
    for wrong in (0, -1, True, "2"):
        with raises_parts(ParameterError, argument="a limit of cases", allowed="a whole number from 1 on"):
            cases.limit(wrong)  # type: ignore[arg-type]


def test_a_set_in_numbers(tmp_path: Path) -> None:
    rows = [FIRST, SECOND, {**SECOND, "text": " zittern MIT Kribbeln"}]
    whole, *parts = summarise(dh.read_cases(written(tmp_path, rows)))
    easy, without = (part for part in parts if part["by"] == "difficulty")
    counts = {"n_cases": 3, "n_ids": 5, "n_distinct_ids": 3, "n_repeated_texts": 1}
    assert whole == {"by": "all", "value": None, **counts}
    assert (easy["value"], easy["n_cases"], without["value"], without["n_cases"]) == ("easy", 1, None, 2)


@needs_shared_data
@pytest.mark.parametrize("name", COUNTS)
def test_the_cases_that_exist_today(name: str) -> None:
    cases = dh.read_cases(BENCHMARKS / f"{name}.json")
    assert (len(cases), len({one for case in cases for one in case.expected_ids})) == COUNTS[name]
    assert cases.cases[0].case_id == f"{name}-000"
    raw = json.loads((BENCHMARKS / f"{name}.json").read_text(encoding="utf-8"))
    assert [(case.text, case.description, list(case.expected_ids)) for case in cases] == [
        (row["text"], row["description"], row["expected_hpo_ids"]) for row in raw
    ]
    lines = (BENCHMARKS / f"{name}.json").read_text(encoding="utf-8").splitlines()
    assert all(lines[case.line - 1].strip() == "{" for case in cases if case.line)


@pytest.mark.parametrize(
    ("ids", "grades", "message"),
    [
        ("T1", (1.0, 1.0), r"case 'a': expected_ids must be several ids, got the text 'T1': write \('T1',\)"),
        (("T1", "T2"), (1.0,), "case 'a': relevance must have a grade for each of the 2 expected ids, got 1"),
        (("T1", "T2", "T1"), (1.0, 1.0, 1.0), "case 'a': expected id 'T1' appears 2 times, expected once"),
        (("T1", "T2"), (1.0, 0.0), r"case 'a': each grade of relevance must be a positive number, got \(1.0, 0.0\)"),
        (("T1",), (float("nan"),), "each grade of relevance must be a positive number"),
        (("T1",), (float("inf"),), "each grade of relevance must be a positive number"),
        (("T1",), (10**400,), "each grade of relevance must be a positive number"),
        (("T1",), ("2",), r"each grade of relevance must be a positive number, got \('2',\)"),
    ],
)
def test_a_case_of_ones_own_is_checked(ids: Any, grades: Any, message: str) -> None:  # noqa: ANN401 - wrong ones
    with pytest.raises(CasesError, match=message):
        Case("a", "text", ids, grades)


def test_cases_of_ones_own_have_an_id_each() -> None:
    one, other = Case("a", "fits", ("T1",), (1.0,)), Case("a", "cough", ("T2",), (1.0,))
    with pytest.raises(CasesError, match=r"2 cases .*case_id 'a'"):
        Cases("mine", {}, (one, other))
    assert len(Cases("mine", {}, (one,))) == 1


def test_a_file_of_cases_is_a_table_of_queries(tmp_path: Path) -> None:
    labels = {"difficulty": "easy", "category": "synonym", "domain": "d"}
    cases = Cases("mine", {}, (Case("a", "Anfall", ("HP:0001250",), (1.0,), language="de", **labels),))  # type: ignore[arg-type]
    write_cases(tmp_path / "mine.json", cases)
    queries = dh.Queries(tmp_path / "mine.json")
    assert queries.query_ids == ["a"]
    assert [queries.column(name, ["a"]) for name in ("language", "difficulty")] == [["de"], ["easy"]]
