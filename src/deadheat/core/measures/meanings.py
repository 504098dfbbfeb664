"""What the name of a measure means here, if it means something else in another tool or paper."""

from deadheat.core.measures.notation import name_of_measure

# From the class that a name is read as, and the name, to what it means here and elsewhere. Names are in small letters,
# unless another spelling of the same letters means something else
MEANINGS = {
    "Hit": {
        "hits": "Hit, whether a relevant document is in the top k, as for knowledge graphs; ranx's hits is how many"
        " are: NumRelRet@k",
        "accuracy": "Hit, whether a relevant document is in the top k, as sentence-transformers has it; ir_measures'"
        " Accuracy is the share of pairs of documents in the right order",
    },
    "Accuracy": {
        "Accuracy": "Accuracy, the share of pairs of documents that are in the right order, as ir_measures has it; in"
        " BEIR and sentence-transformers accuracy is whether a relevant document is in the top k: Hit@k",
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
# The names that make a report say how they were read, in small letters
DOUBTED = {"hits", "accuracy", "rbp", "rbp_resid"}


def meaning(name: str, measure: str) -> str:
    """Return what a name means here and elsewhere, given the measure that it is read as; empty if it means one thing.

    Examples
    --------
    >>> meaning("Hits@5", "Hit").partition(";")[0]
    'Hit, whether a relevant document is in the top k, as for knowledge graphs'
    """
    word = name_of_measure(name)
    meanings = MEANINGS.get(measure, {})
    return meanings.get(word) or meanings.get(word.lower(), "")


def is_doubted(name: str) -> bool:
    """Tell whether tools differ so much in what a name means that a report says how it was read.

    Examples
    --------
    >>> [is_doubted(name) for name in ("Hits@5", "hits_at_5", "Accuracy@3", "accuracy.3", "rbp", "RBP", "Hit@5")]
    [True, True, True, True, True, False, False]
    """
    word = name_of_measure(name)
    if word == "RBP":
        return False
    return word.lower() in DOUBTED
