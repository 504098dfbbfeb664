"""Folders with the response to one search in each file, which is named by the query."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from deadheat.core.errors import DataError, DuplicateError
from deadheat.core.io.content import Content
from deadheat.core.io.documents import read_export
from deadheat.core.io.folders import REGISTERED, FolderReader
from deadheat.core.io.ids import check_ids_of_row
from deadheat.core.io.kinds import Kind
from deadheat.core.io.objects import parse_json, read_text
from deadheat.core.io.results import Listing
from deadheat.core.wording import format_count, quote_text
from deadheat.plugins.exports.responses import is_response

_RESPONSES = (".json", ".json.gz", ".json.zst")
_RESPONSE = '{"hits": {"hits": [...]}}, the response of a search'


def responses_in(folder: Path, kind: Kind | None = None) -> list[Path]:
    """Return the files of a folder with the response to one search in each; none if judgments are wanted.

    Parameters
    ----------
    folder : pathlib.Path
    kind : {"qrels", "run"}, optional
        What is wanted, if that is known: responses are a run.
    """
    if kind == "qrels":
        return []
    return sorted(one for one in folder.iterdir() if one.name.endswith(_RESPONSES) and one.is_file())


def read_responses(files: Sequence[Path], folder: Path, _kind: Kind, _columns: Mapping[str, str]) -> Content:
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
        held = parse_json(read_text(path, _RESPONSE), path)
        if not is_response(held):
            raise DataError(
                found=quote_text(json.dumps(held)),
                allowed=_RESPONSE,
                hint="each file of the folder is the response to one query, which it is named by",
                path=path,
            )
        check_ids_of_row(query, query, path)
        if query in found:
            raise DuplicateError(f"two files of query {query!r}", allowed="one", path=path)
        found[query] = held
    listing = read_export(found, "run", str(folder)) or Listing({})
    for query, documents in listing.documents.items():
        for doc in documents:
            check_ids_of_row(query, doc, folder)
    what = "response" if len(files) == 1 else "responses"
    note = f"{format_count(len(files), 'file')} with the {what} of searches, named by the query"
    return Content.of_lists(replace(listing, notes=(note, *listing.notes)))


REGISTERED.append(FolderReader(responses_in, read_responses))
