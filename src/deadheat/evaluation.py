"""evaluate() and what it returns: exact scores by query, their means, and what the ties could make of them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from deadheat import ties as tie_policies
from deadheat.errors import (
    DeadheatWarning,
    MeasureError,
    MissingQueryError,
    ParameterError,
    UnknownMeasureError,
    check_choice,
    did_you_mean,
)
from deadheat.measures import AP, RR, Measure, P, R, nDCG, parse_measure
from deadheat.placing import open_pair, place, rounded
from deadheat.precision import check_precision
from deadheat.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl

    from deadheat.arrays import TextArray
    from deadheat.data import Qrels, Run, Source
    from deadheat.measures._notation import MeasureLike
    from deadheat.placement import Placements
    from deadheat.precision import ScorePrecision


DEFAULT_MEASURES: tuple[Measure, ...] = (nDCG() @ 10, AP(), RR(), P() @ 10, R() @ 100)
MISSING = ("empty", "skip", "error")
NO_RELEVANT = ("zero", "skip")


class Evaluation:
    """Scores of one run on one set of qrels, by measure.

    Made by :func:`evaluate`. ``ev["nDCG@10"]`` gives the `Scores` of a measure: by the measure, its notation or an
    alias.

    Attributes
    ----------
    name : str
        Label of the run.
    measures : tuple of Measure
    ties : str
        The tie policy of the values.
    placements : Placements
        From before the tie policy.
    missing_queries : tuple of str
        Queries of the qrels that the run lacks.
    unjudged_queries : tuple of str
        Queries of the run without judgments: left out.
    """

    def __init__(
        self,
        measures: tuple[Measure, ...],
        placements: Placements,
        ranked: Placements,
        *,
        ties: str,
        name: str,
        missing_queries: tuple[str, ...],
        no_relevant: str = "zero",
    ) -> None:
        self.name = name
        self.measures = measures
        self.ties = ties
        self.placements = placements
        self.missing_queries = missing_queries
        self.unjudged_queries = placements.unjudged_queries
        self._scores: dict[Measure, Scores] = {}
        for measure in measures:
            values = measure.mean(ranked)
            if no_relevant == "skip":
                values = np.where(measure.has_relevant(placements), values, np.nan)
            self._scores[measure] = Scores(measure, placements.query_ids, values, placements)

    def __repr__(self) -> str:
        means = ", ".join(f"{measure}={scores.mean:.4f}" for measure, scores in self._scores.items())
        return f"<Evaluation {self.name}, n_queries={len(self.query_ids)}, ties={self.ties!r}: {means}>"

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
            msg = (
                f"{parsed} was not evaluated; this evaluation holds {', '.join(held)}.{did_you_mean(str(parsed), held)}"
            )
            raise UnknownMeasureError(msg)
        return self._scores[parsed]

    def __iter__(self) -> Iterator[Scores]:
        return iter(self._scores.values())

    def __len__(self) -> int:
        return len(self._scores)

    @property
    def query_ids(self) -> TextArray:
        """The evaluated queries, sorted by code point, of shape (n_queries,)."""
        return self.placements.query_ids

    def without_relevant(self, measure: MeasureLike) -> tuple[str, ...]:
        """Return the queries that have no relevant document for a measure."""
        lacking = ~self[measure].measure.has_relevant(self.placements)
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


def evaluate(
    qrels: Source,
    run: Source,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    ties: str = "expected",
    rng: np.random.Generator | int | None = None,
    missing: str = "empty",
    no_relevant: str = "zero",
    score_precision: ScorePrecision = None,
    check_duplicates: bool = True,
) -> Evaluation:
    """Evaluate a run against relevance judgments, exactly where scores tie.

    Parameters
    ----------
    qrels : path, dict of dict, dataframe or Qrels
        Columns query_id, doc_id, relevance; or ``{query_id: {doc_id: relevance}}``.
    run : path, dict of dict, dataframe or Run
        Columns query_id, doc_id, score; or ``{query_id: {doc_id: score}}``.
    measures : measure or iterable of measures, optional
        Measures or their notation; by default nDCG@10, AP, RR, P@10 and R@100.
    ties : {"expected", "best", "worst", "doc_id", "input", "random"}, default "expected"
        What a tie counts: the mean over its orders, the best or the worst one for the judged documents, the one by
        document id (descending, as in trec_eval), the one of the input, or one drawn with `rng`.
    rng : numpy.random.Generator or int, optional
        For ``ties="random"``; the same seed gives the same order.
    missing : {"empty", "skip", "error"}, default "empty"
        Queries of the qrels that the run lacks count as empty rankings, are left out, or are refused.
    no_relevant : {"zero", "skip"}, default "zero"
        Queries without a relevant document score 0 (for MR and FRP their worst value), or are left out.
    score_precision : {"float32", "float16", "bfloat16"} or int, optional
        Round all scores first, to a floating-point format or to so many decimals.
    check_duplicates : bool, default True
        Whether to look for (query, document) pairs that stand twice.

    Returns
    -------
    Evaluation

    Raises
    ------
    DataError
        The data cannot be evaluated; the message names the place.
    MeasureError, ParameterError
        A measure or an option is not known.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1}}
    >>> run = {"q1": {"d1": 0.5, "d2": 0.5}}
    >>> ev = evaluate(qrels, run, ["RR", "P@1"])
    >>> ev.means()
    {'RR': 0.75, 'P@1': 0.5}
    >>> float(ev["RR"].tie_min[0]), float(ev["RR"].tie_max[0])
    (0.5, 1.0)
    """
    check_choice("ties", ties, tie_policies.POLICIES)
    check_choice("missing", missing, MISSING)
    check_choice("no_relevant", no_relevant, NO_RELEVANT)
    check_precision(score_precision)
    generator = _generator(rng) if ties == "random" else None
    chosen = _parse_all(measures)
    qrels, run = open_pair(qrels, run, check_duplicates=check_duplicates)
    if ties in tie_policies.LOOK_AT_RUN:
        run, score_precision = rounded(run, score_precision), None
    placements = place(qrels, run, score_precision=score_precision, check_duplicates=False)
    lacking = tuple(placements.query_ids[placements.missing].tolist())
    if lacking and missing == "error":
        shown = ", ".join(map(repr, lacking[:3])) + (", ..." if len(lacking) > 3 else "")
        msg = f"{run.where} lacks {len(lacking)} of {placements.n_queries} queries of the qrels: {shown}"
        raise MissingQueryError(msg)
    if not len(placements.query):
        _warn_of_strangers(qrels, run)
    if missing == "skip":
        placements = placements.select(~placements.missing)
    if ties in tie_policies.LOOK_AT_RUN:
        ranked = tie_policies.by_rule(placements, qrels, run, ties)
    else:
        ranked = tie_policies.apply(placements, ties, generator)
    return Evaluation(
        chosen, placements, ranked, ties=ties, name=run.name, missing_queries=lacking, no_relevant=no_relevant
    )


def _parse_all(measures: MeasureLike | Iterable[MeasureLike] | None) -> tuple[Measure, ...]:
    if measures is None:
        return DEFAULT_MEASURES
    if isinstance(measures, str | Measure | type):
        measures = [measures]
    chosen = tuple(dict.fromkeys(parse_measure(measure) for measure in measures))
    if not chosen:
        msg = "measures is empty; name at least one, such as 'nDCG@10'"
        raise ParameterError(msg)
    names = [str(measure) for measure in chosen]
    for name in names:
        if names.count(name) > 1:
            msg = f"two different measures are named {name!r}; give each custom measure a name of its own"
            raise ParameterError(msg)
    return chosen


def _warn_of_strangers(qrels: Qrels, run: Run) -> None:
    """Warn that no retrieved document is judged: most often the ids are written in two ways."""
    examples = [", ".join(map(repr, table.example_ids())) for table in (run, qrels)]
    warnings.warn(
        f"no retrieved document is judged: are the document ids written alike? {run.where} has {examples[0]};"
        f" {qrels.where} has {examples[1]}",
        DeadheatWarning,
        stacklevel=3,
    )


def _generator(rng: np.random.Generator | int | None) -> np.random.Generator:
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        msg = f"rng must be a whole number from 0 on, a numpy.random.Generator or None, got {rng!r}"
        raise ParameterError(msg) from None
