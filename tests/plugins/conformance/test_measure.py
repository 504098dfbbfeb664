"""`check_measure` passes what ships, and finds what is wrong with wrong measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import deadheat as dh
from deadheat import api
from deadheat.core.measures.registration import ALIASES, REGISTRY, register
from oracle.reference import REFERENCE
from oracle.variants import VARIANTS, Variant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from deadheat import Placements
    from deadheat.api import FloatArray

LEVELS = (-1, 0, 1, 2)
NOT_CHECKED = {
    "GAUC",  # its weights are those of all queries together
    "IPrec",  # its level of recall is tried below
    "RprecMult",
}
FIRST_VARIANTS = {variant.name: variant for variant in reversed(VARIANTS) if variant.name not in NOT_CHECKED}


def as_reference(name: str) -> Callable[..., float]:
    """Return a definition of the oracle as one of a ranking and its judgments, without ids."""

    def value(ranking: list[float | None], judged: list[float], **parameters: Any) -> float:  # noqa: ANN401 - of each measure
        others = list(judged)
        ranked: list[tuple[str, float | None]] = []
        for number, relevance in enumerate(ranking):
            ranked.append((f"d{number}", relevance))
            if relevance is not None:
                others.remove(relevance)
        of_ranked = {doc: relevance for doc, relevance in ranked if relevance is not None}
        of_others = {f"m{number}": relevance for number, relevance in enumerate(others)}
        return REFERENCE[name](ranked, of_ranked | of_others, max(LEVELS), **parameters)

    return value


@pytest.mark.parametrize("variant", FIRST_VARIANTS.values(), ids=FIRST_VARIANTS)
def test_what_ships_passes(variant: Variant) -> None:
    measure = dh.measures()[variant.name]
    reference = as_reference(variant.name)
    cutoffs = variant.cutoffs[:3]
    api.check_measure(
        measure, reference, parameters=[variant.parameters], cutoffs=cutoffs, n_rankings=12, most_documents=4
    )


@pytest.mark.parametrize("name", ["F", "AR"])
def test_norms_of_the_whole_list_pass(name: str) -> None:
    """Their best list has k relevant documents and no more, which this check has found."""
    parameters = [{"norm": "retrieved_all"}]
    api.check_measure(dh.measures()[name], as_reference(name), parameters=parameters, cutoffs=[2], n_rankings=40)


def precision(ranking: list[float | None], _judged: list[float], *, rel: float = 1, cutoff: int | None = None) -> float:
    k = len(ranking) if cutoff is None else cutoff
    n_relevant = sum(relevance is not None and relevance >= rel for relevance in ranking[:k])
    return n_relevant / k if k else 0.0


class NoSpread(dh.P):
    """Its variance is 0."""

    def variance(self, placements: Placements) -> FloatArray:
        return np.zeros(placements.n_queries)


class BelowZero(dh.P):
    """Its variance at rank 1 is below 0 where the shares of nine equal documents add up to more than 1."""

    def variance(self, placements: Placements) -> FloatArray:
        if self.cutoff != 1:
            return super().variance(placements)
        may_be_first = (placements.relevance >= self.rel) & (placements.above == 0)
        mean = placements.by_query(may_be_first / placements.tied, placements.query)
        return mean * (1 - mean)


class NegativeCounts(dh.P):
    """It takes any judgment for a relevant one."""

    def mean(self, placements: Placements) -> FloatArray:
        return dh.P(rel=-5, cutoff=self.cutoff).mean(placements)


class WrongExtremes(dh.P):
    """It takes the mean for the smallest value."""

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        return self.mean(placements), super().extremes(placements)[1]


class TooShallow(dh.P):
    """It says that nothing below the first rank matters."""

    @property
    def deepest(self) -> int | None:
        return 1


class ChangesPlacements(dh.P):
    """It writes into what it is given."""

    def mean(self, placements: Placements) -> FloatArray:
        mean = super().mean(placements)
        placements.relevance[:] = 0
        return mean


class LooksAtAll(dh.P):
    """The value of a query depends on the others."""

    def mean(self, placements: Placements) -> FloatArray:
        mean = super().mean(placements)
        return mean - mean.mean() + mean[0]


class AlwaysRelevant(dh.P):
    """It says that every query has a relevant document, and asks for one."""

    def has_relevant(self, placements: Placements) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return np.ones(placements.n_queries, np.bool_)


class OneShort(dh.P):
    """It lacks a query."""

    def mean(self, placements: Placements) -> FloatArray:
        return super().mean(placements)[:-1]


class SaysZeroOrOne(dh.P):
    """It says that all values are 0 or 1."""

    @property
    def is_zero_or_one(self) -> bool:
        return True


class WrongDistribution(dh.P):
    """It says that the mean is the only value."""

    def distributions(self, placements: Placements, queries: np.ndarray[Any, Any]) -> Any:  # noqa: ANN401 - as the base
        mean = self.mean(placements)
        return [(mean[[query]], np.ones(1)) for query in queries.tolist()]


class Unreachable(dh.P):
    """It says that nothing above 0 can be reached."""

    def reachable(self, placements: Placements) -> FloatArray:
        return np.zeros(placements.n_queries)


class TakesAnything(dh.P):
    """It does not check its parameters."""

    def __post_init__(self) -> None:
        return


class NamedOtherwise(dh.P):
    """Its notation is that of another measure."""

    def __repr__(self) -> str:
        return "RR"


class Unpicklable(dh.P):
    """It cannot be sent to another process."""

    def __reduce__(self) -> str:
        raise TypeError("it holds a lock")


class Backwards(dh.P):
    """It says that lower is better."""


class OutOfRange(dh.P):
    """It says that its values are at most 0.5."""


class WrongInThrees(dh.P):
    """It is wrong where three relevant documents tie."""

    def mean(self, placements: Placements) -> FloatArray:
        of_threes = (placements.tied >= 3) & (placements.relevance >= 1)
        n_in_threes = np.bincount(placements.query[of_threes], minlength=placements.n_queries)
        return super().mean(placements) + 0.1 * (n_in_threes >= 3)


class Empty(dh.P):
    __doc__ = None


WRONG: dict[type[dh.P], tuple[str, str]] = {
    NoSpread: ("NoSpread@1: the variance is 0, expected 0.25", "ranking: ("),
    BelowZero: (
        "BelowZero@1: the variance is -2.2e-16, by rounding: write np.maximum",
        "(2 = 2 = 2 = 2 = 2 = 2 = 2 = 2 = 2)",
    ),
    NegativeCounts: ("NegativeCounts@1: the mean is 1, expected 0", "ranking: -1"),
    WrongExtremes: ("the smallest value is", "ranking: ("),
    TooShallow: ("deepest is 1, and documents below that rank change the value", ""),
    ChangesPlacements: ("it changes the placements in place", ""),
    LooksAtAll: ("a query has other values alone than among others", ""),
    AlwaysRelevant: ("has_relevant() is true without a judgment above 0", "ranking: -1"),
    OneShort: ("the mean has the shape", ""),
    SaysZeroOrOne: ("is_zero_or_one is true, and a value is", ""),
    WrongDistribution: ("distributions() has another mean or variance", ""),
    Unreachable: ("reachable() is 0, and an order has 1", ""),
    TakesAnything: ("cutoff=object() is taken", ""),
    NamedOtherwise: ("its notation is read as RR", ""),
    Unpicklable: ("it cannot be pickled: it holds a lock", ""),
    Backwards: ("lower is better, and relevant documents first give", ""),
    OutOfRange: ("its range is 0 to 0.5, and a value is 1", ""),
    Empty: ("it has no docstring", ""),
}
KINDS: dict[type[dh.P], dict[str, Any]] = {Backwards: {"higher_is_better": False}, OutOfRange: {"range": (0.0, 0.5)}}


@pytest.fixture(autouse=True)
def registries() -> Iterator[None]:
    known, aliases = dh.measures(), dict(ALIASES)
    yield
    for registry, before in ((REGISTRY, known), (ALIASES, aliases)):
        registry.clear()
        registry.update(before)  # type: ignore[arg-type]  # each with its own


@pytest.mark.parametrize("measure", WRONG, ids=lambda measure: measure.__name__)
def test_a_wrong_measure_fails_with_what_is_wrong(measure: type[dh.P]) -> None:
    register("wrong", **KINDS.get(measure, {}))(measure)
    problem, example = WRONG[measure]
    with pytest.raises(api.CheckFailedError) as raised:
        api.check_measure(measure, precision, cutoffs=[1, 2], n_rankings=20)
    assert problem in str(raised.value)
    assert example in str(raised.value)
    assert isinstance(raised.value, AssertionError)


def test_the_example_is_the_smallest_that_fails() -> None:
    """A measure that is wrong where three relevant documents tie needs three of them, and no fourth document."""
    register("wrong")(WrongInThrees)
    with pytest.raises(api.CheckFailedError) as raised:
        api.check_measure(WrongInThrees, precision, cutoffs=[1], n_rankings=30)
    assert raised.value.example.splitlines()[0] == "  ranking: (1 = 1 = 1)"


class OddShare(api.RelevanceMeasure, api.WeightedMeasure):
    """The share of the odd ranks whose documents are relevant."""

    def gains(self, placements: Placements) -> tuple[object, FloatArray]:
        return ("odd", self.rel), 1.0 * (placements.relevance >= self.rel)

    def weights(self, n_ranks: int) -> FloatArray:
        return np.arange(n_ranks) % 2 == 0.0

    def divisor(self, placements: Placements) -> FloatArray:
        return (self.k(placements) + 1) // 2 * 1.0


class Forgetful(OddShare):
    """The name of its gains lacks a parameter."""

    def gains(self, placements: Placements) -> tuple[object, FloatArray]:
        return "forgetful", super().gains(placements)[1]


class NamedAsOthers(OddShare):
    """The name of its gains is that of other gains."""

    def gains(self, placements: Placements) -> tuple[object, FloatArray]:
        return "judged", super().gains(placements)[1]


def odd_share(ranking: list[float | None], _judged: list[float], *, rel: float = 1, cutoff: int | None = None) -> float:
    odd = (ranking if cutoff is None else ranking[:cutoff])[::2]
    n_odd = ((len(ranking) if cutoff is None else cutoff) + 1) // 2
    return sum(relevance is not None and relevance >= rel for relevance in odd) / n_odd if n_odd else 0.0


@pytest.mark.slow
def test_weights_need_not_fall() -> None:
    register("odd share")(OddShare)
    api.check_measure(OddShare, odd_share, parameters=[{}, {"rel": 2}], n_rankings=20)


@pytest.mark.parametrize("measure", [Forgetful, NamedAsOthers])
def test_a_name_of_gains_that_others_have_fails(measure: type[OddShare]) -> None:
    register("wrong")(measure)
    with pytest.raises(api.CheckFailedError, match="it has other values after measures with other parameters"):
        api.check_measure(measure, odd_share, parameters=[{}, {"rel": 2}], cutoffs=[3], n_rankings=20)


def test_wrong_extremes_name_the_method_to_write() -> None:
    register("wrong")(WrongExtremes)
    with pytest.raises(api.CheckFailedError, match=r"the smallest value is .*, expected .*; write extremes\(\)"):
        api.check_measure(WrongExtremes, precision, cutoffs=[2], n_rankings=20)


def test_a_class_that_is_not_registered_fails() -> None:
    class Unregistered(dh.P):
        """Not registered."""

    with pytest.raises(api.CheckFailedError, match="it is not registered: decorate the class with @register_measure"):
        api.check_measure(Unregistered, precision)


def test_what_cannot_be_checked_is_said() -> None:
    with pytest.raises(api.ParameterError, match="sees more than the relevance and the rank"):
        api.check_measure(dh.GAUC, lambda _ranking, _judged: 0.0)
    with pytest.raises(api.ParameterError, match="a class of measures, such as"):
        api.check_measure(dh.P @ 5, precision)  # type: ignore[arg-type]


def test_what_an_at_sets_is_a_keyword_of_the_reference() -> None:
    reference = as_reference("IPrec")
    measure = dh.measures()["IPrec"]
    api.check_measure(
        measure,
        lambda ranking, judged, recall=0: reference(ranking, judged, cutoff=recall),
        cutoffs=[None, 0.5],
        n_rankings=12,
    )
