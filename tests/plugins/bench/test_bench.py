"""bench(): each set and language by itself, resumed after an interruption, and never in contradiction with itself."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.stats

import deadheat as dh
from deadheat import Collection, Ontology
from deadheat.core.report.cells import OF_FEW, NumberCell
from deadheat.core.report.text import as_text
from deadheat.errors import ColumnError, DataError, DeadheatWarning, ParameterError
from deadheat.plugins.bench.bench import measures_of
from deadheat.plugins.bench.cases import Case, Cases
from deadheat.plugins.bench.report import report_bench
from deadheat.plugins.bench.report_measures import main_of
from deadheat.plugins.bench.report_verdicts import CASE
from deadheat.plugins.bench.result import Key
from oracle import invariants
from oracle.invariants import BrokenInvariantError
from support.command import names_in
from support.error_parts import raises_parts
from support.numbers_in_text import numbers_in
from support.report_facts import facts_by_heading
from support.small_bench import CASES, DOCUMENTS, Counting, known

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FEW = {"n_resamples": 200}


def test_languages_are_never_mixed() -> None:
    result = dh.bench(CASES, DOCUMENTS, ["bm25", known], n_resamples=200)
    assert list(result.evaluations) == [
        Key("mine", language, name) for name in ("bm25", "known") for language in ("en", "de")
    ]
    assert result.evaluations["mine", "de", "bm25"].query_ids.tolist() == ["g1", "g2", "g3"]  # type: ignore[index]
    assert result.languages == ("de", "en")
    assert set(result.comparisons) == {("mine", "en"), ("mine", "de")}
    german = result.evaluations[Key("mine", "de", "bm25")].means()
    english = result.evaluations[Key("mine", "en", "bm25")].means()
    assert german["RR"] == 2 / 3
    (row,) = result.averages().filter(retriever="bm25", measure="RR").to_dicts()
    assert row["mean"] == pytest.approx((german["RR"] + english["RR"]) / 2)
    assert row["variance"] == pytest.approx(np.var([german["RR"], english["RR"]]))
    assert (row["n_languages"], row["lowest"], row["highest"]) == (2, "de", "en")


def test_ties_are_evaluated_exactly() -> None:
    result = dh.bench(CASES, DOCUMENTS, known, measures=["RR", "Hit@1"], n_resamples=200)
    values = result.evaluations[Key("mine", "en", "known")].to_dict()
    assert values["e1"] == {"RR": 0.75, "Hit@1": 0.5}


def test_default_measures_and_their_cutoffs() -> None:
    names = [str(one) for one in measures_of(None, None, has_ontology=True)]
    assert names[0] == "RR"
    assert len(names) == 1 + 6 * 4
    assert {"Hit@1", "nDCG@3", "R@5", "P@10", "AP(norm='min')@10", "MaxRel@1"} <= set(names)
    assert [str(one) for one in measures_of(None, [20], has_ontology=False)][1:3] == ["Hit@20", "nDCG@20"]
    assert [str(one) for one in main_of(measures_of(None, None, has_ontology=False))] == [
        *("RR", "Hit@10", "nDCG@10", "R@10", "P@10", "AP(norm='min')@10")
    ]


def test_a_single_retriever_is_compared_with_none() -> None:
    result = dh.bench(CASES, DOCUMENTS, n_resamples=200)
    assert result.comparisons == {}
    assert "differences" not in result.report()
    mean = result.evaluations[Key("mine", "en", "bm25")].means()["RR"]
    assert f"by RR: mine (en): bm25 {mean:.4f}" in repr(result)


@pytest.mark.slow
def test_a_retriever_that_finds_nothing_scores_zero() -> None:
    result = dh.bench(CASES, DOCUMENTS, ["bm25", lambda texts, _: [{} for _ in texts]], n_resamples=200)
    evaluation = result.evaluations[Key("mine", "en", "<lambda>")]
    assert set(evaluation.means().values()) == {0.0}
    assert evaluation.missing_queries == ("e1", "e2", "e3", "e4")
    assert "mine (en) (e1, e2, e3, e4)" in facts_by_heading(report_bench(result))["found nothing"]


def test_cases_that_stand_in_the_documents_are_counted() -> None:
    result = dh.bench(CASES, DOCUMENTS, measures="RR", n_resamples=100)
    assert result.verbatim == {("mine", "en"): 3, ("mine", "de"): 2}
    easy = facts_by_heading(report_bench(result))["easy cases"].splitlines()
    assert easy[0].startswith("3 of 4 cases of mine (en) ")


@pytest.mark.slow
def test_strata_and_their_report() -> None:
    result = dh.bench(CASES, DOCUMENTS, ["bm25", known], n_resamples=200)
    strata = result.by("difficulty")[Key("mine", "en", "bm25")]
    assert list(strata) == ["easy", "hard"]
    assert "mine (en) by difficulty" in result.report()
    with raises_parts(ParameterError, argument="by", given="category"):
        result.by("category")


def on_screen(result: dh.BenchResult) -> str:
    report = report_bench(result, full=False)
    return " ".join([*(table.title for table in report.tables), *(f"{one.heading} {one.text}" for one in report.facts)])


@pytest.mark.slow
def test_strata_are_shown_on_the_screen_if_they_are_asked_for() -> None:
    plain = dh.bench(CASES, DOCUMENTS, ["bm25", known], "RR", n_resamples=200)
    assert "mine (en) by difficulty" not in on_screen(plain)
    assert "cases have a difficulty, " in facts_by_heading(report_bench(plain, full=False))["strata"]
    result = dh.bench(CASES, DOCUMENTS, ["bm25", known], "RR", by="difficulty", method="t")
    shown = on_screen(result)
    assert "--by" not in shown
    facts = facts_by_heading(report_bench(result, full=False))
    small = facts["°"].partition(": ")[2].split("; ")
    assert small == ["mine (en) easy (2)", "mine (en) hard (2)", "mine (de) easy (2)", "mine (de) hard (1)"]
    assert "only 2 queries (6 intervals)" in facts["?"]
    tables = [table for table in report_bench(result, full=False).tables if table.key == "strata"]
    assert [table.title for table in tables] == ["mine (en) by difficulty", "mine (de) by difficulty"]
    values = result.evaluations[Key("mine", "en", "bm25")].to_dict()
    (first, *_), *_ = (row.cells for row in tables[0].rows)
    assert first[:2] == (2, NumberCell((values["e1"]["RR"] + values["e2"]["RR"]) / 2, marks=OF_FEW))
    assert not first[2].is_known  # type: ignore[union-attr]


def test_strata_by_several_columns_are_their_combinations() -> None:
    rows = [("a", "easy", "x"), ("b", "hard", "x"), ("c", "easy", "y"), ("d", "medium", None)]
    cases = tuple(
        Case(name, "fever", ("D1",), (1.0,), difficulty=difficulty, category=category)
        for name, difficulty, category in rows
    )
    both = Cases("both", {}, cases)
    result = dh.bench([both, CASES], DOCUMENTS, known, "RR", by=["difficulty", "category"], n_resamples=99)
    (strata,) = result.by(["difficulty", "category"]).values()
    assert list(strata) == [("easy", "x"), ("easy", "y"), ("medium", "(none)"), ("hard", "x")]
    assert "both by difficulty and category" in {table.title for table in report_bench(result).tables}
    lacking = facts_by_heading(report_bench(result, full=False))["strata"]
    assert lacking.startswith("mine (en), mine (de): no case ")


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("category", r"by must be a label that cases have \(difficulty\), got 'category'"),
        (["difficulty", "dificulty"], "Did you mean 'difficulty'"),
        ("language", r"by must be a label that cases have \(difficulty\), got 'language'"),
    ],
)
def test_strata_that_no_case_has_are_refused_before_anything_is_searched(by: str | list[str], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        dh.bench(CASES, DOCUMENTS, Counting(dies_in=0), by=by)


def test_the_table_has_a_row_for_each_set_language_retriever_and_measure() -> None:
    result = dh.bench(CASES, DOCUMENTS, ["bm25", known], measures=["RR", "Hit@1"], n_resamples=200)
    frame = result.to_polars()
    assert frame.shape[0] == 2 * 2 * 2
    assert frame.columns[:6] == ["cases", "language", "retriever", "measure", "n_cases", "mean"]


def test_a_broken_invariant_is_found() -> None:
    evaluation = dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["Hit@1", "P@1", "R@1", "RR", "Hit@3"])
    invariants.check(evaluation)
    vars(evaluation["Hit@1"])["values"] = np.array([0.5])
    with pytest.raises(BrokenInvariantError, match=r"R@1 <= Hit@1 does not hold for 'q'"):
        invariants.check(evaluation)
    vars(evaluation["Hit@1"])["values"] = np.array([1.5])
    with pytest.raises(BrokenInvariantError, match=r"Hit@1 = P@1|R@1 = Hit@1"):
        invariants.check(evaluation)


@pytest.mark.parametrize("seed", range(20))
def test_invariants_hold_on_random_runs(seed: int) -> None:
    random = np.random.default_rng(seed)
    ids = [f"D{number}" for number in range(12)]

    def draw(texts: Sequence[str], _k: int) -> list[dict[str, float]]:
        return [
            {doc: float(random.integers(4)) for doc in random.permutation(ids)[: random.integers(0, 12)]} for _ in texts
        ]

    documents = Collection("random", tuple(ids), tuple(ids), ((),) * 12)
    cases = tuple(
        Case(
            f"c{number}",
            "x",
            (wanted := tuple(random.permutation(ids)[: random.integers(1, 4)].tolist())),
            (1.0,) * len(wanted),
        )
        for number in range(8)
    )
    result = dh.bench(Cases("random", {}, cases), documents, draw, at=(1, 2, 3, 10), n_resamples=99)
    evaluation = result.evaluations[Key("random", "(none)", "draw")]
    invariants.check(evaluation)
    means = evaluation.means()
    assert means["Hit@1"] == pytest.approx(means["P@1"])
    assert means["RR"] >= means["Hit@1"]
    assert all(means[f"Hit@{k}"] >= means[f"R@{k}"] for k in (1, 2, 3, 10))


def test_clusters_of_expected_ids_widen_the_interval_and_the_report_says_so() -> None:
    ids = tuple(f"T{number}" for number in range(12))
    rows = tuple(Case(f"{doc}-{copy}", "text", (doc,), (1.0,)) for doc in ids for copy in range(5))
    cases, documents = Cases("repeated", {}, rows), Collection("t", ids, ids, ((),) * 12)

    def half(texts: Sequence[str], _k: int) -> list[dict[str, float]]:
        return [{f"T{place // 5}" if place // 5 % 2 else "T0": 1.0} for place, _ in enumerate(texts)]

    alone = dh.bench(cases, documents, half, n_resamples=500)
    clustered = dh.bench(cases, documents, half, n_resamples=500, cluster="expected_ids")
    key = Key("repeated", "(none)", "half")
    narrow, wide = alone.intervals[key]["RR"], clustered.intervals[key]["RR"]
    assert wide.n_clusters == 12
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)
    assert 12 in numbers_in(facts_by_heading(report_bench(alone))["clusters"])
    n_cases, n_clusters, ratio = numbers_in(facts_by_heading(report_bench(clustered))["clusters"])
    assert (n_cases, n_clusters) == (60, 12)
    assert ratio == pytest.approx((wide.high - wide.low) / (narrow.high - narrow.low), abs=0.005)


@pytest.mark.slow
def test_clusters_may_be_lists() -> None:
    labels = {case.case_id: [n % 2] for n, case in enumerate(CASES)}
    found = dh.bench(CASES, DOCUMENTS, n_resamples=99, cluster=labels)
    clusters = facts_by_heading(report_bench(found))["clusters"].splitlines()
    assert clusters[0].startswith("mine (en): 4 cases in 2 clusters")
    plain = dh.bench(CASES, DOCUMENTS, n_resamples=99, cluster={case: str(one) for case, one in labels.items()})
    assert found.intervals == plain.intervals


def test_cases_that_share_an_id_by_way_of_others_are_one_cluster() -> None:
    result = dh.bench(CASES, DOCUMENTS, n_resamples=99, cluster="expected_ids")
    clusters = result.parts["mine", "en"].clusters("expected_ids")
    assert clusters is not None
    assert clusters["e2"] == clusters["e3"] != clusters["e1"] == clusters["e4"]


@pytest.mark.parametrize(
    ("cluster", "error", "message"),
    [
        ("expected_id", ParameterError, "Did you mean 'expected_ids'"),
        ("category", ColumnError, "4 of 4 cases have none, such as 'e1'"),
        ({"e1": 1}, ColumnError, "3 of 4 cases have none, such as 'e2'"),
    ],
)
def test_wrong_clusters_are_refused_before_anything_is_searched(
    cluster: str | dict[str, object], error: type[Exception], message: str
) -> None:
    retriever = Counting(dies_in=0)
    with pytest.raises(error, match=message):
        dh.bench(CASES, DOCUMENTS, retriever, cluster=cluster)


TREE = Ontology.from_parents({"D3": [], "D1": ["D3"], "D2": ["D3"], "D4": ["D1"]})


@pytest.mark.slow
def test_max_rel_stands_on_the_ontology_beside_chance() -> None:
    result = dh.bench(CASES, DOCUMENTS, ["bm25", known], ontology=TREE, n_resamples=200)
    evaluation = result.evaluations[Key("mine", "en", "bm25")]
    qrels, run = CASES.by_language()["en"].qrels(), {"e1": {"D1": 1.0}}
    assert evaluation["MaxRel@1"].measure == dh.parse_measure("MaxRel@1")
    assert dh.evaluate(TREE.judge(qrels, run), run, "MaxRel@1", missing="empty").to_dict()["e1"]["MaxRel@1"] == 1.0
    chance = TREE.chance(qrels)
    assert result.chance["mine", "en"] == {f"MaxRel@{k}": chance[k] for k in (1, 3, 5, 10)}
    random_terms = facts_by_heading(report_bench(result))["chance"].splitlines()[0]
    assert random_terms.startswith("random terms, mine (en): ")
    assert f"MaxRel@1 {chance[1]:.4f}" in random_terms
    assert {pair.measure for pair in result.comparisons["mine", "en"].pairs} >= {"RR", "MaxRel@10"}


def test_an_ontology_that_no_measure_is_on_is_said() -> None:
    for measures, added in ((["RR", "Hit@5", "P@3"], "MaxRel@5"), ("RR", "MaxRel@10")):
        with pytest.warns(DeadheatWarning, match=f"changes no value: only MaxRel uses it; add {added} to the measures"):
            result = dh.bench(CASES, DOCUMENTS, known, measures, ontology=TREE, n_resamples=99)
        assert f"add {added} to the measures" in on_screen(result)
    assert dh.bench(CASES, DOCUMENTS, known, ["RR", added], ontology=TREE, n_resamples=99).notes == ()


def test_ids_that_an_ontology_lacks_are_said() -> None:
    small = Ontology.from_parents({"D3": [], "D1": ["D3"], "D2": ["D3"]})
    with pytest.warns(DeadheatWarning, match="D4"):
        result = dh.bench(CASES, DOCUMENTS, ontology=small, n_resamples=99)
    assert any("'D4'" in note for note in result.notes)


def test_an_id_that_collection_and_ontology_lack_is_said_once() -> None:
    near = Cases("near", {}, (Case("a", "sleep", ("D1", "D5", "Z1"), (1.0, 1.0, 1.0)),))
    small = Ontology.from_parents({"D3": [], "D1": ["D3"], "D5": ["D3"]}, obsolete={"Z1": ["D1"]})
    with pytest.warns(DeadheatWarning):
        result = dh.bench(near, DOCUMENTS, known, ["RR", "MaxRel@1"], ontology=small, n_resamples=99)
    lacks_d5, lacks_z1 = (note for note in result.notes if "expected" in note)
    assert (names_in(lacks_d5), numbers_in(lacks_d5)) == (["D5"], [1, 3])
    assert (names_in(lacks_z1), numbers_in(lacks_z1)) == (["Z1", "D1"], [1, 3, 0])
    assert "ontology" in lacks_z1
    assert "ontology" not in lacks_d5
    with pytest.warns(DeadheatWarning):
        result = dh.bench(near, DOCUMENTS, known, "RR", ontology=small, n_resamples=99)
    (lacks_both,) = result.notes[:-1]
    assert (names_in(lacks_both), numbers_in(lacks_both)) == (["D5", "Z1"], [2, 3])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k must be a whole number"),
        ({"k": 2.5}, "k must be a whole number"),
        ({"k": 5}, "k must be 10 or more, as Hit@10 looks at 10 documents, got 5"),
        ({"measures": "nDCG@10", "at": [5]}, "at sets the cutoffs of the default measures"),
        ({"measures": []}, "measures names no measure"),
        ({"baseline": "bm52"}, "baseline must be one of 'bm25'"),
        ({"confidence_level": 2}, "confidence_level"),
        ({"test": "z"}, "test must be one of"),
        ({"limit": 0}, "limit"),
        ({"kind": "lim"}, "Did you mean 'lin'"),
        ({"rng": -1}, "rng must be a whole number"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        dh.bench(CASES, DOCUMENTS, **{"retrievers": ["bm25", known], **options})  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_generator_gives_one_seed_to_everything() -> None:
    result = dh.bench(CASES, DOCUMENTS, ["bm25", known], measures="RR", rng=np.random.default_rng(3), n_resamples=100)
    again = dh.bench(CASES, DOCUMENTS, ["bm25", known], measures="RR", rng=result.settings.design.rng, n_resamples=100)
    assert result.to_polars().equals(again.to_polars())


def test_wrong_cases_are_refused() -> None:
    elsewhere = Cases("far", {}, (Case("a", "x", ("Z1",), (1.0,)),))
    with pytest.raises(DataError, match=r"far .*terms: it expects Z1"):
        dh.bench(elsewhere, DOCUMENTS)
    partly = Cases("near", {}, (Case("a", "x", ("Z1", "D1"), (1.0, 1.0)),))
    with pytest.warns(DeadheatWarning, match="1 of 2 expected ids are not in terms"):
        dh.bench(partly, DOCUMENTS, n_resamples=99)
    with pytest.raises(ParameterError, match=r"two .* named 'mine'"):
        dh.bench([CASES, CASES], DOCUMENTS)
    with pytest.raises(ParameterError, match="cases must be Cases, a path"):
        dh.bench([7], DOCUMENTS)
    with pytest.raises(ParameterError, match=r"two .* named '1'"):
        dh.bench({1: CASES, "1": CASES}, DOCUMENTS)


@pytest.mark.slow
def test_documents_that_the_collection_lacks_are_said(tmp_path: Path) -> None:
    def strange(texts: Sequence[str], _k: int) -> list[dict[str, float]]:
        return [{"d1": 1.0, "D1": 0.5} for _ in texts]

    vars(strange)["key"] = "1"
    told = "strange found 1 documents that terms does not have (d1): are the ids written alike?"
    for _ in range(2):  # made, and finished before
        with pytest.warns(DeadheatWarning, match=re.escape(told)):
            result = dh.bench(CASES, DOCUMENTS, strange, n_resamples=99, output=tmp_path / "out")
        assert told in result.notes
        assert told in (tmp_path / "out" / "report.md").read_text()


def test_answers_come_first_with_near_misses_and_the_cases_that_are_wanted() -> None:
    ids = [f"D{n}" for n in range(1, 31)]
    cases = Cases("mine", {}, tuple(Case(one, one, (one,), (1.0,), language="de") for one in ids))
    documents = Collection("terms", tuple(ids), tuple(ids), ((),) * len(ids))
    tree = Ontology.from_parents({"root": [], **{one: ["root"] for one in ids}})

    def exact(texts: list[str], _: int) -> list[dict[str, float]]:
        return [{text: 1.0} for text in texts]

    def shifted(texts: list[str], _: int) -> list[dict[str, float]]:  # one rank later for every second case
        return [{text: 1.0, "D7": 1.0 + (n % 2)} if text != "D7" else {text: 1.0} for n, text in enumerate(texts)]

    result = dh.bench(cases, documents, [shifted, exact], ["RR", "Hit@1", "MaxRel@1"], ontology=tree, n_resamples=500)
    report = report_bench(result)
    table = report.tables[0]
    assert (table.key, [row.labels for row in table.rows]) == ("answers", [("de", "RR"), ("de", "MaxRel@1")])
    comparison = result.comparisons["mine", "de"]
    for row in table.rows:
        best, mean, rival, difference, p, sure, more = row.cells[0]
        (pair,) = comparison[row.labels[1]]
        assert (best, rival, sure) == ("exact", "shifted", "yes")
        assert isinstance(p, NumberCell)
        assert (mean, difference, p.value) == (pair.mean, pair.difference, pair.p_adjusted)
        values = [result.evaluations[Key("mine", "de", name)][row.labels[1]].values for name in ("exact", "shifted")]
        spread = np.std(values[0] - values[1], ddof=1)
        n = next(n for n in range(2, 999) if ttest_power(float(np.mean(values[0] - values[1]) / spread), n) >= 0.8)
        assert more == max(0, n - 30)
    first = comparison.judge(measure=result.measures[2], unit=CASE)
    assert (first.measure, first.leader) == ("MaxRel@1", "exact")
    facts = {fact.heading: fact.text for fact in report.summary}
    assert comparison.judge(unit=CASE).facts.items() <= facts.items()
    assert facts["mine (de)"] == first.headline
    (verdict,) = [fact.value for fact in report.facts if fact.key == "verdict"]
    assert isinstance(verdict, dict)
    assert verdict["near_misses"]["mine (de)"]["leader"] == "exact"


def ttest_power(effect: float, n: int) -> float:
    """The probability that a two-sided t test of n differences finds them, by the noncentral t distribution."""
    bound = scipy.stats.t.ppf(0.975, n - 1)
    centre = abs(effect) * math.sqrt(n)
    return float(1 - scipy.stats.nct.cdf(bound, n - 1, centre) + scipy.stats.nct.cdf(-bound, n - 1, centre))


def test_how_many_cases_are_wanted_is_said_of_each_language() -> None:
    shown = on_screen(dh.bench(CASES, DOCUMENTS, ["bm25"], "RR", n_resamples=200))
    for language, n in (("en", 4), ("de", 3)):
        width, wider = (f"± {1.96 * 0.5 / math.sqrt(m):.2f}" for m in (n, 200))
        said = f"mine ({language}): of {n}, a mean from 0 to 1 is known to {width} at worst"
        assert f"{said}; with {200 - n} more to {wider}" in shown
    assert "see the first table" not in shown
    assert "more cases" not in on_screen(dh.bench(CASES, DOCUMENTS, ["bm25"], "RR", n_resamples=200, limit=2))


@pytest.mark.slow
def test_strata_of_thirty_cases_fit_two_screens() -> None:
    """It was 300 lines: measures that nobody asked for in each stratum, and names of all that is not known."""
    ids = [f"D{n}" for n in range(30)]
    levels = ("easy", "medium", "hard")
    cases = [
        Case(f"c{n:02}", f"text {n % 7}", (ids[n],), (1.0,), language="de", difficulty=levels[n % 3]) for n in range(30)
    ]
    documents = Collection("terms", tuple(ids), tuple(f"text {n % 5} of {n}" for n in range(30)), ((),) * 30)
    tree = Ontology.from_parents({"root": [], **{one: ["root"] for one in ids}})
    names = ["bm25", "bm25(k1=0.5, b=0.1, strings='joined')"]
    result = dh.bench(Cases("mine", {}, tuple(cases)), documents, names, ontology=tree, by="difficulty", n_resamples=99)
    lines = as_text(report_bench(result, full=False), width=120).plain.splitlines()
    assert len(lines) <= 100
    assert max(map(len, lines)) <= 120
    narrow = as_text(report_bench(result, full=False), width=80).plain.splitlines()
    assert max(map(len, narrow)) <= 90
    assert any("bm25(k1=0.5,…s='joined')" in line for line in narrow)
