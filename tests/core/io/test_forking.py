"""A process that was forked after Polars had computed has none of its threads: an error says so, and nothing hangs."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from support.process import environment

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    not (hasattr(os, "fork") and os.path.isdir("/proc/self/task")),  # noqa: PTH112 - a path of the system
    reason="looks at forked processes and their threads as Linux has them",
)

# in a process of its own: this one has used Polars long ago
FORKED = """
import multiprocessing, pickle, sys, time, warnings
import deadheat as dh
import polars as pl

QRELS, RUN = {"q1": {"d1": 1}}, {"q1": {"d1": 0.5, "d2": 0.5}}
BEFORE = {
    "nothing": lambda: None,
    "dicts": lambda: dh.evaluate(QRELS, RUN, ["RR"]),
    "file": lambda: dh.read_run("x.run"),
    "frame": lambda: dh.Run([("q1", "d1", 1.0)]),
    # seen by the names of its threads, which they give themselves a little later
    "polars": lambda: (pl.DataFrame({"a": [1, 2]}).lazy().sort("a").collect(), time.sleep(1)),
}
held = []
AFTER = {
    "dicts": lambda: dh.evaluate(QRELS, RUN, ["RR"]).means()["RR"],
    "gate": lambda: dh.gate(dh.evaluate(QRELS, RUN, ["RR"]), ["RR > 0.1"]).passed,
    "file": lambda: dh.evaluate(QRELS, "x.run", ["RR"]).means()["RR"],
    "held": lambda: dh.evaluate(QRELS, held[0], ["RR"]).means()["RR"],
    "tuples": lambda: dh.evaluate(QRELS, [("q1", "d1", 1.0)], ["RR"]).means()["RR"],
    "doc_id": lambda: dh.evaluate(QRELS, RUN, ["RR"], ties="doc_id").means()["RR"],
    "to_polars": lambda: dh.evaluate(QRELS, RUN, ["RR"]).to_polars().height,
    "placements": lambda: dh.place(QRELS, RUN).to_polars().height,
    "qrels_hash": lambda: len(dh.evaluate(QRELS, RUN, ["RR"]).qrels_hash),
    "profile": lambda: dh.tie_profile(RUN) is None,
    "compare": lambda: len(dh.compare(QRELS, {"a": RUN, "b": RUN}, "RR").pairs),
    "save": lambda: dh.evaluate(QRELS, RUN, ["RR"]).save("x.json"),
    "save_state": lambda: state().save("x.json"),
    "save_counted": lambda: state().evaluation().save("y.json"),
    "cases": lambda: dh.read_cases("cases.csv"),
    "spans": lambda: dh.Spans([("q", "d", 0, 10)]),
    "grades": lambda: dh.read_judgments("grades.csv"),
    "bench": lambda: dh.bench(["cases.csv"], "onto.csv", ["bm25"], output="b"),
    "pickle": lambda: pickle.dumps(held[0]),
    "user": lambda: pl.DataFrame({"a": [1, 2]}).select("a"),
}

def state():
    counts = dh.Accumulator(["RR"])
    counts.add([[1.0, 2.0]], [[0]])
    return counts

def child(name):
    warnings.simplefilter("ignore")
    try:
        print(name, AFTER[name](), flush=True)
    except dh.DeadheatError as error:
        print(name, type(error).__name__, "spawn" in str(error) and "forkserver" in str(error), flush=True)

before, *after = sys.argv[1:]
done = BEFORE[before]()
if "held" in after:
    held.append(done)
for name in after:
    process = multiprocessing.get_context("fork").Process(target=child, args=(name,))
    process.start()
    process.join(20)
    if process.is_alive():
        print(name, "hangs", flush=True)
        process.kill()
"""


def forked(folder: Path, before: str, *after: str) -> list[str]:
    (folder / "x.run").write_text("q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.5 t\n")
    (folder / "cases.csv").write_text("case_id,text,expected_ids,language\nc1,fever,T:1,en\n")
    (folder / "onto.csv").write_text("doc_id,text\nT:1,fever\nT:2,cough\n")
    (folder / "grades.csv").write_text("query_id,doc_id,grade\nq1,d1,2\n")
    code = [sys.executable, "-W", "ignore", "-c", FORKED, before, *after]
    done = subprocess.run(code, cwd=folder, env=environment(), capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.splitlines()


NEED_POLARS = ["tuples", "to_polars", "placements", "qrels_hash", "profile", "save"]


@pytest.mark.slow
def test_what_needs_polars_is_refused_and_dicts_are_evaluated(tmp_path: Path) -> None:
    found = forked(tmp_path, "file", "file", "held", *NEED_POLARS, "dicts", "doc_id", "compare", "gate")
    assert found == [f"{name} DeadheatError True" for name in ("file", "held", *NEED_POLARS)] + [
        "dicts 0.75",
        "doc_id 0.5",
        "compare 1",
        "gate True",
    ]


@pytest.mark.slow
def test_nothing_waits_for_threads_that_are_not_there(tmp_path: Path) -> None:
    names = ["save_state", "save_counted", "cases", "spans", "grades", "bench", "pickle", "user"]
    assert forked(tmp_path, "file", "held", *names) == [f"{name} DeadheatError True" for name in ["held", *names]]


@pytest.mark.slow
@pytest.mark.parametrize("before", ["frame", "polars"])
def test_whoever_used_polars_before_the_fork(before: str, tmp_path: Path) -> None:
    assert forked(tmp_path, before, "file", "dicts") == ["file DeadheatError True", "dicts 0.75"]


@pytest.mark.slow
@pytest.mark.parametrize("before", ["nothing", "dicts"])
def test_no_alarm_where_polars_had_not_computed(before: str, tmp_path: Path) -> None:
    assert forked(tmp_path, before, "file", "tuples") == ["file 0.75", "tuples 1.0"]
