"""What holds for several commands."""

from __future__ import annotations

import pytest

from support.command import call, ok

pytestmark = pytest.mark.usefixtures("folder")


def test_options_that_nothing_uses_are_refused() -> None:
    for arguments in (["measures", "nDCG", "--digits", "2"], ["demo", "--force"], ["demo", "--copy", "x", "-o", "y"]):
        assert call(*arguments).exit_code == 2
    assert "default 3, but all of them in json" in " ".join(ok("demo", "--help").split())
    assert "default 4, but all of them in json and csv" in " ".join(ok("evaluate", "--help").split())


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize(
    "arguments",
    [
        ["ties", "demo-data/Olz-gpt4o.run.gz", "demo-data/qrels.human.txt.gz", "-m", "trec"],
        ["ties", "demo-data/Olz-gpt4o.run.gz", "demo-data/qrels.human.txt.gz"],
        ["evaluate", "demo-data/qrels.human.txt.gz", "demo-data/Olz-gpt4o.run.gz", "bm25.run", "--per-query"],
        ["measures"],
        ["measures", "--for"],
        ["demo"],
    ],
)
def test_tables_fit_a_screen(width: int, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("demo", "--copy", "demo-data").exit_code == 0
    monkeypatch.setenv("COLUMNS", str(width))
    lines = ok(*arguments).splitlines()
    assert [line for line in lines if len(line) > width and not line.startswith("  deadheat ")] == []
    monkeypatch.setenv("COLUMNS", "200")
    if any("not shown at this width" in line for line in lines):
        assert "not shown" not in ok(*arguments)
