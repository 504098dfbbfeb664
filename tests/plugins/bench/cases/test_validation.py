"""Validation of labelled cases: what is found, and what is advised."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from deadheat.errors import MissingDependencyError
from deadheat.plugins.bench.cases import read_cases, schema_text, validate
from deadheat.plugins.bench.cases.validation import half_width
from deadheat.plugins.bench.languages import guess
from deadheat.plugins.bench.ontology import Ontology, Synonym
from support.case_files import FIRST, LABELS, METADATA, SECOND, many, written
from support.command import names_in, ok
from support.numbers_in_text import numbers_in
from support.shared_data import BENCHMARKS, COUNTS, hpo_ontology, needs_shared_data

if TYPE_CHECKING:
    from pathlib import Path

    from deadheat.plugins.bench.cases import Finding, Validation

SMALL = Ontology.from_parents(
    {"HP:0000001": [], "HP:0001250": ["HP:0000001"], "HP:0001762": ["HP:0000001"]},
    labels={"HP:0001250": "Seizure", "HP:0001762": "Talipes equinovarus"},
    synonyms={"HP:0001762": [Synonym("Talipes varus")]},
    obsolete={"HP:0002069": ["HP:0001250"], "HP:0000057": []},
    alternatives={"HP:0001275": "HP:0001250"},
)


def of_kind(found: Validation, kind: str) -> list[Finding]:
    return [one for one in found.findings if one.kind == kind]


def only(found: Validation, kind: str) -> Finding:
    (one,) = of_kind(found, kind)
    return one


def test_the_schema_is_a_schema_and_is_printed() -> None:
    from jsonschema import Draft202012Validator

    schema = json.loads(ok("validate", "--schema"))
    assert schema == json.loads(schema_text())
    Draft202012Validator.check_schema(schema)
    check = Draft202012Validator(schema)
    assert check.is_valid([FIRST, SECOND])
    assert check.is_valid({"metadata": METADATA, "test_cases": [FIRST]})
    assert check.is_valid({"cases": [{"text": "t", "expected_ids": ["x"], "relevance": {"x": 2}}]})
    assert check.is_valid([{"text": "t", "expected_ids": []}])
    for wrong in (
        [],
        {},
        {"cases": [FIRST], "test_cases": [FIRST]},
        [{"text": "t"}],
        [{"expected_ids": ["x"]}],
        [{"text": " ", "expected_ids": ["x"]}],
        [{"text": "t", "expected_ids": ["x", "x"]}],
        [{"text": "t", "expected_hpo_ids": ["HP:125"]}],
        [{**FIRST, "difficulty": "expert"}],
        [{**FIRST, "category": "guess"}],
        [{**SECOND, "relevance": [0, 1]}],
        [{"text": "t", "expected_ids": None}],
        [{"text": "t", "expected_ids": ["x"], "expected_hpo_ids": ["HP:0001250"]}],
        {"metadata": {"language": "German"}, "cases": [FIRST]},
    ):
        assert not check.is_valid(wrong), wrong


@pytest.mark.parametrize(
    ("fields", "message", "advice"),
    [
        ({"difficulty": "Hart"}, "difficulty is 'Hart', expected one of easy, medium, hard", "Did you mean 'hard'?"),
        (
            {"category": "typo"},
            "category is 'typo', expected one of exact_match, synonym,",
            "Other words make strata",
        ),
        ({"language": "Klingon"}, "language is 'Klingon', expected a code", "Write its ISO 639 code."),
        ({"description": 7}, "description is 7, expected text", "Write it in quotes."),
        ({"domain": ["a"]}, 'domain is ["a"], expected text', ""),
    ],
)
def test_what_the_schema_does_not_allow_is_a_warning(
    fields: dict[str, object], message: str, advice: str, tmp_path: Path
) -> None:
    found = validate(written(tmp_path, [*many(2), *many(1, **fields, text="anderes")]))
    one = only(found, "schema")
    assert found.is_usable
    assert one.level == "warning"
    assert one.message.startswith(message)
    assert one.advice.startswith(advice)
    assert one.line is not None
    assert next(iter(fields)) in (tmp_path / "cases.json").read_text().splitlines()[one.line - 1]


def test_the_same_violation_is_said_once(tmp_path: Path) -> None:
    one = only(validate(written(tmp_path, many(7, difficulty="expert"))), "schema")
    assert names_in(one.message) == ["expert"]
    assert numbers_in(one.message) == [7, 8, 18, 28, 38, 48, 2]  # cases, lines, and more of them


def test_metadata_too(tmp_path: Path) -> None:
    metadata = {"dataset_id": "d", "version": 1.0, "language": "german"}
    found = validate(written(tmp_path, {"metadata": metadata, "cases": many(1)}))
    named = [(one.line, one.message.partition(",")[0]) for one in of_kind(found, "schema")]
    assert named == [(4, "metadata.version is 1.0"), (5, "metadata.language is 'german'")]


def test_how_to_name_the_language(tmp_path: Path) -> None:
    lines = written(tmp_path, '{"text": "a", "expected_ids": ["b"]}', "c.jsonl")
    found = of_kind(validate(lines), "missing_label")[0]
    assert found.message == "the case lacks a language"
    assert "metadata.language" in found.advice
    assert names_in(found.advice) == ["--language"]


def test_fields_that_nothing_reads(tmp_path: Path) -> None:
    found = validate(written(tmp_path, many(2, dificulty="easy", hpo_domain="x", note="n", id="i")))
    unread = of_kind(found, "unread_field")
    assert [names_in(one.message) for one in unread] == [["dificulty"], ["hpo_domain"], ["note"], ["id"]]
    assert [numbers_in(one.message) for one in unread] == [[2, 2, 16]] * 4  # cases, and their lines
    advice = [
        "Did you mean 'difficulty'?",
        "Keep one of domain and hpo_domain.",
        "",
        "If it identifies the case, name it case_id.",
    ]
    assert [one.advice for one in unread] == advice


def test_an_id_beside_a_case_id_gets_no_advice(tmp_path: Path) -> None:
    (case,) = many(1, id="i")
    found = validate(written(tmp_path, [case | {"case_id": "c"}]))
    assert only(found, "unread_field").advice == ""


def test_keys_beside_the_cases(tmp_path: Path) -> None:
    document = {"$schema": "x", "language": "de", "cases": many(1), "metdata": {}}
    found = of_kind(validate(written(tmp_path, document)), "unread_field")
    assert [names_in(one.message) for one in found] == [["language", "cases"], ["metdata", "cases"]]
    assert [one.advice for one in found] == ["Move it into metadata.", "Did you mean 'metadata'?"]
    lines = (tmp_path / "cases.json").read_text(encoding="utf-8").splitlines()
    assert [lines[one.line - 1].split('"')[1] for one in found if one.line] == ["language", "metdata"]
    read = {"metadata": METADATA, "test_cases": many(1)}
    assert of_kind(validate(written(tmp_path, read)), "unread_field") == []


def test_an_empty_domain_is_none(tmp_path: Path) -> None:
    path = written(tmp_path, many(1, domain="", hpo_domain="y"))
    assert of_kind(validate(path), "unread_field") == []
    assert read_cases(path).cases[0].domain == "y"
    both = validate(written(tmp_path, many(1, domain="x", hpo_domain="y")))
    assert names_in(only(both, "unread_field").message) == ["hpo_domain"]


@pytest.mark.parametrize(
    ("name", "other"), [("expected_ids", "expected_hpo_ids"), ("expected_hpo_ids", "expected_ids")]
)
def test_null_beside_the_expected_ids_is_none(name: str, other: str, tmp_path: Path) -> None:
    (row,) = many(1, expected_ids=None)
    path = written(tmp_path, [{**row, name: None, other: ["HP:0001250"]}])
    assert of_kind(validate(path), "schema") == []
    assert read_cases(path).cases[0].expected_ids == ("HP:0001250",)
    neither = validate(written(tmp_path, [{**row, name: None, other: None}]))
    assert [one.kind for one in neither.errors] == ["no_expected_id"]


def test_labels_that_are_missing(tmp_path: Path) -> None:
    rows = many(3)
    del rows[1]["difficulty"]
    for row in rows:
        del row["language"]
    found = validate(written(tmp_path, rows))
    (language, difficulty) = (one.message for one in of_kind(found, "missing_label"))
    assert language == "all cases lack a language"
    assert "difficulty" in difficulty
    assert numbers_in(difficulty) == [1, 3, 11]  # cases, and the line
    assert "give --language, such as de." in of_kind(found, "missing_label")[0].advice
    assert only(validate(tmp_path / "cases.json", language="de"), "missing_label").message.endswith("(line 11)")


def test_the_folder_may_know_the_language(tmp_path: Path) -> None:
    (tmp_path / "german").mkdir()
    path = written(tmp_path / "german", [SECOND])
    found = only(validate(path), "language_of_folder")
    assert found.message.startswith("1 case of language de, ")
    assert "german" in found.message
    assert not of_kind(validate(path, language="fr"), "language_of_folder")
    assert "language_of_folder" not in {one.kind for one in validate(written(tmp_path, [SECOND])).findings}


def test_texts_that_repeat(tmp_path: Path) -> None:
    rows = many(6)
    rows[3]["text"] = "begriff  0"
    rows[4] |= {"text": "Begriff 1", "expected_ids": ["t1"]}
    rows[5] |= {"text": "Begriff 2", "language": "en"}
    found = validate(written(tmp_path, rows))
    other, same = only(found, "contradicting_text"), only(found, "repeated_text")
    assert names_in(other.message) == ["Begriff 0"]
    assert numbers_in(other.message.replace("Begriff 0", "")) == [2, 2, 32]  # times, and their lines
    assert (other.case_id, other.line) == ("cases-003", 32)
    assert names_in(same.message) == ["Begriff 1"]
    assert numbers_in(same.message.replace("Begriff 1", "")) == [2, 12, 42]
    of_german = only(found, "shared_ids").message
    assert (names_in(of_german), numbers_in(of_german)) == (["de"], [1, 5, 42])  # cases, and the line
    assert not of_kind(validate(written(tmp_path, [*many(3), *many(3, language="en")])), "shared_ids")
    (alone,) = of_kind(validate(written(tmp_path, many(2, expected_ids=["t1"]))), "shared_ids")
    assert alone.message.startswith("1 of 2 cases expect")


def test_ids_and_the_ontology(tmp_path: Path) -> None:
    ids = ["HP:0001250", "HP:0002069", "HP:0000057", "HP:0001275", "HP:0025802", "HP:9999999", "HP:9999999"]
    rows = [{**row, "expected_ids": [one]} for row, one in zip(many(7), ids, strict=True)]
    rows[4]["description"] = "Talipes varus"
    found = validate(written(tmp_path, rows), ontology=SMALL)
    assert found.is_usable
    (replaced, gone) = of_kind(found, "obsolete_id")
    assert names_in(replaced.message) == ["HP:0002069", "HP:0001250"]
    assert "use 'HP:0001250' (Seizure)" in replaced.message
    assert "without a replacement" in gone.message
    merged = only(found, "merged_id")
    assert names_in(merged.message) == ["HP:0001275", "HP:0001250"]
    assert "use 'HP:0001250' (Seizure)" in merged.message
    named, unknown = of_kind(found, "unknown_id")
    assert named.case_id == "cases-004"
    assert names_in(named.advice) == ["Talipes varus", "HP:0001762"]
    assert "(Talipes equinovarus)" in named.advice
    assert names_in(unknown.message) == ["HP:9999999"]
    assert "(lines 53, 63)" in unknown.message


def test_only_ids_that_exist_are_suggested(tmp_path: Path) -> None:
    rows = [{**row, "expected_hpo_ids": [one]} for row, one in zip(many(2), ("HP:1250", "HP:12345"), strict=True)]
    for row in rows:
        del row["expected_ids"]
    path = written(tmp_path, rows)
    advice = [one.advice for one in validate(path, ontology=SMALL).errors]
    assert advice == ["Did you mean 'HP:0001250'?", ""]
    assert "Did you mean" not in "".join(one.advice for one in validate(path).errors)


@pytest.mark.parametrize("name", ["HPO-ID", "hpo_code", "expected_hpo_ids"])
def test_ids_of_hpo_are_checked_also_if_their_column_is_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(f"phrase,{name}\nfits,0001250\nTalipes varus,HP:0001762\n")
    for columns in (None, {"expected_ids": name}, {"expected_hpo_ids": name}):
        (error,) = validate(path, columns=columns).errors
        assert (error.kind, error.line) == ("malformed_id", 2)


@pytest.mark.parametrize(("n", "width", "use"), [(9, "0.33", "a quick check only"), (70, "0.12", "development")])
def test_too_few_cases(n: int, width: str, use: str, tmp_path: Path) -> None:
    one = only(validate(written(tmp_path, many(n))), "few_cases")
    assert names_in(one.message) == ["de"]
    assert numbers_in(one.message)[:3] == [n, 0.95, float(width)]
    assert one.advice.startswith(f"Good for {use}. ")
    assert numbers_in(one.advice) == [200, round(half_width(200), 2), 500]
    assert half_width(4 * n) == half_width(n) / 2


def test_cases_are_counted_by_language(tmp_path: Path) -> None:
    found = validate(written(tmp_path, [*many(200), *many(3, language="en", text="x")]))
    assert only(found, "few_cases").message.startswith("3 cases of language 'en'")


def test_a_text_in_another_language(tmp_path: Path) -> None:
    rows = [*many(3), *many(1, text="Abnormality of the skin of the hands and of the feet")]
    one = only(validate(written(tmp_path, rows)), "language")
    assert one.text == (
        "the text 'Abnormality of the skin of the hands and of the feet' of language 'de' looks like 'en' (a guess)."
        " Check it; if so, write language 'en'."
    )
    assert one.case_id == "cases-003"


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("de", ["Schwäche der Muskeln", "Störung des Sehens", "Schmerz im Bein", "Müdigkeit", "Husten mit Auswurf"]),
        (
            "en",
            [
                "weakness of the arms",
                "dislocated hip",
                "pain in the leg",
                "inability to speak",
                "loss of hearing",
                "mark on the skin",
            ],
        ),
        (
            "fr",
            [
                "faiblesse des membres",
                "retard de la parole",
                "douleur dans les jambes",
                "yeux écartés",
                "fièvre et toux",
                "pas sans aide",
                "douleur au pied",
                "vertiges avec chute",
            ],
        ),
        (
            "es",
            [
                "debilidad en las piernas y dolor de cabeza",
                "pérdida de audición",
                "niño sin apetito",
                "convulsión",
                "tos con fiebre",
            ],
        ),
        ("nl", ["zwakte van het been", "pijn in een oor", "aanvallen met koorts", "vlek op de huid", "moeheid"]),
    ],
)
def test_sets_in_another_language(language: str, texts: list[str], tmp_path: Path) -> None:
    assert guess(". ".join(texts)) == language
    rows = [{**LABELS, "text": text, "expected_ids": [text]} for text in texts]
    claimed = "en" if language == "de" else "de"
    one = only(validate(written(tmp_path, [{**row, "language": claimed} for row in rows])), "language")
    assert f"the texts of language {claimed!r} look like " in one.message
    assert one.advice == f"Check them; if so, write {language!r}."
    assert not of_kind(validate(written(tmp_path, [{**row, "language": language} for row in rows])), "language")


@pytest.mark.parametrize(
    "text", ["Tremor", "Gilles de la Tourette", "Café-au-lait", "Pes cavus", "Sjögren", "ASD", "+"]
)
def test_single_terms_say_nothing(text: str) -> None:
    assert guess(text) is None


@pytest.mark.slow
@needs_shared_data
@pytest.mark.parametrize("name", COUNTS)
def test_no_false_alarm_on_german_and_english_cases(name: str, tmp_path: Path) -> None:
    rows = json.loads((BENCHMARKS / f"{name}.json").read_text(encoding="utf-8"))
    for field, language, other in (("text", "de", "en"), ("description", "en", "de")):
        texts = [row[field] for row in rows]
        assert guess(". ".join(texts)) == language
        assert {guess(text) for text in texts} <= {language, None}
        claimed = [
            {**LABELS, "text": text, "expected_ids": [text], "language": language} for text in dict.fromkeys(texts)
        ]
        assert not of_kind(validate(written(tmp_path, claimed)), "language")
        wrong = [{**row, "language": other} for row in claimed]
        assert of_kind(validate(written(tmp_path, wrong)), "language")


@pytest.mark.slow
@needs_shared_data
def test_ids_that_hpo_does_not_have() -> None:
    pytest.importorskip("pronto", reason="an ontology is read by pronto (deadheat[ontology])")
    found = validate(BENCHMARKS / "200cases_o3_v1.json", ontology=hpo_ontology(), language="de")
    unknown = of_kind(found, "unknown_id")
    named = [(one.line, *names_in(one.message)) for one in unknown]
    assert named == [(23, "HP:0025802"), (401, "HP:6001186")]
    assert all(one.message.endswith(" hp-2025-01-16.obo.gz") for one in unknown)
    assert found.is_usable


def test_jsonschema_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    problem = r"needs the package jsonschema, which is not installed: pip install 'deadheat\[cases\]'"
    with pytest.raises(MissingDependencyError, match=problem):
        validate(written(tmp_path, many(1)))
