"""Condorcet: how many other documents a document beats, one against one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.plugins.fusion.base import register
from deadheat.plugins.fusion.of_ranks import RankMethod
from deadheat.plugins.fusion.pool import Pool

AT_ONCE = 1 << 22  # pairs of documents that are compared at once


@register
@dataclass(frozen=True)
class Condorcet(RankMethod):
    """The documents that a document beats, and half of those with which it draws (Copeland's count).

    Each run votes for the one that it ranks higher, and half for each of two with equal scores. One that a run lacks is
    below all that it has. A document beats another one with more than half of the votes.

    Montague and Aslam sort by these votes, which have cycles: the order of documents in one is an accident of the sort.
    """

    name: ClassVar[str] = "condorcet"
    formula: ClassVar[str] = "wins + draws / 2, over the other candidates"
    source: ClassVar[str] = "Montague and Aslam, CIKM 2002, doi:10.1145/584792.584881; Copeland 1951"

    def fuse(self, pool: Pool) -> FloatArray:
        """Return the score of each candidate."""
        of_rows = [(run.n_documents[run.query] - run.above).astype(np.float64) for run in pool.runs]
        levels = pool.matrix(of_rows)  # 0 where a run lacks it
        weights = self.weights_of(pool)
        bounds = pool.bounds
        scores = np.zeros(len(pool.query))
        for queries in _blocks(np.diff(bounds)):
            size = int(np.diff(bounds)[queries].max())
            rows, is_there = _padded(bounds, queries, size)
            scores[rows[is_there]] = _count_wins(levels[:, rows], is_there, weights)[is_there]
        return scores


@register
@dataclass(frozen=True)
class WeightedCondorcet(Condorcet):
    """As condorcet, with a weight for the vote of each run."""

    name: ClassVar[str] = "w_condorcet"
    formula: ClassVar[str] = "as condorcet, with w_i votes"
    takes_weights: ClassVar[bool] = True


def _blocks(sizes: IntArray) -> Iterator[IntArray]:
    """Give the queries in blocks of about one number of candidates, whose pairs memory can hold."""
    order = np.argsort(sizes, kind="stable")
    order = order[sizes[order] > 0]
    n_pairs = np.cumsum(sizes[order].astype(np.int64) ** 2)
    for queries in np.split(order, np.flatnonzero(np.diff(n_pairs // AT_ONCE)) + 1):
        if len(queries):
            yield queries


def _padded(bounds: IntArray, queries: IntArray, size: int) -> tuple[IntArray, BoolArray]:
    """Return the candidates of some queries, of shape (n_queries, size), and which of these places are used."""
    places = np.arange(size)
    is_there = places < (bounds[queries + 1] - bounds[queries])[:, np.newaxis]
    return np.where(is_there, bounds[queries][:, np.newaxis] + places, 0), is_there


def _count_wins(levels: FloatArray, is_there: BoolArray, weights: FloatArray) -> FloatArray:
    """Return the wins and half the draws of each candidate.

    Parameters
    ----------
    levels : ndarray of float, shape (n_runs, n_queries, size)
        Higher ones rank higher.
    is_there : ndarray of bool, shape (n_queries, size)
    weights : ndarray of float, shape (n_runs,)
    """
    balance = np.zeros((*is_there.shape, is_there.shape[1]))
    for weight, level in zip(weights, levels, strict=True):
        balance += weight * np.sign(level[:, :, np.newaxis] - level[:, np.newaxis, :])
    tolerance = 1e-12 * weights.sum()  # sums of weights differ in their last digits
    wins = (balance > tolerance) + 0.5 * (np.abs(balance) <= tolerance)
    wins *= is_there[:, np.newaxis, :]
    return np.asarray(wins.sum(axis=2)) - 0.5  # a draw with itself
