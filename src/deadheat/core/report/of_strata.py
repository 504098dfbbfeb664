"""What reports of evaluations say of strata and languages: averages over strata, and facts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from deadheat.core.data.queries import Queries
from deadheat.core.evaluation.strata import Strata
from deadheat.core.evaluation.strata_order import order_labels, sort_strata
from deadheat.core.evaluation.stratum import NONE, Stratum, label
from deadheat.core.libraries import polars as pl
from deadheat.core.report.cells import OF_FEW
from deadheat.core.report.data_facts import describe_queries
from deadheat.core.report.model import MEASURE, Column, Fact, Table, prose_fact, tabulate_groups
from deadheat.core.report.report_parts import report_parts_of
from deadheat.core.wording import format_list


@dataclass(frozen=True)
class Grouping:
    """How queries were grouped.

    Attributes
    ----------
    source : str
        Name of the queries table.
    strata : tuple of Strata
        Of each run; none if all queries are reported together.
    asked : tuple of str
        The stratum columns that were asked for.
    languages : tuple of str
        Of the evaluated queries.
    without_language : tuple of str
        Evaluated queries that have none, if others have one.
    pool_languages : bool
        Whether they may be averaged.
    has_other_use : bool
        Whether a column of the table tells languages, names clusters or holds weights.
    """

    source: str
    strata: tuple[Strata, ...] = ()
    asked: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    without_language: tuple[str, ...] = ()
    pool_languages: bool = False
    has_other_use: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The stratum columns."""
        return self.strata[0].columns if self.strata else ()

    @property
    def language_column(self) -> str | None:
        """The stratum column that holds the language."""
        column = self.strata[0].queries.language_column if self.strata else None
        return column if column in self.columns else None

    @property
    def is_by_language(self) -> bool:
        """Whether every stratum is a language."""
        return self.columns == (self.language_column,)


def group_strata(
    source: str,
    strata: Sequence[Strata],
    queries: Queries,
    query_ids: Sequence[str],
    *,
    asked: Sequence[str],
    pool_languages: bool | None = None,
    has_clusters: bool = False,
) -> Grouping:
    """Return how queries were grouped, with their languages.

    Parameters
    ----------
    source : str
        Name of the queries table.
    strata : sequence of Strata
        Of each run.
    queries : Queries
        The table.
    query_ids : sequence of str
        The evaluated queries.
    asked : sequence of str
        The stratum columns that were asked for.
    pool_languages : bool, optional
        Whether queries of several languages may be averaged together; by default whether the strata do so.
    has_clusters : bool, default False
        Whether a column of the table names clusters or holds weights.
    """
    languages = queries.languages(query_ids)
    if pool_languages is None:
        pool_languages = len(languages) > 1 and queries.language_column not in asked
    return Grouping(
        source,
        tuple(strata),
        asked=tuple(asked),
        languages=languages,
        without_language=queries.without_language(query_ids),
        pool_languages=pool_languages,
        has_other_use=has_clusters or bool(languages),
    )


def tabulate_averages(grouping: Grouping) -> Iterator[Table]:
    """Yield a table of averages over strata and of the variance between them, if there are any.

    If language is one of several columns, they are within each language. There is no mean over the queries of
    all languages unless they may be pooled. Of counts there are no averages.
    """
    if not grouping.strata:
        return
    measures = [measure.label for measure in grouping.strata[0].whole.measures if not measure.total]
    if not measures:
        return
    within = None if grouping.is_by_language else grouping.language_column
    averages_of_runs = [_index_averages(strata, within) for strata in grouping.strata]
    values = [""]
    if within:
        values = _order_values(averages_of_runs)
    rows = []
    for value in values:
        for measure in measures:
            labels = (value, measure) if value else (measure,)
            rows.append((labels, [averages.get((value, measure)) for averages in averages_of_runs]))
    leading = [Column(within, within)] if within else []
    averaged = [column for column in grouping.columns if column != within]
    title = f"Averages over {' and '.join(averaged)}"
    if within:
        title += f", within each {within}"
    yield tabulate_groups(
        "averages",
        (*leading, MEASURE),
        _columns_of_averages(grouping),
        rows,
        tuple(strata.whole.name for strata in grouping.strata),
        title=title,
        has_blocks=bool(within),
    )


def _index_averages(strata: Strata, within: str | None) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the averages of a run by the value of a column, or "" without one, and by measure."""
    averages = {}
    for row in strata.averages(within).rows(named=True):
        value = row[within] if within else ""
        averages[value, row["measure"]] = row
    return averages


def _order_values(averages_of_runs: Sequence[Mapping[tuple[str, str], object]]) -> list[str]:
    """Return the values within which averages are, of all runs, in the order of strata."""
    values = set()
    for averages in averages_of_runs:
        for value, _ in averages:
            values.add(value)
    labels = pl.Series(list(values), dtype=pl.String)
    return labels.gather(order_labels(labels)).to_list()


def _columns_of_averages(grouping: Grouping) -> list[Column]:
    """Return the columns of the table of averages."""
    columns = [Column("macro", "mean of languages" if grouping.is_by_language else "macro")]
    if not grouping.is_by_language or grouping.pool_languages:  # else a mean over all queries would mix languages
        columns.append(Column("micro", "micro"))
    columns += [
        Column("n_strata", "strata", is_data=True),
        Column("variance", "variance"),
        Column("std", "std", spare=2),
        Column("lowest", "lowest", spare=1),
        Column("highest", "highest", spare=1),
    ]
    return columns


def tell_grouping(grouping: Grouping) -> list[Fact]:
    """Return the facts about strata and languages."""
    facts = [Fact("queries_table", grouping.source), _tell_columns(grouping), _tell_languages(grouping)]
    if grouping.strata:
        facts += _tell_strata(grouping)
    return facts


def _tell_columns(grouping: Grouping) -> Fact:
    """Say by which columns strata are, or that there are none, unless the table has another use."""
    by = brief = ""
    if grouping.strata:
        by = f"by {' and '.join(grouping.columns)}, from {grouping.source}"
    elif not grouping.has_other_use:
        by = brief = f"none: --by names no column of {grouping.source}, which tells no language"
    return Fact("by", list(grouping.columns), "strata", by, brief=brief)


def _tell_languages(grouping: Grouping) -> Fact:
    """Say whether languages are averaged together; in brief only that queries without one are."""
    names = ", ".join(grouping.languages)
    is_one = len(grouping.languages) < 2
    lacking = () if grouping.strata else grouping.without_language
    text = brief = ""
    if is_one:
        if names and lacking:
            text = brief = f"{names}; {describe_queries(lacking)} without one averaged with it"
    elif grouping.language_column not in grouping.asked:
        if grouping.language_column is None:
            text = f"{names}: averaged together, as asked"
        else:
            text = f"{names}: kept apart; --pool-languages averages over them"
    return Fact("languages", list(grouping.languages), "languages", text, brief=brief)


def _tell_strata(grouping: Grouping) -> list[Fact]:
    """Say how strata were averaged, and which of them overlap or are small."""
    first = grouping.strata[0]
    facts: list[Fact] = []
    for report_part in report_parts_of(first.whole):
        facts += report_part.tell_of_strata(first)
    measures = first.whole.measures
    counts = [measure.label for measure in measures if measure.total]
    how = ""
    if len(counts) < len(measures):
        how = _describe_averages(grouping)
    none_of_counts = ""
    if counts:
        none_of_counts = f"none of {', '.join(counts)}: totals of strata of different sizes cannot be averaged"
    facts += [prose_fact("averages", how), prose_fact("averages", none_of_counts)]
    facts += tell_overlap(first.n_repeated)
    unassigned = sorted(set().union(*(strata.unassigned for strata in grouping.strata)))
    without = ""
    if unassigned:
        columns = " or ".join(grouping.columns)
        without = f"{describe_queries(unassigned)} without {columns}, not in macro and variance"
    facts.append(Fact("unassigned_queries", unassigned, NONE, without, is_note=True))
    fewest = _find_small(grouping.strata)
    n_by_stratum = {label(stratum): fewest[stratum] for stratum in sort_strata(fewest)}
    few = describe_small_strata(n_by_stratum, first.smallest)
    facts.append(Fact("small_strata", n_by_stratum, OF_FEW, few, brief=few))
    return facts


def _describe_averages(grouping: Grouping) -> str:
    """Return what the columns of the table of averages are."""
    if grouping.is_by_language:
        return "mean of languages: each counts the same; variance, std: of the languages' means (divisor: n)"
    return "macro: each stratum counts the same; micro: each query; variance, std: of the strata's means (divisor: n)"


def _find_small(strata_of_runs: Sequence[Strata]) -> dict[Stratum, int]:
    """Return the strata with few queries: the fewest of any run and measure."""
    fewest: dict[Stratum, int] = {}
    for strata in strata_of_runs:
        n_queries = np.min([strata.numbers(measure).n_queries for measure in strata.whole.measures], axis=0)
        is_small = n_queries < strata.smallest
        small_strata = compress(strata, is_small.tolist())
        for stratum, n in zip(small_strata, n_queries[is_small].tolist(), strict=True):
            fewest[stratum] = min(n, fewest.get(stratum, n))
    return fewest


def tell_overlap(n_twice: int) -> Iterator[Fact]:
    """Say how many more queries strata count than there are."""
    if n_twice:
        text = f"queries with several values count in each: {n_twice:,} more in all"
        yield Fact("overlap", n_twice, "overlap", text, brief=text)


def describe_small_strata(n_by_stratum: Mapping[str, int], smallest: int, unit: str = "queries") -> str:
    """Name strata with fewer than so many queries, with their numbers of queries; an empty string if there are none."""
    if not n_by_stratum:
        return ""
    names = format_list([f"{name} ({n})" for name, n in n_by_stratum.items()], between="; ")
    return f"fewer than {smallest} {unit}: {names}"
