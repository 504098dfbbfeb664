"""All methods by name, and how one is made of what a caller gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deadheat.core.checks import as_number, check_choice
from deadheat.core.errors import ParameterError
from deadheat.core.wording import format_list
from deadheat.plugins.fusion import condorcet, learned, of_ranks, of_scores  # noqa: F401 - they register
from deadheat.plugins.fusion.base import METHODS, WEIGHTS, Method, parameters_of

__all__ = ["METHODS", "check_weights", "make_method"]


def make_method(name: str, runs: Sequence[str], weights: Any, given: Mapping[str, Any]) -> Method:  # noqa: ANN401 - checked here
    """Return a method with its parameters.

    Parameters
    ----------
    name : str
    runs : sequence of str
        The names of the runs.
    weights : sequence of float, dict of str to float, or None
    given : mapping of str to object
        Other parameters; None stands for the default.

    Raises
    ------
    ParameterError
        There is no such method, or it has no such parameter.
    """
    check_choice("method", name, METHODS)
    cls = METHODS[name]
    own = {one.name: one for one in parameters_of(cls)}
    checked: dict[str, Any] = {}
    for key, value in given.items():
        if value is None:
            continue
        if key not in own:
            owners = [other for other, kind in METHODS.items() if key in {one.name for one in parameters_of(kind)}]
            hint = f"{key} is of {format_list(owners)}" if owners else ""
            has = f"{name} has {format_list(list(own))}" if own else f"{name} has no parameter"
            raise ParameterError(f"is no parameter of {name}", argument=key, given=value, allowed=has, hint=hint)
        checked[key] = own[key].metadata["check"](key, value)
    if weights is not None:
        if not cls.takes_weights:
            owners = [other for other, kind in METHODS.items() if kind.takes_weights]
            raise ParameterError(
                f"are not for {name}", argument=WEIGHTS, given=weights, hint=f"they are for {format_list(owners)}"
            )
        checked[WEIGHTS] = check_weights(weights, runs)
    return cls(**checked)


def check_weights(weights: Any, runs: Sequence[str]) -> tuple[float, ...]:  # noqa: ANN401 - whatever was given
    """Return a weight for each run, in their order.

    Examples
    --------
    >>> check_weights({"dense": 0.7, "bm25": 0.3}, ["bm25", "dense"])
    (0.3, 0.7)
    """
    if isinstance(weights, Mapping):
        if {*weights} != {*runs}:
            raise ParameterError(
                argument=WEIGHTS, given=weights, allowed=f"a weight for each of {format_list([*runs])}"
            )
        weights = [weights[run] for run in runs]
    weights = list(np.asarray(weights).tolist()) if isinstance(weights, np.ndarray) else weights
    if not isinstance(weights, list | tuple) or len(weights) != len(runs):
        raise ParameterError(
            argument=WEIGHTS, given=weights, allowed=f"{len(runs)} numbers, one for each of {format_list([*runs])}"
        )
    checked = tuple(float(as_number(WEIGHTS, one, 0)) for one in weights)
    if not any(checked):
        raise ParameterError(argument=WEIGHTS, given=weights, allowed="numbers from 0 on, not all of them 0")
    return checked
