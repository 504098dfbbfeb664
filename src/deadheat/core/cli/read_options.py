"""What the options of a command mean: conventions, intervals, the design of a comparison, strata, measures."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

import deadheat as dh
from deadheat.core.checks import check_choice
from deadheat.core.cli.errors import refuse, refuse_if
from deadheat.core.cli.judged import kind_asked
from deadheat.core.cli.options import INTERVALS
from deadheat.core.cli.paths import asked, label, shown_path, unique_names
from deadheat.core.design import RESAMPLING_TESTS, Design
from deadheat.core.libraries import load_libraries
from deadheat.core.phases import phase
from deadheat.core.settings import PROPORTION, TIES, Conventions

if TYPE_CHECKING:
    from deadheat.core.evaluation.intervals import IntervalOptions
    from deadheat.core.measures import Measure
    from deadheat.core.report.of_strata import Grouping


def need_queries(path: object, needing: Mapping[str, object]) -> None:
    """Refuse the first option that was given and needs a table of queries, if there is none."""
    given = next((name for name, value in needing.items() if value), None)
    if path is None and given:
        raise click.UsageError(f"{given} needs a table of queries: give --queries FILE too")


def conventions_of(options: Mapping[str, Any], *, without: Collection[str] = ()) -> Conventions:
    """Return how to evaluate, checked before anything is read; `without` names ties that are refused too."""
    if without:
        check_choice("ties", options["ties"], [one for one in TIES if one not in without])
    return Conventions.of(options)


def given_conventions(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the conventions that were typed: a saved evaluation has its own."""
    source = click.get_current_context().get_parameter_source
    return {
        one.name: options[one.name]
        for one in fields(Conventions)
        if source(one.name) is click.core.ParameterSource.COMMANDLINE
    }


def given_intervals(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of intervals that were given; the others keep their defaults."""
    return {name: options[name] for name in (*INTERVALS, "cluster") if options.get(name) is not None}


def intervals_of(
    options: Mapping[str, Any],
    seed: int | None,
    *,
    for_what: str = "",
    also: Collection[str] = (),
) -> IntervalOptions:
    """Return the options of intervals that a command line gave; the others have their defaults.

    Parameters
    ----------
    options : mapping
    seed : int or None
        None is 0.
    for_what : str, default ""
        The options that make intervals, for messages; empty if one of them was given.
    also : collection of str, default ()
        Options that something else needs too: they are allowed without intervals.
    """
    from deadheat.core.evaluation.intervals import IntervalOptions

    given = given_intervals(options)
    alone = [name for name in given if name not in also]
    if for_what:
        refuse(alone, f"is for intervals: give {for_what} too")
    found = IntervalOptions(**given, rng=seed or 0)
    refuse_if(
        found.method in {"t", PROPORTION} and "n_resamples" in alone,
        f"--n-resamples is for a bootstrap, got --ci-method {found.method}, which takes no resamples",
    )
    need_queries(options.get("queries", ""), {"--cluster": found.cluster})  # bench has cases in their place
    return found


def design_of(options: Mapping[str, Any]) -> Design:
    """Return how to compare."""
    also = ("n_resamples",) if options["test"] in RESAMPLING_TESTS else ()  # a test may need resamples too
    is_fixed = options["n_resamples"] is not None  # no more than these
    return Design.of({**options, "is_fixed": is_fixed, **vars(intervals_of(options, options["seed"], also=also))})


def check_strata(options: Mapping[str, Any]) -> None:
    """Refuse options that need the table of queries where there is none."""
    need_queries(
        options["queries"],
        {f"--{name.replace('_', '-')}": options[name] for name in ("by", "pool_languages", "weights")},
    )


def read_queries(options: Mapping[str, Any]) -> dh.Queries | None:
    """Read the table of queries, and check that it has the columns that were named."""
    if options["queries"] is None:
        return None
    from deadheat.core.evaluation.stratum import check_columns, groupings_of, names_of

    queries = dh.Queries(options["queries"])
    for names in groupings_of(options["by"], queries) if options["by"] else ():
        check_columns(names_of(names, "by"), queries)
    queries.check_columns(filter(None, (options["cluster"], options["weights"])))
    return queries


def apply_weights(evaluation: dh.Evaluation, queries: dh.Queries | None, options: Mapping[str, Any]) -> dh.Evaluation:
    """Return an evaluation, with weights if they are asked for."""
    return evaluation if options["weights"] is None else evaluation.weighted(options["weights"], queries)


def sets_of_strata(
    queries: dh.Queries | None, evaluations: Iterable[dh.Evaluation], options: Mapping[str, Any]
) -> list[tuple[str, ...]]:
    """Return the columns of each set of strata: the language too, where there are several that may not be pooled.

    One without a column is all queries together.
    """
    if queries is None:
        return [()]
    from deadheat.core.evaluation.stratum import columns_of, groupings_of

    ids = _query_ids_of(evaluations)
    asked = groupings_of(options["by"], queries) if options["by"] else [()]
    return list(
        dict.fromkeys(tuple(columns_of(queries, ids, one, pool_languages=options["pool_languages"])) for one in asked)
    )


def _query_ids_of(evaluations: Iterable[dh.Evaluation]) -> list[str]:
    """Return the queries of evaluations, sorted."""
    ids: dict[str, None] = {}  # in order, as each evaluation is: to sort a set takes three times as long
    for evaluation in evaluations:
        ids |= dict.fromkeys(evaluation.query_ids.tolist())
    return sorted(ids)


def grouping_of(
    evaluations: Sequence[dh.Evaluation], queries: dh.Queries, columns: tuple[str, ...], options: Mapping[str, Any]
) -> Grouping:
    """Return the strata of evaluations by some columns, and what the report says of them."""
    from deadheat.core.evaluation.stratum import strata_of
    from deadheat.core.report.of_strata import group_strata

    ids = _query_ids_of(evaluations)
    asked: tuple[str, ...] = ()
    if options["by"]:
        asked = columns
    with phase("grouping queries"):
        return group_strata(
            shown_path(queries.where, "the table of queries"),
            [strata_of(one, columns, queries) for one in evaluations if columns],
            queries,
            ids,
            asked=asked,
            pool_languages=options["pool_languages"],
            has_clusters=bool(options["cluster"] or options["weights"]),
        )


def measures_of(options: Mapping[str, Any]) -> tuple[Measure, ...]:
    """Return the measures given with -m, by default those of an evaluation, as they are under its judgments."""
    load_libraries()
    from deadheat.core.measures.selection import choose_measures

    return choose_measures(kind_asked(), options["notations"] or None)


def measures_under(qrels: dh.Qrels, measures: Sequence[Measure]) -> Sequence[Measure]:
    """Return the measures that were asked for; if none were, those that are computed under judgments of this kind."""
    from deadheat.core.data.judging import find_kind_of_qrels
    from deadheat.core.measures.selection import choose_measures

    kind = find_kind_of_qrels(qrels)
    are_chosen = bool(asked().get("notations", True))  # a command without -m chooses its measures itself
    if are_chosen or kind is kind_asked():
        return measures
    return choose_measures(kind, None)


def named_baselines(options: Mapping[str, Any], named: Mapping[str, str]) -> list[str] | None:
    """Return the names of the baselines, which may be given as the paths or files of their runs; None without any."""
    names = {path: name for name, path in named.items()}
    files = unique_names(list(named.values()), label)  # of saves, which have the names of their labels
    names |= {file: name for file, name in zip(files, named, strict=True) if file not in named}
    return [names.get(baseline, baseline) for baseline in options["baseline"]] or None


def seed_of(given: int | None, ties: str, *, is_drawn: bool) -> int | None:
    """Return the seed, drawn if one is needed and none was given; refuse one that nothing needs."""
    refuse_if(
        given is not None and ties != "random" and not is_drawn,
        f"--rng is the seed of --ties random and --ci, got --ties {ties}",
    )
    # one that is drawn is shown below the table, so that the result can be reproduced
    return random.SystemRandom().randrange(10**6) if given is None and ties == "random" else given
