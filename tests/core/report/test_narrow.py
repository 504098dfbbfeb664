"""Narrow screens and pipes: what does not fit is left out and said, and sentences are wrapped everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.command import QRELS, RUN, call, ok

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "q.txt").write_text(QRELS)
    for name in ("one", "two"):
        (tmp_path / f"{name}.run").write_text(RUN)
    return tmp_path


@pytest.mark.parametrize(
    ("names", "options"),
    [
        (["one"], []),
        (["one"], ["--per-query"]),
        (["one"], ["--ci"]),
        (["one", "two"], []),
        (["one", "two"], ["--per-query"]),
    ],
)
def test_evaluate_fits_40_columns(
    names: list[str], options: list[str], files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    runs = [f"{name}.run" for name in names]
    wide = ok("evaluate", "q.txt", *runs, "-m", "RR", *options)
    assert "tie min" in wide
    monkeypatch.setenv("COLUMNS", "40")
    narrow = ok("evaluate", "q.txt", *runs, "-m", "RR", *options)
    assert max(map(len, narrow.splitlines())) <= 40
    left_out = [name for name in ("tie std", "tie min", "tie max") if name not in narrow.split("not shown")[0]]
    said = " ".join(narrow.split())
    assert all(name in said for name in left_out)
    assert ("not shown at this width:" in said) == bool(left_out)


def test_columns_are_left_out_after_labels_are_broken(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    (files / "a system of words.run").write_text(RUN)
    monkeypatch.setenv("COLUMNS", "60")
    out = ok("evaluate", "q.txt", "one.run", "a system of words.run", "-m", "RR")
    assert "not shown" not in out
    assert "a system of words" not in out.split("queries")[0]
    assert max(map(len, out.splitlines())) <= 60


NAMES = ("bm25", "a-dense-retriever", "an-encoder-of-two-towers-distilled", "rerank-3")


@pytest.mark.plugins("compare")
@pytest.mark.parametrize("width", [40, 80])
def test_differences_of_four_runs_keep_interval_and_p(width: int, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    for name in NAMES:
        (files / f"{name}.run").write_text(RUN)
    monkeypatch.setenv("COLUMNS", str(width))
    out = ok("compare", "q.txt", *(f"{name}.run" for name in NAMES), "-m", "RR", "--full")
    assert max(map(len, out.splitlines())) <= width
    heading = next(line for line in out.split("differences, system - baseline")[1].splitlines() if "differ" in line)
    assert "p adj" in heading
    assert width == 40 or ("95% CI" in heading and heading.startswith("system - baseline"))


@pytest.mark.slow
@pytest.mark.plugins
def test_sentences_in_a_table_are_wrapped_in_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_text("text,expected_ids\npain,HP:0012531\n")
    result = call("validate", path)
    assert result.exit_code == 0
    own = [line for line in result.stdout.splitlines() if str(tmp_path) not in line]
    assert 60 < max(map(len, own)) <= 80


@pytest.mark.plugins("judges")
def test_columns_that_are_left_out_are_named_once(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    monkeypatch.setenv("COLUMNS", "60")
    out = " ".join(ok("judges", "q.txt", "q.txt", "one.run").split())
    assert "95% CI" in out.split("not shown at this width: ")[1]
    assert "95% CI, 95% CI" not in out
    assert "(-o FILE.txt has all)" in out
    ok("judges", "q.txt", "q.txt", "one.run", "-o", "all.txt")
    assert "not shown" not in (files / "all.txt").read_text(encoding="utf-8")


@pytest.mark.plugins("weeks")
def test_a_history_of_one_evaluation_without_a_label(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    ok("evaluate", "q.txt", "one.run", "-m", "RR", "--save", "history/", "--label", "")
    assert "RR" in ok("history", "history")
