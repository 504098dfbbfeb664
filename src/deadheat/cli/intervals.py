"""Options of confidence intervals, and how they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import click

from deadheat.cli.options import complete_from

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from deadheat.data.queries import Queries
    from deadheat.evaluation.intervals import IntervalOptions

# the options that only intervals need, and what the library calls them
OPTIONS = {
    "level": "--confidence-level",
    "ci_method": "--ci-method",
    "n_resamples": "--n-resamples",
    "cluster": "--cluster",
}
ARGUMENTS = {"level": "confidence_level", "ci_method": "method", "n_resamples": "n_resamples", "cluster": "cluster"}


cluster_option = click.option(
    "--cluster",
    metavar="COLUMN",
    help="Resample the queries that share a value of this column of --queries (a document, a user) as a whole.",
)


def interval_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of intervals to a command, but for the one that asks for them."""
    return _resampling("Of the intervals", "Of the bootstrap")(cluster_option(command))


def comparing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that intervals share with the tests of a comparison; what a cluster is depends on the command."""
    return _resampling("Of the intervals; 1 - LEVEL is the level of significance", "Of bootstrap and test")(command)


def _resampling(of_level: str, of_resamples: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return what adds --confidence-level, --ci-method and --n-resamples, with what the first and last are of."""
    level = click.option(
        "--confidence-level", "level", type=float, metavar="LEVEL", help=f"{of_level}; between 0 and 1, default 0.95."
    )
    method = click.option(
        "--ci-method",
        metavar="METHOD",
        shell_complete=complete_from("deadheat.evaluation.intervals:METHODS"),
        help="auto (default): clopper-pearson for measures that are 0 or 1 (Hit, P@1; not with --cluster), bca for"
        " others. bca, percentile: bootstrap; t: Student's t; clopper-pearson: exact for proportions.",
    )
    n_resamples = click.option(
        "--n-resamples", type=int, metavar="N", help=f"{of_resamples}, 99 or more; default 10000."
    )
    return lambda command: level(method(n_resamples(command)))


def also_of_test(test: str) -> tuple[str, ...]:
    """Return the options of intervals that a test of differences needs too."""
    from deadheat.report.of_comparison import RESAMPLED

    return ("n_resamples",) if test in RESAMPLED else ()


def intervals_of(
    options: dict[str, Any], seed: int | None, *, for_what: str = "", also: Collection[str] = ()
) -> IntervalOptions:
    """Return all options of intervals, those that a command line gave with an allowed value each.

    Parameters
    ----------
    options : dict
    seed : int or None
        None is 0.
    for_what : str, default ""
        The options that make intervals, for messages; empty if one of them was given.
    also : collection of str, default ()
        Names in `OPTIONS` that something else needs too: these may be given where no interval needs them.
    """
    from deadheat import arguments
    from deadheat.arguments import check_choice
    from deadheat.evaluation.intervals import METHODS, PROPORTION, intervals

    given = {name: options[name] for name in OPTIONS if options[name] is not None}
    of_intervals = [name for name in given if name not in also]
    if for_what and of_intervals:
        raise click.UsageError(f"{OPTIONS[of_intervals[0]]} is about intervals: give {for_what} too")
    method = given.get("ci_method")
    if method is not None:
        check_choice("--ci-method", method, METHODS)
    if "level" in given:
        arguments.level("confidence_level", given["level"])
    if "n_resamples" in given:
        arguments.resamples(given["n_resamples"])
    if method in {"t", PROPORTION} and "n_resamples" in of_intervals:
        raise click.UsageError(f"--n-resamples is of a bootstrap, got --ci-method {method}, which takes no resamples")
    if method == PROPORTION and "cluster" in given:
        raise click.UsageError(
            f"--ci-method {PROPORTION} takes independent queries, got --cluster: auto, bca, percentile and t allow it"
        )
    if "cluster" in given and not options["queries"]:
        raise click.UsageError("--cluster is a column of a table of queries: give --queries FILE too")
    chosen = {ARGUMENTS[name]: value for name, value in given.items()}
    return cast("IntervalOptions", {**(intervals.__kwdefaults__ or {}), **chosen, "rng": seed or 0})


def check_proportions(options: IntervalOptions, measures: list[str] | None) -> None:
    """Refuse intervals of proportions of measures that are none, before files are read."""
    from deadheat.evaluation.evaluate import parse_measures
    from deadheat.evaluation.intervals import PROPORTION, method_of

    if options.get("method") == PROPORTION:
        for measure in parse_measures(measures):
            method_of(PROPORTION, measure, has_clusters=False)


def with_queries(options: IntervalOptions, queries: Queries | None) -> IntervalOptions:
    """Return the options with the table that has the clusters, if there are any."""
    return {**options, "queries": queries if options.get("cluster") else None}
