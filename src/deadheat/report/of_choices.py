"""Tables of what a choice makes of evaluations: a threshold of scores, or the share of a span that a chunk covers."""

from collections.abc import Sequence

import polars as pl

from deadheat.evaluation.evaluation import Evaluation
from deadheat.report.model import MEASURE, SYSTEM, Column, Table, tabulate, tabulate_groups


def tabulate_abstention(evaluations: Sequence[Evaluation]) -> Table:
    """Return a row for each run and threshold: how often it abstains, and is right to."""
    frames = [(one.name, one.abstention()) for one in evaluations]
    columns = [Column(name, name.removeprefix("n_")) for name in frames[0][1].columns]
    rows = [{"system": name, **row} for name, frame in frames for row in frame.iter_rows(named=True)]
    title = "Abstention: no score above the threshold; without one, nothing is retrieved"
    return tabulate("abstention", (SYSTEM,), columns, rows, title=title)


def tabulate_overlaps(found: pl.DataFrame) -> Table:
    """Return a row for each measure and overlap, with the mean and the place of each run."""
    systems = found["system"].unique(maintain_order=True).to_list()
    rows = {(row["measure"], row["overlap"], row["system"]): row for row in found.iter_rows(named=True)}
    measures = found["measure"].unique(maintain_order=True).to_list()
    overlaps = found["overlap"].unique(maintain_order=True).to_list()
    return tabulate_groups(
        "overlaps",
        (MEASURE, Column("overlap", "overlap")),
        (Column("mean", "mean"), Column("place", "place")),
        (
            ((measure, str(overlap)), [rows[measure, overlap, name] for name in systems])
            for measure in measures
            for overlap in overlaps
        ),
        systems,
        title="By the share of a span that a chunk covers",
    )
