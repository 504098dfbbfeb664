"""Objects of exactly the form that other libraries return, for where these are not installed."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


@dataclass
class LangChainDocument:
    """As langchain_core.documents.Document: an id that may be missing, and whatever its metadata hold."""

    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


@dataclass
class RelatedNode:
    """As llama_index.core.schema.RelatedNodeInfo."""

    node_id: str


@dataclass
class TextNode:
    """As llama_index.core.schema.TextNode: a chunk that knows the document it is from."""

    id_: str = ""
    text: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    relationships: dict[str, RelatedNode] = field(default_factory=dict)

    @property
    def node_id(self) -> str:
        return self.id_

    @property
    def ref_doc_id(self) -> str | None:
        source = self.relationships.get("1")
        return None if source is None else source.node_id


@dataclass
class NodeWithScore:
    """As llama_index.core.schema.NodeWithScore."""

    node: TextNode
    score: float | None = None


@dataclass
class HaystackDocument:
    """As haystack.Document: its id is a hash of its content if none is given."""

    content: str = ""
    meta: dict[str, Any] = field(default_factory=dict)
    score: float | None = None
    id: str = ""

    def __post_init__(self) -> None:
        self.id = self.id or f"{len(self.content):064x}"


@dataclass
class Response:
    """As llama_index.core.base.response.schema.Response, and as the objects of Elasticsearch's client."""

    source_nodes: list[NodeWithScore] = field(default_factory=list)
    body: Mapping[str, Any] = field(default_factory=dict)


def semantic_search(queries: ArrayLike, corpus: ArrayLike, top_k: int = 10) -> list[list[dict[str, int | float]]]:
    """Return what sentence_transformers.util.semantic_search does: for each query its nearest, best first."""
    wanted, held = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in map(np.asarray, (queries, corpus)))
    scores = wanted @ held.T
    return [
        [{"corpus_id": int(place), "score": float(row[place])} for place in np.argsort(-row, kind="stable")[:top_k]]
        for row in scores
    ]


class _Relationship:
    SOURCE = "1"


MODULES: dict[str, dict[str, Any]] = {
    "langchain_core.documents": {"Document": LangChainDocument},
    "llama_index.core.schema": {
        "NodeRelationship": _Relationship,
        "NodeWithScore": NodeWithScore,
        "RelatedNodeInfo": RelatedNode,
        "TextNode": TextNode,
    },
    "haystack": {"Document": HaystackDocument},
    "sentence_transformers.util": {"semantic_search": semantic_search},
}


def install_missing() -> None:
    """Let the libraries that are not installed be imported in this process, which is one for that alone."""
    for name, members in MODULES.items():
        parts = name.split(".")
        if parts[0] not in sys.modules and importlib.util.find_spec(parts[0]) is not None:
            continue
        for length in range(1, len(parts) + 1):
            part = ".".join(parts[:length])
            sys.modules.setdefault(part, ModuleType(part))
        for member, value in members.items():
            setattr(sys.modules[name], member, value)
