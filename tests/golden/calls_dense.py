"""Arrays: matrices of scores, embeddings, sampled negatives, columns, batches."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np

import deadheat as dh
from golden.data import QRELS, Draw, draw_columns
from golden.entries import entry
from golden.plain import Numbers
from golden.results import means_of, scores_of

N_QUERIES, N_DOCS = 10, 30
MEASURES = ["nDCG@5", "RR", "AP", "R@5", "Hit@3", "P@2", "DCG", "AUC", "RBP"]
OF_SAMPLES = ["nDCG@5", "RR", "R@5", "Hit@3", "DCG"]


def draw_matrix(seed: int, n_levels: int) -> np.ndarray:
    """Draw scores of a few levels for each query and document."""
    draw = Draw(seed)
    rows = [[draw.below(n_levels) / 2 for _ in range(N_DOCS)] for _ in range(N_QUERIES)]
    return np.array(rows)


SCORES = draw_matrix(71, 6)
RELEVANCE = (draw_matrix(72, 8) - 2.5).clip(0) * 2  # levels 0, 1 and 2
EXCLUDED = (draw_matrix(73, 5) == 0) & (RELEVANCE == 0)
MASK = draw_matrix(74, 8) > 0
LISTS = [np.flatnonzero(row).tolist() for row in RELEVANCE]
OPTIONS: dict[str, Numbers] = {
    "plain": {},
    "excluded": {"exclude": EXCLUDED},
    "masked": {"mask": MASK},
    "both": {"exclude": EXCLUDED, "mask": MASK},
    "skip": {"no_relevant": "skip"},
}


@entry(OPTIONS)
def of_matrix(options: Numbers) -> Numbers:
    return means_of(dh.evaluate_dense(SCORES, RELEVANCE, MEASURES, **options))


@entry(["best", "worst", "random"])
def under_policy(policy: str) -> Numbers:
    rng = 3 if policy == "random" else None
    return dh.evaluate_dense(SCORES, RELEVANCE, MEASURES, ties=policy, rng=rng).means()


@entry()
def of_lists() -> Numbers:
    """Relevant documents as lists, scores as 32-bit floats."""
    return scores_of(dh.evaluate_dense(SCORES.astype(np.float32), LISTS, "nDCG@5")["nDCG@5"])


@entry(["together", "apart"])
def of_samples(positives: str) -> Numbers:
    """What samples of the other documents would give, on average."""
    options: Numbers = {"sampled": 8, "positives": positives}
    try:
        return means_of(dh.evaluate_dense(SCORES, LISTS, OF_SAMPLES, **options))
    except dh.DeadheatError as error:
        return {"refused": type(error).__name__}


@entry(OF_SAMPLES)
def of_one_positive(measure: str) -> Numbers:
    """Leave-one-out: a single relevant document among 8 sampled ones."""
    single = [docs[:1] for docs in LISTS]
    return scores_of(dh.evaluate_dense(SCORES, single, measure, sampled=8, exclude=EXCLUDED)[measure])


@entry()
def with_items() -> Numbers:
    """Items that are counted in the pass of accuracy."""
    evaluation = dh.evaluate_dense(SCORES, RELEVANCE, ["nDCG@5"], items=True)
    profile = evaluation.item_profile(5)
    return {"means": profile.means(), "items": profile.to_polars()}


@entry(["dot", "cosine"])
def of_embeddings(similarity: str) -> Numbers:
    draw = Draw(75)
    queries = np.array([[draw.below(5) - 2.0 for _ in range(4)] for _ in range(N_QUERIES)]) + 0.5
    documents = np.array([[draw.below(5) - 2.0 for _ in range(4)] for _ in range(N_DOCS)]) + 0.5
    return means_of(dh.evaluate_embeddings(queries, documents, LISTS, MEASURES, similarity=similarity, block=7))


@entry()
def of_batches() -> Numbers:
    """Batches, of which one is saved and resumed, and two are merged."""
    first, second = dh.Accumulator(MEASURES), dh.Accumulator(MEASURES)
    first.add(SCORES[:4], RELEVANCE[:4], query_ids=np.arange(4))
    second.add(SCORES[4:], RELEVANCE[4:], query_ids=np.arange(4, N_QUERIES))
    with tempfile.TemporaryDirectory() as folder:
        first.save(f"{folder}/batches")
        resumed = dh.Accumulator(MEASURES)
        resumed.resume(f"{folder}/batches")
    resumed.merge(second)
    return {"means": resumed.means(), "summary": resumed.summary(), "evaluation": means_of(resumed.evaluation())}


@entry({"groups": {"groups": [0, 0, 0, 1, 1, 1, 1]}, "sizes": {"group_sizes": [3, 4]}})
def from_arrays(groups: Numbers) -> Numbers:
    labels, scores = [1, 0, 0, 0, 2, 1, 0], [0.5, 0.5, 0.1, 0.3, 0.3, 0.3, 0.9]
    qrels, run = dh.from_arrays(labels, scores, **groups)
    return means_of(dh.evaluate(qrels, run, MEASURES))


@entry(["expected", "doc_id"])
def of_columns(policy: str) -> Numbers:
    """Each column of scores of a table as a run of its own."""
    table: Any = [row for row in draw_columns() if row["query_id"] in QRELS]
    with_labels = [{**row, "relevance": QRELS[row["query_id"]].get(row["doc_id"], 0)} for row in table]
    import polars as pl

    evaluations = dh.evaluate_columns(pl.DataFrame(with_labels), measures=["RR", "nDCG@3"], ties=policy)
    return {name: means_of(evaluation) for name, evaluation in evaluations.items()}


@entry()
def pareto_levels() -> Numbers:
    import polars as pl

    table = pl.DataFrame(draw_columns())
    run = dh.pareto_levels(table, ["text", "image"])
    return dict(list(run.to_dict().items())[:5])
