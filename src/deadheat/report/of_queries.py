"""Tables of the queries that decide a comparison, and of how sure the ranks of its systems are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from deadheat import arguments
from deadheat.comparison.comparison import Comparison
from deadheat.evaluation.strata import keys_of
from deadheat.report.conventions import drawn_with
from deadheat.report.model import MEASURE, QUERY, Cell, Column, Fact, Row, Share, Span, Table
from deadheat.report.of_comparison import BASELINE
from deadheat.report.of_systems import SYSTEM

KIND = Column("kind", "")
TEXT = Column("text", "text")
HEADINGS = {"best": "best", "worst": "worst", "ties": "by ties"}
Strata = Mapping[str | tuple[str, ...], Comparison]
Found = Mapping[str, object]


def list_queries(comparison: Comparison, n: int, texts: Mapping[str, str], *, for_people: bool) -> list[Table]:
    """Return the queries that decide each pair: a table of each pair for people, one of all for programs.

    Parameters
    ----------
    comparison : Comparison
    n : int
        Queries of each kind.
    texts : mapping of str to str
        The texts of queries, where there are any.
    for_people : bool
    """
    rows = comparison.queries(n).to_dicts()
    if not for_people:
        return [_as_data(rows, texts)]
    pairs = groupby(rows, key=lambda row: (row["measure"], row["system"], row["baseline"]))
    return [_of_pair(key, list(own), texts) for key, own in pairs]


def _as_data(rows: Sequence[Found], texts: Mapping[str, str]) -> Table:
    numbers = ("difference", "value", "baseline_value")
    columns = (
        *(Column(name, name) for name in numbers),
        Column("ties", "ties", ends=("tie_min", "tie_max")),
        *((TEXT,) if texts else ()),
    )
    found = tuple(
        Row(
            tuple(str(row[name]) for name in ("system", "baseline", "measure", "kind", "query_id")),
            ((*(_number(row[name]) for name in numbers), _ties(row), *_text(row, texts)),),
        )
        for row in rows
    )
    return Table("queries", (SYSTEM, BASELINE, MEASURE, KIND, QUERY), columns, found)


def _of_pair(key: tuple[str, str, str], rows: Sequence[Found], texts: Mapping[str, str]) -> Table:
    measure, system, baseline = key
    columns = (
        Column("difference", "difference"),
        Column("value", system, spare=1),
        Column("baseline_value", baseline, spare=1),
        Column("ties", "tie orders", ends=("tie_min", "tie_max"), spare=2),
        *((TEXT,) if texts else ()),
    )
    found = tuple(
        Row(
            (HEADINGS[str(row["kind"])], str(row["query_id"])),
            (
                (
                    *(_number(row[name]) for name in ("difference", "value", "baseline_value")),
                    _ties(row),
                    *_text(row, texts),
                ),
            ),
        )
        for row in rows
    )
    title = f"{measure}: queries that decide, {system} - {baseline}"
    return Table("queries", (KIND, QUERY), columns, found, title=title, has_blocks=True)


def _number(value: object) -> Cell:
    return value if isinstance(value, float) else None


def _ties(row: Found) -> Cell:
    low, high = row["tie_min"], row["tie_max"]
    return Span(low, high) if isinstance(low, float) and isinstance(high, float) else None


def _text(row: Found, texts: Mapping[str, str]) -> tuple[str, ...]:
    return (texts.get(str(row["query_id"]), ""),) if texts else ()


def list_ranks(comparison: Comparison, columns: Sequence[str], strata: Strata | None = None) -> Table:
    """Return the rank of each system with its interval, the best first; of each stratum if there are any."""
    parts: Strata | Mapping[tuple[()], Comparison] = {(): comparison} if strata is None else strata
    rows = [row for stratum, part in parts.items() for row in _ranks(keys_of(stratum), part)]
    level = f"{100 * comparison.design.confidence_level:g}% CI"
    shown = (
        Column("rank", "rank"),
        Column("ci", level),
        Column("p_best", "P(best)"),
        Column("n_queries", "queries", spare=1),
    )
    leading = tuple(Column(name, name) for name in columns)
    return Table("ranks", (*leading, MEASURE, SYSTEM), shown, tuple(rows), title="Ranks", has_blocks=True)


def _ranks(labels: tuple[str, ...], part: Comparison) -> Iterator[Row]:
    for measure, own in groupby(part.rank_intervals().iter_rows(named=True), key=lambda row: row["measure"]):
        for row in sorted(own, key=lambda row: (row["rank"] is None, row["rank"])):
            is_known = row["rank"] is not None
            cells = (
                row["rank"],
                Span(row["low"], row["high"]) if is_known else None,
                Share(row["p_best"]) if is_known else None,
                row["n_queries"],
            )
            yield Row((*labels, measure, row["system"]), (cells,))


def tell_ranks(comparison: Comparison) -> Fact:
    """Say how the intervals of ranks were made."""
    design = comparison.design
    seed = arguments.whole(design.rng)
    units = "queries" if comparison.cluster is None else "clusters"
    how = f"bootstrap over {units}, with the ties of every drawn query broken at random"
    text = f"by the exact mean; {how}, {design.n_resamples:,} resamples{drawn_with(seed)}"
    return Fact("", None, "ranks", text)
