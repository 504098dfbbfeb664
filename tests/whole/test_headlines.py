"""Each report that finds something begins with it in at most fifteen words."""

from __future__ import annotations

import pytest

import deadheat as dh
from deadheat.api import Report
from deadheat.plugins.judges.report import report_judges
from deadheat.plugins.ties.report_of_simulation import report_simulation
from support.random_runs import QRELS, RUNS


def test_judges_say_what_their_labels_are_good_for() -> None:
    turned = {query: {doc: 2 - level for doc, level in own.items()} for query, own in QRELS.items()}
    same, other = (
        report_judges(dh.judge_agreement(QRELS, dh.Qrels(labels, name="llm"), runs=RUNS, measures="nDCG@5"))
        for labels in (QRELS, turned)
    )
    assert "confirm every difference" in same.headline
    assert other.headline.startswith("Do not decide by the labels of llm ")
    assert len(other.headline.split()) <= 15


@pytest.mark.slow
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
    assert summary.heading == "P@5"
    assert summary.text.startswith("confirms 0 of 1 ")
    assert ", misses 1 (" in summary.text
    assert "confirm every difference" in report("same").headline
    for names in (("same", "blind"), ("blind", "same")):
        assert report(*names).headline == short
    for others in (("turned", "blind", "same"), ("same", "turned", "blind")):
        assert report(*others).headline.startswith("Do not decide by the labels of turned ")


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
    assert told.startswith("llm ")
    assert told.endswith(f" kappa {kappa:.2f} on {len(pairs)} documents.")
    several = {"llm": dh.Qrels(labels), "same": dh.Qrels(QRELS)}
    headline = report_judges(dh.judge_agreement(QRELS, several)).headline
    assert headline.startswith("Of 2 judges same ")
    assert headline.endswith(f" kappa 1.00 on {len(pairs)} documents.")
    assert len(headline.split()) <= 15


def test_simulations_say_what_ties_move_most() -> None:
    found = dh.simulate_rerankers(20, rng=1)
    rows = found.summary().to_dicts()
    most = max(rows, key=lambda row: row["mean_difference"])
    headline = report_simulation(found).headline
    assert headline.startswith(f"{most['reranker']}: ")
    assert f"{most['mean_difference']:.4f}" in headline
    assert len(headline.split()) <= 15
