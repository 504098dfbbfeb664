from deadheat.plugins.compat.pytrec_eval import (
    RelevanceEvaluator as RelevanceEvaluator,
    compute_aggregated_measure as compute_aggregated_measure,
    parse_qrel as parse_qrel,
    parse_run as parse_run,
    supported_measures as supported_measures,
    supported_nicknames as supported_nicknames,
)
