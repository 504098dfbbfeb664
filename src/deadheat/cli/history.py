"""deadheat history."""

from typing import Any

import click

from deadheat.cli.files import INPUT
from deadheat.cli.options import FIGURES, examples, takes
from deadheat.cli.output import Output, output_options, with_figures
from deadheat.settings import Estimation


@click.command(
    short_help="Show saved evaluations in order of time.",
    **examples(
        "deadheat history history/",
        "deadheat history monday.json tuesday.json --reference main.json",
        "deadheat history history/ --format jsonl -o trend.jsonl    # for a dashboard",
    ),
)
@click.argument("saved", type=INPUT, nargs=-1, required=True, metavar="SAVED...|FOLDER")
@click.option("--reference", type=INPUT, metavar="SAVED", help="Compare each with this one too.")
@takes("judgments", "test", "confidence_level", "n_resamples", "seed", *FIGURES)
@output_options("document", "rows", "scores", "lines")
@takes("flags")
def history(saved: tuple[str, ...], reference: str | None, **options: Any) -> None:  # noqa: ANN401 - click's
    """Show evaluations that deadheat evaluate --save wrote, in order of time: what changed at each step.

    Where judgments changed, earlier rankings are scored again under the newest ones, if the files kept them; where
    they did not, values that are not comparable are marked. p values are corrected over the steps.
    """
    from pathlib import Path

    from deadheat.comparison.history import history as find
    from deadheat.report.of_changes import report_history

    output = Output(options, [*(one for one in saved if not Path(one).is_dir()), reference])
    found = find(
        saved[0] if len(saved) == 1 else saved,
        reference=reference,
        judgments=options["judgments"],
        test=options["test"],
        confidence_level=options["confidence_level"] or Estimation.confidence_level,
        n_resamples=options["n_resamples"] or Estimation.n_resamples,
        rng=options["seed"],
    )
    report = report_history(found, for_people=not output.is_data)
    output.print(with_figures(report, [("", found, {})], list(found.measures)))
