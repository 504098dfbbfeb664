"""Options that are repeated, and columns that are named."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deadheat.core.cli import main
from support.command import names_in, runner

if TYPE_CHECKING:
    from click.testing import Result


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def call(*arguments: str) -> Result:
    return runner().invoke(main, arguments)


def test_options_that_may_be_repeated_still_are() -> None:
    assert (
        "no such file"
        in call("evaluate", "q", "r", "-m", "RR", "-m", "AP", "--by", "a", "--by", "b", "--queries", "t").stderr
    )


def test_a_shell_completes_behind_a_repeated_option() -> None:
    words = "deadheat evaluate --ties expected --ties d"
    environment = {"_DEADHEAT_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": "5"}
    done = runner(env=environment).invoke(main, prog_name="deadheat")
    assert done.stdout.split() == ["plain,doc_id"]


def test_columns_are_named_at_once_or_one_by_one() -> None:
    Path("q.qrels").write_text("q1 0 d1 1\nq1 0 d2 0\n")
    Path("r.csv").write_text("topic,document,sc\nq1,d1,0.5\nq1,d2,0.4\n")
    names = ["run.query_id=topic", "run.doc_id=document", "run.score=sc"]
    at_once = call("evaluate", "q.qrels", "r.csv", "--columns", ",".join(names))
    one_by_one = call("evaluate", "q.qrels", "r.csv", *(word for name in names for word in ("--columns", name)))
    assert at_once.exit_code == 0, at_once.stderr
    assert one_by_one.stdout == at_once.stdout
    again = call("evaluate", "q.qrels", "r.csv", "--columns", "score=sc", "--columns", "score=topic")
    assert again.exit_code == 2
    assert "score is given more than once" in again.stderr


def test_columns_of_files_without_names_say_how_to_name_those_of_the_others() -> None:
    Path("q.qrels").write_text("q1 0 d1 1\n")
    Path("r.csv").write_text("topic,docid,score\nq1,d1,0.5\n")
    result = call("evaluate", "q.qrels", "r.csv", "--columns", "query_id=topic")
    assert result.exit_code == 2
    assert "got q.qrels, a trec file" in result.stderr
    assert result.stderr.endswith("give --columns run.query_id=topic\n")
    Path("r.csv").write_text("User ID,docid,score\nq1,d1,0.5\n")
    assert names_in(call("evaluate", "q.qrels", "r.csv").stderr)[-2:] == ["--columns", "User ID"]
