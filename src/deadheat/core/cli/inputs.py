"""The qrels, runs and labels that a command reads, under its options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import deadheat as dh
from deadheat.core import hooks
from deadheat.core.cli.errors import error_message, refuse, refuse_if
from deadheat.core.cli.judged import judgments_asked, options_of_judgments
from deadheat.core.cli.paths import asked, label, stands_for_file
from deadheat.core.errors import DataError
from deadheat.core.libraries import load_libraries
from deadheat.core.wording import escape_invisible

if TYPE_CHECKING:
    TextChoice = click.Choice[str]
else:
    TextChoice = click.Choice  # click 8.1 does not say what the choices are


def open_qrels(path: str, *, is_checked: bool = True) -> dh.Qrels:
    """Read qrels under the options of the command, for its engine if it has one.

    Repeated judgments are merged, or an error if they contradict each other; of training data, repeats are usual.
    """
    options = asked()
    qrels: dh.Qrels | None = None
    if options.get("grades"):
        qrels = hooks.service("answers_in_files").qrels_of(path)
    qrels = (qrels or dh.Qrels(path, columns=named_columns("qrels"))).normalized(options.get("normalize_ids"))
    if is_checked:
        qrels.check_duplicates()
    if options.get("collection") or options.get("strict"):
        from deadheat.core.evaluation.evaluate import checked

        qrels = checked(qrels, options["collection"], options.get("rel"), strict=options["strict"])
    if not options.get("engine"):
        return qrels
    beside: dh.Qrels = hooks.service("engines").qrels_beside_runs(qrels)
    return beside


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
    run: dh.Run | None = None
    if options.get("grades"):
        run = hooks.service("answers_in_files").run_of(path, name, form)
    if run is None:
        is_ascending = bool(options.get("ascending"))
        run = dh.Run(source_of(path), name=name, format=form, columns=named_columns("run"), ascending=is_ascending)
    run = run.normalized(options.get("normalize_ids"))
    if keyed and options.get("then_by"):
        run = run.then_by(*options["then_by"], score_precision=options.get("score_precision"))
    return checked_run(run)


def source_of(path: str) -> Any:  # noqa: ANN401 - a frame of an engine, or the path
    """Return what the run of a file is read from: its frame in the engine of the command, if it has one."""
    if not asked().get("engine"):
        return path
    return hooks.service("engines").frame_of_file(path)


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
    from deadheat.core.evaluation import saved

    return saved.is_saved(path)


def split_judgments(qrels: str, runs: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the file of judgments and the runs: where an option has the judgments, QRELS is a run as well."""
    option = judgments_asked()
    if option is None:
        for other in options_of_judgments():
            refuse(other.others, f"is about {other.kind().what}: give {other.typed} FILE too")
        return qrels, runs
    refuse(option.refuses, f"is not for {option.typed}")
    for path in (qrels, *runs):
        refuse_if(is_saved(path), f"{path} is already evaluated: leave out {option.typed}, which is for {option.runs}")
    return asked()[option.name], (qrels, *runs)


def open_pairs(
    qrels: str | dh.Qrels,
    runs: Mapping[str, str],
    *,
    form: str | None = None,
    alone: str = "",
) -> Iterator[tuple[dh.Qrels, list[dh.Run]]]:
    """Yield judgments and the runs under them: several that are read together, or each with judgments of its own.

    Parameters
    ----------
    qrels : str or Qrels
        The file of an option that names other judgments, where the command was given one.
    runs : mapping of str to str
    form : str, optional
        The name of the format of the runs, if that is known.
    alone : str, default ""
        The one run whose ties --then-by does not order.
    """
    option = judgments_asked()
    if option is None:
        from deadheat.core.io.splitting import in_pieces

        judgments = qrels if isinstance(qrels, dh.Qrels) else open_qrels(qrels)
        for piece in in_pieces(list(runs.items()), lambda item: Path(item[1])):
            yield judgments, [open_run(path, name, form=form, keyed=name != alone) for name, path in piece]
        return

    of_each = option.open(str(qrels))
    for name, path in runs.items():
        judgments, run = of_each.judge(path, name=name, ascending=asked()["ascending"])
        yield judgments, [run]


def named_columns(kind: str) -> dict[str, str]:
    """Return the columns that the user names for both kinds of files, or for this one as in ``run.score=sim``."""
    named: dict[str, str] = asked().get("columns") or {}
    own = {name.removeprefix(f"{kind}."): column for name, column in named.items() if name.startswith(f"{kind}.")}
    return {name: column for name, column in named.items() if "." not in name} | own


def check_inputs(paths: Sequence[str]) -> None:
    """Raise an error that names every file that cannot be read, and refuse a stream that is named twice."""
    from deadheat.core.io.files import check_readable, in_catalogue
    from deadheat.core.io.folders import files_in

    wrong: list[str] = []
    engines = hooks.find_service("engines")
    in_engine = engines is not None and engines.checked_engine() is not None
    for path in dict.fromkeys(paths):
        one = Path(path)
        if in_catalogue(path) or (engines is not None and in_engine and engines.has_files(path)):
            continue
        if paths.count(path) > 1 and not in_engine and one.exists() and not (one.is_file() or one.is_dir()):
            name = stands_for_file(path, path) or escape_invisible(path)
            raise click.UsageError(f"{name} can be read only once, and is named twice")
        try:
            for file in files_in(one) if one.is_dir() else [path]:
                check_readable(file)
        except DataError as error:
            wrong.append(error_message(error))
    if wrong:
        raise DataError("\n".join(wrong))
    load_libraries()  # they are read next
