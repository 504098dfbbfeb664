"""Judgments that change: rescored, diff, history, holes, evaluations that were saved under other judgments."""

from __future__ import annotations

from typing import Any

import deadheat as dh
from golden.data import CHANGED, GRADED, GRADED_RUN, QRELS, RUNS, WEIGHTS
from golden.entries import entry
from golden.plain import Numbers
from golden.results import means_of, pairs_of

CONVENTIONS: dict[str, Numbers] = {
    "judgments": {"qrels": CHANGED},
    "measures": {"measures": ["AP", "P@5"]},
    "ties": {"ties": "doc_id"},
    "rel": {"rel": 2},
    "skip": {"no_relevant": "skip"},
    "missing": {"qrels": CHANGED, "missing": "skip"},
    "bounds": {"unjudged": "bounds"},
    "depth": {"ties": "input", "depth": 3},
    "judged only": {"judged_only": True},
}
JUDGMENTS = ["rescore", "shared"]


@entry(CONVENTIONS)
def rescored(options: Numbers) -> Numbers:
    """The run is evaluated anew beside it."""
    arguments: dict[str, Any] = dict(options)
    evaluation = dh.evaluate(QRELS, RUNS["fair"], ["nDCG@3", "RR"])
    again = evaluation.rescored(**arguments)
    qrels, measures = arguments.pop("qrels", QRELS), arguments.pop("measures", ["nDCG@3", "RR"])
    anew = dh.evaluate(qrels, RUNS["fair"], measures, **arguments)
    return {"rescored": means_of(again), "as_anew": again.means() == anew.means()}


@entry()
def rescored_with_weights() -> Numbers:
    return means_of(dh.evaluate(QRELS, RUNS["fair"], ["nDCG@3", "RR"], weights=WEIGHTS).rescored(CHANGED))


@entry()
def rescored_under_policies() -> Numbers:
    """Tie-rich lists: the orders that are kept are those of the run."""
    found: Numbers = {}
    for policy in ("best", "worst", "doc_id", "input"):
        found[policy] = dh.evaluate(GRADED, GRADED_RUN, "nDCG@3").rescored(ties=policy).means()
    return found


@entry()
def difference_of_judgments() -> Numbers:
    found = dh.diff_qrels(QRELS, CHANGED, RUNS, ["RR", "nDCG@3"])
    return {"flat": found.to_flat(), "causes": found.causes, "effects": found.effects}


@entry(JUDGMENTS)
def compared(judgments: str) -> Numbers:
    """Evaluations under different judgments."""
    evaluations = [dh.load_evaluation("old.json"), dh.load_evaluation("rejudged.json")]
    return pairs_of(dh.compare_evaluations(evaluations, test="t", judgments=judgments))


@entry(JUDGMENTS)
def history(judgments: str) -> Numbers:
    found = dh.history(["old.json", "new.json", "rejudged.json"], reference="old.json", judgments=judgments, test="t")
    rows = [{key: value for key, value in row.items() if key != "time"} for row in found.rows()]
    return {"rows": rows, "flat": found.to_flat()}


@entry()
def history_of_weights() -> Numbers:
    return dh.history(["heavy.json", "heavier.json"], test="t").to_flat()


@entry(JUDGMENTS)
def gated(judgments: str) -> Numbers:
    result = dh.gate("rejudged.json", baseline="old.json", no_worse_than=0.1, judgments=judgments)
    return {"passed": result.passed, "checks": result.to_polars()}
