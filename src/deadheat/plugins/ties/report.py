"""Reports of the ties of one run: how many there are, what they decide, and every order of one query."""

from dataclasses import asdict, replace

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
from deadheat.core.report.totals import TIE_NUMBERS, as_cell, cell_of, mean_heading, span_of_ties, tell_counts
from deadheat.core.structures import group_values
from deadheat.core.wording import BROKEN_BY, format_count
from deadheat.plugins.ties.decided import Decided
from deadheat.plugins.ties.orders import TieOrders
from deadheat.plugins.ties.profile import CountRange, TieProfile
from deadheat.plugins.ties.stability import RULE_OF_THUMB, VISIBLE, Recommendation

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
    names = {"first_relevant": "first relevant", **{name: name for name in listed.by_measure}}
    table = tabulate(
        "orders",
        (Column("order", "order", lambda row: " ".join(row["order"])),),
        [Column(key, heading, lambda row, key=key: row[key]) for key, heading in names.items()],
        listed.to_polars().to_dicts(),
        main=1,
    )
    means = ", ".join(f"{name} {format_cell(float(found.mean()))}" for name, found in listed.by_measure.items())
    return Report(
        (table,),
        (replace(prose_fact("mean over the orders", means), brief=means),),
        heading=f"{format_count(len(listed.orders), 'order')} of the ties of query {query_id}, equally likely",
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
    worst = [
        {"measure": one.measure.label, "value": query.mean, **vars(query)}
        for one in (profile.decided if every_measure else profile.decided[:1])
        for query in one.worst
    ]
    tables = [
        *([_per_query(profile)] if per_query else []),
        tabulate(
            "cutoffs",
            [Column("cutoff", "cutoff", lambda cut: str(cut.cutoff))],
            [Column("n_queries", "queries"), Column("share", "share", lambda cut: share_cell(cut.share))],
            profile.cuts,
            title="Queries in which the cutoff cuts a tie",
            is_extra=bool(profile.decided),
        ),
        *([_measures(profile.decided)] if profile.decided else []),
        tabulate(
            "worst_queries",
            (MEASURE, QUERY),
            (Column("value", "mean"), *TIES),
            worst,
            title="Queries that depend on it most",
            is_extra=True,
        ),
        *([_stability(profile), _correlations(profile)] if profile.decided else []),
    ]
    return Report(
        tuple(one for one in tables if one.rows),
        (
            *_recommended(profile),
            *_facts(profile, missing),
            *tell_counts([one.measure for one in profile.decided]),
            *(summarise(COLUMNS) if profile.decided else ()),
        ),
        f"{profile.name}: {format_count(profile.n_queries, 'query', 'queries')},"
        f" {format_count(profile.n_documents, 'document')}",
        headline=_headline(profile, digits),
        summary=summarise(_describe_ties(profile)),
    )


def _headline(profile: TieProfile, digits: int | None) -> str:
    """Say whether ties have to be counted exactly; empty without judgments."""
    found = profile.recommendation
    if profile.rule is None:
        return ""
    if found is None:
        why = "no query has a relevant document" if profile.is_judged else "nothing that the run retrieves is judged"
        return f"No recommendation: {why}."
    if found.is_exact:
        low, high = format_cell(found.low, digits), format_cell(found.high, digits)
        return f"Count ties exactly: their order alone moves {found.measure.label} between {low} and {high}."
    if any(one.n_queries for one in profile.decided):
        return f"Any rule for ties will do for means: their order moves none by {VISIBLE:g} or more."
    return "Any rule for ties will do: no order of equal scores changes any value."


def _describe_ties(profile: TieProfile) -> dict[str, str]:
    """Return how many queries and documents tie, the largest tie, and signs that scores are coarse."""
    found, facts = profile.recommendation, {}
    if found is not None:
        decided = f"in {found.n_decided:,} of {format_count(found.n_queries, 'query', 'queries')}"
        facts["decided"] = f"{found.measure.label} {decided}"
    queries = _part(profile.n_queries_with_ties, profile.n_queries)
    facts["queries with ties"] = queries
    in_ties = f", in {format_count(profile.n_ties, 'tie')}" if profile.n_ties else ""
    facts["documents in ties"] = _part(profile.n_tied, profile.n_documents) + in_ties
    largest = profile.largest
    if largest:
        size = f"{largest.n_documents:,} documents with score {largest.score:.15g}"
        facts["largest tie"] = f"{size} in query {largest.query_id}"
    facts["scores"] = "; ".join(_describe_scores(profile))
    return facts


def _recommended(profile: TieProfile) -> list[Fact]:
    """Return for programs whether ties have to be counted exactly, and say what the rule of thumb says."""
    if profile.rule is None:
        return []
    reasons = group_values(
        (correlation.undefined, one.difference.measure.label)
        for one in profile.stability
        for correlation in (one.with_tie_ratio, one.with_largest_tie)
        if correlation.undefined
    )
    uncorrelated = "; ".join(f"{', '.join(dict.fromkeys(measures))}: {why}" for why, measures in reasons.items())
    return [
        *([Fact("recommendation", None)] if profile.recommendation is None else _rule_of_thumb(profile.recommendation)),
        Fact("beside", profile.rule, "beside", f"{profile.rule}: {describe_ties(profile.rule, None)}"),
        prose_fact("no correlation", uncorrelated),
    ]


def _rule_of_thumb(found: Recommendation) -> list[Fact]:
    """Say what a rule that only counts queries with ties would say of counting them exactly."""
    held = {
        "is_exact": found.is_exact,
        "measure": found.measure.label,
        "tie_min": found.low,
        "tie_max": found.high,
        "n_queries": found.n_decided,
        "n_evaluated": found.n_queries,
    }
    is_exact, n_with_ties, limit = found.is_exact_by_rule_of_thumb, found.n_with_ties, f"{RULE_OF_THUMB}%"
    text = f"{_part(n_with_ties, found.n_of_run)} queries with ties: {'count exactly' if is_exact else 'any rule'}"
    if not found.agrees:
        text += "; wrong here"
    by_rule = {
        "is_exact": is_exact,
        "percent": RULE_OF_THUMB,
        "n_queries_with_ties": n_with_ties,
        "agrees": found.agrees,
    }
    return [
        Fact("recommendation", held),
        Fact("rule_of_thumb", by_rule, f"{limit} rule", text),
    ]


def _facts(profile: TieProfile, missing: str) -> list[Fact]:
    size, largest, distinct = profile.tie_size, profile.largest, profile.distinct_scores
    of_query = ""
    if largest:
        mean, mean_of_largest = format_cell(profile.mean_ties, 2), format_cell(profile.mean_largest_tie, 2)
        of_query = f"mean {mean}; mean size of the largest {mean_of_largest} (1: none tie)"
    data = "; ".join(profile.notes)
    facts = [
        Fact("run", profile.name),
        Fact("n_queries", profile.n_queries),
        Fact("n_documents", profile.n_documents),
        Fact("n_queries_with_ties", profile.n_queries_with_ties),
        Fact("n_tied", profile.n_tied),
        Fact("n_ties", profile.n_ties),
        Fact("mean_ties", profile.mean_ties, "ties a query", of_query),
        Fact("tie_size", asdict(size) if size else None, "documents a tie", _spread(size) if size else ""),
        Fact("largest_tie", asdict(largest) if largest else None),
        Fact("mean_largest_tie", profile.mean_largest_tie),
        Fact("distinct_scores", asdict(distinct), "distinct scores", f"{_spread(distinct)} a query"),
        Fact("n_levels", profile.n_levels),
        Fact("levels", [{"score": score, "n_documents": n} for score, n in profile.levels]),
        Fact("decimals", profile.decimals),
        Fact("grid", profile.grid),
        Fact("notes", list(profile.notes), "data", data, is_note=True, brief=data),
    ]
    if profile.decided:
        unjudged = "" if profile.is_judged else warn_of_nothing_judged(profile.name)
        facts.append(Fact("nothing_judged", not profile.is_judged, "WARNING", unjudged, is_warning=True))
        facts += tell_unshared([profile], missing, is_alone=True, is_note=False)
    return facts


def _describe_scores(profile: TieProfile) -> list[str]:
    """Return signs that scores are coarser than a ranking needs; without one how fine they are."""
    decimals = profile.decimals
    levels = ", ".join(f"{score:.15g} ({n:,})" for score, n in profile.levels)
    written = "more than 15 decimals" if decimals is None else format_count(decimals, "decimal")
    has_few = decimals is not None and decimals <= FEW_DECIMALS
    signs = []
    if profile.levels:
        signs.append(f"{format_count(profile.n_levels, 'level')} in the whole run (documents): {levels}")
    if has_few:
        signs.append(f"at most {written}" if decimals else "whole numbers")
    elif profile.grid:
        signs.append(f"{profile.grid} numbers, written with {written}")
    return signs or [f"{format_count(profile.n_levels, 'distinct score')} in the whole run, {written}"]


def _part(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({format_cell(share_cell(part / whole))})"


def _spread(spread: CountRange) -> str:
    if spread.min == spread.max:
        return f"{spread.min:,}"
    return f"{spread.min:,} to {spread.max:,}, median {spread.median:g}"


def _measures(decided: tuple[Decided, ...]) -> Table:
    total = Column("total", "total", lambda one: as_cell(one.scores) if one.measure.total else None, is_data=True)
    n_queries = {n for one in decided for n in (one.scores.n_queries, len(one.scores.query_ids))}
    return tabulate(
        "measures",
        [replace(MEASURE, of=lambda one: one.measure.label)],
        (
            Column("value", mean_heading([one.measure for one in decided]), lambda one: as_cell(one.scores)),
            *(
                replace(one, of=lambda row, key=one.key: as_cell(row.scores, key), spare=int(one.key == "tie_std"))
                for one in TIES
            ),
            Column("range", "range", _range, spare=3, is_extra=True),
            Column("n_queries", "queries", spare=2),
            Column("share_of_queries", "share", lambda one: share_cell(one.share_of_queries)),
            Column("share_of_error", "of error", lambda one: share_cell(one.share_of_error)),
            Column("n_evaluated", "n", lambda one: one.scores.n_queries, is_detail=len(n_queries) < 2),
            *([total] if any(one.measure.total for one in decided) else []),
        ),
        decided,
        title="What the order of ties decides",
    )


def _range(one: Decided) -> Cell:
    ends = span_of_ties(one.scores)
    return cell_of(one.measure, ends.high - ends.low)


def _stability(profile: TieProfile) -> Table:
    rule = TIE_HEADINGS[profile.rule or ""]
    return tabulate(
        "stability",
        [replace(MEASURE, of=lambda one: one.measure.label)],
        (
            *(
                Column(key, heading, lambda one, key=key: cell_of(one.measure, getattr(one, key)))
                for key, heading in (("exact", "exact"), ("traditional", rule), ("difference", "difference"))
            ),
            Column("mean_difference", "mean size", lambda one: one.mean, spare=1, is_extra=True),
            Column("max_difference", "max size", lambda one: one.max, spare=1),
            Column("std_difference", "std size", lambda one: one.distance_std, spare=2, is_extra=True),
            Column("max_query", "query", lambda one: one.query_id or None, is_data=True),
            Column("std", "std", spare=3, is_extra=True),
            Column("traditional_std", f"std {rule}", spare=4, is_extra=True),
            Column("n_queries", "n", is_data=True),
        ),
        [one.difference for one in profile.stability],
        title=f"Ties broken {BROKEN_BY[profile.rule or '']}, beside the exact values",
    )


def _correlations(profile: TieProfile) -> Table:
    return tabulate(
        "correlations",
        [replace(MEASURE, of=lambda one: one.difference.measure.label)],
        (
            Column("tie_ratio", "tie ratio", lambda one: one.with_tie_ratio.value),
            Column("largest_tie", "largest tie", lambda one: one.with_largest_tie.value),
            Column("n_queries", "n", lambda one: one.with_tie_ratio.n_queries),
            Column(
                "undefined",
                "undefined",
                lambda one: (
                    "; ".join(
                        dict.fromkeys(filter(None, (one.with_tie_ratio.undefined, one.with_largest_tie.undefined)))
                    )
                    or None
                ),
                is_detail=True,
            ),
        ),
        profile.stability,
        title="Pearson's correlation over queries of the size of the difference with",
        is_extra=True,
    )


def _per_query(profile: TieProfile) -> Table:
    frame = profile.per_query()
    if profile.rule is None:
        return tabulate("per_query", [QUERY], OF_QUERY, frame.to_dicts(), title="Queries")
    columns = (
        OF_QUERY[0],
        Column("n_relevant", "rel"),
        *OF_QUERY[1:],
        Column("exact", "exact"),
        *(replace(column, is_data=True) for column in TIES),
        Column("traditional", TIE_HEADINGS[profile.rule]),
        Column("difference", "difference"),
        Column("rule", "rule", is_data=True),
    )
    counts = {one.measure.label for one in profile.decided if one.measure.total}
    values = ("exact", "traditional", "difference", *TIE_NUMBERS)
    rows = [
        row | ({name: count_cell(row[name]) for name in values} if row["measure"] in counts else {})
        for row in frame.sort("query_id", maintain_order=True).to_dicts()
    ]
    return tabulate("per_query", [QUERY, MEASURE], columns, rows, title="Queries")


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
    text = "nothing: no document is in a tie"
    if profile.n_tied:
        text = f"{keyed.n_tied:,} of {format_count(profile.n_tied, 'tied document')} still tie"
    value = {"name": name, "n_tied": keyed.n_tied, "n_queries_with_ties": keyed.n_queries_with_ties}
    facts = [
        Fact("then_by", value, f"then by {name}", text, brief=text),
        *(prose_fact("second key", one) for one in keyed.notes if one not in profile.notes),
    ]
    if not profile.decided:
        return replace(report, facts=(*report.facts, *facts))
    rows = [
        {
            "measure": one.measure.label,
            "value": one.scores.reported(),
            "ties": span_of_ties(one.scores),
            "then_value": then.scores.reported(),
            "then_ties": span_of_ties(then.scores),
        }
        for one, then in zip(profile.decided, keyed.decided, strict=True)
    ]
    columns = (
        Column("value", "averaged"),
        Column("ties", "tie orders", ends=("tie_min", "tie_max"), spare=1),
        Column("then_value", "then by it"),
        Column("then_ties", "what still ties", ends=("then_tie_min", "then_tie_max"), spare=2),
        Column("difference", "difference", lambda row: row["then_value"] - row["value"]),
    )
    table = tabulate("second_key", [MEASURE], columns, rows, title=f"what {name} decides as a second key", main=2)
    return replace(report, tables=(*report.tables, table), facts=(*report.facts, *facts))
