"""agree_systems(): how far two orders of the same systems agree, measure by measure."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from deadheat.core.arrays import BoolArray, is_member
from deadheat.core.checks import as_level
from deadheat.core.design import Design
from deadheat.core.errors import DataError, DuplicateError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.open_evaluations import by_own_name, open_evaluation
from deadheat.core.evaluation.reconciling import reconcile
from deadheat.core.evaluation.save_folder import ONE_SAVE
from deadheat.core.evaluation.saved import is_saved
from deadheat.core.io.files import check_path
from deadheat.core.measures import Measure
from deadheat.core.wording import format_list
from deadheat.plugins.agree.rankings import list_queries
from deadheat.plugins.compare.compare import compare_evaluated
from deadheat.plugins.compare.robustness import SystemOrders, order_agreement, totals_of


def agree_systems(
    first: str | Path | Mapping[str, Evaluation], second: str | Path | Mapping[str, Evaluation], *, p: float = 0.9
) -> SystemOrders:
    """Compare the order of the same systems in two sets of evaluations, measure by measure.

    They may differ in the tie rule or the judgments. Where they differ in the queries, means are over those for which
    every system has a value in both sets.

    Parameters
    ----------
    first, second : path of a folder of saved evaluations, or dict of str to Evaluation
        The first is the reference of ``tau_ap``.
    p : float, default 0.9
        Persistence of rank-biased overlap.

    Returns
    -------
    SystemOrders
        `only_first` and `only_second` are the queries that were left out.

    Raises
    ------
    DataError
        They share fewer than two systems, no measure, or no query; or a mean is estimated with a judge's labels, from
        other queries too.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> runs = {"a": {"q": {"r": 2, "x": 1}}, "b": {"q": {"r": 1, "x": 1}}, "c": {"q": {"r": 0, "x": 1}}}
    >>> both = [evaluate({"q": {"r": 1}}, runs, "RR", ties=rule) for rule in ("expected", "worst")]
    >>> pair, = agree_systems(*both).pairs
    >>> round(pair.tau_b, 4), pair.swapped
    (0.8165, ())
    """
    p = as_level("p", p, example="0.9")
    names = [
        Path(side).name if isinstance(side, str | Path) else f"order {n}" for n, side in enumerate((first, second), 1)
    ]
    given = [_open_evaluations(first), _open_evaluations(second)]
    systems = [name for name in given[0] if name in given[1]]
    if len(systems) < 2:
        raise DataError(
            "two orders take two systems and more that both sides have",
            found="; ".join(format_list(list(evaluations)) for evaluations in given),
        )
    sides = []
    for evaluations in given:
        _refuse_estimated(evaluations)
        reconciled_side, _ = reconcile({name: evaluations[name] for name in systems})
        sides.append(reconciled_side)
    queries = [_queries_of(side) for side in sides]
    common = queries[0] & queries[1]
    if not common:
        raise DataError(
            f"{names[0]} and {names[1]} share no query: {list_queries(queries[0])} and {list_queries(queries[1])}"
        )
    sides = _of_common_values([_select_queries(side, common) for side in sides])
    comparisons = [compare_evaluated(Design(test="t"), side) for side in sides]
    measures = [measure for measure in comparisons[0].measures if measure in comparisons[1].measures]
    if not measures:
        raise DataError("the two sides share no measure")
    pairs = []
    for measure in measures:
        scores = [[evaluation[measure] for evaluation in one.evaluations.values()] for one in comparisons]
        n_queries = scores[0][0].n_queries
        if not n_queries:
            raise DataError(
                f"no query has a value for every system in both {names[0]} and {names[1]}", measure=measure.label
            )
        agreement_of_orders = order_agreement(
            (f"{measure.label}, {names[0]}", f"{measure.label}, {names[1]}"),
            systems,
            (totals_of(measure, scores[0]), totals_of(measure, scores[1])),
            comparisons[0][measure],
            p,
            higher_is_better=measure.higher_is_better,
        )
        pairs.append(replace(agreement_of_orders, n_queries=n_queries))
    return SystemOrders(
        tuple(pairs),
        p,
        left_out=tuple(sorted({*given[0]} ^ {*given[1]})),
        only_first=tuple(sorted(queries[0] - common)),
        only_second=tuple(sorted(queries[1] - common)),
    )


def _open_evaluations(side: str | Path | Mapping[str, Evaluation]) -> dict[str, Evaluation]:
    """Return the evaluations of a side by name, those of a folder loaded."""
    if isinstance(side, Mapping):
        return by_own_name(side)
    folder = check_path(side)
    if not folder.is_dir():
        raise DataError("is not a folder", hint="give one with saved evaluations", path=folder)
    evaluations: dict[str, Evaluation] = {}
    files: dict[str, str] = {}
    for path in filter(is_saved, sorted(folder.glob("*.json"))):
        evaluation = open_evaluation(path)
        name = evaluation.name
        if name in evaluations:
            raise DuplicateError(
                f"two evaluations of {name}: {files[name]} and {path.name}", hint=ONE_SAVE, path=folder
            )
        evaluations[name] = evaluation
        files[name] = path.name
    return evaluations


def _refuse_estimated(evaluations: Mapping[str, Evaluation]) -> None:
    """Raise `DataError` if a mean is estimated from more queries than those that have values."""
    for name, evaluation in evaluations.items():
        if evaluation.judge is not None:
            raise DataError(
                f"the means of {name} are estimated with a judge's labels, from other queries too",
                hint="give evaluations by the human labels, and others by the judge's",
            )


def _queries_of(evaluations: Mapping[str, Evaluation]) -> set[str]:
    """Return the queries that all evaluations have."""
    return set.intersection(*(set(evaluation.query_ids.tolist()) for evaluation in evaluations.values()))


def _select_queries(evaluations: Mapping[str, Evaluation], queries: set[str]) -> dict[str, Evaluation]:
    """Return the evaluations of some queries; one that has no others stays as it is."""
    selected = {}
    wanted = np.array(sorted(queries), object)
    for name, evaluation in evaluations.items():
        keep = is_member(evaluation.query_ids, wanted)
        selected[name] = evaluation if keep.all() else evaluation.select(keep)
    return selected


def _of_common_values(sides: list[dict[str, Evaluation]]) -> list[dict[str, Evaluation]]:
    """Return evaluations of the same queries without the values that another one of either side lacks."""
    every = [evaluation for side in sides for evaluation in side.values()]
    has_value: dict[Measure, BoolArray] = {}
    for evaluation in every:
        for scores in evaluation:
            if scores.measure in has_value:
                has_value[scores.measure] = has_value[scores.measure] & scores.kept
            else:
                has_value[scores.measure] = scores.kept
    return [{name: _keep_values(evaluation, has_value) for name, evaluation in side.items()} for side in sides]


def _keep_values(evaluation: Evaluation, has_value: Mapping[Measure, BoolArray]) -> Evaluation:
    """Return the evaluation with the values of some queries alone, by measure."""
    scores = []
    for of_measure in evaluation:
        values = np.where(has_value[of_measure.measure], of_measure.values, np.nan)
        scores.append(replace(of_measure, values=values))
    return Evaluation(scores, **evaluation.parts())
