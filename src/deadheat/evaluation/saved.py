"""Saved evaluations: one JSON file, with a head that people and programs read and the tables of all queries below.

The hash in the file finds damage; what is read is trusted beyond that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from deadheat.data.tables import hash_of_ids
from deadheat.errors import MeasureError, ParameterError
from deadheat.evaluation.conventions import Conventions
from deadheat.evaluation.document import ENCODING, Kind, columns_of, packed, unpacked
from deadheat.evaluation.intervals import KNOWN, Interval, IntervalOptions
from deadheat.evaluation.scores import Scores, TieSpread, intervals
from deadheat.io.naming import path_named
from deadheat.measures import MaxRel, Measure, parse_measure
from deadheat.measures.stored import StoredMeasure
from deadheat.placements.placements import Placements, Subtopics

SUFFIX = ".json"
SAVED = Kind("deadheat evaluation", 2, "a saved evaluation", "Evaluation.save or deadheat evaluate --save writes one")
OF_INTERVAL = ("low", "high", "standard_error", "query_standard_error", "tie_standard_error")
OF_TIES = ("tie_std", "tie_min", "tie_max")
NUMBERS = ("tie_mean", *OF_TIES, "standard_error")
UNJUDGED = ("unjudged_min", "unjudged_max")  # only with unjudged="bounds"; null for measures without bounds
SCORES: dict[str, type[pl.DataType]] = {
    "value": pl.Float64,
    **dict.fromkeys(NUMBERS, pl.Float64),
    "has_relevant": pl.Boolean,
    "reachable": pl.Float64,
}
QUERIES: dict[str, type[pl.DataType]] = {"query_id": pl.String, "n_retrieved": pl.Int64, "ends_in_tie": pl.Boolean}
RETRIEVED: dict[str, type[pl.DataType]] = {
    "query": pl.Int64,
    "doc_id": pl.String,
    "relevance": pl.Float64,
    "above": pl.Int64,
    "tied": pl.Int64,
}
JUDGED: dict[str, type[pl.DataType]] = {"query": pl.Int64, "relevance": pl.Float64}
SUBTOPICS: dict[str, type[pl.DataType]] = {  # only of qrels that have some
    "query": pl.Int64,
    "doc_id": pl.String,
    "topic": pl.Int64,
    "relevance": pl.Float64,
}


def write(path: str | Path, scores: Sequence[Scores], options: IntervalOptions, parts: Mapping[str, Any]) -> None:
    """Write an evaluation to a JSON file: readable means and intervals, and the tables of all queries.

    Parameters
    ----------
    path : path
        Of the JSON file, ``.json``.
    scores : sequence of Scores
    options : IntervalOptions
    parts : mapping
        The other arguments of `Evaluation`; of the qrels the hash.

    Raises
    ------
    ParameterError
        The name does not end in ``.json``, or the interval options do not apply to the measures or clusters.
    DataError
        A file of this name exists and is not a saved evaluation.
    """
    path = path_named(path)
    if path.suffix.lower() != SUFFIX:
        raise ParameterError(
            f"must end in {SUFFIX}",
            argument="path",
            given=str(path),
            hint=f"Did you mean {str(path.with_suffix(SUFFIX))!r}?",
        )
    head = {
        "name": parts["name"],
        "conventions": asdict(parts["conventions"]),
        "n_queries": len(parts["query_ids"]),
        "measures": {
            str(one.measure): _summary(one, interval)
            for one, interval in zip(scores, intervals(scores, options), strict=True)
        },
        "intervals": options.to_dict(),
        "qrels_hash": parts["qrels"],
        "queries_hash": hash_of_ids(parts["query_ids"].tolist()),
        **{name: list(parts[name]) for name in ("missing_queries", "unjudged_queries", "notes")},
    }
    data: dict[str, object] = {
        "encoding": ENCODING,
        "scores": _packed_scores(scores),
        **_tables_of(parts["placements"]),
        # the placements once more, by an ontology's judgments; only with MaxRel on one
        **({} if parts["graded"] is None else {"graded": _tables_of(parts["graded"])}),
    }
    SAVED.write(path, head, data)


def is_saved(path: str | Path) -> bool:
    """Return whether a file begins as a saved evaluation does; a pipe is none."""
    path = Path(path)
    return path.suffix.lower() == SUFFIX and path.is_file() and SAVED.is_in(path)


def read(path: str | Path) -> tuple[list[Scores], dict[str, Any]]:
    """Return the scores of a saved evaluation, and the other arguments of `Evaluation`."""
    return SAVED.read(path, _parts)


def _summary(scores: Scores, interval: Interval) -> dict[str, object]:
    measure = scores.measure
    numbers = {
        "mean": scores.mean,
        **{name: getattr(interval, name) for name in OF_INTERVAL},
        **{name: getattr(scores, f"mean_{name}") for name in OF_TIES},
    }
    return {
        **{name: _plain(number) for name, number in numbers.items()},
        "n_queries": scores.n_queries,
        **{name: getattr(interval, attribute) for name, attribute in KNOWN.items()},
        "higher_is_better": measure.higher_is_better,
        "total": measure.total,
        "custom": not _can_be_read(measure),
        **({"asked": measure.asked} if measure.asked else {}),
    }


def _plain(number: float) -> float | str | None:
    """Return a number as JSON can hold it; NaN, which means no value, becomes null."""
    return None if math.isnan(number) else number if math.isfinite(number) else str(number)


def _can_be_read(measure: Measure) -> bool:
    """Return whether the notation of a measure parses to it; that of a custom measure may look like another."""
    try:
        return parse_measure(str(measure)) == measure
    except MeasureError:
        return False


def _packed_scores(scores: Sequence[Scores]) -> str:
    """Return a row for each measure and query, sorted by measure and then query; null means no value."""
    bounds = () if scores[0].unjudged is None else UNJUDGED
    schema = SCORES | dict.fromkeys(bounds, pl.Float64)
    frames = [
        pl.DataFrame(
            {
                "value": one.values,
                **{name: getattr(one, name) for name in NUMBERS},
                "has_relevant": one.has_relevant,
                "reachable": one.spread.reachable[one.rows],
                **{
                    name: getattr(one, name) if one.has_unjudged_bounds else None for name in UNJUDGED if name in schema
                },
            },
            schema=schema,
        )
        for one in scores
    ]
    return packed(pl.concat(frames).with_columns(pl.col(pl.Float64).fill_nan(None)), schema)


def _tables_of(placed: Placements) -> dict[str, object]:
    own = placed.subtopics
    queries = {
        "query_id": placed.query_ids.tolist(),
        "n_retrieved": placed.n_retrieved,
        "ends_in_tie": placed.ends_in_tie,
    }
    return {
        **({} if own is None else {"subtopics": _packed(own, SUBTOPICS)}),
        "queries": packed(queries, QUERIES),
        "retrieved": _packed(placed, RETRIEVED),
        "judged": packed({"query": placed.judged_query, "relevance": placed.judged_relevance}, JUDGED),
        "max_relevance": placed.max_relevance,
    }


def _packed(rows: Placements | Subtopics, schema: Mapping[str, type[pl.DataType]]) -> str:
    return packed({name: rows.doc_ids.tolist() if name == "doc_id" else getattr(rows, name) for name in schema}, schema)


def _parts(document: dict[str, Any]) -> tuple[list[Scores], dict[str, Any]]:
    data, unjudged = document["data"], tuple(document["unjudged_queries"])
    placements = _placements(data, unjudged)
    graded = _placements(data["graded"], unjudged) if "graded" in data else None
    rows = unpacked(data["scores"]).with_columns(pl.col(pl.Float64).fill_null(math.nan))
    n = placements.n_queries
    scores = []
    for place, (notation, stated) in enumerate(document["measures"].items()):
        measure = _measure(notation, stated)
        placed = graded if graded is not None and isinstance(measure, MaxRel) else placements
        scores.append(_scores(measure, placed, rows.slice(place * n, n)))
    return scores, {
        "name": document["name"],
        "query_ids": placements.query_ids,
        "conventions": Conventions(**document["conventions"]),
        "missing_queries": tuple(document["missing_queries"]),
        "unjudged_queries": unjudged,
        "placements": placements,
        "graded": graded,
        "qrels": document["qrels_hash"],
        "notes": tuple(document["notes"]),
    }


def _measure(notation: str, stated: Mapping[str, Any]) -> Measure:
    if stated["custom"]:
        return StoredMeasure(notation=notation, higher_is_better=stated["higher_is_better"], total=stated["total"])
    return parse_measure(stated.get("asked", notation))


def _scores(measure: Measure, placed: Placements, rows: pl.DataFrame) -> Scores:
    columns = {name: rows[name].to_numpy() for name in rows.columns}
    spread = TieSpread(measure, placed)
    spread.__dict__.update(  # what it would compute on first use
        mean=columns["tie_mean"],
        std=columns["tie_std"],
        extremes=(columns["tie_min"], columns["tie_max"]),
        **{name: columns[name] for name in ("standard_error", "has_relevant", "reachable")},
    )
    bounds = (columns["unjudged_min"], columns["unjudged_max"]) if "unjudged_min" in columns else None
    return Scores(measure, placed.query_ids, columns["value"], spread, bounds)


def _placements(data: Mapping[str, Any], unjudged: tuple[str, ...]) -> Placements:
    queries, rows, judged = (columns_of(data[name]) for name in ("queries", "retrieved", "judged"))
    ends = queries.pop("ends_in_tie")
    return Placements(
        **queries,
        documents=rows.pop("doc_ids"),
        **rows,
        **{f"judged_{name}": column for name, column in judged.items()},
        max_relevance=data["max_relevance"],
        unjudged_queries=unjudged,
        ends_in_tie=ends.astype(np.bool_) if None not in ends else None,
        subtopics=Subtopics(**columns_of(data["subtopics"])) if "subtopics" in data else None,
    )
