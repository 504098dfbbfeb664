"""ir_measures, with deadheat: importing this module puts a provider into its pipeline.

From then on ``ir_measures`` itself, its command and what builds on it, such as PyTerrier's Experiment, has measures
whose tools are not installed; other numbers stay what they are. ``DEADHEAT_TIES=expected`` in the environment gives
exact means over the orders of ties for every measure that deadheat has. The module has all names of ``ir_measures``,
so that a program may change its import instead.
"""

from importlib import import_module
from typing import Any

from deadheat.plugins.compat.ir_measures_provider import register

register()


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever ir_measures has
    return getattr(import_module("ir_measures"), name)


def __dir__() -> list[str]:
    return dir(import_module("ir_measures"))
