"""Words by language in BM25: stop words, stems and accents, and what the report says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from deadheat import Collection
from deadheat.errors import MissingDependencyError, ParameterError
from deadheat.plugins.bench.cases import Case, Cases
from deadheat.plugins.bench.retrievers import BM25, identity, make_retriever
from support.error_parts import raises_parts
from support.searches import found

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("bm25s", reason="BM25 needs the extra retrievers")

DOCUMENTS = Collection(
    "terms",
    ("D1", "D2", "D3"),
    ("malformations du cœur", "anomalie de la tête", "Malformation of the heart"),
    ((), (), ()),
)
FRENCH = ["les malformations", "tete", "de la"]


def searched(retriever: BM25, texts: list[str]) -> list[list[str]]:
    retriever.index(DOCUMENTS)
    return [sorted(own) for own in found(retriever, texts)]


def test_stop_words_are_those_of_the_language() -> None:
    assert searched(BM25(), ["de la"]) == [["D2"]]  # English ones are others
    assert searched(BM25(language="fr"), ["de la"]) == [[]]
    assert searched(BM25(language="fr", stopwords=None), ["de la"]) == [["D2"]]
    assert searched(BM25(language="en"), ["of the"]) == [[]]
    assert BM25(language="ja").words_in("fr") == "no stop words"
    assert BM25(language="pt-br").words_in(None) == "Portuguese stop words"
    assert BM25(stopwords=["x"]).words_in(None) == "stop words as given"


def test_accents_are_folded_on_both_sides() -> None:
    assert searched(BM25(language="fr"), ["tete"]) == [[]]
    for text in ("tete", "TÊTE"):
        assert searched(BM25(language="fr", fold_accents=True), [text]) == [["D2"]]


def test_words_are_cut_to_the_stems_of_snowball() -> None:
    stemmer = pytest.importorskip("Stemmer", reason="stems need the extra stemming").Stemmer("french")
    assert stemmer.stemWord("malformations") == stemmer.stemWord("malformation")
    assert searched(BM25(language="fr"), ["malformations"]) == [["D1"]]
    retriever = BM25(language="fr", stem=True)
    assert searched(retriever, ["malformations", "anomalies"]) == [["D1", "D3"], ["D2"]]
    assert retriever.words_in(None) == "French stop words, stemmed by Snowball"
    assert "PyStemmer" in identity(retriever)
    assert BM25(language="ja", stem=True).words_in(None) == "no stop words, not stemmed (Snowball does not know ja)"


def test_each_language_has_its_own_retriever() -> None:
    retriever = BM25(language="cases")
    french, english = retriever.in_language("fr"), retriever.in_language("en")
    assert isinstance(french, BM25)
    assert french is retriever.in_language("fr")
    assert (french.name, french.language) == (retriever.name, "fr")
    assert identity(french) != identity(english)
    plain = BM25()
    assert plain.in_language("fr") is plain
    assert retriever.words_in(None) == plain.words_in(None) == "English stop words"
    written = "bm25(language='cases', fold_accents=True)"
    assert make_retriever(written).name == written


def test_what_a_run_depends_on_is_as_before_where_no_language_is_named() -> None:
    assert set(BM25().key) == {"retriever", "method", "k1", "b", "stopwords", "strings", "token_pattern", "bm25s"}
    assert BM25(language="fr").key["language"] == "fr"


def test_what_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match=r"stem needs a language: language='cases' is that of each case"):
        BM25(stem=True)
    with raises_parts(ParameterError, argument="language", given="french", hint="Did you mean 'fr'?"):
        BM25(language="french")
    monkeypatch.setitem(__import__("sys").modules, "Stemmer", None)
    with raises_parts(MissingDependencyError, hint="pip install 'deadheat[stemming]'"):
        BM25(language="fr", stem=True).index(DOCUMENTS)


@pytest.mark.slow
def test_a_benchmark_takes_the_words_of_each_language_and_says_so(tmp_path: Path) -> None:
    cases = Cases(
        "both",
        {},
        tuple(
            Case(f"{language}{n}", text, (doc,), (1.0,), language=language)
            for language, texts in {"fr": FRENCH, "en": ["of the heart"]}.items()
            for n, (text, doc) in enumerate(zip(texts, ("D1", "D2", "D2"), strict=False))
        ),
    )
    options = {"measures": "Hit@1", "n_resamples": 99, "output": tmp_path / "results"}
    by_language = {"own": BM25(language="cases"), "plain": BM25()}
    result = dh.bench(cases, DOCUMENTS, by_language, **options)  # type: ignore[arg-type]
    assert result.evaluations["both", "fr", "own"]["Hit@1"].values.tolist() == [1, 0, 0]  # type: ignore[index]
    assert result.evaluations["both", "fr", "plain"]["Hit@1"].values.tolist() == [1, 0, 1]  # type: ignore[index]
    report = result.report()
    assert "words: own: French stop words (fr); English stop words (en)" in report
    assert "words: plain: English stop words (fr, en); bm25(language='cases') takes those of each language" in report
    told: list[str] = []
    again = {"own": BM25(language="cases"), "plain": BM25()}
    dh.bench(cases, DOCUMENTS, again, progress=told.append, **options)  # type: ignore[arg-type]
    assert [one.endswith("finished before") for one in told] == [True] * 4
    english = Cases("en", {}, cases.cases[3:])
    assert "words: " not in dh.bench(english, DOCUMENTS, "bm25", "RR", n_resamples=99).report()
