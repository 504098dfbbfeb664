"""The registry of calls: each has a name, and returns what is kept of it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from support.paths import ROOT

FOLDER = Path(__file__).parent
CONSTRAINTS = ROOT / "constraints.txt"


@dataclass(frozen=True)
class Entry:
    """One call.

    Attributes
    ----------
    name : str
        ``FEATURE.FUNCTION`` or ``FEATURE.FUNCTION[CASE]``; the feature names the file.
    call : callable
        Returns what is kept: nested dicts and lists, arrays, frames; `plain_numbers` makes JSON of it.
    pinned : tuple of str
        Packages on whose version the result depends. The entry holds with the versions of constraints.txt alone.
    """

    name: str
    call: Callable[[], object]
    pinned: tuple[str, ...]

    @property
    def feature(self) -> str:
        """The part of the name that chooses the file."""
        return self.name.partition(".")[0]


ENTRIES: dict[str, Entry] = {}


def entry(
    cases: Iterable[str] | Mapping[str, Any] | None = None,
    *,
    pinned: tuple[str, ...] = (),
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Register a function of a file `calls_FEATURE.py` as ``FEATURE.FUNCTION``.

    Parameters
    ----------
    cases : iterable of str, or mapping of str to object, optional
        The function is called once for each, with the text, or with the value of the mapping.
    pinned : tuple of str
        Packages whose version matters. Whether random numbers matter, so NumPy's version, is found at renewal.
    """

    def register(function: Callable[..., object]) -> Callable[..., object]:
        feature = function.__module__.rpartition(".calls_")[2]
        name = f"{feature}.{function.__name__}"
        if cases is None:
            add(Entry(name, function, pinned))
            return function
        by_name = cases if isinstance(cases, Mapping) else {case: case for case in cases}
        for case, argument in by_name.items():
            add(Entry(f"{name}[{case}]", partial(function, argument), pinned))
        return function

    return register


def add(new: Entry) -> None:
    """Register one call."""
    if new.name in ENTRIES:
        raise ValueError(f"two calls are named {new.name}")
    ENTRIES[new.name] = new


def load_entries() -> dict[str, Entry]:
    """Import every file of calls, and return the calls by name."""
    for path in sorted(FOLDER.glob("calls_*.py")):
        importlib.import_module(f"golden.{path.stem}")
    return ENTRIES


def other_version(packages: Iterable[str]) -> str:
    """Say which package has another version than constraints.txt; return "" if none has."""
    for package in packages:
        expected = pinned_version(package)
        installed = version(package)
        if installed != expected:
            return f"{package} {installed} is installed, and the numbers are those of {expected} (constraints.txt)"
    return ""


def pinned_version(package: str) -> str:
    """Return the version of a package in constraints.txt."""
    for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines():
        name, _, number = line.partition("==")
        if name.lower() == package.lower():
            return number.strip()
    raise ValueError(f"constraints.txt has no {package}")
