"""The report of judges: how far their labels agree with human ones, and what follows from either."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from operator import itemgetter

import numpy as np

from deadheat.comparison.judges import OF_GRADES, STATISTICS, Conclusions, Estimate, JudgeAgreement, LabelAgreement
from deadheat.errors import counted, three
from deadheat.report.conventions import finite
from deadheat.report.model import (
    MEASURE,
    QUERY,
    SYSTEM,
    Cell,
    Column,
    Fact,
    Report,
    Span,
    Table,
    format_cell,
    note,
    p_value,
    said,
    shows,
    tabulate,
)
from deadheat.report.score_tables import level_heading

JUDGE = Column("judge", "judge")
MEANT = "; ".join(f"{name} {text}" for name, text in STATISTICS.items())


@shows(JudgeAgreement)
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
    if len(found.judges) == 1 and for_people:
        tables = [_of_one(found.only, level), *_of_grades(found.judges, level, ())]
    else:
        tables = [_statistics(found.judges, level), *(() if for_people else _of_grades(found.judges, level, (JUDGE,)))]
    for name, own in (strata or {}).items():
        tables.append(_statistics(own.judges, level, f"stratum_{name}", name))
    for one in found.conclusions:
        tables += _of_conclusions(one, level, is_named=len(found.conclusions) > 1 or not for_people)
    if per_query:
        frame = found.per_query()
        columns = [Column(name, name.replace("_", " ")) for name in frame.columns[2:]]
        tables.append(tabulate("queries", (JUDGE, QUERY), columns, frame.to_dicts(), title="Queries", has_blocks=True))
    opening = " ".join(verdict_of(one) for one in found.conclusions)
    headline = in_short(found.conclusions[0]) if found.conclusions else _agreed(found.judges)
    return Report(tuple(tables), (*_facts(found),), opening=opening, headline=headline)


def _agreed(judges: Mapping[str, LabelAgreement]) -> str:
    """Return how far the labels of the best judge agree with human ones, in few words."""
    name = max(judges, key=lambda name: np.nan_to_num(judges[name].estimates["kappa"], nan=-1.0))
    of = f"Of {len(judges)} judges {name} agrees most with" if len(judges) > 1 else f"{name} against"
    kappa, n = judges[name].estimates["kappa"], counted(judges[name].n_documents, "document")
    return f"{of} human labels: kappa {format_cell(kappa, 2)} on {n}."


def in_short(one: Conclusions) -> str:
    """Return for which decisions a judge's labels suffice, in few words."""
    if not one.n_separated:
        return f"The human labels show no difference between systems: this says little about {one.judge}."
    if one.reversed:
        n = counted(len(one.reversed), "difference")
        return f"Do not decide by the labels of {one.judge} alone: they reverse {n}."
    if one.favoured:
        return f"{one.judge} favours {three(list(one.favoured))}: do not decide on it by these labels."
    if one.false:
        return f"{one.judge} finds {counted(len(one.false), 'difference')} that humans do not: look twice."
    return f"Human labels confirm every difference that {one.judge} finds."


def verdict_of(one: Conclusions) -> str:
    """Return for which decisions a judge's labels suffice, of these systems and queries."""
    by = f"By {one.measure.label} on {counted(len(one.query_ids), 'query', 'queries')}"
    if not one.n_separated:
        more = f", {one.judge} finds {len(one.false)}" if one.false else ""
        return f"{by} the human labels find no difference between systems{more}: this says little about {one.judge}."
    kept = one.n_separated - len(one.reversed) - len(one.lost)
    said_of = f"{by} {one.judge} confirms {kept} of {counted(one.n_separated, 'difference')} that the human labels find"
    found = {"reverses {}": one.reversed, "misses {}": one.lost, "finds {} that they do not": one.false}
    other = "".join(", " + text.format(len(pairs)) for text, pairs in found.items() if pairs)
    if one.reversed:
        end = "do not decide by its labels alone"
    elif one.favoured:
        end = f"do not decide on {three(list(one.favoured))} by its labels, which favour it over the others"
    elif one.false:
        end = "look twice at the differences that it finds; its order of the systems is that of the humans"
    else:
        end = "the human labels confirm every difference that it finds"
    return f"{said_of}{other}: {end}."


def _with_ends(found: Mapping[str, Estimate]) -> dict[str, Cell]:
    """Return the cells of some numbers, each with its interval."""
    return {**found, **{f"{name}_ci": Span(own.low, own.high) for name, own in found.items()}}


def _ends_of(name: str, level: str, spare: int) -> Column:
    """Return the column of the interval of a number."""
    return Column(f"{name}_ci", level, ends=(f"{name}_low", f"{name}_high"), spare=spare)


def _statistics(judges: Mapping[str, LabelAgreement], level: str, key: str = "judges", title: str = "") -> Table:
    """Return a row for each judge, with the intervals of what is most asked for."""
    spares = {"kappa": 0, "quadratic_kappa": 0, "alpha": 1, "inflation": 1, "tau_b": 2, "agreement": 2}
    counts = ("n_queries", "only_human", "only_judge")
    columns = [Column("n_documents", "documents"), *(Column(name, name, is_data=True) for name in counts)]
    for name in STATISTICS:
        spare, is_data = spares.get(name, 3), name not in spares
        columns += [
            Column(name, name.replace("_", " "), is_data=is_data, spare=spare),
            replace(_ends_of(name, level, spare + 3), is_data=is_data),
        ]
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
    rows = [{"statistic": name, **_with_ends({"value": one})} for name, one in own.estimates.items()]
    columns = (Column("value", own.judge), Column("ci", level, itemgetter("value_ci")))
    return tabulate("judges", (Column("statistic", "statistic"),), columns, rows)


def _of_grades(judges: Mapping[str, LabelAgreement], level: str, leading: tuple[Column, ...]) -> Iterator[Table]:
    """Return the grades that were given, and how each grade fares; of several judges with a column that names them."""
    human, counts, of_grades = Column("human", "human"), [], []
    for judge, own in judges.items():
        grades = [f"{grade:g}" for grade in own.grades]
        for n, grade in enumerate(grades):
            row = {"judge": judge, "human": grade}
            counts.append({**row, **dict(zip(grades, own.confusion[n].tolist(), strict=True))})
            of_grades.append({**row, **_with_ends({name: own.by_grade[name][n] for name in OF_GRADES})})
    named = " and ".join(judges) if not leading else "the judge"
    title = f"Documents by human grade (rows) and grade of {named} (columns)"
    every = sorted({f"{grade:g}" for own in judges.values() for grade in own.grades}, key=float)
    columns = [Column(one, one, lambda row, one=one: row.get(one)) for one in every]
    yield tabulate("confusion", (*leading, human), columns, counts, title=title)
    both = [part for name in OF_GRADES for part in (Column(name, name), _ends_of(name, level, 1))]
    title = "By grade (inflation: mean grade of the judge - human grade)"
    yield tabulate("grades", (*leading, human), both, of_grades, title=title)


def _of_conclusions(one: Conclusions, level: str, *, is_named: bool) -> Iterator[Table]:
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
            "ci": Span(bias.low, bias.high),
            "favour": favour.difference,
            "p": p_value(favour.p_adjusted, is_significant=favour.significant),
        }
        for bias, favour in zip(one.biases, one.favours, strict=True)
    ]
    columns = (
        Column("human", "human"),
        Column("by_judge", one.judge if not is_named else "judge"),
        Column("bias", "bias"),
        Column("ci", level, ends=("bias_low", "bias_high"), spare=1),
        Column("favour", "against others", spare=2),
        Column("p", "p", spare=2),
    )
    hidden = (JUDGE, MEASURE) if is_named else ()
    yield tabulate(
        f"systems{keyed}", (*hidden, SYSTEM), columns, systems, title=f"Systems by {of}", has_blocks=bool(hidden)
    )
    pairs = {(pair.system, pair.baseline): (pair, other) for pair, other in zip(one.human, one.by_judge, strict=True)}
    rows = [
        {
            "what": what,
            "system": system,
            "baseline": baseline,
            "human": pairs[system, baseline][0].difference,
            "human_p": p_value(pairs[system, baseline][0].p_adjusted),
            "judge": pairs[system, baseline][1].difference,
            "judge_p": p_value(pairs[system, baseline][1].p_adjusted),
        }
        for what, named in (("reversed", one.reversed), ("lost", one.lost), ("false", one.false))
        for system, baseline in named
    ]
    if rows:
        labels = (Column("what", "judge"), SYSTEM, Column("baseline", "baseline"))
        of_pairs = (
            Column("human", "human"),
            Column("human_p", "p", spare=1),
            Column("judge", "by judge"),
            Column("judge_p", "p", spare=1),
        )
        yield tabulate(f"pairs{keyed}", labels, of_pairs, rows, title=f"Pairs on which they differ by {of}")


def _facts(found: JudgeAgreement) -> Iterator[Fact]:
    for judge, one in found.judges.items():
        text = f"{one.n_documents:,} of {counted(len(one.query_ids), 'query', 'queries')} that both labelled"
        only = {found.human: one.only_human, judge: one.only_judge}
        left = " and ".join(f"{number:,} that only {who} labelled" for who, number in only.items() if number)
        yield said("documents" if len(found.judges) == 1 else judge, f"{text}; left out {left}" if left else text)
    if found.together:
        alphas = {
            name: {"value": finite(one.value), "low": finite(one.low), "high": finite(one.high)}
            for name, one in found.together.items()
        }
        text = ", ".join(f"{name} {one!r}" for name, one in found.together.items())
        yield Fact("alpha_together", alphas, "alpha of all", f"{text}: humans and all judges at once")
    for under in found.conclusions:
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
        human, judge = (f"{own:.4f}" for own in under.tie_std)
        text = (
            f"tau_b {under.tau_b:.4f}, tau_ap {under.tau_ap:.4f} between the orders of {len(under.systems)} systems;"
            f" standard deviation over tie orders {human} by human labels, {judge} by the judge"
        )
        yield Fact(f"conclusions_{name}", told, name, text)
    for text in found.notes:
        yield note("labels", text)
    rel = next(iter(found.judges.values())).rel
    yield from (
        Fact("rel", rel, "relevant", f"from grade {rel:g} on"),
        said("statistics", MEANT),
        said("CI", "leaves out one query at a time, with Student's t: documents of a query are not independent"),
    )
