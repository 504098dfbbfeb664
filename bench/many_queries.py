"""Many queries, as of the users of a recommender or a search log: what comes after their evaluation."""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench.lines import Row, Setting

Seconds = dict[str, float]
MEASURE = "nDCG@10"


def queries(setting: Setting) -> Iterator[Row]:
    """What is asked of two runs of 50 documents for each of very many queries."""
    from bench.lines import GB, MB, Row, at_most, took
    from bench.process import interleave, peak, task, walls

    names = ("users.qrels.parquet", "users-a.parquet", "users-b.parquet", "users.parquet")
    qrels, run, other, table = map(setting.path, names)
    label = f"{setting.data.size.users:,} queries x 50 rows of Parquet"
    repeats = min(setting.repeats, 3)
    with TemporaryDirectory() as folder:
        page = str(Path(folder, "r.html"))
        report = ["report", qrels, run, other, "-m", MEASURE, "--queries", table, "-o", page]
        works = {
            "after": task("many_queries", "after", qrels, run, table, folder),
            "compare": task("many_queries", "compare", qrels, run, other),
            "report": [sys.executable, "-m", "deadheat", *report],
        }
        samples = interleave(works, repeats)
        n_bytes = Path(page).stat().st_size
    seconds = {name: [sample.output[name] for sample in samples["after"]] for name in samples["after"][0].output}
    evaluated = seconds.pop("evaluate")
    detail = f"evaluate {statistics.median(evaluated):.2f} s"
    targets = {"by 24 countries": 0.3, "one interval": 0.5}
    for name, taken in seconds.items():
        median = statistics.median(taken)
        if name in targets:
            yield at_most(f"{label}, {name}", targets[name], median, " s", detail=detail)
        else:
            yield Row(f"{label}, {name}", "-", f"{median:.2f} s", None, detail)
    compared = [sample.output["seconds"] for sample in samples["compare"]]
    ratio = statistics.median(compared) / statistics.median(evaluated)
    line = f"{label}, compare of two runs"
    yield at_most(f"{line}: time of one evaluate", 2.6, ratio, "x", detail=took(deadheat=samples["compare"]))
    yield at_most(f"{line}: peak memory", 1.5, peak(samples["compare"]) / GB, " GB")
    line = f"{label}, `deadheat report` of two runs"
    yield at_most(line, 20, statistics.median(walls(samples["report"])), " s", detail=took(deadheat=samples["report"]))
    yield at_most(f"{line}: size of the page", 5, n_bytes / MB, " MB")
    samples_of_exposure = interleave({"exposure": task("many_queries", "exposure")}, repeats)["exposure"]
    median = statistics.median(sample.output["seconds"] for sample in samples_of_exposure)
    again = statistics.median(sample.output["again"] for sample in samples_of_exposure)
    detail = f"again, when Polars and SciPy are loaded, {again:.2f} s"
    yield at_most("exposure of 300 groups, 1,000 users x 10 items", 0.5, median, " s", detail=detail)


def after(qrels: str, run: str, table: str, folder: str) -> Seconds:
    """Evaluate, and time what follows."""
    import deadheat as dh

    begin = time.perf_counter()
    evaluation = dh.evaluate(qrels, run, MEASURE)
    evaluation.means()
    seconds = {"evaluate": time.perf_counter() - begin}
    path = Path(folder, "saved.json")
    works: dict[str, Callable[[], object]] = {
        "by 24 countries": lambda: evaluation.by("country", table),
        "by 20,000 groups": lambda: evaluation.by("group", table),
        "one interval": evaluation[MEASURE].interval,
        "save": lambda: evaluation.save(path),
        "load": lambda: dh.load_evaluation(path),
    }
    for name, work in works.items():
        begin = time.perf_counter()
        work()
        seconds[name] = time.perf_counter() - begin
    return seconds


def compare(qrels: str, run: str, other: str) -> Seconds:
    """Compare two runs by one measure."""
    import deadheat as dh

    begin = time.perf_counter()
    dh.compare(qrels, {"a": run, "b": other}, MEASURE)
    return {"seconds": time.perf_counter() - begin}


def exposure() -> Seconds:
    """Compare all pairs of 300 groups of items, twice: the first call also loads Polars and SciPy."""
    import numpy as np

    import deadheat as dh

    rng = np.random.default_rng(0)
    run = {}
    for user in range(1_000):
        items = rng.choice(5_000, 10, replace=False).tolist()
        run[f"u{user}"] = {f"i{item}": -float(rank) for rank, item in enumerate(items)}
    qrels = {user: {next(iter(items)): 1} for user, items in run.items()}
    groups = {f"i{item}": f"g{item % 300}" for item in range(5_000)}
    seconds = {}
    for name in ("seconds", "again"):
        begin = time.perf_counter()
        dh.exposure(run, qrels, groups, cutoff=10)
        seconds[name] = time.perf_counter() - begin
    return seconds


WORKS: dict[str, Callable[..., Seconds]] = {"after": after, "compare": compare, "exposure": exposure}

if __name__ == "__main__":
    print(json.dumps(WORKS[sys.argv[1]](*sys.argv[2:])))
