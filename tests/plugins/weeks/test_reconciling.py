"""Evaluations under different judgments: what differs is said, and they are compared as if evaluated under the same."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.core.data.changes import compare_judgments
from deadheat.core.evaluation.origin import Origin
from deadheat.core.evaluation.reconciling import reconcile
from deadheat.errors import DataError, NothingJudgedWarning, ParameterError
from deadheat.plugins.gates.report import report_gate
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from pathlib import Path

    from deadheat import Evaluation

Judged = dict[str, dict[str, float]]
rng = random.Random(4)
DOCS = [f"d{n}" for n in range(40)]
QRELS: Judged = {f"q{n:02}": {doc: float(rng.choice((1, 2))) for doc in rng.sample(DOCS, 3)} for n in range(20)}
MEASURES = ["nDCG@5", "RR", "ERR@5"]


def drawn(queries: Any, seed: int) -> Judged:  # noqa: ANN401 - ids
    """Draw a run with many ties."""
    own = random.Random(seed)
    return {query: {doc: float(own.randrange(6)) for doc in own.sample(DOCS, 25)} for query in queries}


OLD, NEW = drawn(QRELS, 1), drawn([*QRELS, "new"], 2)
ADDED = {**QRELS, "new": {"d1": 1.0, "d2": 2.0}}
REGRADED = {**ADDED, "q03": dict.fromkeys(QRELS["q03"], 2.0)}
LESS = {query: own for query, own in REGRADED.items() if query != "q05"}


def saved(evaluation: Evaluation, time: str) -> Evaluation:
    """Return an evaluation as if it had been saved at a time."""
    found = evaluation.keeping(100)
    found.origin = Origin(time)
    return found


def made(qrels: Judged, run: Judged, time: str, measures: Any = MEASURES, **options: Any) -> Evaluation:  # noqa: ANN401 - of evaluate
    return saved(dh.evaluate(qrels, run, measures, **options), time)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("qrels", "told", "n_compared"),
    [
        (ADDED, "21 queries: 20 the same, 1 new", 20),
        (REGRADED, "21 queries: 19 the same, 1 with changed judgments, 1 new", 20),
        (LESS, "20 queries: 18 the same, 1 with changed judgments, 1 new, 1 gone", 19),
    ],
)
def test_an_earlier_ranking_is_compared_as_if_evaluated_under_the_newer_judgments(
    qrels: Judged, told: str, n_compared: int
) -> None:
    """On the queries that it was asked."""
    asked = {query: own for query, own in qrels.items() if query in OLD}
    before, after = made(QRELS, OLD, "2026-01-01"), made(qrels, NEW, "2026-01-02")
    for given in ({"old": before, "new": after}, {"new": after, "old": before}):
        found = dh.compare_evaluations(given, n_resamples=99)
        # scales of ERR are by the highest relevance in all of the qrels, which the new query does not raise
        anew = dh.compare(asked, {name: OLD if name == "old" else NEW for name in given}, MEASURES, n_resamples=99)
        assert found.to_polars().equals(anew.to_polars())
        together = found.together
        assert together is not None
        assert (together.way, together.reference, together.not_asked) == ("rescore", "new", ("new",))
        assert str(together.changes["old"]) == told
        assert together.n_queries == n_compared == len(found.query_ids)
        assert told in " ".join(str(found).split())
    result = dh.gate(after, ["RR >= 0"], baseline=before)
    assert [(one.n_queries, one.is_regression) for one in result.checks] == [
        (len(qrels), False),
        *[(n_compared, True)] * 3,
    ]
    anew_gate = dh.gate(dh.evaluate(asked, NEW, MEASURES), baseline=dh.evaluate(asked, OLD, MEASURES))
    assert [one.p_value for one in result.checks[1:]] == [one.p_value for one in anew_gate.checks]
    assert f"{told}; run (baseline) scored again" in " ".join(str(result).split())


def test_rescoring_the_earlier_ranking_first_changes_no_comparison(tmp_path: Path) -> None:
    """A query that was never asked is no empty ranking: one that was asked and found nothing is."""
    run = {query: own for query, own in OLD.items() if query != "q02"}
    before, after = made(QRELS, run, "1"), made(LESS, NEW, "2")
    again = before.rescored(LESS)
    assert again.query_ids.tolist() == [query for query in LESS if query != "new"]
    assert again.missing_queries == ("q02",)
    assert again.notes == ("queries left out, which the ranking was never asked: new",)
    asked = {query: own for query, own in LESS.items() if query != "new"}
    assert again.to_dict() == dh.evaluate(asked, run, MEASURES).to_dict()
    assert again.qrels_hash == dh.Qrels(asked).fingerprint
    again.save(tmp_path / "again.json")
    for checks in ([], ["low(RR) > 0.9"]):
        found, anew = (dh.gate(after, checks, baseline=one) for one in (before, tmp_path / "again.json"))
        assert anew.checks == found.checks
        assert anew.together is not None
        assert anew.together.not_asked == ("new",)
    assert before.rescored(LESS, missing="empty").to_dict() == dh.evaluate(LESS, run, MEASURES).to_dict()
    with pytest.raises(DataError, match=r"'other'; .*'q00'"):
        before.rescored({"other": {"d1": 1}})
    # a list without judgments was asked
    assert made(QRELS, NEW, "1").rescored(ADDED).query_ids.tolist() == [*sorted(ADDED)]
    topics = dh.Qrels({**QRELS, "new": {"d1": 1.0}, "none": {}})
    assert before.rescored(topics).query_ids.tolist() == [*QRELS]


def test_queries_with_equal_judgments_alone() -> None:
    before, after = made(QRELS, OLD, ""), made(LESS, NEW, "")
    found = dh.compare_evaluations({"old": before, "new": after}, judgments="shared", n_resamples=99)
    same = [query for query in QRELS if query not in {"q03", "q05"}]
    assert found.query_ids.tolist() == same
    values = {
        name: dh.evaluate(own, run, "nDCG@5")["nDCG@5"] for name, own, run in (("old", QRELS, OLD), ("new", LESS, NEW))
    }
    for name, scores in values.items():
        keep = np.isin(scores.query_ids.astype(str), same)
        assert found.evaluations[name]["nDCG@5"].values.tolist() == scores.values[keep].tolist()
    assert "only those with equal judgments: 18 queries compared" in " ".join(str(found).split())
    result = dh.gate(after, baseline=before, judgments="shared", by="half", queries={q: {"half": q[-1]} for q in ADDED})
    assert sum(one.n_queries for one in result.checks if one.by and one.measure == "RR") == 18


def test_a_higher_grade_elsewhere_changes_measures_with_a_scale() -> None:
    """ERR divides by the highest relevance in all of the qrels: other queries have a part in it."""
    higher = {**QRELS, "q00": dict.fromkeys(QRELS["q00"], 3.0)}
    before, after = made(QRELS, OLD, "1"), made(higher, NEW, "2")
    found = dh.compare_evaluations([before.called("a"), after.called("b")], judgments="shared", n_resamples=99)
    assert [str(one) for one in found.measures] == ["nDCG@5", "RR"]
    assert found.together is not None
    assert found.together.left_out == ("ERR@5",)
    again = dh.compare_evaluations([before.called("a"), after.called("b")], n_resamples=99)
    assert [str(one) for one in again.measures] == MEASURES


@pytest.mark.slow
def test_values_that_are_not_computed_again_stay_where_the_highest_grade_is_the_same(tmp_path: Path) -> None:
    """A saved evaluation has the values of a function, and not the function, which may know the highest grade."""
    first = dh.Custom("first", lambda relevance: float(relevance[0]))
    paths = {}
    for name, qrels, run in (("old", QRELS, OLD), ("new", LESS, NEW)):
        paths[name] = dh.evaluate(qrels, run, [first, "RR"]).save(tmp_path / f"{name}.json")
    found = dh.compare_evaluations(paths, judgments="shared", n_resamples=99)
    assert [measure.label for measure in found.measures] == ["first", "RR"]
    higher = {**LESS, "q00": dict.fromkeys(LESS["q00"], 3.0)}
    paths["new"] = dh.evaluate(higher, NEW, [first, "RR"]).save(tmp_path / "higher.json")
    found = dh.compare_evaluations(paths, judgments="shared", n_resamples=99)
    assert [measure.label for measure in found.measures] == ["RR"]


def test_what_is_not_known_is_asked_or_refused() -> None:
    before, after = made(QRELS, OLD, "2026-01-01"), made(ADDED, NEW, "2026-01-01")
    asks = "which are newer is not known; evaluate both with the same qrels, or compare the queries whose"
    for pair in (
        (before, after),
        (dh.evaluate(QRELS, OLD, "RR"), dh.evaluate(ADDED, NEW, "RR")),
    ):
        for way in (None, "rescore"):
            with pytest.raises(DataError, match=asks):
                reconcile(dict(zip("ab", pair, strict=True)), way)
    later = made(ADDED, NEW, "2026-01-02")
    with pytest.raises(DataError, match=r"from a to b: 21 .*: 20 the"):
        reconcile({"a": before, "b": later}, "strict")
    with raises_parts(ParameterError, argument="judgments", given="rescored", allowed=("rescore", "shared", "strict")):
        reconcile({"a": before, "b": later}, "rescored")
    # without its ranking, or with one that was drawn, the default is what it was before there was a choice
    for lacking in (before.keeping(0), made(QRELS, OLD, "2026-01-01", ties="random", rng=1)):
        newer = made(ADDED, NEW, "2026-01-02", ties=lacking.ties, rng=1)
        with pytest.raises(DataError, match="judgments='shared'"):
            reconcile({"a": lacking, "b": newer})
        found, _ = reconcile({"a": lacking, "b": newer}, "shared")
        assert [len(one.query_ids) for one in found.values()] == [20, 20]
    with pytest.raises(DataError, match=r"^a .*without its ranking"):
        reconcile({"a": before.keeping(0), "b": later}, "rescore")
    with pytest.raises(DataError, match="no query with equal judgments"):
        reconcile({"a": before, "b": made({"new": {"d1": 1.0}}, NEW, "2")}, "shared")


def test_measures_for_which_too_little_was_kept_are_left_out() -> None:
    far = {query: {**own, "x": 0.0} for query, own in ADDED.items()}
    run = {query: {**own, "x": -1.0} for query, own in OLD.items()}
    before = made(QRELS, run, "2026-01-01", ["nDCG@5", "AP", dh.Custom("mine", len)])
    before.run = dh.evaluate(QRELS, run, "RR").keeping(10).run
    after = made(far, NEW, "2026-01-02", ["nDCG@5", "AP", dh.Custom("mine", len)])
    found, together = reconcile({"old": before, "new": after})
    assert [[one.label for one in each.measures] for each in found.values()] == [["nDCG@5"]] * 2
    assert together is not None
    assert set(together.left_out) == {"AP", "mine"}
    assert "for which too little was kept" in "; ".join(together.describe())
    result = dh.gate(after, baseline=before)
    assert result.summary.endswith("; not compared: AP, mine")
    assert report_gate(result, marks=True).heading.startswith("⚠ run: 1 gate passed")
    alone = made(QRELS, run, "2026-01-01", ["AP"])
    alone.run = before.run
    with pytest.raises(DataError, match=r"too little .*old for AP"):
        reconcile({"old": alone, "new": made(far, NEW, "2026-01-02", ["AP"])})


def test_documents_that_may_have_been_renamed_are_named() -> None:
    first = next(iter(QRELS["q07"]))
    other = {**QRELS, "q07": {("bill" if doc == first else doc): one for doc, one in QRELS["q07"].items()}}
    found = compare_judgments(dh.Qrels(QRELS), dh.Qrels(other))
    assert found.find_replaced() == [("q07", first, "bill")]
    _, together = reconcile({"old": made(QRELS, OLD, "1"), "new": made(other, OLD, "2")})
    assert together is not None
    assert together.warn_of_renamed().startswith(f"'{first}' by 'bill' in the judgments: if these are new ids")
    # one that went and two that came may be anything
    assert compare_judgments(dh.Qrels({"q": {"a": 1}}), dh.Qrels({"q": {"b": 1, "c": 1}})).find_replaced() == []
    assert compare_judgments(dh.Qrels({"q": {"a": 1}}), dh.Qrels({"q": {"b": 2}})).find_replaced() == []


def test_a_baseline_of_which_no_document_is_judged_any_more_is_refused() -> None:
    """All its values would be 0, and every gate pass."""
    new = {query: {f"new-{doc}": grade for doc, grade in own.items()} for query, own in QRELS.items()}
    run = {query: {f"new-{doc}": score for doc, score in own.items()} for query, own in OLD.items()}
    before, after = made(QRELS, OLD, "1"), made(new, run, "2")
    told = "no document that run .baseline. retrieved is judged any more by the judgments of run: if .* rescore --ids"
    with pytest.raises(DataError, match=told):
        dh.gate(after, baseline=before)
    same = {doc: f"new-{doc}" for doc in DOCS}
    assert dh.gate(after, baseline=before.rescored(new, ids=same)).checks[0].value == 0
    # one that found nothing before finds nothing now
    with pytest.warns(NothingJudgedWarning):
        empty = made(QRELS, {query: {"x": 1.0} for query in QRELS}, "1")
    assert dh.gate(after, baseline=empty).checks[0].baseline_mean == 0


def test_missing_queries_of_both_stay_missing() -> None:
    """What the earlier run could have answered counts, also where an error was asked for."""
    run = {query: own for query, own in OLD.items() if query != "q02"}
    before, after = made(QRELS, run, "1", "RR"), made(REGRADED, NEW, "2", "RR")
    found, together = reconcile({"old": before, "new": after})
    assert together is not None
    assert together.not_asked == ("new",)
    assert found["old"].missing_queries == ("q02",)
    assert found["old"]["RR"].values[2] == 0
    strict = made(QRELS, OLD, "1", "RR", missing="error")
    found, _ = reconcile({"old": strict, "new": made(REGRADED, NEW, "2", "RR", missing="error")})
    assert [len(one.query_ids) for one in found.values()] == [20, 20]
    skipping = made(QRELS, run, "1", "RR", missing="skip")
    found, _ = reconcile({"old": skipping, "new": made(REGRADED, NEW, "2", "RR", missing="skip")})
    assert [len(one.query_ids) for one in found.values()] == [19, 20]
