"""The similarity of strings, character by character, by the package rapidfuzz."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata

import numpy as np

from deadheat.arguments import check_choice
from deadheat.benchmark.collection import Collection
from deadheat.benchmark.retrievers.protocol import (
    Hits,
    Strings,
    check_indexed,
    check_search,
    options_of,
    package,
    top,
    written,
)

METHODS = {"levenshtein": "Levenshtein", "indel": "Indel"}  # the modules of rapidfuzz.distance
MAX_CELLS = 1 << 23  # of a matrix of similarities: 64 MB


class StringSimilarity:
    r"""Search by how few characters have to change.

    The score is ``1 - distance / most``, from 0 to 1, in lower case and with single blanks. A document scores by its
    best string. It is a quotient of two whole numbers that a string and the text alone decide, so equal quotients tie:
    short texts have many ties. Documents that score 0 are not found.

    Parameters
    ----------
    method : {"levenshtein", "indel"}, default "levenshtein"
        The distance: of Levenshtein, in which a character is inserted, removed or replaced, over the length of the
        longer string; or with insertions and removals alone, over the sum of both lengths.
    name : str, optional
        By default "string" and the options that differ from these.

    Raises
    ------
    ParameterError
        There is no such method.
    MissingDependencyError
        rapidfuzz is not installed.

    References
    ----------
    V. I. Levenshtein, "Binary codes capable of correcting deletions, insertions, and reversals", Soviet Physics
    Doklady 10, 1966, 707-710.

    Examples
    --------
    >>> from deadheat import Collection
    >>> viruses = Collection("viruses", ("hbv", "hcv"), ("hepatitis B", "hepatitis C"), ((), ()))
    >>> retriever = StringSimilarity()
    >>> retriever.index(viruses)
    >>> hits = retriever.search(["Hepatitis", "hepatitis c"], 1)
    >>> list(zip(hits.text.tolist(), hits.doc_id, hits.score.round(4).tolist()))
    [(0, 'hbv', 0.8182), (0, 'hcv', 0.8182), (1, 'hcv', 1.0)]
    """

    def __init__(self, *, method: str = "levenshtein", name: str | None = None) -> None:
        check_choice("method", method, tuple(METHODS))
        needs = "string similarity needs the package rapidfuzz", "retrievers"
        self._process = package("rapidfuzz.process", *needs)
        self._scorer = getattr(package("rapidfuzz.distance", *needs), METHODS[method]).normalized_similarity
        self.method = method
        self.options = options_of(self, "method")
        self.name = name or written("string", StringSimilarity, self.options)
        self._strings: Strings | None = None
        self._texts: list[str] = []

    def __repr__(self) -> str:
        return written("StringSimilarity", StringSimilarity, self.options)

    @property
    def key(self) -> dict[str, object]:
        """What its results depend on, beside the documents."""
        return {"retriever": "string", **self.options, "rapidfuzz": metadata.version("rapidfuzz")}

    def index(self, documents: Collection) -> None:
        """Take the documents that are to be searched."""
        self._strings = Strings.of(documents)
        self._texts = [_folded(text) for text in self._strings.texts]

    def search(self, texts: Sequence[str], k: int) -> Hits:
        """Return the k best documents of each text, and all that tie with the last of them."""
        check_search(texts, k)
        strings = check_indexed(self, self._strings)
        step = max(1, MAX_CELLS // len(self._texts))
        parts = []
        for start in range(0, len(texts), step):
            similar = self._process.cdist(
                [_folded(text) for text in texts[start : start + step]],
                self._texts,
                scorer=self._scorer,
                dtype=np.float64,
                workers=-1,
            )
            for scores in strings.best(similar):
                best = top(scores, k)
                best = best[scores[best] > 0]
                parts.append((best, scores[best]))
        return Hits.of_parts(strings.doc_ids, parts)


def _folded(text: str) -> str:
    return " ".join(text.split()).lower()
