"""What a second key decides: the ties and values of a run before and after its ties are ordered by another run."""

from __future__ import annotations

from dataclasses import replace

from deadheat.profile import Decided, TieProfile
from deadheat.report.model import MEASURE, Column, Fact, Report, Row, Span, Table
from deadheat.wording import counted

COLUMNS = (
    Column("value", "averaged"),
    Column("ties", "tie orders", ("tie_min", "tie_max"), spare=1),
    Column("then_value", "then by it"),
    Column("then_ties", "what still ties", ("then_tie_min", "then_tie_max"), spare=2),
    Column("difference", "difference"),
)


def with_second_key(report: Report, profile: TieProfile, keyed: TieProfile, name: str) -> Report:
    """Return the report of a tie profile with what a second key would decide.

    Parameters
    ----------
    report : Report
        Of `profile`.
    profile : TieProfile
        Of the run by its own scores alone.
    keyed : TieProfile
        Of the same run with its ties ordered.
    name : str
        Of the second key.
    """
    left = f"{keyed.n_tied:,} of {counted(profile.n_tied, 'tied document')} still tie"
    value = {"name": name, "n_tied": keyed.n_tied, "n_queries_with_ties": keyed.n_queries_with_ties}
    facts = [Fact("then_by", value, f"then by {name}", left if profile.n_tied else "nothing: no document is in a tie")]
    facts += [Fact("", None, "second key", note) for note in keyed.notes if note not in profile.notes]
    if not profile.decided:
        return replace(report, facts=(*report.facts, *facts))
    rows = [
        Row((one.measure.label,), (_cells(one, then),))
        for one, then in zip(profile.decided, keyed.decided, strict=True)
    ]
    table = Table("second_key", (MEASURE,), COLUMNS, tuple(rows), title=f"what {name} decides as a second key", main=2)
    return replace(report, tables=(*report.tables, table), facts=(*report.facts, *facts))


def _cells(one: Decided, then: Decided) -> tuple[float | Span, ...]:
    """Return means, or totals of counts."""
    kind = "total" if one.measure.total else "mean"
    value, low, high, then_value, then_low, then_high = (
        getattr(decided.scores, f"{kind}{end}") for decided in (one, then) for end in ("", "_tie_min", "_tie_max")
    )
    return value, Span(low, high), then_value, Span(then_low, then_high), then_value - value
