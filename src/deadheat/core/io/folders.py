"""Folders in place of a file: data sets of BEIR, predictions of MTEB, and those that plugins read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from deadheat.core import hooks
from deadheat.core.errors import DataError, SwappedFilesError
from deadheat.core.io.documents import SWAPPED
from deadheat.core.io.kinds import OTHER_KIND, Kind

if TYPE_CHECKING:
    from deadheat.core.io.formats.base import Content

QRELS = "qrels/*.tsv"  # of BEIR
PREDICTIONS = "_predictions.json"  # of MTEB, after the name of the task


class FolderReader(NamedTuple):
    """A way to read a folder of files, which a module of the kind "objects" registers.

    Attributes
    ----------
    files : callable
        Takes a folder and the kind that is wanted, or None; returns the files that it would read.
    read : callable
        Takes these files and the folder.
    """

    files: Callable[[Path, Kind | None], Sequence[Path]]
    read: Callable[[Sequence[Path], Path], Content]


REGISTERED: list[FolderReader] = []  # asked in their order, and only where there is no file to choose


def read_folder(folder: Path, kind: Kind) -> Content | None:
    """Return what all files of a folder hold together; None if one of its files is to be read."""
    for reader in _readers_of(folder):
        files = reader.files(folder, kind)
        if files:
            return reader.read(files, folder)
    return None


def list_files(folder: Path) -> Sequence[Path]:
    """Return the files of a folder that are read in its place.

    Raises
    ------
    DataError
        There are none, or several to choose from.
    """
    for reader in _readers_of(folder):
        files = reader.files(folder, None)
        if files:
            return files
    return [choose_file(folder)[0]]


def _readers_of(folder: Path) -> Sequence[FolderReader]:
    """Return the readers that may know a folder; none if there is a file in it to choose."""
    if any(folder.glob(QRELS)) or any(folder.glob(f"*{PREDICTIONS}")):
        return ()
    return hooks.load_in_order("objects", REGISTERED, lambda one: one.read.__module__)


def choose_file(folder: Path, kind: Kind | None = None) -> tuple[Path, str]:
    """Return the file in a folder of BEIR or of MTEB's predictions, and a note that says which.

    Parameters
    ----------
    folder : pathlib.Path
    kind : {"qrels", "run"}, optional
        What is wanted, if that is known.

    Raises
    ------
    DataError
        The folder is neither, or has several files to choose from.
    SwappedFilesError
        It holds the other kind.
    """
    qrels, predictions = sorted(folder.glob(QRELS)), sorted(folder.glob(f"*{PREDICTIONS}"))
    holds: Kind = "qrels" if qrels else "run"
    if not (qrels or predictions):
        raise DataError(
            "is a directory",
            allowed=f"a file, a data set of BEIR (with qrels/*.tsv), predictions of MTEB (*{PREDICTIONS}), or"
            " responses of searches (a .json file for each query, named by it)",
            hint=hooks.advise_on_missing("a folder that another tool writes", "objects"),
            path=folder,
        )
    if kind not in (None, holds):
        raise SwappedFilesError(
            "is a data set of BEIR, which has judgments" if qrels else "is predictions of MTEB, which are runs",
            allowed=OTHER_KIND[holds],
            hint=SWAPPED,
            path=folder,
        )
    chosen = [one for one in qrels if one.stem == "test"] or qrels or predictions
    if len(chosen) > 1:
        what, hint = "splits" if qrels else "tasks", f"name the file: {chosen[0]}"
        raise DataError(
            f"holds several {what}",
            found=", ".join(one.relative_to(folder).as_posix() for one in chosen),
            allowed="one",
            hint=hint,
            path=folder,
        )
    if not qrels:
        return chosen[0], f"run from {chosen[0].name}"
    others = ", ".join(one.stem for one in qrels if one != chosen[0])
    note = f"qrels of the split {chosen[0].stem} of {folder.name}"
    return chosen[0], f"{note}; others: {others}" if others else note
