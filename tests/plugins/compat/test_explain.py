"""explain() on small data: what is written down, how many ways fit, what is said; and its command."""

from __future__ import annotations

import json
import math
import random
import re
from pathlib import Path
from typing import Any

import pytest

import deadheat as dh
from deadheat import AP, R, nDCG
from deadheat.errors import ParameterError
from deadheat.plugins.compat.reported import parse_all_reported, parse_reported, split_reported_texts
from deadheat.plugins.compat.tools import order_of
from support.command import QRELS, RUN, call, ok
from support.numbers_in_text import numbers_in

GRADED = {"q": {"a": 1.0, "b": 3.0, "c": 0.0}, "p": {"x": 2.0, "y": 1.0}, "none": {"z": 0.0}}
TIED = {"q": {"c": 2.0, "a": 2.0, "b": 1.0, "u": 1.0}, "p": {"v": 1.0, "x": 1.0, "w": 1.0}}


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("0.68", 0.6849, 0.6851),
        ("0.680", 0.6804, 0.6806),
        ("68%", 0.6751, 0.686),
        ("68.0", 0.6804, 0.6806),
        ("6.8e-1", 0.6849, 0.6851),
        (0.5, 0.54, 0.56),
        (1, 0.6, 1.51),
    ],
)
def test_digits_say_how_close(text: str | float, inside: float, outside: float) -> None:
    one = parse_reported("nDCG@10", text)
    assert one.is_printed_from(inside)
    assert not one.is_printed_from(outside)


@pytest.mark.parametrize("text", ["", "x", "nan", "inf", "1.2.3", "%", True, "e5", "0e999", "1e-" + "9" * 5000])
def test_what_is_no_number_is_refused(text: str | float) -> None:
    with pytest.raises(ParameterError, match="reported"):
        parse_reported("AP", text)


def test_a_number_of_32_bits_is_between_the_ends_that_ties_give_it() -> None:
    found = dh.explain({"q": {"a": 1}}, {"q": {"a": 1.0}}, {"RR": "1.00000003"})
    assert found.matches
    assert found.reported[0].is_possible
    assert found.ranges["RR"].is_inside
    assert not dh.explain({"q": {"a": 1}}, {"q": {"a": 1.0}}, {"RR": "1.000003"}).ranges["RR"].is_inside
    assert parse_reported("AP", "5.0e-0001").value == 0.5


def test_a_count_is_no_percentage() -> None:
    assert not parse_reported("NumRelRet", 130).is_percent
    assert parse_reported("RR@10", "34.1").value == pytest.approx(0.341)


def test_texts_are_read_with_commas_or_repeated() -> None:
    assert dict(split_reported_texts(["AP=0.2, nDCG(gain='exp')@10 = .5", "RR=1%"])) == {
        "AP": "0.2",
        "nDCG(gain='exp')@10": ".5",
        "RR": "1%",
    }
    for wrong in (["AP"], ["=0.5"], ["AP="], ["AP=1, AP=2"]):
        with pytest.raises(ParameterError, match=r"reported|two numbers"):
            parse_all_reported(split_reported_texts(wrong))


@pytest.mark.slow
def test_several_numbers_narrow_it() -> None:
    one = dh.explain(GRADED, TIED, {"RR": "0.7500"})
    both = dh.explain(GRADED, TIED, {"RR": "0.7500", "nDCG": "0.3985"})
    assert len(one.matches) > len(both.matches)
    assert set(both.fitting) == {"RR", "nDCG"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_every_way_has_the_value_that_evaluate_gives_for_its_settings(seed: int) -> None:
    """Where deadheat has options for the settings, they give this value."""
    rng = random.Random(seed)
    qrels = {f"q{n}": {f"d{rng.randrange(12)}": float(rng.randrange(4)) for _ in range(6)} for n in range(5)}
    run = {f"q{n}": {f"d{k}": float(rng.randrange(3)) for k in rng.sample(range(12), 8)} for n in range(4)}
    near = dh.explain(qrels, run, {"nDCG@5": 0.123456, "AP": 0.123456})
    wide = dh.explain(qrels, run, {"nDCG@5": 1, "AP": 0})  # all between 0.5 and 1.5, -0.5 and 0.5
    tried = 0
    for match in (*near.nearest, *wide.matches):
        own = dict(match.settings)
        is_plain = own.get("ties") in {"doc_id", "input", "expected", "best", "worst"} and not any(
            own.get(name, usual) != usual
            for name, usual in {"judgments": "all", "ideal": "cutoff", "ap_norm": "R", "depth": None}.items()
        )
        if is_plain:
            options = {name: own[name] for name in ("ties", "missing", "no_relevant", "judged_only") if name in own}
            theirs = dh.evaluate(qrels, run, list(match.measures.values()), **options)
            for name, notation in match.measures.items():
                assert match.values[name] == pytest.approx(theirs[notation].mean, abs=1e-9)
            tried += 1
    assert tried


@pytest.mark.slow
def test_the_chance_of_a_match_by_accident_counts_the_numbers_that_ways_print_as() -> None:
    rng = random.Random(11)
    qrels = {f"q{n}": {f"d{rng.randrange(12)}": float(rng.randrange(4)) for _ in range(6)} for n in range(5)}
    run = {f"q{n}": {f"d{k}": float(rng.randrange(3)) for k in rng.sample(range(12), 8)} for n in range(4)}
    every = [one.value for text in ("0", "1") for one in dh.explain(qrels, run, {"nDCG@5": text}).matches]
    printed = {int(f"{value:.3f}".replace(".", "")) for value in every}
    found = dh.explain(qrels, run, {"nDCG@5": "0.123"})
    assert found.n_values == len(printed) > 3
    assert found.chance == pytest.approx(len(printed) / (max(printed) - min(printed) + 1))


def test_divisors_that_tools_have() -> None:
    """P over min(k, retrieved), R over min(k, R), nDCG with an uncut ideal: from their definitions."""
    qrels, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 2, "x": 1}}
    ways = {"P@4": ("p_norm", "retrieved", 1 / 2), "R@2": ("r_norm", "min", 1 / 2)}
    for name, (setting, choice, value) in ways.items():
        found = dh.explain(qrels, run, {name: f"{value:.6f}"})
        assert any(one.settings.get(setting) == choice for one in found.matches), name
    whole = 1 / (1 + 1 / 1.584962500721156 + 1 / 2)
    found = dh.explain(qrels, run, {"nDCG@1": f"{whole:.6f}"})
    assert any(one.settings.get("ideal") == "whole" for one in found.matches)


def test_only_tools_that_have_a_measure_are_named() -> None:
    """trec_eval has no ERR and no AUC; gdeval has a scale up to 4, and reads no judgments above it."""
    up_to = {top: {"q": {"a": top, "b": 1.0}} for top in (2.0, 4.0, 5.0)}
    run = {"q": {"a": 2.0, "b": 1.0}}
    known = {
        top: dh.explain(qrels, run, {"ERR@10": dh.evaluate(qrels, run, "ERR@10").means()["ERR@10"]})
        for top, qrels in up_to.items()
    }
    assert {top: one.tools for top, one in known.items()} == {
        2.0: ("deadheat",),
        4.0: ("ir_measures", "gdeval", "deadheat"),
        5.0: ("deadheat",),
    }
    # by hand: (2^2 - 1) / 2^4, and from what is left (2 - 1) / 2^4 at rank 2
    scaled = dh.explain(up_to[2.0], run, {"ERR@10": f"{3 / 16 + 13 / 16 / 16 / 2:.6f}"})
    assert scaled.tools == ("ir_measures", "gdeval")
    assert dh.explain(up_to[5.0], run, {"nDCG@10": "1.000000"}).tools.count("gdeval") == 0
    assert dh.explain({"q": {"a": 1, "b": 0}}, run, {"AUC": "1.000000"}).tools == ("deadheat",)


def test_rbp_of_trec_eval_10_is_not_that_of_other_parameters() -> None:
    qrels, run = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 2.0, "b": 1.0}}
    # by hand: 0.1 (1 + 0.9 / 2), and 0.2 (1 + 0.8)
    assert dh.explain(qrels, run, {"rbp": "0.1450"}).tools == ("trec_eval 10", "deadheat")
    assert dh.explain(qrels, run, {"RBP": "0.3600"}).tools == ("ir_measures", "deadheat")
    # of graded relevance: 0.2 (1 + 0.8 / 2)
    assert dh.explain(qrels, run, {"RBP(graded=True)": "0.2800"}).tools == ("deadheat",)
    assert dh.explain(qrels, run, {"rbp_resid": "0.0000"}).tools == ("trec_eval 10", "deadheat")
    assert dh.explain(qrels, run, {"RBPResidual": "0.6400"}).tools == ("deadheat",)


@pytest.mark.slow
def test_parameters_that_are_named_stay() -> None:
    found = dh.explain(GRADED, TIED, {AP(rel=2): 0.5, nDCG(gain="exp") @ 5: 0.5, R(norm="retrieved_all"): 0.5})
    for match in (*found.matches, *found.nearest):
        assert match.measures["AP(rel=2)"].startswith("AP(") and "rel=2" in match.measures["AP(rel=2)"]  # noqa: PT018 - one thing
        assert "gain='exp'" in match.measures["nDCG(gain='exp')@5"]


def test_it_shows_itself_and_holds_its_numbers() -> None:
    found = dh.explain(GRADED, TIED, {"RR": "0.75"})
    assert repr(found).startswith("<Explanation of run, RR=0.75: ")
    assert found.to_polars().columns == ["tool", "nearest", "settings", "RR"]
    assert found.to_flat()["n_matches"] == len(found.matches)
    assert "ties alone" in str(found)
    assert "nothing reproduces it" in repr(dh.explain(GRADED, TIED, {"RR": "0.1234"}))


@pytest.mark.slow
def test_who_fills_arrays_leaves_out_what_the_run_lacks_or_counts_it_as_0() -> None:
    """scikit-learn's nDCG is of the retrieved documents: here 1 / log2(3) of the one query that the run has."""
    qrels = {"q": {"a": 1, "never": 3}, "lacking": {"a": 1}}
    run = {"q": {"b": 2.0, "a": 1.0, "c": 0.5}}
    for value in (1 / math.log2(3), 1 / math.log2(3) / 2):
        assert dh.explain(qrels, run, {"nDCG@10": f"{value:.6f}"}).tools[:2] == ("scikit-learn", "torchmetrics")


def test_equal_keys_keep_their_order_in_short_lists() -> None:
    assert order_of([2, 1, 1, 2, 1]) == [1, 2, 4, 0, 3]
    keys = [float(n % 3) for n in range(200)]
    order = order_of(keys)
    assert sorted(order) == list(range(200))
    assert [keys[n] for n in order] == sorted(keys)


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "a.run"
    qrels.write_text(QRELS)
    run.write_text(RUN)
    text = ok("explain", qrels, run, "--reported", "RR=0.3750")
    assert " give RR = 0.3750, " in " ".join(text.split())
    found = json.loads(
        ok("explain", qrels, run, "--reported", "RR=37.5%", "--reported", "P@1=0.25", "--format", "json")
    )
    assert found["n_matches"] == len(found["matches"]) > 0
    shown = ok("explain", qrels, run, "--reported", "RR=0.1234")
    assert re.search(r"^Nothing [\w ]+ RR = 0\.1234", shown, re.MULTILINE)
    result = call("explain", qrels, run, "--reported", "RR")
    assert result.exit_code == 2
    assert "nDCG@10=0.6807" in result.output


@pytest.mark.parametrize("text", ["AP=0,7522", "AP:0.75", "AP 0.75", "AP"])
def test_a_slip_of_the_pen_is_shown_an_example(text: str) -> None:
    with pytest.raises(ParameterError, match=r"such as nDCG@10=0\.6807"):
        split_reported_texts([text])


def test_a_number_without_its_measure_is_shown_a_dict() -> None:
    with pytest.raises(ParameterError, match=r'such as \{"nDCG@10": 0\.6807\}'):
        dh.explain(GRADED, TIED, "nDCG@10=0.6807")  # type: ignore[arg-type]  # what somebody writes


@pytest.mark.slow
def test_what_a_tool_lacks_is_not_its_number() -> None:
    """trec_eval has no ERR, compatibility, alpha-nDCG or INST: their values by its tie rule are no tool's."""
    for name in ("ERR@5", "Compat", "alpha_nDCG@5", "INST", "RBP(p=0.6)", "MTRR", "TMHits@3"):
        value = dh.evaluate(GRADED, TIED, name, ties="doc_id").means()[name]
        found = dh.explain(GRADED, TIED, {name: f"{value:.6f}"})
        assert found.matches
        assert not any(tool.startswith("trec_eval") for tool in found.tools), name
    holes = dh.explain(
        GRADED, TIED, {"Hole@2": f"{dh.evaluate(GRADED, TIED, 'Hole@2', ties='doc_id').means()['Hole@2']:.6f}"}
    )
    assert "trec_eval 10" in holes.tools
    assert "trec_eval" not in holes.tools


def test_queries_that_the_run_lacks_are_named() -> None:
    """trec_eval leaves them out, which makes the whole difference: report and range say so."""
    qrels = {"q": {"a": 1}, "p": {"x": 1}, "r": {"y": 1}}
    run = {"q": {"a": 2, "b": 2, "c": 1}}  # RR is 1 or 1/2 over q, and a third of that over all queries
    found = dh.explain(qrels, run, {"RR": "0.5000"})
    assert found.matches[0].tool == "trec_eval"
    assert "left out" in found.matches[0].description
    assert (found.n_queries, found.missing_queries) == (3, ("p", "r"))
    own = found.ranges["RR"]
    assert (own.low, own.mean, own.high, own.is_inside, own.skips_missing) == (0.5, 0.75, 1, True, True)
    assert "over the 1 query of the run" in str(found)
    assert re.search(r"\b2 of 3 queries [\w ]+\(p, r\)", str(found))
    whole = dh.explain(qrels, run, {"RR": "0.2500"}).ranges["RR"]
    assert (whole.low, whole.mean, whole.high) == pytest.approx((0.5 / 3, 0.75 / 3, 1 / 3))
    assert not whole.skips_missing
    assert "missing queries" not in str(dh.explain({"q": {"a": 1}}, run, {"RR": "0.50"}))


@pytest.mark.parametrize(("text", "is_possible"), [("848", False), ("-0.3", False), ("100", True), ("0.999", True)])
def test_what_no_data_can_give_is_said(text: str, is_possible: bool) -> None:  # noqa: FBT001 - a case
    one = parse_reported("P@10", text)
    assert (one.is_possible, one.is_percent) == (is_possible, text == "100")
    assert parse_reported("NumRelRet", 848).is_possible
    assert ("P@10 is between 0 and 1" in str(dh.explain(GRADED, TIED, {"P@10": text}))) != is_possible


def test_counts_are_whole_numbers() -> None:
    found = str(dh.explain(GRADED, TIED, {"NumRelRet": 3}))
    (text,) = re.findall(r"NumRelRet from [^:]*:", " ".join(found.split()))
    assert numbers_in(text.removesuffix(":")) == [3, 3, 2, 3]  # the ends, the queries of the run, the mean
    assert "3.0000" not in found


def test_a_tool_with_two_tie_rules_says_which() -> None:
    """ranx sorts once or twice: two of its ways never read the same."""
    rng = random.Random(3)
    qrels = {"q": {f"d{n}": float(rng.random() < 0.4) for n in range(80)}}
    run = {"q": {f"d{n}": float(n % 2) for n in range(80)}}
    found = dh.explain(qrels, run, {"AP": 0})  # all below a half
    told = [(one.tool or one.nearest, one.description) for one in found.matches if not one.tool or one.tool == "ranx"]
    assert {"ranx"} <= {tool for tool, _ in told}
    assert len(set(told)) == len(told)


@pytest.mark.slow
def test_rows_that_do_not_fit_say_so_where_there_is_no_heading(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "a.run"
    qrels.write_text(QRELS)
    run.write_text(RUN)
    result = call("explain", qrels, run, "--reported", "RR=0.1234", "--format", "csv")
    assert re.search(r"\bNothing [\w ]+ RR = 0\.1234; ", result.stderr)
    head, *rows = result.stdout.splitlines()
    assert head.endswith(",fits")
    assert rows
    assert all(row.endswith(",false") for row in rows)
    fitting = call("explain", qrels, run, "--reported", "RR=0.3750", "--format", "csv")
    assert "Nothing" not in fitting.stderr
    assert all(row.endswith(",true") for row in fitting.stdout.splitlines()[1:])
    tools = json.loads(ok("explain", qrels, run, "--reported", "RR=0.3750", "--format", "json"))["tools"]
    assert "trec_eval 10" in tools


@pytest.mark.slow
def test_queries_without_a_relevant_document_count_1_in_lightgbm() -> None:
    """The numbers are LightGBM's and XGBoost's: lists [0, 2, 1], [0, 0] and [1, 3] by score."""
    qrels, run = dh.from_arrays([2, 0, 1, 0, 0, 1, 3], [0.8, 0.9, 0.7, 0.9, 0.8, 0.9, 0.8], group_sizes=[3, 2, 2])
    found = dh.explain(qrels, run, {"nDCG@3": "0.7896038"})
    assert found.tools == ("LightGBM", "XGBoost", "deadheat")
    assert not found.matches[0].changes
    without = dh.explain(qrels, run, {"nDCG@3": "0.4562705"})  # XGBoost's ndcg@3-
    changes = {one.tool: one.changes for one in without.matches}
    assert changes["XGBoost"] == {"no_relevant": "zero"}


@pytest.mark.slow
def test_beir_takes_out_documents_with_the_id_of_their_query() -> None:
    """Ten documents, all relevant and retrieved, of which the first is the query: it stays among the relevant ones."""
    qrels = {"0": {str(n): 1 for n in range(10)}}
    run = {"0": {str(n): 10.0 - n for n in range(10)}}
    wanted: dict[Any, Any] = {"P@10": ".90", "R@10": ".90", "nDCG@10": ".94"}
    found = dh.explain(qrels, run, wanted)
    assert found.tools == ("BEIR",)
    assert not found.matches[0].changes
    ideal, gained = (sum(1 / math.log2(rank + 1) for rank in range(1, n + 1)) for n in (10, 9))
    assert found.matches[0].values["nDCG@10"] == pytest.approx(gained / ideal)
    assert found.matches[0].values["P@10"] == 0.9
    kept = dh.explain(qrels, run, {"P@10": "1.0"})
    assert [one.changes for one in kept.matches if one.tool == "BEIR"] == [{"identical_ids": "kept"}]


def test_a_run_of_nothing_but_the_query_itself() -> None:
    """Nothing would be left to explain."""
    assert dh.explain({"a": {"a": 1}}, {"a": {"a": 1.0}}, {"P@1": "1.0"}).matches
