"""The sets of translated names: every text is in its table, and parallel ones ask for the same in each language."""

from __future__ import annotations

import csv
import gzip
import json
import re
import sys
from collections import Counter
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from deadheat import read_cases
from deadheat.plugins.bench.cases import validate
from support.paths import ROOT
from support.shared_data import SHARED, hpo_ontology

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ROOT / "datasets" / "hpo"
DATA = SHARED / "data" / "hpo"
SIZES = {"tiny": 9, "small": 50, "standard": 200, "comprehensive": 1000}
PARALLEL = {
    "parallel-en-es-fr": (("en", "es", "fr"), SIZES),
    "parallel-en-es-fr-pt": (("en", "es", "fr", "pt"), SIZES),
    "parallel-six": (("de", "en", "es", "fr", "it", "pt"), {"comprehensive": 142}),
}
ALONE = {
    "french": ("fr", "hpo-fr", SIZES),
    "german-layperson": ("de", "hpo-de-layperson", SIZES | {"comprehensive": 392}),
    "italian": ("it", "hpo-it", SIZES | {"comprehensive": 502}),
    "portuguese": ("pt", "hpo-pt", SIZES),
    "spanish": ("es", "hpo-es", SIZES),
}
FILES = [
    FOLDER / folder / language / f"{name}_v1.json"
    for folder, (languages, sizes) in PARALLEL.items()
    for language in languages
    for name in sizes
] + [FOLDER / folder / f"{name}_v1.json" for folder, (_, _, sizes) in ALONE.items() for name in sizes]
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
each_parallel = pytest.mark.parametrize("folder", list(PARALLEL))
needs_tables = pytest.mark.skipif(
    not (DATA / "translations").is_dir(),
    reason="the tables of translations (shared/data/hpo/translations beside the repository) are not here",
)


class Row(NamedTuple):
    term: str
    kind: str
    english: str
    text: str
    status: str


@cache
def table(language: str) -> tuple[Row, ...]:
    """Read a table of translations without deadheat: fields between tabs, no quotes."""
    with gzip.open(DATA / "translations" / f"hp-{language}.tsv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert rows[0][:5] == ["hpo_id", "kind", "english", "text", "status"]
    return tuple(Row(*row[:5]) for row in rows[1:])


@cache
def release() -> dict[str, tuple[str, bool]]:
    """Read label and obsolescence of each term from the OBO file without deadheat."""
    (path,) = (DATA / "ontology").glob("*.obo.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        stanzas = file.read().split("\n[Term]\n")[1:]
    found = {}
    for stanza in stanzas:
        fields = dict(re.findall(r"^(id|name|is_obsolete): (.*)$", stanza, re.MULTILINE))
        found[fields["id"]] = (fields["name"], "is_obsolete" in fields)
    return found


def rows(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["test_cases"]
    return found


@pytest.mark.slow
@each_file
def test_a_file_has_its_size_language_name_and_fields(path: Path) -> None:
    cases, name = read_cases(path), path.stem.removesuffix("_v1")
    if path.parent.parent == FOLDER:
        language, dataset, sizes = ALONE[path.parent.name]
    else:
        language, dataset, sizes = path.parent.name, f"hpo-{path.parents[1].name}", PARALLEL[path.parents[1].name][1]
    assert (len(cases), cases.languages, cases.name) == (sizes[name], (language,), f"{dataset}-{name}-v1")
    fields = ["case_id", "text", "description", "expected_hpo_ids", "difficulty", "category", "hpo_domain"]
    is_parallel = path.parent.parent != FOLDER
    for row in rows(path):
        assert list(row) == fields[:1] + ["pair_id"] * is_parallel + fields[1:]
        assert all(row.values())
        assert row["category"] == ("layperson" if "layperson" in dataset else "exact_match")
    assert path.stat().st_size < 1_000_000
    assert {one.kind for one in validate(path).findings} <= ({"few_cases"} if len(cases) < 200 else set())


@each_file
def test_texts_and_terms_are_unique_and_files_begin_alike(path: Path) -> None:
    own = rows(path)
    for values in ([row["text"].casefold() for row in own], [row["expected_hpo_ids"][0] for row in own]):
        assert len(set(values)) == len(values)
    assert own == rows(path.with_name("comprehensive_v1.json"))[: len(own)]


@each_parallel
def test_a_parallel_set_has_the_same_terms_in_the_same_order_in_each_language(folder: str) -> None:
    languages, sizes = PARALLEL[folder]
    for name in sizes:
        asked = [rows(FOLDER / folder / language / f"{name}_v1.json") for language in languages]
        for alike in zip(*asked, strict=True):
            term = alike[0]["expected_hpo_ids"]
            assert all(
                [row["case_id"], row["pair_id"], row["expected_hpo_ids"]] == [*term, *term, term] for row in alike
            )
            assert len({(row["description"], row["hpo_domain"]) for row in alike}) == 1
            texts = dict(zip(languages, (row["text"] for row in alike), strict=True))
            assert texts["en"] == alike[0]["description"]
            assert all(text.casefold() != texts["en"].casefold() for code, text in texts.items() if code != "en")
        names = {read_cases(FOLDER / folder / language / f"{name}_v1.json").name for language in languages}
        assert names == {f"hpo-{folder}-{name}-v1"}


@pytest.mark.parametrize("folder", ["parallel-en-es-fr", "parallel-en-es-fr-pt"])
def test_parallel_sets_are_balanced_by_the_hardest_language_and_by_domain(folder: str) -> None:
    languages, levels = PARALLEL[folder][0], ("easy", "medium", "hard")
    asked = [rows(FOLDER / folder / language / "standard_v1.json") for language in languages if language != "en"]
    hardest = Counter(max((row["difficulty"] for row in alike), key=levels.index) for alike in zip(*asked, strict=True))
    assert sorted(hardest.values()) == [66, 67, 67]
    domains = Counter(row["hpo_domain"] for row in asked[0])
    assert len(domains) == (23 if folder == "parallel-en-es-fr" else 21)
    assert max(domains.values()) <= 12


@each_file
def test_the_source_note_counts_right(path: Path) -> None:
    count = Counter(row["difficulty"] for row in rows(path))
    numbers = [len(rows(path)), *(count[name] for name in ("easy", "medium", "hard"))]
    n_domains = len({row["hpo_domain"] for row in rows(path)})
    line = " | ".join([str(path.parent.relative_to(FOLDER)), path.name, *map(str, numbers), str(n_domains)])
    assert f"| {line} |" in (FOLDER / "SOURCE.md").read_text(encoding="utf-8")


@pytest.mark.slow
@needs_tables
@pytest.mark.parametrize("folder", [*PARALLEL, *ALONE])
def test_every_text_is_in_its_table_or_in_the_ontology(folder: str) -> None:
    """Letter for letter; official labels only, made from the label of the release, and one alone of a term."""
    languages = PARALLEL[folder][0] if folder in PARALLEL else (ALONE[folder][0],)
    kind = "layperson" if folder == "german-layperson" else "label"
    for language in languages:
        path = FOLDER / folder / (language if folder in PARALLEL else "") / "comprehensive_v1.json"
        texts: dict[str, set[Row]] = {}
        for row in table(language) if language != "en" else ():
            if row.kind == kind and (kind != "label" or row.status == "OFFICIAL"):
                texts.setdefault(row.term, set()).add(row)
        for case in rows(path):
            (term,) = case["expected_hpo_ids"]
            label, is_obsolete = release()[term]
            assert not is_obsolete
            if language == "en":
                assert case["text"] == label
            elif kind == "label":
                assert {(row.text, row.english) for row in texts[term]} == {(case["text"], label)}
            else:
                assert case["text"] in {row.text for row in texts[term]}


@pytest.mark.slow
@needs_tables
def test_the_source_note_counts_what_was_left_out() -> None:
    """By the reasons that the script gives; how many of each language qualify is counted by it too."""
    sys.path.insert(0, str(ROOT / "datasets"))
    build: Any = import_module("build")
    sys.path.remove(str(ROOT / "datasets"))
    terms = build.Terms(hpo_ontology())
    note = (FOLDER / "SOURCE.md").read_text(encoding="utf-8")
    labels = {"en": terms.labels}
    found: dict[str, dict[str, int]] = {}
    for language in ("de", "es", "fr", "it", "pt"):
        translations = build.read_translations(DATA / "translations" / f"hp-{language}.tsv.gz")
        labels[language], left_out = build.official(translations, terms)
        assert sum(left_out.values()) + len(labels[language]) == len(
            {row.term for row in table(language) if row.kind == "label" and row.status == "OFFICIAL"}
        )
        for reason, n in left_out.items():
            found.setdefault(reason, {})[language] = n
    for reason, counts in found.items():
        cells = " | ".join(f"{counts.get(language, 0):,}" for language in ("de", "es", "fr", "it", "pt"))
        (line,) = [line for line in note.splitlines() if line.startswith(f"| {reason}")]
        assert line.endswith(f"| {cells} |")
    for folder, (languages, _) in PARALLEL.items():
        assert f"{len(build.parallel(labels, languages, terms)):,}" in note, folder


def test_a_parallel_set_is_not_validated_away(tmp_path: Path) -> None:
    """One case of each language may have a pair_id; a second one of a language is an error with its line."""
    path = tmp_path / "two.csv"
    path.write_text("text,expected_ids,language,pair_id\nfever,D1,en,p\nFieber,D1,de,p\nhigh fever,D1,en,p\n")
    found = validate(path)
    assert not found.is_usable
    (wrong,) = [one for one in found.findings if one.level == "error"]
    assert (wrong.kind, wrong.line) == ("repeated_pair_id", 4)
