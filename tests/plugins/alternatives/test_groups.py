"""Groups of alternatives as people give them: in dicts, frames and files, on the command line, saved, and wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.measures.registration import REGISTRY
from deadheat.errors import (
    ColumnError,
    DataError,
    DeadheatError,
    DeadheatWarning,
    MeasureError,
    ParameterError,
    SourceTypeError,
)
from support.command import call, ok
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GROUPS = {"q": [["a", "b"], ["c"]], "p": [["a"]]}
RUN = {"q": ["b", "x", "c"], "p": ["a"]}
MEANS = {"R@1": 0.75, "AllHit@3": 1.0}
LISTS = pl.DataFrame({"query_id": ["q", "p"], "relevant": [[["a", "b"], ["c"]], [["a"]]]})


def means_of(groups: object) -> dict[str, float]:
    return dh.evaluate(groups, RUN, [*MEANS]).means()


@pytest.mark.parametrize(
    "groups",
    [
        GROUPS,
        {"q": [("a", "b"), ("c",)], "p": [("a",)]},
        {"q": [{"a", "b"}, {"c"}], "p": [{"a"}]},
        dh.Qrels(GROUPS),
        dh.Qrels.of_results(GROUPS),
        LISTS,
        LISTS.rename({"relevant": "doc_id"}),
        LISTS.to_pandas(),
        pd.DataFrame(LISTS.to_dict(as_series=False)),
        LISTS.to_dicts(),
    ],
    ids=lambda groups: type(groups).__name__,
)
def test_objects_are_read(groups: object) -> None:
    assert means_of(groups) == MEANS


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("groups.json", json.dumps(GROUPS)),
        ("groups.json", json.dumps(LISTS.to_dicts())),
        ("groups.jsonl", "\n".join(map(json.dumps, LISTS.to_dicts()))),
    ],
)
def test_files_are_read(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert means_of(tmp_path / name) == MEANS


def test_a_table_in_parquet_is_read(tmp_path: Path) -> None:
    LISTS.write_parquet(tmp_path / "groups.parquet")
    assert means_of(tmp_path / "groups.parquet") == MEANS


def test_queries_may_be_numbers_and_have_no_group() -> None:
    found = dh.evaluate({1: [["a", "b"], ["c"]], 2: []}, {1: ["b"], 2: ["b"]}, "R AllHit")
    assert found["R"].values.tolist() == [0.5, 0]
    assert found["AllHit"].values.tolist() == [0, 0]


def test_a_document_may_be_in_two_groups() -> None:
    assert dh.evaluate({"q": [["a", "b"], ["a", "c"]]}, {"q": ["a"]}, "R@1 AllHit@1").means() == {
        "R@1": 1,
        "AllHit@1": 1,
    }


def test_a_pair_with_a_number_is_a_document_and_its_relevance() -> None:
    assert dh.Qrels({"q": [["a", 2], ["b", 1]]}).to_dict() == {"q": {"a": 2, "b": 1}}
    assert dh.Qrels({"q": [["a", 2], ["b", 1]]}).judging_rule is None


def test_without_measures_there_are_those_of_groups() -> None:
    expected = ["R@10", "AllHit@10", "Hit@10", "RR", "R@100"]
    assert [*dh.evaluate(GROUPS, RUN).means()] == expected
    compared = dh.compare(GROUPS, {"one": RUN, "other": {"q": ["c"], "p": ["x"]}})
    assert [pair.measure for pair in compared.pairs] == expected
    tied = {"q": {"a": 1, "b": 1}, "p": {"a": 1}}
    assert [one.measure.label for one in dh.tie_profile(tied, GROUPS).decided] == expected


def test_every_other_measure_is_refused() -> None:
    defined = {"R", "Hit", "RR", "AllHit", "StRecall", "StAllHit"}
    dh.measures()  # so that all are imported
    others = [kind for name, kind in REGISTRY.items() if name not in defined]
    assert len(others) > 60
    for kind in others:
        try:
            measure = kind()
        except DeadheatError:
            measure = dh.parse_measure("Adjusted(R@1)")  # needs a measure
        with raises_parts(MeasureError, allowed="R, Hit, RR, AllHit"):
            dh.evaluate(GROUPS, RUN, [measure])


@pytest.mark.parametrize(
    "measure", ["R(norm='retrieved_all')@5", "R(rel=2)", "Hit(rel=0)@1", "AllHit(rel=2)", "RR(rel=2)"]
)
def test_other_parameters_are_refused(measure: str) -> None:
    with raises_parts(MeasureError, allowed="R, Hit, RR, AllHit"):
        dh.evaluate(GROUPS, RUN, [measure])


@pytest.mark.parametrize(
    ("measure", "advised"), [("R(rel=2)@5", "R@5"), ("Hit(rel=0)@1", "Hit@1"), ("RR(rel=2)", "RR"), ("nDCG@5", "")]
)
def test_the_advice_on_parameters_is_a_measure_of_groups(measure: str, advised: str) -> None:
    with pytest.raises(MeasureError) as caught:
        dh.evaluate(GROUPS, RUN, [measure])
    _, _, given = str(caught.value.hint or "").rpartition("give ")
    assert given == advised
    if given:
        dh.evaluate(GROUPS, RUN, [given])


@pytest.mark.parametrize("given", [{"unjudged": "bounds"}, {"rel": 2}, {"judge": {"q": {"a": 1}}}])
def test_what_groups_do_not_go_with_is_refused(given: dict[str, Any]) -> None:
    (argument,) = given
    with raises_parts(ParameterError, argument=argument):
        dh.evaluate(GROUPS, RUN, "R", **given)
    if argument != "judge":
        with raises_parts(ParameterError, argument=argument):
            dh.compare(GROUPS, {"one": RUN, "other": RUN}, "R", **given)


@pytest.mark.parametrize(
    "use",
    [
        lambda: dh.holes(GROUPS, {"one": RUN}, "R@3"),
        lambda: dh.judge_agreement(GROUPS, {"q": {"a": 1}}),
        lambda: dh.explain(GROUPS, RUN, {"R@1": 0.5}),
    ],
)
def test_what_knows_documents_alone_refuses_groups(use: Callable[[], object]) -> None:
    with raises_parts(ParameterError, found="relevant documents in groups"):
        use()


@pytest.mark.parametrize(
    ("groups", "error"),
    [
        ({"q": [["a", "b"], "c"]}, SourceTypeError),
        ({"q": [["a", "b"], ["c", 1]]}, SourceTypeError),
        ({"q": [["a", "b"], [4]]}, SourceTypeError),
        ({"q": [[1, 2, 3], [4]]}, SourceTypeError),
        ({"q": [["a", "b"], []]}, DataError),
        ({"q": [[]]}, DataError),
        ({"q": [["a", ""], ["c"]]}, DataError),
        ({"q": [["a", "b"]], "p": ["a"]}, SourceTypeError),
        ({"q": [["a", "b"]], "p": {"a": 1}}, SourceTypeError),
        ([{"query_id": "q", "relevant": [["a", "b"], ["c"]], "relevance": [1, 1]}], ColumnError),
    ],
)
def test_what_is_no_group_is_refused(groups: object, error: type[DeadheatError]) -> None:
    with pytest.raises(error):
        dh.Qrels(groups)


def test_a_relevance_as_text_gives_a_warning() -> None:
    with pytest.warns(DeadheatWarning, match="write it as a number"):
        dh.Qrels({"q": [["a", "2"], ["b", "0"]]})


def test_a_run_has_no_groups() -> None:
    with pytest.raises(SourceTypeError):
        dh.evaluate({"q": ["a"]}, GROUPS)


def test_a_saved_evaluation_keeps_its_groups(tmp_path: Path) -> None:
    made = dh.evaluate(GROUPS, RUN, "R@1 AllHit@3 RR")
    made.save(tmp_path / "saved.json")
    loaded = dh.load_evaluation(tmp_path / "saved.json")
    assert loaded.means() == made.means()
    assert loaded.qrels.judging_rule == made.qrels.judging_rule
    assert loaded.qrels_hash == made.qrels_hash
    assert loaded.rescored(measures="R@3 AllHit@1").means() == {"R@3": 1, "AllHit@1": 0.5}
    with raises_parts(MeasureError, allowed="R, Hit, RR, AllHit"):
        loaded.rescored(measures="AP")
    assert loaded.rescored({"q": [["x"], ["c"]], "p": [["b"]]}).means()["R@1"] == 0
    new_ids = {"q": [["A", "b"], ["c"]], "p": [["A"]]}
    assert loaded.rescored(new_ids, ids={"a": "A"}).means() == made.means()
    with pytest.raises(DataError):
        loaded.rescored({"q": {"a": 1}})


def test_the_same_groups_in_another_order_are_the_same_judgments() -> None:
    def hashed(groups: dict[str, list[list[str]]]) -> str:
        return dh.Qrels(groups).fingerprint

    same = {"p": [["a"]], "q": [["c"], ["b", "a"]]}
    others: list[dict[str, list[list[str]]]] = [
        {"q": [["a"], ["b", "c"]], "p": [["a"]]},
        {"q": [["a", "b"], ["c"]], "p": [["a"], ["a"]]},
        {"q": [["a", "b"], ["c"]], "p": [["a"]], "r": []},
        {"q": [["a", "b"], ["c"]]},
    ]
    assert hashed(same) == hashed(GROUPS)
    assert len({hashed(GROUPS), *map(hashed, others)}) == 5


def test_evaluations_of_other_groups_are_compared_under_the_newer_ones() -> None:
    first = dh.evaluate(GROUPS, RUN, "R@1")
    other = dh.evaluate(GROUPS, {"q": ["x", "a"], "p": ["a"]}, "R@1")
    (pair,) = dh.compare_evaluations({"first": first, "other": other}).pairs
    assert pair.difference == pytest.approx(-0.25)
    documents = dh.evaluate({"q": {"a": 1}, "p": {"a": 1}}, RUN, "R@1")
    with pytest.raises(DataError):
        dh.compare_evaluations({"first": first, "other": documents})


def test_uses_of_results_have_its_values() -> None:
    first = dh.evaluate(GROUPS, RUN, "R@1 AllHit@3")
    assert dh.gate(first, "R@1 >= 0.75").passed
    assert not dh.gate(first, "R@1 >= 0.76").passed
    assert dh.history([first]).measures == ("R@1", "AllHit@3")
    assert "0.7500" in str(first)
    assert first.steps("R@1", "q").value == pytest.approx(0.5)
    assert first.steps("AllHit@3", "q").value == pytest.approx(1)


@pytest.mark.slow
def test_ties_of_a_second_score_are_those_of_all_orders_under_large_noise() -> None:
    """Every order is as likely as another one then, and the mean is the exact one."""
    tied = {"q": {"a": 1, "b": 1, "c": 1}, "p": {"a": 1, "x": 1}}
    second = {"q": {"a": 1, "b": 2, "c": 3}, "p": {"a": 1, "x": 2}}
    names = ["R@1", "AllHit@2", "RR"]
    exact = dh.evaluate(GROUPS, tied, names)
    drawn = dh.evaluate_with_confidence(GROUPS, tied, second, names, scale=1e9, n_draws=2000)
    for name in names:
        assert drawn[name].mean == pytest.approx(exact[name].mean, abs=5 * drawn[name].standard_error)
        assert drawn[name].standard_error > 0


def test_coarser_scores_have_the_values_of_groups() -> None:
    found = dh.coarsening_profile(GROUPS, {"q": {"a": 1, "x": 0.9}, "p": {"a": 1}}, "R@1", levels=[1])
    assert [(row.measure, row.value) for row in found.rows] == [("R@1", 0.75), ("R@1", pytest.approx(0.625))]


def test_fusion_is_tuned_on_groups() -> None:
    found = dh.tune_fusion(GROUPS, {"one": RUN, "other": RUN}, "R@1")
    assert found.evaluations["one"].means() == {"R@1": 0.75}
    assert found.values.mean() == pytest.approx(0.75)


@pytest.mark.slow
def test_commands_take_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "groups.json").write_text(json.dumps(GROUPS), encoding="utf-8")
    (tmp_path / "one.json").write_text(json.dumps(RUN), encoding="utf-8")
    (tmp_path / "other.json").write_text(json.dumps({"q": ["x", "c"], "p": ["a"]}), encoding="utf-8")
    printed = json.loads(ok("evaluate", "groups.json", "one.json", "--format", "json"))
    assert [*printed["scores"]["one"]] == ["R@10", "AllHit@10", "Hit@10", "RR", "R@100"]
    printed = json.loads(ok("evaluate", "groups.json", "one.json", "-m", "R@1 AllHit@3", "--format", "json"))
    assert {measure: numbers["value"] for measure, numbers in printed["scores"]["one"].items()} == MEANS
    compared = json.loads(ok("compare", "groups.json", "one.json", "other.json", "-m", "R@1", "--format", "json"))
    assert compared["pairs"]["other"]["one"]["R@1"]["difference"] == pytest.approx(-0.25)
    assert "R@10" in ok("ties", "one.json", "groups.json")
    assert "0.5000" in ok("steps", "groups.json", "one.json", "--query", "q", "-m", "R@1")
    assert "passed" in ok("gate", "groups.json", "one.json", "--check", "R@1 >= 0.7")
    ok("evaluate", "groups.json", "one.json", "-m", "R@1", "--save", "saved.json")
    assert "0.7500" in ok("rescore", "saved.json", "groups.json")
    ok("report", "groups.json", "one.json", "other.json", "-o", "page.html")
    ok("convert", "groups.json", "groups.txt", "--kind", "qrels")
    assert (tmp_path / "groups.txt").read_text(encoding="utf-8").splitlines()[0].split() == ["q", "1", "a", "1"]


@pytest.mark.parametrize(
    "typed",
    [
        ("evaluate", "groups.json", "one.json", "-m", "nDCG@10"),
        ("evaluate", "groups.json", "one.json", "--rel", "2"),
        ("compare", "groups.json", "one.json", "one.json", "-m", "AP"),
        ("ties", "one.json", "groups.json", "--orders", "q", "-m", "R@1"),
        ("holes", "groups.json", "one.json"),
    ],
)
def test_commands_refuse_what_is_not_defined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "groups.json").write_text(json.dumps(GROUPS), encoding="utf-8")
    (tmp_path / "one.json").write_text(json.dumps(RUN), encoding="utf-8")
    result = call(*typed)
    assert result.exit_code in {2, 3}
    assert "Error: " in result.stderr


@pytest.mark.plugins("weeks")
@pytest.mark.parametrize(
    ("new", "replaced"),
    [
        ([["a", "b", "d"], ["c"]], []),  # a group has another document, and none was renamed
        ([["a"], ["c"]], []),
        ([["d", "e"], ["c"]], [("q", "a or b", "d or e")]),
    ],
)
def test_a_group_that_gained_a_document_is_not_called_renamed(
    new: list[list[str]], replaced: list[tuple[str, str, str]]
) -> None:
    found = dh.diff_qrels({"q": GROUPS["q"]}, {"q": new})
    assert found.changes.find_replaced() == replaced
    assert found.changes.changed == ("q",)


@pytest.mark.plugins("weeks")
def test_a_difference_of_groups_is_shown_by_the_measures_of_groups() -> None:
    """Without -m it asked for nDCG@10, which groups do not have; now a or b, and now c or x is enough."""
    found = dh.diff_qrels(GROUPS, {"q": [["a"], ["c", "x"]], "p": [["a"]]}, {"one": RUN})
    effects = {row["measure"]: (row["old"], row["new"]) for row in found.effects.to_dicts()}
    assert effects["R@10"] == (1, (1 / 2 + 1) / 2)
    assert effects["RR"] == (1, (1 / 2 + 1) / 2)


@pytest.mark.plugins("weeks")
def test_judgments_that_became_groups_are_told() -> None:
    found = dh.diff_qrels({"q": {"a": 1}}, {"q": [["a"]]})
    assert found.changes.changed == ("q",)
    assert "documents became relevant documents in groups" in " ".join(str(found).split())
    assert "became" not in str(dh.diff_qrels({"q": {"a": 1}}, {"q": {"a": 2}}))


@pytest.mark.plugins("compat")
def test_trec_eval_refuses_groups(tmp_path: Path) -> None:
    """It counted each document of a group as one that is needed."""
    (tmp_path / "g.json").write_text('{"q1": [["a", "b"], ["c"]]}')
    (tmp_path / "r.csv").write_text("query_id,doc_id,score\nq1,b,3\nq1,c,1\n")
    refused = call("trec_eval", tmp_path / "g.json", tmp_path / "r.csv")
    assert refused.exit_code == 3
    assert "judgments of relevant documents in groups" in refused.stderr
