"""Holes of human labels, filled with what a judge's labels mean: several times, as that is known with an error."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from deadheat.arrays import BoolArray, FloatArray, IntArray
from deadheat.data.rows import ScorePrecision
from deadheat.data.tables import Qrels, Run
from deadheat.errors import DataError, Rng, counted, generator
from deadheat.measures import Measure
from deadheat.measures.unjudged import with_judged
from deadheat.placements.placements import Placements

N_FILLINGS = 200
N_BANDS = 7  # of documents by their scores: the last half of them, the quarter before, ..., the first 1/64
MOST_GRADES = 50


@dataclass(frozen=True, eq=False)
class Filling:
    """The documents that a judge alone has labelled, and what its grades mean.

    Attributes
    ----------
    placements : Placements
        By human labels.
    documents : polars.DataFrame
        Of each the query, above and tied (both 0 where not retrieved), grade, and the codes of grade and band.
    counts : ndarray of shape (n_queries, n_grades, n_bands, n_levels)
        Documents that both labelled. What a grade means may hang on where the run ranks a document: bands are by its
        score, and the last is of documents that the run lacks.
    levels : ndarray of float, shape (n_levels,)
        Human grades.
    seed : int
    """

    placements: Placements
    documents: pl.DataFrame
    counts: FloatArray
    levels: FloatArray
    seed: int

    def __iter__(self) -> Iterator[Placements]:
        """Give the placements with the holes filled, `N_FILLINGS` times, always the same."""
        from deadheat.stats.labels import drawn_levels  # few evaluations have a judge

        rng = np.random.default_rng(self.seed)
        cells = tuple(self.documents[name].to_numpy() for name in ("query", "code", "band"))
        for _ in range(N_FILLINGS):
            yield self._with(self.levels[drawn_levels(self.counts, cells, self._concentration, rng)])

    @cached_property
    def _concentration(self) -> float:
        from deadheat.stats.labels import concentration_of  # as above

        return concentration_of(self.counts)

    @cached_property
    def as_judged(self) -> Placements:
        """The placements as if the judge were right."""
        grades = self.documents["grade"].to_numpy()
        return replace(self._with(grades), max_relevance=max([self.placements.max_relevance, *grades.tolist()]))

    def _with(self, labels: FloatArray) -> Placements:
        query, above, tied = (self.documents[name].to_numpy() for name in ("query", "above", "tied"))
        return with_judged(self.placements, query, labels, above, tied)

    @property
    def lost(self) -> IntArray:
        """How many documents of each query the judge alone has labelled and the run does not retrieve."""
        gone = self.documents.filter(pl.col("tied") == 0)["query"].to_numpy()
        return np.bincount(gone, minlength=self.placements.n_queries).astype(np.int64)

    def of(self, measures: Sequence[Measure]) -> "Iterator[Filled]":
        """Give what the fillings make of each measure."""
        draws = np.array([[measure.mean(one) for measure in measures] for one in self])
        return (
            Filled(draws[:, n], measure.mean(self.as_judged), self._shares(measure))
            for n, measure in enumerate(measures)
        )

    def _shares(self, measure: Measure) -> FloatArray:
        """Return the share of the ranks that a measure looks at whose document the judge alone has labelled."""
        query, above, tied = (self.documents[name].to_numpy() for name in ("query", "above", "tied"))
        n_ranks = self.placements.n_retrieved
        depth = n_ranks if measure.deepest is None else np.minimum(n_ranks, measure.deepest)
        inside = np.clip(depth[query] - above, 0, tied) / np.maximum(tied, 1)
        return np.asarray(np.bincount(query, inside, len(n_ranks)) / np.maximum(depth, 1))

    def told(self) -> str:
        """Say what the holes are filled from."""
        n_known, n_queries = int(self.counts.sum()), int(self.counts.any((1, 2, 3)).sum())
        return (
            f"{counted(len(self.documents), 'document')} that the judge alone has labelled, of which the run lacks"
            f" {self.lost.sum():,}; what its grades mean is taken from {counted(n_known, 'document')} of"
            f" {counted(n_queries, 'query', 'queries')} that both labelled"
        )


@dataclass(frozen=True, eq=False)
class Filled:
    """The values of a measure with the holes of human labels filled.

    Attributes
    ----------
    draws : ndarray of float, shape (n_fillings, n_queries)
        Of each filling.
    by_judge : ndarray of float, shape (n_queries,)
        As if the judge were right in all holes.
    shares : ndarray of float, shape (n_queries,)
        Of the ranks that the measure looks at, those with a document that the judge alone has labelled.
    """

    draws: FloatArray
    by_judge: FloatArray
    shares: FloatArray

    def select(self, keep: BoolArray | IntArray) -> "Filled":
        """Return those of some queries."""
        return Filled(self.draws[:, keep], self.by_judge[keep], self.shares[keep])


def filling(
    qrels: Qrels, judge: Qrels, run: Run, placements: Placements, *, precision: ScorePrecision, rng: Rng
) -> Filling:
    """Return the holes of human labels, and what a judge's labels mean there.

    Parameters
    ----------
    qrels, judge : Qrels
        Of humans, and of the judge.
    run : Run
    placements : Placements
        Of the run, by the human labels.
    precision : {"float32", "float16", "bfloat16"} or int, optional
        As `score_precision`.
    rng : numpy.random.Generator or int, optional

    Raises
    ------
    DataError
        There is no document that both labelled, the judge has too many grades, or labels are by subtopic.
    """
    if qrels.subtopics is not None:
        raise DataError(f"{qrels.where} has labels by subtopic, which a judge's labels cannot fill")
    codes = pl.DataFrame({"query_id": placements.query_ids.tolist()}, {"query_id": pl.String}).with_row_index("query")
    scores = run.rounded(precision).to_polars().join(codes, on="query_id", how="semi")
    share = pl.col("score").rank("max", descending=True) / pl.len()
    bands = scores.select("query_id", "doc_id", band=(share * 2 ** (N_BANDS - 1)).log(2).ceil().clip(0).cast(pl.Int64))
    own = judge.to_polars().select("query_id", "doc_id", grade="relevance").join(codes, on="query_id")
    own = own.join(bands, on=["query_id", "doc_id"], how="left")
    own = own.with_columns(pl.col("query").cast(pl.Int64), pl.col("band").fill_null(N_BANDS)).sort("query", "doc_id")
    grades = np.unique(own["grade"].to_numpy())
    if len(grades) > MOST_GRADES:
        raise DataError(
            f"{judge.where} has {len(grades):,} different grades, expected at most {MOST_GRADES}", hint="round them"
        )
    own = own.with_columns(code=pl.Series(np.searchsorted(grades, own["grade"].to_numpy())))
    human, ids = qrels.to_polars(), ["query_id", "doc_id"]
    both, holes = own.join(human, on=ids), own.join(human, on=ids, how="anti", maintain_order="left")
    if both.is_empty():
        raise DataError(
            f"{qrels.where} and {judge.where} label no document of a query in common",
            hint="what a judge's grades mean is taken from documents that both labelled",
        )
    levels, level = np.unique(both["relevance"].to_numpy(), return_inverse=True)
    counts = np.zeros((placements.n_queries, len(grades), N_BANDS + 1, len(levels)))
    np.add.at(counts, (*(both[name].to_numpy() for name in ("query", "code", "band")), level), 1)
    placed = holes.join(run.positions(precision), on=ids, how="left", maintain_order="left")
    seed = int(generator(0 if rng is None else rng).integers(2**63))
    return Filling(placements, placed.with_columns(pl.col("above", "tied").fill_null(0)), counts, levels, seed)
