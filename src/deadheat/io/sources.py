"""What a source holds: objects, and folders that other tools write.

Recognisers are asked in one order; each returns the rows of an object, or None for what it does not know. Objects of
other libraries are recognised by their form, ir_datasets by its name. Frames come last: Narwhals is slow to load, and
dicts do not need it.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from deadheat.errors import (
    DataError,
    DuplicateError,
    MissingDependencyError,
    Plain,
    SourceTypeError,
    SwappedFilesError,
    counted,
    shown,
    three,
)
from deadheat.io.exports import exported, is_response
from deadheat.io.formats.base import Content
from deadheat.io.kinds import OTHER_KIND, VALUE_COLUMN, Kind
from deadheat.io.mappings import is_plain
from deadheat.io.objects import parsed, read_text
from deadheat.io.results import nested_of
from deadheat.io.values import check_ids_of_row

OF_CASES = "judgments are the expected ids of labelled cases"
SWAPPED = "were qrels and run given in the wrong order?"
CATALOGUE = "ir_datasets:"  # before the name of a data set
_CASES = "deadheat.benchmark.cases.model"  # on a higher floor, as the next: known by name
_EVALUATIONS = "deadheat.evaluation."
_SPARK = "pyspark.sql."  # its frames have a column for every attribute that they are asked for
_DATA_SETS: dict[Kind, tuple[str, str, str]] = {  # of ir_datasets
    "qrels": ("has_qrels", "qrels_iter", "judgments (qrels)"),
    "run": ("has_scoreddocs", "scoreddocs_iter", "run (scoreddocs)"),
}


_RESPONSES = (".json", ".json.gz", ".json.zst")
_RESPONSE = '{"hits": {"hits": [...]}}, the response of a search'
_PREDICTIONS = "_predictions.json"  # of MTEB, after the name of the task
_ALLOWED = (
    f"a file, a data set of BEIR (with qrels/*.tsv), predictions of MTEB (*{_PREDICTIONS}), or responses of searches"
    " (a .json file for each query, named by it)"
)
_SPLIT = "test"  # of BEIR, if there is a choice
_HOLDS: dict[Kind, str] = {
    "qrels": "a data set of BEIR, which has judgments",
    "run": "predictions of MTEB, which are runs",
}


def read_object(source: object, kind: Kind, where: str, given: Mapping[str, str]) -> Content:
    """Return what an object holds.

    Parameters
    ----------
    source : object
    kind : {"qrels", "run"}
    where : str
        For messages.
    given : mapping of str to str
        Names of columns that the user says.

    Raises
    ------
    MissingDependencyError
        A data set of ir_datasets is named, and the package is not there.
    SourceTypeError
        The object holds the other kind, or several tables; or another function takes it; or nothing is known of it.
    """
    recognisers = (_of_spark, _of_mapping, _of_deadheat, _of_data_set, _of_ranx)
    found = (recognise(source, kind, where, given) for recognise in recognisers)
    return next((one for one in found if one is not None), None) or _of_frame(source, kind, where, given)


def in_catalogue(source: object) -> bool:
    """Return whether a source is a name such as ``ir_datasets:vaswani``."""
    return isinstance(source, str) and source.startswith(CATALOGUE)


def _of_frame(source: object, kind: Kind, where: str, given: Mapping[str, str]) -> Content:
    from deadheat.io.frames import canonical

    return canonical(source, kind, where, given, is_large=isinstance(source, pl.LazyFrame))


def _of_spark(source: object, kind: Kind, where: str, given: Mapping[str, str]) -> Content | None:
    return _of_frame(source, kind, where, given) if type(source).__module__.startswith(_SPARK) else None


def _of_mapping(source: object, kind: Kind, where: str, _: Mapping[str, str]) -> Content | None:
    """Read a dict of dicts, of lists, or a document of another tool."""
    if not isinstance(source, Mapping):
        return None
    first = next(iter(source.values()), None)
    if hasattr(first, "to_pandas") and hasattr(first, "features"):  # as Hugging Face's load_dataset returns it
        raise SourceTypeError(
            given=Plain(f"a dict of the splits {three(list(map(str, source)))}"),
            allowed=f"one table with query_id, doc_id and {VALUE_COLUMN[kind]}",
            hint=f"give one of them, such as dataset[{next(iter(source))!r}]",
        )
    nested, notes = exported(source, kind, where) or (source, ())
    return Content(nested, notes) if is_plain(nested) else Content(*nested_of(nested, kind, where))


def _of_deadheat(source: Any, kind: Kind, _where: str, _: Mapping[str, str]) -> Content | None:  # noqa: ANN401 - anything
    """Read labelled cases; raise for an evaluation and for a matrix, with the function that takes them."""
    module = type(source).__module__
    if kind == "qrels" and module == _CASES and hasattr(source, "qrels"):
        return Content(source.qrels().to_dict(), (OF_CASES,))
    if module.startswith(_EVALUATIONS):
        raise SourceTypeError(
            given=Plain("an evaluation"),
            allowed=kind,
            hint="dh.compare_evaluations({'a': ev, 'b': other}) compares evaluations,"
            " dh.gate(ev, 'RR >= 0.8') checks one",
        )
    is_numeric = getattr(getattr(source, "dtype", None), "kind", "f") in "fiub"
    if getattr(source, "ndim", 0) == 2 and is_numeric and not hasattr(source, "columns"):
        raise SourceTypeError(
            given=Plain(f"a matrix of shape {tuple(getattr(source, 'shape', ()))}"),
            allowed=kind,
            hint="dh.evaluate_dense(scores, relevant) takes a matrix of scores, queries by documents",
        )
    return None


def _of_data_set(source: Any, kind: Kind, where: str, given: Mapping[str, str]) -> Content | None:  # noqa: ANN401 - anything
    """Read a data set of ir_datasets, or its name; its tuples have names too."""
    if in_catalogue(source):
        where = source
        try:
            import ir_datasets  # optional, and slow to import
        except ImportError:
            raise MissingDependencyError(
                f"{source} needs the package ir_datasets", hint='pip install "deadheat[ir-datasets]"'
            ) from None
        try:
            source = ir_datasets.load(source.removeprefix(CATALOGUE))
        except KeyError:
            raise DataError(
                "ir_datasets has no data set of this name",
                hint="names are listed at https://ir-datasets.com",
                path=where,
            ) from None
    if not all(hasattr(source, has) for has, _, _ in _DATA_SETS.values()):
        return None
    has, rows, what = _DATA_SETS[kind]
    if not getattr(source, has)():
        raise DataError(
            f"this data set of ir_datasets has no {what}",
            hint="other data sets below it may, such as one that ends in /test or /judged",
            path=where,
        )
    try:
        found = list(getattr(source, rows)())
    except (OSError, RuntimeError) as error:  # ir_datasets fetches files when they are needed
        raise DataError(
            "ir_datasets cannot fetch it",
            given=Plain(f"{error!s:.80}"),
            hint="the cause is in the messages above",
            path=where,
        ) from error
    return _of_frame(found, kind, where, given)


def _of_ranx(source: Any, kind: Kind, where: str, given: Mapping[str, str]) -> Content | None:  # noqa: ANN401 - anything
    """Read the dicts in an object of ranx."""
    if not hasattr(source, "to_dict") or hasattr(source, "columns"):
        return None
    if hasattr(source, kind):
        return _of_mapping(source.to_dict(), kind, where, given)
    if hasattr(source, OTHER_KIND[kind]):
        raise SourceTypeError(given=Plain(f"a {OTHER_KIND[kind]} of ranx"), allowed=kind, hint=SWAPPED)
    return None


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
    qrels, predictions = sorted(folder.glob("qrels/*.tsv")), sorted(folder.glob(f"*{_PREDICTIONS}"))
    holds: Kind = "qrels" if qrels else "run"
    if not (qrels or predictions):
        raise DataError("is a directory", allowed=_ALLOWED, path=folder)
    if kind not in (None, holds):
        raise SwappedFilesError(
            f"is {_HOLDS[holds]}",
            allowed=OTHER_KIND[holds],
            hint=SWAPPED,
            path=folder,
        )
    chosen = [one for one in qrels if one.stem == _SPLIT] or qrels or predictions
    if len(chosen) > 1:
        what, hint = "splits" if qrels else "tasks", f"name the file: {chosen[0]}"
        raise DataError(
            f"holds several {what}",
            given=Plain(", ".join(one.relative_to(folder).as_posix() for one in chosen)),
            allowed="one",
            hint=hint,
            path=folder,
        )
    if not qrels:
        return chosen[0], f"run from {chosen[0].name}"
    others = ", ".join(one.stem for one in qrels if one != chosen[0])
    note = f"qrels of the split {chosen[0].stem} of {folder.name}"
    return chosen[0], f"{note}; others: {others}" if others else note


def responses_in(folder: Path, kind: Kind | None = None) -> list[Path]:
    """Return the files of a folder with the response to one search in each; none if the folder is of BEIR or MTEB.

    Parameters
    ----------
    folder : pathlib.Path
    kind : {"qrels", "run"}, optional
        What is wanted, if that is known: responses are a run.
    """
    if kind == "qrels" or any(folder.glob("qrels/*.tsv")) or any(folder.glob(f"*{_PREDICTIONS}")):
        return []
    return sorted(one for one in folder.iterdir() if one.name.endswith(_RESPONSES) and one.is_file())


def read_responses(files: Sequence[Path], folder: Path) -> Content:
    """Return the run in the responses to searches: the name of each file, without its ending, is the query.

    Raises
    ------
    DataError
        A file is no response; the message names it.
    DuplicateError
        Two files are called by the same query.
    """
    found: dict[str, object] = {}
    for path in files:
        query = path.name[: path.name.rindex(".json")]
        held = parsed(read_text(path, _RESPONSE), path)
        if not is_response(held):
            raise DataError(
                given=Plain(shown(json.dumps(held))),
                allowed=_RESPONSE,
                hint="each file of the folder is the response to one query, which it is named by",
                path=path,
            )
        check_ids_of_row(query, query, path)
        if query in found:
            raise DuplicateError(f"two files of query {query!r}", allowed="one", path=path)
        found[query] = held
    nested, notes = exported(found, "run", str(folder)) or ({}, ())
    for query, documents in nested.items():
        for doc in documents:
            check_ids_of_row(query, doc, folder)
    what = "response" if len(files) == 1 else "responses"
    return Content(nested, (f"{counted(len(files), 'file')} with the {what} of searches, named by the query", *notes))
