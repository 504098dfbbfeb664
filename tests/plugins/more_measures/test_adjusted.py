"""Adjusted: its notation, its scale, and the queries that it leaves out; conformance compares it with all orders."""

from pathlib import Path

import pytest

import deadheat as dh
from deadheat.errors import MeasureError

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
    for relevant, rank in (("a", 1), ("b", 2), ("c", 3)):
        found = dh.evaluate({"q": {relevant: 1}}, RUN, "Adjusted(RR)").means()["Adjusted(RR)"]
        assert found == pytest.approx((1 / rank - mean) / (1 - mean), abs=1e-15)
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
