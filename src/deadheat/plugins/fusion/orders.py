"""How far the order of equal scores in the inputs could have moved what is said of the fused run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, run_starts
from deadheat.core.measures import Measure
from deadheat.core.random_generators import Rng, random_generator
from deadheat.plugins.fusion.fuse import FusedRuns
from deadheat.plugins.fusion.judged import JudgedPool
from deadheat.plugins.fusion.pool import Pool, RankedRun

MOST_ORDERS = 100
FEWEST_ORDERS = 10
MOST_ROWS = 50_000_000  # that are ranked for it


@dataclass(frozen=True, eq=False)
class DrawnOrders:
    """The means of measures under drawn orders of the ties of the inputs.

    Attributes
    ----------
    measures : tuple of Measure
    means : ndarray of float, shape (n_orders, n_measures)
        Those of the fused run; its own ties count with their exact mean. Empty where no order matters.
    """

    measures: tuple[Measure, ...]
    means: FloatArray = field(repr=False)

    def range_of(self, place: int) -> tuple[float, float] | None:
        """Return the lowest and the highest mean of a measure; None where no order matters."""
        if not len(self.means):
            return None
        return float(self.means[:, place].min()), float(self.means[:, place].max())


def draw_orders(fused: FusedRuns, judged: JudgedPool, measures: Sequence[Measure], rng: Rng = 0) -> DrawnOrders:
    """Fuse under drawn orders of equal scores, as a tool does that breaks ties by accident.

    Parameters
    ----------
    fused : FusedRuns
    judged : JudgedPool
        Of its pool.
    measures : sequence of Measure
    rng : numpy.random.Generator or int, default 0
    """
    pool = judged.pool.select_queries(judged.keep)
    have_ties = any(run.have_ties for run in pool.runs)
    norm = fused.recipe.norm
    looks_at_ranks = fused.recipe.method.uses_ranks or (norm is not None and not norm.uses_scores)
    if not (have_ties and looks_at_ranks):
        return DrawnOrders(tuple(measures), np.zeros((0, len(measures))))
    own = JudgedPool.of(pool, judged.qrels, judged.rel)
    n_rows = sum(len(run.place) for run in pool.runs)
    n_orders = int(np.clip(MOST_ROWS // max(1, n_rows), FEWEST_ORDERS, MOST_ORDERS))
    generator = random_generator(rng)
    means = np.empty((n_orders, len(measures)))
    for row in means:
        drawn = replace(pool, runs=tuple(draw_order(run, generator) for run in pool.runs))
        placements = own.place_scores(fused.recipe.fuse(fused.recipe.scale(drawn)))
        row[:] = [float(np.mean(measure.mean(placements))) for measure in measures]
    return DrawnOrders(tuple(measures), means)


def draw_order(run: RankedRun, rng: np.random.Generator) -> RankedRun:
    """Return a run whose ties are in a drawn order: each document has a rank of its own."""
    rows = np.flatnonzero(run.tied > 1)
    order = np.lexsort((rng.random(len(rows)), run.above[rows], run.query[rows]))
    above = run.above.copy()
    above[rows[order]] += _places_in_ties(run, rows[order])
    return replace(run, above=above, tied=np.ones_like(above))


def _places_in_ties(run: RankedRun, rows: IntArray) -> IntArray:
    """Return the place within its tie of each of some rows that are sorted by query and rank."""
    starts = run_starts(run.query[rows], run.above[rows])
    sizes = np.diff(starts, append=len(rows))
    return np.arange(len(rows)) - np.repeat(starts, sizes)


def shares_tied(pools: Pool, scores: FloatArray) -> float:
    """Return the share of candidates that tie with another one of their query by their scores."""
    from deadheat.core.placements.tied_rows import are_tied

    tied = are_tied(scores, pools.bounds)
    return float(tied.mean()) if len(tied) else 0.0
