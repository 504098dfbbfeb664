"""Settings of a plugin: it checks them where it is there, and is named where it is not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

import deadheat as dh
from deadheat import registry
from deadheat.api import Plugin
from deadheat.core import hooks
from deadheat.core.plugin_records import PluginSettings
from deadheat.core.settings import Conventions
from deadheat.errors import MissingPluginError, ParameterError

QRELS = {"q": {"a": 1}}
RUN = {"q": ["a", "b"]}


def check_settings(conventions: Conventions) -> None:
    if conventions.depth == 13:
        raise ParameterError(argument="depth", given=13, allowed="another number")


@pytest.fixture
def in_use(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    module = ModuleType("careful_settings")
    module.check_settings = check_settings  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "careful_settings", module)
    settings = PluginSettings("careful_settings", {"depth": (), "ties": ("best",)})
    there = Plugin("careful", "Careful.", package="deadheat", settings=(settings,))
    gone = Plugin("gone", "Gone.", settings=(PluginSettings("", {"rel": (), "missing": ("skip",)}),))
    hooks.use_registry(registry.REGISTRY._replace(plugins=(*registry.PLUGINS, there, gone)))
    yield
    hooks.use_registry(registry.REGISTRY)


@pytest.mark.usefixtures("in_use")
def test_a_plugin_checks_settings_that_have_one_of_its_values() -> None:
    with pytest.raises(ParameterError, match="depth must be another number"):
        dh.evaluate(QRELS, RUN, "RR", depth=13)
    assert dh.evaluate(QRELS, RUN, "RR", depth=12, ties="best").means() == {"RR": 1.0}


@pytest.mark.usefixtures("in_use")
def test_settings_of_a_plugin_that_is_not_there_name_it() -> None:
    with pytest.raises(MissingPluginError, match=r"^rel=2 .* plugin gone, "):
        dh.evaluate(QRELS, RUN, "RR", rel=2)
    with pytest.raises(MissingPluginError, match=r"^missing='skip' .* plugin gone"):
        dh.evaluate(QRELS, RUN, "RR", missing="skip")
    assert dh.evaluate(QRELS, RUN, "RR", missing="error").means() == {"RR": 1.0}
