"""evaluate_embeddings(): the vectors of queries and documents, evaluated without a matrix of all scores."""

from __future__ import annotations

from collections.abc import Iterable

from numpy.typing import ArrayLike

from deadheat.arguments import Rng, as_count, check_choice
from deadheat.evaluation.conventions import Conventions
from deadheat.evaluation.dense import TIES, evaluation_of, refuse_no_judgment
from deadheat.evaluation.evaluate import parse_measures
from deadheat.evaluation.evaluation import Evaluation
from deadheat.measures.notation import MeasureLike
from deadheat.placements.embeddings import SIMILARITIES, count_embeddings


def evaluate_embeddings(
    queries: ArrayLike,
    documents: ArrayLike,
    relevant: object,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    similarity: str = "dot",
    block: int = 1024,
    exclude: object = None,
    query_ids: ArrayLike | None = None,
    doc_ids: ArrayLike | None = None,
    ties: str = "expected",
    rng: Rng = None,
    no_relevant: str = "zero",
    name: str = "embeddings",
) -> Evaluation:
    """Evaluate the search by embeddings in all documents, exactly.

    Scores are computed in tiles, counted and forgotten: there is never a matrix of all of them, no list is cut, and no
    index makes it approximate. Documents with identical vectors tie exactly. The result is the same, to the last bit,
    for every `block`.

    Parameters
    ----------
    queries : array of number, shape (n_queries, n_dimensions)
    documents : array of number, shape (n_documents, n_dimensions)
        Both of NumPy (also mapped from a file), PyTorch, JAX, CuPy or another library that keeps to the array API
        standard; on a GPU they are multiplied there (with the extra ``dense``). Short floats are multiplied as float32,
        whole numbers (int8) as float64 and so exactly.
    relevant : list of lists of int, sparse matrix, or array of shape (n_queries, n_documents)
        As for :func:`evaluate_dense`.
    measures : measure or iterable of measures, optional
        As for :func:`evaluate`.
    similarity : {"dot", "cosine"}, default "dot"
        The score: the inner product, or that of vectors brought to length 1.
    block : int, default 1024
        Queries that are scored together, rounded up to whole tiles. More read the documents less often, as is good for
        files, and take more memory: that of their vectors.
    exclude : as `relevant`, optional
        Documents that are not retrieved for a query, such as itself where queries are documents too.
    query_ids, doc_ids : array-like of str or int, optional
        By default rows are called "0", "1", and so on.
    ties : {"expected", "best", "worst", "random"}, default "expected"
        As for :func:`evaluate`.
    rng : numpy.random.Generator or int, optional
        For ``ties="random"``.
    no_relevant : {"zero", "skip"}, default "zero"
        Every row is a query: one without a relevant document scores 0, or is left out of the mean.
    name : str, default "embeddings"
        Label of the evaluation.

    Returns
    -------
    Evaluation

    Raises
    ------
    ParameterError
        Shapes or devices do not fit, or a relevant document is excluded.
    DataError
        A number of a vector is not finite, a product is NaN, or a vector of zeros has no cosine.
    MissingDependencyError
        The vectors are not in main memory, and array-api-compat is not installed.

    Notes
    -----
    A product is rounded in an order that the library chooses, so scores may differ in their last digits from those of
    another program; what ties there may not tie here, unless the vectors are identical or the products exact.

    Examples
    --------
    >>> queries = [[1.0, 0.0], [0.5, 0.5]]
    >>> documents = [[0.9, 0.1], [0.9, 0.1], [0.2, 0.8]]
    >>> evaluate_embeddings(queries, documents, [[0], [2]], ["RR"]).to_dict()
    {'0': {'RR': 0.75}, '1': {'RR': 0.6111111111111112}}
    """
    check_choice("ties", ties, TIES)
    check_choice("similarity", similarity, SIMILARITIES)
    conventions = Conventions(ties, no_relevant=no_relevant)
    chosen = parse_measures(measures)
    counted = count_embeddings(
        queries,
        documents,
        relevant,
        similarity=similarity,
        block=as_count("block", block),
        exclude=exclude,
        query_ids=query_ids,
        doc_ids=doc_ids,
    )
    refuse_no_judgment(counted)
    return evaluation_of(counted, chosen, conventions, rng, name)
