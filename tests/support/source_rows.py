"""The rows of docs/sources.md (docs/sources/*.csv): what five sources describe, how it is done here, and both numbers.

Where numbers changed on purpose, this fills in those of deadheat and the counts of the table above:

    PYTHONPATH=tests:src python -m support.source_rows
"""

from __future__ import annotations

import contextlib
import csv
import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from support.pages import Reader
from support.paths import ROOT
from support.tie_tutorial import TUTORIAL, ClosedForms, as_data, run_cell, tutorial

PAGE = ROOT / "docs" / "sources.md"
TABLES = [PAGE.with_suffix("") / f"{name}.csv" for name in ("notebook", "paper", "plan", "chapter", "page")]
WHAT = re.compile(r"(?P<what>.*?) \((?P<line>\d+)\)(?:: (?P<remark>.*))?")
SPAN = re.compile(r"`([^`]+)`")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?|True|False")
OF_TUTORIAL = re.compile(r"\bof_(?:200|100|local|n)\b")
COUNTS = re.compile(r"^\| source \| rows \|(?:.*\n)*?(?=\n)", re.MULTILINE)
WRONG, NOT_DONE = "wrong there: ", "not done: "


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes
    ----------
    number : str
        Such as "3.14".
    what : str
    line : int
        Of the source.
    ways : tuple of str
        Commands, which begin with "deadheat", and expressions in Python.
    there, here : str
        The number in the source, and that of deadheat; empty where there is none.
    remark : str
    """

    number: str
    what: str
    line: int
    ways: tuple[str, ...]
    there: str
    here: str
    remark: str

    @property
    def expressions(self) -> list[str]:
        return [way for way in self.ways if not way.startswith("deadheat ")]

    @property
    def commands(self) -> list[str]:
        return [way for way in self.ways if way.startswith("deadheat ")]

    @property
    def needs_tutorial(self) -> bool:
        return any(map(OF_TUTORIAL.search, self.expressions))

    @property
    def kind(self) -> str:
        """What became of it: a column of the table of counts."""
        if self.remark.startswith(NOT_DONE):
            return "not done"
        if self.remark.startswith(WRONG):
            return "wrong there"
        return "same number" if self.there else "done"


def rows() -> list[Row]:
    """Read the tables."""
    found = []
    for path in TABLES:
        _, *lines = cells_of(path)
        for number, described, with_deadheat, there, here in lines:
            parts = WHAT.fullmatch(described)
            assert parts is not None, number
            ways = tuple(SPAN.findall(with_deadheat))
            found.append(Row(number, parts["what"], int(parts["line"]), ways, there, here, parts["remark"] or ""))
    return found


def cells_of(path: Path) -> list[list[str]]:
    """Read one table, its heading included."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines))


def summary(found: Sequence[Row]) -> str:
    """Return the table of counts."""
    sources = {
        "1": "1. notebook",
        "2": "2. paper",
        "3": "3. plan",
        "4": "4. chapter",
        "5": "5. German page",
    }
    kinds = ("same number", "done", "wrong there", "not done")
    lines = [f"| source | rows | {' | '.join(kinds)} |", "|---" * (2 + len(kinds)) + "|"]
    for key, name in [*sources.items(), ("", "all")]:
        own = [row.kind for row in found if row.number.startswith(key)]
        lines.append(f"| {name} | {len(own)} | {' | '.join(str(own.count(kind)) for kind in kinds)} |")
    return "\n".join(lines) + "\n"


def names_of_page(folder: Path) -> dict[str, Any]:
    """Do what the page says outside of its tables, in a folder; return the names of its Python."""
    reader = Reader(folder)
    page = PAGE.read_text(encoding="utf-8")
    assert reader.read(page) == page
    shutil.copytree(ROOT / "datasets", folder / "datasets")
    names = reader.names
    if TUTORIAL.is_file():
        with contextlib.suppress(pytest.skip.Exception):
            names |= _of_tutorial()
    return names


def _of_tutorial() -> dict[str, Any]:
    """Return the profiles of what the tutorial's own code draws."""
    pd = pytest.importorskip("pandas")
    drawn = run_cell("def generate_synthetic_scenarios", "\nprint", {"pd": pd, "metrics": ClosedForms()})
    forms = ClosedForms()
    run_cell("class LLMRerankerSimulator", "\nprint", {"pd": pd, "metrics": forms})

    def profile(results: list[Any], hits: str) -> dh.TieProfile:
        qrels, run = as_data(results)
        return dh.tie_profile(run, qrels, measures=["RR", hits], beside="input")

    return {
        "of_200": profile(drawn["synthetic_scenarios"], "Hit@3"),
        "of_100": profile(tutorial()["grag_scenarios"], "Hit@3"),
        "of_local": profile(forms.seen[3::4], "Hit@5"),
        "rr": lambda found: found.stability[0].difference,
        "hits": lambda found: found.stability[1].difference,
        "of_n": lambda std: std * np.sqrt(99 / 100),
    }


def written(value: Any, like: str) -> str:  # noqa: ANN401 - numbers, words, several of them
    """Write a value with the decimals of what the page shows; with four if it shows no number yet."""
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, Iterable):
        shown = NUMBER.findall(like) or [""] * len(list(value))
        return ", ".join(written(one, own) for one, own in zip(value, shown, strict=True))
    if isinstance(value, int):
        return str(value)
    decimals = len(like.partition(".")[2]) if NUMBER.fullmatch(like) else 4
    text = f"{value:.{decimals}f}"
    return text if float(text) else text.lstrip("-")


def renew() -> None:
    """Fill in the tables, and the counts on the page."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        names = names_of_page(Path(folder))
        own = {row.number: row for row in rows()}
        for path in TABLES:
            cells = cells_of(path)
            for line in cells[1:]:
                row = own[line[0]]
                if row.here and (not row.needs_tutorial or "of_200" in names):
                    line[-1] = written(eval(row.expressions[-1], names), row.here)  # noqa: S307 - a page of ours
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(cells)
    PAGE.write_text(COUNTS.sub(lambda _: summary(rows()), PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    renew()
