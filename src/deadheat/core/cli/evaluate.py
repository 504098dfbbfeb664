"""deadheat evaluate: runs, or what a plugin evaluates in their place."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import deadheat as dh
from deadheat.core import hooks
from deadheat.core.cli.beside_report import (
    begin_names,
    make_companions,
    report_companions,
    rule_of_companions,
    with_companion_options,
    write_companions,
)
from deadheat.core.cli.errors import missing, refuse, refuse_if
from deadheat.core.cli.evaluating import Evaluated, EvaluationTask, evaluate_task
from deadheat.core.cli.evaluators import EvaluatorOption, evaluator_asked
from deadheat.core.cli.help import option
from deadheat.core.cli.inputs import is_saved, named_format, split_judgments
from deadheat.core.cli.judged import judgments_asked
from deadheat.core.cli.options import COLLECTION, INTERVALS, LAST, LISTS, READING, SAVING, STRATA, command, with_options
from deadheat.core.cli.paths import INPUT, PATH, named_runs, shown_path
from deadheat.core.cli.printing import Output, check_output, full_option, output_options, table_option
from deadheat.core.cli.read_options import (
    apply_weights,
    check_strata,
    conventions_of,
    grouping_of,
    intervals_of,
    measures_of,
    read_queries,
    seed_of,
    sets_of_strata,
)
from deadheat.core.cli.requests import EvaluationRequest
from deadheat.core.cli.saving import save_all, save_targets
from deadheat.core.cli.systems import split_systems, systems_asked
from deadheat.core.errors import DataError
from deadheat.core.phases import phase
from deadheat.core.settings import Estimation

if TYPE_CHECKING:
    from deadheat.core.evaluation.intervals import IntervalOptions
    from deadheat.core.evaluation.systems import System
    from deadheat.core.measures import Measure
    from deadheat.core.report.model import Report
    from deadheat.core.report.of_strata import Grouping


def _parse_quantiles(_: click.Context, __: click.Parameter, text: str | None) -> tuple[float, ...]:
    """Read quantiles such as ``0.25,0.5``, in order."""
    if text is None:
        return ()
    parts = text.replace(",", " ").split()
    if not parts or not all(map(_is_quantile, parts)):
        raise click.BadParameter(f"expected numbers between 0 and 1, such as 0.25,0.5,0.75; got {text!r}")
    return tuple(sorted(set(map(float, parts))))


def _is_quantile(text: str) -> bool:
    """Tell whether a text is a number between 0 and 1 as people write it: a decimal, without a sign or an exponent."""
    return re.fullmatch(r"0?\.[0-9]{1,15}", text) is not None and float(text) > 0


@command(
    "deadheat evaluate qrels.txt bm25.run",
    "deadheat evaluate qrels.txt bm25.run dense.run.gz -m nDCG@10 -m 'P(rel=2)@5'",
    "deadheat evaluate qrels.txt bm25.run --ties doc_id --format trec    # as trec_eval -c does",
    "deadheat evaluate qrels.txt bm25.run --per-query -o scores.csv",
    "deadheat evaluate qrels.txt bm25.run --ci --queries queries.csv --by difficulty",
    "deadheat evaluate qrels.txt bm25.run --quantiles 0.25,0.5,0.75",
    "deadheat evaluate qrels.txt bm25.run --beside doc_id",
    "deadheat evaluate qrels.txt bm25.run --save results/bm25.json",
    "deadheat evaluate qrels.txt bm25.run --save weeks/    # every save is a new file",
    "deadheat evaluate qrels.txt features.parquet --score-columns all",
    "deadheat evaluate --spans spans.csv chunks.jsonl -m R@5    # chunks against judged passages",
    "deadheat evaluate train.letor    # which feature ranks best",
)
@click.argument("qrels", type=INPUT, required=False, metavar="QRELS")
@click.argument("runs", type=INPUT, nargs=-1, metavar="RUN...")
@with_options("systems", "measures", "ties", "beside")
@option(
    "--rng",
    "seed",
    type=click.IntRange(0),
    metavar="SEED",
    help="Seed of --ties random (drawn if not given) and of --ci (0 if not given).",
    heading="statistics",
)
@option(
    "--ci",
    is_flag=True,
    help="Add confidence intervals, and how much of the error is due to tie order.",
    heading="statistics",
    rank=90,
)
@with_options(*INTERVALS, "cluster")
@option(
    "--quantiles",
    metavar="Q,...",
    callback=_parse_quantiles,
    help="Add these quantiles over queries, such as 0.5, the median, each with its exact interval.",
    heading="statistics",
)
@with_options(*STRATA)
@option("--per-query", is_flag=True, help="Add the scores of each query.", heading="output", rank=110)
@with_options("judge.evaluate")
@option(
    "--save",
    type=PATH,
    metavar="FILE.json|FOLDER/",
    help="Save the evaluation for deadheat gate and dh.load_evaluation: in a file, which replaces an earlier save but"
    " no other file; or in a folder, where every save is a new file, named by time, label and run.",
    heading="output",
    rank=100,
)
@with_options(*SAVING)
@with_companion_options("systems", "strata", such_as="cutoffs")
@with_options("other_evaluations")
@option(
    "--sort",
    metavar="name|given|MEASURE",
    help="Order of several runs: by name, as given, or the best first by a measure. Default: by the first measure; with"
    " --format trec as given.",
)
@table_option("the scores", "quantiles", "averages")
@output_options("document", "rows", "scores", "runs")
@full_option
@with_options("other_judgments", *LISTS, "bounds", "then_by", *READING, *COLLECTION, "engines", *LAST)
def evaluate(qrels: str | None, runs: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Score runs against relevance judgments, exactly where scores tie.

    One row per measure, one group of columns per run: the mean over queries (of counts the total), then what tie order
    alone can make of it: standard deviation, smallest and largest value.

    With --queries and several languages, or --by: a block per stratum, and averages below; csv has one table (--table).

    --format trec with --ties doc_id prints what trec_eval -c prints, and with --missing skip what it prints without -c;
    but runid is the file name, not the tag in the file. What trec and csv have no place for goes to standard error.

    With --spans, every file is a run of chunks (query_id, doc_id, start, end, score), and R is the share of spans hit.

    With --score-columns, or a LETOR (SVMlight) file, one row per column or feature.

    Files: TREC, CSV, TSV, Parquet, JSON Lines, JSON, LETOR; .gz and .zst too.
    """
    # report typos before large files are read
    qrels, runs = split_judgments(qrels, runs)
    conventions = conventions_of(options)
    measures = measures_of(options)
    form = _find_form(qrels, runs)
    if _print_instead(EvaluationRequest(qrels, runs, form, measures, conventions, options)):
        return
    check_strata(options)
    evaluator = evaluator_asked()
    has_intervals = bool(options["ci"] or options["save"])
    seed = seed_of(options["seed"], conventions.ties, is_drawn=has_intervals)
    intervals = _read_intervals(options, seed, evaluator, has_intervals=has_intervals)
    _check_method(intervals, measures, options)
    run_files, systems = split_systems(named_runs(runs), form)
    targets = _claim_targets([*run_files, *systems], options)
    sources = [qrels, *runs, options["queries"]]
    if evaluator is not None:
        sources.append(options[evaluator.name])
    output = Output(options, sources)
    queries = read_queries(options)
    _check_together(output.form, systems, evaluator, options)
    rule = options["beside"] or rule_of_companions(conventions.ties)
    task = EvaluationTask(
        qrels=qrels,
        runs=run_files,
        systems=systems,
        form=form,
        measures=measures,
        conventions=conventions,
        seed=seed,
        rule=rule,
        evaluator=evaluator,
        save_depth=options["save_depth"] if targets else 0,
    )
    with _telling_of_values([qrels, *runs]):
        evaluated = evaluate_task(task)

    default_order = "given" if output.form == "trec" else ""
    evaluated = _weigh_and_order(evaluated, options["sort"] or default_order, queries, options)
    evaluations = evaluated.evaluations
    sets_of_columns = sets_of_strata(queries, evaluations, options)
    groupings = _group(evaluations, queries, sets_of_columns, options)
    with_strata = [grouping for grouping in groupings.values() if grouping is not None and grouping.strata]
    output.check_sets(sets_of_columns)
    if output.form == "trec":
        _refuse_strata(with_strata)
    if intervals.cluster:
        intervals = replace(intervals, queries=queries)
    arguments = _arguments_of_report(task, evaluated, intervals, options)
    arguments["digits"] = output.digits
    is_paper = output.form == "latex"
    report = _report(evaluations, arguments, groupings, per_query=options["per_query"], is_paper=is_paper)
    options_of_files = {"options": intervals, "beside": evaluated.by_rule if rule == "doc_id" else None}
    subjects = _list_subjects(evaluations, begin_names(sets_of_columns), with_strata, options_of_files)
    files = make_companions(subjects, [measure.label for measure in measures])
    report = _save(report, evaluations, targets, intervals, options, is_by_strata=bool(with_strata))
    report = write_companions(report, files)
    if output.form == "markdown" and options["ci"]:
        from deadheat.core.report.as_markdown import in_sections

        report = in_sections(report)
    output.print(report)


def _arguments_of_report(
    task: EvaluationTask, evaluated: Evaluated, intervals: IntervalOptions, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what :func:`report_evaluations` is to show beside the means."""
    return {
        "qrels": shown_path(task.qrels, "the qrels"),
        "seed": task.seed if task.conventions.ties == "random" else None,
        "unmatched": evaluated.unmatched,
        "intervals": intervals if options["ci"] else None,
        "beside": list(evaluated.by_rule.values()) if options["beside"] else (),
        "quantiles": options["quantiles"],
        "confidence_level": intervals.confidence_level,
    }


def _read_intervals(
    options: Mapping[str, Any], seed: int | None, evaluator: EvaluatorOption | None, *, has_intervals: bool
) -> IntervalOptions:
    """Return the options of intervals; refuse those that nothing needs."""
    refuse_if(
        options["quantiles"] and options["cluster"],
        "the intervals of --quantiles are of independent queries: leave out --cluster",
    )
    also: tuple[str, ...] = ()
    if options["quantiles"]:
        also = ("confidence_level",)
    elif evaluator is not None:
        also = evaluator.intervals
    return intervals_of(options, seed, for_what="" if has_intervals else "--ci", also=also)


def _claim_targets(names: Sequence[str], options: Mapping[str, Any]) -> dict[str, str]:
    """Return where the evaluation of each name is to be saved, if it is; refuse options and files that do not fit."""
    if options["save"] is None:
        refuse(SAVING, "is of a saved evaluation: give --save FILE.json or --save FOLDER/ too")
        return {}
    check_output(options["output"])
    targets = save_targets(options["save"], names, replace=options["replace"])
    _refuse_other_runs(options, targets)
    return targets


def _weigh_and_order(
    evaluated: Evaluated, sort: str, queries: dh.Queries | None, options: Mapping[str, Any]
) -> Evaluated:
    """Return evaluations with their weights, if they are asked for, and all in the order that is asked for."""
    weighted_evaluations = [apply_weights(evaluation, queries, options) for evaluation in evaluated.evaluations]
    evaluations = _order(sort, weighted_evaluations)
    by_rule = {}
    unmatched = {}
    for evaluation in evaluations:
        name = evaluation.name
        if name in evaluated.by_rule:
            by_rule[name] = apply_weights(evaluated.by_rule[name], queries, options)
        if name in evaluated.unmatched:
            unmatched[name] = evaluated.unmatched[name]
    return Evaluated(evaluations, by_rule, unmatched)


def _refuse_strata(with_strata: Sequence[Grouping]) -> None:
    """Refuse strata, which come of several languages, for a format that has no place for them."""
    if with_strata:
        raise click.UsageError(
            f"--format trec has no place for strata, and the queries are in {', '.join(with_strata[0].languages)}:"
            " --pool-languages averages over them, another format keeps them apart"
        )


def _group(
    evaluations: Sequence[dh.Evaluation],
    queries: dh.Queries | None,
    sets_of_columns: Sequence[tuple[str, ...]],
    options: Mapping[str, Any],
) -> dict[tuple[str, ...], Grouping | None]:
    """Return the strata by each set of columns; None without a table of queries."""
    groupings: dict[tuple[str, ...], Grouping | None] = {}
    for columns in sets_of_columns:
        groupings[columns] = None
        if queries is not None:
            groupings[columns] = grouping_of(evaluations, queries, columns, options)
    return groupings


def _list_subjects(
    evaluations: Sequence[dh.Evaluation],
    beginnings: Sequence[str],
    with_strata: Sequence[Grouping],
    options_of_files: Mapping[str, Any],
) -> list[tuple[str, Any, Mapping[str, Any]]]:
    """Return what files are made of beside the report: all evaluations, and the strata of each grouping.

    Parameters
    ----------
    evaluations : sequence of Evaluation
    beginnings : sequence of str
        What the names of the files of each grouping begin with.
    with_strata : sequence of Grouping
    options_of_files : mapping
    """
    names = [evaluation.name for evaluation in evaluations]
    subjects: list[tuple[str, Any, Mapping[str, Any]]] = [
        ("", dict(zip(names, evaluations, strict=True)), options_of_files)
    ]
    for beginning, grouping in zip(beginnings, with_strata, strict=False):  # a set without a column has no strata
        subjects.append((beginning, dict(zip(names, grouping.strata, strict=True)), options_of_files))
    return subjects


def _print_instead(request: EvaluationRequest) -> bool:
    """Tell whether a plugin has printed the report of a request that is for it; refuse one for none, without runs."""
    for evaluation in hooks.load("evaluations"):
        if evaluation.is_for(request):
            evaluation.print_report(request)
            return True
    if not request.runs and not systems_asked():
        _refuse_evaluated([request.qrels])
        path = request.qrels
        refuse_if(
            _holds_both(path),
            f"{path} has relevant and retrieved documents, by the names of its columns: give it twice, as QRELS and as"
            f" RUN: deadheat evaluate {shlex.quote(path)} {shlex.quote(path)}",
        )
        raise missing("runs")
    return False


def _holds_both(path: str) -> bool:
    """Tell whether a file has columns of relevant documents and of retrieved ones."""
    from deadheat.core.io.columns import guess_kind
    from deadheat.core.io.formats import FORMATS, choose_format

    if not Path(path).is_file():
        return False
    try:
        list_columns = FORMATS[choose_format(path, named_format("qrels"))].columns
        names = [] if list_columns is None else list_columns(Path(path))
    except DataError:
        return False
    return {"qrels", "run"} <= {guess_kind(str(name)) for name in names}


def _refuse_evaluated(paths: Sequence[str]) -> None:
    """Refuse files that hold what this command computes, with the commands that take them."""
    for path in paths:
        if is_saved(path):
            raise click.UsageError(
                f"{path} is already evaluated: give it to deadheat compare, gate, history or report in the place of"
                f" QRELS RUN, as in deadheat report {path} -o page.html"
            )


@contextmanager
def _telling_of_values(paths: Sequence[str]) -> Iterator[None]:
    """Where a file cannot be read that holds values of another tool, say which commands take it."""
    try:
        yield
    except DataError:
        from deadheat.core.evaluation import saved  # of a saved evaluation the error says it already

        _refuse_evaluated([path for path in paths if not saved.is_saved(path)])
        raise


def _order(sort: str, evaluations: Sequence[dh.Evaluation]) -> Sequence[dh.Evaluation]:
    """Return evaluations as asked for: by a measure, without any the first one, the best one first."""
    if sort == "given" or (not sort and len(evaluations) == 1):
        return evaluations
    if sort == "name":
        return sorted(evaluations, key=lambda evaluation: evaluation.name)
    from deadheat.core.evaluation.ordering import order_by_mean

    measure = sort or evaluations[0].measures[0].label
    order = order_by_mean([evaluation[measure] for evaluation in evaluations])
    return [evaluations[place] for place in order]


def _check_method(intervals: IntervalOptions, measures: Sequence[Measure], options: Mapping[str, Any]) -> None:
    """Refuse a method of intervals that is not for all measures: those for proportions and for bounded values."""
    if intervals.method == Estimation.method:
        return
    from deadheat.core.evaluation.intervals import method_of

    has_clusters = options["cluster"] is not None
    has_weights = options["weights"] is not None
    for measure in measures:
        method_of(intervals.method, measure, has_clusters=has_clusters, has_weights=has_weights)


def _report(
    evaluations: Sequence[dh.Evaluation],
    arguments: Mapping[str, Any],
    groupings: Mapping[tuple[str, ...], Grouping | None],
    *,
    per_query: bool,
    is_paper: bool,
) -> Report:
    """Return the report by each set of strata; the table of all queries comes once.

    For a paper, several runs of which nothing but means was asked are one table with a row a system.

    Parameters
    ----------
    evaluations : sequence of Evaluation
    arguments : mapping
        Of :func:`report_evaluations`, but for those below.
    groupings : mapping of tuple to Grouping or None
        By the stratum columns.
    per_query, is_paper : bool
    """
    from deadheat.core.report.model import side_by_side
    from deadheat.core.report.of_evaluation import report_evaluations
    from deadheat.core.report.score_tables import range_columns

    reports: dict[str, Report] = {}
    with phase("making the report"):
        for columns, grouping in groupings.items():
            lists_queries = per_query and not reports  # once, above the first table
            reports[":".join(columns)] = report_evaluations(
                evaluations, **arguments, per_query=lists_queries, grouping=grouping
            )
    report = side_by_side(reports)
    has_strata = any(grouping is not None and grouping.strata for grouping in groupings.values())
    has_more = bool(arguments["intervals"] or arguments["beside"] or per_query or has_strata)
    if not is_paper or len(evaluations) < 2 or has_more or range_columns(evaluations):
        return report
    from deadheat.core.report.compact_scores import compact_scores

    compact = compact_scores(evaluations, seed=arguments["seed"], digits=arguments["digits"])
    return replace(report, tables=(compact, *report.tables[1:]))


def _save(
    report: Report,
    evaluations: Sequence[dh.Evaluation],
    targets: Mapping[str, str],
    intervals: IntervalOptions,
    options: Mapping[str, Any],
    *,
    is_by_strata: bool,
) -> Report:
    """Save the evaluations, if there is a target, and return the report with what it says of them."""
    if not targets:
        return report
    remark = "; the means in it are over all queries" if is_by_strata else ""
    if options["save_depth"] and any(evaluation.run is None for evaluation in evaluations):
        remark += "; without rankings of repeats, or that are not in memory"
    arguments = {name: options[name] for name in SAVING}
    saves = []
    for evaluation in evaluations:
        saves.append((targets[evaluation.name], partial(evaluation.save, **arguments, **vars(intervals))))
    return replace(report, facts=(*report.facts, save_all(saves, remark)))


def _refuse_other_runs(options: Mapping[str, Any], targets: Mapping[str, str]) -> None:
    """Refuse to replace in a folder, where each run has one file, a save of another run whose name is alike."""
    from deadheat.core.evaluation.save_folder import is_folder, refuse_other_run

    if options["replace"] and is_folder(options["save"]):
        for name, path in targets.items():
            refuse_other_run(Path(path), name)


def _check_together(
    form: str, systems: Mapping[str, System], evaluator: EvaluatorOption | None, options: Mapping[str, Any]
) -> None:
    """Refuse options that do not go with systems, the evaluator or the format, and a rule beside inexact values."""
    evaluator_options = () if evaluator is None else (evaluator.name,)
    companions = [companion.parameters[0] for companion in report_companions()]
    for system in systems.values():
        refused = ("beside", *companions, "unjudged", "then_by", *evaluator_options)
        refuse(refused, f"is not for {system.kind_of_system} of a run")
    if evaluator is not None:
        evaluator.refuse_others()
    refuse_if(
        options["beside"] and options["ties"] != "expected",
        f"--beside puts a rule beside the exact values: leave out --ties {options['ties']}",
    )
    additions = ("ci", "by", "beside", "quantiles", *evaluator_options)
    added = [f"--{name}" for name in additions if options.get(name)]
    refuse_if(
        form == "trec" and added,
        f"--format trec has no place for what {' and '.join(added)} adds: choose another format",
    )


def _find_form(qrels: str, runs: tuple[str, ...]) -> str | None:
    """Return the format of the runs, if it was given, or of the only file of scores, if that can be read."""
    form = named_format("run")
    if form is not None or len(runs) > 1 or judgments_asked() is not None:
        return form
    from deadheat.core.io.formats import find_format

    path = runs[0] if runs else qrels
    try:
        return find_format(path, None).name if Path(path).is_file() else None
    except DataError:  # reading it raises the error
        return None
