"""judge_agreement(): how far a judge's labels agree with human ones, and what follows from either for systems."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from deadheat.core.checks import as_level, as_number, name_items
from deadheat.core.data.document_table import check_tables
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.queries import Queries
from deadheat.core.data.renderable import Plottable, Renderable
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.design import Design
from deadheat.core.errors import DataError, SwappedFilesError
from deadheat.core.evaluation.stratum_places import groups
from deadheat.core.evaluation.together import check_of_documents
from deadheat.core.measures.notation import Measures, parse_measures
from deadheat.core.random_generators import Rng
from deadheat.core.wording import escape_invisible, format_list
from deadheat.plugins.compare.compare import named_runs
from deadheat.plugins.judges import label_statistics as labels
from deadheat.plugins.judges.conclusions import Conclusions, conclude
from deadheat.plugins.judges.estimate import Estimate, estimate_statistic, leaving_out
from deadheat.plugins.judges.label_agreement import OF_QUERIES, LabelAgreement, agreement_of
from deadheat.plugins.judges.labels import as_qrels, note_of_scores


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

    def figures_by_default(self) -> tuple[str, ...]:
        """Return the figures that are drawn by default: without runs there are no means."""
        names = super().figures_by_default()
        return names if self.conclusions else names[:1]

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
    ascending: bool = False,
    duplicates: str = "error",
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
    ascending : bool, default False
        Of `runs`: lower scores rank first, as of distances.
    duplicates : {"error", "best", "first", "trust"}, default "error"
        Of `runs`, as for :func:`evaluate`.

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
    (:func:`~deadheat.plugins.judges.shares.share_bounds`), which have a width also where all queries agree: in
    simulations 95% intervals cover in 95% or more, with judges that are right in 60 to 99% of 5 to 50 labels a query.
    All others leave out one query at a time (jackknife) and take Student's t; without width they are marked as unknown.
    They cover less often than they say: 78 to 94% of kappa, alpha and inflation, and 73 to 88% where wrong labels come
    together on few queries (docs/simulations.md).

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
    check_of_documents("agreement with a judge", judged)
    check_tables(judged, *given.values())
    frame = judged.to_polars()
    found = {
        name: agreement_of(frame, one, name, where=judged.where, rel=rel, confidence=confidence)
        for name, one in given.items()
    }
    notes = [*_notes_of_agreements(found), *_notes_of_tables([judged, *given.values()])]
    conclusions: tuple[Conclusions, ...] = ()
    if runs is not None:
        design = Design(confidence_level=confidence, n_resamples=n_resamples, rng=rng)
        named = named_runs(runs, ascending=ascending, duplicates=duplicates)
        design.check_systems(list(named), has_clusters=False)
        notes += [f"{name} is a judge and a system: its own labels rank it highest" for name in named if name in given]
        conclusions = tuple(
            conclude(judged, given, found, runs=named, measures=parse_measures(measures), rel=rel, design=design)
        )
    together = _together(frame, given, confidence) if len(given) > 1 else {}
    return JudgeAgreement(judged.name, found, together, conclusions, tuple(notes))


def _named(judge: Any) -> dict[str, Qrels]:  # noqa: ANN401 - one or several sources
    """Return the labels of each judge by name."""
    if isinstance(judge, Mapping) and judge and not all(isinstance(one, Mapping | list) for one in judge.values()):
        return name_items((name, _labels(source)) for name, source in judge.items())
    several = isinstance(judge, list | tuple) and judge and not isinstance(judge[0], tuple | list)
    return name_items((one.name, one) for one in map(_labels, judge if several else [judge]))


def _labels(source: Source) -> Qrels:
    """Return what a judge said, which may be written as qrels or as a run."""
    try:
        return as_qrels(source)
    except SwappedFilesError:
        return as_qrels(Run.of(source))


def _notes_of_agreements(agreements: Mapping[str, LabelAgreement]) -> list[str]:
    """Return notes on grades that only a judge gives, on a judge with a single grade, and on single queries."""
    notes = []
    for name, agreement in agreements.items():
        if agreement.beyond:
            grades = format_list([f"{grade:g}" for grade in agreement.beyond])
            notes.append(f"{name} gives {grades}, which no human gives: are they of one scale?")
    for name, agreement in agreements.items():
        is_given = agreement.confusion.any(axis=0)
        if is_given.sum() == 1:
            (grade,) = agreement.grades[is_given]
            notes.append(f"{name} gives no grade but {grade:g}: chance explains all agreement")
    of_one_query = [name for name, agreement in agreements.items() if len(agreement.query_ids) == 1]
    if of_one_query:
        notes.append(f"both labelled one query alone ({format_list(of_one_query)}): it has no interval")
    return notes


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
    tables = leaving_out(by_query)
    return {kind: estimate_statistic(labels.alpha(tables, grades, kind), confidence) for kind in labels.LEVELS}
