"""judge_agreement(): how far a judge's labels agree with human ones, and what follows from either for systems."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import polars as pl

from deadheat.arrays import FloatArray, IntArray, TextArray, is_member
from deadheat.checks import as_level, as_number, by_name
from deadheat.data.judgments import as_qrels, note_of_scores
from deadheat.data.queries import Queries
from deadheat.data.renderable import Numbers, Plottable, Renderable
from deadheat.data.tables import Qrels, Run, Source, check_each
from deadheat.errors import DataError, SwappedFilesError
from deadheat.evaluation.evaluate import evaluate_under
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.intervals import FEWEST, groups
from deadheat.kernels import agreement
from deadheat.kernels.ranks import first_ranks
from deadheat.measures import Measure
from deadheat.measures.notation import Measures, parse_measures
from deadheat.phases import phase
from deadheat.plugins.compare.compare import named_runs
from deadheat.plugins.compare.of_values import side_of_values
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.compare.pairs import compare_sides, pairs_of
from deadheat.plugins.compare.robustness import values_of
from deadheat.random_generators import Rng
from deadheat.scalars import NOISE
from deadheat.settings import Conventions, Design
from deadheat.stats import labels
from deadheat.stats.intervals import interval_bounds, jackknife_bounds
from deadheat.wording import escape_invisible, format_count, format_list

MOST_GRADES = 50
STATISTICS = {
    "agreement": "share of documents with the same grade",
    "kappa": "Cohen's kappa",
    "linear_kappa": "kappa, weighted by the distance of the grades",
    "quadratic_kappa": "kappa, weighted by the squared distance",
    "alpha_nominal": "Krippendorff's alpha, grades as names",
    "alpha": "Krippendorff's alpha, grades as ranks",
    "alpha_interval": "Krippendorff's alpha, grades as numbers",
    "tau_b": "Kendall's tau-b by query, mean",
    "precision": "of what the judge calls relevant, the share that is",
    "recall": "of what is relevant, the share that the judge finds",
    "inflation": "share of relevant, judge - human",
}
SHARES = ("agreement", "precision", "recall")  # from 0 to 1; all others from -1 to 1, but inflation by grade
OF_GRADES = ("precision", "recall", "inflation")
OF_QUERIES = ("agreement", "kappa", "quadratic_kappa", "tau_b")


class Estimate(float):
    """A number with its confidence interval.

    Attributes
    ----------
    low, high : float
        NaN with fewer than two queries.
    n_queries : int
        Queries with documents that the number is of: of the precision at a grade, those where the judge gave it.
    """

    low: float
    high: float
    n_queries: int

    def __new__(cls, value: float, low: float = np.nan, high: float = np.nan, n_queries: int = 0) -> Self:
        """Return the value, which is a float, with its ends."""
        found = super().__new__(cls, value)
        found.low, found.high, found.n_queries = float(low), float(high), n_queries
        return found

    def __repr__(self) -> str:
        """Return the number with its ends; a question mark means that these cannot be known."""
        return f"{float(self):.4f} [{self.low:.4f}, {self.high:.4f}]{'' if self.is_known else '?'}"

    @property
    def is_known(self) -> bool:
        """Whether the ends say where the number may lie: there are enough queries, which change it."""
        return not self.unknown

    @property
    def unknown(self) -> str:
        """Why the ends are not known, such as "only 3 queries"; empty if they are."""
        if np.isnan(self):
            return "there is no value"
        if self.n_queries < FEWEST:
            return f"only {format_count(self.n_queries, 'query', 'queries')}"
        if self.low < self.high:
            return ""
        return f"the same without any of {self.n_queries:,} queries"


@dataclass(frozen=True, eq=False, repr=False)
class LabelAgreement:
    """How far one judge's labels agree with those of the humans, on the documents that both labelled.

    Attributes
    ----------
    judge : str
    grades : ndarray of float, shape (n_grades,)
        All that either gave, sorted.
    query_ids : ndarray of str, shape (n_queries,)
        Queries with a document that both labelled.
    counts : ndarray of float, shape (n_queries, n_grades, n_grades)
        Documents by query, human grade and grade of the judge.
    only_human, only_judge : int
        Documents of these and other queries that one of them labelled.
    rel : float
        The lowest grade that counts as relevant.
    confidence_level : float
        Of the intervals over queries, whose documents are not independent: Gaffke's bounds of shares, else a jackknife.
    beyond : tuple of float
        Grades of the judge that no human label has.
    """

    judge: str
    grades: FloatArray
    query_ids: TextArray
    counts: FloatArray = field(repr=False)
    only_human: int
    only_judge: int
    rel: float
    confidence_level: float
    beyond: tuple[float, ...] = ()

    def __repr__(self) -> str:
        return escape_invisible(
            f"<LabelAgreement of {self.judge}: kappa {self.kappa!r}, {self.n_documents:,} documents>"
        )

    @property
    def n_documents(self) -> int:
        """Documents that both labelled."""
        return int(self.counts.sum())

    @property
    def confusion(self) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        """How often each pair of grades was given: rows are human grades, columns the judge's."""
        return self.counts.sum(0).astype(np.int64)

    @cached_property
    def confusion_shares(self) -> list[list[Estimate]]:
        """Of the documents of each human grade, the share that the judge gave each grade; NaN where there are none."""
        n_queries, n_grades, _ = self.counts.shape
        hits = self.counts.reshape(n_queries, -1)
        totals = np.repeat(self.counts.sum(2), n_grades, axis=1)
        shares = _estimate_shares(hits, totals, self.confidence_level)
        return [shares[start : start + n_grades] for start in range(0, len(shares), n_grades)]

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """Every statistic of `STATISTICS`, with its interval."""
        found = self.statistics(_leaving_out(self.counts))
        shares = self._shares
        estimates = {}
        for name in STATISTICS:
            if name in shares:
                estimates[name] = shares[name]
            elif name == "tau_b":
                estimates[name] = _mean_of(labels.tau_b(self.counts), self.confidence_level)
            else:
                estimates[name] = _estimate(found[name], self.confidence_level)
        return estimates

    @property
    def _shares(self) -> dict[str, Estimate]:
        """Those of `SHARES`, with their intervals."""
        relevant = labels.count_relevant(self.counts, self.grades, self.rel)
        equal = np.trace(self.counts, axis1=1, axis2=2)
        hits = np.column_stack([equal, relevant.both, relevant.both])
        totals = np.column_stack([self.counts.sum((1, 2)), relevant.second, relevant.first])
        return dict(zip(SHARES, _estimate_shares(hits, totals, self.confidence_level), strict=True))

    @cached_property
    def by_grade(self) -> dict[str, list[Estimate]]:
        """Precision, recall and inflation of the judge at each grade, each of length n_grades."""
        of_human, of_judge = self.counts.sum(2), self.counts.sum(1)
        right = np.diagonal(self.counts, axis1=1, axis2=2)
        inflation = labels.by_grade(_leaving_out(self.counts), self.grades)["inflation"]
        reach = float(np.ptp(self.grades))
        inflations = []
        for values, n_queries in zip(inflation.T, (of_human > 0).sum(0).tolist(), strict=True):
            inflations.append(_estimate(values, self.confidence_level, -reach, reach, n_queries=n_queries))
        return {
            "precision": _estimate_shares(right, of_judge, self.confidence_level),
            "recall": _estimate_shares(right, of_human, self.confidence_level),
            "inflation": inflations,
        }

    def statistics(self, tables: FloatArray) -> dict[str, FloatArray]:
        """Return each of `STATISTICS` of some tables, of shape (..., n_grades, n_grades)."""
        levels: dict[str, labels.Level] = {"alpha_nominal": "nominal", "alpha": "ordinal", "alpha_interval": "interval"}
        coinciding = labels.coincidences(tables)
        return {
            "agreement": labels.share_equal(tables),
            "kappa": labels.kappa(tables, self.grades),
            "linear_kappa": labels.kappa(tables, self.grades, 1),
            "quadratic_kappa": labels.kappa(tables, self.grades, 2),
            **{name: labels.alpha(coinciding, self.grades, level) for name, level in levels.items()},
            "tau_b": labels.tau_b(tables),
            **labels.of_relevant(tables, self.grades, self.rel),
        }

    @property
    def kappa(self) -> Estimate:
        """Cohen's kappa."""
        return self.estimates["kappa"]

    @property
    def linear_kappa(self) -> Estimate:
        """Kappa, weighted by the distance of the grades."""
        return self.estimates["linear_kappa"]

    @property
    def quadratic_kappa(self) -> Estimate:
        """Kappa, weighted by the squared distance of the grades."""
        return self.estimates["quadratic_kappa"]

    @property
    def alpha(self) -> Estimate:
        """Krippendorff's alpha with grades as ranks ("ordinal")."""
        return self.estimates["alpha"]

    def of_queries(self, query_ids: TextArray) -> "LabelAgreement":
        """Return the agreement on some of the queries."""
        own = is_member(self.query_ids, query_ids)
        return replace(self, query_ids=self.query_ids[own], counts=self.counts[own], only_human=0, only_judge=0)


@dataclass(frozen=True, eq=False)
class Conclusions:
    """What a judge does to the comparison of systems by one measure, over the queries that both labelled.

    Attributes
    ----------
    judge : str
    measure : Measure
    systems : tuple of str
    query_ids : tuple of str
    biases : tuple of Pair
        Of each system, the mean under the judge's labels (`mean`) and under the human ones (`baseline_mean`).
    favours : tuple of Pair
        Of each system, its bias (`mean`; of geometric means a ratio) against the mean bias of the others; p values are
        corrected (Holm).
    human, by_judge : tuple of Pair
        Every pair of systems under either labels.
    tau_b, tau_ap : float
        Of the order of systems, with the humans' as the reference; tau_ap is the mean over the orders of equal means.
    tie_std : tuple of two float
        Standard deviation of the mean over tie orders under human labels and the judge's, averaged over systems.
    ends : ndarray of float, shape (2, n_systems, 2)
        Of the intervals of the means under human labels and the judge's (Student's t).
    n_labels : tuple of two int
        Human labels and the judge's for these queries. If they are of other documents, the bias is also due to that.
    """

    judge: str
    measure: Measure
    systems: tuple[str, ...]
    query_ids: tuple[str, ...]
    biases: tuple[Pair, ...]
    favours: tuple[Pair, ...]
    human: tuple[Pair, ...]
    by_judge: tuple[Pair, ...]
    tau_b: float
    tau_ap: float
    tie_std: tuple[float, float]
    ends: FloatArray
    n_labels: tuple[int, int]

    def _where(self, differ: Callable[[Pair, Pair], bool]) -> tuple[tuple[str, str], ...]:
        """Return the pairs of systems on which the labels differ in some way."""
        return tuple(
            (human.system, human.baseline)
            for human, judge in zip(self.human, self.by_judge, strict=True)
            if differ(human, judge)
        )

    @property
    def n_separated(self) -> int:
        """Pairs that the human labels tell apart."""
        return sum(one.significant for one in self.human)

    @property
    def reversed(self) -> tuple[tuple[str, str], ...]:
        """Pairs that the human labels tell apart and the judge orders the other way."""
        return self._where(lambda human, judge: human.significant and human.difference * judge.difference < 0)

    @property
    def lost(self) -> tuple[tuple[str, str], ...]:
        """Pairs that the human labels tell apart, and the judge orders likewise, but not by more than chance."""
        return self._where(
            lambda human, judge: (
                human.significant and not judge.significant and human.difference * judge.difference >= 0
            )
        )

    @property
    def false(self) -> tuple[tuple[str, str], ...]:
        """Pairs that the judge tells apart and the human labels do not."""
        return self._where(lambda human, judge: judge.significant and not human.significant)

    @property
    def favoured(self) -> tuple[str, ...]:
        """Systems that the judge helps more than the others, by more than chance; of two it cannot be told which."""
        can_tell, sign = len(self.systems) > 2, self.measure.sign
        return tuple(one.system for one in self.favours if can_tell and one.significant and sign * one.difference > 0)


@dataclass(frozen=True, eq=False)
class JudgeAgreement(Plottable, Renderable, figures="judges", shown=("confusion", "judged_means", "judge_bias")):
    """How far judges agree with humans. Made by :func:`judge_agreement`.

    Attributes
    ----------
    human : str
        Name of the human labels.
    judges : dict of str to LabelAgreement
    together : dict of str to Estimate
        Krippendorff's alpha over the humans and all judges at once, each of which may leave documents out: "nominal",
        "ordinal" and "interval".
    conclusions : tuple of Conclusions
        Of each judge and measure; empty without runs.
    notes : tuple of str
    """

    human: str
    judges: dict[str, LabelAgreement]
    together: dict[str, Estimate]
    conclusions: tuple[Conclusions, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        found = ", ".join(f"{name} {one.kappa:.4f}" for name, one in self.judges.items())
        return escape_invisible(f"<JudgeAgreement with {self.human}: kappa {found}>")

    def __getitem__(self, judge: str) -> LabelAgreement:
        return self.judges[judge]

    def figures_by_default(self) -> tuple[str, ...]:
        """Return the figures that are shown of it: without runs there are no means."""
        return self.figures_shown if self.conclusions else self.figures_shown[:1]

    @property
    def only(self) -> LabelAgreement:
        """The judge, if there is one alone."""
        if len(self.judges) > 1:
            raise DataError(
                f"there are {len(self.judges)} judges ({format_list([*self.judges])})", hint="name one: found[name]"
            )
        return next(iter(self.judges.values()))

    @property
    def kappa(self) -> Estimate:
        """Cohen's kappa of the only judge; it has `low` and `high`."""
        return self.only.kappa

    @property
    def linear_kappa(self) -> Estimate:
        """Kappa of the only judge, weighted by the distance of the grades."""
        return self.only.linear_kappa

    @property
    def quadratic_kappa(self) -> Estimate:
        """Kappa of the only judge, weighted by the squared distance of the grades."""
        return self.only.quadratic_kappa

    @property
    def alpha(self) -> Estimate:
        """Krippendorff's alpha (ordinal) of the only judge; of several, of all together."""
        return self.only.alpha if len(self.judges) == 1 else self.together["ordinal"]

    @property
    def confusion(self) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        """Documents by human grade (rows) and grade of the only judge (columns), of `self.only.grades`."""
        return self.only.confusion

    @property
    def confusion_shares(self) -> list[list[Estimate]]:
        """The same as shares of the documents of each human grade, each with its interval."""
        return self.only.confusion_shares

    def by(self, columns: str | Sequence[str], queries: Source) -> "dict[Any, JudgeAgreement]":
        """Return the agreement by strata of queries, without conclusions.

        Parameters
        ----------
        columns : str or sequence of str
            Of the table of queries.
        queries : path, frame or Queries
        """
        ids = np.array(sorted({query for one in self.judges.values() for query in one.query_ids.tolist()}), object)
        found = {}
        for name, own in groups(ids.tolist(), columns, Queries.of(queries), pool_languages=True).items():
            parts = {judge: one.of_queries(ids[own]) for judge, one in self.judges.items()}
            found[name] = JudgeAgreement(self.human, {name: one for name, one in parts.items() if one.n_documents}, {})
        return found

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each judge and statistic.

        Columns: judge, statistic, value, low, high, n_queries, n_documents, and whether low and high are known, or why
        not.
        """
        rows = [
            (judge, name, float(own), own.low, own.high, own.n_queries, one.n_documents, own.is_known, own.unknown)
            for judge, one in self.judges.items()
            for name, own in one.estimates.items()
        ]
        columns = ("judge", "statistic", "value", "low", "high", "n_queries", "n_documents", "known", "unknown")
        return pl.DataFrame(rows, columns, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))

    def per_query(self) -> pl.DataFrame:
        """Return a row for each judge and query: documents, share of equal grades, kappas and tau-b."""
        found = {judge: one.statistics(one.counts) for judge, one in self.judges.items()}
        parts = [
            pl.DataFrame(
                {
                    "judge": [judge] * len(one.query_ids),
                    "query_id": one.query_ids.tolist(),
                    "n_documents": one.counts.sum((1, 2)).astype(np.int64),
                    **{name: found[judge][name] for name in OF_QUERIES},
                }
            )
            for judge, one in self.judges.items()
        ]
        return pl.concat(parts).with_columns(pl.col(pl.Float64).fill_nan(None))

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        for judge, one in self.judges.items():
            yield from (((judge, name), float(own)) for name, own in one.estimates.items())


def judge_agreement(
    human: Source,
    judge: Source | Mapping[str, Source] | Sequence[Source],
    *,
    runs: Mapping[str, Source] | Sequence[Source] | None = None,
    measures: Measures = "nDCG@10",
    rel: float = 1,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    rng: Rng = 0,
    check_duplicates: bool = True,
    ascending: bool = False,
) -> JudgeAgreement:
    """Compare a judge's labels with human ones, on the documents that both labelled, and what follows from either.

    Parameters
    ----------
    human : path, dict of dict, dataframe or Qrels
    judge : the same, or a list of several, or a dict of name to one of `Qrels`, `Run`, path or dataframe
        Qrels; a run is taken too, whose scores are then the judge's grades.
    runs : dict of str to run, or sequence of runs, optional
        Two systems or more: what the judge does to their values, their order and the differences between them, over
        the queries that both labelled, with all the labels of either.
    measures : measure or iterable of measures, default "nDCG@10"
        With `runs`.
    rel : float, default 1
        Lowest grade that counts as relevant.
    confidence_level : float, default 0.95
    n_resamples : int, default 10,000
        Of the tests between systems.
    rng : numpy.random.Generator or int, default 0
    check_duplicates : bool, default True
        Whether to look for (query, document) pairs that a run has twice, where the labels are one.
    ascending : bool, default False
        Of `runs`: lower scores rank first, as of distances.

    Returns
    -------
    JudgeAgreement
        Of one judge with `kappa`, `linear_kappa`, `quadratic_kappa`, `alpha` (each with `low` and `high`) and
        `confusion`; of several, ``found[name]`` has them.

    Raises
    ------
    DataError
        There is no document that both labelled, the grades are on different scales, or they are too many.

    Notes
    -----
    Documents of a query are not independent, so intervals are over queries. One of fewer than five queries is marked as
    unknown: other queries may differ. Those of shares (agreement, precision, recall, confusion) are Gaffke's bounds
    (:func:`~deadheat.stats.labels.share_bounds`), which have a width also where all queries agree: in simulations 95%
    intervals cover in 95% or more, with judges that are right in 60 to 99% of 5 to 50 labels a query. All others leave
    out one query at a time (jackknife) and take Student's t; without width they are marked as unknown. They cover less
    often than they say: 78 to 94% of kappa, alpha and inflation, and 73 to 88% where wrong labels come together on few
    queries (docs/simulations.md).

    References
    ----------
    Cohen 1960, https://doi.org/10.1177/001316446002000104, and 1968, https://doi.org/10.1037/h0026256. Krippendorff
    2019, https://doi.org/10.4135/9781071878781. For the jackknife over clusters: Efron and Tibshirani 1993, An
    Introduction to the Bootstrap, chapter 11.

    Examples
    --------
    >>> human = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"d": 1, "e": 0}}
    >>> found = judge_agreement(human, {"q1": {"a": 2, "b": 1, "c": 1}, "q2": {"d": 1, "e": 1}})
    >>> round(found.kappa, 4), found.confusion.tolist()
    (0.375, [[0, 2, 0], [0, 2, 0], [0, 0, 1]])
    """
    confidence = as_level("confidence_level", confidence_level)
    rel, judged, given = as_number("rel", rel), Qrels.of(human), _named(judge)
    check_each(judged, *given.values(), is_asked=check_duplicates)
    frame = judged.to_polars()
    found = {
        name: _agreement(frame, one, name, where=judged.where, rel=rel, confidence=confidence)
        for name, one in given.items()
    }
    notes = [
        f"{name} gives {format_list([f'{grade:g}' for grade in one.beyond])}, which no human gives: are they of one"
        " scale?"
        for name, one in found.items()
        if one.beyond
    ]
    notes += [
        f"{name} gives no grade but {one.grades[one.confusion.any(0)][0]:g}: chance explains all agreement"
        for name, one in found.items()
        if one.confusion.any(0).sum() == 1
    ]
    alone = [name for name, one in found.items() if len(one.query_ids) == 1]
    notes += [f"both labelled one query alone ({format_list(alone)}): it has no interval"] if alone else []
    notes += _notes_of_tables([judged, *given.values()])
    conclusions: tuple[Conclusions, ...] = ()
    if runs is not None:
        design = Design(confidence_level=confidence, n_resamples=n_resamples, rng=rng)
        named = named_runs(runs, ascending=ascending)
        design.check_systems(list(named), has_clusters=False)
        notes += [f"{name} is a judge and a system: its own labels rank it highest" for name in named if name in given]
        conclusions = tuple(
            _conclusions(judged, given, found, runs=named, measures=parse_measures(measures), rel=rel, design=design)
        )
    together = _together(frame, given, confidence) if len(given) > 1 else {}
    return JudgeAgreement(judged.name, found, together, conclusions, tuple(notes))


def _named(judge: Any) -> dict[str, Qrels]:  # noqa: ANN401 - one or several sources
    """Return the labels of each judge by name."""
    if isinstance(judge, Mapping) and judge and not all(isinstance(one, Mapping | list) for one in judge.values()):
        return by_name((name, _labels(source)) for name, source in judge.items())
    several = isinstance(judge, list | tuple) and judge and not isinstance(judge[0], tuple | list)
    return by_name((one.name, one) for one in map(_labels, judge if several else [judge]))


def _labels(source: Source) -> Qrels:
    """Return what a judge said, which may be written as qrels or as a run."""
    try:
        return as_qrels(source)
    except SwappedFilesError:
        return as_qrels(Run.of(source))


def _agreement(
    frame: pl.DataFrame, judge: Qrels, name: str, *, where: str, rel: float, confidence: float
) -> LabelAgreement:
    own = judge.to_polars().rename({"relevance": "grade"})
    both = frame.join(own, on=["query_id", "doc_id"]).sort("query_id")
    if both.is_empty():
        raise DataError(
            f"{where} and {judge.where} label no document of a query in common",
            found=f"{format_count(len(frame), 'label')} and {len(own):,}",
            hint="are the ids written alike?",
        )
    human, graded = both["relevance"].to_numpy(), both["grade"].to_numpy()
    grades = np.unique(np.concatenate([human, graded]))
    if len(grades) > MOST_GRADES:
        raise DataError(
            f"{judge.where} has {len(grades):,} different grades, expected at most {MOST_GRADES}",
            hint="round them, or map them to the grades of the humans",
        )
    low, high = frame.select(low=pl.col("relevance").min(), high=pl.col("relevance").max()).row(0)
    beyond = np.setdiff1d(graded, frame["relevance"].to_numpy())
    if len(beyond) and (beyond.max() > 2 * high or beyond.min() < low - max(high - low, 1)):
        raise DataError(
            f"the grades of {where} are {low:g} to {high:g}, those of {judge.where} {graded.min():g} to"
            f" {graded.max():g}: they are on different scales",
            hint='map them, as in read_judgments(..., grades={"10": 3, "5": 1})',
        )
    query, ids = both["query_id"].rle_id().to_numpy(), both["query_id"].unique(maintain_order=True)
    counts = np.zeros((len(ids), len(grades), len(grades)))
    np.add.at(counts, (query, np.searchsorted(grades, human), np.searchsorted(grades, graded)), 1)
    return LabelAgreement(
        name,
        grades,
        np.array(ids.to_list(), dtype=object),
        counts,
        len(frame) - len(both),
        len(own) - len(both),
        rel,
        confidence,
        tuple(beyond.tolist()),
    )


def _notes_of_tables(tables: Sequence[Qrels]) -> list[str]:
    """Return the notes of judgments; which of them are the scores of runs is said once."""
    runs, notes = [], []
    for table in tables:
        for note in table.notes:
            if note == note_of_scores([table.name]):
                runs.append(table.name)
            else:
                notes.append(note)
    return [note_of_scores(runs), *notes] if runs else notes


def _together(frame: pl.DataFrame, judges: Mapping[str, Qrels], confidence: float) -> dict[str, Estimate]:
    """Return alpha over all raters at once, of the documents that at least two of them labelled."""
    rows = pl.concat([frame, *(one.to_polars() for one in judges.values())])
    things = rows.select("query_id", "doc_id").unique().sort("query_id", "doc_id").with_row_index("thing")
    placed = rows.join(things, on=["query_id", "doc_id"])
    grades, columns = np.unique(placed["relevance"].to_numpy(), return_inverse=True)
    given = np.zeros((len(things), len(grades)))
    np.add.at(given, (placed["thing"].to_numpy(), columns), 1)
    query = things["query_id"].rle_id().to_numpy()
    by_query = np.zeros((int(query[-1]) + 1, len(grades), len(grades)))
    np.add.at(by_query, query, labels.coincidences_of_many(given))
    tables = _leaving_out(by_query)
    return {kind: _estimate(labels.alpha(tables, grades, kind), confidence) for kind in labels.LEVELS}


def _leaving_out(counts: FloatArray) -> FloatArray:
    """Return the counts of all queries, then those without each query in turn."""
    whole = counts.sum(0)
    return np.concatenate([whole[None], whole - counts])


def _estimate(
    values: FloatArray, confidence: float, lowest: float = -1, highest: float = 1, *, n_queries: int | None = None
) -> Estimate:
    """Return a statistic with its interval, cut to its limits, from its values for all queries and without each.

    Of an interval without width, which rounding may leave some, the ends are equal. `n_queries` is how many of the
    queries it is of; by default all.
    """
    value = float(values[0])
    low, high = np.clip(jackknife_bounds(value, values[1:], confidence), lowest, highest)
    if high - low <= NOISE:
        low = high = value
    return Estimate(value, low, high, len(values) - 1 if n_queries is None else n_queries)


def _estimate_shares(hits: FloatArray, totals: FloatArray, confidence: float) -> list[Estimate]:
    """Return the shares of counts by query, of shape (n_queries, n_shares), with their intervals."""
    ends = labels.share_bounds(hits, totals, confidence)
    columns = zip(
        hits.sum(0).tolist(), totals.sum(0).tolist(), (totals > 0).sum(0).tolist(), ends.T.tolist(), strict=True
    )
    estimates = []
    for n_hits, n_documents, n_queries, (low, high) in columns:
        share = n_hits / n_documents if n_documents else np.nan
        estimates.append(Estimate(share, low, high, n_queries))
    return estimates


def _mean_of(values: FloatArray, confidence: float) -> Estimate:
    """Return the mean of values by query with its interval; NaN is left out."""
    kept = values[~np.isnan(values)]
    if not len(kept):
        return Estimate(np.nan)
    return _estimate(np.append(kept.mean(), (kept.sum() - kept) / max(len(kept) - 1, 1)), confidence)


def _conclusions(
    judged: Qrels,
    judges: Mapping[str, Qrels],
    agreements: Mapping[str, LabelAgreement],
    *,
    runs: Mapping[str, Run],
    measures: Sequence[Measure],
    rel: float,
    design: Design,
) -> Iterator[Conclusions]:
    conventions = Conventions(rel=None if rel == 1 else rel)
    for name, judge in judges.items():
        query_ids = agreements[name].query_ids
        kept = pl.col("query_id").is_in(query_ids.tolist())
        tables = [Qrels.of_checked(one.to_polars().filter(kept), one.name) for one in (judged, judge)]
        n_labels = (len(tables[0].to_polars()), len(tables[1].to_polars()))
        with phase(f"evaluating by the labels of {name}"):
            both = [
                {system: evaluate_under(conventions, table, run, measures, None) for system, run in runs.items()}
                for table in tables
            ]
        for measure in measures:
            yield _of_measure(name, measure, query_ids, both, design, n_labels=n_labels)


def _orders_of(human: FloatArray, by_judge: FloatArray) -> list[IntArray]:
    """Return how many systems are above each by both labels, of those that have a mean by both; higher is better."""
    has_mean = ~(np.isnan(human).all(axis=0) | np.isnan(by_judge).all(axis=0))
    means = [np.nanmean(values[:, has_mean], axis=0) for values in (human, by_judge)]
    return [first_ranks(of_systems).astype(np.int64) - 1 for of_systems in means]


def _of_measure(
    name: str,
    measure: Measure,
    query_ids: TextArray,
    both: list[dict[str, Evaluation]],
    design: Design,
    *,
    n_labels: tuple[int, int],
) -> Conclusions:
    """Return what a judge does to one measure; `both` has the evaluations by human labels and by the judge's."""
    systems = tuple(both[0])
    human, by_judge = values = [values_of(one, measure, query_ids)[0] for one in both]
    bias = by_judge - human
    others = (bias.sum(1, keepdims=True) - bias) / (len(systems) - 1)
    sides = [
        {system: side_of_values(measure, column) for system, column in zip(systems, own.T, strict=True)}
        for own in values
    ]
    pairs = [compare_sides([measure], [one], pairs_of(systems, ()), design=design, cluster=None)[:] for one in sides]
    human_above, judge_above = _orders_of(measure.sign * human, measure.sign * by_judge)
    spread = [float(np.mean([one[system][measure].mean_tie_std for system in systems])) for one in both]
    return Conclusions(
        name,
        measure,
        systems,
        tuple(query_ids.tolist()),
        _against(measure, systems, by_judge, human, replace(design, correction="none")),
        _against(measure, systems, bias, others, design),
        pairs[0],
        pairs[1],
        agreement.tau(human_above, judge_above)[0],
        agreement.tau_ap(human_above, judge_above),
        (spread[0], spread[1]),
        measure.level_of(
            np.array(
                [
                    np.transpose(interval_bounds(one, method="t", confidence_level=design.confidence_level))
                    for one in values
                ]
            )
        ),
        n_labels,
    )


def _against(
    measure: Measure, systems: Sequence[str], values: FloatArray, baselines: FloatArray, design: Design
) -> tuple[Pair, ...]:
    """Return a pair for each system: one column of values against another."""
    own, others = (
        {(system, kind): side_of_values(measure, column) for system, column in zip(systems, columns.T, strict=True)}
        for kind, columns in (("own", values), ("other", baselines))
    )
    return compare_sides(
        [measure],
        [own | others],
        list(zip(own, others, strict=True)),
        name_of=lambda key: key[0],
        design=design,
        cluster=None,
    )[:]
