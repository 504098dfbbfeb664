"""Folders in place of a file: data sets of BEIR, predictions of MTEB, and those that plugins read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from deadheat.core import hooks
from deadheat.core.errors import DataError, SwappedFilesError
from deadheat.core.io.documents import SWAPPED
from deadheat.core.io.kinds import OTHER_KIND, Kind

if TYPE_CHECKING:
    from deadheat.core.io.content import Content

QRELS = "qrels/*.tsv"  # of BEIR
PREDICTIONS = "_predictions.json"  # of MTEB, after the name of the task


class FolderReader(NamedTuple):
    """A way to read a folder of files, which a module of the kind "objects" registers.

    Attributes
    ----------
    files : callable
        Takes a folder and the kind that is wanted, or None; returns the files that it would read.
    read : callable
        Takes these files, the folder, the kind, and names of columns that the user gives.
    """

    files: Callable[[Path, Kind | None], Sequence[Path]]
    read: Callable[[Sequence[Path], Path, Kind, Mapping[str, str]], Content]


REGISTERED: list[FolderReader] = []  # asked in their order, and only where there is no file to choose


def read_folder(folder: Path, kind: Kind, columns: Mapping[str, str]) -> Content | None:
    """Return what all files of a folder hold together; None if one of its files is to be read."""
    for reader in _list_readers(folder):
        files = reader.files(folder, kind)
        if files:
            return reader.read(files, folder, kind, columns)
    return None


def list_files(folder: Path) -> Sequence[Path]:
    """Return the files of a folder that are read in its place.

    Raises
    ------
    DataError
        There are none, or several to choose from.
    """
    for reader in _list_readers(folder):
        files = reader.files(folder, None)
        if files:
            return files
    file, _ = choose_file(folder)
    return [file]


def _list_readers(folder: Path) -> Sequence[FolderReader]:
    """Return the readers that may know a folder; none if there is a file in it to choose."""
    if any(folder.glob(QRELS)) or any(folder.glob(f"*{PREDICTIONS}")):
        return ()
    return hooks.load_in_order("objects", REGISTERED, lambda reader: reader.read.__module__)


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
    qrels = sorted(folder.glob(QRELS))
    predictions = sorted(folder.glob(f"*{PREDICTIONS}"))
    holds: Kind = "qrels" if qrels else "run"
    if not (qrels or predictions):
        raise DataError(
            "is a directory",
            allowed=f"a file, Parquet files, a data set of BEIR (with qrels/*.tsv), predictions of MTEB"
            f" (*{PREDICTIONS}), or responses of searches (a .json file for each query, named by it)",
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
    test_splits = [path for path in qrels if path.stem == "test"]
    candidates = test_splits or qrels or predictions
    if len(candidates) > 1:
        raise DataError(
            "holds several splits" if qrels else "holds several tasks",
            found=", ".join(path.relative_to(folder).as_posix() for path in candidates),
            allowed="one",
            hint=f"name the file: {candidates[0]}",
            path=folder,
        )
    (file,) = candidates
    if not qrels:
        return file, f"run from {file.name}"
    note = f"qrels of the split {file.stem} of {folder.name}"
    other_splits = ", ".join(path.stem for path in qrels if path != file)
    if other_splits:
        note += f"; others: {other_splits}"
    return file, note
