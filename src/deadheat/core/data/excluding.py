"""What leaves documents out of judgments and runs before they are placed; a plugin makes it of an argument."""

from __future__ import annotations

from typing import Protocol

from deadheat.core import hooks
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source


class Excludes(Protocol):
    """Leaves documents out. Judgments come before the runs under them, whose notes say what was relevant."""

    def of_qrels(self, qrels: Qrels) -> Qrels:
        """Return judgments without the excluded documents."""
        ...

    def of_run(self, run: Run) -> Run:
        """Return a run without the excluded documents."""
        ...


class ExcludesNothing:
    """Leaves nothing out."""

    def of_qrels(self, qrels: Qrels) -> Qrels:
        """Return the judgments as they are."""
        return qrels

    def of_run(self, run: Run) -> Run:
        """Return the run as it is."""
        return run


EXCLUDES_NOTHING = ExcludesNothing()


def read_exclusion(exclude: Source | Excludes | None) -> Excludes:
    """Return what leaves out the documents that a caller excludes; None: nothing."""
    if exclude is None:
        return EXCLUDES_NOTHING
    exclusion: Excludes = hooks.service("exclude").read_exclusion(exclude)
    return exclusion


def as_argument(exclusion: Excludes) -> Excludes | None:
    """Return what stands for the argument that was read, so that it is read once; None where it was not given."""
    if exclusion is EXCLUDES_NOTHING:
        return None
    return exclusion
