"""Other tools' words for measures and parameters, and names that mean two things."""

import re
from collections.abc import Mapping

# Names of several words, or with a hyphen as ndeval and papers have them, which would be read as several measures
PHRASES = {
    "hit rate": "hit_rate",
    "f1 score": "F1",
    "f score": "F",
    "mean rank": "MR",
    "first relevant position": "FRP",
    "ideal dcg": "IDCG",
    "mean average recall": "MAR",
    "mean expected reciprocal rank": "MERR",
    "mean average precision": "MAP",
    "average precision": "AP",
    "mean reciprocal rank": "MRR",
    "reciprocal rank": "RR",
    "f measure": "F",
    "r precision": "Rprec",
    "r prec": "Rprec",
    "alpha dcg": "alpha_DCG",
    "alpha ndcg": "alpha_nDCG",
    "\N{GREEK SMALL LETTER ALPHA} dcg": "alpha_DCG",
    "\N{GREEK SMALL LETTER ALPHA} ndcg": "alpha_nDCG",
    "err ia": "ERR_IA",
    "nerr ia": "nERR_IA",
    "map ia": "MAP_IA",
    "ap ia": "AP_IA",
    "p ia": "P_IA",
    "f1 ma\N{LATIN SMALL LETTER SHARP S}": "F1",
    "f ma\N{LATIN SMALL LETTER SHARP S}": "F",
    "mittlerer rang": "MR",
    "mittlerer reziproker rang": "MRR",
    "reziproker rang": "RR",
    "durchschnittliche pr\N{LATIN SMALL LETTER A WITH DIAERESIS}zision": "AP",
}
IN_TEXT = re.compile(
    r"(?<![\w'\"])(" + "|".join(one.replace(" ", "[ -]") for one in PHRASES) + r")(?![\w'\"])", re.IGNORECASE
)

# Names that are not read, and what is nearest in meaning, where the nearest spelling is something else. The German
# ones each mean two measures, depending on the author
MEANT = {
    "unjudged": "Hole",
    "roc_auc": "AUC",
    "auroc": "AUC",
    "avg_prec": "AP",
    "average_precision": "AP",
    "mean_average_precision": "MAP",
    "mean_reciprocal_rank": "MRR",
    "reciprocal_rank": "RR",
    "prec": "P",
    "rec": "R",
    "trefferquote": "R Hit",
    "genauigkeit": "P accuracy",
    "all": "trec",
    "all_trec": "trec",
    "official": "trec",
}

GAINS = {"log2": "linear", "exp-log2": "exp"}  # ir_measures' forms of DCG, and the gain that each has

# By what names are read as, and the names in small letters: how that is, and what else they mean somewhere
MEANINGS = {
    "Hit": {
        "hits": "Hit, whether a relevant document is in the top k, as for knowledge graphs; ranx's hits is how many"
        " are: NumRelRet@k",
        "accuracy": "Hit, whether a relevant document is in the top k, as sentence-transformers has it; ir_measures'"
        " Accuracy is the share of pairs of documents in the right order",
    },
    "RBP": {
        "rbp": "rbp of trec_eval 10, with graded=True and top='query', and p = 0.9 unless it is named; RBP in capitals"
        " has gains of 0 and 1, and p = 0.8",
        "RBP": "RBP, with gains of 0 and 1, and p = 0.8; rbp in small letters is that of trec_eval 10,"
        " RBP(p=0.9, graded=True, top='query')",
    },
    "RBPResidual": {
        "rbp_resid": "rbp_resid of trec_eval 10, with tail='unjudged', and p = 0.9 unless it is named",
    },
    "RR": {
        "mrr": "RR, of the first relevant document; in the G-RAG paper MRR is a mean over all relevant documents",
    },
    "MTRR": {
        "mtrr": "the mean reciprocal rank over the orders of ties; MTRR(definition='mid_rank') is that of the G-RAG"
        " paper, which is no mean over orders",
    },
    "TMHits": {
        "tmhits": "the probability of a hit over the orders of ties; TMHits(definition='mid_rank') is that of the G-RAG"
        " paper, which is no mean over orders",
    },
    "F": {
        "f1": "F, of the relevant documents in the top k; scikit-learn's f1 is of labels, not of rankings",
    },
    "AP": {
        "map": "AP, whose mean is reported; without a cutoff, trec_eval's map; tools that divide by min(R, k), as"
        " sentence-transformers does, have AP(norm='min')@k",
    },
    "R": {
        "mhits": "R, as the G-RAG paper defines it: a mean over all relevant documents; hits are elsewhere Hit, whether"
        " any is found",
        "recall": "R, the share of the relevant documents that is in the top k; where it is capped at 1 by min(R, k),"
        " the name is R_cap",
    },
}
# Those of them that a report mentions, as tools differ in what they count
DOUBTED = {"hits", "accuracy", "rbp", "rbp_resid"}


def without_spaces(text: str) -> str:
    """Return a text with names of several words as one.

    Examples
    --------
    >>> without_spaces("Hit Rate@5, nDCG@10"), without_spaces("mean average precision")
    ('hit_rate@5, nDCG@10', 'MAP')
    """
    return IN_TEXT.sub(lambda found: PHRASES[found[1].lower().replace("-", " ")], text)


def meaning(name: str, measure: str) -> str:
    """Return how a name is read as a measure, and what else it means; empty if it means one thing.

    Examples
    --------
    >>> meaning("Hits@5", "Hit").partition(";")[0]
    'Hit, whether a relevant document is in the top k, as for knowledge graphs'
    """
    word, known = _word(name), MEANINGS.get(measure, {})
    return known.get(word) or known.get(word.lower(), "")


def is_doubted(name: str) -> bool:
    """Tell whether a report says how a name was read."""
    return _word(name).lower() in DOUBTED


def _word(name: str) -> str:
    return re.split(r"[@(\s]", name, maxsplit=1)[0]


def renamed(parameters: Mapping[str, object], known: list[str]) -> dict[str, object]:
    """Return parameters under our names, if a measure has these: ``dcg="exp-log2"`` and ``gains={...}`` are gains.

    Both together, and a form of DCG that is not known, are left as they are.
    """
    found = dict(parameters)
    if "gain" in known and "gain" not in found:
        if "gains" in found and found.get("dcg", "log2") == "log2":
            found["gain"] = found.pop("gains")
            found.pop("dcg", None)
        elif "gains" not in found and found.get("dcg") in GAINS:
            found["gain"] = GAINS[str(found.pop("dcg"))]
    return found
