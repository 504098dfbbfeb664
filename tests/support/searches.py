"""Five documents, and what a retriever finds among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadheat import Collection
from deadheat.plugins.bench.retrievers import retrieve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deadheat import Retriever

DOCUMENTS = Collection(
    "five",
    ("D1", "D2", "D3", "D4", "D5"),
    ("Fever", "Broken arm", "Sleepless nights", "Heart attack", "Heart attack"),
    (("high temperature",), ("Fracture of the arm",), (), (), ()),
)


def found(retriever: Retriever, texts: Sequence[str], k: int = 10) -> list[dict[str, float]]:
    ids = [f"q{number}" for number in range(len(texts))]
    rows: dict[str, dict[str, float]] = {query: {} for query in ids}
    for query, doc, score in retrieve(retriever, ids, texts, k).iter_rows():
        rows[query][doc] = score
    return list(rows.values())


def indexed(retriever: Retriever) -> Retriever:
    retriever.index(DOCUMENTS)
    return retriever
