"""Evaluations by the labels of a judge, which help to estimate the means of those by human labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.core.arrays import FloatArray, align_values, is_member
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.queries import Queries
from deadheat.core.data.run import Run
from deadheat.core.data.unread_rows import LazyRows
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.query_columns import Weights
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.stratum import Stratum, strata_of
from deadheat.core.wording import format_count
from deadheat.plugins.judges.predicted import JUDGE, Predicted


@dataclass(frozen=True)
class ByLabels:
    """The evaluation of a run by the labels of a judge, as a part of that by human labels.

    Attributes
    ----------
    by_labels : Evaluation
        Of more queries.
    are_scores_of_run : bool
        Whether the labels are the scores of the run; False for a run that was not in memory.
    """

    by_labels: Evaluation
    are_scores_of_run: bool

    def weight(self, evaluation: Evaluation, weights: Weights | None, queries: Any) -> Evaluation:  # noqa: ANN401 - a table
        """Return an evaluation with weights, its means estimated with the judge's values of weighted queries."""
        return helped_by(
            evaluation, self.by_labels.weighted(weights, queries), are_scores_of_run=self.are_scores_of_run
        )

    def in_strata(
        self, strata: Mapping[Stratum, Evaluation], columns: Sequence[str], queries: Queries
    ) -> dict[Stratum, Evaluation]:
        """Return the strata with queries that the judge labelled, each with the help of its own."""
        found = {}
        for stratum, by_judge in strata_of(self.by_labels, columns, queries).items():
            if stratum in strata:
                human = strata[stratum]
                found[stratum] = helped_by(human, by_judge, are_scores_of_run=self.are_scores_of_run)
        return found

    def in_union(self, evaluation: Evaluation, strata: Sequence[Evaluation]) -> Evaluation:
        """Return the evaluation of the queries of some strata with the help of what the judge labelled in these."""
        labelled = [one.judge.query_ids for one in strata if one.judge is not None]
        keep = is_member(self.by_labels.query_ids, np.unique(np.concatenate(labelled)))
        return helped_by(evaluation, self.by_labels.select(keep), are_scores_of_run=self.are_scores_of_run)

    def refuse_saving(self, evaluation: Evaluation) -> None:
        """Raise `ParameterError`: values of the judge are not in the file."""
        if any(scores.predicted is not None for scores in evaluation):
            raise ParameterError(
                "an evaluation with a judge's labels cannot be saved",
                hint="save that of human labels: compare_evaluations(judge=) takes saved ones",
            )

    def report(self) -> Any:  # noqa: ANN401 - a ReportPart
        """Return what reports of evaluations show of a judge."""
        from deadheat.plugins.judges.report_of_means import PART

        return PART


def helped_by(human: Evaluation, judge: Evaluation, *, are_scores_of_run: bool = False) -> Evaluation:
    """Return an evaluation whose means are estimated with the help of a judge's labels, which more queries have.

    Parameters
    ----------
    human, judge : Evaluation
        Of one run, by either labels, both with weights or both without. Totals and geometric means stay as they are.
    are_scores_of_run : bool, default False
        Whether the labels of the judge are known to be the scores of the run.
    """
    refuse_bounds((human, judge))
    others = np.array(sorted({*judge.query_ids.tolist()}.difference(human.query_ids.tolist())), object)
    scores = []
    for own in human:
        by_judge = judge[own.measure]
        same, rest = (align_values(by_judge.values, by_judge.query_ids, ids) for ids in (human.query_ids, others))
        check_judge_has_values(own, same, judge.qrels.where)
        weights = None if by_judge.weights is None else align_values(by_judge.weights, by_judge.query_ids, others)
        is_mean = not (own.measure.total or own.measure.geometric)
        scores.append(own.with_part(JUDGE, Predicted(same, rest, weights) if is_mean else None))
    part = ByLabels(judge, are_scores_of_run or has_scores_of(judge, human.run))
    helped = {
        "features": {**human.features, JUDGE: part},
        "unjudged_queries": labelled_by_none(human, judge),
    }
    return Evaluation(scores, **human.parts() | helped)


def has_scores_of(judge: Evaluation, run: Run | None) -> bool:
    """Tell whether the labels of a judge are the scores of a run; False where it is not at hand."""
    return run is not None and are_scores_of(judge.qrels, run)


def are_scores_of(labels: Qrels, run: Run) -> bool:
    """Tell whether a judge's labels are the scores of a run: of the same documents, with the same numbers.

    False for a run that is not in memory, which is not read again for this.
    """
    if isinstance(run.rows, LazyRows):
        return False
    judged, retrieved = labels.to_polars(), run.to_polars()
    if len(judged) != len(retrieved):
        return False
    documents_of_both = judged.join(retrieved, on=["query_id", "doc_id"])
    if len(documents_of_both) != len(judged):
        return False
    return bool((documents_of_both["relevance"] == documents_of_both["score"]).all())


def check_judge_has_values(scores: Scores, by_judge: FloatArray, judge: str) -> None:
    """Raise if a judge gives no value for a query that human labels give one for.

    Parameters
    ----------
    scores : Scores
        By human labels.
    by_judge : ndarray of shape (n_queries,)
        The values of the same queries by the judge's labels; NaN where there is none.
    judge : str
        Where its labels come from.
    """
    n_lacking = int((scores.kept & np.isnan(by_judge)).sum())
    if n_lacking:
        raise DataError(
            f"{judge} gives no {scores.measure.label} for {n_lacking:,} of"
            f" {format_count(scores.n_queries, 'query', 'queries')} with human labels"
        )


def labelled_by_none(human: Evaluation, judge: Evaluation) -> tuple[str, ...]:
    """Return the queries of a run that neither humans nor a judge labelled."""
    known = {*judge.query_ids.tolist()}
    return tuple(query for query in human.unjudged_queries if query not in known)


def refuse_bounds(evaluations: Iterable[Evaluation]) -> None:
    """Raise if there are bounds over documents without a label, beside a judge: they would be of human means alone."""
    for evaluation in evaluations:
        if any(scores.unjudged is not None for scores in evaluation):
            raise ParameterError(
                "bounds over documents without a label do not go with a judge's labels",
                found=evaluation.qrels.where,
                hint="leave out one of them",
            )
