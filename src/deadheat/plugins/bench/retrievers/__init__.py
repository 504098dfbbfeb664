"""Retrievers: what finds documents for a text, behind one small protocol."""

from deadheat.plugins.bench.retrievers.embedding import BM25, Embedding, StringSimilarity
from deadheat.plugins.bench.retrievers.language_model import LLM
from deadheat.plugins.bench.retrievers.protocol import Function, Hits, Retriever, RunFile, best, retrieve
from deadheat.plugins.bench.retrievers.reranking import (
    GradedAnswers,
    Reranked,
    System,
    described,
    identity,
    key_of,
    make_retriever,
    make_retrievers,
    reranked,
)

__all__ = [
    "BM25",
    "LLM",
    "Embedding",
    "Function",
    "GradedAnswers",
    "Hits",
    "Reranked",
    "Retriever",
    "RunFile",
    "StringSimilarity",
    "System",
    "best",
    "described",
    "identity",
    "key_of",
    "make_retriever",
    "make_retrievers",
    "reranked",
    "retrieve",
]
