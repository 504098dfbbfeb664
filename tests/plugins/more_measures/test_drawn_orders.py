"""Measures of which large ties are estimated: near the exact value, and the error says how near."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

import deadheat as dh
from deadheat.core.measures import orders
from deadheat.core.measures.prefix import PrefixMeasure
from deadheat.errors import DeadheatWarning
from deadheat.plugins.more_measures import geometric, interpolated
from support.command import ok

EARLY = {"INST", "NERR8", "NERR9", "NERR10", "NERR11"}
LATE = {"infAP", "G", "IPrec", "AP11", "GMAP", "GMbpref", "yaap", "BPM"}  # above some number of tied documents


def tied_run() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Draw queries of 60 documents with three scores, of which some are relevant, some judged, and one is missed."""
    rng = random.Random(4)
    docs = [f"d{number}" for number in range(60)]
    qrels = {
        f"q{query}": {doc: rng.choice((0, 0, 1, 2)) for doc in rng.sample(docs, 24)} | {"z": 1} for query in range(5)
    }
    return qrels, {query: {doc: float(rng.randrange(3)) for doc in docs} for query in qrels}


@pytest.mark.slow
def test_moments_that_are_found_together_are_those_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where some queries are too large, and orders of theirs are drawn."""
    qrels, run = tied_run()
    sizes = {"q0": 60, "q1": 3, "q2": 9, "q3": 1, "q4": 60}  # of ties, or none
    shorter = {query: dict(list(own.items())[: sizes[query]]) for query, own in run.items()}
    measures = [interpolated.IPrec(recall=level) for level in (0, 0.3, 0.7, 1)]
    for most in (interpolated.MOST_STEPS, 100):
        monkeypatch.setattr(interpolated, "MOST_STEPS", most)
        each = [[one.moments(dh.place(qrels, own)) for one in measures] for own in (run, shorter)]
        placed = [dh.place(qrels, own) for own in (run, shorter)]
        interpolated.remember_together([(one, of) for of in placed for one in measures])
        monkeypatch.setattr(interpolated.IPrec, "find_moments", None)  # nothing is found anew
        for of, expected in zip(placed, each, strict=True):
            np.testing.assert_allclose([one.moments(of) for one in measures], expected, rtol=0, atol=1e-14)
        monkeypatch.undo()


@pytest.mark.slow
@pytest.mark.parametrize(
    "notation", ["IPrec@0.1", "IPrec@0.5", "AP11", "AP11(rel=2)", "infAP", "G", "GMAP", "GMbpref", "yaap"]
)
def test_drawn_orders_are_near_the_exact_values(notation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, run = tied_run()
    exact = dh.evaluate(qrels, run, [notation])[notation]
    assert not exact.standard_error.any()
    for module in (interpolated, geometric):
        monkeypatch.setattr(module, "MOST_STEPS", 0)
    monkeypatch.setattr(PrefixMeasure, "most_steps", 0)
    drawn = dh.evaluate(qrels, run, [notation])[notation]
    assert (drawn.standard_error > 0).sum() >= 4
    assert (np.abs(drawn.values - exact.values) <= 5 * drawn.standard_error + 1e-12).all()
    np.testing.assert_allclose(drawn.tie_std, exact.tie_std, rtol=0.1)
    np.testing.assert_allclose(drawn.tie_min, exact.tie_min, rtol=1e-12)
    np.testing.assert_array_equal(dh.evaluate(qrels, run, [notation])[notation].values, drawn.values)


@pytest.mark.slow
@pytest.mark.parametrize("notation", ["IPrec@0.2", "AP11", "infAP"])
def test_a_tie_of_very_many_documents(notation: str) -> None:
    """Bounded in time and memory, whatever the tie."""
    run = {"q": {f"d{number}": 0.5 for number in range(50_000)}}
    scores = dh.evaluate({"q": {f"d{number}": number % 2 for number in range(20_000)}}, run, [notation])[notation]
    assert 0 < scores.standard_error[0] < 0.01
    assert scores.values[0] == pytest.approx(0.2, abs=0.05)


@pytest.mark.slow
def test_the_report_says_what_is_estimated(tmp_path: Path) -> None:
    (tmp_path / "qrels.json").write_text(json.dumps({"q": {f"d{number}": number % 2 for number in range(600)}}))
    (tmp_path / "run.json").write_text(json.dumps({"q": {f"d{number}": 0.5 for number in range(1200)}}))
    files = [tmp_path / name for name in ("qrels.json", "run.json")]
    out = " ".join(ok("evaluate", *files, "-m", "infAP", "-m", "AP").split())
    assert "estimated" in out
    assert "infAP of run: orders of ties were drawn for 1 query, with a standard error of up to 0." in out
    assert "AP of run: orders" not in out.replace("infAP of run", "")
    assert "estimated" not in ok("evaluate", *files, "-m", "infAP", "-m", "AP", "--ties", "doc_id")


def test_what_takes_long_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, run = tied_run()
    monkeypatch.setattr(orders, "CELLS_A_SECOND", 1_000)
    with pytest.warns(DeadheatWarning, match=r"INST takes about [\d,]+ s: orders of the ties of 5 queries"):
        dh.evaluate(qrels, run, "INST")


def test_ranks_below_the_cutoff_and_below_the_last_gain_are_left_out() -> None:
    """Documents there change nothing, and no order of them is drawn."""
    top = {"a": 9.0, "b": 9.0, "c": 8.0}
    many = {f"x{number}": 1.0 for number in range(3_000)}
    qrels = {"q": {"a": 1, "c": 1} | {f"x{number}": int(number < 9) for number in range(20)}}
    scores = dh.evaluate(qrels, {"q": top | many}, "NERR8@3")["NERR8@3"]
    assert scores.standard_error[0] == 0
    assert scores.mean == (1 + 1 / 2) / 2  # by hand: it stops at a, which is at rank 1 or 2
    short, long = (dh.evaluate({"q": {"a": 1, "c": 1}}, {"q": one}, "INST")["INST"] for one in (top, top | many))
    assert (short.mean, long.mean) == pytest.approx((short.mean, short.mean), abs=1e-12)


def estimated_in_a_tie(n_documents: int, names: set[str]) -> set[str]:
    """The measures whose mean over one tie of documents of four levels has a standard error."""
    rng = random.Random(n_documents)
    qrels = {"q": {f"d{n}": float(rng.randrange(4)) for n in range(n_documents)}}
    placements = dh.place(qrels, {"q": dict.fromkeys(qrels["q"], 1.0)})
    return {name for name in names if dh.parse_measure(name).standard_error(placements).any()}


@pytest.mark.slow
@pytest.mark.parametrize(("n_documents", "expected"), [(7, set()), (12, EARLY), (150, EARLY)])
def test_small_ties_are_exact_but_for_adaptive_users(n_documents: int, expected: set[str]) -> None:
    """Seven documents have 5,040 orders at most; twelve of four levels have more than 10,000."""
    assert estimated_in_a_tie(n_documents, set(dh.measures())) == expected


@pytest.mark.slow
def test_eight_others_may_be_drawn_in_ties_of_some_hundred_documents() -> None:
    assert estimated_in_a_tie(300, set(dh.measures()) - EARLY - LATE) == set()
    some = {"IPrec", "AP11", "yaap", "BPM", "G"}
    assert estimated_in_a_tie(300, some) == some


def test_drawn_orders_that_agree_leave_an_error() -> None:
    """One relevant document among 20,000 is in the top 5 with a probability of 0.00025, which no drawn order shows."""
    scores = dh.evaluate({"q": {"d7": 1}}, {"q": {f"d{n}": 1.0 for n in range(20_000)}}, ["NERR8@5"])["NERR8@5"]
    assert scores.values.tolist() == [0.0]
    assert 0.00025 < scores.standard_error[0] < 0.01
