"""Judgments that an option names in the place of QRELS: which one the command was given, and what goes with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from deadheat.core import hooks
from deadheat.core.cli.paths import asked
from deadheat.core.data.judging import JudgesRuns
from deadheat.core.data.kind_of_judgments import DOCUMENTS, KindOfJudgments

if TYPE_CHECKING:
    from deadheat.core.data.qrels import Qrels


class JudgmentsOption(NamedTuple):
    """An option that takes a file of judgments in the place of QRELS.

    It is the ``JUDGMENTS`` of a module of the kind "judgments".

    Attributes
    ----------
    name : str
        Its parameter, such as ``spans``.
    typed : str
        What people type.
    others : tuple of str
        Parameters that are about these judgments alone.
    refuses : tuple of str
        Parameters of commands that do not go with them.
    runs : str
        What the runs are then.
    kind : callable
        Returns the record of their kind.
    open : callable
        Reads a file of them, under the other options of the command.
    open_like : callable
        Takes a file and the qrels of a saved evaluation that such judgments made, and reads the file under their rule.
    """

    name: str
    typed: str
    others: tuple[str, ...]
    refuses: tuple[str, ...]
    runs: str
    kind: Callable[[], KindOfJudgments]
    open: Callable[[str], JudgesRuns]
    open_like: Callable[[str, Qrels], JudgesRuns]


def options_of_judgments() -> list[JudgmentsOption]:
    """Return all such options, in the order of the registry."""
    return [module.JUDGMENTS for module in hooks.load("judgments")]


def judgments_asked() -> JudgmentsOption | None:
    """Return the option that the command was given in the place of QRELS; None with QRELS."""
    options = asked()
    for option in options_of_judgments():
        if options.get(option.name) is not None:
            return option
    return None


def kind_asked() -> KindOfJudgments:
    """Return the kind of the judgments that the command was given."""
    option = judgments_asked()
    return DOCUMENTS if option is None else option.kind()
