"""The qrels, runs and labels that a command reads, under its options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

import deadheat as dh
from deadheat.core.cli.errors import error_message, is_given, missing, refuse, refuse_if
from deadheat.core.cli.input_options import input_options, input_options_asked
from deadheat.core.cli.judged import judgments_asked, options_of_judgments
from deadheat.core.cli.paths import asked, label, named_runs, stands_for_file
from deadheat.core.errors import DataError
from deadheat.core.libraries import load_libraries
from deadheat.core.wording import escape_invisible

if TYPE_CHECKING:
    TextChoice = click.Choice[str]
else:
    TextChoice = click.Choice  # click 8.1 does not say what the choices are


def open_qrels(path: str, *, is_checked: bool = True) -> dh.Qrels:
    """Read qrels under the options of the command.

    Repeated judgments are merged, or an error if they contradict each other; of training data, repeats are usual.
    """
    options = asked()
    qrels = _qrels_of(path).normalized(options.get("normalize_ids"))
    if is_checked:
        qrels.check_duplicates()
    qrels = changed_qrels(qrels)
    if options.get("collection") or options.get("strict"):
        from deadheat.core.evaluation.evaluate import check_collection

        qrels = check_collection(qrels, options["collection"], options.get("rel"), strict=options["strict"])
    for option in input_options_asked():
        qrels = option.beside_runs(qrels)
    return qrels


def changed_qrels(qrels: dh.Qrels) -> dh.Qrels:
    """Return qrels as options of the command change them, which leave documents out."""
    for option in input_options_asked():
        qrels = option.change_qrels(qrels)
    return qrels


def _qrels_of(path: str) -> dh.Qrels:
    """Read qrels by the first option that reads them, or as files are read."""
    for option in input_options_asked():
        qrels = option.qrels_of(path)
        if qrels is not None:
            return qrels
    return dh.Qrels(path, format=named_format("qrels"), columns=named_columns("qrels"))


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
    run = _run_of(path, name or label(path), form).normalized(options.get("normalize_ids"))
    run = changed_run(run)
    if keyed and options.get("then_by"):
        keys = [_read_key(key) for key in options["then_by"]]
        run = run.then_by(*keys, score_precision=options.get("score_precision"))
    return checked_run(run)


def changed_run(run: dh.Run) -> dh.Run:
    """Return a run as options of the command change it, which leave documents out."""
    for option in input_options_asked():
        run = option.change_run(run)
    return run


def _run_of(path: str, name: str, form: str | None) -> dh.Run:
    """Read a run by the first option that reads it, or as files are read."""
    for option in input_options_asked():
        run = option.run_of(path, name, form)
        if run is not None:
            return run
    return dh.Run(
        path,
        name=name,
        format=named_format("run") or form,
        columns=named_columns("run"),
        ascending=bool(asked().get("ascending")),
        **documents_asked(),
    )


class DocumentsAsked(TypedDict):
    """Which documents the rows of a run are of, as the command was asked: keyword arguments of `Run`."""

    doc_id_of: str | None
    duplicates: str


def documents_asked() -> DocumentsAsked:
    """Return what the command was asked about documents that come twice, and about chunks."""
    options = asked()
    return {"doc_id_of": options.get("doc_id_of"), "duplicates": options.get("duplicates", "error")}


def _read_key(key: str) -> dh.Run | str:
    """Return the run that orders ties, where its format was given; else its path, or the column of the run's file."""
    form = named_format("run")
    if form is None or not Path(key).exists():
        return key
    return dh.Run(key, name=label(key), format=form)


def source_of(path: str) -> object:
    """Return what the rows of a file are read from: an object, if an option says so, or the path."""
    for option in input_options_asked():
        if option.rows_of is not None:
            return option.rows_of(path)
    return path


def checked_run(run: dh.Run) -> dh.Run:
    """Return a run with its ids and documents as the options of the command want them."""
    options = asked()
    if form := options.get("normalize_ids"):
        run = run.normalized(form)
    run = run.with_duplicates(**documents_asked())
    if run.duplicates != "trust":
        run.check_duplicates()
    return run


def is_saved(path: str | Path) -> bool:
    """Tell whether a file is a saved evaluation, or values of another tool that stand for one."""
    from deadheat.core.evaluation.open_evaluations import is_evaluation

    return is_evaluation(path)


def load_saved(named: Mapping[str, str]) -> dict[str, dh.Evaluation]:
    """Return saved evaluations, or values of another tool, by name: of what they hold the measures that -m names."""
    from deadheat.core.evaluation.open_evaluations import load_each, with_measures
    from deadheat.core.measures.notation import split_notation

    evaluations = load_each(named)
    notations = [notation for typed in asked().get("notations") or () for notation in split_notation(typed)]
    if not notations:
        return evaluations
    return {name: with_measures(evaluation, notations) for name, evaluation in evaluations.items()}


def named_saves(paths: Sequence[str]) -> dict[str, str]:
    """Return the paths of saved evaluations by their labels, where these tell them apart; else by their files."""
    from deadheat.core.evaluation import saved
    from deadheat.core.evaluation.labels import Labelled, distinct_labels
    from deadheat.core.evaluation.save_folder import read_head

    if not all(saved.is_saved(path) for path in paths):  # values of another tool have no labels
        return named_runs(paths)
    heads = [read_head(Path(path)) for path in paths]
    labels = distinct_labels([Labelled(head.run, head.label, head.label_is_branch) for head in heads])
    if labels is None:
        return named_runs(paths)
    return dict(zip(map(escape_invisible, labels), paths, strict=True))


def split_judgments(qrels: str | None, runs: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the file of judgments and the runs: where an option has the judgments, QRELS is a run too, or absent."""
    option = judgments_asked()
    if option is None:
        if qrels is None:
            raise missing("qrels")
        for other in options_of_judgments():
            if not any(map(is_given, other.others)):
                continue  # what its kind is called takes 15 ms to load
            refuse(other.others, f"is about {other.kind().what}: give {other.typed} FILE too")
        return qrels, runs
    refuse(option.refuses, f"is not for {option.typed}")
    given = runs if qrels is None else (qrels, *runs)
    for path in given:
        refuse_if(is_saved(path), f"{path} is already evaluated: leave out {option.typed}, which is for {option.runs}")
    return asked()[option.name], given


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
        from deadheat.core.io.splitting import group_in_pieces

        judgments = qrels if isinstance(qrels, dh.Qrels) else open_qrels(qrels)
        for piece in group_in_pieces(list(runs.items()), lambda item: Path(item[1])):
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


def named_format(kind: str) -> str | None:
    """Return the format that the user names for a kind of files; None if their names say it."""
    formats: dict[str, str] = asked().get("file_formats") or {}
    if kind not in formats:
        return None
    from deadheat.core.io.formats import choose_format

    return choose_format("", formats[kind])


def _is_stream(path: str) -> bool:
    """Tell whether a path is there, and neither a file nor a folder: a pipe, say."""
    place = Path(path)
    return place.exists() and not (place.is_file() or place.is_dir())


def check_inputs(paths: Sequence[str]) -> None:
    """Raise an error that names every file that cannot be read, and refuse a stream that is named twice."""
    from deadheat.core.io.files import check_readable, is_in_catalogue
    from deadheat.core.io.folders import list_files

    wrong: list[str] = []
    for possible in input_options():
        possible.check()
    given = input_options_asked()
    for path in dict.fromkeys(paths):
        if is_in_catalogue(path) or any(option.has_files(path) for option in given):
            continue
        if paths.count(path) > 1 and _is_stream(path):
            name = stands_for_file(path, path) or escape_invisible(path)
            raise click.UsageError(f"{name} can be read only once, and is named twice")
        try:
            for file in list_files(Path(path)) if Path(path).is_dir() else [path]:
                check_readable(file)
        except DataError as error:
            wrong.append(error_message(error))
    if wrong:
        raise DataError("\n".join(wrong))
    load_libraries()  # they are read next
