"""What an evaluation says of a run beside its scores: missing queries, unjudged documents, cuts inside a tie."""

from __future__ import annotations

import json
import random
import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest

import deadheat as dh
from oracle.orders import all_orders
from support.command import call, facts_of, names_in, ok
from support.shared_data import hpo_qrels, hpo_run, needs_shared_data, run_dict

if TYPE_CHECKING:
    from pathlib import Path

IDS = [f"q{n:02}" for n in range(30)]
QRELS = {query: {"a": 1, "b": 0} for query in IDS}
WHOLE = {query: {"a": 2.0, "b": 1.0} for query in IDS}
SHORT = {query: WHOLE[query] for query in IDS[:3]}


class ScoredDoc(NamedTuple):
    """As those of ir_measures."""

    query_id: str
    doc_id: str
    score: float


def as_docs(run: dict[str, dict[str, float]]) -> list[ScoredDoc]:
    return [ScoredDoc(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]


@pytest.mark.parametrize(
    "source", [SHORT, as_docs(SHORT), pd.DataFrame(as_docs(SHORT))], ids=["dict", "docs", "pandas"]
)
def test_a_run_that_lacks_queries_gets_one_warning_at_the_line_of_the_caller(source: object) -> None:
    with pytest.warns(dh.DeadheatWarning, match="27 of 30 queries") as caught:
        evaluation = dh.evaluate(QRELS, source, "RR")
    assert [one.filename for one in caught] == [__file__]
    assert names_in(str(caught[0].message)) == ["q03", "q04", "q05", "empty", "skip"]
    assert evaluation.means() == {"RR": 0.1}
    assert "n_queries=30, missing=27" in repr(evaluation)
    assert (evaluation.facts.n_queries, evaluation.facts.n_missing) == (30, 27)


@pytest.mark.plugins("compare")
@pytest.mark.parametrize("missing", ["empty", "skip"])
def test_what_is_meant_gets_no_warning(missing: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluation = dh.evaluate(QRELS, SHORT, "RR", missing=missing)
        dh.evaluate(QRELS, WHOLE, "RR")
        half = dict(list(WHOLE.items())[:15])  # some queries without a result are usual: the repr has them
        assert "missing=15" in repr(dh.evaluate(QRELS, half, "RR"))
        dh.compare(QRELS, {"short": SHORT, "whole": WHOLE}, "RR", missing="empty", n_resamples=99)
    assert "missing=27" in repr(evaluation)


@pytest.mark.plugins("compare")
def test_a_comparison_warns_once_of_all_runs() -> None:
    with pytest.warns(dh.DeadheatWarning, match=r"short .* 27 of 30 .*; other .* 29 of 30") as caught:
        dh.compare(QRELS, {"short": SHORT, "whole": WHOLE, "other": {"q00": {"a": 1.0}}}, "RR", n_resamples=99)
    assert [one.filename for one in caught] == [__file__]


def test_the_command_line_says_it_in_the_report_alone(tmp_path: Path) -> None:
    for name, table in (("qrels", QRELS), ("short", SHORT)):
        (tmp_path / f"{name}.json").write_text(json.dumps(table))
    command = ("evaluate", tmp_path / "qrels.json", tmp_path / "short.json")
    assert call(*command).stderr == ""
    assert facts_of(*command)["missing queries"].startswith("short: 27 ")


def draw(rng: random.Random) -> dict[str, dict[str, float]]:
    """Draw runs of up to five documents with few scores, in order or not."""
    run = {}
    for query in IDS:
        scores = [rng.choice([0.0, 0.5, 1.0]) for _ in range(rng.randint(1, 5))]
        scores = sorted(scores, reverse=True) if rng.random() < 0.5 else scores
        run[query] = {f"d{place}": score for place, score in enumerate(scores)}
    return run


def ends_in_tie(scores: dict[str, float]) -> bool:
    return list(scores.values()).count(min(scores.values())) > 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_facts_equal_what_is_counted_document_by_document(seed: int) -> None:
    rng = random.Random(seed)
    run = draw(rng)
    qrels = {query: {f"d{rng.randint(0, 6)}": rng.choice([-1, 0, 1]) for _ in range(3)} for query in IDS}
    depth = max(map(len, run.values()))
    whole = [scores for scores in run.values() if len(scores) == depth]
    n_cut = sum(map(ends_in_tie, whole)) if len(whole) > 1 else 0
    shares = []
    for query, scores in run.items():
        known = {doc for doc, level in qrels[query].items() if level >= 0}
        tops = [order[:10] for order in all_orders(scores)]
        shares.append(np.mean([sum(doc not in known for doc in top) / len(top) for top in tops]))
    rows = as_docs(run)
    shuffled = sorted(rows, key=lambda row: (row.query_id, rng.random()))
    for source in (run, rows, pl.DataFrame(rows), pl.DataFrame(shuffled)):
        placements = dh.place(qrels, source)
        assert placements.ends_in_tie is not None
        assert placements.ends_in_tie.tolist() == [ends_in_tie(run[query]) for query in IDS]
        facts = dh.evaluate(qrels, source, "RR").facts
        assert facts.unjudged_share == pytest.approx(np.mean(shares), abs=1e-12)
        assert (facts.depth, facts.n_cut) == (depth, n_cut)
        assert facts.n_open == sum(map(ends_in_tie, run.values()))
        for k in (1, 3):  # a last tie that begins below the ranks that count changes nothing
            first = [sum(score > min(scores.values()) for score in scores.values()) for scores in run.values()]
            own = dh.evaluate(qrels, source, [f"P@{k}"]).facts
            open_ = [
                tied
                and not any(sum(x > scores[doc] for x in scores.values()) >= k for doc in scores.keys() & qrels[query])
                for (query, scores), tied in zip(run.items(), map(ends_in_tie, run.values()), strict=True)
            ]
            assert own.n_open == sum(open_)
            assert own.n_open >= sum(
                tied and start < k for tied, start in zip(map(ends_in_tie, run.values()), first, strict=True)
            )


def test_shares_of_the_top_ten_are_expected_over_the_orders_of_a_tie_that_it_cuts() -> None:
    """20 tied documents, 5 of them judged: a quarter of any ten; the tie does not end the list."""
    run = {"q": {f"d{place}": 1.0 for place in range(20)} | {"last": 0.0}}
    facts = dh.evaluate({"q": {f"d{place}": 1 for place in range(5)}}, run, "RR").facts
    assert facts.unjudged_share == pytest.approx(0.75, abs=1e-12)
    assert facts.n_cut == 0


def test_queries_that_the_run_lacks_have_no_share() -> None:
    facts = dh.evaluate({"p": {"a": 1}, "q": {"a": 1}}, {"q": {"a": 1.0, "b": 0.5}}, "RR", missing="empty").facts
    assert facts.unjudged_share == 0.5


def test_one_query_alone_tells_nothing_of_a_cut() -> None:
    run = {"p": {"a": 1.0, "b": 1.0, "c": 1.0}, "q": {"a": 1.0, "b": 1.0}}
    assert dh.evaluate({"p": {"a": 1}, "q": {"a": 1}}, run, "RR").facts.n_cut == 0
    assert dh.evaluate({"p": {"a": 1}, "q": {"a": 1}}, run | {"q": run["p"]}, "RR").facts.n_cut == 2


def test_all_lists_that_end_in_a_tie_are_counted_and_those_that_may_be_cut() -> None:
    """55 of 60 lists end in a tie, 14 of them are as long as any."""
    run = {}
    for n in range(60):
        size = 20 if n < 14 else 3 + n % 15
        run[f"q{n:02}"] = {f"d{i}": 9.0 - i for i in range(size - 1)} | {"last": 11.0 - size if n < 55 else -99.0}
    qrels = {query: {"d0": 1} for query in run}
    facts = dh.evaluate(qrels, run, "RR").facts
    assert (facts.n_open, facts.n_cut, facts.depth) == (55, 14, 20)
    assert "ends in ties=55" in str(facts)


def test_a_reranker_that_grades_all_it_was_given_gets_no_note_where_its_last_tie_is_below_the_cutoff() -> None:
    grades = {f"d{n:02}": float(3 - n // 25) for n in range(100)}
    qrels = {f"q{n}": {doc: int(grades[doc]) for doc in grades} for n in range(9)}
    facts = dh.evaluate(qrels, dict.fromkeys(qrels, grades), ["nDCG@10", "P@50"]).facts
    assert (facts.n_open, facts.n_cut) == (0, 0)
    assert dh.evaluate(qrels, dict.fromkeys(qrels, grades), ["nDCG@10", "R@80"]).facts.n_cut == 9
    assert dh.evaluate(qrels, dict.fromkeys(qrels, grades), ["nDCG@10", "AP"]).facts.n_cut == 9


def test_what_is_not_known_is_said_so(tmp_path: Path) -> None:
    """Lists without their unjudged documents have another end; a saved evaluation knows what it knew."""
    rows = pd.DataFrame(as_docs(WHOLE))
    evaluation = dh.evaluate(QRELS, rows, "RR", judged_only=True)
    assert (evaluation.facts.n_cut, evaluation.facts.unjudged_share) == (None, 0)
    evaluation.save(tmp_path / "whole.json")
    assert dh.load_evaluation(tmp_path / "whole.json").facts == evaluation.facts
    tied = {query: {"a": 1.0, "b": 1.0} for query in IDS}
    evaluation = dh.evaluate(QRELS, tied, "RR")
    evaluation.save(tmp_path / "tied.json")
    assert dh.load_evaluation(tmp_path / "tied.json").facts == evaluation.facts
    assert evaluation.facts.n_cut == 30


def test_last_scores_of_every_kind_of_file_are_counted(tmp_path: Path) -> None:
    rows = [(query, doc, 1.0) for query in ("q1", "q2") for doc in ("a", "b")]
    pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row").write_parquet(tmp_path / "two.parquet")
    (tmp_path / "one.run").write_text("".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in rows))
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 b 1\n")
    runs = [tmp_path / name for name in ("one.run", "two.parquet")]
    command = ("evaluate", tmp_path / "qrels.txt", *runs)
    assert facts_of(*command)["list ends"].startswith("in ties: one 2 of 2 queries, two 2 of 2")
    cut = json.loads(ok(*command, "--format", "json"))["cut_in_ties"]
    expected = {"n_queries": 2, "depth": 2, "n_ending_in_ties": 2}
    assert cut == {"one": expected, "two": expected}


@pytest.mark.slow
@needs_shared_data
def test_real_runs_say_what_they_lack() -> None:
    """BM25 for queries of another language: words that nothing matches, and 50 documents for most."""
    run = run_dict(hpo_run("enx.bm25"))
    facts = facts_of("evaluate", hpo_qrels("enx.bm25"), hpo_run("enx.bm25"), "-m", "RR", "--full")
    n_open = sum(
        ends_in_tie(scores) for query, scores in run.items() if query in dh.read_qrels(hpo_qrels("enx.bm25")).to_dict()
    )
    assert f"hpo-enx.bm25 {n_open} of 546 queries" in facts["list ends"]
    assert facts["unjudged"].endswith("hpo-enx.bm25 94%")
    evaluation = dh.evaluate(hpo_qrels("enx.bm25"), hpo_run("enx.bm25"), "RR", missing="empty")
    shown = repr(evaluation)
    for part in ("n_queries=546", "missing=39", "unjudged@10=94%", f"ends in ties={n_open}"):
        assert f", {part}, " in shown
