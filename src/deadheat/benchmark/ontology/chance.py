"""What random rankings of an ontology score: the baseline without which a similarity means little."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.arguments import as_count, generator
from deadheat.arrays import FloatArray
from deadheat.benchmark.ontology.judging import Expected, report
from deadheat.benchmark.ontology.similarity import Terms
from deadheat.data.tables import Qrels, Source
from deadheat.errors import ParameterError, UnknownExpectedWarning


@dataclass(frozen=True)
class Chance:
    """The expected MaxRel of a random ranking of all terms.

    Attributes
    ----------
    kind : str
        The kind of similarity.
    max_rel : dict of int to float
        By cutoff, the mean over the queries.
    standard_error : dict of int to float
        The error of the mean due to the sample of terms: 0 where nothing was sampled.
    n_queries : int
        Queries, or terms that were drawn in their place.
    """

    kind: str
    max_rel: dict[int, float]
    standard_error: dict[int, float]
    n_queries: int


def chance(
    ontology: Terms,
    kind: str,
    *,
    qrels: Source | None,
    aggregate: str,
    cutoffs: Sequence[int],
    n: int,
    rng: np.random.Generator | int | None,
) -> Chance:
    """Return the chance of a kind; `Ontology.chance` says how."""
    n, cutoffs = as_count("n", n), [as_count("each of cutoffs", cutoff) for cutoff in cutoffs]
    n_terms = len(ontology)
    share = 0.0
    if qrels is not None:
        expected = Expected(ontology, Qrels.of(qrels), kind=kind, aggregate=aggregate)
        report(ontology, expected.unknown, "expected", "have similarity 0 to everything", UnknownExpectedWarning)
        rows: Iterator[FloatArray] = (expected.relevance(terms) for terms in expected.of_query.values())
    else:
        drawn = np.sort(generator(rng).permutation(n_terms)[:n])
        share = 1 - len(drawn) / n_terms
        if share and len(drawn) < 2:
            raise ParameterError(
                argument="n",
                given=n,
                allowed="2 or more",
                hint=f"one of {n_terms:,} terms says nothing about the standard error",
            )
        rows = (ontology.similarities_at(int(term), kind) for term in drawn)
    probability = best_of_random(n_terms, cutoffs)
    values = np.array([probability @ np.sort(row)[::-1] for row in rows])
    error = np.sqrt(share * values.var(axis=0, ddof=1) / len(values)) if share else np.zeros(len(cutoffs))
    means = values.mean(axis=0)
    return Chance(
        kind,
        {cutoff: float(mean) for cutoff, mean in zip(cutoffs, means, strict=True)},
        {cutoff: float(one) for cutoff, one in zip(cutoffs, error, strict=True)},
        len(values),
    )


def best_of_random(n_terms: int, cutoffs: Sequence[int]) -> FloatArray:
    r"""Return the probability that the i-th best of all terms is the best in the top k of a random ranking.

    .. math:: \frac{k}{N - i + 1} \prod_{l < i} \frac{N - k - l + 1}{N - l + 1}

    as for `MaxRel`, with all N terms in one tie.

    Returns
    -------
    ndarray of shape (n_cutoffs, n_terms)
    """
    left = np.arange(n_terms, 0, -1.0)
    k = np.minimum(cutoffs, n_terms)[:, None]
    outside = np.maximum(left - k, 0.0) / left
    none_before = np.concatenate((np.ones((len(k), 1)), np.cumprod(outside, axis=1)[:, :-1]), axis=1)
    return none_before * np.minimum(k / left, 1.0)
