"""The page docs/guide/fusion.md has every method and normalization as its class says it."""

import re

import pytest

from deadheat.plugins.fusion.base import METHODS, parameters_of
from deadheat.plugins.fusion.catalogue import make_method
from deadheat.plugins.fusion.norms import NORMS
from support.paths import ROOT

PAGE = (ROOT / "docs/guide/fusion.md").read_text(encoding="utf-8")
ROWS = {tuple(row.split(" | ")) for row in re.findall(r"^\| (`[a-z0-9_-]+` \| .*) \|$", PAGE, re.MULTILINE)}
SOURCES = re.findall(r"^\* ((?:`\w+` ?)+): (.*)$", PAGE, re.MULTILINE)


def linked(source: str) -> str:
    return re.sub(r"doi:([^;\s]+)", r"[doi](https://doi.org/\1)", source)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_has_its_row(name: str) -> None:
    cls = METHODS[name]
    parameters = [f"`{one.name}` ({one.default:g})" for one in parameters_of(cls)]
    parameters += ["`weights` (1 each)"] if cls.takes_weights else []
    assert (f"`{name}`", cls.formula, ", ".join(parameters)) in ROWS
    (source,) = [source for names, source in SOURCES if f"`{name}`" in names.split()]
    assert source == linked(cls.source)


@pytest.mark.parametrize("name", NORMS)
def test_a_normalization_has_its_row(name: str) -> None:
    assert (f"`{name}`", NORMS[name].formula, linked(NORMS[name].source)) in ROWS


def test_all_methods_have_a_docstring() -> None:
    for name in METHODS:
        assert make_method(name, ["a", "b"], None, {}).__doc__
