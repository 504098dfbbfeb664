"""Kinds of judgments: a class of anybody's that makes qrels for each run is taken where qrels are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import pytest

import deadheat as dh
from deadheat.data.judging import judges_runs, kind_of
from deadheat.data.kind_of_judgments import DOCUMENTS, KindOfJudgments
from deadheat.errors import MeasureError, ParameterError
from deadheat.measures import Measure

RUNS = {"up": dh.Run({"q": {"aa": 2.0, "b": 1.0}}), "down": dh.Run({"q": {"aa": 1.0, "b": 2.0}})}


def measures(asked: Sequence[Measure]) -> Sequence[Measure]:
    for measure in asked:
        if measure.label == "AP":
            raise MeasureError("AP is not for lengths")
    return asked


class Lengths:
    """Documents with ids of a length or more are relevant."""

    kind_of_judgments: ClassVar[KindOfJudgments] = KindOfJudgments(
        "lengths",
        refuses={"judge": "measure it yourself", "then_by": ""},
        default_measures=lambda: ["RR", "P@1"],
        measures=measures,
    )

    def __init__(self, length: int) -> None:
        self.length = length

    def judge(self, run: object, *, name: str | None = None, ascending: bool = False) -> tuple[dh.Qrels, dh.Run]:
        found = dh.Run.of(run, ascending=ascending, name=name)
        ids = {query: {doc: int(len(doc) >= self.length) for doc in docs} for query, docs in found.to_dict().items()}
        return dh.Qrels(ids, name="lengths"), found


def test_the_kind_is_that_of_the_class() -> None:
    assert judges_runs(Lengths(2))
    assert kind_of(Lengths(2)).what == "lengths"
    for source in ("qrels.txt", {"q": {"a": 1}}, dh.Qrels({"q": {"a": 1}})):
        assert not judges_runs(source)
        assert kind_of(source) is DOCUMENTS


def test_each_run_is_evaluated_under_its_own_judgments() -> None:
    alone = dh.evaluate(Lengths(2), RUNS["down"])
    assert alone.means() == {"RR": 0.5, "P@1": 0.0}
    both = dh.evaluate(Lengths(2), RUNS, "P@1")
    assert {name: one.means() for name, one in both.items()} == {"up": {"P@1": 1.0}, "down": {"P@1": 0.0}}
    (pair,) = dh.compare(Lengths(2), RUNS, "P@1").pairs
    assert pair.difference == -1.0


def test_what_does_not_go_with_them_is_refused() -> None:
    for asked in (dh.evaluate, dh.compare):
        with pytest.raises(ParameterError, match=r"judge.*lengths.*measure it yourself") as refused:
            asked(Lengths(2), RUNS, "P@1", judge={"q": {"aa": 1}})
        assert "None" in str(refused.value)
    with pytest.raises(ParameterError, match=r"then_by.*lengths"):
        dh.evaluate(Lengths(2), RUNS, "P@1", then_by=RUNS["up"])
    with pytest.raises(MeasureError, match="AP is not for lengths"):
        dh.evaluate(Lengths(2), RUNS, ["P@1", "AP"])
