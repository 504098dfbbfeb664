"""Values of queries that had weight 0, which a saved evaluation lacks: computed again of the ranking that it keeps."""

import numpy as np

from deadheat.core.errors import DeadheatError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.plugins.weeks.rescoring import rescore


def score_again(evaluation: Evaluation) -> Evaluation | None:
    """Return an evaluation with the values of all its queries; None where too little of the ranking is known."""
    try:
        again, unknown = rescore(evaluation, evaluation.qrels, evaluation.measures, evaluation.conventions)
    except DeadheatError:  # there is no ranking, or ties are in an order that was drawn
        return None
    if unknown or not np.array_equal(again.query_ids, evaluation.query_ids):
        return None
    return Evaluation(list(again), **evaluation.parts())
