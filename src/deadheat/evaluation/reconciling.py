"""Evaluations under different judgments, brought under the same ones, or to the queries whose judgments are equal."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from deadheat.arrays import members
from deadheat.data.changes import Changes, changes
from deadheat.errors import DataError
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.rescoring import rescore, weighted_as
from deadheat.measures import Measure
from deadheat.measures.stored import StoredMeasure
from deadheat.settings import Rejudging
from deadheat.wording import Advice, counted, three

NOW = "~"  # sorts after every time


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
        From the judgments of each other evaluation to these; without those whose judgments were not saved.
    not_asked : tuple of str
        New queries that an earlier ranking lacks, as nobody asked them then: they are left out.
    left_out : tuple of str
        Measures that cannot be known of an earlier ranking, or depend on the judgments of other queries.
    n_queries : int
        Queries that are compared.
    """

    way: str
    reference: str
    rescored: tuple[str, ...]
    changes: Mapping[str, Changes]
    not_asked: tuple[str, ...]
    left_out: tuple[str, ...]
    n_queries: int

    def told(self) -> list[str]:
        """Return what differs and what was done, in a few words each."""
        named = len(self.changes) > 1
        told = [f"{name}: {one}" if named else str(one) for name, one in self.changes.items()]
        done = f"{', '.join(self.rescored)} scored again under those of {self.reference}, and"
        if self.way == "shared":
            done = "only those with equal judgments:"
        told.append(f"{done} {counted(self.n_queries, 'query', 'queries')} compared")
        if self.not_asked:
            told.append(f"not compared: {three(self.not_asked)}, which the earlier ranking was not asked")
        if self.left_out:
            told.append(f"not compared: {', '.join(self.left_out)}, for which too little was kept")
        return told

    def renamed(self) -> str:
        """Return a warning if documents may have been renamed; the earlier ranking does not know their new ids."""
        pairs = dict.fromkeys(pair[1:] for one in self.changes.values() for pair in one.replaced())
        if not pairs or self.way == "shared":
            return ""
        shown = three([f"{old!r} by {new!r}" for old, new in pairs])
        return f"{shown} in the judgments: if these are new ids of the same documents, use deadheat rescore --ids"


def reconciled(
    evaluations: Mapping[str, Evaluation], judgments: str | None = None
) -> tuple[dict[str, Evaluation], Reconciled | None]:
    """Return evaluations that can be compared, and how they were brought together if their judgments differ.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        By names for messages; several may be of the same judgments.
    judgments : {"rescore", "shared", "strict"}, optional
        By default "rescore" if the rankings of all earlier ones were kept, else "strict".

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
    if way == "strict" or (way is None and not (have_rankings and evaluations[reference].qrels is not None)):
        raise _differ(evaluations, way)
    bring = _share if way == "shared" else _rescore
    found, differing, left_out, not_asked = bring(evaluations, reference, others)
    lost = np.array([*not_asked], object)
    for name, one in found.items():
        kept = [scores for scores in one if scores.measure not in left_out]
        if not kept:
            raise DataError(
                f"too little is known of {name} for {', '.join(measure.label for measure in left_out)},"
                " and no other measure was evaluated"
            )
        own = Evaluation(kept, **one.parts())
        found[name] = own.select(~members(own.query_ids, lost)) if not_asked else own
    return found, Reconciled(
        "shared" if way == "shared" else "rescore",
        reference,
        () if way == "shared" else tuple(others),
        differing,
        tuple(sorted(not_asked)),
        tuple(measure.label for measure in left_out),
        max(len(one.query_ids) for one in found.values()),
    )


def _time(evaluation: Evaluation) -> str:
    return NOW if evaluation.origin is None else evaluation.origin.time


def check_conventions(names: tuple[str, str], both: tuple[Mapping[str, object], Mapping[str, object]]) -> None:
    """Raise `DataError` if the second of two evaluations has another convention than the first."""
    own, its = both
    differing = ", ".join(f"{of} {own.get(of)!r} and {value!r}" for of, value in its.items() if value != own.get(of))
    if differing:
        raise DataError(
            f"{' and '.join(names)} were evaluated under different conventions ({differing})",
            hint="evaluate both under the same",
        )


def _check_alike(evaluations: Mapping[str, Evaluation]) -> None:
    (first, one), *others = evaluations.items()
    for name, other in others:
        check_conventions((first, name), (vars(one.conventions), vars(other.conventions)))
        shared = members(one.query_ids, other.query_ids), members(other.query_ids, one.query_ids)
        own, its = (
            np.ones(len(each.query_ids))[kept] if each.weights is None else each.weights[kept]
            for each, kept in zip((one, other), shared, strict=True)
        )
        if not np.array_equal(own, its):
            raise DataError(f"{first} and {name} were evaluated with different weights", hint="give both the same")


def _newest(evaluations: Mapping[str, Evaluation]) -> str:
    """Return the name of the latest evaluation; one that was not saved is of now."""
    times = {name: _time(one) for name, one in evaluations.items()}
    last = [name for name, time in times.items() if time == max(times.values())]
    if not all(times.values()) or len({evaluations[name].qrels_hash for name in last}) > 1:
        raise _differ(evaluations, None, "which are newer is not known; ")
    return last[0]


def _differ(evaluations: Mapping[str, Evaluation], way: str | None, why: str = "") -> DataError:
    """Return the error for different judgments, which says what differs if they were kept."""
    told = f"SHA-256 {' and '.join(one.qrels_hash[:12] or 'none' for one in evaluations.values())}"
    new, *_, old = (one.qrels for one in sorted(evaluations.values(), key=_time, reverse=True))
    if old is not None and new is not None:
        told += f"; {changes(old, new)}"
    problem = f"{' and '.join(evaluations)} were evaluated with different qrels ({told})"
    if way == "strict" or old is None or new is None:
        return DataError(problem, hint=f"{why}evaluate both with the same qrels")
    when = f"{why}evaluate both with the same qrels, or compare the queries whose judgments are equal: "
    return DataError(problem, hint=Advice("judgments", "shared", when=when))


Brought: TypeAlias = tuple[dict[str, Evaluation], dict[str, Changes], dict[Measure, None], set[str]]


def _rescore(evaluations: Mapping[str, Evaluation], reference: str, others: Mapping[str, Evaluation]) -> Brought:
    """Score the other rankings under the judgments of the reference; return also what cannot be compared then."""
    newest = evaluations[reference].qrels
    if newest is None:
        raise _differ(evaluations, None, f"{reference} was saved without its judgments; ")
    found, differing, left_out, not_asked = dict(evaluations), dict[str, Changes](), dict[Measure, None](), set[str]()
    for name, one in others.items():
        if one.qrels is not None:
            differing[name] = changes(one.qrels, newest)
        conventions = one.conventions
        allowing = replace(conventions, missing="empty") if conventions.missing == "error" else conventions
        again, unknown = rescore(one.called(name), newest, one.measures, allowing)
        found[name] = weighted_as(
            Evaluation(again, **again.parts() | {"conventions": conventions, "name": one.name}),
            one,
            evaluations[reference],
        )
        known = one.query_ids.tolist() if one.qrels is None else [*differing[name].same, *differing[name].changed]
        not_asked |= {*again.missing_queries}.difference(known)
        left_out |= {measure: None for measure in one.measures if measure.label in unknown}
    return found, differing, left_out, not_asked


def _share(evaluations: Mapping[str, Evaluation], reference: str, others: Mapping[str, Evaluation]) -> Brought:
    """Select the queries whose judgments are equal; leave out measures that others have a part in."""
    own = evaluations[reference].qrels
    lacking = [name for name, one in evaluations.items() if one.qrels is None]
    if own is None or lacking:
        raise DataError(
            f"{' and '.join(lacking)} was saved without its judgments",
            hint="save again with this version, which keeps them, or evaluate both with the same qrels",
        )
    differing = {name: changes(one.qrels, own) for name, one in others.items() if one.qrels is not None}
    same = np.array(sorted(set.intersection(*(set(one.same) for one in differing.values()))), object)
    if not len(same):
        raise DataError(f"{' and '.join(evaluations)} have no query with equal judgments")
    found = {name: one.select(members(one.query_ids, same)) for name, one in evaluations.items()}
    top = max(one.placements.max_relevance for one in found.values())
    lower = [one for one in found.values() if one.placements.max_relevance < top]
    depending = (measure for one in lower for measure in one.measures if _depends_on_top(one, measure, top))
    return found, differing, dict.fromkeys(depending), set()


def _depends_on_top(evaluation: Evaluation, measure: Measure, top: float) -> bool:
    """Tell whether the highest relevance in the qrels changes a measure: judgments of other queries do then."""
    if isinstance(measure, StoredMeasure):
        return True
    placed = evaluation.placements_of(measure)
    value, other = (measure.mean(one) for one in (placed, replace(placed, max_relevance=top)))
    return not np.array_equal(value, other, equal_nan=True)
