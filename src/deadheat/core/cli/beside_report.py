"""Files that a command writes beside its report, of what it computed, such as figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from deadheat.core import hooks
from deadheat.core.cli.paths import asked

if TYPE_CHECKING:
    from deadheat.core.report.model import Fact, Report

Subjects: TypeAlias = Iterable[tuple[str, Any, Mapping[str, Any]]]
"""Objects that files are made of: each after what the names of its files begin with, and before options, of which each
file gets those that it knows."""


class Made(Protocol):
    """Files that are made, claimed, and not written yet."""

    def write(self) -> Iterator[Fact]:
        """Write the files, and yield what the report says of them."""
        ...


class ReportCompanion(NamedTuple):
    """Options under which a command writes files of its results beside its report.

    It is the ``COMPANION`` of a module of the kind "companions".

    Attributes
    ----------
    parameters : tuple of str
        Of its options. Without the first one nothing is written.
    options_for : callable
        Takes the kinds of objects that a command has, and an example for its help; returns a decorator that gives the
        command the options.
    claim : callable
        Takes the options of a command, before anything is computed: claims what will be written, and refuses what needs
        the first parameter where that is not given.
    rule_beside : callable
        Takes a tie policy, and returns the rule that breaks ties beside it, whose values are shown too; None without.
    make : callable
        Takes `Subjects` and the measures, the first of which has what is made by default; returns the files.
    """

    parameters: tuple[str, ...]
    options_for: Callable[[Sequence[str], str], Callable[[Any], Any]]
    claim: Callable[[Mapping[str, Any]], None]
    rule_beside: Callable[[str], str | None]
    make: Callable[[Subjects, Sequence[str]], Made]


def report_companions() -> list[ReportCompanion]:
    """Return all companions of reports, in the order of the registry."""
    return [module.COMPANION for module in hooks.load("companions")]


def report_companions_asked() -> list[ReportCompanion]:
    """Return those that the command was given."""
    options = asked()
    return [companion for companion in report_companions() if options.get(companion.parameters[0]) is not None]


def with_companion_options(*kinds: str, such_as: str) -> Callable[[Any], Any]:
    """Return a decorator that gives a command the options of all companions of its report.

    Parameters
    ----------
    *kinds : str
        Of the objects that the command has.
    such_as : str
        A figure of them, for the help.
    """

    def decorate(command: Any) -> Any:  # noqa: ANN401 - as click's own
        for companion in reversed(report_companions()):
            command = companion.options_for(kinds, such_as)(command)
        return command

    return decorate


def parameters_of_companions() -> tuple[str, ...]:
    """Return the parameters of all these options."""
    return tuple(name for companion in report_companions() for name in companion.parameters)


def claim_companions(options: Mapping[str, Any]) -> None:
    """Claim what a command will write beside its report, before anything is computed."""
    for companion in report_companions():
        companion.claim(options)


def rule_of_companions(ties: str) -> str | None:
    """Return the rule that breaks ties beside a policy, whose values are shown beside the report; None without any."""
    for companion in report_companions_asked():
        rule = companion.rule_beside(ties)
        if rule is not None:
            return rule
    return None


def begin_names(groupings: Sequence[Sequence[str]]) -> list[str]:
    """Return what the names of the files of each set of strata begin with: nothing for a single set."""
    if len(groupings) < 2:
        return [""] * len(groupings)
    return [f"{'-'.join(columns)}-" for columns in groupings]


def make_companions(subjects: Subjects, measures: Sequence[str]) -> list[Made]:
    """Make the files that the command was asked for, and claim them.

    Parameters
    ----------
    subjects : Subjects
    measures : sequence of str
        What is made by default is by the first.
    """
    listed = list(subjects)
    return [companion.make(listed, measures) for companion in report_companions_asked()]


def write_companions(report: Report, made: Sequence[Made]) -> Report:
    """Write these files, and return the report with what was written and what was not."""
    facts = list(report.facts)
    for files in made:
        facts += files.write()
    return replace(report, facts=tuple(facts))


def with_companions(report: Report, subjects: Subjects, measures: Sequence[str]) -> Report:
    """Make and write the files that the command was asked for, and return the report with what it says of them."""
    return write_companions(report, make_companions(subjects, measures))
