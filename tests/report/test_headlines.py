"""Each report that finds something begins with it in at most fifteen words."""

from __future__ import annotations

import pytest

import deadheat as dh
from deadheat.report.model import Report
from deadheat.report.of_changes import report_history
from deadheat.report.of_judgments import report_judges
from deadheat.report.of_simulation import report_simulation
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


def test_judges_say_what_their_labels_are_good_for() -> None:
    turned = {query: {doc: 2 - level for doc, level in own.items()} for query, own in QRELS.items()}
    same, other = (
        report_judges(dh.judge_agreement(QRELS, dh.Qrels(labels, name="llm"), runs=RUNS, measures="nDCG@5"))
        for labels in (QRELS, turned)
    )
    assert same.headline == "Human labels confirm every difference that llm finds."
    assert other.headline.startswith("Do not decide by the labels of llm alone: they reverse ")
    assert len(other.headline.split()) <= 15


def test_a_judge_that_finds_no_difference_confirms_none_and_the_worst_of_several_leads() -> None:
    blind = {query: dict.fromkeys(own, 1) for query, own in QRELS.items()}
    turned = {query: {doc: 2 - level for doc, level in own.items()} for query, own in QRELS.items()}
    judges = {
        name: dh.Qrels(labels, name=name) for name, labels in (("same", QRELS), ("blind", blind), ("turned", turned))
    }

    runs = {name: RUNS[name] for name in ("weak", "good")}  # of two, none is favoured

    def report(*names: str) -> Report:
        labels = {name: judges[name] for name in names}
        return report_judges(dh.judge_agreement(QRELS, labels, runs=runs, measures="P@5"))

    short = "blind misses 1 difference that humans find, and finds none."
    assert report("blind").headline == short
    (summary,) = report("blind").summary
    assert summary.sentence.startswith("P@5: confirms 0 of 1 difference by human labels, misses 1 (")
    assert report("same").headline == "Human labels confirm every difference that same finds."
    for names in (("same", "blind"), ("blind", "same")):
        assert report(*names).headline == short
    for others in (("turned", "blind", "same"), ("same", "turned", "blind")):
        assert report(*others).headline.startswith("Do not decide by the labels of turned alone")


def test_judges_without_runs_say_how_far_they_agree() -> None:
    """Kappa by its definition: of a judge that is one level off on every fourth document."""
    labels = {
        query: {doc: (level + (n % 4 == 0)) % 3 for n, (doc, level) in enumerate(own.items())}
        for query, own in QRELS.items()
    }
    pairs = [(level, labels[query][doc]) for query, own in QRELS.items() for doc, level in own.items()]
    observed = sum(one == other for one, other in pairs) / len(pairs)
    shares = [[sum(pair[n] == level for pair in pairs) / len(pairs) for level in range(3)] for n in (0, 1)]
    chance = sum(one * other for one, other in zip(*shares, strict=True))
    kappa = (observed - chance) / (1 - chance)
    told = str(dh.judge_agreement(QRELS, dh.Qrels(labels, name="llm"))).splitlines()[0]
    assert told == f"llm against human labels: kappa {kappa:.2f} on {len(pairs)} documents."
    several = {"llm": dh.Qrels(labels), "same": dh.Qrels(QRELS)}
    headline = report_judges(dh.judge_agreement(QRELS, several)).headline
    assert headline == f"Of 2 judges same agrees most with human labels: kappa 1.00 on {len(pairs)} documents."
    assert len(headline.split()) <= 15


def test_simulations_say_what_ties_move_most() -> None:
    found = dh.simulate_rerankers(20, rng=1)
    rows = found.summary().to_dicts()
    most = max(rows, key=lambda row: row["mean_difference"])
    headline = report_simulation(found).headline
    assert headline.startswith(f"{most['reranker']}: ")
    assert f"{most['mean_difference']:.4f}" in headline
    assert len(headline.split()) <= 15
