"""How often a system abstains, and is right to, at each threshold: what `Evaluation.abstention` returns."""

import numpy as np
import polars as pl

from deadheat.core.arrays import BoolArray, IntArray
from deadheat.core.data.renderable import make_frame
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.together import check_use


def tabulate_abstention(evaluation: Evaluation, rel: float) -> pl.DataFrame:
    """Return the rates, precisions and recalls of abstention, a row for each threshold.

    Parameters
    ----------
    evaluation : Evaluation
        Not of repeats.
    rel : float
        Lowest relevance of an answer.
    """
    check_use("abstention", [evaluation])
    placements = evaluation.placements
    tops, lacks = placements.top_score, placements.lacking
    none = placements.n_relevant(rel) == 0
    best = np.full(len(lacks), np.nan) if tops is None else tops
    thresholds = np.unique(best[~np.isnan(best)])

    def abstained(some: BoolArray) -> IntArray:
        """Return on how many of some queries it abstains, without a threshold and at each one."""
        return (some & lacks).sum() + np.append(
            0, np.searchsorted(np.sort(best[some & ~lacks]), thresholds, side="right")
        )

    n_abstained, n_right, n_none = abstained(np.ones_like(lacks)), abstained(none), none.sum()
    counts = {"n_abstained": n_abstained, "n_unanswerable": np.full_like(n_right, n_none), "n_right": n_right}
    with np.errstate(invalid="ignore"):  # 0 / 0 is null
        shares = {"rate": n_abstained / len(none), "precision": n_right / n_abstained, "recall": n_right / n_none}
    return make_frame({"threshold": np.append(np.nan, thresholds), **counts, **shares})
