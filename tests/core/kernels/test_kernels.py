"""Kernels at sizes that no enumeration reaches: against high-precision sums, closed forms and simulation."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from math import comb, log2

import numpy as np
import pytest

import deadheat as dh
from deadheat.api import FloatArray, IntArray
from deadheat.core.arrays import run_starts
from deadheat.core.kernels import (
    cascade,
    cascade_variance,
    counts,
    first,
    orders,
    pairwise,
    prefix_counts,
    ranks,
    segments,
    weighting,
)
from deadheat.errors import DurationWarning, MeasureError
from oracle.prefix_counts import Array, LargeTie


def one_tie(relevance: list[float], tied: int, above: int = 0) -> dh.Placements:
    """Return the placements of one query whose judged documents share one tie."""
    qrels = {"q": {f"d{i}": value for i, value in enumerate(relevance)}}
    scores = {f"a{i}": 2.0 for i in range(above)} | {f"d{i}": 1.0 for i in range(len(relevance))}
    scores |= {f"u{i}": 1.0 for i in range(tied - len(relevance))}
    return dh.place(qrels, {"q": scores})


def value(notation: str, placements: dh.Placements) -> float:
    return float(dh.parse_measure(notation).mean(placements)[0])


def variance(notation: str, placements: dh.Placements) -> float:
    return float(dh.parse_measure(notation).variance(placements)[0])


@pytest.mark.parametrize(("tied", "relevant"), [(50, 7), (3000, 1), (3000, 200), (3000, 2999), (100_000, 100)])
def test_reciprocal_rank_equals_the_harmonic_closed_form(tied: int, relevant: int) -> None:
    # E[1 / X] = r / (n - r + 1) (H_n - H_(r - 1)); the difference of the harmonic numbers is summed directly
    difference = sum(1 / i for i in range(tied, relevant - 1, -1))
    placements = one_tie([1.0] * relevant, tied)
    assert value("RR", placements) == pytest.approx(relevant / (tied - relevant + 1) * difference, rel=1e-12)


@pytest.mark.parametrize(("tied", "relevant", "cutoff"), [(200, 5, 10), (1000, 300, 20), (100_000, 50, 1000)])
def test_hit_equals_exact_binomials(tied: int, relevant: int, cutoff: int) -> None:
    missed = Fraction(1)
    for taken in range(cutoff):
        missed *= Fraction(tied - relevant - taken, tied - taken)
    placements = one_tie([1.0] * relevant, tied)
    assert value(f"Hit@{cutoff}", placements) == pytest.approx(float(1 - missed), rel=1e-12)
    assert variance(f"Hit@{cutoff}", placements) == pytest.approx(float(missed * (1 - missed)), rel=1e-10)


@pytest.mark.parametrize(("tied", "inside", "relevant"), [(1, 1, 1), (9, 4, 5), (60, 20, 45), (400, 390, 17)])
def test_distribution_is_hypergeometric(tied: int, inside: int, relevant: int) -> None:
    arrays = (np.array([number]) for number in (tied, inside, relevant))
    ((index, count, probability),) = counts.distribution(*arrays)
    assert index.tolist() == [0]
    found: dict[int, float] = {}
    for x, p in zip(count[0].tolist(), probability[0].tolist(), strict=True):
        found[x] = found.get(x, 0.0) + p
    for x, p in found.items():
        exact = Fraction(comb(relevant, x) * comb(tied - relevant, inside - x), comb(tied, inside))
        assert p == pytest.approx(float(exact), rel=1e-12)


def test_average_precision_of_a_large_tie_equals_exact_fractions() -> None:
    tied, relevant, above = 300, 40, 25
    expected = sum(
        Fraction(relevant, tied) * (1 + Fraction((j - 1) * (relevant - 1), tied - 1)) / (above + j)
        for j in range(1, tied + 1)
    )
    assert value("AP", one_tie([1.0] * relevant, tied, above)) == pytest.approx(float(expected / relevant), rel=1e-13)


def test_a_full_tie_of_relevant_documents_has_no_variance() -> None:
    placements = one_tie([1.0] * 500, 500, above=3)
    for notation in ("AP", "nDCG@10", "RR", "ERR", "GAP", "Q", "bpref", "P@7", "AP(norm='retrieved')@9", "MR@9"):
        assert variance(notation, placements) == 0, notation


def test_patterns_of_equal_documents_are_the_binary_ones() -> None:
    ones, starts = np.ones(12), np.array([0, 5])
    by_count = pairwise.binary_patterns(np.array([5, 7]), np.array([4, 4]))
    for by_document in (
        pairwise.product_patterns(ones, ones, np.full(12, 4.0), starts),
        pairwise.minimum_patterns(ones, np.full(12, 4.0), starts),
    ):
        for name in pairwise.Patterns.__dataclass_fields__:
            np.testing.assert_allclose(getattr(by_document, name), getattr(by_count, name), err_msg=name)


def test_minima_above_equal_a_sum_over_all_pairs() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        query = np.sort(rng.integers(0, 3, rng.integers(1, 40)))
        group = np.concatenate([np.sort(rng.integers(0, 7, np.sum(query == code))) for code in range(3)])
        values = rng.integers(0, 4, len(query)) / 3 + rng.integers(0, 2, len(query)) * rng.random(len(query))
        earlier = (query[:, None] == query) & (group[:, None] > group)
        expected = (np.minimum(values[:, None], values) * earlier).sum(axis=1)
        np.testing.assert_allclose(pairwise.minima_above(values, query, group), expected, rtol=1e-13, atol=1e-300)


def test_graded_average_precision_of_thousands_of_levels_is_the_average_over_them() -> None:
    # GAP is a sum over the levels of AP's numerator for documents of that level or more: each by its closed form
    levels, tied = 3000, 4000
    shuffled = np.random.default_rng(2).permutation(levels) + 1.0
    rank = np.arange(1, tied + 1)
    alone, together = (1 / rank).sum(), ((rank - 1) / rank).sum()
    reached = np.arange(levels, 0, -1)  # documents of level 1 or more, 2 or more, ...
    numerators = reached / tied * (alone + together * (reached - 1) / (tied - 1))
    placements = one_tie(shuffled.tolist(), tied)
    assert value("GAP", placements) == pytest.approx(numerators.sum() / shuffled.sum(), rel=1e-12)
    assert variance("GAP", placements) > 0


def groups(stop: list[float], plain: int, inside: int, plain_stop: float = 0.0) -> cascade.Groups:
    size = np.array([plain + len(stop)])
    one = np.array([len(stop)])
    zero = np.zeros(1, np.int64)
    return cascade.Groups(
        zero, size, np.minimum(size, inside), np.array([plain]), plain_stop, zero, one, np.array(stop)
    )


@pytest.mark.parametrize("plain_stop", [0.0, 0.1])
def test_merging_equal_documents_equals_adding_them_one_by_one(plain_stop: float) -> None:
    rng = np.random.default_rng(7)
    stop = rng.choice([0.125, 0.5, 0.875], 700)
    tie, classes = groups(stop.tolist(), 900, 400, plain_stop), {s: int((stop == s).sum()) for s in (0.125, 0.5, 0.875)}
    one_by_one = cascade.compute_stop_chances(tie, np.array([0]), 400)[0]
    np.testing.assert_allclose(cascade.merge_classes(900, plain_stop, classes, 400), one_by_one, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("stops", [(1e-9, 3e-9), (0.001, 0.007), (0.02, 0.05), (0.01, 0.6), (0.05, 1.0)], ids=str)
@pytest.mark.parametrize(("size", "inside"), [(150, 150), (260, 260), (260, 120)])
def test_documents_taken_together_equal_a_sum_over_what_was_seen(
    stops: tuple[float, float], size: int, inside: int
) -> None:
    counts = (90, 60)
    tie = groups([stops[0]] * counts[0] + [stops[1]] * counts[1], size - sum(counts), inside)
    found = cascade_variance.variance(tie, weights=1 / np.arange(1.0, size + 1))[0]

    def added(rank: int, kind: int, first: Array, second: Array) -> Array:
        arrived = (1 - stops[0]) ** first * (1 - stops[1]) ** second
        return arrived * stops[kind] / rank if rank <= inside else 0 * first * second

    mean, expected = LargeTie([], size, counts).moments(added)
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-15 * mean**2)


@pytest.mark.parametrize("plain_stop", [0.0, 0.01])
@pytest.mark.parametrize("n_alike", [64, 80])
def test_documents_taken_together_equal_documents_added_one_by_one(plain_stop: float, n_alike: int) -> None:
    stop = 0.02 * np.random.default_rng(4).random(80)
    tie, index, shape = groups(stop.tolist(), 20, 100, plain_stop), np.array([0]), (70, 90)
    one_by_one = cascade_variance.find_stop_moments(tie, index, shape, 0)
    together = cascade_variance.find_stop_moments(tie, index, shape, n_alike)
    for expected, found in zip(one_by_one, together, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_only_many_documents_are_taken_together() -> None:
    alike = cascade_variance.count_alike(groups([0.001] * 100 + [0.9] * 100, 0, 200), np.array([200 * 200]))
    assert 100 <= alike[0] < 110  # a few of the others do not spoil it
    assert cascade_variance.count_alike(groups([0.001] * 100, 0, 100), np.array([64 * 64])).tolist() == [0]
    assert cascade_variance.count_alike(groups([0.001] * 20 + [0.9] * 100, 0, 120), np.array([120 * 120])).tolist() == [
        0
    ]


def test_many_different_documents_are_not_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cascade, "merge_classes", None)  # each class would take as many steps as ranks are read
    assert value("ERR", one_tie((np.arange(1, 2001) / 1000).tolist(), 3000)) > 0


def test_cascade_of_equal_documents_equals_a_sum_over_ranks() -> None:
    # Every document has the same s, so the order does not matter: sum of (1 - s)^(i - 1) s / i
    tie, weights = groups([0.4] * 30, 0, 30), 1 / np.arange(1.0, 31)
    expected = sum(0.6 ** (i - 1) * 0.4 / i for i in range(1, 31))
    assert cascade.mean(tie, weights=weights)[0] == pytest.approx(expected, rel=1e-13)
    assert cascade_variance.variance(tie, weights=weights)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "notation",
    [
        *("ERR", "ERR@20", "nERR", "ERR(stop='sigmoid(1, 2)')", "GAP", "Q@30", "AP(norm='retrieved')@25", "MR@30"),
        *("bpref", "AP", "AR@25", "nDCG(gain='exp')@10", "RBP", "FRP"),
    ],
)
def test_moments_of_a_large_tie_agree_with_simulation(notation: str) -> None:
    rng = np.random.default_rng(3)
    relevance = rng.integers(0, 4, 60).astype(float).tolist()
    placements = one_tie(relevance, 150, above=4)
    ids = [f"d{i}" for i in range(60)] + [f"u{i}" for i in range(90)]
    size = 4000
    drawn = {}
    for name in range(size):
        order = rng.permutation(150)
        tie = {ids[place]: -float(rank) for rank, place in enumerate(order)}
        drawn[f"{name:05d}"] = tie | {f"a{i}": 1.0 for i in range(4)}
    judged = dict(zip(ids, relevance, strict=False))
    qrels = {name: judged for name in drawn}  # noqa: C420 - the same judgments for all, which nobody changes
    sample = dh.evaluate(qrels, drawn, [notation])[notation].values
    mean, spread = value(notation, placements), variance(notation, placements)
    assert abs(sample.mean() - mean) < 4 * np.sqrt(spread / size)
    kurtosis = ((sample - sample.mean()) ** 4).mean() / sample.var() ** 2
    assert abs(sample.var() - spread) < 4 * spread * np.sqrt((kurtosis - 1) / size)


def test_negligible_ranks_are_not_computed_and_not_missed() -> None:
    above, tied, relevant = np.array([0]), np.array([100_000]), np.array([50_000])
    groups = (above, tied, tied, relevant, np.zeros(1))
    mean = first.mean(*groups, value=lambda rank: rank.astype(float))
    spread = first.variance(*groups, value=lambda rank: rank.astype(float))
    n, r = 100_000, 50_000
    assert mean[0] == pytest.approx((n + 1) / (r + 1), rel=1e-13)
    assert spread[0] == pytest.approx(r * (n - r) * (n + 1) / ((r + 1) ** 2 * (r + 2)), rel=1e-11)


def test_discounted_gain_of_a_large_tie_keeps_its_digits() -> None:
    tied = 100_000
    exact = sum(1 / log2(i + 1) for i in range(1, tied + 1)) / tied
    assert value("DCG", one_tie([1.0], tied)) == pytest.approx(exact, rel=1e-12)


def test_values_that_only_rounding_separates_share_a_rank() -> None:
    values = np.array([3.0, 1.0, 3.0 + 1e-13, np.nan, 2.0, np.inf, np.inf, -np.inf])
    assert ranks.first_ranks(values).tolist() == pytest.approx([3, 6, 3, np.nan, 5, 1, 1, 7], nan_ok=True)


def test_a_whole_weight_counts_as_so_many_values() -> None:
    values, weights = np.array([1.0, 2.0, 4.0, 9.0]), np.array([1, 3, 1, 2])
    repeated = np.repeat(values, weights)
    n, worth = len(values), weighting.effective_number(weights)
    assert weighting.mean(values, weights) == pytest.approx(statistics.fmean(repeated))
    assert weighting.std(values, weights) ** 2 == pytest.approx(statistics.pvariance(repeated) * n / (n - 1))
    assert weighting.std(values) == pytest.approx(statistics.stdev(values))
    assert worth == pytest.approx(sum(weights) ** 2 / sum(weights**2))
    assert weighting.linearise(values, weights).mean() == pytest.approx(statistics.fmean(repeated))


@pytest.mark.parametrize("counts_of_codes", [(1, 1), (2, 1, 1), (3, 2), (2, 2, 1), (4,)], ids=str)
def test_arrangements_are_the_distinct_permutations(counts_of_codes: tuple[int, ...]) -> None:
    codes = np.repeat(np.arange(len(counts_of_codes)) + 0.5, counts_of_codes)
    expected = sorted(set(permutations(codes.tolist())))
    assert sorted(map(tuple, orders.list_arrangements(codes).tolist())) == expected
    assert orders.count_arrangements(codes) == len(expected)
    ranking = np.full(len(codes) + 2, 9.0)
    rankings = np.concatenate(list(orders.list_rankings(ranking, [(1, codes)])))
    assert sorted(map(tuple, rankings.tolist())) == [(9.0, *order, 9.0) for order in expected]


def test_scan_before_keeps_queries_apart() -> None:
    query = np.array([0, 0, 0, 2, 2, 5])
    values = np.array([1.0, 2.0, 4.0, 0.5, 0.25, 3.0])
    assert segments.scan_before(values, query, np.add).tolist() == [0, 1, 3, 0, 0.5, 0]
    assert segments.scan_before(values, query, np.multiply).tolist() == [1, 1, 2, 1, 0.5, 1]


def test_sums_of_segments_do_not_take_the_neighbour() -> None:
    assert segments.segment_sums(np.array([1.0, 2.0, 4.0]), run_starts(np.array([3, 3, 7]))).tolist() == [3, 4]
    assert segments.segment_sums(np.zeros(0), np.zeros(0, np.int64)).tolist() == []


def test_batches_hold_every_segment_once() -> None:
    lengths = np.random.default_rng(0).integers(0, 300, 5000)
    seen = []
    for index, width in segments.batches(lengths, max_cells=4096):
        assert lengths[index].max() == width
        assert lengths[index].min() * 2 >= width or width < segments.SHORT
        seen += index.tolist()
    assert sorted(seen) == np.flatnonzero(lengths).tolist()


def test_a_spread_that_no_memory_holds_is_refused_before_it_is_tried() -> None:
    # 100,000 documents that nearly never stop the reading: pairs of any two of them count
    placements = one_tie((1 + np.arange(100_000) / 1e5).tolist(), 100_000)
    with pytest.raises(MeasureError, match=r"spread .* 320 GB \(allowed: 2\).* @100"):
        variance("ERR(max_rel=30)", placements)


def test_a_spread_that_takes_long_says_so_first(monkeypatch: pytest.MonkeyPatch) -> None:
    placements = one_tie([1.0, 2.0, 3.0], 5)
    monkeypatch.setattr(cascade, "CELLS_A_SECOND", 1e-3)
    with pytest.warns(DurationWarning, match="^the spread of a cascade"):
        assert variance("ERR", placements) > 0
    with pytest.warns(DurationWarning, match="^the mean of a cascade"):
        assert value("ERR", placements) > 0
    with pytest.warns(DurationWarning) as warned:
        cascade.announce_duration(np.array([40]), np.array([1]), "spread")
    (message,) = [str(warning.message) for warning in warned]
    assert message.startswith("the spread of a cascade")
    assert " 40000 s; " in message
    assert "@100" in message


def test_orders_that_no_memory_holds_say_how_much_they_need() -> None:
    with pytest.raises(MeasureError, match=r"379 GB.* 34 .*max_orders"):
        orders.list_arrangements(np.repeat([1.0, 0.0], [14, 20]))


def test_only_ranks_that_add_something_are_looked_at() -> None:
    """What is below them has the same part in every order: none."""
    tied, documents = np.array([6, 6, 9, 4]), np.array([[2, 1], [2, 1], [3, 0], [0, 1]])
    looked_at: set[int] = set()

    def added(ties: IntArray, j: int, kind: int, seen: Sequence[IntArray]) -> FloatArray:
        looked_at.add(j)
        return (ties + 1.0).reshape(-1, *(1 for _ in range(seen[0].ndim))) * (j <= 3) / (j + kind + sum(seen))

    whole = prefix_counts.moments(tied, tied, documents, added)
    assert looked_at == set(range(1, 10))
    looked_at.clear()
    assert prefix_counts.moments(tied, np.minimum(tied, 3), documents, added).tobytes() == whole.tobytes()
    assert looked_at == {1, 2, 3}
    assert not prefix_counts.moments(tied, np.zeros_like(tied), documents, added).any()
