"""The tutorial on tied ranking measures (source 1), which lies beside the repository in some checkouts: its own code.

It is a notebook as text. Its cells are run as they are, but for what NumPy 2 no longer has and what would be drawn.
"""

from __future__ import annotations

import itertools
import math
import re
import typing
from collections import defaultdict
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from io import StringIO
from typing import Any

import numpy as np
import pytest

from support.paths import ROOT

TUTORIAL = ROOT.parent / "shared" / "sources" / "1-tied-ranking-metrics-notebook.txt"
CELL = re.compile(r"^In \[None\]:\n", re.MULTILINE)
needs_tutorial = pytest.mark.skipif(
    not TUTORIAL.is_file(), reason="the tutorial on tied measures (shared/sources beside the repository) is not here"
)


class Numpy:
    """NumPy with the name `math`, which it had before version 2."""

    math = math

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever NumPy has
        return getattr(np, name)


def _cell(beginning: str) -> str:
    """Return the cell in which a line begins so, up to the text that follows it."""
    cells = CELL.split(TUTORIAL.read_text(encoding="utf-8"))[1:]
    (cell,) = (one for one in cells if re.search(rf"^{beginning}", one, re.MULTILINE))
    return re.split(r"^(?:# 📈|#{2,} )", cell, maxsplit=1, flags=re.MULTILINE)[0]


@cache
def tutorial() -> dict[str, Any]:
    """Run the cells that define its measures and its report, and that report on 100 queries; return their names."""
    names: dict[str, Any] = {"np": Numpy(), "itertools": itertools, "defaultdict": defaultdict, "dataclass": dataclass}
    names |= {name: getattr(typing, name) for name in ("Dict", "List", "Optional", "Tuple")}
    names["__name__"] = "tutorial"
    before = np.random.get_state()  # noqa: NPY002 - the tutorial seeds the global generator
    with redirect_stdout(StringIO()) as printed:
        for beginning in ("class TiedRankingMetrics", "class OptimizedTiedMetrics", "class GRAGEvaluator"):
            code = compile(_cell(beginning), str(TUTORIAL), "exec", dont_inherit=True)
            exec(code, names)  # noqa: S102 - what it prints is to be compared
    np.random.set_state(before)  # noqa: NPY002 - as above
    return names | {"printed": printed.getvalue()}


class ClosedForms:
    """The tutorial's measures in closed form: its own code lists all orders, too many where it draws large ties.

    It looks at the first relevant document: with `above` documents before its tie, of whose `size` documents `r` are
    relevant, the first `x` are all irrelevant in C(size - x, r) of C(size, r) choices of places.
    """

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def compute_mtrr(self, result: Any) -> float:  # noqa: ANN401 - a class of the tutorial
        above, size, r = self._first(result)
        apart = [self._none(size, r, x) - self._none(size, r, x + 1) for x in range(size)]
        return sum(chance / (above + x) for x, chance in enumerate(apart, 1))

    def compute_tmhits_k(self, result: Any, k: int) -> float:  # noqa: ANN401 - as above
        above, size, r = self._first(result)
        return 1 - self._none(size, r, min(size, max(0, k - above)))

    def compute_traditional_mrr(self, result: Any) -> float:  # noqa: ANN401 - as above
        self.seen.append(result)
        return float(tutorial()["TiedRankingMetrics"].compute_traditional_mrr(result))

    def compute_traditional_hits_k(self, result: Any, k: int) -> float:  # noqa: ANN401 - as above
        return float(tutorial()["TiedRankingMetrics"].compute_traditional_hits_k(result, k))

    @staticmethod
    def _first(result: Any) -> tuple[int, int, int]:  # noqa: ANN401 - as above
        best = max(score for score, relevant in zip(result.scores, result.relevance, strict=True) if relevant)
        tied = [relevant for score, relevant in zip(result.scores, result.relevance, strict=True) if score == best]
        return sum(score > best for score in result.scores), len(tied), sum(tied)

    @staticmethod
    def _none(size: int, r: int, x: int) -> float:
        return math.comb(size - x, r) / math.comb(size, r)


def run_cell(beginning: str, end: str, names: dict[str, Any]) -> dict[str, Any]:
    """Run one more cell up to a line, under the names of the tutorial and others; return its names."""
    code = re.split(end, _cell(beginning), maxsplit=1)[0]
    found = tutorial() | names
    before = np.random.get_state()  # noqa: NPY002 - as above
    with redirect_stdout(StringIO()):
        exec(compile(code, str(TUTORIAL), "exec", dont_inherit=True), found)  # noqa: S102 - as above
    np.random.set_state(before)  # noqa: NPY002 - as above
    return found


def as_data(results: list[Any]) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return rankings of the tutorial as qrels and a run, in its order."""
    names = [f"q{n:04d}" for n in range(len(results))]
    qrels = {
        name: {doc: int(is_relevant) for doc, is_relevant in zip(one.doc_ids, one.relevance, strict=True)}
        for name, one in zip(names, results, strict=True)
    }
    return qrels, {
        name: dict(zip(one.doc_ids, one.scores, strict=True)) for name, one in zip(names, results, strict=True)
    }
