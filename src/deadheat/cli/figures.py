"""The option --figures: which figures a command draws, into which files, and what it says of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadheat.cli.app import error_message
from deadheat.cli.files import asked, check_folder
from deadheat.cli.output import writing

if TYPE_CHECKING:
    from deadheat.report.model import Report


def check_figures() -> None:
    """Refuse, before anything is computed, a folder that cannot be made; and load what draws."""
    check_folder("figures")
    if asked("figures") is not None:
        import deadheat.figures  # noqa: F401 - or the error that says what to install


def with_figures(
    report: Report, subjects: Iterable[tuple[str, Any, Mapping[str, Any]]], measures: Sequence[str]
) -> Report:
    """Draw the figures of some objects as --figures says, and return the report with what was drawn and what was not.

    Parameters
    ----------
    report : Report
    subjects : iterable of (str, object, dict)
        What figures are drawn of: each after what the names of its files begin with, and before the options of its
        figures, of which each gets those that it knows.
    measures : sequence of str
    """
    folder = asked("figures")
    if folder is None:
        return report
    from deadheat.figures import drawings, save
    from deadheat.io.naming import LONGEST, file_name
    from deadheat.report.model import Fact

    paths: list[str] = []
    not_drawn: dict[str, list[str]] = {}
    drawn = [
        (before + one.name, one) for before, subject, own in subjects for one in drawings(subject, measures, **own)
    ]
    with writing(folder):
        Path(folder).mkdir(parents=True, exist_ok=True)
    for name, one in drawn:
        if one.error is not None:
            not_drawn.setdefault(error_message(one.error), []).append(name)
        if one.chart is not None:
            paths.append(str(Path(folder) / f"{file_name(name, LONGEST - 15)}.{asked('figure_format')}"))
            with writing(paths[-1]):
                save(one.chart, paths[-1])
    names = ", ".join(Path(path).name for path in paths)
    facts = [Fact("figures", paths, "figures", f"in {folder}: {names}" if paths else "none", is_note=True)]
    if not_drawn:
        text = "; ".join(f"{', '.join(names)}: {why}" for why, names in not_drawn.items())
        facts.append(Fact("not_drawn", not_drawn, "not drawn", text, is_note=True))
    return replace(report, facts=(*report.facts, *facts))
