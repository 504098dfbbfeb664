"""Which files a command reads and writes: checked before anything is computed, and named for people."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

import click

from deadheat.cli.engines import beside_runs, has_engine, opened_engine
from deadheat.cli.wording import DESCRIPTOR, STDIN, error_message
from deadheat.wording import printable

if TYPE_CHECKING:
    from deadheat.data.tables import Qrels, Run

T = TypeVar("T")


class _Named(click.Path):
    """A path that is not empty: Python takes an empty one for the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as click's own
        """Return the path, or fail if it is empty."""
        if not value:
            self.fail("the file name is empty, expected a path. Is a variable of the shell not set?", param, ctx)
        return super().convert(value, param, ctx)


PATH = _Named(readable=False)  # an unreadable file is reported later, as bad data
STDOUT = "-"


def input_path(text: str) -> str:
    """Return the path of an input; ``-`` is the standard input, kept in a file where the system has no path for it."""
    if text != "-":
        return text
    if Path(STDIN).exists():
        return STDIN
    context = click.get_current_context()
    if (key := "deadheat.stdin") not in context.meta:
        path = Path(context.with_resource(TemporaryDirectory(prefix="deadheat-"))) / "stdin"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        context.meta[key] = str(path)
    return str(context.meta[key])


def label(path: str, default: str) -> str:
    """Return the name of a file for people: without its format; `default` for a path made up by the shell.

    Examples
    --------
    >>> label("runs/bm25.run.gz", "run"), label("/dev/fd/63", "run"), label("/dev/stdin", "run")
    ('bm25', 'run', 'stdin')
    """
    from deadheat.data.tables import label_of

    named = Path(path)
    while has_engine() and named.name and not label_of(named).strip("*?"):  # the folder of a pattern
        named = named.parent
    return _made_up(path, default) or printable(label_of(named))


def open_qrels(path: str) -> Qrels:
    """Read qrels under the options of the command."""
    from deadheat.data.tables import Qrels

    qrels = Qrels(path, columns=named_columns("qrels")).normalized(read_option("normalize_ids", None))
    return beside_runs(qrels) if has_engine() else qrels


def within_collection(qrels: Qrels, options: Mapping[str, Any]) -> Qrels:
    """Hold the qrels against --collection."""
    from deadheat.evaluation.evaluate import checked

    path = options["collection"]
    return checked(qrels, path and input_path(path), options["rel"], strict=options["strict"])


def open_run(path: str, name: str, *, keyed: bool = True) -> Run:
    """Read a run under the options of the command; `keyed`: with its ties ordered as --then-by says."""
    from deadheat.data.tables import Run

    source = _in_engine(path) if has_engine() else path
    run = Run(source, name=name, columns=named_columns("run"), ascending=read_option("ascending", default=False))
    keys = second_keys() if keyed else ()
    run = run.then_by(*keys, score_precision=read_option("score_precision", None)) if keys else run
    return run.normalized(read_option("normalize_ids", None))


def _in_engine(path: str) -> object:
    from deadheat.io.guarding import guarded

    engine = opened_engine()
    with guarded(path):
        return engine.frame(path)


def second_keys() -> tuple[str, ...]:
    """Return what --then-by names: runs, and columns of the run's own file."""
    given: tuple[str, ...] = read_option("then_by", ())
    return tuple(map(input_path, given))


def named_columns(kind: str) -> dict[str, str]:
    """Return the columns that the user names for both kinds of files, or for this one as in ``run.score=sim``."""
    named: dict[str, str] = read_option("columns", {})
    both = {name: column for name, column in named.items() if "." not in name}
    return both | {
        name.removeprefix(f"{kind}."): column for name, column in named.items() if name.startswith(f"{kind}.")
    }


def read_option(name: str, default: T) -> T:
    """Return an option of `reading_options`, which commands do not pass on."""
    context = click.get_current_context(silent=True)
    return default if context is None else context.meta.get(f"deadheat.{name}", default)


def shown_path(path: str, default: str) -> str:
    """Return the path of a file as given, or a word for a path made up by the shell."""
    return _made_up(path, default) or printable(path)


def _made_up(path: str, default: str) -> str:
    if path == STDIN:
        return "stdin"
    return default if DESCRIPTOR.fullmatch(path) else ""


def check_inputs(paths: Sequence[str]) -> None:
    """Raise an error that names every file that cannot be read, and refuse a stream that is named twice."""
    from deadheat.errors import DataError
    from deadheat.io.engines import is_remote, parquet_files
    from deadheat.io.folders import file_in, responses_in
    from deadheat.io.source import readable
    from deadheat.io.sources import in_catalogue

    wrong, in_engine = [], has_engine()
    for path in dict.fromkeys(paths):
        if in_catalogue(path) or (in_engine and not Path(path).is_file() and (is_remote(path) or parquet_files(path))):
            continue
        try:
            one = Path(path)
            for file in (responses_in(one) or [file_in(one)[0]]) if one.is_dir() else [path]:
                readable(file)
        except DataError as error:
            wrong.append(error_message(error))
    if wrong:
        raise DataError("\n".join(wrong))
    for path in paths:
        if paths.count(path) > 1 and not in_engine and not Path(path).is_file():
            raise click.UsageError(f"{shown_path(path, path)} can be read only once, and is named twice")


def check_output(target: str | None, inputs: Sequence[str]) -> None:
    """Refuse an output that is one of the inputs, or in a folder that does not exist."""
    if target is None or target == STDOUT:
        return
    path = Path(target)
    for given in inputs:
        if _is_same_file(path, Path(given)):
            raise click.UsageError(f"the output {target!r} is the input {given!r}: choose another name")
    if path.is_dir():
        raise click.UsageError(f"the output {target!r} is a folder: name a file")
    folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
    if not path.exists() and not folder.is_dir():
        raise click.UsageError(f"no such folder: {str(folder)!r}")


def _is_same_file(target: Path, given: Path) -> bool:
    """Return whether two names are of one regular file; a device may well be both."""
    return target.is_file() and given.is_file() and target.samefile(given)


def save_paths(target: str | None, names: Sequence[str], inputs: Sequence[str], output: str | None = None) -> list[str]:
    """Return the JSON file that each run is saved in: the target itself, or one in that folder; none without a target.

    Examples
    --------
    >>> save_paths("results", ["bm25", "b/dense"], [])
    ['results/bm25.json', 'results/b_dense.json']
    """
    from deadheat.io.naming import LONGEST, file_name

    if target is None:
        return []
    is_folder = Path(target).is_dir() or target.endswith(os.sep)
    is_file = Path(target).suffix.lower() == ".json" and not is_folder
    if len(names) > 1 and (is_file or Path(target).is_file()):
        raise click.UsageError(f"--save {target}: {len(names)} runs are saved in a folder, which has no ending")
    if len(names) == 1 and not is_folder and not is_file:
        raise click.UsageError(f"--save {target}: name a file that ends in .json, or a folder that is there")
    most = LONGEST - 15  # with room for an ending
    paths = [target] if is_file else [str(Path(target) / f"{file_name(name, most)}.json") for name in names]
    from deadheat.evaluation.saved import SAVED

    for path in paths:
        if output is not None and os.path.realpath(output) == os.path.realpath(path):
            raise click.UsageError(f"--save and --output both write {output!r}: choose another name for one of them")
        if paths.count(path) > 1:
            raise click.UsageError(f"--save {target}: two runs would be saved as {path}; give their files other names")
        for given in inputs:
            if _is_same_file(Path(path), Path(given)):
                raise click.UsageError(f"--save {target} would replace the input {given!r}: choose another name")
        SAVED.refuse_foreign(path)
    return paths
