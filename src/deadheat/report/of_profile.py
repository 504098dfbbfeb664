"""The report of a tie profile."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, replace

from deadheat.profile import Correlation, Cut, Decided, Spread, TieProfile
from deadheat.profile.stability import RULE_OF_THUMB, VISIBLE
from deadheat.report.conventions import COUNTED, LEFT_OUT, RULES, broken_by, nothing_judged
from deadheat.report.model import MEASURE, QUERY, Cell, Column, Fact, Report, Row, Share, Table
from deadheat.report.numbers import format_cell, listed
from deadheat.report.totals import TOTAL, count_cell, mean_heading, reported, tell_counts
from deadheat.wording import BROKEN_BY, counted

FEW_DECIMALS = 3  # with so few, and a thousand documents, ties are to be expected
SHARES = (
    "share: of the queries, those whose value depends on the order; of error: if ties were broken at random, the part"
    " of the squared standard error of the mean that would be due to it."
)
CORRELATED = "Pearson's correlation over queries of the size of the difference with"
OF_QUERY = (
    Column("n_documents", "docs"),
    Column("n_ties", "ties"),
    Column("n_tied", "tied", is_data=True),
    Column("largest_tie", "largest"),
    Column("tie_ratio", "ratio"),
)
VALUE = (
    Column("value", "mean"),
    Column("tie_std", "tie std"),
    Column("tie_min", "tie min"),
    Column("tie_max", "tie max"),
)


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
    tables = [_per_query(profile)] if per_query else []
    tables += [_cutoffs(profile.cuts)] if profile.cuts else []
    if profile.decided:
        listed = profile.decided if every_measure else profile.decided[:1]
        tables += [_measures(profile.decided), *([_worst(listed)] if any(one.worst for one in listed) else [])]
        tables += [_stability(profile), _correlations(profile)]
    heading = (
        f"{profile.name}: {counted(profile.n_queries, 'query', 'queries')}, {counted(profile.n_documents, 'document')}"
    )
    closing = f"{SHARES}\n{_sizes(profile)}" if profile.decided else ""
    of_counts = tell_counts([one.measure for one in profile.decided])
    of_stability = (*_recommended(profile, digits), *_beside(profile))
    facts = (*of_stability, *_facts(profile), *_coarse(profile), *_not_shared(profile, missing), *of_counts)
    return Report(tuple(tables), facts, heading, closing, facts_first=True)


def _recommended(profile: TieProfile, digits: int | None) -> Iterator[Fact]:
    """Say whether ties have to be counted exactly, with the reason, and what the rule of thumb says."""
    if profile.rule is None:
        return
    found = profile.recommendation
    if found is None:
        why = "no query has a relevant document" if profile.is_judged else "nothing that the run retrieves is judged"
        yield Fact("recommendation", None, "recommendation", f"none: {why}")
        return
    n_decided, n_queries, low, high = found.n_decided, found.n_queries, found.low, found.high
    value = {"is_exact": found.is_exact, "measure": found.measure.label, "tie_min": low, "tie_max": high}
    value |= {"n_queries": n_decided, "n_evaluated": n_queries}
    ends = " and ".join(format_cell(end, digits) for end in (low, high))
    if found.is_exact:
        text = f"count ties exactly: their order alone moves {found.measure.label} between {ends}"
        text += f", and decides it in {n_decided:,} of {counted(n_queries, 'query', 'queries')}"
    elif any(one.n_queries for one in profile.decided):
        text = f"any rule for ties will do for means: their order moves none by {VISIBLE:g} or more"
        text += f", but decides {found.measure.label} in {n_decided:,} of {counted(n_queries, 'query', 'queries')}"
    else:
        text = "any rule for ties will do: no order of equal scores changes any value"
    yield Fact("recommendation", value, "recommendation", text)
    yield from _rule_of_thumb(profile)


def _rule_of_thumb(profile: TieProfile) -> Iterator[Fact]:
    """Say what a rule that only counts the queries with ties would recommend."""
    found = profile.recommendation
    if found is None:
        return
    is_exact, n_with_ties, n_of_run = found.is_exact_by_rule_of_thumb, found.n_with_ties, found.n_of_run
    value = {"is_exact": is_exact, "percent": RULE_OF_THUMB, "n_queries_with_ties": n_with_ties, "agrees": found.agrees}
    limit = f"{RULE_OF_THUMB}%"
    text = f"{n_with_ties:,} of {counted(n_of_run, 'query', 'queries')} ({format_cell(Share(n_with_ties / n_of_run))})"
    text += f" {'has' if n_with_ties == 1 else 'have'} ties, "
    text += f"more than {limit}: count ties exactly" if is_exact else f"not more than {limit}: any rule will do"
    if not found.agrees:
        text += "; it counts ties that decide nothing too" if is_exact else "; it does not see what these ties decide"
    yield Fact("rule_of_thumb", value, f"{limit} rule", text)


def _beside(profile: TieProfile) -> Iterator[Fact]:
    """Say which rule is beside the exact values, and which correlations are undefined."""
    if profile.rule is None:
        return
    yield Fact("beside", profile.rule, "beside", broken_by(profile.rule, None))
    reasons: dict[str, list[str]] = {}
    for one in profile.stability:
        for found in (one.with_tie_ratio, one.with_largest_tie):
            if found.undefined:
                reasons.setdefault(found.undefined, []).append(one.difference.measure.label)
    told = [f"{', '.join(dict.fromkeys(measures))}: {why}" for why, measures in reasons.items()]
    yield Fact("", None, "no correlation", "; ".join(told))


def _facts(profile: TieProfile) -> Iterator[Fact]:
    yield Fact("run", profile.name)
    yield Fact("n_queries", profile.n_queries)
    yield Fact("n_documents", profile.n_documents)
    queries, documents = profile.n_queries_with_ties, profile.n_tied
    yield Fact("n_queries_with_ties", queries, "queries with ties", _part(queries, profile.n_queries))
    text = _part(documents, profile.n_documents) + (f", in {counted(profile.n_ties, 'tie')}" if profile.n_ties else "")
    yield Fact("n_tied", documents, "documents in ties", text)
    yield Fact("n_ties", profile.n_ties)
    size, largest = profile.tie_size, profile.largest
    yield Fact("tie_size", asdict(size) if size else None, "documents a tie", _spread(size) if size else "")
    text = (
        f"{largest.n_documents:,} documents with score {largest.score:g} in query {largest.query_id}" if largest else ""
    )
    yield Fact("largest_tie", asdict(largest) if largest else None, "largest tie", text)
    yield Fact(
        "distinct_scores",
        asdict(profile.distinct_scores),
        "distinct scores",
        f"{_spread(profile.distinct_scores)} a query",
    )


def _coarse(profile: TieProfile) -> Iterator[Fact]:
    """Give the signs that the scores are coarser than a ranking needs."""
    yield Fact("n_levels", profile.n_levels)
    yield Fact("levels", [{"score": score, "n_documents": n} for score, n in profile.levels])
    yield Fact("decimals", profile.decimals)
    yield Fact("grid", profile.grid)
    signs = []
    if profile.levels:
        listed = ", ".join(f"{score:g} ({n:,})" for score, n in profile.levels)
        signs.append(f"{counted(profile.n_levels, 'level')} in the whole run (documents): {listed}")
    if profile.decimals is not None and profile.decimals <= FEW_DECIMALS:
        signs.append(f"at most {counted(profile.decimals, 'decimal')}" if profile.decimals else "whole numbers")
    elif profile.grid:
        written = "" if profile.decimals is None else f", written with {counted(profile.decimals, 'decimal')}"
        signs.append(f"{profile.grid} numbers{written}")
    for sign in signs or [_fine(profile)]:
        yield Fact("", None, "scores", sign)


def _not_shared(profile: TieProfile, missing: str) -> Iterator[Fact]:
    """Say what was assumed to read the data, and which queries only the qrels or only the run has."""
    yield Fact("notes", list(profile.notes), "data", "; ".join(profile.notes))
    if not profile.decided:
        return
    text = "" if profile.is_judged else nothing_judged(profile.name)
    yield Fact("nothing_judged", not profile.is_judged, "WARNING", text, is_warning=True)
    for key, heading, ids, effect in (
        ("missing_queries", "missing queries", profile.missing_queries, COUNTED[missing]),
        ("unjudged_queries", "unjudged queries", profile.unjudged_queries, LEFT_OUT),
    ):
        yield Fact(key, list(ids), heading, f"{len(ids):,} ({listed(ids)}), {effect}" if ids else "")


def _fine(profile: TieProfile) -> str:
    decimals = "more than 15 decimals" if profile.decimals is None else counted(profile.decimals, "decimal")
    return f"{counted(profile.n_levels, 'distinct score')} in the whole run, {decimals}"


def _part(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({format_cell(Share(part / whole))})"


def _spread(spread: Spread) -> str:
    if spread.min == spread.max:
        return f"{spread.min:,}"
    return f"{spread.min:,} to {spread.max:,}, median {spread.median:g}"


def _cutoffs(cuts: tuple[Cut, ...]) -> Table:
    rows = tuple(Row((str(cut.cutoff),), ((cut.n_queries, Share(cut.share)),)) for cut in cuts)
    columns = (Column("n_queries", "queries"), Column("share", "share"))
    title = "Queries in which the cutoff cuts a tie"
    return Table("cutoffs", (Column("cutoff", "cutoff"),), columns, rows, title=title)


def _measures(decided: tuple[Decided, ...]) -> Table:
    mean, tie_std, *extremes = VALUE
    columns: tuple[Column, ...] = (
        replace(mean, heading=mean_heading([one.measure for one in decided])),
        replace(tie_std, spare=1),
        *extremes,
        Column("range", "range", spare=3),
        Column("n_queries", "queries", spare=2),
        Column("share_of_queries", "share"),
        Column("share_of_error", "of error"),
    )
    has_counts = any(one.measure.total for one in decided)
    n_queries = {n for one in decided for n in (one.scores.n_queries, len(one.scores.query_ids))}
    columns += (Column("n_evaluated", "n", is_detail=len(n_queries) < 2), *([TOTAL] if has_counts else []))
    rows = tuple(Row((one.measure.label,), (_of_measure(one, has_counts=has_counts),)) for one in decided)
    return Table("measures", (MEASURE,), columns, rows, title="What the order of ties decides")


def _of_measure(one: Decided, *, has_counts: bool) -> tuple[Cell, ...]:
    numbers = [reported(one.scores, name) for name in ("", "tie_std", "tie_min", "tie_max")]
    numbers.append(numbers[-1] - numbers[-2])
    cells = [count_cell(number) if one.measure.total else number for number in numbers]
    total = [cells[0] if one.measure.total else None] if has_counts else []
    shares = one.n_queries, Share(one.share_of_queries), Share(one.share_of_error)
    return (*cells, *shares, one.scores.n_queries, *total)


def _worst(decided: tuple[Decided, ...]) -> Table:
    rows = [
        Row((one.measure.label, query.query_id), ((query.mean, query.tie_std, query.tie_min, query.tie_max),))
        for one in decided
        for query in one.worst
    ]
    return Table("worst_queries", (MEASURE, QUERY), VALUE, tuple(rows), title="Queries that depend on it most")


def _sizes(profile: TieProfile) -> str:
    return (
        f"difference: {RULES[profile.rule or '']}, less exact; mean size and max size: of the queries' differences;"
        " std: over queries (n - 1)."
    )


def _stability(profile: TieProfile) -> Table:
    rule = RULES[profile.rule or ""]
    columns = (
        Column("exact", "exact"),
        Column("traditional", rule),
        Column("difference", "difference"),
        Column("mean_difference", "mean size", spare=1),
        Column("max_difference", "max size", spare=1),
        Column("max_query", "query", is_data=True),
        Column("std", "std", spare=2),
        Column("traditional_std", f"std {rule}", spare=3),
        Column("n_queries", "n", is_data=True),
    )
    title = f"Ties broken {BROKEN_BY[profile.rule or '']}, beside the exact values"
    rows = []
    for found in (one.difference for one in profile.stability):
        levels: tuple[float, ...] = (found.exact, found.traditional, found.difference)
        shown = tuple(map(count_cell, levels)) if found.measure.total else levels
        sizes = (found.mean, found.max, found.query_id or None, found.std, found.traditional_std)
        rows.append(Row((found.measure.label,), ((*shown, *sizes, found.n_queries),)))
    return Table("stability", (MEASURE,), columns, tuple(rows), title=title)


def _correlations(profile: TieProfile) -> Table:
    columns = (
        Column("tie_ratio", "tie ratio"),
        Column("largest_tie", "largest tie"),
        Column("n_queries", "n"),
        Column("undefined", "undefined", is_detail=True),
    )
    rows = tuple(
        Row((one.difference.measure.label,), (_correlated(one.with_tie_ratio, one.with_largest_tie),))
        for one in profile.stability
    )
    return Table("correlations", (MEASURE,), columns, rows, title=CORRELATED)


def _correlated(ratio: Correlation, largest: Correlation) -> tuple[Cell, ...]:
    why = "; ".join(dict.fromkeys(one.undefined for one in (ratio, largest) if one.undefined))
    return ratio.value, largest.value, ratio.n_queries, why or None


def _per_query(profile: TieProfile) -> Table:
    frame = profile.per_query()
    labels: tuple[Column, ...] = (QUERY,)
    columns: tuple[Column, ...] = OF_QUERY
    if profile.rule is not None:
        labels = (QUERY, MEASURE)
        columns = (
            OF_QUERY[0],
            Column("n_relevant", "rel"),
            *OF_QUERY[1:],
            Column("exact", "exact"),
            *(replace(column, is_data=True) for column in VALUE[1:]),
            Column("traditional", RULES[profile.rule]),
            Column("difference", "difference"),
            Column("rule", "rule", is_data=True),
        )
        frame = frame.sort("query_id", maintain_order=True)
    counts = {one.measure.label for one in profile.decided if one.measure.total}
    rows = tuple(
        Row(
            tuple(str(row[label.key]) for label in labels),
            (tuple(_of_query(row, column.key, counts) for column in columns),),
        )
        for row in frame.iter_rows(named=True)
    )
    return Table("per_query", labels, columns, rows, title="Queries")


def _of_query(row: dict[str, Cell], key: str, counts: set[str]) -> Cell:
    value = row[key]
    if isinstance(value, float) and not math.isnan(value):
        if key == "tie_ratio":
            return Share(value)
        return count_cell(value) if row.get("measure") in counts else value
    return value
