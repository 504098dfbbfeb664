"""Results of the real packages, where they are installed: equal to their own numbers without ties, exact with them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import deadheat as dh

JUDGED = {"q": ["n1", "n3"]}


def test_langchain() -> None:
    documents = pytest.importorskip("langchain_core.documents")
    vectorstores = pytest.importorskip("langchain_core.vectorstores")
    embeddings = pytest.importorskip("langchain_core.embeddings")
    store = vectorstores.InMemoryVectorStore(embeddings.DeterministicFakeEmbedding(size=8))
    texts = ["one", "two", "two", "three", "four"]  # the same text has the same score
    pages = ["p1", "p2", "p3", "p1", "p4"]
    store.add_documents(
        [
            documents.Document(page_content=text, metadata={"page": page}, id=f"c{n}")
            for n, (text, page) in enumerate(zip(texts, pages, strict=True))
        ]
    )
    results = {"q": store.similarity_search_with_score("two", k=5)}
    run = dh.Run.of_results(results)
    assert set(run.to_dict()["q"]) == {f"c{n}" for n in range(5)}
    assert run.to_dict()["q"]["c1"] == run.to_dict()["q"]["c2"] == pytest.approx(1)
    assert dh.evaluate({"q": "c1"}, run, ["RR"]).means() == {"RR": (1 + 1 / 2) / 2}
    by_page = dh.Run.of_results(results, id="metadata.page", duplicates="best")
    assert set(by_page.to_dict()["q"]) == set(pages)
    assert by_page.notes == ("1 of 5 results repeat a document: its best counts",)
    assert dh.evaluate({"q": "p3"}, by_page, ["RR"]).means() == {"RR": (1 + 1 / 2) / 2}
    ranked = dh.Run.of_results({"q": store.as_retriever(search_kwargs={"k": 5}).invoke("four")})
    assert dh.evaluate({"q": "c4"}, ranked, ["RR"]).means() == {"RR": 1.0}


def test_llamaindex() -> None:
    schema = pytest.importorskip("llama_index.core.schema")
    evaluation = pytest.importorskip("llama_index.core.evaluation")
    nodes = [
        schema.NodeWithScore(
            node=schema.TextNode(
                id_=f"n{n}",
                text="text",
                relationships={schema.NodeRelationship.SOURCE: schema.RelatedNodeInfo(node_id=f"page{n // 2}")},
            ),
            score=1 - n / 8,
        )
        for n in range(5)
    ]
    ours = dh.evaluate(JUDGED, dh.Run.of_results({"q": nodes}), ["RR", "Hit@5", "P", "R", "AP", "nDCG"]).means()
    ids = [node.node.node_id for node in nodes]
    metrics = evaluation.resolve_metrics(["mrr", "hit_rate", "precision", "recall", "ap", "ndcg"])
    theirs = [metric().compute(expected_ids=JUDGED["q"], retrieved_ids=ids).score for metric in metrics]
    assert list(ours.values()) == pytest.approx(theirs, abs=1e-12)
    pages = dh.Run.of_results({"q": nodes}, id="node.ref_doc_id", duplicates="best").to_dict()
    assert pages == {"q": {"page0": 1.0, "page1": 0.75, "page2": 0.5}}
    for node in nodes:
        node.score = 0.5
    assert dh.evaluate({"q": "n3"}, dh.Run.of_results({"q": nodes}), ["P@1"]).means()["P@1"] == pytest.approx(1 / 5)
    response = pytest.importorskip("llama_index.core.base.response.schema").Response(response="", source_nodes=nodes)
    assert list(dh.Run.of_results({"q": response}).to_dict()["q"]) == ids


def test_results_of_llamaindex() -> None:
    schema = pytest.importorskip("llama_index.core.schema")
    evaluation = pytest.importorskip("llama_index.core.evaluation")
    retrievers = pytest.importorskip("llama_index.core.retrievers")

    class Retriever(retrievers.BaseRetriever):  # type: ignore[misc, name-defined]  # of a library that may be missing
        def _retrieve(self, query: Any) -> list[Any]:  # noqa: ANN401 - of that library
            ids = query.query_str.split()
            return [schema.NodeWithScore(node=schema.TextNode(id_=one, text=one), score=0.5) for one in ids]

    names = ["mrr", "precision", "recall", "ap"]
    evaluator = evaluation.RetrieverEvaluator.from_metric_names(names, retriever=Retriever())
    expected = {"a b c": ["b"], "d e": ["e", "f"], "g": ["h"]}
    results = [evaluator.evaluate(question, ids) for question, ids in expected.items()]
    assert dh.read_qrels(results).to_dict() == {question: dict.fromkeys(ids, 1) for question, ids in expected.items()}
    ours = dh.evaluate(results, results, ["RR", "P", "R", "AP"]).means()
    for ours_of_one, name in zip(ours.values(), names, strict=True):
        theirs = sum(result.metric_vals_dict[name] for result in results) / len(results)
        assert ours_of_one == pytest.approx(theirs, abs=1e-12)


def test_haystack() -> None:
    haystack = pytest.importorskip("haystack")
    retrievers = pytest.importorskip("haystack.components.retrievers.in_memory")
    evaluators = pytest.importorskip("haystack.components.evaluators")
    stores = pytest.importorskip("haystack.document_stores.in_memory")
    store = stores.InMemoryDocumentStore()
    texts = ["apple pie", "apple tart", "pear", "apple apple"]
    store.write_documents([haystack.Document(content=text, meta={"doc_id": f"d{n}"}) for n, text in enumerate(texts)])
    answer = retrievers.InMemoryBM25Retriever(store).run(query="apple")
    run = dh.Run.of_results({"q": answer}, id="meta.doc_id")
    # d0 and d1 are as long and tie; d1 is second or third of the three found
    assert dh.evaluate({"q": "d1"}, run, ["RR"]).means()["RR"] == pytest.approx((1 / 2 + 1 / 3) / 2)
    truth = [[haystack.Document(content="apple apple"), haystack.Document(content="apple tart")]]
    names = ("DocumentMRREvaluator", "DocumentMAPEvaluator", "DocumentNDCGEvaluator", "DocumentRecallEvaluator")
    found = [
        getattr(evaluators, name)().run(ground_truth_documents=truth, retrieved_documents=[answer["documents"]])[
            "score"
        ]
        for name in names
    ]
    in_order = dh.evaluate({"q": ["d3", "d1"]}, run, ["RR", "AP", "nDCG", "R"], ties="input").means()
    assert list(in_order.values())[:3] == pytest.approx(found[:3], abs=1e-12)


def test_chroma() -> None:
    chromadb = pytest.importorskip("chromadb")
    collection = chromadb.EphemeralClient().create_collection("phrases", metadata={"hnsw:space": "cosine"})
    vectors = [[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [1.0, 1.0]]
    terms = [{"term": f"t{n % 2}"} for n in range(4)]
    collection.add(ids=[f"d{n}" for n in range(4)], embeddings=vectors, metadatas=terms, documents=[*"abcd"])
    results = collection.query(query_embeddings=[[1.0, 0.0], [0.0, 1.0]], n_results=4)
    run = dh.Run.of_results(results)
    for query, ids, distances in zip("01", results["ids"], results["distances"], strict=True):
        assert list(run.to_dict()[query]) == ids
        assert list(run.to_dict()[query].values()) == [-one for one in distances]
    # d0 and d2 are parallel, so they tie at 0
    assert dh.evaluate({"0": "d2", "1": "d1"}, run, "RR").to_dict() == {"0": {"RR": 0.75}, "1": {"RR": 1.0}}
    by_term = dh.Run.of_results(results, id="metadata.term", duplicates="best")
    assert dh.evaluate({"0": "t0", "1": "t1"}, by_term, "RR").means() == {"RR": 1.0}
    bare = collection.query(query_embeddings=[[1.0, 0.0]], n_results=2, include=["metadatas"])
    assert set(dh.Run.of_results({"q": bare}).to_dict()["q"].values()) == {-1, -2}


def test_semantic_search() -> None:
    util = pytest.importorskip("sentence_transformers.util")
    corpus = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [1.0, 1.0]], np.float32)
    hits = util.semantic_search(np.array([[1.0, 0.0], [0.0, 1.0]], np.float32), corpus)
    run = dh.Run.of_results(dict(zip("ab", hits, strict=True)), id=lambda hit: f"d{hit['corpus_id']}")
    assert set(run.to_dict()["a"]) == {"d0", "d1", "d2", "d3"}
    # d0 and d2 are parallel, so they tie at 1
    assert dh.evaluate({"a": "d2", "b": "d1"}, run, ["RR"]).to_dict() == {"a": {"RR": 0.75}, "b": {"RR": 1.0}}


class Model:
    """What InformationRetrievalEvaluator calls of a SentenceTransformer."""

    similarity_fn_name = "cosine"
    model_card_data = SimpleNamespace(set_evaluation_metrics=lambda *_, **__: None)

    def __init__(self, texts: list[str], seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.vectors = {text: rng.normal(size=6) for text in texts}

    def encode_query(self, texts: list[str], **_: object) -> Any:  # noqa: ANN401 - a tensor
        import torch  # type: ignore[import-not-found, unused-ignore]

        return torch.tensor(np.array([self.vectors[text] for text in texts]))

    encode = encode_document = encode_query

    def similarity(self, left: Any, right: Any) -> Any:  # noqa: ANN401 - tensors
        from sentence_transformers import util  # type: ignore[import-not-found, unused-ignore]

        return util.cos_sim(left, right)


def test_prediction_files_of_sentence_transformers(tmp_path: Path) -> None:
    evaluation = pytest.importorskip("sentence_transformers.evaluation")
    queries, corpus = {f"q{n}": f"query {n}" for n in range(5)}, {f"d{n}": f"document {n}" for n in range(20)}
    relevant = {"q0": {"d1", "d2"}, "q1": {"d3"}, "q2": {"d19"}, "q3": {"d0", "d5"}, "q4": {"d7"}}
    evaluator = evaluation.InformationRetrievalEvaluator(
        queries, corpus, relevant, name="x", write_predictions=True, map_at_k=[20]
    )
    theirs = evaluator(Model([*queries.values(), *corpus.values()], seed=0), output_path=str(tmp_path))
    (path,) = tmp_path.glob("*_predictions*.jsonl")
    ours = dh.evaluate(relevant, path, ["nDCG@10", "AP@20", "RR@10"]).means()
    names = ("x_cosine_ndcg@10", "x_cosine_map@20", "x_cosine_mrr@10")
    assert list(ours.values()) == pytest.approx([theirs[name] for name in names], abs=1e-12)


def test_prediction_and_result_files_of_mteb(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    mteb = pytest.importorskip("mteb")
    retrieval = pytest.importorskip("mteb.abstasks.retrieval")
    loaders = pytest.importorskip("mteb.abstasks.retrieval_dataset_loaders")
    task_metadata = pytest.importorskip("mteb.abstasks.task_metadata")
    datasets = pytest.importorskip("datasets")
    rng = np.random.default_rng(0)
    relevant = {
        f"q{n}": {f"d{place}": int(rng.integers(1, 3)) for place in rng.choice(30, 3, replace=False)} for n in range(6)
    }
    corpus = [{"id": f"d{n}", "title": "", "text": f"document {n}"} for n in range(30)]
    queries = [{"id": f"q{n}", "text": f"query {n}"} for n in range(6)]

    class Task(retrieval.AbsTaskRetrieval):  # type: ignore[misc, name-defined, unused-ignore]
        metadata = mteb_metadata(task_metadata)

        def load_data(self, **_: object) -> None:
            split = loaders.RetrievalSplitData(
                corpus=datasets.Dataset.from_list(corpus),
                queries=datasets.Dataset.from_list(queries),
                relevant_docs=relevant,
                top_ranked=None,
            )
            self.dataset = {"default": {"test": split}}
            self.data_loaded = True

    results, meta = tmp_path_factory.mktemp("results"), pytest.importorskip("mteb.models").ModelMeta
    other, theirs = (
        mteb.evaluate(
            Encoder(Model([row["text"] for row in (*corpus, *queries)], seed=seed), meta, name),
            Task(),
            prediction_folder=tmp_path,
            cache=mteb.ResultCache(results),
            overwrite_strategy="always",
            show_progress_bar=False,
        )
        .task_results[0]
        .scores["test"][0]
        for name, seed in (("me/other", 2), ("me/local", 1))
    )
    board = dh.leaderboard(results)
    expected = {"me/other": other["main_score"], "me/local": theirs["main_score"]}
    assert dict(zip(board.models, board.mean_low, strict=True)) == pytest.approx(expected)
    ours = dh.evaluate(relevant, tmp_path, ["nDCG@10", "AP@1000", "R@10", "RR@10"]).means()
    names = ("ndcg_at_10", "map_at_1000", "recall_at_10", "mrr_at_10")
    assert list(ours.values()) == pytest.approx([theirs[name] for name in names], abs=1e-5)  # MTEB rounds
    (path,) = tmp_path.iterdir()
    assert path.name == "LocalRetrieval_predictions.json"
    tied = json.loads(path.read_text())
    tied["default"]["test"] = {query: dict.fromkeys(found, 0.5) for query, found in tied["default"]["test"].items()}
    path.write_text(json.dumps(tied))
    # 3 of 30 documents are relevant, in any order
    assert dh.evaluate(relevant, tmp_path, ["P@10"]).means()["P@10"] == pytest.approx(3 / 30)


@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)  # BEIR's files
def test_folders_of_beir(tmp_path: Path) -> None:
    loader = pytest.importorskip("beir.datasets.data_loader").GenericDataLoader
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "title": "", "text": "t"}\n{"_id": "d2", "text": "t"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "t"}\n{"_id": "q2", "text": "t"}\n')
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td2\t1\n")
    (tmp_path / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td2\t1\n")
    _, _, theirs = loader(str(tmp_path)).load(split="test")
    assert dh.read_qrels(tmp_path).to_dict() == theirs
    run = {"q1": {"d1": 0.5, "d2": 0.5}, "q2": {"d2": 0.5}}
    assert dh.evaluate(tmp_path, run, ["RR"]).to_dict() == dh.evaluate(theirs, run, ["RR"]).to_dict()


def test_the_client_of_elasticsearch() -> None:
    transport = pytest.importorskip("elastic_transport")
    hits = [{"_index": "i", "_id": doc, "_score": 1.5} for doc in ("a", "b")]
    response = transport.ObjectApiResponse(body={"took": 1, "hits": {"max_score": 1.5, "hits": hits}}, meta=None)
    run = dh.Run.of_results({"q": response})
    assert dh.evaluate({"q": "b"}, run, ["RR"]).means() == {"RR": (1 + 1 / 2) / 2}


def mteb_metadata(module: Any) -> Any:  # noqa: ANN401 - of a package that may not be there
    return module.TaskMetadata(
        name="LocalRetrieval",
        description="local",
        reference=None,
        dataset={"path": "local", "revision": "1"},
        type="Retrieval",
        category="t2t",
        modalities=["text"],
        eval_splits=["test"],
        eval_langs=["eng-Latn"],
        main_score="ndcg_at_10",
        date=("2020-01-01", "2020-01-02"),
        domains=[],
        task_subtypes=[],
        license="mit",
        annotations_creators="derived",
        dialect=[],
        sample_creation="found",
        bibtex_citation="",
    )


class Encoder:
    """What MTEB calls of a model."""

    def __init__(self, model: Model, meta: Any, name: str) -> None:  # noqa: ANN401 - of a package that may not be there
        self.model = model
        self.mteb_model_meta = meta.create_empty({"name": name, "revision": "1"})

    def encode(self, inputs: Any, **_: object) -> np.ndarray[Any, Any]:  # noqa: ANN401 - batches
        texts = [text for batch in inputs for text in batch["text"]]
        return np.array([self.model.vectors[text] for text in texts], np.float32)

    def similarity(self, left: Any, right: Any) -> Any:  # noqa: ANN401 - arrays
        return self.model.similarity(left, right)

    def similarity_pairwise(self, left: Any, right: Any) -> Any:  # noqa: ANN401 - arrays
        return (left * right).sum(1)
