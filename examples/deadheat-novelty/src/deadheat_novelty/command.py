"""The command ``deadheat novelty``."""

from typing import Any

import click

from deadheat import api


@api.command("deadheat novelty qrels.txt bm25.run dense.run", "deadheat novelty qrels.txt bm25.pipes --cutoff 5")
@click.argument("files", type=api.INPUT, nargs=-1, required=True, metavar="QRELS RUN...")
@api.option("--cutoff", type=int, default=10, show_default=True, help="Ranks that are looked at.")
@api.output_options("document")
@api.with_options("flags")
def novelty(files: tuple[str, ...], *, cutoff: int, **options: Any) -> None:  # noqa: ANN401 - click's
    """Show how much of the top of each run is new to the reader, exactly where scores tie."""
    output = api.Output(options, files)  # refuses what it cannot write, before anything is computed
    qrels = api.open_qrels(files[0])
    measure = f"Novelty@{cutoff}"
    rows = []
    for name, path in api.named_runs(files[1:]).items():
        scores = api.evaluate(qrels, api.open_run(path, name), measure)[measure]
        rows.append({"run": name, "novelty": scores.mean, "tie_std": scores.mean_tie_std})
    columns = (api.Column("novelty", measure), api.Column("tie_std", "tie std"))
    output.print(api.Report((api.tabulate("novelty", [api.Column("run", "run")], columns, rows),)))
