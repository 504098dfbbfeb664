"""What every kind of case has: how one is made, how deadheat reads it, and what that should give."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from fuzz.strict import Row


class Kind(ABC):
    """One kind of file.

    Attributes
    ----------
    name : str
        Of the kind, and the ending of its files.
    may_refuse : bool
        Whether deadheat may refuse what the strict reader takes: a damaged part may be one that only it looks at.
    n_cases : int
        That the tests try; fewer where one takes long.
    """

    name: ClassVar[str]
    may_refuse: ClassVar[bool] = False
    n_cases: ClassVar[int] = 60

    @abstractmethod
    def write(self, folder: Path, rng: Random) -> Path:
        """Write a damaged file, and whatever belongs to it; return what is to be read."""

    @abstractmethod
    def read(self, path: Path) -> list[Row] | None:
        """Return what deadheat reads; None where only its errors count."""

    def expected(self, path: Path) -> list[Row] | None:  # noqa: B027 - not every kind has one
        """Return what the strict reader reads, or raise `strict.Refused`; None if there is none."""
