"""deadheat gate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadheat.cli.app import GATE_FAILED, debug_option, say
from deadheat.cli.files import (
    PATH,
    STDOUT,
    check_inputs,
    check_output,
    input_path,
    label,
    open_qrels,
    open_run,
    within_collection,
)
from deadheat.cli.options import (
    collection_options,
    complete_from,
    conventions_of,
    decompressed_option,
    duplicates_option,
    examples,
    interval_options,
    intervals_of,
    lists_options,
    need_queries,
    precision_option,
    queries_options,
    reading_options,
    then_by_option,
    ties_option,
)
from deadheat.cli.output import format_option, output_option, prepare, print_report, warn_of_nothing_judged
from deadheat.cli.progress import progress

if TYPE_CHECKING:
    from deadheat.evaluation.conventions import Conventions
    from deadheat.evaluation.evaluation import Evaluation
    from deadheat.evaluation.intervals import IntervalOptions
    from deadheat.gates import GateResult, GateSettings, Threshold
    from deadheat.measures import Measure

PARTS = ("gates",)
PYPROJECT = "pyproject.toml"
OF_BASELINE = ("no_regression", "no_worse_than")
OF_FILES = (*OF_BASELINE, "alpha", "by", "pool_languages", "allow_unknown")
EXAMPLES = examples(
    "deadheat gate results/dense.json -c 'nDCG@10 >= 0.8' -c 'low(RR) > 0.7'",
    "deadheat gate qrels.txt dense.run --preset rag",
    "deadheat gate results/dense.json --baseline results/main.json --no-regression --no-worse-than 0.01",
    "deadheat gate results/dense.json -c 'each(language): nDCG@10 >= .5' --queries queries.csv",
    "deadheat gate qrels.txt dense.run              # the gates of pyproject.toml",
    "deadheat gate results/dense.json --preset rag --format junit -o gates.xml",
    "deadheat gate results/dense.json --preset rag --format github >> $GITHUB_STEP_SUMMARY",
)
NO_GATE = (
    "no gate: give -c 'nDCG@10 >= 0.8', --preset rag, --baseline FILE, or a table in pyproject.toml:"
    "\n\n  [tool.deadheat.gates]\n  checks = ['nDCG@10 >= 0.8', 'low(RR) > 0.7']"
)


class GateCommand(click.Command):
    """The command, with the gates of each preset in its help."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the text, and the presets behind it."""
        super().format_help_text(ctx, formatter)
        with formatter.section("Presets"), formatter.indentation():
            formatter.write(click.wrap_text(_presets(), formatter.width - 4, "  ", "  ", preserve_paragraphs=True))
            formatter.write("\n")


def _presets() -> str:
    """Return every preset: its gates and where they come from."""
    from deadheat.gates import PRESETS, SOURCES

    return "\n\n".join(f"{name}: {', '.join(gates)}. From the {SOURCES[name]}." for name, gates in PRESETS.items())


def _list_presets(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - the signature is click's
    if not value:
        return
    from deadheat.gates import PRESETS, SOURCES

    for name, gates in PRESETS.items():
        click.echo("\n".join([f"{name}: {SOURCES[name]}", *(f"  {gate}" for gate in gates)]))
    ctx.exit()


@click.command(
    cls=GateCommand, short_help="Check thresholds and regressions; exit code 1 if a gate failed.", **EXAMPLES
)
@click.argument("files", type=PATH, nargs=-1, required=True, metavar="SAVED | QRELS RUN")
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
    shell_complete=complete_from("deadheat.gates:PRESETS"),
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
    type=PATH,
    metavar="FILE",
    help="A TOML file with a table [tool.deadheat.gates]; default: pyproject.toml here, if it has one and there is"
    " neither -c nor --preset.",
)
@click.option("--baseline", type=PATH, metavar="FILE", help="A saved evaluation that this one must not be worse than.")
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
@interval_options
@click.option(
    "--queries",
    type=PATH,
    metavar="FILE",
    help="A table with the columns of --by, each(...) and --cluster. Queries in several languages are checked by"
    " language.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="COLUMN",
    help="Check every gate in each stratum as well, by a column of --queries; by combinations if it is repeated."
    " Corrected over strata.",
)
@click.option("--pool-languages", is_flag=True, help="Check queries in different languages together.")
@click.option(
    "--allow-unknown",
    is_flag=True,
    help="Let a gate pass on fewer than 5 queries, or on an interval of zero width: such a pass proves nothing.",
)
@format_option(*PARTS)
@output_option
@ties_option
@queries_options
@lists_options
@precision_option
@then_by_option
@reading_options
@collection_options
@duplicates_option
@decompressed_option
@debug_option
@click.pass_context
def gate(ctx: click.Context, /, files: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Check an evaluation against thresholds and against a saved baseline.

    SAVED is what deadheat evaluate --save or Evaluation.save wrote; with QRELS RUN, the measures of the gates and of
    the baseline are evaluated, under any --ties but random.

    A baseline must be of the same qrels and queries, under the same conventions. --no-regression fails a loss that is
    significant (a one-sided paired t test); --no-worse-than fails unless a loss of the margin is ruled out.

    Exit codes: 0 all passed, 1 a gate failed, 2 usage, 3 bad data.
    """
    from deadheat import gates
    from deadheat.evaluation.evaluate import load_evaluation

    form, given = _prepared(files, options)
    conventions = _conventions(ctx, files, options)
    settings = _settings(options)
    thresholds = _thresholds(options, settings)
    baseline_path = _first(options["baseline"], settings and settings.baseline)
    queries_path = _first(options["queries"] and input_path(options["queries"]), settings and settings.queries)
    intervals = _check_usage(options, settings, thresholds, baseline_path, queries_path)
    if settings is not None:
        check_output(options["output"], [str(settings.path)])
    check_inputs([*given, *(str(path) for path in (options["config"], baseline_path, queries_path) if path)])
    baseline = load_evaluation(baseline_path) if baseline_path else None
    if len(given) == 1:
        evaluation = load_evaluation(given[0])
    else:
        measures = gates.measures_of(thresholds, baseline)
        evaluation = _evaluate(given, measures, conventions, options)
    result = gates.gate(
        evaluation,
        thresholds,
        baseline=baseline,
        **_asked(options, settings, has_baseline=baseline is not None),
        **vars(replace(intervals, queries=queries_path)),
    )
    _print(result, evaluation, form, options["output"], settings)
    if not result.passed:
        raise click.exceptions.Exit(GATE_FAILED)


def _prepared(files: Sequence[str], options: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the format and the files to check; refuse typos before anything is read."""
    from deadheat.evaluation.saved import is_saved

    if len(files) > 2:
        raise click.UsageError(f"expected one saved evaluation, or QRELS and one RUN; got {len(files)} files")
    given = [input_path(path) for path in files]
    if len(given) > 1 and (saved := [path for path in given if is_saved(path)]):
        other = next(path for path in given if path != saved[0] or len(set(given)) == 1)
        hint = f"deadheat gate {saved[0]} --baseline {other}" if len(saved) > 1 else f"deadheat gate {saved[0]}"
        raise click.UsageError(f"{' and '.join(saved)}: a saved evaluation is checked by itself, as in {hint}")
    others = [str(options[name]) for name in ("baseline", "config", "queries") if options[name] is not None]
    return prepare(options["form"], options["output"], PARTS, [*given, *others]), given


def _conventions(ctx: click.Context, files: Sequence[str], options: Mapping[str, Any]) -> Conventions:
    """Return how to evaluate; refuse such options for a saved evaluation."""
    found = conventions_of(options, without=["random"])  # a gate must not pass by luck
    if len(files) == 1:
        for name in (*vars(found), "check_duplicates", "collection", "strict"):
            if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
                raise click.UsageError(f"--{name.replace('_', '-')} is for QRELS RUN: {files[0]} is already evaluated")
    return found


def _settings(options: Mapping[str, Any]) -> GateSettings | None:
    """Read the TOML file that was named, or pyproject.toml if nothing else gives gates."""
    from deadheat.gates import has_settings, read_settings

    if options["config"] is not None:
        return read_settings(options["config"])
    if not options["checks"] and options["preset"] is None and has_settings(PYPROJECT):
        return read_settings(PYPROJECT)
    return None


def _thresholds(options: Mapping[str, Any], settings: GateSettings | None) -> tuple[Threshold, ...]:
    from deadheat.gates import parse_all, preset_gates

    preset = () if options["preset"] is None else preset_gates(options["preset"])
    return parse_all([*(settings.checks if settings else ()), *preset, *options["checks"]])


def _check_usage(
    options: Mapping[str, Any],
    settings: GateSettings | None,
    thresholds: Sequence[Threshold],
    baseline: str | Path | None,
    queries: str | Path | None,
) -> IntervalOptions:
    """Refuse options that nothing uses; return those of intervals."""
    if not thresholds and baseline is None:
        raise click.UsageError(NO_GATE)
    for name in (*OF_BASELINE, "alpha"):
        if baseline is None and options[name] not in {None, False}:
            raise click.UsageError(f"--{name.replace('_', '-')} needs a baseline: give --baseline FILE too")
    if options["no_worse_than"] is not None and not 0 < options["no_worse_than"] < math.inf:
        given = f"{options['no_worse_than']:g}"
        hint = "; --no-regression asks for a significant loss" if given == "0" else ""
        raise click.UsageError(f"--no-worse-than must be a number above 0, got {given}{hint}")
    by = options["by"] or (settings.options["by"] if settings else ())
    strata = {"--by": by, "each(...)": any(one.by for one in thresholds)}
    need_queries(queries, {**strata, "--pool-languages": options["pool_languages"]})
    if queries is not None and not any(strata.values()) and options["cluster"] is None:
        raise click.UsageError("--queries is the table of --by, each(...) and --cluster: give one of them too")
    check_output(options["output"], [str(path) for path in (baseline, queries) if path is not None])
    has_intervals = any(one.quantity in {"low", "high"} for one in thresholds)
    found = intervals_of(
        options,
        None,
        for_what="" if has_intervals else "a gate such as -c 'low(RR) > 0.7'",
        also=() if baseline is None else ("cluster",),  # the tests against it take clusters too
        has_queries=queries is not None,
    )
    if options["confidence_level"] is None and settings is not None and "confidence_level" in settings.options:
        found = replace(found, confidence_level=settings.options["confidence_level"])
    return found


def _asked(options: Mapping[str, Any], settings: GateSettings | None, *, has_baseline: bool) -> dict[str, Any]:
    """Return the arguments of the gates that a file may set too: the command line overrides the file."""
    # a file may name the margin of a baseline that only some calls have
    names = [name for name in OF_FILES if has_baseline or name not in OF_BASELINE]
    found = {name: _first(options[name] or None, settings and settings.options.get(name)) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def _first(given: Any, of_file: Any) -> Any:  # noqa: ANN401 - of whatever type the option is
    return of_file if given is None else given


def _evaluate(
    given: Sequence[str], measures: Sequence[Measure], conventions: Conventions, options: Mapping[str, Any]
) -> Evaluation:
    from deadheat.evaluation.evaluate import evaluate_under
    from deadheat.evaluation.warned import warn_of_form
    from deadheat.placements.place import open_pair

    qrels, run = given
    with progress(given) as begin:
        begin(qrels)
        judgments = within_collection(open_qrels(qrels), options)
        begin(run)
        found = open_run(run, label(run, "run"))
        pair = open_pair(judgments, found, check_duplicates=options["check_duplicates"])
    evaluation = evaluate_under(conventions, *pair, measures)
    warn_of_form(evaluation, *pair)
    warn_of_nothing_judged([evaluation])
    return evaluation


def _print(
    result: GateResult, evaluation: Evaluation, form: str, output: str | None, settings: GateSettings | None
) -> None:
    from deadheat.report.of_gate import report_gate

    sources = "" if settings is None else str(settings.path)
    asked = [name for name in OF_BASELINE if settings and settings.options.get(name) and result.baseline is None]
    report = report_gate(result, evaluation, sources=sources, marks=form == "github", not_asked=asked)
    print_report(report, form=form, output=output)
    if output not in {None, STDOUT}:
        say(result.summary)
