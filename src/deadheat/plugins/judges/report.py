"""The report of judges: how far their labels agree with human ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from deadheat.core.report.cells import Cell, Span, format_cell, p_value_cell
from deadheat.core.report.conventions import cannot_be_known, finite, span_of, tell_geometric
from deadheat.core.report.model import (
    MEASURE,
    QUERY,
    SYSTEM,
    Column,
    Fact,
    Report,
    Table,
    note_fact,
    prose_fact,
    registers_report,
    summarise,
    tabulate,
)
from deadheat.core.report.score_tables import level_heading
from deadheat.core.structures import group_values
from deadheat.core.wording import format_count, format_exactly, format_list
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.judges.conclusions import Conclusions
from deadheat.plugins.judges.estimate import Estimate
from deadheat.plugins.judges.judge_agreement import JudgeAgreement
from deadheat.plugins.judges.label_agreement import OF_GRADES, STATISTICS, LabelAgreement

JUDGE = Column("judge", "judge")


@registers_report(JudgeAgreement, in_brief=True)
def report_judges(
    found: JudgeAgreement,
    *,
    per_query: bool = False,
    strata: Mapping[str, JudgeAgreement] | None = None,
    for_people: bool = True,
) -> Report:
    """Return the report of judges.

    Parameters
    ----------
    found : JudgeAgreement
    per_query : bool, default False
        Whether a table of all queries comes after.
    strata : mapping of str to JudgeAgreement, optional
        By what they are called.
    for_people : bool, default True
        Whether one judge has a table of its own form; else the tables are the same for one and for several.
    """
    level = level_heading(next(iter(found.judges.values())).confidence_level, set())
    frame = found.per_query() if per_query else pl.DataFrame()
    leading = () if len(found.judges) == 1 and for_people else (JUDGE,)
    several = for_people and len(found.conclusions) > 1
    tables = [
        *([_list_conclusions(found.conclusions)] if several else []),
        _statistics(found.judges, level) if leading else _of_one(found.only, level),
        *(_of_grades(found.judges, level, leading) if not (leading and for_people) else ()),
        *(_statistics(own.judges, level, f"stratum_{name}", name) for name, own in (strata or {}).items()),
        *(
            table
            for one in found.conclusions
            for table in _of_conclusions(
                one, level, is_named=len(found.conclusions) > 1 or not for_people, is_extra=several
            )
        ),
        tabulate(
            "queries",
            (JUDGE, QUERY),
            [Column(name, name.replace("_", " ")) for name in frame.columns[2:]],
            frame.to_dicts(),
            title="Queries",
            has_blocks=True,
        ),
    ]
    worst = min(found.conclusions, key=lambda one: [*IN_SHORT].index(_outcome(one)), default=None)
    return Report(
        tuple(one for one in tables if one.rows),
        tuple(_facts(found, strata or {})),
        headline=_describe_outcome(worst) if worst else _agreed(found.judges),
        summary=() if several else summarise({one.measure.label: _count_conclusions(one) for one in found.conclusions}),
    )


def _agreed(judges: Mapping[str, LabelAgreement]) -> str:
    """Return how far the labels of the best judge agree with human ones, in few words."""
    name = max(judges, key=lambda name: np.nan_to_num(judges[name].estimates["kappa"], nan=-1.0))
    of = f"Of {len(judges)} judges {name} agrees most with" if len(judges) > 1 else f"{name} against"
    kappa, n = judges[name].estimates["kappa"], format_count(judges[name].n_documents, "document")
    return f"{of} human labels: kappa {format_cell(kappa, 2)} on {n}."


UNEVEN = 1.1  # how many times as many labels one side has, from which on that is said
CAUTIONS = ("reversed", "favoured", "false")
IN_SHORT = {  # for which decisions a judge's labels suffice, by what they do, the worst first
    "reversed": "Do not decide by the labels of {judge} alone: they reverse {n_reversed}.",
    "favoured": "{judge} favours {favoured}: do not decide on {favoured} by these labels.",
    "false": "{judge} finds {n_false} that humans do not: look twice.",
    "lost": "{judge} misses {n_lost} that humans find, and finds none.",
    "none": "The human labels show no difference between systems: this says little about {judge}.",
    "confirmed": "Human labels confirm every difference that {judge} finds.",
}


def _outcome(one: Conclusions) -> str:
    """Return what a judge's labels do to conclusions, by its name in `IN_SHORT`."""
    if not one.n_separated:
        return "none"
    return next(
        (name for name in CAUTIONS if getattr(one, name)),
        "lost" if len(one.lost) == one.n_separated else "confirmed",
    )


def _describe_outcome(one: Conclusions) -> str:
    """Say for which decisions a judge's labels suffice, of these systems and queries."""
    counts = {
        f"n_{name}": format_count(len(getattr(one, name)), "difference") for name in ("reversed", "false", "lost")
    }
    return IN_SHORT[_outcome(one)].format(judge=one.judge, favoured=format_list(list(one.favoured)), **counts)


def _count_conclusions(one: Conclusions) -> str:
    """Count the differences between systems that human labels find, and what a judge's labels make of them."""
    kept = one.n_separated - len(one.reversed) - len(one.lost)
    parts = [f"confirms {kept} of {format_count(one.n_separated, 'difference')} by human labels"]
    for verb, pairs in (("reverses", one.reversed), ("misses", one.lost), ("invents", one.false)):
        if pairs:
            parts.append(f"{verb} {len(pairs)}")
    if one.favoured:
        parts.append(f"favours {format_list(list(one.favoured))}")
    return f"{', '.join(parts)} ({format_count(len(one.query_ids), 'query', 'queries')})"


def _list_conclusions(conclusions: Sequence[Conclusions]) -> Table:
    """Return a row for each judge and measure: what the judge's labels make of the differences that humans find."""
    columns = (
        Column("n_queries", "queries", lambda one: len(one.query_ids), spare=1),
        Column("n_separated", "differences", lambda one: one.n_separated),
        Column("kept", "confirmed", lambda one: one.n_separated - len(one.reversed) - len(one.lost)),
        Column("reversed", "reversed", lambda one: len(one.reversed)),
        Column("lost", "missed", lambda one: len(one.lost)),
        Column("false", "invented", lambda one: len(one.false)),
        Column("favoured", "favours", lambda one: format_list(list(one.favoured)) or "-"),
    )
    labels = (JUDGE, Column("measure", "measure", lambda one: one.measure.label))
    title = "Differences between systems by human labels, and by those of each judge"
    return tabulate("conclusions", labels, columns, conclusions, title=title)


def _with_ends(found: Mapping[str, Estimate]) -> dict[str, Cell]:
    """Return the cells of some numbers, each with its interval, and whether that is known."""
    cells: dict[str, Cell] = dict(found)
    for name, own in found.items():
        cells[f"{name}_ci"] = Span(own.low, own.high, own.is_known)
        cells[f"{name}_known"] = own.is_known
    return cells


def _ends_of(name: str, level: str, spare: int) -> tuple[Column, Column]:
    """Return the columns of the interval of a number: its ends, and for programs whether these are known."""
    return (
        Column(f"{name}_ci", level, ends=(f"{name}_low", f"{name}_high"), spare=spare),
        Column(f"{name}_known", f"{name} known", is_data=True),
    )


IN_TABLE = {"kappa": 0, "quadratic_kappa": 0, "alpha": 1, "inflation": 1, "tau_b": 2, "agreement": 2}
"""The statistics that a table of judges shows to people, and how easily a narrow table does without each."""


def _statistics(judges: Mapping[str, LabelAgreement], level: str, key: str = "judges", title: str = "") -> Table:
    """Return a row for each judge, with the intervals of what is most asked for."""
    columns: list[Column] = [
        Column("n_documents", "documents"),
        *(Column(name, name, is_data=True) for name in ("n_queries", "only_human", "only_judge")),
    ]
    for name, spare in {**dict.fromkeys(STATISTICS, 3), **IN_TABLE}.items():
        is_data = name not in IN_TABLE
        columns.append(Column(name, name.replace("_", " "), spare=spare, is_data=is_data))
        ends, is_known = _ends_of(name, level, spare + 3)
        columns += [replace(ends, is_data=is_data, is_extra=name != "kappa"), is_known]
    rows = [
        {
            "judge": name,
            "n_documents": one.n_documents,
            "n_queries": len(one.query_ids),
            "only_human": one.only_human,
            "only_judge": one.only_judge,
            **_with_ends(one.estimates),
        }
        for name, one in judges.items()
    ]
    return tabulate(key, (JUDGE,), columns, rows, title=title)


def _of_one(own: LabelAgreement, level: str) -> Table:
    """Return the statistics of the only judge, with a row for each."""
    return tabulate(
        "judges",
        (Column("statistic", "statistic"),),
        (
            Column("value", own.judge),
            Column("ci", level, lambda row: row["value_ci"]),
            Column("known", "known", lambda row: row["value_known"], is_data=True),
        ),
        [{"statistic": name, **_with_ends({"value": one})} for name, one in own.estimates.items()],
    )


def _of_grades(judges: Mapping[str, LabelAgreement], level: str, leading: tuple[Column, ...]) -> list[Table]:
    """Return the grades that were given, and how each grade fares; of several judges with a column that names them."""
    labels = (*leading, Column("human", "human"))
    rows = [
        {"judge": judge, "human": format_exactly(grade)}
        | {format_exactly(other): n for other, n in zip(own.grades, own.confusion[place].tolist(), strict=True)}
        | _with_ends({name: own.by_grade[name][place] for name in OF_GRADES})
        for judge, own in judges.items()
        for place, grade in enumerate(own.grades)
    ]
    every = sorted({format_exactly(grade) for own in judges.values() for grade in own.grades}, key=float)
    grades = [Column(one, one, lambda row, one=one: row.get(one)) for one in every]
    both = [part for name in OF_GRADES for part in (Column(name, name), *_ends_of(name, level, 1))]
    return [
        tabulate(
            "confusion",
            labels,
            grades,
            rows,
            title="Documents by human grade (rows) and grade of"
            f" {'the judge' if leading else ' and '.join(judges)} (columns)",
        ),
        tabulate(
            "grades",
            labels,
            both,
            rows,
            title="By grade (inflation: mean grade of the judge - human grade)",
            is_extra=True,
        ),
    ]


def _of_conclusions(one: Conclusions, level: str, *, is_named: bool, is_extra: bool) -> Iterator[Table]:
    """Return the systems under both labels, and the pairs on which they differ."""
    of = f"{one.measure.label}, {one.judge}" if is_named else one.measure.label
    keyed = f" of {one.judge}, {one.measure.label}" if is_named else ""
    systems = [
        {
            "judge": one.judge,
            "measure": one.measure.label,
            "system": bias.system,
            "human": bias.baseline_mean,
            "by_judge": bias.mean,
            "bias": bias.difference,
            "ci": span_of(bias),
            "known": bias.is_known,
            "favour": favour.difference,
            "p": p_value_cell(favour.p_adjusted, is_significant=favour.significant),
        }
        for bias, favour in zip(one.biases, one.favours, strict=True)
    ]
    columns = (
        Column("human", "human"),
        Column("by_judge", one.judge if not is_named else "judge"),
        Column("bias", "bias"),
        Column("ci", level, ends=("bias_low", "bias_high"), spare=1),
        Column("known", "known", is_data=True),
        Column("favour", "against others", spare=2),
        Column("p", "p", spare=2),
    )
    hidden = (JUDGE, MEASURE) if is_named else ()
    yield tabulate(
        f"systems{keyed}",
        (*hidden, SYSTEM),
        columns,
        systems,
        title=f"Systems by {of}",
        has_blocks=bool(hidden),
        is_extra=is_extra,
    )
    pairs = {(pair.system, pair.baseline): (pair, other) for pair, other in zip(one.human, one.by_judge, strict=True)}
    rows = [
        {
            "what": what,
            "system": system,
            "baseline": baseline,
            "human": pairs[system, baseline][0].difference,
            "human_p": p_value_cell(pairs[system, baseline][0].p_adjusted),
            "judge": pairs[system, baseline][1].difference,
            "judge_p": p_value_cell(pairs[system, baseline][1].p_adjusted),
        }
        for what, differing in (("reversed", one.reversed), ("lost", one.lost), ("false", one.false))
        for system, baseline in differing
    ]
    yield tabulate(
        f"pairs{keyed}",
        (Column("what", "judge"), SYSTEM, Column("baseline", "baseline")),
        (
            Column("human", "human"),
            Column("human_p", "p", spare=1),
            Column("judge", "by judge"),
            Column("judge_p", "p", spare=1),
        ),
        rows,
        title=f"Pairs on which they differ by {of}",
        is_extra=is_extra,
    )


def _named_intervals(
    found: JudgeAgreement, strata: Mapping[str, JudgeAgreement]
) -> Iterator[tuple[str, Estimate | Pair]]:
    """Give all intervals that are shown, each with what it is of."""
    for where, agreement in (("", found), *((f" ({name})", own) for name, own in strata.items())):
        for judge, own in agreement.judges.items():
            of = where if len(found.judges) == 1 else f" of {judge}{where}"
            yield from ((f"{name}{of}", one) for name, one in own.estimates.items())
            if where:  # strata have no tables of grades
                continue
            for name, estimates in own.by_grade.items():
                pairs = zip(own.grades.tolist(), estimates, strict=True)
                yield from ((f"{name} at grade {grade:g}{of}", one) for grade, one in pairs)
    yield from ((f"alpha of all, {name}", one) for name, one in found.together.items())
    for conclusions in found.conclusions:
        of = (
            conclusions.measure.label if len(found.judges) == 1 else f"{conclusions.measure.label}, {conclusions.judge}"
        )
        yield from ((f"bias of {bias.system} by {of}", bias) for bias in conclusions.biases)


def _facts(found: JudgeAgreement, strata: Mapping[str, JudgeAgreement]) -> list[Fact]:
    together = found.together or {}
    alphas = {
        name: {"value": finite(float(one)), "low": finite(one.low), "high": finite(one.high), "known": one.is_known}
        for name, one in together.items()
    }
    text = ", ".join(f"{name} {one!r}" for name, one in together.items())
    rel = next(iter(found.judges.values())).rel
    explained = STATISTICS if len(found.judges) == 1 else IN_TABLE
    return [
        *_of_documents(found),
        *([Fact("alpha_together", alphas, "alpha of all", text, brief=text)] if alphas else []),
        *map(_of_systems, found.conclusions),
        note_fact("bias", _describe_uneven(found.conclusions)),
        *tell_geometric(one.measure.label for one in found.conclusions),
        *(note_fact("labels", text) for text in found.notes),
        Fact("rel", rel, "relevant", f"from grade {rel:g} on"),
        prose_fact("statistics", "; ".join(f"{name} {STATISTICS[name]}" for name in explained)),
        prose_fact(
            "CI",
            "over queries: Gaffke's bounds of shares (agreement, precision, recall); others: jackknife, Student's t,"
            " which can be too narrow",
        ),
        *cannot_be_known((name, one) for name, one in _named_intervals(found, strata) if not np.isnan(one.low)),
    ]


def _describe_uneven(conclusions: Sequence[Conclusions]) -> str:
    """Say which judges labelled more or fewer documents than humans: part of their bias is due to these."""
    counts = {one.judge: one.n_labels for one in conclusions}
    uneven = [
        f"{judge} {n_judge:,} ({n_human:,} by humans)"
        for judge, (n_human, n_judge) in counts.items()
        if max(n_human, n_judge) > UNEVEN * min(n_human, n_judge)
    ]
    return f"in part due to documents that one side did not label: {format_list(uneven)}" if uneven else ""


def _of_documents(found: JudgeAgreement) -> Iterator[Fact]:
    """Say how many documents humans and each judge labelled; what holds for several judges is said once."""
    judges_by_text = group_values((_count_documents(found, judge), judge) for judge in found.judges)
    for text, judges in judges_by_text.items():
        whose = "" if len(judges_by_text) == 1 else f" ({format_list(judges)})"
        yield prose_fact("documents", text + whose)


def _count_documents(found: JudgeAgreement, judge: str) -> str:
    """Say how many documents humans and a judge labelled, and how many one of them alone."""
    own = found.judges[judge]
    text = f"{own.n_documents:,} of {format_count(len(own.query_ids), 'query', 'queries')} that both labelled"
    left_out = []
    if own.only_human:
        left_out.append(f"{own.only_human:,} that only {found.human} labelled")
    if own.only_judge:
        left_out.append(f"{own.only_judge:,} that only {'the judge' if len(found.judges) > 1 else judge} labelled")
    return f"{text}; left out {' and '.join(left_out)}" if left_out else text


def _of_systems(under: Conclusions) -> Fact:
    """Say how far the orders of systems by a judge's labels and by human ones agree."""
    name = f"{under.judge}, {under.measure.label}"
    told: dict[str, object] = {
        "tau_b": finite(under.tau_b),
        "tau_ap": finite(under.tau_ap),
        "separated": under.n_separated,
        "pairs": len(under.human),
        **{kind: [list(pair) for pair in getattr(under, kind)] for kind in ("reversed", "lost", "false")},
        "favoured": list(under.favoured),
        "tie_std": list(under.tie_std),
    }
    return Fact(
        f"conclusions_{name}",
        told,
        name,
        f"orders of {len(under.systems)} systems: tau_b {under.tau_b:.4f}, tau_ap {under.tau_ap:.4f}; tie std"
        f" {under.tie_std[0]:.4f} by humans, {under.tie_std[1]:.4f} by the judge",
    )
