"""Searches across languages are named: the language of the cases, and that of the texts in which they are searched."""

from __future__ import annotations

import csv
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from deadheat.errors import DataError, MissingDependencyError, NoteWarning, ParameterError
from deadheat.plugins.bench.cases import Case, Cases
from deadheat.plugins.bench.report import report_bench
from support.command import call, facts_of, names_in, ok
from support.error_parts import raises_parts
from support.report_facts import facts_by_heading
from support.small_bench import CASES, DOCUMENTS

if TYPE_CHECKING:
    from pathlib import Path

OBO = """format-version: 1.2
ontology: t

[Term]
id: T:0001
name: Finding

[Term]
id: T:0002
name: Seizure
is_a: T:0001

[Term]
id: T:0003
name: Fever
is_a: T:0001
"""
FRENCH = "hpo_id\tkind\tenglish\ttext\nT:0002\tlabel\tSeizure\tCrise\n"


def crossings(result: dh.BenchResult) -> list[str]:
    """Return what a report says of languages of cases and of texts, a line each."""
    return facts_by_heading(report_bench(result)).get("cross-lingual", "").splitlines()


def test_phrases_in_another_language_than_the_collection_are_named() -> None:
    english = replace(DOCUMENTS, languages=("en",))
    (crossing,) = crossings(dh.bench(CASES, english, "bm25", "RR", n_resamples=99))
    assert crossing.startswith("mine (de): ")
    assert crossing.endswith(" en, another language")
    both = replace(DOCUMENTS, languages=("en", "de"))
    found = crossings(dh.bench(CASES, both, "bm25", "RR", n_resamples=99))
    assert sorted(line.partition(":")[0] for line in found) == ["mine (de)", "mine (en)"]
    assert all(line.endswith(" in en and de") for line in found)


def test_a_language_of_cases_that_is_no_code_is_named() -> None:
    cases = Cases("f", {}, (Case("a", "fever", ("D2",), (1.0,), language="english"),))
    english = replace(DOCUMENTS, languages=("en",))
    (unknown,) = crossings(dh.bench(cases, english, "bm25", "RR", n_resamples=99))
    assert unknown.startswith("f (english): no code of ")
    assert "another language" not in unknown
    with raises_parts(DataError, given="english", hint="Did you mean 'en'?"):
        dh.bench(cases, english, "bm25(language='cases')", "RR")


def test_what_nobody_says_is_guessed_or_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = ("abnormal shape of the heart valve", "pain in the lower part of the back", "the child is too small")
    texts = replace(DOCUMENTS, texts=(*sentences, "sleep"), synonyms=((),) * 4)
    cases = Cases("f", {}, (Case("a", "mal au dos", ("D2",), (1.0,), language="fr"),))
    (guessed,) = crossings(dh.bench(cases, texts, "bm25", "RR", n_resamples=99))
    assert guessed.startswith("f (fr): ")
    assert guessed.endswith(" en (guessed from them), another language")

    def missing(_: str) -> str:
        raise MissingDependencyError("no py3langid")

    monkeypatch.setattr("deadheat.plugins.bench.languages.guess", missing)
    languages = facts_by_heading(report_bench(dh.bench(cases, texts, "bm25", "RR", n_resamples=99)))["languages"]
    assert "texts in terms is not known" in languages
    plain = Cases("n", {}, (Case("a", "pain", ("D2",), (1.0,)),))
    assert "language the texts" not in dh.bench(plain, texts, "bm25", "RR", n_resamples=99).report()


@pytest.mark.slow
def test_the_command_searches_translated_names_and_says_what_is_translated(tmp_path: Path) -> None:
    (tmp_path / "t.obo").write_text(OBO)
    (tmp_path / "t-fr.tsv").write_text(FRENCH)
    cases = tmp_path / "cases.csv"
    cases.write_text("text,expected_ids,language\ncrise,T:0002,fr\nseizure,T:0002,en\n")
    command = ("bench", str(cases), "--collection", str(tmp_path / "t.obo"), "-m", "RR", "--n-resamples", "99")
    plain = ok(*command, "--collection-language", "en", "--format", "csv")
    french = ok(*command, "--collection-texts", str(tmp_path / "t-fr.tsv"), "--format", "csv")
    means = [[float(row["mean"]) for row in csv.DictReader(found.splitlines())] for found in (plain, french)]
    assert means == [[0.0, 1.0], [1.0, 0.0]]
    shown = facts_of(*command, "--collection-texts", str(tmp_path / "t-fr.tsv"), "--full")
    of_table, of_others = (line for line in shown["note"].splitlines() if " terms " in line)
    assert "t-fr.tsv (fr): 1 of 3 terms " in of_table
    assert of_others.startswith("2 terms without ")
    (crossing,) = (line for line in shown["cross-lingual"].splitlines() if line.startswith("cases (fr): "))
    assert crossing.endswith(" fr and en")
    only = ok(*command, "--collection-texts", str(tmp_path / "t-fr.tsv"), "--original-texts", "none", "--full")
    assert "1 in t (fr)" in only


def test_candidate_translations_count_where_they_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "t.obo").write_text(OBO)
    table = tmp_path / "t-fr.tsv"
    table.write_text("id\tkind\ttext\tstatus\nT:0001\tlabel\tfièvre\tOFFICIAL\nT:0002\tlabel\tcrise\tCANDIDATE\n")
    cases = tmp_path / "cases.csv"
    cases.write_text("text,expected_ids,language\ncrise,T:0002,fr\n")
    command = ("bench", cases, "--collection", tmp_path / "t.obo", "--collection-texts", table, "-m", "RR")
    for option, value, said in (
        ((), 0.0, "1 candidate left out (--candidates counts them)"),
        (("--candidates",), 1.0, "1 candidate among their names"),
    ):
        (row,) = csv.DictReader(ok(*command, *option, "--n-resamples", "99", "--format", "csv").splitlines())
        assert float(row["mean"]) == value
        assert said in " ".join(ok(*command, *option, "--n-resamples", "99").split())
    with pytest.warns(NoteWarning):
        found = dh.bench(cases, tmp_path / "t.obo", "bm25", "RR", texts=table, candidates=True, n_resamples=99)
    assert [one.means() for one in found.evaluations.values()] == [{"RR": 1.0}]
    with raises_parts(ParameterError, found="a Collection", hint="give its path"):
        dh.bench(cases, DOCUMENTS, "bm25", "RR", candidates=True)


def test_a_language_that_is_none_is_refused_by_its_option(tmp_path: Path) -> None:
    with raises_parts(ParameterError, argument="collection_language", given="English", hint="Did you mean 'en'?"):
        dh.bench(CASES, tmp_path / "t.obo", collection_language="English")
    (tmp_path / "t.obo").write_text(OBO)
    (tmp_path / "cases.csv").write_text("text,expected_ids\nfever,T:0003\n")
    command = ("bench", str(tmp_path / "cases.csv"), "--collection", str(tmp_path / "t.obo"))
    done = call(*command, "--collection-language", "English")
    assert done.exit_code
    assert names_in(done.stderr)[0] == "--collection-language"
    assert "English" in done.stderr
    wrong = call(*command, "--collection-texts", str(tmp_path / "cases.csv"))
    assert wrong.exit_code
    assert "cases.csv:1: " in wrong.stderr
    assert names_in(wrong.stderr)[0] == "subject_id"


def test_texts_of_a_collection_that_is_there_come_too_late(tmp_path: Path) -> None:
    (tmp_path / "t-fr.tsv").write_text(FRENCH)
    with raises_parts(ParameterError, found="a Collection", hint="give its path"):
        dh.bench(CASES, DOCUMENTS, texts=[tmp_path / "t-fr.tsv"])
    (tmp_path / "t.obo").write_text(OBO)
    with pytest.warns(NoteWarning) as caught:
        dh.read_collection(tmp_path / "t.obo", texts=[tmp_path / "t-fr.tsv"])
    assert "keep the names" in str(caught[1].message)
