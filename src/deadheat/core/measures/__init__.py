"""The measures, each under every name that it has in its file, which is read when one of them is asked for.

The stub beside this file says which file has which name; a test holds it complete. A name of a plugin that is not
there is no name of this package.
"""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from deadheat.core import hooks


@cache
def _home_of() -> dict[str, str]:
    """Return the module of each name, without those of plugins that are not there."""
    homes = {}
    for name, home in hooks.find_homes(Path(__file__).with_suffix(".pyi")).items():
        plugin = hooks.find_plugin_of_module(home)
        if plugin is None or hooks.is_installed(plugin):
            homes[name] = home
    return homes


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a class, or a function
    if name == "__all__":
        return sorted(_home_of())
    home = _home_of().get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(_home_of())
