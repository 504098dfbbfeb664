"""What a command writes: each file is claimed before the first is written, and none is an input or another output."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Collection, Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from os.path import samestat
from pathlib import Path
from stat import S_ISREG

import click

from deadheat.core.cli.errors import refuse_if

STANDARD_OUTPUT = "standard output"
SEPARATORS = tuple(filter(None, (os.sep, os.altsep)))


@dataclass(frozen=True)
class Claim:
    """A file that a command is about to write.

    Attributes
    ----------
    option : str
        What names it, for messages.
    path : str
    """

    option: str
    path: str


class Outputs:
    """The files that a command reads and writes: no two outputs are one file, and none is an input.

    Parameters
    ----------
    read : set of tuple
        Device and number of each file that was opened to be read, as
        `deadheat.core.io.guarding.collect_read_files` fills it.
    """

    def __init__(self, read: Collection[tuple[int, int]] = ()) -> None:
        self._read = read
        self._inputs: dict[str, None] = {}
        self._claims: dict[Hashable, Claim] = {}
        self._folders: dict[Hashable, Claim] = {}
        self._replaced: set[Hashable] = set()
        with suppress(AttributeError, OSError, ValueError):  # it is closed, or no file
            status = os.fstat(sys.stdout.fileno())
            if S_ISREG(status.st_mode):
                self._claims[status.st_dev, status.st_ino] = Claim(STANDARD_OUTPUT, STANDARD_OUTPUT)

    def name_inputs(self, paths: Iterable[str]) -> None:
        """Name files that the command is going to read."""
        self._inputs |= dict.fromkeys(paths)

    def claim(self, option: str, path: str, *, replaces: str | None = None, hint: str = "choose another name") -> None:
        """Refuse an output that is an input, a folder, or another output of the command.

        Parameters
        ----------
        option : str
            What names it, such as ``--save``.
        path : str
        replaces : str, optional
            The input that it may replace.
        hint : str
            What to do where it is an input.
        """
        refuse_if(names_folder(path), f"the output {path!r} is a folder: name a file")
        place = place_of(path)
        is_repeated = self._claims.get(place) == Claim(option, path)
        if place is None or is_repeated:  # a device or a pipe may well be several things
            return
        for given in self._inputs:
            is_input = given != replaces and place_of(given) == place
            refuse_if(is_input, f"the output {path!r} is the input {given!r}: {hint}")
        self._refuse_taken(self._claims.get(place) or self._folders.get(place), option, path)
        self._claims[place] = Claim(option, path)
        if replaces is not None:
            self._replaced.add(place)
        self.check_read()

    def claim_folder(self, option: str, path: str) -> None:
        """Refuse a folder in whose place the command writes a file; several options may write into one folder."""
        place = place_of(path)
        self._refuse_taken(self._claims.get(place), option, path)
        self._folders[place] = Claim(option, path)

    @staticmethod
    def _refuse_taken(earlier: Claim | None, option: str, path: str) -> None:
        if earlier is not None:
            both = f"{earlier.option} and {option} both write {path!r}"
            raise click.UsageError(f"{both}: choose another name for one of them")

    def option_of(self, path: str) -> str | None:
        """Return the option that names a file as an output; None if there is none."""
        claim = self._claims.get(place_of(path))
        return None if claim is None else claim.option

    def check_read(self) -> None:
        """Refuse outputs that turned out to be read, such as files of a folder: before the first is written."""
        for place, claim in self._claims.items():
            was_read = place in self._read and place not in self._replaced
            refuse_if(was_read, f"the output {claim.path!r} is a file that this command reads: choose another name")


def names_folder(path: str) -> bool:
    """Return whether a path is a folder, or is written as one.

    Examples
    --------
    >>> names_folder("x.csv/"), names_folder("x.csv")
    (True, False)
    """
    return path.endswith(SEPARATORS) or Path(path).is_dir()


def place_of(path: str) -> Hashable:
    """Return what is equal for all names of one file, also of one that is not there yet; None if it is no file.

    Links lead to their targets; and where the file system takes ``A`` for ``a``, so does this.
    """
    folder = Path(os.path.realpath(path))
    below: list[str] = []
    while True:
        try:
            status = folder.stat()
        except (FileNotFoundError, NotADirectoryError):
            below.append(folder.name)
            folder = folder.parent
        except (OSError, ValueError):  # a name that is too long, or has a NUL: to write to it fails
            return str(folder)
        else:
            break
    if not below:
        return (status.st_dev, status.st_ino) if S_ISREG(status.st_mode) else None
    if ignores_case(folder):
        below = [unicodedata.normalize("NFC", name).casefold() for name in below]
    return (status.st_dev, status.st_ino, *below)


def ignores_case(folder: Path) -> bool:
    """Return whether the file system of a folder takes names in other letters for the same file."""
    with suppress(OSError):
        for entry in chain(folder.iterdir(), [folder]):
            other = entry.name.swapcase()
            if entry.name.isascii() and other != entry.name:
                return samestat(entry.lstat(), entry.with_name(other).lstat())
    return False
