"""Labels of a judge: read as qrels, and used to estimate means and differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from deadheat.core.arrays import FloatArray
from deadheat.core.data.excluding import EXCLUDES_NOTHING, Excludes
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.design import Design
from deadheat.core.evaluation.evaluate_runs import evaluate_many, evaluate_under
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.query_columns import Weights
from deadheat.core.measures import Measure
from deadheat.core.random_generators import Rng
from deadheat.core.settings import Conventions
from deadheat.core.structures import copy_with
from deadheat.core.wording import format_names
from deadheat.plugins.judges.by_labels import helped_by

if TYPE_CHECKING:
    from deadheat.plugins.compare.comparison import Comparison


def note_of_scores(runs: Sequence[str]) -> str:
    """Say that the scores of runs are taken as grades."""
    if len(runs) == 1:
        return f"{runs[0]} is a run: its scores are taken as grades"
    return f"{format_names(runs)} are runs: their scores are taken as grades"


def as_qrels(judge: Source) -> Qrels:
    """Return a judge's labels as qrels, each once; of a run the scores are the grades."""
    if isinstance(judge, Run):
        run, rows = judge, judge.to_polars().rename({"score": "relevance"})
        if run.are_failures_open and run.failures is not None:
            rows = rows.join(run.failures, on=["query_id", "doc_id"], how="anti", maintain_order="left")
        labels = copy_with(
            Qrels.of_checked(rows, run.name),
            notes=(note_of_scores([run.name]), *run.notes),
        )
    else:
        labels = Qrels.of(judge)
    labels.check_duplicates()
    return labels


class Labels(NamedTuple):
    """Labels of a judge, for queries with human labels and for others.

    Attributes
    ----------
    qrels : Qrels
    """

    qrels: Qrels

    def evaluate_many(
        self,
        conventions: Conventions,
        qrels: Qrels,
        runs: Sequence[Run],
        measures: Sequence[Measure],
        rngs: Sequence[Rng] | None = None,
        *,
        rule: str | None = None,
    ) -> Iterator[tuple[Evaluation, list[FloatArray]]]:
        """Evaluate runs as `evaluate_many` does, with the help of these labels."""
        each = evaluate_many(conventions, qrels, runs, measures, rngs, rule=rule)
        for run, rng, (human, by_rule) in zip(runs, rngs or [None] * len(runs), each, strict=True):
            yield helped_by(human, evaluate_under(conventions, self.qrels, run, measures, rng)), by_rule

    def change_design(self, design: Design) -> Design:
        """Return the design for p values that no sign flips give."""
        return design.without_maxima({"judge": "some"})

    def help_runs(  # noqa: PLR0917 - as they were given
        self,
        comparison: Comparison,
        conventions: Conventions,
        runs: Mapping[str, Run],
        measures: Sequence[Measure],
        weights: Weights | None,
        queries: Source | None,
    ) -> Comparison:
        """Return a comparison of runs, whose differences are estimated with these labels, too."""
        rng = comparison.design.rng
        by_labels = {name: evaluate_under(conventions, self.qrels, run, measures, rng) for name, run in runs.items()}
        return _helped(comparison, by_labels, weights, queries)

    def help_evaluations(
        self,
        comparison: Comparison,
        evaluations: Mapping[str, Evaluation],
        weights: Weights | None,
        queries: Source | None,
    ) -> Comparison:
        """Return the same of evaluations, whose rankings are scored by these labels."""
        by_labels = {
            name: one.rescored(self.qrels, missing=one.conventions.missing) for name, one in evaluations.items()
        }
        return _helped(comparison, by_labels, weights, queries)


def _helped(
    comparison: Comparison,
    by_labels: Mapping[str, Evaluation],
    weights: Weights | None,
    queries: Source | None,
) -> Comparison:
    """Return a comparison with the help of evaluations by a judge's labels, which get its weights."""
    from deadheat.plugins.judges.differences import JudgedDifferences  # for means it is not needed

    if weights is not None:
        by_labels = {name: one.weighted(weights, queries) for name, one in by_labels.items()}
    return JudgedDifferences(by_labels).add_to(comparison)


def labels_of(judge: Source, normalize_ids: str | None = None, exclusion: Excludes = EXCLUDES_NOTHING) -> Labels:
    """Return the labels of a judge, given as qrels or as a run, with ids in one form of Unicode if one is named.

    What `exclusion` leaves out of the human labels is left out of these, too.
    """
    labels = as_qrels(judge).normalized(normalize_ids)
    return Labels(exclusion.of_qrels(labels))
