"""Adjusted: its notation, its scale, and the queries that it leaves out; conformance compares it with all orders."""

import random
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import MeasureError
from oracle.binary import Judged, Ranking
from oracle.orders import all_orders, rank
from oracle.reference import REFERENCE

RUN = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}


def test_it_is_written_as_python_has_it() -> None:
    assert str(dh.Adjusted(dh.nDCG @ 10)) == "Adjusted(nDCG@10)"
    for notation in ("Adjusted(nDCG@10)", "Adjusted( ndcg_cut_10 )", "Adjusted(measure='nDCG@10')"):
        assert dh.parse_measure(notation) == dh.Adjusted(dh.nDCG @ 10)
    names = ["Adjusted(DCG(discount='zipf(2, 0)')@2)", "RR"]
    assert list(map(str, dh.evaluate({"q": {"a": 1}}, RUN, ", ".join(names)).measures)) == names


@pytest.mark.parametrize("notation", ["Adjusted(GMAP)", "Adjusted(Adjusted(AP))", "Adjusted(NumQ)"])
def test_measures_that_have_no_such_scale_are_refused(notation: str) -> None:
    with pytest.raises(MeasureError, match="Adjusted: measure must be a measure"):
        dh.parse_measure(notation)


def test_a_cutoff_is_written_inside() -> None:
    with pytest.raises(MeasureError, match=r"write it inside: Adjusted\(nDCG@10\)"):
        dh.Adjusted(dh.nDCG) @ 10
    with pytest.raises(MeasureError, match="Adjusted takes no cutoff"):
        dh.parse_measure("Adjusted(nDCG)@10")


def test_a_random_order_is_0_and_the_best_is_1() -> None:
    mean = (1 + 1 / 2 + 1 / 3) / 3
    for relevant, place in (("a", 1), ("b", 2), ("c", 3)):
        found = dh.evaluate({"q": {relevant: 1}}, RUN, "Adjusted(RR)").means()["Adjusted(RR)"]
        assert found == pytest.approx((1 / place - mean) / (1 - mean), abs=1e-15)
    tied = dh.evaluate({"q": {"a": 1}}, {"q": dict.fromkeys("abc", 1.0)}, "Adjusted(RR)")["Adjusted(RR)"]
    assert (tied.mean, tied.tie_max[0]) == (0, 1)


def test_of_ranks_the_smallest_is_the_best() -> None:
    assert dh.evaluate({"q": {"a": 1}}, RUN, "Adjusted(FRP)").means() == {"Adjusted(FRP)": 1}
    assert dh.evaluate({"q": {"c": 1}}, RUN, "Adjusted(FRP)").means() == {"Adjusted(FRP)": -1}


def test_a_query_whose_orders_are_equally_good_is_left_out_and_reported() -> None:
    qrels = {"q": {"a": 1}, "all": {"x": 1, "y": 1}, "none": {"x": 0}}
    evaluation = dh.evaluate(qrels, RUN | {"all": {"x": 2.0, "y": 1.0}, "none": {"x": 1.0}}, "Adjusted(AP)")
    assert (evaluation["Adjusted(AP)"].mean, evaluation["Adjusted(AP)"].n_queries) == (1, 1)
    assert "Adjusted(AP): without" in str(evaluation)


def test_rel_is_that_of_the_measure_inside() -> None:
    evaluation = dh.evaluate({"q": {"a": 1, "b": 2}}, RUN, "Adjusted(RR)", rel=2)
    assert evaluation.means() == {"Adjusted(RR(rel=2))": pytest.approx((1 / 2 - 11 / 18) / (1 - 11 / 18))}


def test_a_saved_evaluation_has_it(tmp_path: Path) -> None:
    evaluation = dh.evaluate({"q": {"b": 1}}, RUN, "Adjusted(nDCG@2)")
    evaluation.save(tmp_path / "saved.json")
    assert dh.load_evaluation(tmp_path / "saved.json").means() == evaluation.means()


@pytest.mark.slow
def test_distributions_are_those_of_all_orders() -> None:
    """They are known without a list of orders, where those of the measure inside are."""
    rng = random.Random(5)
    qrels, run = {}, {}
    for number in range(60):
        docs = [f"d{place}" for place in range(rng.randint(2, 6))]
        qrels[f"q{number:02}"] = {doc: rng.choice([0, 1, 2]) for doc in [*docs[1:], "never"]}
        run[f"q{number:02}"] = {doc: float(rng.randrange(2)) for doc in docs}
    placements = dh.place(qrels, run)
    queries = np.arange(placements.n_queries)
    for inside in ("R@2", "P@3", "Hit@2", "AllHit@3", "RR", "FRP"):
        measure = dh.parse_measure(f"Adjusted({inside})")
        found = measure.distributions(placements, queries)
        assert found is not None, inside
        orders = dh.evaluate(qrels, run, [measure])[str(measure)]
        for place, (values, probabilities) in enumerate(found):
            scale = scale_of(inside, qrels, run, placements.query_ids[place])
            if scale is None:
                assert np.isnan(orders.values[place])
                continue
            expected: dict[float, float] = {}
            for one in scale:
                expected[round(one, 9)] = expected.get(round(one, 9), 0.0) + 1 / len(scale)
            by_value: dict[float, float] = {}
            for one, probability in zip(values.round(9).tolist(), probabilities.tolist(), strict=True):
                by_value[one + 0.0] = by_value.get(one + 0.0, 0.0) + probability
            assert by_value == pytest.approx(expected), (inside, place)


def scale_of(
    inside: str, qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]], query: str
) -> list[float] | None:
    """Return the adjusted value in each order of the ties; None where all orders of the documents are equally good."""
    measure = dh.parse_measure(inside)

    def value(order: tuple[str, ...]) -> float:
        return value_of(type(measure).__name__, rank(order, qrels[query]), qrels[query], measure.deepest)

    everything = [value(order) for order in permutations(run[query])]
    best = max(everything) if measure.higher_is_better else min(everything)
    mean = sum(everything) / len(everything)
    if max(everything) - min(everything) < 1e-12:
        return None
    return [(value(tuple(order)) - mean) / (best - mean) + 0.0 for order in all_orders(run[query])]


def value_of(name: str, ranking: Ranking, judged: Judged, cutoff: int | None) -> float:
    given = {} if cutoff is None else {"cutoff": cutoff}
    return REFERENCE[name](ranking, judged, 2.0, **given)
