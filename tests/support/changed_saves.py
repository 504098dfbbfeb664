"""Saved evaluations with one value or one table changed and the hash made anew, and all that is done with a save."""

from __future__ import annotations

import base64
import copy
import io
import json
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import polars as pl

import deadheat as dh
from support.changed_documents import OTHERS, copied, places
from support.tampering import seal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}, "q3": {"d3": 2}}
RUN = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d1": 1.0, "d4": 1.0}, "q4": {"d1": 1.0}}
TABLES = ("scores", "queries", "retrieved", "judged", "weights", "repeats", "subtopics", "passages", "lists", "rows")
FEWEST_RESAMPLES = 100


@cache
def saved_documents() -> tuple[str, ...]:
    """Return saves, as texts: a plain one, one with weights and bounds, with repeats, of spans, and of deadheat 1.0."""
    spans = dh.Spans([("q1", "d", 0, 10), ("q2", "d", 5, 9)])
    chunks = [("q1", "d", 0, 8, 1.0), ("q2", "e", 0, 8, 1.0)]
    with warnings.catch_warnings(action="ignore", category=dh.DeadheatWarning), TemporaryDirectory() as folder:
        evaluations = [
            dh.evaluate(QRELS, RUN, ["RR", "nDCG@3", "NumRet"]),
            dh.evaluate(QRELS, RUN, ["RR"], weights={"q1": 1, "q2": 2, "q3": 1}, unjudged="bounds"),
            dh.evaluate(QRELS, dh.Repeats([RUN, RUN]), ["RR"]),
            dh.evaluate(spans, chunks, ["R@5"]),
        ]
        texts = []
        for evaluation in evaluations:
            path = evaluation.save(Path(folder) / "x.json", label="a", commit="c" * 40)
            texts.append(path.read_text())
    texts.append((Path(__file__).parent / "saved-format-2.json").read_text())
    return tuple(texts)


def changed_values(document: dict[str, Any], n_others: int = len(OTHERS)) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a document for each place and each of some other values, and where it is changed."""
    for number, (*way, key) in enumerate(places(document)):
        if key == "sha256":
            continue
        for step in range(n_others):
            other = OTHERS[(number + step) % len(OTHERS)]
            changed, inner = copied(document, way)
            inner[key] = copy.deepcopy(other)
            yield f"{'.'.join(map(str, [*way, key]))} = {other!r}", changed
        changed, inner = copied(document, way)
        del inner[key]
        yield f"without {'.'.join(map(str, [*way, key]))}", changed


def change_table(document: dict[str, Any], rng: Random) -> None:
    """Change a table of a document: the type, the nulls or the numbers of a column, or its rows."""
    ways = [way for way in places(document) if way[0] == "data" and way[-1] in TABLES]
    *way, name = rng.choice(ways)
    inner = document
    for key in way:
        inner = inner[key]
    if not isinstance(inner[name], str):
        return
    rows = pl.read_parquet(io.BytesIO(base64.b64decode(inner[name])))
    column = rng.choice(rows.columns)
    kind = rng.randrange(6)
    if kind == 0:
        dtype = rng.choice((pl.String, pl.Float32, pl.Int8, pl.List(pl.Int64)))
        rows = rows.with_columns(pl.lit(None, dtype).alias(column))
    elif kind == 1:
        rows = rows.with_columns(pl.when(pl.int_range(pl.len()) > 0).then(pl.col(column)).alias(column))
    elif kind == 2:
        rows = rows.drop(column)
    elif kind == 3:
        rows = rows.head(rng.randint(0, rows.height))
    elif kind == 4:
        rows = pl.concat([rows, rows])
    elif rows.schema[column].is_numeric():
        rows = rows.with_columns(
            (pl.col(column) + rng.choice((-5, 1000, 2**31))).cast(rows.schema[column], strict=False)
        )
    file = io.BytesIO()
    rows.write_parquet(file)
    inner[name] = base64.b64encode(file.getvalue()).decode()


def write_sealed(document: dict[str, Any], path: Path) -> None:
    """Write a document with the hash that it would have been saved with."""
    seal(document)
    path.write_text(json.dumps(document))


def use(path: Path) -> None:
    """Do what is done with a save; raise what is no error of deadheat."""
    with suppress(dh.DeadheatError):
        dh.history(path.parent, n_resamples=FEWEST_RESAMPLES).to_html()
    evaluation = dh.load_evaluation(path)
    repr(evaluation)
    evaluation.to_polars()
    evaluation.to_dict()
    evaluation.to_html()
    for scores in evaluation:
        scores.tie_max  # noqa: B018 - found on first use
        with suppress(dh.DeadheatError):
            scores.interval(n_resamples=FEWEST_RESAMPLES)
    for judgments in (None, {"q1": {"d2": 1}}):
        with suppress(dh.DeadheatError):
            evaluation.rescored(judgments)
    for other in ("RR >= 0.1", "low(RR) >= 0.1"):
        with suppress(dh.DeadheatError):
            dh.gate(evaluation, other)
    with suppress(dh.DeadheatError):
        dh.compare_evaluations({"a": evaluation, "b": evaluation}, n_resamples=FEWEST_RESAMPLES)
    with suppress(dh.DeadheatError):
        evaluation.save(path.with_name("again.json"), n_resamples=FEWEST_RESAMPLES)
