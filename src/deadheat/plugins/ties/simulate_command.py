"""deadheat simulate."""

from collections.abc import Sequence
from typing import Any

import click

import deadheat as dh
from deadheat.core.cli.beside_report import parameters_of_companions, with_companion_options, with_companions
from deadheat.core.cli.errors import refuse, refuse_if, refuse_others
from deadheat.core.cli.help import option
from deadheat.core.cli.inputs import open_qrels, open_run
from deadheat.core.cli.options import LAST, READING, command, complete_from, with_options
from deadheat.core.cli.parsing import parsed_numbers
from deadheat.core.cli.paths import INPUT, REPORT, STDOUT, named_runs
from deadheat.core.cli.printing import Output, format_option, writing
from deadheat.core.cli.read_options import measures_of, named_baselines
from deadheat.core.phases import phase

OF_RERANKERS = ("n_queries", "presets", "query_types")
OF_SIMULATION = (*OF_RERANKERS, "n_scenarios", "force")
OF_BOTH = ("files", "coarsen", "seed", "notations", "form", "output", "digits", *parameters_of_companions())


@command(
    "deadheat simulate",
    "deadheat simulate --queries 1000 --preset low --preset high -o made-up",
    "deadheat simulate --scenarios 200 --figures pictures",
    "deadheat simulate --coarsen dense.run qrels.txt --levels 2,4,10,100",
    "deadheat simulate --coarsen a.run b.run qrels.txt --dtypes bfloat16 -m nDCG@10",
)
@click.argument("files", type=INPUT, nargs=-1, metavar="[RUN... QRELS]")
@option("--coarsen", is_flag=True, help="Make the scores of runs coarser: give RUN... QRELS.")
@option("--queries", "n_queries", type=click.IntRange(1), metavar="N", default=100, help="Default 100.")
@option(
    "--preset",
    "presets",
    multiple=True,
    metavar="NAME",
    help="low, medium, high or very-high: how often a reranker ties; may be repeated. Default: all four.",
)
@option(
    "--query-type",
    "query_types",
    multiple=True,
    metavar="NAME",
    help="'simple factual', 'complex reasoning', multi-hop, ambiguous or plain; may be repeated. Default: the first"
    " four in turn.",
)
@option(
    "--scenarios",
    "n_scenarios",
    type=click.IntRange(1),
    metavar="N",
    help="Make up N small rankings instead, with ties in three of ten.",
)
@with_options("seed")
@option(
    "--levels",
    metavar="2,3,5,...",
    callback=parsed_numbers,
    help="Numbers of levels of equal width between the lowest and the highest score; default 2,3,5,10,20,50,100.",
)
@option("--decimals", metavar="0,1,...", callback=parsed_numbers, help="Round to so many decimals instead.")
@option(
    "--dtypes",
    metavar="bfloat16,...",
    callback=lambda _, __, text: None if text is None else tuple(dict.fromkeys(text.replace(",", " ").split())),
    shell_complete=complete_from("deadheat.core.checks:FLOATS"),
    help="Round to bfloat16, float16 or float32 instead.",
)
@option(
    "--per-query",
    is_flag=True,
    help="Levels between the lowest and the highest score of each query.",
    heading="output",
    rank=110,
)
@with_options("baseline", "measures")
@format_option("document", "rows")
@option(
    "-o",
    "--output",
    type=REPORT,
    metavar="FOLDER|FILE",
    help="Folder for qrels.txt, NAME.run and queries.csv; with --coarsen a file for the report.",
    heading="output",
    rank=40,
)
@option("--force", is_flag=True, help="Let -o FOLDER replace existing files that differ.")
@option(
    "--digits",
    type=click.IntRange(0, 15),
    help="Decimals; default 4, but all of them in json and csv.",
    heading="output",
)
@with_companion_options("ties", "coarsening", such_as="tie_ratio")
@with_options("missing", "no_relevant", *READING, *LAST)
def simulate(files: tuple[str, ...], *, coarsen: bool, **options: Any) -> None:  # noqa: ANN401 - click's
    """Make up queries and rerankers that tie more or less often; or make the scores of real runs coarser.

    Without --coarsen: what ties do to each reranker, traditional and exact, by RR and Hit@5; or, with --scenarios, what
    they do to small rankings of all sorts, by RR and Hit@3; -o writes qrels, runs and queries. With
    --coarsen RUN... QRELS: what the exact value, the range over tie orders, and the error of breaking ties by document
    id are for each number of levels; with two runs and more also how likely it is that ties name the wrong winner.
    """
    if coarsen:
        refuse(OF_SIMULATION, "is not for --coarsen, which makes up nothing")
        _coarsen(files, options)
    else:
        refuse_others({*OF_SIMULATION, *OF_BOTH}, "is for --coarsen, which is missing")
        _simulate(files, options)


def _simulate(files: Sequence[str], options: dict[str, Any]) -> None:
    from deadheat.plugins.ties.report_of_simulation import report_scenarios, report_simulation

    refuse_if(files, f"files are for --coarsen RUN... QRELS, got {', '.join(map(repr, files))} without it")
    folder: str | None = options["output"]
    refuse_if(folder == STDOUT, "-o names a folder for several files, which - is not")
    refuse_if(folder is None and options["force"], "--force replaces existing files: give -o FOLDER too")
    output = Output(options | {"output": None})
    own = {"measures": measures_of(options)} if options["notations"] else {}
    if options["n_scenarios"] is not None:
        refuse(OF_RERANKERS, "is not for --scenarios, which makes up no rerankers")
        with phase("making up rankings"):
            found = dh.simulate_scenarios(options["n_scenarios"], options["seed"], **own)
        report_of = report_scenarios
    else:
        with phase("making up rerankers"):
            found = dh.simulate_rerankers(
                options["n_queries"],
                options["presets"] or None,
                options["seed"],
                query_types=options["query_types"] or None,
                **own,
            )
        report_of = report_simulation
    with writing(folder):
        written = [] if folder is None else found.write(folder, force=options["force"])
    output.print(
        with_companions(
            report_of(found, seed=options["seed"], files=list(map(str, written))),
            [("", found, {})],
            [one.label for one in found.measures],
        )
    )


def _coarsen(files: Sequence[str], options: dict[str, Any]) -> None:
    from deadheat.plugins.ties.report_of_simulation import report_coarsening

    refuse_if(len(files) < 2, "--coarsen needs runs, and the qrels last: --coarsen RUN... QRELS")
    *paths, qrels = files
    output = Output(options, files)
    measures = measures_of(options)
    named = named_runs(paths)
    judged = open_qrels(qrels)
    runs = {name: open_run(path, name) for name, path in named.items()}
    own = {name: options[name] for name in ("levels", "decimals", "dtypes", "per_query", "missing", "no_relevant")}
    baselines: list[Any] = named_baselines(options, named) or [None]
    refuse_if(len(baselines) > 1, "--coarsen compares with one --baseline")
    with phase("making scores coarser"):
        found = dh.coarsening_profile(judged, runs, measures, baseline=baselines[0], rng=options["seed"], **own)
    output.print(
        with_companions(
            report_coarsening(found, for_people=not output.is_data),
            [("", found, {})],
            list(dict.fromkeys(row.measure for row in found.rows)),
        )
    )
