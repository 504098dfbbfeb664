"""What reports of evaluations say of strata and languages: averages over strata, and facts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from deadheat.core.data.queries import Queries
from deadheat.core.evaluation.strata import Strata
from deadheat.core.evaluation.strata_order import order_labels, sort_strata
from deadheat.core.evaluation.stratum import NONE, Stratum, label
from deadheat.core.libraries import polars as pl
from deadheat.core.report.cells import OF_FEW
from deadheat.core.report.data_facts import describe_queries
from deadheat.core.report.model import MEASURE, Column, Fact, Table, first_true, prose_fact, tabulate_groups
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
    has_clusters : bool
        Whether a column of the table names clusters or holds weights.
    """

    source: str
    strata: tuple[Strata, ...] = ()
    asked: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    without_language: tuple[str, ...] = ()
    pool_languages: bool = False
    has_clusters: bool = False

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
        As of :class:`Grouping`.
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
        has_clusters=has_clusters,
    )


def _averages(grouping: Grouping) -> Iterator[Table]:
    """Yield a table of averages over strata and of the variance between them, if there are any.

    If language is one of several columns, they are within each language. There is no mean over the queries of
    all languages unless they may be pooled. Of counts there are no averages.
    """
    within = None if grouping.is_by_language else grouping.language_column
    measures = [one.label for of_run in grouping.strata[:1] for one in of_run.whole.measures if not one.total]
    if measures:
        found = [
            {(row.get(within or "", ""), row["measure"]): row for row in of_run.averages(within).rows(named=True)}
            for of_run in grouping.strata
        ]
        values = [""]
        if within:
            labels = pl.Series(list({value for of_run in found for value, _ in of_run}), dtype=pl.String)
            values = labels.gather(order_labels(labels)).to_list()
        yield tabulate_groups(
            "averages",
            (*([Column(within, within)] if within else []), MEASURE),
            (
                Column("macro", "mean of languages" if grouping.is_by_language else "macro"),
                # a mean over all queries would mix languages
                *([] if grouping.is_by_language and not grouping.pool_languages else [Column("micro", "micro")]),
                Column("n_strata", "strata", is_data=True),
                Column("variance", "variance"),
                Column("std", "std", spare=2),
                Column("lowest", "lowest", spare=1),
                Column("highest", "highest", spare=1),
            ),
            (
                ((*([value] if value else []), measure), [of_run.get((value, measure)) for of_run in found])
                for value in values
                for measure in measures
            ),
            tuple(of_run.whole.name for of_run in grouping.strata),
            title=f"Averages over {' and '.join(one for one in grouping.columns if one != within)}"
            + (f", within each {within}" if within else ""),
            has_blocks=bool(within),
        )


def _grouped(grouping: Grouping) -> list[Fact]:
    """Return the facts about strata and languages."""
    columns, names = " and ".join(grouping.columns), ", ".join(grouping.languages)
    by = f"by {columns}, from {grouping.source}" if grouping.strata else ""
    without_strata = ""
    if not (grouping.strata or grouping.languages or grouping.has_clusters):
        without_strata = f"none: --by names no column of {grouping.source}, which tells no language"
    lacking = () if grouping.strata else grouping.without_language
    is_one = len(grouping.languages) < 2
    of_languages = first_true(
        {
            f"{names}; {describe_queries(lacking)} without one averaged with it": is_one and names and lacking,
            "": is_one or grouping.language_column in grouping.asked,
            f"{names}: averaged together, as asked": grouping.language_column is None,
        },
        f"{names}: kept apart; --pool-languages averages over them",
    )
    of_all = [
        Fact("queries_table", grouping.source),
        Fact("by", list(grouping.columns), "strata", by or without_strata, brief=without_strata),
        Fact(
            "languages",
            list(grouping.languages),
            "languages",
            of_languages,
            brief=of_languages if is_one and lacking else "",
        ),
    ]
    if not grouping.strata:
        return of_all
    first, *_ = grouping.strata
    measures = first.whole.measures
    counts = [one.label for one in measures if one.total]
    how = (
        "mean of languages: each counts the same; variance, std: of the languages' means (divisor: n)"
        if grouping.is_by_language
        else "macro: each stratum counts the same; micro: each query; variance, std: of the strata's means (divisor: n)"
    )
    none_of = f"none of {', '.join(counts)}: totals of strata of different sizes cannot be averaged"
    ids = sorted(set().union(*(of_run.unassigned for of_run in grouping.strata)))
    without = (
        f"{describe_queries(ids)} without {' or '.join(grouping.columns)}, not in macro and variance" if ids else ""
    )
    fewest = _find_small(grouping.strata)
    found = {label(stratum): fewest[stratum] for stratum in sort_strata(fewest)}
    few = few_queries(found, first.smallest)
    return [
        *of_all,
        *(fact for own in report_parts_of(first.whole) for fact in own.tell_of_strata(first)),
        prose_fact("averages", how if len(counts) < len(measures) else ""),
        prose_fact("averages", none_of if counts else ""),
        *overlapping(first.n_repeated),
        Fact("unassigned_queries", ids, NONE, without, is_note=True),
        Fact("small_strata", found, OF_FEW, few, brief=few),
    ]


def _find_small(strata_of_runs: Sequence[Strata]) -> dict[Stratum, int]:
    """Return the strata with few queries: the fewest of any run and measure."""
    fewest: dict[Stratum, int] = {}
    for of_run in strata_of_runs:
        n_queries = np.min([of_run.numbers(measure).n_queries for measure in of_run.whole.measures], axis=0)
        is_small = n_queries < of_run.smallest
        strata = compress(of_run, is_small.tolist())
        for stratum, n in zip(strata, n_queries[is_small].tolist(), strict=True):
            fewest[stratum] = min(n, fewest.get(stratum, n))
    return fewest


def overlapping(n_twice: int) -> Iterator[Fact]:
    """Say how many more queries strata count than there are."""
    if n_twice:
        text = f"queries with several values count in each: {n_twice:,} more in all"
        yield Fact("overlap", n_twice, "overlap", text, brief=text)


def few_queries(found: Mapping[str, int], smallest: int, unit: str = "queries") -> str:
    """Name strata with fewer than so many queries, with their numbers of queries; an empty string if there are none."""
    names = format_list([f"{name} ({n})" for name, n in found.items()], between="; ")
    return f"fewer than {smallest} {unit}: {names}" if found else ""
