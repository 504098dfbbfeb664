"""Simulation, what simulate_rerankers() returns: judgments, runs, what their ties do, and their files."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import polars as pl

from deadheat.data.tables import Qrels, Run
from deadheat.evaluation.beside import difference_of, evaluate_beside
from deadheat.evaluation.conventions import Conventions
from deadheat.io.forking import check_threads
from deadheat.io.formats import write
from deadheat.io.naming import path_named
from deadheat.io.writing import write_files
from deadheat.measures import RR, Hit
from deadheat.simulation.presets import QueryType, Reranker
from deadheat.wording import counted

MEASURES = (RR(), Hit() @ 5)
TIED = pl.struct("query_id", "score").is_duplicated()


@dataclass(frozen=True, eq=False)
class Simulation:
    """Simulated queries, judgments and runs. Made by :func:`simulate_rerankers`.

    Attributes
    ----------
    qrels : Qrels
        Every document is judged: 1 is relevant, 0 is not.
    runs : dict of str to Run
        By the name of the reranker.
    queries : polars.DataFrame
        query_id and query_type.
    rerankers : tuple of Reranker
    query_types : tuple of QueryType
    """

    qrels: Qrels
    runs: dict[str, Run]
    queries: pl.DataFrame
    rerankers: tuple[Reranker, ...]
    query_types: tuple[QueryType, ...]

    def __repr__(self) -> str:
        return f"<Simulation of {', '.join(self.runs)}: {counted(self.queries.height, 'query', 'queries')}>"

    def summary(self) -> pl.DataFrame:
        """Return what ties do to each reranker, as a row for each and for RR and Hit@5.

        Returns
        -------
        polars.DataFrame
            reranker, levels, tie_probability, measure, n_queries; tie_ratio (share of the documents of a query that
            tie, its mean over queries) and tie_ratio_std; input_order (the mean if ties keep the order of the input,
            as "traditional" measures do), exact (over all orders), and their standard deviations over queries; mean
            and largest absolute difference of the two over queries.
        """
        check_threads()
        rows = []
        for one in self.rerankers:
            of_query = self.runs[one.name].to_polars().select("query_id", tied=TIED)
            ratio = of_query.group_by("query_id", maintain_order=True).agg(pl.col("tied").mean())["tied"]
            exact, usual = evaluate_beside(Conventions(), self.qrels, self.runs[one.name], MEASURES, "input")
            rows += [
                {
                    "reranker": one.name,
                    "levels": one.levels,
                    "tie_probability": float(one.tie_probability),
                    "measure": str(found.measure),
                    "n_queries": found.n_queries,
                    "tie_ratio": ratio.mean(),
                    "tie_ratio_std": ratio.std(),
                    "input_order": found.traditional,
                    "input_order_std": found.traditional_std,
                    "exact": found.exact,
                    "exact_std": found.std,
                    "mean_difference": found.mean,
                    "max_difference": found.max,
                }
                for found in (difference_of(*both, "input") for both in zip(exact, usual, strict=True))
            ]
        frame = pl.DataFrame(rows, schema_overrides={"levels": pl.Int64}, infer_schema_length=None)
        return frame.with_columns(pl.col(pl.Float64).fill_nan(None))

    def write(self, folder: str | os.PathLike[str], *, force: bool = False) -> list[Path]:
        """Write qrels.txt, a TREC run for each reranker (NAME.run) and queries.csv: all of them or none.

        Parameters
        ----------
        folder : path
            Made if it does not exist; its parent must.
        force : bool, default False
            Replace files that are there and differ.

        Returns
        -------
        list of pathlib.Path

        Raises
        ------
        DataError
            A file is there already and differs, or the folder cannot be made.
        """
        check_threads()
        folder = path_named(folder)
        files: dict[str, Callable[[IO[bytes]], Any]] = {
            "qrels.txt": partial(write, self.qrels.to_polars(), kind="qrels", format="trec"),
        }
        for one in self.rerankers:
            of_run = partial(write, self.runs[one.name].to_polars(), kind="run", format="trec", tag=one.file_name)
            files[f"{one.file_name}.run"] = of_run
        files["queries.csv"] = self.queries.write_csv
        return write_files(folder, files, force=force)
