"""The report of a tie profile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace

from deadheat.profile import Cut, Decided, Spread, TieProfile
from deadheat.report.conventions import COUNTED, LEFT_OUT, nothing_judged
from deadheat.report.model import MEASURE, QUERY, Cell, Column, Fact, Report, Row, Share, Table
from deadheat.report.numbers import format_cell
from deadheat.report.totals import TOTAL, count_cell, mean_heading, reported, tell_counts
from deadheat.wording import counted, three

FEW_DECIMALS = 3  # with so few, and a thousand documents, ties are to be expected
SHARES = (
    "share: of the queries, those whose value depends on the order; of error: if ties were broken at random, the part"
    " of the squared standard error of the mean that would be due to it."
)
VALUE = (
    Column("value", "mean"),
    Column("tie_std", "tie std"),
    Column("tie_min", "tie min"),
    Column("tie_max", "tie max"),
)


def report_profile(profile: TieProfile, *, every_measure: bool = False, missing: str = "empty") -> Report:
    """Return the report of a tie profile.

    Parameters
    ----------
    profile : TieProfile
    every_measure : bool, default False
        Whether the worst queries are listed for every measure, or for the first one only.
    missing : str, default "empty"
        How the queries that the run lacks were counted.
    """
    tables = [_cutoffs(profile.cuts)] if profile.cuts else []
    if profile.decided:
        listed = profile.decided if every_measure else profile.decided[:1]
        tables += [_measures(profile.decided), *([_worst(listed)] if any(one.worst for one in listed) else [])]
    heading = (
        f"{profile.name}: {counted(profile.n_queries, 'query', 'queries')}, {counted(profile.n_documents, 'document')}"
    )
    closing = SHARES if profile.decided else ""
    of_counts = tell_counts([one.measure for one in profile.decided])
    facts = (*_facts(profile), *_coarse(profile), *_not_shared(profile, missing), *of_counts)
    return Report(tuple(tables), facts, heading, closing, facts_first=True)


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
        yield Fact(key, list(ids), heading, f"{len(ids):,} ({three(ids)}), {effect}" if ids else "")


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
