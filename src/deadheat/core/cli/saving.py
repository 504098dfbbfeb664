"""Saved evaluations that a command writes: where they go, and what is said of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deadheat.core.cli.errors import BAD_DATA, CommandError, error_message, refuse_if
from deadheat.core.cli.paths import outputs_of_command, shown_path
from deadheat.core.cli.printing import check_folder, writing
from deadheat.core.errors import DataError

if TYPE_CHECKING:
    from deadheat.core.report.model import Fact

    TextChoice = click.Choice[str]
else:
    TextChoice = click.Choice  # click 8.1 does not say what the choices are

REPLACED = " (replaced an earlier one)"


def save_targets(
    target: str | None,
    names: Sequence[str],
    *,
    replace: bool,
    replaces: str | None = None,
    hint: str = "choose another name",
) -> dict[str, str]:
    """Return where each run is saved: a file, or a folder in which it is a new file; nothing without a target.

    Parameters
    ----------
    target : str, optional
    names : sequence of str
        Of the runs.
    replace : bool
        Whether a folder has one file a run.
    replaces : str, optional
        The input that it may replace.
    hint : str
        What to do where a target is an input.

    Examples
    --------
    >>> save_targets("results", ["bm25", "b/dense"], replace=True)
    {'bm25': 'results/bm25.json', 'b/dense': 'results/b_dense.json'}
    >>> save_targets("results/", ["bm25"], replace=False)
    {'bm25': 'results/'}
    """
    if target is None:
        return {}
    from deadheat.core.evaluation.save_folder import is_folder, name_of_run
    from deadheat.core.evaluation.saved import SAVED, SUFFIX

    is_file = Path(target).suffix.lower() == SUFFIX and not is_folder(target)
    refuse_if(
        len(names) > 1 and (is_file or Path(target).is_file()),
        f"--save {target}: {len(names)} runs are saved in a folder, which has no ending",
    )
    refuse_if(
        len(names) == 1 and not is_folder(target) and not is_file,
        f"--save {target}: name a file that ends in .json, or a folder: one that is there, or with a / behind its name",
    )
    if is_file:
        paths = [target]
    elif replace:
        paths = [str(Path(target) / f"{name_of_run(name)}{SUFFIX}") for name in names]
    else:
        check_folder("save", target)
        return dict.fromkeys(names, os.path.join(target, ""))  # noqa: PTH118 - a Path has no / at its end
    outputs = outputs_of_command()
    for path in paths:
        refuse_if(
            paths.count(path) > 1, f"--save {target}: two runs would be saved as {path}; give their files other names"
        )
        outputs.claim("--save", path, replaces=replaces, hint=hint)
        SAVED.refuse_foreign(path)
    return dict(zip(names, paths, strict=True))


def save_all(saves: Sequence[tuple[str, Callable[[str], Path]]], more: str = "") -> Fact:
    """Save evaluations, and return what a report says of it.

    Parameters
    ----------
    saves : sequence of (str, callable)
        The target of each, and what saves to it and returns the file.
    more : str, default ""
        What else the report says.
    """
    from deadheat.core.report.model import Fact

    paths: list[str] = []
    texts: list[str] = []
    for target, save in saves:
        is_replaced = Path(target).is_file()
        try:
            with writing(target):
                path = save(target)
        except (CommandError, DataError) as error:
            if len(saves) == 1:
                raise
            raise _with_kept(error, paths) from error
        paths.append(target if Path(target) == path else str(path))
        texts.append(shown_path(paths[-1], paths[-1]) + REPLACED * is_replaced)
    text = ", ".join(texts) + more
    return Fact("saved", paths, "saved", text, brief=text)


def _with_kept(error: CommandError | DataError, paths: Sequence[str]) -> CommandError:
    """Return the error of a save that failed, with those of the same command that were kept."""
    message = error.message if isinstance(error, CommandError) else error_message(error)
    kept = f"saved before that: {', '.join(paths)}" if paths else "nothing was saved"
    return CommandError(f"{message}; {kept}", BAD_DATA)
