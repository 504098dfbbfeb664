"""Several calls of bench at a time: one works in a folder, the others are told; a dead one blocks nobody."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from threading import Thread
from typing import TYPE_CHECKING

import numpy as np
import pytest

import deadheat as dh
from deadheat.core.cli.errors import BAD_DATA
from deadheat.core.io.locks import hold_lock
from deadheat.errors import DataError, DeadheatWarning
from support.demo import BENCH
from support.paths import TESTS
from support.small_bench import CASES, DOCUMENTS, Counting

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# a call that waits in its search until there is a file "go", and tells that it is there
WAITING = """
import sys, time
from pathlib import Path
import deadheat as dh
from support.demo import BENCH
folder = Path(sys.argv[1])
class Waiting:
    name = key = "waiting"
    def index(self, documents):
        (folder / "searching").touch()
        while not (folder / "go").exists():
            time.sleep(0.01)
    def search(self, texts, k):
        return [{"H001": 1.0} for _ in texts]
dh.bench(BENCH[1], BENCH[3], ["bm25", Waiting()], "RR", output=folder / "out", n_resamples=99)
"""


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", program, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "deadheat", *BENCH, "-m", "RR", *map(str, arguments)]
    return subprocess.run(program, capture_output=True, text=True, check=False)


def evaluations(folder: Path) -> set[str]:
    return {path.stem for path in (folder / "evaluations").glob("*.json")}


@pytest.mark.slow
def test_a_second_call_is_refused_and_the_first_loses_nothing(tmp_path: Path) -> None:
    first = start(WAITING, tmp_path)
    until((tmp_path / "searching").exists)
    second = command("--output", tmp_path / "out")
    assert second.returncode == BAD_DATA
    assert "another deadheat bench is running there" in second.stderr
    assert "wait until it is done, or choose another output folder" in second.stderr
    assert "searches in" not in second.stderr
    assert command("--output", tmp_path / "out", "--limit", 2).returncode == 0  # its files have names of their own
    (tmp_path / "go").touch()
    _, told = first.communicate(timeout=60)
    assert first.returncode == 0, told
    assert evaluations(tmp_path / "out") == {
        *("phrases.en.bm25", "phrases.en.waiting", "phrases.en.bm25.limit-2"),
    }


@pytest.mark.slow
def test_a_killed_call_blocks_nobody(tmp_path: Path) -> None:
    first = start(WAITING, tmp_path)
    until((tmp_path / "searching").exists)
    first.kill()
    first.communicate(timeout=60)
    assert (tmp_path / "out" / "bench.lock").exists()
    second = command("--output", tmp_path / "out")
    assert second.returncode == 0, second.stderr
    assert "bm25 on phrases (en): finished before" in second.stderr


def test_a_lock_is_released_whatever_happens(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        dh.bench(CASES, DOCUMENTS, Counting(dies_in=0), "RR", output=tmp_path)
    with hold_lock(tmp_path / "bench.lock", "test", "wait"):
        pass
    refused = pytest.raises(DataError, match="another test is running there")
    with hold_lock(tmp_path / "a.lock", "test", "wait"), refused, hold_lock(tmp_path / "a.lock", "test", "wait"):
        pytest.fail("two have it")
    with hold_lock(tmp_path / "a.lock", "test", "wait"):
        pass


def test_only_one_of_many_has_a_lock_at_a_time(tmp_path: Path) -> None:
    inside, most, n_times = [0], [0], [0]

    def work() -> None:
        for _ in range(200):
            try:
                with hold_lock(tmp_path / "a.lock", "test", "wait"):
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                    n_times[0] += 1
                    time.sleep(0.0001)
                    inside[0] -= 1
            except DataError:
                time.sleep(0.0001)

    threads = [Thread(target=work) for _ in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert most == [1]
    assert n_times[0] >= 6


def test_without_locks_of_the_file_system_there_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr("filelock.FileLock.acquire", none)
    warned = pytest.warns(DeadheatWarning, match=r"cannot be locked \(Operation not supported\): run one test there")
    with warned, hold_lock(tmp_path / "a.lock", "test", "wait"):
        pass


def test_a_lock_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.lock").mkdir()
    with pytest.raises(OSError, match=r"a\.lock"), hold_lock(tmp_path / "a.lock", "test", "wait"):
        pytest.fail("a folder was locked")


EMBEDDING = """
import sys, time
from pathlib import Path
import numpy as np
from deadheat.plugins.bench.retrievers import embedding as cached
path, number = Path(sys.argv[1]) / "embeddings" / "key.npy", int(sys.argv[2])
vectors = np.arange(40, dtype=np.float32).reshape(20, 2)
for round in range(40):
    for start in range(0, 20, 5):
        cached.kept(path.with_suffix(f".{start:09}.part"), 5, lambda: vectors[start : start + 5])
    assert np.array_equal(cached.kept(path, 20, lambda: vectors), vectors)
    for part in path.parent.glob("key.*.part"):
        part.unlink(missing_ok=True)
"""


@pytest.mark.slow
def test_embeddings_are_kept_by_several_at_a_time(tmp_path: Path) -> None:
    several = [start(EMBEDDING, tmp_path, number) for number in range(4)]
    told = [one.communicate(timeout=60)[1] for one in several]
    assert [one.returncode for one in several] == [0, 0, 0, 0], told
    assert told == ["", "", "", ""]  # no warning either: what another one has removed is made again
    found = np.load(tmp_path / "embeddings" / "key.npy")
    assert np.array_equal(found, np.arange(40).reshape(20, 2))
    assert [path.name for path in (tmp_path / "embeddings").iterdir()] == ["key.npy"]
