"""item_profile() beside the metrics of RecBole, on lists without ties: what is the same, and where the two differ."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat import ItemProfile

N_USERS, N_ITEMS, DEPTH = 60, 40, 10
PADDING = 1  # RecBole counts a catalogue with the item 0, which fills lists up
K = (1, 3, 10)


def drawn(seed: int) -> tuple[np.ndarray[Any, np.dtype[np.int64]], dict[int, int]]:
    """Draw the best items of each user, popular ones more often, and how often each is in the training data."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, N_ITEMS + 1)
    items = np.arange(1, N_ITEMS + 1)
    lists = np.array([rng.choice(items, DEPTH, replace=False, p=weights / weights.sum()) for _ in range(N_USERS)])
    counts = rng.permutation(np.arange(3, 3 + N_ITEMS))  # no two items are equally popular
    return lists, dict(zip(items.tolist(), counts.tolist(), strict=True))


def of_recbole(lists: object, counts: Mapping[int, int], tail_ratio: float = 0.1) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch = pytest.importorskip("torch")
        pytest.importorskip("recbole", reason="RecBole is not installed (make test-peers)")
        metrics: Any = import_module("recbole.evaluator.metrics")
    config = {"metric_decimal_place": 15, "topk": list(K), "tail_ratio": tail_ratio}
    data = {
        "rec.items": torch.tensor(lists),
        "data.num_items": N_ITEMS + PADDING,
        "data.count_items": Counter(counts),
    }
    names = ("ItemCoverage", "GiniIndex", "ShannonEntropy", "AveragePopularity", "TailPercentage")
    found: dict[str, float] = {}
    for name in names:
        found |= getattr(metrics, name)(config).calculate_metric(data)
    return found


def ours(lists: np.ndarray[Any, np.dtype[np.int64]], counts: Mapping[int, int], k: int, **options: Any) -> ItemProfile:  # noqa: ANN401 - of item_profile
    run = {f"u{user}": {str(item): -float(place) for place, item in enumerate(own)} for user, own in enumerate(lists)}
    popularity = {str(item): count for item, count in counts.items()}
    return dh.item_profile(run, popularity, cutoff=k, n_users=sum(popularity.values()), **options)


@pytest.mark.parametrize("k", K)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_same(seed: int, k: int) -> None:
    """Of one catalogue, its padding included; entropy there is in nats, over the number of items that are shown."""
    lists, counts = drawn(seed)
    theirs, found = of_recbole(lists, counts), ours(lists, counts, k, n_items=N_ITEMS + PADDING)
    n_shown = len(np.unique(lists[:, :k]))
    assert found.coverage == pytest.approx(theirs[f"itemcoverage@{k}"], abs=1e-12)
    assert found.gini == pytest.approx(theirs[f"giniindex@{k}"], abs=1e-12)
    assert found.entropy * math.log(2) / n_shown == pytest.approx(theirs[f"shannonentropy@{k}"], abs=1e-12)
    assert found.means()["average_popularity"] == pytest.approx(theirs[f"averagepopularity@{k}"], abs=1e-12)


@pytest.mark.parametrize("tail_ratio", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("k", K)
def test_the_tail(k: int, tail_ratio: float) -> None:
    """What is no head here is the tail there, of the items of the training data."""
    lists, counts = drawn(4)
    theirs = of_recbole(lists, counts, tail_ratio)
    found = ours(lists, counts, k, head=1 - tail_ratio)
    assert found.means()["tail_share"] == pytest.approx(theirs[f"tailpercentage@{k}"], abs=1e-12)


def test_an_item_that_nobody_had_is_in_the_tail_here_alone() -> None:
    lists, counts = drawn(5)
    counts = {item: count for item, count in counts.items() if item != lists[0, 0]}
    tail = sorted(counts, key=counts.__getitem__)[: int(0.1 * len(counts))]
    theirs = of_recbole(lists, counts)["tailpercentage@1"]
    assert theirs == pytest.approx(np.isin(lists[:, 0], tail).mean(), abs=1e-12)
    found = ours(lists, counts, 1, n_items=N_ITEMS, head=0.9)
    below = sorted([*counts.values(), 0])[: N_ITEMS // 10]
    is_tail = [counts.get(item, 0) in below for item in lists[:, 0].tolist()]
    assert found.means()["tail_share"] == pytest.approx(np.mean(is_tail), abs=1e-12)
    assert found.means()["tail_share"] > theirs
