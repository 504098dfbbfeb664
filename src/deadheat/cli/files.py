"""Which files a command reads and writes: checked before anything is computed, and named for people."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast

import click

from deadheat.cli.app import error_message, refuse, refuse_if
from deadheat.errors import STDIN, STREAM, DataError, SwappedFilesError, changed, check_choice, printable

if TYPE_CHECKING:
    from deadheat.data.tables import Qrels, Run
    from deadheat.io.engines import FrameEngine

STDOUT = "-"
GRADED = re.compile(
    r"\.(csv|tsv|jsonl|json|parquet|xlsx)(\.gz|\.zst)?$", re.IGNORECASE
)  # tables, which may hold answers
STORE = "history"  # a folder of this name keeps every evaluation that is saved in it


class NamedFile(click.Path):
    """A path that is not empty: Python takes an empty one for the current folder.

    Parameters
    ----------
    is_input : bool
        Whether ``-`` is the standard input, kept in a file where the system has no path for it.
    """

    def __init__(self, *, is_input: bool = False) -> None:
        super().__init__(readable=False)  # an unreadable file is reported later, as bad data
        self.is_input = is_input

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as click's own
        """Return the path, or fail if it is empty."""
        if not value:
            self.fail("the file name is empty, expected a path. Is a variable of the shell not set?", param, ctx)
        if not self.is_input or value != "-" or ctx is None:
            return super().convert(value, param, ctx)
        if Path(STDIN).exists():
            return STDIN
        if "stdin" not in ctx.meta:
            ctx.meta["stdin"] = kept(sys.stdin.buffer)
        return ctx.meta["stdin"]


def kept(stream: BinaryIO) -> str:
    """Return the path of a file with what a stream holds; it lasts as long as the command."""
    folder = click.get_current_context().with_resource(TemporaryDirectory(prefix="deadheat-"))
    with (Path(folder) / "stdin").open("wb") as file:
        shutil.copyfileobj(stream, file)
    return file.name


PATH, INPUT = NamedFile(), NamedFile(is_input=True)


def asked() -> Mapping[str, Any]:
    """Return the values of the options of the command that runs, by name."""
    context = click.get_current_context(silent=True)
    return {} if context is None else context.params


def label(path: str, default: str = "run") -> str:
    """Return the name of a file for people: without its format; `default` for a path made up by the shell.

    Examples
    --------
    >>> label("runs/bm25.run.gz"), label("/dev/fd/63"), label("/dev/stdin")
    ('bm25', 'run', 'stdin')
    """
    from deadheat.data.tables import label_of

    named, in_engine = Path(path), asked().get("engine")
    while in_engine and named.name and not label_of(named).strip("*?"):  # the folder of a pattern
        named = named.parent
    return _made_up(path, default) or printable(label_of(named))


def named_runs(paths: Sequence[str]) -> dict[str, str]:
    """Return the paths of runs by names that differ."""
    return dict(zip(unique_names(paths, label), paths, strict=True))


def unique_names(paths: Sequence[str], name_of: Callable[[str], str]) -> list[str]:
    """Return a name for each path: the file's; where two are equal with its folder, or its format; else numbered.

    Examples
    --------
    >>> unique_names(["a/bm25.run", "b/bm25.run", "c.run"], lambda path: Path(path).stem)
    ['a/bm25', 'b/bm25', 'c']
    >>> unique_names(["bm25.run", "bm25.csv"], lambda path: Path(path).stem)
    ['bm25.run', 'bm25.csv']
    >>> unique_names(["a/bm25.run", "a/bm25.run"], lambda path: Path(path).stem)
    ['bm25 #1', 'bm25 #2']
    """
    given = [(name_of(path), Path(path)) for path in paths]
    names = [name for name, _ in given]
    folders = [f"{path.absolute().parent.name}/" for _, path in given]
    files = [path.name if path.name.startswith(name) else name for name, path in given]  # others have no format
    numbered = [f"{name} #{names[: place + 1].count(name)}" for place, name in enumerate(names)]
    in_folders, both = ([a + b for a, b in zip(folders, own, strict=True)] for own in (names, files))
    found = names
    for longer in (in_folders, files, both, numbered):
        found = [more if names.count(name) > 1 else name for more, name in zip(longer, names, strict=True)]
        if len(set(found)) == len(found):
            break
    return found


def open_qrels(path: str, *, is_checked: bool = True) -> Qrels:
    """Read qrels under the options of the command, for its engine if it has one.

    They are checked for repeated documents if the command is to check for them; of training data, repeats are usual.
    """
    from deadheat.data.tables import Qrels

    options = asked()
    read = cast("Qrels | None", _graded(path, "qrels", None)) or Qrels(path, columns=named_columns("qrels"))
    qrels = read.normalized(options.get("normalize_ids"))
    if is_checked and options.get("check_duplicates"):
        qrels.check_duplicates()
    if options.get("collection") or options.get("strict"):
        from deadheat.evaluation.evaluate import checked

        qrels = checked(qrels, options["collection"], options.get("rel"), strict=options["strict"])
    if not options.get("engine") or (frame := _engine().beside(qrels.to_polars())) is None:
        return qrels
    from deadheat.data.rows import LazyRows

    return changed(qrels, rows=LazyRows(frame), bare=qrels.bare)


def _graded(path: str, kind: Literal["qrels", "run"], name: str | None) -> Qrels | Run | None:
    """Read what a judge wrote, if --grades says that tables hold that and this is one."""
    given = asked().get("grades")
    if given is None or not GRADED.search(path):
        return None
    from deadheat.data.judgments import read_judgments

    return read_judgments(path, kind=kind, name=name, **given)


def open_run(path: str, name: str = "", *, form: str | None = None, keyed: bool = True) -> Run:
    """Read and check a run under the options of the command.

    Parameters
    ----------
    path : str
    name : str, default ""
        By default that of the file.
    form : str, optional
        The name of its format, if that is known.
    keyed : bool, default True
        Whether ties are ordered as --then-by says.
    """
    from deadheat.data.tables import Run
    from deadheat.io.guarding import guarded

    options = asked()
    graded = _graded(path, "run", name or label(path))
    source: object = path if graded is None else graded.to_polars()
    if options.get("engine"):
        with guarded(path):
            source = _engine().frame(path)
    run = Run(
        source,
        name=name or label(path),
        format=form,
        columns=named_columns("run") if graded is None else None,
        ascending=bool(options.get("ascending")),
    ).noted(() if graded is None else graded.notes)
    if isinstance(graded, Run) and graded.are_failures_open:
        refuse(("ascending",), "is not for --grades bounds: answers without a grade rank last in the values")
        run.failures, run.are_failures_open = graded.failures, True
    if keyed and options.get("then_by"):
        run = run.then_by(*options["then_by"], score_precision=options.get("score_precision"))
    return checked_run(run)


def checked_run(run: Run) -> Run:
    """Return a run with its ids and documents as the options of the command want them."""
    options = asked()
    run = run.normalized(options.get("normalize_ids"))
    if options.get("check_duplicates"):
        run.check_duplicates()
    return run


def split_repeats(
    named: Mapping[str, str], repeats: Mapping[str, Sequence[str]]
) -> tuple[dict[str, str], dict[str, Sequence[str | Run]]]:
    """Return the files that hold one run, and systems that were run several times: also tables with a column for it."""
    from deadheat.evaluation.repeats import runs_by_repeat

    options = asked()
    found: dict[str, Sequence[str | Run]] = {}
    for name, path in {} if options.get("engine") or options.get("spans") else named.items():
        is_ascending = bool(options.get("ascending"))
        if runs := runs_by_repeat(path, name=name, columns=named_columns("run"), ascending=is_ascending):
            found[name] = runs
    return {name: path for name, path in named.items() if name not in found}, {**found, **repeats}


def open_pairs(
    qrels: str, runs: Mapping[str, str], *, form: str | None = None, overlap: float | None = None
) -> Iterator[tuple[Qrels, list[Run]]]:
    """Yield judgments and the runs under them: several that are read together, or of spans each run of chunks.

    Parameters
    ----------
    qrels : str
        The file of spans with --spans.
    runs : mapping of str to str
    form : str, optional
        The name of the format of the runs, if that is known.
    overlap : float, optional
        In place of --overlap.
    """
    options = asked()
    if not options.get("spans"):
        from deadheat.io.splitting import in_pieces

        judgments = open_qrels(qrels)
        for piece in in_pieces(list(runs.items()), lambda item: Path(item[1])):
            yield judgments, [open_run(path, name, form=form) for name, path in piece]
        return
    from deadheat.data.spans import Spans

    spans = Spans(qrels, **{name: options[name] for name in ("overlap", "overlap_of", "documents")})
    spans = spans if overlap is None else spans.with_overlap(overlap)
    for name, path in runs.items():
        judgments, run = spans.judge(path, name=name, ascending=options["ascending"])
        yield judgments, [run]


def labels_of_judge(path: str | None) -> Qrels | None:
    """Read the labels of the one judge that an option names, if it names one."""
    from deadheat.data.judgments import as_qrels

    return None if path is None else as_qrels(labels_of(path, next(iter(named_runs([path])))))


def labels_of(path: str, name: str) -> Any:  # noqa: ANN401 - qrels or a run
    """Read what a judge said, which may be written as a run."""
    from deadheat.data.tables import Run

    with suppress(SwappedFilesError):
        return open_qrels(path)
    return Run(path, name=name, columns=named_columns("run"))  # grades, which do not rank


def named_columns(kind: str) -> dict[str, str]:
    """Return the columns that the user names for both kinds of files, or for this one as in ``run.score=sim``."""
    named: dict[str, str] = asked().get("columns") or {}
    own = {name.removeprefix(f"{kind}."): column for name, column in named.items() if name.startswith(f"{kind}.")}
    return {name: column for name, column in named.items() if "." not in name} | own


def _engine() -> FrameEngine:
    """Return the engine of the command, opened once."""
    from deadheat.io.engines import open_engine

    context = click.get_current_context()
    if "engine" not in context.meta:
        options = asked()
        engine = open_engine(options["engine"], options["spark_master"], options["spark_conf"] or None)
        context.meta["engine"] = engine
        context.call_on_close(engine.close)
    opened: FrameEngine = context.meta["engine"]
    return opened


def _check_engine() -> None:
    """Refuse an engine that does not exist, or options that it does not go with."""
    name = asked().get("engine")
    if name != "spark":
        refuse(("spark_master", "spark_conf"), "is for --engine spark")
    if name is not None:
        from deadheat.io.engines import ENGINES

        check_choice("engine", name, ENGINES)
        refuse(("then_by", "score_columns"), f"takes runs into memory: leave out --engine {name}")


def shown_path(path: str, default: str) -> str:
    """Return the path of a file as given, or a word for a path made up by the shell."""
    return _made_up(path, default) or printable(path)


def _made_up(path: str, default: str) -> str:
    return "stdin" if path == STDIN else default if STREAM.fullmatch(path) else ""


def check_inputs(paths: Sequence[str]) -> None:
    """Raise an error that names every file that cannot be read, and refuse a stream that is named twice."""
    from deadheat.io.engines import is_remote, parquet_files
    from deadheat.io.source import readable
    from deadheat.io.sources import file_in, in_catalogue, responses_in

    _check_engine()
    wrong, in_engine = [], asked().get("engine")
    for path in dict.fromkeys(paths):
        one = Path(path)
        if in_catalogue(path) or (in_engine and not one.is_file() and (is_remote(path) or parquet_files(path))):
            continue
        refuse_if(
            paths.count(path) > 1 and not in_engine and one.exists() and not one.is_file(),
            f"{shown_path(path, path)} can be read only once, and is named twice",
        )
        try:
            for file in (responses_in(one) or [file_in(one)[0]]) if one.is_dir() else [path]:
                readable(file)
        except DataError as error:
            wrong.append(error_message(error))
    if wrong:
        raise DataError("\n".join(wrong))


def check_output(target: str | None, inputs: Sequence[str]) -> None:
    """Refuse an output that is one of the inputs, or in a folder that does not exist."""
    if target is None or target == STDOUT:
        return
    path = Path(target)
    for given in inputs:
        refuse_if(
            _is_same_file(path, Path(given)), f"the output {target!r} is the input {given!r}: choose another name"
        )
    refuse_if(path.is_dir(), f"the output {target!r} is a folder: name a file")
    folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
    refuse_if(not path.exists() and not folder.is_dir(), f"no such folder: {str(folder)!r}")


def check_folder(option: str) -> None:
    """Refuse a folder that cannot be made, before anything is computed."""
    folder = asked().get(option)
    refuse_if(
        folder is not None and Path(folder).exists() and not (Path(folder).is_dir() and os.access(folder, os.W_OK)),
        f"--{option} {folder!r} is not a writable folder: choose another name",
    )


def _is_same_file(target: Path, given: Path) -> bool:
    """Return whether two names are of one regular file; a device may well be both."""
    return target.is_file() and given.is_file() and target.samefile(given)


def _new_in_store(path: str) -> str:
    """Return a file of a store, which only grows: named by time and commit, and by a number where there is one."""
    from deadheat.evaluation.origin import Origin

    origin, plain = Origin.here(), Path(path)
    name = "-".join(filter(None, (re.sub(r"[-:]|\.\d+", "", origin.time), origin.commit[:7], plain.stem)))
    found = (plain.with_name(f"{name}{f'-{n}' * (n > 1)}.json") for n in count(1))
    return str(next(one for one in found if not one.exists()))


def save_paths(target: str | None, names: Sequence[str], inputs: Sequence[str], output: str | None = None) -> list[str]:
    """Return the JSON file that each run is saved in: the target itself, or one in that folder; none without a target.

    Examples
    --------
    >>> save_paths("results", ["bm25", "b/dense"], [])
    ['results/bm25.json', 'results/b_dense.json']
    """
    if target is None:
        return []
    from deadheat.evaluation.saved import SAVED
    from deadheat.io.writing import LONGEST, file_name

    is_folder = Path(target).is_dir() or target.endswith(os.sep)
    is_file = Path(target).suffix.lower() == ".json" and not is_folder
    refuse_if(
        len(names) > 1 and (is_file or Path(target).is_file()),
        f"--save {target}: {len(names)} runs are saved in a folder, which has no ending",
    )
    refuse_if(
        len(names) == 1 and not is_folder and not is_file,
        f"--save {target}: name a file that ends in .json, or a folder that is there",
    )
    most = LONGEST - 15  # with room for an ending
    in_store = is_folder and Path(target).name == STORE
    paths = [target] if is_file else [str(Path(target) / f"{file_name(name, most)}.json") for name in names]
    paths = [_new_in_store(path) for path in paths] if in_store else paths
    for path in paths:
        refuse_if(
            output is not None and os.path.realpath(output) == os.path.realpath(path),
            f"--save and --output both write {output!r}: choose another name for one of them",
        )
        refuse_if(
            paths.count(path) > 1, f"--save {target}: two runs would be saved as {path}; give their files other names"
        )
        for given in inputs:
            refuse_if(
                _is_same_file(Path(path), Path(given)),
                f"--save {target} would replace the input {given!r}: choose another name",
            )
        SAVED.refuse_foreign(path)
    return paths
