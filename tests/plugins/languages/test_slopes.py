"""Slopes have the numbers of the languages that are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from deadheat import figures
from deadheat.errors import FigureError, ParameterError
from deadheat.plugins.bench.cases import Case, Cases
from support.case_files import write_cases
from support.command import ok
from support.figure_data import EVIL, notes_of, rows_of, title_of
from support.random_runs import QRELS, random_runs
from support.small_bench import CASES, DOCUMENTS

if TYPE_CHECKING:
    from pathlib import Path

EVALUATIONS = {
    language: {name: dh.evaluate(QRELS, run, ["MRR", "nDCG@3"]) for name, run in random_runs(seed=seed)[1].items()}
    for seed, language in enumerate(["en", "fr", "es"])
}


@pytest.mark.parametrize("measure", ["MRR", "nDCG@3"])
def test_each_point_is_the_mean_of_a_system_in_a_language(measure: str) -> None:
    chart = dh.compare_languages(EVALUATIONS, n_resamples=99).plot("slopes", measure=measure)
    rows = rows_of(chart)
    assert [row["language"] for row in rows] == ["en", "fr", "es"] * 3
    for row in rows:
        scores = EVALUATIONS[row["language"]][row["system"]][measure]
        expected = [scores.mean, scores.mean_tie_min, scores.mean_tie_max]
        assert [row["mean"], row["tie_min"], row["tie_max"]] == pytest.approx(expected, abs=1e-12)
        assert row["n_queries"] == 30
    means = {language: own["good"][measure].mean for language, own in EVALUATIONS.items()}
    assert title_of(chart).startswith(f"{measure} of good: from {max(means.values()):.3f} in ")
    assert f"to {min(means.values()):.3f} in {min(means, key=means.__getitem__)} (30 queries)" in title_of(chart)
    assert "range over tie orders" in notes_of(chart)


@pytest.mark.parametrize("measure", ["FRP", "MR(missing='last')"])
def test_of_ranks_the_best_system_has_the_lowest_mean(measure: str) -> None:
    """As counted by hand: the first relevant rank and the mean rank of runs without ties."""
    relevant = {"q1": {"a"}, "q2": {"a", "c"}}
    lists = {"bad": {"en": "dbca", "fr": "bdca"}, "good": {"en": "abcd", "fr": "bacd"}}
    qrels = {query: dict.fromkeys(docs, 1) for query, docs in relevant.items()}
    runs = {
        name: {code: {query: list(own) for query in relevant} for code, own in one.items()}
        for name, one in lists.items()
    }
    counted = {
        name: {
            code: [sorted(order.index(doc) + 1 for doc in docs) for docs in relevant.values()]
            for code, order in own.items()
        }
        for name, own in lists.items()
    }
    of = min if measure == "FRP" else (lambda ranks: sum(ranks) / len(ranks))
    means = {name: {code: sum(map(of, one)) / 2 for code, one in own.items()} for name, own in counted.items()}
    found = dh.compare_languages(
        {code: {name: dh.evaluate(qrels, runs[name][code], measure) for name in runs} for code in ("en", "fr")},
        n_resamples=99,
    )
    chart = found.plot("slopes", measure=measure)
    assert {(row["system"], row["language"]): row["mean"] for row in rows_of(chart)} == {
        (name, code): mean for name, own in means.items() for code, mean in own.items()
    }
    good = means["good"]
    assert f"of good: from {good['en']:.3f} in en to {good['fr']:.3f} in fr" in title_of(chart)


@pytest.mark.slow
def test_a_measure_goes_by_any_of_its_names_and_wild_names_are_drawn() -> None:
    languages = dh.compare_languages(EVALUATIONS, n_resamples=99)
    assert figures.slopes(languages, "RR").to_dict() == figures.slopes(languages, "MRR").to_dict()
    assert figures.slopes(languages).to_dict() == languages.plot().to_dict()
    with pytest.raises(FigureError, match="P@5, only of MRR, nDCG@3"):
        figures.slopes(languages, "P@5")
    run = EVALUATIONS["en"]["weak"]
    wild = dh.compare_languages({name: dict.fromkeys(EVIL, run) for name in ("en", EVIL[0])}, n_resamples=99)
    chart = figures.slopes(wild)
    assert "same MRR in all 2 languages" in title_of(chart)
    assert "The first 8 of 12 systems." in notes_of(chart)
    assert figures.rendered(chart, "svg")


@pytest.mark.slow
def test_a_bench_draws_the_languages_of_a_set(tmp_path: Path) -> None:
    cases = Cases(
        "both",
        {},
        tuple(
            Case(f"{language}{n}", text, ("D1",), (1.0,), language=language, pair_id=f"p{n}")
            for language, texts in {"en": ("fever", "pain fever"), "de": ("Fieber", "Schmerz")}.items()
            for n, text in enumerate(texts)
        ),
    )
    result = dh.bench(cases, DOCUMENTS, ["bm25", "string"], "RR", n_resamples=99)
    rows = rows_of(result.plot("slopes"))
    drawn = {(row["system"], row["language"]) for row in rows}
    assert drawn == {(system, language) for system in ("bm25", "string") for language in ("en", "de")}
    assert result.plot("slopes", cases="both").to_dict() == result.across["both"].plot("slopes").to_dict()
    with pytest.raises(ParameterError, match="across languages that a pair_id pairs"):
        dh.bench(CASES, DOCUMENTS, "bm25", "RR", n_resamples=99).plot("slopes")
    write_cases(tmp_path / "both.json", cases)
    (tmp_path / "documents.csv").write_text("doc_id,text\nD1,fever\n")
    command = ["bench", str(tmp_path / "both.json"), "--collection", str(tmp_path / "documents.csv"), "-m", "RR"]
    ok(*command, "--n-resamples", "99", "--figures", str(tmp_path / "out"))
    assert (tmp_path / "out" / "slopes-RR.svg").is_file()
