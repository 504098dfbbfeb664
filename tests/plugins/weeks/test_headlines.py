"""The report of a history begins with what its last step did, in at most fifteen words."""

from __future__ import annotations

import pytest

import deadheat as dh
from deadheat.plugins.weeks.report_history import report_history
from support.numbers_in_text import numbers_in
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
    headline = "Hit@1 is as before, 1.0000 over the 2 shared queries."
    assert report.headline == headline
    assert report.summary[0].heading == "Hit@1"
    assert numbers_in(report.summary[0].text) == [1.0, 2, 0.6667, 3]
    title = found.plot("history").to_dict()["title"]["text"]
    assert numbers_in(" ".join(title)) == [0.667, 3, 0, 2]
    # backwards, the shared two have no other mean
    report = report_history(dh.history([new, old]))
    assert report.headline == headline
    assert numbers_in(report.summary[0].text) == [1.0, 2]


def test_a_history_of_a_rise_beside_a_new_question() -> None:
    """RR of eight questions rises from 1 / 2 to 1; a ninth is new, and missed: 8 / 9 over all."""
    qrels = {f"q{n}": ["x"] for n in range(9)}
    old = dh.evaluate(qrels, {f"q{n}": ["other", "x"] for n in range(8)}, "RR", missing="skip")
    new = dh.evaluate(qrels, {f"q{n}": ["x" if n < 8 else "other"] for n in range(9)}, "RR", missing="skip")
    report = report_history(dh.history([old, new]))
    assert report.headline.startswith("RR rose by ")
    assert numbers_in(report.headline) == [0.5, 1.0, 8]
    assert report.headline.endswith(", by more than chance.")
    # all 2 ** 8 signs, of which the 2 where all are the same are as extreme
    rise = f"+0.5000 to 1.0000 over the 8 shared queries, p adj {2 / 2**8:.4f}"
    assert report.summary[0].sentence == f"RR: {rise}, {8 / 9:.4f} over all 9 queries"


def test_a_history_without_a_shared_query_has_no_change() -> None:
    qrels = {"a": ["x"], "b": ["y"]}
    steps = [dh.evaluate(qrels, {query: docs}, "RR", missing="skip") for query, docs in qrels.items()]
    found = dh.history(steps)
    headline = report_history(found).headline
    assert headline == "RR is 1.0000, over other queries than before."
    title = found.plot("history").to_dict()["title"]["text"]
    assert " ".join(title).partition(", ")[2] == headline.partition(", ")[2].removesuffix(".")
    assert numbers_in(" ".join(title)) == [1.0, 1]


def test_a_history_of_one_evaluation_names_no_test() -> None:
    report = report_history(dh.history([dh.evaluate(QRELS, RUNS["good"], "RR")]))
    assert "Holm" not in str(report)
    assert not {"test", "*"} & {fact.heading for fact in report.facts if fact.text}


def test_a_change_too_small_to_print_is_not_called_zero() -> None:
    """From rank 201 to rank 200: RR rises by 1 / 200 - 1 / 201."""
    docs = [f"d{n:03}" for n in range(300)]
    runs = [{"q": {doc: -n for n, doc in enumerate(docs)}}, {"q": {doc: -n for n, doc in enumerate(docs[1:])}}]
    steps = [dh.evaluate({"q": {"d200": 1}}, dh.Run(run, name="s"), "RR") for run in runs]
    headline = report_history(dh.history(steps)).headline
    assert numbers_in(headline) == [2e-05, 0.005]
    assert headline.endswith(", not by more than chance.")
