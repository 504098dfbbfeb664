"""Reports of the ties of one run: how many there are, what they decide, and every order of one query."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial

from deadheat.core.evaluation.rule_difference import RuleDifference
from deadheat.core.report.cells import Cell, count_cell, format_cell, share_cell
from deadheat.core.report.conventions import TIE_HEADINGS, describe_ties
from deadheat.core.report.data_facts import tell_unshared, warn_of_nothing_judged
from deadheat.core.report.model import (
    MEASURE,
    QUERY,
    Column,
    Fact,
    Report,
    Table,
    prose_fact,
    registers_report,
    summarise,
    tabulate,
)
from deadheat.core.report.totals import TIE_NUMBERS, mean_cell, mean_heading, measure_cell, tell_counts, tie_range_cell
from deadheat.core.wording import BROKEN_BY, format_count
from deadheat.plugins.ties.decided import Decided
from deadheat.plugins.ties.orders import TieOrders
from deadheat.plugins.ties.profile import CountRange, TieProfile
from deadheat.plugins.ties.stability import RULE_OF_THUMB, VISIBLE, Recommendation, Stability

FEW_DECIMALS = 3  # with so few, and a thousand documents, ties are to be expected
COLUMNS = {
    "share": "queries whose value depends on the order",
    "of error": "share of the mean's squared standard error that breaking ties at random would be due to",
    "mean, max, std size": "of the queries' differences, rule less exact; std: of their values (divisor: n - 1)",
}
OF_QUERY = (
    Column("n_documents", "docs"),
    Column("n_ties", "ties"),
    Column("n_tied", "tied", is_data=True),
    Column("largest_tie", "largest"),
    Column("tie_ratio", "ratio", lambda row: share_cell(row["tie_ratio"])),
    Column("n_orders", "orders", spare=1),
    Column("log10_orders", "log10", spare=2),
)
TIES = tuple(Column(key, key.replace("_", " ")) for key in TIE_NUMBERS)


def report_orders(listed: TieOrders, query_id: str) -> Report:
    """Return the report of every order of the ties of one query."""
    columns = [Column("first_relevant", "first relevant")]
    mean_texts = []
    for label, values in listed.by_measure.items():
        columns.append(Column(label, label))
        mean_texts.append(f"{label} {format_cell(float(values.mean()))}")
    table = tabulate(
        "orders",
        (Column("order", "order", lambda row: " ".join(row["order"])),),
        columns,
        listed.to_polars().to_dicts(),
        main=1,
    )
    means = ", ".join(mean_texts)
    n_orders = format_count(len(listed.orders), "order")
    return Report(
        (table,),
        (replace(prose_fact("mean over the orders", means), brief=means),),
        heading=f"{n_orders} of the ties of query {query_id}, equally likely",
    )


@registers_report(TieProfile, in_brief=True)
def report_profile(
    profile: TieProfile,
    *,
    every_measure: bool = False,
    missing: str = "empty",
    per_query: bool = False,
    digits: int | None = None,
) -> Report:
    """Return the report of a tie profile.

    Parameters
    ----------
    profile : TieProfile
    every_measure : bool, default False
        Whether the worst queries are listed for every measure, or for the first one only.
    missing : str, default "empty"
        How the queries that the run lacks were counted.
    per_query : bool, default False
        Whether a table of all queries comes first.
    digits : int, optional
        Decimals of the numbers in sentences.
    """
    tables = []
    if per_query:
        tables.append(_tabulate_queries(profile))
    tables.append(_tabulate_cutoffs(profile))
    if profile.decided:
        tables.append(_tabulate_measures(profile.decided))
    tables.append(_tabulate_worst(profile.decided if every_measure else profile.decided[:1]))
    if profile.decided:
        tables.append(_tabulate_stability(profile))
        tables.append(_tabulate_correlations(profile))
    facts = _recommend(profile)
    facts += _list_facts(profile, missing)
    facts += tell_counts([decided.measure for decided in profile.decided])
    if profile.decided:
        facts += summarise(COLUMNS)
    n_queries = format_count(profile.n_queries, "query", "queries")
    n_documents = format_count(profile.n_documents, "document")
    return Report(
        tuple(table for table in tables if table.rows),
        tuple(facts),
        f"{profile.name}: {n_queries}, {n_documents}",
        headline=_headline(profile, digits),
        summary=summarise(_describe_ties(profile)),
    )


def _headline(profile: TieProfile, digits: int | None) -> str:
    """Say whether ties have to be counted exactly; empty without judgments."""
    recommendation = profile.recommendation
    if profile.rule is None:
        return ""
    if recommendation is None:
        reason = "no query has a relevant document" if profile.is_judged else "nothing that the run retrieves is judged"
        return f"No recommendation: {reason}."
    if recommendation.is_exact:
        low = format_cell(recommendation.low, digits)
        high = format_cell(recommendation.high, digits)
        return f"Count ties exactly: their order alone moves {recommendation.measure.label} between {low} and {high}."
    if any(decided.n_queries for decided in profile.decided):
        return f"Any rule for ties will do for means: their order moves none by {VISIBLE:g} or more."
    return "Any rule for ties will do: no order of equal scores changes any value."


def _describe_ties(profile: TieProfile) -> dict[str, str]:
    """Return how many queries and documents tie, the largest tie, and signs that scores are coarse."""
    facts = {}
    recommendation = profile.recommendation
    if recommendation is not None:
        n_queries = format_count(recommendation.n_queries, "query", "queries")
        facts["decided"] = f"{recommendation.measure.label} in {recommendation.n_decided:,} of {n_queries}"
    facts["queries with ties"] = _format_part(profile.n_queries_with_ties, profile.n_queries)
    tied_documents = _format_part(profile.n_tied, profile.n_documents)
    if profile.n_ties:
        tied_documents += f", in {format_count(profile.n_ties, 'tie')}"
    facts["documents in ties"] = tied_documents
    largest = profile.largest
    if largest:
        size = f"{largest.n_documents:,} documents with score {largest.score:.15g}"
        facts["largest tie"] = f"{size} in query {largest.query_id}"
    facts["scores"] = "; ".join(_describe_scores(profile))
    return facts


def _recommend(profile: TieProfile) -> list[Fact]:
    """Return for programs whether ties have to be counted exactly, and say what the rule of thumb says."""
    if profile.rule is None:
        return []
    facts = [Fact("recommendation", None)]
    if profile.recommendation is not None:
        facts = _describe_recommendation(profile.recommendation)
    facts.append(Fact("beside", profile.rule, "beside", f"{profile.rule}: {describe_ties(profile.rule, None)}"))
    measures_by_reason: dict[str, dict[str, None]] = {}
    for stability in profile.stability:
        for correlation in (stability.with_tie_ratio, stability.with_largest_tie):
            if correlation.undefined:
                measures = measures_by_reason.setdefault(correlation.undefined, {})
                measures[stability.difference.measure.label] = None
    reasons = [f"{', '.join(measures)}: {reason}" for reason, measures in measures_by_reason.items()]
    facts.append(prose_fact("no correlation", "; ".join(reasons)))
    return facts


def _describe_recommendation(recommendation: Recommendation) -> list[Fact]:
    """Say whether to count ties exactly, and what a rule that only counts queries with ties would say of it."""
    by_values = {
        "is_exact": recommendation.is_exact,
        "measure": recommendation.measure.label,
        "tie_min": recommendation.low,
        "tie_max": recommendation.high,
        "n_queries": recommendation.n_decided,
        "n_evaluated": recommendation.n_queries,
    }
    is_exact = recommendation.is_exact_by_rule_of_thumb
    by_rule = {
        "is_exact": is_exact,
        "percent": RULE_OF_THUMB,
        "n_queries_with_ties": recommendation.n_with_ties,
        "agrees": recommendation.agrees,
    }
    queries = _format_part(recommendation.n_with_ties, recommendation.n_of_run)
    advice = "count exactly" if is_exact else "any rule"
    text = f"{queries} queries with ties: {advice}"
    if not recommendation.agrees:
        text += "; wrong here"
    return [
        Fact("recommendation", by_values),
        Fact("rule_of_thumb", by_rule, f"{RULE_OF_THUMB}% rule", text),
    ]


def _list_facts(profile: TieProfile, missing: str) -> list[Fact]:
    """Return the numbers of a profile for programs, and for people those that have a line of their own."""
    facts = [
        Fact("run", profile.name),
        Fact("n_queries", profile.n_queries),
        Fact("n_documents", profile.n_documents),
        Fact("n_queries_with_ties", profile.n_queries_with_ties),
        Fact("n_tied", profile.n_tied),
        Fact("n_ties", profile.n_ties),
    ]
    facts += _describe_sizes(profile)
    facts += _describe_levels(profile)
    notes = "; ".join(profile.notes)
    facts.append(Fact("notes", list(profile.notes), "data", notes, is_note=True, brief=notes))
    if profile.decided:
        warning = "" if profile.is_judged else warn_of_nothing_judged(profile.name)
        facts.append(Fact("nothing_judged", not profile.is_judged, "WARNING", warning, is_warning=True))
        facts += tell_unshared([profile], missing, is_alone=True, is_note=False)
    return facts


def _describe_sizes(profile: TieProfile) -> list[Fact]:
    """Return how many ties a query has, and how large they are."""
    ties_of_query = ""
    largest_tie = None
    if profile.largest:
        mean = format_cell(profile.mean_ties, 2)
        mean_of_largest = format_cell(profile.mean_largest_tie, 2)
        ties_of_query = f"mean {mean}; mean size of the largest {mean_of_largest} (1: none tie)"
        largest_tie = asdict(profile.largest)
    tie_size = None
    size_text = ""
    if profile.tie_size:
        tie_size = asdict(profile.tie_size)
        size_text = _format_range(profile.tie_size)
    return [
        Fact("mean_ties", profile.mean_ties, "ties a query", ties_of_query),
        Fact("tie_size", tie_size, "documents a tie", size_text),
        Fact("largest_tie", largest_tie),
        Fact("mean_largest_tie", profile.mean_largest_tie),
    ]


def _describe_levels(profile: TieProfile) -> list[Fact]:
    """Return how many different scores there are, and how they are written."""
    distinct = profile.distinct_scores
    levels = [{"score": score, "n_documents": n} for score, n in profile.levels]
    return [
        Fact("distinct_scores", asdict(distinct), "distinct scores", f"{_format_range(distinct)} a query"),
        Fact("n_levels", profile.n_levels),
        Fact("levels", levels),
        Fact("decimals", profile.decimals),
        Fact("grid", profile.grid),
    ]


def _describe_scores(profile: TieProfile) -> list[str]:
    """Return signs that scores are coarser than a ranking needs; without one how fine they are."""
    decimals = profile.decimals
    written = "more than 15 decimals" if decimals is None else format_count(decimals, "decimal")
    signs = []
    if profile.levels:
        n_levels = format_count(profile.n_levels, "level")
        levels = ", ".join(f"{score:.15g} ({n:,})" for score, n in profile.levels)
        signs.append(f"{n_levels} in the whole run (documents): {levels}")
    if decimals == 0:
        signs.append("whole numbers")
    elif decimals is not None and decimals <= FEW_DECIMALS:
        signs.append(f"at most {written}")
    elif profile.grid:
        signs.append(f"{profile.grid} numbers, written with {written}")
    if not signs:
        n_scores = format_count(profile.n_levels, "distinct score")
        signs.append(f"{n_scores} in the whole run, {written}")
    return signs


def _format_part(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({format_cell(share_cell(part / whole))})"


def _format_range(counts: CountRange) -> str:
    if counts.min == counts.max:
        return f"{counts.min:,}"
    return f"{counts.min:,} to {counts.max:,}, median {counts.median:g}"


def _tabulate_cutoffs(profile: TieProfile) -> Table:
    return tabulate(
        "cutoffs",
        [Column("cutoff", "cutoff", lambda cut: str(cut.cutoff))],
        [Column("n_queries", "queries"), Column("share", "share", lambda cut: share_cell(cut.share))],
        profile.cuts,
        title="Queries in which the cutoff cuts a tie",
        is_extra=bool(profile.decided),
    )


def _tabulate_worst(measures: Sequence[Decided]) -> Table:
    """Return the queries that depend most on the order of ties, by some measures."""
    rows = []
    for decided in measures:
        for query in decided.worst:
            rows.append({"measure": decided.measure.label, "value": query.mean, **vars(query)})
    return tabulate(
        "worst_queries",
        (MEASURE, QUERY),
        (Column("value", "mean"), *TIES),
        rows,
        title="Queries that depend on it most",
        is_extra=True,
    )


def _tabulate_measures(measures: Sequence[Decided]) -> Table:
    """Return what the order of ties decides of each measure."""
    numbers_of_queries: set[int] = set()
    for decided in measures:
        numbers_of_queries |= {decided.scores.n_queries, len(decided.scores.query_ids)}
    heading = mean_heading([decided.measure for decided in measures])
    columns = [Column("value", heading, lambda decided: mean_cell(decided.scores))]
    for column in TIES:
        spare = 1 if column.key == "tie_std" else 0
        columns.append(replace(column, of=partial(_cell_of_scores, key=column.key), spare=spare))
    columns += [
        Column("range", "range", _find_range, spare=3, is_extra=True),
        Column("n_queries", "queries", spare=2),
        Column("share_of_queries", "share", lambda decided: share_cell(decided.share_of_queries)),
        Column("share_of_error", "of error", lambda decided: share_cell(decided.share_of_error)),
        Column("n_evaluated", "n", lambda decided: decided.scores.n_queries, is_detail=len(numbers_of_queries) < 2),
    ]
    if any(decided.measure.total for decided in measures):
        columns.append(Column("total", "total", _find_total, is_data=True))
    return tabulate(
        "measures",
        [replace(MEASURE, of=lambda decided: decided.measure.label)],
        columns,
        measures,
        title="What the order of ties decides",
    )


def _cell_of_scores(decided: Decided, key: str) -> Cell:
    return mean_cell(decided.scores, key)


def _find_range(decided: Decided) -> Cell:
    ends = tie_range_cell(decided.scores)
    return measure_cell(decided.measure, ends.high - ends.low)


def _find_total(decided: Decided) -> Cell:
    return mean_cell(decided.scores) if decided.measure.total else None


def _tabulate_stability(profile: TieProfile) -> Table:
    """Return the rule that breaks ties beside the exact values, by measure."""
    rule = profile.rule or ""
    heading = TIE_HEADINGS[rule]
    return tabulate(
        "stability",
        [replace(MEASURE, of=lambda difference: difference.measure.label)],
        (
            Column("exact", "exact", partial(_cell_of_difference, key="exact")),
            Column("traditional", heading, partial(_cell_of_difference, key="traditional")),
            Column("difference", "difference", partial(_cell_of_difference, key="difference")),
            Column("mean_difference", "mean size", lambda difference: difference.mean, spare=1, is_extra=True),
            Column("max_difference", "max size", lambda difference: difference.max, spare=1),
            Column("std_difference", "std size", lambda difference: difference.distance_std, spare=2, is_extra=True),
            Column("max_query", "query", lambda difference: difference.query_id or None, is_data=True),
            Column("std", "std", spare=3, is_extra=True),
            Column("traditional_std", f"std {heading}", spare=4, is_extra=True),
            Column("n_queries", "n", is_data=True),
        ),
        [stability.difference for stability in profile.stability],
        title=f"Ties broken {BROKEN_BY[rule]}, beside the exact values",
    )


def _cell_of_difference(difference: RuleDifference, key: str) -> Cell:
    return measure_cell(difference.measure, getattr(difference, key))


def _tabulate_correlations(profile: TieProfile) -> Table:
    """Return how the distance between both values goes with the ties of a query, by measure."""
    return tabulate(
        "correlations",
        [replace(MEASURE, of=lambda stability: stability.difference.measure.label)],
        (
            Column("tie_ratio", "tie ratio", lambda stability: stability.with_tie_ratio.value),
            Column("largest_tie", "largest tie", lambda stability: stability.with_largest_tie.value),
            Column("n_queries", "n", lambda stability: stability.with_tie_ratio.n_queries),
            Column("undefined", "undefined", _explain_undefined, is_detail=True),
        ),
        profile.stability,
        title="Pearson's correlation over queries of the size of the difference with",
        is_extra=True,
    )


def _explain_undefined(stability: Stability) -> str | None:
    """Return why a measure lacks correlations; None where it has both."""
    reasons = []
    for correlation in (stability.with_tie_ratio, stability.with_largest_tie):
        if correlation.undefined and correlation.undefined not in reasons:
            reasons.append(correlation.undefined)
    return "; ".join(reasons) or None


def _tabulate_queries(profile: TieProfile) -> Table:
    """Return the ties of every query, and beside a rule its exact values and those under the rule."""
    frame = profile.per_query()
    if profile.rule is None:
        return tabulate("per_query", [QUERY], OF_QUERY, frame.to_dicts(), title="Queries")
    columns = [OF_QUERY[0], Column("n_relevant", "rel"), *OF_QUERY[1:], Column("exact", "exact")]
    for column in TIES:
        columns.append(replace(column, is_data=True))
    columns += [
        Column("traditional", TIE_HEADINGS[profile.rule]),
        Column("difference", "difference"),
        Column("rule", "rule", is_data=True),
    ]
    labels_of_counts = {decided.measure.label for decided in profile.decided if decided.measure.total}
    rows = frame.sort("query_id", maintain_order=True).to_dicts()
    for row in rows:
        if row["measure"] in labels_of_counts:
            for name in ("exact", "traditional", "difference", *TIE_NUMBERS):
                row[name] = count_cell(row[name])
    return tabulate("per_query", [QUERY, MEASURE], columns, rows, title="Queries")


def add_second_key(report: Report, profile: TieProfile, keyed: TieProfile, name: str) -> Report:
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
    text = "nothing: no document is in a tie"
    if profile.n_tied:
        text = f"{keyed.n_tied:,} of {format_count(profile.n_tied, 'tied document')} still tie"
    value = {"name": name, "n_tied": keyed.n_tied, "n_queries_with_ties": keyed.n_queries_with_ties}
    facts = [*report.facts, Fact("then_by", value, f"then by {name}", text, brief=text)]
    for note in keyed.notes:
        if note not in profile.notes:
            facts.append(prose_fact("second key", note))
    tables = report.tables
    if profile.decided:
        tables = (*tables, _tabulate_second_key(profile, keyed, name))
    return replace(report, tables=tables, facts=tuple(facts))


def _tabulate_second_key(profile: TieProfile, keyed: TieProfile, name: str) -> Table:
    """Return what a second key makes of each measure, as :func:`add_second_key` takes it."""
    rows = []
    for decided, keyed_decided in zip(profile.decided, keyed.decided, strict=True):
        rows.append(
            {
                "measure": decided.measure.label,
                "value": decided.scores.reported(),
                "ties": tie_range_cell(decided.scores),
                "then_value": keyed_decided.scores.reported(),
                "then_ties": tie_range_cell(keyed_decided.scores),
            }
        )
    columns = (
        Column("value", "averaged"),
        Column("ties", "tie orders", ends=("tie_min", "tie_max"), spare=1),
        Column("then_value", "then by it"),
        Column("then_ties", "what still ties", ends=("then_tie_min", "then_tie_max"), spare=2),
        Column("difference", "difference", lambda row: row["then_value"] - row["value"]),
    )
    return tabulate("second_key", [MEASURE], columns, rows, title=f"what {name} decides as a second key", main=2)
