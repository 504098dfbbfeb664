"""The command that decides between runs: compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

import deadheat as dh
from deadheat.core import hooks
from deadheat.core.cli.beside_report import begin_names, with_companion_options, with_companions
from deadheat.core.cli.errors import missing, refuse, refuse_if
from deadheat.core.cli.evaluating import evaluate_each, evaluate_systems
from deadheat.core.cli.help import option
from deadheat.core.cli.inputs import is_saved, load_saved, named_saves, open_pairs, open_qrels, split_judgments
from deadheat.core.cli.judged import judgments_asked
from deadheat.core.cli.options import (
    COLLECTION,
    INTERVALS,
    LAST,
    LISTS,
    OF_EVALUATING,
    READING,
    STRATA,
    TESTS,
    command,
    with_options,
)
from deadheat.core.cli.paths import INPUT, asked, label, named_runs, shown_path
from deadheat.core.cli.printing import Output, full_option, output_options, table_option, warn_of_nothing_judged
from deadheat.core.cli.read_options import (
    check_strata,
    conventions_of,
    design_of,
    measures_of,
    measures_under,
    named_baselines,
    read_queries,
    sets_of_strata,
)
from deadheat.core.cli.systems import refuse_systems_beside_saved, split_systems, systems_asked
from deadheat.core.phases import phase
from deadheat.core.random_generators import random_generator

if TYPE_CHECKING:
    from deadheat.core.design import Design
    from deadheat.core.evaluation.systems import System
    from deadheat.core.measures import Measure
    from deadheat.core.report.model import Report
    from deadheat.core.settings import Conventions
    from deadheat.plugins.compare.companions import Companion
    from deadheat.plugins.compare.comparison_parts import OtherLabels


NOT_OF_SYSTEMS = ("judge", "then_by", "unjudged", "margin", "detect", "ranks", "figures")
TABLES = ("systems", "one_tie_rule", "orders")


@command(
    "deadheat compare qrels.txt bm25.run dense.run hybrid.run --baseline bm25.run -m nDCG@10",
    "deadheat compare qrels.txt llm.run --then-by bm25.run    # what does the first stage decide?",
    "deadheat compare qrels.txt *.run -m 'nDCG@10 AP' --test tukey",
    "deadheat compare qrels.txt bm25.run dense.run --by difficulty --queries queries.csv",
    "deadheat compare qrels.txt old.run new.run --margin 0.01    # is the new one no worse?",
    "deadheat compare qrels.txt old.run new.run --detect 0.02    # how many queries would it take?",
    "deadheat compare qrels.txt *.run -m 'nDCG@10 AP' -o table.tex    # for a paper",
    "deadheat compare --spans spans.csv chunks-200.jsonl chunks-1000.jsonl -m R@5",
    "deadheat compare main.json branch.json    # saved by deadheat evaluate --save",
    "deadheat compare bm25.eval dense.eval    # printed by trec_eval -q",
)
@click.argument("qrels", type=INPUT, required=False, metavar="QRELS|SAVED")
@click.argument("runs", type=INPUT, nargs=-1, metavar="RUN RUN...|SAVED...")
@with_options("systems", "baseline", "judgments", "measures", *TESTS, "margin")
@option(
    "--detect",
    type=click.FloatRange(0, min_open=True),
    help="Also say how many queries it takes to detect a difference of this size.",
)
@option(
    "--queries-worst",
    type=click.IntRange(1),
    metavar="N",
    help="Also list the N queries on which a system is best, worst, and that hang most on ties; with their texts if"
    " --queries has a column such as text.",
)
@with_options("judge.compare")
@option(
    "--orders",
    is_flag=True,
    help="Also say how far orders of the systems agree: by two measures, and by document id, as trec_eval.",
)
@option("--ranks", is_flag=True, help="Also give the rank of each system as a range, and P(best).")
@with_options(*INTERVALS, "cluster", "seed", *STRATA, "ties")
@with_companion_options("comparison", "languages", "strata", such_as="scatter")
@output_options("document", "rows", "scores")
@full_option
@table_option("that of the pairs", *TABLES, *hooks.list_tables("compare"))
@with_options("other_judgments", *LISTS, "bounds", "then_by", *READING, *COLLECTION, "engines", *LAST)
def compare(qrels: str | None, runs: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Compare runs in pairs over the same queries; or evaluations that deadheat evaluate --save has saved.

    SAVED may also be values of each query that another tool computed, as trec_eval -q prints them.

    Who leads and whether that is more than chance, one table, and the notes that could change the decision. --full
    shows for each measure the means with their intervals, the differences with p values before and after the
    correction (a star: significant), and the differences whose sign a random tie-break reverses with some probability,
    beside the difference with ties broken by document id, as trec_eval. csv and json hold every number;
    csv has one row per pair, to which --margin and --detect add columns, or the table that --table names. For counts
    all of this is about totals, --margin and --detect included; csv and json hold the total instead of the mean.

    If the table of --queries has columns language and pair_id, queries of one pair_id are compared across languages.
    """
    from deadheat.plugins.compare.companions import find_companions

    qrels, runs = split_judgments(qrels, runs)
    check_strata(options)
    output = Output(options, [qrels, *runs, options["queries"], options.get("judge")])
    _check_tables(options, output)
    if not (runs or systems_asked() or is_saved(qrels)):
        raise missing("runs")
    saved = saved_evaluations([qrels, *runs])
    named, systems = _name_systems(qrels, runs, saved)
    _refuse_for_systems(systems, options)
    alone = next(iter(named)) if len(named) == 1 and asked().get("then_by") else ""
    if alone:  # the run alone, and with its ties ordered
        named[", then ".join([alone, *map(label, asked()["then_by"])])] = named[alone]
    comparison, _, queries = compare_files("" if saved else qrels, named, options, alone=alone, systems=systems)
    groupings = sets_of_strata(queries, comparison.evaluations.values(), options)
    output.check_sets(groupings)
    companions = [] if queries is None else find_companions(comparison, queries)
    with phase("making the report"):
        report = _report(comparison, queries, groupings, companions, qrels=qrels, output=output, options=options)
    subjects = _subjects(comparison, queries, groupings, companions)
    output.print(with_companions(report, subjects, [measure.label for measure in comparison.measures]))


def _name_systems(qrels: str, runs: Sequence[str], saved: Sequence[str]) -> tuple[dict[str, str], Mapping[str, System]]:
    """Return the files by the names of their systems, and systems of several runs; of saved evaluations none."""
    if saved:
        refuse_systems_beside_saved(qrels)
        return named_saves(saved), {}
    refuse(("judgments",), "is for saved evaluations: runs are evaluated under the same judgments")
    return split_systems(named_runs(runs))


def _refuse_for_systems(systems: Mapping[str, System], options: Mapping[str, Any]) -> None:
    """Refuse what systems of several runs do not have, and what a judge's labels do not change."""
    for system in systems.values():
        refuse(NOT_OF_SYSTEMS, f"is not for {system.kind_of_system} of a run")
    if options.get("judge"):
        refuse(("orders", "ranks", "figures"), "is not for --judge: it would be by the human labels alone")


def _report(
    comparison: dh.Comparison,
    queries: dh.Queries | None,
    groupings: Sequence[tuple[str, ...]],
    companions: Sequence[Companion],
    *,
    qrels: str,
    output: Output,
    options: Mapping[str, Any],
) -> Report:
    """Return the report by each set of strata, side by side."""
    from deadheat.core.evaluation.stratum import strata_of
    from deadheat.core.report.model import side_by_side
    from deadheat.plugins.compare.report_tables import report_with_requests

    source = "" if queries is None else shown_path(queries.where, "the table of queries")
    reports: dict[str, Report] = {}
    for columns in groupings:
        strata = strata_of(comparison, columns, queries) if queries is not None and columns else None
        concerning_all: dict[str, Any] = {}
        if not reports:  # what concerns all queries comes once
            concerning_all = {"companions": companions, "queries_worst": options["queries_worst"]}
        reports[":".join(columns)] = report_with_requests(
            comparison,
            qrels=shown_path(qrels, "the qrels"),
            columns=columns,
            margin=options["margin"],
            strata=strata,
            **concerning_all,
            compact=not (options["full"] or output.is_data),
            digits=output.digits,
            detect=options["detect"],
            ranks=options["ranks"],
            orders=options["orders"],
            queries=queries,
            source=source,
            for_people=not output.is_data,
            in_one=output.form == "csv",  # which has room for one table, by default the first
            with_others=output.form != "csv" or output.table is not None,
        )
    return side_by_side(reports)


def _check_tables(options: Mapping[str, Any], output: Output) -> None:
    """Refuse what a single table has no place for."""
    if output.form == "csv":
        refuse(("queries_worst", "ranks"), "is for json and text formats: csv has one table, with a row for each pair")
        refuse_if(bool(options["orders"]) and output.table != "orders", "--orders: csv has them with --table orders")


def compare_files(
    qrels: str,
    named: Mapping[str, str],
    options: Mapping[str, Any],
    *,
    alone: str = "",
    systems: Mapping[str, System] = MappingProxyType({}),
) -> tuple[dh.Comparison, dict[str, dh.Run], dh.Queries | None]:
    """Compare runs by name, or saved evaluations where there are no qrels, as the options of a command say.

    Parameters
    ----------
    qrels : str
        Empty for saved evaluations.
    named : mapping of str to str
        The files, by the names of the systems.
    options : mapping
    alone : str, default ""
        The one run whose ties --then-by does not order.
    systems : mapping of str to System
        Systems of several runs, by their names.

    Returns
    -------
    comparison : Comparison
    runs : dict of str to Run
        None of saved evaluations.
    queries : Queries or None
    """
    are_saved = not qrels and not systems and judgments_asked() is None
    # report typos before large files are read; of saved evaluations -m names measures that they hold
    conventions = conventions_of(options)
    measures = () if are_saved else measures_of(options)
    design = design_of({**options, "baseline": named_baselines(options, named)})
    saved_by_name = load_saved(named) if are_saved else {}
    design.check_systems(
        [*(saved_by_name or named), *systems],
        has_clusters=options["cluster"] is not None,
        has_weights=options["weights"] is not None,
    )
    queries = read_queries(options)
    table = queries if options["cluster"] or options["weights"] else None
    clusters = {"cluster": options["cluster"], "weights": options["weights"], "queries": table}
    plan = _Plan(measures, conventions, design, clusters)
    runs: dict[str, dh.Run] = {}
    if are_saved:
        from deadheat.plugins.compare.compare import compare_evaluated

        comparison = compare_evaluated(
            design,
            saved_by_name,
            **clusters,
            judgments=options.get("judgments"),
            judge=_labels_of_judge(options),
        )
    elif systems or judgments_asked() is not None:
        comparison, runs = _compare_each(qrels, named, systems, plan)
    else:
        judgments = open_qrels(qrels)
        for _, opened in open_pairs(judgments, named, alone=alone):
            runs |= {run.name: run for run in opened}
        comparison = _compare_runs(judgments, runs, plan, options)
    warn_of_nothing_judged(comparison.evaluations.values())
    return comparison, runs, queries


@dataclass(frozen=True)
class _Plan:
    """How runs are evaluated and compared.

    Attributes
    ----------
    measures : sequence of Measure
    conventions : Conventions
    design : Design
    clusters : mapping
        The arguments cluster, weights and queries of a comparison.
    """

    measures: Sequence[Measure]
    conventions: Conventions
    design: Design
    clusters: Mapping[str, Any]


def _compare_each(
    qrels: str,
    named: Mapping[str, str],
    systems: Mapping[str, System],
    plan: _Plan,
) -> tuple[dh.Comparison, dict[str, dh.Run]]:
    """Compare runs that are evaluated one by one, as judgments of another kind need it, and systems of several runs."""
    from deadheat.plugins.compare.compare import compare_evaluated

    is_read_once = bool(systems) and judgments_asked() is None
    judgments = open_qrels(qrels) if is_read_once else qrels
    generator = random_generator(plan.design.rng)  # each run has draws of its own
    evaluations = {}
    runs = {}
    for evaluated in evaluate_each(judgments, named, plan.conventions, plan.measures, seed=generator):
        name = evaluated.run.name
        evaluations[name] = evaluated.evaluation
        runs[name] = evaluated.run
    if systems:
        evaluations |= evaluate_systems(judgments, systems, plan.measures, plan.conventions)
    return compare_evaluated(plan.design, evaluations, **plan.clusters), runs


def _compare_runs(
    judgments: dh.Qrels,
    runs: Mapping[str, dh.Run],
    plan: _Plan,
    options: Mapping[str, Any],
) -> dh.Comparison:
    """Compare runs under the same judgments, and warn of what their ids look like."""
    from deadheat.core.evaluation.warned import warn_of_form
    from deadheat.plugins.compare.compare import compare_under

    comparison = compare_under(
        plan.design,
        plan.conventions,
        judgments,
        runs,
        measures_under(judgments, plan.measures),
        **plan.clusters,
        judge=_labels_of_judge(options),
    )
    for name, run in runs.items():
        warn_of_form(comparison.evaluations[name], judgments, run)
    return comparison


def saved_evaluations(paths: list[str]) -> list[str]:
    """Return the paths if they are saved evaluations, else none; refuse a mix, and options of evaluating."""
    if not is_saved(paths[0]):
        return []
    other = next((path for path in paths if not is_saved(path)), None)
    refuse_if(
        other is not None,
        f"{paths[0]} is a saved evaluation, and {other} is none: give saved ones only, or QRELS RUN RUN...",
    )
    allowed = ["notations"]  # which choose among the measures that are there
    if asked().get("judge"):
        allowed += ["columns", "grades", "normalize_ids"]
    refuse(
        [name for name in OF_EVALUATING if name not in allowed],
        f"is for QRELS RUN RUN...: {paths[0]} is already evaluated; save it anew with deadheat evaluate, or rescore",
    )
    return paths


def _subjects(
    comparison: dh.Comparison,
    queries: dh.Queries | None,
    groupings: Sequence[tuple[str, ...]],
    companions: Sequence[Companion],
) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """Yield what figures are drawn of: the comparison, what is compared beside it, and its strata if there are any."""
    from deadheat.core.evaluation.stratum import strata_of

    yield "", comparison, {}
    for companion in companions:
        yield "", companion.subject, {}
    for before, columns in zip(begin_names(groupings), groupings, strict=True):
        if queries is None or not columns:
            continue
        of_each = {name: strata_of(one, columns, queries) for name, one in comparison.evaluations.items()}
        yield before, of_each, {"options": comparison.options_of_intervals}


def _labels_of_judge(options: Mapping[str, Any]) -> OtherLabels[dh.Comparison] | None:
    """Read the labels of --judge, if it is given."""
    path = options.get("judge")
    return None if path is None else hooks.service("judge_in_files").labels_in(path)
