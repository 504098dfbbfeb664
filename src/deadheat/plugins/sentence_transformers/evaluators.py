"""Evaluators of sentence-transformers with exact means over the orders of ties; change the import, nothing else.

.. code-block:: python

    from deadheat.integrations.sentence_transformers import InformationRetrievalEvaluator

Each is a subclass of the evaluator of its name, with its arguments, its files and its keys. What a model is asked, and
when, is the parent's; only the numbers are computed here.
"""

# pyright is run where PyTorch is not installed
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.errors import DataError, MissingDependencyError, ParameterError
from deadheat.core.measures import AP, RR, Hit, Measure, P, R, nDCG
from deadheat.core.placements import policies
from deadheat.core.placements.building import PlacedRows, RetrievedLists, build_placements
from deadheat.core.placements.placements import Placements
from deadheat.core.settings import TIES
from deadheat.plugins.compat.evaluating import Evaluator, tie_policy
from deadheat.plugins.dense.counting import count_dense

try:
    import torch
    from sentence_transformers.cross_encoder import evaluation as of_cross_encoders

    try:
        from sentence_transformers.sentence_transformer import evaluation as of_embeddings
    except ImportError:  # sentence-transformers 5 and earlier
        from sentence_transformers import evaluation as of_embeddings
except ImportError as error:
    raise MissingDependencyError(
        "sentence-transformers 4 or newer is not installed", hint='pip install "sentence-transformers>=4"'
    ) from error

Tensor: TypeAlias = torch.Tensor
ScoreFunction: TypeAlias = Callable[[Any, Any], Tensor]
Keys: TypeAlias = NDArray[np.float64] | NDArray[np.int64]


WITHOUT_IDS = tuple(policy for policy in TIES if policy != "doc_id")
AT_ONCE = 1 << 16  # relevant documents, each compared with as many scores as the largest cutoff

# For each group of results, the argument that holds its cutoffs, and the measure at a cutoff
OF_RETRIEVAL: dict[str, tuple[str, Callable[[int], Measure]]] = {
    "accuracy@k": ("accuracy_at_k", lambda k: Hit(cutoff=k)),
    "precision@k": ("precision_recall_at_k", lambda k: P(cutoff=k)),
    "recall@k": ("precision_recall_at_k", lambda k: R(cutoff=k)),
    "ndcg@k": ("ndcg_at_k", lambda k: nDCG(cutoff=k)),
    "mrr@k": ("mrr_at_k", lambda k: RR(cutoff=k)),
    "map@k": ("map_at_k", lambda k: AP(cutoff=k, norm="min")),
}


class WithTies:
    """Takes a tie policy, and says in a model card which."""

    allowed_ties: tuple[str, ...] = TIES

    def __init__(self, *args: Any, ties: str | None = None, **kwargs: Any) -> None:  # noqa: ANN401 - of the parent
        super().__init__(*args, **kwargs)
        self.ties = tie_policy(ties, "expected")
        if self.ties not in self.allowed_ties:
            raise ParameterError(
                argument="ties", given=self.ties, allowed=self.allowed_ties, hint="documents of samples have no ids"
            )

    def get_config_dict(self) -> dict[str, Any]:
        """Return what a model card says of the evaluator, the tie policy included."""
        return _of_parent(super(), "get_config_dict")() | {"ties": self.ties}


class InformationRetrievalEvaluator(WithTies, of_embeddings.InformationRetrievalEvaluator):
    """Evaluate a search in a corpus, exactly when scores tie.

    Ties are counted in the whole corpus, before the parent cuts the lists at the largest cutoff.

    Parameters
    ----------
    *args, **kwargs
        Of ``sentence_transformers``' evaluator of this name.
    ties : str, optional
        A tie policy of :func:`deadheat.evaluate`, by default ``DEADHEAT_TIES`` in the environment, else ``"expected"``.
        Scores are compared as they are; under ``"doc_id"`` and ``"input"`` (the order of the corpus) in 32 bits.
    """

    score_functions: dict[str, ScoreFunction]
    _counted: "Iterator[Best]" = iter(())

    def compute_all_metrics(self, *args: Any, **kwargs: Any) -> dict[str, Any]:  # noqa: ANN401 - of the parent
        """Compute all metrics as the parent does, and count ties in the scores that pass.

        Parameters
        ----------
        *args, **kwargs
            Of the parent.
        """
        functions = self.score_functions
        size = max(k for cutoffs, _ in OF_RETRIEVAL.values() for k in getattr(self, cutoffs))
        relevant = [set(self.relevant_docs[query]) for query in self.queries_ids]
        found = {name: Best(size, self.corpus_ids, relevant, self.ties) for name in functions}
        self.score_functions = {name: _watched(function, found[name].add) for name, function in functions.items()}
        self._counted = iter(found.values())  # the parent asks for the metrics of each function in this order
        try:
            return _of_parent(super(), "compute_all_metrics", "compute_metrices")(*args, **kwargs)
        finally:
            self.score_functions = functions
            self._counted = iter(())

    compute_metrices = compute_all_metrics  # its name before sentence-transformers 6

    def compute_metrics(self, queries_result_list: list[list[dict[str, Any]]]) -> dict[str, dict[int, float]]:
        """Compute the metrics of one score function.

        Parameters
        ----------
        queries_result_list : list of list of dict
            For each query ``{"corpus_id": ..., "score": ...}``. Called on its own, it takes these lists for complete.

        Returns
        -------
        dict of dict
            Means over queries by cutoff, by "accuracy@k", "precision@k", "recall@k", "ndcg@k", "mrr@k" and "map@k".
        """
        best = next(self._counted, None)
        if best is None:
            return self._of_lists(queries_result_list)
        placements = policies.apply(best.placements(), self.ties)
        return {
            name: {k: float(measure(k).mean(placements).mean()) for k in getattr(self, cutoffs)}
            for name, (cutoffs, measure) in OF_RETRIEVAL.items()
        }

    def _of_lists(self, results: list[list[dict[str, Any]]]) -> dict[str, dict[int, float]]:
        qrels = {str(query): dict.fromkeys(map(str, self.relevant_docs[query]), 1) for query in self.queries_ids}
        run = {
            query: {str(hit["corpus_id"]): hit["score"] for hit in hits}
            for query, hits in zip(qrels, results, strict=True)
        }
        measures: dict[tuple[str, int], Measure | None] = {
            (name, k): measure(k) for name, (cutoffs, measure) in OF_RETRIEVAL.items() for k in getattr(self, cutoffs)
        }
        values = Evaluator(qrels, measures, ties=self.ties, judged_only=False).by_query(run)
        return {
            name: {k: float(np.mean([values[query][name, k] for query in qrels])) for k in getattr(self, cutoffs)}
            for name, (cutoffs, _) in OF_RETRIEVAL.items()
        }


class RerankingEvaluator(WithTies, of_embeddings.RerankingEvaluator):
    """Evaluate a reranking by embeddings, exactly when scores tie.

    Parameters
    ----------
    *args, **kwargs
        Of ``sentence_transformers``' evaluator of this name.
    ties : str, optional
        A tie policy, by default ``DEADHEAT_TIES`` in the environment, else ``"expected"``; ``"input"`` is the order of
        the sample, positive documents first. There is no ``"doc_id"``, as the documents have no ids.
    """

    similarity_fct: ScoreFunction

    allowed_ties = WITHOUT_IDS

    def compute_metrics(self, model: Any) -> dict[str, float]:  # noqa: ANN401 - any that encodes
        """Compute "map", "mrr" and "ndcg", the means over samples.

        Parameters
        ----------
        model : SentenceTransformer
        """
        lists: list[FloatArray] = []
        similarity = self.similarity_fct
        self.similarity_fct = _watched(
            similarity, lambda scores: lists.append(_numbers(scores.reshape(-1)).astype(np.float64))
        )
        try:
            _of_parent(super(), "compute_metrics", "compute_metrices")(model)
        finally:
            self.similarity_fct = similarity
        values = [
            _of_list(np.arange(len(own)) < len(one["positive"]), own, self.at_k, self.ties)
            for one, own in zip(self.samples, lists, strict=True)
        ]
        mrr, ndcg, ap = np.mean(values, axis=0).tolist()
        return {"map": ap, "mrr": mrr, "ndcg": ndcg}

    compute_metrices = compute_metrics  # its name before sentence-transformers 6


class CrossEncoderRerankingEvaluator(WithTies, of_cross_encoders.CrossEncoderRerankingEvaluator):
    """Evaluate a reranking by a cross-encoder, exactly when scores tie.

    Parameters
    ----------
    *args, **kwargs
        Of ``sentence_transformers``' evaluator of this name.
    ties : str, optional
        A tie policy, by default ``DEADHEAT_TIES`` in the environment, else ``"expected"``; ``"input"`` is the order of
        the sample. There is no ``"doc_id"``, as the documents have no ids.
    """

    allowed_ties = WITHOUT_IDS

    def compute_metrics(self, y_true: ArrayLike, y_pred: ArrayLike) -> tuple[float, float, float]:
        """Compute the reciprocal rank, nDCG and average precision of one list.

        Parameters
        ----------
        y_true : array_like, shape (n_documents,)
            Which documents are relevant.
        y_pred : array_like, shape (n_documents,)
            Scores.
        """
        return _of_list(np.asarray(y_true) > 0, np.asarray(y_pred, np.float64), self.at_k, self.ties)


class Best:
    """The scores that count up to some rank, of a corpus that is scored part by part.

    These are the best ones of each query, the number of documents that have the last of them, and the scores of the
    relevant documents. Under a rule (``"doc_id"``, ``"input"``) they are integers of score and rule, without ties.

    Parameters
    ----------
    size : int
        The last rank that counts.
    corpus_ids : list
        All documents, in the order in which they are scored.
    relevant : list of set
        The relevant documents of each query.
    ties : str
    """

    def __init__(self, size: int, corpus_ids: list[Any], relevant: list[set[Any]], ties: str) -> None:
        self._size, self._corpus_ids, self._n_scored = size, corpus_ids, 0
        self._priority = _priority(corpus_ids, ties)
        self._n_relevant = np.array([len(own) for own in relevant], np.int64)
        place = {document: n for n, document in enumerate(corpus_ids)}
        pairs = [(place[one], query) for query, own in enumerate(relevant) for one in own if one in place]
        self._column, self._query = np.array(sorted(pairs), np.int64).reshape(-1, 2).T
        self._scores: list[Keys] = []
        self._values: Keys = np.empty((len(relevant), 0))
        self._n_last = np.zeros(len(relevant), np.int64)

    def add(self, scores: Tensor) -> None:
        """Take the scores of the next documents of the corpus.

        Parameters
        ----------
        scores : Tensor of shape (n_queries, n_documents)
        """
        start = self._n_scored
        self._n_scored = stop = start + scores.shape[1]
        own = slice(*np.searchsorted(self._column, (start, stop)).tolist())
        if bool(scores.isnan().any()):
            query, document = scores.isnan().nonzero()[0].tolist()
            raise DataError(f"score of document {self._corpus_ids[start + document]!r} for query {query} is NaN")
        if self._priority is not None:
            scores = _keys(scores, torch.from_numpy(self._priority[start:stop]).to(scores.device))
        places = (torch.from_numpy(one).to(scores.device) for one in (self._query[own], self._column[own] - start))
        self._scores.append(_numbers(scores[tuple(places)]))
        best = scores.topk(min(self._size, stop - start), dim=1)[0]
        n_last = (scores == best[:, -1:]).sum(dim=1).cpu().numpy()
        parts = [(_numbers(best), n_last)] + ([(self._values, self._n_last)] if self._values.size else [])
        both = np.sort(np.concatenate([part for part, _ in parts], axis=1), axis=1)[:, ::-1][:, : self._size]
        last = both[:, -1:]
        self._n_last = sum(
            (np.where(part[:, -1] == last[:, 0], count, (part == last).sum(axis=1)) for part, count in parts),
            np.zeros(len(both), np.int64),
        )
        self._values = both

    def placements(self) -> Placements:
        """Return the placements of the relevant documents that can count; each has relevance 1."""
        scores = np.concatenate(self._scores)
        kept = np.flatnonzero(scores >= self._values[self._query, -1])
        query, scores = self._query[kept], scores[kept]
        above, tied = np.empty_like(query), np.empty_like(query)
        for start in range(0, len(query), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            best, own = self._values[query[part]], scores[part, None]
            above[part], tied[part] = (best > own).sum(axis=1), (best == own).sum(axis=1)
        is_last = scores == self._values[query, -1]
        tied[is_last] = self._n_last[query[is_last]]  # among them those that are not kept
        n_queries = len(self._n_relevant)
        query_ids = np.arange(n_queries).astype(str).astype(object)
        no_documents = np.empty(len(query), dtype=object)
        return build_placements(
            RetrievedLists(query_ids, np.full(n_queries, self._n_scored)),
            PlacedRows(query, no_documents, np.ones(len(query)), above, tied),
            judged_query=np.repeat(np.arange(n_queries), self._n_relevant),
            judged_relevance=np.ones(self._n_relevant.sum()),
        )


def _priority(corpus_ids: list[Any], ties: str) -> IntArray | None:
    """Return numbers that are higher for the documents that a rule puts first in a tie; None without a rule."""
    if ties == "doc_id":  # descending ids come first
        return np.argsort(np.argsort(np.array(list(map(str, corpus_ids)), object), kind="stable"))
    return np.arange(len(corpus_ids))[::-1].copy() if ties in policies.LOOK_AT_RUN else None


def _keys(scores: Tensor, priority: Tensor) -> Tensor:
    """Return integers that ascend with the scores in 32 bits and, where they are equal, with the priority."""
    bits = (scores.float() + 0.0).contiguous().view(torch.int32).long()  # + 0.0: -0.0 is 0.0
    return torch.where(bits < 0, -1 - (bits & 0x7FFFFFFF), bits) * 2**32 + priority


def _numbers(scores: Tensor) -> Keys:
    """Return a tensor as an array of NumPy, which has no short floats."""
    there = scores.detach().cpu()
    return (there.double() if there.is_floating_point() else there).numpy()


def _of_list(relevant: NDArray[np.bool_], scores: FloatArray, cutoff: int, ties: str) -> tuple[float, float, float]:
    """Return the reciprocal rank, nDCG and average precision of one list."""
    if np.isnan(scores).any():
        raise DataError(f"score {int(np.flatnonzero(np.isnan(scores))[0])} of a list is NaN")
    if ties == "input":  # scores by the place in the list, which do not tie
        scores = -np.argsort(np.argsort(-scores, kind="stable")).astype(np.float64)
    placements = policies.apply(count_dense(scores[None], [np.flatnonzero(relevant)]).placements(), ties)
    mrr, ndcg, ap = (float(measure.mean(placements)[0]) for measure in (RR(cutoff=cutoff), nDCG(cutoff=cutoff), AP()))
    return mrr, ndcg, ap


def _watched(function: ScoreFunction, take: Callable[[Tensor], None]) -> ScoreFunction:
    """Return the function, which from now on gives its scores to another one too."""

    def watched(queries: Any, documents: Any) -> Tensor:  # noqa: ANN401 - embeddings of any kind
        scores = function(queries, documents)
        take(scores)
        return scores

    return watched


def _of_parent(parent: object, *names: str) -> Callable[..., Any]:
    """Return the first method that the parent has: sentence-transformers 6 calls some differently."""
    return next(getattr(parent, name) for name in names if hasattr(parent, name))
