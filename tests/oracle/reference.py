"""Every measure from its definition, on one explicit ranking: slow, plain, and sharing no code with deadheat.

A *ranking* lists ``(doc_id, relevance)`` in rank order, relevance ``None`` for an unjudged document. *judged* maps
every judged document of the query, retrieved or not, to its relevance. *scale* is the highest relevance in the whole
qrels. Parameters have the names and defaults of the notation.
"""

import itertools
import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TypeAlias

from oracle.binary import (
    Judged,
    Ranking,
    abstention,
    all_hit,
    average_precision,
    average_recall,
    binary_gain,
    binary_preference,
    char_iou,
    char_precision,
    char_recall,
    eleven_points,
    f_measure,
    first_position,
    hit,
    inferred_average_precision,
    interpolated_precision,
    judged_share,
    log_average_precision,
    log_binary_preference,
    mean_rank,
    n_nonrelevant_retrieved,
    n_queries,
    n_relevant,
    n_relevant_retrieved,
    n_retrieved,
    precision,
    precision_at_multiple,
    r_precision,
    recall,
    reciprocal_rank,
    relative_precision,
    set_average_precision,
    smoothed_log_odds,
    utility,
)
from oracle.continuing import (
    adaptive_inverse_squares,
    bejeweled,
    compatibility,
    inverse_squares,
    nearly_err_8,
    nearly_err_9,
    nearly_err_10,
    nearly_err_11,
    scaled_dcg,
)
from oracle.graded import (
    discounted_gain,
    expected_reciprocal_rank,
    gain_at_documents,
    gain_at_levels,
    gain_measure,
    graded_average_precision,
    ideal_gain,
    largest_relevance,
    normalised_gain,
    normalised_reciprocal_rank,
    q_measure,
    rank_biased_precision,
    rank_biased_residual,
)
from oracle.pairs import (
    area_under_precision,
    area_under_roc,
    pair_accuracy,
    search_length,
    unjudged_share,
    weighted_area,
)
from oracle.subtopics import of_one_subtopic

Reference: TypeAlias = Callable[..., float]

DIVERSITY = ("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall", "StAllHit")
REFERENCE: dict[str, Reference] = {
    **{name: partial(of_one_subtopic, name) for name in DIVERSITY},
    "Abstain": abstention,
    "CharRecall": char_recall,
    "CharPrecision": char_precision,
    "CharDensity": char_precision,
    "CharIoU": char_iou,
    "INSQ": inverse_squares,
    "SDCG": scaled_dcg,
    "BPM": bejeweled,
    "INST": adaptive_inverse_squares,
    "NERR8": nearly_err_8,
    "NERR9": nearly_err_9,
    "NERR10": nearly_err_10,
    "NERR11": nearly_err_11,
    "Compat": compatibility,
    "AUC": area_under_roc,
    "GAUC": weighted_area,
    "Accuracy": pair_accuracy,
    "ESL": search_length,
    "Hole": unjudged_share,
    "AUPRC": area_under_precision,
    "P": precision,
    "R": recall,
    "F": f_measure,
    "Hit": hit,
    "AllHit": all_hit,
    "RR": reciprocal_rank,
    "AP": average_precision,
    "AR": average_recall,
    "DCG": discounted_gain,
    "nDCG": normalised_gain,
    "IDCG": ideal_gain,
    "RBP": rank_biased_precision,
    "RBPResidual": rank_biased_residual,
    "ERR": expected_reciprocal_rank,
    "nERR": normalised_reciprocal_rank,
    "MR": mean_rank,
    "FRP": first_position,
    "GAP": graded_average_precision,
    "Q": q_measure,
    "Rprec": r_precision,
    "bpref": binary_preference,
    "Judged": judged_share,
    "NumQ": n_queries,
    "NumRet": n_retrieved,
    "NumRel": n_relevant,
    "NumRelRet": n_relevant_retrieved,
    "NumNonrelJudgedRet": n_nonrelevant_retrieved,
    "SetAP": set_average_precision,
    "RelP": relative_precision,
    "RprecMult": precision_at_multiple,
    "Utility": utility,
    "IPrec": interpolated_precision,
    "AP11": eleven_points,
    "binG": binary_gain,
    "RnDCG": gain_at_levels,
    "nDCGRel": gain_at_documents,
    "infAP": inferred_average_precision,
    "G": gain_measure,
    "GMAP": log_average_precision,
    "GMbpref": log_binary_preference,
    "yaap": smoothed_log_odds,
    "MTRR": reciprocal_rank,
    "TMHits": hit,
    "MaxRel": largest_relevance,
}
LOWER_IS_BETTER = ("FRP", "ESL", "MR")


def adjusted(ranking: Ranking, judged: Judged, scale: float, *, measure: str = "nDCG") -> float:
    """Return where a ranking is between the mean (0) and the best (1) of all orders of its documents."""
    name, _, cutoff = measure.partition("@")
    options = {"cutoff": int(cutoff)} if cutoff else {}
    of_orders = values_of_orders(name, tuple(sorted(ranking, key=str)), tuple(judged.items()), scale, int(cutoff or 0))
    mean = math.fsum(of_orders) / len(of_orders)
    best = min(of_orders) if name in LOWER_IS_BETTER else max(of_orders)
    if math.isclose(max(of_orders), min(of_orders), rel_tol=1e-12):
        return math.nan
    return (REFERENCE[name](ranking, judged, scale, **options) - mean) / (best - mean)


@lru_cache(100_000)
def values_of_orders(
    name: str,
    documents: tuple[tuple[str, float | None], ...],
    judged: tuple[tuple[str, float], ...],
    scale: float,
    cutoff: int,
) -> list[float]:
    """Return the value of every order of some documents; orders that exchange equal relevance are one."""
    options = {"cutoff": cutoff} if cutoff else {}
    by_relevance: dict[tuple[float | None, ...], Ranking] = {}
    for order in itertools.permutations(documents):
        by_relevance.setdefault(tuple(relevance for _, relevance in order), list(order))
    return [REFERENCE[name](order, dict(judged), scale, **options) for order in by_relevance.values()]


REFERENCE["Adjusted"] = adjusted
"""By name in the notation. MTRR and TMHits here are the definition by permutations; the other needs scores."""
