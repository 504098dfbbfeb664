"""deadheat evaluate."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from deadheat.cli.app import debug_option
from deadheat.cli.engines import engine_options
from deadheat.cli.figures import check_figures, figures_options, with_figures
from deadheat.cli.files import (
    PATH,
    check_inputs,
    input_path,
    label,
    open_qrels,
    open_run,
    save_paths,
    shown_path,
    within_collection,
)
from deadheat.cli.options import (
    StratumOptions,
    beside_option,
    check_proportions,
    collection_options,
    conventions_of,
    decompressed_option,
    duplicates_option,
    examples,
    interval_options,
    intervals_of,
    lists_options,
    measure_option,
    parsed_measures,
    precision_option,
    queries_options,
    reading_options,
    stratum_options,
    then_by_option,
    ties_option,
    unique_names,
)
from deadheat.cli.output import output_options, prepare, print_report, writing
from deadheat.cli.progress import progress
from deadheat.cli.score_columns import evaluate_score_columns, score_columns_option, wants_columns

if TYPE_CHECKING:
    from deadheat.data.tables import Qrels, Run
    from deadheat.evaluation.conventions import Conventions
    from deadheat.evaluation.evaluation import Evaluation
    from deadheat.evaluation.intervals import IntervalOptions
    from deadheat.measures import Measure
    from deadheat.report.model import Fact

PARTS = ("document", "rows", "scores", "runs")
EXAMPLES = examples(
    "deadheat evaluate qrels.txt bm25.run",
    "deadheat evaluate qrels.txt bm25.run dense.run.gz -m nDCG@10 -m 'P(rel=2)@5'",
    "deadheat evaluate qrels.txt bm25.run --ties doc_id --format trec    # as trec_eval -c does",
    "deadheat evaluate qrels.txt bm25.run --per-query -o scores.csv",
    "deadheat evaluate qrels.txt bm25.run --ci --queries queries.csv --by difficulty",
    "deadheat evaluate qrels.txt bm25.run --beside doc_id",
    "deadheat evaluate qrels.txt bm25.run --save results/bm25.json",
    "deadheat evaluate qrels.txt features.parquet --score-columns all",
    "deadheat evaluate train.letor    # which feature ranks best",
)


@click.command(short_help="Score runs, exactly where scores tie.", **EXAMPLES)
@click.argument("qrels", type=PATH)
@click.argument("runs", type=PATH, nargs=-1, metavar="RUN...")
@measure_option
@ties_option
@beside_option
@click.option(
    "--rng",
    "seed",
    type=click.IntRange(0),
    metavar="SEED",
    help="Seed of --ties random (drawn if not given) and of --ci (0 if not given).",
)
@click.option("--ci", is_flag=True, help="Add confidence intervals, and how much of the error is due to tie order.")
@interval_options
@stratum_options
@click.option("--per-query", is_flag=True, help="Add the scores of each query.")
@click.option(
    "--save",
    type=PATH,
    metavar="FILE.json",
    help="Save the evaluation in one file for deadheat gate and dh.load_evaluation; for several runs, name a folder."
    " Replaces an earlier save, but no other file.",
)
@figures_options
@score_columns_option
@output_options(*PARTS)
@queries_options
@lists_options
@precision_option
@then_by_option
@reading_options
@collection_options
@engine_options
@duplicates_option
@decompressed_option
@debug_option
def evaluate(qrels: str, runs: tuple[str, ...], notations: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Score runs against relevance judgments, exactly where scores tie.

    One row per measure, one group of columns per run: the mean over queries, then the spread that the order of equal
    scores alone can give it: standard deviation, smallest and largest value. For counts the total is shown.

    With --queries and several languages, or --by, one block per stratum, and averages over strata below; csv holds the
    first table.

    --format trec with --ties doc_id prints what trec_eval -c prints, and with --missing skip what it prints without -c;
    but runid is the file name, not the tag in the file. What trec and csv have no place for goes to standard error.

    With --score-columns, or a LETOR (SVMlight) file, one row per column or feature.

    Files: TREC, CSV, TSV, Parquet, JSON Lines, JSON, LETOR; .gz and .zst too.
    """
    qrels, *given = map(input_path, (qrels, *runs))
    from deadheat.evaluation.evaluate import DEFAULT_MEASURES
    from deadheat.report.of_evaluation import EvaluationContext, report_evaluations

    # report typos before large files are read
    if wants_columns(qrels, given, options["score_columns"]):
        conventions = conventions_of(options)
        measures = parsed_measures(notations) or DEFAULT_MEASURES
        seed = _seed(options["seed"], conventions.ties, has_intervals=False)
        evaluate_score_columns(qrels, given, measures, conventions, seed, options)
        return
    strata = StratumOptions.of(options)
    inputs = [qrels, *given, *([strata.path] if strata.path else [])]
    form = prepare(options["form"], options["output"], PARTS, inputs)
    conventions = conventions_of(options)
    _check_form(form, options)
    check_figures(options["figures"])
    has_intervals = bool(options["ci"] or options["save"])
    seed = _seed(options["seed"], conventions.ties, has_intervals=has_intervals)
    intervals = intervals_of(
        options, seed, for_what="" if has_intervals else "--ci", has_queries=strata.path is not None
    )
    measures = parsed_measures(notations) or DEFAULT_MEASURES
    check_proportions(intervals, measures)
    names = unique_names(given, lambda path: label(path, "run"))
    targets = save_paths(options["save"], names, inputs, options["output"])
    check_inputs(inputs)
    queries = strata.read()
    unmatched: dict[str, tuple[str, str]] = {}
    named, is_checked = dict(zip(names, given, strict=True)), options["check_duplicates"]
    beside: list[Evaluation] = []
    by_id = "doc_id" if options["figures"] and conventions.ties == "expected" else None  # as trec_eval: a tick
    rule = options["beside"] or by_id
    reader = partial(_scored, measures=measures, conventions=conventions, seed=seed, rule=rule, beside=beside)
    evaluations = list(_evaluate(qrels, named, reader, unmatched, options, check_duplicates=is_checked))
    grouping = None if queries is None else strata.group(evaluations, queries)
    if form == "trec" and grouping is not None and grouping.strata:
        raise click.UsageError(
            f"--format trec has no place for strata, and the queries are in {', '.join(grouping.languages)}:"
            " --pool-languages averages over them, another format keeps them apart"
        )
    intervals = replace(intervals, queries=queries if intervals.cluster else None)
    context = EvaluationContext(
        shown_path(qrels, "the qrels"),
        seed=seed if conventions.ties == "random" else None,
        digits=options["digits"],
        unmatched=unmatched,
        intervals=intervals if options["ci"] else None,
        beside=tuple(beside) if options["beside"] else (),
    )
    report = report_evaluations(evaluations, context, per_query=options["per_query"], grouping=grouping)
    if targets:
        fact = _save(evaluations, targets, intervals, is_by_strata=bool(grouping and grouping.strata))
        report = replace(report, facts=(*report.facts, fact))
    strata_of = {} if grouping is None else dict(zip(named, grouping.strata, strict=False))
    drawn = [dict(zip(named, evaluations, strict=True)), *([strata_of] if strata_of else [])]
    by_rule = dict(zip(named, beside, strict=True)) if rule == "doc_id" else None
    subjects = [("", one, {"options": intervals, "beside": by_rule}) for one in drawn]
    report = with_figures(
        report, options["figures"], options["figure_format"], subjects, [one.label for one in measures]
    )
    if form == "markdown" and options["ci"]:
        from deadheat.report.as_markdown import in_sections

        report = in_sections(report)
    print_report(report, form=form, output=options["output"], digits=options["digits"])


def _save(
    evaluations: Sequence[Evaluation], targets: Sequence[str], intervals: IntervalOptions, *, is_by_strata: bool
) -> Fact:
    """Save the evaluations, and return what the report says of it."""
    from deadheat.report.model import Fact

    for evaluation, target in zip(evaluations, targets, strict=True):
        with writing(target):
            evaluation.store(target, intervals)
    of_what = "; the means in it are over all queries" if is_by_strata else ""
    return Fact("saved", list(targets), "saved", ", ".join(targets) + of_what)


def _check_form(form: str, options: Mapping[str, Any]) -> None:
    """Refuse options whose output a format has no place for, and a rule beside values that are not exact."""
    if options["beside"]:
        from deadheat.evaluation.beside import check_rule

        check_rule(options["beside"])
        if options["ties"] != "expected":
            raise click.UsageError(f"--beside puts a rule beside the exact values: leave out --ties {options['ties']}")
    for name in ("ci", "by", "beside"):
        if form == "trec" and options[name]:
            raise click.UsageError(f"--format trec has no place for what --{name} adds: choose another format")


def _seed(given: int | None, ties: str, *, has_intervals: bool) -> int | None:
    """Return the seed, drawn if one is needed and none was given; refuse one that nothing needs."""
    if given is not None and ties != "random" and not has_intervals:
        raise click.UsageError(f"--rng is the seed of --ties random and of --ci, got --ties {ties}")
    if given is None and ties == "random":
        return random.SystemRandom().randrange(10**6)  # shown below the table, so that the result can be reproduced
    return given


def _evaluate(
    qrels: str,
    runs: Mapping[str, str],
    score: Callable[[Qrels, Run], Evaluation],
    unmatched: dict[str, tuple[str, str]],
    options: Mapping[str, Any],
    *,
    check_duplicates: bool,
) -> Iterator[Evaluation]:
    """Yield the evaluation of each run; the qrels are read and checked once.

    Adds to `unmatched` a document of the run and one of the qrels, if they share none.
    """
    from deadheat.evaluation.warned import warn_of_form

    with progress([qrels, *runs.values()]) as begin:
        begin(qrels)
        judgments = within_collection(open_qrels(qrels), options)
        if check_duplicates:
            judgments.check_duplicates()
        for name, path in runs.items():
            begin(path)
            run = open_run(path, name)
            if check_duplicates:
                run.check_duplicates()
            evaluation = score(judgments, run)
            warn_of_form(evaluation, judgments, run)
            if not len(evaluation.placements.query):
                shared = next(iter(evaluation.query_ids[evaluation.placements.n_retrieved > 0]))
                unmatched[name] = (_a_document(run, shared), _a_document(judgments, shared))
            yield evaluation


def _scored(
    qrels: Qrels,
    run: Run,
    *,
    measures: Sequence[Measure],
    conventions: Conventions,
    seed: int | None,
    rule: str | None,
    beside: list[Evaluation],
) -> Evaluation:
    """Evaluate a run, and add to `beside` its evaluation with ties broken by a rule, if there is one."""
    from deadheat.evaluation.evaluate import evaluate_under

    if rule is None:
        return evaluate_under(conventions, qrels, run, measures, seed)
    from deadheat.evaluation.beside import evaluate_beside

    exact, by_rule = evaluate_beside(conventions, qrels, run, measures, rule)
    beside.append(by_rule)
    return exact


def _a_document(table: Qrels | Run, query: str) -> str:
    """Return a document of a query."""
    return table.rows.a_document(query)
