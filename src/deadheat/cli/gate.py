"""deadheat gate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadheat.cli.app import GATE_FAILED, debug_option
from deadheat.cli.files import PATH, STDOUT, check_inputs, check_output, input_path, label
from deadheat.cli.intervals import interval_options, intervals_of
from deadheat.cli.options import (
    check_conventions,
    complete_from,
    duplicates_option,
    examples,
    missing_option,
    no_relevant_option,
    passed_on,
    precision_option,
    ties_option,
)
from deadheat.cli.output import emit, format_option, output_option, prepare, print_report, warn_of_strangers
from deadheat.cli.progress import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deadheat.confidence import IntervalOptions
    from deadheat.evaluation import Evaluation
    from deadheat.gates import GateResult, GateSettings, Threshold

FORMATS = ("table", "json", "junit", "github")
OF_SUFFIX = {".xml": "junit", ".md": "github"}
PYPROJECT = "pyproject.toml"
EXAMPLES = examples(
    "deadheat gate results/dense.json -c 'nDCG@10 >= 0.8' -c 'low(RR) > 0.7'",
    "deadheat gate qrels.txt dense.run --preset rag",
    "deadheat gate results/dense.json --baseline results/main.json --no-worse-than 0.01",
    "deadheat gate qrels.txt dense.run              # the gates of pyproject.toml",
    "deadheat gate results/dense.json --preset rag --format junit -o gates.xml",
    "deadheat gate results/dense.json --preset rag --format github >> $GITHUB_STEP_SUMMARY",
)
NO_GATE = (
    "no gate: give -c 'nDCG@10 >= 0.8', --preset rag, --baseline FILE, or a table in pyproject.toml:"
    "\n\n  [tool.deadheat.gates]\n  checks = ['nDCG@10 >= 0.8', 'low(RR) > 0.7']"
)


@click.command(short_help="Check thresholds and regressions; exit code 1 if a gate failed.", **EXAMPLES)
@click.argument("files", type=PATH, nargs=-1, required=True, metavar="SAVED | QRELS RUN")
@click.option(
    "-c",
    "--check",
    "checks",
    multiple=True,
    metavar="GATE",
    help="Such as 'nDCG@10 >= 0.8', on the mean; also low(...) and high(...), the ends of its confidence interval, and"
    " tie_min(...), tie_max(...), tie_std(...). Operators: >=, >, <=, <. May be repeated.",
)
@click.option(
    "--preset", metavar="NAME", shell_complete=complete_from("deadheat.gates:PRESETS"), help="Gates with a name: rag."
)
@click.option(
    "--config",
    type=PATH,
    metavar="FILE",
    help="A TOML file with a table [tool.deadheat.gates]; default: pyproject.toml here, if it has one and there is"
    " neither -c nor --preset.",
)
@click.option("--baseline", type=PATH, metavar="FILE", help="A saved evaluation that this one must not be worse than.")
@click.option(
    "--no-worse-than",
    type=click.FloatRange(0),
    metavar="MARGIN",
    help="A change for the worse that is tolerated; default 0.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
    metavar="LEVEL",
    help="Level of the tests against the baseline, each by itself; default 0.05.",
)
@interval_options
@click.option("--queries", type=PATH, metavar="FILE", help="The table that has the column of --cluster.")
@format_option(*FORMATS)
@output_option
@ties_option
@missing_option
@no_relevant_option
@precision_option
@duplicates_option
@debug_option
@click.pass_context
def gate(ctx: click.Context, /, files: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Check an evaluation against thresholds and against a saved baseline.

    SAVED is what deadheat evaluate --save or Evaluation.save wrote; with QRELS RUN, the measures of the gates and of
    the baseline are evaluated, under any --ties but random.

    A baseline fails only a mean that is significantly worse by more than the margin (a one-sided paired t test); it
    must be of the same qrels and queries, under the same conventions.

    Exit codes: 0 all passed, 1 a gate failed, 2 usage, 3 bad data.
    """
    from deadheat.gates import gate as check_gates
    from deadheat.saved import load_evaluation

    form, given, others = _prepared(ctx, files, options)
    settings = _settings(options)
    thresholds = _thresholds(options, settings)
    baseline_path = options["baseline"] or (settings.baseline if settings else None)
    of_intervals = _check_usage(options, thresholds, baseline_path)
    check_inputs([*given, *others, *([str(baseline_path)] if baseline_path else [])])
    baseline = load_evaluation(baseline_path) if baseline_path else None
    evaluation = load_evaluation(given[0]) if len(given) == 1 else _evaluate(given, thresholds, baseline, options)
    # a file may name the margin of a baseline that only some calls have
    result = check_gates(
        evaluation,
        thresholds,
        baseline=baseline,
        no_worse_than=_chosen("no_worse_than", options, settings) if baseline is not None else 0.0,
        alpha=_chosen("alpha", options, settings),
        **_with_level(of_intervals, options, settings),
    )
    _print(result, evaluation, form, options["output"], settings)
    if not result.passed:
        raise click.exceptions.Exit(GATE_FAILED)


def _prepared(ctx: click.Context, files: Sequence[str], options: dict[str, Any]) -> tuple[str, list[str], list[str]]:
    """Return the format, the files to check and those beside them; refuse what is mistyped before anything is read."""
    if len(files) > 2:
        raise click.UsageError(f"expected one saved evaluation, or QRELS and one RUN; got {len(files)} files")
    given = [input_path(path) for path in files]
    form, output = options["form"], options["output"]
    if form is None and output not in {None, STDOUT}:
        form = OF_SUFFIX.get(Path(output).suffix.lower())
    others = [str(options[name]) for name in ("baseline", "config", "queries") if options[name] is not None]
    form = prepare(form, output, FORMATS, [*given, *others])
    if options["queries"] is not None and options["cluster"] is None:
        raise click.UsageError("--queries is the table of --cluster COLUMN: give --cluster too")
    check_conventions(options, without=["random"])  # a gate that passes by luck is none
    if len(given) == 1:
        for name in passed_on(options):
            if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
                word = "check-duplicates" if name == "check_duplicates" else name.replace("_", "-")
                raise click.UsageError(f"--{word} is for QRELS RUN: {files[0]} was evaluated already")
    return form, given, others


def _settings(options: dict[str, Any]) -> GateSettings | None:
    """Read the TOML file that was named, or pyproject.toml if nothing else gives gates."""
    from deadheat.gates import has_settings, read_settings

    if options["config"] is not None:
        return read_settings(options["config"])
    if not options["checks"] and options["preset"] is None and has_settings(PYPROJECT):
        return read_settings(PYPROJECT)
    return None


def _thresholds(options: dict[str, Any], settings: GateSettings | None) -> tuple[Threshold, ...]:
    from deadheat.gates import parse_all, preset_gates

    preset = () if options["preset"] is None else preset_gates(options["preset"])
    return parse_all([*(settings.checks if settings else ()), *preset, *options["checks"]])


def _check_usage(
    options: dict[str, Any], thresholds: Sequence[Threshold], baseline: str | Path | None
) -> IntervalOptions:
    """Refuse options that nothing is there for; return those of intervals."""
    if not thresholds and baseline is None:
        raise click.UsageError(NO_GATE)
    for name in ("no_worse_than", "alpha"):
        if baseline is None and options[name] is not None:
            raise click.UsageError(f"--{name.replace('_', '-')} is about a baseline: give --baseline FILE too")
    if baseline is not None:
        check_output(options["output"], [str(baseline)])
    needs_intervals = any(one.quantity in {"low", "high"} for one in thresholds)
    return intervals_of(
        options,
        None,
        for_what="" if needs_intervals else "a gate such as -c 'low(RR) > 0.7'",
        also=() if baseline is None else ("cluster",),  # the tests against it take clusters too
    )


def _evaluate(
    given: Sequence[str], thresholds: Sequence[Threshold], baseline: Evaluation | None, options: dict[str, Any]
) -> Evaluation:
    from deadheat.data import Qrels, Run
    from deadheat.evaluating import evaluate
    from deadheat.gates import measures_of

    measures = measures_of(thresholds, baseline)
    qrels, run = given
    with progress(given) as begin:
        begin(qrels)
        judgments = Qrels(qrels)
        begin(run)
        evaluation = evaluate(judgments, Run(run, name=label(run, "run")), measures, **passed_on(options))
    warn_of_strangers([evaluation])
    return evaluation


def _with_level(
    of_intervals: IntervalOptions, options: dict[str, Any], settings: GateSettings | None
) -> IntervalOptions:
    """Return the options of intervals with the level of the file, if none was given."""
    if options["level"] is None and settings is not None and settings.confidence_level is not None:
        of_intervals = {**of_intervals, "confidence_level": settings.confidence_level}
    return {**of_intervals, "queries": options["queries"]}


def _chosen(key: str, options: dict[str, Any], settings: GateSettings | None) -> float:
    """Return what was given, or else what the file says, or else the default."""
    from deadheat.gates import GateOptions

    given = (options[key], getattr(settings, key, None), getattr(GateOptions, key))
    return next(float(value) for value in given if value is not None)


def _print(
    result: GateResult, evaluation: Evaluation, form: str, output: str | None, settings: GateSettings | None
) -> None:
    from deadheat.report.as_junit import as_junit
    from deadheat.report.as_markdown import as_markdown
    from deadheat.report.of_gate import report_gate

    sources = "" if settings is None else str(settings.path)
    report = report_gate(result, evaluation, sources=sources, marks=form == "github")
    if form == "junit":
        emit(as_junit(result, report), output)
    elif form == "github":
        emit(as_markdown(report), output)
    else:
        print_report(report, form=form, output=output)
    if output not in {None, STDOUT}:
        click.echo(result.summary, err=True)
