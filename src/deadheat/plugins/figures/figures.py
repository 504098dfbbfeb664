"""Figures by their names, which people import as `deadheat.figures`; `save` writes one to a file.

Importing this module imports Altair and all figures; type checkers read the stub beside this file.
"""

from typing import Any

from deadheat.core import hooks
from deadheat.core.errors import MissingDependencyError, MissingPluginError

try:
    import altair as alt  # noqa: F401 - tried here once, for all files
    import vl_convert as _vl_convert  # noqa: F401 - as above
except ModuleNotFoundError as _error:
    raise MissingDependencyError(
        f"figures need the package {_error.name}", hint="pip install 'deadheat[figures]'"
    ) from _error

hooks.load("figures")

from deadheat.plugins.figures.choice import check_figure  # noqa: E402 - Altair is tried first
from deadheat.plugins.figures.registration import REGISTRY, Drawing, Figure, drawings, figures_of, plot_of  # noqa: E402 - Altair is tried first
from deadheat.plugins.figures.saving import rendered, save  # noqa: E402 - as above

globals().update({name: one.draw for name, one in REGISTRY.items()})


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever has this name
    try:
        check_figure(name)
    except MissingPluginError as error:
        raise AttributeError(str(error)) from error
    raise AttributeError(f"module 'deadheat.figures' has no attribute {name!r}")


__all__ = ["Drawing", "Figure", "drawings", "figures_of", "plot_of", "rendered", "save"]
__all__ += list(REGISTRY)  # pyright: ignore[reportUnsupportedDunderAll] - it reads the stub
