"""The report of the demonstration: one run file, as many scores as there are ways to break its ties."""

from collections.abc import Mapping

from deadheat.errors import BY_DOC_ID
from deadheat.evaluation.evaluation import Evaluation
from deadheat.report.conventions import RULES
from deadheat.report.model import MEASURE, SYSTEM, Column, Fact, Report, tabulate

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
    columns = (
        *(Column(rule, HEADINGS[rule], lambda row, rule=rule: row["by_rule"][rule].mean) for rule in RULES),
        Column("tie_std", "tie std", lambda row: row["by_rule"]["expected"].mean_tie_std, spare=1),
    )
    rows = [
        {"measure": measure, "system": name, "by_rule": {rule: one[measure] for rule, one in by_rule.items()}}
        for measure in MEASURES
        for name, by_rule in sorted(systems.items(), key=lambda item: -item[1]["expected"][measure].mean)
    ]
    table = tabulate("scores", (MEASURE, SYSTEM), columns, rows, main=EXACT)
    measure = MEASURES[0]
    best = {rule: max(systems, key=lambda name: systems[name][rule][measure].mean) for rule in RULES}
    said = ", ".join(
        f"{name} ({', '.join(HEADINGS[rule] for rule in RULES if best[rule] == name)})"
        for name in dict.fromkeys(best.values())
    )
    facts = (
        Fact(
            "",
            None,
            "ties",
            f"doc_id: {BY_DOC_ID}; input: order of the file; exact: mean over all orders; tie std: their"
            " standard deviation",
        ),
        Fact("best_system", best, "best system", f"by {measure}: {said}"),
        source,
    )
    heading = "Four LLM rerankers, grades 0 to 3: only the order of equal scores differs"
    return Report((table,), facts, heading=heading, closing=closing)
