"""The report of the demonstration: one run file, as many scores as there are ways to break its ties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from deadheat.evaluation.evaluation import Evaluation
from deadheat.report.conventions import RULES
from deadheat.report.model import Column, Fact, Report, Row, Table
from deadheat.wording import BY_DOC_ID

EXACT = list(RULES).index("expected")
HEADINGS = {**RULES, "doc_id": "doc_id"}  # a screen has no room for several lines
MEASURES = ("nDCG@10", "RR")


def report_demo(systems: Mapping[str, Mapping[str, Evaluation]], source: Fact, closing: str) -> Report:
    """Return the report of the demonstration.

    Parameters
    ----------
    systems : mapping
        Evaluations of `MEASURES` by system and tie policy.
    source : Fact
        Where the data comes from.
    closing : str
        What to try next.
    """
    columns = (*(Column(rule, HEADINGS[rule]) for rule in RULES), Column("tie_std", "tie std", spare=1))
    labels = (Column("measure", "measure"), Column("system", "system"))
    rows = [
        Row(
            (measure, name),
            ((*(by_rule[rule][measure].mean for rule in RULES), by_rule["expected"][measure].mean_tie_std),),
        )
        for measure in MEASURES
        for name, by_rule in _by_exact_value(systems, measure)
    ]
    table = Table("scores", labels, columns, tuple(rows), main=EXACT)
    facts = (
        Fact(
            "",
            None,
            "ties",
            f"doc_id: {BY_DOC_ID}; input: order of the file; exact: mean over all orders; tie std: their"
            " standard deviation",
        ),
        Fact("best_system", *_winners(systems, MEASURES[0])),
        source,
    )
    heading = "Four LLM rerankers, grades 0 to 3: only the order of equal scores differs"
    return Report((table,), facts, heading=heading, closing=closing)


def _by_exact_value(
    systems: Mapping[str, Mapping[str, Evaluation]], measure: str
) -> Iterable[tuple[str, Mapping[str, Evaluation]]]:
    return sorted(systems.items(), key=lambda item: -item[1]["expected"][measure].mean)


def _winners(systems: Mapping[str, Mapping[str, Evaluation]], measure: str) -> tuple[dict[str, str], str, str]:
    """Return the best system by each rule: for JSON, and as heading and text."""
    best = {rule: max(systems, key=lambda name: systems[name][rule][measure].mean) for rule in RULES}
    said = ", ".join(
        f"{name} ({', '.join(HEADINGS[rule] for rule in RULES if best[rule] == name)})"
        for name in dict.fromkeys(best.values())
    )
    return best, "best system", f"by {measure}: {said}"
