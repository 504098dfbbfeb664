"""The options of figures, --figures and those that go with it; --figure knows the figures of its command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from deadheat.core.cli.help import option
from deadheat.core.cli.paths import PATH
from deadheat.core.wording import nearest_first

if TYPE_CHECKING:
    NameType = click.ParamType[str]
else:
    NameType = click.ParamType  # click 8.1 does not say what it converts to

ALL_FIGURES = "all"
NAMES = "figure_names"  # the parameter of --figure


class FigureName(NameType):
    """The name of a figure that a command has, or `ALL_FIGURES`.

    Parameters
    ----------
    kinds : sequence of str
        Of the objects that the command draws.
    """

    name = "figure"

    def __init__(self, kinds: Sequence[str]) -> None:
        self.kinds = kinds

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as click's own
        """Return the name, or fail with the names that there are."""
        from deadheat.plugins.figures.choice import check_figure
        from deadheat.plugins.figures.figures import figures_of

        known: dict[str, None] = {}
        for kind in self.kinds:
            known.update(dict.fromkeys(figures_of(kind)))
        if value != ALL_FIGURES and value not in known:
            check_figure(value)
            listed = ", ".join(nearest_first(value, known))
            self.fail(f"there is no figure {value!r} here: give {listed}, or {ALL_FIGURES}", param, ctx)
        return value


OPTIONS: dict[str, Callable[[Any], Any]] = {
    "figures": option(
        "--figures",
        type=PATH,
        metavar="DIR",
        help="Also draw figures into this folder, which is made if need be: at most three, as a page shows them, by the"
        " first measure (needs deadheat[figures]).",
        heading="output",
    ),
    "figure_format": option(
        "--figure-format",
        type=click.Choice(["svg", "png", "pdf", "html", "json"]),
        default="svg",
        show_default=True,
        help="Of the files in that folder; json is Vega-Lite.",
        heading="output",
    ),
    "no_title": option(
        "--no-title", is_flag=True, help="Draw them without titles, for captions of a paper.", heading="output"
    ),
    "figure_width": option(
        "--figure-width",
        type=click.FloatRange(1, 100),
        metavar="CM",
        help="Their width in centimetres, from 1 to 100, such as 8.4 for a column.",
        heading="output",
    ),
}


def option_of_names(kinds: Sequence[str], such_as: str) -> Callable[[Any], Any]:
    """Return the option --figure of a command that draws objects of these kinds, with a figure for its help."""
    return option(
        "--figure",
        NAMES,
        type=FigureName(kinds),
        multiple=True,
        metavar="NAME",
        help=f"Draw this one into that folder instead, such as {such_as}, by each measure; may be repeated."
        f" {ALL_FIGURES} draws every one there is; a wrong name lists them.",
        heading="output",
    )
