"""BM25: its scores are those of the formulas, written out; and a document is found by a word, not by its score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import numpy as np
import pytest

from deadheat import Collection
from deadheat.errors import DataError, ParameterError
from deadheat.plugins.bench.retrievers import BM25, identity, make_retriever, retrieve
from deadheat.plugins.bench.retrievers.embedding import METHODS
from support.searches import found

if TYPE_CHECKING:
    from collections.abc import Callable

pytest.importorskip("bm25s", reason="BM25 needs the extra retrievers")

DELTA = 0.5  # of bm25s, for bm25l and bm25+
each_method = pytest.mark.parametrize("method", METHODS)
ANY_LENGTH = r"\w+"  # of a word
FRUIT = ("red red apple", "red pear", "green pear tree at noon", "blue sky", "grey sea", "one more word")


def made(*texts: str, synonyms: tuple[tuple[str, ...], ...] | None = None) -> Collection:
    ids = tuple(f"d{place}" for place in range(len(texts)))
    return Collection("made", ids, texts, synonyms or ((),) * len(texts))


def indexed(documents: Collection, method: str, k1: float = 1.5, b: float = 0.75) -> BM25:
    retriever = BM25(method=method, k1=k1, b=b, stopwords=None)
    retriever.index(documents)
    return retriever


# n strings, df of them with the word; tf times in a string whose length is `norm` beside the mean one: Kamphuis et al.
INFORMATION: dict[str, Callable[[int, int], float]] = {
    "lucene": lambda n, df: math.log(1 + (n - df + 0.5) / (df + 0.5)),
    "robertson": lambda n, df: max(0.0, math.log((n - df + 0.5) / (df + 0.5))),
    "atire": lambda n, df: math.log(n / df),
    "bm25l": lambda n, df: math.log((n + 1) / (df + 0.5)),
    "bm25+": lambda n, df: math.log((n + 1) / df),
}
SATURATED: dict[str, Callable[[int, float, float], float]] = {
    "lucene": lambda tf, norm, k1: tf / (tf + k1 * norm) if tf else 0,
    "robertson": lambda tf, norm, k1: tf / (tf + k1 * norm) if tf else 0,
    "atire": lambda tf, norm, k1: tf * (k1 + 1) / (tf + k1 * norm) if tf else 0,
    "bm25l": lambda tf, norm, k1: (k1 + 1) * (tf / norm + DELTA) / (k1 + tf / norm + DELTA),
    "bm25+": lambda tf, norm, k1: (tf * (k1 + 1) / (tf + k1 * norm) if tf else 0) + DELTA,
}


def by_formula(query: str, method: str, k1: float, b: float) -> dict[str, float]:
    split = [text.split() for text in FRUIT]
    mean = sum(map(len, split)) / len(split)
    scores = {}
    for place, words in enumerate(split):
        if not set(words).isdisjoint(query.split()):
            norm = 1 - b + b * len(words) / mean
            scores[f"d{place}"] = sum(
                INFORMATION[method](len(split), sum(word in other for other in split))
                * SATURATED[method](words.count(word), norm, k1)
                for word in query.split()
            )
    return scores


@each_method
@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (0.6, 0.75), (1.5, 0.2), (1.5, 0), (1.5, 1)])
def test_scores_are_those_of_the_formula(method: str, k1: float, b: float) -> None:
    queries = ["red", "red pear", "tree sky"]
    ours = found(indexed(made(*FRUIT), method, k1, b), queries)
    assert ours == [pytest.approx(by_formula(query, method, k1, b), rel=1e-5) for query in queries]


@each_method
@pytest.mark.parametrize("b", [0, 0.75, 1])
def test_with_k1_0_a_repeated_word_counts_like_a_single_one(method: str, b: float) -> None:
    queries = ["red", "red pear", "tree sky", "elsewhere"]
    ours = found(indexed(made(*FRUIT), method, 0, b), queries)
    assert ours == [pytest.approx(by_formula(query, method, 0, b), rel=1e-6) for query in queries]
    assert ours[0]["d0"] == ours[0]["d1"] > 0


@each_method
def test_a_score_that_is_nan_is_an_error_with_its_case_and_document(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    retriever = indexed(made(*FRUIT), method)
    wrong = np.array([1, np.nan, 1, 1, 1, 1], np.float32)
    monkeypatch.setattr(retriever, "_index", Mock(wraps=retriever._index, scores=retriever._index.scores))
    monkeypatch.setattr(retriever._index, "get_scores", lambda _: wrong)
    for k in (1, 2, 50):
        with pytest.raises(DataError, match=r"^bm25.*'d1' .*'q' is NaN"):
            retrieve(retriever, ["p", "q"], ["sky", "red"], k)


@each_method
def test_a_document_without_a_common_word_is_not_found(method: str) -> None:
    words = [f"word{chr(97 + place)}" for place in range(20)]
    (one, none, both) = found(indexed(made(*words), method), ["wordc", "elsewhere", "wordc elsewhere wordt"], k=50)
    assert list(one) == ["d2"]
    assert none == {}
    assert list(both) == ["d2", "d19"]


@each_method
def test_a_word_that_all_documents_have_finds_all(method: str) -> None:
    (hits,) = found(indexed(made("red apple", "red pear", "red"), method), ["red"])
    assert hits.keys() == {"d0", "d1", "d2"}
    assert len(set(hits.values())) == (1 if method in {"robertson", "atire"} else 2)  # of the first two, 0 for all


@each_method
def test_a_document_is_found_by_any_of_its_strings_and_scores_by_the_best(method: str) -> None:
    documents = made("sea", "sky", "tree", synonyms=(("blue sea",), ("blue",), ()))
    (hits,) = found(indexed(documents, method), ["blue"])
    assert list(hits) == ["d1", "d0"]
    (alone,) = found(indexed(made("sea", "blue sea", "sky", "blue", "tree"), method), ["blue"])
    assert list(hits.values()) == [alone["d3"], alone["d1"]]


def test_words_of_one_letter_count_if_the_pattern_takes_them() -> None:
    documents = made("hepatitis A", "hepatitis B", "hepatitis C")
    default, letters = BM25(), BM25(token_pattern=ANY_LENGTH, stopwords=None)
    for retriever in (default, letters):
        retriever.index(documents)
    (all_alike,) = found(default, ["hepatitis B"])
    assert len(set(all_alike.values())) == 1
    for letter, doc in zip("abc", ("d0", "d1", "d2"), strict=True):
        (hits,) = found(letters, [f"Hepatitis {letter}"])
        assert max(hits, key=hits.__getitem__) == doc
        assert len(set(hits.values())) == 2


def test_a_pattern_is_part_of_name_and_key() -> None:
    retriever = make_retriever(f"bm25(token_pattern=r'{ANY_LENGTH}')")
    assert isinstance(retriever, BM25)
    assert retriever.token_pattern == ANY_LENGTH
    assert identity(retriever) == identity(make_retriever(retriever.name)) != identity(BM25())
    assert BM25().name == "bm25"


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", r"such as .*, got '\('; missing \)"),
        (7, "such as .*, got 7"),
        (rb"\w+", "such as .*, got b"),
        (r"(\w)(\w)", "with one group at most"),
        (r"\w*", "no match in an empty text"),
    ],
)
def test_a_pattern_that_finds_no_words_is_refused(pattern: Any, message: str) -> None:  # noqa: ANN401 - wrong ones
    with pytest.raises(ParameterError, match=f"token_pattern must be a regular expression .*{message}"):
        BM25(token_pattern=pattern)


def test_documents_without_a_word_of_the_pattern_are_refused() -> None:
    retriever = make_retriever(r"bm25(token_pattern='\\d+')")
    with pytest.raises(ParameterError, match=r"has a word that BM25 counts, by '\\\\d\+'"):
        retriever.index(made(*FRUIT))
