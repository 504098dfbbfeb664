"""Simulation, what simulate_rerankers() returns: judgments, runs, what their ties do, and their files."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from deadheat.arrays import FloatArray
from deadheat.data.tables import Qrels, Run
from deadheat.errors import DataError
from deadheat.io.forking import check_threads
from deadheat.io.formats import write
from deadheat.io.naming import path_named
from deadheat.io.writing import replacing
from deadheat.measures import parse_measure
from deadheat.placements.place import engine_of
from deadheat.placements.policies import by_rule
from deadheat.simulation.presets import QueryType, Reranker
from deadheat.wording import counted, three

MEASURES = ("RR", "Hit@5")


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
        rows = [row for one in self.rerankers for row in self._summary_of(one)]
        return pl.DataFrame(rows, schema_overrides={"levels": pl.Int64}, infer_schema_length=None)

    def _summary_of(self, one: Reranker) -> Iterator[dict[str, object]]:
        run = self.runs[one.name]
        of_query = run.to_polars().select("query_id", tied=pl.struct("query_id", "score").is_duplicated())
        ratio = of_query.group_by("query_id", maintain_order=True).agg(pl.col("tied").mean())["tied"].to_numpy()
        engine = engine_of(self.qrels, run)
        placements = engine.place()
        in_order = by_rule(placements, engine, "input")
        for measure in map(parse_measure, MEASURES):
            usual, exact = measure.mean(in_order), measure.mean(placements)
            apart = np.abs(usual - exact)
            yield {
                "reranker": one.name,
                "levels": one.levels,
                "tie_probability": float(one.tie_probability),
                "measure": str(measure),
                "n_queries": len(apart),
                "tie_ratio": float(ratio.mean()),
                "tie_ratio_std": _std(ratio),
                "input_order": float(usual.mean()),
                "input_order_std": _std(usual),
                "exact": float(exact.mean()),
                "exact_std": _std(exact),
                "mean_difference": float(apart.mean()),
                "max_difference": float(apart.max()),
            }

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
        if folder.exists() and not folder.is_dir():
            raise DataError("is a file", hint="name a folder", path=folder)
        if not folder.absolute().parent.is_dir():
            raise DataError(f"no such folder: {str(folder.absolute().parent)!r}", path=folder)
        files: dict[Path, Callable[[IO[bytes]], Any]] = {
            folder / "qrels.txt": partial(write, self.qrels.to_polars(), kind="qrels", format="trec"),
        }
        for one in self.rerankers:
            of_run = partial(write, self.runs[one.name].to_polars(), kind="run", format="trec", tag=one.file_name)
            files[folder / f"{one.file_name}.run"] = of_run
        files[folder / "queries.csv"] = self.queries.write_csv
        strange = [path.name for path in files if path.exists() and not path.is_file()]
        if strange:
            raise DataError(f"{three(strange)} in it is no file, and would be replaced", path=folder)
        folder.mkdir(exist_ok=True)
        with ExitStack() as stack:  # on any error all temporary files are removed, and no file is replaced
            written = {}
            for path, write_to in files.items():
                file = written[path] = stack.enter_context(replacing(path))
                write_to(file)
                file.flush()
            differing = [
                path.name
                for path, file in written.items()
                if path.exists() and not filecmp.cmp(path, file.name, shallow=False)
            ]
            if differing and not force:
                raise DataError(
                    f"{three(differing)} in it would be replaced",
                    hint="choose another folder, or force to replace files",
                    path=folder,
                )
        return list(files)


def _std(values: FloatArray) -> float | None:
    """Return the standard deviation over queries; None of a single one."""
    return float(values.std(ddof=1)) if len(values) > 1 else None
