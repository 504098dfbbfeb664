"""Options of strata, and which strata a report is by: languages are kept apart unless they are to be pooled."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import click

from deadheat.cli.files import PATH, input_path, shown_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deadheat.data.queries import Queries
    from deadheat.evaluation.evaluation import Evaluation
    from deadheat.report.of_strata import Grouping


def stratum_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --queries, --by and --pool-languages to a command."""
    queries = click.option(
        "--queries",
        type=PATH,
        metavar="FILE",
        help="A table of queries: query_id, and columns such as language. Queries in several languages are reported"
        " by language.",
    )
    by = click.option(
        "--by",
        multiple=True,
        metavar="COLUMN",
        help="Report by the values of a column of --queries; by their combinations if it is repeated.",
    )
    pool = click.option("--pool-languages", is_flag=True, help="Let queries in different languages count in one mean.")
    return queries(by(pool(command)))


def queries_path(options: dict[str, Any]) -> str | None:
    """Return the path of the table of queries; refuse options that are about one where there is none."""
    if options["queries"] is None:
        name = "--by" if options["by"] else "--pool-languages" if options["pool_languages"] else ""
        if name:
            raise click.UsageError(f"{name} is about a table of queries: give --queries FILE too")
        return None
    return input_path(options["queries"])


def read_queries(path: str | None, by: Sequence[str], cluster: str | None = None) -> Queries | None:
    """Read the table of queries, and check that it has the columns that were named."""
    from deadheat.data.queries import Queries
    from deadheat.evaluation.strata import check_columns, names_of

    if path is None:
        return None
    queries = Queries(path)
    if by:
        check_columns(names_of(by), queries)
    queries.check_columns([cluster] if cluster else [])
    return queries


def group(evaluations: Sequence[Evaluation], queries: Queries, options: dict[str, Any]) -> Grouping:
    """Return the strata of evaluations, and what the report says of them."""
    from deadheat.errors import UnlabelledQueriesWarning
    from deadheat.evaluation.strata import columns_of, stratify
    from deadheat.report.of_strata import Grouping

    query_ids = sorted(set().union(*(one.query_ids.tolist() for one in evaluations)))
    by, pool_languages = options["by"], options["pool_languages"]
    columns = columns_of(queries, query_ids, by, pool_languages=pool_languages)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnlabelledQueriesWarning)  # the report says it
        strata = [stratify(one, columns, queries, pool_languages=True) for one in evaluations if columns]
    return Grouping(
        shown_path(queries.where, "the table of queries"),
        tuple(strata),
        asked=tuple(by),
        languages=queries.languages(query_ids),
        without_language=queries.without_language(query_ids),
        pool_languages=pool_languages,
        has_clusters=options["cluster"] is not None,
    )
