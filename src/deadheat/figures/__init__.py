"""Figures: each a function in one file draw_*.py, which returns an Altair chart; `save` writes it to a file.

Importing this package imports Altair and all figures; type checkers read the stub beside this file.
"""

from pathlib import Path
from typing import Any

from deadheat import hooks
from deadheat.errors import MissingDependencyError

try:
    import altair as alt  # noqa: F401 - tried here once, for all files
    import vl_convert as _vl_convert  # noqa: F401 - as above
except ModuleNotFoundError as _error:
    raise MissingDependencyError(
        f"figures need the package {_error.name}", hint="pip install 'deadheat[figures]'"
    ) from _error

hooks.load("figures")

from deadheat.figures.base import (  # noqa: E402 - Altair is tried first
    REGISTRY,
    Drawing,
    Figure,
    drawings,
    figures_of,
    plot_of,
)
from deadheat.figures.saving import rendered, save  # noqa: E402 - as above

globals().update({name: one.draw for name, one in REGISTRY.items()})


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever has this name
    """Say which plugin a figure is of, where that is not there: the stub names all figures."""
    home = hooks.homes_in(Path(__file__).with_suffix(".pyi")).get(name, "")
    plugin = hooks.plugin_of(home)
    if plugin is not None and not hooks.is_installed(plugin):
        raise AttributeError(str(hooks.missing_plugin(f"deadheat.figures.{name}", plugin)))
    raise AttributeError(f"module 'deadheat.figures' has no attribute {name!r}")


__all__ = ["Drawing", "Figure", "drawings", "figures_of", "plot_of", "rendered", "save"]
__all__ += list(REGISTRY)  # pyright: ignore[reportUnsupportedDunderAll] - it reads the stub
