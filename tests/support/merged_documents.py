"""Runs that have documents twice, merged by hand, in every form of the same rows."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import deadheat as dh

Rows = list[tuple[str, str, float]]
NAMES = ["query_id", "doc_id", "score"]


def draw_rows(seed: int, *, n_queries: int = 12) -> Rows:
    """Draw chunks, each as the id of its document: scores tie often, and the rows of each query are adjacent."""
    rng = random.Random(seed)
    rows = []
    for query in range(n_queries):
        n_documents = rng.randint(1, 6)
        for _ in range(rng.randint(1, 14)):
            rows.append((f"q{query}", f"{rng.randrange(n_documents)}", rng.randrange(5) / 4))
    return rows


def draw_qrels(seed: int, *, n_queries: int = 12) -> dict[str, dict[str, int]]:
    rng = random.Random(seed)
    return {f"q{query}": {f"{doc}": rng.randrange(3) for doc in range(7)} for query in range(n_queries)}


def merge_by_hand(rows: Rows, rule: str, *, ascending: bool = False) -> dict[str, dict[str, float]]:
    """Merge one row after the other: a better row takes the place of the document at the end of the list."""
    merged: dict[str, dict[str, float]] = {}
    for query, doc, score in rows:
        documents = merged.setdefault(query, {})
        if doc in documents and rule == "best":
            is_better = score < documents[doc] if ascending else score > documents[doc]
            if is_better:
                del documents[doc]
                documents[doc] = score
        elif doc not in documents:
            documents[doc] = score
    return merged


def count_left_out(rows: Rows) -> int:
    return len(rows) - len({(query, doc) for query, doc, _ in rows})


def has_note(notes: Sequence[str], rows: Rows, rule: str) -> bool:
    """Whether a note says how many rows were left out, and by which rule, once."""
    counts = f"{count_left_out(rows)} of {len(rows)} results "
    return [f"its {rule} counts" in note for note in notes if note.startswith(counts)] == [True]


def values_of(evaluation: dh.Evaluation) -> dict[str, dict[str, list[float]]]:
    fields = ("values", "tie_std", "tie_min", "tie_max")
    return {str(scores.measure): {name: getattr(scores, name).tolist() for name in fields} for scores in evaluation}


def assert_same(found: dh.Evaluation, expected: dh.Evaluation, what: str) -> None:
    assert found.query_ids.tolist() == expected.query_ids.tolist(), what
    wanted = values_of(expected)
    for measure, fields in values_of(found).items():
        for name, numbers in fields.items():
            np.testing.assert_allclose(numbers, wanted[measure][name], rtol=1e-12, err_msg=f"{what} {measure} {name}")


def frame_of(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(rows, NAMES, orient="row")


def lists_of(rows: Rows) -> dict[str, list[tuple[str, float]]]:
    lists: dict[str, list[tuple[str, float]]] = {}
    for query, doc, score in rows:
        lists.setdefault(query, []).append((doc, score))
    return lists


def matrices_of(rows: Rows) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], list[str]]:
    """Return ids, scores and query ids as a search for neighbours returns them, filled up with -1."""
    lists = lists_of(rows)
    width = max(map(len, lists.values()))
    ids = np.full((len(lists), width), -1)
    scores = np.full((len(lists), width), np.nan)
    for row, documents in enumerate(lists.values()):
        ids[row, : len(documents)] = [int(doc) for doc, _ in documents]
        scores[row, : len(documents)] = [score for _, score in documents]
    return ids, scores, list(lists)


def forms(rows: Rows, folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield the same rows in every form that has an order."""
    frame = frame_of(rows)
    yield "tuples", rows
    yield "dicts", frame.to_dicts()
    yield "Polars", frame
    yield "lazy Polars", frame.lazy()
    yield "pandas", frame.to_pandas()
    yield "lists", lists_of(rows)
    frame.write_csv(folder / "x.csv")
    frame.write_csv(folder / "x.tsv", separator="\t")
    frame.write_ndjson(folder / "x.jsonl")
    frame.write_parquet(folder / "x.parquet")
    (folder / "x.json").write_text(json.dumps(frame.to_dicts()))
    (folder / "lists.json").write_text(json.dumps(lists_of(rows)))
    (folder / "x.run").write_text("".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in rows))
    with (folder / "lists.jsonl").open("w") as file:
        for query, documents in lists_of(rows).items():
            docs = [doc for doc, _ in documents]
            scores = [score for _, score in documents]
            file.write(json.dumps({"query_id": query, "doc_id": docs, "score": scores}) + "\n")
    for name in ("x.csv", "x.tsv", "x.jsonl", "x.parquet", "x.json", "lists.json", "x.run", "lists.jsonl"):
        yield name, folder / name
