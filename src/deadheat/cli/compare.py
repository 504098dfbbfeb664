"""Commands that decide between runs: compare, and gate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import deadheat as dh
from deadheat.cli.app import GATE_FAILED, missing, refuse, refuse_if, say
from deadheat.cli.figures import befores, draws, with_figures
from deadheat.cli.files import (
    INPUT,
    STDOUT,
    Output,
    asked,
    checked_run,
    format_option,
    full_option,
    is_saved,
    label,
    labels_of_judge,
    named_runs,
    open_pairs,
    open_qrels,
    open_run,
    output_option,
    output_options,
    shown_path,
    split_repeats,
    table_option,
    warn_of_nothing_judged,
)
from deadheat.cli.options import (
    COLLECTION,
    ENGINE,
    INTERVALS,
    LAST,
    LISTS,
    OF_EVALUATING,
    READING,
    SPANS,
    STRATA,
    TESTS,
    check_strata,
    command,
    complete_from,
    conventions_of,
    design_of,
    intervals_of,
    measures_of,
    named_baselines,
    need_queries,
    read_queries,
    sets_of_strata,
    takes,
    weighed,
    with_spans,
)
from deadheat.errors import Rng, generator
from deadheat.settings import Conventions

if TYPE_CHECKING:
    from deadheat.arrays import FloatArray
    from deadheat.evaluation.intervals import IntervalOptions
    from deadheat.gates.notation import Threshold
    from deadheat.measures import Measure


TABLES = ("systems", "one_tie_rule", "orders", "across_languages", "language_differences", "language_interactions")


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
)
@click.argument("qrels", type=INPUT, metavar="QRELS|SAVED")
@click.argument("runs", type=INPUT, nargs=-1, metavar="RUN RUN...|SAVED...")
@takes("repeats", "baseline", "judgments", "measures", *TESTS, "margin")
@click.option(
    "--detect",
    type=click.FloatRange(0, min_open=True),
    help="Also say how many queries it takes to detect a difference of this size.",
)
@click.option(
    "--queries-worst",
    type=click.IntRange(1),
    metavar="N",
    help="Also list the N queries on which a system is best, worst, and that hang most on ties; with their texts if"
    " --queries has a column such as text.",
)
@click.option(
    "--judge",
    type=INPUT,
    metavar="QRELS",
    help="Labels of a judge, such as a language model, for the queries of the human labels, a random sample, and for"
    " more: differences are estimated from both.",
)
@click.option(
    "--orders",
    is_flag=True,
    help="Also say how far orders of the systems agree: by two measures, and by document id, as trec_eval.",
)
@click.option("--ranks", is_flag=True, help="Also give the rank of each system as a range, and P(best).")
@takes(*INTERVALS, "cluster", "seed", *STRATA, "ties")
@draws("comparison", "languages", "strata", such_as="scatter")
@output_options("document", "rows", "scores")
@full_option
@table_option("that of the pairs", *TABLES)
@takes(*SPANS, *LISTS, "then_by", *READING, *COLLECTION, *ENGINE, *LAST)
def compare(qrels: str, runs: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Compare runs in pairs over the same queries; or evaluations that deadheat evaluate --save has saved.

    Who leads and whether that is more than chance, one table, and the notes that could change the decision. --full
    shows for each measure the means with their intervals, the differences with p values before and after the
    correction (a star: significant), and the differences whose sign a random tie-break reverses with some probability,
    beside the difference with ties broken by document id, as trec_eval. csv and json hold every number;
    csv has one row per pair, to which --margin and --detect add columns, or the table that --table names. For counts
    all of this is about totals, --margin and --detect included; csv and json hold the total instead of the mean.

    If the table of --queries has columns language and pair_id, queries of one pair_id are compared across languages.
    """
    from deadheat.comparison.languages import languages_of_queries
    from deadheat.evaluation.intervals import strata_of
    from deadheat.report.model import side_by_side
    from deadheat.report.of_comparison_tables import report_with_requests

    qrels, runs = with_spans(qrels, runs)
    check_strata(options)
    output = Output(options, [qrels, *runs, options["queries"], options["judge"]])
    _check_tables(options, output)
    if not (runs or options["repeats"]):
        raise missing("runs")
    saved = saved_evaluations([qrels, *runs])
    refuse_if(saved and options["repeats"], f"--repeats are of QRELS RUN...: {qrels} is already evaluated")
    named = named_runs(saved or runs)
    if not saved:
        refuse(("judgments",), "is for saved evaluations: runs are evaluated under the same judgments")
        named, options["repeats"] = split_repeats(named, options["repeats"])
    if options["repeats"]:
        refuse(("judge", "then_by", "unjudged", "margin", "detect", "ranks", "figures"), "is not for repeats of a run")
    if options["judge"]:
        refuse(("orders", "ranks", "figures"), "is not for --judge: it would be by the human labels alone")
    alone = next(iter(named)) if len(named) == 1 and asked().get("then_by") else ""
    if alone:  # the run alone, and with its ties ordered
        named[", then ".join([alone, *map(label, asked()["then_by"])])] = named[alone]
    comparison, _, queries = compare_files("" if saved else qrels, named, options, alone=alone)
    groupings = sets_of_strata(queries, comparison.evaluations.values(), options)
    output.check_sets(groupings)
    languages = None if queries is None else languages_of_queries(comparison, queries)
    reports = {}
    for n, columns in enumerate(groupings):
        own: dict[str, Any] = {
            "qrels": shown_path(qrels, "the qrels"),
            "columns": columns,
            "margin": options["margin"],
            "strata": strata_of(comparison, columns, queries) if queries is not None and columns else None,
        }
        if not n:  # what concerns all queries comes once
            own |= {"languages": languages, "queries_worst": options["queries_worst"]}
        reports[":".join(columns)] = report_with_requests(
            comparison,
            **own,
            compact=not (options["full"] or output.is_data),
            digits=output.digits,
            **{name: options[name] for name in ("detect", "ranks", "orders")},
            queries=queries,
            source="" if queries is None else shown_path(queries.where, "the table of queries"),
            for_people=not output.is_data,
            in_one=output.form == "csv",  # which has room for one table, by default the first
            with_others=output.form != "csv" or output.table is not None,
        )
    output.print(
        with_figures(
            side_by_side(reports),
            _subjects(comparison, queries, groupings, languages),
            [one.label for one in comparison.measures],
        )
    )


def _check_tables(options: Mapping[str, Any], output: Output) -> None:
    """Refuse what a single table has no place for."""
    if output.form == "csv":
        refuse(("queries_worst", "ranks"), "is for json and text formats: csv has one table, with a row for each pair")
        refuse_if(bool(options["orders"]) and output.table != "orders", "--orders: csv has them with --table orders")


def compare_files(
    qrels: str, named: Mapping[str, str], options: Mapping[str, Any], *, alone: str = ""
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

    Returns
    -------
    comparison : Comparison
    runs : dict of str to Run
        None of saved evaluations.
    queries : Queries or None
    """
    from deadheat.comparison.compare import compare_evaluated, compare_under
    from deadheat.evaluation.warned import warn_of_form

    # report typos before large files are read
    conventions, measures = conventions_of(options), measures_of(options)
    design = design_of({**options, "baseline": named_baselines(options, named)})
    design.check_systems(
        [*named, *options.get("repeats", ())],
        has_clusters=options["cluster"] is not None,
        has_weights=options["weights"] is not None,
    )
    queries = read_queries(options)
    table = queries if options["cluster"] or options["weights"] else None
    clusters = {"cluster": options["cluster"], "weights": options["weights"], "queries": table}
    runs: dict[str, dh.Run] = {}
    if options.get("repeats") or options.get("spans"):
        evaluations = {}
        judgments = open_qrels(qrels) if options.get("repeats") else qrels
        drawn = generator(design.rng)  # each run has draws of its own
        for _, run, evaluation, _ in evaluate_each(judgments, named, conventions, measures, seed=drawn):
            evaluations[run.name], runs[run.name] = evaluation, run
        if isinstance(judgments, dh.Qrels):
            evaluations |= evaluate_repeats(judgments, options["repeats"], measures, conventions)
        comparison = compare_evaluated(design, evaluations, **clusters)
    elif not qrels:
        evaluations = {name: dh.load_evaluation(path).called(name) for name, path in named.items()}
        comparison = compare_evaluated(
            design,
            evaluations,
            **clusters,
            judgments=options.get("judgments"),
            judge=labels_of_judge(options.get("judge")),
        )
    else:
        judgments = open_qrels(qrels)
        for _, opened in open_pairs(judgments, named, alone=alone):
            runs |= {run.name: run for run in opened}
        comparison = compare_under(
            design,
            conventions,
            judgments,
            runs,
            measures,
            **clusters,
            check_duplicates=False,
            judge=labels_of_judge(options.get("judge")),
        )
        for name, run in runs.items():
            warn_of_form(comparison.evaluations[name], judgments, run)
    warn_of_nothing_judged(comparison.evaluations.values())
    return comparison, runs, queries


def evaluate_repeats(
    qrels: dh.Qrels,
    repeats: Mapping[str, Sequence[str | dh.Run]],
    measures: Sequence[Measure],
    conventions: Conventions,
) -> dict[str, dh.Evaluation]:
    """Return the evaluation of each system that was run several times, by its name."""
    from deadheat.evaluation.evaluate import evaluate_under
    from deadheat.evaluation.repeats import together

    own = replace(conventions, missing="empty") if conventions.missing == "skip" else conventions
    runs = {
        name: (open_run(one, label(one)) if isinstance(one, str) else checked_run(one) for one in some)
        for name, some in repeats.items()
    }
    each = {name: [evaluate_under(own, qrels, run, measures) for run in some] for name, some in runs.items()}
    return {name: together(name, evaluations, conventions.missing) for name, evaluations in each.items()}


def evaluate_each(
    qrels: str | dh.Qrels,
    runs: Mapping[str, str],
    conventions: Conventions,
    measures: Sequence[Measure],
    *,
    seed: Rng = None,
    rule: str | None = None,
    form: str | None = None,
    judge: str | None = None,
) -> Iterator[tuple[dh.Qrels, dh.Run, dh.Evaluation, list[FloatArray]]]:
    """Yield the judgments of each run, the run, its evaluation, and its values with ties broken by a rule.

    The judgments are read and checked once, but for spans; `form` is the format of the runs, if that is known.
    """
    from deadheat.evaluation.evaluate import evaluate_many
    from deadheat.evaluation.warned import warn_of_form

    by_judge = labels_of_judge(judge)
    for judgments, opened in open_pairs(qrels, runs, form=form):
        each = evaluate_many(conventions, judgments, opened, measures, [seed] * len(opened), rule=rule, judge=by_judge)
        for run, (evaluation, by_rule) in zip(opened, each, strict=True):
            warn_of_form(evaluation, judgments, run)
            yield judgments, run, evaluation, by_rule


def saved_evaluations(paths: list[str]) -> list[str]:
    """Return the paths if they are saved evaluations, else none; refuse a mix, and options of evaluating."""
    if not is_saved(paths[0]):
        return []
    other = next((path for path in paths if not is_saved(path)), None)
    refuse_if(
        other is not None,
        f"{paths[0]} is a saved evaluation, and {other} is none: give saved ones only, or QRELS RUN RUN...",
    )
    of_labels = ("columns", "grades", "normalize_ids") if asked().get("judge") else ()
    refuse(
        [name for name in OF_EVALUATING if name not in of_labels],
        f"is for QRELS RUN RUN...: {paths[0]} is already evaluated; save it anew with deadheat evaluate, or rescore",
    )
    return paths


def _subjects(
    comparison: dh.Comparison,
    queries: dh.Queries | None,
    groupings: Sequence[tuple[str, ...]],
    languages: dh.Languages | None,
) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """Yield what figures are drawn of: the comparison, its languages, and its strata if there are any."""
    from deadheat.evaluation.intervals import strata_of
    from deadheat.figures.base import interval_options

    yield "", comparison, {}
    if languages is not None:
        yield "", languages, {}
    for before, columns in zip(befores(groupings), groupings, strict=True):
        if queries is None or not columns:
            continue
        of_each = {name: strata_of(one, columns, queries) for name, one in comparison.evaluations.items()}
        yield before, of_each, {"options": interval_options(None, comparison)}


PYPROJECT = "pyproject.toml"
OF_BASELINE = ("no_regression", "no_worse_than")
OF_FILES = (*OF_BASELINE, "alpha", "by", "pool_languages", "allow_unknown")
NO_GATE = (
    "no gate: give -c 'nDCG@10 >= 0.8', --preset rag, --baseline FILE, or a table in pyproject.toml:"
    "\n\n  [tool.deadheat.gates]\n  checks = ['nDCG@10 >= 0.8', 'low(RR) > 0.7']"
)


def _list_presets(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - the signature is click's
    if not value:
        return
    from deadheat.gates.notation import PRESETS, SOURCES

    for name, gates in PRESETS.items():
        click.echo("\n".join([f"{name}: {SOURCES[name]}", *(f"  {gate}" for gate in gates)]))
    ctx.exit()


@command(
    "deadheat gate results/dense.json -c 'nDCG@10 >= 0.8' -c 'low(RR) > 0.7'",
    "deadheat gate qrels.txt dense.run --preset rag",
    "deadheat gate --spans spans.csv chunks-200.jsonl -c 'R@5 >= 0.8'",
    "deadheat gate results/dense.json --baseline results/main.json --no-regression --no-worse-than 0.01",
    "deadheat gate qrels.txt dense.run --baseline weeks/    # its newest save there",
    "deadheat gate results/dense.json -c 'each(language): nDCG@10 >= .5' --queries queries.csv",
    "deadheat gate qrels.txt dense.run              # the gates of pyproject.toml",
    "deadheat gate results/dense.json --preset rag --format junit -o gates.xml",
    "deadheat gate results/dense.json --preset rag --format github >> $GITHUB_STEP_SUMMARY",
)
@click.argument("files", type=INPUT, nargs=-1, required=True, metavar="SAVED | QRELS RUN")
@click.option(
    "-c",
    "--check",
    "checks",
    multiple=True,
    metavar="GATE",
    help="Such as 'nDCG@10 >= 0.8', on the mean (of counts: the total); also low(...) and high(...), the ends of its"
    " confidence interval, and tie_min(...), tie_max(...), tie_std(...). Operators: >=, >, <=, <. 'each(language):"
    " nDCG@10 >= .5' is checked in each stratum. May be repeated.",
)
@click.option(
    "--preset",
    metavar="NAME",
    shell_complete=complete_from("deadheat.gates.notation:PRESETS"),
    help="A named set of gates: rag.",
)
@click.option(
    "--list-presets",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_presets,
    help="Print the gates of every preset and where they come from.",
)
@click.option(
    "--config",
    type=INPUT,
    metavar="FILE",
    help="A TOML file with a table [tool.deadheat.gates]; default: pyproject.toml here, if it has one and there is"
    " neither -c nor --preset.",
)
@click.option(
    "--baseline",
    type=INPUT,
    metavar="FILE|FOLDER",
    help="A saved evaluation that this one must not be worse than; of a folder the newest save of the same run, or"
    " without one of the same label.",
)
@click.option(
    "--no-regression",
    is_flag=True,
    help="Fail a significant loss against --baseline (the default). Passing proves little with few queries.",
)
@click.option(
    "--no-worse-than",
    type=float,
    metavar="MARGIN",
    help="Fail unless a loss of MARGIN or more against --baseline is ruled out (non-inferiority).",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
    metavar="LEVEL",
    help="One-sided level of both tests against the baseline, each measure by itself; default 0.05.",
)
@click.option(
    "--judge",
    type=INPUT,
    metavar="QRELS",
    help="Labels of a judge for the queries of the human labels, a random sample, and for more: means and their"
    " intervals are estimated from both, comparisons with a baseline and strata are of the human labels.",
)
@takes("judgments", *INTERVALS, "cluster", "weights")
@click.option(
    "--queries",
    type=INPUT,
    metavar="FILE",
    help="A table with the columns of --by, each(...), --cluster and --weights. Queries in several languages are"
    " checked by language.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="COLUMN",
    help="Check every gate in each stratum as well, by a column of --queries; by each if it is repeated, and by"
    " combinations as a:b. Corrected over strata.",
)
@click.option("--pool-languages", is_flag=True, help="Check queries in different languages together.")
@click.option(
    "--allow-unknown",
    is_flag=True,
    help="Let a gate pass on fewer than 5 queries, or on an interval of zero width: such a pass proves nothing.",
)
@format_option("gates")
@output_option
@full_option
@takes("ties_not_drawn", *SPANS, *LISTS, "then_by", *READING, *COLLECTION, *LAST)
def gate(files: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Check an evaluation against thresholds and against a saved baseline.

    SAVED is what deadheat evaluate --save or Evaluation.save wrote; with QRELS RUN, the measures of the gates and of
    the baseline are evaluated, under any --ties but random.

    A baseline must be under the same conventions. If its judgments are others, its ranking is scored again under the
    newer ones, and new queries that it was not asked are left out (--judgments). --no-regression fails a loss that is
    significant (a one-sided paired t test); --no-worse-than fails unless a loss of the margin is ruled out.

    Exit codes: 0 all passed, 1 a gate failed, 2 usage, 3 bad data.
    """
    from deadheat.gates import notation
    from deadheat.gates.baseline import open_baseline
    from deadheat.report.of_changes import report_gate

    files = _given(files)
    conventions = conventions_of(options, without=["random"])  # a gate must not pass by luck
    if len(files) == 1:
        refuse((*OF_EVALUATING, "judge"), f"is for QRELS RUN: {files[0]} is already evaluated")
    is_silent = not options["checks"] and options["preset"] is None
    config = options["config"] or (PYPROJECT if is_silent and notation.has_settings(PYPROJECT) else None)
    checks, of_file = ((), {}) if config is None else notation.read_settings(config)
    options |= {name: options[name] or value for name, value in of_file.items()}  # the command line overrides the file
    preset = () if options["preset"] is None else notation.preset_gates(options["preset"])
    thresholds = notation.parse_all([*checks, *preset, *options["checks"]])
    intervals = _check_usage(options, of_file, thresholds)
    baseline_path = options["baseline"]
    if baseline_path is not None and Path(baseline_path).is_dir():
        baseline_path = None  # an output in a folder replaces no save of it
    output = Output(options, [*files, config, baseline_path, options["queries"], options["judge"]])
    saved = dh.load_evaluation(files[0]) if len(files) == 1 else None
    baseline = None
    if options["baseline"] is not None:
        name = label(files[-1]) if saved is None else saved.name
        baseline = open_baseline(options["baseline"], name, saved)
    if saved is not None:
        evaluation = saved
    else:
        qrels, run = files
        wanted = notation.measures_of(thresholds, None if baseline is None else baseline.evaluation)
        if options["spans"]:
            from deadheat.evaluation.spans import measures_of_spans

            wanted = [*dict.fromkeys(measures_of_spans(wanted))]
        _, _, evaluation, _ = next(evaluate_each(qrels, {label(run): run}, conventions, wanted, judge=options["judge"]))
        warn_of_nothing_judged([evaluation])
    queries = None if options["queries"] is None else dh.Queries(options["queries"])
    evaluation = weighed(evaluation, queries, options)
    if baseline is not None:
        baseline = replace(baseline, evaluation=weighed(baseline.evaluation, queries, options))
    # a file may name the margin of a baseline that only some calls have
    allowed = [name for name in OF_FILES if baseline is not None or name not in OF_BASELINE]
    result = dh.gate(
        evaluation,
        thresholds,
        baseline=baseline,
        judgments=options["judgments"],
        **{name: options[name] for name in allowed if options[name] or name in of_file},
        **vars(replace(intervals, queries=queries)),
    )
    output.print(
        report_gate(
            result,
            sources=config or "",
            marks=output.form == "github",
            not_asked=[name for name in OF_BASELINE if of_file.get(name) and result.baseline is None],
        )
    )
    if output.path not in {None, STDOUT}:
        say(result.summary)
    if not result.passed:
        raise click.exceptions.Exit(GATE_FAILED)


def _given(files: Sequence[str]) -> tuple[str, ...]:
    """Return a saved evaluation, or judgments and a run; refuse other files."""
    first, others = with_spans(files[0], tuple(files[1:]))
    files = (first, *others)
    refuse_if(len(files) > 2, f"expected one saved evaluation, or QRELS or --spans and one RUN; got {len(files)} files")
    saved = [path for path in files if is_saved(path)]
    refuse_if(
        saved and len(files) > 1,
        f"{' and '.join(saved)}: a saved evaluation is checked by itself, as in deadheat gate"
        f" {' --baseline '.join(saved)}",
    )
    return files


def _check_usage(
    options: Mapping[str, Any], of_file: Mapping[str, Any], thresholds: Sequence[Threshold]
) -> IntervalOptions:
    """Refuse options that nothing uses, unless a file set them; return those of intervals."""
    has_baseline = options["baseline"] is not None
    refuse_if(not thresholds and not has_baseline, NO_GATE)
    if not has_baseline:
        refuse((*OF_BASELINE, "alpha", "judgments"), "needs a baseline: give --baseline FILE too")
    if options["queries"] is None:
        refuse(("pool_languages",), "needs a table of queries: give --queries FILE too")
    margin = options["no_worse_than"]
    refuse_if(
        margin is not None and margin <= 0,
        f"--no-worse-than must be a number above 0, got {margin}; --no-regression asks for a significant loss",
    )
    needing = {
        "--by": options["by"],
        "each(...)": any(one.by for one in thresholds),
        "--weights": options["weights"],
    }
    need_queries(options["queries"], needing)
    refuse_if(
        options["queries"] is not None and not any(needing.values()) and options["cluster"] is None,
        "--queries is the table of --by, each(...), --cluster and --weights: give one of them too",
    )
    of_tests = {"cluster"} if has_baseline else set()  # the tests against it take clusters too
    return intervals_of(
        options,
        None,
        for_what=""
        if any(one.quantity in {"low", "high"} for one in thresholds)
        else "a gate such as -c 'low(RR) > 0.7'",
        also=of_tests | of_file.keys(),
    )
