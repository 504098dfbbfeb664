"""Searches across languages are named: the language of the cases, and that of the texts in which they are searched."""

from __future__ import annotations

import csv
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from deadheat.core.errors import DataError, MissingDependencyError, NoteWarning, ParameterError
from deadheat.plugins.bench.cases import Case, Cases
from support.command import call, ok
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


def test_phrases_in_another_language_than_the_collection_are_named() -> None:
    english = replace(DOCUMENTS, languages=("en",))
    report = dh.bench(CASES, english, "bm25", "RR", n_resamples=99).report()
    assert "cross-lingual: mine (de): searched in texts in en, another language" in report
    assert "mine (en): searched" not in report
    both = replace(DOCUMENTS, languages=("en", "de"))
    report = dh.bench(CASES, both, "bm25", "RR", n_resamples=99).report()
    assert "mine (de): searched in texts in en and de" in report
    assert "mine (en): searched in texts in en and de" in report


def test_a_language_of_cases_that_is_no_code_is_named() -> None:
    cases = Cases("f", {}, (Case("a", "fever", ("D2",), (1.0,), language="english"),))
    english = replace(DOCUMENTS, languages=("en",))
    report = dh.bench(cases, english, "bm25", "RR", n_resamples=99).report()
    assert "f (english): no code of ISO 639, so it is not known whether the texts are in that language" in report
    assert "another language" not in report
    with pytest.raises(DataError, match=r"the cases' language.* is no code.*got 'english'.*Did you mean 'en'\?"):
        dh.bench(cases, english, "bm25(language='cases')", "RR")


def test_what_nobody_says_is_guessed_or_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = ("abnormal shape of the heart valve", "pain in the lower part of the back", "the child is too small")
    texts = replace(DOCUMENTS, texts=(*sentences, "sleep"), synonyms=((),) * 4)
    cases = Cases("f", {}, (Case("a", "mal au dos", ("D2",), (1.0,), language="fr"),))
    report = dh.bench(cases, texts, "bm25", "RR", n_resamples=99).report()
    assert "f (fr): searched in texts in en (guessed from them), another language" in report

    def missing(_: str) -> str:
        raise MissingDependencyError("no py3langid")

    monkeypatch.setattr("deadheat.plugins.bench.languages.guess", missing)
    report = dh.bench(cases, texts, "bm25", "RR", n_resamples=99).report()
    assert "that of the texts in terms is not known: name the collection's language" in report
    plain = Cases("n", {}, (Case("a", "pain", ("D2",), (1.0,)),))
    assert "language the texts" not in dh.bench(plain, texts, "bm25", "RR", n_resamples=99).report()


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
    shown = " ".join(ok(*command, "--collection-texts", str(tmp_path / "t-fr.tsv"), "--full").split())
    assert "t-fr.tsv (fr): 1 of 3 terms have a name in it" in shown
    assert "2 terms without a translation keep the names of the ontology" in shown
    assert "cases (fr): searched in texts in fr and en" in shown
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
    with pytest.raises(ParameterError, match="candidates=True is only for a collection that is read here"):
        dh.bench(cases, DOCUMENTS, "bm25", "RR", candidates=True)


def test_a_language_that_is_none_is_refused_by_its_option(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"collection_language must be a code .*'English'. Did you mean 'en'\?"):
        dh.bench(CASES, tmp_path / "t.obo", collection_language="English")
    (tmp_path / "t.obo").write_text(OBO)
    (tmp_path / "cases.csv").write_text("text,expected_ids\nfever,T:0003\n")
    command = ("bench", str(tmp_path / "cases.csv"), "--collection", str(tmp_path / "t.obo"))
    done = call(*command, "--collection-language", "English")
    assert done.exit_code
    assert "--collection-language must be a code of ISO 639" in done.stderr
    wrong = call(*command, "--collection-texts", str(tmp_path / "cases.csv"))
    assert wrong.exit_code
    assert "cases.csv:1: translations without a column 'subject_id'" in wrong.stderr


def test_texts_of_a_collection_that_is_there_come_too_late(tmp_path: Path) -> None:
    (tmp_path / "t-fr.tsv").write_text(FRENCH)
    with pytest.raises(ParameterError, match=r"texts=.* is only for a collection that is read here"):
        dh.bench(CASES, DOCUMENTS, texts=[tmp_path / "t-fr.tsv"])
    (tmp_path / "t.obo").write_text(OBO)
    with pytest.warns(NoteWarning) as caught:
        dh.read_collection(tmp_path / "t.obo", texts=[tmp_path / "t-fr.tsv"])
    assert "keep the names of the ontology" in str(caught[1].message)
