"""The tests of pairs: p values by block or by family, and their correction."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from deadheat.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from deadheat.core.design import MAX_T_CORRECTIONS, RANDOMIZATION, TUKEY, Design
from deadheat.core.errors import ParameterError
from deadheat.core.random_generators import random_generator
from deadheat.core.stats import adjust, p_values, significant, standard_errors, tukey_p_values
from deadheat.core.stats.alternatives import as_alternative
from deadheat.core.stats.families import Block, Blocks
from deadheat.core.stats.family_tests import find_undecided, flip_family
from deadheat.core.stats.simultaneous_intervals import simultaneous_bounds
from deadheat.core.stats.units import NEGLIGIBLE_DIFFERENCE, sum_by_unit
from deadheat.plugins.compare.flips import Side
from deadheat.plugins.compare.stack import HELD, K, Stack, block_size

COUNTED = (RANDOMIZATION, "bootstrap-t", "bootstrap", TUKEY)  # the tests whose p is a count of resamples
NEED_SPREAD = ("t", "bootstrap", "bootstrap-t")


def check_tukey(
    measures: Sequence[Mapping[K, Side]], places: Sequence[tuple[K, K]], name_of: Callable[[K], str]
) -> None:
    """Raise if Tukey's test, which takes the queries with a value for all systems, had fewer than a pair has."""
    for sides in measures:
        present = {key: ~np.isnan(side.values) for key, side in sides.items()}
        n_shared = int(np.logical_and.reduce(list(present.values())).sum())
        n_of_pair = max(int((present[a] & present[b]).sum()) for a, b in places)
        if n_shared < n_of_pair:
            n_own = {name_of(key): int(kept.sum()) for key, kept in present.items()}
            name = min(n_own, key=n_own.__getitem__)
            raise ParameterError(
                "test='tukey' takes the queries that have a value for all systems: by"
                f" {next(iter(sides.values())).measure.label} only {n_shared}, where a pair has {n_of_pair}."
                f" {name} has the fewest, {n_own[name]}",
                hint="leave it out, or choose another test",
            )


def test_pairs(  # noqa: PLR0917 - what is tested, and how
    measures: Sequence[Mapping[K, Side]],
    stack: Stack,
    first: IntArray,
    second: IntArray,
    blocks: Sequence[tuple[IntArray, IntArray]],
    design: Design,
    cluster: IntArray | None,
) -> dict[str, AnyArray]:
    """Return p values, whether they are exact and what they were counted in, and what maxima of flips make of them."""
    n_sides = len(measures[0])
    families = [
        (slice(n * n_sides, (n + 1) * n_sides), a, b)
        for n, (a, b) in enumerate(zip(np.split(first, len(measures)), np.split(second, len(measures)), strict=True))
    ]
    if design.test == TUKEY:
        each = [_by_tukey(stack, rows, a, b, design, cluster) for rows, a, b in families]
    elif design.test == RANDOMIZATION:
        drawn = random_generator(design.rng)
        n_signs = stack.values.shape[1] if cluster is None else len(np.unique(cluster))
        most_flips = design.most_flips(len(first), n_signs * len(measures))
        each = [  # the same signs for all measures
            _by_flips(stack, rows, a, b, design, cluster, rng=deepcopy(drawn), most_flips=most_flips)
            for rows, a, b in families
        ]
    else:
        each = [_tested_block(stack, a, b, design, cluster) for a, b in blocks]
    found = {name: np.concatenate([columns[name] for columns in each]) for name in each[0]}
    is_empty = np.concatenate([np.isnan(stack.values[a] - stack.values[b]).all(axis=1) for a, b in blocks])
    for name in found.keys() & {"p_value", "p_adjusted", "simultaneous_low", "simultaneous_high"}:
        found[name][is_empty] = np.nan  # nothing was tested, as in a stratum that one of the two lacks
    return found


def _by_tukey(  # noqa: PLR0917 - what is tested, and how
    stack: Stack, rows: slice, a: IntArray, b: IntArray, design: Design, cluster: IntArray | None
) -> dict[str, AnyArray]:
    """Return what Tukey's test says of the pairs of one measure."""
    of_all = tukey_p_values(
        stack.values[rows].T,
        cluster=cluster,
        weights=None if stack.weights is None else stack.weights[rows.start],
        n_resamples=design.n_resamples,
        rng=design.rng,
    )
    return {
        "p_value": of_all[a - rows.start, b - rows.start],
        "exact_p_value": np.zeros(len(a), np.bool_),
        "n_resamples": np.full(len(a), design.n_resamples),
    }


def _by_flips(  # noqa: PLR0917 - what is tested, and how
    stack: Stack,
    rows: slice,
    a: IntArray,
    b: IntArray,
    design: Design,
    cluster: IntArray | None,
    *,
    rng: np.random.Generator,
    most_flips: int,
) -> dict[str, AnyArray]:
    """Return what sign flips say of the pairs of one measure."""
    alternative = as_alternative(design.alternative)
    found = flip_family(
        _family(stack, rows, a, b, cluster),
        correction=design.correction,
        level=1 - design.confidence_level,
        alternative=alternative,
        n_resamples=design.n_resamples,
        most_flips=most_flips,
        rng=rng,
        n_families=design.n_strata,
    )
    columns: dict[str, AnyArray] = {
        "p_value": found.p_values,
        "exact_p_value": found.is_exact,
        "n_resamples": np.where(found.is_exact, 0, found.n_counted),
    }
    if found.p_adjusted is None:
        return columns
    columns["p_adjusted"] = found.p_adjusted
    if len(a) == 1:
        return columns | {"simultaneous_low": np.full(1, np.nan), "simultaneous_high": np.full(1, np.nan)}
    columns["n_resamples"] = np.full(len(a), found.n_counted)
    size = block_size(stack)
    ends = [
        simultaneous_bounds(
            (stack.values[a[start : start + size]] - stack.values[b[start : start + size]]).T,
            found.critical,
            alternative=alternative,
            cluster=cluster,
            weights=None if stack.weights is None else stack.weights[a[start : start + size]].T,
        )
        for start in range(0, len(a), size)
    ]
    low, high = np.concatenate(ends, axis=1)
    return columns | {"simultaneous_low": low, "simultaneous_high": high}


def _family(stack: Stack, rows: slice, a: IntArray, b: IntArray, cluster: IntArray | None) -> Blocks:
    """Return the pairs of one measure, by unit; several pairs of systems that lack no value by the values of each."""
    values = stack.values[rows]
    weights = None if stack.weights is None else _scale_weights(stack.weights[rows], ~np.isnan(values))
    if len(a) > 1 and not np.isnan(values).any() and (weights is None or (weights == weights[0]).all()):
        weighed = values if weights is None else weights * values
        block = Block(sum_by_unit(weighed.T, cluster)[0].T, a - rows.start, b - rows.start)
        return lambda: (block,)
    size = block_size(stack)

    def blocks() -> Iterator[Block]:
        for start in range(0, len(a), size):
            places = a[start : start + size]
            differences = stack.values[places] - stack.values[b[start : start + size]]
            differences[np.abs(differences) < NEGLIGIBLE_DIFFERENCE] = 0.0
            if weights is not None:
                differences *= weights[places - rows.start]
            sums, _ = sum_by_unit(np.nan_to_num(differences).T, cluster)
            yield Block(sums.T, np.arange(len(places)))

    if len(a) * values.shape[1] > HELD:
        return blocks
    held = tuple(blocks())
    return lambda: held


def _scale_weights(weights: FloatArray, is_known: BoolArray) -> FloatArray:
    """Return weights of which the largest of a known value is between 0.5 and 1.

    So weighted differences of small weights are not taken for rounding errors; a power of 2 changes no digit.
    """
    _, exponent = np.frexp(weights.max(where=is_known, initial=0.0))
    return np.ldexp(weights, -exponent)


def corrected(columns: Mapping[str, AnyArray], design: Design, families: AnyArray) -> dict[str, AnyArray]:
    """Return p values corrected within each family, and what they decide.

    Parameters
    ----------
    columns : mapping of str to array
        "p_value", "exact_p_value" and "n_resamples" of all pairs; "p_adjusted" where it is known already.
    design : Design
    families : ndarray of shape (n_pairs,)
        The family of each pair: its measure.
    """
    level = 1 - design.confidence_level
    raw = np.asarray(columns["p_value"], np.float64)
    n_counted = np.asarray(columns["n_resamples"])
    is_by_maxima = design.test == RANDOMIZATION and design.correction in MAX_T_CORRECTIONS
    if is_by_maxima:
        adjusted = np.asarray(columns["p_adjusted"], np.float64)
        least = adjusted / design.n_strata
        is_open = find_undecided(least, n_counted, "none", level / design.n_strata)
    else:
        correction = "none" if design.test == TUKEY else design.correction  # it accounts for all pairs by itself
        adjusted, least = np.empty(len(raw)), raw
        is_open = np.zeros(len(raw), np.bool_)
        for family in dict.fromkeys(families.tolist()):
            own = families == family
            adjusted[own] = adjust(raw[own], correction)
            is_open[own] = find_undecided(raw[own], n_counted[own], correction, level)
    return {
        "p_adjusted": adjusted,
        "undecided": is_open,
        "significant": significant(adjusted, level) & ~is_open,
        "p_is_bound": (n_counted > 0) & (least * (n_counted + 1) < 1.5),
    }


def _tested_block(
    stack: Stack, a: IntArray, b: IntArray, design: Design, cluster: IntArray | None
) -> dict[str, AnyArray]:
    """Return the p values of some pairs of rows, whether they are exact, and what they were counted in."""
    differences = (stack.values[a] - stack.values[b]).T
    options: dict[str, Any] = {"cluster": cluster, "weights": None if stack.weights is None else stack.weights[a].T}
    found = p_values(
        differences,
        test=design.test,
        alternative=design.alternative,
        n_resamples=design.n_resamples,
        rng=design.rng,
        **options,
    )
    is_counted = ~found.is_exact & (design.test in COUNTED)
    p_value = found.p_values
    if design.test in NEED_SPREAD:
        alike = (standard_errors(differences, **options) == 0) & (np.abs(np.nansum(differences, axis=0)) > 0)
        # the same difference for every query: nothing says how large chance is
        p_value = np.where(alike, np.nan, p_value)
    return {
        "p_value": p_value,
        "exact_p_value": found.is_exact,
        "n_resamples": np.where(is_counted, design.n_resamples, 0),
    }
