"""A measure, a file format, a document, an output format and a figure are a file each in a plugin with one record."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import deadheat

MEASURE = '''
from deadheat.core.measures.registration import register
from deadheat.core.measures.first import RR


@register("mine", trec_eval=("mine_cut_{}",))
class Mine(RR):
    """Mine.

    .. math:: 1
    """
'''

FILES = """
import polars as pl

from deadheat.core.io.content import Content
from deadheat.core.io.formats.base import Format, register
from deadheat.core.io.kinds import VALUE_COLUMN


def _write(rows, file, kind, tag, compression):
    file.write(repr(rows.rows()).encode())


register(
    Format(
        name="mine",
        suffixes=(".mine",),
        read=lambda path, kind, _: Content(
            pl.DataFrame(eval(path.read_text()), ["query_id", "doc_id", VALUE_COLUMN[kind]], orient="row")
        ),
        write=_write,
    )
)
"""

DOCUMENTS = """
from deadheat.core.io.documents import Document, register_document
from deadheat.core.io.results import Listing


@register_document("mine", "run", lambda held: "mine" in held)
def _read_mine(held: Document, where: str) -> Listing:
    return Listing({held["mine"]: {"d": 1.0}}, ("mine is read",))
"""

REPORTS = """
from deadheat.core.report.formats import ReportFormat, register

register(ReportFormat(name="mine", suffixes=(".mine",), write=lambda report, digits: f"mine {len(report.tables)}"))
"""

FIGURES = """
import altair as alt

from deadheat.plugins.figures.registration import figure
from deadheat.plugins.figures.style import finished


@figure("systems")
def mine(systems, measure=None):
    return finished([alt.Chart().mark_point()], [{"a": 1}], height=9, title=f"mine {measure}", notes=[])
"""


RECORD = """

MINE = Plugin(
    name="mine",
    help="Mine.",
    measures=(MeasureFile("deadheat.plugins.mine.measure", ("Mine",)),),
    readers=(FileFormats("deadheat.plugins.mine.files", ("mine",), (".mine",)),),
    objects=("deadheat.plugins.mine.documents",),
    formats=("deadheat.plugins.mine.formats",),
    figures=("deadheat.plugins.mine.figures",),
)
PLUGINS = (*PLUGINS, MINE)
REGISTRY = REGISTRY._replace(plugins=PLUGINS)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    package = tmp_path / "src" / "deadheat"
    shutil.copytree(Path(deadheat.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__", "*.gz"))
    plugin = package / "plugins" / "mine"
    plugin.mkdir()
    for name, content in {
        "__init__": "",
        "measure": MEASURE,
        "files": FILES,
        "documents": DOCUMENTS,
        "formats": REPORTS,
        "figures": FIGURES,
    }.items():
        (plugin / f"{name}.py").write_text(content, encoding="utf-8")
    with (package / "registry.py").open("a", encoding="utf-8") as registry:
        registry.write(RECORD)
    (tmp_path / "x.json").write_text('{"mine": "q"}', encoding="utf-8")
    (tmp_path / "x.qrels").write_text("q 0 d 1\n", encoding="utf-8")
    (tmp_path / "x.run").write_text("q Q0 d 1 2.5 t\nq Q0 e 2 2.5 t\n", encoding="utf-8")
    return tmp_path


def call(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    command = [sys.executable, "-m", "deadheat", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.slow
def test_one_new_folder_and_a_record_are_enough(folder: Path) -> None:
    assert "Mine: mine" in call(folder, "measures", "mine")
    assert "mine_cut_1            \tall\t0.5000" in call(
        folder, "evaluate", "x.qrels", "x.run", "-m", "mine_cut_1", "--format", "trec"
    )
    call(folder, "convert", "x.run", "x.mine")
    assert (folder / "x.mine").read_text() == "[('q', 'd', 2.5), ('q', 'e', 2.5)]"
    assert " mine" in call(folder, "convert", "--help")  # the last of the formats
    assert "Did you mean 'mine'?" in call(folder, "convert", "x.run", "y", "--to", "min")
    assert "mine 1" in call(folder, "evaluate", "x.qrels", "x.mine", "-m", "Mine@1", "--format", "mine")
    assert "mine is read" in call(folder, "evaluate", "x.qrels", "x.json", "-m", "Mine@1")
    assert call(folder, "evaluate", "x.qrels", "x.run", "-o", "out.mine") == ""
    call(folder, "evaluate", "x.qrels", "x.run", "-m", "Mine@1", "--figures", "f", "--figure", "mine")
    assert "mine Mine@1" in (folder / "f" / "mine-Mine@1.svg").read_text()
    assert (folder / "out.mine").read_text() == "mine 1\n"
