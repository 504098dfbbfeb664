"""deadheat: evaluate rankings, exactly where scores tie.

>>> import deadheat as dh
>>> qrels = {"q1": {"d1": 1}}
>>> run = {"q1": {"d1": 0.5, "d2": 0.5}}
>>> dh.evaluate(qrels, run, ["RR", "P@1"]).means()
{'RR': 0.75, 'P@1': 0.5}
"""

from deadheat.core import interrupts as _interrupts  # noqa: F401 - before all else: while that is imported, too

# isort: split
import gc
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from deadheat.core.gone import find_replacement as _instead_of
from deadheat.core.io import guarding as _guarding  # noqa: F401 - watches for forks from the first import
from deadheat.core.libraries import load_numpy as _load_numpy
from deadheat.version import __version__ as __version__


def _hooks() -> Any:  # noqa: ANN401 - the module, which is imported on first use
    return import_module("deadheat.core.hooks")


@cache
def _home_of() -> dict[str, str]:
    """Return the module of each public name that is neither a measure nor a module, from the stub for type checkers.

    Each is imported on first use, so that --help does not wait for NumPy and Polars, nor evaluate() for statistics.
    """
    homes: dict[str, str] = _hooks().find_homes(Path(__file__).with_suffix(".pyi"))
    return homes


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever has this name
    is_collecting = gc.isenabled()
    gc.disable()  # nothing that modules make is garbage: saves 15 ms of the 430 of a first evaluation
    try:
        return _imported(name)
    finally:
        if is_collecting:
            gc.enable()


def _imported(name: str) -> Any:  # noqa: ANN401 - as above
    """Return a public name or module, from the file that has it."""
    if home := _home_of().get(name):
        if (plugin := _hooks().find_plugin_of_module(home)) and not _hooks().is_installed(plugin):
            raise AttributeError(str(_hooks().missing_plugin(f"deadheat.{name}", plugin)))
        if home != "deadheat.core.errors":
            _load_numpy()
        found = getattr(import_module(home), name)
        globals()[name] = found
        return found
    try:
        return import_module(f"deadheat.{name}")
    except ModuleNotFoundError as error:
        if name.isidentifier() and error.name != f"deadheat.{name}":
            raise
    measures = import_module("deadheat.core.measures")
    if not hasattr(measures, name):
        if instead := _instead_of(name):
            raise AttributeError(f"deadheat has no {name} any more: {instead}")
        if (plugin := _hooks().find_plugin_of_measure(name)) and not _hooks().is_installed(plugin):
            raise AttributeError(str(_hooks().missing_plugin(f"deadheat.{name}", plugin)))
        raise AttributeError(f"module 'deadheat' has no attribute {name!r}")
    return getattr(measures, name)


def __dir__() -> list[str]:
    names = set()
    for name, home in _home_of().items():
        plugin = _hooks().find_plugin_of_module(home)
        if plugin is None or _hooks().is_installed(plugin):
            names.add(name)
    return sorted({*names, *import_module("deadheat.core.measures").__all__})
