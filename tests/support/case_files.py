"""Files of labelled cases."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from deadheat import Cases

METADATA = {"dataset_id": "neuro de", "version": "1", "language": "de", "description": "a few"}
FIRST = {
    "case_id": "de_neuro_001",
    "text": "Krampfanfälle",
    "description": "German word for seizures",
    "expected_hpo_ids": ["HP:0001250"],
    "difficulty": "easy",
    "category": "exact_match",
    "hpo_domain": "nervous system",
}
SECOND = {"text": "Zittern mit Kribbeln", "expected_hpo_ids": ["HP:0001337", "HP:0003401"], "relevance": [2, 0.5]}


def written(folder: Path, value: object, name: str = "cases.json") -> Path:
    path = folder / name
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    path.write_text(text, encoding="utf-8")
    return path


def write_cases(path: Path, cases: Cases) -> None:
    """Write cases with all their fields."""
    rows = [{name: value for name, value in asdict(case).items() if name != "line" and value} for case in cases]
    path.write_text(json.dumps({"metadata": {"dataset_id": cases.name, **cases.metadata}, "cases": rows}))


LABELS = {"language": "de", "difficulty": "easy", "category": "synonym", "domain": "d"}


def many(n: int, **fields: object) -> list[dict[str, Any]]:
    return [{"text": f"Begriff {place}", "expected_ids": [f"t{place}"], **LABELS, **fields} for place in range(n)]
