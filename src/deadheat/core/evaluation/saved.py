"""Files that deadheat writes and reads again, saved evaluations above all.

Each is one JSON document, with a head that people and programs read, the tables of all queries below, and a hash, which
finds damage; what is read is trusted beyond that.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.core import hooks
from deadheat.core.arrays import AnyArray, FloatArray
from deadheat.core.data.fingerprints import hash_ids
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.errors import DataError, DeadheatError, FileFormatError, MissingPluginError, ParameterError
from deadheat.core.evaluation.intervals import KNOWN, Interval, IntervalOptions
from deadheat.core.evaluation.kept import (
    FieldsOfFeatures,
    keys_of,
    parts_in_columns,
    parts_in_tables,
    tables_of,
    with_keys,
)
from deadheat.core.evaluation.origin import Origin
from deadheat.core.evaluation.scores import Scores, estimate_intervals
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
    Shape,
    WrongValueError,
)
from deadheat.core.evaluation.tie_spread import TieSpread
from deadheat.core.io.files import check_path, check_readable, decode_utf8, read_all
from deadheat.core.io.guarding import check_threads, guard_polars
from deadheat.core.io.objects import parse_json
from deadheat.core.io.pages import read_table
from deadheat.core.io.writing import make_folder, replace_file
from deadheat.core.libraries import polars as pl
from deadheat.core.measures import Measure, parse_measure
from deadheat.core.measures.custom import StoredMeasure
from deadheat.core.measures.notation import measure_named
from deadheat.core.placements.beside import BesideRows, PlacedTable, beside_table, beside_tables
from deadheat.core.placements.placements import Placements
from deadheat.core.placements.top_rows import TopRows
from deadheat.core.settings import Conventions
from deadheat.core.structures import T, copy_with
from deadheat.core.wording import format_given
from deadheat.version import __version__

HEAD = 1 << 10  # bytes, enough to recognise a document
ENCODING = "Parquet in base64"


@dataclass(frozen=True)
class DocumentKind:
    """A kind of documents.

    Attributes
    ----------
    kind : str
        What the document says that it is.
    format : int
        The format that is written and read.
    called : str
        In messages, such as "a saved evaluation".
    hint : str
        What writes one.
    shape : Shape
        Of the documents.
    earlier_formats : tuple of int
        Those that are read too.
    """

    kind: str
    format: int
    called: str
    hint: str
    shape: Shape = FIELDS
    earlier_formats: tuple[int, ...] = ()

    def is_in(self, path: Path) -> bool:
        """Return whether a file begins as a document of this kind does."""
        with path.open("rb") as file:
            return re.match(rb'\s*\{\s*"kind"\s*:\s*"%b"' % self.kind.encode(), file.read(HEAD)) is not None

    def refuse_foreign(self, path: str | Path) -> None:
        """Raise `DataError` if to write would replace a file of another kind; an empty file may be replaced."""
        path = Path(path)
        if path.is_dir():
            raise DataError("is a folder", hint="name a file in it", path=path)
        if path.is_file() and path.stat().st_size and not self.is_in(path):
            raise DataError(
                f"exists and is not {self.called}: it would be replaced", hint="choose another name", path=path
            )

    def write(self, path: str | Path, head: Mapping[str, Any], data: Mapping[str, Any] | None) -> None:
        """Write a document. Missing folders are created, and an earlier one is replaced atomically.

        Parameters
        ----------
        path : path
        head : mapping of str to object
            What people read.
        data : mapping of str to object, or None
            Tables, as `packed`.
        """
        path = check_path(path)
        self.refuse_foreign(path)
        document = {"kind": self.kind, "format": self.format, "deadheat": __version__, **head}
        try:
            document |= {"sha256": checksum({**document, "data": data}), "data": data}
            written = f"{json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)}\n".encode()
        except UnicodeEncodeError:
            raise DataError("a name has half a surrogate pair, which UTF-8 cannot encode", path=path) from None
        make_folder(path.parent)
        with replace_file(path) as file:
            file.write(written)

    def read(self, path: str | Path, made: Callable[[dict[str, Any]], T]) -> T:
        """Read a document; raise if the file is another one, damaged, changed, or of another version.

        Parameters
        ----------
        path : path
        made : callable
            Makes of the document what is returned.
        """
        path = check_path(path)
        text = decode_utf8(read_all(check_readable(path)), path)
        try:
            document = parse_json(text, path)
        except DataError as error:
            if text.strip() and self.kind not in text:  # such as a run
                raise self._is_another(path) from None
            error.hint = None  # to read it in another format is no help
            raise FileFormatError(
                f"is damaged or incomplete ({error.sentence(has_place=False)})",
                allowed=self.called,
                hint=self.hint,
                path=path,
                line=error.line,
            ) from None
        if not isinstance(document, dict) or document.get("kind") != self.kind:
            raise self._is_another(path)
        known = (*self.earlier_formats, self.format)
        if document.get("format") not in known:
            raise FileFormatError(
                f"has format {format_given(document.get('format'))}, written by deadheat"
                f" {format_given(document.get('deadheat'))}; this is {__version__!r}, which reads"
                f" {' and '.join(map(str, known))}",
                hint="install that version, or save it again",
                path=path,
            )
        if document.get("sha256") != checksum(document):
            raise FileFormatError(
                "was changed since it was saved, or is damaged (its SHA-256 differs)", hint="save it again", path=path
            )
        try:
            with guard_polars(path):
                self.shape.check(document, "")
                return made(document)
        except Exception as error:
            of_the_file = ParameterError | DataError | MissingPluginError
            if isinstance(error, DeadheatError) and not isinstance(error, of_the_file):
                raise
            what = str(error)
            if isinstance(error, KeyError):
                what = f"lacks {what}"
            raise FileFormatError(
                f"cannot be read as {self.called}: {what}",
                hint=self.hint,
                path=path,
            ) from None

    def _is_another(self, path: Path) -> FileFormatError:
        """Return the error for a file that is no such document."""
        return FileFormatError("holds something else", allowed=self.called, hint=self.hint, path=path)


SUFFIX = ".json"
_TABLE = Path("a table in it")
OF_INTERVAL = ("low", "high", "standard_error", "query_standard_error", "tie_standard_error")
OF_TIES = ("tie_std", "tie_min", "tie_max")
NUMBERS = ("tie_mean", *OF_TIES, "standard_error")
SCHEMAS: dict[str, dict[str, type[pl.DataType]]] = {  # of the tables
    "scores": {
        **dict.fromkeys(("value", *NUMBERS), pl.Float64),
        "has_relevant": pl.Boolean,
        "reachable": pl.Float64,
    },
    "weights": {"weight": pl.Float64},
    "queries": {
        "query_id": pl.String,
        "n_retrieved": pl.Int64,
        "ends_in_tie": pl.Boolean,
        "top_score": pl.Float64,
        "absent": pl.Boolean,
        "retrieves_itself": pl.Boolean,
    },
    "retrieved": {
        "query": pl.Int64,
        "doc_id": pl.String,
        "relevance": pl.Float64,
        "above": pl.Int64,
        "tied": pl.Int64,
    },
    "judged": {"query": pl.Int64, "relevance": pl.Float64},
    "judgments": {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64},
    "lists": {"query_id": pl.String, "n_retrieved": pl.Int64, "next_score": pl.Float64},
    "ranking": {"query": pl.UInt32, "doc_id": pl.String, "score": pl.Float64},
}
NOT_IN_ALL = {"queries": {"top_score", "absent", "retrieves_itself"}}  # columns that some saves lack
NULLABLE: dict[str, set[str]] = {  # columns that may have null
    "scores": {*NUMBERS, "value", "reachable"},
    "queries": {"ends_in_tie", "top_score"},
    "lists": {"next_score"},
}

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
    qrels, run, origin = (parts[name] for name in ("qrels", "run", "origin"))
    weights = next((one.weights for one in scores if one.weights is not None), None)
    data: dict[str, object] = {"encoding": ENCODING, "scores": _packed_scores(scores)}
    with ThreadPoolExecutor(1) as beside:  # intervals draw resamples while the other tables are compressed
        bounds = beside.submit(estimate_intervals, scores, options)
        data |= {
            **_tables_of_placements(parts["placements"]),
            **tables_of(scores),
            **({} if weights is None else {"weights": packed({"weight": weights}, SCHEMAS["weights"])}),
            # the placements once more, by an ontology's judgments; only with MaxRel on one
            **({} if parts["graded"] is None else {"graded": _tables_of_placements(parts["graded"])}),
            "judgments": _judgments(qrels),
            **({"ranking": _ranking(run, run.rows)} if run else {}),
        }
    head = {
        "name": parts["name"],
        **origin.stated(),
        "conventions": asdict(parts["conventions"]),
        "n_queries": len(parts["query_ids"]),
        "measures": {
            one.measure.label: {name: _plain(value) for name, value in stated(one, interval).items()}
            for one, interval in zip(scores, bounds.result(), strict=True)
        },
        "intervals": options.to_dict(),
        "qrels_hash": qrels.fingerprint,
        "queries_hash": hash_ids(parts["query_ids"].tolist()),
        **{name: list(parts[name]) for name in ("missing_queries", "unjudged_queries", "notes")},
        "save_depth": run.rows.depth if run else 0,
        "known_depth": parts["known_depth"],
    }
    SAVED.write(path, head, data)


def is_saved(path: str | Path) -> bool:
    """Return whether a file begins as a saved evaluation does; a pipe is none."""
    path = Path(path)
    return path.suffix.lower() == SUFFIX and path.is_file() and SAVED.is_in(path)


def measures_in(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what a file says of each measure, by the name by which it was asked for.

    Files in format 2 have the notations as names, and how a measure was asked for beside them.
    """
    if document["format"] != 2:
        return dict(document["measures"])
    return {
        stated.get("asked", notation): {"measure": notation, **stated}
        for notation, stated in document["measures"].items()
    }


def stated(scores: Scores, interval: Interval) -> dict[str, Any]:
    """Return what a file says of the mean of a measure."""
    measure = scores.measure
    return {
        "measure": str(measure),
        "mean": scores.mean,
        **{name: getattr(interval, name) for name in OF_INTERVAL},
        **{name: getattr(scores, f"mean_{name}") for name in OF_TIES},
        "n_queries": scores.n_queries,
        **({"n_effective": scores.n_effective} if scores.is_weighted else {}),
        **{name: getattr(interval, attribute) for name, attribute in KNOWN.items()},
        "higher_is_better": measure.higher_is_better,
        "total": measure.total,
        "custom": measure_named(str(measure)) != measure,  # the name of a custom measure may look like another
        **keys_of("measures", measure),
    }


def _plain(value: object) -> object:
    """Return a value as JSON can hold it; NaN, which means no value, becomes null, infinities become text."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)


def _packed_scores(scores: Sequence[Scores]) -> str:
    """Return a row for each measure and query, sorted by measure and then query; null means no value."""
    of_parts = [one.columns() for one in scores]
    schema = SCHEMAS["scores"] | dict.fromkeys(of_parts[0], pl.Float64)
    frames = [
        pl.DataFrame(
            {
                "value": one.values,
                **{name: getattr(one, name) for name in NUMBERS},
                "has_relevant": one.has_relevant,
                "reachable": one.spread.reachable[one.rows],
                **{name: own.get(name) for name in of_parts[0]},
            },
            schema=schema,
        )
        for one, own in zip(scores, of_parts, strict=True)
    ]
    return packed(pl.concat(frames).with_columns(pl.col(pl.Float64).fill_nan(None)), schema)


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


def _tables_of_placements(placed: Placements) -> dict[str, object]:
    queries: dict[str, object] = {
        "query_id": placed.query_ids.tolist(),
        "n_retrieved": placed.n_retrieved,
        "ends_in_tie": placed.ends_in_tie,
    }
    for name in ("top_score", "absent", "retrieves_itself"):
        column = getattr(placed, name)
        if column is not None:  # else it is unknown
            queries[name] = column
    return {
        **{key: _packed(rows, _placed_table(key).form.schema()) for key, rows in placed.beside.items()},
        "queries": packed(queries, {name: SCHEMAS["queries"][name] for name in queries}),
        "retrieved": _packed(placed, SCHEMAS["retrieved"]),
        "judged": packed({"query": placed.judged_query, "relevance": placed.judged_relevance}, SCHEMAS["judged"]),
        "max_relevance": placed.max_relevance,
    }


def _judgments(qrels: Qrels) -> dict[str, object]:
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


def packed_beside(key: str, frame: pl.DataFrame) -> str:
    """Return a table beside the judgments as text."""
    schema = beside_table(key).form.schema()
    return packed(frame.select(*schema), schema)


def unpacked_beside(key: str, text: str) -> pl.DataFrame:
    """Read what `packed_beside` returned."""
    form = beside_table(key).form
    return unpacked(text, form.name, form.schema(), form.nullable)


def _ranking(run: Run, rows: TopRows) -> dict[str, object]:
    codes = rows.queries.select("query_id").with_row_index("query")
    coded = rows.frame.join(codes, on="query_id", how="left", maintain_order="left")
    return {
        "notes": list(run.notes),
        "by_keys": run.by_keys and list(run.by_keys),
        **({"without": list(run.bare)} if run.bare else {}),  # queries for which nothing was retrieved
        **keys_of("ranking", run),
        "lists": packed(rows.queries, SCHEMAS["lists"]),
        "rows": packed(coded.select(*SCHEMAS["ranking"]), SCHEMAS["ranking"]),
    }


def _placed_table(key: str) -> PlacedTable:
    """Return how placements hold a table that measures look at."""
    placed = beside_table(key).placed
    assert placed is not None  # noqa: S101 - no other table is in placements
    return placed


def _packed(rows: Placements | BesideRows, schema: Mapping[str, type[pl.DataType]]) -> str:
    return packed({name: [*rows.doc_ids] if name == "doc_id" else getattr(rows, name) for name in schema}, schema)


def parts_in(document: dict[str, Any]) -> tuple[list[Scores], dict[str, Any]]:
    """Return the scores of a saved evaluation, and the other arguments of `Evaluation`."""
    data, unjudged = document["data"], tuple(document["unjudged_queries"])
    placements = _placements(data, unjudged)
    graded = _placements(data["graded"], unjudged) if "graded" in data else None
    n, measures = placements.n_queries, measures_in(document)
    rows = scores_in(data, len(measures), n).with_columns(pl.col(pl.Float64).fill_null(math.nan))
    weights = weights_in(data, n)
    in_tables = parts_in_tables(data, len(measures), n)
    scores = []
    for place, (label, of_measure) in enumerate(measures.items()):
        measure = measure_of(label, of_measure)
        placed = graded if graded is not None and measure.by_ontology else placements
        own = _scores(measure, placed, rows.slice(place * n, n), document["conventions"]["no_relevant"])
        own_weights = None if measure.total else weights
        scores.append(replace(own, weights=own_weights, parts={**own.parts, **in_tables[place]}))
    return scores, {
        "name": document["name"],
        "query_ids": placements.query_ids,
        "conventions": Conventions(**document["conventions"]),
        "missing_queries": tuple(document["missing_queries"]),
        "unjudged_queries": unjudged,
        "placements": placements,
        "graded": graded,
        "qrels": _qrels(data["judgments"], document["qrels_hash"]),
        "notes": tuple(document["notes"]),
        "run": _run(document, data["ranking"]) if "ranking" in data else None,
        "origin": Origin.stated_in(document),
        "known_depth": document["known_depth"],
    }


def _qrels(held: Mapping[str, Any], fingerprint: str) -> Qrels:
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
    lists, coded = unpacked(held["lists"], "lists"), unpacked(held["rows"], "ranking")
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
    measure, named = parse_measure(notation), measure_named(label)
    if named == measure:
        return named
    return measure.with_label(label)  # R of spans is another measure than R


def _scores(measure: Measure, placed: Placements, rows: pl.DataFrame, no_relevant: str | None) -> Scores:
    columns = {name: rows[name].to_numpy() for name in rows.columns}
    return Scores(
        measure,
        placed.query_ids,
        columns["value"],
        TieSpread.known(
            measure,
            placed,
            no_relevant,
            mean=columns["tie_mean"],
            std=columns["tie_std"],
            extremes=(columns["tie_min"], columns["tie_max"]),
            **{name: columns[name] for name in ("standard_error", "has_relevant", "reachable")},
        ),
        parts=parts_in_columns(measure, columns),
    )


def _placements(data: Mapping[str, Any], unjudged: tuple[str, ...]) -> Placements:
    queries, rows, judged = (unpacked_columns(data[name], name) for name in ("queries", "retrieved", "judged"))
    n_queries = len(queries["query_ids"])
    check_codes("retrieved", rows["query"], n_queries)
    check_codes("judged", judged["query"], n_queries)
    ends = queries.pop("ends_in_tie")
    return Placements(
        **queries,
        documents=rows.pop("doc_ids"),
        **rows,
        **{f"judged_{name}": column for name, column in judged.items()},
        max_relevance=data["max_relevance"],
        unjudged_queries=unjudged,
        ends_in_tie=ends.astype(np.bool_) if None not in ends else None,
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


def check_codes(name: str, codes: AnyArray, n_known: int) -> None:
    """Raise `WrongValueError` if a code of a table names what is not there."""
    if len(codes) and not (codes.min() >= 0 and codes.max() < n_known):
        raise WrongValueError(f"a row of {name} has the number of what is not there")


def checksum(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a document, apart from the SHA-256 that it states itself."""
    rest = {key: value for key, value in document.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def packed(columns: Mapping[str, Any] | pl.DataFrame, schema: Mapping[str, type[pl.DataType]]) -> str:
    """Return a table as text that JSON can hold."""
    check_threads()
    held = io.BytesIO()
    pl.DataFrame(columns, schema=schema).write_parquet(held, compression="zstd")
    return base64.b64encode(held.getvalue()).decode()


def unpacked(
    text: str,
    name: str,
    schema: Mapping[str, type[pl.DataType]] | None = None,
    nullable: AbstractSet[str] | None = None,
) -> pl.DataFrame:
    """Read what `packed` returned.

    Parameters
    ----------
    text : str
    name : str
        Of the table.
    schema : mapping of str to type, optional
        Of columns that it may have; by default those of saved evaluations.
    nullable : set of str, optional
        Columns that may have null; by default as in saved evaluations.

    Raises
    ------
    WrongValueError
        A column has another type, or a null where none can be.
    """
    rows = read_table(base64.b64decode(text), _TABLE)
    if nullable is None:
        nullable = NULLABLE.get(name, set())
    for column, dtype in (schema or SCHEMAS[name]).items():
        if column not in rows.columns:
            if column in NOT_IN_ALL.get(name, ()):
                continue
            raise WrongValueError(f"lacks column {column!r} of {name}")
        if rows.schema[column] != dtype:
            raise WrongValueError(f"column {column!r} of {name} holds {rows.schema[column]}, expected {dtype()}")
        if column not in nullable and rows[column].null_count():
            raise WrongValueError(f"column {column!r} of {name} has a null")
    return rows


def unpacked_columns(
    text: str,
    name: str,
    schema: Mapping[str, type[pl.DataType]] | None = None,
    nullable: AbstractSet[str] | None = None,
) -> dict[str, Any]:
    """Return the columns of a packed table; those of ids have their names in the plural, as in `Placements`.

    Parameters
    ----------
    text, name, schema, nullable
        As for :func:`unpacked`.
    """
    plural = {"query_id": "query_ids", "doc_id": "doc_ids"}
    return {
        plural.get(one.name, one.name): np.array(one.to_list(), object) if one.name in plural else one.to_numpy()
        for one in unpacked(text, name, schema, nullable)
    }
