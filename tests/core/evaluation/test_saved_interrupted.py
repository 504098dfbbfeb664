"""Saves that are interrupted."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

import deadheat as dh

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {f"q{n}": {"a": 1, "b": 0} for n in range(500)}
SAVE = """
import sys, deadheat as dh
qrels = {f"q{n}": {"a": 1, "b": 0} for n in range(500)}
own = dh.evaluate(qrels, {query: {"a": 0.5, "b": float(sys.argv[2])} for query in qrels}, ["RR", "AP"])
own.name = sys.argv[2]
print("ready", flush=True)
while True:
    own.save(sys.argv[1], method="t")
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no signal that kills at once")
def test_saves_to_one_path_that_are_killed_leave_one_whole_result(tmp_path: Path) -> None:
    path, rng = tmp_path / "main.json", random.Random(3)
    dh.evaluate(QRELS, {query: {"a": 1.0} for query in QRELS}, ["RR", "AP"]).save(path, method="t")
    for _ in range(3):
        savers = [
            subprocess.Popen([sys.executable, "-c", SAVE, str(path), name], stdout=subprocess.PIPE, env=os.environ)
            for name in ("0.5", "0.75")
        ]
        for saver in savers:
            assert saver.stdout is not None
            assert saver.stdout.readline() == b"ready\n"
        for _ in range(10):
            time.sleep(rng.random() / 20)
            loaded = dh.load_evaluation(path)
            assert loaded["RR"].mean == {"run": 1.0, "0.5": 0.75, "0.75": 0.5}[loaded.name]
        while loaded.name == "run":  # a slow machine has not saved yet
            loaded = dh.load_evaluation(path)
        for saver in savers:
            saver.send_signal(signal.SIGKILL)
            saver.communicate()
        assert len(dh.load_evaluation(path).placements.query)
    assert dh.load_evaluation(path).name in {"0.5", "0.75"}
