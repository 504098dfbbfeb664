"""Ontologies: similarities equal their definitions on random graphs; what is refused, and how."""

from __future__ import annotations

import random
import tracemalloc
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import DataError, ParameterError, SourceTypeError
from deadheat.plugins.bench.ontology import KINDS, Ontology, Synonym, graph
from oracle.ontology import draw_parents, intrinsic_information, similarity, steps_up
from support.error_parts import raises_parts

ONE_ONLY_FOR_ITSELF = ("lin", "jiang_conrath", "wu_palmer", "path")
GRAPHS = [
    draw_parents(random.Random(seed), n_terms, n_roots=n_roots)
    for seed, (n_terms, n_roots) in enumerate([(1, 1), (2, 1), (2, 2), *([(13, 1), (16, 1), (14, 2)] * 4)])
]


@pytest.fixture
def toy() -> Ontology:
    return Ontology.from_parents(
        {"X:0001": [], "X:0002": ["X:0001"], "X:0003": ["X:0001"], "X:0004": ["X:0002", "X:0003"]},
        labels={"X:0001": "root", "X:0004": "Deep one"},
        synonyms={"X:0004": [Synonym("abyss", "BROAD"), Synonym("pit", kind="layperson"), Synonym("hole")]},
        obsolete={"X:0009": ["X:0004", "X:0003"], "X:0008": []},
        alternatives={"X:0007": "X:0002"},
        version="2025-01-16",
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parents", GRAPHS, ids=lambda parents: f"{len(parents)} terms")
def test_similarities_equal_their_definitions(parents: dict[str, list[str]], kind: str) -> None:
    ontology = Ontology.from_parents(parents)
    information = intrinsic_information(parents)
    np.testing.assert_allclose(ontology.information_content, [information[term] for term in ontology.ids], atol=1e-15)
    for term in parents:
        wanted = [similarity(parents, information, term, other, kind) for other in ontology.ids]
        np.testing.assert_allclose(ontology.similarities(term, kind), wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parents", GRAPHS, ids=lambda parents: f"{len(parents)} terms")
def test_similarities_are_symmetric_and_within_their_range(parents: dict[str, list[str]], kind: str) -> None:
    ontology = Ontology.from_parents(parents)
    matrix = np.array([ontology.similarities(term, kind) for term in ontology.ids])
    np.testing.assert_array_equal(matrix, matrix.T)
    assert matrix.min() >= 0
    assert matrix.max() <= 1
    if kind in ONE_ONLY_FOR_ITSELF:
        np.testing.assert_array_equal(matrix == 1, np.eye(len(parents), dtype=bool))


@pytest.mark.slow
def test_a_chain_of_20_000_terms_takes_memory_for_its_terms_not_for_their_pairs() -> None:
    """There are 200 million pairs of a term and its ancestor."""
    n, middle = 20_000, 10_000
    place = np.arange(n)
    tracemalloc.start()
    try:
        ontology = Ontology.from_parents({f"t{i:05}": [f"t{i - 1:05}"] if i else [] for i in range(n)})
        found = {kind: ontology.similarities(ontology.ids[middle], kind) for kind in ("path", "wu_palmer", "resnik")}
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 60e6
    shared = np.minimum(place, middle)
    np.testing.assert_array_equal(found["path"], 1 / (1 + np.abs(place - middle)))
    np.testing.assert_array_equal(found["wu_palmer"], 2 * (shared + 1) / (middle + 1 + place + 1))
    np.testing.assert_allclose(found["resnik"], 1 - np.log(n - shared) / np.log(n), rtol=0, atol=1e-12)


@pytest.mark.slow
def test_a_ladder_of_terms_with_two_parents_takes_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "MAX_BYTES", 1 << 20)
    n = 4_000
    parents = {f"t{i:05}": [f"t{j:05}" for j in (i - 1, i - 2) if j >= 0] for i in range(n)}
    tracemalloc.start()
    try:
        information = Ontology.from_parents(parents).information_content
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 15e6
    np.testing.assert_allclose(information, 1 - np.log(n - np.arange(n)) / np.log(n), rtol=0, atol=1e-12)


@pytest.mark.parametrize("most_bytes", [1, 1 << 13, 1 << 26], ids=["a word", "some words", "all"])
@pytest.mark.parametrize("n_roots", [1, 250, 300])
def test_descendants_are_counted_in_blocks(monkeypatch: pytest.MonkeyPatch, n_roots: int, most_bytes: int) -> None:
    monkeypatch.setattr(graph, "MAX_BYTES", most_bytes)
    parents = draw_parents(random.Random(n_roots), 300, n_roots=n_roots)
    ontology = Ontology.from_parents(parents)
    wanted = dict.fromkeys(parents, 0)
    for term in parents:
        for ancestor in steps_up(parents, term):
            wanted[ancestor] += 1
    assert ontology.graph.n_descendants().tolist() == [wanted[term] for term in ontology.ids]
    far = steps_up(parents, ontology.ids[7])
    ancestors, distances = ontology.graph.ancestors(7)
    assert dict(zip((ontology.ids[one] for one in ancestors), distances.tolist(), strict=True)) == far


def test_a_long_cycle_is_named_in_a_few_words() -> None:
    ring = {f"t{i:05}": [f"t{(i + 1) % 5_000:05}"] for i in range(5_000)}
    with pytest.raises(DataError, match=r"form a cycle.* is_a \.\.\. \(5,000 terms\) is_a t\d+$") as caught:
        Ontology.from_parents(ring)
    assert len(str(caught.value)) < 300


def test_a_given_information_content_is_used() -> None:
    parents = GRAPHS[-1]
    rng = random.Random(5)
    given: dict[str, float] = {}
    for term in sorted(parents, key=lambda term: len(similarity_ancestors(parents, term))):
        given[term] = max((given[parent] for parent in parents[term]), default=0.0) + rng.choice([0, 0.5, 2.0])
    ontology = Ontology.from_parents(parents).with_information_content(given)
    for kind in ("lin", "resnik", "jiang_conrath"):
        for term in parents:
            wanted = [similarity(parents, given, term, other, kind) for other in ontology.ids]
            np.testing.assert_allclose(ontology.similarities(term, kind), wanted, rtol=0, atol=1e-12)
    intrinsic = ontology.with_information_content(None)
    np.testing.assert_array_equal(intrinsic.information_content, Ontology.from_parents(parents).information_content)


def similarity_ancestors(parents: dict[str, list[str]], term: str) -> set[str]:
    return {term}.union(*(similarity_ancestors(parents, parent) for parent in parents[term]))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"A": 0.0}, "must have a value for all 2 terms, got none for 'B'"),
        ({"A": 0.0, "B": 1.0, "C": 2.0}, "must name terms of the ontology only, got 'C'"),
        ({"A": 0.0, "B": "high"}, "must be a finite number of 0 or more for each term, got 'high' for 'B'"),
        ({"A": 0.0, "B": None}, "must be a finite number of 0 or more for each term, got None for 'B'"),
        ({"A": 0.0, "B": -1.0}, "must be a finite number of 0 or more for each term, got -1.0 for 'B'"),
        ({"A": 0.0, "B": float("nan")}, "must be a finite number of 0 or more for each term, got nan for 'B'"),
        ({"A": 2.0, "B": 1.0}, "must not fall from a parent to its child, got 2 for 'A' and 1 for its child 'B'"),
    ],
)
def test_a_wrong_information_content_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Ontology.from_parents({"A": [], "B": ["A"]}).with_information_content(given)


def test_hybrid_gives_1_to_different_terms_and_lin_does_not() -> None:
    """A long and a short way to the same term: by the short one it is no deeper than its ancestor."""
    parents = {"root": [], "a": ["root"], "b": ["a"], "c": ["b"], "d": ["c", "root"]}
    ontology = Ontology.from_parents(parents)
    assert ontology.similarity("c", "d", kind="hybrid") == 1
    assert ontology.similarity("c", "d") < 1


def test_what_an_ontology_holds(toy: Ontology) -> None:
    assert toy.ids == ("X:0001", "X:0002", "X:0003", "X:0004")
    assert toy.labels == ("root", "", "", "Deep one")
    assert toy.synonyms[3] == (Synonym("hole"), Synonym("pit", kind="layperson"), Synonym("abyss", "BROAD"))
    assert toy.parents == ((), (0,), (0,), (1, 2))
    assert toy.obsolete == {"X:0009": ("X:0004", "X:0003"), "X:0008": ()}
    assert len(toy) == 4
    assert "X:0002" in toy
    assert "X:0009" not in toy
    assert "X:0007" not in toy
    assert repr(toy) == "<Ontology 2025-01-16: 4 terms>"


def test_results_can_be_written_to_and_the_ontology_cannot(toy: Ontology) -> None:
    toy.similarities("X:0004")[:] = -1
    assert toy.similarities("X:0004")[3] == 1
    with pytest.raises(ValueError, match="read-only"):
        toy.information_content[:] = 0
    with pytest.raises(AttributeError):
        toy.ids = ()  # type: ignore[misc]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("X:0009", r"'X:0009' is not a term of <Ontology .*>: it is obsolete: use 'X:0004' \(Deep one\) or 'X:0003'$"),
        ("X:0008", "it is obsolete, without a replacement"),
        ("X:0007", "it is an alternative id: use 'X:0002'"),
        ("x_0002", r"\. Did you mean 'X:0002'\?"),
        ("deep ONE", r"\. Did you mean 'X:0004' \(Deep one\)\?"),
        ("X:0042", r"4 terms>$"),
    ],
)
def test_an_unknown_term_is_explained(toy: Ontology, given: str, message: str) -> None:
    for pair in ((given, "X:0001"), ("X:0001", given)):
        with pytest.raises(ParameterError, match=message):
            toy.similarity(*pair)


def test_an_unknown_kind_is_explained(toy: Ontology) -> None:
    with raises_parts(ParameterError, argument="kind", given="linn"):
        toy.similarities("X:0001", kind="linn")


def test_a_cycle_is_shown() -> None:
    with pytest.raises(DataError, match=r"must not be its own ancestor: (A is_a C is_a B is_a A|B is_a A|C is_a B)"):
        Ontology.from_parents({"root": [], "A": ["C", "root"], "B": ["A"], "C": ["B"]})


def test_an_unknown_parent_is_named() -> None:
    with raises_parts(DataError, hint="Did you mean 'bird'?"):
        Ontology.from_parents({"bird": [], "owl": ["brd"]})


def test_no_term_is_refused() -> None:
    with pytest.raises(DataError, match="at least one term"):
        Ontology.from_parents({})


def test_a_text_is_no_list_of_parents() -> None:
    with raises_parts(SourceTypeError, found="the text 'A'", hint="write ['A']"):
        Ontology.from_parents({"A": [], "B": "A"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"obsolete": {"X": "A"}}, r"what replaces 'X' must be a list of ids, got the text 'A'; write \['A'\]"),
        ({"synonyms": {"A": "fits"}}, r"the synonyms of 'A' must be a list of Synonym, got the text 'fits'"),
        ({"synonyms": {"A": ["fits"]}}, r"a synonym of 'A' must be a list of its text, scope and kind, got the text"),
    ],
)
def test_a_text_is_no_list_of_anything_else(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SourceTypeError, match=message):
        Ontology.from_parents({"A": []}, **options)


@pytest.mark.parametrize(("information", "lin"), [(0.5, 1.0), (0.0, 0.0)])
def test_parent_and_child_with_the_same_information(information: float, lin: float) -> None:
    pair = Ontology.from_parents({"A": [], "B": ["A"]}).with_information_content({"A": information, "B": information})
    assert pair.similarity("A", "B", "lin") == lin
    assert pair.similarity("A", "B", "jiang_conrath") == 1.0


def test_public_names() -> None:
    assert dh.Ontology is Ontology
    assert callable(dh.read_ontology)
