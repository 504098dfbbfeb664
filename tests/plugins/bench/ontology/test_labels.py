"""Domain and category of cases by an ontology: branches by a search of their own, and what a bench says of them."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

import deadheat as dh
from deadheat.errors import NoteWarning, ParameterError
from deadheat.plugins.bench.cases import Case, Cases
from deadheat.plugins.bench.ontology import Ontology, Synonym
from support.command import ok
from support.error_parts import raises_parts

OBO = """format-version: 1.2
ontology: t
synonymtypedef: abbreviation "abbreviation"
synonymtypedef: layperson "layperson term"

[Term]
id: T:0001
name: All

[Term]
id: T:0002
name: Finding
is_a: T:0001

[Term]
id: T:0003
name: Head
is_a: T:0002

[Term]
id: T:0004
name: Headache
synonym: "sore head" EXACT layperson []
synonym: "HA" EXACT abbreviation []
synonym: "Cephalgia" EXACT []
synonym: "pain" BROAD []
is_a: T:0003

[Term]
id: T:0005
name: Heart
is_a: T:0002

[Term]
id: T:0006
name: Mode of inheritance
is_a: T:0001
"""


def branch(parents: dict[str, list[str]], term: str) -> str:
    """The branch of a term, by walking down from each candidate."""
    below = {one: {one} for one in parents}
    for _ in parents:
        for one, own in parents.items():
            for parent in own:
                below[parent] |= below[one]
    large = [one for one in parents if 2 * len(below[one]) > len(parents)]
    lowest = sorted((len(below[one]), one) for one in large)
    branches = [one for one, own in parents.items() if (lowest[0][1] in own if lowest else not own)]
    above = [one for one in parents if term in below[one]]
    ranked = sorted(
        (one for one in branches if term in below[one]),
        key=lambda one: (-len(below[one].intersection(above)), len(below[one]), one),
    )
    return ranked[0] if ranked else ""


@pytest.mark.parametrize("seed", range(40))
def test_branches_of_random_ontologies(seed: int) -> None:
    draw = random.Random(seed)
    names = [f"t{n:02d}" for n in range(draw.randrange(2, 30))]
    n_roots = draw.choice([1, 1, 3])
    parents = {
        name: [] if n < n_roots else draw.sample(names[:n], min(n, draw.choice([1, 1, 1, 2, 3])))
        for n, name in enumerate(names)
    }
    ontology = Ontology.from_parents(parents, labels={name: name.upper() for name in names})
    assert [ontology.branch_of(name) for name in names] == [branch(parents, name).upper() for name in names]


def test_what_cases_have_stays_and_what_they_lack_is_added() -> None:
    exact = [Synonym("ABBR", "EXACT", "abbreviation"), Synonym("other", "EXACT", "uk_spelling")]
    synonyms = {"a": [*exact, Synonym("wide", "BROAD")]}
    parents = {"root": [], "x": ["root"], "y": ["root"], "a": ["x"]}
    ontology = Ontology.from_parents(parents, labels={"a": "An A", "x": "X"}, synonyms=synonyms)
    texts = {" an  a": "exact_match", "abbr": "abbreviation", "OTHER": "synonym", "wide": None, "none": None}
    cases = Cases("c", {}, tuple(Case(f"c{n}", text, ("a",), (1.0,)) for n, text in enumerate(texts)))
    labelled = cases.labelled(ontology)
    assert [(case.domain, case.category) for case in labelled] == [("X", kind) for kind in texts.values()]
    own = Cases("c", {}, (Case("c", "abbr", ("gone", "y"), (1.0, 1.0), domain="mine", category="complex"),))
    assert own.labelled(ontology).cases == own.cases
    (several,) = Cases("c", {}, (Case("c", "abbr", ("gone", "y", "a"), (1.0,) * 3),)).labelled(ontology)
    assert (several.domain, several.category) == ("y", "abbreviation")  # y has no label


@pytest.mark.slow
def test_a_bench_reports_by_them_and_says_so(tmp_path: Path) -> None:
    ontology, cases = tmp_path / "t.obo", tmp_path / "cases.csv"
    ontology.write_text(OBO)
    cases.write_text("text,expected_ids\nsore head,T:0004\nHeart,T:0005\nha,T:0004\nX-linked,T:0006\nKopfweh,T:0004\n")
    command = ("bench", cases, "--collection", ontology, "--ontology", ontology, "-m", "RR", "--n-resamples", "99")
    said = " ".join(ok(*command).split())
    assert "cases: domain of 4 cases and category of 3 cases from the ontology, as the file has none" in said
    assert "the ontology changes no value: only MaxRel uses it" in said
    rows = list(csv.DictReader(ok(*command, "--by", "domain", "--format", "csv", "--table", "strata").splitlines()))
    assert {row["domain"]: int(row["n_cases"]) for row in rows} == {"Head": 3, "Heart": 1, "(none)": 1}
    with raises_parts(ParameterError, argument="by", given="domain"):
        dh.bench(cases, ontology, "bm25", "RR", by="domain")
    with pytest.warns(NoteWarning):
        result = dh.bench(cases, ontology, "bm25", "RR", by="category", ontology=ontology, n_resamples=99)
    kinds = [case.category for part in result.parts.values() for case in part.cases]
    assert kinds == ["layperson", "exact_match", "abbreviation", None, None]
