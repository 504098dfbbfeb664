"""Retrievers: what finds documents for a text, behind one small protocol."""

from deadheat.retrievers._bm25 import BM25
from deadheat.retrievers._embedding import Embedding
from deadheat.retrievers._function import Function
from deadheat.retrievers._protocol import Hits, Retriever
from deadheat.retrievers._retrieving import retrieve
from deadheat.retrievers._runs import RunFile
from deadheat.retrievers._specs import described, identity, key_of, make_retriever, make_retrievers

__all__ = [
    "BM25",
    "Embedding",
    "Function",
    "Hits",
    "Retriever",
    "RunFile",
    "described",
    "identity",
    "key_of",
    "make_retriever",
    "make_retrievers",
    "retrieve",
]
