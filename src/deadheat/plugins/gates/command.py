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
from deadheat.core.cli.read_options import conventions_of, intervals_of, need_queries, weighed
from deadheat.core.cli.streams import write_note
from deadheat.core.phases import phase

if TYPE_CHECKING:
    from deadheat.core.evaluation.intervals import IntervalOptions
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
    from deadheat.plugins.gates import notation
    from deadheat.plugins.gates.baseline import open_baseline
    from deadheat.plugins.gates.report import report_gate

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
    output = Output(options, [*files, config, baseline_path, options["queries"], options.get("judge")])
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
        wanted = [*dict.fromkeys(kind_asked().as_judged(wanted))]
        _, _, evaluation, _ = next(
            evaluate_each(qrels, {label(run): run}, conventions, wanted, evaluator=evaluator_asked())
        )
        warn_of_nothing_judged([evaluation])
    queries = None if options["queries"] is None else dh.Queries(options["queries"])
    evaluation = weighed(evaluation, queries, options)
    if baseline is not None:
        baseline = replace(baseline, evaluation=weighed(baseline.evaluation, queries, options))
    # a file may name the margin of a baseline that only some calls have
    allowed = [name for name in OF_CHECKING if baseline is not None or name not in OF_BASELINE]
    with phase("checking gates"):
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
        write_note(result.summary)
    if not result.passed:
        raise click.exceptions.Exit(GATE_FAILED)


def _given(files: Sequence[str]) -> tuple[str, ...]:
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
