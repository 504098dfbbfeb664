"""Evaluations that are compared: their conventions and weights are alike, or that is an error; judgments may differ.

Evaluations under different judgments are brought to the queries whose judgments are equal, or under the same ones:
their rankings are scored again by the service ``rescoring``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from deadheat.core import hooks
from deadheat.core.arrays import FloatArray, TextArray, is_member
from deadheat.core.data.changes import Changes, compare_judgments
from deadheat.core.data.judging import find_kind_of_qrels
from deadheat.core.data.kind_of_judgments import KindOfJudgments
from deadheat.core.errors import Advice, DataError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.shared_weights import have_same_weights
from deadheat.core.evaluation.together import describe_kind
from deadheat.core.measures import Measure
from deadheat.core.measures.custom import StoredMeasure
from deadheat.core.saving import Rejudging
from deadheat.core.wording import format_count, format_list

NOT_SAVED = "~"
"""The time of an evaluation that was not saved: it sorts after every time."""


@dataclass(frozen=True, eq=False)
class Rejudged:
    """Evaluations that can be compared, as their judgments are the same now or were equal before.

    Attributes
    ----------
    evaluations : dict of str to Evaluation
        All of them, in the order in which they were given.
    changes : dict of str to Changes
        Of the judgments of each evaluation that had others.
    left_out : tuple of Measure
        Measures that cannot be compared.
    not_asked : dict of str to set of str
        Of each evaluation that was scored again the new queries that its ranking lacks.
    """

    evaluations: dict[str, Evaluation]
    changes: dict[str, Changes]
    left_out: tuple[Measure, ...]
    not_asked: Mapping[str, set[str]]


Rejudge: TypeAlias = Callable[[Mapping[str, Evaluation], str, Mapping[str, Evaluation]], Rejudged]
"""Takes all evaluations, the name of the one whose judgments count, and those that have others."""


@dataclass(frozen=True, eq=False)
class Reconciled:
    """How evaluations under different judgments were brought together.

    Attributes
    ----------
    way : {"rescore", "shared"}
    reference : str
        The evaluation whose judgments count; of "shared" the one that others are held against.
    rescored : tuple of str
        The evaluations that were scored again.
    changes : dict of str to Changes
        From the judgments of each other evaluation to these.
    not_asked : tuple of str
        New queries that an earlier ranking lacks, as nobody asked them then: they are left out.
    left_out : tuple of str
        Measures that cannot be known of an earlier ranking, or depend on the judgments of other queries.
    n_queries : int or None
        Queries that are compared; None if each pair has its own.
    """

    way: str
    reference: str
    rescored: tuple[str, ...]
    changes: Mapping[str, Changes]
    not_asked: tuple[str, ...]
    left_out: tuple[str, ...]
    n_queries: int | None

    def describe(self) -> list[str]:
        """Return what differs, a line for each of `changes`, and what was done, in a few words each."""
        lines = []
        for name, changes in self.changes.items():
            lines.append(f"{name}: {changes}" if len(self.changes) > 1 else str(changes))
        how = "only those with equal judgments:"
        if self.way == "rescore":
            how = f"{', '.join(self.rescored)} scored again under those of {self.reference}, and"
        compared = "each pair compared on the queries that both were asked"
        if self.n_queries is not None:
            compared = f"{format_count(self.n_queries, 'query', 'queries')} compared"
        lines.append(f"{how} {compared}")
        if self.not_asked:
            lines.append(f"not compared: {format_list(self.not_asked)}, which the earlier ranking was not asked")
        if self.left_out:
            lines.append(f"not compared: {', '.join(self.left_out)}, for which too little was kept")
        return lines

    def warn_of_renamed(self) -> str:
        """Return a warning if documents may have been renamed; the earlier ranking does not know their new ids."""
        if self.way == "shared":
            return ""
        pairs: dict[tuple[str, str], None] = {}  # each once: several queries may have the same documents
        for changes in self.changes.values():
            for _, old, new in changes.find_replaced():
                pairs[old, new] = None
        if not pairs:
            return ""
        renamed = format_list([f"{old!r} by {new!r}" for old, new in pairs])
        for changes in self.changes.values():
            if changes.judging_rule is not None:
                return changes.judging_rule.describe_renamed(renamed)
        return f"{renamed} in the judgments: if these are new ids of the same documents, use deadheat rescore --ids"


def reconcile(
    evaluations: Mapping[str, Evaluation], judgments: str | None = None, *, are_pairs: bool = False
) -> tuple[dict[str, Evaluation], Reconciled | None]:
    """Return evaluations that can be compared, and how they were brought together if their judgments differ.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        By names for messages; several may be of the same judgments.
    judgments : {"rescore", "shared", "strict"}, optional
        By default "rescore" if the rankings of all earlier ones were kept, else "strict".
    are_pairs : bool, default False
        Whether two at a time are compared: each keeps all queries that it was asked, not those alone that all were.

    Raises
    ------
    DataError
        The conventions differ; or the judgments do, and it is asked that they do not, or they cannot be brought
        together, or it is not known which are newer.
    """
    way = Rejudging(judgments).judgments
    _check_alike(evaluations)
    if _have_same_judgments(evaluations.values()):
        return dict(evaluations), None
    is_shared = way == "shared"
    reference = _find_last(evaluations) if is_shared else _find_newest(evaluations)
    others = _find_others(evaluations, reference)
    if way == "strict" or (way is None and not _have_rankings(others)):
        raise _differ(evaluations, way)
    rejudge: Rejudge = _share_queries if is_shared else hooks.service("rescoring").rescore_others
    rejudged = rejudge(evaluations, reference, others)
    not_asked_by_all = set[str]()
    if not are_pairs:
        not_asked_by_all = set[str]().union(*rejudged.not_asked.values())
    comparable = _drop_incomparable(rejudged, not_asked_by_all)
    n_queries = None
    if is_shared or not are_pairs:
        n_queries = max(len(evaluation.query_ids) for evaluation in comparable.values())
    reconciled = Reconciled(
        way="shared" if is_shared else "rescore",
        reference=reference,
        rescored=() if is_shared else tuple(others),
        changes=rejudged.changes,
        not_asked=tuple(sorted(not_asked_by_all)),
        left_out=tuple(measure.label for measure in rejudged.left_out),
        n_queries=n_queries,
    )
    return comparable, reconciled


def _find_others(evaluations: Mapping[str, Evaluation], reference: str) -> dict[str, Evaluation]:
    """Return the evaluations whose judgments are not those of the reference."""
    reference_hash = evaluations[reference].qrels_hash
    return {name: evaluation for name, evaluation in evaluations.items() if evaluation.qrels_hash != reference_hash}


def _drop_incomparable(result: Rejudged, not_asked_by_all: AbstractSet[str]) -> dict[str, Evaluation]:
    """Return the evaluations without the measures left out, and without the queries that they were not asked.

    Parameters
    ----------
    result : Rejudged
    not_asked_by_all : set of str
        Queries that all evaluations lose.
    """
    comparable = {}
    for name, evaluation in result.evaluations.items():
        dropped = not_asked_by_all | result.not_asked.get(name, set())
        comparable[name] = _drop(name, evaluation, result.left_out, dropped)
    return comparable


def _have_same_judgments(evaluations: Iterable[Evaluation]) -> bool:
    """Tell whether all evaluations are of the same judgments."""
    return len({evaluation.qrels_hash for evaluation in evaluations}) == 1


def _have_rankings(evaluations: Mapping[str, Evaluation]) -> bool:
    """Tell whether the rankings of all evaluations were kept; of random ties, other orders would be drawn."""
    return all(evaluation.run is not None and evaluation.ties != "random" for evaluation in evaluations.values())


def _drop(name: str, evaluation: Evaluation, measures: Sequence[Measure], queries: AbstractSet[str]) -> Evaluation:
    """Return an evaluation without some measures and queries; raise `DataError` if no measure is left."""
    kept = [scores for scores in evaluation if scores.measure not in measures]
    if not kept:
        raise DataError(
            f"too little is known of {name} for {', '.join(measure.label for measure in measures)},"
            " and no other measure was evaluated"
        )
    reduced = Evaluation(kept, **evaluation.parts())
    if not queries:
        return reduced
    return reduced.select(~is_member(reduced.query_ids, np.array([*queries], object)))


def _share_queries(evaluations: Mapping[str, Evaluation], reference: str, others: Mapping[str, Evaluation]) -> Rejudged:
    """Select the queries whose judgments are equal; leave out measures that others have a part in."""
    changes = {}
    queries_by_evaluation = []
    for name, evaluation in others.items():
        changes[name] = compare_judgments(evaluation.qrels, evaluations[reference].qrels)
        queries_by_evaluation.append(set(changes[name].same))
    shared = np.array(sorted(set.intersection(*queries_by_evaluation)), object)
    if not len(shared):
        raise DataError(f"{' and '.join(evaluations)} have no query with equal judgments")
    selected = {}
    for name, evaluation in evaluations.items():
        selected[name] = evaluation.select(is_member(evaluation.query_ids, shared))
    top = max(evaluation.placements.max_relevance for evaluation in selected.values())
    left_out: dict[Measure, None] = {}
    for evaluation in selected.values():
        if evaluation.placements.max_relevance < top:
            for measure in evaluation.measures:
                if _depends_on_top(evaluation, measure, top):
                    left_out[measure] = None
    return Rejudged(selected, changes, tuple(left_out), not_asked={})


def _depends_on_top(evaluation: Evaluation, measure: Measure, top: float) -> bool:
    """Tell whether the highest relevance in the qrels changes a measure: judgments of other queries do then."""
    if isinstance(measure, StoredMeasure):
        return True
    placements = evaluation.placements_of(measure)
    values = measure.mean(placements)
    values_with_top = measure.mean(replace(placements, max_relevance=top))
    return not np.array_equal(values, values_with_top, equal_nan=True)


def _time(evaluation: Evaluation) -> str:
    """Return when an evaluation was saved."""
    return NOT_SAVED if evaluation.origin is None else evaluation.origin.time


def _find_last(evaluations: Mapping[str, Evaluation]) -> str:
    """Return the name of the latest evaluation, the first of several; one that was not saved is of now."""
    return max(evaluations, key=lambda name: _time(evaluations[name]))


def _find_newest(evaluations: Mapping[str, Evaluation]) -> str:
    """Return the name of the latest evaluation; raise `DataError` if those of that time have different judgments."""
    last = _find_last(evaluations)
    last_time = _time(evaluations[last])
    latest = [evaluation for evaluation in evaluations.values() if _time(evaluation) == last_time]
    if not _have_same_judgments(latest):
        raise _differ(evaluations, None, "which are newer is not known; ")
    return last


def _differ(evaluations: Mapping[str, Evaluation], way: str | None, why: str = "") -> DataError:
    """Return the error for different judgments, which says what differs."""
    hashes = " and ".join(evaluation.qrels_hash[:12] for evaluation in evaluations.values())
    newest_first = sorted(evaluations, key=lambda name: _time(evaluations[name]), reverse=True)
    new = newest_first[0]
    old = newest_first[-1]
    changes = compare_judgments(evaluations[old].qrels, evaluations[new].qrels)
    same = f"{why}evaluate both with the same qrels"
    hint: str | Advice = same
    if way != "strict":
        hint = Advice("judgments", "shared", when=f"{same}, or compare the queries whose judgments are equal: ")
    return DataError(
        f"{' and '.join(evaluations)} were evaluated with different qrels (SHA-256 {hashes}; from {old} to {new}:"
        f" {changes})",
        hint=hint,
    )


def _check_alike(evaluations: Mapping[str, Evaluation]) -> None:
    """Raise `DataError` if evaluations have other kinds of judgments, conventions or weights than the first."""
    (first_name, first), *others = evaluations.items()
    is_any = any(evaluation.unanswerable for evaluation in evaluations.values())
    for name, other in others:
        names = (first_name, name)
        check_judged(names, (find_kind_of_qrels(first.qrels), find_kind_of_qrels(other.qrels)))
        check_conventions(names, (vars(first.conventions), vars(other.conventions)), is_any=is_any)
        check_weights(names, (first.query_ids, first.weights), (other.query_ids, other.weights))


def check_judged(names: tuple[str, str], kinds: tuple[KindOfJudgments, KindOfJudgments]) -> None:
    """Raise `DataError` if two evaluations, with judgments of these kinds, cannot be held against the same ones."""
    for name, kind in zip(names, kinds, strict=True):
        kind.check_known(name)
    if kinds[0].what != kinds[1].what:
        raise DataError(
            f"{names[0]} has judgments of {describe_kind(kinds[0])}, and {names[1]} of {describe_kind(kinds[1])}",
            hint="evaluate both under the same judgments",
        )


def check_conventions(
    names: tuple[str, str], conventions: tuple[Mapping[str, object], Mapping[str, object]], *, is_any: bool
) -> None:
    """Raise `DataError` if the second of two evaluations has another convention than the first.

    Parameters
    ----------
    names : tuple of str
    conventions : tuple of mapping
        By name.
    is_any : bool
        Whether judgments call a query unanswerable; else ``no_relevant="zero"`` is the same as None, the default.
    """
    first = dict(conventions[0])
    second = dict(conventions[1])
    if not is_any:
        first["no_relevant"] = first.get("no_relevant") or "zero"
        second["no_relevant"] = second.get("no_relevant") or "zero"
    differing = []
    for name, value in second.items():
        if value != first.get(name):
            differing.append(f"{name} {first.get(name)!r} and {value!r}")
    if differing:
        raise DataError(
            f"{' and '.join(names)} were evaluated under different conventions ({', '.join(differing)})",
            hint="evaluate both under the same",
        )


def check_weights(
    names: tuple[str, str], first: tuple[TextArray, FloatArray | None], second: tuple[TextArray, FloatArray | None]
) -> None:
    """Raise `DataError` if two evaluations, given as query ids and weights, weigh queries of both differently."""
    if not have_same_weights(first, second):
        raise DataError(
            f"{' and '.join(names)} were evaluated with different weights",
            hint="give both the same: deadheat rescore SAVED --queries TABLE --weights COLUMN --save FILE.json",
        )
