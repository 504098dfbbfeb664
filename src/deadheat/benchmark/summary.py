"""What was done, for programs: the content of bench.json."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import polars as pl

from deadheat.benchmark.collection import Collection
from deadheat.benchmark.result import Results
from deadheat.benchmark.retrievers import Retriever, identity
from deadheat.evaluation.intervals import cluster_name
from deadheat.report.numbers import plain

KIND, FORMAT = "deadheat bench", 1
PACKAGES = ("deadheat", "numpy", "polars", "scipy", "bm25s", "sentence-transformers", "torch")


def summarise(result: Results, documents: Collection, retrievers: Mapping[str, Retriever]) -> dict[str, Any]:
    """Return settings, versions, fingerprints and results; the same for the same work, interrupted or not."""
    settings = result.settings
    return {
        "kind": KIND,
        "format": FORMAT,
        "versions": {"python": platform.python_version(), **_versions()},
        "collection": {
            "name": documents.name,
            "n_documents": len(documents.ids),
            "fingerprint": documents.fingerprint,
        },
        "cases": [
            {
                "cases": name,
                "language": language,
                "n_cases": len(part.cases),
                "n_verbatim": result.verbatim[name, language],
                "fingerprint": part.judged,
            }
            for (name, language), part in result.parts.items()
        ],
        "retrievers": {name: json.loads(identity(one)) for name, one in retrievers.items()},
        "k": settings.k,
        "limit": settings.limit,
        "measures": list(map(str, settings.measures)),
        "by": list(settings.by),
        "ontology": settings.ontology,
        "similarity": settings.kind if settings.ontology else None,
        "design": dict(vars(settings.design)),
        "cluster": cluster_name(settings.cluster),
        "notes": list(result.notes),
        "results": _rows(result.to_polars()),
        "comparisons": [
            {"cases": name, "language": language, **row}
            for (name, language), comparison in result.comparisons.items()
            for row in _rows(comparison.to_polars(details=True))
        ],
        "averages": _rows(result.averages()),
    }


def _rows(frame: pl.DataFrame) -> list[dict[str, object]]:
    """Return rows as JSON holds them: an effect is infinite where all differences are the same."""
    return [{name: plain(cell) for name, cell in row.items()} for row in frame.to_dicts()]


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
