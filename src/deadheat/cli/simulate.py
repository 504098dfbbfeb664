"""deadheat simulate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from deadheat.cli.app import debug_option
from deadheat.cli.figures import check_figures, figures_options, with_figures
from deadheat.cli.files import PATH, STDOUT, check_inputs, input_path, label, open_qrels, open_run
from deadheat.cli.options import (
    complete_from,
    decompressed_option,
    duplicates_option,
    examples,
    measure_option,
    parsed_measures,
    parsed_numbers,
    queries_options,
    reading_options,
    unique_names,
)
from deadheat.cli.output import format_option, prepare, print_report, writing
from deadheat.cli.progress import progress

PARTS = ("document", "rows")
OF_COARSENING = {  # options that only --coarsen takes
    "levels": "--levels",
    "decimals": "--decimals",
    "dtypes": "--dtypes",
    "per_query": "--per-query",
    "baseline": "--baseline",
    "notations": "-m",
    "missing": "--missing",
    "no_relevant": "--no-relevant",
    "check_duplicates": "--no-check-duplicates",
    "figures": "--figures",
}
OF_SIMULATION = {"n_queries": "--queries", "presets": "--preset", "query_types": "--query-type", "force": "--force"}


def _parsed_decimals(_: click.Context, parameter: click.Parameter, text: str | None) -> tuple[int, ...] | None:
    """Read decimals such as ``0,1,2``."""
    if text is None:
        return None
    parts = text.replace(",", " ").split()
    if not parts or not all(re.fullmatch("[0-9]{1,2}", part) for part in parts):
        raise click.BadParameter(f"expected numbers of decimals such as 0,1,2; got {text!r}", param=parameter)
    return tuple(sorted({int(part) for part in parts}))


def _parsed_words(_: click.Context, __: click.Parameter, text: str | None) -> tuple[str, ...] | None:
    """Read words such as ``bfloat16,float16``."""
    return None if text is None else tuple(dict.fromkeys(text.replace(",", " ").split()))


@click.command(
    short_help="Make up rerankers that tie, or make the scores of a run coarser.",
    **examples(
        "deadheat simulate",
        "deadheat simulate --queries 1000 --preset low --preset high -o made-up",
        "deadheat simulate --coarsen dense.run qrels.txt --levels 2,4,10,100",
        "deadheat simulate --coarsen a.run b.run qrels.txt --dtypes bfloat16 -m nDCG@10",
    ),
)
@click.argument("files", type=PATH, nargs=-1, metavar="[RUN... QRELS]")
@click.option("--coarsen", is_flag=True, help="Make the scores of runs coarser: give RUN... QRELS.")
@click.option("--queries", "n_queries", type=click.IntRange(1), metavar="N", default=100, help="Default 100.")
@click.option(
    "--preset",
    "presets",
    multiple=True,
    metavar="NAME",
    help="low, medium, high or very-high: how often a reranker ties; may be repeated. Default: all four.",
)
@click.option(
    "--query-type",
    "query_types",
    multiple=True,
    metavar="NAME",
    help="'simple factual', 'complex reasoning', multi-hop, ambiguous or plain; may be repeated. Default: the first"
    " four in turn.",
)
@click.option("--rng", "seed", type=click.IntRange(0), metavar="SEED", default=0, help="Seed; default 0.")
@click.option(
    "--levels",
    metavar="2,3,5,...",
    callback=parsed_numbers,
    help="Numbers of levels of equal width between the lowest and the highest score; default 2,3,5,10,20,50,100.",
)
@click.option("--decimals", metavar="0,1,...", callback=_parsed_decimals, help="Round to so many decimals instead.")
@click.option(
    "--dtypes",
    metavar="bfloat16,...",
    callback=_parsed_words,
    shell_complete=complete_from("deadheat.data.precision:FORMATS"),
    help="Round to bfloat16, float16 or float32 instead.",
)
@click.option("--per-query", is_flag=True, help="Levels between the lowest and the highest score of each query.")
@click.option("--baseline", metavar="RUN", help="Compare all others with this run; by default every pair.")
@measure_option
@format_option(*PARTS)
@click.option(
    "-o",
    "--output",
    type=PATH,
    metavar="FOLDER|FILE",
    help="Folder for qrels.txt, NAME.run and queries.csv; with --coarsen a file for the report.",
)
@click.option("--force", is_flag=True, help="Let -o FOLDER replace existing files that differ.")
@click.option("--digits", type=click.IntRange(0, 15), help="Decimals; default 4, but all of them in json and csv.")
@figures_options
@queries_options
@reading_options
@duplicates_option
@decompressed_option
@debug_option
@click.pass_context
def simulate(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    *,
    coarsen: bool,
    **options: Any,  # noqa: ANN401 - click's
) -> None:
    """Make up queries and rerankers that tie more or less often; or make the scores of real runs coarser.

    Without --coarsen: what ties do to each reranker, traditional and exact; -o writes qrels, runs and queries. With
    --coarsen RUN... QRELS: what the exact value, the range over tie orders, and the error of breaking ties by document
    id are for each number of levels; with two runs and more also how likely it is that ties name the wrong winner.
    """
    for name, option in (OF_SIMULATION if coarsen else OF_COARSENING).items():
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            problem = "makes up nothing" if coarsen else "is missing"
            raise click.UsageError(f"{option} is {'not ' if coarsen else ''}for --coarsen, which {problem}")
    if coarsen:
        _coarsen(files, options)
    else:
        _simulate(files, options)


def _simulate(files: Sequence[str], options: dict[str, Any]) -> None:
    from deadheat.report.of_simulation import report_simulation
    from deadheat.simulation.rerankers import simulate_rerankers

    if files:
        raise click.UsageError(f"files are for --coarsen RUN... QRELS, got {files[0]!r} without it")
    folder: str | None = options["output"]
    if folder == STDOUT:
        raise click.UsageError("-o names a folder for several files, which - is not")
    if folder is None and options["force"]:
        raise click.UsageError("--force replaces existing files: give -o FOLDER too")
    form = options["form"] or prepare(None, None, PARTS)
    found = simulate_rerankers(
        options["n_queries"],
        options["presets"] or None,
        options["seed"],
        query_types=options["query_types"] or None,
    )
    written: list[Path] = []
    if folder is not None:
        with writing(folder):
            written = found.write(folder, force=options["force"])
    report = report_simulation(found, seed=options["seed"], files=[str(path) for path in written])
    print_report(report, form=form, output=None, digits=options["digits"])


def _coarsen(files: Sequence[str], options: dict[str, Any]) -> None:
    from deadheat.report.of_simulation import report_coarsening
    from deadheat.simulation.coarse_profile import coarsening_profile

    if len(files) < 2:
        raise click.UsageError("--coarsen needs runs, and the qrels last: --coarsen RUN... QRELS")
    given = list(map(input_path, files))
    *paths, qrels = given
    form = prepare(options["form"], options["output"], PARTS, given)
    measures = parsed_measures(options["notations"])
    named = dict(zip(unique_names(paths, lambda path: label(path, "run")), paths, strict=True))
    baseline = {path: name for name, path in named.items()}.get(options["baseline"] or "", options["baseline"])
    check_figures(options["figures"])
    check_inputs(given)
    with progress(given) as begin:
        begin(qrels)
        judged, runs = open_qrels(qrels), {}
        for name, path in named.items():
            begin(path)
            runs[name] = open_run(path, name)
        found = coarsening_profile(
            judged,
            runs,
            measures,
            baseline=baseline,
            rng=options["seed"],
            **{
                name: options[name]
                for name in (
                    *("levels", "decimals", "dtypes", "per_query"),
                    *("missing", "no_relevant", "check_duplicates"),
                )
            },
        )
    report = report_coarsening(found, for_people=form not in {"json", "csv"})
    own = list(dict.fromkeys(row.measure for row in found.rows))
    report = with_figures(report, options["figures"], options["figure_format"], [("", found, {})], own)
    print_report(report, form=form, output=options["output"], digits=options["digits"])
