"""The measures: importing this package reads the files that have some, in the order of the registry.

What is registered is a name of the package, under every name that it has in its file. Type checkers cannot follow
that: they read the stub beside this file, and a test holds it complete.
"""

from deadheat.core import hooks
from deadheat.core.measures.base import Measure, MeasureType
from deadheat.core.measures.custom import Custom
from deadheat.core.measures.families import CutMeasure
from deadheat.core.measures.notation import parse_measure, unit_of
from deadheat.core.measures.registration import REGISTRY, measures, register


def _classes() -> dict[str, MeasureType]:
    """Return the classes of measures under every name that they have in their files."""
    modules = hooks.load("measures")
    known = set(REGISTRY.values())
    classes: dict[str, MeasureType] = {}
    for module in modules:
        for name, value in vars(module).items():
            if isinstance(value, MeasureType) and (value in known or vars(value).get("alias_of") in known):
                classes[name] = value
    return classes


_registered = _classes()
for _name in hooks.list_measures():  # they were registered in the order of their files
    REGISTRY[_name] = REGISTRY.pop(_name)
globals().update(_registered)

__all__ = ["Custom", "CutMeasure", "Measure", "measures", "parse_measure", "register", "unit_of"]
__all__ += list(_registered)  # pyright: ignore[reportUnsupportedDunderAll] - it reads the stub
