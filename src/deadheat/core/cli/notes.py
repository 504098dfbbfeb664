"""How evaluations are saved: the shape of the file, and what it says of means, judgments, placements and lists.

`read_saved.py` reads it, the document is a :class:`~deadheat.core.evaluation.documents.DocumentKind`, and the tables of
all queries are those of `packed_tables.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from deadheat.core import hooks
from deadheat.core.arrays import FloatArray
from deadheat.core.data.fingerprints import hash_ids
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.errors import ParameterError
from deadheat.core.evaluation.documents import DocumentKind
from deadheat.core.evaluation.interval_estimates import estimate_intervals
from deadheat.core.evaluation.intervals import KNOWN, Interval, IntervalOptions
from deadheat.core.evaluation.kept import (
    FieldsOfFeatures,
    keys_of,
    tables_of,
)
from deadheat.core.evaluation.packed_tables import ENCODING, NUMBERS, OF_TIES, SCHEMAS, packed, packed_beside
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.shapes import (
    FIELDS,
    FLAG,
    NUMBER,
    NUMBER_OR_NONE,
    PRECISIONS_OR_NONE,
    TEXT,
    TEXTS,
    WHOLE,
    WHOLE_OR_NONE,
    DictOf,
    Fields,
    OfConventions,
)
from deadheat.core.io.files import check_path
from deadheat.core.libraries import polars as pl
from deadheat.core.measures.notation import measure_named
from deadheat.core.placements.beside import BesideRows, PlacedTable, beside_table
from deadheat.core.placements.placements import Placements
from deadheat.core.placements.top_rows import TopRows

SUFFIX = ".json"
OF_INTERVAL = ("low", "high", "standard_error", "query_standard_error", "tie_standard_error")
_OF_PLACEMENTS = Fields(
    {**dict.fromkeys(("queries", "retrieved", "judged"), TEXT), "max_relevance": NUMBER},
    dict.fromkeys(hooks.list_tables_beside(), TEXT),
)
_OF_JUDGMENTS = FieldsOfFeatures(
    {"name": TEXT, "notes": TEXTS, "without": TEXTS, "rows": TEXT},
    {"unanswerable": TEXTS, "source_form": TEXT, **dict.fromkeys(hooks.list_tables_beside(), TEXT)},
    "judgments",
)
_OF_RANKING = FieldsOfFeatures(
    {"notes": TEXTS, "lists": TEXT, "rows": TEXT},
    {"by_keys": PRECISIONS_OR_NONE, "without": TEXTS},
    "ranking",
)
_OF_MEASURE = FieldsOfFeatures(
    {
        "mean": NUMBER_OR_NONE,
        **dict.fromkeys(OF_INTERVAL, NUMBER_OR_NONE),
        **dict.fromkeys(OF_TIES, NUMBER_OR_NONE),
        "n_queries": WHOLE,
        "ci_method": TEXT,
        "known": FLAG,
        "unknown": TEXT,
        "higher_is_better": FLAG,
        "total": FLAG,
        "custom": FLAG,
    },
    {
        "measure": TEXT,  # format 2 has it as the key
        "asked": TEXT,
        "n_effective": NUMBER,
    },
    "measures",
)
SAVED = DocumentKind(
    "deadheat evaluation",
    format=3,
    called="a saved evaluation",
    hint="Evaluation.save or deadheat evaluate QRELS RUN --save FILE.json writes one",
    shape=Fields(
        {
            **dict.fromkeys(("name", "time", "label", "commit", "qrels_hash", "queries_hash"), TEXT),
            **dict.fromkeys(("missing_queries", "unjudged_queries", "notes"), TEXTS),
            "n_queries": WHOLE,
            "save_depth": WHOLE,
            "known_depth": WHOLE_OR_NONE,
            "conventions": OfConventions(),
            "measures": DictOf(_OF_MEASURE, is_filled=True),
            "intervals": FIELDS,
            "data": FieldsOfFeatures(
                {**_OF_PLACEMENTS.needed, "scores": TEXT, "judgments": _OF_JUDGMENTS},
                {
                    **_OF_PLACEMENTS.optional,
                    "weights": TEXT,
                    "graded": _OF_PLACEMENTS,
                    "ranking": _OF_RANKING,
                },
                "table",
            ),
        },
        {"label_is_branch": FLAG},
    ),
    earlier_formats=(2,),  # of versions before 0.9
)


def write(path: str | Path, scores: Sequence[Scores], options: IntervalOptions, parts: Mapping[str, Any]) -> None:
    """Write an evaluation to a JSON file: readable means and intervals, and the tables of all queries.

    Parameters
    ----------
    path : path
        Of the JSON file, ``.json``.
    scores : sequence of Scores
    options : IntervalOptions
    parts : mapping
        The other arguments of `Evaluation`, with its origin, and of the run what is to be kept.

    Raises
    ------
    ParameterError
        The name does not end in ``.json``, or the interval options do not apply to the measures or clusters.
    DataError
        A file of this name exists and is not a saved evaluation.
    """
    path = check_path(path)
    if path.suffix.lower() != SUFFIX:
        raise ParameterError(
            f"must end in {SUFFIX}",
            argument="path",
            given=str(path),
            hint=f"Did you mean {str(path.with_suffix(SUFFIX))!r}? A folder that is not there ends in /",
        )
    qrels = parts["qrels"]
    run = parts["run"]
    data: dict[str, object] = {"encoding": ENCODING, "scores": _packed_scores(scores)}
    with ThreadPoolExecutor(1) as beside:  # intervals draw resamples while the other tables are compressed
        estimates = beside.submit(estimate_intervals, scores, options)
        data |= _tables_of_placements(parts["placements"])
        data |= tables_of(scores)
        weights = _find_weights(scores)
        if weights is not None:
            data["weights"] = packed({"weight": weights}, SCHEMAS["weights"])
        if parts["graded"] is not None:  # the placements by an ontology's judgments; only with MaxRel on one
            data["graded"] = _tables_of_placements(parts["graded"])
        data["judgments"] = _judgments(qrels)
        save_depth = 0
        if run:
            data["ranking"] = _ranking(run, run.rows)
            save_depth = run.rows.depth
    measures = {}
    for scores_of_measure, interval in zip(scores, estimates.result(), strict=True):
        numbers = stated(scores_of_measure, interval)
        measures[scores_of_measure.measure.label] = {name: _plain(value) for name, value in numbers.items()}
    head = {
        "name": parts["name"],
        **parts["origin"].stated(),
        "conventions": asdict(parts["conventions"]),
        "n_queries": len(parts["query_ids"]),
        "measures": measures,
        "intervals": options.to_dict(),
        "qrels_hash": qrels.fingerprint,
        "queries_hash": hash_ids(parts["query_ids"].tolist()),
        "missing_queries": list(parts["missing_queries"]),
        "unjudged_queries": list(parts["unjudged_queries"]),
        "notes": list(parts["notes"]),
        "save_depth": save_depth,
        "known_depth": parts["known_depth"],
    }
    SAVED.write(path, head, data)


def _find_weights(scores: Sequence[Scores]) -> FloatArray | None:
    """Return the weights of the queries, which totals do not have; None if they have none."""
    for scores_of_measure in scores:
        if scores_of_measure.weights is not None:
            return scores_of_measure.weights
    return None


def is_saved(path: str | Path) -> bool:
    """Return whether a file begins as a saved evaluation does; a pipe is none."""
    path = Path(path)
    return path.suffix.lower() == SUFFIX and path.is_file() and SAVED.is_in(path)


def stated(scores: Scores, interval: Interval) -> dict[str, Any]:
    """Return what a file says of the mean of a measure."""
    measure = scores.measure
    said: dict[str, Any] = {"measure": str(measure), "mean": scores.mean}
    for name in OF_INTERVAL:
        said[name] = getattr(interval, name)
    for name in OF_TIES:
        said[name] = getattr(scores, f"mean_{name}")
    said["n_queries"] = scores.n_queries
    if scores.is_weighted:
        said["n_effective"] = scores.n_effective
    for name, attribute in KNOWN.items():
        said[name] = getattr(interval, attribute)
    said["higher_is_better"] = measure.higher_is_better
    said["total"] = measure.total
    said["custom"] = measure_named(str(measure)) != measure  # the name of a custom measure may look like another
    return said | keys_of("measures", measure)


def _plain(value: object) -> object:
    """Return a value as JSON can hold it; NaN, which means no value, becomes null, infinities become text."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    if math.isnan(value):
        return None
    return str(value)


def _packed_scores(scores: Sequence[Scores]) -> str:
    """Return a row for each measure and query, sorted by measure and then query; null means no value."""
    names_of_parts = list(scores[0].columns())
    schema = SCHEMAS["scores"] | dict.fromkeys(names_of_parts, pl.Float64)
    frames = []
    for scores_of_measure in scores:
        columns: dict[str, object] = {"value": scores_of_measure.values}
        for name in NUMBERS:
            columns[name] = getattr(scores_of_measure, name)
        columns["has_relevant"] = scores_of_measure.has_relevant
        columns["reachable"] = scores_of_measure.spread.reachable[scores_of_measure.rows]
        columns_of_parts = scores_of_measure.columns()
        for name in names_of_parts:
            columns[name] = columns_of_parts.get(name)
        frames.append(pl.DataFrame(columns, schema=schema))
    return packed(pl.concat(frames).with_columns(pl.col(pl.Float64).fill_nan(None)), schema)


def _tables_of_placements(placed: Placements) -> dict[str, object]:
    """Return the tables of placements, and the highest relevance."""
    queries: dict[str, object] = {
        "query_id": placed.query_ids.tolist(),
        "n_retrieved": placed.n_retrieved,
        "ends_in_tie": placed.ends_in_tie,
    }
    for name in ("top_score", "absent", "retrieves_itself"):
        column = getattr(placed, name)
        if column is not None:  # else it is unknown
            queries[name] = column
    tables: dict[str, object] = {}
    for key, rows in placed.beside.items():
        tables[key] = _packed_rows(rows, _placed_table(key).form.schema())
    tables["queries"] = packed(queries, {name: SCHEMAS["queries"][name] for name in queries})
    tables["retrieved"] = _packed_rows(placed, SCHEMAS["retrieved"])
    judged = {"query": placed.judged_query, "relevance": placed.judged_relevance}
    tables["judged"] = packed(judged, SCHEMAS["judged"])
    tables["max_relevance"] = placed.max_relevance
    return tables


def _judgments(qrels: Qrels) -> dict[str, object]:
    """Return the judgments, with what was noted of them."""
    return {
        "name": qrels.name,
        "notes": list(qrels.notes),
        "without": list(qrels.bare),
        "unanswerable": list(qrels.unanswerable),
        "source_form": qrels.source_form,
        **keys_of("judgments", qrels),
        "rows": packed(qrels.to_polars().select(*SCHEMAS["judgments"]), SCHEMAS["judgments"]),
        **{key: packed_beside(key, frame) for key, frame in qrels.beside().items()},
    }


def _ranking(run: Run, rows: TopRows) -> dict[str, object]:
    """Return the first documents of each list; each names its query by a number."""
    codes = rows.queries.select("query_id").with_row_index("query")
    coded = rows.frame.join(codes, on="query_id", how="left", maintain_order="left")
    ranking: dict[str, object] = {"notes": list(run.notes), "by_keys": run.by_keys and list(run.by_keys)}
    if run.bare:
        ranking["without"] = list(run.bare)  # queries for which nothing was retrieved
    ranking |= keys_of("ranking", run)
    ranking["lists"] = packed(rows.queries, SCHEMAS["lists"])
    ranking["rows"] = packed(coded.select(*SCHEMAS["ranking"]), SCHEMAS["ranking"])
    return ranking


def _placed_table(key: str) -> PlacedTable:
    """Return how placements hold a table that measures look at."""
    placed = beside_table(key).placed
    assert placed is not None  # noqa: S101 - no other table is in placements
    return placed


def _packed_rows(rows: Placements | BesideRows, schema: Mapping[str, type[pl.DataType]]) -> str:
    """Return the columns of a schema, which are attributes of the rows, as text."""
    columns: dict[str, object] = {}
    for name in schema:
        if name == "doc_id":
            columns[name] = list(rows.doc_ids)
        else:
            columns[name] = getattr(rows, name)
    return packed(columns, schema)
