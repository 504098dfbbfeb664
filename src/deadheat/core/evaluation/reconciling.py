"""Evaluations that are compared: their conventions and weights are alike, or that is an error; judgments may differ.

Evaluations under different judgments are brought to the queries whose judgments are equal, or under the same ones:
their rankings are scored again by the service ``rescoring``.
"""

from collections.abc import Callable, Mapping
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

Brought: TypeAlias = tuple[dict[str, Evaluation], dict[str, Changes], dict[Measure, None], dict[str, set[str]]]
"""Evaluations, changes of their judgments, measures that cannot be compared, and queries that were not asked."""
Bring: TypeAlias = Callable[[Mapping[str, Evaluation], str, Mapping[str, Evaluation]], Brought]
"""Takes all evaluations, the name of the one whose judgments count, and those that have others."""


def check_judged(names: tuple[str, str], kinds: tuple[KindOfJudgments, KindOfJudgments]) -> None:
    """Raise `DataError` if two evaluations, with judgments of these kinds, cannot be held against the same ones."""
    for name, kind in zip(names, kinds, strict=True):
        kind.check_known(name)
    if kinds[0].what != kinds[1].what:
        raise DataError(
            f"{names[0]} has judgments of {describe_kind(kinds[0])}, and {names[1]} of {describe_kind(kinds[1])}",
            hint="evaluate both under the same judgments",
        )


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

    def told(self) -> list[str]:
        """Return what differs and what was done, in a few words each."""
        how = (
            "only those with equal judgments:"
            if self.way == "shared"
            else f"{', '.join(self.rescored)} scored again under those of {self.reference}, and"
        )
        compared = (
            "each pair compared on the queries that both were asked"
            if self.n_queries is None
            else f"{format_count(self.n_queries, 'query', 'queries')} compared"
        )
        lacking = {
            "which the earlier ranking was not asked": format_list(self.not_asked),
            "for which too little was kept": ", ".join(self.left_out),
        }
        return [
            *(f"{name}: {one}" if len(self.changes) > 1 else str(one) for name, one in self.changes.items()),
            f"{how} {compared}",
            *(f"not compared: {names}, {why}" for why, names in lacking.items() if names),
        ]

    def renamed(self) -> str:
        """Return a warning if documents may have been renamed; the earlier ranking does not know their new ids."""
        pairs = dict.fromkeys(pair[1:] for one in self.changes.values() for pair in one.find_replaced())
        if not pairs or self.way == "shared":
            return ""
        shown = format_list([f"{old!r} by {new!r}" for old, new in pairs])
        for one in self.changes.values():
            if one.judging_rule is not None:
                return one.judging_rule.describe_renamed(shown)
        return f"{shown} in the judgments: if these are new ids of the same documents, use deadheat rescore --ids"


def reconciled(
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
    if len({one.qrels_hash for one in evaluations.values()}) == 1:
        return dict(evaluations), None
    reference = max(evaluations, key=lambda name: _time(evaluations[name])) if way == "shared" else _newest(evaluations)
    others = {name: one for name, one in evaluations.items() if one.qrels_hash != evaluations[reference].qrels_hash}
    have_rankings = all(one.run is not None and one.ties != "random" for one in others.values())
    if way == "strict" or (way is None and not have_rankings):
        raise _differ(evaluations, way)
    bring: Bring = _share if way == "shared" else hooks.service("rescoring").rescore_others
    found, differing, left_out, not_asked = bring(evaluations, reference, others)
    every = set[str]() if are_pairs else set[str]().union(*not_asked.values())
    for name, one in found.items():
        kept = [scores for scores in one if scores.measure not in left_out]
        if not kept:
            raise DataError(
                f"too little is known of {name} for {', '.join(measure.label for measure in left_out)},"
                " and no other measure was evaluated"
            )
        own = Evaluation(kept, **one.parts())
        lost = every | not_asked.get(name, set())
        found[name] = own.select(~is_member(own.query_ids, np.array([*lost], object))) if lost else own
    return found, Reconciled(
        "shared" if way == "shared" else "rescore",
        reference,
        () if way == "shared" else tuple(others),
        differing,
        tuple(sorted(every)),
        tuple(measure.label for measure in left_out),
        None if are_pairs and way != "shared" else max(len(one.query_ids) for one in found.values()),
    )


def _time(evaluation: Evaluation) -> str:
    """Return when an evaluation was saved; of one that was not, a text that sorts after every time."""
    return "~" if evaluation.origin is None else evaluation.origin.time


def check_conventions(
    names: tuple[str, str], both: tuple[Mapping[str, object], Mapping[str, object]], *, is_any: bool
) -> None:
    """Raise `DataError` if the second of two evaluations has another convention than the first.

    Parameters
    ----------
    names : tuple of str
    both : tuple of mapping
        By name.
    is_any : bool
        Whether judgments call a query unanswerable; else ``no_relevant="zero"`` is the same as None, the default.
    """
    own, its = both if is_any else ({**one, "no_relevant": one.get("no_relevant") or "zero"} for one in both)
    if differing := [f"{of} {own.get(of)!r} and {value!r}" for of, value in its.items() if value != own.get(of)]:
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


def _check_alike(evaluations: Mapping[str, Evaluation]) -> None:
    (first, one), *others = evaluations.items()
    is_any = any(each.unanswerable for each in evaluations.values())
    for name, other in others:
        check_judged((first, name), (find_kind_of_qrels(one.qrels), find_kind_of_qrels(other.qrels)))
        check_conventions((first, name), (vars(one.conventions), vars(other.conventions)), is_any=is_any)
        check_weights((first, name), (one.query_ids, one.weights), (other.query_ids, other.weights))


def _newest(evaluations: Mapping[str, Evaluation]) -> str:
    """Return the name of the latest evaluation; one that was not saved is of now."""
    times = {name: _time(one) for name, one in evaluations.items()}
    last = [name for name, time in times.items() if time == max(times.values())]
    if len({evaluations[name].qrels_hash for name in last}) > 1:
        raise _differ(evaluations, None, "which are newer is not known; ")
    return last[0]


def _differ(evaluations: Mapping[str, Evaluation], way: str | None, why: str = "") -> DataError:
    """Return the error for different judgments, which says what differs."""
    hashes = " and ".join(one.qrels_hash[:12] for one in evaluations.values())
    new, *_, old = sorted(evaluations, key=lambda name: _time(evaluations[name]), reverse=True)
    same = f"{why}evaluate both with the same qrels"
    when = f"{same}, or compare the queries whose judgments are equal: "
    return DataError(
        f"{' and '.join(evaluations)} were evaluated with different qrels (SHA-256 {hashes}; from {old} to {new}:"
        f" {compare_judgments(evaluations[old].qrels, evaluations[new].qrels)})",
        hint=same if way == "strict" else Advice("judgments", "shared", when=when),
    )


def _share(evaluations: Mapping[str, Evaluation], reference: str, others: Mapping[str, Evaluation]) -> Brought:
    """Select the queries whose judgments are equal; leave out measures that others have a part in."""
    differing = {name: compare_judgments(one.qrels, evaluations[reference].qrels) for name, one in others.items()}
    same = np.array(sorted(set.intersection(*(set(one.same) for one in differing.values()))), object)
    if not len(same):
        raise DataError(f"{' and '.join(evaluations)} have no query with equal judgments")
    found = {name: one.select(is_member(one.query_ids, same)) for name, one in evaluations.items()}
    top = max(one.placements.max_relevance for one in found.values())
    depending = (
        measure
        for one in found.values()
        if one.placements.max_relevance < top
        for measure in one.measures
        if _depends_on_top(one, measure, top)
    )
    return found, differing, dict.fromkeys(depending), {}


def _depends_on_top(evaluation: Evaluation, measure: Measure, top: float) -> bool:
    """Tell whether the highest relevance in the qrels changes a measure: judgments of other queries do then."""
    if isinstance(measure, StoredMeasure):
        return True
    placed = evaluation.placements_of(measure)
    value, other = (measure.mean(one) for one in (placed, replace(placed, max_relevance=top)))
    return not np.array_equal(value, other, equal_nan=True)
