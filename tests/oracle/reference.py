"""Every measure from its definition, on one explicit ranking: slow, plain, and sharing no code with deadheat.

A *ranking* lists ``(doc_id, relevance)`` in rank order, relevance ``None`` for an unjudged document. *judged* maps
every judged document of the query, retrieved or not, to its relevance. *scale* is the highest relevance in the whole
qrels. Parameters have the names and defaults of the notation.
"""

from collections.abc import Callable
from typing import TypeAlias

from oracle.binary import (
    average_precision,
    average_recall,
    binary_gain,
    binary_preference,
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
from oracle.graded import (
    discounted_gain,
    expected_reciprocal_rank,
    gain_at_documents,
    gain_at_levels,
    gain_measure,
    graded_average_precision,
    largest_relevance,
    normalised_gain,
    normalised_reciprocal_rank,
    q_measure,
    rank_biased_precision,
    rank_biased_residual,
)

Reference: TypeAlias = Callable[..., float]

REFERENCE: dict[str, Reference] = {
    "P": precision,
    "R": recall,
    "F": f_measure,
    "Hit": hit,
    "RR": reciprocal_rank,
    "AP": average_precision,
    "AR": average_recall,
    "DCG": discounted_gain,
    "nDCG": normalised_gain,
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
"""By name in the notation. MTRR and TMHits here are the definition by permutations; the other needs scores."""
