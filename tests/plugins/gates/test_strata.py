"""Gates by strata: every one of them is checked, corrected for their number, and languages are kept apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy

import deadheat as dh
from deadheat import gate
from deadheat.core.report.text import as_text
from deadheat.errors import ColumnError, DataError, ParameterError
from deadheat.plugins.gates.notation import parse_gate
from deadheat.plugins.gates.report import report_gate
from support.error_parts import raises_parts
from support.gated_runs import ranked

if TYPE_CHECKING:
    from deadheat.plugins.gates.notation import Check, GateResult

N = 30
RANKS = [1] * 10 + [1, 2] * 5 + [3] * 10
IDS = [f"q{n:03}" for n in range(N)]
LEVELS = {query: {"level": "abc"[n // 10], "parity": "even" if n % 2 == 0 else "odd"} for n, query in enumerate(IDS)}
LANGUAGES = {query: row | {"language": "de" if n % 2 else "en"} for n, (query, row) in enumerate(LEVELS.items())}
EV = ranked(*RANKS)


def by_stratum(result: GateResult, text: str) -> dict[str, Check]:
    return {check.stratum: check for check in result.checks if check.gate == text}


def test_each_checks_within_the_strata_alone() -> None:
    result = gate(EV, "each(level): RR >= 0.75", queries=LEVELS)
    found = by_stratum(result, "RR >= 0.75")
    assert {name: (check.value, check.passed, check.n_queries) for name, check in found.items()} == {
        "a": (1.0, True, 10),
        "b": (0.75, True, 10),
        "c": (pytest.approx(1 / 3), False, 10),
    }
    assert not result
    assert result.summary.startswith("run: 1 of 3 gates failed")
    assert f"RR >= 0.75 [level: c] ({found['c'].reason})" in repr(result)
    both = gate(EV, "each(level, parity): RR > 0", queries=LEVELS)
    assert [check.stratum for check in both.checks] == [f"{a}, {b}" for a in "abc" for b in ("even", "odd")]
    assert both.checks[0].by == "level, parity"


def test_by_checks_every_gate_in_the_strata_too() -> None:
    result = gate(EV, ["RR > 0.1", "each(parity): MR < 5"], by="level", queries=LEVELS)
    assert list(by_stratum(result, "RR > 0.1")) == ["", "a", "b", "c"]
    assert list(by_stratum(result, "MR < 5")) == ["even", "odd"]
    twice = gate(EV, ["RR > 0.1", "each(level): RR > 0.1", "MRR > 0.10"], by="level", queries=LEVELS)
    assert [check.stratum for check in twice.checks] == ["", "a", "b", "c"]


def test_intervals_of_strata_hold_together() -> None:
    evaluation = dh.evaluate(
        {query: {"a": 1} for query in IDS},
        {query: {"a": 1.0, "b": float(n % 5 == 0)} for n, query in enumerate(IDS)},
        "RR",
    )
    result = gate(evaluation, "low(RR) > 0", by="level", queries=LEVELS, method="t")
    found = by_stratum(result, "low(RR) > 0")
    values = np.array(evaluation["RR"].values)
    for place, name in enumerate("abc"):
        part = values[10 * place : 10 * place + 10]
        test = scipy.stats.ttest_1samp(part, 0).confidence_interval(1 - 0.05 / 3)
        assert found[name].value == pytest.approx(test.low)
        assert found[name].confidence_level == pytest.approx(1 - 0.05 / 3)
    assert found[""].value == pytest.approx(scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95).low)


def holm(p_values: list[Any]) -> list[float]:
    order = np.argsort(p_values)
    steps = [p_values[place] * (len(p_values) - n) for n, place in enumerate(order)]
    return [min(1.0, max(steps[: list(order).index(place) + 1])) for place in range(len(p_values))]


@pytest.mark.parametrize("question", ["no_regression", "no_worse_than"])
def test_p_values_are_corrected_over_the_strata_of_a_check(question: str) -> None:
    rng = np.random.default_rng(5)
    ranks = np.maximum(1, np.array(RANKS) + rng.integers(-1, 2, N) + np.repeat([0, 1, 1], 10))
    new = ranked(*ranks, name="new")
    options: dict[str, Any] = {question: True if question == "no_regression" else 0.2}
    result = gate(new, baseline=EV, by="level", queries=LEVELS, **options)
    differences = np.array(new["RR"].values) - np.array(EV["RR"].values)
    parts = [differences[:10], differences[10:20], differences[20:]]
    if question == "no_regression":
        p_values = [scipy.stats.ttest_1samp(part, 0, alternative="less").pvalue for part in parts]
    else:
        p_values = [scipy.stats.ttest_1samp(part, -0.2, alternative="greater").pvalue for part in parts]
    found = by_stratum(result, "RR >= baseline" if question == "no_regression" else "RR > baseline - 0.2")
    assert [found[name].p_value for name in "abc"] == pytest.approx(p_values)
    assert [found[name].p_adjusted for name in "abc"] == pytest.approx(holm(p_values))
    assert found[""].p_adjusted == found[""].p_value
    for name in "abc":
        is_below = (found[name].p_adjusted or 0.0) < 0.05
        assert found[name].passed is (is_below if question == "no_worse_than" else not is_below)


def test_a_loss_in_one_stratum_fails() -> None:
    ranks = [1] * 10 + [1, 2] * 5 + [4] * 10
    result = gate(ranked(*ranks, name="new"), baseline=EV, no_worse_than=0.08, by="level", queries=LEVELS)
    assert {check.stratum for check in result.failures if check.measure == "RR"} == {"c"}


def test_languages_are_kept_apart() -> None:
    result = gate(EV, "RR > 0.1", by="level", queries=LANGUAGES)
    assert result.languages == ("de", "en")
    assert [check.stratum for check in result.checks] == [
        "de",
        "en",
        *(f"{a}, {b}" for a in ("de", "en") for b in "abc"),
    ]
    assert {check.by for check in result.checks} == {"language", "language, level"}
    assert len(gate(EV, "RR > 0.1", by="language", queries=LANGUAGES).checks) == 2
    pooled = gate(EV, "RR > 0.1", by="level", queries=LANGUAGES, pool_languages=True)
    assert [check.stratum for check in pooled.checks] == ["", "a", "b", "c"]
    clusters = gate(EV, "low(RR) > 0", cluster="level", queries=LANGUAGES, allow_unknown=True)
    assert [check.stratum for check in clusters.checks] == ["de", "en"]
    compared = gate(EV, baseline=EV, by="level", queries=LANGUAGES)
    assert "" not in {check.stratum for check in compared.checks}


def test_small_strata_are_not_known() -> None:
    few = {query: {"level": "few" if n < 4 else "many"} for n, query in enumerate(IDS)}
    result = gate(EV, ["low(RR) > 0", "RR > 0"], by="level", queries=few, method="t")
    assert by_stratum(result, "low(RR) > 0")["few"].causes == ("unknown",)
    assert by_stratum(result, "RR > 0")["few"].passed
    result = gate(EV, baseline=ranked(*RANKS[::-1]), by="level", queries=few)
    found = by_stratum(result, "RR >= baseline")
    assert (found["few"].causes, found["few"].n_units) == (("unknown",), 4)
    assert found["many"].p_adjusted == found["many"].p_value  # a test that was not made is not corrected for


def test_queries_without_a_value_are_a_stratum() -> None:
    some = {query: row for query, row in LEVELS.items() if row["level"] != "c"}
    result = gate(EV, "each(level): RR > 0.5", queries=some)
    assert {name: check.passed for name, check in by_stratum(result, "RR > 0.5").items()} == {
        "a": True,
        "b": True,
        "(none)": False,
    }
    empty = {query: {"level": "", "other": "x"} for query in IDS}
    with pytest.raises(DataError, match=r"no evaluated query .*level"):
        gate(EV, "each(level): RR > 0.5", queries=empty)
    with pytest.raises(DataError):
        gate(EV, "each(level): RR > 0.5", queries={"z": {"level": "a"}})
    with raises_parts(ColumnError, hint="Did you mean 'level'?", path=Path("queries")):
        gate(EV, "each(levle): RR > 0.5", queries=LEVELS)
    with pytest.raises(ParameterError, match="by needs a queries table"):
        gate(EV, "each(level): RR > 0.5")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("each(level) RR > 0.5", "strata are written as in 'each.language.: nDCG@10 >= 0.8'"),
        ("each(): RR > 0.5", "strata are written as in"),
        ("each(a, a): RR > 0.5", "strata are written as in"),
        ("each(a): RR", "needs one of"),
    ],
)
def test_strata_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parse_gate(text)


def test_a_column_of_strata_is_named_once() -> None:
    evaluation = dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR")
    with raises_parts(ParameterError, argument="by", given=["level", "level"]):
        dh.gate(evaluation, "RR > 0", by=["level", "level"], queries={"q": {"level": "1"}})


def test_what_prints_of_strata_can_be_parsed() -> None:
    threshold = parse_gate("each( level ,parity ) : low(MRR) >.50")
    assert str(threshold) == "each(level, parity): low(MRR) > 0.5"
    assert parse_gate(str(threshold)) == threshold


def test_a_bootstrap_of_few_queries_is_said_to_be_narrow() -> None:
    def told(n: int, method: str) -> str:
        qrels = {f"q{number}": {"a": 1} for number in range(n)}
        run = {f"q{number}": {"a": 1.0, "b": 2.0 * (number % 2)} for number in range(n)}
        evaluation = dh.evaluate(qrels, run, ["RR"])
        result = gate(evaluation, ["low(RR) > 0.1"], method=method)
        return " ".join(as_text(report_gate(result)).plain.split())

    narrow = "a bootstrap of 6 queries gives intervals that are too narrow: the method auto is better there"
    assert narrow in told(6, "bca")
    assert "narrow" not in told(6, "t")
    assert "narrow" not in told(6, "auto")
    assert narrow.replace("6", "49") in told(49, "percentile")
    assert "narrow" not in told(50, "bca")
