"""What is done with values of other tools: the numbers of the same digits computed another way, and what is refused."""

from __future__ import annotations

import json
import math
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import scipy.stats

import deadheat as dh
from deadheat.core.evaluation.reported import report_numbers
from deadheat.errors import DataError, ParameterError
from support.command import call, ok
from support.shared_data import LLMJUDGE, needs_shared_data

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

N_QUERIES = 30
MEASURES = ["AP", "P@5", "RR", "nDCG@10"]
NAMES = {"AP": "map", "P@5": "P_5", "RR": "recip_rank", "nDCG@10": "ndcg_cut_10"}
OF_TIES = {"flip_probability", "can_flip", "tie_standard_error", "doc_id_difference", "expected_difference"}
Nested = dict[str, dict[str, float]]


def drawn(seed: int) -> tuple[Nested, Nested]:
    """Return judgments, and a run in which many scores tie."""
    rng = random.Random(seed)
    qrels: Nested = {}
    run: Nested = {}
    of_judgments = random.Random(7)
    for number in range(N_QUERIES):
        query = f"q{number:02}"
        docs = [f"d{place:02}" for place in range(12)]
        qrels[query] = {doc: float(of_judgments.choice([0, 0, 1, 2])) for doc in docs[:8]} | {"d00": 1.0}
        run[query] = {doc: rng.choice([1.0, 2.0, 3.0]) for doc in docs}
    return qrels, run


def by_doc_id(seed: int) -> dh.Evaluation:
    qrels, run = drawn(seed)
    evaluation = dh.evaluate(qrels, run, MEASURES, ties="doc_id")
    assert isinstance(evaluation, dh.Evaluation)
    return evaluation


def digits(seed: int, measure: str) -> np.ndarray[Any, Any]:
    """Return the values that a tool prints with four decimals: those of ties by document id."""
    return np.array([float(f"{value:.4f}") for value in by_doc_id(seed)[measure].values])


def write(path: Path, seed: int) -> str:
    """Write what trec_eval -q prints of a run."""
    evaluation = by_doc_id(seed)
    rows = [f"runid                 \tall\t{path.stem}", f"num_q                 \tall\t{N_QUERIES}"]
    for scores in evaluation:
        name = NAMES[scores.measure.label]
        for query, value in zip(scores.query_ids.tolist(), scores.values.tolist(), strict=True):
            rows.append(f"{name:<22}\t{query}\t{value:.4f}")
        rows.append(f"{name:<22}\tall\t{scores.mean:.4f}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return [write(tmp_path / f"{name}.eval", seed) for seed, name in enumerate(("a", "b"))]


@pytest.mark.parametrize("measure", MEASURES)
def test_a_comparison_is_the_test_of_the_printed_digits(measure: str, files: list[str]) -> None:
    """By scipy: the t test of the differences, and an interval by Student's t."""
    found = dh.compare_evaluations(files, baseline="a", test="t", correction="none")
    (pair,) = found[measure]
    first, second = digits(0, measure), digits(1, measure)
    expected = scipy.stats.ttest_rel(second, first)
    assert pair.p_value == pytest.approx(expected.pvalue)
    assert pair.difference == pytest.approx(second.mean() - first.mean())
    low, high = expected.confidence_interval(0.95)
    assert (pair.low, pair.high) == pytest.approx((low, high))


@pytest.mark.slow
def test_sign_flips_of_the_printed_digits_are_those_of_ties_by_document_id(files: list[str]) -> None:
    """As few decimals change p little, and what is compared is the values with ties broken by document id."""
    found = dh.compare_evaluations(files, baseline="a")
    runs = {name: drawn(seed)[1] for seed, name in enumerate(("a", "b"))}
    exact = dh.compare(drawn(0)[0], runs, MEASURES, baseline="a", ties="doc_id")
    for measure in MEASURES:
        (pair,), (other,) = found[measure], exact[measure]
        same = dh.paired_test(digits(1, measure), digits(0, measure))
        assert pair.p_value == same.p_value
        assert pair.p_value == pytest.approx(other.p_value, abs=0.02)
        assert pair.difference == pytest.approx(other.difference, abs=1e-4)


def test_nothing_is_said_of_ties(files: list[str]) -> None:
    found = dh.compare_evaluations(files)
    assert OF_TIES.isdisjoint(found.to_polars(details=True).columns)
    evaluation = found.evaluations["a"]
    assert evaluation.ties == "unknown"
    assert evaluation.to_polars().columns == ["query_id", "measure", "value"]
    assert not any("tie" in name for name in evaluation.to_flat())
    for text in (str(found), found.to_markdown(compact=False), str(evaluation)):
        assert "the values came without rankings" in text
        assert "tie orders" not in text
        assert "tie std" not in text
        assert "ties reverse" not in text
        assert "no order of equal scores" not in text
    assert math.isnan(evaluation["AP"].mean_tie_std)


def test_the_command_says_both(files: list[str]) -> None:
    printed = ok("compare", *files)
    assert "the values came without rankings" in printed
    assert "values of trec_eval, not computed here; rounded to 4 decimals" in " ".join(printed.split())
    said = json.loads(ok("compare", *files, "--format", "json"))
    assert said["ties"] == "unknown"
    (pair,) = dh.compare_evaluations(files)["AP"]
    assert said["pairs"]["b"]["a"]["AP"]["p_value"] == pytest.approx(pair.p_value)
    assert OF_TIES.isdisjoint(said["pairs"]["b"]["a"]["AP"])


def test_ranks_resample_queries_alone(files: list[str]) -> None:
    """Against a plain bootstrap of the means."""
    found = dh.compare_evaluations(files).rank_intervals("AP")
    values = np.column_stack([digits(0, "AP"), digits(1, "AP")])
    drawn_rows = np.random.default_rng(1).integers(N_QUERIES, size=(20_000, N_QUERIES))
    means = values[drawn_rows].mean(axis=1)
    share = float((means[:, 0] > means[:, 1]).mean())
    (p_best,) = found.filter(system="a")["p_best"].to_list()
    assert p_best == pytest.approx(share, abs=0.02)


@pytest.mark.slow
def test_systems_of_one_table_are_compared(files: list[str], tmp_path: Path) -> None:
    frames = [dh.load_evaluation(path).to_polars().with_columns(system=pl.lit(path[-6])) for path in files]
    table = str(tmp_path / "values.csv")
    pl.concat(frames).write_csv(table)
    said = json.loads(ok("compare", table, "--format", "json"))
    (pair,) = dh.compare_evaluations(files)["AP"]
    assert said["pairs"]["b"]["a"]["AP"]["p_value"] == pytest.approx(pair.p_value)
    assert sorted(dh.leaderboard(table, measure="AP").models) == ["a", "b"]
    ok("report", table, "-o", str(tmp_path / "page.html"))
    assert call("gate", table, "-c", "AP >= 0").exit_code == 2


def test_orders_of_systems_say_nothing_of_ties(files: list[str]) -> None:
    orders = dh.compare_evaluations(files).orders()
    assert {pair.tie_unknown for pair in orders.pairs} == {"the values came without rankings"}


def test_a_saved_one_is_the_same(files: list[str], tmp_path: Path) -> None:
    evaluation = dh.load_evaluation(files[0])
    loaded = dh.load_evaluation(evaluation.save(tmp_path / "a.json"))
    assert loaded.to_polars().equals(evaluation.to_polars())
    assert loaded.measures == evaluation.measures
    assert (loaded.ties, loaded.notes, loaded.name) == (evaluation.ties, evaluation.notes, evaluation.name)
    assert str(loaded.intervals(method="t")) == str(evaluation.intervals(method="t"))
    mixed = dh.compare_evaluations({"a": loaded, "b": files[1]})
    assert mixed.to_polars().equals(dh.compare_evaluations(files).to_polars())


def test_a_gate_checks_the_printed_digits(files: list[str]) -> None:
    mean = digits(0, "AP").mean()
    result = dh.gate(dh.load_evaluation(files[0]), [f"AP >= {mean - 1e-9}", f"map > {mean + 1e-9}"])
    assert [check.passed for check in result.checks] == [True, False]
    regression = dh.gate(dh.load_evaluation(files[1]), baseline=dh.load_evaluation(files[0]))
    expected = scipy.stats.ttest_rel(digits(1, "AP"), digits(0, "AP"), alternative="less").pvalue
    (check,) = [check for check in regression.checks if check.measure == "AP"]
    assert check.p_value == pytest.approx(expected)
    printed = ok("gate", files[0], "-c", "AP >= 0.1")
    assert "the values came without rankings" in printed
    assert "rounded to 4 decimals" in printed


def test_histories_and_leaderboards_take_files(files: list[str]) -> None:
    assert dh.history(files).rows()[-1]["mean"] == pytest.approx(digits(1, "nDCG@10").mean())
    means = {name: digits(seed, "AP").mean() for seed, name in enumerate(("a", "b"))}
    assert list(dh.leaderboard(files, measure="AP").models) == sorted(means, key=means.__getitem__, reverse=True)
    for command in (["history", *files], ["leaderboard", *files]):
        assert "not known without rankings" in " ".join(ok(*command).split())


def test_a_page_has_no_section_of_ties(files: list[str], tmp_path: Path) -> None:
    ok("report", *files, "-o", str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert 'id="ties"' not in page
    assert "unknown" in page


def test_strata_clusters_and_weights_go_with_them(files: list[str]) -> None:
    evaluation = dh.load_evaluation(files[0])
    ids = evaluation.query_ids.tolist()
    table = pl.DataFrame({"query_id": ids, "level": ["hard" if place % 2 else "easy" for place in range(len(ids))]})
    part = evaluation.by("level", table)["hard"]
    assert part["AP"].mean == pytest.approx(digits(0, "AP")[1::2].mean())
    weights = {query: float(place) for place, query in enumerate(ids)}
    assert evaluation.weighted(weights)["AP"].mean == pytest.approx(
        np.average(digits(0, "AP"), weights=list(weights.values()))
    )
    clusters = {query: f"c{place % 7}" for place, query in enumerate(ids)}
    assert evaluation["AP"].interval("t", cluster=clusters).n_clusters == 7


def test_what_is_reported_of_strata_knows_no_ties(tmp_path: Path) -> None:
    lines = []
    for number in range(N_QUERIES):
        lines += [f"num_rel_ret\tq{number}\t{number % 4}", f"map\tq{number}\t{number / N_QUERIES:.4f}"]
    path = tmp_path / "values.eval"
    path.write_text("\n".join(lines), encoding="utf-8")
    evaluation = dh.load_evaluation(path)
    assert isinstance(evaluation, dh.Evaluation)
    strata = evaluation.by("third", {f"q{number}": {"third": f"t{number % 3}"} for number in range(N_QUERIES)})
    for measure in evaluation.measures:
        expected = [repr(report_numbers(part[measure])) for part in strata.values()]
        assert "tie_std=nan" in expected[0]
        assert list(map(repr, strata.reported(measure))) == expected


def test_queries_of_one_file_alone_are_left_out_of_the_pair() -> None:
    first = dh.load_evaluation({"q1": {"map": 0.5}, "q2": {"map": 0.25}, "q3": {"map": 1.0}}).called("a")
    second = dh.load_evaluation({"q2": {"map": 0.75}, "q3": {"map": 0.5}, "q4": {"map": 0.0}}).called("b")
    (pair,) = dh.compare_evaluations([first, second], baseline="a").pairs
    assert pair.n_queries == 2
    assert pair.difference == pytest.approx(0.0)


REFUSED: dict[str, Callable[[dh.Evaluation], object]] = {
    "rescored": lambda one: one.rescored(measures="RR"),
    "rescored by others": lambda one: one.rescored({"q00": {"d00": 1}}),
    "steps": lambda one: one.steps("AP", "q00"),
    "abstention": lambda one: one.abstention(),
    "items": lambda one: one.item_profile(),
    "bounds": lambda one: one["AP"].unjudged_min,
    "a threshold of ties": lambda one: dh.gate(one, ["tie_min(AP) > 0.5"]),
    "a judge": lambda one: dh.compare_evaluations({"a": one, "b": one}, judge={"q00": {"d00": 1}}),
    "an evaluation of documents": lambda one: dh.compare_evaluations({"a": one, "b": by_doc_id(0)}),
    "a baseline of documents": lambda one: dh.gate(one, baseline=by_doc_id(0)),
}


@pytest.mark.parametrize("use", REFUSED)
def test_what_needs_documents_is_refused_in_one_sentence(use: str, files: list[str]) -> None:
    with pytest.raises((ParameterError, DataError)) as error:
        REFUSED[use](dh.load_evaluation(files[0]))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("command", [["rescore"], ["ties"], ["evaluate"], ["holes"]])
def test_commands_that_need_documents_refuse_them(command: list[str], files: list[str]) -> None:
    result = call(*command, *files)
    assert result.exit_code in {2, 3}
    assert "bug" not in result.output


@pytest.mark.slow
@needs_shared_data
def test_real_runs_have_the_p_of_ties_by_document_id(tmp_path: Path) -> None:
    """trec_eval by pytrec_eval, printed with four decimals, against what deadheat makes of the runs themselves."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels_path = LLMJUDGE / "qrels.human.txt"
    runs = {name: LLMJUDGE / "runs" / f"{name}.run" for name in ("Olz-gpt4o", "willia-umbrela1")}
    with qrels_path.open(encoding="utf-8") as file:
        qrels = pytrec_eval.parse_qrel(file)
    names = {"map", "P_5", "ndcg_cut_10", "recip_rank"}
    for name, path in runs.items():
        with path.open(encoding="utf-8") as file:
            values = pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(pytrec_eval.parse_run(file))
        lines = [
            f"{measure:<22}\t{query}\t{value:.4f}" for query, own in values.items() for measure, value in own.items()
        ]
        (tmp_path / f"{name}.eval").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = dh.compare_evaluations([tmp_path / f"{name}.eval" for name in runs])
    exact = dh.compare(qrels_path, runs, [*NAMES], ties="doc_id", score_precision="float32")
    for measure in NAMES:
        (pair,), (other,) = found[measure], exact[measure]
        assert pair.difference == pytest.approx(other.difference, abs=1e-4)
        assert pair.p_value == pytest.approx(other.p_value, abs=0.01)


def test_measures_are_chosen_among_those_of_a_file(files: list[str]) -> None:
    whole = json.loads(ok("compare", *files, "--format", "json"))["pairs"]["b"]["a"]
    for typed, measure in (("P@5", "P@5"), ("map", "AP"), ("MAP", "AP")):
        chosen = json.loads(ok("compare", *files, "-m", typed, "--format", "json"))["pairs"]["b"]["a"]
        assert [*chosen] == [measure]
        assert chosen[measure]["difference"] == whole[measure]["difference"]
        assert chosen[measure]["p_value"] == whole[measure]["p_value"]
    result = call("compare", *files, "-m", "ERR")
    assert result.exit_code != 0
    assert "ERR was not evaluated" in result.stderr


def test_a_measure_of_another_tool_alone_is_chosen_by_its_name(tmp_path: Path) -> None:
    for name, value in (("a", 0.5), ("b", 0.75)):
        rows = [f"{query},{measure},{value}" for query in ("q1", "q2") for measure in ("BLEU", "AP")]
        (tmp_path / f"{name}.csv").write_text("query_id,measure,value\n" + "\n".join(rows) + "\n", encoding="utf-8")
    paths = [str(tmp_path / f"{name}.csv") for name in ("a", "b")]
    printed = json.loads(ok("compare", *paths, "-m", "BLEU", "--format", "json"))
    assert [*printed["pairs"]["b"]["a"]] == ["BLEU"]


def test_whether_ties_reverse_a_difference_is_unknown(files: list[str]) -> None:
    found = dh.compare_evaluations(files)
    assert {pair.can_flip for pair in found.pairs} == {None}
    assert all(math.isnan(pair.flip_probability) for pair in found.pairs)
    assert "reversible by tie order" not in repr(found)
    drawn_pairs = dh.compare(drawn(1)[0], {"a": drawn(1)[1], "b": drawn(2)[1]}, "RR").pairs
    assert {pair.can_flip for pair in drawn_pairs} <= {True, False}


@pytest.mark.parametrize("n_files", [1, 2])
def test_evaluate_says_what_takes_such_a_file(files: list[str], n_files: int) -> None:
    result = call("evaluate", *files[:n_files])
    assert result.exit_code == 2
    assert "already evaluated" in result.stderr
    assert "deadheat report" in result.stderr
