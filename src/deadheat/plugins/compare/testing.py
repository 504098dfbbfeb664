"""The tests of pairs: p values by block or by family, and their correction."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import AnyArray, BoolArray, FloatArray
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
from deadheat.plugins.compare.pair_parts import ComparedPairs
from deadheat.plugins.compare.stack import HELD, K, split_pairs

COUNTED = (RANDOMIZATION, "bootstrap-t", "bootstrap", TUKEY)  # the tests whose p is a count of resamples
NEED_SPREAD = ("t", "bootstrap", "bootstrap-t")
COLUMNS_OF_VALUES = ("p_value", "p_adjusted", "simultaneous_low", "simultaneous_high")  # NaN where nothing was tested


@dataclass(frozen=True, eq=False)
class PairFamily:
    """The pairs of one measure, which are tested and corrected together.

    Attributes
    ----------
    pairs : ComparedPairs
        Of this measure alone; their stack is that of all measures.
    rows : slice
        The rows of the measure in the stack.
    """

    pairs: ComparedPairs
    rows: slice

    @property
    def values(self) -> FloatArray:
        """The values of the systems by the measure, of shape (n_sides, n_queries)."""
        return self.pairs.stack.values[self.rows]


def check_tukey(
    measures: Sequence[Mapping[K, Side]], places: Sequence[tuple[K, K]], name_of: Callable[[K], str]
) -> None:
    """Raise if Tukey's test, which takes the queries with a value for all systems, had fewer than a pair has."""
    for sides in measures:
        present = {key: ~np.isnan(side.values) for key, side in sides.items()}
        n_shared = int(np.logical_and.reduce(list(present.values())).sum())
        n_of_pair = max(int((present[a] & present[b]).sum()) for a, b in places)
        if n_shared < n_of_pair:
            n_queries = {name_of(key): int(has_value.sum()) for key, has_value in present.items()}
            name = min(n_queries, key=n_queries.__getitem__)
            first_side = next(iter(sides.values()))
            raise ParameterError(
                "test='tukey' takes the queries that have a value for all systems: by"
                f" {first_side.measure.label} only {n_shared}, where a pair has {n_of_pair}."
                f" {name} has the fewest, {n_queries[name]}",
                hint="leave it out, or choose another test",
            )


def test_pairs(pairs: ComparedPairs, n_measures: int) -> dict[str, AnyArray]:
    """Test all pairs.

    Parameters
    ----------
    pairs : ComparedPairs
        By measure, as many of each.
    n_measures : int

    Returns
    -------
    dict of str to array
        "p_value", "exact_p_value", "n_resamples" (what the p value was counted in; 0 where it was not counted) and
        "p_is_bound" (whether it is a bound that needed no resamples), and, of maxima of sign flips, "p_adjusted",
        "simultaneous_low" and "simultaneous_high".
    """
    blocks = split_pairs(len(pairs.first), pairs.stack.values.shape[1])
    if pairs.design.test == TUKEY:
        columns_of_parts = [_test_by_tukey(family) for family in _split_by_measure(pairs, n_measures)]
    elif pairs.design.test == RANDOMIZATION:
        columns_of_parts = _test_by_flips(pairs, n_measures)
    else:
        columns_of_parts = [_test_block(pairs, block) for block in blocks]
    columns = {}
    for name in columns_of_parts[0]:
        columns[name] = np.concatenate([columns_of_part[name] for columns_of_part in columns_of_parts])
    # nothing was tested where a pair has no query, as in a stratum that one of the two systems lacks
    is_empty = np.concatenate([np.isnan(pairs.differences(block)).all(axis=1) for block in blocks])
    for name in COLUMNS_OF_VALUES:
        if name in columns:
            columns[name][is_empty] = np.nan
    return columns


def _split_by_measure(pairs: ComparedPairs, n_measures: int) -> list[PairFamily]:
    """Split pairs that are in the order of the measures into the families of these."""
    n_sides = len(pairs.stack.sides) // n_measures
    systems = np.split(pairs.first, n_measures)
    baselines = np.split(pairs.second, n_measures)
    families = []
    for n in range(n_measures):
        rows = slice(n * n_sides, (n + 1) * n_sides)
        families.append(PairFamily(pairs._replace(first=systems[n], second=baselines[n]), rows))
    return families


def _test_by_tukey(family: PairFamily) -> dict[str, AnyArray]:
    """Test the pairs of one measure by Tukey's test."""
    pairs, first_row = family.pairs, family.rows.start
    design, weights = pairs.design, pairs.stack.weights
    p_values_of_sides = tukey_p_values(
        family.values.T,
        cluster=pairs.cluster,
        weights=None if weights is None else weights[first_row],
        n_resamples=design.n_resamples,
        rng=design.rng,
    )
    n_pairs = len(pairs.first)
    return {
        "p_value": p_values_of_sides[pairs.first - first_row, pairs.second - first_row],
        "exact_p_value": np.zeros(n_pairs, np.bool_),
        "n_resamples": np.full(n_pairs, design.n_resamples),
        "p_is_bound": np.zeros(n_pairs, np.bool_),
    }


def _test_by_flips(pairs: ComparedPairs, n_measures: int) -> list[dict[str, AnyArray]]:
    """Test all pairs by sign flips, each measure by the same signs; return the columns of each measure."""
    generator = random_generator(pairs.design.rng)
    n_units = pairs.stack.values.shape[1] if pairs.cluster is None else len(np.unique(pairs.cluster))
    most_flips = pairs.design.most_flips(len(pairs.first), n_units * n_measures)
    columns_of_measures = []
    for family in _split_by_measure(pairs, n_measures):
        columns_of_measures.append(_flip_signs(family, rng=deepcopy(generator), most_flips=most_flips))
    return columns_of_measures


def _flip_signs(family: PairFamily, *, rng: np.random.Generator, most_flips: int) -> dict[str, AnyArray]:
    """Test the pairs of one measure by sign flips."""
    design = family.pairs.design
    tested = flip_family(
        _blocks_of(family),
        correction=design.correction,
        level=1 - design.confidence_level,
        alternative=as_alternative(design.alternative),
        n_resamples=design.n_resamples,
        most_flips=most_flips,
        rng=rng,
        n_families=design.n_strata,
    )
    columns: dict[str, AnyArray] = {
        "p_value": tested.p_values,
        "exact_p_value": tested.is_exact,
        "n_resamples": np.where(tested.is_exact | tested.is_bound, 0, tested.n_counted),
        "p_is_bound": tested.is_bound,
    }
    if tested.p_adjusted is None:
        return columns
    columns["p_adjusted"] = tested.p_adjusted
    n_pairs = len(tested.p_adjusted)
    if n_pairs == 1:  # the interval of the pair is simultaneous by itself
        columns["simultaneous_low"] = np.full(1, np.nan)
        columns["simultaneous_high"] = np.full(1, np.nan)
        return columns
    columns["n_resamples"] = np.full(n_pairs, tested.n_counted)
    low, high = _find_simultaneous_bounds(family, tested.critical)
    columns["simultaneous_low"] = low
    columns["simultaneous_high"] = high
    return columns


def _find_simultaneous_bounds(family: PairFamily, critical: float) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the simultaneous intervals of the pairs of one measure, block by block."""
    pairs = family.pairs
    alternative = as_alternative(pairs.design.alternative)
    lows: list[FloatArray] = []
    highs: list[FloatArray] = []
    for block in split_pairs(len(pairs.first), pairs.stack.values.shape[1]):
        weights = pairs.weights(block)
        low, high = simultaneous_bounds(
            pairs.differences(block).T,
            critical,
            alternative=alternative,
            cluster=pairs.cluster,
            weights=None if weights is None else weights.T,
        )
        lows.append(low)
        highs.append(high)
    return np.concatenate(lows), np.concatenate(highs)


def _blocks_of(family: PairFamily) -> Blocks:
    """Return the pairs of one measure, by unit; several pairs of systems that lack no value by the values of each."""
    pairs, values = family.pairs, family.values
    weights = None
    if pairs.stack.weights is not None:
        weights = _scale_weights(pairs.stack.weights[family.rows], ~np.isnan(values))
    n_pairs = len(pairs.first)
    has_same_weights = weights is None or bool((weights == weights[0]).all())
    if n_pairs > 1 and has_same_weights and not np.isnan(values).any():
        weighted_values = values if weights is None else weights * values
        sums, _ = sum_by_unit(weighted_values.T, pairs.cluster)
        block = Block(sums.T, pairs.first - family.rows.start, pairs.second - family.rows.start)
        return lambda: (block,)
    if n_pairs * values.shape[1] > HELD:  # formed again for each use
        return lambda: _form_blocks(family, weights)
    blocks = tuple(_form_blocks(family, weights))
    return lambda: blocks


def _form_blocks(family: PairFamily, weights: FloatArray | None) -> Iterator[Block]:
    """Form the differences of the pairs of one measure, by unit.

    Parameters
    ----------
    family : PairFamily
    weights : ndarray of float, shape (n_sides, n_queries), or None
        Scaled weights of the sides of the measure.
    """
    pairs = family.pairs
    for block in split_pairs(len(pairs.first), pairs.stack.values.shape[1]):
        differences = pairs.differences(block)
        differences[np.abs(differences) < NEGLIGIBLE_DIFFERENCE] = 0.0
        if weights is not None:
            differences *= weights[pairs.first[block] - family.rows.start]
        sums, _ = sum_by_unit(np.nan_to_num(differences).T, pairs.cluster)
        yield Block(sums.T, np.arange(len(differences)))


def _scale_weights(weights: FloatArray, is_known: BoolArray) -> FloatArray:
    """Return weights of which the largest of a known value is between 0.5 and 1.

    So weighted differences of small weights are not taken for rounding errors; a power of 2 changes no digit.
    """
    _, exponent = np.frexp(weights.max(where=is_known, initial=0.0))
    return np.ldexp(weights, -exponent)


def correct_p_values(columns: Mapping[str, AnyArray], design: Design, families: AnyArray) -> dict[str, AnyArray]:
    """Correct p values within each family, and tell what they decide.

    Parameters
    ----------
    columns : mapping of str to array
        "p_value", "exact_p_value", "n_resamples" and "p_is_bound" of all pairs; "p_adjusted" where it is known already.
    design : Design
    families : ndarray of shape (n_pairs,)
        The family of each pair: its measure.

    Returns
    -------
    dict of str to array
        "p_adjusted", "undecided", "significant" and "p_is_bound", as the fields of `Pair`.
    """
    level = 1 - design.confidence_level
    p_value = np.asarray(columns["p_value"], np.float64)
    n_counted = np.asarray(columns["n_resamples"])
    if design.test == RANDOMIZATION and design.correction in MAX_T_CORRECTIONS:  # maxima of flips corrected them
        p_adjusted = np.asarray(columns["p_adjusted"], np.float64)
        counted_p_value = p_adjusted / design.n_strata
        is_undecided = find_undecided(counted_p_value, n_counted, "none", level / design.n_strata)
    else:
        correction = "none" if design.test == TUKEY else design.correction  # it accounts for all pairs by itself
        counted_p_value = p_value
        p_adjusted = np.empty(len(p_value))
        is_undecided = np.zeros(len(p_value), np.bool_)
        for family in dict.fromkeys(families.tolist()):
            is_member = families == family
            p_adjusted[is_member] = adjust(p_value[is_member], correction)
            is_undecided[is_member] = find_undecided(p_value[is_member], n_counted[is_member], correction, level)
    is_least = (n_counted > 0) & (counted_p_value * (n_counted + 1) < 1.5)
    is_uncounted_bound = np.asarray(columns["p_is_bound"], np.bool_) & (n_counted == 0)
    return {
        "p_adjusted": p_adjusted,
        "undecided": is_undecided,
        "significant": significant(p_adjusted, level) & ~is_undecided,
        "p_is_bound": is_least | is_uncounted_bound,
    }


def _test_block(pairs: ComparedPairs, block: slice) -> dict[str, AnyArray]:
    """Test the pairs of a block, each by itself."""
    design = pairs.design
    differences = pairs.differences(block).T
    weights = pairs.weights(block)
    weights_by_query = None if weights is None else weights.T
    tested = p_values(
        differences,
        test=design.test,
        alternative=design.alternative,
        n_resamples=design.n_resamples,
        rng=design.rng,
        cluster=pairs.cluster,
        weights=weights_by_query,
    )
    is_counted = ~tested.is_exact & (design.test in COUNTED)
    p_value = tested.p_values
    if design.test in NEED_SPREAD:
        # where the difference is the same for every query, nothing says how large chance is
        has_no_spread = standard_errors(differences, cluster=pairs.cluster, weights=weights_by_query) == 0
        is_different = np.abs(np.nansum(differences, axis=0)) > 0
        p_value = np.where(has_no_spread & is_different, np.nan, p_value)
    return {
        "p_value": p_value,
        "exact_p_value": tested.is_exact,
        "n_resamples": np.where(is_counted, design.n_resamples, 0),
        "p_is_bound": np.zeros(len(p_value), np.bool_),
    }
