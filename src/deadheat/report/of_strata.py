"""What the report of evaluations by strata adds: averages over strata, and what is small, missing or mixed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from deadheat.evaluation.evaluation import Strata
from deadheat.evaluation.strata import NONE, label, order
from deadheat.report.conventions import named
from deadheat.report.model import (
    MEASURE,
    OF_FEW,
    Column,
    Fact,
    Table,
    said,
    tabulate_groups,
)
from deadheat.wording import three

LOWEST = (Column("lowest", "lowest", spare=1), Column("highest", "highest", spare=1))
OF_LANGUAGES = "mean of languages: each counts the same; variance, std: of the languages' means (divisor: n)"
OF_STRATA = "macro: each stratum counts the same; micro: each query; variance, std: of the strata's means (divisor: n)"
VARIANCE = (Column("variance", "variance"), Column("std", "std", spare=2))


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
        Whether a column of the table names clusters.
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


def average(grouping: Grouping) -> list[Table]:
    """Return a table of averages over strata and of the variance between them, if there are any.

    With the language crossed with other columns they are within each language. There is no mean over the queries of
    all languages unless they may be pooled. Of counts there are no averages.
    """
    within = None if grouping.is_by_language else grouping.language_column
    measures = [one.label for of_run in grouping.strata[:1] for one in of_run.whole.measures if not one.total]
    if not measures:
        return []
    found = [
        {(row.get(within or ""), row["measure"]): row for row in of_run.averages(within).rows(named=True)}
        for of_run in grouping.strata
    ]
    columns = (
        Column("macro", "mean of languages" if grouping.is_by_language else "macro"),
        # the mean over all queries would be one over languages
        *([] if grouping.is_by_language and not grouping.pool_languages else [Column("micro", "micro")]),
        Column("n_strata", "strata", is_data=True),
        *VARIANCE,
        *LOWEST,
    )
    values = {value for of_run in found for value, _ in of_run}
    rows = (
        ((*([value] if value else []), measure), [of_run.get((value, measure)) for of_run in found])
        for value in sorted(values, key=lambda value: order(value or ""))
        for measure in measures
    )
    others = [column for column in grouping.columns if column != within]
    title = f"Averages over {' and '.join(others)}" + (f", within each {within}" if within else "")
    labels = (*([Column(within, within)] if within else []), MEASURE)
    names = tuple(of_run.whole.name for of_run in grouping.strata)
    return [tabulate_groups("averages", labels, columns, rows, names, title=title, has_blocks=bool(within))]


def tell(grouping: Grouping) -> Iterator[Fact]:
    """Give the facts about strata and languages."""
    columns, names = " and ".join(grouping.columns), ", ".join(grouping.languages)
    by = f"by {columns}, from {grouping.source}"
    if not grouping.strata:
        is_known = grouping.languages or grouping.has_clusters
        by = "" if is_known else f"none: --by names no column of {grouping.source}, which tells no language"
    lacking, alone = grouping.without_language, len(grouping.languages) < 2
    of_languages = f"{names}: kept apart; --pool-languages averages over them"
    if alone:
        is_mixed = names and lacking and not grouping.strata
        of_languages = f"{names}; {named(lacking)} without one averaged with it" if is_mixed else ""
    elif grouping.language_column is None:
        of_languages = f"{names}: averaged together, as asked"
    elif grouping.language_column in grouping.asked:
        of_languages = ""
    yield Fact("queries_table", grouping.source)
    yield Fact("by", list(grouping.columns), "strata", by)
    yield Fact("languages", list(grouping.languages), "languages", of_languages)
    if not grouping.strata:
        return
    measures, smallest = grouping.strata[0].whole.measures, grouping.strata[0].smallest
    counts = [one.label for one in measures if one.total]
    if len(counts) < len(measures):
        yield said("averages", OF_LANGUAGES if grouping.is_by_language else OF_STRATA)
    none = f"none of {', '.join(counts)}: totals of strata of different sizes cannot be averaged" if counts else ""
    yield said("averages", none)
    ids = sorted(set().union(*(of_run.unassigned for of_run in grouping.strata)))
    columns = " or ".join(grouping.columns)
    text = f"{named(ids)} without {columns}, not in macro and variance" if ids else ""
    yield Fact("unassigned_queries", ids, NONE, text, is_note=True)
    sizes = {  # the fewest queries of any run and measure
        label(stratum): min(one.n_queries for of_run in grouping.strata for one in of_run.get(stratum, ()))
        for stratum in sorted(set().union(*grouping.strata), key=order)
    }
    found = {name: n for name, n in sizes.items() if n < smallest}
    yield Fact("small_strata", found, OF_FEW, few_queries(found, smallest))


def few_queries(found: Mapping[str, int], smallest: int, unit: str = "queries") -> str:
    """Name strata with fewer than so many queries, with their numbers of queries; an empty string if there are none."""
    names = three([f"{name} ({n})" for name, n in found.items()], between="; ")
    return f"fewer than {smallest} {unit}: {names}" if found else ""
