"""Facts of features: a module of anybody's says something in the reports of evaluations and of comparisons."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType

import pytest

import deadheat as dh
from deadheat import Evaluation, registry
from deadheat.api import Fact, Plugin
from deadheat.core import hooks

QRELS = {f"q{n}": {"a": 1} for n in range(5)}
RUN = {f"q{n}": {"a": 1, "b": 1} for n in range(5)}


def facts_of_evaluations(evaluations: Sequence[Evaluation]) -> list[Fact]:
    names = ", ".join(evaluation.name for evaluation in evaluations)
    return [Fact("made_on", names, "made on", f"a Monday: {names}", is_note=True)]


def facts_of_comparison(parts: Mapping[tuple[str, ...], dh.Comparison]) -> list[Fact]:
    n_pairs = sum(len(part.pairs) for part in parts.values())
    return [Fact("n_lucky", n_pairs, "lucky", f"{n_pairs} by chance", is_note=True)]


@pytest.fixture(autouse=True)
def mondays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    module = ModuleType("mondays")
    module.facts_of_evaluations = facts_of_evaluations  # type: ignore[attr-defined]
    module.facts_of_comparison = facts_of_comparison  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mondays", module)
    plugin = Plugin("mondays", "Mondays.", package="deadheat", facts=("mondays",))
    hooks.use_registry(registry.REGISTRY._replace(plugins=(*registry.PLUGINS, plugin)))
    yield
    hooks.use_registry(registry.REGISTRY)


def test_a_feature_says_something_of_evaluations() -> None:
    assert "a Monday: run" in str(dh.evaluate(QRELS, dh.Run(RUN, name="run"), "RR"))


@pytest.mark.plugins("compare")
def test_a_feature_says_something_of_comparisons() -> None:
    found = dh.compare(QRELS, {"one": RUN, "two": RUN}, "RR")
    assert "1 by chance" in str(found)
    assert "a Monday: one, two" in str(found)
