"""Evaluation, what evaluate() returns: exact scores by query, their means, and how far ties can move them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np

from deadheat.core import hooks
from deadheat.core.arrays import BoolArray, FloatArray, IntArray, TextArray
from deadheat.core.checks import as_text
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.renderable import Plottable, Renderable
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.evaluation.evaluation_parts import EvaluationPart, KeptLists
from deadheat.core.evaluation.query_columns import NOTE_OF_WEIGHTS, SMALLEST, Weights, weights_of
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.scores_by_measure import ScoresByMeasure
from deadheat.core.io.guarding import check_threads
from deadheat.core.libraries import polars as pl
from deadheat.core.measures import Measure
from deadheat.core.measures.notation import MeasureLike
from deadheat.core.measures.selection import ByMeasure
from deadheat.core.placements.placements import Placements
from deadheat.core.saving import Saving
from deadheat.core.settings import ConventionArguments, Conventions
from deadheat.core.structures import copy_with
from deadheat.core.wording import escape_invisible, format_path

if TYPE_CHECKING:
    from deadheat.core.evaluation.facts import Facts
    from deadheat.core.evaluation.intervals import Interval, IntervalArguments
    from deadheat.core.evaluation.origin import Origin
    from deadheat.core.evaluation.strata import Strata


UNKNOWN = "unknown"
"""What `Evaluation.ties` is where values came without the rankings behind them."""


class Evaluation(ScoresByMeasure, Plottable, Renderable, figures="systems", shown=("forest", "traditional")):
    """Scores of one run on one set of qrels, by measure.

    Returned by :func:`evaluate`. ``ev["nDCG@10"]`` gives the `Scores` of a measure; the key is the measure, its
    notation or another of its names. Tables and keys have the names by which the measures were asked for.

    What it says is of the moment when it was made, whatever becomes of the dicts, frames or arrays that it was made
    from. A run that was not held in memory is read again where that is needed; if its file changed, that is an error.

    Attributes
    ----------
    name : str
        The name of the run.
    measures : tuple of Measure
    query_ids : ndarray of str, shape (n_queries,)
        The evaluated queries, sorted by code point.
    conventions : Conventions
    missing_queries : tuple of str
        Queries of the qrels that the run lacks.
    unjudged_queries : tuple of str
        Queries of the run without judgments, which are left out.
    placements : Placements
        The ranks and ties of the judged documents, before the tie policy.
    graded : Placements or None
        The same by an ontology's judgments, for MaxRel alone.
    notes : tuple of str
        What was assumed or skipped to read qrels and run, for people.
    alike : tuple of str
        Those of the notes that are about ids of qrels and run which look alike and are not equal.
    run : Run or None
        What was evaluated; of a saved evaluation the documents that were kept, None if none were, or if these are some
        queries of an evaluation.
    qrels : Qrels
    origin : Origin or None
        Time, label and commit of a saved evaluation; None of one that was just made.
    lists : KeptLists or None
        The first documents of each list, where they were kept (``evaluate_dense(items=True)``).
    known_depth : int or None
        The rank to which lists were known when the evaluation was scored again; None if it was not.
    features : mapping of str to EvaluationPart
        What features know of the whole evaluation, such as the labels of a judge, by their keys.
    saved_files : tuple of pathlib.Path
        The files that :meth:`save` wrote. In a folder of baselines, these are left out.
    """

    is_evaluation = True  # so that whoever reads qrels and runs can refuse it

    def __init__(
        self,
        scores: Iterable[Scores],
        *,
        name: str,
        query_ids: TextArray,
        conventions: Conventions,
        missing_queries: tuple[str, ...] = (),
        unjudged_queries: tuple[str, ...] = (),
        placements: Placements,
        graded: Placements | None = None,
        qrels: Qrels,
        notes: tuple[str, ...] = (),
        alike: tuple[str, ...] = (),
        run: Run | None = None,
        origin: Origin | None = None,
        known_depth: int | None = None,
        lists: KeptLists | None = None,
        features: Mapping[str, EvaluationPart[Evaluation]] | None = None,
    ) -> None:
        super().__init__(scores)
        self.name = name
        self.query_ids = query_ids
        self.query_ids.flags.writeable = False
        self.conventions = conventions
        self.missing_queries = missing_queries
        self.unjudged_queries = unjudged_queries
        self.placements = placements
        self.graded = graded
        self.qrels = qrels
        self.notes = notes
        self.alike = alike
        self.run = run
        self.origin = origin
        self.known_depth = known_depth
        self.lists = lists
        self.features = dict(features or {})
        self.saved_files: tuple[Path, ...] = ()

    def __repr__(self) -> str:
        means = ", ".join(f"{scores.measure.label}={scores.reported():.4f}" for scores in self)
        return escape_invisible(f"<Evaluation {self.name}, {self.facts}, ties={self.ties!r}: {means}>")

    @property
    def ties(self) -> str:
        """The tie policy of the values; "unknown" if they came without the rankings behind them."""
        if self.measures and not any(measure.knows_ties for measure in self.measures):
            return UNKNOWN
        return self.conventions.ties

    def placements_of(self, measure: Measure) -> Placements:
        """Return what a measure is computed from: under an ontology, MaxRel has judgments of its own."""
        if self.graded is not None and measure.by_ontology:
            return self.graded
        return self.placements

    @cached_property
    def facts(self) -> Facts:
        """What to know about the run: queries that it lacks, unjudged documents, where it may have been cut.

        The share of unjudged documents is None where values are of sampled documents: that of whole lists differs.
        """
        from deadheat.core.evaluation.facts import facts_of  # few evaluations are shown

        depths = [measure.deepest for measure in self.measures]
        deepest = None
        if None not in depths:
            deepest = max(depths, default=0)  # type: ignore[type-var]
        facts = facts_of(self.placements, len(self.missing_queries), self.conventions.depth, deepest)
        if all(measure.of_whole_lists for measure in self.measures):
            return facts
        return replace(facts, unjudged_share=None)

    @cached_property
    def qrels_hash(self) -> str:
        """The SHA-256 of the qrels' rows in any order, to tell these qrels from others."""
        return self.qrels.fingerprint

    @cached_property
    def queries_hash(self) -> str:
        """The SHA-256 of the query ids, to tell this set of queries from others."""
        from deadheat.core.data.fingerprints import hash_ids  # asked of few evaluations

        return hash_ids(self.query_ids.tolist())

    def intervals(self, **options: Unpack[IntervalArguments]) -> dict[str, Interval]:
        """Return a confidence interval of each measure's mean, by the name by which it was asked for.

        Parameters
        ----------
        **options
            As for :meth:`Scores.interval`; all measures share the resamples.
        """
        from deadheat.core.evaluation.interval_estimates import estimate_intervals  # few evaluations have intervals
        from deadheat.core.evaluation.intervals import IntervalOptions

        intervals = estimate_intervals(list(self), IntervalOptions(**options))
        by_label = {}
        for scores, interval in zip(self, intervals, strict=True):
            by_label[scores.measure.label] = interval
        return ByMeasure(by_label, rel=self.conventions.rel)

    def steps(self, measure: MeasureLike, query_id: str, run: Source | None = None) -> Any:  # noqa: ANN401 - Steps, of a plugin
        """Return how the value of a measure for one query comes about, document by document.

        Parameters
        ----------
        measure : Measure or str
            One that was evaluated.
        query_id : str
        run : path, dict, frame or Run, optional
            The run, for the scores and the documents that are not judged; without it judged documents are listed alone.

        Returns
        -------
        Steps
            Where scores tie, each document has its expected contribution over all orders of the tie.

        Raises
        ------
        UnknownMeasureError
            The measure was not evaluated.
        DataError
            The query was not evaluated.
        ParameterError
            Ties were broken at random, or by document id or the input and there is no run to tell the order.

        Examples
        --------
        >>> import deadheat as dh
        >>> ev = dh.evaluate({"q": {"a": 1, "c": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}, "AP")
        >>> ev.steps("AP", "q").to_polars()["precision"].round(3).to_list()
        [1.0, 0.667]
        """
        return hooks.service("steps").steps_of(self, measure, query_id, run)

    def abstention(self, rel: float = 1) -> pl.DataFrame:
        """Return how often the system abstains, and is right to, at each threshold of its scores.

        Parameters
        ----------
        rel : float, default 1
            Lowest relevance of an answer: a query without one is unanswerable.

        Returns
        -------
        polars.DataFrame
            threshold (null: any score is an answer; a score above the threshold is), n_abstained, n_unanswerable,
            n_right (both), rate, precision and recall, as of :class:`Abstain`; null without a query that they are
            over. The thresholds are the best scores of the queries: those whose best scores tie abstain together. No
            more than the first row where scores are not at hand.

        Examples
        --------
        >>> import deadheat as dh
        >>> ev = dh.evaluate({"q1": {"a": 1}, "q2": {}}, {"q1": {"a": 0.9}, "q2": {"b": 0.3}}, "RR")
        >>> ev.abstention().select("threshold", "rate", "precision", "recall").rows()
        [(None, 0.0, None, 0.0), (0.3, 0.5, 1.0, 1.0), (0.9, 1.0, 0.5, 1.0)]
        """
        table: pl.DataFrame = hooks.service("abstention").tabulate_abstention(self, rel)
        return table

    def item_profile(
        self,
        cutoff: int = 10,
        popularity: object = None,
        *,
        n_items: int | None = None,
        n_users: float | None = None,
        head: float = 0.2,
    ) -> Any:  # noqa: ANN401 - an ItemProfile, of a higher floor
        """Return which items the top k of the lists hold: coverage, concentration, popularity, tail and novelty.

        Parameters
        ----------
        cutoff, popularity, n_items, n_users, head
            As for :func:`item_profile`.

        Returns
        -------
        ItemProfile

        Raises
        ------
        ParameterError
            The lists were not kept, or not so deep.

        Examples
        --------
        >>> from deadheat import evaluate_dense
        >>> train, test = [[0, 1], [0], [0, 2]], [[2], [1], [1]]
        >>> ev = evaluate_dense([[4, 3, 2, 1]] * 3, test, "RR", exclude=train, items=True)
        >>> ev.item_profile(1).to_polars().rows()
        [('1', 2.0), ('2', 1.0), ('0', 0.0), ('3', 0.0)]
        """
        return hooks.service("items").profile_of_evaluation(
            self, popularity, cutoff, n_items=n_items, n_users=n_users, head=head
        )

    def by(
        self, columns: str | Sequence[str], queries: Source, *, smallest: int = SMALLEST, pool_languages: bool = False
    ) -> Strata:
        """Return an evaluation of each stratum of queries.

        Parameters
        ----------
        columns : str or sequence of str
            Columns of the queries table, such as "language"; with several, every combination is a stratum. A query with
            several values (a list, or ``a|b`` in a table) is in the stratum of each.
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

        Raises
        ------
        ColumnError
            The table has no such column.
        DataError
            The table has none of the evaluated queries.
        ParameterError
            Another option is out of its range.
        """
        from deadheat.core.evaluation.strata import strata_of_evaluation  # a stratum is an evaluation, too

        return strata_of_evaluation(self, columns, queries, smallest=smallest, pool_languages=pool_languages)

    def save(
        self,
        path: str | Path,
        *,
        save_depth: int = Saving.save_depth,
        label: str | None = None,
        commit: str | None = None,
        replace: bool = Saving.replace,
        **options: Unpack[IntervalArguments],
    ) -> Path:
        """Write one JSON file: readable means, intervals and conventions, then scores and placements of all queries.

        It holds the judgments and the first documents of each list too, of spans the offsets of spans and chunks, so
        that it can be scored again (:meth:`rescored`).

        Parameters
        ----------
        path : path
            Of the file, ``.json``; an earlier save there is replaced, any other file is an error. Or a folder: one
            that is there, or a text that ends in ``/``. There every save is a new file, named by time, label and run.
        save_depth : int, default 100
            Documents of each list to keep, more where a measure has a larger cutoff; 0: none. The tie of the last one
            is kept whole if it has at most ten times as many documents. Nothing is kept of runs that are too large to
            hold, or in a cluster; of a loaded evaluation, what it has stays.
        label, commit : str, optional
            By default branch and commit, as the environment of a CI system or git say.
        replace : bool, default False
            Whether a folder has one file a run, ``NAME.json``, in which an earlier save is replaced.
        **options
            Of the intervals, as for :meth:`Scores.interval`.

        Returns
        -------
        pathlib.Path
            The file.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from deadheat import evaluate
        >>> ev = evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR")
        >>> with TemporaryDirectory() as folder:
        ...     names = [ev.save(folder, label=week).name for week in ("week1", "week2")]
        ...     names.append(ev.save(folder, replace=True).name)
        >>> names
        ['...Z-week1-run.json', '...Z-week2-run.json', 'run.json']
        """
        from deadheat.core.evaluation.intervals import IntervalOptions  # few evaluations are saved
        from deadheat.core.evaluation.origin import Origin
        from deadheat.core.evaluation.save_folder import save_into

        origin = self.origin or Origin.here()
        if label is not None:
            origin = Origin(origin.time, as_text("label", label), origin.commit)
        if commit is not None:
            origin = Origin(origin.time, origin.label, as_text("commit", commit), origin.label_is_branch)
        for part in self.features.values():
            part.refuse_saving(self)
        parts = self.keeping(save_depth).parts() | {"origin": origin}
        is_replaced = Saving.checked("replace", replace)
        target = save_into(path, list(self), IntervalOptions(**options), parts, replace=is_replaced)
        self.saved_files += (target.resolve(),)
        return target

    def keeping(self, save_depth: int) -> Evaluation:
        """Return the evaluation with the first documents of each list alone, as they are saved.

        Parameters
        ----------
        save_depth : int
            As for :meth:`save`.
        """
        from deadheat.core.evaluation.facts import TOP  # few evaluations are saved
        from deadheat.core.placements.top_rows import keep_top

        run = None
        if Saving.checked("save_depth", save_depth) and self.run:
            deepest = max((measure.deepest or 0 for measure in self.measures), default=0)
            run = keep_top(self.run, max(save_depth, TOP, deepest), self.conventions.score_precision)
        return copy_with(self, run=run)

    def rescored(
        self,
        qrels: Source | None = None,
        measures: MeasureLike | Iterable[MeasureLike] | None = None,
        *,
        ids: Mapping[str, str] | str | Path | None = None,
        weights: Weights | None = None,
        queries: Source | None = None,
        **conventions: Unpack[ConventionArguments],
    ) -> Evaluation:
        """Return the evaluation of the same ranking under other judgments, measures, weights or conventions.

        Equal to evaluating the run itself, as far as it was kept: where ties at the cutoff of a measure are kept whole,
        where lists are whole, and where all judged documents are among those that were kept. New queries that the
        ranking was never asked, being neither in it nor in the earlier judgments, are left out, and `notes` say so; if
        `missing` is given, it says what they count.

        Parameters
        ----------
        qrels : path, dict of dict, dataframe, Qrels or Spans, optional
            By default those of the evaluation. Of a run of chunks :class:`Spans`, which its chunks are held against.
        measures : measure or iterable of measures, optional
            By default those of the evaluation.
        ids : mapping of str to str, or path, optional
            The new id of each document that was renamed since: a dict, or a table with columns old and new.
        weights, queries
            As for :meth:`weighted`; by default each query has the weight that it had.
        **conventions
            As for :func:`evaluate`, by default those of the evaluation.

        Raises
        ------
        NotKeptError
            The value of a measure for some query depends on documents that were not kept; it names both.
        DataError
            The evaluation has no ranking, or no judgments; or only one of both is of spans.
        ParameterError
            Ties are broken at random; or `ids` are given for chunks.

        Examples
        --------
        >>> from deadheat import evaluate
        >>> ev = evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["RR"])
        >>> ev.rescored({"q": {"a": 1, "b": 1}}).means(), ev.rescored(measures="P@1").means()
        ({'RR': 1.0}, {'P@1': 0.5})
        """
        rescore = hooks.service("rescoring").rescore_evaluation
        return cast("Evaluation", rescore(self, qrels, measures, ids, conventions, weights=weights, queries=queries))

    def parts(self) -> dict[str, Any]:
        """Return the arguments that make the evaluation, except the scores."""
        return {
            "name": self.name,
            "query_ids": self.query_ids,
            "conventions": self.conventions,
            "missing_queries": self.missing_queries,
            "unjudged_queries": self.unjudged_queries,
            "placements": self.placements,
            "graded": self.graded,
            "qrels": self.qrels,
            "notes": self.notes,
            "alike": self.alike,
            "run": self.run,
            "origin": self.origin,
            "known_depth": self.known_depth,
            "lists": self.lists,
            "features": self.features,
        }

    def select(self, keep: BoolArray | IntArray, name: str | None = None) -> Evaluation:
        """Return the evaluation of some queries; the highest relevance remains that of the whole qrels.

        Parameters
        ----------
        keep : ndarray of bool, shape (n_queries,), or of int
            Which queries, or their places in any order.
        name : str, optional
            By default that of the run.
        """
        placements = self.placements.select(keep)
        graded = self.graded and self.graded.select(keep)
        return self._select(keep, placements, graded, name)

    def split(self, sets: Sequence[IntArray]) -> list[Evaluation]:
        """Return the evaluation of each set of queries, as :meth:`select` does; of very many sets this is faster.

        Parameters
        ----------
        sets : sequence of ndarray of int
            The places of the queries of each set, in any order.
        """
        order = np.concatenate([np.zeros(0, np.int64), *sets])
        placements = self.placements.select(order)
        graded = self.graded and self.graded.select(order)
        parts = []
        first = 0
        for places in sets:
            last = first + len(places)
            own_graded = graded and graded.part(first, last)
            parts.append(self._select(places, placements.part(first, last), own_graded))
            first = last
        return parts

    def _select(
        self, keep: BoolArray | IntArray, placements: Placements, graded: Placements | None, name: str | None = None
    ) -> Evaluation:
        """Return the evaluation of some queries, given their placements."""
        query_ids = self.query_ids[keep]
        parts = self.parts()
        parts["name"] = name or self.name
        parts["query_ids"] = query_ids
        parts["missing_queries"] = ()
        if self.missing_queries:
            parts["missing_queries"] = tuple(sorted(self._missing_set.intersection(query_ids.tolist())))
        parts["unjudged_queries"] = ()
        parts["placements"] = placements
        parts["graded"] = graded
        parts["run"] = None
        parts["lists"] = self.lists and self.lists.select(keep)
        parts["features"] = {}
        return Evaluation([scores.select(keep) for scores in self], **parts)

    @cached_property
    def _missing_set(self) -> frozenset[str]:
        """The missing queries, made into a set once for the many selections of a stratification."""
        return frozenset(self.missing_queries)

    def called(self, name: str) -> Evaluation:
        """Return the evaluation under another name.

        Parameters
        ----------
        name : str
        """
        return copy_with(self, name=as_text("name", name))

    def renamed(self, names: Mapping[str, str]) -> Evaluation:
        """Return the evaluation of some queries under other ids.

        Parameters
        ----------
        names : mapping of str to str
            The new id of each query that stays; no two have the same.
        """
        place_of_new_id = {}
        new_id_of_old = {}
        for place, query_id in enumerate(self.query_ids.tolist()):
            if query_id in names:
                place_of_new_id[names[query_id]] = place
                new_id_of_old[query_id] = names[query_id]
        new_ids = np.array(sorted(place_of_new_id), dtype=object)
        selected = self.select(np.array([place_of_new_id[new_id] for new_id in new_ids], np.int64))
        parts = selected.parts()
        parts["query_ids"] = new_ids
        parts["missing_queries"] = tuple(sorted(names[query_id] for query_id in selected.missing_queries))
        parts["placements"] = replace(selected.placements, query_ids=new_ids)
        parts["graded"] = selected.graded and replace(selected.graded, query_ids=new_ids)
        parts["lists"] = selected.lists and selected.lists.renamed(new_ids)
        parts["qrels"] = self.qrels.of_queries(new_id_of_old)
        return Evaluation([replace(scores, query_ids=new_ids) for scores in selected], **parts)

    @property
    def judge(self) -> Any:  # noqa: ANN401 - an Evaluation or None, of the plugin judges
        """The evaluation by the labels of a judge, which help to estimate the means; None without a judge."""
        part: Any = self.features.get("judge")
        if part is None:
            return None
        return part.by_labels

    @property
    def is_own_judge(self) -> bool:
        """Whether the labels of the judge are the scores of the run; False for a run that was not in memory."""
        part: Any = self.features.get("judge")
        return part is not None and bool(part.are_scores_of_run)

    @property
    def weights(self) -> FloatArray | None:
        """How much each query counts in means, of shape (n_queries,); None: all the same, or there are only totals."""
        for scores in self:
            if scores.weights is not None:
                return scores.weights
        return None

    def weighted(self, weights: Weights | None, queries: Source | None = None) -> Evaluation:
        r"""Return the evaluation with weighted means, :math:`\sum w x / \sum w`.

        Parameters
        ----------
        weights : str or dict
            How much each query counts, such as how often it is asked: a column of `queries`, or a dict of query_id to a
            number from 0 on. One of weight 0 is left out: it loses its values. Totals, of counts, have no weights.
        queries : path, frame or Queries, optional
            The table of queries.

        Returns
        -------
        Evaluation
            Ties, intervals and tests are of the weighted mean.

        Raises
        ------
        DataError
            A query has no weight, or one that is below 0 or no number; or it had weight 0 before, and its value is lost
            as the ranking was not kept.
        ParameterError
            There is no table, or `weights` is something else.

        Examples
        --------
        >>> from deadheat import evaluate
        >>> ev = evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": ["a"], "q2": ["b", "a"]}, "RR")
        >>> ev.means()["RR"], round(ev.weighted({"q1": 3, "q2": 1}).means()["RR"], 4)
        (0.75, 0.875)
        """
        from deadheat.core.data.queries import Queries  # few evaluations are weighted
        from deadheat.core.evaluation.lost_values import restore_values

        table = queries
        if isinstance(weights, str) and queries is not None:
            table = Queries.of(queries, [weights])
        weight_of_query = weights_of(weights, table, self.query_ids)
        parts = self.parts()
        parts["notes"] = tuple(note for note in self.notes if not note.startswith(NOTE_OF_WEIGHTS))
        if isinstance(table, Queries):
            parts["notes"] += (f"{NOTE_OF_WEIGHTS}{weights} of {format_path(table.where)}",)
        with_values = restore_values(self, weight_of_query)
        weighted = Evaluation([scores.weighted(weight_of_query) for scores in with_values], **parts)
        for part in self.features.values():
            weighted = part.weight(weighted, weights, table)
        return weighted

    @cached_property
    def unanswerable(self) -> tuple[str, ...]:
        """The queries that the qrels say no document answers; measures leave them out if `no_relevant` is None."""
        return self.qrels.unanswerable

    def without_relevant(self, measure: MeasureLike) -> tuple[str, ...]:
        """Return the queries that have no relevant document for a measure."""
        return tuple(self.query_ids[~self[measure].has_relevant].tolist())

    def means(self) -> dict[str, float]:
        """Return the mean over queries of each measure, by the name by which it was asked for; of a count the total.

        Other names find it too, and under ``rel=2`` a name without a level, such as "AP", finds "AP(rel=2)".

        Examples
        --------
        >>> from deadheat import evaluate
        >>> means = evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["MAP", "RR"]).means()
        >>> means, means["AP"]
        ({'MAP': 0.75, 'RR': 0.75}, 0.75)
        """
        by_label = {scores.measure.label: scores.reported() for scores in self}
        return ByMeasure(by_label, rel=self.conventions.rel)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{query_id: {measure: value}}``, without the measures for which a query has no value."""
        columns = [(scores.measure.label, scores.values.tolist()) for scores in self]
        by_query: dict[str, dict[str, float]] = {}
        for place, query_id in enumerate(self.query_ids.tolist()):
            by_label = {label: values[place] for label, values in columns if not isnan(values[place])}
            by_query[query_id] = ByMeasure(by_label, rel=self.conventions.rel)
        return by_query

    def to_polars(self) -> pl.DataFrame:
        """Return query_id, measure, value, tie_std, tie_min and tie_max; null where a query has no value.

        Where values came without the rankings behind them, there is nothing to say of ties, and no column of them.
        With ``unjudged="bounds"`` also unjudged_min and unjudged_max, null for measures without bounds.
        """
        check_threads()
        frames = [self._tabulate_scores(scores) for scores in self]
        return pl.concat(frames).with_columns(pl.col(pl.Float64).fill_nan(None))

    def _tabulate_scores(self, scores: Scores) -> pl.DataFrame:
        """Return the rows of :meth:`to_polars` for one measure, with NaN where a query has no value."""
        n_queries = len(self.query_ids)
        columns = {
            "query_id": pl.Series(scores.query_ids.tolist(), dtype=pl.String),
            "measure": pl.Series([scores.measure.label] * n_queries, dtype=pl.String),
            "value": pl.Series(scores.values),
        }
        if self.ties != UNKNOWN:
            columns["tie_std"] = pl.Series(scores.tie_std)
            columns["tie_min"] = pl.Series(scores.tie_min)
            columns["tie_max"] = pl.Series(scores.tie_max)
        for name, column in scores.columns().items():
            numbers = [None] * n_queries if column is None else column
            columns[name] = pl.Series(numbers, dtype=pl.Float64)
        return pl.DataFrame(columns)

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        yield ("n_queries",), len(self.query_ids)
        for scores in self:
            yield from scores.named_numbers()
