"""Documents with several strings: a document scores by its best one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from deadheat.arrays import FloatArray, IntArray, TextArray, run_starts
from deadheat.benchmark.collection import Collection

STRINGS = ("best", "joined")


@dataclass(frozen=True, eq=False)
class Strings:
    """The strings of a collection, those of a document together.

    Attributes
    ----------
    texts : list of str
    starts : ndarray of int, shape (n_documents,)
        Where those of each document start.
    doc_ids : ndarray of str, shape (n_documents,)
        Of each document; all have a string, their text.
    """

    texts: list[str]
    starts: IntArray
    doc_ids: TextArray

    @classmethod
    def of(cls, documents: Collection, strings: str = "best") -> Self:
        """Take the strings of a collection one by one, or those of each document joined by spaces."""
        texts, owner = documents.strings()
        starts = run_starts(owner)
        if strings == "joined":
            ends = [*starts[1:].tolist(), len(texts)]
            texts = [" ".join(texts[start:end]) for start, end in zip(starts.tolist(), ends, strict=True)]
        doc_ids = np.array(documents.ids, dtype=object)
        return cls(texts, np.arange(len(texts)) if strings == "joined" else starts, doc_ids)

    def best(self, scores: FloatArray) -> FloatArray:
        """Return the highest score of each document.

        Parameters
        ----------
        scores : ndarray of shape (..., n_strings)

        Returns
        -------
        ndarray of shape (..., n_documents)
        """
        if len(self.starts) == len(self.texts):
            return scores
        return np.maximum.reduceat(scores, self.starts, axis=-1)  # every document here has a string: none is empty


def top(scores: FloatArray, k: int) -> IntArray:
    """Return the places of the k highest scores and of all that tie with the last of them, highest first.

    NaN, which is an error later on, counts as the highest.

    Parameters
    ----------
    scores : ndarray of shape (n,)
    k : int

    Examples
    --------
    >>> top(np.array([0.1, 0.3, 0.2, 0.2]), 2).tolist()
    [1, 2, 3]
    """
    n = len(scores)
    kept = np.flatnonzero(~(scores < np.partition(scores, n - k)[n - k])) if k < n else np.arange(n)
    return kept[np.argsort(-scores[kept], kind="stable")]
