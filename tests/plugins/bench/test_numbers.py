"""bench() on a few cases whose numbers are worked out by hand: every option reaches what it is of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import deadheat as dh
from deadheat import Ontology
from deadheat.errors import DataError, DeadheatWarning, ParameterError
from deadheat.plugins.bench.case_groups import CaseGroup
from deadheat.plugins.bench.cases import Case, Cases
from deadheat.plugins.bench.collection import Collection
from deadheat.plugins.bench.report import report_bench
from deadheat.plugins.bench.result import Key
from support.error_parts import raises_parts
from support.small_bench import Counting

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# R above A and B, A above A1 and A2, B above B1
PARENTS: dict[str, list[str]] = {"R": [], "A": ["R"], "B": ["R"], "A1": ["A"], "A2": ["A"], "B1": ["B"]}
TREE = Ontology.from_parents(PARENTS)
DOCUMENTS = Collection("tree", tuple(PARENTS), tuple(PARENTS), ((),) * 6)
SIMILAR = {  # by Wu and Palmer: twice the terms down to the common ancestor by those down to both
    "A1": {"R": 2 / (3 + 1), "A": 4 / (3 + 2), "A1": 1, "A2": 4 / (3 + 3), "B": 2 / (3 + 2), "B1": 2 / (3 + 3)},
    "B1": {"R": 2 / (3 + 1), "B": 4 / (3 + 2), "B1": 1, "A": 2 / (3 + 2), "A1": 2 / (3 + 3), "A2": 2 / (3 + 3)},
}
ROWS = [
    ("e1", "A1", "en", "easy", "synonym"),
    ("e2", "A1", "en", "hard", "synonym"),
    ("e3", "B1", "en", "hard", "complex"),
    ("g1", "A1", "de", "easy", "synonym"),
    ("g2", "B1", "de", "easy", "synonym"),
]
CASES = Cases(
    "mine",
    {},
    tuple(
        Case(case_id, case_id, (wanted,), (1.0,), language=language, difficulty=difficulty, category=category)
        for case_id, wanted, language, difficulty, category in ROWS
    ),
)
FOUND = {  # best first; good has what is expected at once, bad only in German
    "good": {"e1": "A1 A B", "e2": "A1 B1 R", "e3": "B1 R A", "g1": "A1 A R", "g2": "B1 A R"},
    "bad": {"e1": "A2 A1 R", "e2": "A A1 B", "e3": "R B1 A", "g1": "A1 A R", "g2": "B1 A R"},
}
FIRST = {"e1": SIMILAR["A1"]["A2"], "e2": SIMILAR["A1"]["A"], "e3": SIMILAR["B1"]["R"]}  # of bad
ENGLISH = ("mine", "en")


class Known:
    """Finds what is written above, and remembers how much it was asked for."""

    def __init__(self, name: str) -> None:
        self.name, self.asked = name, set[int]()

    def index(self, documents: Collection) -> None:
        """Need nothing."""

    def search(self, texts: Sequence[str], k: int) -> list[dict[str, float]]:
        self.asked.add(k)
        rankings = (FOUND[self.name][text].split() for text in texts)
        return [{doc: 1 / rank for rank, doc in enumerate(ranking, 1)} for ranking in rankings]


def benched(measures: Any = ("MaxRel@1", "RR"), **options: Any) -> dh.BenchResult:  # noqa: ANN401 - as bench
    given = {"k": 2, "ontology": TREE, "kind": "wu_palmer", "baseline": "bad", "n_resamples": 400, **options}
    return dh.bench(CASES, DOCUMENTS, [Known("good"), Known("bad")], list(measures), **given)


@pytest.mark.slow
def test_max_rel_is_the_similarity_in_the_ontology_and_all_else_is_of_the_expected_ids() -> None:
    evaluation = benched().evaluations[Key(*ENGLISH, "bad")]
    assert evaluation.to_dict() == {case: {"MaxRel@1": pytest.approx(FIRST[case]), "RR": 1 / 2} for case in FIRST}
    plain = benched(ontology=None, kind="lin").evaluations[Key(*ENGLISH, "bad")]
    assert plain.means() == {"MaxRel@1": 0.0, "RR": 1 / 2}
    alone = benched(["MaxRel@1"]).evaluations[Key(*ENGLISH, "bad")]
    assert alone["MaxRel@1"].values.tolist() == evaluation["MaxRel@1"].values.tolist()
    assert alone.qrels_hash == plain.qrels_hash == evaluation.qrels_hash


def test_chance_is_the_mean_similarity_to_all_terms() -> None:
    frame = benched().to_polars().filter(language="en", retriever="good")
    of_a1, of_b1 = (sum(SIMILAR[term].values()) / 6 for term in ("A1", "B1"))
    expected = [pytest.approx((2 * of_a1 + of_b1) / 3), None]
    assert frame.sort("measure")["chance"].to_list() == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cluster", "p_value"),
    [
        (None, 2 / 2**3),  # of three signs, all alike
        ("expected_ids", 2 / 2**2),  # e1 and e2 expect A1: of two signs, both alike
    ],
)
def test_differences_from_the_baseline_are_tested_by_cluster(cluster: str | None, p_value: float) -> None:
    for pair in benched(cluster=cluster).comparisons[ENGLISH].pairs:
        assert (pair.system, pair.baseline, pair.wins, pair.losses) == ("good", "bad", 3, 0)
        assert pair.p_value == p_value
        differences = {"RR": 1 / 2, "MaxRel@1": 1 - sum(FIRST.values()) / 3}
        assert pair.difference == pytest.approx(differences[pair.measure])


@pytest.mark.slow
def test_differences_are_tested_on_one_side_if_asked() -> None:
    by_side = {
        side: benched(alternative=side).comparisons[ENGLISH]["RR"][0].p_value
        for side in ("two-sided", "greater", "less")
    }
    assert by_side == {"two-sided": 2 / 8, "greater": 1 / 8, "less": 1.0}


@pytest.mark.slow
def test_the_report_shows_wins_and_losses_as_they_are() -> None:
    tables = [table for table in report_bench(benched()).tables if table.key == "pairs"]
    for table in tables:
        for row in table.rows:
            cells = dict(zip((column.key for column in table.columns), row.cells[0], strict=True))
            assert (cells["wins"], cells["losses"]) == ((3, 0) if "(en)" in table.title else (0, 0))
    assert len(tables) == 2


@pytest.mark.slow
def test_strata_are_those_of_their_column() -> None:
    found = benched().by("category")[Key(*ENGLISH, "bad")]
    expected = {"complex": FIRST["e3"], "synonym": (FIRST["e1"] + FIRST["e2"]) / 2}
    assert {name: one.means()["MaxRel@1"] for name, one in found.items()} == pytest.approx(expected)
    hard = benched().by("difficulty")[Key(*ENGLISH, "bad")]["hard"]
    assert hard.means()["MaxRel@1"] == pytest.approx((FIRST["e2"] + FIRST["e3"]) / 2)


@pytest.mark.slow
def test_k_documents_are_asked_for_and_kept(tmp_path: Path) -> None:
    retrievers = [Known("good"), Known("bad")]
    dh.bench(CASES, DOCUMENTS, retrievers, "RR", 2, tmp_path, n_resamples=99)
    assert [one.asked for one in retrievers] == [{2}, {2}]
    runs = [pl.read_parquet(path) for path in (tmp_path / "runs").glob("*.k2.parquet")]
    assert [run.group_by("query_id").len()["len"].unique().to_list() for run in runs] == [[2]] * 4


@pytest.mark.slow
def test_bench_json_has_all_numbers(tmp_path: Path) -> None:
    result = benched(output=tmp_path, cluster="expected_ids")
    document = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    rows = result.to_polars().to_dicts()
    assert all(0 <= row["low"] <= row["high"] <= 1 for row in rows)  # similarities of MaxRel, too
    assert document["results"] == rows
    assert len(document["results"]) == 2 * 2 * 2
    assert document["averages"] == result.averages().to_dicts()
    (mean,) = [row["mean"] for row in document["averages"] if (row["retriever"], row["measure"]) == ("bad", "RR")]
    assert mean == (1 / 2 + 1) / 2
    expected = [
        {"cases": cases, "language": language, **row}
        for (cases, language), one in result.comparisons.items()
        for row in one.to_polars(details=True).to_dicts()
    ]
    for row in expected:
        if row["measure"] == "RR" and row["language"] == "en":
            assert row["effect_size"] == float("inf")  # all differences are the same
            row["effect_size"] = "inf"
    assert document["comparisons"] == expected
    assert len(expected) == 2 * 2
    assert document["cluster"] == "expected_ids"
    assert document["design"]["baseline"] == "bad"


@pytest.mark.slow
def test_saved_evaluations_have_the_intervals_of_the_report(tmp_path: Path) -> None:
    result = benched(output=tmp_path, cluster="expected_ids", confidence_level=0.8, method="t")
    key = Key(*ENGLISH, "bad")
    document = json.loads((tmp_path / "evaluations" / "mine.en.bad.json").read_text(encoding="utf-8"))
    own = result.intervals[key]["MaxRel@1"]
    assert document["measures"]["MaxRel@1"]["low"] == own.low
    assert document["measures"]["MaxRel@1"]["high"] == own.high
    clusters = {"e1": 0, "e2": 0, "e3": 1}
    again = result.evaluations[key]["MaxRel@1"].interval(method="t", confidence_level=0.8, cluster=clusters)
    assert (again.low, again.high, again.n_clusters) == (own.low, own.high, 2)


@pytest.mark.slow
def test_what_clusters_make_of_intervals_is_told_at_their_level() -> None:
    result = benched(cluster="expected_ids", confidence_level=0.8, method="t")
    alone = result.evaluations[Key(*ENGLISH, "bad")]["MaxRel@1"].interval(method="t", confidence_level=0.8)
    own = result.intervals[Key(*ENGLISH, "bad")]["MaxRel@1"]  # the only one with a width: good has 1 throughout
    facts = {fact.key: fact.value for fact in report_bench(result).facts}
    widths: Any = facts["width_by_clusters"]
    assert widths["mine (en)"] == pytest.approx((own.high - own.low) / (alone.high - alone.low))


def test_a_part_is_known_by_all_that_is_judged() -> None:
    case = Case("a", "text", ("A1", "A2"), (1.0, 2.0))
    others = [
        Case("b", "text", ("A1", "A2"), (1.0, 2.0)),
        Case("a", "other", ("A1", "A2"), (1.0, 2.0)),
        Case("a", "text", ("A1", "B1"), (1.0, 2.0)),
        Case("a", "text", ("A1", "A2"), (1.0, 3.0)),
    ]
    parts = [CaseGroup("mine", "en", Cases("mine", {}, (one,))) for one in (case, *others)]
    assert len({part.judged for part in parts}) == 5
    assert len({part.searched for part in parts}) == 3


@pytest.mark.parametrize("measures", [["RR", "MaxRel@1", "MaxRel"], ["MaxRel@1"], ["MaxRel"]])
def test_max_rel_of_a_run_without_a_document_is_0(measures: list[str]) -> None:
    def nothing(texts: Sequence[str], _k: int) -> list[dict[str, float]]:
        return [{} for _ in texts]

    small = Ontology.from_parents({term: own for term, own in PARENTS.items() if term != "B1"})
    with pytest.warns(DeadheatWarning, match="are no terms of the ontology; .* similarity to everything is 0: 'B1'"):
        result = dh.bench(CASES, DOCUMENTS, [nothing], measures, k=2, ontology=small, n_resamples=99)
    assert result.evaluations[Key(*ENGLISH, "nothing")].means() == dict.fromkeys(measures, 0.0)
    assert result.evaluations[Key(*ENGLISH, "nothing")].missing_queries == ("e1", "e2", "e3")
    assert any("'B1'" in note for note in result.notes)


@pytest.mark.parametrize("measures", ["MaxRel@1", "MaxRel"])
def test_a_part_that_the_ontology_does_not_know_is_refused_before_anything_is_searched(measures: str) -> None:
    other = Cases("other", {}, (Case("o1", "x", ("B1",), (1.0,)),))
    small = Ontology.from_parents({"R": [], "A1": ["R"]})
    first = Cases("first", {}, CASES.cases[:1])
    with pytest.raises(DataError, match=r"^other: none of the 1 "):
        dh.bench([first, other], DOCUMENTS, Counting(dies_in=0), measures, ontology=small)


def test_a_test_that_knows_no_clusters_is_refused_before_anything_is_searched() -> None:
    for test in ("wilcoxon", "sign"):
        with raises_parts(
            ParameterError,
            argument="test",
            allowed=("randomization", "bootstrap-t", "bootstrap", "t", "tukey"),
            beside={"cluster": None},
        ):
            dh.bench(CASES, DOCUMENTS, [Counting(dies_in=0), Known("good")], test=test, cluster="expected_ids")


@pytest.mark.parametrize(
    ("at", "message"),
    [
        (5, r"at must be a list of cutoffs, such as \(1, 3, 5, 10\), got 5"),
        ("15", "at must be a list of cutoffs, .* got '15'"),
        ([1, "x"], "each of at must be a whole number from 1 on, got 'x'"),
        ([], r"at must be at least one cutoff, got \[\]"),
    ],
)
def test_cutoffs_are_a_list_of_whole_numbers(at: Any, message: str) -> None:  # noqa: ANN401 - wrong ones
    with pytest.raises(ParameterError, match=message):
        dh.bench(CASES, DOCUMENTS, Known("good"), at=at)
