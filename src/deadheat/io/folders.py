"""Folders that other tools write: with a file in them that is meant, or with the response to a search in each file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from deadheat.errors import DataError, DuplicateError, SwappedFilesError
from deadheat.io.exports import exported, is_response
from deadheat.io.formats.base import Content
from deadheat.io.kinds import OTHER_KIND, Kind
from deadheat.io.objects import parsed, read_text
from deadheat.io.values import check_ids_of_row
from deadheat.wording import Plain, counted, shown

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
            hint="were qrels and run given in the wrong order?",
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
