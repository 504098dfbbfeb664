"""Retrievers: BM25, embeddings, run files and functions; ties at the cut stay together."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import deadheat as dh
from deadheat import Collection
from deadheat.errors import (
    DataError,
    DeadheatError,
    DeadheatWarning,
    DuplicateError,
    MissingDependencyError,
    ParameterError,
    SourceTypeError,
)
from deadheat.plugins.bench.cases import Case, Cases
from deadheat.plugins.bench.retrievers import BM25, Function, Hits, RunFile, identity, key_of, make_retriever, retrieve
from deadheat.plugins.bench.retrievers.protocol import Strings, top
from deadheat.plugins.bench.retrievers.reranking import make_retrievers
from support.searches import DOCUMENTS, found, indexed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def test_top_keeps_what_ties_with_the_last() -> None:
    scores = np.array([0.1, 0.5, 0.3, 0.3, 0.3, 0.2])
    assert top(scores, 1)[0].tolist() == [1]
    assert top(scores, 2)[0].tolist() == [1, 2, 3, 4]
    assert top(scores, 99)[0].tolist() == [1, 2, 3, 4, 5, 0]


def test_a_document_scores_by_its_best_string() -> None:
    strings = Strings.of(DOCUMENTS)
    assert strings.texts[:4] == ["Fever", "high temperature", "Broken arm", "Fracture of the arm"]
    assert strings.best(np.array([1.0, 3.0, 2.0, 0.0, 5.0, 4.0, 4.0])).tolist() == [3.0, 2.0, 5.0, 4.0, 4.0]
    joined = Strings.of(DOCUMENTS, "joined")
    assert joined.texts[0] == "Fever high temperature"
    assert len(joined.texts) == len(joined.doc_ids) == 5


def test_bm25_finds_by_words_and_leaves_out_what_shares_none() -> None:
    temperature, arm, nothing, stop = found(indexed(BM25()), ["Temperature!", "the arm", "Krampfanfall", "the of"])
    assert list(temperature) == ["D1"]
    assert list(arm) == ["D2"]
    assert nothing == stop == {}


def test_bm25_keeps_the_documents_that_tie_with_the_last() -> None:
    (hits,) = found(indexed(BM25()), ["heart attack"], k=1)
    assert list(hits) == ["D4", "D5"]
    assert hits["D4"] == hits["D5"]


def test_bm25_is_named_by_the_options_that_are_not_the_defaults() -> None:
    assert BM25().name == "bm25"
    assert make_retriever("bm25(k1=1.2, b=0.75)").name == "bm25(k1=1.2)"
    assert repr(BM25(strings="joined")) == "BM25(strings='joined')"
    assert make_retriever(BM25(b=0.5).name).name == "bm25(b=0.5)"
    assert BM25(k1=1.2, name="mine").name == "mine"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k1": -1}, "k1 must be a number from 0 on, got -1"),
        ({"b": 1.5}, "b must be a number from 0 to 1, got 1.5"),
        ({"method": "lucen"}, "Did you mean 'lucene'"),
        ({"strings": "worst"}, "'best', 'joined'"),
        ({"stopwords": "klingon"}, "stopwords must be a language"),
    ],
)
def test_bm25_refuses_what_it_cannot_do(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        BM25(**options)


def test_bm25_takes_stop_words_of_a_language_or_ones_own() -> None:
    (hits,) = found(indexed(BM25(stopwords=["heart"])), ["heart"])
    assert hits == {}
    assert found(indexed(BM25(stopwords=None)), ["the"])[0].keys() == {"D2"}
    assert BM25(stopwords="german").name == "bm25(stopwords='german')"


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(MissingDependencyError, match=r"deadheat\[retrievers\]"):
        BM25()
    monkeypatch.setattr("deadheat.plugins.bench.retrievers.embedding.find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r"deadheat\[embed\]"):
        make_retriever("some-model")


def test_search_needs_documents() -> None:
    with pytest.raises(ParameterError, match="call index"):
        BM25().search(["a"], 1)


@pytest.mark.parametrize(
    ("texts", "k", "message"),
    [
        ("seizure", 3, r"texts must be a list of texts, got the text 'seizure'; write \['seizure'\]"),
        (["a", 5], 3, r"texts must be a list of texts, got 5 \(int\) in it"),
        (["a"], 0, "k must be a whole number from 1 on, got 0"),
        (["a"], 2.5, "k must be a whole number from 1 on, got 2.5"),
    ],
)
def test_what_cannot_be_searched_for_is_refused(texts: Any, k: Any, message: str) -> None:  # noqa: ANN401 - wrong ones
    with pytest.raises(DeadheatError, match=message):
        indexed(BM25()).search(texts, k)


def test_what_was_found_may_be_lists() -> None:
    lists: Any = Hits([0, 0, 1], ["a", "b", "a"], [1, 2.5, 3])  # type: ignore[arg-type]
    assert found(Function(returns(lists)), ["x", "y"]) == [{"a": 1.0, "b": 2.5}, {"a": 3.0}]
    nothing: Any = Hits([], [], [])  # type: ignore[arg-type]
    assert found(Function(returns(nothing)), ["x"]) == [{}]


def test_a_function_is_a_retriever() -> None:
    def shout(texts: Sequence[str], k: int) -> list[dict[str, float]]:
        return [{f"D{k}": len(text), "D9": 0.0} for text in texts]

    retriever = make_retriever(shout)
    assert retriever.name == "shout"
    assert found(retriever, ["ab", "abc"], k=1) == [{"D1": 2.0}, {"D1": 3.0}]


def test_any_object_with_a_name_and_two_methods_is_one() -> None:
    class Constant:
        name = "constant"

        def index(self, documents: Collection) -> None:
            self.documents = documents

        def search(self, texts: Sequence[str], k: int) -> Hits:  # noqa: ARG002 - as every retriever
            return Hits(np.arange(len(texts)), np.array(["D1"] * len(texts), dtype=object), np.ones(len(texts)))

    own = Constant()
    assert make_retriever(own) is own
    assert found(indexed(own), ["a", "b"]) == [{"D1": 1.0}, {"D1": 1.0}]
    assert "Constant" in identity(own)


def returns(result: object) -> Callable[[Sequence[str], int], Any]:
    return lambda _texts, _k: result


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        ([{"D1": float("nan")}], DataError, "is NaN"),
        ([], SourceTypeError, "for each of the 1 texts, got 0 results"),
        (None, SourceTypeError, "got NoneType"),
        (["D1"], SourceTypeError, r"<lambda> must return a dict .* got 'D1' for text 0"),
        ([{"D1": "high"}], DataError, "<lambda>: score of document 'D1' must be a number, got 'high'"),
        ([{1: 0.5}], SourceTypeError, "document ids as text.*found value of type Int64"),
        ([{"": 0.5}], DataError, "<lambda>: 1 of 1 row lack a query_id or doc_id"),
        (Hits(np.array([0, 0]), np.array(["a", "a"], dtype=object), np.ones(2)), DuplicateError, "<lambda>: .* 'a'"),
        (
            Hits(np.array([1]), np.array(["a"], dtype=object), np.ones(1)),
            SourceTypeError,
            "index of a text that is not from 0 to 0",
        ),
        (Hits([0.0], ["a"], [1.0]), SourceTypeError, "columns of one length.*found value of type Float64"),  # type: ignore[arg-type]
        (Hits([[0]], ["a"], [1.0]), SourceTypeError, r"columns of one length.*type List"),  # type: ignore[arg-type]
        (Hits([0], ["a"], ["high"]), SourceTypeError, "and numbers, got could not convert"),  # type: ignore[arg-type]
    ],
)
def test_what_a_retriever_returns_is_checked(result: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        retrieve(Function(returns(result)), ["q"], ["text"], 5)


def test_results_stand_best_first_in_the_order_of_the_texts_and_are_cut_behind_a_tie() -> None:
    hits = [{"a": 1.0, "b": 3.0, "c": 2.0, "d": 2.0, "e": -0.0}, {}]
    frame = retrieve(Function(returns(hits)), ["z", "a"], ["", ""], 2)
    assert frame.rows() == [("z", "b", 3.0), ("z", "c", 2.0), ("z", "d", 2.0)]


def test_a_run_file_is_looked_up_by_the_ids_of_the_cases(tmp_path: Path) -> None:
    path = tmp_path / "old.run"
    path.write_text("q1 Q0 D1 1 0.9 x\nq1 Q0 D2 2 0.5 x\nq1 Q0 D3 3 0.5 x\nq9 Q0 D1 1 0.9 x\n")
    retriever = make_retriever(str(path))
    assert isinstance(retriever, RunFile)
    assert retriever.name == "old"
    assert found(retriever, ["-", "any", "text"], k=2) == [{}, {"D1": 0.9, "D2": 0.5, "D3": 0.5}, {}]
    with pytest.raises(DataError, match=r"'c1' \('text'\).*'q1', 'q9'"):
        retrieve(retriever, ["c1"], ["text"], 2)
    with pytest.raises(ParameterError, match="look_up"):
        retriever.search(["text"], 2)
    before = identity(retriever)
    path.write_text("q1 Q0 D1 1 0.8 x\n")
    assert identity(make_retriever(path)) != before


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("bm52", ParameterError, "Did you mean 'bm25'"),
        ("", ParameterError, "no retriever ''"),
        ("bm25(k1)", ParameterError, "cannot read the options"),
        ("bm25(k1=1_0)", ParameterError, "cannot read the options"),
        ("bm25(k1=1, k1=2)", ParameterError, "cannot read the options"),
        ("bm25(k2=1)", ParameterError, r"bm25 has no option 'k2'\. Its options: method, k1, b, "),
        ("bm25(k=1)", ParameterError, r"no option 'k'\. Did you mean 'k1'\?"),
        (
            "run('a.run', nmae='x')",
            ParameterError,
            r"run has no option 'nmae'\. Did you mean 'name'\? Its options: name, columns, ascending$",
        ),
        ("tfidf(k1=1)", ParameterError, "no retriever 'tfidf' takes options"),
        ("nowhere/x.run", DataError, "no such file"),
        ("old.run", DataError, r"old\.run: no such file"),
        ("my old.run.gz", DataError, r"my old\.run\.gz: no such file"),
        (BM25, SourceTypeError, r"make one, as in BM25\(\)"),
        (7, SourceTypeError, "cannot make a retriever of int"),
    ],
)
def test_what_is_no_retriever_is_said(spec: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make_retriever(spec)


def test_names_are_given_once() -> None:
    with pytest.raises(ParameterError, match="named 'bm25'"):
        make_retrievers(["bm25", BM25()])
    assert list(make_retrievers({"one": "bm25", "two": "bm25(b=0.5)"})) == ["one", "two"]
    with pytest.raises(ParameterError, match="retrievers is empty"):
        make_retrievers([])


def test_two_functions_of_one_name_are_told_how_to_be_named() -> None:
    with pytest.raises(ParameterError, match=r"named '<lambda>'.* dict"):
        make_retrievers([returns([]), returns([])])


def test_a_function_has_the_key_that_it_is_given() -> None:
    own = returns([])
    assert key_of(Function(own)) is None
    vars(own)["key"] = "v1"
    assert key_of(Function(own)) == {"retriever": "function", "key": "v1"}
    assert identity(Function(own, name="f")) == identity(Function(own, name="g"))
    vars(own)["key"] = object()
    with pytest.raises(ParameterError, match="the key of f must be something that JSON can hold"):
        identity(Function(own, name="f"))


def test_the_key_of_a_class_of_ours_is_not_that_of_a_users() -> None:
    class Stemmed(BM25):
        """Changes what is found."""

    assert key_of(Stemmed()) is None
    assert key_of(BM25()) is not None


def test_several_run_files_are_one_retriever(tmp_path: Path) -> None:
    for query in ("q1", "q2"):
        (tmp_path / f"{query}.run").write_text(f"{query} Q0 D1 1 0.9 x\n")
    one, two = (str(tmp_path / f"{query}.run") for query in ("q1", "q2"))
    retriever = make_retriever(f"run({one!r}, {two!r}, name='both')")
    assert retriever.name == "both"
    assert RunFile(one, two).name == "q1+q2"
    assert found(retriever, ["-", "a", "b"]) == [{}, {"D1": 0.9}, {"D1": 0.9}]
    with pytest.raises(DuplicateError, match=r"q1\.run has query 'q1'|has query 'q1', as .*q1\.run has"):
        found(RunFile(one, one), ["-", "a"])
    with pytest.raises(ParameterError, match="needs the path of a run file"):
        make_retriever("run")


def test_the_public_names() -> None:
    assert dh.BM25 is BM25
    assert isinstance(BM25(), dh.Retriever)


@pytest.fixture
def called_bm25(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a run file that is called like a retriever, in the working folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("bm25", "bm25(k1=1)"):
        (tmp_path / name).write_text("q Q0 d 1 1.0 x\n")
    return tmp_path / "bm25"


@pytest.mark.parametrize("spec", ["bm25", " bm25", "bm25(k1=1)"])
def test_a_name_that_is_a_retriever_is_that_retriever(spec: str, called_bm25: Path) -> None:
    assert called_bm25.is_file()
    with pytest.warns(
        DeadheatWarning, match=r"is the retriever, not the file of that name in this folder: write \./bm25"
    ):
        assert isinstance(make_retriever(spec), BM25)


def test_a_path_is_a_file_also_if_it_is_called_like_a_retriever(called_bm25: Path) -> None:
    for spec in ("./bm25", Path("bm25"), "run('bm25')", str(called_bm25), "./bm25(k1=1)"):
        assert isinstance(make_retriever(spec), RunFile)


def test_a_benchmark_says_which_of_a_retriever_and_a_file_it_took(called_bm25: Path) -> None:
    documents = Collection("two", ("d", "e"), ("red", "blue"), ((), ()))
    cases = Cases("mine", {}, (Case("q", "blue", ("e",), (1.0,)),))
    with pytest.warns(DeadheatWarning, match="bm25 is the retriever, not the file"):
        result = dh.bench(cases, documents, measures="RR", n_resamples=99)
    assert result.evaluations["mine", "(none)", "bm25"].means() == {"RR": 1.0}  # type: ignore[index]
    assert "bm25 is the retriever, not the file" in result.report()
    assert result.settings.systems == {"bm25": "BM25"}
    run = dh.bench(cases, documents, f"./{called_bm25.name}", "RR", n_resamples=99)
    assert run.evaluations["mine", "(none)", "bm25"].means() == {"RR": 0.0}  # type: ignore[index]
    assert "retrievers: bm25 is the run file bm25" in run.report()


def test_a_long_specification_is_no_name_of_a_file() -> None:
    pattern = "|".join(f"[a-z]{{{n},}}" for n in range(2, 80))
    assert make_retriever(f"bm25(token_pattern='{pattern}')").name.startswith("bm25(token_pattern=")
    with pytest.raises(ParameterError, match=r"no retriever 'bn25' takes options\. Did you mean 'bm25'"):
        make_retriever(f"bn25(token_pattern='{pattern}')")
    with pytest.raises(ParameterError, match="A retriever is 'bm25'"):
        make_retriever("what finds " * 50)
    with pytest.raises(DataError, match="cannot be opened: File name too long"):
        make_retriever(f"./{'x' * 300}.run")
