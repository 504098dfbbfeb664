"""Parts of whole comparisons: anybody's changes all pairs, goes with strata, and is shown."""

# ruff: noqa: ARG002 - made-up parts take what parts are given

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pytest

import deadheat as dh
from deadheat import Measure
from deadheat.core.data.sources import Source
from deadheat.core.evaluation.stratum import Stratum
from deadheat.core.report.model import SYSTEM, Column, Fact, Table, note_fact, tabulate
from deadheat.errors import ParameterError
from deadheat.plugins.compare.pair import Pair, Pairs
from deadheat.plugins.compare.report import report_comparison

QRELS = {f"q{n}": {"a": 1} for n in range(9)}
GOOD = {f"q{n}": {"a": 2, "b": 1} for n in range(9)}
TIED = {f"q{n}": {"a": 1, "b": 1} for n in range(9)}
KIND = {f"q{n}": {"kind": "few" if n < 3 else "many"} for n in range(9)}


@dataclass(frozen=True)
class Discount:
    """Takes something from every difference."""

    size: float
    fields_of_values = ("wins", "mean")
    prefix = "plain_"
    values_are_by = "plain values"
    differences_are = "at a discount"

    def add_to(self, comparison: dh.Comparison) -> dh.Comparison:
        pairs = comparison.pairs.changed(difference=comparison.pairs.column("difference") - self.size)
        return replace(comparison, pairs=pairs, parts={"discount": self})

    def in_strata(self, columns: str | Sequence[str], queries: Source) -> Callable[[Stratum], Discount]:
        return lambda stratum: Discount(0.125 if stratum == "few" else self.size)

    def refuse(self, what: str) -> None:
        raise ParameterError(f"{what} is not for a discount")

    def columns_of(self, pairs: Pairs) -> Mapping[str, list[float]]:
        return {"discount": [self.size] * len(pairs)}

    def numbers_of(self, pair: Pair, scale: float) -> Iterable[tuple[str, float]]:
        yield "discount", scale * self.size

    def tabulate_pairs(
        self, parts: Mapping[tuple[str, ...], dh.Comparison], leading: Iterable[Column], measure: Measure
    ) -> Table:
        rows = [{"system": pair.system, "size": self.size} for part in parts.values() for pair in part[measure]]
        return tabulate("discounts", (SYSTEM,), (Column("size", "size"),), rows)

    def tell(self, comparison: dh.Comparison, parts: Mapping[tuple[str, ...], dh.Comparison]) -> list[Fact]:
        return [note_fact("discount", f"{self.size} in {len(parts)} parts")]


@pytest.fixture
def plain() -> dh.Comparison:
    return dh.compare(QRELS, {"tied": TIED, "good": GOOD}, "RR")


def test_a_part_changes_all_pairs_and_has_columns(plain: dh.Comparison) -> None:
    found = Discount(0.25).add_to(plain)
    assert found.pairs[0].difference == plain.pairs[0].difference - 0.25
    frame = found.to_polars()
    assert frame["discount"].to_list() == [0.25]
    assert {"plain_wins", "plain_mean", "baseline_mean"} <= set(frame.columns)
    assert not {"wins", "mean"} & set(frame.columns)
    numbers = found.to_flat()
    assert any(name.endswith("plain_wins") for name in numbers)
    assert 0.25 in numbers.values()


def test_a_part_goes_with_strata(plain: dh.Comparison) -> None:
    strata = Discount(0.25).add_to(plain).by("kind", KIND)
    own = plain.by("kind", KIND)
    taken = {name: own[name].pairs[0].difference - strata[name].pairs[0].difference for name in strata}
    assert taken == {"few": 0.125, "many": 0.25}


def test_a_part_refuses_what_would_leave_it_out(plain: dh.Comparison) -> None:
    found = Discount(0.25).add_to(plain)
    for ask in (found.rank_intervals, found.orders):
        with pytest.raises(ParameterError, match="is not for a discount"):
            ask()
    assert found.significant_by_one_rule().is_empty()


def test_a_report_shows_a_part(plain: dh.Comparison) -> None:
    report = report_comparison(Discount(0.25).add_to(plain), qrels="qrels")
    by_key = {table.key: table for table in report.tables}
    assert by_key["discounts"].rows
    assert "by plain values alone" in by_key["systems"].title
    assert "at a discount" in by_key["pairs"].title
    assert "0.25 in 1 parts" in [fact.text for fact in report.facts]
