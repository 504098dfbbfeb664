"""Gates: thresholds pass and fail where arithmetic says so."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import deadheat as dh
from deadheat import gate
from deadheat.core.measures.guide import READINGS
from deadheat.core.report.as_data import as_json
from deadheat.core.report.text import as_text
from deadheat.errors import ParameterError, UnknownMeasureError
from deadheat.plugins.gates.notation import PRESETS, QUANTITIES, parse_all, parse_gate
from deadheat.plugins.gates.report import report_gate
from support.gated_runs import BEST, EV, QRELS, TIED, N
from support.numbers_in_text import numbers_in
from support.report_facts import facts_by_heading
from support.shared_data import llm_qrels, llm_run, needs_shared_data

if TYPE_CHECKING:
    from pathlib import Path

    from deadheat import Evaluation
    from deadheat.plugins.gates.notation import Check


def only(text: str, evaluation: Evaluation = EV, **options: Any) -> Check:  # noqa: ANN401 - passed on
    (check,) = gate(evaluation, text, **options).checks
    return check


@pytest.mark.parametrize(
    ("text", "value", "passed"),
    [
        ("RR >= 0.75", 0.75, True),
        ("RR > 0.75", 0.75, False),
        ("RR <= .75", 0.75, True),
        ("RR < 0.75", 0.75, False),
        ("RR>7.4e-1", 0.75, True),
        ("MRR < +1", 0.75, True),
        ("recip_rank > 0.8", 0.75, False),
        ("mean(RR) >= 0.75", 0.75, True),
        ("tie_min(RR) >= 0.5", 0.5, True),
        ("tie_max( RR ) < 1", 1.0, False),
        ("tie_std(RR) <= 0.08", 0.25 / math.sqrt(N), True),
        ("MR <= 1.5", 1.5, True),
        ("mine > 0.4", 0.5, True),
    ],
)
def test_thresholds(text: str, value: float, *, passed: bool) -> None:
    check = only(text)
    assert check.value == pytest.approx(value, abs=1e-15)
    assert check.passed is passed
    assert bool(check.reason) is not passed
    assert check.n_queries == N


def test_sums_that_are_equal_in_theory_are_equal() -> None:
    threshold = parse_gate("RR >= 0.3")
    assert 0.1 + 0.2 != 0.3
    assert threshold.holds(0.1 + 0.2)
    assert threshold.holds(0.3 - 1e-16)
    assert not threshold.holds(0.3 - 1e-9)
    assert not parse_gate("RR > 0.3").holds(0.1 + 0.2)
    assert parse_gate("RR <= 0.3").holds(0.1 + 0.2)
    assert not parse_gate("RR < 0.3").holds(0.3 - 1e-16)


@needs_shared_data
def test_every_quantity_is_that_of_the_evaluation() -> None:
    evaluation = dh.evaluate(llm_qrels(), llm_run("Olz-gpt4o"), ["nDCG@10", "P(rel=2)@5"])
    for name in ("nDCG@10", "P(rel=2)@5"):
        scores, interval = evaluation[name], evaluation.intervals(confidence_level=0.9)[name]
        expected = {
            "mean": scores.mean,
            "low": interval.low,
            "high": interval.high,
            "tie_min": scores.mean_tie_min,
            "tie_max": scores.mean_tie_max,
            "tie_std": scores.mean_tie_std,
        }
        assert set(expected) == set(QUANTITIES)
        found = gate(evaluation, [f"{quantity}({name}) > 0" for quantity in QUANTITIES], confidence_level=0.9)
        assert {check.quantity: check.value for check in found.checks} == expected


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("low(P(rel=2)@5)>.30", "low(P(rel=2)@5) >= 0.3"),
        ("P(rel=2)@5  >  1", "P(rel=2)@5 > 1"),
        ("mean(nDCG(gain='exp') @ 10) <= 1e-3", "nDCG(gain='exp')@10 <= 0.001"),
        ("tie_min(nDCG(discount='log(2)')) > 0", "tie_min(nDCG) > 0"),
        ("MRR > 0.80", "MRR > 0.8"),
        ("my own measure > 1", "my own measure > 1"),
        ("low(a > b) > 1", "low(a > b) > 1"),
    ],
)
def test_what_prints_can_be_parsed(text: str, written: str) -> None:
    threshold = parse_gate(text.replace(")>.30", ")>=.30"))
    assert str(threshold) == written
    assert parse_gate(written) == threshold


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RR", "needs one of >=, <=, >, < and a number, as in 'nDCG@10 >= 0.8'"),
        ("RR = 0.8", "needs one of >=, <=, >, <"),
        ("RR == 0.8", "needs one of"),
        ("0.8 <= RR", "'RR' is not a number; write it like 'nDCG@10 >= 0.8'"),
        ("RR > 80%", "'80%' is not a number; write it like"),
        ("RR > 0,8", "'0,8' is not a number; write it like"),
        ("RR > nan", "'nan' is not a number"),
        ("RR > inf", "'inf' is not a number"),
        ("RR >", "'' is not a number"),
        ("> 3", "needs one of"),
        ("low() > 3", "a gate needs a measure"),
        ("lo(RR) > 2", r"unknown quantity 'lo' in 'lo\(RR\)'. Did you mean 'low'\? Quantities: mean, low"),
        ("LOW(nDCG@10) > 2", "Did you mean 'low'"),
        (3, "a gate is a string such as 'nDCG@10 >= 0.8'.*, got 3"),
    ],
)
def test_gates_that_cannot_be_read(text: Any, message: str) -> None:  # noqa: ANN401 - whatever a user may give
    with pytest.raises(ParameterError, match=message):
        parse_gate(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("min > 1", "unknown measure 'min'"),
        ("P@10 > 1", "P@10 was not evaluated; this evaluation holds RR, P@1, MR, mine. Did you mean 'P@1'"),
        ("nope > 1", "unknown measure 'nope'"),
    ],
)
def test_measures_that_are_lacking(text: str, message: str) -> None:
    with pytest.raises(UnknownMeasureError, match=message):
        gate(EV, [text, "RR > 0"])


def test_a_value_that_is_missing_never_passes() -> None:
    evaluation = EV.select(np.zeros(N, np.bool_))
    for text in ("MR > 0", "MR < 99", "tie_std(MR) < 99"):
        assert not only(text, evaluation).passed
        assert only(text, evaluation).reason == "no query has a value"
    one = dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["RR"])
    assert only("RR > 0", one).passed
    assert only("high(RR) < 9", one).passed
    assert only("high(RR) < 9", one, method="t").reason == "cannot be known: only 1 query"
    reason = "no interval: it takes two queries with a value, or two clusters, and there is only 1 query"
    assert only("high(RR) < 9", one, method="t", allow_unknown=True).reason == reason
    clusters = dict.fromkeys(QRELS, "same")
    assert math.isnan(only("low(RR) > 0", method="t", cluster=clusters).value)


def test_causes_say_what_reasons_say() -> None:
    assert only("RR > 0.8").causes == ("missed",)
    assert only("RR >= 0").causes == ("trivial",)
    assert only("RR > 0.1").causes == ()
    assert only("low(RR) > 0", EV.select(np.arange(N) < 2), method="t").causes == ("unknown",)
    assert only("MR > 0", EV.select(np.zeros(N, np.bool_))).causes == ("no query",)
    assert "causes" not in gate(EV, "RR > 0").to_polars().columns


def test_the_reason_tells_numbers_apart() -> None:
    assert only("RR > 0.8").reason == "0.75 is not above 0.8"
    assert only("RR >= 0.75001").reason == "0.75 is below 0.75001"
    assert only("RR < 0.75").reason == "0.75 is not below 0.75"
    assert only("RR <= 0.7499999").reason == "0.75 is above 0.7499999"
    assert only("tie_std(RR) < 0.07905").reason == "0.07906 is not below 0.07905"


def test_the_result() -> None:
    result = dh.gate(EV, ["RR > 0.8", "RR > 0.8", "mine >= 0.5", "tie_max(RR) >= 1"])
    assert not result
    assert not result.passed
    assert [check.gate for check in result.checks] == ["RR > 0.8", "mine >= 0.5", "tie_max(RR) >= 1"]
    assert [check.gate for check in result.failures] == ["RR > 0.8"]
    assert result.summary in repr(result)
    assert result.summary.startswith("run: 1 of 3 gates failed")
    assert f"RR > 0.8 ({result.failures[0].reason})" in repr(result)
    assert dh.gate(EV, "RR > 0")
    with pytest.raises(AttributeError):
        result.name = "other"  # type: ignore[misc]
    table = result.to_polars()
    assert table["passed"].to_list() == [False, True, True]
    assert table["value"].to_list() == [0.75, 0.5, 1.0]
    assert table.schema == dh.gate(EV, "RR > 0").to_polars().schema


def test_nothing_to_check_is_an_error() -> None:
    with pytest.raises(ParameterError, match=r"nothing to check: give gates such as \['nDCG@10 >= 0\.8'"):
        gate(EV, [])


def test_a_saved_evaluation_gives_the_same(tmp_path: Path) -> None:
    EV.save(tmp_path / "run.json")
    checks = ["RR > 0.8", "low(RR) > 0.2", "low(P@1) > 0.2", "mine > 0.1", "tie_min(MR) < 3"]
    assert gate(tmp_path / "run.json", checks, baseline=EV) == gate(EV, checks, baseline=str(tmp_path / "run.json"))
    assert gate(dh.load_evaluation(tmp_path / "run.json"), checks) == gate(EV, checks)
    with pytest.raises(
        ParameterError, match=r"expected an Evaluation or the path of a saved one, and gates .*, got dict"
    ):
        gate({}, checks)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"no_worse_than": 0.1}, "no_worse_than needs a baseline, and there is none, got 0.1; give baseline"),
        ({"no_regression": True}, "no_regression needs a baseline, and there is none, got True; give baseline"),
        ({"baseline": EV, "no_worse_than": 0}, "must be a number above 0, got 0"),
        (
            {"baseline": EV, "no_regression": False},
            "there is a baseline, but nothing to check against it: give no_worse_than=0.01",
        ),
        ({"baseline": EV, "no_regression": 1}, "no_regression must be True or False, got 1"),
        ({"allow_unknown": "yes"}, "allow_unknown must be True or False, got 'yes'"),
        ({"by": "level"}, "by needs a queries table, got 'level'; give queries='queries.csv'"),
        ({"baseline": EV, "no_worse_than": -1}, "no_worse_than must be a number above 0, got -1"),
        ({"baseline": EV, "alpha": 5}, r"alpha must be a number between 0 and 0\.5, .*got 5. Did you mean 0\.05\?"),
        ({"baseline": EV, "alpha": 0}, r"alpha must be a number between 0 and 0\.5, such as 0\.05, got 0$"),
        ({"confidence_level": 95}, "confidence_level must be a number between 0 and 1"),
        ({"method": "bcs"}, "Did you mean 'bca'"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        gate(EV, "low(RR) > 0", **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence_level": 95}, "confidence_level must be a number between 0 and 1"),
        ({"method": "nonsense"}, "method must be one of 'auto', 'bca'"),
        ({"n_resamples": 98}, "n_resamples must be a whole number from 99 on, got 98"),
        ({"rng": -1}, "rng must be a whole number from 0 on"),
        ({"cluster": "doc"}, "cluster is a column of a table, got 'doc'; give queries='queries.csv'"),
        ({"cluster": ["a"]}, "cluster must have a label for each of the 10 queries, got 1"),
        ({"queries": "nowhere.csv"}, "queries is the table that has the column of clusters: name the column"),
    ],
)
def test_options_are_read_even_where_no_gate_needs_them(options: dict[str, Any], message: str) -> None:
    for baseline in (None, EV):
        with pytest.raises(ParameterError, match=message):
            gate(EV, "RR > 0", baseline=baseline, **options)


def test_numbers_of_numpy_are_numbers() -> None:
    given = {"no_worse_than": np.float32(0.25), "alpha": np.float64(0.1), "n_resamples": np.int64(99)}
    result = gate(EV, "low(RR) > 0", baseline=EV, confidence_level=np.float32(0.5), rng=np.int64(1), **given)  # type: ignore[arg-type]
    numbers = ("no_worse_than", "alpha", "confidence_level", "n_resamples")
    assert [type(getattr(result.options, name)) for name in numbers] == [float, float, float, int]
    assert result == gate(
        EV, "low(RR) > 0", baseline=EV, no_worse_than=0.25, alpha=0.1, n_resamples=99, confidence_level=0.5, rng=1
    )


def test_an_interval_can_be_made_again_from_the_report() -> None:
    result = gate(EV, "low(RR) > 0.1", method="bca", rng=7)
    report = report_gate(result)
    assert "resamples (rng 7)" in as_text(report).plain
    told = json.loads(as_json(report))["options"]
    options = {name: told[name] for name in ("method", "confidence_level", "n_resamples", "rng")}
    assert EV["RR"].interval(**options).low == result.checks[0].value


def test_thresholds_that_were_read_are_taken_as_they_are() -> None:
    read = parse_gate("low(RR) > 0.1")
    assert parse_all([read, "RR > 0.8", "low(RR)>.10"]) == (read, parse_gate("RR > 0.8"))
    assert parse_all(read) == (read,)
    long = replace(read, bound=0.1 + 0.2)  # as text it is 0.3
    assert parse_all([long]) == (long,)
    assert gate(EV, [read, "RR > 0.8"]) == gate(EV, ["low(RR) > 0.1", "RR > 0.8"])
    assert gate(EV, read) == gate(EV, "low(RR) > 0.1")


def test_presets_are_the_targets_of_the_guide() -> None:
    assert set(PRESETS) == {"rag"}
    targets = {name: value for reading in READINGS.values() for name, value in reading.targets}
    assert set(PRESETS["rag"]) == {f"{name} > {value:g}" for name, value in targets.items()}
    assert [str(parse_gate(text)) for text in PRESETS["rag"]] == list(PRESETS["rag"])


def test_the_preset_has_the_gain_of_its_source() -> None:
    qrels = {"q": dict(zip("abcde", [2, 3, 1, 0, 0], strict=True))}
    run = {"q": {doc: -float(place) for place, doc in enumerate("abcde")}}
    gains = [2**rel - 1 for rel in (2, 3, 1)]
    expected = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
    expected /= sum(gain / math.log2(rank + 1) for rank, gain in enumerate([7, 3, 1], 1))
    evaluation = dh.evaluate(qrels, run, ["nDCG(gain='exp')@5", "nDCG@5"])
    (gate_of_preset,) = (text for text in PRESETS["rag"] if text.startswith("nDCG") and "@5" in text)
    check = only(gate_of_preset, evaluation)
    assert check.value == pytest.approx(expected) == pytest.approx(0.8428, abs=1e-4)
    assert not check.passed
    assert evaluation["nDCG@5"].mean > 0.85  # what the preset let pass


def test_a_gate_says_what_the_judgments_allow() -> None:
    qrels = {f"q{n}": dict.fromkeys("abc", 1) for n in range(6)}
    evaluation = dh.evaluate(qrels, {query: {"a": 1.0} for query in qrels}, ["P@10", "MR", "NumRelRet", "NumRet"])
    check = only("P@10 > 0.6", evaluation)
    assert check.is_beyond
    assert check.reachable == pytest.approx(0.3)
    assert numbers_in(check.reason) == [0.1, 0.6, 0.3]
    assert "cannot be reached" in check.reason
    for text, is_beyond in (
        ("P@10 >= 0.3", False),
        ("low(P@10) > 0.3", True),
        ("tie_min(P@10) > 0.3", True),
        ("high(P@10) > 0.3", False),  # an interval may go beyond its mean
        ("MR < 1", True),
        ("MR <= 1", False),
        ("low(MR) < 1", False),
        ("NumRelRet > 18", True),
        ("NumRelRet >= 18", False),
        ("NumRet > 1000", False),
        ("tie_std(P@10) < 0", True),
    ):
        assert only(text, evaluation).is_beyond is is_beyond, text
    assert only("NumRelRet >= 18", evaluation).reachable == 18.0
    assert only("NumRet > 1", evaluation).reachable is None


def test_the_end_of_an_interval_has_that_of_the_ideal_ranking_as_its_limit() -> None:
    """With ten queries even a perfect ranking does not show a mean of 0.95; its interval has no width by its values."""
    qrels = {f"q{n}": {"a": 1, "b": 2} for n in range(10)}
    perfect = dh.evaluate(qrels, {query: {"b": 2.0, "a": 1.0} for query in qrels}, ["nDCG@10", "P@1"])
    worse = dh.evaluate(qrels, {query: {"a": 2.0, "b": 1.0} for query in qrels}, ["nDCG@10", "P@1"])
    for measure, passed in (("nDCG@10", 0.5), ("P@1", 0.6)):
        limit = perfect[measure].interval().low
        assert passed < limit < 0.95
        for evaluation in (perfect, worse):
            check = only(f"low({measure}) >= 0.95", evaluation)
            assert check.is_beyond
            assert check.reachable == pytest.approx(limit, abs=1e-12)
            assert numbers_in(check.reason)[-2:] == [10, float(f"{limit:.4g}")]
            assert "cannot be reached" in check.reason
        assert not only(f"low({measure}) >= {limit - 0.001}", worse).is_beyond
    assert only("nDCG@10 >= 0.95", worse).reachable == 1.0


@pytest.mark.parametrize(
    "text", ["RR >= 0", "RR > -1", "RR <= 1", "MR >= 1", "tie_std(RR) >= 0", "tie_max(P@1) <= 1", "RR < 1.5"]
)
def test_what_every_ranking_passes_proves_nothing(text: str) -> None:
    result = gate(EV, text)
    assert result.passed
    assert result.checks[0].causes == ("trivial",)
    assert f"{result.checks[0].gate} proves nothing" in result.summary


@pytest.mark.parametrize("text", ["RR > 0", "RR <= 0.99", "MR > 1", "MR < 5", "mine >= -5", "low(RR) >= -1"])
def test_what_some_ranking_fails_proves_something(text: str) -> None:
    spread = dh.evaluate(QRELS, {f"q{n}": {"a": 1.0, "b": float(n)} for n in range(N)}, ["RR", "MR", EV.measures[3]])
    assert gate(spread, text).summary == "run: 1 gate passed"


def test_an_interval_that_is_not_known_fails() -> None:
    few = EV.select(np.arange(N) < 3)
    best = dh.evaluate(QRELS, BEST, ["RR", "Hit@1"])
    for evaluation, text, why in (
        (few, "low(RR) >= 0.5", "only 3 queries"),
        (few, "high(MR) <= 3", "only 3 queries"),
        (best, "low(RR) >= 0.99", "all 10 values are equal"),
    ):
        result = gate(evaluation, text, method="t")
        assert not result
        assert result.checks[0].reason == f"cannot be known: {why}"
        allowed = gate(evaluation, text, method="t", allow_unknown=True)
        assert allowed.passed
        assert allowed.summary.endswith(f"proves nothing: {why}")
    pair = best.select(np.arange(N) < 2)
    check = only("low(Hit@1) >= 0.99", pair)  # 2 of 2: Clopper-Pearson
    assert not check.passed
    assert check.value == pytest.approx(0.025**0.5)
    assert only("low(Hit@1) >= 0.6", best).value == pytest.approx(0.025**0.1)


def test_counts_are_totals() -> None:
    evaluation = dh.evaluate(QRELS, TIED, ["NumQ", "NumRet", "NumRelRet@1"])
    assert only("NumQ >= 10", evaluation).value == 10.0
    assert only("NumRet > 19", evaluation).value == 20.0
    for text, value in (
        ("NumRelRet@1 >= 5", 5.0),
        ("tie_min(NumRelRet@1) <= 0", 0.0),
        ("tie_max(NumRelRet@1) >= 10", 10.0),
        ("tie_std(NumRelRet@1) <= 2", math.sqrt(10 * 0.25)),
    ):
        assert only(text, evaluation).value == pytest.approx(value)
    with pytest.raises(ParameterError, match="as in 'NumRelRet@1 > 3'"):
        gate(evaluation, "low(NumRelRet@1) > 3")
    empty = evaluation.select(np.zeros(N, np.bool_))
    assert only("NumRet <= 100", empty).reason == "no query has a value"


def test_one_random_order_of_ties_proves_little() -> None:
    drawn = dh.evaluate(QRELS, TIED, ["RR"], ties="random", rng=1)
    (check,) = gate(drawn, "RR > 0.1").proving_little
    assert (check.causes, check.weakness) == (("luck",), "proves little")
    assert not gate(drawn, "tie_min(RR) > 0.1").proving_little
    assert not gate(dh.evaluate(QRELS, BEST, ["RR"], ties="random", rng=1), "RR > 0.1").proving_little


def test_queries_that_are_left_out_do_not_decide_in_silence() -> None:
    qrels = {f"q{n}": {"a": 1} for n in range(10)}
    run = {f"q{n}": {"a": 1.0} for n in range(7)}  # RR is 1 over these, 0.7 with the three that it lacks

    def checked(text: str, **options: Any) -> Check:  # noqa: ANN401 - passed on
        return gate(dh.evaluate(qrels, run, ["RR", "MR", "NumRelRet"], **options), [text]).checks[0]

    check = checked("RR > 0.7", missing="skip")
    assert (check.passed, check.proves_little, check.value) == (True, True, 1.0)
    assert check.causes == ("missing",)
    assert numbers_in(check.reason) == [3]
    assert not checked("RR > 0.7", missing="empty").passed
    for text in ("RR >= 0.7", "MR <= 1", "NumRelRet >= 7"):  # these pass either way, or say nothing of the missing
        assert not checked(text, missing="skip").proves_little


@pytest.mark.parametrize(("bound", "told"), [(0.7, True), (0.9, True), (0.5, False), (1.1, False)])
def test_a_gate_that_some_orders_of_the_ties_reach_is_named(bound: float, *, told: bool) -> None:
    """The mean is 0.75, and from 0.5 to 1 over the orders: a gate may be missed, and be reached by one of them."""
    check = f"RR >= {bound}"
    evaluation = dh.evaluate({"q1": {"a": 1}}, {"q1": {"a": 1.0, "b": 1.0}}, "RR")
    shown = facts_by_heading(report_gate(gate(evaluation, check)).in_brief())
    assert numbers_in(shown.get("tie order", "")) == ([bound, 0.5, 1] if told else [])
    assert "tie_range" not in gate(evaluation, check).to_polars().columns
