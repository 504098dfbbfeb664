"""The state of an accumulator as a file: one JSON document, written beside its name and renamed when it is complete."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from deadheat.errors import DataError, FileFormatError
from deadheat.evaluation.conventions import Conventions
from deadheat.evaluation.saved import checksum, make_folder, refuse_foreign
from deadheat.evaluation.stored import ENCODING, StoredError, checked_columns, packed, require, unpacked
from deadheat.io.naming import path_named
from deadheat.io.objects import parsed
from deadheat.io.source import decoded, read_all, readable
from deadheat.io.writing import replacing
from deadheat.placements.dense import Counted
from deadheat.version import __version__
from deadheat.wording import as_given

KIND, FORMAT = "deadheat accumulator", 1
OURS = re.compile(rf'\s*\{{\s*"kind"\s*:\s*"{KIND}"'.encode())
HINT = "Accumulator.save writes one"
QUERIES: dict[str, type[pl.DataType]] = {"query_id": pl.String, "n_retrieved": pl.Int64}
JUDGED: dict[str, type[pl.DataType]] = {
    "query": pl.Int64,
    "doc_id": pl.String,
    "relevance": pl.Float64,
    "above": pl.Int64,
    "tied": pl.Int64,
}


@dataclass(frozen=True)
class State:
    """What an accumulator has counted, and under what conventions.

    Attributes
    ----------
    measures : tuple of str
        In their notation.
    conventions : Conventions
    is_numbered : bool or None
        Whether queries have numbers for ids; None before the first.
    counted : Counted or None
    """

    measures: tuple[str, ...]
    conventions: Conventions
    is_numbered: bool | None
    counted: Counted | None


def refuse_other(own: State, other: State, where: str) -> None:
    """Raise `DataError` if the other state has other measures, other conventions, or other ids.

    Parameters
    ----------
    own, other : State
    where : str
        Where the other one comes from.
    """
    mine, theirs = ({"measures": sorted(one.measures), **asdict(one.conventions)} for one in (own, other))
    for name, allowed in mine.items():
        if theirs[name] != allowed:
            raise DataError(
                f"{where} was made with {name}={as_given(theirs[name])}, and this accumulator has {as_given(allowed)}"
            )
    if None not in {own.is_numbered, other.is_numbered} and own.is_numbered != other.is_numbered:
        raise DataError(
            f"{where} and this accumulator cannot be told apart: only one of them has query ids",
            hint="give query_ids= with every batch, or with none",
        )


def write(path: str | Path, state: State, means: dict[str, float]) -> None:
    """Write a state; an earlier one is replaced atomically, and any other file is an error.

    Parameters
    ----------
    path : path
    state : State
    means : dict of str to float
        For people; nothing reads them.
    """
    path = path_named(path)
    refuse_foreign(path, OURS, "state of an accumulator")
    counted = state.counted
    document: dict[str, Any] = {
        "kind": KIND,
        "format": FORMAT,
        "deadheat": __version__,
        "n_queries": 0 if counted is None else len(counted.query_ids),
        "means": {name: mean if math.isfinite(mean) else None for name, mean in means.items()},
        "measures": list(state.measures),
        "conventions": asdict(state.conventions),
        "numbered": state.is_numbered,
    }
    data = None if counted is None else _tables_of(counted)
    document |= {"sha256": checksum({**document, "data": data}), "data": data}
    written = f"{json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)}\n".encode()
    make_folder(path.parent)
    with replacing(path) as file:
        file.write(written)


def _tables_of(counted: Counted) -> dict[str, str]:
    queries = {"query_id": counted.query_ids.tolist(), "n_retrieved": counted.n_retrieved}
    judged = {name: getattr(counted, "doc_ids" if name == "doc_id" else name) for name in JUDGED}
    judged["doc_id"] = judged["doc_id"].tolist()
    return {
        "encoding": ENCODING,
        "queries": packed(pl.DataFrame(queries, schema=QUERIES)),
        "judged": packed(pl.DataFrame(judged, schema=JUDGED)),
    }


def read(path: str | Path) -> State:
    """Read a state; raise if the file is another one, damaged, or of a newer version."""
    path = path_named(path)
    text = decoded(read_all(readable(path)), path)
    try:
        document = parsed(text, path)
    except DataError as error:
        problem = f"is damaged or incomplete ({error.told(has_place=False)})"
        raise FileFormatError(problem, allowed="the state of an accumulator", hint=HINT, path=path) from None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise FileFormatError("holds something else", allowed="the state of an accumulator", hint=HINT, path=path)
    if document.get("format") != FORMAT:
        raise FileFormatError(
            f"has format {as_given(document.get('format'))}, written by deadheat {as_given(document.get('deadheat'))};"
            f" this is {__version__!r}, which reads {FORMAT}",
            hint="install a newer one",
            path=path,
        )
    if document.get("sha256") != checksum(document):
        raise FileFormatError("was changed since it was saved, or is damaged (its SHA-256 differs)", path=path)
    try:
        return _state_of(document)
    except (StoredError, KeyError, TypeError, AttributeError) as error:
        raise FileFormatError(f"is not a complete state of an accumulator: {error}", hint=HINT, path=path) from None


def _state_of(document: dict[str, Any]) -> State:
    counted = None if document["data"] is None else _counted(document["data"])
    conventions = Conventions(**document["conventions"])
    is_numbered = document["numbered"]
    require(is_numbered in {None, True, False}, "numbered is neither true nor false")
    return State(tuple(map(str, document["measures"])), conventions, is_numbered, counted)


def _counted(data: dict[str, Any]) -> Counted:
    """Return the tables of a state; raise unless some scores have such counts."""
    queries = checked_columns(unpacked(data, "queries"), QUERIES, "queries")
    judged = checked_columns(unpacked(data, "judged"), JUDGED, "judged")
    found = Counted(
        np.array(queries["query_id"].to_list(), object),
        queries["n_retrieved"].to_numpy(),
        judged["query"].to_numpy(),
        np.array(judged["doc_id"].to_list(), object),
        judged["relevance"].to_numpy(),
        judged["above"].to_numpy(),
        judged["tied"].to_numpy(),
    )
    require(queries["query_id"].n_unique() == queries.height, "a query appears twice")
    require(not judged.select("query", "doc_id").is_duplicated().any(), "a document appears twice for one query")
    require(np.isfinite(found.relevance).all(), "a relevance is not a number")
    codes = found.query
    is_known = (codes >= 0) & (codes < queries.height) & (np.diff(codes, prepend=0) >= 0)
    require(is_known.all(), "a row of 'judged' belongs to no query, or is not where it belongs")
    is_possible = (found.above >= 0) & (found.tied >= 0) & (found.tied <= found.n_retrieved[codes] - found.above)
    require(is_possible.all() and (found.n_retrieved >= 0).all(), "a document has an impossible rank")
    return found
