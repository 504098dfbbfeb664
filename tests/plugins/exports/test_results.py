"""Results of other libraries become runs, and judgments qrels, by their form."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import DataError, DeadheatWarning, DuplicateError, ParameterError, SourceTypeError
from support.error_parts import raises_parts
from support.stand_ins import (
    HaystackDocument,
    LangChainDocument,
    NodeWithScore,
    RelatedNode,
    Response,
    TextNode,
    semantic_search,
)

# One query: d1 and d3 are relevant; d2 and d3 tie, so d3 is second or third.
IDS, SCORES = ["d1", "d2", "d3", "d4"], [0.9, 0.5, 0.5, 0.25]
RELEVANT = {"q": ["d1", "d3"]}
AP = (1 + (2 / 2 + 2 / 3) / 2) / 2
STRICT = [0.9, 0.75, 0.5, 0.25]
AP_STRICT = (1 + 2 / 3) / 2


def average_precision(ids: list[str]) -> float:
    """Return AP of one order, as its formula reads."""
    ranks = [rank for rank, doc in enumerate(ids, 1) if doc in RELEVANT["q"]]
    return sum(n / rank for n, rank in enumerate(ranks, 1)) / len(RELEVANT["q"])


def test_the_expectations_are_means_over_orders() -> None:
    orders = [["d1", *some, "d4"] for some in permutations(["d2", "d3"])]
    assert pytest.approx(np.mean([average_precision(ids) for ids in orders])) == AP
    assert average_precision(IDS) == AP_STRICT


def langchain_pairs(scores: list[float]) -> Any:  # noqa: ANN401 - objects of any library
    return [(LangChainDocument("text", {"doc_id": doc}, id=doc), score) for doc, score in zip(IDS, scores, strict=True)]


def llamaindex(scores: list[float]) -> Any:  # noqa: ANN401 - objects of any library
    return [NodeWithScore(TextNode(doc), score) for doc, score in zip(IDS, scores, strict=True)]


def haystack(scores: list[float]) -> Any:  # noqa: ANN401 - objects of any library
    return [HaystackDocument(doc, {"doc_id": doc}, score, id=doc) for doc, score in zip(IDS, scores, strict=True)]


def sentence_transformers(scores: list[float]) -> Any:  # noqa: ANN401 - objects of any library
    return [{"corpus_id": doc, "score": score} for doc, score in zip(IDS, scores, strict=True)]


def hits(scores: list[float]) -> Any:  # noqa: ANN401 - objects of any library
    return [{"_index": "i", "_id": doc, "_score": score} for doc, score in zip(IDS, scores, strict=True)]


FORMS: dict[str, Callable[[list[float]], Any]] = {
    "pairs of LangChain": langchain_pairs,
    "nodes of LlamaIndex": llamaindex,
    "a response of LlamaIndex": lambda scores: Response(source_nodes=llamaindex(scores)),
    "documents of Haystack": haystack,
    "a component of Haystack": lambda scores: {"documents": haystack(scores)},
    "semantic_search": sentence_transformers,
    "hits of Elasticsearch": hits,
    "a response of Elasticsearch": lambda scores: {"took": 3, "hits": {"max_score": 0.9, "hits": hits(scores)}},
    "a response of its client": lambda scores: Response(body={"hits": {"hits": hits(scores)}}),
    "a response of Solr": lambda scores: {
        "response": {
            "numFound": 4,
            "docs": [dict(zip(("id", "score"), one, strict=True)) for one in zip(IDS, scores, strict=True)],
        }
    },
    "names of tables": lambda scores: [{"docno": doc, "score": score} for doc, score in zip(IDS, scores, strict=True)],
    "objects": lambda scores: [SimpleNamespace(id=doc, score=score) for doc, score in zip(IDS, scores, strict=True)],
    "pairs": lambda scores: list(zip(IDS, scores, strict=True)),
    "a generator": lambda scores: iter(hits(scores)),
    "an array": lambda scores: np.array(haystack(scores), dtype=object),
    "numbers of NumPy": lambda scores: haystack(list(np.array(scores, np.float64))),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_forms_that_are_known(form: Callable[[list[float]], Any]) -> None:
    run = dh.Run.of_results({"q": form(SCORES)}, name="mine")
    assert run.to_dict() == {"q": dict(zip(IDS, SCORES, strict=True))}
    assert (run.name, run.notes) == ("mine", ())
    assert dh.evaluate(RELEVANT, run, ["AP"]).means() == {"AP": pytest.approx(AP, abs=1e-12)}
    assert dh.evaluate(RELEVANT, dh.Run.of_results({"q": form(STRICT)}), ["AP"]).means() == {"AP": AP_STRICT}


WITHOUT_SCORES = {
    "documents of LangChain": [LangChainDocument("text", id=doc) for doc in IDS],
    "nodes of LlamaIndex": [NodeWithScore(TextNode(doc)) for doc in IDS],
    "documents of Haystack": [HaystackDocument(id=doc) for doc in IDS],
    "text nodes": [TextNode(doc) for doc in IDS],
    "sorted hits": [{"_id": doc, "_score": None, "sort": [1]} for doc in IDS],
    "hits with their fields left out": [{"_id": doc} for doc in IDS],
    "ids": IDS,
}


@pytest.mark.parametrize("results", WITHOUT_SCORES.values(), ids=WITHOUT_SCORES)
def test_without_scores_results_are_ranked_lists(results: object) -> None:
    run = dh.Run.of_results({"q": results})
    assert run.notes == ("ranked lists without scores: in strict order, no ties",)
    assert dh.evaluate(RELEVANT, run, ["AP"]).means() == {"AP": AP_STRICT}
    qrels = dh.Qrels.of_results({"q": results})
    assert qrels.to_dict() == {"q": dict.fromkeys(IDS, 1)}
    assert qrels.notes == ("relevant documents are listed without grades: each has relevance 1",)


@pytest.mark.parametrize(
    ("pick", "score"),
    [
        ("metadata.doc_id", None),
        (lambda pair: pair[0].metadata["doc_id"], lambda pair: pair[1]),
        ("metadata.doc_id", lambda pair: pair[1]),
        (lambda pair: pair[0].metadata["doc_id"], "metadata.rating"),
    ],
)
def test_names_paths_and_functions(pick: Any, score: Any) -> None:  # noqa: ANN401 - as `of_results` takes them
    pairs = [
        (LangChainDocument("text", {"doc_id": doc, "rating": score}, id=f"chunk of {doc}"), score)
        for doc, score in zip(IDS, SCORES, strict=True)
    ]
    run = dh.Run.of_results({"q": pairs}, id=pick, score=score)
    assert run.to_dict() == {"q": dict(zip(IDS, SCORES, strict=True))}


def test_keys_may_have_dots_and_values_may_be_text() -> None:
    results = [{"fields": {"doc.id": 7}, "sim": 0.5}, {"fields": {"doc.id": 8}, "sim": 0.25}]
    assert dh.Run.of_results({1: results}, id="fields.doc.id", score="sim").to_dict() == {"1": {"7": 0.5, "8": 0.25}}


def test_a_score_is_found_beside_an_id_that_is_named() -> None:
    results = [{"page": "a", "score": 0.5}, {"page": "b", "score": 0.25}]
    assert dh.Run.of_results({"q": results}, id="page").to_dict() == {"q": {"a": 0.5, "b": 0.25}}


class Tensor:
    """A number of another library, as a tensor without dimensions."""

    ndim = 0

    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return self.value


def test_numbers_of_other_libraries_become_plain() -> None:
    scores = [Tensor(0.5), np.float32(0.25), np.int64(0), Decimal("0.1")]
    for results in (
        [{"_id": doc, "_score": score} for doc, score in zip("abcd", scores, strict=True)],
        list(zip("abcd", scores, strict=True)),
        [SimpleNamespace(id=doc, score=score) for doc, score in zip("abcd", scores, strict=True)],
    ):
        found = dh.Run.of_results({"q": results}).to_dict()["q"]
        assert found == {"a": 0.5, "b": 0.25, "c": 0.0, "d": Decimal("0.1")}
        assert [type(score) for score in found.values()] == [float, float, int, Decimal]


def test_results_of_one_query_may_differ_in_form() -> None:
    mixed = [("a", 0.5), {"_id": "b", "_score": 0.25}, {"doc_id": "c", "score": 0.1}, HaystackDocument(id="d", score=0)]
    assert dh.Run.of_results({"q": mixed}).to_dict() == {"q": {"a": 0.5, "b": 0.25, "c": 0.1, "d": 0}}
    with pytest.raises(DataError, match=r"result 1 .*'q' has no score"):
        dh.Run.of_results({"q": [{"_id": "a"}, {"_id": "b", "_score": 1.0}]})


def test_lists_of_semantic_search_have_queries_by_their_place() -> None:
    found = semantic_search([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]])
    run = dh.Run.of_results(found)
    assert run.to_dict() == {"0": {"0": 1.0, "2": 1.0, "1": 0.0}, "1": {"1": 1.0, "0": 0.0, "2": 0.0}}
    assert run.notes == ("queries are called by their place in the list, from 0",)
    texts = ["x", "y", "z"]
    named = dh.Run.of_results(dict(zip("ab", found, strict=True)), id=lambda hit: texts[hit["corpus_id"]])
    assert named.to_dict()["a"] == {"x": 1.0, "z": 1.0, "y": 0.0}


@pytest.mark.parametrize("twice", [(math.nan, 0.5), (0.5, math.nan), ("high", 0.5), (0.5, "high")])
def test_the_best_of_what_is_no_number_is_refused(twice: tuple[Any, Any]) -> None:
    results = {"q": [("p1", twice[0]), ("p2", 0.9), ("p1", twice[1])]}
    with pytest.raises(DataError, match=r"'p1' .*'q' is (NaN|.*'high')"):
        dh.Run.of_results(results, duplicates="best")


CHUNKS = [("p1", 0.5), ("p2", 0.9), ("p1", 0.9), ("p3", 0.1), ("p1", 0.2)]  # of pages, in no order


def test_a_document_that_comes_twice() -> None:
    with pytest.raises(DuplicateError, match=r"'p1' .*'q' \(results 1, 3, 5\)") as caught:
        dh.Run.of_results({"q": CHUNKS})
    assert "give duplicates='best'" in str(caught.value)
    best = dh.Run.of_results({"q": CHUNKS}, duplicates="best")
    assert list(best.to_dict()["q"].items()) == [("p2", 0.9), ("p1", 0.9), ("p3", 0.1)]
    assert best.notes == ("2 of 5 results repeat a document: its best counts",)
    first = dh.Run.of_results({"q": CHUNKS}, duplicates="first")
    assert list(first.to_dict()["q"].items()) == [("p1", 0.5), ("p2", 0.9), ("p3", 0.1)]
    assert first.notes == ("2 of 5 results repeat a document: its first counts",)
    # p1 and p2 tie at the top by their best scores
    assert dh.evaluate({"q": "p1"}, best, ["RR"]).means() == {"RR": (1 + 1 / 2) / 2}
    assert dh.evaluate({"q": "p1"}, first, ["RR"]).means() == {"RR": 1 / 2}


def test_repeats_among_random_results() -> None:
    rng = np.random.default_rng(7)
    rows = pl.DataFrame(
        {
            "query": rng.integers(0, 40, 2000).astype(str),
            "doc": rng.integers(0, 25, 2000).astype(str),
            "score": rng.integers(0, 6, 2000) / 4,
        }
    ).sort("query", "score", descending=[False, True], maintain_order=True)
    results = {
        str(query): [HaystackDocument(id=doc, score=score) for _, doc, score in some.iter_rows()]
        for (query,), some in rows.group_by("query", maintain_order=True)
    }
    wanted = {
        "best": rows.group_by("query", "doc").agg(pl.col("score").max()),
        "first": rows.unique(["query", "doc"], keep="first"),
        "lowest": rows.group_by("query", "doc").agg(pl.col("score").min()),
    }
    found = {
        "best": dh.Run.of_results(results, duplicates="best"),
        "first": dh.Run.of_results(results, duplicates="first"),
    }
    for name, run in found.items():
        assert sorted(run.to_polars().rows()) == sorted(wanted[name].select("query", "doc", "score").rows())
        n_left_out = rows.height - wanted[name].height
        assert run.notes == (f"{n_left_out:,} of 2,000 results repeat a document: its {name} counts",)
    with pytest.warns(DeadheatWarning, match="ascending puts the lowest first"):  # they are sorted from the highest
        lowest = dh.Run.of_results(results, duplicates="best", ascending=True)
    assert sorted(lowest.to_polars().rows()) == sorted((q, d, -s + 0.0) for q, d, s in wanted["lowest"].rows())


@pytest.mark.parametrize("repeated", ["best", "first"])
def test_a_document_that_comes_twice_in_a_ranked_list(repeated: Any) -> None:  # noqa: ANN401 - a literal
    run = dh.Run.of_results({"q": ["a", "b", "a", "c"]}, duplicates=repeated)
    assert run.to_dict() == {"q": {"a": -1, "b": -2, "c": -4}}
    assert len(run.notes) == 2


def test_repeats_are_said_in_the_report() -> None:
    run = dh.Run.of_results({"q": CHUNKS}, duplicates="best")
    assert "2 of 5 results repeat a document" in str(dh.evaluate({"q": "p1"}, run, ["RR"]).notes)


def test_distances_are_warned_of() -> None:
    near = {"q": [("a", 0.1), ("b", 0.4)], "r": [("c", 0.0), ("d", 0.0)]}
    with pytest.warns(DeadheatWarning, match="run: the scores of every query rise .* write ascending=True"):
        dh.Run.of_results(near)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = dh.Run.of_results(near, ascending=True)
        dh.Run.of_results({**near, "s": [("a", 0.4), ("b", 0.1)]})
    assert run.notes == ("lower scores rank first, as asked: they are negated",)
    assert dh.evaluate({"q": "a", "r": "d"}, run, ["RR"]).to_dict() == {"q": {"RR": 1.0}, "r": {"RR": 0.75}}


UNDERSCORED = ["_relevance_score", "_rankingScore", "_score"]  # of LanceDB, Meilisearch, and Elasticsearch


@pytest.mark.parametrize("name", UNDERSCORED)
def test_scores_whose_names_begin_with_an_underscore(name: str, tmp_path: Path) -> None:
    """They were passed over without a word, and their ties lost: RR was 1/2."""
    rows = [{"query_id": "q", "doc_id": doc, name: 0.5} for doc in "ab"]
    hits = {"q": [{"id": doc, name: 0.5, "_rowid": 7} for doc in "ab"]}
    sources: list[Any] = [hits, dh.Run.of_results(hits), rows, pl.DataFrame(rows)]
    sources.append(dh.Run({"q": {"hits": hits["q"]}}))
    sources.append([{"query_id": "q", "retrieved_ids": ["a", "b"], name: [0.5, 0.5]}])
    for file, text in {
        "x.jsonl": "\n".join(map(json.dumps, rows)),
        "lists.jsonl": json.dumps({"query_id": "q", "results": hits["q"]}),
        "x.json": json.dumps(hits),
        "x.csv": pl.DataFrame(rows).write_csv(),
    }.items():
        (tmp_path / file).write_text(text)
        sources.append(tmp_path / file)
    for source in sources:
        assert dh.evaluate({"q": ["b"]}, source, "RR").means() == {"RR": (1 + 1 / 2) / 2}


def test_the_score_of_a_reranker_comes_before_that_of_the_search() -> None:
    hit = {"id": "a", "_distance": 0.2, "_score": 7.5, "_relevance_score": 0.25}
    assert dh.Run.of_results({"q": [hit]}).to_dict() == {"q": {"a": 0.25}}


@pytest.mark.parametrize("name", ["_similar", "_additional.distance", "_additional.score", "metadata.distance"])
def test_other_numbers_that_may_be_scores_are_named_with_both_directions(name: str) -> None:
    inner, _, own = name.partition(".")
    results = [{"id": doc, inner: {own: 0.5} if own else 0.5, "_rowid": 7, "_version": 2} for doc in "ab"]
    with pytest.warns(
        DeadheatWarning, match=rf"but {name} is a number .*, with ascending=True if lower ones"
    ) as caught:
        dh.Run({"q": results})
    assert len(caught) == 1


def test_numbers_of_databases_are_no_scores() -> None:
    with warnings.catch_warnings(action="error"):
        run = dh.Run({"q": [{"_id": doc, "_rowid": n, "_version": 1, "_seq_no": n} for n, doc in enumerate("ab")]})
    assert run.notes == ("ranked lists without scores: in strict order, no ties",)


@pytest.mark.parametrize("name", ["distances", "_scores", "retrieval_scores"])
def test_a_list_of_numbers_beside_the_documents_is_named(name: str, tmp_path: Path) -> None:
    rows = [{"query_id": q, "retrieved_ids": ["a", "b"], name: [0.1, 0.5], "tokens": [7]} for q in "qr"]
    (path := tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for source in (rows, pl.DataFrame(rows), pl.DataFrame(rows).lazy(), path):
        with pytest.warns(DeadheatWarning, match=rf"'{name}' has a number for each .* ascending=True .* if lower ones"):
            assert dh.Run(source).to_dict()["q"] == {"a": -1, "b": -2}
    rows[1] |= {name: [0.1]}
    with warnings.catch_warnings(action="error"):
        dh.Run(rows)


@pytest.mark.parametrize("name", ["distance", "_distance", "vector_distance"])
def test_the_direction_of_distances_is_asked_for(name: str) -> None:
    """The advice was ascending=True, which puts the worst of Milvus' COSINE and IP first: RR was 1/3."""
    hits = {"q": [{"id": doc, name: number} for doc, number in (("a", 0.9), ("b", 0.5), ("c", 0.3))]}
    message = "if lower ones are better, .* ascending=True .* if higher ones are, as of COSINE and IP in Milvus, do not"
    for read in (dh.Run, dh.Run.of_results):
        with pytest.raises(DataError, match=f"results have a {name} and no score.*{message}"):
            read(hits)
    rows = [{"query_id": "q", "doc_id": hit["id"], name: hit[name]} for hit in hits["q"]]
    for table in (rows, pl.DataFrame(rows)):
        with pytest.raises(DataError, match=f"{message}: in both cases give columns={{'score': '{name}'}}"):
            dh.Run(table)
    similar = dh.Run.of_results(hits, score=name)
    assert dh.evaluate({"q": "a"}, similar, "RR").means() == {"RR": 1.0}


LISTED: dict[str, Any] = {
    "pairs": [("a", 0.9), ("b", 0.5), ("c", 0.3)],
    "hits": [{"id": "a", "score": 0.9}, {"id": "b", "score": 0.5}, {"id": "c", "score": 0.3}],
}


@pytest.mark.parametrize("form", LISTED)
def test_lists_that_are_read_from_their_end_are_warned_of(form: str, tmp_path: Path) -> None:
    falling, rising = {"q": LISTED[form]}, {"q": LISTED[form][::-1]}
    for results, ascending, order in ((falling, True, "fall"), (rising, False, "rise")):
        (path := tmp_path / "x.json").write_text(json.dumps(results))
        (lines := tmp_path / "x.jsonl").write_text(json.dumps({"query_id": "q", "results": results["q"]}))
        for source in (results, path, lines):
            with pytest.warns(DeadheatWarning, match=f"the scores of every query {order} from the first result"):
                run = dh.Run(source, ascending=ascending)
            assert dh.evaluate({"q": "a"}, run, "RR").means() == {"RR": 1 / 3 if ascending else 1.0}
        with pytest.warns(DeadheatWarning, match=f"the scores of every query {order} from the first result"):
            dh.Run.of_results(results, ascending=ascending)
        with warnings.catch_warnings(action="error"):
            dh.Run(results, ascending=not ascending)
            dh.Run({**results, "r": results["q"][::-1]}, ascending=ascending)  # of which nobody knows
            dh.Run({"q": results["q"][:2]}, ascending=ascending)  # two are in this order by chance


def test_of_many_lists_each_may_show_another_order() -> None:
    rising: dict[str, Any] = {f"q{n}": [("a", 0.1), ("b", 0.5), ("c", 0.9)] for n in range(150)}
    with pytest.warns(DeadheatWarning, match="the scores of every query rise"):
        dh.Run(rising)
    with warnings.catch_warnings(action="error"):
        dh.Run({**rising, "last": [("a", 0.9), ("b", 0.5)]})


def test_distances_by_their_name() -> None:
    results: dict[str, list[dict[str, Any]]] = {"q": [{"id": doc, "distance": 0.1} for doc in "ab"]}
    run = dh.Run.of_results(results, score="distance", ascending=True)
    assert dh.evaluate({"q": "b"}, run, ["RR"]).means() == {"RR": 0.75}
    assert dh.Qrels.of_results(results).to_dict() == {"q": {"a": 1, "b": 1}}
    paired = {"q": [(result, 1 - result["distance"]) for result in results["q"]]}
    assert dh.Run.of_results(paired).to_dict() == {"q": {"a": 0.9, "b": 0.9}}


def test_the_best_of_distances_is_the_lowest() -> None:
    run = dh.Run.of_results({"q": CHUNKS}, duplicates="best", ascending=True)
    assert dh.evaluate({"q": "p3"}, run, ["RR"]).means() == {"RR": 1.0}  # 0.1, below p1's 0.2 and p2's 0.9
    assert dh.evaluate({"q": "p1"}, run, ["RR"]).means() == {"RR": 1 / 2}


CHROMA: dict[str, Any] = {  # as collection.query(query_texts=["first", "second"]) returns it
    "ids": [["a", "b", "c"], ["b"]],
    "embeddings": None,
    "documents": [["text a", "text b", "text c"], ["text b"]],
    "metadatas": [[{"term": "t1"}, {"term": "t2"}, {"term": "t1"}], [{"term": "t2"}]],
    "distances": [[0.125, 0.5, 0.5], [0.25]],
}


def test_results_of_chroma(tmp_path: Path) -> None:
    alone = [{name: found and [found[n]] for name, found in CHROMA.items()} for n in (0, 1)]
    right = {"0": {"a": -0.125, "b": -0.5, "c": -0.5}, "1": {"b": -0.25}}
    (tmp_path / "run.json").write_text(json.dumps(CHROMA))
    (tmp_path / "named.json").write_text(json.dumps(dict(zip("pq", alone, strict=True))))
    for source in (CHROMA, str(tmp_path / "run.json")):
        assert dh.Run(source).to_dict() == right
        assert "distances of Chroma: the score of a result is minus its distance" in dh.Run(source).notes
    named = dict(zip("pq", right.values(), strict=True))
    for run in (dh.Run.of_results(dict(zip("pq", alone, strict=True))), dh.Run(tmp_path / "named.json")):
        assert run.to_dict() == named
    # b and c are as far, so b is second or third; the term t1 is found first, and again further away
    assert dh.evaluate({"0": "b", "1": "b"}, CHROMA, "RR").to_dict()["0"]["RR"] == pytest.approx((1 / 2 + 1 / 3) / 2)
    terms = dh.Run.of_results(CHROMA, id="metadata.term", duplicates="best").to_dict()
    assert terms == {"0": {"t1": -0.125, "t2": -0.5}, "1": {"t2": -0.25}}
    assert dh.Run.of_results(CHROMA, score="distance", ascending=True).to_dict()["1"] == {"b": -0.25}
    ranked = dh.Run.of_results({**CHROMA, "distances": None, "documents": None})
    assert ranked.to_dict()["0"] == {"a": -1, "b": -2, "c": -3}


def test_results_of_chroma_are_of_a_query_or_of_a_system_as_the_qrels_say() -> None:
    one = {name: found and found[:1] for name, found in CHROMA.items()}
    assert dh.evaluate({"p": "a"}, {"p": one}, "RR").means() == {"RR": 1.0}
    both: Any = dh.evaluate({"0": "a", "1": "b"}, {"mine": CHROMA, "theirs": CHROMA}, "RR")
    assert [one.means() for one in both.values()] == [{"RR": 1.0}] * 2


@pytest.mark.parametrize(
    ("results", "options", "message"),
    [
        ({"q": CHROMA}, {}, "it has the results of several queries: give it alone"),
        ({**CHROMA, "distances": [[0.1], [0.2]]}, {}, "the lists of ids, distances, metadatas, documents differ"),
        ({**CHROMA, "distances": [[0.1, 0.2, math.nan], [0.2]]}, {}, "document 'c' for query '0' is NaN"),
        (CHROMA, {"ascending": True}, "ascending must be False, as the nearest ranks first already"),
    ],
)
def test_results_of_chroma_that_are_refused(results: Any, options: dict[str, Any], message: str) -> None:  # noqa: ANN401 - of any form
    with pytest.raises((DataError, ParameterError, SourceTypeError), match=message):
        dh.evaluate({"0": "a"}, dh.Run.of_results(results, **options), "RR")


@pytest.mark.parametrize("make", [dh.Run, dh.Run.of_results])
def test_ranks_have_a_direction(make: Callable[..., dh.Run]) -> None:
    with raises_parts(ParameterError, argument="ascending", given=True):
        make({"q": ["a", "b"]}, ascending=True)


@dataclass
class Odd:
    name: str
    passage: str = ""


REFUSED: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    (
        {"q": [Odd("a")]},
        {},
        SourceTypeError,
        r"result 1 for query 'q', got Odd.*; write dh.Run.of_results\(results, id=.name.\)",
    ),
    (
        {"q": [LangChainDocument("t", {"source": "a.pdf", "page": 3})]},
        {},
        SourceTypeError,
        r'write dh.Run.of_results\(results, id="metadata.source"\), or another of \'metadata.page\'',
    ),
    (
        {"q": [HaystackDocument("t", {"url": "x"}, id="d")]},
        {"id": "meta.ur"},
        DataError,
        r"result 1 for query 'q' has no id at 'meta.ur'. Did you mean 'meta.url'\?",
    ),
    ({"q": [{"_id": "a"}, {"_id": None}]}, {}, DataError, "the id of result 2 for query 'q' is None"),
    ({"q": [{"page": None}]}, {"id": "page"}, DataError, "the id of result 1 for query 'q' is None"),
    (
        {"q": [{"_id": 1.5}]},
        {},
        SourceTypeError,
        "the id of result 1 for query 'q' is not an id, expected text or a whole number, got float 1.5",
    ),
    ({"q": [{"_id": "a", "x": 1}]}, {"score": "y"}, DataError, "result 1 for query 'q' has no score at 'y'"),
    (
        {"q": [{"_id": "a", "_score": 1.0}, {"_id": "b", "_score": None}]},
        {},
        DataError,
        "result 2 for query 'q' has no score, others have one, expected a score for all or for none",
    ),
    ({"q": [{"_id": "a", "_score": float("nan")}]}, {}, DataError, "is NaN"),
    ({"q": [{"_id": "a", "_score": "0.5"}]}, {}, DataError, "is not a number: '0.5'"),
    (
        {"q": [("a", 1.0)], "r": ["b"]},
        {},
        SourceTypeError,
        "documents for query 'q' have a score, those for 'r' have none",
    ),
    (
        {"q": {"retriever": {"documents": []}}},
        {},
        SourceTypeError,
        "its keys are 'retriever': give the list that is in it",
    ),
    ({"q": None}, {}, SourceTypeError, "best first, got NoneType None for query 'q'"),
    ({"q": "a"}, {}, SourceTypeError, "got str 'a' for query 'q'"),
    (
        langchain_pairs(SCORES),
        {},
        SourceTypeError,
        r"cannot tell queries apart in list, expected a dict \{query: results\}",
    ),
    (
        {"q": [{"_index": "x", "_id": "a"}, {"_index": "y", "_id": "a"}]},
        {},
        DuplicateError,
        r"it is in x, y: write id=lambda hit: hit\['_index'\] \+ '/' \+ hit\['_id'\]",
    ),
    ({}, {}, DataError, "it has no queries"),
    (
        {"q": [{"id": "a", "distance": 0.1}]},
        {},
        DataError,
        "if lower ones are better, as of L2, give ascending=True .*; if higher ones are, as of COSINE and IP in Milvus",
    ),
    ({"q": [{"document": {"id": "a"}}]}, {}, SourceTypeError, r'write dh.Run.of_results\(results, id="document.id"\)'),
    ({"q": ["a", 7]}, {}, SourceTypeError, "expected one or the other"),
    ({"q": [{"_id": "7"}], "r": [{"_id": 7}]}, {}, SourceTypeError, "expected one or the other"),
    (
        {"q": ["a"]},
        {"duplicates": "last"},
        ParameterError,
        "duplicates must be one of 'error', 'best', 'first', 'trust', got 'last'",
    ),
    ({"q": ["a"]}, {"id": 7}, ParameterError, "id must be a name, a dotted path, or a function of one result, got 7"),
    ({"q": [LangChainDocument("t", {"a": 1})]}, {"id": lambda _: None}, DataError, "has no id at 'id'"),
]


@pytest.mark.parametrize(("results", "options", "error", "message"), REFUSED)
def test_results_that_are_refused(results: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:  # noqa: ANN401 - anything
    with pytest.raises(error, match=message):
        dh.Run.of_results(results, **options)


def test_a_run_of_objects_is_that_of_results() -> None:
    run = dh.Run.of_results({"q": haystack(SCORES)})
    assert run.to_dict() == dh.Run({"q": haystack(SCORES)}).to_dict() == dh.Run({"q": hits(SCORES)}).to_dict()


def test_judgments() -> None:
    ratings = [{"_index": "i", "_id": "a", "rating": 3}, {"_index": "i", "_id": "b", "rating": 0}]
    assert dh.Qrels.of_results({"q": ratings}).to_dict() == {"q": {"a": 3, "b": 0}}
    graded = [LangChainDocument("t", {"doc_id": doc, "grade": grade}) for doc, grade in (("a", 2), ("b", 1), ("a", 1))]
    qrels = dh.Qrels.of_results({"q": graded}, id="metadata.doc_id", relevance="metadata.grade", duplicates="best")
    assert qrels.to_dict() == {"q": {"a": 2, "b": 1}}
    # the score of a search is no relevance
    assert dh.Qrels.of_results({"q": haystack(SCORES)}).to_dict() == {"q": dict.fromkeys(IDS, 1)}


def test_the_document_of_a_node() -> None:
    nodes = [
        NodeWithScore(TextNode(f"n{n}", relationships={"1": RelatedNode(f"p{n // 2}")}), 1 - n / 4) for n in range(4)
    ]
    run = dh.Run.of_results({"q": nodes}, id="node.ref_doc_id", duplicates="best")
    assert run.to_dict() == {"q": {"p0": 1.0, "p1": 0.5}}


GRADED = [{"id": "a", "grade": 1}, {"id": "b", "grade": 3}]


@pytest.mark.parametrize("name", ["grade", "rating", "relevance", "confidence"])
@pytest.mark.parametrize("beside", [{}, {"score": None}, {"x": 7}])
def test_grades_of_a_language_model_are_scores(name: str, beside: dict[str, Any], tmp_path: Path) -> None:
    """They were ignored, so that b was second."""
    results = [{"id": one["id"], name: one["grade"], **beside} for one in GRADED]
    objects = [SimpleNamespace(**one) for one in results]
    (tmp_path / "x.json").write_text(json.dumps({"q": results}))
    (tmp_path / "x.jsonl").write_text(json.dumps({"query_id": "q", "results": results}) + "\n")
    for run in (
        dh.Run.of_results({"q": results}),
        dh.Run.of_results({"q": objects}),
        dh.Run({"q": results}),
        dh.read_run(tmp_path / "x.json"),
        dh.read_run(tmp_path / "x.jsonl"),
    ):
        assert run.to_dict() == {"q": {"a": 1, "b": 3}}
        assert run.notes == (f"the {name} of each result counts as its score",)
        assert dh.evaluate({"q": "b"}, run, "RR").means() == {"RR": 1.0}


def test_a_score_comes_before_a_grade() -> None:
    results = [{"id": "a", "score": 0.5, "grade": 1}, {"id": "b", "score": 0.25, "grade": 3}]
    assert dh.Run.of_results({"q": results}).to_dict() == {"q": {"a": 0.5, "b": 0.25}}


def test_grades_of_some_results_are_an_error() -> None:
    with pytest.raises(DataError, match=r"result 2 .*'q' has no grade"):
        dh.Run.of_results({"q": [{"id": "a", "grade": 1}, {"id": "b", "grade": None}]})
    with pytest.raises(SourceTypeError, match=r"'q' .*score, .*'r' .*grade"):
        dh.Run.of_results({"q": [{"id": "a", "score": 1}], "r": [{"id": "a", "grade": 1}]})
    with pytest.raises(DataError, match=r"'8/10'; float\(text.partition\(\"/\"\)\[0\]\) reads grades such as \"8\""):
        dh.Run.of_results({"q": [{"id": "a", "grade": "8/10"}, {"id": "b", "grade": "7/10"}]})


@pytest.mark.parametrize("make", [dh.Run, dh.Run.of_results])
@pytest.mark.parametrize("text", ["3", "8/10", "high"])
def test_a_pair_with_text_names_it(make: Callable[..., dh.Run], text: str) -> None:
    with pytest.raises(DataError, match=f"score of document 'b' for query 'q' is not a number: '{text}'") as caught:
        dh.evaluate({"q": "b"}, make({"q": [("b", text)]}), "RR")
    assert ("reads grades" in str(caught.value)) == (text != "high")
    results = {"q": [("b", "8/10"), ("a", "7")]}
    run = dh.Run.of_results(results, score=lambda one: float(one[1].partition("/")[0]))
    assert run.to_dict() == {"q": {"b": 8.0, "a": 7.0}}


UNKNOWN: dict[str, tuple[Any, str]] = {
    "a key": ([{"id": "a", "points": 3}, {"id": "b", "points": 1}], "points"),
    "an attribute": ([SimpleNamespace(id="a", points=3), SimpleNamespace(id="b", points=1)], "points"),
    "metadata": (
        [LangChainDocument("t", {"relevance_score": n, "page": n}, id=f"d{n}") for n in (3, 2)],
        "metadata.relevance_score",
    ),
}


@pytest.mark.parametrize(("results", "name"), UNKNOWN.values(), ids=UNKNOWN)
def test_numbers_that_are_not_used_are_named(results: Any, name: str) -> None:  # noqa: ANN401 - of any form
    message = rf"'?{name}'? is a number in every one.*of_results\(results, score='{name}'\)"
    with pytest.warns(DeadheatWarning, match=message):
        run = dh.Run.of_results({"q": results})
    assert run.notes == ("ranked lists without scores: in strict order, no ties",)
    assert next(iter(dh.Run.of_results({"q": results}, score=name).to_dict()["q"].values())) == 3


def test_misspelled_relevance_is_named() -> None:
    with pytest.warns(DeadheatWarning, match=r"all count as 1, but ratng is a number.*relevance='ratng'"):
        dh.Qrels.of_results({"q": [{"id": "a", "ratng": 0}]})


@pytest.mark.parametrize(
    "results",
    [
        [{"id": "a", "rank": 1}, {"id": "b", "rank": 2}],
        [{"_id": "a", "_seq_no": 4}, {"_id": "b", "_seq_no": 5}],
        [{"id": 1, "text": "x"}, {"id": 2, "text": "y"}],
        [{"id": "a", "points": 1}, {"id": "b", "points": "n/a"}],
        [{"id": "a", "points": 1}],
        [{"id": "a", "rating": "PG-13"}, {"id": "b", "rating": "R"}],
        [{"id": "a", "is_new": True}, {"id": "b", "is_new": False}],
    ],
)
def test_what_is_no_number_of_every_result_is_no_warning(results: object) -> None:
    assert dh.Run.of_results({"q": results}).notes == ("ranked lists without scores: in strict order, no ties",)


def test_objects_may_lack_what_the_first_has() -> None:
    """The form of the first was taken for that of all: its lack of a score dropped those of the others."""
    with pytest.raises(DataError, match=r"result 1 .*'q' has no score"):
        dh.Run.of_results({"q": [SimpleNamespace(id="a"), SimpleNamespace(id="b", score=3.0)]})


@pytest.mark.parametrize("options", [{}, {"id": "id"}])
def test_an_id_that_is_none_is_said_to_be(options: dict[str, Any]) -> None:
    """The error said "write id='id'", and then "Did you mean 'id'?"."""
    with pytest.raises(DataError, match=r"id of result 1 .*'q' is None"):
        dh.Run.of_results({"q": [{"id": None, "score": 3}]}, **options)


def test_advice_where_an_id_is_names_ids_alone() -> None:
    """A number that is no whole one, None and true are refused as ids."""
    results = {"q": [{"x": 1.5, "y": None, "flag": True, "page": "p1", "part": 3}]}
    with pytest.raises(SourceTypeError, match=r'results, id="page"\), or another of \'part\'$'):
        dh.Run.of_results(results)
    assert dh.Run.of_results(results, id="page").to_dict() == {"q": {"p1": -1.0}}
    with pytest.raises(SourceTypeError, match=r"give the ids themselves$"):
        dh.Run.of_results({"q": [{"x": 1.5, "flag": True}]})


def test_lists_that_are_filled_up_with_minus_1() -> None:
    """No advice makes a retrieved document of padding: neither of lists and arrays, nor of tables."""
    ids = np.array([[7, 3, -1, -1], [5, -1, -1, -1]])
    lists: list[Any] = [
        {"q": [7, 3, -1, -1]},
        {"q": ["7", "3", "-1", "-1"]},
        {"q": [(7, 0.5), (7, 0.4), (-1, 0.0), (-1, 0.0)]},
        dict(enumerate(ids)),
        [("q", 7, 0.5), ("q", 7, 0.4), ("q", -1, 0.0), ("q", -1, 0.0)],
        pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["-1", "-1"], "score": [0.5, 0.4]}),
    ]
    for source in lists:
        with pytest.raises(DuplicateError, match=r"'-1' .*FAISS and others fill lists up with -1.*first$") as caught:
            dh.evaluate({"q": ["7"]}, source, "RR")
        assert "duplicates=" not in str(caught.value)
    kept = {query: [doc for doc in row.tolist() if doc != -1] for query, row in enumerate(ids)}
    assert dh.Run(kept).to_dict() == {"0": {"7": -1.0, "3": -2.0}, "1": {"5": -1.0}}
    with pytest.raises(DuplicateError, match="judged 2 times") as of_judgments:
        dh.Qrels([("q", "-1", 1), ("q", "-1", 2)]).check_duplicates()
    assert "FAISS" not in str(of_judgments.value)
