"""The report of a simulation: what ties do to rerankers that were made up."""

from __future__ import annotations

from collections.abc import Sequence

from deadheat.report.model import MEASURE, Column, Fact, Report, Row, Share, Table
from deadheat.simulation.simulated import Simulation
from deadheat.wording import counted

COLUMNS = (
    Column("n_queries", "queries", is_data=True),
    Column("levels", "levels", spare=2),
    Column("tie_probability", "p(tie)", spare=1),
    Column("tie_ratio", "tied"),
    Column("tie_ratio_std", "std", is_data=True),
    Column("input_order", "input"),
    Column("input_order_std", "std", is_data=True),
    Column("exact", "exact"),
    Column("exact_std", "std", is_data=True),
    Column("mean_difference", "mean diff"),
    Column("max_difference", "max diff"),
)
CLOSING = (
    "tied: share of a query's documents that share their score, mean over queries. input: ties are broken by"
    " the order of the documents, as traditional measures do. exact: mean over all orders of the ties. diff: absolute"
    " difference of the two in a query."
)


def report_simulation(simulation: Simulation, *, seed: object = None, files: Sequence[str] = ()) -> Report:
    """Return the report of a simulation.

    Parameters
    ----------
    simulation : Simulation
    seed : int, optional
        Of its random numbers.
    files : sequence of str
        What was written.
    """
    rows = []
    for row in simulation.summary().sort("measure", descending=True, maintain_order=True).iter_rows(named=True):
        row |= {name: Share(row[name]) for name in ("tie_ratio", "tie_probability")}
        cells = tuple(row[column.key] for column in COLUMNS)
        rows.append(Row((row["measure"], row["reranker"]), (cells,)))
    labels = (MEASURE, Column("reranker", "reranker"))
    table = Table("rerankers", labels, COLUMNS, tuple(rows), main=7, has_blocks=True)
    types = [one.name for one in simulation.query_types]
    n_queries, n_documents = simulation.queries.height, simulation.qrels.to_polars().height
    heading = (
        f"Simulated: {counted(len(simulation.rerankers), 'reranker')}, {counted(n_queries, 'query', 'queries')},"
        f" {counted(n_documents, 'document')}"
    )
    facts = (
        Fact("n_queries", n_queries),
        Fact("n_documents", n_documents),
        Fact("query_types", types, "queries", ", ".join(types)),
        Fact("seed", seed, "seed", "" if seed is None else str(seed)),
        Fact("files", list(files), "written", ", ".join(files)),
    )
    return Report((table,), facts, heading=heading, closing=CLOSING, subject=simulation)
