"""The measures: importing this package reads all its files, which fill the registry.

What is registered is a name of the package, under every name that it has in its file. Type checkers cannot follow
that: they read the stub beside this file, and a test holds it complete.
"""

import sys
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from deadheat.measures.base import REGISTRY, CutMeasure, Measure, MeasureType, measures, register
from deadheat.measures.notation import parse_measure, unit_of
from deadheat.measures.orders import Custom


class _CallableModule(ModuleType):
    """The package, which is also the function that it is named after."""

    def __call__(self) -> dict[str, type[Measure]]:
        return measures()


# `deadheat.measures` is this package as soon as anything imports it; `deadheat.measures()` is the registry.
sys.modules[__name__].__class__ = _CallableModule

_own = [value for file in iter_modules(__path__) for value in vars(import_module(f"{__name__}.{file.name}")).items()]
_known = set(REGISTRY.values())
_registered = {
    name: value
    for name, value in _own
    if isinstance(value, MeasureType) and not _known.isdisjoint({value, vars(value).get("stands_for")})
}
globals().update(_registered)

__all__ = ["Custom", "CutMeasure", "Measure", "measures", "parse_measure", "register", "unit_of"]
__all__ += list(_registered)  # pyright: ignore[reportUnsupportedDunderAll] - it reads the stub
