"""Libraries that are loaded late, or may not be installed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    pass
from deadheat.core.errors import MissingDependencyError


def load_libraries() -> None:
    """Import Polars and NumPy at once: deep inside other imports, each call in theirs may map memory for its frame."""
    for name in ("polars", "numpy.typing"):
        import_module(name)


def import_package(name: str, what: str, extra: str) -> Any:  # noqa: ANN401 - many are published without types
    """Return a module of a package that may not be installed; `what` needs it, and an extra installs it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(
            f"{what}, which is not installed", hint=f"pip install 'deadheat[{extra}]'"
        ) from error
