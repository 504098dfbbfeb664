"""evaluate_dense(): a matrix of scores, queries by documents, evaluated without ranking it."""

from __future__ import annotations

from collections.abc import Iterable

from numpy.typing import ArrayLike

from deadheat import arguments
from deadheat.arguments import Rng, check_choice
from deadheat.data.tables import Qrels
from deadheat.evaluation.conventions import Conventions
from deadheat.evaluation.evaluate import parse_measures, score_of
from deadheat.evaluation.evaluation import Evaluation
from deadheat.measures.notation import MeasureLike
from deadheat.placements import policies
from deadheat.placements.dense import place_dense

TIES = ("expected", "best", "worst", "random")  # others look at ids or at the order of rows, which a matrix lacks


def evaluate_dense(
    scores: ArrayLike,
    relevant: object,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    exclude: object = None,
    query_ids: ArrayLike | None = None,
    doc_ids: ArrayLike | None = None,
    ties: str = "expected",
    rng: Rng = None,
    no_relevant: str = "zero",
    name: str = "scores",
) -> Evaluation:
    """Evaluate a matrix of scores, as recommenders and embedding models give them.

    For each judged document the scores of its row that are above it and equal to it are counted: no ranking is made,
    and no dict. The result is what :func:`deadheat.evaluate` gives for the same scores.

    Parameters
    ----------
    scores : array-like of number, shape (n_queries, n_documents)
        Higher scores rank first. Every document of a row is retrieved, also with a score of -inf.
    relevant : list of lists of int, sparse matrix, or ndarray of shape (n_queries, n_documents)
        The relevant documents of each query: their columns (relevance 1), or a matrix of relevance, in which 0 is an
        unjudged document.
    measures : measure or iterable of measures, optional
        As for :func:`deadheat.evaluate`.
    exclude : as `relevant`, optional
        Documents that are not retrieved for a query, such as the items of its training data. None may be relevant.
    query_ids, doc_ids : array-like of str or int, optional
        By default rows and columns are called "0", "1", and so on.
    ties : {"expected", "best", "worst", "random"}, default "expected"
        As for :func:`deadheat.evaluate`.
    rng : numpy.random.Generator or int, optional
        For ``ties="random"``.
    no_relevant : {"zero", "skip"}, default "zero"
        Every row is a query: one without a relevant document scores 0, or is left out of the mean.
    name : str, default "scores"
        Label of the evaluation.

    Returns
    -------
    Evaluation

    Raises
    ------
    ParameterError
        Shapes do not fit, or a relevant document is excluded.
    ScoreError, RelevanceError
        A score is NaN, a relevance is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[0.9, 0.5, 0.5, 0.1], [0.2, 0.8, 0.8, 0.8]])
    >>> evaluate_dense(scores, [[1], [1, 3]], ["P@2"]).to_dict()
    {'0': {'P@2': 0.25}, '1': {'P@2': 0.6666666666666666}}
    >>> evaluate_dense(scores, [[1], [1, 3]], ["RR"], exclude=[[0], []]).to_dict()["0"]
    {'RR': 0.75}
    """
    check_choice("ties", ties, TIES)
    conventions = Conventions(ties, no_relevant=no_relevant)
    chosen = parse_measures(measures)
    placements = place_dense(scores, relevant, exclude=exclude, query_ids=query_ids, doc_ids=doc_ids)
    ranked = policies.apply(placements, ties, arguments.generator(rng) if ties == "random" else None)
    return Evaluation(
        [score_of(measure, placements, ranked, no_relevant) for measure in chosen],
        name=name,
        query_ids=placements.query_ids,
        conventions=conventions,
        placements=placements,
        qrels=Qrels.of_checked(placements.to_polars().select("query_id", "doc_id", "relevance"), "relevant"),
    )
