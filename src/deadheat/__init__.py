"""deadheat: evaluate rankings, exactly where scores tie.

>>> import deadheat as dh
>>> qrels = {"q1": {"d1": 1}}
>>> run = {"q1": {"d1": 0.5, "d2": 0.5}}
>>> dh.evaluate(qrels, run, ["RR", "P@1"]).means()
{'RR': 0.75, 'P@1': 0.5}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deadheat._api import *  # noqa: F403 - all of them, by its __all__


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    # The command line's --help must not wait for NumPy and Polars, so names are imported when one is used.
    if name == "__version__":
        from importlib.metadata import version

        return version("deadheat")
    try:
        return import_module(f"deadheat.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"deadheat.{name}":
            raise
    public = import_module("deadheat._api")
    if not hasattr(public, name):
        msg = f"module 'deadheat' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(public, name)


def __dir__() -> list[str]:
    return sorted(import_module("deadheat._api").__all__)
