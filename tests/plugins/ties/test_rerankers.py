"""Simulated rerankers: against source 1's own steps in plain Python, and what their ties do."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import DataError, ParameterError
from deadheat.plugins.ties.rerankers import (
    PLAIN,
    PRESETS,
    QUERY_TYPES,
    QueryType,
    Reranker,
    simulate_rerankers,
    simulate_scenarios,
)
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from deadheat import Simulation

NAMES = ["low", "medium", "high", "very-high"]


def spread(run: dh.Run, qrels: dh.Qrels) -> dict[str, float]:
    """Share of tied documents, mean exact RR, and the mean absolute difference to ties in input order, of a run."""
    scores = run.to_dict()
    tied = [np.mean([list(own.values()).count(score) > 1 for score in own.values()]) for own in scores.values()]
    exact, usual = (dh.evaluate(qrels, run, "RR", ties=ties)["RR"].values for ties in ("expected", "input"))
    return {"tied": float(np.mean(tied)), "exact": float(exact.mean()), "apart": float(np.abs(exact - usual).mean())}


def of_source(one: Reranker, n_queries: int, rng: np.random.Generator) -> tuple[dh.Qrels, dh.Run]:
    """Simulate a reranker as source 1 does, one document after the other."""
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for query in range(n_queries):
        n = int(rng.integers(8, 20))
        relevant = set(rng.choice(n, size=int(rng.integers(1, min(5, n))), replace=False).tolist())
        scores = rng.uniform(0.1, 0.9, n)
        for place in relevant:
            if rng.random() > 0.1:
                scores[place] += rng.uniform(0.1, 0.3)
        levels = np.linspace(0, 1, one.levels or 0)
        scores = np.array([levels[np.argmin(np.abs(levels - score))] for score in np.clip(scores, 0, 1)])
        for place in range(n):
            if rng.random() < one.tie_probability:
                other = rng.choice([number for number in range(n) if number != place])
                scores[other] = scores[place]
        qrels[f"q{query}"] = {f"d{place:02}": int(place in relevant) for place in range(n)}
        run[f"q{query}"] = {f"d{place:02}": float(score) for place, score in enumerate(scores)}
    return dh.Qrels(qrels), dh.Run(run)


@pytest.mark.slow
@pytest.mark.parametrize("one", PRESETS, ids=lambda one: one.name)
def test_plain_queries_are_those_of_the_source(one: Reranker) -> None:
    """The means of both simulations differ by no more than chance: standard errors are below 0.012 each."""
    qrels, run = of_source(one, 1500, np.random.default_rng(7))
    expected = spread(run, qrels)
    simulation = simulate_rerankers(6000, one, rng=7, query_types="plain")
    found = spread(simulation.runs[one.name], simulation.qrels)
    assert found == pytest.approx(expected, abs=0.04)


def scenarios_of_source(n_scenarios: int, rng: np.random.Generator) -> tuple[dh.Qrels, dh.Run]:
    """Make up scenarios as source 1 does, one after the other."""
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for scenario in range(n_scenarios):
        n = int(rng.integers(5, 15))
        scores = rng.choice(rng.uniform(0.1, 1, int(rng.integers(3, n + 1))), n)
        if rng.random() > 0.3:
            scores += rng.normal(0, 0.01, n)
        relevant = set(rng.choice(n, int(rng.integers(1, 4)), replace=False).tolist())
        qrels[f"q{scenario}"] = {f"d{place:02}": int(place in relevant) for place in range(n)}
        run[f"q{scenario}"] = {f"d{place:02}": float(score) for place, score in enumerate(scores)}
    return dh.Qrels(qrels), dh.Run(run)


@pytest.mark.slow
def test_scenarios_are_those_of_the_source() -> None:
    """Shares and means of both differ by no more than chance: standard errors are below 0.008 each."""
    qrels, run = scenarios_of_source(4000, np.random.default_rng(7))
    simulation = simulate_scenarios(20_000, rng=7)
    found = simulation.profiles["chance"]
    theirs = dh.tie_profile(run, qrels, measures=["RR", "Hit@3"], beside="input")
    for numbers in zip(*(map(told_of, (found, theirs))), strict=True):
        assert numbers[0] == pytest.approx(numbers[1], abs=0.03)


def told_of(profile: dh.TieProfile) -> list[float]:
    """Shares and means that describe scenarios."""
    differences = [one.difference for one in profile.stability]
    correlations = [one.with_tie_ratio.value or 0.0 for one in profile.stability]
    own = [number for one in differences for number in (one.exact, one.mean, one.distance_std)]
    shares = [one.share_of_queries for one in profile.decided]
    tied = [profile.n_queries_with_ties / profile.n_queries, float(profile.queries["tie_ratio"].to_numpy().mean())]
    return [*own, *shares, *tied, *correlations]


def test_scenarios_are_small_and_three_in_ten_have_ties() -> None:
    simulation = simulate_scenarios(2000, rng=1)
    qrels, run = simulation.qrels.to_dict(), simulation.runs["chance"].to_dict()
    assert {len(one) for one in run.values()} == set(range(5, 15))
    assert {sum(one.values()) for one in qrels.values()} == {1, 2, 3}
    with_ties = [len(set(one.values())) < len(one) for one in run.values()]
    # of the three in ten, few have as many scores as documents and each once
    assert 0.25 < np.mean(with_ties) < 0.33
    assert {len(set(one.values())) for one, tied in zip(run.values(), with_ties, strict=True) if tied} >= {
        2,
        3,
        4,
        5,
        6,
    }
    assert simulation.queries["query_type"].unique().to_list() == ["scenario"]
    assert simulation.summary()["share_with_ties"].to_list() == [np.mean(with_ties)] * 2
    assert simulate_scenarios(20, measures="AP").summary()["measure"].to_list() == ["AP"]
    with raises_parts(ParameterError, argument="n_scenarios", given=0, allowed="a whole number from 1 on"):
        simulate_scenarios(0)


@pytest.mark.slow
@pytest.mark.parametrize("query_types", [None, "plain"])
def test_more_ties_larger_differences(query_types: str | None) -> None:
    """The order of source 1's summary, of both measures."""
    summary = simulate_rerankers(3000, query_types=query_types).summary()
    for measure in ("RR", "Hit@5"):
        own = summary.filter(measure=measure)
        assert own["reranker"].to_list() == NAMES
        for column in ("tie_ratio", "mean_difference"):
            assert own[column].is_sorted(), (measure, column)
            assert own[column].n_unique() == 4
        assert own["exact"].is_sorted(descending=True)


def test_the_default_shows_it_already() -> None:
    summary = simulate_rerankers().summary()
    for measure in ("RR", "Hit@5"):
        assert summary.filter(measure=measure)["mean_difference"].is_sorted()
        assert summary.filter(measure=measure)["n_queries"].to_list() == [100] * 4


def test_the_summary_is_that_of_evaluations() -> None:
    simulation = simulate_rerankers(50, ["low", "high"], rng=3)
    for row in simulation.summary().iter_rows(named=True):
        run = simulation.runs[row["reranker"]]
        exact, usual = (
            dh.evaluate(simulation.qrels, run, row["measure"], ties=ties)[row["measure"]]
            for ties in ("expected", "input")
        )
        apart = np.abs(exact.values - usual.values)
        assert (row["exact"], row["input_order"]) == pytest.approx((exact.mean, usual.mean))
        assert (row["exact_std"], row["input_order_std"]) == pytest.approx((exact.std, usual.std))
        assert (row["mean_difference"], row["max_difference"]) == pytest.approx((apart.mean(), apart.max()))
        assert row["std_difference"] == pytest.approx(apart.std(ddof=1))
        assert row["share_affected"] == np.mean(exact.tie_max - exact.tie_min > 1e-12)
        sizes = [Counter(own.values()).values() for own in run.to_dict().values()]
        assert row["mean_largest_tie"] == pytest.approx(np.mean([max(own) for own in sizes]))
        assert row["mean_ties"] == pytest.approx(np.mean([sum(n > 1 for n in own) for own in sizes]))
        assert row["share_with_ties"] == np.mean([max(own) > 1 for own in sizes])
        assert row["tie_ratio"] == pytest.approx(spread(run, simulation.qrels)["tied"])
        assert row["levels"] == {"low": 20, "high": 5}[row["reranker"]]


def test_queries_of_each_type_in_turn() -> None:
    simulation = simulate_rerankers(10)
    types = simulation.queries["query_type"].to_list()
    assert types == ([one.name for one in QUERY_TYPES] * 3)[:10]
    ids = simulation.queries["query_id"].to_list()
    assert ids == sorted(ids) == [f"q{n:02}" for n in range(1, 11)]
    for query, judged in simulation.qrels.to_dict().items():
        assert 10 <= len(judged) <= 19
        assert 1 <= sum(judged.values()) <= 3
        assert list(judged) == sorted(judged)
        assert all(doc.startswith(f"{query}-d") for doc in judged)
    for run in simulation.runs.values():
        found = run.to_polars().select("query_id", "doc_id")
        assert found.equals(simulation.qrels.to_polars().select("query_id", "doc_id"))
        assert run.to_polars()["score"].is_between(0, 1).all()


@pytest.mark.parametrize("one", PRESETS, ids=lambda one: one.name)
def test_scores_are_levels(one: Reranker) -> None:
    levels = np.linspace(0, 1, one.levels or 0)
    scores = simulate_rerankers(300, one).runs[one.name].to_polars()["score"].unique().to_numpy()
    assert np.abs(scores[:, None] - levels).min(axis=1).max() < 1e-15
    assert len(scores) > 0.8 * len(levels)


@pytest.mark.slow
def test_how_often_documents_give_their_score() -> None:
    """Without levels, only they tie: a document keeps its own if it gives none away and gets none."""
    simulation = simulate_rerankers(4000, Reranker("gives", None, 0.3), query_types=QueryType("q", 0.5, 0.0))
    scores = simulation.runs["gives"].to_dict()
    # a score is lost with each one given: the different ones left of n, by drawing
    rng = np.random.default_rng(0)
    left = []
    for own in scores.values():
        drawn = list(range(len(own)))
        for place in range(len(own)):
            if rng.random() < 0.3:
                drawn[rng.choice([n for n in range(len(own)) if n != place])] = drawn[place]
        left.append(len(set(drawn)))
    found = [len(set(own.values())) for own in scores.values()]
    assert np.mean(found) == pytest.approx(np.mean(left), abs=5 * float(np.std(left)) * math.sqrt(2 / 4000))


def test_how_often_queries_tie() -> None:
    """Without levels and gifts: two to four documents of 60% of the queries."""
    simulation = simulate_rerankers(5000, Reranker("fine"), query_types=QueryType("hard", 0.0, 0.6))
    tied = [len(own) - len(set(own.values())) + 1 for own in simulation.runs["fine"].to_dict().values()]
    share = np.mean([n > 1 for n in tied])
    assert share == pytest.approx(0.6, abs=5 * math.sqrt(0.24 / 5000))
    # the score may be that of a document that is none of those that get it: five then tie
    assert {n for n in tied if n > 1} == {2, 3, 4, 5}


@pytest.mark.parametrize("seed", [0, 5])
def test_the_seed_decides_and_other_rerankers_do_not(seed: int) -> None:
    both, alone = simulate_rerankers(40, rng=seed), simulate_rerankers(40, "high", rng=seed)
    assert both.runs["high"].to_dict() == alone.runs["high"].to_dict()
    assert both.qrels.to_dict() == alone.qrels.to_dict()
    assert simulate_rerankers(40, rng=seed + 1).qrels.to_dict() != both.qrels.to_dict()
    generator = np.random.default_rng(seed)
    assert simulate_rerankers(40, "low", rng=generator).runs["low"].to_dict()


@pytest.mark.parametrize(
    ("one", "kind"),
    [
        (Reranker("one level", 1), PLAIN),
        (Reranker("continuous"), QueryType("one document", 1.0, 1.0, (0.0, 0.0), (1, 1), (1, 1))),
        (Reranker("always", 4, 1.0), QueryType("two", 1.0, 1.0, (0.0, 1.0), (2, 2), (5, 5))),
        (Reranker("constant", None, 0.0, 0.5, 0.5), QueryType("many", 0.0, 0.0, (0.1, 0.2), (200, 200), (1, 1))),
    ],
)
def test_the_ends_of_what_can_be_simulated(one: Reranker, kind: QueryType) -> None:
    simulation = simulate_rerankers(1 if kind.name == "two" else 20, one, query_types=kind)
    row = simulation.summary().row(0, named=True)
    assert 0 <= row["exact"] <= 1
    run = simulation.runs[one.name].to_dict()
    distinct = {len(set(own.values())) for own in run.values()}
    if one.name in {"one level", "constant", "always"}:
        assert distinct == {1}
        assert row["tie_ratio"] == 1.0
    if kind.name == "one document":
        assert (row["tie_ratio"], row["exact"], row["mean_difference"]) == (0.0, 1.0, 0.0)
    if kind.name == "two":
        assert row["exact_std"] is None


def test_many_queries_take_no_loop() -> None:
    simulation = simulate_rerankers(30_000, "medium")
    assert simulation.queries.height == 30_000
    assert repr(simulation) == "<Simulation of medium: 30,000 queries>"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_queries": 0}, "n_queries must be a whole number from 1 on"),
        ({"n_queries": 2.5}, "n_queries must be a whole number"),
        ({"presets": "hgih"}, "presets must be names among 'low', .*Did you mean 'high'"),
        ({"presets": []}, r"presets must be names among .*, got \[\]"),
        ({"presets": 3}, "presets must be names among"),
        ({"presets": [["low"]]}, "presets must be names among"),
        ({"presets": ["low", "low"]}, "two presets would be called 'low'"),
        ({"presets": [Reranker("a b"), Reranker("A_b")]}, "two presets would be called 'a b'"),
        ({"query_types": "easy"}, "query_types must be names among 'simple factual'"),
        ({"rng": -1}, "rng must be"),
    ],
)
def test_bad_arguments(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        simulate_rerankers(**options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Reranker(""), "name must be"),
        (lambda: Reranker("a\nb"), "name must be"),
        (lambda: Reranker("a", 0), "levels must be a whole number from 1 on"),
        (lambda: Reranker("a", 2**40), "levels must be at most"),
        (lambda: Reranker("a", 3, 1.5), "tie_probability must be a probability"),
        (lambda: Reranker("a", 3, math.nan), "tie_probability must be a probability"),
        (lambda: Reranker("a", 3, 0.5, 0.9, 0.1), "lowest and highest must be numbers from 0 to 1"),
        (lambda: QueryType("q", 2), "performance must be a probability"),
        (lambda: QueryType("q", 0.5, raised=(0.4, 0.2)), "raised must be a tuple of two numbers from 0 to 1"),
        (lambda: QueryType("q", 0.5, n_documents=(0, 3)), "n_documents must be a tuple of two whole numbers"),
        (lambda: QueryType("q", 0.5, repeated=-0.1), "repeated must be a probability"),
        (lambda: QueryType("q", 0.5, n_relevant=3), "n_relevant must be a tuple of two whole numbers"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_simulated(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()


class TestFiles:
    """Simulation.write(): all files or none, and none that somebody else wrote is replaced."""

    @pytest.fixture
    def simulation(self) -> Simulation:
        return simulate_rerankers(30, ["low", Reranker("my own/2", 4, 0.2)])

    def test_they_hold_what_was_simulated(self, simulation: Simulation, tmp_path: Path) -> None:
        files = simulation.write(tmp_path / "out")
        assert [path.name for path in files] == ["qrels.txt", "low.run", "my_own_2.run", "queries.csv"]
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(path.name for path in files)
        assert dh.read_qrels(files[0]).to_dict() == simulation.qrels.to_dict()
        assert dh.read_run(files[1]).to_dict() == simulation.runs["low"].to_dict()
        assert dh.read_run(files[2]).to_dict() == simulation.runs["my own/2"].to_dict()
        assert pl.read_csv(files[3]).equals(simulation.queries)
        assert files[2].read_text().splitlines()[0].split()[-1] == "my_own_2"
        # ties keep their order too
        by_file = dh.evaluate(files[0], files[1], "RR", ties="input").means()
        assert by_file == dh.evaluate(simulation.qrels, simulation.runs["low"], "RR", ties="input").means()

    def test_writing_the_same_again_is_fine(self, simulation: Simulation, tmp_path: Path) -> None:
        assert simulation.write(tmp_path) == simulation.write(str(tmp_path))

    def test_what_differs_is_kept_unless_forced(self, simulation: Simulation, tmp_path: Path) -> None:
        (tmp_path / "low.run").write_text("mine\n")
        (tmp_path / "other").write_text("untouched\n")
        with pytest.raises(DataError, match=r"low\.run in it would be replaced"):
            simulation.write(tmp_path)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["low.run", "other"]
        assert (tmp_path / "low.run").read_text() == "mine\n"
        simulation.write(tmp_path, force=True)
        assert dh.read_run(tmp_path / "low.run").to_dict() == simulation.runs["low"].to_dict()
        assert (tmp_path / "other").read_text() == "untouched\n"

    def test_a_failure_leaves_nothing(
        self, simulation: Simulation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        simulation.write(tmp_path)
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

        def fail(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(pl.DataFrame, "write_csv", fail)
        other = simulate_rerankers(31, ["low", Reranker("my own/2", 4, 0.2)])
        with pytest.raises(OSError, match="No space"):
            other.write(tmp_path, force=True)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before

    def test_where_it_cannot_be(self, simulation: Simulation, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(DataError, match="name a folder"):
            simulation.write(tmp_path / "file")
        with pytest.raises(DataError, match="cannot be made"):
            simulation.write(tmp_path / "a" / "b")
        (tmp_path / "out" / "qrels.txt").mkdir(parents=True)
        with pytest.raises(DataError, match=r"qrels\.txt"):
            simulation.write(tmp_path / "out", force=True)
