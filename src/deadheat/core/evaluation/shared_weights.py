"""Evaluations whose queries have different weights are brought under those of one of them.

A saved evaluation lacks the values of queries that had weight 0: where its ranking was kept, they are computed again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from deadheat.core.arrays import FloatArray, TextArray, is_member
from deadheat.core.errors import Advice, DataError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.query_columns import NOTE_OF_WEIGHTS, source_of_weights
from deadheat.core.kernels.weighting import are_equal
from deadheat.core.structures import copy_with
from deadheat.core.wording import format_list


@dataclass(frozen=True)
class SharedWeights:
    """Under which weights evaluations of different ones are compared.

    Attributes
    ----------
    reference : str
        The evaluation whose weights all have now.
    source : str
        Their column and file; empty where that is not known.
    are_equal : bool
        Whether each query counts the same in it.
    reweighted : tuple of str
        The evaluations that had other weights.
    left_out : mapping of str to tuple of str
        Of each of these the queries that the reference has no weight for.
    """

    reference: str
    source: str
    are_equal: bool
    reweighted: tuple[str, ...]
    left_out: Mapping[str, tuple[str, ...]]

    def describe(self) -> str:
        """Return what was done, in a few words."""
        names = format_list(list(self.reweighted))
        if self.are_equal:
            text = f"each query counts the same, as in {self.reference}; {names} had weights"
        else:
            by_column = f" ({self.source})" if self.source else ""
            text = f"{names} under those of {self.reference}{by_column}"
        lacking = []
        for name, queries in self.left_out.items():
            if queries:
                lacking.append(f"{format_list(list(queries))} of {name}")
        if lacking:
            text += f"; left out, without a weight there: {', '.join(lacking)}"
        return text


def have_same_weights(first: tuple[TextArray, FloatArray | None], second: tuple[TextArray, FloatArray | None]) -> bool:
    """Tell whether two evaluations, given as query ids and weights, weigh the queries of both alike."""
    return bool(np.array_equal(_weights_of_shared(first, second[0]), _weights_of_shared(second, first[0])))


def _weights_of_shared(evaluation: tuple[TextArray, FloatArray | None], others: TextArray) -> FloatArray:
    """Return the weights of the queries that are among others; of equal ones each is 1."""
    ids, weights = evaluation
    is_shared = is_member(ids, others)
    if weights is None or are_equal(weights[is_shared]):
        return np.ones(int(is_shared.sum()))
    return weights[is_shared]


def share_weights(
    evaluations: Mapping[str, Evaluation], reference: str | None = None
) -> tuple[dict[str, Evaluation], SharedWeights | None]:
    """Return evaluations with the weights of one of them, and how they came by these if they had others.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        By names for messages.
    reference : str, optional
        The one whose weights count; by default that of the latest save.

    Raises
    ------
    DataError
        Their weights differ, and it is not known which are newer; or a value was not kept.
    """
    if reference is None:
        reference = _latest(evaluations)
    newest = evaluations[reference]
    own = (newest.query_ids, newest.weights)
    others = []
    for name, evaluation in evaluations.items():
        if not have_same_weights((evaluation.query_ids, evaluation.weights), own):
            others.append(name)
    if not others:
        return dict(evaluations), None
    shared = dict(evaluations)
    left_out = {}
    for name in others:
        shared[name], left_out[name] = weigh_as(evaluations[name], newest)
    told = SharedWeights(
        reference=reference,
        source=source_of_weights(newest.notes),
        are_equal=are_equal(newest.weights),
        reweighted=tuple(others),
        left_out=left_out,
    )
    return shared, told


def _latest(evaluations: Mapping[str, Evaluation]) -> str:
    """Return the name of the latest save; one that was not saved is of now, and must be the only one of its weights."""
    times = {}
    for name, evaluation in evaluations.items():
        times[name] = "" if evaluation.origin is None else evaluation.origin.time
    unsaved = [name for name, time in times.items() if not time]
    last = unsaved or [name for name, time in times.items() if time == max(times.values())]
    first = evaluations[last[0]]
    for name in last[1:]:
        other = evaluations[name]
        if not have_same_weights((first.query_ids, first.weights), (other.query_ids, other.weights)):
            raise DataError(
                f"{last[0]} and {name} were evaluated with different weights, and neither is newer",
                hint=Advice("weights", "traffic", when="say which, as in "),
            )
    return last[0]


def weigh_as(evaluation: Evaluation, other: Evaluation) -> tuple[Evaluation, tuple[str, ...]]:
    """Return an evaluation with the weights of another one, and its queries that this has no weight for."""
    if other.weights is None:
        return _without_weights(evaluation), ()
    known = dict(zip(other.query_ids.tolist(), other.weights.tolist(), strict=True))
    queries = evaluation.query_ids.tolist()
    left_out = tuple(query for query in queries if query not in known)
    weighted = evaluation.weighted({query: known.get(query, 0.0) for query in queries})
    return name_source(weighted, source_of_weights(other.notes)), left_out


def _without_weights(evaluation: Evaluation) -> Evaluation:
    """Return an evaluation in which each query counts the same."""
    weighted = evaluation.weighted(dict.fromkeys(evaluation.query_ids.tolist(), 1.0))
    return type(evaluation)([replace(scores, weights=None) for scores in weighted], **weighted.parts())


def name_source(evaluation: Evaluation, source: str) -> Evaluation:
    """Return an evaluation with a note of where its weights are from, if that is known."""
    if not source:
        return evaluation
    return copy_with(evaluation, notes=(*evaluation.notes, f"{NOTE_OF_WEIGHTS}{source}"))
