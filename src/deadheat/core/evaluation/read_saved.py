"""How saved evaluations are read: scores, judgments, placements and lists of what a file holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from deadheat.core import hooks
from deadheat.core.arrays import FloatArray
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.evaluation.kept import (
    parts_in_columns,
    parts_in_tables,
    with_keys,
)
from deadheat.core.evaluation.origin import Origin
from deadheat.core.evaluation.packed_tables import check_codes, unpacked, unpacked_beside, unpacked_columns
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.shapes import (
    WrongValueError,
)
from deadheat.core.evaluation.tie_spread import TieSpread
from deadheat.core.libraries import polars as pl
from deadheat.core.measures import Measure, parse_measure
from deadheat.core.measures.custom import StoredMeasure
from deadheat.core.measures.notation import measure_named
from deadheat.core.placements.beside import BesideRows, beside_tables
from deadheat.core.placements.placements import Placements
from deadheat.core.placements.top_rows import TopRows
from deadheat.core.settings import Conventions
from deadheat.core.structures import copy_with


def parts_in(document: dict[str, Any]) -> tuple[list[Scores], dict[str, Any]]:
    """Return the scores of a saved evaluation, and the other arguments of `Evaluation`."""
    data = document["data"]
    unjudged = tuple(document["unjudged_queries"])
    placements = _placements(data, unjudged)
    graded = None
    if "graded" in data:
        graded = _placements(data["graded"], unjudged)
    run = None
    if "ranking" in data:
        run = _run(document, data["ranking"])
    return _all_scores(document, placements, graded), {
        "name": document["name"],
        "query_ids": placements.query_ids,
        "conventions": Conventions(**document["conventions"]),
        "missing_queries": tuple(document["missing_queries"]),
        "unjudged_queries": unjudged,
        "placements": placements,
        "graded": graded,
        "qrels": _qrels(data["judgments"], document["qrels_hash"]),
        "notes": tuple(document["notes"]),
        "run": run,
        "origin": Origin.stated_in(document),
        "known_depth": document["known_depth"],
    }


def _all_scores(document: dict[str, Any], placements: Placements, graded: Placements | None) -> list[Scores]:
    """Return the scores of each measure; MaxRel on an ontology has placements of its own, `graded`."""
    data = document["data"]
    n_queries = placements.n_queries
    measures = measures_in(document)
    rows = scores_in(data, len(measures), n_queries).with_columns(pl.col(pl.Float64).fill_null(math.nan))
    weights = weights_in(data, n_queries)
    parts_of_measures = parts_in_tables(data, len(measures), n_queries)
    no_relevant = document["conventions"]["no_relevant"]
    all_scores = []
    for place, (label, stated) in enumerate(measures.items()):
        measure = measure_of(label, stated)
        placed = placements
        if graded is not None and measure.by_ontology:
            placed = graded
        scores = _scores(measure, placed, rows.slice(place * n_queries, n_queries), no_relevant)
        weights_of_measure = weights
        if measure.total:
            weights_of_measure = None
        parts = {**scores.parts, **parts_of_measures[place]}
        all_scores.append(replace(scores, weights=weights_of_measure, parts=parts))
    return all_scores


def _qrels(held: Mapping[str, Any], fingerprint: str) -> Qrels:
    """Return the judgments that a file holds."""
    hooks.check_beside(held)
    qrels = copy_with(
        Qrels.of_checked(unpacked(held["rows"], "judgments"), held["name"]),
        bare=tuple(held["without"]),
        notes=tuple(held["notes"]),
        fingerprint=fingerprint,
        unanswerable=tuple(held.get("unanswerable", ())),  # files of 1.0 do not have it
        source_form=held.get("source_form", "trec"),  # nor this; they had no note
        **{key: unpacked_beside(key, held[key]) for key in hooks.list_tables_beside() if key in held},
    )
    return with_keys("judgments", qrels, held)


def _run(document: Mapping[str, Any], held: Mapping[str, Any]) -> Run:
    """Return the run, of the first documents of each list that a file holds."""
    lists = unpacked(held["lists"], "lists")
    coded = unpacked(held["rows"], "ranking")
    if lists["query_id"].is_duplicated().any():
        raise WrongValueError("a query of lists comes twice")
    frame = coded.select(lists["query_id"].gather(coded["query"]), "doc_id", "score")
    run = copy_with(
        Run.of_checked(frame, document["name"]),
        rows=TopRows(frame, lists, document["save_depth"]),
        notes=tuple(held["notes"]),
        by_keys=held["by_keys"] and tuple(held["by_keys"]),
        bare=tuple(held.get("without", ())),
    )
    return with_keys("ranking", run, held)


def measure_of(label: str, stated: Mapping[str, Any]) -> Measure:
    """Return a measure from the name by which it was asked for, and what a file says of its mean."""
    notation = stated["measure"]
    if stated["custom"]:
        stored = StoredMeasure(
            notation=notation,
            higher_is_better=stated["higher_is_better"],
            total=stated["total"],
        )
        return with_keys("measures", stored, stated).with_label(label)
    measure = parse_measure(notation)
    named = measure_named(label)
    if named == measure:
        return named
    return measure.with_label(label)  # R of spans is another measure than R


def _scores(measure: Measure, placed: Placements, rows: pl.DataFrame, no_relevant: str | None) -> Scores:
    """Return the scores of one measure, of its rows."""
    columns = {name: rows[name].to_numpy() for name in rows.columns}
    spread = TieSpread.known(
        measure,
        placed,
        no_relevant,
        mean=columns["tie_mean"],
        std=columns["tie_std"],
        extremes=(columns["tie_min"], columns["tie_max"]),
        standard_error=columns["standard_error"],
        has_relevant=columns["has_relevant"],
        reachable=columns["reachable"],
    )
    return Scores(measure, placed.query_ids, columns["value"], spread, parts=parts_in_columns(measure, columns))


def _placements(data: Mapping[str, Any], unjudged: tuple[str, ...]) -> Placements:
    """Return the placements that a file holds."""
    queries = unpacked_columns(data["queries"], "queries")
    rows = unpacked_columns(data["retrieved"], "retrieved")
    judged = unpacked_columns(data["judged"], "judged")
    n_queries = len(queries["query_ids"])
    check_codes("retrieved", rows["query"], n_queries)
    check_codes("judged", judged["query"], n_queries)
    ends_in_tie = queries.pop("ends_in_tie")
    if None in ends_in_tie:
        ends_in_tie = None
    else:
        ends_in_tie = ends_in_tie.astype(np.bool_)
    return Placements(
        **queries,
        documents=rows.pop("doc_ids"),
        **rows,
        judged_query=judged["query"],
        judged_relevance=judged["relevance"],
        max_relevance=data["max_relevance"],
        unjudged_queries=unjudged,
        ends_in_tie=ends_in_tie,
        beside=_placed_beside(data, n_queries),
    )


def _placed_beside(data: Mapping[str, Any], n_queries: int) -> dict[str, BesideRows]:
    """Return what placements hold of the tables beside the judgments."""
    hooks.check_beside(data)
    found = {}
    for table in beside_tables():
        if table.placed is None or table.key not in data:
            continue
        form = table.placed.form
        columns = unpacked_columns(data[table.key], form.name, form.schema(), form.nullable)
        check_codes(form.name, columns["query"], n_queries)
        for name in table.placed.numbered:
            check_codes(form.name, columns[name], len(columns[name]))
        found[table.key] = table.placed.rows(**columns)
    return found


def measures_in(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what a file says of each measure, by the name by which it was asked for.

    Files in format 2 have the notations as names, and how a measure was asked for beside them.
    """
    if document["format"] != 2:
        return dict(document["measures"])
    measures = {}
    for notation, stated in document["measures"].items():
        measures[stated.get("asked", notation)] = {"measure": notation, **stated}
    return measures


def weights_in(data: Mapping[str, Any], n_queries: int) -> FloatArray | None:
    """Return the weights of the queries; None if they have none."""
    if "weights" not in data:
        return None
    weights = unpacked(data["weights"], "weights")["weight"].to_numpy()
    if len(weights) != n_queries or not (weights >= 0).all():
        raise WrongValueError(f"data.weights has not {n_queries} numbers from 0 on")
    return weights


def scores_in(data: Mapping[str, Any], n_measures: int, n_queries: int) -> pl.DataFrame:
    """Return a row for each measure and query."""
    rows = unpacked(data["scores"], "scores")
    if rows.height != n_measures * n_queries:
        raise WrongValueError(f"data.scores has {rows.height} rows, expected {n_measures * n_queries}")
    return rows
