"""What plugins of other distributions are written with: docs/extending.md shows it, and it is stable from 1.0 on.

Nothing is loaded before it is used: the record of a plugin needs no NumPy. The stub api.pyi, which type checkers read,
says where each name is.
"""

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from deadheat.core import hooks

LIGHT = {"deadheat.core.plugin_records", "deadheat.core.errors"}  # modules that need neither NumPy nor Polars


@cache
def _homes() -> dict[str, tuple[str, str]]:
    """Return for each name the module that has it, and its name in that module."""
    stub = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    homes = {}
    imports = re.findall(r"^from (deadheat\.\S+) import ([\w, ]+|\([^)]*\))$", stub, re.MULTILINE)
    for module, names in imports:
        for inner_name, api_name in re.findall(r"(\w+)(?: as (\w+))?", names):
            homes[api_name or inner_name] = (module, inner_name)
    return homes


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever has this name
    if name not in _homes():
        raise AttributeError(f"module 'deadheat.api' has no attribute {name!r}")
    module, inner_name = _homes()[name]
    plugin = hooks.find_plugin_of_module(module)
    if plugin is not None and not hooks.is_installed(plugin):
        raise AttributeError(str(hooks.missing_plugin(f"deadheat.api.{name}", plugin)))
    if module not in LIGHT:
        from deadheat.core.libraries import load_numpy

        load_numpy()
    value = getattr(import_module(module), inner_name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_homes())
