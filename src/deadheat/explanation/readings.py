"""What a measure is under settings: its parameters, and the divisors that deadheat has no parameter for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from deadheat.arrays import FloatArray
from deadheat.explanation.settings import Settings
from deadheat.kernels.segments import ratio
from deadheat.measures import AP, DCG, ERR, Measure, P, R, nDCG
from deadheat.placements.placements import Placements


def open_settings(measure: Measure) -> list[str]:
    """Return the settings that change what a measure is: those of its parameters that have their defaults."""
    own = {one.name: getattr(measure, one.name) == one.default for one in fields(measure)}
    found = [name for name in ("rel", "gain", "discount") if own.get(name, False)]
    has_cutoff = getattr(measure, "cutoff", None) is not None
    if isinstance(measure, ERR) and own["max_rel"]:
        found.append("max_rel")
    if isinstance(measure, nDCG):
        found += ["ideal"] if has_cutoff else []
    if isinstance(measure, DCG) and "gain" in found:
        found.append("rel")  # of a binary gain
    if isinstance(measure, AP) and own["norm"]:
        found.append("ap_norm")
    if isinstance(measure, P) and has_cutoff:
        found.append("p_norm")
    if isinstance(measure, R) and own["norm"] and has_cutoff:
        found.append("r_norm")
    return found


def under(measure: Measure, settings: Settings, levels: Sequence[float]) -> Measure:
    """Return the measure with its parameters as settings say.

    Parameters
    ----------
    measure : Measure
    settings : Settings
    levels : sequence of float
        The relevance that occurs in the judgments.
    """
    names, changes = open_settings(measure), dict[str, Any]()
    if "rel" in names and hasattr(measure, "rel") and settings.rel != 1:
        changes["rel"] = settings.rel
    if "gain" in names:
        gain: Any = settings.gain
        if gain not in {"linear", "exp"}:
            full = {level: _gain(gain, level) for level in levels}
            gain = {level: 0.0 if level < settings.rel else own for level, own in full.items()} or "linear"
        changes["gain"] = gain
    if "discount" in names:
        changes["discount"] = settings.discount
    if "max_rel" in names and settings.max_rel is not None:
        changes["max_rel"] = settings.max_rel
    if "ap_norm" in names and settings.ap_norm in {"min", "retrieved"}:
        changes["norm"] = settings.ap_norm
    return measure(**changes) if changes else measure


def _gain(kind: str, level: float) -> float:
    return 1.0 if kind == "binary" else level if kind == "linear_from" else 2.0**level - 1


def values_of(measure: Measure, settings: Settings, placements: Placements) -> FloatArray:
    """Return the values by query of a measure whose parameters are as settings say; NaN where there is none.

    Parameters
    ----------
    measure : Measure
        What :func:`under` returned.
    settings : Settings
    placements : Placements
    """
    if isinstance(measure, AP) and settings.ap_norm == "steps" and measure.cutoff is None:
        return _steps(placements, measure.rel)
    values = measure.mean(placements)
    cutoff = getattr(measure, "cutoff", None)
    if cutoff is None:
        return values
    if isinstance(measure, nDCG) and settings.ideal == "whole":
        return ratio(values * measure.divisor(placements), measure(cutoff=None).divisor(placements))
    if isinstance(measure, P) and settings.p_norm == "retrieved":
        return ratio(values * cutoff, np.minimum(cutoff, placements.n_retrieved))
    if isinstance(measure, R) and settings.r_norm == "min":
        n_relevant = placements.n_relevant(measure.rel)
        return ratio(values * n_relevant, np.minimum(cutoff, n_relevant))
    return values


def _steps(placements: Placements, rel: float) -> FloatArray:
    """Return AP with the precision at the end of each tie for all relevant documents in it, as scikit-learn has it."""
    found = placements.relevant(rel)
    part = found.count * (found.before + found.count) / (found.above + found.tied)
    return ratio(placements.by_query(part, found.query), placements.n_relevant(rel))
