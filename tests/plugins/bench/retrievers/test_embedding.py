"""Embeddings as a retriever: searched in blocks, kept by model and content, resumed where they were interrupted."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from deadheat import Collection, bench
from deadheat.core.phases import set_watcher
from deadheat.errors import DataError, ParameterError
from deadheat.plugins.bench.cases import Case, Cases
from deadheat.plugins.bench.retrievers import Embedding, identity, make_retriever, retrieve
from deadheat.plugins.bench.retrievers.protocol import Strings
from support.letters import Letters
from support.searches import DOCUMENTS, found, indexed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from deadheat.api import FloatArray


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
    monkeypatch.setattr("deadheat.plugins.bench.retrievers.embedding.PART", 2)
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


def test_the_model_gets_what_was_asked_for(letters: type[Letters]) -> None:
    retriever = Embedding(
        "m", batch_size=7, device="cpu", revision="r2", query_prompt="q: ", document_prompt="d: ", cache=False
    )
    found(indexed(retriever), ["a"])
    assert letters.loaded == ["m"]
    assert letters.given == [{"device": "cpu", "revision": "r2"}]
    assert letters.asked == [("d: ", 7), ("q: ", 7)]
    assert identity(retriever) != identity(Embedding("m", query_prompt="q: ", document_prompt="d: "))


@pytest.mark.parametrize("name", ["document", "passage", "corpus"])
def test_documents_have_the_prompt_of_the_model(
    name: str, letters: type[Letters], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Letters, "prompts", {name: "p: ", "query": ""})
    found(indexed(Embedding("m", cache=False)), ["a"])
    assert letters.asked == [("p: ", 32), (None, 32)]


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
    with pytest.raises(ParameterError, match=r"cannot load the model 'un-known': un-known is not a local folder\. A"):
        indexed(make_retriever("un-known"))


@pytest.mark.usefixtures("letters")
def test_a_model_in_a_folder_is_known_by_its_files(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights").write_bytes(b"1")
    retriever = make_retriever(tmp_path / "model")
    assert isinstance(retriever, Embedding)
    assert retriever.name == "model"
    before = identity(retriever)
    (tmp_path / "model" / "weights").write_bytes(b"2")
    assert identity(make_retriever(tmp_path / "model")) != before


@pytest.mark.usefixtures("letters")
def test_a_model_is_known_by_every_byte_and_read_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with (tmp_path / name / "weights").open("wb") as file:
            file.truncate(40 << 20)  # without a byte on the disk but the one below
            file.seek(20 << 20)
            file.write(name[:1].encode())
    one, two = (Embedding(tmp_path / name, name="model") for name in ("one", "two"))
    assert identity(one) != identity(two)
    before = identity(one)
    (tmp_path / "one" / "weights").write_bytes(b"other")
    assert identity(one) == before


@pytest.mark.usefixtures("letters")
def test_many_texts_are_searched_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["a heart", "broken", "fever", "cab"]
    whole = found(indexed(Embedding("m")), texts)
    monkeypatch.setattr("deadheat.plugins.bench.retrievers.embedding.MAX_CELLS", 7)
    monkeypatch.setattr("deadheat.plugins.bench.retrievers.embedding.PART", 3)
    in_blocks = found(indexed(Embedding("m", cache=False)), texts)
    assert [pytest.approx(hits) for hits in whole] == in_blocks


@pytest.mark.usefixtures("letters")
@pytest.mark.parametrize("k", [1, 2, 50])
def test_a_product_that_is_nan_is_an_error_with_its_case_and_document(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # what infinity less infinity is; whether a processor gets there depends on how it adds up
    scores = np.array([[1, 1], [1, np.nan]], np.float32)
    monkeypatch.setattr("deadheat.plugins.bench.retrievers.embedding.products", lambda *_: scores)
    retriever = Embedding("org/large", cache=False)
    retriever.index(Collection("two", ("D1", "D2"), ("a fever", "pain a"), ((), ())))
    with pytest.raises(DataError, match=r"^large: .*'D2' .*'q' is NaN"):
        retrieve(retriever, ["p", "q"], ["a fever", "a heart"], k)


@pytest.mark.usefixtures("letters")
def test_embedding_says_what_it_does_and_advances_in_small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.plugins.bench.retrievers.embedding.PART", 2)
    told: list[str] = []
    steps: list[tuple[str, int | None, int]] = []

    @contextmanager
    def watch(what: str, n_steps: int | None = None) -> Iterator[Callable[[int], None]]:
        yield lambda done: steps.append((what, n_steps, done))

    case = Case("a", "heart attack", ("D4",), (1.0,))
    with set_watcher(watch):
        bench(Cases("mine", {}, (case,)), DOCUMENTS, Embedding("org/letters", cache=False), "RR", progress=told.append)
    n = len(set(Strings.of(DOCUMENTS).texts))
    assert told[0] == f"letters takes {len(DOCUMENTS)} documents of {DOCUMENTS.name}"
    own = [step for step in steps if step[1] == n]
    assert [done for *_, done in own] == [2] * (n // 2) + [1] * (n % 2)
