"""Weighted means of evaluations: NumPy, all orders of the ties, strata, saved files, and what is refused."""

from __future__ import annotations

import json
import math
import re
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.core.evaluation.packed_tables import SCHEMAS, packed
from deadheat.core.evaluation.read_saved import weights_in
from deadheat.core.evaluation.shapes import WrongValueError
from deadheat.errors import DataError, DeadheatWarning, MalformedRowError, ParameterError
from deadheat.stats import interval_bounds
from support.command import call, names_in, ok

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {f"q{n}": {f"d{d}": (n * d) % 3 for d in range(6)} for n in range(1, 10)}
RUN = {f"q{n}": {f"d{d}": float((n + 2 * d) % 4) for d in range(8)} for n in range(1, 10)}
WEIGHTS = {f"q{n}": float(7 - n if n < 6 else n / 2) for n in range(1, 10)}
MEASURES = ["nDCG@5", "RR", "P@1", "DCG@3", "GMAP", "NumRet"]


def weighted(**options: Any) -> dh.Evaluation:  # noqa: ANN401 - of evaluate
    return dh.evaluate(QRELS, RUN, MEASURES, weights=WEIGHTS, **options)


def average(values: Any) -> float:  # noqa: ANN401 - numbers
    return float(np.average(np.asarray(values), weights=list(WEIGHTS.values())))


pytestmark = pytest.mark.filterwarnings("ignore:.*a tenth of the weight:deadheat.core.errors.DeadheatWarning")


@pytest.mark.plugins("bounds")
def test_means_and_ends_are_numpys() -> None:
    found, plain = weighted(unjudged="bounds"), dh.evaluate(QRELS, RUN, MEASURES, unjudged="bounds")
    for name in ("nDCG@5", "RR", "P@1", "DCG@3"):
        one, own = found[name], plain[name]
        assert one.mean == pytest.approx(average(own.values))
        assert (one.mean_tie_min, one.mean_tie_max) == pytest.approx((average(own.tie_min), average(own.tie_max)))
        assert one.mean_unjudged_max == pytest.approx(average(own.unjudged_max))
        assert one.reachable == pytest.approx(average(own.spread.reachable))
        assert one.n_queries == 9
        assert one.std == pytest.approx(np.sqrt(average((own.values - average(own.values)) ** 2) * 9 / 8))
    assert found["GMAP"].mean == pytest.approx(np.exp(average(plain["GMAP"].values)))
    assert found["NumRet"].total == plain["NumRet"].total == 72
    assert found["NumRet"].weights is None


def test_the_spread_over_tie_orders_is_that_of_the_weighted_mean() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 2, "b": 1}, "q3": {"c": 1}}
    tied = {"q1": ["a", "b"], "q2": ["a", "b", "c"], "q3": ["a", "b", "c"]}
    weights = {"q1": 5, "q2": 1.5, "q3": 2}
    ev = dh.evaluate(qrels, {query: dict.fromkeys(docs, 1.0) for query, docs in tied.items()}, "nDCG", weights=weights)
    orders = product(*(permutations(docs) for docs in tied.values()))
    means = []
    for order in orders:
        values = dh.evaluate(qrels, dict(zip(tied, map(list, order), strict=True)), "nDCG")["nDCG"].values
        means.append(np.average(values, weights=[5, 1.5, 2]))
    scores = ev["nDCG"]
    assert (scores.mean, scores.mean_tie_std) == pytest.approx((np.mean(means), np.std(means)))
    assert (scores.mean_tie_min, scores.mean_tie_max) == pytest.approx((min(means), max(means)))


@pytest.mark.plugins("more_measures")
def test_intervals_are_of_the_weighted_mean() -> None:
    ev = weighted()
    found = ev["nDCG@5"].interval("t")
    values, weights = ev["nDCG@5"].values[:, None], list(WEIGHTS.values())
    assert (found.low, found.high) == pytest.approx(
        tuple(np.ravel(interval_bounds(values, method="t", weights=weights)))
    )
    assert found.n_effective == pytest.approx(sum(weights) ** 2 / sum(w * w for w in weights))
    assert "as good as" in repr(found)
    assert ev["P@1"].interval().method == "gaffke"  # no binomial proportion
    with pytest.raises(ParameterError, match="count the same"):
        ev["P@1"].interval("clopper-pearson")
    few = dh.evaluate(QRELS, RUN, "RR", weights={**WEIGHTS, "q1": 1000})["RR"].interval()
    assert re.findall(r"\d[\d.]*", few.unknown) == ["9", "1.1"]  # queries, and what they are worth


@pytest.mark.plugins("more_measures")
def test_equal_weights_change_nothing() -> None:
    plain, equal = (
        dh.evaluate(QRELS, RUN, MEASURES),
        dh.evaluate(QRELS, RUN, MEASURES, weights=dict.fromkeys(QRELS, 0.1)),
    )
    assert equal.to_flat() == plain.to_flat()
    for name, interval in equal.intervals().items():
        assert interval == plain.intervals()[name]
    assert equal["RR"].std == plain["RR"].std


@pytest.mark.plugins("more_measures")
@pytest.mark.parametrize(
    "test",
    [
        "randomization",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("bootstrap-t", "bootstrap")),
        "t",
        "tukey",
    ],
)
def test_equal_weights_change_no_comparison(test: str) -> None:
    both = {"a": RUN, "b": {query: {doc: score % 3 for doc, score in docs.items()} for query, docs in RUN.items()}}
    one = dh.compare(QRELS, both, MEASURES, test=test, detect=0.1, margin=0.1)
    two = dh.compare(QRELS, both, MEASURES, test=test, detect=0.1, margin=0.1, weights=dict.fromkeys(QRELS, 3))
    assert one.to_polars(details=True).equals(two.to_polars(details=True))
    assert repr(one.verdict) == repr(two.verdict)  # NaN is not equal to itself
    assert one.rank_intervals().equals(two.rank_intervals())
    assert one.equivalence(0.1).equals(two.equivalence(0.1))
    assert one.sample_sizes(0.1).equals(two.sample_sizes(0.1))


@pytest.mark.plugins("more_measures")
def test_weight_0_leaves_a_query_out() -> None:
    found = dh.evaluate(QRELS, RUN, MEASURES, weights={**WEIGHTS, "q3": 0})
    without = {query: docs for query, docs in QRELS.items() if query != "q3"}
    rest = dh.evaluate(without, {query: RUN[query] for query in without}, MEASURES, weights=WEIGHTS)
    assert found["RR"].n_queries == 8
    assert found["RR"].mean == rest["RR"].mean
    assert found["NumRet"].total == 72
    assert found["RR"].interval() == rest["RR"].interval()


def test_a_query_with_much_weight_gives_a_warning() -> None:
    with pytest.warns(DeadheatWarning, match=r"^run: .* q1 \(92%\)"):
        dh.evaluate(QRELS, RUN, "RR", weights={**dict.fromkeys(QRELS, 1), "q1": 92})


@pytest.mark.plugins("more_measures")
def test_strata_have_the_weights_of_their_queries() -> None:
    labels = {query: {"device": "phone" if query < "q4" else "desk"} for query in QRELS}
    strata = weighted().by("device", labels)
    values, weights = dh.evaluate(QRELS, RUN, "RR")["RR"].values, np.array(list(WEIGHTS.values()))
    means = {"phone": np.average(values[:3], weights=weights[:3]), "desk": np.average(values[3:], weights=weights[3:])}
    assert {name: part["RR"].mean for name, part in strata.items()} == pytest.approx(means)
    row = next(row for row in strata.averages().rows(named=True) if row["measure"] == "RR")
    assert (row["micro"], row["macro"]) == pytest.approx((average(values), np.mean(list(means.values()))))


@pytest.mark.plugins("more_measures")
def test_a_table_of_queries_has_them() -> None:
    table = {query: {"times": f" {weight} "} for query, weight in WEIGHTS.items()}
    found = dh.evaluate(QRELS, RUN, "RR", weights="times", queries=table)
    assert found["RR"].mean == weighted()["RR"].mean
    assert found.notes[-1] == "weights: times of queries"


@pytest.mark.plugins("compare")
def test_equal_weights_are_compared_as_none() -> None:
    run = {query: {"a": n % 3, "b": 1} for n, query in enumerate("abcdefgh")}
    qrels = {query: {"a": 1} for query in run}
    plain, weighed = (dh.evaluate(qrels, run, "RR", weights=weights) for weights in (None, dict.fromkeys(run, 2)))
    assert dh.compare_evaluations({"a": plain, "b": weighed})["RR"][0].difference == 0


@pytest.mark.plugins("more_measures")
def test_a_saved_evaluation_keeps_them(tmp_path: Path) -> None:
    own = weighted()
    own.save(tmp_path / "own.json")
    found = dh.load_evaluation(tmp_path / "own.json")
    assert found.to_flat() == own.to_flat()
    assert found.intervals() == own.intervals()
    assert found["NumRet"].weights is None
    assert json.loads((tmp_path / "own.json").read_text())["measures"]["RR"]["n_effective"] == own["RR"].n_effective
    again = found.rescored(QRELS | {"q1": {"d1": 1, "d2": 1}})
    assert again["RR"].mean == dh.evaluate(QRELS | {"q1": {"d1": 1, "d2": 1}}, RUN, "RR", weights=WEIGHTS)["RR"].mean
    with pytest.raises(DataError, match="without a weight: 'new'"):
        found.rescored(QRELS | {"new": {"d1": 1}}, missing="empty")
    plain = dh.evaluate(QRELS, RUN, MEASURES)
    with pytest.raises(DataError, match="different weights"):
        dh.compare_evaluations({"a": own, "b": plain})
    compared = dh.compare_evaluations({"a": found, "b": plain}, baseline="b")  # the save is older: without weights
    assert compared.evaluations["a"].means() == pytest.approx(plain.means())
    assert dh.compare_evaluations({"a": found, "b": own}).pairs[0].difference == 0


@pytest.mark.parametrize("weights", [[1.0, -0.5, 2.0], [1.0, math.nan, 2.0], [1.0, 2.0]])
def test_weights_that_somebody_changed_in_a_save(weights: list[float]) -> None:
    data = {"weights": packed({"weight": weights}, SCHEMAS["weights"])}
    with pytest.raises(WrongValueError, match=r"data\.weights has not 3 numbers"):
        weights_in(data, 3)


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ({**WEIGHTS, "q2": -1}, DataError, r"'q2', .* from 0 on, got -1"),
        ({**WEIGHTS, "q2": "many"}, DataError, r"'q2', .* from 0 on, got 'many'"),
        ({**WEIGHTS, "q2": np.nan}, DataError, "'q2', .* from 0 on, got nan"),
        ({"q1": 1}, DataError, "8 queries .*'q2', .*: 0 leaves"),
        (dict.fromkeys(QRELS, 0), DataError, "all weights are 0"),
        ("times", ParameterError, "weights is a column of a table"),
        ([1, 2], ParameterError, "weights must be a column of queries, or a dict"),
    ],
)
def test_wrong_weights_are_named(weights: Any, error: type[Exception], message: str) -> None:  # noqa: ANN401 - wrong ones
    with pytest.raises(error, match=message):
        dh.evaluate(QRELS, RUN, "RR", weights=weights)


def test_a_table_without_its_column_is_refused() -> None:
    with pytest.raises(ParameterError, match="weights='frequency'"):
        dh.evaluate(QRELS, RUN, "RR", queries={"q1": {"a": 1}})


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Qrels, two runs and a table of queries."""
    rows = [(query, doc, rel) for query, docs in QRELS.items() for doc, rel in docs.items()]
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 {doc} {rel}\n" for query, doc, rel in rows))
    for name, base in (("a", 8), ("b", 3)):
        scored = [(query, doc, score % base) for query, docs in RUN.items() for doc, score in docs.items()]
        text = "".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in scored)
        (tmp_path / f"{name}.run").write_text(text)
    lines = (f"{query},{weight},{'x' if query < 'q4' else 'y'}\n" for query, weight in WEIGHTS.items())
    (tmp_path / "queries.csv").write_text("query_id,times,part\n" + "".join(lines))
    return tmp_path


@pytest.mark.slow
@pytest.mark.plugins("more_measures")
def test_the_command_weighs(files: Path) -> None:
    queries = ("--queries", files / "queries.csv", "--weights", "times")
    told = ok("evaluate", files / "qrels.txt", files / "a.run", "-m", "RR", *queries, "--format", "json")
    document, own = json.loads(told), weighted()["RR"]
    assert document["scores"]["a"]["RR"]["value"] == own.mean
    assert document["weights"]["n_effective"] == own.n_effective
    assert next(iter(document["weights"]["shares"])) == "q1"
    both = ("compare", files / "qrels.txt", files / "a.run", files / "b.run", "-m", "RR NumRet", *queries)
    assert "worth" in ok(*both)
    assert "0.05" in ok(*both, "--by", "part")
    result = call(*both, "--test", "sign")
    assert result.exit_code == 2
    assert "--weights" in result.output
    assert call("compare", files / "qrels.txt", files / "a.run", files / "b.run", "--weights", "times").exit_code == 2
    given = ("--queries", files / "queries.csv", "--weights", "part")
    text = call("evaluate", files / "qrels.txt", files / "a.run", *given)
    assert text.exit_code == 3
    assert names_in(text.stderr) == ["q1", "x"]


@pytest.mark.slow
@pytest.mark.plugins("compare")
def test_saved_evaluations_are_compared_and_checked_with_their_weights(files: Path) -> None:
    queries = ("--queries", files / "queries.csv", "--weights", "times")
    runs = (files / "a.run", files / "b.run")
    ok("evaluate", files / "qrels.txt", *runs, "-m", "RR", *queries, "--save", files / "kept", "--replace")
    saved = (files / "kept" / "a.json", files / "kept" / "b.json")
    asked = ("--format", "json", "-m", "RR")
    there = json.loads(ok("compare", *saved, "--format", "json"))["pairs"]["b"]["a"]["RR"]
    here = json.loads(ok("compare", files / "qrels.txt", *runs, *asked, *queries))["pairs"]["b"]["a"]["RR"]
    assert all(there[name] == here[name] for name in ("difference", "low", "p_value", "n_effective"))
    value = weighted()["RR"].mean
    assert call("gate", saved[0], "-c", f"RR >= {value - 1e-9}").exit_code == 0
    assert call("gate", files / "qrels.txt", runs[0], "-c", f"RR >= {value - 1e-9}", *queries).exit_code == 0
    assert call("gate", files / "qrels.txt", runs[0], "-c", f"RR >= {value + 1e-9}", *queries).exit_code == 1
    assert call("gate", files / "qrels.txt", runs[0], "-c", "RR >= 0.1", "--weights", "times").exit_code == 2


@pytest.mark.plugins("compare")
def test_judgments_that_changed_are_compared_with_the_weights_of_the_newest(tmp_path: Path) -> None:
    dh.evaluate(QRELS, RUN, "RR", weights=WEIGHTS).save(tmp_path / "old.json")
    newer = {**QRELS, "q1": {"d1": 1, "d2": 1}, "new": {"d1": 1}}
    now = dh.evaluate(newer, {**RUN, "new": {"d1": 1.0}}, "RR", weights={**WEIGHTS, "new": 2.0})
    found = dh.compare_evaluations({"old": dh.load_evaluation(tmp_path / "old.json"), "now": now}).pairs[0]
    again = dh.evaluate({query: newer[query] for query in QRELS}, RUN, "RR", weights=WEIGHTS)
    assert found.baseline_mean == pytest.approx(again["RR"].mean)
    assert found.difference == 0
    assert dh.gate(now, baseline=tmp_path / "old.json").passed


def test_decimal_marks_of_weights(tmp_path: Path) -> None:
    """As of scores: said by the user, or found where there is one way to read the column, also of other queries."""
    table = tmp_path / "weights.csv"

    def mean(*weights: str) -> float:
        table.write_text("\n".join(["query_id;w", *map(";".join, zip(("q1", "q2", "7"), weights, strict=True))]))
        qrels, run = {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1}, "q2": {"b": 1}}
        return dh.evaluate(qrels, run, "RR", weights="w", queries=table)["RR"].mean

    for mark, first in ((",", 1500), (".", 1.5)):
        with dh.decimal(mark):
            assert mean("1.500", "1", "2") == pytest.approx(first / (first + 1))
    assert mean("0,5", "1,5", "2") == pytest.approx(0.25)
    for weights in (("1.500", "100", "200"), ("100", "200", "1.500")):
        with pytest.raises(MalformedRowError, match="'w' can be read in two ways"):
            mean(*weights)


def test_labels_are_as_they_are_written_beside_weights(tmp_path: Path) -> None:
    table = tmp_path / "weights.csv"
    table.write_text("query_id;w\nq1;1.500\n")
    queries = dh.Queries(table)
    with dh.decimal(","):
        assert queries.column("w", ["q1"], has_numbers=True) == ["1500"]
    assert queries.column("w", ["q1"]) == ["1.500"]
