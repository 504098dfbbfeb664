"""Evaluation, what evaluate() returns: exact scores by query, their means, and what the ties could make of them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Unpack

from deadheat.data import fingerprints
from deadheat.errors import BaselineMismatchError, MeasureError, ParameterError, UnknownMeasureError
from deadheat.evaluation.facts import Facts, facts_of
from deadheat.measures import parse_measure
from deadheat.wording import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from deadheat.arrays import BoolArray, TextArray
    from deadheat.data.precision import ScorePrecision
    from deadheat.data.tables import Qrels, Source
    from deadheat.evaluation.intervals import Interval, IntervalOptions
    from deadheat.evaluation.scores import Scores
    from deadheat.evaluation.strata import Strata
    from deadheat.measures.notation import MeasureLike
    from deadheat.placements.placements import Placements


SMALLEST = 10  # queries of a stratum that says something


@dataclass(frozen=True)
class Conventions:
    """What an evaluation made of ties, of queries without documents, and of scores that nearly tie.

    Attributes
    ----------
    ties, missing, no_relevant, score_precision
        As given to :func:`evaluate`.
    """

    ties: str = "expected"
    missing: str = "empty"
    no_relevant: str = "zero"
    score_precision: ScorePrecision = None


class Evaluation:
    """Scores of one run on one set of qrels, by measure.

    Made by :func:`evaluate`. ``ev["nDCG@10"]`` gives the `Scores` of a measure: by the measure, its notation or an
    alias.

    Attributes
    ----------
    name : str
        Label of the run.
    measures : tuple of Measure
    query_ids : ndarray of str, shape (n_queries,)
        The evaluated queries, sorted by code point.
    conventions : Conventions
    missing_queries : tuple of str
        Queries of the qrels that the run lacks.
    unjudged_queries : tuple of str
        Queries of the run without judgments: left out.
    """

    def __init__(
        self,
        scores: Iterable[Scores],
        *,
        name: str,
        query_ids: TextArray,
        conventions: Conventions,
        missing_queries: tuple[str, ...] = (),
        unjudged_queries: tuple[str, ...] = (),
        placements: Placements | None = None,
        qrels: Qrels | str = "",
    ) -> None:
        self._scores = {of_measure.measure: of_measure for of_measure in scores}
        self.name = name
        self.measures = tuple(self._scores)
        self.query_ids = query_ids
        self.conventions = conventions
        self.missing_queries = missing_queries
        self.unjudged_queries = unjudged_queries
        self._placements = placements
        self._qrels = qrels

    def __repr__(self) -> str:
        means = ", ".join(f"{measure}={scores.mean:.4f}" for measure, scores in self._scores.items())
        return f"<Evaluation {self.name}, {self.facts}, ties={self.ties!r}: {means}>"

    def __contains__(self, measure: object) -> bool:
        try:
            self[measure]  # type: ignore[index]
        except MeasureError:
            return False
        return True

    def __getitem__(self, measure: MeasureLike) -> Scores:
        for own in self.measures:
            if isinstance(measure, str) and str(own) == measure:  # a custom measure's name cannot be parsed
                return self._scores[own]
        parsed = parse_measure(measure)
        if parsed not in self._scores:
            held = [str(own) for own in self.measures]
            raise UnknownMeasureError(
                f"{parsed} was not evaluated; this evaluation holds {', '.join(held)}",
                hint=did_you_mean(str(parsed), held),
            )
        return self._scores[parsed]

    def __iter__(self) -> Iterator[Scores]:
        return iter(self._scores.values())

    def __len__(self) -> int:
        return len(self._scores)

    @property
    def ties(self) -> str:
        """The tie policy of the values."""
        return self.conventions.ties

    @property
    def has_placements(self) -> bool:
        """Whether the placements are there: files of before they were saved lack them."""
        return self._placements is not None

    @property
    def placements(self) -> Placements:
        """Where the judged documents stand, before the tie policy."""
        if self._placements is None:
            raise ParameterError(
                f"{self.name} has scores but no placements, as files of an earlier deadheat",
                hint="evaluate the run again",
            )
        return self._placements

    @cached_property
    def facts(self) -> Facts:
        """What one should know of the run: queries that it lacks, unjudged documents, where it may have been cut."""
        if self._placements is None:
            return Facts(len(self.query_ids), len(self.missing_queries))
        return facts_of(self._placements, len(self.missing_queries))

    @cached_property
    def qrels_hash(self) -> str:
        """What tells these qrels from others: a SHA-256 of their rows, whatever their order."""
        return self._qrels if isinstance(self._qrels, str) else self._qrels.fingerprint

    @cached_property
    def queries_hash(self) -> str:
        """What tells this set of queries from others: a SHA-256 of their ids."""
        return fingerprints.of_ids(self.query_ids.tolist())

    def intervals(self, **options: Unpack[IntervalOptions]) -> dict[str, Interval]:
        """Return a confidence interval of each measure's mean, by its notation.

        Parameters
        ----------
        **options
            As for :meth:`Scores.interval`; all measures share the resamples.
        """
        from deadheat.evaluation.intervals import intervals

        return dict(zip(map(str, self.measures), intervals(list(self), **options), strict=True))

    def by(
        self, columns: str | Sequence[str], queries: Source, *, smallest: int = SMALLEST, pool_languages: bool = False
    ) -> Strata:
        """Return an evaluation of each stratum of queries.

        Parameters
        ----------
        columns : str or sequence of str
            Columns of the queries table, such as "language"; of several, every combination is a stratum.
        queries : path or frame
            The queries table: query_id, and columns of text.
        smallest : int, default 10
            Strata of fewer queries are marked as small.
        pool_languages : bool, default False
            Whether queries of different languages may fall into one stratum; without it that gives a warning.

        Returns
        -------
        Strata
            A mapping of stratum (of several columns: a tuple) to `Evaluation`.
        """
        from deadheat.evaluation.strata import stratify

        return stratify(self, columns, queries, smallest=smallest, pool_languages=pool_languages)

    def save(self, path: str | Path, **options: Unpack[IntervalOptions]) -> None:
        """Write one JSON file: means, intervals and conventions to read, then scores and placements of all queries.

        Parameters
        ----------
        path : path
            Of the file, ``.json``; an earlier save there is replaced, anything else is not.
        **options
            Of the intervals, as for :meth:`Scores.interval`.
        """
        from deadheat.evaluation.saved import save

        save(self, path, **options)

    def select(self, keep: BoolArray, name: str | None = None) -> Evaluation:
        """Return the evaluation of some queries; the highest relevance stays that of the whole qrels.

        Parameters
        ----------
        keep : ndarray of bool, shape (n_queries,)
        name : str, optional
            By default that of the run.
        """
        query_ids = self.query_ids[keep]
        return Evaluation(
            [scores.select(keep) for scores in self],
            name=name or self.name,
            query_ids=query_ids,
            conventions=self.conventions,
            missing_queries=tuple(sorted(set(self.missing_queries).intersection(query_ids.tolist()))),
            placements=self._placements and self._placements.select(keep),
            qrels=self._qrels,
        )

    def without_relevant(self, measure: MeasureLike) -> tuple[str, ...]:
        """Return the queries that have no relevant document for a measure."""
        lacking = ~self[measure].spread.has_relevant
        return tuple(self.query_ids[lacking].tolist())

    def means(self) -> dict[str, float]:
        """Return the mean over queries of each measure, by its notation."""
        return {str(scores.measure): scores.mean for scores in self}

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{query_id: {measure: value}}``; a query that has no value for a measure lacks it."""
        nested: dict[str, dict[str, float]] = {query: {} for query in self.query_ids.tolist()}
        for scores in self:
            name = str(scores.measure)
            for query, value in zip(self.query_ids.tolist(), scores.values.tolist(), strict=True):
                if value == value:  # noqa: PLR0124 - a value that is not NaN
                    nested[query][name] = value
        return nested

    def to_polars(self) -> pl.DataFrame:
        """Return query_id, measure, value, tie_std, tie_min and tie_max; null where a query has no value."""
        import polars as pl

        from deadheat.io.forking import check_threads

        check_threads()
        frames = [
            pl.DataFrame(
                {
                    "query_id": pl.Series(scores.query_ids.tolist(), dtype=pl.String),
                    "measure": [str(scores.measure)] * len(scores.values),
                    "value": scores.values,
                    "tie_std": scores.tie_std,
                    "tie_min": scores.tie_min,
                    "tie_max": scores.tie_max,
                }
            )
            for scores in self
        ]
        return pl.concat(frames).with_columns(pl.col(pl.Float64).fill_nan(None))


def check_alike(one: Evaluation, other: Evaluation, names: str) -> None:
    """Raise `BaselineMismatchError` unless two evaluations are of the same qrels, under the same conventions.

    Parameters
    ----------
    one, other : Evaluation
    names : str
        Of the two, for the message.
    """
    if one.qrels_hash != other.qrels_hash:
        hashes = " and ".join(each.qrels_hash[:12] or "none" for each in (one, other))
        raise BaselineMismatchError(
            f"{names} were evaluated with different qrels (SHA-256 {hashes})", hint="evaluate both with the same qrels"
        )
    pairs = {of.name: [getattr(each.conventions, of.name) for each in (one, other)] for of in fields(Conventions)}
    differing = ", ".join(f"{name} {left!r} and {right!r}" for name, (left, right) in pairs.items() if left != right)
    if differing:
        raise BaselineMismatchError(
            f"{names} were evaluated under different conventions ({differing})", hint="evaluate both alike"
        )
