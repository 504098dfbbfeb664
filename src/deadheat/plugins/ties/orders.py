"""tie_complexity() and tie_orders(): how many orders the ties of one ranking leave open, and all of them."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from deadheat.core.arrays import FloatArray
from deadheat.core.checks import as_count, as_list
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.evaluation.evaluate import evaluate
from deadheat.core.evaluation.together import check_of_documents
from deadheat.core.io.values import find_problem, is_number_text
from deadheat.core.measures import Measure, parse_measure
from deadheat.core.measures.notation import MeasureLike, Measures, parse_measures
from deadheat.core.structures import group_values
from deadheat.core.wording import did_you_mean, escape_invisible, format_count

Ranking = Mapping[str, float] | Sequence[float]
MAX_ORDERS = 10_000
LEAST_SAMPLES, MOST_SAMPLES = 1_000, 10_000
SHOWN = 10  # ties in a repr


@dataclass(frozen=True)
class Tie:
    """Documents with the same score.

    Attributes
    ----------
    score : float
    doc_ids : tuple of str
        In the order of the input.
    """

    score: float
    doc_ids: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of documents."""
        return len(self.doc_ids)


@dataclass(frozen=True, repr=False)
class TieComplexity:
    """The ties of one ranking and the number of orders that they leave open.

    Attributes
    ----------
    groups : tuple of Tie
        Ties of two and more documents, the highest score first.
    n_orders : int
        Exact number of orders: the product of the factorials of the sizes.
    max_orders : int
        Up to which number of orders enumeration counts as feasible.
    """

    groups: tuple[Tie, ...]
    n_orders: int
    max_orders: int

    def __repr__(self) -> str:
        sizes = f"{self.sizes[:SHOWN]}" + (f" and {self.n_groups - SHOWN} more" if self.n_groups > SHOWN else "")
        return escape_invisible(
            f"<TieComplexity sizes={sizes}, n_orders={_shown(self.n_orders)}, feasible={self.feasible}>"
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of documents in each tie."""
        return tuple(tie.size for tie in self.groups)

    @property
    def n_groups(self) -> int:
        """Number of ties."""
        return len(self.groups)

    @property
    def max_size(self) -> int:
        """Size of the largest tie; 0 without ties."""
        return max(self.sizes, default=0)

    @property
    def feasible(self) -> bool:
        """Whether all orders can be enumerated. The closed forms of the measures never need it."""
        return self.n_orders <= self.max_orders

    @property
    def samples_by_rule_of_thumb(self) -> int:
        """Orders to draw by the rule of the tutorial on G-RAG's measures: a tenth, from 1,000 to 10,000.

        The exact mean needs none; that of so many drawn orders is off by about its ``tie_std`` over their square root.
        """
        return max(LEAST_SAMPLES, min(MOST_SAMPLES, self.n_orders // 10))


@dataclass(frozen=True, eq=False, repr=False)
class TieOrders:
    """The value of a measure, or of several, in every order of the ties.

    Attributes
    ----------
    measure : Measure
        The first one.
    orders : tuple of tuple of str
        Document ids in rank order.
    values : ndarray of float, shape (n_orders,)
        Of the first measure.
    first_relevant : tuple of int or None
        The rank of the first document of relevance 1 or more in each order; None if there is none.
    by_measure : dict of str to ndarray of float, shape (n_orders,)
        The values of every measure, by its notation.
    """

    measure: Measure
    orders: tuple[tuple[str, ...], ...]
    values: FloatArray
    first_relevant: tuple[int | None, ...]
    by_measure: dict[str, FloatArray]

    def __repr__(self) -> str:
        orders = format_count(len(self.orders), "order")
        return escape_invisible(f"<TieOrders {self.measure.label}: {orders}, mean {self.mean:.4f}>")

    @property
    def mean(self) -> float:
        """Mean over the orders."""
        return float(self.values.mean())

    @property
    def std(self) -> float:
        """Standard deviation over the orders."""
        return float(self.values.std())

    @property
    def min(self) -> float:
        """Smallest value."""
        return float(self.values.min())

    @property
    def max(self) -> float:
        """Largest value."""
        return float(self.values.max())

    def to_polars(self) -> pl.DataFrame:
        """Return a row per order: its documents in rank order (a list), first_relevant, and each measure's value."""
        return pl.DataFrame(
            {"order": list(map(list, self.orders)), "first_relevant": self.first_relevant, **self.by_measure},
            schema_overrides={"first_relevant": pl.Int64},
            strict=False,
        )


def tie_complexity(
    scores: Ranking, doc_ids: Sequence[str] | None = None, *, max_orders: int = MAX_ORDERS
) -> TieComplexity:
    """Find the ties of one ranking and count its orders.

    Parameters
    ----------
    scores : sequence of float, or dict of str to float
        Scores of the documents, in any order.
    doc_ids : sequence of str, optional
        Their ids; by default doc1, doc2, ... in the order of `scores`.
    max_orders : int, default 10,000
        Up to which number of orders enumeration counts as feasible.

    Returns
    -------
    TieComplexity

    Examples
    --------
    >>> ties = tie_complexity([0.9, 0.8, 0.8, 0.6, 0.6])
    >>> ties.sizes, ties.n_orders, ties.groups[0].doc_ids
    ((2, 2), 4, ('doc2', 'doc3'))
    """
    as_count("max_orders", max_orders)
    ties = tuple(Tie(score, ids) for score, ids in _groups(_documents(scores, doc_ids)) if len(ids) > 1)
    return TieComplexity(ties, math.prod(math.factorial(tie.size) for tie in ties), max_orders)


def tie_orders(
    scores: Ranking,
    relevance: Mapping[str, float | None] | Sequence[float | None],
    measure: MeasureLike = "RR",
    *,
    measures: Measures = None,
    doc_ids: Sequence[str] | None = None,
    max_orders: int = MAX_ORDERS,
) -> TieOrders:
    """List every order of a small ranking's ties, with the value of a measure, or of several, in each.

    Parameters
    ----------
    scores : sequence of float, or dict of str to float
    relevance : sequence of float, or dict of str to float
        Relevance of the same documents; None (or no entry in the dict) for an unjudged one. One at least is judged.
    measure : Measure or str, default "RR"
    measures : measure or iterable of measures, optional
        Several, instead of `measure`.
    doc_ids : sequence of str, optional
        Ids of the documents; by default doc1, doc2, ...
    max_orders : int, default 10,000
        Refuse to list more.

    Returns
    -------
    TieOrders

    Raises
    ------
    ParameterError
        There are more than `max_orders` orders, the lengths differ, or no document is judged.

    Examples
    --------
    >>> listed = tie_orders([0.9, 0.8, 0.8], [0, 1, 0])
    >>> listed.orders
    (('doc1', 'doc2', 'doc3'), ('doc1', 'doc3', 'doc2'))
    >>> listed.values.round(3).tolist(), round(listed.mean, 3)
    ([0.5, 0.333], 0.417)
    >>> tie_orders([0.9, 0.8, 0.8], [0, 1, 0], measures="RR Hit@2").to_polars().rows()
    [(['doc1', 'doc2', 'doc3'], 2, 0.5, 1.0), (['doc1', 'doc3', 'doc2'], 3, 0.3333333333333333, 0.0)]
    """
    documents = _documents(scores, doc_ids)
    judged = _judged(relevance, list(documents))
    ties = tie_complexity(documents, max_orders=max_orders)
    if not ties.feasible:
        raise ParameterError(
            f"{_shown(ties.n_orders)} orders are more than max_orders={max_orders}; evaluate() gives the exact mean"
            f" without listing them, nor drawing {ties.samples_by_rule_of_thumb:,} of them, as a rule of thumb says"
        )
    parsed = (parse_measure(measure),) if measures is None else parse_measures(measures)
    choices = itertools.product(*(itertools.permutations(ids) for _, ids in _groups(documents)))
    orders = tuple(tuple(itertools.chain.from_iterable(choice)) for choice in choices)
    # Every order is a query of its own, so that one call evaluates all of them.
    run = {f"{place:09d}": {doc: documents[doc] for doc in order} for place, order in enumerate(orders)}
    found = evaluate(dict.fromkeys(run, judged), run, parsed, ties="input")
    ranks = (next((n for n, doc in enumerate(order, 1) if judged.get(doc, 0) >= 1), None) for order in orders)
    return TieOrders(
        parsed[0], orders, found[parsed[0]].values, tuple(ranks), {one.label: found[one].values for one in parsed}
    )


def orders_of_query(qrels: Qrels, run: Run, query_id: str, measures: Measures | None = None) -> TieOrders:
    """Return every order of the ties of one query of a run, as :func:`tie_orders` does."""
    check_of_documents("a list of orders", qrels)
    judged, own = qrels.to_dict(), run.to_polars().filter(pl.col("query_id") == query_id)
    if query_id not in judged or own.is_empty():
        known = judged.keys() & set(run.to_polars()["query_id"])
        raise DataError(f"no query {query_id!r} in both qrels and run", hint=did_you_mean(query_id, sorted(known)))
    return tie_orders(dict(zip(own["doc_id"], own["score"], strict=True)), judged[query_id], measures=measures)


def _shown(number: int) -> str:
    """Write a number of orders; Python refuses to print more than some thousand digits."""
    return str(number) if number < 10**15 else f"about 10**{int(math.log10(number))}"


def _documents(scores: Ranking, doc_ids: Sequence[str] | None) -> dict[str, float]:
    listed = as_list("scores", scores, "numbers, at least one")
    if not listed:
        raise ParameterError(argument="scores", given=scores, allowed="numbers, at least one")
    if doc_ids is not None and isinstance(scores, Mapping):
        raise ParameterError(argument="doc_ids", given=doc_ids, allowed="None, as the keys of scores are the ids")
    allowed = f"{len(listed)} different ids, one for each score"
    ids = as_list("doc_ids", [f"doc{n}" for n in range(1, len(listed) + 1)] if doc_ids is None else doc_ids, allowed)
    if len(ids) != len(listed) or len(set(ids)) != len(ids):
        raise ParameterError(argument="doc_ids", given=ids, allowed=allowed)
    documents = scores if isinstance(scores, Mapping) else dict(zip(ids, listed, strict=True))
    for doc, score in documents.items():
        problem = find_problem(score, "run")
        if problem:
            raise DataError(
                f"score of document {doc!r} is {problem}", allowed="a number", hint=_hint_on("scores", doc, score)
            )
    return {doc: float(score) for doc, score in documents.items()}


def _judged(relevance: Mapping[str, float | None] | Sequence[float | None], ids: list[str]) -> dict[str, float]:
    if not isinstance(relevance, Mapping):
        values = as_list("relevance", relevance, f"{format_count(len(ids), 'value')}, one for each score")
        if len(values) != len(ids):
            raise ParameterError(
                f"must have {format_count(len(ids), 'value')}, one for each score",
                argument="relevance",
                given=len(values),
            )
        relevance = dict(zip(ids, values, strict=True))
    judged = {doc: value for doc, value in relevance.items() if value is not None}
    if not judged:
        raise ParameterError("relevance must judge at least one document", given=relevance)
    for doc, value in judged.items():
        problem = find_problem(value, "qrels")
        if problem:
            raise DataError(
                f"relevance of document {doc!r} is {problem}",
                allowed="a number, or None for an unjudged document",
                hint=_hint_on("relevance", doc, value),
            )
    return judged


def _hint_on(argument: str, key: str, value: object) -> str | None:
    """Return what to write in place of a value that is not a number; None if nobody knows."""
    if isinstance(value, Mapping):
        return f"of several queries give one, as {argument}[{key!r}]"
    if isinstance(value, str) and is_number_text(value):
        return f"write {value}"
    return None


def _groups(documents: dict[str, float]) -> list[tuple[float, tuple[str, ...]]]:
    """Return the documents by score, highest first."""
    groups = group_values((score + 0.0, doc) for doc, score in documents.items())
    return [(score, tuple(groups[score])) for score in sorted(groups, reverse=True)]
