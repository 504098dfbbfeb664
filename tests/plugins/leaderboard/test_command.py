"""deadheat leaderboard, and orders of systems by agree and compare."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from support.command import call, names_in, ok

if TYPE_CHECKING:
    from pathlib import Path

SCORES = {"good": 0.9, "twin": 0.9, "bad": 0.1}


def refused(*arguments: object) -> str:
    found = call(*arguments)
    assert found.exit_code in {2, 3}
    return " ".join(found.stderr.split())


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "results.csv"
    rows = [
        f"{task},{model},q{n},{own - (n if model != 'twin' else n * 5 % 8) / 100}"
        for task in ("a", "b")
        for model, own in SCORES.items()
        for n in range(8)
    ]
    path.write_text("task,model,query_id,value\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.slow
def test_forms(table: Path, tmp_path: Path) -> None:
    found = json.loads(ok("leaderboard", table, "--format", "json"))
    board = dh.leaderboard(table)
    assert list(found["leaderboard"]) == list(board.models)
    rows = list(found["leaderboard"].values())
    assert [(row["rank_low"], row["rank_high"]) for row in rows] == board.rank_intervals
    assert [row["tier"] for row in rows] == board.tiers == [1, 1, 2]
    (tmp_path / "made").mkdir()
    for ending, option in (("csv", "--digits=3"), ("tex", "--compact"), ("md", "--compact"), ("html", "--rng=1")):
        path = tmp_path / "made" / f"board.{ending}"
        ok("leaderboard", table, option, "-o", path)
        assert "good" in path.read_text(encoding="utf-8")
    listed = list(csv.DictReader(io.StringIO((tmp_path / "made" / "board.csv").read_text(encoding="utf-8"))))
    assert [row["letter"] for row in listed] == ["a", "a", "b"]
    assert "<svg" in (tmp_path / "made" / "board.html").read_text(encoding="utf-8")
    ok("leaderboard", table, "--digits=2", "--figures", tmp_path / "drawn", "-o", tmp_path / "made" / "board.html")
    page = (tmp_path / "made" / "board.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "rank_intervals.svg" in page
    mean = found["leaderboard"]["good"]["mean"]
    assert f">{mean:.2f}<" in page
    assert f">{mean:.4f}<" not in page


def test_what_is_missing_is_said(table: Path) -> None:
    lines = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join(line for line in lines if not line.startswith("b,bad")) + "\n", encoding="utf-8")
    for more in ((), ("--compact",)):
        shown = " ".join(ok("leaderboard", table, *more).split())
        assert re.search(r"\b1 model without all tasks, [\w ]+: bad\b", shown)
    assert "anything from 0 to 1" in " ".join(ok("leaderboard", table, "--missing", "bounds").split())
    assert "bad" in ok("leaderboard", table, "--missing", "drop-task")


def test_a_paper_table_has_no_bound_as_a_mean_and_marks_the_best_of_the_known(table: Path) -> None:
    lines = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join(line for line in lines if not line.startswith("b,bad")) + "\n", encoding="utf-8")
    of_a = {
        name: sum(own - (n if name != "twin" else n * 5 % 8) / 100 for n in range(8)) / 8
        for name, own in SCORES.items()
    }
    bad = of_a["bad"] / 2, (of_a["bad"] + 1) / 2
    shown = ok("leaderboard", table, "--missing", "bounds", "--compact", "--format", "markdown")
    row = {line.split(" | ")[1]: line.strip("| ").split(" | ")[3:] for line in shown.splitlines() if " | " in line}
    assert row["bad"] == [f"[{bad[0]:.4f}, {bad[1]:.4f}]", "-", f"{of_a['bad']:.4f}", "-"]
    assert row["good"] == [f"[{of_a['good']:.4f}, {of_a['good']:.4f}]", *[f"**{of_a['good']:.4f}**"] * 3]


def test_weights_and_groups_from_a_table(table: Path, tmp_path: Path) -> None:
    of_tasks = tmp_path / "tasks.csv"
    of_tasks.write_text("task,weight,group\na,3,x\nb,1,y\n", encoding="utf-8")
    found = json.loads(ok("leaderboard", table, "--weights", of_tasks, "--format", "json"))
    board = dh.leaderboard(table, weights={"a": 3, "b": 1})
    assert [row["mean"] for row in found["leaderboard"].values()] == pytest.approx(board.mean_low.tolist())
    assert '"mean_x"' in ok("leaderboard", table, "--groups", of_tasks, "--format", "json")


def test_decimal_commas(table: Path, tmp_path: Path) -> None:
    expected = dh.leaderboard(table).mean_low
    rows = [line.split(",") for line in table.read_text(encoding="utf-8").splitlines()]
    german, quoted, weights = (tmp_path / name for name in ("german.csv", "quoted.csv", "weights.csv"))
    german.write_text("\n".join(";".join(row).replace(".", ",") for row in rows) + "\n", encoding="utf-8")
    cells = ([*row[:-1], f'"{row[-1].replace(".", ",")}"'] for row in rows)
    quoted.write_text("\n".join(map(",".join, cells)) + "\n", encoding="utf-8")
    weights.write_text("task;weight\na;1,5\nb;0,5\n", encoding="utf-8")
    for given in ([german], [quoted, "--decimal", ","]):
        found = json.loads(ok("leaderboard", *given, "--format", "json"))
        assert [row["mean"] for row in found["leaderboard"].values()] == expected.tolist()
    assert "is not a finite number" in refused("leaderboard", quoted)
    assert names_in(dh.leaderboard(german).notes[0])[:2] == ["value", ","]
    weighed = json.loads(ok("leaderboard", german, "--weights", weights, "--format", "json"))
    board = dh.leaderboard(table, weights={"a": 1.5, "b": 0.5})
    assert [row["mean"] for row in weighed["leaderboard"].values()] == board.mean_low.tolist()
    german.write_text("task;model;value\na;x;1.500\na;y;999\n", encoding="utf-8")
    assert "can be read in two ways" in refused("leaderboard", german)
    names, *others = rows
    lines = tmp_path / "results.jsonl"
    lines.write_text("\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in others), encoding="utf-8")
    with dh.decimal(","):  # JSON has points
        assert dh.leaderboard(lines).mean_low.tolist() == expected.tolist()


def test_errors(table: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "holds no results" in refused("leaderboard", tmp_path / "empty")
    assert "no.csv" in refused("leaderboard", table, "--weights", tmp_path / "no.csv")
    text = table.read_text(encoding="utf-8")
    table.write_text(text + "a,good,q0,0.5\n", encoding="utf-8")
    assert re.search(r"\bgood .*twice .*\ba, query q0\b", refused("leaderboard", table))


def test_queries_that_a_model_lacks_are_counted(tmp_path: Path) -> None:
    (tmp_path / "faq").mkdir()
    (tmp_path / "faq" / "qrels").write_text("q0 0 r 1\nq1 0 r 1\nq2 0 r 1\n", encoding="utf-8")
    for name, n in (("whole", 3), ("part", 1)):
        lines = [f"q{one} Q0 r 1 1 t\n" for one in range(n)]
        (tmp_path / "faq" / f"{name}.run").write_text("".join(lines), encoding="utf-8")
    found = call("leaderboard", tmp_path, "-m", "RR")
    assert re.search(r"lack a ranking [\w ]+: part 2\b", " ".join(found.stdout.split()))
    assert not found.stderr
    assert "neither a saved evaluation" in refused("leaderboard", tmp_path / "faq", tmp_path)


@pytest.mark.slow
def test_orders_of_systems(tmp_path: Path) -> None:
    qrels = {f"q{n}": {"r": 1} for n in range(3)}
    runs = {
        "a": {query: {"r": 2, "x": 1} for query in qrels},
        "b": {query: {"r": 1, "x": 1} for query in qrels},
        "c": {query: {"r": 1, "x": 2} for query in qrels},
    }
    for rule in ("expected", "worst"):
        (tmp_path / rule).mkdir()
        for name, run in runs.items():
            dh.evaluate(qrels, dh.Run(run, name=name), "RR", ties=rule).save(tmp_path / rule / f"{name}.json")
    found = json.loads(ok("agree", tmp_path / "expected", tmp_path / "worst", "--format", "json"))
    assert found["orders"]["RR, expected"]["RR, worst"]["tau_b"] == pytest.approx((2 / 3) ** 0.5)
    assert "give two folders" in refused("agree", *[tmp_path / "expected"] * 3)
    assert "systems 3 " in " ".join(ok("agree", tmp_path / "expected", tmp_path / "worst", "--full").split())
    for name, *value in (("--cutoff", 3), ("--ascending",), ("--grades", "drop")):
        assert f"{name} is for rankings" in refused("agree", tmp_path / "expected", tmp_path / "worst", name, *value)
    saved = [tmp_path / "expected" / f"{name}.json" for name in runs]
    assert "Orders of the systems" not in ok("compare", *saved)
    assert "one order alone" in " ".join(ok("compare", *saved, "--orders").split())
    (tmp_path / "qrels").write_text("".join(f"{query} 0 r 1\n" for query in qrels), encoding="utf-8")
    for name, run in runs.items():
        lines = [f"{q} Q0 {doc} 1 {score} t\n" for q, own in run.items() for doc, score in own.items()]
        (tmp_path / f"{name}.run").write_text("".join(lines), encoding="utf-8")
    given = ("compare", tmp_path / "qrels", *(tmp_path / f"{name}.run" for name in runs), "-m", "RR P@1", "--orders")
    assert "Orders of the systems" in ok(*given)
    rows = list(csv.DictReader(io.StringIO(ok(*given, "--format", "csv", "--table", "orders"))))
    assert {(row["first"], row["second"]) for row in rows} >= {("RR", "P@1")}
