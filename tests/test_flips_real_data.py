"""Flips of a sign between real runs, by simulated tie-breaks."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest

import deadheat as dh
from deadheat.stats.flips import Flip, flip, sum_distribution
from shared_data import LLM_RUNS, llm_qrels, llm_run, needs_shared_data, qrels_dict, run_dict

N_TIE_BREAKS = 10_000
ALLOWED = {"nDCG@10": 0.002, "AP": 0.003, "RR": 0.055, "P@10": 0.0, "RR@3": 0.0, "P@3": 0.0}
"""How far the probability may be off: for the normal approximation, the largest gap to a million simulated differences.

RR takes few values. Its difference is 0 in up to a tenth of the tie-breaks, which turn no sign, but half of which a
continuous distribution counts. The orders of the last three can be listed: they are exact.
"""


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
        hits[:, :10].mean(axis=1),
        reciprocal[:, :3].max(axis=1),
        hits[:, :3].mean(axis=1),
    ]


@pytest.fixture(scope="module")
def simulated() -> dict[str, np.ndarray]:
    """Mean over queries in 10,000 random orders, of shape (n_measures, n_tie_breaks), by run."""
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


def flip_between(one: dh.Scores, other: dh.Scores, placements: tuple[dh.Placements, dh.Placements]) -> Flip:
    """Take all that is known about two runs."""
    variance = one.mean_tie_std**2 + other.mean_tie_std**2
    lowest, highest = one.mean_tie_min - other.mean_tie_max, one.mean_tie_max - other.mean_tie_min
    system, baseline = (
        sum_distribution(scores.measure, of, scores.kept) for scores, of in zip((one, other), placements, strict=True)
    )
    known = None if system is None or baseline is None else (system, baseline)
    return flip(one.mean - other.mean, variance, lowest, highest, known)


@needs_shared_data
@pytest.mark.slow
@pytest.mark.parametrize("measure", ALLOWED)
def test_all_pairs_of_llm_runs_agree_with_random_tie_breaks(measure: str, simulated: dict[str, np.ndarray]) -> None:
    """Each of the 66 pairs, within four standard errors of the simulation and the error of the approximation."""
    runs = {name: dh.evaluate(llm_qrels(), llm_run(name), [measure]) for name in LLM_RUNS}
    row = list(ALLOWED).index(measure)
    for pair in itertools.combinations(LLM_RUNS, 2):
        first, second = (runs[name] for name in pair)
        found = flip_between(first[measure], second[measure], (first.placements, second.placements))
        drawn = simulated[pair[0]][row] - simulated[pair[1]][row]
        share = (np.sign(first[measure].mean - second[measure].mean) * drawn < -1e-10).mean()
        error = math.sqrt(found.probability * (1 - found.probability) / N_TIE_BREAKS)
        assert found.method == ("normal" if ALLOWED[measure] else "exact")
        assert abs(share - found.probability) <= 4 * error + ALLOWED[measure], pair
