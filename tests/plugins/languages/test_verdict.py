"""What is said of languages agrees with their tests, and claims nothing that few or skewed queries cannot show."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

import deadheat as dh
from deadheat import compare_languages
from deadheat.plugins.languages.verdict import sentences_of_languages
from support.numbers_in_text import numbers_in

N = 30
QRELS = {f"q{n:02d}": {"r": 1} for n in range(N)}


def ranked(*ranks: int) -> dh.Evaluation:
    """An evaluation whose queries have their document at these ranks, again and again."""
    queries = list(QRELS)
    of_query = {query: ranks[n % len(ranks)] for n, query in enumerate(queries)}
    run = {
        query: {"r": 10.0 - rank, **{f"d{place}": 10.0 - place for place in range(1, 8) if place != rank}}
        for query, rank in of_query.items()
    }
    return dh.evaluate(QRELS, run, "RR")


def few(evaluation: dh.Evaluation, n: int) -> dh.Evaluation:
    return evaluation.select(np.arange(N) < n)


def test_a_language_is_worse_where_the_test_says_so() -> None:
    first, second = [1, 2, 1, 3, 1], [3, 2, 4, 1, 2]
    found = compare_languages({"en": ranked(*first), "fr": ranked(*second)}, test="t", correction="none")
    (said,) = sentences_of_languages(found)
    values = [np.array([1 / rank for rank in ranks] * (N // len(ranks))) for ranks in (first, second)]
    p = scipy.stats.ttest_rel(values[1], values[0]).pvalue
    difference = (values[1] - values[0]).mean()
    assert p < 0.05
    assert said == (
        f"Between languages, by RR over the same 30 queries: run is best in en ({values[0].mean():.4f}), and worse by"
        f" more than chance in fr ({difference:.4f}, p {f'= {p:.4f}' if p >= 0.0001 else '< 0.0001'})."
    )
    assert said in " ".join(str(found).split())


def test_what_is_not_shown_is_not_claimed() -> None:
    found = compare_languages({"en": ranked(1, 2, 3), "fr": ranked(2, 1, 4), "es": ranked(7, 6, 7)}, n_resamples=999)
    (said,) = sentences_of_languages(found, unit=("case", "cases"), margin=0.9)
    assert "the same 30 cases: " in said
    assert "best in en (" in said
    assert "worse by more than chance in es (-" in said
    assert "not shown worse in fr (-" in said
    assert said.endswith("margin of 0.9 in fr and es.")


@pytest.mark.parametrize("n", [2, 4])
def test_few_queries_prove_nothing(n: int) -> None:
    found = compare_languages({"en": few(ranked(1), n), "fr": few(ranked(5), n)})
    (said,) = sentences_of_languages(found)
    assert said.endswith(" prove nothing.")
    assert numbers_in(said) == [n]
    assert "best" not in said


def test_skewed_differences_are_in_doubt_and_equal_ones_equal() -> None:
    rare = compare_languages({"en": few(ranked(1), 7), "fr": few(ranked(2, 2, 2, 2, 2, 2, 7), 7)}, correction="none")
    assert rare.differences[0].pair.significant
    assert rare.differences[0].pair.doubtful
    assert "too skewed to be sure, in fr" in sentences_of_languages(rare)[0]
    assert "more than chance" not in sentences_of_languages(rare)[0]
    shared = compare_languages({"en": ranked(1, 2), "fr": ranked(2, 1), "es": ranked(2, 7)}, n_resamples=999)
    assert "best in en and fr (0.7500), " in sentences_of_languages(shared)[0]
    assert "more than chance in es (" in sentences_of_languages(shared)[0]
    alike = compare_languages({"en": ranked(1, 2), "fr": ranked(2, 1)})
    assert sentences_of_languages(alike)[0].endswith("same mean in en and fr (0.7500).")


def test_of_many_systems_and_languages_some_are_said() -> None:
    own = {f"s{n}": ranked(1, n + 1) for n in range(5)}
    other = {f"s{n}": ranked(6) for n in range(5)}
    languages = {"en": own, "de": other, "es": other, "fr": other, "pt": other}
    said = sentences_of_languages(compare_languages(languages, n_resamples=99, test="t"), name="terms")
    assert len(said) == 4
    assert said[0].startswith("Between languages of terms, ")
    assert ": s0 is best in en (1.0000)" in said[0]
    assert "and 1 more" in said[0]
    assert said[1].startswith("By RR, s1 is best in ")
    assert numbers_in(said[-1]) == [2]  # that the tables have beside these
    partial = {"en": ranked(1, 2), "fr": few(ranked(5), 20), "es": ranked(1, 2)}
    (of_partial,) = sentences_of_languages(compare_languages(partial))
    assert "(20 queries in all languages, " in of_partial
    assert "the same" not in of_partial


def test_no_mean_no_verdict_and_less_may_be_better() -> None:
    totals = {code: dh.evaluate(QRELS, {query: {"r": 1} for query in QRELS}, "NumRelRet") for code in ("en", "fr")}
    found = compare_languages(totals)
    assert sentences_of_languages(found) == ()
    assert "NumRelRet: in no table" in " ".join(str(found).split())
    runs = {"en": {"r": 9, "a": 1}, "fr": {"r": 1, "a": 9}}
    found = compare_languages(
        {code: dh.evaluate(QRELS, dict.fromkeys(QRELS, run), "FRP") for code, run in runs.items()}
    )
    assert "best in en (1.0000), " in sentences_of_languages(found)[0]
    assert "more than chance in fr (+1.0000" in sentences_of_languages(found)[0]
