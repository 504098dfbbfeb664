"""The output folder: runs that are finished are found again, and nothing stands there half written."""

from __future__ import annotations

import hashlib
import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from deadheat.errors import DataError
from deadheat.io.writing import replacing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deadheat.benchmark._parts import Part
    from deadheat.confidence import IntervalOptions
    from deadheat.evaluation import Evaluation

LONGEST = 60  # characters of a name in the name of a file


class Store:
    """The folder of a benchmark.

    ``runs`` holds a Parquet file for each part, retriever and k, and beside it a JSON file with what it was made from;
    ``evaluations`` what `Evaluation.save` writes; ``bench.json`` and ``report.md`` are about the whole.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    limit : int or None
        Results of a limited benchmark have names of their own.
    """

    def __init__(self, folder: str | Path, limit: int | None) -> None:
        self.folder = Path(folder)
        self.suffix = "" if limit is None else f".limit-{limit}"
        self._saved: set[Path] = set()
        try:
            for name in ("runs", "evaluations"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            msg = "cannot be made a folder: part of it is a file; choose another output"
            raise DataError(msg, path=self.folder) from None
        if self._report.exists() and not self._summary.exists():
            msg = "is there already and is none of a benchmark: it would be replaced; choose another output folder"
            raise DataError(msg, path=self._report)

    @property
    def _report(self) -> Path:
        return self.folder / f"report{self.suffix}.md"

    @property
    def _summary(self) -> Path:
        return self.folder / f"bench{self.suffix}.json"

    def read(self, part: Part, retriever: str, key: Mapping[str, object]) -> pl.DataFrame | None:
        """Return a finished run, if it was made from the same; None if it is still to be made."""
        path = self._run_path(part, retriever, key)
        try:
            made = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
            data = path.read_bytes()
        except (OSError, ValueError):
            return None
        if not isinstance(made, dict) or made.get("key") != _plain(key):
            return None
        if made.get("sha256") != hashlib.sha256(data).hexdigest():
            return None
        return pl.read_parquet(io.BytesIO(data))

    def write(self, part: Part, retriever: str, key: Mapping[str, object], run: pl.DataFrame, seconds: float) -> None:
        """Keep a run with what it was made from."""
        path = self._run_path(part, retriever, key)
        held = io.BytesIO()
        run.write_parquet(held)
        made = {
            "kind": "deadheat bench run",
            "cases": part.name,
            "language": part.language,
            "retriever": retriever,
            "n_cases": len(part.cases),
            "n_answered": run["query_id"].n_unique(),
            "seconds": round(seconds, 3),
            "sha256": hashlib.sha256(held.getvalue()).hexdigest(),
            "key": _plain(key),
        }
        # inside out: the JSON, which makes the run count as finished, comes last
        with replacing(path.with_suffix(".json")) as beside, replacing(path) as file:
            file.write(held.getvalue())
            beside.write(_text(made))

    def save(self, part: Part, evaluation: Evaluation, options: IntervalOptions) -> None:
        """Keep an evaluation."""
        path = self._path("evaluations", (part.name, part.language, evaluation.name), ".json")
        evaluation.save(path, **options)
        self._saved.add(path)

    def finish(self, report: str, summary: Mapping[str, Any]) -> None:
        """Write the report, and what was done; evaluations of the call before this one that it has not made go.

        They would stand beside new ones, though their cases may have been corrected since.
        """
        for path in self._of_last_call() - self._saved:
            path.unlink(missing_ok=True)
            path.with_suffix(".parquet").unlink(missing_ok=True)
        with replacing(self._report) as file, replacing(self._summary) as beside:
            file.write((report + "\n").encode())
            beside.write(_text(summary))

    def _of_last_call(self) -> set[Path]:
        """Return the evaluations that bench.json says the last call made; none without one that can be read."""
        try:
            made = json.loads(self._summary.read_text(encoding="utf-8"))
            keys = [(one["cases"], one["language"], name) for one in made["cases"] for name in made["retrievers"]]
        except (OSError, ValueError, KeyError, TypeError):
            return set()
        return {self._path("evaluations", key, ".json") for key in keys}

    def _run_path(self, part: Part, retriever: str, key: Mapping[str, object]) -> Path:
        return self._path("runs", (part.name, part.language, retriever), f".k{key['k']}.parquet")

    def _path(self, folder: str, key: tuple[str, str, str], ending: str) -> Path:
        name = ".".join(map(_slug, key))
        return self.folder / folder / f"{name}{self.suffix}{ending}"


def _slug(name: str) -> str:
    """Return a name that files may have; two names never become the same.

    Examples
    --------
    >>> _slug("hpo-de"), _slug("a/b") == _slug("a_b"), _slug("bm25(k1=1.2)")
    ('hpo-de', False, 'bm25_k1=1_2-9bfe14db')
    """
    plain = re.sub(r"[^\w=-]+", "_", name).strip("_")[:LONGEST]
    # files that differ in upper case only are one file on some systems
    if plain == name and name == name.lower():
        return name
    return f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _plain(key: Mapping[str, object]) -> Any:  # noqa: ANN401 - what JSON holds
    """Return a key as it comes back from JSON."""
    return json.loads(json.dumps(key, sort_keys=True))


def _text(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
