"""deadheat judges."""

from typing import Any

import click

from deadheat.cli.app import refuse
from deadheat.cli.files import INPUT, labels_of, named_runs, open_qrels, open_run
from deadheat.cli.options import FIGURES, LAST, READING, examples, need_queries, takes
from deadheat.cli.output import Output, emit, output_options, with_figures
from deadheat.settings import Estimation


@click.command(
    short_help="Show how far a judge's labels agree with human ones.",
    **examples(
        "deadheat judges human.qrels gpt4.qrels",
        "deadheat judges human.qrels gpt4.qrels llama.qrels --run bm25.run --run dense.run -m nDCG@10",
    ),
)
@click.argument("human", type=INPUT)
@click.argument("judges", type=INPUT, nargs=-1, required=True, metavar="JUDGE...")
@click.option(
    "--run", "runs", type=INPUT, multiple=True, help="A system; of two or more: what the judge does to conclusions."
)
@click.option("--per-query", is_flag=True, help="Add a table of all queries.")
@output_options("document", "rows", "scores")
@takes("measures", "rel", "queries", "by", "confidence_level", "n_resamples", "seed", *FIGURES, *READING, *LAST)
def judges(human: str, judges: tuple[str, ...], runs: tuple[str, ...], *, per_query: bool, **options: Any) -> None:  # noqa: ANN401 - click's
    """Show how far labels of a judge, such as a language model, agree with human ones.

    On the documents that both labelled: kappa, Krippendorff's alpha, what each grade is worth, with intervals. With
    runs also: which differences between systems the judge reverses, misses or invents, and whether it favours one.
    """
    from deadheat.comparison.judges import judge_agreement
    from deadheat.data.queries import Queries
    from deadheat.evaluation.strata import groupings_of, label
    from deadheat.report.of_judgments import report_judges
    from deadheat.report.page import page_of_judges

    need_queries(options["queries"], {"--by": options["by"]})
    if not runs:
        refuse(("notations", "n_resamples"), "is of systems: give --run too")
    output = Output(options, [human, *judges, *runs])
    found = judge_agreement(
        open_qrels(human),
        {name: labels_of(path, name) for name, path in named_runs(judges).items()},
        runs={name: open_run(path, name) for name, path in named_runs(runs).items()} or None,
        measures=options["notations"] or "nDCG@10",
        rel=1 if options["rel"] is None else options["rel"],
        confidence_level=options["confidence_level"] or Estimation.confidence_level,
        n_resamples=options["n_resamples"] or Estimation.n_resamples,
        rng=options["seed"],
        check_duplicates=False,
    )
    strata = {}
    if options["by"]:
        table = Queries(options["queries"])
        sets = groupings_of(options["by"], table)
        output.check_sets(sets)
        strata = {f"{':'.join(one)} {label(name)}": own for one in sets for name, own in found.by(one, table).items()}
    report = report_judges(found, per_query=per_query, strata=strata, for_people=not output.is_data)
    if output.form == "html" and options["figures"] is None:
        emit(page_of_judges(found, report), output.path)
        return
    several = len(found.judges) > 1
    drawn = [(f"{name}-" if several else "", found, {"judge": name}) for name in found.judges]
    output.print(with_figures(report, drawn, list(dict.fromkeys(one.measure.label for one in found.conclusions))))
