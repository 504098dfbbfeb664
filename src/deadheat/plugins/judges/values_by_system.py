"""Values of several systems under the labels of a judge, in columns."""

from collections.abc import Mapping

import numpy as np

from deadheat.core.arrays import FloatArray, TextArray, align_values
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.measures.notation import MeasureLike
from deadheat.plugins.judges.sampling import sample_doubt


def values_of(
    evaluations: Mapping[str, Evaluation], measure: MeasureLike, query_ids: TextArray, name: str = "values"
) -> tuple[FloatArray, FloatArray]:
    """Return the values, or weights, for some queries and for all others, of shape (n_queries, n_systems).

    NaN where none is.
    """
    each = [one[measure] for one in evaluations.values()]
    others = sorted({query for one in each for query in one.query_ids.tolist()}.difference(query_ids.tolist()))
    own, rest = (
        np.column_stack([align_values(getattr(one, name), one.query_ids, ids) for one in each])
        for ids in (query_ids, np.array(others, object))
    )
    return own, rest


def sampling_doubts(judge: Mapping[str, Evaluation], query_ids: TextArray) -> dict[str, float]:
    """Return p values below `SUSPECT`, by measure, of no difference between queries with human labels and others.

    Of the mean over systems by the judge's labels, by Welch's t test: what a random sample differs in by chance alone.
    """
    labels = [scores.measure.label for scores in next(iter(judge.values()))]
    doubts = {
        label: sample_doubt(*(values.mean(axis=1) for values in values_of(judge, label, query_ids))) for label in labels
    }
    return {label: p for label, p in doubts.items() if p is not None}
