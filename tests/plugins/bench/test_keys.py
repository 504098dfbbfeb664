"""bench(): which runs of a folder are used again, and what is refused before anything is searched."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from deadheat import Collection, Ontology
from deadheat.errors import DataError, ParameterError, SourceTypeError
from deadheat.plugins.bench.cases import Case, Cases
from deadheat.plugins.bench.result import Key
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

DOCUMENTS = Collection("terms", ("D1", "D2"), ("fever", "pain"), ((), ()))
CASES = Cases(
    "mine",
    {},
    (
        Case("e1", "fever", ("D1",), (1.0,), language="en"),
        Case("g1", "Fieber", ("D1",), (1.0,), language="de"),
    ),
)


def always(texts: Sequence[str], k: int, *, doc: str) -> list[dict[str, float]]:  # noqa: ARG001 - as every retriever
    return [{doc: 1.0} for _ in texts]


def closure(doc: str) -> Callable[[Sequence[str], int], list[dict[str, float]]]:
    return lambda texts, k: always(texts, k, doc=doc)


class Own:
    """An object with parameters, and a key if it is given one."""

    name = "own"

    def __init__(self, doc: str, key: object = None) -> None:
        self.doc, self.key, self.n_searches = doc, key, 0

    def index(self, documents: Collection) -> None:
        """Need nothing."""

    def search(self, texts: Sequence[str], k: int) -> list[dict[str, float]]:
        self.n_searches += 1
        return always(texts, k, doc=self.doc)


def mean(output: Path, retriever: object) -> float:
    """Return Hit@1 of the English part, kept in a folder."""
    result = dh.bench(CASES, DOCUMENTS, {"own": retriever}, "Hit@1", output=output, n_resamples=99)
    return result.evaluations[Key("mine", "en", "own")].means()["Hit@1"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [closure, lambda doc: partial(always, doc=doc), Own, lambda doc: Own(doc).search],
    ids=["closure", "partial", "object", "method"],
)
def test_what_has_no_key_is_always_searched_again(make: Callable[[str], object], tmp_path: Path) -> None:
    assert mean(tmp_path, make("D1")) == 1.0
    assert mean(tmp_path, make("D2")) == 0.0
    (kept,) = (tmp_path / "runs").glob("mine.en.own.k50.parquet")
    assert dh.read_run(kept).to_dict() == {"e1": {"D2": 1.0}}


@pytest.mark.slow
def test_what_has_a_key_is_used_again_until_it_changes(tmp_path: Path) -> None:
    first, same, other = Own("D1", key={"doc": "D1"}), Own("D1", key={"doc": "D1"}), Own("D2", key={"doc": "D2"})
    assert [mean(tmp_path, one) for one in (first, same, other)] == [1.0, 1.0, 0.0]
    assert [one.n_searches for one in (first, same, other)] == [2, 0, 2]


@pytest.mark.slow
def test_a_function_with_a_key_is_used_again_until_it_changes(tmp_path: Path) -> None:
    old, new = partial(always, doc="D1"), partial(always, doc="D2")
    vars(old)["key"] = vars(new)["key"] = "v1"
    assert [mean(tmp_path, old), mean(tmp_path, new)] == [1.0, 1.0]
    vars(new)["key"] = "v2"
    assert mean(tmp_path, new) == 0.0


def test_a_key_that_json_cannot_hold_is_refused_before_anything_is_searched(tmp_path: Path) -> None:
    own = Own("D1", key=object())
    with pytest.raises(ParameterError, match="the key of own must be something that JSON can hold, got <object"):
        mean(tmp_path, own)
    assert own.n_searches == 0


@pytest.mark.slow
def test_runs_of_another_k_stand_beside_each_other(tmp_path: Path) -> None:
    for k in (50, 60, 50):
        told: list[str] = []
        dh.bench(CASES, DOCUMENTS, "bm25", "RR", k, tmp_path, n_resamples=99, progress=told.append)
    assert told == [f"bm25 on mine ({language}): finished before" for language in ("en", "de")]
    assert sorted(path.name for path in (tmp_path / "runs").glob("mine.en*.parquet")) == [
        "mine.en.bm25.k50.parquet",
        "mine.en.bm25.k60.parquet",
    ]


def test_a_run_file_that_lacks_a_language_is_refused_before_anything_is_searched(tmp_path: Path) -> None:
    for case in ("e1", "g1"):
        (tmp_path / f"{case}.run").write_text(f"{case} Q0 D1 1 0.9 x\n")
    english, german, own = tmp_path / "e1.run", tmp_path / "g1.run", Own("D1")
    with pytest.raises(DataError, match=r"mine \(de\), such as 'g1'"):
        dh.bench(CASES, DOCUMENTS, [own, english])
    assert own.n_searches == 0
    both = f"run({str(english)!r}, {str(german)!r}, name='both')"
    result = dh.bench(CASES, DOCUMENTS, both, "Hit@1", n_resamples=99)
    assert [one.means()["Hit@1"] for one in result.evaluations.values()] == [1.0, 1.0]


@pytest.mark.parametrize("collection", [[], {}, None, 5], ids=str)
def test_what_is_no_collection_is_said(collection: object) -> None:
    message = f"collection must be a Collection or a path, got {type(collection).__name__}"
    with pytest.raises(SourceTypeError, match=message):
        dh.bench(CASES, collection, "bm25")  # type: ignore[arg-type]


def test_synonyms_are_chosen_when_the_collection_is_read(tmp_path: Path) -> None:
    (tmp_path / "terms.csv").write_text("doc_id,text,synonyms\nD1,fever,Fieber\nD2,pain,\n")
    found = [
        dh.bench(CASES, tmp_path / "terms.csv", "bm25", "Hit@1", synonyms=one, n_resamples=99).evaluations[
            Key("mine", "de", "bm25")
        ]
        for one in ("exact", "none")
    ]
    assert [one.means()["Hit@1"] for one in found] == [1.0, 0.0]
    with raises_parts(ParameterError, found="a Collection", hint="give its path"):
        dh.bench(CASES, DOCUMENTS, synonyms="none")
    with raises_parts(ParameterError, argument="synonyms", given="some", allowed=("exact", "all", "none")):
        dh.bench(CASES, tmp_path / "terms.csv", synonyms="some")


def test_an_ontology_is_a_collection() -> None:
    terms = Ontology.from_parents({"D1": [], "D2": ["D1"]})
    with pytest.raises(DataError, match="no term with a label"):
        dh.bench(CASES, terms)  # type: ignore[arg-type]


def test_the_baseline_of_a_single_retriever_is_that() -> None:
    with raises_parts(ParameterError, argument="baseline", given="foo", allowed=("bm25",)):
        dh.bench(CASES, DOCUMENTS, "bm25", baseline="foo")
