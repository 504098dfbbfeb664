"""Flips of a sign between real runs, by simulated tie-breaks."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest

import deadheat as dh
from deadheat.plugins.compare.flips import Flip, flip, summands
from deadheat.plugins.compare.sum_distributions import IndependentSum, match_distributions
from support.shared_data import (
    HPO_RUNS,
    LLM_RUNS,
    hpo_qrels,
    hpo_run,
    llm_qrels,
    llm_run,
    needs_shared_data,
    qrels_dict,
    run_dict,
)

N_TIE_BREAKS = 4_000
ALLOWED = {"nDCG@10": 0.002, "AP": 0.003, "RR": 0.0, "nDCG@3": 0.0, "P@10": 0.0, "RR@3": 0.0, "P@3": 0.0}
"""How far the probability may be off: for the normal approximation, the largest gap to a million simulated differences.

The orders of the first two are too many to list. The others have distributions that are exact, or exact for each query
and summed on a grid, which the simulation cannot tell from exact ones.
"""
METHODS = {"nDCG@10": {"normal"}, "AP": {"normal"}, "RR": {"exact", "grid"}, "nDCG@3": {"grid"}}


def break_ties(relevance: np.ndarray, scores: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Draw random keys, sort by score and key, and yield the relevance in rank order: (n_draws, n_docs)."""
    place = np.unique(-scores, return_inverse=True)[1]
    packed = (place << 56 | np.arange(len(scores))).astype(np.uint64)
    for _ in range(10):
        keys = rng.integers(0, 1 << 40, (N_TIE_BREAKS // 10, len(scores)), dtype=np.uint64) << np.uint64(16) | packed
        yield relevance[np.sort(keys, axis=1) & np.uint64(0xFFFF)]


def values_of(ranked: np.ndarray, judged: np.ndarray) -> list[np.ndarray]:
    """The values of each row from their definitions."""
    weights, rank = 1 / np.log2(np.arange(2, 12)), np.arange(1, ranked.shape[1] + 1)
    ideal = np.sort(judged)[::-1][:10] @ weights
    hits, n_relevant = ranked >= 1, (judged >= 1).sum()
    precision, reciprocal = np.cumsum(hits, axis=1) / rank, hits / rank
    return [
        ranked[:, :10] @ weights / ideal,
        (precision * hits).sum(axis=1) / n_relevant,
        reciprocal.max(axis=1),
        ranked[:, :3] @ weights[:3] / (np.sort(judged)[::-1][:3] @ weights[:3]),
        hits[:, :10].mean(axis=1),
        reciprocal[:, :3].max(axis=1),
        hits[:, :3].mean(axis=1),
    ]


@pytest.fixture(scope="module")
def simulated() -> dict[str, np.ndarray]:
    """Mean over queries in 4,000 random orders, of shape (n_measures, n_tie_breaks), by run."""
    rng = np.random.default_rng(2026)
    found = {}
    for name in LLM_RUNS:
        sums = np.zeros((len(ALLOWED), N_TIE_BREAKS))
        for query, judged in qrels_dict(llm_qrels()).items():
            scores = run_dict(llm_run(name))[query]
            relevance = np.array([judged.get(doc, 0.0) for doc in scores])
            draws = break_ties(relevance, np.array(list(scores.values())), rng)
            judgments = np.array(list(judged.values()), float)
            sums += np.hstack([values_of(ranked, judgments) for ranked in draws])
        found[name] = sums / len(qrels_dict(llm_qrels()))
    return found


def known_of(evaluation: dh.Evaluation) -> tuple[dh.Scores, IndependentSum | None]:
    """Return the scores of the one measure of an evaluation, and the distribution of each query."""
    (scores,) = evaluation
    return scores, summands(scores.measure, evaluation.placements, scores.kept)


def flip_between(
    one: dh.Scores, other: dh.Scores, of_one: IndependentSum | None, of_other: IndependentSum | None
) -> Flip:
    """Take all that is known about two runs."""
    variance = one.mean_tie_std**2 + other.mean_tie_std**2
    lowest, highest = one.mean_tie_min - other.mean_tie_max, one.mean_tie_max - other.mean_tie_min
    known = None if of_one is None or of_other is None else match_distributions(of_one, of_other)
    return flip(one.mean - other.mean, variance, lowest, highest, known)


def assert_agrees(found: Flip, one: dh.Scores, other: dh.Scores, drawn: np.ndarray, allowed: float) -> None:
    """The share of the drawn differences with the other sign is within four standard errors, and what is allowed."""
    share = (np.sign(one.mean - other.mean) * drawn < -1e-10).mean()
    error = math.sqrt(found.probability * (1 - found.probability) / N_TIE_BREAKS)
    assert abs(share - found.probability) <= 4 * error + allowed


@needs_shared_data
@pytest.mark.slow
@pytest.mark.parametrize("measure", ALLOWED)
def test_all_pairs_of_llm_runs_agree_with_random_tie_breaks(measure: str, simulated: dict[str, np.ndarray]) -> None:
    """Each of the 66 pairs."""
    known = {name: known_of(dh.evaluate(llm_qrels(), llm_run(name), [measure])) for name in LLM_RUNS}
    row, methods = list(ALLOWED).index(measure), set()
    for a, b in itertools.combinations(LLM_RUNS, 2):
        (one, of_one), (other, of_other) = known[a], known[b]
        found = flip_between(one, other, of_one, of_other)
        assert_agrees(found, one, other, simulated[a][row] - simulated[b][row], ALLOWED[measure])
        methods.add(found.method)
    assert methods == METHODS.get(measure, {"exact"})


GERMAN = [run for run in HPO_RUNS if run.startswith("de.minilm")]


@needs_shared_data
@pytest.mark.slow
def test_few_ties_of_real_runs_agree_with_random_tie_breaks() -> None:
    """Of 1,119 queries at most 225 have ties that count. A normal distribution is off by up to 0.1."""
    qrels, rng = qrels_dict(hpo_qrels("de.bm25")), np.random.default_rng(2027)
    known = {run: known_of(dh.evaluate(hpo_qrels(run), hpo_run(run), "RR")) for run in GERMAN}
    drawn = {run: np.zeros(N_TIE_BREAKS) for run in GERMAN}
    for run, query in itertools.product(GERMAN, qrels):
        scores = run_dict(hpo_run(run)).get(query, {})
        relevance, ranks = np.array([qrels[query].get(doc, 0) for doc in scores]), np.arange(1, len(scores) + 1)
        if len(set(scores.values())) < len(scores):
            draws = break_ties(relevance, np.array(list(scores.values())), rng)
            drawn[run] += np.concatenate([(ranked / ranks).max(axis=1) for ranked in draws]) / len(qrels)
        elif scores:
            drawn[run] += (relevance[np.argsort([-score for score in scores.values()])] / ranks).max() / len(qrels)
    methods = []
    for a, b in itertools.combinations(GERMAN, 2):
        (one, of_one), (other, of_other) = known[a], known[b]
        found = flip_between(one, other, of_one, of_other)
        assert_agrees(found, one, other, drawn[a] - drawn[b], 1e-4)
        methods.append(found.method)
    assert methods.count("grid") >= 4
    assert set(methods) == {"exact", "grid"}


def reciprocal_ranks(run: str) -> list[list[tuple[float, float]]]:
    """Values and probabilities of each query, counted in its first tie with a relevant document."""
    found = []
    for query, judged in qrels_dict(hpo_qrels(run)).items():
        scores = run_dict(hpo_run(run)).get(query, {})
        top = max((score for doc, score in scores.items() if judged.get(doc, 0) > 0), default=math.inf)
        above, n = sum(score > top for score in scores.values()), sum(score == top for score in scores.values())
        relevant = sum(score == top and judged.get(doc, 0) > 0 for doc, score in scores.items())
        first = range(1, n - relevant + 2) if n else ()
        found.append([(1 / (above + x), math.comb(n - x, relevant - 1) / math.comb(n, relevant)) for x in first])
    return [query for query in found if query]


def all_sums(parts: list[list[tuple[float, float]]]) -> tuple[np.ndarray, np.ndarray]:
    """Every combination of one value from each part, ascending, and its probability."""
    sums, probabilities = np.zeros(1), np.ones(1)
    for part in parts:
        values, shares = np.array(part).T
        sums, probabilities = np.add.outer(sums, values).ravel(), np.multiply.outer(probabilities, shares).ravel()
    order = np.argsort(sums)
    return sums[order], probabilities[order]


@needs_shared_data
@pytest.mark.slow
def test_grid_against_all_sums_of_real_runs() -> None:
    """Half precision ties 34 queries: the sums over half of them can be listed, twice, and what is too low counted."""
    tied, single = (reciprocal_ranks(run) for run in ("de.minilm-f16", "de.minilm-f32"))
    moved = [query for query in tied if len(query) > 1]
    assert len(moved) == 34
    fixed = sum(query[0][0] for query in tied if len(query) == 1) - sum(query[0][0] for query in single)
    (sums, p), (others, r) = all_sums(moved[:17]), all_sums(moved[17:])
    upto = np.concatenate(([0.0], np.cumsum(r)))[np.searchsorted(others, -fixed - sums, "right")] @ p
    known = {
        run: known_of(dh.evaluate(hpo_qrels(run), hpo_run(run), "RR")) for run in ("de.minilm-f16", "de.minilm-f32")
    }
    (one, of_one), (other, of_other) = known.values()
    found = flip_between(one, other, of_one, of_other)
    assert one.mean > other.mean
    assert found.method == "grid"
    assert found.probability == pytest.approx(upto, abs=2e-5)
