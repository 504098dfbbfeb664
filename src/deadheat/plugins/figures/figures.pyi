# The names of the package; a test holds the figures complete.

from deadheat.plugins.compare.figure_of_matrix import matrix
from deadheat.plugins.compare.figure_of_ranks import ranks
from deadheat.plugins.compare.figures_of_pairs import differences, power, scatter
from deadheat.plugins.figures.draw_lines import cutoffs
from deadheat.plugins.figures.draw_rows import forest, strata, traditional
from deadheat.plugins.figures.registration import Drawing, Figure, drawings, figures_of, plot_of
from deadheat.plugins.figures.saving import rendered, save
from deadheat.plugins.fusion.figures import tuning
from deadheat.plugins.judges.figures import confusion, judge_bias, judged_means
from deadheat.plugins.languages.figures import slopes
from deadheat.plugins.leaderboard.figures import heat_map, rank_intervals, tiers, without_task
from deadheat.plugins.more_measures.figures import precision_recall
from deadheat.plugins.ties.figure_of_coarsening import coarsening
from deadheat.plugins.ties.figures import (
    largest_tie,
    mean_tie_ratio,
    overview,
    tie_correlation,
    tie_histogram,
    tie_ratio,
)
from deadheat.plugins.weeks.figures import history

__all__ = [
    "Drawing",
    "Figure",
    "coarsening",
    "confusion",
    "cutoffs",
    "differences",
    "drawings",
    "figures_of",
    "forest",
    "heat_map",
    "history",
    "judge_bias",
    "judged_means",
    "largest_tie",
    "matrix",
    "mean_tie_ratio",
    "overview",
    "plot_of",
    "power",
    "precision_recall",
    "rank_intervals",
    "ranks",
    "rendered",
    "save",
    "scatter",
    "slopes",
    "strata",
    "tie_correlation",
    "tie_histogram",
    "tie_ratio",
    "tiers",
    "traditional",
    "tuning",
    "without_task",
]
