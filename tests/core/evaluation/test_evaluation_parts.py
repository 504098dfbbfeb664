"""Parts of evaluations, and of scores with which means are estimated: anybody's goes where evaluations go."""

# ruff: noqa: ARG002 - made-up parts take what parts are given

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import deadheat as dh
from deadheat import Evaluation, Interval, Queries, Strata
from deadheat.api import BoolArray, Column, Fact, FloatArray, IntArray, tabulate
from deadheat.core.evaluation.parts import Scored
from deadheat.core.evaluation.query_columns import Weights
from deadheat.core.evaluation.stratum import Stratum
from deadheat.core.evaluation.together import check_use
from deadheat.core.report.compact_scores import compact_scores
from deadheat.core.report.model import SYSTEM, Table, note_fact
from deadheat.core.report.of_evaluation import report_evaluations
from deadheat.core.report.report_parts import Part
from deadheat.errors import ParameterError
from support.error_parts import raises_parts

QRELS = {f"q{n}": {"a": 1} for n in range(8)}
RUN = {f"q{n}": {"a": n % 3, "b": 1} for n in range(8)}
QUERIES = {f"q{n}": {"kind": "even" if n % 2 == 0 else "odd"} for n in range(8)}


class Guess(NamedTuple):
    estimate: float
    weight: float = 0.5
    n_effective: float = 16.0


@dataclass(frozen=True, eq=False)
class Guessed:
    """What somebody guesses a mean to be: half of the estimate."""

    guess: float
    argument = "guess"

    def select(self, keep: BoolArray | IntArray) -> None: ...

    def columns(self) -> Mapping[str, FloatArray | None]:
        return {}

    def range_column(self) -> None: ...

    def estimate_mean(self, scores: Scored) -> Guess:
        return Guess((float(np.nanmean(scores.values)) + self.guess) / 2)

    def change_interval(self, interval: Interval, scores: Scored) -> Interval:
        assert scores.estimated_mean is not None
        return replace(interval, mean=scores.estimated_mean.estimate)


class Guesses:
    """What somebody guesses all means to be, as a part of an evaluation."""

    def weight(self, evaluation: Evaluation, weights: Weights | None, queries: object) -> Evaluation:
        return with_guesses(evaluation)

    def in_strata(
        self, strata: Mapping[Stratum, Evaluation], columns: Sequence[str], queries: Queries
    ) -> Mapping[Stratum, Evaluation]:
        return {"even": with_guesses(strata["even"])}

    def in_union(self, evaluation: Evaluation, strata: Sequence[Evaluation]) -> Evaluation:
        return with_guesses(evaluation)

    def refuse_saving(self, evaluation: Evaluation) -> None:
        raise ParameterError("guesses are not saved")

    def report(self) -> GuessesInReports:
        return GuessesInReports()


class GuessesInReports:
    values_are_by = "known values"

    def tabulate_means(
        self, parts: Sequence[Part], names: Sequence[str], columns: Sequence[str], level: float
    ) -> Table:
        rows = [{"system": names[part.run], "known": part.evaluation["RR"].mean_of_values} for part in parts]
        return tabulate("guesses", (SYSTEM,), (Column("known", "known"),), rows)

    def tell(self, evaluations: Sequence[Evaluation]) -> list[Fact]:
        return [note_fact("guess", f"{len(evaluations)} guessed")]

    def tell_of_strata(self, strata: Strata) -> Iterable[Fact]:
        return ()

    def describe_means(self, evaluation: Evaluation) -> str:
        return "Half is guessed."


def with_guesses(evaluation: Evaluation) -> Evaluation:
    scores = [one.with_part("guess", Guessed(1.0)) for one in evaluation]
    return Evaluation(scores, **evaluation.parts() | {"features": {"guess": Guesses()}})


@pytest.fixture
def plain() -> Evaluation:
    return dh.evaluate(QRELS, RUN, "RR")


def test_a_part_estimates_the_mean(plain: Evaluation) -> None:
    scores = with_guesses(plain)["RR"]
    assert scores.mean == (plain["RR"].mean + 1) / 2 == scores.interval().mean
    assert scores.mean_of_values == plain["RR"].mean
    assert scores.is_estimated
    assert np.isnan(scores.mean_tie_std)  # of the estimate it is not known
    assert scores.tie_std_of_values == plain["RR"].mean_tie_std


def test_a_mean_that_is_estimated_knows_no_clusters(plain: Evaluation) -> None:
    with raises_parts(ParameterError, argument="cluster", allowed="none", found="some", beside={"guess": None}):
        with_guesses(plain)["RR"].interval(cluster=dict.fromkeys(QRELS, "one"))


def test_a_part_goes_where_queries_are_weighted_or_in_strata(plain: Evaluation) -> None:
    guessed = with_guesses(plain)
    weighted = guessed.weighted(dict.fromkeys(QRELS, 2.0))
    assert weighted["RR"].is_estimated
    strata = guessed.by("kind", QUERIES)
    assert [part["RR"].is_estimated for part in strata.values()] == [True, False]  # it has none of the odd ones
    assert guessed.select(np.arange(3)).features == {}


@pytest.mark.plugins("compare")
def test_what_is_not_declared_to_go_with_a_part_is_refused(plain: Evaluation, tmp_path: Path) -> None:
    check_use("leaderboard", [plain])
    with pytest.raises(ParameterError, match=r"leaderboard .* with guess"):
        check_use("leaderboard", [plain, with_guesses(plain)])
    with pytest.raises(ParameterError, match="guesses are not saved"):
        with_guesses(plain).save(tmp_path / "guesses.json")


def test_reports_show_a_part(plain: Evaluation) -> None:
    guessed = with_guesses(plain)
    report = report_evaluations([guessed], "qrels", quantiles=[0.5])
    assert [table.key for table in report.tables] == ["scores", "guesses", "quantiles"]
    assert report.tables[2].title.endswith(", by known values alone")
    texts = [fact.text for fact in report.facts]
    assert "1 guessed" in texts
    assert any(text.startswith("by known values moves RR") for text in texts)
    assert "Half is guessed." in str(compact_scores([guessed]).caption)
