"""A folder of saved evaluations: what its files are called, and which of them is the baseline of an evaluation.

Nothing is replaced there: each save is a new file, named by the time, the label and the run that are in it.
"""

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from deadheat.core.errors import DataError
from deadheat.core.evaluation.intervals import IntervalOptions
from deadheat.core.evaluation.origin import Origin
from deadheat.core.evaluation.saved import SAVED, SUFFIX, is_saved, write
from deadheat.core.evaluation.scores import Scores
from deadheat.core.io.file_names import LONGEST_NAME, make_file_name
from deadheat.core.io.files import check_path
from deadheat.core.io.guarding import note_file
from deadheat.core.io.writing import make_folder

ROOM = 15  # bytes that a file name leaves for its ending
ONE_SAVE = "leave one out (evaluate --save FOLDER/ --replace keeps one save of each run)"
MOST_LISTED = 20  # saves in an error
HEAD_KEYS = ("name", "time", "label")


@dataclass(frozen=True)
class Save:
    """What the head of a saved evaluation says.

    Attributes
    ----------
    path : pathlib.Path
    run : str
        The name of the system.
    label : str
        Empty without one.
    time : str
        As ISO 8601 writes it, in UTC: texts sort as times do.
    label_is_branch : bool
        Whether nobody gave the label.
    """

    path: Path
    run: str
    label: str
    time: str
    label_is_branch: bool = False

    def __str__(self) -> str:
        label = f", label {self.label!r}" if self.label else ""
        return f"{self.path.name} (run {self.run!r}{label})"


def is_folder(path: str | Path) -> bool:
    """Return whether evaluations are saved into a path: a folder that is there, or a text that ends as one does."""
    return Path(path).is_dir() or os.fspath(path).endswith(("/", os.sep))


def name_of_run(name: str) -> str:
    """Return the name of the one file of a run, without an ending.

    Examples
    --------
    >>> name_of_run("bm25"), name_of_run("b/dense")
    ('bm25', 'b_dense')
    """
    return make_file_name(name, LONGEST_NAME - ROOM)


def refuse_other_run(path: Path, name: str) -> None:
    """Raise `DataError` where the one file of a run has a save of another run, whose name is alike."""
    if not is_saved(path):
        return
    run = read_head(path).run
    if run != name:
        raise DataError(f"is a save of the run {run!r}, not of {name!r}", hint="call one otherwise", path=path)


def name_of_save(name: str, origin: Origin) -> str:
    """Return the name of a new file, without an ending: time, label and run; the run alone where both are equal.

    Parameters
    ----------
    name : str
        Of the run.
    origin : Origin

    Examples
    --------
    >>> name_of_save("bm25", Origin("2026-11-28T20:04:05.123Z", "main"))
    '20261128T200405Z-main-bm25'
    >>> name_of_save("week1", Origin("2026-11-28T20:04:05.123Z", "week1"))
    '20261128T200405Z-week1'
    """
    parts = [re.sub(r"[-:]|\.\d+", "", origin.time)]
    if origin.label and origin.label != name:
        parts.append(origin.label)
    parts.append(name)
    return make_file_name("-".join(parts), LONGEST_NAME - ROOM)


@contextmanager
def target_of_save(path: str | Path, name: str, origin: Origin, *, replace: bool) -> Iterator[Path]:
    """Yield the file that an evaluation is saved to: the path itself, or a file in it if it is a folder.

    Parameters
    ----------
    path : path
    name : str
        Of the run.
    origin : Origin
    replace : bool
        Whether a folder has one file a run, which a later save replaces; else the file is a new one, which no other
        process has.
    """
    folder = check_path(path)
    if not is_folder(path):
        yield folder
        return
    if replace:
        path_of_run = folder / f"{name_of_run(name)}{SUFFIX}"
        refuse_other_run(path_of_run, name)
        yield path_of_run
        return
    make_folder(folder)
    reserved = _reserve(folder, name_of_save(name, origin))
    try:
        yield reserved
    except BaseException:
        if not reserved.stat().st_size:
            reserved.unlink()
        raise


def save_into(
    path: str | Path, scores: Sequence[Scores], options: IntervalOptions, parts: Mapping[str, Any], *, replace: bool
) -> Path:
    """Save an evaluation in a file or a folder, and return the file.

    Parameters
    ----------
    path : path
    scores, options, parts
        As for :func:`deadheat.core.evaluation.saved.write`.
    replace : bool
        Whether a folder has one file a run.
    """
    with target_of_save(path, parts["name"], parts["origin"], replace=replace) as target:
        write(target, scores, options, parts)
    return target


def _reserve(folder: Path, name: str) -> Path:
    """Create an empty file that was not there, with a number behind its name where others are."""
    for number in count(1):
        ending = "" if number == 1 else f"-{number}"
        path = folder / f"{name}{ending}{SUFFIX}"
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            continue
        return path
    raise AssertionError  # there is always a next number


def find_baseline(
    folder: str | Path, name: str, origin: Origin | None = None, *, without: Collection[Path] = ()
) -> Path:
    """Return the newest save in a folder of the same run, or without one of the same label.

    Parameters
    ----------
    folder : path
    name : str
        Of the run that is compared with the baseline.
    origin : Origin, optional
        Of its evaluation, if that was loaded: its baseline is an earlier one, and never itself.
    without : collection of pathlib.Path, default ()
        Files that were saved of it, resolved.

    Raises
    ------
    DataError
        There is no such save; or several fit: the newest of the run has another label than the newest of both run and
        label, or several runs have the label, or several saves one time. The error lists them.
    """
    folder = Path(folder)
    every_save = list_saves(folder)
    saves = [save for save in every_save if save.path.resolve() not in without]
    which = "" if len(saves) == len(every_save) else "other "
    if origin is not None:
        saves = [save for save in saves if save.time < origin.time]
        which = "earlier "
    if not saves:
        raise DataError(
            f"there is no {which}saved evaluation to compare with",
            hint="deadheat evaluate QRELS RUN --save FOLDER/ writes them",
            path=folder,
        )
    label = "" if origin is None else origin.label
    fitting = _select_fitting(saves, name, label)
    wanted = f"the run {name!r}" + (f" or the label {label!r}" if label else "")
    if not fitting:
        problem = f"no saved evaluation has {wanted}; there are {_list(saves)}"
        raise DataError(problem, hint="name the file of the baseline", path=folder)
    if len(fitting) > 1:
        problem = f"several saved evaluations fit {wanted}: {_list(fitting)}"
        raise DataError(problem, hint="name the file of the baseline", path=folder)
    return fitting[0].path


def list_saves(folder: Path) -> list[Save]:
    """Return what the saved evaluations of a folder say of themselves; other files are left out."""
    saves = []
    for path in sorted(folder.iterdir()):
        if is_saved(path):
            note_file(path.stat())
            saves.append(read_head(path))
    return saves


def read_head(path: Path) -> Save:
    """Return what the first lines of a saved evaluation say: its tables, below, may be large."""
    head: dict[str, Any] = {}
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            entry = line.strip().removesuffix(",")
            if entry == "{":
                continue
            try:
                head |= json.loads(f"{{{entry}}}")
            except ValueError:  # what begins a table
                break
    if not all(isinstance(head.get(key), str) for key in HEAD_KEYS):  # another program has written the lines anew
        head = SAVED.read(path, lambda document: {key: document.get(key) for key in (*HEAD_KEYS, "label_is_branch")})
    return Save(path, head["name"], head["label"], head["time"], head.get("label_is_branch") is True)


def _select_fitting(saves: Sequence[Save], name: str, label: str) -> list[Save]:
    """Return the saves that may be the baseline: one, where it is clear."""
    same_run = [save for save in saves if save.run == name]
    same_label = [save for save in saves if label and save.label == label]
    if not same_run:
        fitting = []
        for run in dict.fromkeys(save.run for save in same_label):
            fitting += _select_newest([save for save in same_label if save.run == run])
        return fitting
    fitting = _select_newest(same_run)
    both = [save for save in same_run if save in same_label]
    fitting += [save for save in _select_newest(both) if save not in fitting]
    return fitting


def _select_newest(saves: Sequence[Save]) -> list[Save]:
    """Return the save with the latest time; several, if they have the same."""
    latest = max((save.time for save in saves), default="")
    return [save for save in saves if save.time == latest]


def _list(saves: Sequence[Save]) -> str:
    """Return the newest saves, a text each."""
    in_order = sorted(saves, key=lambda save: save.time, reverse=True)
    shown = [str(save) for save in in_order[:MOST_LISTED]]
    if len(in_order) > MOST_LISTED:
        shown.append(f"and {len(in_order) - MOST_LISTED} older ones")
    return ", ".join(shown)
