"""The report of judges: how far their labels agree with human ones, and what follows from either for systems."""

from collections.abc import Iterator, Mapping

import numpy as np

from deadheat.core.report.cells import Cell, Span, finite_or_none, format_cell
from deadheat.core.report.interval_facts import tell_unknown_intervals
from deadheat.core.report.model import (
    QUERY,
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
from deadheat.core.report.totals import tell_geometric
from deadheat.core.structures import group_values
from deadheat.core.wording import format_count, format_exactly, format_list
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.judges.estimate import Estimate
from deadheat.plugins.judges.judge_agreement import JudgeAgreement
from deadheat.plugins.judges.label_agreement import OF_GRADES, STATISTICS, LabelAgreement
from deadheat.plugins.judges.report_of_conclusions import (
    JUDGE,
    describe_orders,
    describe_uneven_labels,
    find_worst,
    list_conclusions,
    list_differing_pairs,
    list_systems,
    make_headline,
    name_conclusion,
    summarise_conclusion,
)

SPARE_OF_SHOWN = {"kappa": 0, "quadratic_kappa": 0, "alpha": 1, "inflation": 1, "tau_b": 2, "agreement": 2}
"""The statistics that a table of judges shows to people, and how easily a narrow table does without each."""
SPARE_OF_HIDDEN = 3  # the statistics that people do not see
SPARE_OF_INTERVAL = 3  # more than that of its statistic: a narrow table drops intervals first


@registers_report(JudgeAgreement, in_brief=True)
def report_judges(
    agreement: JudgeAgreement,
    *,
    per_query: bool = False,
    strata: Mapping[str, JudgeAgreement] | None = None,
    for_people: bool = True,
) -> Report:
    """Return the report of judges.

    Parameters
    ----------
    agreement : JudgeAgreement
    per_query : bool, default False
        Whether a table of all queries comes after.
    strata : mapping of str to JudgeAgreement, optional
        By what they are called.
    for_people : bool, default True
        Whether one judge has a table of its own form; else the tables are the same for one and for several.
    """
    tables = _list_tables(agreement, strata or {}, for_people=for_people)
    if per_query:
        tables.append(_list_queries(agreement))
    if agreement.conclusions:
        headline = make_headline(find_worst(agreement.conclusions))
    else:
        headline = _describe_best(agreement.judges)
    summary = {}
    if not _has_table_of_conclusions(agreement, for_people=for_people):
        for conclusion in agreement.conclusions:
            summary[conclusion.measure.label] = summarise_conclusion(conclusion)
    return Report(
        tuple(table for table in tables if table.rows),
        tuple(_list_facts(agreement, strata or {})),
        headline=headline,
        summary=summarise(summary),
    )


def _has_table_of_conclusions(agreement: JudgeAgreement, *, for_people: bool) -> bool:
    """Whether several conclusions have a table of a row each; people see the tables of each in the full report only."""
    return for_people and len(agreement.conclusions) > 1


def _list_tables(agreement: JudgeAgreement, strata: Mapping[str, JudgeAgreement], *, for_people: bool) -> list[Table]:
    """Return the tables of the report but for that of all queries; some may have no rows."""
    first_judge = next(iter(agreement.judges.values()))
    ci_heading = level_heading(first_judge.confidence_level, set())
    has_table_of_conclusions = _has_table_of_conclusions(agreement, for_people=for_people)
    has_one_judge = len(agreement.judges) == 1
    tables = []
    if has_table_of_conclusions:
        tables.append(list_conclusions(agreement.conclusions))
    if has_one_judge and for_people:
        tables.append(_list_statistics_of_one(agreement.only, ci_heading))
    else:
        tables.append(_list_statistics(agreement.judges, ci_heading))
    if has_one_judge or not for_people:
        tables += _list_grades(agreement.judges, ci_heading, is_named=not for_people)
    for name, stratum_agreement in strata.items():
        tables.append(_list_statistics(stratum_agreement.judges, ci_heading, f"stratum_{name}", name))
    is_named = len(agreement.conclusions) > 1 or not for_people
    for conclusion in agreement.conclusions:
        is_extra = has_table_of_conclusions
        tables.append(list_systems(conclusion, ci_heading, is_named=is_named, is_extra=is_extra))
        tables.append(list_differing_pairs(conclusion, is_named=is_named, is_extra=is_extra))
    return tables


def _describe_best(judges: Mapping[str, LabelAgreement]) -> str:
    """Return how far the labels of the best judge agree with human ones, in few words."""
    kappas = {name: np.nan_to_num(judge.estimates["kappa"], nan=-1.0) for name, judge in judges.items()}
    best = max(kappas, key=lambda name: kappas[name])
    comparison = f"{best} against"
    if len(judges) > 1:
        comparison = f"Of {len(judges)} judges {best} agrees most with"
    kappa = format_cell(judges[best].estimates["kappa"], 2)
    n_documents = format_count(judges[best].n_documents, "document")
    return f"{comparison} human labels: kappa {kappa} on {n_documents}."


def _make_cells(estimates: Mapping[str, Estimate]) -> dict[str, Cell]:
    """Return the cells of estimates: the number of each, its interval, and whether that is known."""
    cells: dict[str, Cell] = dict(estimates)
    for name, estimate in estimates.items():
        cells[f"{name}_ci"] = Span(estimate.low, estimate.high, estimate.is_known)
        cells[f"{name}_known"] = estimate.is_known
    return cells


def _make_interval_column(name: str, ci_heading: str, *, spare: int, is_data: bool, is_extra: bool) -> Column:
    """Return the column of the interval of an estimate; the parameters are those of `Column`."""
    ends = (f"{name}_low", f"{name}_high")
    return Column(f"{name}_ci", ci_heading, ends=ends, spare=spare, is_data=is_data, is_extra=is_extra)


def _make_known_column(name: str) -> Column:
    """Return the column that tells programs whether the interval of an estimate is known."""
    return Column(f"{name}_known", f"{name} known", is_data=True)


def _list_statistics(
    judges: Mapping[str, LabelAgreement], ci_heading: str, key: str = "judges", title: str = ""
) -> Table:
    """Return a row for each judge, with all statistics and their intervals; people see those most asked for."""
    columns = [
        Column("n_documents", "documents"),
        Column("n_queries", "n_queries", is_data=True),
        Column("only_human", "only_human", is_data=True),
        Column("only_judge", "only_judge", is_data=True),
    ]
    for name in STATISTICS:
        is_data = name not in SPARE_OF_SHOWN
        spare = SPARE_OF_SHOWN.get(name, SPARE_OF_HIDDEN)
        spare_of_interval = spare + SPARE_OF_INTERVAL
        is_extra = name != "kappa"
        columns.append(Column(name, name.replace("_", " "), spare=spare, is_data=is_data))
        columns.append(
            _make_interval_column(name, ci_heading, spare=spare_of_interval, is_data=is_data, is_extra=is_extra)
        )
        columns.append(_make_known_column(name))
    rows: list[dict[str, Cell]] = []
    for name, judge in judges.items():
        counts: dict[str, Cell] = {
            "judge": name,
            "n_documents": judge.n_documents,
            "n_queries": len(judge.query_ids),
            "only_human": judge.only_human,
            "only_judge": judge.only_judge,
        }
        rows.append(counts | _make_cells(judge.estimates))
    return tabulate(key, (JUDGE,), columns, rows, title=title)


def _list_statistics_of_one(judge: LabelAgreement, ci_heading: str) -> Table:
    """Return the statistics of the only judge, with a row for each."""
    columns = (
        Column("value", judge.judge),
        Column("ci", ci_heading, lambda row: row["value_ci"]),
        Column("known", "known", lambda row: row["value_known"], is_data=True),
    )
    rows = []
    for name, estimate in judge.estimates.items():
        label: dict[str, Cell] = {"statistic": name}
        rows.append(label | _make_cells({"value": estimate}))
    return tabulate("judges", (Column("statistic", "statistic"),), columns, rows)


def _list_grades(judges: Mapping[str, LabelAgreement], ci_heading: str, *, is_named: bool) -> list[Table]:
    """Return a table of the grades that were given, and one of how each grade fares.

    Parameters
    ----------
    judges : mapping of str to LabelAgreement
    ci_heading : str
        Of the columns of intervals.
    is_named : bool
        Whether a column names the judge; if not there must be one alone.
    """
    labels: tuple[Column, ...] = (Column("human", "human"),)
    judge_in_title = " and ".join(judges)
    if is_named:
        labels = (JUDGE, *labels)
        judge_in_title = "the judge"
    confusion_title = f"Documents by human grade (rows) and grade of {judge_in_title} (columns)"
    grades_title = "By grade (inflation: mean grade of the judge - human grade)"
    grade_texts = _list_grade_texts(judges)
    confusion_columns = [Column(text, text) for text in grade_texts]
    grade_columns = []
    for statistic in OF_GRADES:
        grade_columns.append(Column(statistic, statistic))
        grade_columns.append(_make_interval_column(statistic, ci_heading, spare=1, is_data=False, is_extra=False))
        grade_columns.append(_make_known_column(statistic))
    rows = []
    for name, judge in judges.items():
        for place, grade in enumerate(judge.grades):
            row: dict[str, Cell] = dict.fromkeys(grade_texts)  # grades that came up with other judges only stay None
            row["judge"] = name
            row["human"] = format_exactly(grade)
            for judge_grade, n_documents in zip(judge.grades, judge.confusion[place].tolist(), strict=True):
                row[format_exactly(judge_grade)] = n_documents
            estimates = {statistic: judge.by_grade[statistic][place] for statistic in OF_GRADES}
            rows.append(row | _make_cells(estimates))
    return [
        tabulate("confusion", labels, confusion_columns, rows, title=confusion_title),
        tabulate("grades", labels, grade_columns, rows, title=grades_title, is_extra=True),
    ]


def _list_grade_texts(judges: Mapping[str, LabelAgreement]) -> list[str]:
    """Return all grades that humans or judges gave, as text, from the lowest to the highest."""
    texts: set[str] = set()
    for judge in judges.values():
        texts.update(map(format_exactly, judge.grades))
    return sorted(texts, key=float)


def _list_queries(agreement: JudgeAgreement) -> Table:
    """Return a row for each judge and query, with the statistics that a query has by itself."""
    frame = agreement.per_query()
    columns = []
    for name in frame.columns:
        if name not in {JUDGE.key, QUERY.key}:
            columns.append(Column(name, name.replace("_", " ")))
    return tabulate("queries", (JUDGE, QUERY), columns, frame.to_dicts(), title="Queries", has_blocks=True)


def _list_intervals(
    agreement: JudgeAgreement, strata: Mapping[str, JudgeAgreement]
) -> Iterator[tuple[str, Estimate | Pair]]:
    """Give all intervals that are shown, each with what it is of."""
    has_several_judges = len(agreement.judges) > 1
    for name, judge in agreement.judges.items():
        suffix = f" of {name}" if has_several_judges else ""
        yield from _list_estimates(judge, suffix, has_grades=True)
    for stratum, stratum_agreement in strata.items():
        for name, judge in stratum_agreement.judges.items():
            suffix = f" of {name} ({stratum})" if has_several_judges else f" ({stratum})"
            yield from _list_estimates(judge, suffix, has_grades=False)
    for level, alpha in agreement.together.items():
        yield f"alpha of all, {level}", alpha
    for conclusion in agreement.conclusions:
        conclusion_name = name_conclusion(conclusion, is_named=has_several_judges)
        for bias in conclusion.biases:
            yield f"bias of {bias.system} by {conclusion_name}", bias


def _list_estimates(judge: LabelAgreement, suffix: str, *, has_grades: bool) -> Iterator[tuple[str, Estimate]]:
    """Give the statistics of a judge, and those by grade where there is a table of grades; names end with `suffix`."""
    for statistic, estimate in judge.estimates.items():
        yield f"{statistic}{suffix}", estimate
    if has_grades:
        for statistic, estimates in judge.by_grade.items():
            for grade, estimate in zip(judge.grades.tolist(), estimates, strict=True):
                yield f"{statistic} at grade {grade:g}{suffix}", estimate


def _list_facts(agreement: JudgeAgreement, strata: Mapping[str, JudgeAgreement]) -> list[Fact]:
    """Return the facts below the tables."""
    first_judge = next(iter(agreement.judges.values()))
    explained_statistics = SPARE_OF_SHOWN if len(agreement.judges) > 1 else STATISTICS
    explanations = "; ".join(f"{name} {STATISTICS[name]}" for name in explained_statistics)
    facts = _count_documents(agreement)
    if agreement.together:
        facts.append(_describe_alphas(agreement.together))
    for conclusion in agreement.conclusions:
        facts.append(describe_orders(conclusion))
    facts.append(note_fact("bias", describe_uneven_labels(agreement.conclusions)))
    facts += tell_geometric(conclusion.measure.label for conclusion in agreement.conclusions)
    for note in agreement.notes:
        facts.append(note_fact("labels", note))
    facts.append(Fact("rel", first_judge.rel, "relevant", f"from grade {first_judge.rel:g} on"))
    facts.append(prose_fact("statistics", explanations))
    facts.append(
        prose_fact(
            "CI",
            "over queries: Gaffke's bounds of shares (agreement, precision, recall); others: jackknife, Student's t,"
            " which can be too narrow",
        )
    )
    intervals = []
    for name, interval in _list_intervals(agreement, strata):
        if not np.isnan(interval.low):
            intervals.append((name, interval))
    facts += tell_unknown_intervals(intervals)
    return facts


def _describe_alphas(alphas: Mapping[str, Estimate]) -> Fact:
    """Return Krippendorff's alpha over the humans and all judges at once, by how it takes the grades."""
    value = {}
    for name, alpha in alphas.items():
        value[name] = {
            "value": finite_or_none(float(alpha)),
            "low": finite_or_none(alpha.low),
            "high": finite_or_none(alpha.high),
            "known": alpha.is_known,
        }
    text = ", ".join(f"{name} {alpha!r}" for name, alpha in alphas.items())
    return Fact("alpha_together", value, "alpha of all", text, brief=text)


def _count_documents(agreement: JudgeAgreement) -> list[Fact]:
    """Say how many documents humans and each judge labelled; what holds for several judges is said once."""
    judges_by_text = group_values((_count_documents_of(agreement, judge), judge) for judge in agreement.judges)
    facts = []
    for text, judges in judges_by_text.items():
        judges_in_text = ""
        if len(judges_by_text) > 1:
            judges_in_text = f" ({format_list(judges)})"
        facts.append(prose_fact("documents", text + judges_in_text))
    return facts


def _count_documents_of(agreement: JudgeAgreement, name: str) -> str:
    """Say how many documents humans and a judge labelled, and how many one of them alone."""
    judge = agreement.judges[name]
    judge_in_text = name
    if len(agreement.judges) > 1:
        judge_in_text = "the judge"  # the same text for each judge with these counts
    n_queries = format_count(len(judge.query_ids), "query", "queries")
    text = f"{judge.n_documents:,} of {n_queries} that both labelled"
    left_out = []
    if judge.only_human:
        left_out.append(f"{judge.only_human:,} that only {agreement.human} labelled")
    if judge.only_judge:
        left_out.append(f"{judge.only_judge:,} that only {judge_in_text} labelled")
    if left_out:
        text += f"; left out {' and '.join(left_out)}"
    return text
