"""Comparison, what compare() returns: pairs of systems, how sure their difference is, and what ties do to it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deadheat.arrays import members
from deadheat.errors import UnknownMeasureError
from deadheat.evaluation.intervals import KNOWN, intervals, why_unknown
from deadheat.measures import parse_measure
from deadheat.wording import counted, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from deadheat.arrays import FloatArray, IntArray, TextArray
    from deadheat.data.tables import Source
    from deadheat.evaluation.evaluation import Evaluation
    from deadheat.evaluation.intervals import Interval
    from deadheat.evaluation.scores import Scores
    from deadheat.measures import Measure
    from deadheat.measures.notation import MeasureLike


@dataclass(frozen=True)
class Design:
    """How systems are compared; the arguments of :func:`compare`.

    Attributes
    ----------
    baseline : str or None
        None: every pair of systems.
    test, correction, alternative : str
    confidence_level : float
    n_resamples : int
    method : str
        Of the intervals; "auto" is "bca" for differences.
    rng : numpy.random.Generator, int or None
    """

    baseline: str | None = None
    test: str = "randomization"
    correction: str = "holm"
    alternative: str = "two-sided"
    confidence_level: float = 0.95
    n_resamples: int = 10_000
    method: str = "auto"
    rng: np.random.Generator | int | None = 0

    @property
    def difference_method(self) -> str:
        """The method of the intervals of differences, which are no proportions."""
        return "bca" if self.method == "auto" else self.method


@dataclass(frozen=True)
class Pair:
    """A system against a baseline by one measure, over the queries for which both have a value.

    Attributes
    ----------
    measure, system, baseline : str
    mean, baseline_mean : float
    difference : float
        ``mean - baseline_mean``.
    low, high : float
        Its confidence interval, not corrected for the number of comparisons.
    p_value, p_adjusted : float
        Before and after the correction over all rows of the measure; Tukey's test needs none. NaN without a query; of
        "t", "bootstrap" and "bootstrap-t" also with a single query or cluster, and where all differences are the same
        and not 0.
    significant : bool
        Whether ``p_adjusted < 1 - confidence_level``, by more than rounding.
    effect_size : float
        Mean difference by the standard deviation of the differences (Cohen's d_z); infinite if all are the same.
    wins, draws, losses : int
        Queries on which the system is better (by the measure's direction), equal to within 1e-12, and worse.
    flip_probability : float
        Probability that ties broken at random reverse the sign of the exact mean difference; NaN if that is 0.
    can_flip : bool
        Whether any order of the ties reverses it.
    flip_method : {"exact", "grid", "sampled", "normal", "none"}
        How the probability was found: exact; from the exact distribution of each query, summed on a grid, to about
        0.0001; from random orders of the ties; from a normal distribution with the exact variance, where that is
        proved to be close, or no order can be drawn (a saved evaluation); or there is none to find.
    flip_standard_error : float
        Of a sampled probability the standard error, of a normal one the most that it can be off; else 0.
    n_queries : int
    standard_error : float
        Of the difference, by the choice of queries, for exact expected scores.
    tie_standard_error : float
        What one random tie-break of both systems would add.
    std : float
        Standard deviation of the differences over queries.
    exact_p_value : bool
        Whether the p value has no error from resampling, nor, with "wilcoxon", from the normal distribution.
    expected_difference : float
        The exact mean difference over all tie orders, whose sign may be reversed; under ``ties="expected"`` it is
        `difference`.
    doc_id_difference : float
        The difference that trec_eval's rule (ties by document id) reports; NaN where the runs are not at hand.
    doc_id_reverses : bool
        Whether that rule ranks the two the other way than their exact means.
    n_clusters : int or None
        Clusters that the queries fall into, if they were given.
    method : {"bca", "percentile", "t"}
        Of the interval.
    skewness : float
        Sample skewness (G1) of the differences over queries, or of what clusters differ by; NaN with fewer than three,
        and where all are equal.
    doubtful : bool
        Whether the skewness is so large for the number of queries that the test, which holds its level for symmetric
        differences or many queries, may reject equal systems more often than it promises: `test="bootstrap-t"` is
        nearer to its level (:func:`deadheat.stats.is_doubtful`). Never of "wilcoxon" and "sign", which test no mean.
    """

    measure: str
    system: str
    baseline: str
    mean: float
    baseline_mean: float
    difference: float
    low: float
    high: float
    p_value: float
    p_adjusted: float
    significant: bool
    effect_size: float
    wins: int
    draws: int
    losses: int
    flip_probability: float
    can_flip: bool
    # what stands behind these
    flip_method: str
    flip_standard_error: float
    n_queries: int
    standard_error: float
    tie_standard_error: float
    std: float
    exact_p_value: bool
    expected_difference: float
    doc_id_difference: float
    doc_id_reverses: bool
    n_clusters: int | None
    method: str
    skewness: float
    doubtful: bool

    @property
    def is_known(self) -> bool:
        """Whether the interval says where the difference may lie: there are queries enough, and they differ."""
        return not self.unknown

    @property
    def unknown(self) -> str:
        """Why it does not, as for `Interval.unknown`; empty if it does."""
        return why_unknown(self.low, self.high, self.n_queries, self.n_clusters, self.method)


N_COLUMNS = 17  # fields of a pair that every table shows; the others are details


@dataclass(frozen=True, eq=False)
class Comparison:
    """Systems compared by pairs. Made by :func:`compare`.

    Attributes
    ----------
    pairs : tuple of Pair
        By measure, then in the order of the systems.
    evaluations : dict of str to Evaluation
        By the name of the system.
    design : Design
    query_ids : ndarray of str, shape (n_queries,)
        The queries of all evaluations.
    differences : ndarray of float, shape (n_queries, n_pairs)
        NaN where one of the two has no value.
    cluster : ndarray of int, shape (n_queries,), or None
    by_doc_id : mapping of str to list of ndarray
        The scores of each system under trec_eval's rule, by measure; empty where the runs are not at hand.
    """

    pairs: tuple[Pair, ...]
    evaluations: Mapping[str, Evaluation]
    design: Design
    query_ids: TextArray
    differences: FloatArray
    cluster: IntArray | None
    by_doc_id: Mapping[str, list[FloatArray]]

    def __repr__(self) -> str:
        n_significant = sum(pair.significant for pair in self.pairs)
        measures = ", ".join(map(str, self.measures))
        n_doubtful = sum(pair.doubtful for pair in self.pairs)
        return (
            f"<Comparison of {', '.join(self.systems)} by {measures}:"
            f" {n_significant} of {counted(len(self.pairs), 'difference')} significant,"
            f" {sum(p.can_flip for p in self.pairs)} reversible by tie order"
            f"{f', {n_doubtful} with a p value in doubt (skewed)' if n_doubtful else ''}>"
        )

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return tuple(self.evaluations)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures that they are compared by."""
        return next(iter(self.evaluations.values())).measures

    def __getitem__(self, measure: MeasureLike) -> tuple[Pair, ...]:
        names = [str(own) for own in self.measures]
        wanted = measure if measure in names else str(parse_measure(measure))
        if wanted not in names:
            raise UnknownMeasureError(
                f"{wanted} was not compared; there are {', '.join(names)}", hint=did_you_mean(str(wanted), names)
            )
        return tuple(pair for pair in self.pairs if pair.measure == wanted)

    @cached_property
    def intervals(self) -> dict[tuple[str, str], Interval]:
        """The interval of each system's mean, by (system, measure); systems of the same queries share resamples."""
        alike: dict[tuple[str, ...], list[tuple[str, Scores]]] = {}
        for name, evaluation in self.evaluations.items():
            alike.setdefault(tuple(evaluation.query_ids), []).extend((name, scores) for scores in evaluation)
        found: dict[tuple[str, str], Interval] = {}
        for query_ids, named in alike.items():
            own = members(self.query_ids, np.array(query_ids, dtype=object))
            of_scores = intervals(
                [scores for _, scores in named],
                method=self.design.method,
                confidence_level=self.design.confidence_level,
                n_resamples=self.design.n_resamples,
                cluster=None if self.cluster is None else self.cluster[own].tolist(),
                rng=self.design.rng,
            )
            found |= {(name, str(scores.measure)): one for (name, scores), one in zip(named, of_scores, strict=True)}
        return found

    def to_polars(self, *, details: bool = False) -> pl.DataFrame:
        """Return a row for each pair and measure; null where there is no number.

        Parameters
        ----------
        details : bool, default False
            Whether to add what stands behind the numbers: n_queries, standard errors, how the flip probability was
            found, what trec_eval's rule would say, how skewed the differences are, n_clusters, and of the intervals
            ci_method, known and unknown (why not).
        """
        import polars as pl

        from deadheat.io.forking import check_threads

        check_threads()
        names = {name: name for name in [one.name for one in fields(Pair)][: None if details else N_COLUMNS]}
        if details:
            names = {name: own for name, own in names.items() if own not in KNOWN.values()} | KNOWN
        columns = {name: [getattr(pair, own) for pair in self.pairs] for name, own in names.items()}
        return pl.DataFrame(columns).with_columns(pl.col(pl.Float64).fill_nan(None))

    def by(
        self, columns: str | Sequence[str], queries: Source, *, pool_languages: bool = False
    ) -> dict[str | tuple[str, ...], Comparison]:
        """Compare within each stratum of queries; p values are corrected over all rows of a measure, in all strata.

        Those of Tukey's test are within each stratum only. A pair of which one has no query in a stratum has a row
        without numbers there.

        Parameters
        ----------
        columns : str or sequence of str
            Columns of the queries table.
        queries : path or frame
        pool_languages : bool, default False
            As for :meth:`Evaluation.by`.

        Returns
        -------
        dict of str (of several columns: tuple) to Comparison
        """
        from deadheat.comparison.compare import assemble, corrected_together
        from deadheat.evaluation.strata import groups

        found = {}
        masks = groups(self.query_ids, columns, queries, pool_languages=pool_languages, stacklevel=3)
        for stratum, keep in masks.items():
            wanted = self.query_ids[keep]
            own = {name: members(one.query_ids, wanted) for name, one in self.evaluations.items()}
            found[stratum] = assemble(
                {name: one.select(own[name]) for name, one in self.evaluations.items()},
                self.design,
                None if self.cluster is None else self.cluster[keep].tolist(),
                None,
                {name: [values[own[name]] for values in rule] for name, rule in self.by_doc_id.items()},
            )
        return corrected_together(found)

    def equivalence(self, margin: float) -> pl.DataFrame:
        """Test whether a system is no worse than its baseline by a margin, and whether both are equivalent.

        Parameters
        ----------
        margin : float
            Above 0.

        Returns
        -------
        polars.DataFrame
            measure, system, baseline, difference, margin, p_no_worse, no_worse, p_equivalent, equivalent: one-sided
            paired t tests, two of them for equivalence (TOST), at ``1 - confidence_level``, not corrected; p is 0 or 1
            where all differences are the same. Neither is shown by fewer than 5 queries or clusters. Of a rank, more
            is worse.

        References
        ----------
        D. J. Schuirmann 1987, https://doi.org/10.1007/BF01068419
        """
        from deadheat.comparison.planning import list_equivalence

        return list_equivalence(self, margin)

    def sample_sizes(self, difference: float | None = None, *, power: float = 0.8) -> pl.DataFrame:
        """Say how many queries it takes to detect a difference, and which difference these queries can detect.

        Parameters
        ----------
        difference : float, optional
            Its size, above 0; by default the one that was found.
        power : float, default 0.8
            Probability of a significant result if the difference is there.

        Returns
        -------
        polars.DataFrame
            measure, system, baseline, target (the difference to detect), std, n_queries, n_clusters (null without),
            power (of these queries), n_needed (queries; null if a thousand million are too few, as for a difference
            of 0 or of the other sign than the `alternative`), detectable_difference: by a paired t test at
            ``1 - confidence_level``, not corrected. With clusters the test takes these, `n_needed` is for more of
            the same size, and `std` that of independent queries with as large a standard error. A power worked out
            from the difference that was found repeats its p value.

        References
        ----------
        T. Sakai, "Statistical significance, power, and sample sizes", SIGIR 2016. doi:10.1145/2911451.2911492
        """
        from deadheat.comparison.planning import list_sample_sizes

        return list_sample_sizes(self, difference, power)
