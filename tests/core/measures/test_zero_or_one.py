"""`Measure.is_zero_or_one` against every explicit order of small rankings, as the reference computes them."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest

import deadheat as dh
from deadheat import Custom, parse_measure
from deadheat.api import FloatArray
from deadheat.core.measures.top import CutTopMeasure
from oracle.binary import Judged, Ranking
from oracle.reference import DIVERSITY
from oracle.variants import VARIANTS, Variant

GRADES = (None, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0)
# also what no other test asks for
MORE = [Variant("F", {"beta": 0}, (None, 1, 2)), Variant("MTRR", {}, (1, 2)), Variant("MTRR", {"rel": 2}, (1,))]
# with several subtopics, or spans, which references of one ranking do not know, these measures are fractions
PLAIN = [variant for variant in VARIANTS if variant.name not in DIVERSITY and not variant.name.startswith("Char")]
MEASURES = [(variant, cutoff) for variant in (*PLAIN, *MORE) for cutoff in variant.cutoffs]
ABSTAIN = [(*of, *rel) for of in ((), ("of='precision'",), ("of='recall'",)) for rel in ((), ("rel=2",))]
ZERO_OR_ONE = {
    *(f"Hit{rel}{cut}" for rel in ("", "(rel=2)", "(rel=3)") for cut in ("", "@1", "@2", "@3", "@5", "@100")),
    *(f"AllHit{rel}{cut}" for rel in ("", "(rel=2)", "(rel=3)") for cut in ("", "@1", "@2", "@3", "@5", "@100")),
    *(f"TMHits{rel}{cut}" for rel in ("", "(rel=2)") for cut in ("@1", "@2", "@3", "@5", "@100")),
    *(f"{name}{rel}@1" for name in ("P", "RR", "RelP") for rel in ("", "(rel=2)", "(rel=3)")),
    *(f"Accuracy{rel}@{cutoff}" for rel in ("", "(rel=2)", "(rel=3)") for cutoff in (1, 2)),
    *(f"Abstain({', '.join(parts)})".replace("()", "") for parts in ABSTAIN),
    *("MTRR@1", "MTRR(rel=2)@1", "Judged@1", "Hole@1", "F(beta=0)@1"),
    *(f"R({rel}norm='retrieved_all')" for rel in ("", "rel=2, ")),
    *(f"P({rel}norm='retrieved')@1" for rel in ("", "rel=2, ")),
    *(f"AP({rel}norm='{norm}')@1" for rel in ("", "rel=2, ") for norm in ("min", "retrieved", "k")),
}
COUNTS = {"NumQ", *(f"NumRelRet{rel}@1" for rel in ("", "(rel=2)", "(rel=3)"))}
"""Their values are 0 or 1 as well, but what is reported is the total."""


def small_rankings() -> Iterator[tuple[Ranking, Judged]]:
    """Every ranking of up to three documents of any grades, with and without judged documents that it lacks."""
    for size in range(4):
        for grades in itertools.product(GRADES, repeat=size):
            ranking = [(f"d{n}", grade) for n, grade in enumerate(grades)]
            held = {doc: grade for doc, grade in ranking if grade is not None}
            for lacked in ({}, {"x": 1.0, "y": 3.0, "z": 0.0}):
                yield ranking, held | lacked


LONG: Ranking = [("first", 3.0), *((f"d{n}", None) for n in range(100)), ("last", 3.0)]
"""With relevant documents on both sides of every cutoff."""
RANKINGS = [*small_rankings(), (LONG, {"first": 3.0, "last": 3.0})]


@pytest.mark.plugins("more_measures")
@pytest.mark.parametrize(("variant", "cutoff"), MEASURES, ids=[variant.notation(cut) for variant, cut in MEASURES])
def test_the_property_is_what_orders_say(variant: Variant, cutoff: float | None) -> None:
    measure = parse_measure(variant.notation(cutoff))
    values = (variant.reference(cutoff, judged, 3.0)(ranking) for ranking, judged in RANKINGS)
    is_so = all(value in {0, 1} or math.isnan(value) for value in values)  # NaN: the query does not count
    assert measure.is_zero_or_one is (is_so and str(measure) not in COUNTS)
    assert measure.is_zero_or_one is (str(measure) in ZERO_OR_ONE)


@pytest.mark.plugins("more_measures")
def test_the_list_is_complete() -> None:
    notations = {str(parse_measure(variant.notation(cutoff))) for variant, cutoff in MEASURES}
    assert notations >= ZERO_OR_ONE | COUNTS


def test_of_measures_that_no_order_changes_or_nobody_knows() -> None:
    for measure in ("TMHits(definition='mid_rank')@1", "MTRR(definition='mid_rank')", "ERR@1", "nDCG@1", "R@1", "AP@1"):
        assert not parse_measure(measure).is_zero_or_one
    assert not Custom("first", lambda relevance: float(relevance[0] > 0)).is_zero_or_one


def test_a_divisor_of_ones_own_makes_no_proportion() -> None:
    """Its interval lies within the values that it can have."""

    class Tenths(CutTopMeasure):
        """The number over 10."""

        def divisor(self, placements: dh.Placements) -> FloatArray:
            """Return 10."""
            return np.full(placements.n_queries, 10.0)

    measure = Tenths() @ 1
    assert not measure.is_zero_or_one
    qrels = {f"q{n}": {"a": 1} for n in range(10)}
    scores = dh.evaluate(qrels, {query: {"a": 1.0, "b": 1.0} for query in qrels}, [measure])[measure]
    assert scores.values.tolist() == [0.05] * 10
    assert scores.interval().method == "gaffke"
