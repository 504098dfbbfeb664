"""The files of the command line: what is written where, and what is never overwritten."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

import pytest

from deadheat import Evaluation
from deadheat.core.cli import main
from deadheat.core.cli.errors import CommandError
from deadheat.core.cli.printing import emit
from deadheat.core.io.writing import replace_file
from deadheat.errors import DataError
from support.command import QRELS, RUN, call, names_in, ok, runner
from support.process import command, environment

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("folder")

needs_fifo = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


EVALUATE = ["evaluate", "qrels.txt", "bm25.run", "-m", "RR", "--format", "json", "-o"]
CONVERT = ["convert", "bm25.run", "--force", "--to", "trec"]


@pytest.mark.parametrize("arguments", [EVALUATE, CONVERT])
def test_a_link_stays_and_its_target_is_replaced(folder: Path, arguments: list[str]) -> None:
    (folder / "deep").mkdir()
    target, link = folder / "deep" / "target", folder / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    ok(*arguments, "link")
    assert link.is_symlink()
    assert target.read_text() not in {"", "old"}
    assert target.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in (folder / "deep").iterdir()] == ["target"]


@needs_fifo
@pytest.mark.parametrize("arguments", [EVALUATE, CONVERT])
def test_a_pipe_is_written_to_and_stays(folder: Path, arguments: list[str]) -> None:
    pipe, read = folder / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    ok(*arguments, "pipe")
    reader.join(10)
    assert pipe.is_fifo()
    assert len(read[0]) > 50
    assert not list(folder.glob(".*tmp"))


def test_a_dash_is_standard_output(folder: Path) -> None:
    assert json.loads(ok(*EVALUATE, "-"))["scores"]["bm25"]["RR"]["value"] == 0.3125
    assert ok("evaluate", "qrels.txt", "bm25.run", "-o", "-") == ok("evaluate", "qrels.txt", "bm25.run")
    result = call("convert", "bm25.run", "-", "--to", "csv")
    assert result.stdout.startswith("query_id,doc_id,score\nq1,a,0.5\n")
    assert not (folder / "-").exists()


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="this system has no /dev/stdin")  # noqa: PTH110 - Path is here for types alone
def test_a_dash_is_standard_input(folder: Path) -> None:
    def run(*arguments: str, text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments),
            cwd=folder,
            env=environment(),
            input=text,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    out = run("evaluate", "qrels.txt", "-", "--format", "json", text=RUN).stdout
    assert list(json.loads(out)["scores"]) == ["stdin"]
    assert run("convert", "-", "-", text=RUN).stdout.startswith("q1 Q0 a 1 0.5 deadheat\n")
    assert "--kind qrels" in run("convert", "-", "-", text=QRELS).stderr
    told = run("convert", "-", "-", text="query_id,doc_id,score\n").stderr
    assert "ends in .csv" in told
    assert "--from" in names_in(told)
    told = run("ties", "-", text="query_id,doc_id,score\n").stderr
    assert "ends in .csv" in told
    assert "--from" not in names_in(told)  # an option that it does not have
    assert run("convert", "-", "-", "--kind", "qrels", text=QRELS).stdout == QRELS
    assert "only once" in run("evaluate", "-", "-", text=QRELS).stderr


@pytest.mark.plugins("gates", "ties")
@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "qrels.txt", "bm25.run", "--format", "csv", "-o", "./qrels.txt"],
        ["evaluate", "qrels.txt", "bm25.run", "--format", "csv", "-o", "link.run"],
        ["ties", "bm25.run", "qrels.txt", "--format", "json", "-o", "qrels.txt"],
        ["ties", "bm25.run", "--format", "json", "-o", "bm25.run"],
        ["gate", "qrels.txt", "bm25.run", "--format", "json", "-o", "pyproject.toml"],
        ["convert", "bm25.run", "bm25.run", "--force"],
        ["convert", "bm25.run", "link.run", "--force"],
    ],
)
def test_an_input_is_never_overwritten(folder: Path, arguments: list[str]) -> None:
    (folder / "link.run").symlink_to("bm25.run")
    (folder / "pyproject.toml").write_text("[tool.deadheat.gates]\nchecks = ['RR >= 0.5']\n")
    result = call(*arguments)
    assert result.exit_code == 2
    assert "is the input" in result.stderr
    assert (folder / "qrels.txt").read_text() == QRELS
    assert (folder / "bm25.run").read_text() == RUN


@pytest.mark.plugins
@pytest.mark.parametrize(
    ("arguments", "code", "messages"),
    [
        (["evaluate", "qrels.txt", "bm25.run", "-o", "no/x.json"], 2, ["no such folder: 'no'"]),
        (["evaluate", "nothing", "bm25.run", "-o", "no/x.json"], 2, ["no such folder: 'no'"]),
        (["convert", "bm25.run", "no/x.csv"], 2, ["no such folder: 'no'"]),
        (["ties", "bm25.run", "-o", "no/x.json"], 2, ["no such folder: 'no'"]),
        (["evaluate", "qrels.txt", "bm25.run", "-o", "."], 2, ["is a folder"]),
        (["evaluate", "none.txt", "bm25.run", "a.run", "b.run"], 3, ["none.txt: no", "a.run: no", "b.run: no"]),
        (["evaluate", "none.txt", "none.run", "-m", "ndgc"], 2, ["'nDCG' or 'RnDCG'"]),
        (["convert", "bm25.run", "x.png"], 2, ["'x.png' names no format", "--to trec, csv"]),
        (["convert", "bm25.run", "x.xlsx.gz"], 2, ["'x.xlsx.gz' names no format", "--to trec, csv"]),
        (["evaluate", "qrels.txt", "bm25.run", "-o", "x.foo"], 2, ["'x.foo' names no format", "--format table"]),
        (["ties", "bm25.run", "-o", "x.trec"], 2, ["'x.trec' names trec", "--format table", "latex or html"]),
        (["measures", "RR", "-o", "x.csv"], 2, ["'x.csv' names csv", "--format table"]),
        (["demo", "-o", "x.tex"], 2, ["'x.tex' names latex", "--format table"]),
    ],
)
def test_outputs_and_inputs_are_checked_first(
    folder: Path, arguments: list[str], code: int, messages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        pytest.fail("a file was read")

    monkeypatch.setattr("deadheat.core.io.formats.scan", fail)
    before = sorted(folder.iterdir())
    result = call(*arguments)
    assert result.exit_code == code, result.output
    assert [message for message in messages if message not in result.stderr] == []
    assert sorted(folder.iterdir()) == before


@pytest.mark.plugins("exports")
def test_a_folder_may_be_read_twice(folder: Path) -> None:
    (folder / "found").mkdir()
    (folder / "found" / "q1.json").write_text(
        '{"hits": {"hits": [{"_id": "b", "_score": 2}, {"_id": "a", "_score": 1}]}}'
    )
    out = ok("evaluate", "qrels.txt", "found", "found", "-m", "RR", "--missing", "skip", "--format", "json")
    assert {name: one["RR"]["value"] for name, one in json.loads(out)["scores"].items()} == {
        "found #1": 0.5,
        "found #2": 0.5,
    }


@pytest.mark.plugins
@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "qrels.txt", "closed.run"],
        ["evaluate", "closed.run", "bm25.run"],
        ["compare", "qrels.txt", "bm25.run", "closed.run"],
        ["ties", "closed.run"],
        ["convert", "closed.run", "out.csv"],
        ["gate", "closed.run", "-c", "RR > 0"],
        ["evaluate", "qrels.txt", "bm25.run", "--queries", "closed.run"],
        ["validate", "closed.run"],
    ],
)
def test_a_file_that_may_not_be_read_is_bad_data(
    folder: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "closed.run").write_text(RUN)
    # the superuser may read everything
    monkeypatch.setattr("os.access", lambda path, *_, **__: not str(path).endswith("closed.run"))
    result = call(*arguments)
    assert result.exit_code == 3
    assert result.stderr.startswith("Error: closed.run: permission denied")
    assert result.stderr.count("\n") == 1


def test_an_output_that_may_not_be_read_may_be_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "out.csv").write_text("old")
    monkeypatch.setattr("os.access", lambda path, *_, **__: not str(path).endswith("out.csv"))
    ok("convert", "bm25.run", "out.csv", "--force")
    assert (folder / "out.csv").read_text() != "old"


def test_a_name_that_would_break_a_line_is_escaped(folder: Path) -> None:
    (folder / "a\nb\x1b.run").write_text(RUN)
    lines = ok("evaluate", "qrels.txt", "a\nb\x1b.run", "-m", "RR").splitlines()
    assert lines[0].strip() == "a\\nb\\x1b"
    out = ok("evaluate", "qrels.txt", "a\nb\x1b.run", "-m", "RR", "--format", "trec")
    assert out.splitlines()[0] == "runid                 \tall\ta\\nb\\x1b"


def test_runs_that_differ_in_format_alone_keep_it(folder: Path) -> None:
    (folder / "bm25.csv").write_text("query_id,doc_id,score\nq1,a,0.5\n")
    out = ok("evaluate", "qrels.txt", "bm25.run", "bm25.csv", "-m", "RR", "--format", "json")
    assert list(json.loads(out)["scores"]) == ["bm25.run", "bm25.csv"]


@pytest.mark.parametrize("name", ["x", "x.txt", "x.run", "x.trec", "x.qrels", "x.run.gz"])
def test_names_that_say_trec(name: str) -> None:
    assert "as trec" in call("convert", "bm25.run", name, "--kind", "run").stderr


def test_a_given_format_needs_no_suffix(folder: Path) -> None:
    assert call("convert", "bm25.run", "x.png", "--to", "csv").exit_code == 0
    ok("evaluate", "qrels.txt", "bm25.run", "-o", "x.foo", "--format", "csv")
    assert (folder / "x.foo").read_text().startswith("run,measure")


def full(*_: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("arguments", [EVALUATE, CONVERT])
def test_a_full_disk_is_one_line(folder: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.core.io.writing.os.urandom", full)
    result = call(*arguments, "x")
    assert result.exit_code == 3
    assert names_in(result.stderr) == ["x"]
    assert result.stderr.endswith(": No space left on device\n")
    assert result.stderr.count("\n") == 1
    assert not (folder / "x").exists()


def test_a_full_standard_output_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def emit_fails(text: str, output: str | None = None) -> None:
        monkeypatch.setattr("sys.stdout.write", full)
        emit(text, output)

    monkeypatch.setattr("deadheat.core.cli.printing.emit", emit_fails)
    result = call("evaluate", "qrels.txt", "bm25.run")
    assert result.exit_code == 3
    assert "standard output" in result.stderr
    assert result.stderr.endswith(": No space left on device\n")
    assert result.stderr.count("\n") == 1


# Under a limit, Python 3.11 leaves the first part of a module's bytecode as the whole, which no later process can read.
NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}


def limit_files() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))  # what is longer is an error, as on a full disk


def limit_to_a_kilobyte() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


def close_stdout() -> None:
    os.close(1)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "qrels.txt", "bm25.run", "-o", "/dev/stdout"],
        ["--help"],
        ["--verbose", "--version"],
        ["convert", "bm25.run", "-"],
        ["gate", "--list-presets"],
    ],
)
@pytest.mark.parametrize("prepare", [limit_files, close_stdout])
def test_a_standard_output_that_takes_nothing(folder: Path, arguments: list[str], prepare: Callable[[], None]) -> None:
    with (folder / "out").open("wb") as out:
        done = subprocess.run(
            command(*arguments),
            cwd=folder,
            env=environment(**NO_BYTECODE),
            stdout=out,
            stderr=subprocess.PIPE,
            preexec_fn=prepare,
            check=False,
        )
    message = done.stderr.decode()
    assert done.returncode == 3
    assert message.count("\n") == 1
    assert message.startswith("Error: cannot write")
    assert (folder / "bm25.run").read_text() == RUN


@pytest.mark.parametrize("name", ["-", "/dev/stdin", "/dev/fd/0"])
def test_a_standard_input_that_is_closed(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Once that was a bug of ours."""
    del folder
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(CommandError) as caught:
        main(["evaluate", "qrels.txt", name], standalone_mode=False)
    assert caught.value.exit_code == 3
    assert "standard input is closed" in caught.value.message


def test_a_save_that_fails_says_which_were_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["one", "two", "three", "four"]
    for name in names:
        (folder / f"{name}.run").write_text(RUN)
    save = Evaluation.save

    def save_until_full(evaluation: Evaluation, path: str, **options: Any) -> Path:  # noqa: ANN401 - those of a save
        if evaluation.name == "three":
            raise OSError(errno.ENOSPC, "No space left on device", "kept/three.json")
        return save(evaluation, path, **options)

    monkeypatch.setattr(Evaluation, "save", save_until_full)
    runs = [f"{name}.run" for name in names]
    result = call("evaluate", "qrels.txt", *runs, "--sort", "given", "--save", "kept", "--replace")
    assert result.exit_code == 3
    assert re.findall(r"kept/\w+\.json", result.stderr) == ["kept/three.json", "kept/one.json", "kept/two.json"]
    assert "No space left on device" in result.stderr


def test_errors_of_a_disk_name_the_file(folder: Path) -> None:
    """A write to a full disk fails without a name."""
    with pytest.raises(OSError, match="No space left") as caught, replace_file("made.csv"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.filename == "made.csv"
    assert not list(folder.glob(".made*"))
    with pytest.raises(DataError, match="is written as a folder"), replace_file("made.csv/"):
        pass


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
@pytest.mark.parametrize("changes", [{}, {"PYTHONUNBUFFERED": "1"}], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["evaluate", "--help"],
        ["evaluate", "qrels.txt", "bm25.run", "--format", "json"],
        ["validate", "--schema"],
    ],
    ids=" ".join,
)
def test_a_standard_output_that_is_cut_short_is_an_error(
    folder: Path, arguments: list[str], changes: dict[str, str]
) -> None:
    """Unbuffered, Python takes a write for done of which the system took a part."""
    check_limit(folder, arguments, **changes)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "qrels.txt", "bm25.run", "--format", "json", "-o", "made.json"],
        ["convert", "large.run", "made.csv"],
        ["convert", "large.run", "made.parquet"],
        ["convert", "large.run", "made.jsonl.gz"],
        ["evaluate", "qrels.txt", "large.run", "--save", "made.json"],
        ["demo", "--copy", "made"],
    ],
    ids=" ".join,
)
def test_a_file_that_is_cut_short_is_an_error_and_vanishes(folder: Path, arguments: list[str]) -> None:
    check_limit(folder, arguments)


def check_limit(folder: Path, arguments: list[str], **changes: str) -> None:
    lines = [f"q{n} Q0 d{n * 7919 % 3001} 1 {1 / (n + 1)} t\n" for n in range(2000)]
    (folder / "large.run").write_text("".join(lines))
    with (folder / "out").open("wb") as out:
        done = subprocess.run(
            command(*arguments),
            cwd=folder,
            env=environment(**changes, **NO_BYTECODE),
            stdout=out,
            stderr=subprocess.PIPE,
            preexec_fn=limit_to_a_kilobyte,
            check=False,
        )
    *_, message = done.stderr.decode().splitlines()
    assert message.startswith("Error: cannot write")
    assert message.endswith("File too large")
    assert done.returncode == 3
    assert not [path for path in folder.rglob("*") if path.is_file() and "made" in str(path.relative_to(folder))]


@pytest.mark.plugins("gates")
@pytest.mark.parametrize("character", ["x", "木", "🎯", "ü"])
def test_names_of_the_longest_kind_are_written(folder: Path, character: str) -> None:
    """File systems take 255 bytes; two long names that begin alike stay two."""
    room = (255 - len("1.run")) // len(character.encode())
    names = [f"{character * room}{n}.run" for n in (1, 2)]
    for name in names:
        (folder / name).write_text(RUN)
    (folder / "saved").mkdir()
    out = ok("evaluate", "qrels.txt", *names, "--save", "saved", "-m", "RR", "--format", "json")
    saved = json.loads(out)["saved"]
    assert len(set(saved)) == 2
    assert all((folder / path).is_file() and len((folder / path).name.encode()) <= 245 for path in saved)
    ok("gate", saved[0], "-c", "RR > 0")
    longest = character * ((255 - len(".csv")) // len(character.encode())) + ".csv"
    assert call("convert", "bm25.run", longest).exit_code == 0
    assert (folder / longest).is_file()


def test_a_seed_needs_a_random_order() -> None:
    result = call("evaluate", "qrels.txt", "bm25.run", "--rng", "3")
    assert result.exit_code == 2
    assert "--ties random" in result.stderr


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="this system has no /dev/fd")  # noqa: PTH110 - Path is here for types alone
def test_what_a_shell_makes_up_gets_a_name(folder: Path) -> None:
    for arguments, name in (("evaluate <(cat qrels.txt) <(cat bm25.run)", "run"), ("ties <(cat bm25.run)", "run: 4")):
        call_of = f"{shlex.join(command())} {arguments}"
        done = subprocess.run(
            ["bash", "-c", call_of],
            cwd=folder,
            env=environment(),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.stdout.split("\n", maxsplit=1)[0].strip().startswith(name), done.stderr
        assert "/dev/fd" not in done.stdout


def test_the_demo_is_copied_again_only_if_it_is_the_same(folder: Path) -> None:
    told = call("demo", "--copy", "data").stderr.removesuffix("\n").removeprefix("data: ").split(", ")
    copied = {path.name for path in (folder / "data").iterdir()}
    assert told[1] == f"{len([name for name in copied if name.endswith('.run.gz')])} runs"
    assert {"qrels.human.txt.gz", "phrases.csv", "documents.csv", "SOURCE.md"} <= {*told}
    assert {told[0], *told[2:]} == {name for name in copied if not name.endswith(".run.gz")}
    assert call("demo", "--copy", "data").exit_code == 0
    mine = folder / "data" / "SOURCE.md"
    mine.write_text("mine")
    result = call("demo", "--copy", "data")
    assert result.exit_code == 2
    assert "data: SOURCE.md " in result.stderr
    assert mine.read_text() == "mine"
    assert call("demo", "--copy", "data", "--force").exit_code == 0
    assert mine.read_text() != "mine"


@pytest.mark.slow
def test_runs_with_long_names_are_saved_in_a_folder_under_shorter_ones(folder: Path) -> None:
    names = ["字" * 83, "字" * 82 + "典", "x" * 251, "x" * 250 + "y", "aux", "who?", "b"]
    for name in names:
        (folder / f"{name}.run").write_text(RUN)
    ok("evaluate", "qrels.txt", *(f"{name}.run" for name in names), "-m", "RR", "--save", "saved/", "--replace")
    saved = sorted((folder / "saved").glob("*.json"))
    assert sorted(json.loads(path.read_text(encoding="utf-8"))["name"] for path in saved) == sorted(names)
    assert len({path.name.casefold() for path in saved}) == len(names)
    assert not any(set(path.name) & set('<>:"/\\|?*') or path.name.startswith("aux.") for path in saved)
    assert "b.json" in {path.name for path in saved}
    ok("evaluate", "qrels.txt", *(f"{name}.run" for name in names), "-m", "RR", "--save", "saved/")
    assert len([*(folder / "saved").glob("*.json")]) == 2 * len(names)
    assert max(len(path.name.encode()) for path in (folder / "saved").iterdir()) <= 255


def test_the_standard_input_of_a_system_without_a_path_for_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.core.cli.paths.STDIN", str(folder / "none"))
    before = set(Path(gettempdir()).glob("deadheat-*"))
    result = runner().invoke(main, ["evaluate", "qrels.txt", "-", "-m", "RR"], input=RUN)
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[0].strip() == "stdin"
    assert set(Path(gettempdir()).glob("deadheat-*")) == before
