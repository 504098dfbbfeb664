"""Shorter lists: what evaluate makes of rel, judged_only and depth is what it makes of runs shortened by hand."""

import base64
import json
import random
import re
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

import deadheat as dh
from deadheat.core.report.as_data import as_json
from deadheat.core.report.of_evaluation import report_evaluations
from deadheat.core.report.shown import report_of
from deadheat.core.report.text import as_text
from deadheat.errors import DataError, ParameterError
from support.command import ok
from support.error_parts import raises_parts

Nested = dict[str, dict[str, float]]
MEASURES = ["AP", "P@5", "R@3", "nDCG@5", "RR", "bpref", "Rprec", "F@4", "ERR", "RBP", "Judged@4"]


def drawn(seed: int) -> tuple[Nested, Nested]:
    """Judgments from -1 to 3 of some documents, and runs with many ties."""
    rng = random.Random(seed)
    documents = [f"d{n}" for n in range(14)]
    queries = [f"q{n}" for n in range(6)]
    qrels = {
        query: {one: float(rng.choice([-1, 0, 0, 1, 2, 3])) for one in rng.sample(documents, 6)} for query in queries
    }
    run = {query: {one: float(rng.randrange(4)) for one in rng.sample(documents, 9)} for query in queries[:-1]}
    return qrels, run


def ordered(run: dict[str, float]) -> list[str]:
    """Documents by score, and equal ones by id, both descending."""
    return sorted(run, key=lambda one: (run[one], one), reverse=True)


def listed(run: dict[str, float], documents: list[str]) -> dict[str, float]:
    """Return some documents of a run with their scores."""
    return {one: run[one] for one in documents}


@pytest.mark.parametrize("seed", range(20))
def test_judged_only_takes_unjudged_documents_out(seed: int) -> None:
    qrels, run = drawn(seed)
    shorter = {query: listed(own, [one for one in own if qrels[query].get(one, -1) >= 0]) for query, own in run.items()}
    shorter = {query: own for query, own in shorter.items() if own}
    found, by_hand = (
        dh.evaluate(qrels, one, MEASURES, judged_only=is_left, missing="empty")
        for one, is_left in ((run, True), (shorter, False))
    )
    for name in MEASURES:
        for part in ("values", "tie_std", "tie_min", "tie_max"):
            assert getattr(found[name], part) == pytest.approx(getattr(by_hand[name], part), abs=1e-12), name
    assert found.missing_queries == ("q5",)


@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_depth_cuts_after_the_rule_has_broken_ties(seed: int, *, judged_only: bool) -> None:
    qrels, run = drawn(seed)
    shorter = {query: listed(own, ordered(own)[:4]) for query, own in run.items()}
    found, by_hand = (
        dh.evaluate(qrels, one, MEASURES, ties="doc_id", depth=depth, judged_only=judged_only, missing="empty")
        for one, depth in ((run, 4), (shorter, None))
    )
    for name in MEASURES:
        for part in ("values", "tie_std", "tie_min", "tie_max"):
            assert getattr(found[name], part) == pytest.approx(getattr(by_hand[name], part), abs=1e-12), name


@pytest.mark.parametrize("ties", ["best", "worst", "random", "input"])
def test_a_cut_tie_keeps_what_the_policy_puts_first(ties: str) -> None:
    qrels, run = {"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"x": 3, "a": 1, "b": 1, "c": 1, "y": 1}}
    kept = {"best": [2.0, 1.0], "worst": [0.0], "input": [1.0, 0.0]}
    ev = dh.evaluate(qrels, run, "P(rel=2)@3", ties=ties, depth=3, rng=0 if ties == "random" else None)
    assert ev.placements.n_retrieved.tolist() == [3]
    assert ties == "random" or sorted(ev.placements.relevance, reverse=True) == kept[ties]
    assert set(ev.placements.tied.tolist()) <= {2}


def test_an_exact_mean_needs_a_cut_between_ties() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1, "b": 1, "c": 0}}
    assert dh.evaluate(qrels, run, "RR", depth=2).means() == {"RR": 0.75}
    with pytest.raises(ParameterError, match="cuts a tie of query 'q'"):
        dh.evaluate(qrels, run, "RR", depth=1)


def test_rel_is_the_level_of_all_measures_that_name_no_other() -> None:
    qrels, run = drawn(0)
    found = dh.evaluate(qrels, run, ["P_5", "MAP", "AP(rel=3)", "nDCG@5", "MAP(rel=2)"], rel=2)
    assert list(found.means()) == ["P(rel=2)@5", "MAP(rel=2)", "AP(rel=3)", "nDCG@5"]
    assert found["P@5"].mean == found["P(rel=2)@5"].mean == dh.evaluate(qrels, run, "P(rel=2)@5").means()["P(rel=2)@5"]


@pytest.mark.parametrize(("name", "value"), [("rel", "x"), ("depth", 0), ("depth", 2.5), ("judged_only", "yes")])
def test_what_is_not_allowed_is_refused(name: str, value: object) -> None:
    with pytest.raises(ParameterError, match=name):
        dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, "RR", **{name: value})  # type: ignore[call-overload]


@pytest.mark.plugins("compare")
def test_they_are_saved_and_shown_and_kept_apart(tmp_path: Path) -> None:
    qrels, run = drawn(1)
    evaluation = dh.evaluate(qrels, run, "AP", rel=2, judged_only=True, depth=4, ties="doc_id")
    evaluation.save(tmp_path / "saved.json")
    assert dh.load_evaluation(tmp_path / "saved.json").conventions == evaluation.conventions
    shown = as_text(report_evaluations([evaluation], "qrels")).plain
    for text in ("from relevance 2 on", "cut after 4 documents", "without unjudged documents"):
        assert text in shown
    with pytest.raises(DataError, match="judged_only True and False"):
        dh.compare_evaluations({"a": evaluation, "b": dh.evaluate(qrels, run, "AP", rel=2, depth=4, ties="doc_id")})


def test_a_list_that_lost_all_its_documents_is_not_lacking() -> None:
    """Saves of deadheat 1.0 do not say which queries are absent; a list that was there has a top score."""
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    placements = dh.evaluate(qrels, {"q1": {"a": 2}, "q2": {"x": 1}}, "RR", judged_only=True).placements
    assert placements.n_retrieved.tolist() == [1, 0, 0]
    assert placements.lacking.tolist() == [False, False, True]
    assert replace(placements, absent=None).lacking.tolist() == [False, False, True]
    assert replace(placements, absent=None, top_score=None).lacking.tolist() == [False, True, True]


@pytest.mark.plugins("compare")
def test_a_report_says_that_judged_documents_of_negative_relevance_are_taken_out() -> None:
    qrels, run = {"q": {"a": 1, "b": -1, "c": -2}}, {"q": {"b": 3, "x": 2, "a": 1}}
    evaluation = dh.evaluate(qrels, run, "RR", judged_only=True)
    assert evaluation.means()["RR"] == 1.0  # neither x, which is not judged, nor b is above a
    text = "documents of relevance below 0 are taken out, too (2 in the qrels)"
    assert text in " ".join(str(evaluation).split())
    assert '"negative_taken_out": 2' in as_json(report_of(evaluation))
    assert text in " ".join(
        str(dh.compare(qrels, {"a": run, "b": run}, "RR", judged_only=True, n_resamples=99)).split()
    )
    without = {"q": {"a": 1, "b": 0}}
    for other in (dh.evaluate(qrels, run, "RR"), dh.evaluate(without, run, "RR", judged_only=True)):
        assert "below 0" not in str(other)


@pytest.mark.slow
def test_all_commands_that_evaluate_take_them(tmp_path: Path) -> None:
    qrels, runs = tmp_path / "qrels.txt", [tmp_path / "a.run", tmp_path / "b.run"]
    judged, _ = drawn(2)
    qrels.write_text("".join(f"{q} 0 {d} {level:g}\n" for q, own in judged.items() for d, level in own.items()))
    for seed, path in enumerate(runs):
        _, run = drawn(seed + 2)
        path.write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for q, own in run.items() for d, s in own.items()))
    options = ["-l", "2", "-J", "-M", "5", "--ties", "doc_id"]
    expected = dh.evaluate(qrels, runs[0], "AP", rel=2, judged_only=True, depth=5, ties="doc_id").means()["AP(rel=2)"]
    ours = ok("evaluate", str(qrels), str(runs[0]), "-m", "AP", *options, "--format", "trec")
    theirs = ok("trec_eval", *options[:5], "-c", "-m", "map", str(qrels), str(runs[0]))
    assert float(ours.split()[-1]) == float(theirs.split()[-1]) == round(expected, 4)
    assert "AP(rel=2)" in ok("compare", str(qrels), *map(str, runs), "-m", "AP", *options)
    ok("gate", str(qrels), str(runs[0]), "-c", "AP >= 0", *options, "--allow-unknown")
    ok("report", str(qrels), *map(str, runs), "-o", str(tmp_path / "page.html"), *options)


@pytest.mark.slow
def test_a_page_shows_the_lists_that_were_evaluated(tmp_path: Path) -> None:
    qrels, runs = tmp_path / "qrels.txt", [tmp_path / "a.run", tmp_path / "b.run"]
    qrels.write_text("q 0 first 1\nq 0 other 0\nq 0 last 2\n")
    runs[0].write_text("q Q0 ghost 1 4 t\nq Q0 first 2 3 t\nq Q0 other 3 2 t\nq Q0 last 4 1 t\n")
    runs[1].write_text("q Q0 last 1 4 t\nq Q0 ghost 2 3 t\n")
    shown = {}
    for name, options in {"all": (), "judged": ("-J",), "short": ("-M", "2", "--ties", "doc_id")}.items():
        page = tmp_path / f"{name}.html"
        ok("report", qrels, *runs, "-m", "RR", "-o", page, *options)
        (text,) = re.findall(r'id="deadheat-data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
        (ranking,) = json.loads(zlib.decompress(base64.b64decode(json.loads(text)["data"])))["subjects"][0]["rankings"]
        shown[name] = set(ranking["docs"])
    assert shown == {
        "all": {"ghost", "first", "other", "last"},
        "judged": {"first", "other", "last"},
        "short": {"ghost", "first", "last"},
    }


@pytest.mark.parametrize("measures", [["AP", "AP(rel=1)"], ["AP(rel=1)", "AP"], "AP AP(rel=1)"])
def test_a_named_default_level_is_not_lost_beside_a_measure_that_names_none(measures: list[str] | str) -> None:
    """AP(rel=1) was left out in silence where AP came first: both were AP(rel=2)."""
    qrels, run = {"q": {"a": 2, "b": 1}}, {"q": {"b": 2, "a": 1}}
    with raises_parts(ParameterError, "with AP, .* rel=1", argument="rel", given=2):
        dh.evaluate(qrels, run, measures, rel=2)
    assert list(dh.evaluate(qrels, run, measures).means().values()) == [1.0]
