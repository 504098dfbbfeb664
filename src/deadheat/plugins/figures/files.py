"""The figures that a command draws beside its report: which ones, their files, and what the report says of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadheat.core import hooks
from deadheat.core.cli.errors import error_message
from deadheat.core.cli.paths import asked, outputs_of_command, shown_path
from deadheat.core.cli.printing import check_folder, writing
from deadheat.core.errors import FigureError
from deadheat.core.phases import phase
from deadheat.core.structures import group_values
from deadheat.core.wording import format_count, format_in_brackets, format_list
from deadheat.plugins.figures.options import ALL_FIGURES

if TYPE_CHECKING:
    from deadheat.core.cli.beside_report import Subjects
    from deadheat.core.report.model import Fact

# why a command may have no object of a kind that some of its figures are of
NEEDED_BY_FIGURES = {
    "comparison": "it takes two systems or more",
    "languages": "it takes queries that are the same in several languages",
    "strata": "it takes --by COLUMN",
    "coarsening": "it takes --coarsen",
    "ties": "it is not for --coarsen",
}


@dataclass(frozen=True)
class Drawn:
    """What figures are drawn of, and which.

    Attributes
    ----------
    before : str
        What the names of their files begin with.
    subject : object
    options : mapping of str to object
        Of the figures, of which each gets those that it knows.
    names : collection of str, or None
        Of the figures; None draws every one.
    measures : sequence of str
    """

    before: str
    subject: Any
    options: Mapping[str, Any]
    names: Collection[str] | None
    measures: Sequence[str]


@dataclass(frozen=True)
class Figures:
    """The figures that a command draws as --figures says, and where each is written.

    Attributes
    ----------
    folder : str
    charts : dict of str to chart
        By their files, which are claimed.
    failures : sequence of (str, str)
        Why a figure could not be made, and its name.
    why_none : str
        Why none was to be drawn; empty if some were.
    """

    folder: str
    charts: Mapping[str, Any]
    failures: Sequence[tuple[str, str]]
    why_none: str = ""

    def write(self) -> Iterator[Fact]:
        """Write the files, and yield what a report says of them."""
        from deadheat.core.report.model import Fact
        from deadheat.plugins.figures.figures import save

        with writing(self.folder):
            Path(self.folder).mkdir(parents=True, exist_ok=True)
        paths: list[str] = []
        failures = list(self.failures)
        for path, chart in self.charts.items():
            try:
                with writing(path):
                    save(chart, path, has_title=not asked().get("no_title"), width=asked().get("figure_width"))
            except FigureError as error:
                failures.append((error_message(error), Path(path).stem))
            else:
                paths.append(path)
        text = "none"
        if paths:
            names = format_in_brackets([Path(path).name for path in paths])
            text = f"{format_count(len(paths), 'file')} in {shown_path(self.folder, self.folder)}{names}"
        elif self.why_none:
            text = f"none: {self.why_none}"
        yield Fact("figures", paths, "figures", text, is_note=True)
        not_drawn = group_values(failures)
        if not_drawn:
            reasons = [f"{format_list(names)}: {why}" for why, names in not_drawn.items()]
            yield Fact("not_drawn", not_drawn, "not drawn", "; ".join(reasons), is_note=True)


def claim_figures(folder: str) -> None:
    """Claim the folder of --figures, before anything is computed."""
    check_folder("figures", folder)
    outputs_of_command().claim_folder("--figures", folder)
    hooks.service("figures")  # or the error that says what to install


def draw_figures(subjects: Subjects, measures: Sequence[str]) -> Figures:
    """Draw the figures of some objects as --figures and --figure say, and claim their files.

    Parameters
    ----------
    subjects : Subjects
        What figures are drawn of.
    measures : sequence of str
        What is drawn by default is by the first.
    """
    from deadheat.plugins.figures.choice import OF_ONE_QUERY
    from deadheat.plugins.figures.figures import drawings
    from deadheat.plugins.figures.painter import painter

    folder, names = asked()["figures"], asked()["figure_names"]
    charts: dict[str, Any] = {}
    failures: list[tuple[str, str]] = []
    if names:
        chosen = _by_name(subjects, measures, names)
        failures += _without_subject(chosen, names)
    else:
        chosen = _by_default(subjects, measures)
    if chosen and asked()["figure_format"] != "json":
        painter.start()  # while charts are made
    with phase("drawing figures", len(chosen)) as advance:
        for one in chosen:
            for drawing in drawings(one.subject, one.measures, names=one.names, **one.options):
                name = one.before + drawing.name
                if drawing.error is not None:
                    failures.append((error_message(drawing.error), name))
                if drawing.chart is not None:
                    charts[_claim_figure(folder, name)] = drawing.chart
            advance(1)
    why_none = OF_ONE_QUERY if not names and not charts and not failures else ""
    return Figures(folder, charts, failures, why_none)


def _by_name(subjects: Subjects, measures: Sequence[str], names: Collection[str]) -> list[Drawn]:
    """Return what is drawn of each object if figures are asked for by name, or all of them."""
    wanted = None if ALL_FIGURES in names else names
    return [Drawn(before, subject, options, wanted, measures) for before, subject, options in subjects]


def _by_default(subjects: Subjects, measures: Sequence[str]) -> list[Drawn]:
    """Return what is drawn if no figure is asked for: of the first object of each kind, at most three in all.

    With several kinds, the first figure of each comes before the second of any.
    """
    from deadheat.plugins.figures.choice import MOST_SHOWN, figures_to_show, kind_of

    first_of_kind: dict[str, Drawn] = {}
    names_by_kind: dict[str, tuple[str, ...]] = {}
    for before, subject, options in subjects:
        kind = kind_of(subject)
        if kind not in first_of_kind:
            first_of_kind[kind] = Drawn(before, subject, options, (), measures[:1])
            names_by_kind[kind] = figures_to_show(subject, measures[0] if measures else "")
    by_turn = []
    for place in range(MOST_SHOWN):
        by_turn += [(kind, names[place]) for kind, names in names_by_kind.items() if place < len(names)]
    kept = group_values(by_turn[:MOST_SHOWN])
    return [replace(drawn, names=kept[kind]) for kind, drawn in first_of_kind.items() if kind in kept]


def _without_subject(chosen: Sequence[Drawn], names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield why figures that were asked for by name have nothing to show, each before its name."""
    from deadheat.plugins.figures.choice import kind_of
    from deadheat.plugins.figures.registration import REGISTRY

    kinds = {kind_of(one.subject) for one in chosen}
    for name in names:
        if name != ALL_FIGURES and kinds.isdisjoint(REGISTRY[name].of):
            yield " or ".join(NEEDED_BY_FIGURES[kind] for kind in REGISTRY[name].of), name


def _claim_figure(folder: str, name: str) -> str:
    """Claim the file of a figure, and return it: with a number behind its name where an earlier figure has that."""
    from deadheat.core.io.file_names import LONGEST_NAME, make_file_name

    outputs = outputs_of_command()
    for number in count(1):
        numbered = name if number == 1 else f"{name} {number}"
        path = str(Path(folder) / f"{make_file_name(numbered, LONGEST_NAME - 15)}.{asked()['figure_format']}")
        if outputs.option_of(path) != "--figures":
            outputs.claim("--figures", path)
            return path
    raise AssertionError  # there is always a next number
