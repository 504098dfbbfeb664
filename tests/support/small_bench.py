"""Seven cases in two languages, four documents, and a retriever of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadheat import Cases, Collection
from deadheat.plugins.bench.cases import Case

if TYPE_CHECKING:
    from collections.abc import Sequence

DOCUMENTS = Collection(
    "terms", ("D1", "D2", "D3", "D4"), ("fever", "pain", "fever and pain", "sleep"), (("Fieber",), (), (), ("Schlaf",))
)
ROWS = [
    ("e1", "fever", ("D1",), "en", "easy"),
    ("e2", "pain", ("D2",), "en", "easy"),
    ("e3", "sleep pain", ("D4", "D2"), "en", "hard"),
    ("e4", "fever", ("D1",), "en", "hard"),
    ("g1", "Fieber", ("D1",), "de", "easy"),
    ("g2", "Schlaf", ("D4",), "de", "easy"),
    ("g3", "Kopfweh", ("D2",), "de", "hard"),
]
CASES = Cases(
    "mine",
    {},
    tuple(
        Case(case_id, text, ids, (1.0,) * len(ids), language=language, difficulty=difficulty)
        for case_id, text, ids, language, difficulty in ROWS
    ),
)


def known(texts: Sequence[str], k: int) -> list[dict[str, float]]:  # noqa: ARG001 - as every retriever
    return [{"D1": 1.0, "D2": 1.0, "D4": 0.5} if "e" in text else {"D4": 1.0} for text in texts]


class Counting:
    """A retriever that counts its searches, and dies in one of them."""

    name = "counting"

    def __init__(self, dies_in: int | None = None) -> None:
        self.dies_in = dies_in
        self.n_indexed = 0
        self.searched: list[tuple[str, ...]] = []

    @property
    def key(self) -> str:
        return "counting"

    def index(self, documents: Collection) -> None:  # noqa: ARG002 - as every retriever
        self.n_indexed += 1

    def search(self, texts: Sequence[str], k: int) -> list[dict[str, float]]:
        if len(self.searched) == self.dies_in:
            raise KeyboardInterrupt
        self.searched.append(tuple(texts))
        return known(texts, k)
