"""Libraries that are loaded late, or may not be installed."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from deadheat.core.errors import MissingDependencyError


class _Late(ModuleType):
    """A library that is imported when something of it is first asked for, and keeps what it found."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever has this name
        found = getattr(import_module(self.__name__), name)
        setattr(self, name, found)
        return found


# Dicts, lists and arrays are evaluated without Polars, which takes 0.1 s to load
if TYPE_CHECKING:
    import polars as polars  # noqa: ICN001, PLC0414 - files import it from here
    from typing_extensions import TypeIs
else:
    polars = _Late("polars")


def is_polars_frame(rows: object) -> TypeIs[polars.DataFrame]:
    """Tell whether rows are a frame of Polars; none is where it is not loaded, and asking does not load it."""
    return "polars" in sys.modules and isinstance(rows, polars.DataFrame)


def load_numpy() -> None:
    """Import NumPy at once: deep inside other imports, each call in its own may map memory for its frame."""
    import_module("numpy.typing")


def load_libraries() -> None:
    """Import Polars, too, at once and for the same reason: for the command line, which reads files."""
    import_module("polars")
    load_numpy()


def import_package(name: str, what: str, extra: str) -> Any:  # noqa: ANN401 - many are published without types
    """Return a module of a package that may not be installed; `what` needs it, and an extra installs it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(
            f"{what}, which is not installed", hint=f"pip install 'deadheat[{extra}]'"
        ) from error
