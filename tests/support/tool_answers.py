"""The answers of other tools on tiny examples, and the page of the documentation that shows them.

A new answer is one line here. Whether it is the tool's, and what deadheat gives for the notation beside it, is tested
in tests/whole/test_conventions.py; `make docs` writes the page.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from support.other_tools import Nested

KNOWN = "retrieved"  # an option of an answer: only judgments of retrieved documents are known


@dataclass(frozen=True)
class Answer:
    """What a tool says.

    Attributes
    ----------
    tool : str
        One of `support.other_tools.TOOLS`.
    metric : str
        What it is asked for.
    value : float
        What it answers.
    ours : str
        The notation that gives this in deadheat; empty if there is none.
    options : dict
        Options of evaluate that belong to it.
    """

    tool: str
    metric: str
    value: float
    ours: str
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Question:
    """A convention, and an example that shows it."""

    title: str
    text: str
    qrels: Nested
    run: Nested
    answers: tuple[Answer, ...]


DOC_ID: dict[str, Any] = {"ties": "doc_id", "score_precision": "float32", "missing": "skip"}
DOC_ID_ALL: dict[str, Any] = {"ties": "doc_id", "score_precision": "float32"}
INPUT: dict[str, Any] = {"ties": "input"}
LISTED: dict[str, Any] = {KNOWN: True}
LEFT_OUT: dict[str, Any] = {"no_relevant": "skip", "missing": "skip"}

QUESTIONS: tuple[Question, ...] = (
    Question(
        "Which of two equal scores comes first?",
        "The relevant document has the lower id, and comes first in the input.",
        {"q": {"a": 1}},
        {"q": {"a": 0.5, "b": 0.5}},
        (
            Answer("pytrec_eval", "recip_rank", 1 / 2, "RR", DOC_ID),
            Answer("ir_measures", "RR", 1 / 2, "RR", DOC_ID_ALL),
            Answer("ir_measures", "RR@10", 1.0, "", {}),
            Answer("ir_measures", "RBP(rel=1)", 0.2, "RBP", INPUT),
            Answer("ranx", "mrr", 1.0, "RR", INPUT),
            Answer("BEIR", "MRR@10", 1.0, "RR@10", INPUT),
            Answer("sentence-transformers", "mrr@10", 1.0, "", {}),
            Answer("torchmetrics", "retrieval_reciprocal_rank", 1.0, "", {}),
        ),
    ),
    Question(
        "And if the other one is relevant?",
        "The relevant document has the higher id, and comes second in the input.",
        {"q": {"b": 1}},
        {"q": {"a": 0.5, "b": 0.5}},
        (
            Answer("pytrec_eval", "recip_rank", 1.0, "RR", DOC_ID),
            Answer("ir_measures", "RR", 1.0, "RR", DOC_ID_ALL),
            Answer("ir_measures", "RR@10", 1 / 2, "", {}),
            Answer("ir_measures", "RBP(rel=1)", 0.16, "RBP", INPUT),
            Answer("ranx", "mrr", 1 / 2, "RR", INPUT),
            Answer("BEIR", "MRR@10", 1 / 2, "RR@10", INPUT),
            Answer("sentence-transformers", "mrr@10", 1 / 2, "", {}),
            Answer("torchmetrics", "retrieval_reciprocal_rank", 1 / 2, "", {}),
        ),
    ),
    Question(
        "And of five equal scores?",
        "The third of five is relevant. Sorts of torch leave equal scores in an order of their own: here the third"
        " comes first, though of two it was the first one.",
        {"q": {"c": 1}},
        {"q": dict.fromkeys("abcde", 0.5)},
        (
            Answer("pytrec_eval", "recip_rank", 1 / 3, "RR", DOC_ID),
            Answer("ranx", "mrr", 1 / 3, "RR", INPUT),
            Answer("BEIR", "MRR@10", 1 / 3, "RR@10", INPUT),
            Answer("sentence-transformers", "mrr@10", 1 / 3, "", {}),
            Answer("torchmetrics", "retrieval_reciprocal_rank", 1.0, "", {}),
        ),
    ),
    Question(
        "Who averages over ties?",
        "nDCG of the first example. scikit-learn and torchmetrics average nDCG; deadheat averages every measure.",
        {"q": {"a": 1}},
        {"q": {"a": 0.5, "b": 0.5}},
        (
            Answer("pytrec_eval", "ndcg", 0.630930, "nDCG", DOC_ID),
            Answer("ranx", "ndcg", 1.0, "nDCG", INPUT),
            Answer("scikit-learn", "ndcg_score", 0.815465, "nDCG", LISTED),
            Answer("torchmetrics", "retrieval_normalized_dcg", 0.815465, "nDCG", LISTED),
        ),
    ),
    Question(
        "How many bits of a score count?",
        "The scores are 1 + 2^-30 and 1: equal in 32 bits, apart in 64.",
        {"q": {"a": 1}},
        {"q": {"a": 1 + 2**-30, "b": 1.0}},
        (
            Answer("pytrec_eval", "recip_rank", 1 / 2, "RR", DOC_ID),
            Answer("ir_measures", "RR@10", 1.0, "RR@10"),
            Answer("ir_measures", "RBP(rel=1)", 0.2, "RBP"),
            Answer("ranx", "mrr", 1.0, "RR"),
            Answer("scikit-learn", "ndcg_score", 1.0, "nDCG"),
            Answer("torchmetrics", "retrieval_normalized_dcg", 0.815465, "nDCG", {"score_precision": "float32"}),
        ),
    ),
    Question(
        "What does P@k divide by, if fewer are retrieved?",
        "Two documents are retrieved, one is relevant, and k is 5: all divide by 5. `P(norm='retrieved')@5` divides by"
        " the two, as torchmetrics does with adaptive_k=True, and TorchEval with limit_k_to_size=True.",
        {"q": {"a": 1}},
        {"q": {"a": 0.9, "b": 0.5}},
        (
            Answer("pytrec_eval", "P_5", 1 / 5, "P@5"),
            Answer("ir_measures", "P@5", 1 / 5, "P@5"),
            Answer("ranx", "precision@5", 1 / 5, "P@5"),
            Answer("BEIR", "P@5", 1 / 5, "P@5"),
            Answer("sentence-transformers", "precision@5", 1 / 5, "P@5"),
            Answer("torchmetrics", "retrieval_precision@5", 1 / 5, "P@5"),
        ),
    ),
    Question(
        "What does R@k divide by?",
        "Three documents are relevant, two of them are retrieved, one of these in the top 2. R_cap of BEIR divides by"
        " min(R, k); torchmetrics sees the list alone, and divides by the two in it.",
        {"q": {"a": 1, "b": 1, "c": 1}},
        {"q": {"a": 0.9, "x": 0.8, "b": 0.5}},
        (
            Answer("pytrec_eval", "recall_2", 1 / 3, "R@2"),
            Answer("ir_measures", "R@2", 1 / 3, "R@2"),
            Answer("ranx", "recall@2", 1 / 3, "R@2"),
            Answer("BEIR", "Recall@2", 1 / 3, "R@2"),
            Answer("BEIR", "R_cap@2", 1 / 2, ""),
            Answer("sentence-transformers", "recall@2", 1 / 3, "R@2"),
            Answer("torchmetrics", "retrieval_recall@2", 1 / 2, "R(norm='retrieved_all')@2"),
        ),
    ),
    Question(
        "What does a document with the id of its query count?",
        "The query is one of the documents, and finds itself first; both documents are relevant. BEIR takes it out of"
        " the list, unless ignore_identical_ids=False, and it stays among the relevant ones.",
        {"a": {"a": 1, "b": 1}},
        {"a": {"a": 0.9, "b": 0.8}},
        (
            Answer("pytrec_eval", "recall_2", 1.0, "R@2"),
            Answer("ir_measures", "R@2", 1.0, "R@2"),
            Answer("ranx", "recall@2", 1.0, "R@2"),
            Answer("BEIR", "Recall@2", 1 / 2, ""),
            Answer("BEIR", "MRR@2", 1.0, "RR@2"),
            Answer("sentence-transformers", "recall@2", 1.0, "R@2"),
        ),
    ),
    Question(
        "What does AP@k divide by?",
        "The same example: by the three relevant documents, by min(R, k), or by the one in the top k.",
        {"q": {"a": 1, "b": 1, "c": 1}},
        {"q": {"a": 0.9, "x": 0.8, "b": 0.5}},
        (
            Answer("pytrec_eval", "map_cut_2", 1 / 3, "AP@2"),
            Answer("ir_measures", "AP@2", 1 / 3, "AP@2"),
            Answer("ranx", "map@2", 1 / 3, "AP@2"),
            Answer("BEIR", "MAP@2", 1 / 3, "AP@2"),
            Answer("sentence-transformers", "map@2", 1 / 2, "AP(norm='min')@2"),
            Answer("torchmetrics", "retrieval_average_precision@2", 1.0, "AP(norm='retrieved')@2"),
        ),
    ),
    Question(
        "And AP without a cutoff?",
        "scikit-learn and torchmetrics see the list alone: what was not retrieved costs nothing.",
        {"q": {"a": 1, "b": 1, "c": 1}},
        {"q": {"a": 0.9, "x": 0.8, "b": 0.5}},
        (
            Answer("pytrec_eval", "map", 5 / 9, "AP"),
            Answer("ir_measures", "AP", 5 / 9, "AP"),
            Answer("ranx", "map", 5 / 9, "AP"),
            Answer("scikit-learn", "average_precision_score", 5 / 6, "AP(norm='retrieved_all')"),
            Answer("torchmetrics", "retrieval_average_precision", 5 / 6, "AP(norm='retrieved_all')"),
        ),
    ),
    Question(
        "Which gain has nDCG?",
        "A document of relevance 1 is before one of relevance 3. The gain is the relevance, 2^relevance - 1, or 1 for"
        " each relevant document.",
        {"1": {"a": 1, "b": 3}},
        {"1": {"a": 0.9, "b": 0.5}},
        (
            Answer("pytrec_eval", "ndcg_cut_10", 0.796708, "nDCG@10"),
            Answer("ir_measures", "nDCG@10", 0.796708, "nDCG@10"),
            Answer("ir_measures", "nDCG(dcg='exp-log2')@10", 0.709810, "nDCG(gain='exp')@10"),
            Answer("ranx", "ndcg@10", 0.796708, "nDCG@10"),
            Answer("ranx", "ndcg_burges@10", 0.709810, "nDCG(gain='exp')@10"),
            Answer("scikit-learn", "ndcg_score@10", 0.796708, "nDCG@10"),
            Answer("torchmetrics", "retrieval_normalized_dcg@10", 0.796708, "nDCG@10"),
            Answer("BEIR", "NDCG@10", 0.796708, "nDCG@10"),
            Answer("sentence-transformers", "ndcg@10", 1.0, "nDCG(gain={1: 1, 3: 1})@10"),
        ),
    ),
    Question(
        "Does the ideal hold what was not retrieved?",
        "Two documents are relevant, one is retrieved, first. scikit-learn and torchmetrics see the list alone.",
        {"q": {"a": 1, "z": 1}},
        {"q": {"a": 0.9, "b": 0.5}},
        (
            Answer("pytrec_eval", "ndcg", 0.613147, "nDCG"),
            Answer("ir_measures", "nDCG", 0.613147, "nDCG"),
            Answer("ranx", "ndcg", 0.613147, "nDCG"),
            Answer("scikit-learn", "ndcg_score", 1.0, "nDCG", LISTED),
            Answer("torchmetrics", "retrieval_normalized_dcg", 1.0, "nDCG", LISTED),
            Answer("BEIR", "NDCG@10", 0.613147, "nDCG@10"),
            Answer("sentence-transformers", "ndcg@10", 0.613147, "nDCG@10"),
        ),
    ),
    Question(
        "Is the ideal cut at k, too?",
        "The same example at k = 1: all cut it.",
        {"q": {"a": 1, "z": 1}},
        {"q": {"a": 0.9, "b": 0.5}},
        (
            Answer("pytrec_eval", "ndcg_cut_1", 1.0, "nDCG@1"),
            Answer("ranx", "ndcg@1", 1.0, "nDCG@1"),
            Answer("sentence-transformers", "ndcg@1", 1.0, "nDCG@1"),
        ),
    ),
    Question(
        "What is the top of the scale of ERR?",
        "One document, of relevance 1. gdeval, which ir_measures asks, has a scale up to 4; deadheat takes the highest"
        " relevance of the qrels (here 1: ERR is 0.5), unless it is told.",
        {"1": {"a": 1}},
        {"1": {"a": 0.9, "b": 0.5}},
        (Answer("ir_measures", "ERR@10", 1 / 16, "ERR(max_rel=4)@10"),),
    ),
    Question(
        "Does RBP look at levels?",
        "Relevance 1, then 2, with p = 0.8. ranx adds up relevance itself, so that its rbp can exceed 1. ir_measures"
        " asks cwl_eval, which counts what is relevant; it needs rel, takes no cutoff, and looks at 1,000 ranks.",
        {"q": {"a": 2, "b": 1}},
        {"q": {"b": 0.9, "a": 0.5}},
        (
            Answer("ranx", "rbp.80", 0.2 * (1 + 0.8 * 2), "", {}),
            Answer("ir_measures", "RBP(rel=1)", 0.2 * (1 + 0.8), "RBP"),
            Answer("ir_measures", "RBP(rel=2)", 0.2 * 0.8, "RBP(rel=2)"),
            Answer("ir_measures", "RBP(rel=1, p=0.5)", 0.75, "RBP(p=0.5)"),
        ),
    ),
    Question(
        "bpref",
        "Relevant and not relevant documents, one of each not retrieved: all agree.",
        {"q": {"a": 1, "b": 0, "c": 1, "d": 0}},
        {"q": {"b": 0.9, "a": 0.8, "c": 0.7}},
        (
            Answer("pytrec_eval", "bpref", 1 / 2, "bpref"),
            Answer("ir_measures", "Bpref", 1 / 2, "bpref"),
            Answer("ranx", "bpref", 1 / 2, "bpref"),
        ),
    ),
    Question(
        "A query that the run lacks",
        "Two queries; the run has one, with a perfect list. Some count the other with 0, some leave it out. BEIR does"
        " both.",
        {"p": {"a": 1}, "q": {"a": 1}},
        {"p": {"a": 0.9}},
        (
            Answer("pytrec_eval", "recip_rank", 1.0, "RR", {"missing": "skip"}),
            Answer("ir_measures", "RR", 1 / 2, "RR", {"missing": "empty"}),
            Answer("ir_measures", "RBP(rel=1)", 0.1, "RBP", {"missing": "empty"}),
            Answer("ranx", "mrr", 1 / 2, "RR", {"missing": "empty"}),
            Answer("BEIR", "NDCG@10", 1.0, "nDCG@10", {"missing": "skip"}),
            Answer("BEIR", "MRR@10", 1 / 2, "RR@10", {"missing": "empty"}),
            Answer("sentence-transformers", "mrr@10", 1.0, "RR@10", {"missing": "skip"}),
        ),
    ),
    Question(
        "A query without a relevant document",
        "Two queries, one perfect, one with nothing relevant. Only sentence-transformers leaves it out.",
        {"p": {"a": 1}, "q": {"b": 0}},
        {"p": {"a": 0.9}, "q": {"b": 0.9, "c": 0.8}},
        (
            Answer("pytrec_eval", "recip_rank", 1 / 2, "RR"),
            Answer("ir_measures", "RR", 1 / 2, "RR"),
            Answer("ranx", "mrr", 1 / 2, "RR"),
            Answer("BEIR", "NDCG@10", 1 / 2, "nDCG@10"),
            Answer("torchmetrics", "retrieval_reciprocal_rank", 1 / 2, "RR"),
            Answer("sentence-transformers", "mrr@10", 1.0, "RR@10", LEFT_OUT),
        ),
    ),
    Question(
        "A relevant document with a score below 0",
        "It is on rank 2. torchmetrics counts only documents with scores above 0 as relevant, which its own signature"
        " does not say: scores such as logits lose there what is right.",
        {"q": {"a": 1}},
        {"q": {"b": 0.5, "a": -1.0}},
        (
            Answer("pytrec_eval", "map", 1 / 2, "AP"),
            Answer("ranx", "map", 1 / 2, "AP"),
            Answer("torchmetrics", "retrieval_average_precision", 0.0, ""),
            Answer("torchmetrics", "retrieval_reciprocal_rank", 0.0, ""),
        ),
    ),
)

HEAD = (
    "# All answers of other tools\n\n"
    "Each tool was asked about one tiny example, and answered as the table says. The last column is the notation that"
    " gives this number in deadheat, with the options of `evaluate` that belong to it; a dash means that there is none."
    " The tests ask the tools again wherever they are installed, so a change is noticed.\n\n"
    "pytrec_eval is trec_eval 9. BEIR uses it too, for all but the measures named here. `deadheat explain` finds which"
    " of these conventions [a reported number](../guide/explain.md) was made with.\n"
)


def _told(answer: Answer) -> str:
    """Return the notation and the options that give the answer, in Markdown."""
    if not answer.ours:
        return "-"
    options = [f'{name}="{value}"' for name, value in answer.options.items() if name != KNOWN]
    told = f"`{answer.ours}`" + (f" with `{', '.join(options)}`" if options else "")
    return told + (" on the judgments of retrieved documents" if KNOWN in answer.options else "")


def page() -> str:
    """Return the page of the documentation."""
    parts = [HEAD]
    for question in QUESTIONS:
        rows = [f"| {one.tool} | `{one.metric}` | {one.value:.4f} | {_told(one)} |" for one in question.answers]
        table = "\n".join(["| tool | asked for | answer | in deadheat |", "|---|---|---|---|", *rows])
        example = f"`qrels = {question.qrels}`, `run = {question.run}`"
        parts.append(f"## {question.title}\n\n{question.text}\n\n{example}\n\n{table}\n")
    return "\n".join(parts)
