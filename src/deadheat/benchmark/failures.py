"""Cases that a retriever fails: no expected document is first, and what stood above the best of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from deadheat.benchmark.cases import Case
from deadheat.benchmark.collection import Collection

MOST_ABOVE = 3  # documents that are named


@dataclass(frozen=True)
class Found:
    """A document with its label.

    Attributes
    ----------
    doc_id, label : str
        The label is empty for a document that the collection lacks.
    """

    doc_id: str
    label: str

    def __str__(self) -> str:
        return f"{self.doc_id} {self.label}".strip()


@dataclass(frozen=True)
class Failure:
    """A case of which no expected document is first in every order of the ties.

    Attributes
    ----------
    case_id, text : str
    expected : tuple of Found
    best : Found or None
        The expected document that ranks highest; None if none was found.
    low, high : int or None
        The first and the last rank that the best expected document may have, over all orders of the ties.
    above : tuple of Found
        The first documents that stand above it, or share its score, and are not expected; at most three.
    n_above : int
        How many there are.
    """

    case_id: str
    text: str
    expected: tuple[Found, ...]
    best: Found | None
    low: int | None
    high: int | None
    above: tuple[Found, ...]
    n_above: int

    @property
    def rank(self) -> str:
        """The rank as people read it."""
        if self.low is None or self.high is None:
            return "not found"
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,} to {self.high:,}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "case_id": self.case_id,
            "text": self.text,
            "expected": [vars(one) for one in self.expected],
            "best": None if self.best is None else self.best.doc_id,
            "rank_low": self.low,
            "rank_high": self.high,
            "above": [vars(one) for one in self.above],
            "n_above": self.n_above,
        }


def failures_of(
    cases: Sequence[Case], found: pl.DataFrame, documents: Collection, language: str | None = None
) -> tuple[Failure, ...]:
    """Return the failures of a run, the worst first; among equals in the order of the cases.

    Parameters
    ----------
    cases : sequence of Case
    found : polars.DataFrame
        query_id, doc_id and score.
    documents : Collection
    language : str, optional
        Of the cases: documents are named in it where they can be.
    """
    labels = documents.labels(language)
    runs = {str(key[0]): group for key, group in found.group_by("query_id")}
    failed = []
    for case in cases:
        rows = runs[case.case_id].select("score", "doc_id").rows() if case.case_id in runs else []
        ranked = sorted(((score, str(doc)) for score, doc in rows), key=lambda row: (-row[0], row[1]))
        score, best = next(((score, doc) for score, doc in ranked if doc in case.expected_ids), (float("-inf"), None))
        others = [(own, doc) for own, doc in ranked if doc not in case.expected_ids and own >= score]
        if not case.expected_ids or (best is not None and not others):
            continue  # an expected document is first in every order
        above = tuple(Found(doc, labels.get(doc, "")) for _, doc in others[:MOST_ABOVE])
        expected = tuple(Found(doc, labels.get(doc, "")) for doc in case.expected_ids)
        low = None if best is None else sum(own > score for own, _ in others) + 1
        first, high = (None, None) if best is None else (Found(best, labels.get(best, "")), len(others) + 1)
        failed.append(Failure(case.case_id, case.text, expected, first, low, high, above, len(others)))
    return tuple(sorted(failed, key=lambda one: (one.low is not None, -(one.low or 0) - (one.high or 0))))
