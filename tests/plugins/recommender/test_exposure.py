"""exposure(): beside all orders of the ties, and all ideal rankings, by the definitions of Diaz et al. 2020."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import deadheat as dh
from deadheat.errors import ColumnError, DataError, DuplicateError, MeasureError, ParameterError
from oracle.orders import all_orders

Run = dict[str, dict[str, float]]
Vector = dict[str, float]
DOCS = "abcdef"
GROUPS = {"a": "x", "b": "y", "c": "x", "d": "y", "e": "y"}


def drawn(seed: int) -> tuple[Run, Run]:
    rng = random.Random(seed)
    run = {f"u{n}": {doc: float(rng.randrange(3)) for doc in rng.sample(DOCS, rng.randint(1, 5))} for n in range(4)}
    qrels = {f"u{n}": {doc: float(rng.randrange(-1, 3)) for doc in rng.sample(DOCS, 3)} | {"a": 1} for n in range(4)}
    return run, qrels


def of_orders(orders: list[Any], weight: Callable[[int], float], docs: set[str]) -> Vector:
    """Return the mean weight of each document over equally likely rankings."""
    return {
        doc: float(np.mean([weight(order.index(doc) + 1) if doc in order else 0.0 for order in map(list, orders)]))
        for doc in docs
    }


def of_query(runs: list[Run], query: str, weight: Callable[[int], float], docs: set[str]) -> Vector:
    each = [of_orders(list(all_orders(run.get(query, {}))), weight, docs) for run in runs]
    return {doc: float(np.mean([one[doc] for one in each])) for doc in docs}


def target_of(judged: dict[str, float], docs: set[str], weight: Callable[[int], float]) -> Vector:
    return of_orders(list(all_orders({doc: max(judged.get(doc, 0.0), 0.0) for doc in docs})), weight, docs)


def log2(rank: int) -> float:
    return float(1 / np.log2(rank + 1))


def expected(runs: list[Run], qrels: Run, weight: Callable[[int], float], groups: dict[str, str]) -> dict[str, float]:
    """Return the means of EE by item and by group over the queries, from vectors of all orders."""
    rows = []
    for query, judged in qrels.items():
        docs = {*judged, *itertools.chain(*(run.get(query, {}) for run in runs))}
        own, target = of_query(runs, query, weight, docs), target_of(judged, docs, weight)
        names = sorted(set(groups.values()))
        by_group = [[sum(one[doc] for doc in docs if groups.get(doc) == g) for g in names] for one in (own, target)]
        row: dict[str, float] = {}
        for name, both in {"": ([*own.values()], [target[doc] for doc in own]), "group ": by_group}.items():
            e, t = map(np.array, both)
            row |= {f"{name}EE-D": e @ e, f"{name}EE-R": e @ t, f"{name}EE-L": ((e - t) ** 2).sum()}
        rows.append(row)
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


@pytest.mark.parametrize("seed", range(6))
def test_all_orders(seed: int) -> None:
    run, qrels = drawn(seed)
    found = dh.exposure(run, qrels, GROUPS)
    wanted = {doc: np.mean([of_query([run], query, log2, set(DOCS))[doc] for query in run]) for doc in DOCS}
    items = dict(found.to_polars().select("doc_id", "exposure").rows())
    assert items == pytest.approx({doc: wanted[doc] for doc in items}, abs=1e-12)
    assert all(value == 0 for doc, value in wanted.items() if doc not in items)
    assert found.means() == pytest.approx(expected([run], qrels, log2, GROUPS), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_stochastic_ranker_is_the_mean_of_its_runs(seed: int) -> None:
    runs, qrels = [drawn(10 * seed + n)[0] for n in range(3)], drawn(seed)[1]
    runs[0].pop("u1")
    wanted = expected(runs, qrels, log2, GROUPS)
    for given in (runs, dh.Repeats(runs)):
        found = dh.exposure(given, qrels, GROUPS)
        assert found.n_runs == 3
        assert found.means() == pytest.approx(wanted, abs=1e-12)


def test_the_numbers_of_the_paper() -> None:
    """Two relevant of four items, patience 0.5: by the closed forms of section 4, and the static and random ranker."""
    gamma, m, n = 0.5, 2, 4
    relevant, other = (1 - gamma**m) / (m * (1 - gamma)), (gamma**m - gamma**n) / ((n - m) * (1 - gamma))
    assert (relevant, other) == (0.75, 0.1875)
    judged, discount = {"q": {"a": 1, "b": 1}}, lambda rank: gamma ** (rank - 1)
    static = dh.exposure({"q": {"a": 4, "b": 3, "c": 2, "d": 1}}, judged, discount=discount)
    assert dict(static.to_polars().select("doc_id", "target").rows()) == {
        "a": 0.75,
        "b": 0.75,
        "c": 0.1875,
        "d": 0.1875,
    }
    assert static.means() == {
        "EE-D": 1 + 0.25 + 0.0625 + 0.015625,
        "EE-R": 0.75 * 1.5 + 0.1875 * 0.375,
        "EE-L": 0.25**2 + 0.25**2 + 0.0625**2 + 0.0625**2,
    }
    ideal = dh.exposure({"q": {"a": 2, "b": 2, "c": 1, "d": 1}}, judged, discount=discount).means()
    assert ideal == {"EE-D": 2 * 0.75**2 + 2 * 0.1875**2, "EE-R": 2 * 0.75**2 + 2 * 0.1875**2, "EE-L": 0.0}
    uniform = dh.exposure({"q": dict.fromkeys("abcd", 1)}, judged, discount=discount).means()
    assert uniform["EE-D"] == pytest.approx(1.875**2 / 4)  # the least there is
    assert uniform["EE-R"] == pytest.approx(1.875 / 4 * 1.875)


def test_a_collection_without_end_as_expeval_has_it() -> None:
    """Items that are not relevant have no target: (p^b - p^(b + m)) / (m (1 - p)) of each level above 0."""
    judged = {"q": {"a": 2, "b": 1, "c": 1, "d": 0}}
    run = {"q": {"d": 3, "b": 2, "a": 1}}
    found = dh.exposure(run, judged, discount=lambda rank: 0.5 ** (rank - 1), target="relevant")
    assert dict(found.to_polars().select("doc_id", "target").rows()) == {"a": 1, "b": 0.375, "c": 0.375, "d": 0}
    assert found.means() == {
        "EE-D": 1 + 0.25 + 0.0625,
        "EE-R": 0.25 * 1 + 0.5 * 0.375,
        "EE-L": 0.75**2 + 0.125**2 + 0.375**2 + 1,
    }


@pytest.mark.parametrize(
    ("discount", "weight"),
    [("linear", lambda rank: 1 / rank), ("exp(0.9)", lambda rank: 0.9**rank), ("none", lambda _: 1.0)],
)
def test_discounts_and_the_cutoff(discount: str, weight: Callable[[int], float]) -> None:
    run, qrels = drawn(7)

    def cut(rank: int) -> float:
        return weight(rank) if rank <= 2 else 0.0

    found = dh.exposure(run, qrels, discount=discount, cutoff=2).means()
    wanted = expected([run], qrels, cut, {})
    assert found == pytest.approx({name: wanted[name] for name in found}, abs=1e-12)


def test_groups_their_disparity_and_ratio() -> None:
    """The interval of a difference is Student's, that of a ratio a jackknife of its logarithm."""
    run, qrels = drawn(11)
    found = dh.exposure(run, qrels, GROUPS, confidence_level=0.9)
    assert found.groups is not None
    assert found.pairs is not None
    sizes = {"x": 2, "y": 3}
    vectors = [of_query([run], query, log2, set(DOCS)) for query in run]
    ideal = [target_of(qrels[q], {*qrels[q], *run[q]}, log2) for q in run]
    sums = {g: np.array([sum(one[d] for d, own in GROUPS.items() if own == g) for one in vectors]) for g in "xy"}
    targets = {
        g: np.array([sum(one.get(d, 0) for d, own in GROUPS.items() if own == g) for one in ideal]) for g in "xy"
    }
    rows = {row["group"]: row for row in found.groups.to_dicts()}
    whole = sum(sum(one.values()) for one in vectors)
    for g in "xy":
        assert rows[g]["n_items"] == sizes[g]
        assert rows[g]["exposure"] == pytest.approx(sums[g].mean())
        assert rows[g]["share"] == pytest.approx(sums[g].sum() / whole)
        assert rows[g]["per_item"] == pytest.approx(sums[g].mean() / sizes[g])
        assert rows[g]["of_target"] == pytest.approx(sums[g].sum() / targets[g].sum())
    (pair,) = found.pairs.to_dicts()
    per_item = {g: sums[g] / sizes[g] for g in "xy"}
    differences = per_item["x"] - per_item["y"]
    ends = stats.ttest_1samp(differences, 0).confidence_interval(0.9)
    assert (pair["disparity"], pair["low"], pair["high"]) == pytest.approx((differences.mean(), ends.low, ends.high))

    def jackknife(ratio: Callable[[np.ndarray], float]) -> tuple[float, float, float]:
        left = [np.log(ratio(np.delete(np.arange(4), n))) for n in range(4)]
        half = stats.t.ppf(0.95, 3) * np.sqrt(3 / 4 * np.sum((left - np.mean(left)) ** 2))
        middle = ratio(np.arange(4))
        return middle, middle / np.exp(half), middle * np.exp(half)

    wanted = jackknife(lambda own: per_item["x"][own].sum() / per_item["y"][own].sum())
    assert [pair[f"ratio{end}"] for end in ("", "_low", "_high")] == pytest.approx(list(wanted))
    wanted = jackknife(
        lambda own: sums["x"][own].sum() / targets["x"][own].sum() / (sums["y"][own].sum() / targets["y"][own].sum())
    )
    assert [pair[f"ratio_of_target{end}"] for end in ("", "_low", "_high")] == pytest.approx(list(wanted))
    assert found.unknown == "only 4 queries"


def test_amortised_over_queries() -> None:
    """One query exposes what the other does not: unequal each, equal in the mean."""
    run, judged = {"u": {"a": 2, "b": 1}, "v": {"b": 2, "a": 1}}, {"u": {"a": 1, "b": 1}, "v": {"a": 1, "b": 1}}
    found = dh.exposure(run, judged, {"a": "x", "b": "y"})
    each, mean = 1 + log2(2) ** 2, 2 * ((1 + log2(2)) / 2) ** 2
    assert found.means()["EE-D"] == pytest.approx(each)
    assert found.means()["EE-L"] == pytest.approx(each - mean)
    for name in ("", "group "):
        assert found.amortised[f"{name}EE-D"] == pytest.approx(found.amortised[f"{name}EE-R"])
        assert found.amortised[f"{name}EE-D"] == pytest.approx(mean)
        assert found.amortised[f"{name}EE-L"] == pytest.approx(0, abs=1e-15)


def test_queries_that_are_missing_or_have_no_relevant_item() -> None:
    run = {"u": {"a": 1}, "v": {"a": 1}, "w": {"a": 1}}
    found = dh.exposure(run, {"u": {"a": 1}, "v": {"a": 0}, "x": {"b": 1}})
    assert (found.n_queries, found.n_judged) == (4, 2)
    assert dict(found.to_polars().select("doc_id", "exposure").rows()) == {"a": 3 / 4, "b": 0}
    rows = {row.pop("query_id"): row for row in found.queries.to_dicts()}
    assert rows["v"] == rows["w"] == {"EE-D": None, "EE-R": None, "EE-L": None}
    assert rows["x"] == {"EE-D": 0, "EE-R": 0, "EE-L": 1}
    assert found.notes == (
        "not in the run: 1 query of the judgments; empty lists",
        "2 queries without a relevant item: no expected exposure",
    )
    assert dh.exposure(run).means() == {"EE-D": 1.0}


def test_judgments_without_a_relevant_item_expect_no_exposure() -> None:
    run, qrels = {"u": {"a": 2, "b": 1}, "v": {"a": 1}}, {"u": {"a": 0}}
    found = dh.exposure(run, qrels, {"a": "new", "b": "old"})
    assert found.n_judged == 0
    names = {f"{group}{name}" for group in ("", "group ") for name in ("EE-D", "EE-R", "EE-L")}
    for numbers in (found.means(), found.amortised):
        assert numbers.keys() == names
        assert all(map(math.isnan, numbers.values()))
    assert found.groups is not None
    assert found.groups["target"].to_list() == found.groups["of_target"].to_list() == [None, None]
    assert found.pairs is not None
    assert found.pairs["ratio"][0] is not None
    assert found.pairs.select("^ratio_of_target.*$").row(0) == (None, None, None)
    assert "0.0000" not in str(found).partition("amortised")[2].partition("\n\n")[0]


def test_pairs_of_very_many_groups_are_not_compared() -> None:
    run = {"u": {f"d{n}": float(n) for n in range(301)}}
    found = dh.exposure(run, groups={f"d{n}": f"g{n}" for n in range(301)})
    assert found.pairs is None
    assert found.notes == ("301 groups, more than 300: pairs of them are not compared",)
    assert found.groups is not None
    assert found.groups["exposure"].to_list() == found.items.sort("doc_id")["exposure"].to_list()[: len(found.groups)]


def test_forms_of_groups() -> None:
    run = {"u": {"a": 2, "b": 1}}
    table = pl.DataFrame({"item_id": ["a", "b", "b"], "genre": ["new", "old", "new"]})
    forms: list[Any] = [
        table,
        table.to_pandas(),
        table.rename({"genre": "group"}).with_columns(year=1).to_dicts(),
        {"a": "new", "b": "old|new"},
        {"new": ["a", "b"], "old": ["b"]},
        pl.DataFrame({"doc_id": ["a", "b"], "group": [["new"], ["old", "new"]]}),
    ]
    found = [dh.exposure(run, groups=one) for one in forms]
    assert len({str(one.groups) for one in found}) == 1
    assert found[0].to_polars()["group"].to_list() == ["new", "new|old"]
    of_years = [dh.exposure(run, groups=one) for one in ({"a": 1990.0, "b": float("nan")}, {"a": "1990.0"})]
    assert str(of_years[0].groups) == str(of_years[1].groups)


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ({"new": ["a"], "old": []}, ParameterError, "group 'old' has no items"),
        ({"a": None}, ParameterError, "groups names no group of any item"),
        (["new", "old"], ParameterError, "groups must be a table, .* got an array or a list of 2 groups"),
        ({"z": "new"}, DataError, r"no item of the groups \(z\) is in the run \(a, b\)"),
        ([{"item_id": "a", "x": 1, "y": 2}], ColumnError, "no column group in the table of groups"),
        ([{"name": "a", "group": 1}], ColumnError, "no column of items in the table of groups"),
        ([{"item_id": None, "group": "new"}], DataError, "row 1 of the groups has no item"),
    ],
)
def test_groups_that_make_no_sense(groups: Any, error: type[Exception], message: str) -> None:  # noqa: ANN401 - of any form
    with pytest.raises(error, match=message):
        dh.exposure({"u": {"a": 2, "b": 1}}, groups=groups)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"discount": "log(1)"}, MeasureError, "discount must be"),
        ({"discount": lambda rank: -rank}, ParameterError, "discount must be one that gives a number from 0 on"),
        ({"discount": lambda _: 1.0}, ParameterError, "discount must be one that gives"),
        ({"cutoff": 0}, ParameterError, "cutoff must be a whole number from 1 on"),
        ({"target": "ideal"}, ParameterError, "target must be one of 'all', 'relevant'"),
        ({"target": "relevant"}, ParameterError, "target needs qrels, got 'relevant'"),
        ({"confidence_level": 95}, ParameterError, "confidence_level must be"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        dh.exposure({"u": {"a": 2, "b": 1}}, **options)


def test_a_pair_that_comes_twice_is_an_error() -> None:
    with pytest.raises(DuplicateError):
        dh.exposure([("u", "a", 1.0), ("u", "a", 2.0)])


def test_it_shows_itself() -> None:
    run, qrels = drawn(3)
    found = dh.exposure(run, qrels, GROUPS)
    assert "only 4 queries" in str(found)
    assert found.to_flat()["ee_d"] == found.means()["EE-D"]
    assert "EE-L" in found.to_markdown()


@pytest.mark.parametrize("seed", range(3))
def test_matrices_give_what_dicts_of_the_same_scores_give(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = [rng.integers(0, 4, (5, 12)) for _ in range(2)]
    relevant, excluded = rng.random((5, 12)) < 0.3, rng.random((5, 12)) < 0.2
    excluded &= ~relevant
    groups = {str(n): "xyz"[n % 3] for n in range(12)}
    runs = [
        {str(q): {str(d): float(s) for d, s in enumerate(row) if not excluded[q, d]} for q, row in enumerate(one)}
        for one in scores
    ]
    qrels = {str(q): {str(d): 1 for d in np.flatnonzero(row).tolist()} for q, row in enumerate(relevant)}
    for cutoff in (None, 3):
        for matrix, run in ((scores, runs), (scores[0], runs[0])):
            of_columns: Any = groups if cutoff else [*groups.values()]
            found = dh.exposure(matrix, relevant, of_columns, exclude=excluded, cutoff=cutoff)
            wanted = dh.exposure(run, qrels, groups, cutoff=cutoff)
            assert found.to_flat() == pytest.approx(wanted.to_flat())
            shown = dict(wanted.to_polars().select("doc_id", "exposure").rows())
            assert dict(found.to_polars().select("doc_id", "exposure").rows()) == pytest.approx(shown)


def test_the_weights_of_lenskit() -> None:
    """ExposureGini of LensKit: the Gini coefficient of the sums of geometric weights, patience 0.85, over all items."""
    rng = np.random.default_rng(4)
    lists = np.array([rng.permutation(12)[:8] for _ in range(20)])
    totals = np.zeros(12)
    np.add.at(totals, lists, np.broadcast_to(0.85 ** np.arange(8), lists.shape))
    wanted = np.abs(totals[:, None] - totals).sum() / (2 * 12 * totals.sum())
    run = {f"u{n}": {str(item): -place for place, item in enumerate(own.tolist())} for n, own in enumerate(lists)}
    found = dh.exposure(run, discount=lambda rank: 0.85 ** (rank - 1))
    items = dict(found.to_polars().select("doc_id", "exposure").rows())
    assert {item: value * 20 for item, value in items.items()} == pytest.approx(
        {str(n): t for n, t in enumerate(totals)}
    )
    assert found.gini == pytest.approx(wanted)


def test_the_target_of_items_is_over_judged_queries_as_that_of_groups() -> None:
    """Two perfect lists, of which one is judged: the item has what it deserves, and not twice as much."""
    lists = {"judged": ["a", "b"], "other": ["a", "b"]}
    found = dh.exposure(lists, {"judged": {"a": 2, "b": 1}, "other": {"c": 0}}, {"x": ["a"], "y": ["b"]})
    assert found.groups is not None
    rows = {row["doc_id"]: row for row in found.items.to_dicts()}
    groups = {row["group"]: row for row in found.groups.to_dicts()}
    for doc, group, rank in (("a", "x", 1), ("b", "y", 2)):
        deserved = 1 / math.log2(rank + 1)
        assert rows[doc]["exposure"] == groups[group]["exposure"] == pytest.approx(deserved)
        assert rows[doc]["target"] == groups[group]["target"] == pytest.approx(deserved)
        assert rows[doc]["of_target"] == groups[group]["of_target"] == pytest.approx(1.0)
    assert rows["c"]["target"] == 0
    assert rows["c"]["of_target"] is None


def test_items_are_held_against_their_target_over_the_same_queries() -> None:
    """An item that the judged query alone retrieves has half the exposure over both, and all that it deserves."""
    found = dh.exposure({"judged": ["a"], "other": ["b"]}, {"judged": {"a": 1}})
    row = found.items.row(by_predicate=pl.col("doc_id") == "a", named=True)
    assert (row["exposure"], row["target"], row["of_target"]) == (0.5, 1.0, 1.0)


def test_items_have_no_target_without_a_judged_query() -> None:
    found = dh.exposure({"q": ["a"]}, {"q": {"a": 0}})
    assert found.items.select("target", "of_target").rows() == [(0.0, None)]
