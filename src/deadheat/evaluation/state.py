"""The state of an accumulator as a file: what it has counted, and under what conventions."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import polars as pl

from deadheat.errors import DataError
from deadheat.evaluation.conventions import Conventions
from deadheat.evaluation.document import ENCODING, Kind, columns_of, packed
from deadheat.placements.dense import Counted
from deadheat.wording import as_given

SAVED = Kind("deadheat accumulator", 1, "the state of an accumulator", "Accumulator.save writes one")
TABLES: dict[str, dict[str, type[pl.DataType]]] = {
    "queries": {"query_id": pl.String, "n_retrieved": pl.Int64},
    "judged": {
        "query": pl.Int64,
        "doc_id": pl.String,
        "relevance": pl.Float64,
        "above": pl.Int64,
        "tied": pl.Int64,
    },
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
    counted = state.counted
    head = {
        "n_queries": 0 if counted is None else len(counted.query_ids),
        "means": {name: mean if math.isfinite(mean) else None for name, mean in means.items()},
        "measures": list(state.measures),
        "conventions": asdict(state.conventions),
        "numbered": state.is_numbered,
    }
    SAVED.write(path, head, None if counted is None else _tables_of(counted))


def _tables_of(counted: Counted) -> dict[str, str]:
    columns = {one.name: getattr(counted, one.name) for one in fields(Counted)}
    columns |= {"query_id": counted.query_ids.tolist(), "doc_id": counted.doc_ids.tolist()}
    tables = {name: packed({one: columns[one] for one in schema}, schema) for name, schema in TABLES.items()}
    return {"encoding": ENCODING, **tables}


def read(path: str | Path) -> State:
    """Read a state; raise if the file is another one, damaged, or of another version."""
    return SAVED.read(path, _state_of)


def _state_of(document: dict[str, Any]) -> State:
    data = document["data"]
    counted = None if data is None else Counted(**columns_of(data["queries"]), **columns_of(data["judged"]))
    return State(tuple(document["measures"]), Conventions(**document["conventions"]), document["numbered"], counted)
