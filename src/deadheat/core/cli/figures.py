"""Figures that a command draws beside its report, by the plugin ``figures``; without it none are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from deadheat.core import hooks
from deadheat.core.cli.errors import refuse
from deadheat.core.cli.options import FIGURES, with_options
from deadheat.core.cli.paths import asked

if TYPE_CHECKING:
    from deadheat.core.report.model import Report


def with_figure_options(*kinds: str, such_as: str) -> Callable[[Any], Any]:
    """Return a decorator that gives a command the options of figures.

    Parameters
    ----------
    *kinds : str
        Of the objects that the command draws.
    such_as : str
        A figure of them, for the help.
    """
    modules = hooks.list_modules_of_options("figures")
    if not modules:
        return lambda command: command
    by_name = import_module(modules[0]).option_of_names(kinds, such_as)
    others = with_options(*(f"figures.{name}" for name in FIGURES[2:]))
    return lambda command: with_options("figures.figures")(by_name(others(command)))


def claim_figures(options: Mapping[str, Any]) -> None:
    """Claim the folder of --figures; without it refuse --figure."""
    if options.get("figures") is None:
        refuse(("figure_names",), "needs --figures DIR, the folder that it is drawn into")
        return
    hooks.service("figure_files").claim_figures(options["figures"])


def rule_of_figures(ties: str) -> str | None:
    """Return the rule that breaks ties beside a policy, whose values figures show too; None without any."""
    if asked().get("figures") is None:
        return None
    rule: str | None = hooks.service("figure_files").rule_beside(ties)
    return rule


def befores(groupings: Sequence[Sequence[str]]) -> list[str]:
    """Return what the names of the figures of each set of strata begin with."""
    return [f"{'-'.join(columns)}-" if len(groupings) > 1 else "" for columns in groupings]


def draw_figures(subjects: Iterable[tuple[str, Any, Mapping[str, Any]]], measures: Sequence[str]) -> Any:  # noqa: ANN401 - of the plugin
    """Draw the figures of some objects as --figures and --figure say, and claim their files; None without --figures.

    Parameters
    ----------
    subjects : iterable of (str, object, dict)
        What figures are drawn of: each after what the names of its files begin with, and before the options of its
        figures, of which each gets those that it knows.
    measures : sequence of str
        What is drawn by default is by the first.
    """
    if asked().get("figures") is None:
        return None
    return hooks.service("figure_files").draw_figures(subjects, measures)


def with_figures(
    report: Report, subjects: Iterable[tuple[str, Any, Mapping[str, Any]]], measures: Sequence[str]
) -> Report:
    """Draw figures as `draw_figures` does, write them, and return the report with what was drawn and what was not."""
    return write_figures(report, draw_figures(subjects, measures))


def write_figures(report: Report, figures: Any) -> Report:  # noqa: ANN401 - of the plugin
    """Write figures, if there are any, and return the report with what was drawn and what was not."""
    if figures is None:
        return report
    return replace(report, facts=(*report.facts, *figures.write()))
