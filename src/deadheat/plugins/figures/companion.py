"""Figures beside the report of a command: what the command line asks, before `files` is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from deadheat.core.cli.beside_report import ReportCompanion, Subjects
from deadheat.core.cli.errors import refuse
from deadheat.plugins.figures.options import NAMES, OPTIONS, option_of_names

if TYPE_CHECKING:
    from deadheat.plugins.figures.files import Figures


def _options_for(kinds: Sequence[str], such_as: str) -> Callable[[Any], Any]:
    """Return a decorator that gives a command --figures, then --figure with its names, then the others."""
    folder, *others = OPTIONS.values()

    def decorate(command: Any) -> Any:  # noqa: ANN401 - as click's own
        for add_option in reversed([folder, option_of_names(kinds, such_as), *others]):
            command = add_option(command)
        return command

    return decorate


def _claim(options: Mapping[str, Any]) -> None:
    """Claim the folder of --figures; without it refuse --figure, and a width of files that have none."""
    if options.get("figures") is None:
        refuse((NAMES,), "needs --figures DIR, the folder that it is drawn into")
        return
    from deadheat.plugins.figures.files import claim_figures  # few commands draw

    claim_figures(options["figures"])
    from deadheat.plugins.figures.saving import WITHOUT_WIDTH  # its packages are there, as `claim_figures` has checked

    form = options["figure_format"]
    if form in WITHOUT_WIDTH:
        refuse(("figure_width",), f"is not for --figure-format {form}: leave it out, or choose svg, png or pdf")


def _rule_beside(ties: str) -> str | None:
    """Return the rule of other tools whose value has a tick beside the exact one: document ids, as of trec_eval."""
    if ties == "expected":
        return "doc_id"
    return None


def _draw(subjects: Subjects, measures: Sequence[str]) -> Figures:
    """Draw the figures of some objects."""
    from deadheat.plugins.figures.files import draw_figures

    return draw_figures(subjects, measures)


first, *others = OPTIONS
COMPANION = ReportCompanion((first, NAMES, *others), _options_for, _claim, _rule_beside, _draw)
