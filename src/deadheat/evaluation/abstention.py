"""What a threshold of scores makes of a system that may keep silent: a curve over all thresholds that differ."""

import numpy as np
import polars as pl

from deadheat.measures.top import Abstain
from deadheat.placements.placements import Placements

SIDES = ("rate", "precision", "recall")


def abstention_curve(placements: Placements, rel: float) -> pl.DataFrame:
    """Return a row for each threshold, as :meth:`Evaluation.abstention` describes it."""
    tops = placements.top_score
    levels = [] if tops is None else np.unique(tops[~np.isnan(tops)]).tolist()
    rows = []
    for threshold in (None, *levels):
        values = [Abstain(of=side, threshold=threshold, rel=rel).mean(placements) for side in SIDES]
        known = [one[~np.isnan(one)] for one in values]
        counts = {"n_abstained": len(known[1]), "n_unanswerable": len(known[2]), "n_right": int(known[2].sum())}
        means = {side: float(one.mean()) if len(one) else None for side, one in zip(SIDES, known, strict=True)}
        rows.append({"threshold": threshold, **counts, **means})
    numbers = dict.fromkeys(("threshold", *SIDES), pl.Float64)
    return pl.DataFrame(rows, schema={name: numbers.get(name, pl.Int64) for name in rows[0]})
