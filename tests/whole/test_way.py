"""What one command takes: calls, files and times that the run is opened, which grow unseen."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

COUNT = """
import json, os, sys
import deadheat
from deadheat.cli import main

ROOT, CALLS, FILES, OPENED = os.path.dirname(deadheat.__file__), [0], set(), {}


def called(frame, event, _):
    code = frame.f_code
    is_resumed = code.co_flags & 0x20 and frame.f_lasti > 12  # a generator
    if event == "call" and not is_resumed and code.co_filename.startswith(ROOT) and code.co_name[0] != "<":
        CALLS[0] += 1
        FILES.add(code.co_filename)


def opened(event, arguments):
    if event == "open" and arguments[0] in sys.argv[2:4]:
        OPENED[arguments[0]] = OPENED.get(arguments[0], 0) + 1


sys.addaudithook(opened)
for is_counted in (False, True):  # imports are no calls
    OPENED.clear()
    sys.setprofile(called if is_counted else None)
    try:
        main()
    except SystemExit:
        pass
    sys.setprofile(None)
print(json.dumps([CALLS[0], len(FILES), max(OPENED.values())]), file=sys.stderr)
"""


def test_a_command_on_tiny_files_takes_few_calls(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "a.run"
    qrels.write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 1\n")
    run.write_text("q1 Q0 d1 1 3 t\nq1 Q0 d2 2 3 t\nq2 Q0 d3 1 1 t\n")
    command = [sys.executable, "-c", COUNT, "evaluate", str(qrels), str(run), "-m", "nDCG@10"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    calls, files, most_opened = json.loads(told.splitlines()[-1])
    assert 100 < calls <= 600
    assert files <= 45
    assert most_opened == 2
