"""Folders that other tools write, with the file in them that is meant."""

from __future__ import annotations

from pathlib import Path

from deadheat.errors import DataError, SwappedFilesError
from deadheat.io.kinds import OTHER_KIND, Kind
from deadheat.wording import Plain

_PREDICTIONS = "_predictions.json"  # of MTEB, after the name of the task
_SPLIT = "test"  # of BEIR, if there is a choice


def file_in(folder: Path, kind: Kind | None = None) -> tuple[Path, str]:
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
    qrels = sorted(folder.glob("qrels/*.tsv"))
    predictions = sorted(folder.glob(f"*{_PREDICTIONS}"))
    holds: Kind = "qrels" if qrels else "run"
    if not (qrels or predictions):
        allowed = f"a file, a data set of BEIR (with qrels/*.tsv), or predictions of MTEB (*{_PREDICTIONS})"
        raise DataError("is a directory", allowed=allowed, path=folder)
    if kind not in (None, holds):
        what = {"qrels": "a data set of BEIR, which has judgments", "run": "predictions of MTEB, which are runs"}
        hint = "were qrels and run given in the wrong order?"
        raise SwappedFilesError(f"is {what[holds]}", allowed=OTHER_KIND[holds], hint=hint, path=folder)
    return _split(qrels, folder) if qrels else _task(predictions, folder)


def _split(files: list[Path], folder: Path) -> tuple[Path, str]:
    """Return the test split, or the only one."""
    chosen = [one for one in files if one.stem == _SPLIT] or files
    if len(chosen) > 1:
        raise _too_many("splits", chosen, folder)
    others = [one.stem for one in files if one != chosen[0]]
    also = f"; others: {', '.join(others)}" if others else ""
    return chosen[0], f"qrels of the split {chosen[0].stem} of {folder.name}{also}"


def _task(files: list[Path], folder: Path) -> tuple[Path, str]:
    if len(files) > 1:
        raise _too_many("tasks", files, folder)
    return files[0], f"run from {files[0].name}"


def _too_many(what: str, files: list[Path], folder: Path) -> DataError:
    given = Plain(", ".join(one.relative_to(folder).as_posix() for one in files))
    hint = f"name the file: {files[0]}"
    return DataError(f"holds several {what}", given=given, allowed="one", hint=hint, path=folder)
