"""String similarity: its scores are those of the definition, written out; equal ones tie; the best string counts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import deadheat as dh
from deadheat import Collection
from deadheat.errors import MissingDependencyError, ParameterError
from deadheat.plugins.bench.retrievers import StringSimilarity, described, identity, make_retriever, retrieve
from support.error_parts import raises_parts
from support.searches import found
from support.shared_data import hpo_ontology, needs_shared_data

if TYPE_CHECKING:
    from collections.abc import Callable

pytest.importorskip("rapidfuzz", reason="string similarity needs the extra retrievers")

ORGANS = Collection(
    "organs",
    ("d1", "d2", "d3", "d4"),
    ("kidney", "Kidney  stone", "liver", "xyz"),
    (("ren", "renal organ"), (), ("hepar",), ()),
)


def levenshtein(one: str, other: str) -> float:
    """Return 1 - distance / length of the longer, by the recurrence of its definition."""
    above = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
        above = row
    return 1 - above[-1] / max(len(one), len(other))


def indel(one: str, other: str) -> float:
    """Return 1 - distance / both lengths, by the longest common subsequence."""
    above = [0] * (len(other) + 1)
    for a in one:
        row = [0]
        for j, b in enumerate(other, 1):
            row.append(above[j - 1] + 1 if a == b else max(above[j], row[-1]))
        above = row
    return 1 - (len(one) + len(other) - 2 * above[-1]) / (len(one) + len(other))


DEFINITIONS: dict[str, Callable[[str, str], float]] = {"levenshtein": levenshtein, "indel": indel}


def by_definition(documents: Collection, text: str, method: str) -> dict[str, float]:
    """Return the score of each document above 0."""
    best: dict[str, float] = {}
    texts, owners = documents.strings()
    for own, owner in zip(texts, owners.tolist(), strict=True):
        doc = documents.ids[owner]
        folded = (" ".join(one.split()).lower() for one in (text, own))
        best[doc] = max(best.get(doc, 0.0), DEFINITIONS[method](*folded))
    return {doc: score for doc, score in best.items() if score > 0}


def indexed(documents: Collection, method: str = "levenshtein") -> StringSimilarity:
    retriever = StringSimilarity(method=method)
    retriever.index(documents)
    return retriever


@pytest.mark.parametrize("method", DEFINITIONS)
def test_scores_are_those_of_the_definition_by_the_best_string(method: str) -> None:
    texts = ["kidney", "KIDNEY stone", "REN", "hepa", "e", "renal"]
    for text, hits in zip(texts, found(indexed(ORGANS, method), texts), strict=True):
        assert hits == by_definition(ORGANS, text, method)
    assert found(indexed(ORGANS, method), ["xyz"])[0]["d4"] == 1.0
    assert "d4" not in found(indexed(ORGANS, method), ["ren"])[0]


def test_quotients_that_are_equal_tie_and_all_that_tie_with_the_last_are_returned() -> None:
    documents = Collection("c", ("a", "b", "c"), ("abcdef", "abxy", "xyzxyz"), ((), (), ()))
    assert retrieve(indexed(documents), ["q"], ["abc"], 1).rows() == [("q", "a", 1 - 3 / 6), ("q", "b", 1 - 2 / 4)]
    documents = Collection("c", ("a", "b", "c"), ("abx", "aby", "abcdef"), ((), (), ()))
    assert retrieve(indexed(documents), ["q"], ["ab"], 1).rows() == [("q", "a", 1 - 1 / 3), ("q", "b", 1 - 1 / 3)]


def test_a_matrix_in_parts_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"ren {n}" for n in range(7)]
    whole = found(indexed(ORGANS), texts)
    monkeypatch.setattr("deadheat.plugins.bench.retrievers.embedding.MAX_CELLS", 12)
    assert found(indexed(ORGANS), texts) == whole


@pytest.mark.slow
@needs_shared_data
def test_terms_of_the_human_phenotype_ontology() -> None:
    terms = dh.read_collection(hpo_ontology())
    texts = ["Seizures", "brachydactly", "Heart defect"]
    hits = found(indexed(terms), texts)
    some = np.random.default_rng(3).choice(len(terms.ids), 200, replace=False)
    for text, own in zip(texts, hits, strict=True):
        ids, strings = (tuple(of[place] for place in some) for of in (terms.ids, terms.texts))
        few = Collection("few", ids, strings, tuple(terms.synonyms[place] for place in some))
        expected = by_definition(few, text, "levenshtein")
        lowest = min(own.values())
        assert {doc: score for doc, score in expected.items() if score >= lowest} == {
            doc: own[doc] for doc in few.ids if doc in own
        }
    assert max(hits[0], key=hits[0].__getitem__) == "HP:0001250"
    assert max(hits[1], key=hits[1].__getitem__) == "HP:0001156"


def test_names_and_descriptions() -> None:
    assert make_retriever("string").name == "string"
    retriever = make_retriever("string(method='indel')")
    assert (retriever.name, repr(retriever)) == ("string(method='indel')", "StringSimilarity(method='indel')")
    assert described(retriever) == "string similarity (indel)"
    assert '"retriever": "string"' in identity(retriever)
    with pytest.raises(ParameterError, match="string: method must be one of 'levenshtein', 'indel', got 'jaro'"):
        make_retriever("string(method='jaro')")
    with pytest.raises(ParameterError, match="call index"):
        StringSimilarity().search(["a"], 1)


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz.process", None)
    with raises_parts(MissingDependencyError, hint="pip install 'deadheat[retrievers]'"):
        StringSimilarity()


@pytest.mark.parametrize("word", ["levenshtein", "Fuzzy", "tfidf", "strings"])
def test_a_word_that_is_no_retriever_is_not_taken_for_a_model(word: str) -> None:
    with pytest.raises(ParameterError, match=rf"no retriever '{word}'.*A retriever is 'bm25'.*all-MiniLM") as caught:
        make_retriever(word)
    assert ("Did you mean 'string'?" in str(caught.value)) == (word != "tfidf")


def test_what_is_taken_for_a_model_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.plugins.bench.retrievers.embedding.find_spec", lambda _: None)
    message = "the model 'my-model' needs the package sentence-transformers, which is not installed"
    with pytest.raises(MissingDependencyError, match=message):
        make_retriever("my-model")
