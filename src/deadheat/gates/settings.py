"""Gates of a project, the table ``[tool.deadheat.gates]`` of a TOML file; and gates that have a name, with sources."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deadheat.arguments import check_choice
from deadheat.errors import FileFormatError, ParameterError
from deadheat.gates.notation import LOWER_IS_BETTER, OPERATORS, parse_gate, parse_left, split_each
from deadheat.gates.result import CHECKS
from deadheat.io.source import decoded, read_all, readable
from deadheat.measures import parse_measure
from deadheat.wording import Plain, did_you_mean

TABLE = "tool.deadheat.gates"
FILES = ("baseline", "queries")
LISTS = {"checks": "gates, such as ['nDCG@10 >= 0.8']", "by": "columns, such as ['language']"}
MOST_POINTS = 1000  # in a line
KEYS = (*LISTS, "preset", *FILES, *CHECKS)


PRESETS: dict[str, tuple[str, ...]] = {
    "rag": (
        "P@3 > 0.8",
        "P@5 > 0.7",
        "P@10 > 0.6",
        "R@5 > 0.7",
        "R@10 > 0.9",
        "R@20 > 0.95",
        "F@5 > 0.7",
        "RR > 0.8",
        "nDCG(gain='exp')@5 > 0.85",
        "nDCG(gain='exp')@10 > 0.8",
        "Hit@10 > 0.95",
    ),
}
SOURCES: dict[str, str] = {
    "rag": 'targets of "Ranking Metrics", German notes on retrieval for language models: its'
    " authors' goals, not fixed rules; nDCG with their gain, 2^rel - 1",
}


def has_settings(path: str | Path) -> bool:
    """Tell whether a file is there and has a table of gates."""
    return Path(path).is_file() and _table(Path(path)) is not None


def read_settings(path: str | Path) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Read the gates of a TOML file.

    Parameters
    ----------
    path : path
        The table ``[tool.deadheat.gates]`` has checks (a list), preset, baseline and queries (files, relative to this
        one), by (a list), no_regression, pool_languages and allow_unknown (true or false), no_worse_than, alpha,
        confidence_level, and gates with a key of their own: ``"nDCG@10" = ">= 0.8"``; a number alone is the smallest
        that passes.

    Returns
    -------
    checks : tuple of str
        Those of its preset, its own, and those with a key of their own.
    options : dict
        The arguments of :func:`gate` that it has: by, no_regression and so on; files are named from here.

    Raises
    ------
    ParameterError
        The table is missing, or something in it is wrong.
    DataError
        There is no such file.
    """
    path = readable(path)
    table = _table(path)
    if table is None:
        raise ParameterError(
            f"has no table [{TABLE}]", hint=f"write one such as\n\n[{TABLE}]\nchecks = ['nDCG@10 >= 0.8']", path=path
        )
    try:
        checks = [gate for name in _texts(table, "preset") for gate in preset_gates(name)] + _texts(table, "checks")
        checks += [_own_gate(key, value) for key, value in table.items() if key not in KEYS]
        for check in checks:
            parse_gate(check)
        options: dict[str, Any] = {"by": tuple(_texts(table, "by"))}
        options |= {name: str(path.parent / own) for name in FILES for own in _texts(table, name)}
        options |= {name: check(table[name]) for name, check in CHECKS.items() if name in table}
    except ParameterError as error:
        raise ParameterError(f"[{TABLE}]: {error}", path=path) from None
    return tuple(checks), options


def _table(path: Path) -> dict[str, Any] | None:
    text = decoded(read_all(path), path)
    _check_keys(text, path)
    try:
        found: object = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ParameterError(f"is no TOML: {error}", path=path) from None
    except (RecursionError, ValueError) as error:  # thousands of brackets, or of digits
        raise FileFormatError(f"TOML that cannot be read: {error}", path=path) from None
    for key in TABLE.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    if found is not None and not isinstance(found, dict):
        raise ParameterError(f"{TABLE} must be a table", given=found, path=path)
    return found


def _check_keys(text: str, path: Path) -> None:
    """Refuse keys of so many parts that tomllib takes minutes for them: its time is quadratic in their number."""
    for line, content in enumerate(text.split("\n"), 1):
        if (n_points := content.count(".")) > MOST_POINTS:
            raise FileFormatError(
                f"TOML with {n_points:,} points in one line", allowed=f"{MOST_POINTS:,} or less", path=path, line=line
            )


def _texts(table: Mapping[str, Any], key: str) -> list[str]:
    """Return what the table says of a key, one text or, of some keys, a list of them; none where it lacks the key."""
    value = table.get(key, [])
    given = value if isinstance(value, list) and (key in LISTS or key not in table) else [value]
    if any(not isinstance(text, str) for text in given):
        raise ParameterError(f"{key} must be {f'a list of {LISTS[key]}' if key in LISTS else 'a text'}", given=value)
    return given


def _own_gate(key: str, value: object) -> str:
    """Return the gate of a key such as ``"low(nDCG@10)"``."""
    quantity, notation = parse_left(split_each(key)[1])
    try:
        measure = parse_measure(notation)
    except ParameterError as error:
        hint = did_you_mean(key, KEYS) or f"it is neither a measure ({error}) nor one of {', '.join(KEYS)}"
        raise ParameterError(f"unknown key {key!r}", hint=hint) from None
    if isinstance(value, str) and value.strip().startswith(OPERATORS):
        return f"{key} {value}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ParameterError(f"{key!r} must be a comparison such as '>= 0.8', or a number", given=value)
    if quantity in LOWER_IS_BETTER or not measure.higher_is_better:
        raise ParameterError(
            f"{key!r} is better when lower: write '<= {value}'", given=Plain(f"{value!r}, which means '>= {value}'")
        )
    return f"{key} >= {value!r}"


def preset_gates(name: str) -> tuple[str, ...]:
    """Return the gates of a preset."""
    check_choice("preset", name, PRESETS)
    return PRESETS[name]
