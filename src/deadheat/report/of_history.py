"""The report of a history: a row for each evaluation, and what its last step changed."""

from collections.abc import Iterator
from math import isnan
from operator import itemgetter

from deadheat.comparison.history import History
from deadheat.comparison.pairs import Pair
from deadheat.errors import counted
from deadheat.report.model import (
    MARK,
    MEASURE,
    QUERY,
    Column,
    Fact,
    Report,
    Span,
    Table,
    note,
    p_value,
    said,
    shows,
    table_of_rows,
    tabulate,
)

MOST = 5  # queries that fell, and that rose
COMMIT = 7  # characters of a commit
MINUTE, SECOND = 16, 19  # characters of a time


@shows(History)
def report_history(found: History, *, for_people: bool = True) -> Report:
    """Return the report of a history.

    Parameters
    ----------
    found : History
    for_people : bool, default True
        Whether each measure has a table of its own; else one has all.
    """
    moved = [*_of_queries(found)] if len(found.steps) > 1 else []
    if not for_people:
        rows = [{"step": str(n // len(found.measures) + 1), **row} for n, row in enumerate(found.rows())]
        return Report((table_of_rows("history", ("step", MEASURE), rows), *moved), tuple(_facts(found)))
    tables = [_table(found, measure) for measure in found.measures]
    headline, opening = _told(found)
    return Report((*tables, *moved), tuple(_facts(found)), opening=opening, headline=headline)


def _of_queries(found: History) -> Iterator[Table]:
    """Yield the queries that the last step moved most, if it moved any."""
    if rows := found.queries(MOST).to_dicts():
        labels = (MEASURE, Column("kind", ""), QUERY)
        columns = (Column("difference", "difference"), Column("value", "now"))
        yield tabulate("queries", labels, columns, rows, title="Queries of the last step", has_blocks=True)


def _told(found: History) -> tuple[str, str]:
    """Return what the last step did: by the first measure in few words, then how sure that is, and the others."""
    if len(found.steps) < 2:
        return "One evaluation: there is nothing to compare it with.", ""
    last = found.steps[-1].means
    (headline, sure), *others = (_moved(one, last[one]["mean"], found.since[one][-1]) for one in found.measures)
    more = [f"{sure[0].upper()}{sure[1:]}."] if sure else []
    more += [f"{what} ({how})." if how else f"{what}." for what, how in others]
    return f"{headline}.", " ".join(more)


def _moved(measure: str, mean: float, pair: Pair | None) -> tuple[str, str]:
    """Return what the last step did to a mean, and how sure that is."""
    if isnan(mean):
        return f"{measure} has no value", ""
    if pair is None:
        return f"{measure} is {mean:.4f}, under other judgments than before", ""
    n = counted(pair.n_queries, "query", "queries")
    if not pair.difference:
        return f"{measure} is as before, {mean:.4f}", n
    what = f"{'rose' if pair.difference > 0 else 'fell'} by {abs(pair.difference):.4f} to {mean:.4f}"
    sure = "by more than chance" if pair.significant else "not by more than chance"
    return f"{measure} {what}, {sure}", f"adjusted p {pair.p_adjusted:.4f}, {n}"


def _table(found: History, measure: str) -> Table:
    """Return a row for each step by one measure."""
    several = len({(step.origin.label, step.origin.commit) for step in found.steps}) < len(found.steps)
    minutes = {(step.name, step.origin.label, step.origin.commit, step.origin.time[:MINUTE]) for step in found.steps}
    shown = MINUTE if len(minutes) == len(found.steps) else SECOND
    rows = [
        row
        | {
            "ci": Span(row["low"], row["high"]),
            "ties": Span(row["tie_min"], row["tie_max"]),
            "p": p_value(row["p_adjusted"], is_significant=bool(row["significant"])),
            "when": row["time"].replace("T", " ")[:shown],
            "what": " ".join(
                dict.fromkeys(filter(None, (row["label"], row["commit"][:COMMIT], row["name"] if several else "")))
            ),
            "judged": ("" if row["comparable"] else "# ") + row["changed"],
        }
        for row in found.rows()
        if row["measure"] == measure
    ]
    columns = [
        Column("n_queries", "queries", spare=3),
        Column("mean", "mean"),
        Column("ci", "interval", spare=2),
        Column("ties", "tie orders", ends=("tie_min", "tie_max"), spare=4),
        Column("difference", "step"),
        Column("p", "p adj"),
    ]
    if found.to_reference:
        columns.append(Column("reference", "to reference", itemgetter("reference_difference"), spare=1))
    if any(row["judged"] for row in rows):
        columns.append(Column("judged", "judgments", spare=1))
    return tabulate(f"history_{measure}", (Column("what", ""), Column("when", "time")), columns, rows, title=measure)


def _facts(found: History) -> list[Fact]:
    names = dict.fromkeys(step.name for step in found.steps)
    reference = () if found.reference is None else (found.steps[found.reference].file,)
    n_tests = max((sum(one is not None for one in pairs) for pairs in found.since.values()), default=0)
    how = f"{found.design.test}, each step against the one before; corrected by Holm over {counted(n_tests, 'step')}"
    are_comparable = all(step.is_comparable for step in found.steps)
    return [
        Fact("n_steps", len(found.steps), "evaluations", f"{len(found.steps):,} of {', '.join(names)}"),
        *(Fact("reference", file, "reference", file) for file in reference),
        said("interval", "of the mean, at the level at which it was saved (by default 95%)"),
        said("test", how),
        said(MARK, f"p below {1 - found.design.confidence_level:.3g}"),
        note("#", "" if are_comparable else "under other judgments than the last: not comparable"),
        *(note("history", text) for text in found.notes),
    ]
