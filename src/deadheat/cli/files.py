"""Which files a command reads and writes, and where reports and figures go: checked before anything is computed."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TextIO, cast

import click

import deadheat as dh
from deadheat.cli.app import BAD_DATA, ClosedOutput, CommandError, discard, error_message, refuse, refuse_if, say
from deadheat.cli.help import option
from deadheat.cli.outputs import Outputs
from deadheat.errors import (
    STDIN,
    STREAM,
    DataError,
    SwappedFilesError,
    changed,
    check_choice,
    printable,
    reported_path,
)
from deadheat.io.guarding import errors_of_writing, guarded

if TYPE_CHECKING:
    from rich.text import Text

    from deadheat.io.engines import FrameEngine
    from deadheat.report.model import Fact, Report

    TextChoice = click.Choice[str]
else:
    TextChoice = click.Choice  # click 8.1 does not say what the choices are


STDOUT = "-"
NAMES_OF_STDIN = ("-", STDIN, "/dev/fd/0", "/proc/self/fd/0")
NAMES_OF_STDOUT = (STDOUT, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
GRADED = re.compile(
    r"\.(csv|tsv|jsonl|json|parquet|xlsx)(\.gz|\.zst)?$", re.IGNORECASE
)  # tables, which may hold answers


class NamedFile(click.Path):
    """A path that is not empty: Python takes an empty one for the current folder.

    Parameters
    ----------
    is_input : bool
        Whether the command reads it: then ``-`` is the standard input, kept in a file if the system has no path.
    is_report : bool
        Whether it is written, and may be the standard output: then every name of that becomes ``-``.
    """

    def __init__(self, *, is_input: bool = False, is_report: bool = False) -> None:
        super().__init__(readable=False)  # an unreadable file is reported later, as bad data
        self.is_input = is_input
        self.is_report = is_report

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as click's own
        """Return the path, or fail if it is empty."""
        if not value:
            self.fail("the file name is empty, expected a path. Is a variable of the shell not set?", param, ctx)
        if self.is_report and value in NAMES_OF_STDOUT:
            return STDOUT
        if self.is_input and value in NAMES_OF_STDIN and sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] - None when closed
            raise CommandError("cannot read: standard input is closed", BAD_DATA)
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
    path = Path(folder) / "stdin"
    with errors_of_writing(path), path.open("wb") as file:
        shutil.copyfileobj(stream, file)
    return file.name


PATH, INPUT, REPORT = NamedFile(), NamedFile(is_input=True), NamedFile(is_report=True)


def asked() -> Mapping[str, Any]:
    """Return the values of the options of the command that runs, by name."""
    context = click.get_current_context(silent=True)
    return {} if context is None else context.params


def files_read() -> list[str]:
    """Return the files and folders that the command that runs was given to read."""
    given = [
        *(asked()[str(one.name)] for one in click.get_current_context().command.params if one.type is INPUT),
        *asked().get("repeats", {}).values(),
    ]
    return [path for one in given for path in ([one] if isinstance(one, str) else one or ())]


def outputs_of_command() -> Outputs:
    """Return what the command that runs writes; what it was given to read is known there."""
    context = click.get_current_context(silent=True)
    if context is None:
        return Outputs()
    if "outputs" not in context.meta:
        context.meta["outputs"] = Outputs(context.meta.get("read", ()))
    found: Outputs = context.meta["outputs"]
    found.name_inputs(files_read())
    return found


def label(path: str, default: str = "run") -> str:
    """Return the name of a file for people: without its format; `default` for a path made up by the shell.

    Examples
    --------
    >>> label("runs/bm25.run.gz"), label("/dev/fd/63"), label("/dev/stdin")
    ('bm25', 'run', 'stdin')
    """
    from deadheat.data.tables import label_of

    named, in_engine = Path(path), asked().get("engine")
    while in_engine and named.name and not named.exists() and not label_of(named).strip("*?"):
        named = named.parent  # the folder of a pattern
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
    tried = (
        [more if names.count(name) > 1 else name for more, name in zip(longer, names, strict=True)]
        for longer in (in_folders, files, both, numbered)
    )
    return next((found for found in tried if len(set(found)) == len(found)), numbered)


def open_qrels(path: str, *, is_checked: bool = True) -> dh.Qrels:
    """Read qrels under the options of the command, for its engine if it has one.

    Repeated judgments are merged, or an error if they contradict each other; of training data, repeats are usual.
    """
    options = asked()
    graded = cast("dh.Qrels | None", options.get("grades") and _graded(path, "qrels", None, options["grades"]))
    qrels = (graded or dh.Qrels(path, columns=named_columns("qrels"))).normalized(options.get("normalize_ids"))
    if is_checked:
        qrels.check_duplicates()
    if options.get("collection") or options.get("strict"):
        from deadheat.evaluation.evaluate import checked

        qrels = checked(qrels, options["collection"], options.get("rel"), strict=options["strict"])
    if not options.get("engine") or (frame := _engine().beside(qrels.to_polars())) is None:
        return qrels
    from deadheat.data.rows import LazyRows

    return changed(qrels, rows=LazyRows(frame, qrels.where), bare=qrels.bare)


def _graded(
    path: str, kind: Literal["qrels", "run"], name: str | None, given: Mapping[str, Any]
) -> dh.Qrels | dh.Run | None:
    """Read what a judge wrote, if this is a table: --grades, which is given, says that tables hold that.

    A run is what a judge wrote only if it has a column for that, or its scores are not numbers.
    """
    from deadheat.data.judgments import GRADES
    from deadheat.io.formats import has_column

    is_table = GRADED.search(path)
    known = [given["grade"]] if "grade" in given else [one for one in GRADES if one != "score"]
    if kind == "run" and is_table and not any(has_column(Path(path), one) for one in known):
        with suppress(DataError):
            dh.Run(path, columns=named_columns("run"))
            return None
    return dh.read_judgments(path, kind=kind, name=name, **given) if is_table else None


def open_run(path: str, name: str = "", *, form: str | None = None, keyed: bool = True) -> dh.Run:
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
    options = asked()
    name = name or label(path)
    graded = options.get("grades") and _graded(path, "run", name, options["grades"])
    source: object = path if graded is None else graded.to_polars()
    run = dh.Run(
        _in_engine(path) if options.get("engine") else source,
        name=name,
        format=form,
        columns=named_columns("run") if graded is None else None,
        ascending=bool(options.get("ascending")),
    )
    run = run if graded is None else run.noted(graded.notes)
    if isinstance(graded, dh.Run) and graded.are_failures_open:
        refuse(("ascending",), "is not for --grades bounds: answers without a grade rank last in the values")
        run.failures, run.are_failures_open = graded.failures, True
    run = run.normalized(options.get("normalize_ids"))
    if keyed and options.get("then_by"):
        run = run.then_by(*options["then_by"], score_precision=options.get("score_precision"))
    return checked_run(run)


def _in_engine(path: str) -> object:
    """Return the frame of a file in the engine of the command."""
    with guarded(path):
        return _engine().frame(path)


def checked_run(run: dh.Run) -> dh.Run:
    """Return a run with its ids and documents as the options of the command want them."""
    options = asked()
    if form := options.get("normalize_ids"):
        run = run.normalized(form)
    if options.get("check_duplicates"):
        run.check_duplicates()
    return run


def is_saved(path: str | Path) -> bool:
    """Tell whether a file is a saved evaluation."""
    from deadheat.evaluation import saved

    return saved.is_saved(path)


def split_repeats(
    named: Mapping[str, str], repeats: Mapping[str, Sequence[str]], form: str | None = None
) -> tuple[dict[str, str], dict[str, Sequence[str | dh.Run]]]:
    """Return the files that hold one run, and systems that were run several times: also tables with a column for it.

    `form` is the name of the format of the runs, if that is known.
    """
    from deadheat.data.tables import REPEAT
    from deadheat.io.formats import has_column

    options = asked()
    for name in repeats:
        refuse_if(name in named, f"--repeats {name}: a file of a single run has this name too: choose another one")
    found: dict[str, Sequence[str | dh.Run]] = {}
    for name, path in {} if options.get("spans") else named.items():
        if options.get("engine") or has_column(Path(path), REPEAT, form):
            from deadheat.evaluation.repeats import runs_by_repeat

            if runs := runs_by_repeat(
                _in_engine(path) if options.get("engine") else path,
                name=name,
                columns=named_columns("run"),
                ascending=bool(options.get("ascending")),
            ):
                found[name] = runs
    return {name: path for name, path in named.items() if name not in found}, {**found, **repeats}


def open_pairs(
    qrels: str | dh.Qrels,
    runs: Mapping[str, str],
    *,
    form: str | None = None,
    alone: str = "",
) -> Iterator[tuple[dh.Qrels, list[dh.Run]]]:
    """Yield judgments and the runs under them: several that are read together, or of spans each run of chunks.

    Parameters
    ----------
    qrels : str or Qrels
        The file of spans with --spans.
    runs : mapping of str to str
    form : str, optional
        The name of the format of the runs, if that is known.
    alone : str, default ""
        The one run whose ties --then-by does not order.
    """
    options = asked()
    if not options.get("spans"):
        from deadheat.io.splitting import in_pieces

        judgments = qrels if isinstance(qrels, dh.Qrels) else open_qrels(qrels)
        for piece in in_pieces(list(runs.items()), lambda item: Path(item[1])):
            yield judgments, [open_run(path, name, form=form, keyed=name != alone) for name, path in piece]
        return

    spans = dh.Spans(qrels, **{name: options[name] for name in ("overlap", "overlap_of", "documents")})
    for name, path in runs.items():
        judgments, run = spans.judge(path, name=name, ascending=options["ascending"])
        yield judgments, [run]


def labels_of_judge(path: str | None) -> dh.Qrels | None:
    """Read the labels of the one judge that an option names, if it names one."""
    from deadheat.data.judgments import as_qrels

    return None if path is None else as_qrels(labels_of(path, next(iter(named_runs([path])))))


def labels_of(path: str, name: str) -> Any:  # noqa: ANN401 - qrels or a run
    """Read what a judge said, which may be written as a run."""
    with suppress(SwappedFilesError):
        return open_qrels(path)
    return dh.Run(path, name=name, columns=named_columns("run"))  # grades, which do not rank


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
        context.meta["engine"] = open_engine(options["engine"], options["spark_master"], options["spark_conf"] or None)
        context.call_on_close(context.meta["engine"].close)
    return cast("FrameEngine", context.meta["engine"])


def _checked_engine() -> str | None:
    """Return the engine of the command; refuse one that does not exist, or options that it does not go with."""
    name = asked().get("engine")
    if name != "spark":
        refuse(("spark_master", "spark_conf"), "is for --engine spark")
    if name is not None:
        from deadheat.io.engines import ENGINES

        check_choice("engine", name, ENGINES)
        refuse(("then_by",), f"takes runs into memory: leave out --engine {name}")
    return name


def shown_path(path: str, default: str) -> str:
    """Return the path of a file as reports name it, or a word for a path made up by the shell."""
    return _made_up(path, default) or printable(reported_path(path))


def _made_up(path: str, default: str) -> str:
    return "stdin" if path == STDIN else default if re.fullmatch(STREAM, path) else ""


def check_inputs(paths: Sequence[str]) -> None:
    """Raise an error that names every file that cannot be read, and refuse a stream that is named twice."""
    from deadheat.io.engines import is_remote, parquet_files
    from deadheat.io.files import in_catalogue, readable
    from deadheat.io.sources import file_in, responses_in

    wrong, in_engine = [], _checked_engine()
    for path in dict.fromkeys(paths):
        one = Path(path)
        if in_catalogue(path) or (in_engine and not one.is_file() and (is_remote(path) or parquet_files(path))):
            continue
        if paths.count(path) > 1 and not in_engine and one.exists() and not (one.is_file() or one.is_dir()):
            name = _made_up(path, path) or printable(path)
            raise click.UsageError(f"{name} can be read only once, and is named twice")
        try:
            for file in (responses_in(one) or [file_in(one)[0]]) if one.is_dir() else [path]:
                readable(file)
        except DataError as error:
            wrong.append(error_message(error))
    if wrong:
        raise DataError("\n".join(wrong))


def check_output(target: str | None, inputs: Sequence[str] = (), *, option: str = "--output") -> None:
    """Claim an output that an option names; refuse one in a folder that does not exist.

    What the command reads, and the inputs that are named here, it may not be.
    """
    if target is None or target == STDOUT:
        return
    outputs = outputs_of_command()
    outputs.name_inputs(inputs)
    outputs.claim(option, target)
    path = Path(target)
    folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
    refuse_if(not path.exists() and not folder.is_dir(), f"no such folder: {str(folder)!r}")


def check_folder(option: str, folder: str | None) -> None:
    """Refuse the folder of an option that cannot be made, before anything is computed."""
    refuse_if(
        folder is not None and Path(folder).exists() and not (Path(folder).is_dir() and os.access(folder, os.W_OK)),
        f"--{option} {folder!r} is not a writable folder: choose another name",
    )


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
    from deadheat.evaluation.save_folder import is_folder, name_of_run
    from deadheat.evaluation.saved import SAVED, SUFFIX

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
    from deadheat.report.model import Fact

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


ASCII = str.maketrans(  # for the symbols of formulas and drawings
    {"↓": "(lower)", "∑": "sum", "∏": "prod", "≤": "<=", "≥": ">=", "∈": "in", "β": "beta"}
    | dict(zip("†‡·…─├┤●┊┼", "+-*~-||o:+", strict=True))
)


class FormatChoice(TextChoice):
    """The names of the formats for reports that have some parts; they are looked up when they are needed."""

    def __init__(self, parts: Collection[str]) -> None:
        self.parts = parts
        super().__init__(())

    @property
    def choices(self) -> tuple[str, ...]:
        """The names, the most useful first."""
        from deadheat.report.model import formats_of

        return tuple(formats_of(self.parts))

    @choices.setter
    def choices(self, _: object) -> None: ...  # pyright: ignore[reportIncompatibleVariableOverride] - looked up late


def format_option(*parts: str) -> Callable[[Any], Any]:
    """Return the option --format of a command whose reports have these parts."""
    return option(
        "--format",
        "form",
        type=FormatChoice(parts),
        help="Default: the format that --output names, else table.",
        heading="output",
        rank=50,
    )


output_option = option(
    "-o",
    "--output",
    type=REPORT,
    metavar="FILE",
    help="Write to a file, whole or not at all; - is stdout.",
    heading="output",
    rank=40,
)


full_option = option(
    "--full",
    is_flag=True,
    help="Show every table and note, not only what can change a decision. JSON and CSV always have all of them.",
    rank=170,
)


def output_options(*parts: str) -> Callable[[Any], Any]:
    """Return the options --format, --output and --digits."""
    exact = "json and csv" if "rows" in parts else "json"
    digits = option(
        "--digits",
        type=click.IntRange(0, 15),
        help=f"Decimals; default 4, but all of them in {exact}.",
        heading="output",
    )
    return lambda command: format_option(*parts)(output_option(digits(command)))


def table_option(default: str, *others: str) -> Callable[[Any], Any]:
    """Return the option --table of a command whose csv has one table of several."""
    return option(
        "--table",
        metavar="NAME",
        help=f"The table that csv has instead of {default}, by its name in json: {', '.join(others[:-1])} or"
        f" {others[-1]}, where there is one.",
        heading="output",
    )


class Output:
    """Where a command writes its report, and how; before anything is computed, what it cannot read or write is refused.

    Parameters
    ----------
    options : mapping
        Of the command.
    inputs : iterable of str or None
        Files that must be readable, and no output; None is one that was not given.
    parts : collection of str, optional
        What the report has; by default what reports of the command have.

    Attributes
    ----------
    form : str
        The name of a format.
    path : str or None
    digits : int or None
    table : str or None
        The only table that csv has.
    is_full : bool
        Whether people see every table and note.
    """

    def __init__(
        self, options: Mapping[str, Any], inputs: Iterable[str | None] = (), parts: Collection[str] | None = None
    ) -> None:
        self.path: str | None = options.get("output")
        self.digits: int | None = options.get("digits")
        self.table: str | None = options.get("table")
        self.is_full: bool = options.get("full", True)
        if self.path in {None, STDOUT}:
            standard_output()
        read = [one for one in inputs if one is not None]
        check_output(self.path, read)
        if parts is None:
            types = (one.type for one in click.get_current_context().command.params)
            parts = next(one.parts for one in types if isinstance(one, FormatChoice))
        self.form: str = options.get("form") or _format_of(self.path, parts)
        refuse_if(
            self.table is not None and self.form != "csv",
            f"--table {self.table} is for --format csv: {self.form} has every table",
        )
        refuse_if(
            self.is_data and bool(options.get("full")),
            f"--full is for people: {self.form} has every number without it",
        )
        if options.get("figures") is not None:
            check_folder("figures", options["figures"])
            outputs_of_command().claim_folder("--figures", options["figures"])
            import deadheat.figures  # noqa: F401 - or the error that says what to install
        else:
            refuse(("figure_names",), "needs --figures DIR, the folder that it is drawn into")
        check_inputs(read)

    @property
    def is_data(self) -> bool:
        """Whether programs read it."""
        return self.form in {"json", "jsonl", "csv"}

    def check_sets(self, groupings: Sequence[Sequence[str]]) -> None:
        """Refuse several sets of strata where there is room for one table."""
        refuse_if(
            self.form == "csv" and len(groupings) > 1,
            "csv has one table, and each --by another: give one, or combine them as in --by a:b",
        )

    def print(self, report: Report) -> None:
        """Write a report, in brief unless all of it was asked for."""
        from deadheat.report.model import report_formats

        if self.table is not None:
            held = {table.key: table for table in report.tables}
            refuse_if(self.table not in held, f"--table {self.table}: there is none here. There are {', '.join(held)}")
            report = replace(report, tables=(held[self.table],))
        chosen, is_stdout = report_formats()[self.form], self.path in {None, STDOUT}
        if not (self.is_full or self.is_data or chosen.is_data):
            report = report.in_brief()
        draw = chosen.draw if is_stdout else None
        text = _on_screen(draw, report, self.digits) if draw else chosen.write(report, digits=self.digits)
        is_shown = chosen.is_data and is_stdout and standard_output().isatty()  # elsewhere it stays as it is
        emit(printable(text, "\n\t") if is_shown else text, self.path)
        if chosen.is_data:
            _tell(report)


def _format_of(path: str | None, parts: Collection[str]) -> str:
    """Return the format that the name of an output means."""
    from deadheat.report.model import formats_of, report_formats

    suffix = "" if path in {None, STDOUT} else Path(str(path)).suffix.lower()
    own = formats_of(parts)
    named = [name for name, one in {**own, **report_formats()}.items() if suffix in one.suffixes]
    if named and named[0] in own:
        return named[0]
    problem = f"names {named[0]}, which this command cannot print" if named else "names no format"
    *others, last = own
    raise click.UsageError(f"{path!r} {problem}: give --format {', '.join(others)} or {last}")


def _tell(report: Report) -> None:
    """Print the facts that a format has no place for to standard error."""
    from deadheat.report.model import LACKING, OF_FEW

    for fact in report.shown:
        if fact.is_warning:
            say(f"Warning: {fact.text}")
        elif fact.is_note:
            heading = "" if fact.heading in {OF_FEW, LACKING} else f"{fact.heading}: "  # no number is marked there
            say(f"Note: {heading}{fact.text}")


def warn_of_nothing_judged(evaluations: Iterable[dh.Evaluation]) -> None:
    """Warn on standard error of each run that retrieves no judged document, for a report that does not."""
    from deadheat.report.conventions import nothing_judged

    for one in evaluations:
        if one.placements.is_unmatched:
            say(f"Warning: {nothing_judged(one.name)}")


def _on_screen(draw: Callable[..., Text], report: Report, digits: int | None) -> str:
    """Return a report as a terminal shows it (styled, unless NO_COLOR), or a pipe (plain, and as wide as COLUMNS)."""
    from rich.console import Console

    has_width = os.environ.get("COLUMNS", "").isdecimal() or sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if has_width else None
    console = Console(width=width, highlight=False, markup=False, emoji=False)
    with writing(None), console.capture() as capture:  # unbuffered, it writes an empty text
        console.print(draw(report, width=width, digits=digits), soft_wrap=True, end="")
    return capture.get()


def emit(text: str, output: str | None = None) -> None:
    """Write text and a line end to standard output, or to a file that appears only when it is complete."""
    with writing(output):
        if output is None or output == STDOUT:
            stdout = standard_output()
            stdout.write(_encodable(text, stdout.encoding or "ascii") + "\n")
            stdout.flush()
            return
        from deadheat.io.files import replacing

        with replacing(output) as file:
            file.write((text + "\n").encode(errors="backslashreplace"))


@contextmanager
def writing(output: str | None) -> Iterator[None]:
    """Say in one line that an output cannot be written; a broken pipe is left to the caller.

    Before the first is written, no output may have turned out to be a file that was read.
    """
    outputs_of_command().check_read()
    try:
        yield
    except OSError as error:
        is_stdout = output is None or output == STDOUT
        if is_stdout and error.errno == errno.EPIPE:
            raise
        if is_stdout:
            discard(sys.stdout)
        is_named = error.filename is not None or not is_stdout
        written = repr(error.filename or output) if is_named else "standard output"
        raise CommandError(f"cannot write {written}: {error.strerror or error}", BAD_DATA) from error


def standard_output() -> TextIO:
    """Return the standard output, or raise an error if it is closed."""
    if isinstance(sys.stdout, ClosedOutput):
        sys.stdout.write("")
    return sys.stdout


def _encodable(text: str, encoding: str) -> str:
    """Replace characters that an encoding lacks: symbols by words, others by escapes."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(ASCII).encode(encoding, "backslashreplace").decode(encoding)
    return text
