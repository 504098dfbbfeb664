"""Real runs that lie beside the repository in some checkouts; tests that need them are skipped where they do not."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import deadheat as dh
from support.paths import ROOT

SHARED = ROOT.parent / "shared"
HPO = SHARED / "data" / "hpo" / "runs"
LLMJUDGE = SHARED / "data" / "llmjudge"
ONTOLOGY = SHARED / "data" / "hpo" / "ontology" / "hp-2025-01-16.obo.gz"

HPO_RUNS = [
    f"{collection}.{system}"
    for collection, systems in {
        "en": ["bm25", "minilm-f32", "minilm-f16", "minilm-int8", "minilm-2dec"],
        "de": ["bm25", "minilm-f32", "minilm-f16", "minilm-int8", "minilm-2dec"],
        "enx": ["bm25", "minilm-f32", "minilm-f16", "minilm-2dec"],
    }.items()
    for system in systems
]
LLM_RUNS = [
    "NISTRetrieval-instruct0",
    "NISTRetrieval-reason0",
    "Olz-gpt4o",
    "Olz-halfbin",
    "RMITIR-GPT4o",
    "RMITIR-llama38b",
    "TREMA-4prompts",
    "TREMA-CoT",
    "h2oloo-fewself",
    "h2oloo-zeroshot1",
    "prophet-setting1",
    "willia-umbrela1",
]
# with each kind of ties, of short texts, rounded scores, short floats and grades: what holds for all is tried on these
SOME_HPO_RUNS = ["en.bm25", "de.minilm-int8", "de.minilm-2dec", "enx.minilm-f16"]
SOME_LLM_RUNS = ["NISTRetrieval-instruct0", "Olz-halfbin", "TREMA-4prompts", "h2oloo-zeroshot1"]
SOME_RUNS = [*SOME_HPO_RUNS, *SOME_LLM_RUNS]
BENCHMARKS = SHARED / "data" / "hpo" / "benchmarks"
COUNTS = {
    "tiny_v1": (9, 18),
    "small_v1": (9, 18),
    "70cases_gemini_v1": (70, 70),
    "70cases_o3_v1": (70, 70),
    "200cases_gemini_v1": (200, 200),
    "200cases_o3_v1": (200, 200),
    "570terms_german": (570, 494),
}

needs_shared_data = pytest.mark.skipif(
    not (HPO.is_dir() and LLMJUDGE.is_dir()), reason="the real runs (shared/data beside the repository) are not here"
)


def hpo_qrels(run: str) -> Path:
    """Find the judgments of an HPO run."""
    return HPO / f"hpo-{run.partition('.')[0]}.qrels"


def hpo_run(run: str) -> Path:
    """Find the file of an HPO run."""
    return HPO / f"hpo-{run}.run.gz"


def llm_qrels() -> Path:
    """Find the human judgments of the LLM labels."""
    return LLMJUDGE / "qrels.human.txt"


def llm_run(name: str) -> Path:
    """Find the run of one LLM."""
    return LLMJUDGE / "runs" / f"{name}.run"


@cache
def hpo_ontology() -> dh.Ontology:
    """Read the Human Phenotype Ontology once a process: it takes five seconds."""
    return dh.read_ontology(ONTOLOGY)


def sources_of(run: str) -> tuple[Path, Path]:
    """Find the judgments and the rows of a run."""
    return (hpo_qrels(run), hpo_run(run)) if run in HPO_RUNS else (llm_qrels(), llm_run(run))


def _lines(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return [line.split() for line in file]


@cache
def qrels_dict(path: Path) -> dict[str, dict[str, int]]:
    """Read TREC qrels without deadheat."""
    nested: dict[str, dict[str, int]] = {}
    for query, _, doc, relevance in _lines(path):
        nested.setdefault(query, {})[doc] = int(relevance)
    return nested


@cache
def run_dict(path: Path) -> dict[str, dict[str, float]]:
    """Read a TREC run without deadheat."""
    nested: dict[str, dict[str, float]] = {}
    for query, _, doc, _, score, _ in _lines(path):
        nested.setdefault(query, {})[doc] = float(score)
    return nested


@cache
def tie_statistics() -> dict[str, Any]:
    """Read what was computed when the HPO runs were made."""
    statistics: dict[str, Any] = json.loads((HPO / "tie_statistics.json").read_text())
    return statistics
