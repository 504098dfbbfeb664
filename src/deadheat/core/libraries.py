"""Libraries that are loaded late, or may not be installed."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from deadheat.core.errors import MissingDependencyError


class _Late(ModuleType):
    """A library that is imported when an attribute of it is first asked for; it keeps the attributes that were."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever has this name
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)
        return value


# Dicts, lists and arrays are evaluated without Polars, which takes 0.1 s to load
if TYPE_CHECKING:
    import polars as polars  # noqa: ICN001, PLC0414 - files import it from here
    from typing_extensions import TypeIs
else:
    polars = _Late("polars")


def is_polars_frame(rows: object) -> TypeIs[polars.DataFrame]:
    """Tell whether rows are a frame of Polars, without loading Polars: where it is not loaded, no object is one."""
    return "polars" in sys.modules and isinstance(rows, polars.DataFrame)


def load_numpy() -> None:
    """Import NumPy now: deep inside other imports, each call of its import may map memory for a frame."""
    import_module("numpy.typing")


def load_libraries() -> None:
    """Import NumPy and Polars now, for the same reason: the command line reads files."""
    import_module("polars")
    load_numpy()


def import_package(name: str, what: str, extra: str) -> Any:  # noqa: ANN401 - many are published without types
    """Return a module of a package that may not be installed, or raise.

    Parameters
    ----------
    name : str
        The module.
    what : str
        The beginning of the message: what needs the package.
    extra : str
        The extra of deadheat that installs the package.

    Raises
    ------
    MissingDependencyError
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(
            f"{what}, which is not installed", hint=f"pip install 'deadheat[{extra}]'"
        ) from error
