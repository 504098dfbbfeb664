"""The tests of the core run without plugins too (`make test-core`): those that need some say which."""

from __future__ import annotations

import pytest

from deadheat import registry
from deadheat.core import hooks

SHIPPED = [plugin.name for plugin in registry.PLUGINS if plugin.name != "core"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs plugins that are not there: those that ``plugins`` names, or all where it names none."""
    for item in items:
        for mark in item.iter_markers("plugins"):
            missing = [name for name in mark.args or SHIPPED if not hooks.is_installed(name)]
            if missing:
                item.add_marker(pytest.mark.skip(reason=f"needs the plugin {missing[0]}"))
