"""The plugin: its measure against the definition, its files, its command."""

import subprocess
import sys
from pathlib import Path

from deadheat import api


def novelty(
    ranking: list[float | None],
    _judged: list[float],
    *,
    rel: float = 1,
    new: float = 2,
    known: float = 0.2,
    cutoff: int | None = None,
) -> float:
    """Return the value of one ranking, from the definition."""
    k = len(ranking) if cutoff is None else cutoff
    total = 0.0
    for relevance in ranking[:k]:
        if relevance is not None and relevance >= rel:
            total += 1 if relevance >= new else known
    return total / k if k else 0.0


def test_the_measure_is_what_its_definition_says() -> None:
    measure = type(api.parse_measure("Novelty"))  # found by the entry point
    api.check_measure(measure, novelty, parameters=[{}, {"new": 1}, {"known": 0.5, "rel": 0}])


def test_files_with_pipes_are_read_as_they_were_written() -> None:
    api.check_reader(
        "pipes",
        examples={"q1|d1|1\nq1|d2|0\n": [("q1", "d1", 1.0), ("q1", "d2", 0.0)]},
        wrong={"q1|d1|1\nq1|d2\n": 2, "q1|d1|one\n": 1},
    )


def test_the_command_prints_a_row_for_each_run(tmp_path: Path) -> None:
    (tmp_path / "qrels.pipes").write_text("q1|a|2\nq1|b|1\n", encoding="utf-8")
    (tmp_path / "mine.pipes").write_text("q1|a|0.5\nq1|b|0.5\n", encoding="utf-8")
    command = [sys.executable, "-m", "deadheat", "novelty", "qrels.pipes", "mine.pipes", "--cutoff", "1"]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "mine" in printed
    assert "0.6000" in printed  # the mean of 1 and 0.2
