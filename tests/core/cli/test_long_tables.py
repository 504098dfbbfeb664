"""Tables of very many rows: people see the first ones and are told, files and programs have all."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import call, facts_of, report_of

N_GROUPS = 300


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Arguments of an evaluation of 300 queries, each a group of its own."""
    numbers = range(N_GROUPS)
    (tmp_path / "q.qrels").write_text("".join(f"q{n} 0 d 1\n" for n in numbers))
    (tmp_path / "r.run").write_text("".join(f"q{n} Q0 d 1 0.5 run\n" for n in numbers))
    (tmp_path / "queries.csv").write_text("query_id,user\n" + "".join(f"q{n},u{n}\n" for n in numbers))
    paths = [str(tmp_path / name) for name in ("q.qrels", "r.run")]
    return ["evaluate", *paths, "-m", "RR", "--queries", str(tmp_path / "queries.csv"), "--by", "user"]


def test_people_see_the_first_rows_and_the_number_of_all(files: list[str]) -> None:
    n_rows = {table.key: len(table.rows) for table in report_of(*files).tables}
    assert max(n_rows.values()) == 200
    assert facts_of(*files)["rows"].startswith("the first 200 of 300")


def test_the_full_report_and_data_have_all_rows(files: list[str]) -> None:
    assert max(len(table.rows) for table in report_of(*files, "--full").tables) >= N_GROUPS
    assert "rows" not in facts_of(*files, "--full")
    header, *rows = call(*files, "--format", "csv").stdout.splitlines()
    users = [row.split(",")[header.split(",").index("user")] for row in rows]
    assert {f"u{n}" for n in range(N_GROUPS)} <= set(users)
