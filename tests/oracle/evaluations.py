"""Whole evaluations in plain Python: what a question asks, from its dicts to the values of every query.

Each step is the sentence of its definition, over every order of every tie and every label of an unjudged document:
scores, ties, lists, labels, repeats, and which queries count with which weight.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from oracle.orders import Moments
from oracle.reference import REFERENCE

Labels = dict[str, dict[str, float]]
Scored = dict[str, dict[str, float]]
Listed = tuple[float | str, ...]
"""A ranking: the relevance of each document, or the id of one without a label."""

LABELS = (0.0, 1.0, 2.0)  # that an unjudged document may have: gains are these numbers
WITHOUT_LEVEL = {"nDCG", "Judged"}  # measures that no lowest relevant level changes


@dataclass
class Question:
    """What is asked of an evaluation, in dicts.

    Attributes
    ----------
    qrels : dict
        Relevance by query and document.
    runs : list of dict
        Scores by query and document, the highest first: of one run, or of each repeat of a system.
    measures : dict of str to (str, dict)
        By notation: the name in `REFERENCE`, and its parameters.
    keys : list of dict
        Runs by whose scores ties are ordered.
    judge : dict or None
        Labels of a judge.
    weights : dict or None
    ties, no_relevant, missing, depth, judged_only, decimals, rel
        As of `evaluate`.
    has_bounds : bool
        Whether the bounds over unjudged documents are asked for.
    unanswerable : tuple of str
        Queries that the qrels say no document answers.
    open_labels : dict or None
        The documents of each query of which a judge's answer was no grade.
    """

    qrels: Labels
    runs: list[Scored]
    measures: dict[str, tuple[str, dict[str, float]]]
    keys: list[Scored] = field(default_factory=list)
    judge: Labels | None = None
    weights: dict[str, float] | None = None
    ties: str = "expected"
    no_relevant: str | None = None
    missing: str = "empty"
    depth: int | None = None
    judged_only: bool = False
    decimals: int | None = None
    rel: float = 1.0
    has_bounds: bool = False
    unanswerable: tuple[str, ...] = ()
    open_labels: dict[str, list[str]] | None = None


@dataclass(frozen=True)
class Answer:
    """What there is to know of one query by one measure.

    Attributes
    ----------
    value : float
    tie_std, tie_min, tie_max : float
        Over all orders of the ties, whatever their policy.
    unjudged_min, unjudged_max : float
        Over all labels of unjudged documents; NaN where they are not asked for.
    attained : frozenset of tuple
        Value, and both bounds, of each single order, rounded; empty of repeats.
    """

    value: float
    tie_std: float
    tie_min: float
    tie_max: float
    unjudged_min: float = math.nan
    unjudged_max: float = math.nan
    attained: frozenset[tuple[float, ...]] = frozenset()


Answers = dict[str, Answer | None]
"""By query; None of one that does not count. One that is left out is not there."""


def answers_to(question: Question, labels: Labels | None = None) -> dict[str, Answers]:
    """Return what there is to know by each measure of each query that has labels, by default those of the qrels."""
    labels = question.qrels if labels is None else labels
    found: dict[str, Answers] = {measure: {} for measure in question.measures}
    for query, judged in labels.items():
        asked = [run for run in question.runs if query in run]
        runs = asked if question.missing == "skip" else question.runs
        lists = [Lists.of(question, query, run.get(query, {}), judged) for run in runs]
        for measure, answers in found.items():
            if lists and _counts(question, measure, query, judged):
                answers[query] = _mean_over_repeats([_answer(question, measure, one) for one in lists])
            elif lists:
                answers[query] = None
    return found


def mean_of(answers: Answers, measure: str, weights: Mapping[str, float] | None = None) -> float:
    """Return the mean over the queries that count, weighted if there are weights; of a count the total."""
    values = {query: one.value for query, one in answers.items() if one is not None}
    if measure.startswith("Num"):
        return math.fsum(values.values())
    given = dict.fromkeys(values, 1.0) if weights is None else {query: weights[query] for query in values}
    total = math.fsum(given.values())
    mean = math.fsum(given[query] * value for query, value in values.items()) / total if total else math.nan
    return math.exp(mean) if measure.startswith("GM") else mean


@dataclass(frozen=True)
class Lists:
    """The rankings of a query.

    Attributes
    ----------
    judged : dict of str to float
    whole, of_policy : Counter of Listed
        How many orders of the ties give each ranking: all orders, and those that the policy has.
    open : list of str
        Documents that may have any label.
    """

    judged: dict[str, float]
    whole: Counter[Listed]
    of_policy: Counter[Listed]
    open: list[str]

    @classmethod
    def of(cls, question: Question, query: str, scores: Mapping[str, float], judged: dict[str, float]) -> Lists:
        by_key: dict[tuple[float, ...], list[str]] = {}
        for doc, score in scores.items():
            keys = [key.get(query, {}).get(doc, -math.inf) for key in question.keys]
            place = tuple(-_rounded(one, question.decimals) for one in (score, *keys))
            by_key.setdefault(place, []).append(doc)
        tied = [by_key[place] for place in sorted(by_key)]
        whole = _listed(question, [list(itertools.permutations(docs)) for docs in tied], judged)
        of_policy = whole
        if question.ties not in {"expected", "random"}:
            of_policy = _listed(question, [[_arranged(docs, judged, question.ties)] for docs in tied], judged)
        if question.open_labels is not None:
            return cls(judged, whole, of_policy, question.open_labels.get(query, []))
        documents = {one for listed in whole for one in listed if isinstance(one, str)}
        return cls(judged, whole, of_policy, sorted(documents))


def _listed(
    question: Question, tied: Sequence[Sequence[tuple[str, ...]]], judged: Mapping[str, float]
) -> Counter[Listed]:
    """Return the rankings of some orders of each tie, cut and condensed."""
    found: Counter[Listed] = Counter()
    for order in itertools.product(*tied):
        docs = list(itertools.chain.from_iterable(order))[: question.depth]
        if question.judged_only:
            docs = [doc for doc in docs if judged.get(doc, -1.0) >= 0]
        found[tuple(judged.get(doc, doc) for doc in docs)] += 1
    return found


def _arranged(docs: Sequence[str], judged: Mapping[str, float], ties: str) -> tuple[str, ...]:
    """Return the order of the documents of one tie that a rule has."""
    if ties == "input":
        return tuple(docs)
    if ties == "doc_id":
        return tuple(sorted(docs, key=str.encode, reverse=True))
    best = sorted(docs, key=lambda doc: judged.get(doc, -math.inf), reverse=True)
    return tuple(best if ties == "best" else best[::-1])


def _rounded(score: float, decimals: int | None) -> float:
    return score if decimals is None or math.isinf(score) else round(score, decimals)


def _counts(question: Question, measure: str, query: str, judged: Mapping[str, float]) -> bool:
    name, _ = question.measures[measure]
    if question.weights is not None and not question.weights[query] and not name.startswith("Num"):
        return False
    if name == "Judged":  # it asks for nothing relevant
        return True
    if question.no_relevant == "skip":
        return _has_relevant(question, name, judged)
    return question.no_relevant is not None or query not in question.unanswerable


def _has_relevant(question: Question, name: str, judged: Mapping[str, float]) -> bool:
    level = 1 if name in WITHOUT_LEVEL else question.rel
    return any(relevance >= level for relevance in judged.values())


def _mean_over_repeats(each: Sequence[Answer]) -> Answer:
    if len(each) == 1:
        return each[0]
    n = len(each)
    return Answer(
        value=math.fsum(one.value for one in each) / n,
        tie_std=math.sqrt(math.fsum(one.tie_std**2 for one in each)) / n,
        tie_min=math.fsum(one.tie_min for one in each) / n,
        tie_max=math.fsum(one.tie_max for one in each) / n,
    )


def _answer(question: Question, measure: str, lists: Lists) -> Answer:
    spread = _moments(question, measure, lists.whole, lists.judged)
    value = _moments(question, measure, lists.of_policy, lists.judged).mean
    low, high = _bounds(question, measure, lists.of_policy, lists) if question.has_bounds else (math.nan, math.nan)
    attained = set()
    for listed in lists.whole if question.ties == "random" else ():
        single = Counter([listed])
        ends = _bounds(question, measure, single, lists) if question.has_bounds else (0.0, 0.0)
        numbers = (_moments(question, measure, single, lists.judged).mean, *ends)
        attained.add(tuple(round(number, 9) for number in numbers))
    std = math.sqrt(max(spread.variance, 0.0))
    return Answer(value, std, spread.minimum, spread.maximum, low, high, frozenset(attained))


def _moments(question: Question, measure: str, lists: Counter[Listed], judged: Mapping[str, float]) -> Moments:
    name, parameters = question.measures[measure]
    options = tuple(parameters.items())
    if name not in WITHOUT_LEVEL and question.rel != 1:
        options += (("rel", question.rel),)
    labels = tuple(sorted(judged.values()))
    has_relevant = name == "Judged" or _has_relevant(question, name, judged)
    values = []
    for listed in lists:
        is_right = question.no_relevant == "one" or (question.no_relevant == "correct_if_empty" and not listed)
        if not has_relevant and is_right:
            values.append(1.0)
        else:
            values.append(
                value_of(name, options, tuple(None if isinstance(one, str) else one for one in listed), labels)
            )
    n_orders = lists.total()
    mean = math.fsum(value * count for value, count in zip(values, lists.values(), strict=True)) / n_orders
    squares = ((value - mean) ** 2 * count for value, count in zip(values, lists.values(), strict=True))
    return Moments(mean, math.fsum(squares) / n_orders, min(values), max(values))


@cache
def value_of(
    name: str,
    options: tuple[tuple[str, float], ...],
    relevances: tuple[float | None, ...],
    labels: tuple[float, ...],
) -> float:
    """Return the value of one list, of whose documents a measure sees the relevance alone."""
    ranking = [(f"doc {place}", relevance) for place, relevance in enumerate(relevances)]
    judged = {f"judged {place}": relevance for place, relevance in enumerate(labels)}
    return REFERENCE[name](ranking, judged, max(LABELS), **dict(options))


def _bounds(question: Question, measure: str, lists: Counter[Listed], own: Lists) -> tuple[float, float]:
    """Return the least and the greatest mean over the orders, of all labels that open documents could have."""
    means = []
    for labels in itertools.product(LABELS, repeat=len(own.open)):
        label_of = dict(zip(own.open, labels, strict=True))
        labelled: Counter[Listed] = Counter()
        for listed, count in lists.items():
            labelled[tuple(label_of.get(one, one) if isinstance(one, str) else one for one in listed)] += count
        means.append(_moments(question, measure, labelled, own.judged | label_of).mean)
    return min(means), max(means)
