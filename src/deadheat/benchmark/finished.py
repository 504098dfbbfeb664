"""A folder of a finished benchmark: what it evaluated, and the runs, without the cases they were made of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from deadheat.benchmark.store import KIND, Store
from deadheat.comparison.compare_languages import languages_of
from deadheat.comparison.languages import Languages
from deadheat.comparison.pairs import Design
from deadheat.errors import DataError, DeadheatError, FileFormatError
from deadheat.evaluation.evaluate import load_evaluation
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.strata import NONE


@dataclass(frozen=True, eq=False)
class Finished:
    """A set of cases in one language.

    Attributes
    ----------
    cases, language : str
    design : Design
        Of intervals and tests.
    evaluations : mapping of str to Evaluation
        By retriever.
    runs : mapping of str to path
        By retriever; those that are still there.
    """

    cases: str
    language: str
    design: Design
    evaluations: Mapping[str, Evaluation]
    runs: Mapping[str, Path]

    def __str__(self) -> str:
        return self.cases if self.language == NONE else f"{self.cases} ({self.language})"


def is_finished(folder: str | Path) -> bool:
    """Tell whether a folder is that of a benchmark."""
    return _summary_of(Path(folder)) is not None


def read_finished(folder: str | Path) -> list[Finished]:
    """Read what a benchmark has left in its folder.

    Raises
    ------
    DataError
        It is no such folder, an evaluation is missing or damaged, or cases were resampled in clusters, which the folder
        does not keep.
    """
    path = _summary_of(Path(folder))
    if path is None:
        raise DataError("holds no bench.json of deadheat bench", path=folder)
    made = json.loads(path.read_text(encoding="utf-8"))
    if made.get("cluster") is not None:
        raise DataError(
            f"its cases were resampled by {made['cluster']}, which the folder does not keep",
            hint="call dh.bench() again with the same output: it takes up its results; then .to_html(full=True)",
            path=folder,
        )
    known = {one.name for one in fields(Design)}
    with _undamaged(path):
        design = Design(**{name: value for name, value in made["design"].items() if name in known})
        store = Store(folder, made["limit"])
        return [_read(store, made, case, design) for case in made["cases"]]


def read_languages(folder: str | Path, found: Sequence[Finished]) -> tuple[list[Languages], float | None]:
    """Compare the languages whose cases a benchmark paired, and return its margin of equivalence.

    Parameters
    ----------
    folder : str or path
    found : sequence of Finished
        What :func:`read_finished` has read there.
    """
    path = _summary_of(Path(folder))
    made = {} if path is None else json.loads(path.read_text(encoding="utf-8"))
    parts = {(one.cases, one.language): one for one in found}
    with _undamaged(path):
        languages = [
            languages_of(
                {language: parts[cases, language].evaluations for language, cases in family["cases"].items()},
                family["pairs"],
                design=found[0].design,
                name=family["name"],
            )
            for family in made.get("families", [])  # a folder of an earlier version has none
        ]
    return languages, made.get("margin")


@contextmanager
def _undamaged(path: Path | None) -> Iterator[None]:
    """Say that a summary is damaged where a part of it is missing or of another type."""
    try:
        yield
    except DeadheatError:
        raise
    except (LookupError, TypeError, AttributeError) as error:
        hint = "call deadheat bench again, which takes up its finished runs"
        raise FileFormatError(
            f"is damaged: {error!r:.80}", allowed="bench.json as written", hint=hint, path=path
        ) from error


def _summary_of(folder: Path) -> Path | None:
    """Return the summary of a folder: of a whole benchmark, else of one that was limited."""
    for path in (folder / "bench.json", *sorted(folder.glob("bench.limit-*.json"))):
        try:
            made = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(made, dict) and made.get("kind") == KIND:
            return path
    return None


def _read(store: Store, made: Mapping[str, Any], case: Mapping[str, str], design: Design) -> Finished:
    keys = {name: (case["cases"], case["language"], name) for name in made["retrievers"]}
    evaluations = {name: load_evaluation(store.evaluation_of(key)) for name, key in keys.items()}
    runs = {name: store.run_of(key, made["k"]) for name, key in keys.items()}
    return Finished(
        case["cases"],
        case["language"],
        design,
        evaluations,
        {name: path for name, path in runs.items() if path.is_file()},
    )
