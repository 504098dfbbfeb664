"""Parts of pairs: one of anybody's changes the design and the columns of the pairs that have something of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat import registry
from deadheat.api import Fact, Plugin
from deadheat.core import hooks
from deadheat.core.design import Design
from deadheat.errors import ParameterError
from deadheat.plugins.compare.flips import Side
from deadheat.plugins.compare.pair import Pairs
from deadheat.plugins.compare.pair_parts import ComparedPairs

QRELS = {f"q{n}": {"a": 1} for n in range(9)}
GOOD = {f"q{n}": {"a": 2, "b": 1} for n in range(9)}
TIED = {f"q{n}": {"a": 1, "b": 1} for n in range(9)}


class Careful:
    """Of hits no p value is below one half."""

    def is_in(self, side: Side) -> bool:
        return side.measure.label == "Hit@1"

    def change_design(self, design: Design) -> Design:
        if design.test == "sign":
            raise ParameterError(argument="test", given="sign", allowed="another")
        return replace(design, correction="none")

    def change(self, columns: dict[str, Any], pairs: ComparedPairs) -> None:
        is_hit = [self.is_in(pairs.stack.sides[row]) for row in pairs.first.tolist()]
        columns["p_value"] = np.where(is_hit, np.maximum(columns["p_value"], 0.5), columns["p_value"])

    def tell(self, places: Sequence[str], pairs: Pairs) -> list[Fact]:
        assert len(places) == len(pairs)
        text = f"p of {pairs[0].measure} is at least 0.5"
        return [Fact("careful", text, "careful", text, brief=text)]


@pytest.fixture(autouse=True)
def careful(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    module = ModuleType("careful")
    module.PART = Careful()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "careful", module)
    plugin = Plugin("careful", "Careful.", package="deadheat", pairs=("careful",))
    hooks.use_registry(registry.REGISTRY._replace(plugins=(*registry.PLUGINS, plugin)))
    yield
    hooks.use_registry(registry.REGISTRY)


def test_a_part_changes_the_pairs_before_they_are_corrected() -> None:
    found = dh.compare(QRELS, {"tied": TIED, "good": GOOD}, ["Hit@1", "RR"])
    hit, rank = found.pairs
    assert (hit.p_value, hit.p_adjusted, hit.significant) == (0.5, 0.5, False)
    assert rank.p_value < 0.01
    assert rank.p_adjusted == rank.p_value  # by the design that the part has changed


def test_a_part_tells_of_its_columns_in_the_report() -> None:
    assert "p of Hit@1 is at least 0.5" in str(dh.compare(QRELS, {"tied": TIED, "good": GOOD}, ["Hit@1"]))


def test_a_part_refuses_a_design_where_a_side_has_something_of_it() -> None:
    with pytest.raises(ParameterError, match="test must be another"):
        dh.compare(QRELS, {"tied": TIED, "good": GOOD}, ["Hit@1"], test="sign")
    (pair,) = dh.compare(QRELS, {"tied": TIED, "good": GOOD}, ["RR"], test="sign").pairs
    assert pair.p_value < 0.01
