"""What a retriever is, and what it returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

import numpy as np

from deadheat.arrays import FloatArray, IntArray, TextArray
from deadheat.benchmark.collection import Collection
from deadheat.errors import ScoreError, SourceTypeError
from deadheat.wording import Plain, counted


@dataclass(frozen=True, eq=False)
class Hits:
    """What a search found, as columns: a row for each text and document.

    Attributes
    ----------
    text : ndarray of int, shape (n_hits,)
        Index of the text.
    doc_id : ndarray of str, shape (n_hits,)
    score : ndarray of float, shape (n_hits,)

    Examples
    --------
    >>> Hits.of_dicts([{"d1": 0.5}, {}, {"d1": 0.2, "d2": 0.1}]).text.tolist()
    [0, 2, 2]
    """

    text: IntArray
    doc_id: TextArray
    score: FloatArray

    def __repr__(self) -> str:
        return f"<Hits: {counted(len(self.text), 'document')}>"

    @classmethod
    def of_parts(cls, documents: TextArray, parts: Sequence[tuple[IntArray, FloatArray]]) -> Self:
        """Put together what each text found: (index into `documents`, score), an array each."""
        empty = np.zeros(0, np.int64)
        text = np.repeat(np.arange(len(parts)), [len(found) for found, _ in parts])
        found = np.concatenate([empty, *(found for found, _ in parts)])
        score = np.concatenate([np.zeros(0), *(scores.astype(np.float64) for _, scores in parts)])
        return cls(text, documents[found], score)

    @classmethod
    def of_dicts(cls, found: Sequence[object], *, name: str = "a search") -> Self:
        """Put together a dict ``{doc_id: score}`` for each text; errors call the search by its name."""
        ids: list[str] = []
        scores: list[float] = []
        for number, documents in enumerate(found):
            if not isinstance(documents, Mapping):
                raise SourceTypeError(
                    f"{name} must return a dict {{doc_id: score}} for each text",
                    given=Plain(f"{documents!r} for text {number}"),
                )
            ids += documents
            for doc, score in documents.items():
                if isinstance(score, str) or not hasattr(score, "__float__"):
                    raise ScoreError(f"{name}: score of document {doc!r} must be a number", given=score)
                scores.append(float(score))
        text = np.repeat(np.arange(len(found)), [len(documents) for documents in found])  # type: ignore[arg-type]
        return cls(text, np.array(ids, dtype=object), np.array(scores, np.float64))


@runtime_checkable
class Retriever(Protocol):
    """Finds documents for texts. Any object with these two methods and a name is one.

    Attributes
    ----------
    name : str
        What reports call it.

    Notes
    -----
    A retriever that cuts its list at k decides between the documents that tie with the k-th one, without saying so.
    Those of deadheat return **all** of them, so that lists may be longer than k, and tie statistics stay exact; what
    other retrievers cut cannot be brought back.

    Runs that are finished are used again by another call only if there is an attribute ``key``: text, or anything else
    that JSON can hold, that changes with whatever changes the results (parameters, version, data). A function may have
    one as well: ``search.key = "v2"``. Without it its runs are always made again.
    """

    name: str

    def index(self, documents: Collection) -> None:
        """Take the documents that are to be searched."""

    def search(self, texts: Sequence[str], k: int) -> Hits | Sequence[Mapping[str, float]]:
        """Return the k best documents of each text: `Hits`, or a dict ``{doc_id: score}`` for each text."""
        ...
