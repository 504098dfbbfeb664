"""Matrices of scores, or the vectors that give them, evaluated without a ranking."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from deadheat.core.checks import as_count, as_text, check_choice
from deadheat.core.data.doubts import describe_negative_labels
from deadheat.core.data.qrels import Qrels
from deadheat.core.errors import Advice, ParameterError
from deadheat.core.evaluation.evaluate_runs import check_measures, make_scores
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.measures import Measure
from deadheat.core.measures.notation import MeasureLike, parse_measures
from deadheat.core.placements import policies
from deadheat.core.random_generators import Rng
from deadheat.core.settings import Conventions
from deadheat.plugins.dense.counting import Counted, count_dense
from deadheat.plugins.dense.sampled import POSITIVES, sampled_scores
from deadheat.plugins.dense.tiles import SIMILARITIES, count_embeddings

TIES = ("expected", "best", "worst", "random")  # others look at ids or at the order of rows, which a matrix lacks
DEPTH = 20  # ranks of each list that are kept for items


def evaluate_dense(
    scores: ArrayLike,
    relevant: object,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    exclude: object = None,
    mask: object = None,
    query_ids: ArrayLike | None = None,
    doc_ids: ArrayLike | None = None,
    ties: str = "expected",
    rng: Rng = None,
    no_relevant: str = "zero",
    items: bool | int = False,
    sampled: int | None = None,
    positives: str = "together",
    name: str = "scores",
) -> Evaluation:
    """Evaluate a matrix of scores, as recommenders and embedding models give them.

    For each judged document the scores of its row that are above it and equal to it are counted: no ranking is made,
    no dict, and no copy. The result is what :func:`deadheat.evaluate` gives for the same scores. Numbers are compared
    as they are: float16 and bfloat16 scores tie where these tie.

    Parameters
    ----------
    scores : array of number, shape (n_queries, n_documents)
        Of NumPy, PyTorch, JAX, CuPy or another library that keeps to the array API standard; or lists. Higher scores
        rank first. Every document of a row is retrieved, also with a score of -inf. An array on a GPU is counted there
        (with the extra ``dense``). A vector, such as :func:`popularity` returns, is the same row for every query.
    relevant : list of lists of int, sparse matrix, or array of shape (n_queries, n_documents)
        The relevant documents of each query: their columns (relevance 1), or a matrix of relevance, in which 0 is an
        unjudged document. A matrix may be on another device than the scores.
    measures : measure or iterable of measures, optional
        As for :func:`deadheat.evaluate`.
    exclude : as `relevant`, optional
        Documents that are not retrieved for a query, such as the items of its training data. None may be relevant.
    mask : array of bool, shape (n_queries, n_documents), optional
        True where a document is retrieved; False for padding, and for what a first stage left out. Of the library and
        on the device of the scores. What scores are there is not looked at, and a judged document there counts as not
        retrieved.
    query_ids, doc_ids : array-like of str or int, optional
        By default rows and columns are called "0", "1", and so on.
    ties : {"expected", "best", "worst", "random"}, default "expected"
        As for :func:`deadheat.evaluate`.
    rng : numpy.random.Generator or int, optional
        For ``ties="random"``.
    no_relevant : {"zero", "skip", "one"}, default "zero"
        Every row is a query: one without a relevant document scores 0, is left out of the mean, or scores 1 (of
        measures from 0 to 1).
    items : bool or int, default False
        Whether to keep the first documents of each list in the same pass, for :meth:`Evaluation.item_profile`: 20
        ranks, or as many as the deepest measure looks at, or this number, with the whole tie at the end.
    sampled : int, optional
        Rank the relevant documents among so many others alone, drawn without replacement from those that are neither
        relevant nor excluded (those of negative relevance too; all of them where a query has fewer; at most the number
        of documents): values are exact means over all samples, and the spread over tie orders is that of these
        means. For linear measures (nDCG, DCG, P, R, RBP), RR and Hit. Such values are no estimates of those of full
        rankings, and may order systems otherwise.
    positives : {"together", "each"}, default "together"
        With `sampled`: all relevant documents of a query in one list; or each in a list of its own, whose ties are
        broken on their own, and a query has the mean over its lists.
    name : str, default "scores"
        Label of the evaluation.

    Returns
    -------
    Evaluation

    Raises
    ------
    ParameterError
        Shapes or devices do not fit, or a relevant document is excluded.
    MeasureError
        A measure has no exact mean over samples.
    DataError
        A score is NaN, a relevance is not finite.
    MissingDependencyError
        The scores are not in main memory, and array-api-compat is not installed.

    References
    ----------
    Sampled negatives: Krichene and Rendle 2020, https://doi.org/10.1145/3394486.3403226.

    See Also
    --------
    Accumulator : The same, batch by batch.
    evaluate_embeddings : From vectors, without a matrix of all scores.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[0.9, 0.5, 0.5, 0.1], [0.2, 0.8, 0.8, 0.8]])
    >>> evaluate_dense(scores, [[1], [1, 3]], ["P@2"]).to_dict()
    {'0': {'P@2': 0.25}, '1': {'P@2': 0.6666666666666666}}
    >>> evaluate_dense(scores, [[1], [1, 3]], ["RR"], exclude=[[0], []]).to_dict()["0"]
    {'RR': 0.75}
    >>> evaluate_dense(scores, [[1], [1, 3]], ["RR"], mask=scores < 0.9).to_dict()["0"]
    {'RR': 0.75}
    """
    check_choice("ties", ties, TIES)
    check_choice("positives", positives, POSITIVES)
    as_text("name", name)
    conventions = Conventions.of(locals(), exclude=None)  # what is excluded here are items, by their positions
    chosen = parse_measures(measures)
    counts = count_dense(
        scores,
        relevant,
        exclude=exclude,
        mask=mask,
        query_ids=query_ids,
        doc_ids=doc_ids,
        depth=depth_of_lists(chosen, items=items),
    )
    _refuse_no_judgment(counts)
    if sampled is None:
        if positives != "together":
            raise ParameterError(
                "is about sampled negatives", argument="positives", given=positives, hint=Advice("sampled")
            )
        return evaluation_of_counted(counts, chosen, conventions, rng, name)
    n = as_count("sampled", sampled)
    if conventions.no_relevant not in {"zero", "skip"}:
        given = conventions.no_relevant
        raise ParameterError(argument="no_relevant", given=given, allowed=("zero", "skip"), beside={"sampled": n})
    n_documents = int(np.shape(scores)[-1])
    if n > n_documents:
        raise ParameterError(
            argument="sampled",
            given=n,
            allowed=f"at most {n_documents:,}, the number of documents",
            hint="leave it out to rank all documents",
        )
    found = sampled_scores(counts, chosen, n, positives=positives, conventions=conventions, rng=rng)
    note = f"sampled: relevant documents, {POSITIVES[positives]}, among {n} others; exact means over all samples"
    parts = evaluation_of_counted(counts, chosen, conventions, rng, name).parts()
    placed = parts["placements"]
    n_positive = np.bincount(placed.query[placed.relevance > 0], minlength=placed.n_queries)
    n_others = placed.n_retrieved - n_positive
    if n_fewer := int((n_others < n).sum()):
        note += f"; {n_fewer:,} of {placed.n_queries:,} queries have fewer, which all count"
    return Evaluation(found, **parts | {"notes": (note, *parts["notes"])})


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
    """Evaluate an exact search by embeddings over all documents.

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
    no_relevant : {"zero", "skip", "one"}, default "zero"
        Every row is a query: one without a relevant document scores 0, is left out of the mean, or scores 1 (of
        measures from 0 to 1).
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
    conventions = Conventions.of(locals(), exclude=None)  # what is excluded here are items, by their positions
    chosen = parse_measures(measures)
    counts = count_embeddings(
        queries,
        documents,
        relevant,
        similarity=similarity,
        block=as_count("block", block),
        exclude=exclude,
        query_ids=query_ids,
        doc_ids=doc_ids,
    )
    _refuse_no_judgment(counts)
    return evaluation_of_counted(counts, chosen, conventions, rng, name)


def depth_of_lists(measures: Sequence[Measure], *, items: bool | int) -> int | None:
    """Return how many ranks of each list are kept, whole; None: none.

    Parameters
    ----------
    measures : sequence of Measure
    items : bool or int
        As for :func:`evaluate_dense`.
    """
    if not isinstance(items, bool):
        return as_count("items", items)
    return max(DEPTH, *(one.deepest or 0 for one in measures)) if items else None


def _refuse_no_judgment(counts: Counted) -> None:
    """Raise `ParameterError` if nothing is judged."""
    if not len(counts.query):
        raise ParameterError("names no relevant document", argument="relevant")


def evaluation_of_counted(
    counts: Counted, measures: Sequence[Measure], conventions: Conventions, rng: Rng, name: str
) -> Evaluation:
    """Return the evaluation of what was counted.

    Parameters
    ----------
    counts : Counted
    measures : sequence of Measure
    conventions : Conventions
    rng : numpy.random.Generator or int, optional
        For ``ties="random"``.
    name : str
    """
    check_measures(conventions, measures)
    placements = counts.placements()
    ranked = policies.apply(placements, conventions.ties, rng)
    return Evaluation(
        [make_scores(measure, placements, ranked, conventions, None) for measure in measures],
        name=name,
        query_ids=placements.query_ids,
        conventions=conventions,
        placements=placements,
        qrels=Qrels.of_checked(counts.judgments(), "relevant"),
        notes=describe_negative_labels(placements.judged_relevance, "array"),
        lists=counts.lists and counts.lists.select(np.argsort(counts.query_ids)),
    )
