"""The two kinds of data, qrels and runs, their columns, and the names that other tools give these."""

from itertools import chain
from typing import Literal

Kind = Literal["qrels", "run"]

VALUE_COLUMN: dict[Kind, str] = {"qrels": "relevance", "run": "score"}

KEYS = ("query_id", "doc_id")

SUBTOPIC = "subtopic"  # of qrels, a column that few have
ANSWERABLE = "answerable"  # as rare: false of a query without an answer
TEXTS = (*KEYS, SUBTOPIC)  # the columns of text; any other column that is read holds the numbers

WRONG_ORDER: dict[Kind, str] = {  # by the kind that was expected
    "run": "These are judgments; were qrels and run given in the wrong order?",
    "qrels": "This is a run; were qrels and run given in the wrong order?",
}
OTHER_KIND: dict[Kind, Kind] = {"qrels": "run", "run": "qrels"}

TREC_FIELDS: dict[Kind, tuple[str, ...]] = {
    "qrels": ("query_id", "iter", "doc_id", "relevance"),
    "run": ("query_id", "Q0", "doc_id", "rank", "score", "tag"),
}

# Nearest first: PyTerrier's frames carry `qid` beside `query` (the text) and `docno` beside `docid` (a row number).
_QUERY_NAMES = (
    "query_id",
    "query-id",
    "qid",
    "q_id",
    "queryId",
    "topic_id",
    "topic",
    "user_id",
    "userId",
    "question_id",
    "case_id",
    "query",
    "question",
    "user_input",
    "user",
    "Query Text",
)
_DOC_NAMES = (
    "doc_id",
    "doc-id",
    "corpus-id",
    "corpus_id",
    "docno",
    "docid",
    "docId",
    "doc",
    "document_id",
    "documentId",
    "pid",
    "passage_id",
    "chunk_id",
    "context_id",
    "item_id",
    "itemId",
    "movieId",
    "product_id",
    "item",
    "Doc ID",
)
# Lists of documents, one list a row. Ragas and question-answering sets hold judgments and results in one table.
LIST_NAMES: dict[Kind, tuple[str, ...]] = {
    "qrels": (
        "expected_doc_ids",
        "expected_chunk_ids",
        "expected_context_ids",
        "expected_ids",
        "reference_context_ids",
        "relevant_doc_ids",
        "relevant_ids",
        "relevant",
        "expected",
        "ground_truth",
        "doc_ids",
    ),
    "run": (
        "retrieved_doc_ids",
        "retrieved_chunk_ids",
        "retrieved_context_ids",
        "retrieved_ids",
        "retrieved",
        "ranking",
        "results",
        "hits",
        "doc_ids",
        "documents",
    ),
}
# One relevant document a row: no relevance is needed beside it.
EXPECTED_NAMES = ("expected_doc_id", "expected_chunk_id", "expected_context_id", "expected_item_id", "expected_id")
RELEVANCE_NAMES = (
    "relevance",
    "label",
    "rel",
    "relevance_label",
    "rating",
    "grade",
    "judgment",
    "judgement",
    "Rating",
)
# Words in the names of columns that hold relevant documents, and of those that hold retrieved ones
WORDS_OF_RELEVANT = frozenset(
    {
        "relevant",
        "gold",
        "golden",
        "truth",
        "truths",
        "expected",
        "reference",
        "references",
        "positive",
        "positives",
        "actual",
        "correct",
        "target",
        "targets",
        "judged",
        "annotated",
        "qrel",
        "qrels",
    }
)
WORDS_OF_RETRIEVED = frozenset(
    {
        "retrieved",
        "retrieval",
        "retrievals",
        "retriever",
        "predicted",
        "prediction",
        "predictions",
        "pred",
        "preds",
        "recommended",
        "recommendation",
        "recommendations",
        "recs",
        "top",
        "topk",
        "ranked",
        "ranking",
        "rankings",
        "result",
        "results",
        "returned",
        "candidate",
        "candidates",
        "contexts",
        "reranked",
        "hits",
    }
)
RANK_NAMES = ("rank", "Doc Position")
SCORE_NAMES = (
    "score",
    "relevance_score",
    "similarity",
    "prediction",
    "scores",
    "similarities",
    "_relevance_score",  # of LanceDB
    "_rankingScore",  # of Meilisearch
    "_score",  # of many
)
# Lower ones are better, unless they are similarities, as those of Milvus by COSINE and IP
DISTANCES = ("distance", "_distance", "vector_distance", "cosine_distance", "distances")
ADVICE_ON_DISTANCES = (
    "if lower ones are better, as of L2, {ascending}; if higher ones are, as of COSINE and IP in Milvus, do not"
)
# Where a passage of a document starts and ends: no relevance, and no score
OFFSET_NAMES = {
    "start": ("start", "start_index", "start_char_idx", "start_char", "char_start", "start_offset", "begin"),
    "end": ("end", "end_index", "end_char_idx", "end_char", "char_end", "end_offset", "stop"),
}
ALL_OFFSETS = frozenset((*OFFSET_NAMES["start"], *OFFSET_NAMES["end"]))
GIVE_AS_SPANS = (
    "These look like spans, passages of documents: read them with dh.Spans, in the commands evaluate, compare, gate and"
    " report with --spans FILE"
)
# The recognised names of each column, by canonical name, nearest first
COLUMN_NAMES: dict[Kind, dict[str, tuple[str, ...]]] = {
    "qrels": {
        "query_id": _QUERY_NAMES,
        "doc_id": (*_DOC_NAMES, *EXPECTED_NAMES, *LIST_NAMES["qrels"]),
        SUBTOPIC: (SUBTOPIC, "subtopic_id", "iteration", "iter", "aspect", "intent"),
        "relevance": (*RELEVANCE_NAMES, "score"),  # BEIR calls the relevance of its qrels `score`.
    },
    "run": {
        "query_id": _QUERY_NAMES,
        "doc_id": (*_DOC_NAMES, *LIST_NAMES["run"]),
        "score": SCORE_NAMES,
        "rank": RANK_NAMES,
    },
}
# Names of ids, relevance and ranks, which are numbers in some tables
NO_SCORES = {
    *_QUERY_NAMES,
    *_DOC_NAMES,
    *EXPECTED_NAMES,
    *LIST_NAMES["qrels"],
    *LIST_NAMES["run"],
    *RELEVANCE_NAMES,
    *RANK_NAMES,
}
# Every column name that is recognised in qrels or in a run
KNOWN_NAMES = frozenset(chain.from_iterable([*COLUMN_NAMES["qrels"].values(), *COLUMN_NAMES["run"].values()]))
NAMES_IN_CASES = {"expected_ids", "expected_hpo_ids"}  # a table with one of them and a text holds labelled cases
CASES_KEYS = ("cases", "test_cases")  # the key of the cases in a JSON file of labelled cases, beside its metadata
