"""The command ``deadheat gate``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import deadheat as dh
from deadheat.core.cli.errors import GATE_FAILED, refuse, refuse_if
from deadheat.core.cli.evaluating import evaluate_each
from deadheat.core.cli.evaluators import evaluator_asked
from deadheat.core.cli.help import option
from deadheat.core.cli.inputs import is_saved, split_judgments
from deadheat.core.cli.judged import kind_asked
from deadheat.core.cli.options import (
    COLLECTION,
    INTERVALS,
    LAST,
    LISTS,
    OF_EVALUATING,
    READING,
    command,
    complete_from,
    with_options,
)
from deadheat.core.cli.paths import INPUT, STDOUT, label
from deadheat.core.cli.printing import Output, format_option, full_option, output_option, warn_of_nothing_judged
from deadheat.core.cli.read_options import apply_weights, conventions_of, intervals_of, need_queries
from deadheat.core.cli.streams import write_note
from deadheat.core.phases import phase

if TYPE_CHECKING:
    from deadheat.core.evaluation.intervals import IntervalOptions
    from deadheat.core.settings import Conventions
    from deadheat.plugins.gates.baseline import Baseline
    from deadheat.plugins.gates.notation import Threshold

PYPROJECT = "pyproject.toml"
OF_BASELINE = ("no_regression", "no_worse_than")
OF_CHECKING = (*OF_BASELINE, "alpha", "by", "pool_languages", "allow_unknown")  # that a file may set too
NO_GATE = (
    "no gate: give -c 'nDCG@10 >= 0.8', --preset rag, --baseline FILE, or a table in pyproject.toml:"
    "\n\n  [tool.deadheat.gates]\n  checks = ['nDCG@10 >= 0.8', 'low(RR) > 0.7']"
)


def _list_presets(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - the signature is click's
    if not value:
        return
    from deadheat.plugins.gates.notation import PRESETS, SOURCES

    for name, gates in PRESETS.items():
        click.echo(f"{name}: {SOURCES[name]}")
        for text in gates:
            click.echo(f"  {text}")
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
@option(
    "-c",
    "--check",
    "checks",
    multiple=True,
    metavar="GATE",
    help="Such as 'nDCG@10 >= 0.8', on the mean (of counts: the total); also low(...) and high(...), the ends of its"
    " confidence interval, and tie_min(...), tie_max(...), tie_std(...). Operators: >=, >, <=, <. 'each(language):"
    " nDCG@10 >= .5' is checked in each stratum. May be repeated.",
    rank=20,
)
@option(
    "--preset",
    metavar="NAME",
    shell_complete=complete_from("deadheat.plugins.gates.notation:PRESETS"),
    help="A named set of gates: rag.",
)
@option(
    "--list-presets",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_presets,
    help="Print the gates of every preset and where they come from.",
)
@option(
    "--config",
    type=INPUT,
    metavar="FILE",
    help="A TOML file with a table [tool.deadheat.gates]; default: pyproject.toml here, if it has one and there is"
    " neither -c nor --preset.",
)
@option(
    "--baseline",
    type=INPUT,
    metavar="FILE|FOLDER",
    help="A saved evaluation that this one must not be worse than; of a folder the newest save of the same run, or"
    " without one of the same label.",
    heading="statistics",
    rank=30,
)
@option(
    "--no-regression",
    is_flag=True,
    help="Fail a significant loss against --baseline (the default). Passing proves little with few queries.",
    rank=120,
)
@option(
    "--no-worse-than",
    type=float,
    metavar="MARGIN",
    help="Fail unless a loss of MARGIN or more against --baseline is ruled out (non-inferiority).",
)
@option(
    "--alpha",
    type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
    metavar="LEVEL",
    help="One-sided level of both tests against the baseline, each measure by itself; default 0.05.",
)
@with_options("judge.gate", "judgments", *INTERVALS, "cluster", "weights")
@option(
    "--queries",
    type=INPUT,
    metavar="FILE",
    help="A table with the columns of --by, each(...), --cluster and --weights. Queries in several languages are"
    " checked by language.",
    heading="input",
    rank=60,
)
@option(
    "--by",
    multiple=True,
    metavar="COLUMN",
    help="Check every gate in each stratum as well, by a column of --queries; by each if it is repeated, and by"
    " combinations as a:b. Corrected over strata.",
    heading="statistics",
    rank=70,
)
@option("--pool-languages", is_flag=True, help="Check queries in different languages together.", heading="statistics")
@option(
    "--allow-unknown",
    is_flag=True,
    help="Let a gate pass on fewer than 5 queries, or on an interval of zero width: such a pass proves nothing.",
)
@format_option("gates")
@output_option
@full_option
@with_options("ties_not_drawn", "other_judgments", *LISTS, "bounds", "then_by", *READING, *COLLECTION, *LAST)
def gate(files: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Check an evaluation against thresholds and against a saved baseline.

    SAVED is what deadheat evaluate --save or Evaluation.save wrote, or what trec_eval -q printed; with QRELS RUN, the
    measures of the gates and of the baseline are evaluated, under any --ties but random.

    A baseline must be under the same conventions. If its judgments are others, its ranking is scored again under the
    newer ones, and new queries that it was not asked are left out (--judgments). --no-regression fails a loss that is
    significant (a one-sided paired t test); --no-worse-than fails unless a loss of the margin is ruled out.

    Exit codes: 0 all passed, 1 a gate failed, 2 usage, 3 bad data.
    """
    from deadheat.plugins.gates.notation import read_settings
    from deadheat.plugins.gates.report import report_gate

    files = _check_files(files)
    conventions = conventions_of(options, without=["random"])  # a gate must not pass by luck
    if len(files) == 1:
        refuse((*OF_EVALUATING, "judge"), f"is for QRELS RUN: {files[0]} is already evaluated")
    config = _find_config(options)
    file_checks: tuple[str, ...] = ()
    file_options: dict[str, Any] = {}
    if config is not None:
        file_checks, file_options = read_settings(config)
    for name, value in file_options.items():
        options[name] = options[name] or value  # the command line overrides the file
    thresholds = _parse_thresholds(file_checks, options)
    intervals = _check_usage(options, file_options, thresholds)
    output = Output(options, _list_inputs(files, config, options))
    saved = dh.load_evaluation(files[0]) if len(files) == 1 else None
    baseline = _open_baseline(files, saved, options)
    evaluation = saved
    if evaluation is None:
        evaluation = _evaluate_run(files, conventions, thresholds, baseline)
    queries = None if options["queries"] is None else dh.Queries(options["queries"])
    evaluation = apply_weights(evaluation, queries, options)
    if baseline is not None:
        baseline = replace(baseline, evaluation=apply_weights(baseline.evaluation, queries, options))
    with phase("checking gates"):
        result = dh.gate(
            evaluation,
            thresholds,
            baseline=baseline,
            judgments=options["judgments"],
            **_select_tests(options, file_options, has_baseline=baseline is not None),
            **vars(replace(intervals, queries=queries)),
        )
    not_asked: list[str] = []
    if result.baseline is None:
        not_asked = [name for name in OF_BASELINE if file_options.get(name)]
    output.print(report_gate(result, sources=config or "", marks=output.form == "github", not_asked=not_asked))
    if output.path not in {None, STDOUT}:
        write_note(result.summary)
    if not result.passed:
        raise click.exceptions.Exit(GATE_FAILED)


def _check_files(files: Sequence[str]) -> tuple[str, ...]:
    """Return a saved evaluation, or judgments and a run; refuse other files."""
    first, others = split_judgments(files[0], tuple(files[1:]))
    files = (first, *others)
    refuse_if(len(files) > 2, f"expected one saved evaluation, or QRELS or --spans and one RUN; got {len(files)} files")
    saved = [path for path in files if is_saved(path)]
    refuse_if(
        saved and len(files) > 1,
        f"{' and '.join(saved)}: a saved evaluation is checked by itself, as in deadheat gate"
        f" {' --baseline '.join(saved)}",
    )
    return files


def _find_config(options: Mapping[str, Any]) -> str | None:
    """Return the file of gates: that of --config, or pyproject.toml if it has some and the command line has none."""
    from deadheat.plugins.gates.notation import has_settings

    if options["config"]:
        path: str = options["config"]
        return path
    has_gates = options["checks"] or options["preset"] is not None
    if not has_gates and has_settings(PYPROJECT):
        return PYPROJECT
    return None


def _parse_thresholds(file_checks: Sequence[str], options: Mapping[str, Any]) -> tuple[Threshold, ...]:
    """Return the gates of a file, of --preset and of -c, in this order."""
    from deadheat.plugins.gates.notation import parse_all, preset_gates

    checks = list(file_checks)
    if options["preset"] is not None:
        checks += preset_gates(options["preset"])
    checks += options["checks"]
    return parse_all(checks)


def _list_inputs(files: Sequence[str], config: str | None, options: Mapping[str, Any]) -> list[str | None]:
    """Return the files that are read, which an output must not replace; None for those that were not given."""
    baseline = options["baseline"]
    if baseline is not None and Path(baseline).is_dir():
        baseline = None  # an output in a folder replaces no save of it
    return [*files, config, baseline, options["queries"], options.get("judge")]


def _open_baseline(files: Sequence[str], saved: dh.Evaluation | None, options: Mapping[str, Any]) -> Baseline | None:
    """Open the baseline of a saved evaluation, or of a run that is not evaluated yet; None if none was asked for."""
    from deadheat.plugins.gates.baseline import open_baseline

    if options["baseline"] is None:
        return None
    name = label(files[-1]) if saved is None else saved.name
    return open_baseline(options["baseline"], name, saved)


def _evaluate_run(
    files: Sequence[str], conventions: Conventions, thresholds: Sequence[Threshold], baseline: Baseline | None
) -> dh.Evaluation:
    """Evaluate a run by the measures of the gates and of the baseline."""
    from deadheat.plugins.gates.notation import measures_of

    qrels, run = files
    measures = measures_of(thresholds, None if baseline is None else baseline.evaluation)
    judged_measures = list(dict.fromkeys(kind_asked().as_judged(measures)))
    evaluated = evaluate_each(qrels, {label(run): run}, conventions, judged_measures, evaluator=evaluator_asked())
    evaluation = next(evaluated).evaluation
    warn_of_nothing_judged([evaluation])
    return evaluation


def _select_tests(options: Mapping[str, Any], file_options: Mapping[str, Any], *, has_baseline: bool) -> dict[str, Any]:
    """Return the arguments of :func:`deadheat.gate` about tests that were given, in a file or on the command line."""
    arguments = {}
    for name in OF_CHECKING:
        # a file may name the margin of a baseline that only some calls have
        is_used = has_baseline or name not in OF_BASELINE
        if is_used and (options[name] or name in file_options):
            arguments[name] = options[name]
    return arguments


def _check_usage(
    options: Mapping[str, Any], file_options: Mapping[str, Any], thresholds: Sequence[Threshold]
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
    needing_queries = {
        "--by": options["by"],
        "each(...)": any(threshold.by for threshold in thresholds),
        "--weights": options["weights"],
    }
    need_queries(options["queries"], needing_queries)
    uses_queries = any(needing_queries.values()) or options["cluster"] is not None
    refuse_if(
        options["queries"] is not None and not uses_queries,
        "--queries is the table of --by, each(...), --cluster and --weights: give one of them too",
    )
    has_intervals = any(threshold.quantity in {"low", "high"} for threshold in thresholds)
    for_what = "" if has_intervals else "a gate such as -c 'low(RR) > 0.7'"
    allowed_without_intervals = set(file_options)
    if has_baseline:
        allowed_without_intervals.add("cluster")  # the tests against it take clusters too
    return intervals_of(options, None, for_what=for_what, also=allowed_without_intervals)
