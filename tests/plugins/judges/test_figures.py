"""The figures of judges hold the numbers of the agreement and of the conclusions."""

from __future__ import annotations

import json

import numpy as np
import pytest

import deadheat as dh
from deadheat.core.report.as_data import as_json
from deadheat.errors import FigureError, ParameterError
from deadheat.plugins.judges.report import report_judges
from support.error_parts import raises_parts
from support.figure_data import notes_of, rows_of

RNG = np.random.default_rng(2)
HUMAN = {f"q{q}": {f"d{d}": int(RNG.integers(0, 3)) for d in range(6)} for q in range(8)}
JUDGE = {query: {doc: int(np.clip(grade + 1, 0, 2)) for doc, grade in own.items()} for query, own in HUMAN.items()}
OTHER = {query: dict.fromkeys(own, 1) for query, own in HUMAN.items()}
RUNS = {name: {query: RNG.permutation([*own]).tolist() for query, own in HUMAN.items()} for name in ("a", "b", "c")}


@pytest.fixture(scope="module")
def found() -> dh.JudgeAgreement:
    judges = {"one": dh.Qrels(JUDGE), "other": dh.Qrels(OTHER)}
    return dh.judge_agreement(HUMAN, judges, runs=RUNS, measures=["nDCG@3", "P@2"], n_resamples=200)


def test_the_heat_map_is_the_table_of_grades(found: dh.JudgeAgreement) -> None:
    rows = rows_of(found.plot("confusion"))
    own = found["one"]
    assert np.reshape([row["documents"] for row in rows], (3, 3)).tolist() == own.confusion.tolist()
    shares = np.reshape([row["share"] for row in rows], (3, 3))
    np.testing.assert_allclose(shares.sum(1), 1)
    assert "48 documents of 8 queries" in notes_of(found.plot("confusion"))
    assert {row["judge"] for row in rows_of(found.plot("confusion", judge="other"))} == {"0", "1", "2"}


def test_grades_that_agree_in_six_digits_are_grades_of_their_own() -> None:
    human = {"q": {"a": 0.1234561, "b": 0.1234562, "c": 1000001, "d": 1000002}}
    found = dh.judge_agreement(human, human)
    rows = rows_of(found.plot("confusion"))
    assert {(row["label"], row["judge"]): row["documents"] for row in rows} == {
        (one, other): int(one == other)
        for one in ("0.1234561", "0.1234562", "1000001", "1000002")
        for other in ("0.1234561", "0.1234562", "1000001", "1000002")
    }
    shown = json.loads(as_json(report_judges(found)))["confusion"]
    assert {human: {grade for grade, n in own.items() if n} for human, own in shown.items()} == {
        grade: {grade} for grade in ("0.1234561", "0.1234562", "1000001", "1000002")
    }


def test_means_and_biases_are_those_of_two_evaluations(found: dh.JudgeAgreement) -> None:
    means, biases = (rows_of(found.plot(kind, measure="P@2")) for kind in ("judged_means", "judge_bias"))
    for labels, qrels in (("human", HUMAN), ("one", JUDGE)):
        for name, run in RUNS.items():
            values = dh.evaluate(qrels, run, "P@2")["P@2"].values
            (row,) = (row for row in means if (row["label"], row["labels"]) == (name, labels))
            wanted = dh.interval(values, method="t")
            ends = [wanted.low, wanted.high] if wanted.is_known else [None, None]
            assert [row[key] for key in ("mean", "low", "high")] == pytest.approx([wanted.mean, *ends])
    by = {(row["label"], row["labels"]): row["mean"] for row in means}
    assert {row["label"]: row["bias"] for row in biases} == pytest.approx(
        {name: by[name, "one"] - by[name, "human"] for name in RUNS}
    )
    human = [row["mean"] for row in means if row["labels"] == "human"]
    assert human == sorted(human, reverse=True)


@pytest.mark.slow
def test_what_cannot_be_drawn(found: dh.JudgeAgreement) -> None:
    with pytest.raises(FigureError, match="no systems"):
        dh.judge_agreement(HUMAN, JUDGE).plot("judge_bias")
    with raises_parts(ParameterError, argument="judge", given="none", allowed=("one", "other")):
        found.plot("confusion", judge="none")
    assert "<svg" in found.to_html(full=True)
