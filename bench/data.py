"""Make the data that is measured on: seeded, written in batches, kept under bench/data/."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import polars as pl

N_DOCS = 8_841_823  # passages of MS MARCO; a prime, so that every stride through it visits each passage once
DEPTH = 1_000
BATCH = 500  # queries made at a time
SEED = 20_250_101


class Size(NamedTuple):
    """How many queries the runs have, how many runs a track has, and how many users there are."""

    run: int
    large: int
    many: int
    users: int


SIZES = {"full": Size(6_980, 69_800, 100, 500_000), "quick": Size(400, 4_000, 20, 20_000)}


class Data:
    """The files of one size.

    Parameters
    ----------
    size : {"full", "quick"}
    """

    def __init__(self, size: str) -> None:
        self.size = SIZES[size]
        self.folder = Path(__file__).parent / "data" / size

    def path(self, name: str) -> str:
        """Return the path of a file."""
        return str(self.folder / name)

    def missing(self, part: str) -> bool:
        """Tell whether the files of a part, a key of `MAKERS`, still have to be made."""
        return not (self.folder / f"{part}.done").is_file()


def batch(rng: np.random.Generator, query_ids: np.ndarray) -> dict[str, np.ndarray]:
    """Return the ranked documents and the scores of some queries, each of shape (n_queries, DEPTH)."""
    import numpy as np

    n = len(query_ids)
    start, stride = rng.integers(0, N_DOCS, (n, 1)), rng.integers(1, N_DOCS, (n, 1))
    docs = (start + np.arange(DEPTH) * stride) % N_DOCS
    # gaps that float32 can tell, so that tools with float32 scores see the same order
    scores = rng.uniform(30, 40, (n, 1)) - np.cumsum(1e-5 + rng.exponential(0.01, (n, DEPTH)), axis=1)
    first, second, third = np.sort(rng.uniform(0, 0.4, (3, n, 1)), axis=0)
    rank = np.arange(DEPTH) / DEPTH
    levels = (rank < first).astype(float) + (rank < second) + (rank < third)
    return {"docs": docs, "scores": scores, "levels": levels}


def judgments(
    rng: np.random.Generator, query_ids: np.ndarray, docs: np.ndarray, *, graded: bool
) -> Iterator[tuple[int, int, int]]:
    """Yield (query, document, relevance): about one relevant each, as in MS MARCO, or about twenty graded."""
    unretrieved = N_DOCS  # passages that no run holds
    for query, ranked in zip(query_ids.tolist(), docs, strict=True):
        n = 22 if graded else 1 + int(rng.random() < 0.07)  # about two of the 22 ranks repeat
        ranks = dict.fromkeys((DEPTH * rng.random(n) ** 3).astype(int).tolist())
        grades = rng.choice(4, n, p=(0.5, 0.25, 0.15, 0.1)) if graded else [1] * n
        for rank, grade in zip(ranks, grades, strict=False):
            unretrieved += 1
            retrieved = rng.random() < (0.7 if graded else 0.85)
            yield query, int(ranked[rank]) if retrieved else unretrieved, int(grade)


def batches(n_queries: int, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, dict[str, np.ndarray]]]:
    """Yield query ids and their `batch`, a few queries at a time."""
    query_ids = rng.choice(1_200_000, n_queries, replace=False)
    for begin in range(0, n_queries, BATCH):
        part = query_ids[begin : begin + BATCH]
        yield part, batch(rng, part)


def frame(query_ids: np.ndarray, docs: np.ndarray, scores: np.ndarray) -> pl.DataFrame:
    """Return the columns of a run, its ids as text."""
    import polars as pl

    columns = {"query_id": query_ids.repeat(DEPTH), "doc_id": docs.ravel(), "score": scores.ravel()}
    return pl.DataFrame(columns).with_columns(pl.col("query_id", "doc_id").cast(pl.String))


def trec(run: pl.DataFrame) -> bytes:
    """Return a run as the rows of a TREC file."""
    import numpy as np
    import polars as pl

    ranks = np.tile(np.arange(1, DEPTH + 1), len(run) // DEPTH)
    return (
        run.select("query_id", pl.lit("Q0"), "doc_id", pl.Series("rank", ranks), "score", pl.lit("b").alias("tag"))
        .write_csv(separator=" ", include_header=False, float_precision=6)
        .encode()
    )


def make_run(data: Data) -> None:
    """Write the run of one size: TREC and Parquet, its first tenth, a heavily tied one, and two qrels."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(SEED)
    tenth = data.size.run // 10
    frames, seen = [], 0
    names = ("run.trec", "tied.trec", "tenth.trec", "sparse.qrels", "graded.qrels")
    files = {name: (data.folder / name).open("wb") for name in names}
    for query_ids, made in batches(data.size.run, rng):
        run = frame(query_ids, made["docs"], made["scores"].round(6))
        rows = trec(run)
        files["run.trec"].write(rows)
        files["tied.trec"].write(trec(frame(query_ids, made["docs"], made["levels"])))
        kept = max(min(tenth - seen, len(query_ids)), 0) * DEPTH
        files["tenth.trec"].write(trec(run.head(kept)) if kept else b"")
        for kind in ("sparse", "graded"):
            for query, doc, grade in judgments(rng, query_ids, made["docs"], graded=kind == "graded"):
                files[f"{kind}.qrels"].write(f"{query} 0 {doc} {grade}\n".encode())
        frames.append(run)
        seen += len(query_ids)
    for file in files.values():
        file.close()
    run = pl.concat(frames)
    run.write_parquet(data.folder / "run.parquet")
    run.head(tenth * DEPTH).write_parquet(data.folder / "tenth.parquet")


def make_csv(data: Data) -> None:
    """Write the run as CSV, with a rank that nobody needs before the score: once plain, once with all ids quoted."""
    import polars as pl

    rank = (pl.int_range(pl.len()) % DEPTH + 1).alias("rank")
    run = pl.read_parquet(data.folder / "run.parquet").select("query_id", "doc_id", rank, "score")
    run.write_csv(data.folder / "plain.csv", float_precision=6)
    run.write_csv(data.folder / "quoted.csv", float_precision=6, quote_style="non_numeric")


def hundred(query_ids: np.ndarray, docs: np.ndarray) -> bytes:
    """Return a hundred judgments for each query as TREC qrels: seventy documents of its ranking, and thirty others."""
    import numpy as np
    import polars as pl

    judged = np.concatenate([docs[:, : 14 * 70 : 14], np.broadcast_to(N_DOCS + np.arange(30), (len(docs), 30))], axis=1)
    columns = {"query": query_ids.repeat(100), "iteration": 0, "doc": judged.ravel(), "grade": judged.ravel() % 4}
    return pl.DataFrame(columns).write_csv(separator=" ", include_header=False).encode()


def make_large(data: Data) -> None:
    """Write the Parquet run with ten times the rows and its qrels, one batch in memory at a time."""
    import numpy as np
    import pyarrow.parquet as pq

    rng = np.random.default_rng(SEED + 1)
    writer = None
    with (data.folder / "large.qrels").open("w") as qrels, (data.folder / "hundred.qrels").open("wb") as many:
        for query_ids, made in batches(data.size.large, rng):
            table = frame(query_ids, made["docs"], made["scores"]).to_arrow()
            writer = writer or pq.ParquetWriter(data.folder / "large.parquet", table.schema, compression="zstd")
            writer.write_table(table)
            for query, doc, grade in judgments(rng, query_ids, made["docs"], graded=False):
                qrels.write(f"{query} 0 {doc} {grade}\n")
            many.write(hundred(query_ids, made["docs"]))
    if writer:
        writer.close()


def make_many(data: Data) -> None:
    """Write the runs of a track, of 50 queries each, and its pool of 200 judgments a query."""
    import numpy as np
    import polars as pl

    rng, queries = np.random.default_rng(SEED + 2), np.arange(101, 151)
    docs = np.stack([rng.choice(N_DOCS, 4 * DEPTH, replace=False) for _ in queries])
    grades = rng.choice(4, (len(queries), 200), p=(0.6, 0.2, 0.15, 0.05))
    judged = {"query": queries.repeat(200), "iteration": 0, "doc": docs[:, :200].ravel(), "grade": grades.ravel()}
    pl.DataFrame(judged).write_csv(data.folder / "many.qrels", separator=" ", include_header=False)
    merit = np.pad(grades + 1.0, ((0, 0), (0, docs.shape[1] - 200)))
    for n in range(data.size.many):
        scores = (merit * (0.5 + n / data.size.many) + rng.gumbel(size=docs.shape)).round(4)
        best = np.argsort(-scores, axis=1)[:, :DEPTH]
        ranked = (np.take_along_axis(of, best, axis=1) for of in (docs, scores))
        (data.folder / f"many-{n:03}.trec").write_bytes(trec(frame(queries, *ranked)))


def make_users(data: Data) -> None:
    """Write two runs of 50 documents for each of very many queries, about four judgments each, and their table."""
    import numpy as np
    import polars as pl

    rng, n, depth = np.random.default_rng(SEED + 3), data.size.users, 50
    queries = np.arange(n)
    start, stride = rng.integers(0, N_DOCS, (n, 1)), rng.integers(1, N_DOCS // 100, (n, 1))
    docs = ((start + np.arange(depth + 20) * stride) % N_DOCS).astype(np.int32)  # both runs retrieve of these
    ids = pl.col("query_id", "doc_id").cast(pl.String)
    ranks = (60 * rng.random((n, 4)) ** 2).astype(int)
    grades = rng.integers(0, 3, (n, 4))
    grades[:, 0] = np.maximum(grades[:, 0], 1)
    judged = {"query_id": queries.repeat(4), "doc_id": np.take_along_axis(docs, ranks, axis=1).ravel()}
    qrels = pl.DataFrame({**judged, "relevance": grades.ravel()})
    qrels = qrels.unique(["query_id", "doc_id"], keep="first", maintain_order=True)
    qrels.with_columns(ids).write_parquet(data.folder / "users.qrels.parquet")
    for name, noise in (("a", 8.0), ("b", 10.0)):
        scores = (rng.normal(0, noise, docs.shape) - np.arange(depth + 20)).round(1)
        best = np.argsort(-scores, axis=1)[:, :depth]
        columns = {"query_id": queries.repeat(depth), "doc_id": np.take_along_axis(docs, best, axis=1).ravel()}
        run = pl.DataFrame({**columns, "score": np.take_along_axis(scores, best, axis=1).ravel()})
        run.with_columns(ids).write_parquet(data.folder / f"users-{name}.parquet")
    shares = 1 / np.arange(1, 25)
    country = rng.choice(24, n, p=shares / shares.sum())
    columns = {"query_id": queries, "country": country, "group": rng.integers(0, 20_000, n)}
    table = pl.DataFrame(columns).with_columns(pl.col("query_id").cast(pl.String))
    labels = [pl.format("c{}", "country").alias("country"), pl.format("g{}", "group").alias("group")]
    table.with_columns(labels).write_parquet(data.folder / "users.parquet")


MAKERS = {  # in this order: the second reads what the first wrote
    "run": make_run,
    "csv": make_csv,
    "many": make_many,
    "large": make_large,
    "queries": make_users,
}

if __name__ == "__main__":
    part, size = sys.argv[1:]
    chosen = Data(size)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    MAKERS[part](chosen)
    (chosen.folder / f"{part}.done").touch()
