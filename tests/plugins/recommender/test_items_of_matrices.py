"""Items of matrices, kept in the pass of accuracy: what dicts of the same scores give, and all orders of the ties."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import deadheat as dh
from deadheat import ItemProfile
from deadheat.errors import DataError, ParameterError
from deadheat.plugins.dense import comparing, evaluating
from oracle.orders import all_orders
from support.error_parts import raises_parts

Case = tuple[np.ndarray, list[list[int]], np.ndarray, np.ndarray]
MEASURES = ["nDCG@3", "RR@3"]


def random_case(seed: int, shape: tuple[int, int] = (7, 40), levels: int = 6) -> Case:
    """Return scores with ties, one relevant item of each user, excluded items and a mask."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, shape) / 2
    relevant = rng.integers(0, shape[1], shape[0])
    excluded, mask = rng.random(shape) < 0.2, rng.random(shape) < 0.8
    excluded[np.arange(shape[0]), relevant] = False
    return scores, relevant[:, None].tolist(), excluded, mask


def as_dicts(case: Case) -> dict[str, dict[str, float]]:
    scores, _, excluded, mask = case
    return {
        f"{q}": {f"{d}": row[d] for d in np.flatnonzero(mask[q] & ~excluded[q]).tolist()}
        for q, row in enumerate(scores.tolist())
    }


def assert_same(found: ItemProfile, wanted: ItemProfile) -> None:
    assert found.means() == pytest.approx(wanted.means(), abs=1e-12)
    assert (found.n_items, found.n_queries, found.n_head) == (wanted.n_items, wanted.n_queries, wanted.n_head)
    assert dict(found.to_polars().rows_by_key("doc_id")) == {
        doc: [pytest.approx(row[0])] for doc, row in wanted.to_polars().rows_by_key("doc_id").items()
    }
    for name in ("tie_min", "tie_max"):
        for key, values in getattr(found, name).items():
            np.testing.assert_allclose(values, getattr(wanted, name)[key], rtol=0, atol=1e-12)


@pytest.mark.parametrize("depth", [3, 9, 100])
@pytest.mark.parametrize("seed", range(5))
def test_what_dicts_of_the_same_scores_give(monkeypatch: pytest.MonkeyPatch, seed: int, depth: int) -> None:
    """With a bound of the best ones and without; rows in several pieces too."""
    monkeypatch.setattr(evaluating, "DEPTH", depth)
    if seed == 4:
        monkeypatch.setattr(comparing, "IN_ROW", 13)
    case = scores, relevant, excluded, mask = random_case(seed)
    popularity = np.random.default_rng(seed).integers(1, 9, (scores.shape[1],))
    by_item = {f"{n}": one for n, one in enumerate(popularity.tolist())}
    ev = dh.evaluate_dense(scores, relevant, MEASURES, exclude=excluded, mask=mask, items=True)
    for k in {1, 2, 3, min(depth, 9)}:
        wanted = dh.item_profile(as_dicts(case), by_item, cutoff=k, n_users=20)
        options: dict[str, Any] = {"n_users": 20}
        for each in (popularity, popularity.tolist(), by_item):
            assert_same(ev.item_profile(k, each, **options), wanted)
        direct = dh.item_profile(scores, popularity, cutoff=k, exclude=excluded, mask=mask, **options)
        assert_same(direct, wanted)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_all_orders(seed: int, k: int) -> None:
    """The probability of being in the top k, and the expected coverage, from every order of every list."""
    scores, relevant, _, _ = random_case(seed, (3, 5), levels=3)
    found = dh.evaluate_dense(scores, relevant, "RR", items=True).item_profile(k)
    each = [[order[:k] for order in all_orders({str(d): s for d, s in enumerate(row)})] for row in scores.tolist()]
    exposure = Counter[str]()
    for orders in each:
        for own in orders:
            exposure.update(dict.fromkeys(own, 1 / len(orders)))
    assert dict(found.to_polars().rows()) == pytest.approx({str(d): exposure[str(d)] for d in range(5)})
    lists = list(itertools.product(*each))
    assert found.coverage == pytest.approx(np.mean([len(set(itertools.chain(*one))) / 5 for one in lists]))


def test_the_training_matrix_is_popularity() -> None:
    scores, relevant, excluded, _ = random_case(1)
    train = {f"{q}": dict.fromkeys(map(str, np.flatnonzero(row).tolist()), 1) for q, row in enumerate(excluded)}
    ev = dh.evaluate_dense(scores, relevant, "RR", exclude=excluded, items=True)
    wanted = ev.item_profile(3, train)
    columns = [np.flatnonzero(row).tolist() for row in excluded]
    for given in (excluded, excluded * 5, sparse.csr_matrix(excluded), columns):
        assert_same(ev.item_profile(3, given), wanted)
    assert ev.item_profile(3, sparse.csr_matrix(excluded)).n_users == len([row for row in train.values() if row])


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint8", "bool", ">f4"])
def test_scores_of_any_number_type(monkeypatch: pytest.MonkeyPatch, dtype: str) -> None:
    monkeypatch.setattr(evaluating, "DEPTH", 4)
    scores = random_case(2)[0].astype(dtype)
    found = dh.evaluate_dense(scores, random_case(2)[1], "RR@3", items=True, exclude=random_case(2)[2])
    wanted = dh.item_profile(
        as_dicts((scores.astype(float), [], random_case(2)[2], np.ones_like(scores, bool))), cutoff=4
    )
    assert_same(found.item_profile(4), wanted)


def in_batches(case: Case, bounds: list[int], *, with_ids: bool) -> dh.Accumulator:
    scores, relevant, excluded, mask = case
    accumulator = dh.Accumulator(MEASURES, items=True)
    for part in itertools.starmap(slice, itertools.pairwise(bounds)):
        ids = [f"u{n}" for n in range(len(scores))][part] if with_ids else None
        accumulator.add(scores[part], relevant[part], exclude=excluded[part], mask=mask[part], query_ids=ids)
    return accumulator


def bits(found: ItemProfile) -> list[bytes]:
    numbers = [np.array([*found.means().values()]), *found.of_queries().values(), *found.tie_min.values()]
    return [one.tobytes() for one in numbers] + [found.exposure["exposure"].to_numpy().tobytes()]


@pytest.mark.parametrize("with_ids", [True, False])
def test_batches_are_equal_to_the_bit(tmp_path: Path, *, with_ids: bool) -> None:
    case = random_case(5, (30, 50))
    popularity = np.arange(1, 51)
    whole = in_batches(case, [0, 30], with_ids=with_ids)
    wanted = bits(whole.evaluation().item_profile(5, popularity, n_users=60))
    for bounds in ([0, 1, 7, 30], list(range(31))):
        found = in_batches(case, bounds, with_ids=with_ids)
        assert bits(found.evaluation().item_profile(5, popularity, n_users=60)) == wanted
    path = tmp_path / "state.json"
    whole.save(path)
    again = dh.Accumulator(MEASURES, items=True)
    again.resume(path)
    assert bits(again.evaluation().item_profile(5, popularity, n_users=60)) == wanted
    halves = [dh.Accumulator(MEASURES, items=True) for _ in range(2)]
    for half, part in zip(halves, (slice(12), slice(12, 30)), strict=True):
        ids = [f"u{n}" for n in range(30)][part] if with_ids else None
        half.add(case[0][part], case[1][part], exclude=case[2][part], mask=case[3][part], query_ids=ids)
    halves[0].merge(halves[1])
    assert bits(halves[0].evaluation().item_profile(5, popularity, n_users=60)) == wanted


def test_states_with_items_and_without_do_not_mix(tmp_path: Path) -> None:
    path, case = tmp_path / "state.json", random_case(6)
    in_batches(case, [0, 7], with_ids=False).save(path)
    with pytest.raises(DataError, match=r"items=20.* None"):
        dh.Accumulator(MEASURES).resume(path)
    accumulator = in_batches(case, [0, 7], with_ids=False)
    with pytest.raises(DataError, match="batch has other documents"):
        accumulator.add(case[0][:, :30], [[0]] * 7)
    assert accumulator.n_queries == 7


def test_users_in_groups_have_profiles_of_their_own() -> None:
    """By a table with the ids of users under their usual name."""
    scores, relevant, _, _ = random_case(7)
    table = [{"user_id": n, "gender": "mf"[n % 2]} for n in range(7)]
    ev = dh.evaluate_dense(scores, relevant, "RR", items=True)
    for group, first in (("m", 0), ("f", 1)):
        wanted = dh.evaluate_dense(scores[first::2], relevant[first::2], "RR", items=True)
        own = ev.by("gender", table)[group]
        assert own.means() == pytest.approx(wanted.means())
        assert_same(own.item_profile(3), wanted.item_profile(3))


def test_the_popularity_baseline() -> None:
    train, test = [[0, 1], [0], [0, 2], []], [[2], [1], [1], [0]]
    popularity = dh.popularity(train, n_items=4)
    assert popularity.tolist() == [3, 1, 1, 0]
    matrix = np.zeros((4, 4))
    for user, items in enumerate(train):
        matrix[user, items] = 5
    assert dh.popularity(matrix).tolist() == dh.popularity(sparse.csr_matrix(matrix)).tolist() == [3, 1, 1, 0]
    for relevant in (test, np.eye(4)[np.concatenate(test)], sparse.csr_matrix(np.eye(4)[np.concatenate(test)])):
        ev = dh.evaluate_dense(popularity, relevant, ["RR", "Hit@1"], exclude=train, items=True)
        assert ev.to_dict() == dh.evaluate_dense([[3, 1, 1, 0]] * 4, test, ["RR", "Hit@1"], exclude=train).to_dict()
    assert dict(ev.item_profile(1).to_polars().rows()) == {"0": 1, "1": 1.5, "2": 1.5, "3": 0}
    with raises_parts(ParameterError, argument="n_items", given=None):
        dh.popularity(train)


def test_an_evaluation_of_a_run_has_its_items_too() -> None:
    run = {"u": {"a": 2, "b": 1}, "v": {"b": 1, "c": 1}}
    ev = dh.evaluate({"u": {"a": 1}, "v": {"c": 1}}, run, "RR")
    assert_same(ev.item_profile(1), dh.item_profile(run, cutoff=1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda ev, _: ev.item_profile(21), "cutoff must be 20 or less, got 21; items=21 keeps as many"),
        (lambda ev, _: ev.item_profile(0), "cutoff must be a whole number from 1 on"),
        (
            lambda ev, _: ev.item_profile(3, np.ones(3), n_users=9),
            "popularity must be a number or a column for each of",
        ),
        (
            lambda ev, _: ev.item_profile(3, np.ones(40)),
            "a popularity as a dict or a vector does not say how many users",
        ),
        (lambda ev, _: ev.item_profile(3, -np.ones(40), n_users=9), "popularity must be numbers from 0 on"),
        (lambda ev, _: ev.item_profile(3, [1] * 3, n_users=9), "popularity must be a number or a column for each of"),
        (lambda *_: dh.item_profile({"u": {"b": 2}}, [1], n_users=9), "popularity must be {item: number}, or qrels"),
        (lambda _, bare: bare.item_profile(3), "the lists of this evaluation were not kept"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Any, message: str) -> None:  # noqa: ANN401 - a function
    scores, relevant, _, _ = random_case(8)
    both = [dh.evaluate_dense(scores, relevant, "RR@3", items=items) for items in (True, False)]
    assert dh.evaluate_dense(scores, relevant, "RR@3", items=30).item_profile(30).cutoff == 30
    with pytest.raises(ParameterError, match=message):
        call(*both)
