"""The option --figures: which figures a command draws, into which files, and what it says of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadheat.cli.files import PATH
from deadheat.cli.options import together
from deadheat.cli.output import writing
from deadheat.cli.wording import error_message

if TYPE_CHECKING:
    from deadheat.figures import Drawing
    from deadheat.report.model import Fact, Report

FORMATS = ("svg", "png", "pdf", "html", "json")

figures_options = together(
    click.option(
        "--figures",
        type=PATH,
        metavar="DIR",
        help="Also draw figures into this folder, which is made if need be (needs deadheat[figures]).",
    ),
    click.option(
        "--figure-format",
        type=click.Choice(FORMATS),
        default="svg",
        show_default=True,
        help="Of the files in that folder; json is Vega-Lite.",
    ),
)


def check_figures(folder: str | None) -> None:
    """Refuse, before anything is computed, a folder that cannot be made; and load what draws."""
    if folder is None:
        return
    place = Path(folder)
    if place.exists() and not (place.is_dir() and os.access(place, os.W_OK)):
        raise click.UsageError(f"--figures {folder!r} is not a writable folder: choose another name")
    import deadheat.figures  # noqa: F401 - or the error that says what to install


def with_figures(
    report: Report,
    folder: str | None,
    form: str,
    subjects: Iterable[tuple[str, Any, Mapping[str, Any]]],
    measures: Sequence[str],
) -> Report:
    """Draw the figures of some objects into a folder, and return the report with what was drawn and what was not.

    Parameters
    ----------
    report : Report
    folder : str or None
        None: none are asked for.
    form : str
        The ending of the files.
    subjects : iterable of (str, object, dict)
        What figures are drawn of: each after what the names of its files begin with, and before the options of its
        figures, of which each gets those that it knows.
    measures : sequence of str
    """
    if folder is None:
        return report
    from deadheat.figures import drawings

    drawn = [(before, one) for before, subject, own in subjects for one in drawings(subject, measures, **own)]
    return replace(report, facts=(*report.facts, *_written(folder, form, drawn)))


def _written(folder: str, form: str, drawn: Sequence[tuple[str, Drawing]]) -> Iterable[Fact]:
    """Write charts to files, and tell which, and why others are not drawn."""
    from deadheat.figures import save
    from deadheat.io.naming import LONGEST, file_name
    from deadheat.report.model import Fact

    paths: list[str] = []
    with writing(folder):
        Path(folder).mkdir(parents=True, exist_ok=True)
    for before, one in drawn:
        if one.chart is not None:
            path = str(Path(folder) / f"{file_name(before + one.name, LONGEST - 15)}.{form}")
            with writing(path):
                save(one.chart, path)
            paths.append(path)
    names = ", ".join(Path(path).name for path in paths)
    yield Fact("figures", paths, "figures", f"in {folder}: {names}" if paths else "none", is_note=True)
    not_drawn: dict[str, list[str]] = {}
    for before, one in drawn:
        if one.error is not None:
            not_drawn.setdefault(error_message(one.error), []).append(before + one.name)
    if not_drawn:
        text = "; ".join(f"{', '.join(names)}: {why}" for why, names in not_drawn.items())
        yield Fact("not_drawn", not_drawn, "not drawn", text, is_note=True)
