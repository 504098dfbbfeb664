"""Work that is timed inside a process, after the imports; prints the seconds of each repetition as JSON."""

from __future__ import annotations

import gc
import json
import sys
import time
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from bench.tasks import FIVE, THREE, TREC_EVAL

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import polars as pl

Seconds = dict[str, Any]
DictOfDicts = dict[str, dict[str, float]]

FAMILIES = {
    "linear": "P P@1000 R@1000 F@1000 DCG nDCG nDCG@10 nDCG@1000 RBP Rprec Judged@1000 MR",
    "first relevant": "RR RR@1000 Hit@10 Hit@1000 FRP FRP@1000 MTRR",
    "count": "AR AR@1000 NumRet NumRelRet",
    "pairwise": "AP AP@10 AP@1000 GAP Q Q@1000 bpref",
    "cascade": "ERR ERR@10 ERR@1000 nERR@1000",
}


def seconds(work: Callable[[], object]) -> float:
    """Return how long a call takes."""
    gc.collect()
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def in_turn(works: dict[str, Callable[[], object]], repeats: int) -> Seconds:
    """Return the seconds of each repetition of each piece of work, A B A B."""
    taken: Seconds = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            taken[name].append(seconds(work))
    return taken


def dicts(qrels_path: str, run_path: str, repeats: str, peer_only: str = "") -> Seconds:
    import pytrec_eval

    with open(qrels_path) as file:  # noqa: PTH123 - as pytrec_eval's documentation does
        qrels = pytrec_eval.parse_qrel(file)
    with open(run_path) as file:  # noqa: PTH123 - as pytrec_eval's documentation does
        run = pytrec_eval.parse_run(file)
    works = both(qrels, run, peer_only=bool(peer_only))
    if peer_only:
        return in_turn(works, int(repeats))
    # first by themselves: the peer leaves memory behind, which later work need not ask the system for
    alone = {"alone": works["deadheat"], "numbers alone": lambda: numbers_of(run)}
    works["deadheat"]()  # the first call imports
    taken = in_turn(alone, int(repeats))
    return {**taken, **in_turn({**works, "numbers": alone["numbers alone"]}, int(repeats))}


def numbers_of(run: DictOfDicts) -> object:
    """Read the numbers out of dicts of dicts, which no evaluation can undercut."""
    import numpy as np

    return np.fromiter(chain.from_iterable(own.values() for own in run.values()), np.float64)


def both(qrels: dict[str, dict[str, int]], run: DictOfDicts, *, peer_only: bool) -> dict[str, Callable[[], object]]:
    """Return the same evaluation by deadheat and by pytrec_eval."""
    import pytrec_eval

    theirs = set(TREC_EVAL.values())
    works: dict[str, Callable[[], object]] = {
        "pytrec_eval": lambda: pytrec_eval.RelevanceEvaluator(qrels, theirs).evaluate(run)
    }
    if not peer_only:
        from deadheat import evaluate

        works["deadheat"] = lambda: evaluate(qrels, run, FIVE).means()
    return works


def small(repeats: str, peer_only: str = "") -> Seconds:
    """Fifty queries with a hundred documents on a few score levels, as dicts."""
    import random

    rng = random.Random(7)
    run = {f"q{q}": {f"d{d}": float(rng.randrange(20)) for d in range(100)} for q in range(50)}
    qrels = {q: {f"d{d}": rng.randrange(4) for d in rng.sample(range(120), 20)} for q in run}
    works = both(qrels, run, peer_only=bool(peer_only))
    first = {f"first {name}": seconds(work) for name, work in works.items()}
    loops: dict[str, Callable[[], object]] = {
        f"{name} in a loop": partial(hundred_times, work) for name, work in works.items()
    }
    return {**in_turn(works, int(repeats)), **in_turn(loops, int(repeats) // 10), **first}


def hundred_times(work: Callable[[], object]) -> None:
    for _ in range(100):
        work()


def track(n_docs: str, repeats: str) -> Seconds:
    """The files of 21 runs of 25 queries, read and evaluated by two measures: in a process that has begun, by commands.

    The command of ir_measures takes one run.
    """
    import random
    import subprocess
    import tempfile
    from pathlib import Path

    import ir_measures

    import deadheat as dh

    rng, queries = random.Random(5), [f"q{query}" for query in range(25)]
    with tempfile.TemporaryDirectory() as folder:
        qrels = Path(folder, "qrels.txt")
        qrels.write_text("".join(f"{q} 0 d{d} {rng.randrange(4)}\n" for q in queries for d in range(40)))
        runs = {f"s{n}": Path(folder, f"s{n}.run") for n in range(21)}
        for name, path in runs.items():
            rows = list[str]()
            for query in queries:
                scores = sorted((rng.randrange(20) for _ in range(int(n_docs))), reverse=True)
                docs = rng.sample(range(2 * int(n_docs)), len(scores))
                rows += (
                    f"{query} Q0 d{doc} {rank} {score} {name}\n"
                    for rank, (doc, score) in enumerate(zip(docs, scores, strict=True), 1)
                )
            path.write_text("".join(rows))

        def theirs() -> None:
            judged = list(ir_measures.read_trec_qrels(str(qrels)))
            for path in runs.values():
                chosen = [ir_measures.AP, ir_measures.nDCG @ 10]
                ir_measures.calc_aggregate(chosen, judged, ir_measures.read_trec_run(str(path)))

        works: dict[str, Callable[[], object]] = {
            "deadheat, after the import": lambda: [
                one.means() for one in dh.evaluate(qrels, {**runs}, ["AP", "nDCG@10"]).values()
            ],
            "ir_measures, after the import": theirs,
        }
        files = [str(path) for path in runs.values()]
        ours = ["deadheat", "evaluate", str(qrels), *files, "-m", "AP", "-m", "nDCG@10"]
        each = [["ir_measures", str(qrels), file, "AP", "nDCG@10"] for file in files]

        def by_commands(*commands: list[str]) -> None:
            for command in commands:
                subprocess.run([sys.executable, "-m", *command], check=True, stdout=subprocess.DEVNULL)

        commands: dict[str, Callable[[], object]] = {
            "deadheat, command": lambda: by_commands(ours),
            "ir_measures, command": lambda: by_commands(*each),
        }
        return in_turn(works, 2 * int(repeats)) | in_turn(commands, min(int(repeats), 3))


def tied_documents(judged: str) -> Seconds:
    """The mean of each measure for one query, all of whose 100,000 documents have the same score."""
    import random

    import deadheat as dh

    rng = random.Random(11)
    n = 100_000
    placements = dh.place(
        {"q": {f"d{d}": rng.randrange(4) for d in range(int(judged))}}, {"q": {f"d{d}": 1.0 for d in range(n)}}
    )
    taken: Seconds = {}
    for family, names in FAMILIES.items():
        for name in names.split():
            measure = dh.parse_measure(name)
            value = measure.mean(placements)
            assert (value == value).all(), f"{name} is NaN"  # noqa: PLR0124 - NaN without NumPy
            times = []
            for _ in range(3):
                placements.forget()  # what the call before found
                times.append(seconds(partial(measure.mean, placements)))
            taken[f"{name} ({family})"] = min(times)
    return taken


def tied_spread() -> Seconds:
    """ERR's standard deviation over the orders of one large tie, whose documents hardly ever stop the reading."""
    import random

    import deadheat as dh

    rng = random.Random(19)
    qrels = {"q": {f"d{d}": rng.randrange(4) for d in range(1_000)}}
    evaluation = dh.evaluate(qrels, {"q": dict.fromkeys(qrels["q"], 1.0)}, ["ERR(max_rel=10)"])
    return {"ERR": seconds(lambda: evaluation["ERR(max_rel=10)"].tie_std)}


def tie_aware(n_queries: str, repeats: str, peer_only: str = "") -> Seconds:
    """Expected values and extremes of heavily tied lists, where the peer takes lists without ids."""
    import random

    import trm

    rng = random.Random(13)
    scores = [[float(rng.randrange(4)) for _ in range(1_000)] for _ in range(int(n_queries))]
    relevant = [[rng.random() < 0.02 for _ in range(1_000)] for _ in range(int(n_queries))]
    names, cutoffs = ("ndcg", "mrr", "map", "recall", "precision"), [10, 100, 1_000]
    works: dict[str, Callable[[], object]] = {
        "tie-aware-retrieval-metrics": lambda: trm.evaluate(scores, relevant, list(names), cutoffs)
    }
    if not peer_only:
        import deadheat as dh

        run = {str(q): {str(d): score for d, score in enumerate(row)} for q, row in enumerate(scores)}
        qrels = {str(q): {str(d): 1 for d, good in enumerate(row) if good} for q, row in enumerate(relevant)}
        chosen = [f"{name}@{cutoff}" for name in ("nDCG", "RR", "AP", "R", "P") for cutoff in cutoffs]

        def with_extremes() -> None:
            evaluation = dh.evaluate(qrels, run, chosen)
            for name in chosen:
                spread = evaluation[name]
                assert (spread.tie_min <= spread.tie_max).all()

        works["deadheat"] = with_extremes
    return in_turn(works, int(repeats))


def dense(n_queries: str, repeats: str, peer_only: str = "") -> Seconds:
    """nDCG@10 averaged over ties, from a score matrix for scikit-learn and from dicts for deadheat."""
    import numpy as np
    from sklearn.metrics import ndcg_score

    rng = np.random.default_rng(17)
    scores = rng.integers(0, 4, (int(n_queries), 1_000)).astype(float)
    relevance = np.where(rng.random(scores.shape) < 0.02, rng.integers(1, 4, scores.shape), 0)
    works: dict[str, Callable[[], object]] = {"scikit-learn": lambda: ndcg_score(relevance, scores, k=10)}
    if not peer_only:
        import deadheat as dh

        ids = [str(d) for d in range(1_000)]
        run = {str(q): dict(zip(ids, row, strict=True)) for q, row in enumerate(scores.tolist())}
        qrels = {str(q): {ids[d]: int(row[d]) for d in np.flatnonzero(row).tolist()} for q, row in enumerate(relevance)}
        ours = dh.evaluate(qrels, run, ["nDCG@10"]).means()["nDCG@10"]
        assert abs(ours - ndcg_score(relevance, scores, k=10)) < 1e-9
        works["deadheat"] = lambda: dh.evaluate(qrels, run, ["nDCG@10"]).means()
    return in_turn(works, int(repeats))


def overhead(n_queries: str, repeats: str) -> Seconds:
    """Three measures of queries in memory: exact over ties, ties broken by document id, and scores that do not tie.

    McSherry and Najork (2008) timed the first against ties in any order. Their scores were the in-degrees of pages:
    whole numbers, a few of them large.
    """
    import numpy as np
    import polars as pl

    import deadheat as dh

    rng, n, depth = np.random.default_rng(2008), int(n_queries), 100
    run = pl.DataFrame(
        {"query_id": np.repeat(np.arange(n), depth), "doc_id": np.tile(np.arange(depth), n)}
    ).with_columns(pl.all().cast(pl.String), score=np.floor(rng.pareto(1.0, n * depth)))
    judged = run.filter(pl.Series(rng.random(n * depth) < 0.2)).select("query_id", "doc_id")
    qrels = dh.Qrels(judged.with_columns(relevance=pl.Series(rng.integers(0, 4, judged.height))))
    tied, untied = dh.Run(run), dh.Run(run.with_columns(pl.col("score").rank("ordinal").over("query_id")))
    ways = {"expected": (tied, "expected"), "doc_id": (tied, "doc_id"), "untied": (untied, "expected")}
    works: dict[str, Callable[[], object]] = {
        f"{name} {way}": partial(dh.evaluate, qrels, ranked, [name], ties=ties, duplicates="trust")
        for name in THREE
        for way, (ranked, ties) in ways.items()
    }
    for work in works.values():  # the first call imports
        work()
    return in_turn(works, int(repeats))


def fusion(n_queries: str, repeats: str, peer_only: str = "") -> Seconds:
    """Fuse two runs in memory, of which each finds a third of what the other does."""
    works: dict[str, Callable[[], object]] = {}
    n, depth = int(n_queries), 1000
    frames = [_run_to_fuse(n, depth, seed) for seed in (1, 2)]
    if peer_only:
        import ranx

        given = [ranx.Run(_as_dicts(one)) for one in frames]
        works["ranx rrf"] = partial(ranx.fuse, given, norm=None, method="rrf", params={"k": 60})
        weights = {"weights": [0.3, 0.7]}
        works["ranx wsum"] = partial(ranx.fuse, given, norm="min-max", method="wsum", params=weights)
    else:
        import deadheat as dh

        runs = {"first": dh.Run(frames[0]), "second": dh.Run(frames[1])}
        judged = frames[0].group_by("query_id", maintain_order=True).head(1).select("query_id", "doc_id")
        qrels = dh.Qrels(judged.with_columns(relevance=1))
        works["rrf"] = partial(dh.fuse, runs)
        works["wsum"] = partial(dh.fuse, runs, "wsum", norm="min-max", weights=[0.3, 0.7])
        works["tune"] = partial(dh.tune_fusion, qrels, runs, "RR", "wsum", norm="min-max", grid=101)
    for work in list(works.values())[:2]:  # the first call imports, or compiles
        work()
    return in_turn(works, int(repeats))


def _run_to_fuse(n_queries: int, depth: int, seed: int) -> pl.DataFrame:
    """Return a run whose documents are drawn from three times as many for each query."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(seed)
    docs = np.argsort(rng.random((n_queries, 3 * depth)), axis=1)[:, :depth] + np.arange(n_queries)[:, np.newaxis]
    scores = -np.sort(-rng.random((n_queries, depth)), axis=1)
    columns = {"query_id": np.repeat(np.arange(n_queries), depth), "doc_id": docs.ravel(), "score": scores.ravel()}
    return pl.DataFrame(columns).with_columns(pl.col("query_id", "doc_id").cast(pl.String))


def _as_dicts(run: pl.DataFrame) -> DictOfDicts:
    """Return a run as ranx takes it."""
    lists = run.group_by("query_id", maintain_order=True).agg("doc_id", "score")
    return {query: dict(zip(docs, scores, strict=True)) for query, docs, scores in lists.iter_rows()}


def matrix(n_queries: str, n_items: str, repeats: str) -> Seconds:
    """Matrices of float32 scores, eight queries at a time, with 1, 3 and 10 relevant items a query, beside their sum.

    The same eight rows come again and again, so that they fit into memory. Sorting, and torchmetrics, are timed on one
    batch, and multiplied.
    """
    import numpy as np

    import deadheat as dh

    rng = np.random.default_rng(23)
    scores = rng.standard_normal((8, int(n_items)), dtype=np.float32)
    n_batches = int(n_queries) // len(scores)
    relevant = {n: [rng.choice(int(n_items), n, replace=False) for _ in scores] for n in (1, 3, 10)}

    def counted(n_relevant: int) -> float:
        accumulator = dh.Accumulator(["nDCG@10", "RR"])
        for _ in range(n_batches):
            accumulator.add(scores, relevant[n_relevant])
        return accumulator.means()["RR"]

    works: dict[str, Callable[[], object]] = {
        "sum": lambda: [scores.sum() for _ in range(n_batches)],
        **{f"{n} relevant": partial(counted, n) for n in relevant},
    }
    once: dict[str, Callable[[], object]] = {
        "one batch": lambda: dh.evaluate_dense(scores, relevant[1], ["RR"]),
        "np.sort": lambda: np.sort(scores, axis=1),
        "np.argsort": lambda: np.argsort(scores, axis=1),
        **by_torchmetrics(scores, relevant[1]),
    }
    return in_turn(works, int(repeats)) | in_turn(once, int(repeats))


def by_torchmetrics(scores: np.ndarray, relevant: list[np.ndarray]) -> dict[str, Callable[[], object]]:
    """Return RR of each row by torchmetrics, where it is installed: `make bench` does not."""
    try:
        import torch
        from torchmetrics.functional.retrieval import retrieval_reciprocal_rank
    except ImportError:
        return {}
    tensors = torch.from_numpy(scores)
    target = torch.zeros(tensors.shape, dtype=torch.bool)
    for row, own in zip(target, relevant, strict=True):
        row[torch.from_numpy(own)] = True
    return {"torchmetrics": lambda: [retrieval_reciprocal_rank(*both) for both in zip(tensors, target, strict=True)]}


def resampling(tool: str, n_queries: str, repeats: str) -> Seconds:
    """BCa intervals of 20 measures of 2 systems by 10,000 resamples; deadheat also tests the 20 differences."""
    import numpy as np

    values = np.random.default_rng(19).beta(0.5, 0.7, (int(n_queries), 40))
    if tool == "scipy":
        from scipy.stats import bootstrap

        def intervals() -> None:
            for column in values.T:
                bootstrap((column,), np.mean, n_resamples=10_000, batch=100, rng=np.random.default_rng(1))

        return in_turn({"intervals": intervals}, int(repeats))
    from deadheat.core import stats

    def both_of_them() -> None:
        stats.interval_bounds(values, n_resamples=10_000, rng=1)
        stats.p_values(values[:, 20:] - values[:, :20], test="randomization", n_resamples=10_000, rng=1)

    works: dict[str, Callable[[], object]] = {
        "intervals": lambda: stats.interval_bounds(values, n_resamples=10_000, rng=1),
        "with tests": both_of_them,
    }
    return in_turn(works, int(repeats))


def ontology(folder: str) -> Seconds:
    """Similarities of one term to all others, and MaxRel of all queries of a run on judgments made for it."""
    import warnings
    from pathlib import Path

    import deadheat as dh
    from deadheat.plugins.bench.ontology import KINDS

    warnings.simplefilter("ignore", dh.DeadheatWarning)  # two expected ids are not in this release
    hpo = dh.read_ontology(Path(folder) / "ontology" / "hp-2025-01-16.obo.gz")
    qrels, run = Path(folder) / "runs" / "hpo-de.qrels", Path(folder) / "runs" / "hpo-de.minilm-f32.run.gz"
    works: dict[str, Callable[[], object]] = {
        kind: partial(hpo.similarities, "HP:0009640", kind)  # the term with the most ancestors
        for kind in KINDS
    }
    taken = {kind: min(seconds(work) for _ in range(20)) for kind, work in works.items()}

    def judged_and_evaluated() -> None:
        dh.evaluate(hpo.judge(qrels, run, kind="lin"), run, ["MaxRel@10"])

    return {"similarities": taken, "MaxRel@10": min(seconds(judged_and_evaluated) for _ in range(3))}


WORKS: dict[str, Callable[..., Seconds]] = {
    "dicts": dicts,
    "small": small,
    "track": track,
    "tied_documents": tied_documents,
    "tied_spread": tied_spread,
    "tie_aware": tie_aware,
    "dense": dense,
    "overhead": overhead,
    "fusion": fusion,
    "matrix": matrix,
    "resampling": resampling,
    "ontology": ontology,
}

if __name__ == "__main__":
    print(json.dumps(WORKS[sys.argv[1]](*sys.argv[2:])))
