"""deadheat fuse."""

import json
from pathlib import Path

import pytest

import deadheat as dh
from support.command import call, ok


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    (folder / "a.run").write_text("q Q0 x 1 1 t\nq Q0 y 2 1 t\nq Q0 z 3 0 t\n")
    (folder / "b.run").write_text("q Q0 z 1 2 t\nq Q0 x 2 1 t\n")
    (folder / "Q.txt").write_text("q 0 x 1\n")


def test_it_writes_the_run(folder: Path) -> None:
    said = ok("fuse", "a.run", "b.run", "-o", "c.run")
    assert "rrf (k=60)" in said
    assert dh.Run(folder / "c.run").to_dict() == dh.fuse([folder / "a.run", folder / "b.run"]).to_dict()
    assert (folder / "c.run").read_text().splitlines()[0].split()[-1] == "deadheat"
    ok("fuse", "a.run", "b.run", "-o", "c.csv", "--name", "hybrid")
    assert dh.Run(folder / "c.csv").to_dict() == dh.Run(folder / "c.run").to_dict()
    again = call("fuse", "a.run", "b.run", "-o", "c.run")
    assert again.exit_code == 2
    assert "exists already" in again.stderr
    ok("fuse", "a.run", "b.run", "-o", "c.run", "--force", "--k", "1")


def test_stdout_has_the_run_alone() -> None:
    result = call("fuse", "a.run", "b.run", "-o", "-", "--method", "mapfuse", "--qrels", "Q.txt")
    assert [line.split()[2] for line in result.stdout.splitlines()] == ["x", "z", "y"]
    assert "mapfuse learned from 1 query" in result.stderr


def test_weights_go_by_name() -> None:
    options = ["fuse", "a.run", "b.run", "--method", "wsum", "-o", "-", "--weights"]
    assert ok(*options, "a=0.3,b=0.7") == ok(*options, "0.3, 0.7")
    wrong = call(*options, "a=x")
    assert wrong.exit_code == 2
    assert "give numbers as in 0.3,0.7" in wrong.stderr


def test_judgments_show_what_tie_order_does() -> None:
    report = json.loads(ok("fuse", "a.run", "b.run", "--qrels", "Q.txt", "-m", "RR", "--format", "json"))
    rows = report["fusion"]
    assert rows["a"] == {"n_queries": 1, "n_documents": 3, "tied": 2 / 3, "RR": 0.75}
    assert rows["rrf(a, b)"]["RR"] == 1.0
    assert report["orders"] == {"RR": [0.5, 1.0]}  # y first: then z is above x
    alone = json.loads(ok("fuse", "b.run", "b.run", "--qrels", "Q.txt", "-m", "RR", "--format", "json"))
    assert alone["orders"] is None


def test_what_is_missing_is_said() -> None:
    for arguments, message in (
        (["a.run"], "give two runs or more"),
        (["a.run", "b.run", "-m", "RR"], "needs --qrels FILE"),
        (["a.run", "b.run", "--to", "csv"], "is about -o FILE"),
        (["a.run", "b.run", "-o", "c.nonsense"], "names no format"),
    ):
        result = call("fuse", *arguments)
        assert result.exit_code == 2
        assert message in result.stderr
