"""The report of a history begins with what its last step did, in at most fifteen words."""

from __future__ import annotations

import pytest

import deadheat as dh
from deadheat.plugins.weeks.report_history import report_history
from support.random_runs import QRELS, RUNS


def mean(run: str) -> float:
    """Return the mean RR, by its definition over tie orders: the mean of 1 / rank of the first relevant document."""
    return float(dh.evaluate(QRELS, RUNS[run], "RR")["RR"].mean)


@pytest.mark.parametrize(("before", "after"), [("weak", "good"), ("good", "weak"), ("good", "good")])
def test_a_history_says_what_its_last_step_did(before: str, after: str) -> None:
    steps = [dh.evaluate(QRELS, dh.Run(RUNS[name], name="s"), "RR") for name in (before, after)]
    found = dh.history(steps, n_resamples=99)
    headline = report_history(found).headline
    pair = found.since["RR"][-1]
    assert pair is not None
    if before == after:
        assert headline == f"RR is as before, {mean(after):.4f}."
    else:
        size = mean(after) - mean(before)
        sure = "by more than chance" if pair.significant else "not by more than chance"
        assert headline == f"RR {'rose' if size > 0 else 'fell'} by {abs(size):.4f} to {mean(after):.4f}, {sure}."
    assert f'<p class="headline">{headline}</p>' in found.to_html()
    assert str(found).splitlines()[0] == headline


def test_a_history_with_a_new_question_gives_the_mean_over_the_shared_queries() -> None:
    """The two old questions are hit in both weeks, the new one is missed: their mean stays 1, that of all is 2 / 3."""
    qrels = {"a": ["x"], "b": ["y"], "c": ["z"]}
    run = {"a": ["x"], "b": ["y"], "c": ["other"]}
    old = dh.evaluate(qrels, {"a": ["x"], "b": ["y"]}, "Hit@1", missing="skip")
    new = dh.evaluate(qrels, run, "Hit@1", missing="skip")
    found = dh.history([old, new])
    report = report_history(found)
    assert report.headline == "Hit@1 is as before, 1.0000 over the 2 shared queries."
    assert report.summary[0].sentence == (
        "Hit@1: 1.0000 over the 2 shared queries, as before, 0.6667 over all 3 queries"
    )
    title = found.plot("history").to_dict()["title"]["text"]
    assert " ".join(title) == "Hit@1 is 0.667 (3 queries) and changed by 0 over the 2 shared queries"
    # backwards, the shared two have no other mean
    report = report_history(dh.history([new, old]))
    assert report.headline == "Hit@1 is as before, 1.0000 over the 2 shared queries."
    assert report.summary[0].sentence == "Hit@1: 1.0000 over the 2 shared queries, as before"


def test_a_history_of_a_rise_beside_a_new_question() -> None:
    """RR of eight questions rises from 1 / 2 to 1; a ninth is new, and missed: 8 / 9 over all."""
    qrels = {f"q{n}": ["x"] for n in range(9)}
    old = dh.evaluate(qrels, {f"q{n}": ["other", "x"] for n in range(8)}, "RR", missing="skip")
    new = dh.evaluate(qrels, {f"q{n}": ["x" if n < 8 else "other"] for n in range(9)}, "RR", missing="skip")
    report = report_history(dh.history([old, new]))
    assert report.headline == "RR rose by 0.5000 to 1.0000 over the 8 shared queries, by more than chance."
    # all 2 ** 8 signs, of which the 2 where all are the same are as extreme
    rise = f"+0.5000 to 1.0000 over the 8 shared queries, p adj {2 / 2**8:.4f}"
    assert report.summary[0].sentence == f"RR: {rise}, {8 / 9:.4f} over all 9 queries"


def test_a_history_without_a_shared_query_has_no_change() -> None:
    qrels = {"a": ["x"], "b": ["y"]}
    steps = [dh.evaluate(qrels, {query: docs}, "RR", missing="skip") for query, docs in qrels.items()]
    found = dh.history(steps)
    assert report_history(found).headline == "RR is 1.0000, over other queries than before."
    title = found.plot("history").to_dict()["title"]["text"]
    assert " ".join(title) == "RR is 1.000 (1 query), over other queries than before"


def test_a_history_of_one_evaluation_names_no_test() -> None:
    report = report_history(dh.history([dh.evaluate(QRELS, RUNS["good"], "RR")]))
    assert "Holm" not in str(report)
    assert not {"test", "*"} & {fact.heading for fact in report.facts if fact.text}


def test_a_change_too_small_to_print_is_not_called_zero() -> None:
    """From rank 201 to rank 200: RR rises by 1 / 200 - 1 / 201."""
    docs = [f"d{n:03}" for n in range(300)]
    runs = [{"q": {doc: -n for n, doc in enumerate(docs)}}, {"q": {doc: -n for n, doc in enumerate(docs[1:])}}]
    steps = [dh.evaluate({"q": {"d200": 1}}, dh.Run(run, name="s"), "RR") for run in runs]
    assert report_history(dh.history(steps)).headline == "RR rose by 2e-05 to 0.0050, not by more than chance."
