"""Notebooks, run cell by cell as Jupyter runs them, without Jupyter: text is all that ours put out."""

from __future__ import annotations

import ast
import contextlib
import io
from typing import Any, TypeAlias

Cell: TypeAlias = dict[str, Any]


def outputs_of(cells: list[Cell]) -> list[tuple[str, str]]:
    """Return what each cell of code prints, and its last value as text."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [_run("".join(cell["source"]), names) for cell in cells if cell["cell_type"] == "code"]


def outputs_in(cells: list[Cell]) -> list[tuple[str, str]]:
    """Return the same as a notebook holds it."""
    return [_shown(cell["outputs"]) for cell in cells if cell["cell_type"] == "code"]


def _run(source: str, names: dict[str, Any]) -> tuple[str, str]:
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)  # noqa: S102 - a notebook of ours
        value = None
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)  # noqa: S307 - as above
    return out.getvalue(), "" if value is None else repr(value)


def _shown(outputs: list[Cell]) -> tuple[str, str]:
    printed = "".join("".join(one["text"]) for one in outputs if one["output_type"] == "stream")
    values = ["".join(one["data"]["text/plain"]) for one in outputs if one["output_type"] == "execute_result"]
    return printed, "".join(values)
