"""How a replacement of another tool breaks ties: as its caller says, else the environment, else as that tool."""

from __future__ import annotations

import os

from deadheat.errors import ParameterError
from deadheat.placements.policies import POLICIES
from deadheat.wording import did_you_mean

VARIABLE = "DEADHEAT_TIES"
OF_TREC_EVAL = "doc_id"


def is_chosen(given: str | None = None) -> bool:
    """Return whether a tie policy was given, or is in the environment."""
    return bool(given or os.environ.get(VARIABLE))


def tie_policy(given: str | None, default: str) -> str:
    """Return the tie policy: what was given, else ``DEADHEAT_TIES`` in the environment, else the default of the tool.

    Parameters
    ----------
    given : str, optional
    default : str

    Raises
    ------
    ParameterError
        There is no such policy.
    """
    chosen = given or os.environ.get(VARIABLE) or default
    if chosen not in POLICIES:
        name = "ties" if given else f"{VARIABLE} in the environment"
        raise ParameterError(argument=name, given=chosen, allowed=POLICIES, hint=did_you_mean(chosen, POLICIES))
    return chosen
