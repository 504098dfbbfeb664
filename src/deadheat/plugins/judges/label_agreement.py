"""How far the labels of one judge agree with human ones."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray, TextArray, is_member
from deadheat.core.data.qrels import Qrels
from deadheat.core.errors import DataError
from deadheat.core.wording import escape_invisible, format_count
from deadheat.plugins.judges import label_statistics as labels
from deadheat.plugins.judges.estimate import Estimate, estimate_mean, estimate_shares, estimate_statistic, leaving_out

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
        shares = estimate_shares(hits, totals, self.confidence_level)
        return [shares[start : start + n_grades] for start in range(0, len(shares), n_grades)]

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """Every statistic of `STATISTICS`, with its interval."""
        found = self.statistics(leaving_out(self.counts))
        shares = self._shares
        estimates = {}
        for name in STATISTICS:
            if name in shares:
                estimates[name] = shares[name]
            elif name == "tau_b":
                estimates[name] = estimate_mean(labels.tau_b(self.counts), self.confidence_level)
            else:
                estimates[name] = estimate_statistic(found[name], self.confidence_level)
        return estimates

    @property
    def _shares(self) -> dict[str, Estimate]:
        """Those of `SHARES`, with their intervals."""
        relevant = labels.count_relevant(self.counts, self.grades, self.rel)
        equal = np.trace(self.counts, axis1=1, axis2=2)
        hits = np.column_stack([equal, relevant.both, relevant.both])
        totals = np.column_stack([self.counts.sum((1, 2)), relevant.second, relevant.first])
        return dict(zip(SHARES, estimate_shares(hits, totals, self.confidence_level), strict=True))

    @cached_property
    def by_grade(self) -> dict[str, list[Estimate]]:
        """Precision, recall and inflation of the judge at each grade, each of length n_grades."""
        of_human, of_judge = self.counts.sum(2), self.counts.sum(1)
        right = np.diagonal(self.counts, axis1=1, axis2=2)
        inflation = labels.by_grade(leaving_out(self.counts), self.grades)["inflation"]
        reach = float(np.ptp(self.grades))
        inflations = []
        for values, n_queries in zip(inflation.T, (of_human > 0).sum(0).tolist(), strict=True):
            inflations.append(estimate_statistic(values, self.confidence_level, -reach, reach, n_queries=n_queries))
        return {
            "precision": estimate_shares(right, of_judge, self.confidence_level),
            "recall": estimate_shares(right, of_human, self.confidence_level),
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


def agreement_of(
    frame: pl.DataFrame, judge: Qrels, name: str, *, where: str, rel: float, confidence: float
) -> LabelAgreement:
    """Return how far the labels of a judge agree with those of the humans.

    Parameters
    ----------
    frame : polars.DataFrame
        Labels of the humans: query_id, doc_id, relevance.
    judge : Qrels
    name : str
        Of the judge.
    where : str
        Where the labels of the humans come from.
    rel : float
        The lowest grade that counts as relevant.
    confidence : float

    Raises
    ------
    DataError
        There is no document that both labelled, the grades are on different scales, or they are too many.
    """
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
