"""The case files of datasets/: what they promise, and that the script writes them byte for byte."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from deadheat import read_cases
from deadheat.plugins.bench.cases import validate
from support.paths import ROOT
from support.shared_data import HPO, hpo_ontology

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ROOT / "datasets" / "hpo"
DATA = HPO.parent
LANGUAGES = {"english": "en", "german": "de"}
SIZES = {
    "english": {"tiny": 9, "small": 50, "standard": 200, "comprehensive": 1000},
    "german": {"tiny": 9, "small": 50, "standard": 200, "comprehensive": 738},
}
FILES = [FOLDER / folder / f"{name}_v1.json" for folder, sizes in SIZES.items() for name in sizes]
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
each_language = pytest.mark.parametrize("folder", list(SIZES))
needs_sources = pytest.mark.skipif(
    not DATA.is_dir(), reason="the sources (shared/data/hpo beside the repository) are not here"
)


def rows(path: Path) -> list[dict[str, Any]]:
    """Read the cases of a file without deadheat."""
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["test_cases"]
    return found


def largest(folder: str) -> list[dict[str, Any]]:
    """Read the file that begins with all others of its language."""
    return rows(FOLDER / folder / "comprehensive_v1.json")


@each_file
def test_a_file_has_its_size_language_and_every_field(path: Path) -> None:
    size = SIZES[path.parent.name][path.stem.removesuffix("_v1")]
    language = LANGUAGES[path.parent.name]
    cases = read_cases(path)
    assert len(cases) == size
    assert cases.languages == (language,)
    assert cases.name == f"hpo-{language}-{path.stem.replace('_', '-')}"
    fields = ["case_id", "text", "description", "expected_hpo_ids", "difficulty", "category", "hpo_domain"]
    for row in rows(path):
        assert list(row) == fields
        assert all(row.values())
    assert path.stat().st_size < 1_000_000


@pytest.mark.slow
@each_file
def test_a_file_is_valid_and_only_small_ones_are_called_small(path: Path) -> None:
    found = validate(path)
    assert found.is_usable
    assert {one.kind for one in found.findings} <= ({"few_cases"} if found.n_cases < 200 else set())


@each_language
def test_ids_texts_and_expected_terms_are_unique(folder: str) -> None:
    cases = largest(folder)
    ids = [term for case in cases for term in case["expected_hpo_ids"]]
    for values in ([case["case_id"] for case in cases], [case["text"].casefold() for case in cases], ids):
        assert len(set(values)) == len(values)
    assert all(re.fullmatch(r"HP:[0-9]{7}", term) for term in ids)
    assert all(case["text"] == " ".join(case["text"].split()) for case in cases)


@each_language
def test_each_file_is_the_beginning_of_the_next_larger_one(folder: str) -> None:
    for name, size in SIZES[folder].items():
        assert rows(FOLDER / folder / f"{name}_v1.json") == largest(folder)[:size]


def test_english_categories_and_domains_are_balanced() -> None:
    cases = rows(FOLDER / "english" / "standard_v1.json")
    assert set(Counter(case["category"] for case in cases).values()) == {50}
    domains = Counter(case["hpo_domain"] for case in cases)
    assert len(domains) == 23
    assert sorted(domains.values())[1:] == [8] * 4 + [9] * 18


def test_german_cases_up_to_the_standard_file_are_translations() -> None:
    files = [case["case_id"].partition("-")[0] for case in largest("german")]
    assert set(files[:200]) == {"o70", "g70", "o200", "g200"}
    assert Counter(files)["t570"] == 472
    domains = Counter(case["hpo_domain"] for case in largest("german")[:200])
    assert len(domains) == 19
    assert max(domains.values()) == 18


@each_file
def test_the_source_note_counts_right(path: Path) -> None:
    count = Counter(row["difficulty"] for row in rows(path))
    numbers = [len(rows(path)), *(count[name] for name in ("easy", "medium", "hard"))]
    n_domains = len({row["hpo_domain"] for row in rows(path)})
    line = " | ".join([path.parent.name, path.name, *map(str, numbers), str(n_domains)])
    assert f"| {line} |" in (FOLDER / "SOURCE.md").read_text(encoding="utf-8")


@pytest.mark.slow
@needs_sources
def test_the_script_writes_the_files_byte_for_byte(tmp_path: Path) -> None:
    command = [sys.executable, "datasets/build.py", str(DATA), "--output", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, encoding="utf-8")
    assert "HP:0025802 does not exist" in done.stdout
    assert "HP:6001186 does not exist" in done.stdout
    written = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.json"))
    assert written == sorted(path.relative_to(FOLDER) for path in FOLDER.rglob("*.json"))  # translated ones too
    for path in written:
        assert (tmp_path / path).read_bytes() == (FOLDER / path).read_bytes(), path


@pytest.mark.slow
@needs_sources
def test_every_expected_term_is_in_the_ontology_and_every_german_case_is_a_query_of_the_runs() -> None:
    for folder in SIZES:
        path = FOLDER / folder / "comprehensive_v1.json"
        assert not validate(path, ontology=hpo_ontology()).findings
        cases = read_cases(path)  # without labels the ontology gives those of the script, but categories of texts
        bare = replace(cases, cases=tuple(replace(case, domain=None, category=None) for case in cases))
        for case, own in zip(cases, bare.labelled(hpo_ontology()), strict=True):
            assert own.domain == case.domain
            assert folder != "english" or own.category == case.category
    queries = pl.read_csv(HPO / "hpo-de.queries.tsv.gz", separator="\t", has_header=False, quote_char=None)
    texts = dict(queries.iter_rows())
    assert {case["case_id"]: case["text"] for case in largest("german")}.items() <= texts.items()
