"""docs/sources.md is true: each row is done as it says, and gives the numbers that it shows."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from support.command import call, command
from support.paths import ROOT
from support.source_rows import NUMBER, PAGE, WRONG, Row, names_of_page, rows, summary, written
from support.tie_tutorial import TUTORIAL

ROWS = rows()
COMMANDS = sorted({way for row in ROWS for way in row.commands})
SOURCES = ROOT.parent / "shared" / "sources"


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Names of the page's Python, in a folder that has its files."""
    folder = tmp_path_factory.mktemp("sources")
    with contextlib.chdir(folder):
        yield names_of_page(folder)


def value(row: Row, names: dict[str, Any]) -> Any:  # noqa: ANN401 - numbers, tables, pictures
    if row.needs_tutorial and "of_200" not in names:
        pytest.skip(f"{TUTORIAL.name} (shared/sources beside the repository) or pandas is not here")
    if ".plot(" in row.expressions[-1] or ".figures" in row.expressions[-1]:
        pytest.importorskip("altair", reason="pictures need the extra figures")
    return [eval(way, names) for way in row.expressions][-1]  # noqa: S307 - a page of ours


@pytest.mark.parametrize("row", [row for row in ROWS if row.here], ids=lambda row: row.number)
def test_a_number_is_deadheats_and_agrees_with_the_source_or_is_said_to_differ(row: Row, names: dict[str, Any]) -> None:
    found = value(row, names)
    assert written(found, row.here) == row.here
    if row.there:
        assert (written(found, row.there) != row.there) is row.remark.startswith(WRONG)


@pytest.mark.parametrize("row", [row for row in ROWS if row.expressions and not row.here], ids=lambda row: row.number)
def test_what_has_no_number_runs(row: Row, names: dict[str, Any]) -> None:
    value(row, names)


@pytest.mark.parametrize("way", COMMANDS)
def test_commands_and_options_exist(way: str) -> None:
    _, name, *arguments = shlex.split(way)
    known = {option for one in command(name).params for option in [*one.opts, *one.secondary_opts]} | {"--help"}
    assert {one.partition("=")[0] for one in arguments if one.startswith("-")} <= known


@pytest.mark.slow
@pytest.mark.usefixtures("names")
@pytest.mark.parametrize("way", COMMANDS)
@pytest.mark.filterwarnings("ignore")
def test_commands_run(way: str) -> None:
    if "--figures" in way:
        pytest.importorskip("altair", reason="pictures need the extra figures")
        pytest.importorskip("vl_convert", reason="pictures need the extra figures")
    done = call(*shlex.split(way)[1:])
    assert done.exit_code == 0, done.output
    assert done.stdout or "-o " in way


def test_every_row_is_complete() -> None:
    numbers = [tuple(map(int, row.number.split("."))) for row in ROWS]
    assert numbers == sorted(set(numbers))
    for row in ROWS:
        assert bool(row.ways) is (row.kind != "not done"), row.number
        assert not row.there or row.here, row.number
        assert len(NUMBER.findall(row.there)) in {0, len(NUMBER.findall(row.here))}, row.number
    assert summary(ROWS) in PAGE.read_text(encoding="utf-8")


@pytest.mark.skipif(not SOURCES.is_dir(), reason="the sources (shared/sources beside the repository) are not here")
def test_no_line_of_a_source_is_copied_and_every_line_is_there() -> None:
    texts = {path.name[0]: path.read_text(encoding="utf-8").splitlines() for path in SOURCES.glob("*.txt")}
    for row in ROWS:
        lines = texts[row.number[0]]
        assert lines[row.line - 1].strip(), row.number
        assert len(row.what.split()) < 5 or not any(row.what in line for line in lines), row.number
