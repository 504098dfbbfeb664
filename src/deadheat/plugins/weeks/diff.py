"""diff_qrels(): what differs between two sets of judgments, and what that does to systems."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Unpack

import numpy as np
import polars as pl

from deadheat.core.arrays import align_values
from deadheat.core.checks import as_list
from deadheat.core.data.changes import Changes, compare_judgments
from deadheat.core.data.document_table import check_tables
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.judging import find_kind_of_qrels
from deadheat.core.data.known_ids import collect_ids
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.renderable import Renderable, make_frame
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.evaluation.evaluate_runs import evaluate_under
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.open_evaluations import by_own_name, open_evaluation
from deadheat.core.evaluation.saved import is_saved
from deadheat.core.evaluation.scores import Scores
from deadheat.core.kernels.ranks import first_ranks
from deadheat.core.measures.notation import Measures
from deadheat.core.measures.selection import choose_measures
from deadheat.core.scalars import NOISE
from deadheat.core.settings import ConventionArguments, Conventions
from deadheat.core.wording import escape_invisible, format_path


@dataclass(frozen=True, eq=False)
class QrelsDiff(Renderable):
    """What differs between two sets of judgments. Made by :func:`diff_qrels`.

    Attributes
    ----------
    old, new : str
        What the two are called.
    changes : Changes
        Queries (`same`, `changed`, `added`, `gone`), and the judgments that differ (`documents`).
    unknown_ids : tuple of str or None
        Documents of the new judgments that are not in the collection; None without one.
    evaluations : dict of str to tuple of Evaluation
        Each system under the old and under the new judgments.
    """

    old: str
    new: str
    changes: Changes
    unknown_ids: tuple[str, ...] | None
    evaluations: Mapping[str, tuple[Evaluation, Evaluation]]

    def __repr__(self) -> str:
        return escape_invisible(f"<QrelsDiff of {self.old} and {self.new}: {self.changes}>")

    def to_polars(self) -> pl.DataFrame:
        """Return query_id, doc_id, old and new relevance of the judgments that differ."""
        return self.changes.documents.sort("query_id", "doc_id")

    @cached_property
    def effects(self) -> pl.DataFrame:
        """What the new judgments do to each measure and system.

        measure, system, old and new (the mean, of counts the total), difference, the ranks of the system by both
        (systems with equal means share one; null without a mean), and the queries with a value under both.
        """
        rows: list[tuple[object, ...]] = []
        for label, scores in self._scores():
            means = np.array([[old.reported(), new.reported()] for old, new in scores.values()])
            measure = next(iter(scores.values()))[0].measure
            old_ranks = first_ranks(measure.sign * means[:, 0])
            new_ranks = first_ranks(measure.sign * means[:, 1])
            for place, (system, (before, after)) in enumerate(scores.items()):
                old, new = means[place].tolist()
                ranks = [int(one[place]) if one[place] > 0 else None for one in (old_ranks, new_ranks)]
                rows.append((label, system, old, new, new - old, *ranks, before.n_queries, after.n_queries))
        return make_frame(
            rows,
            dict.fromkeys(("measure", "system"), pl.String)
            | dict.fromkeys(("old", "new", "difference"), pl.Float64)
            | dict.fromkeys(("old_rank", "new_rank", "n_old", "n_new"), pl.Int64),
        )

    @cached_property
    def causes(self) -> pl.DataFrame:
        """Which queries cause the differences, those with the largest part first.

        measure, system, query_id, kind ("changed", "added" or "gone"; "" of a query whose own judgments are the same),
        old and new value, and the part of the difference, of which the sum is the whole: of m queries under the new
        judgments (new - old) / m; a query that was added moves the mean by (new - old mean) / m, one that is gone by
        (old mean - old) / m. Weights multiply a part, and m is their sum. Without geometric means, whose differences
        have no such parts.
        """
        return make_frame(
            [
                (measure, system, *row)
                for measure, both in self._scores()
                for system, pair in both.items()
                if not pair[0].measure.geometric
                for row in sorted(self._parts(*pair), key=lambda row: -abs(row[-1]))
            ],
            dict.fromkeys(("measure", "system", "query_id", "kind"), pl.String)
            | dict.fromkeys(("old", "new", "part"), pl.Float64),
        )

    def _scores(self) -> Iterator[tuple[str, dict[str, tuple[Scores, Scores]]]]:
        """Yield each measure with the scores of the systems that have it."""
        for label in dict.fromkeys(one.label for pair in self.evaluations.values() for one in pair[0].measures):
            yield (
                label,
                {name: (old[label], new[label]) for name, (old, new) in self.evaluations.items() if label in old},
            )

    def _parts(self, before: Scores, after: Scores) -> Iterator[tuple[str, str, float, float, float]]:
        """Yield a row of :attr:`causes` for each query that moves the mean."""
        kinds = {query: kind for kind in ("changed", "added", "gone") for query in getattr(self.changes, kind)}
        ids = np.array(sorted({*before.query_ids.tolist(), *after.query_ids.tolist()}), object)
        old, new = (align_values(one.values, one.query_ids, ids) for one in (before, after))
        each = [np.ones(len(one.values)) if one.weights is None else one.weights for one in (before, after)]
        was, weights = (align_values(own, one.query_ids, ids) for own, one in zip(each, (before, after), strict=True))
        mean, size = (0.0, 1.0) if before.measure.total else (before.mean, float(each[1][after.kept].sum()))
        moved = np.where(np.isnan(new), mean, new) - np.where(np.isnan(old), mean, old)
        moved[np.abs(moved) <= NOISE] = 0.0
        # a query that is gone has the weight that it had
        parts = np.where(np.isnan(weights), was, weights) * moved / (size or np.nan)
        for n in np.flatnonzero(moved).tolist():
            yield str(ids[n]), kinds.get(ids[n], ""), float(old[n]), float(new[n]), float(parts[n])

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        yield from (((f"n_{kind}",), len(getattr(self.changes, kind))) for kind in ("same", "changed", "added", "gone"))
        for row in self.effects.iter_rows(named=True):
            yield from (((row["measure"], row["system"], name), row[name]) for name in ("old", "new", "difference"))


def diff_qrels(
    old: Source,
    new: Source,
    runs: Mapping[str, Source] | Sequence[Source] = (),
    measures: Measures = None,
    *,
    collection: Source | None = None,
    **conventions: Unpack[ConventionArguments],
) -> QrelsDiff:
    """Say what differs between two sets of judgments; with systems, what that does to them and to their order.

    Parameters
    ----------
    old, new : path, dict of dict, dataframe or Qrels
    runs : dict of str to run, or sequence of runs, optional
        Runs, or evaluations (also the paths of saved ones), whose rankings are scored again.
    measures : measure or iterable of measures, optional
        By default those of :func:`evaluate`, or of the evaluations.
    collection : path, dataframe, mapping or iterable of ids, optional
        All documents that exist, as for :func:`evaluate`: documents of the new judgments that it lacks are named.
    **conventions
        As for :func:`evaluate`; those of an evaluation by default.

    Returns
    -------
    QrelsDiff

    Raises
    ------
    NotKeptError
        Too little of the ranking of a saved evaluation was kept.

    Examples
    --------
    >>> found = diff_qrels({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 2, "b": 1}, "q2": {"a": 1}})
    >>> found
    <QrelsDiff of qrels and qrels: 2 queries: 1 the same, 1 with changed judgments>
    >>> found.to_polars().rows()
    [('q1', 'a', 1.0, 2.0), ('q1', 'b', None, 1.0)]
    """
    before, after = Qrels.of(old), Qrels.of(new)
    check_tables(before, after)
    unknown = None if collection is None else tuple(sorted({*after.to_polars()["doc_id"]} - collect_ids(collection)))
    named = by_own_name(
        runs if isinstance(runs, Mapping) else as_list("runs", runs, "a dict of name to run, or a list of runs"),
        lambda run: _evaluated(run, before, measures),
    )
    return QrelsDiff(
        format_path(before.where),
        format_path(after.where),
        compare_judgments(before, after),
        unknown,
        {
            name: (one.rescored(before, measures, **conventions), one.rescored(after, measures, **conventions))
            for name, one in named.items()
        },
    )


def _evaluated(given: Source, qrels: Qrels, measures: Measures) -> Evaluation:
    """Return an evaluation, a saved one, or that of a run, whose ranking is to be scored again."""
    if isinstance(given, Evaluation) or (isinstance(given, str | Path) and is_saved(given)):
        return open_evaluation(given)
    run = Run.of(given)
    run.check_duplicates()
    return evaluate_under(Conventions(), qrels, run, choose_measures(find_kind_of_qrels(qrels), measures))
