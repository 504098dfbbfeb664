"""What a measure says it looks at: documents below its cutoff make no difference, nor does a cut below it."""

from __future__ import annotations

import random

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import ParameterError
from oracle.variants import VARIANTS

Judged = dict[str, dict[str, float]]
NOTATIONS = [one.notation(cutoff) for one in VARIANTS for cutoff in one.cutoffs if cutoff in {1, 2, 3, 5}]
CUT = [one for one in dict.fromkeys(NOTATIONS) if dh.parse_measure(one).deepest is not None]


def drawn(seed: int, n_queries: int = 12) -> tuple[Judged, Judged]:
    """Draw judgments, and a run of 12 documents with few scores."""
    rng = random.Random(seed)
    docs = [f"d{n:02}" for n in range(16)]
    qrels = {
        f"q{n}": {doc: float(rng.choice((-1, 0, 1, 2, 3))) for doc in rng.sample(docs, 9)} for n in range(n_queries)
    }
    run = {query: {doc: float(rng.randrange(4)) for doc in rng.sample(docs, 12)} for query in qrels}
    return qrels, run


def test_most_measures_with_a_cutoff_look_no_deeper() -> None:
    names = {one.partition("@")[0].partition("(")[0] for one in CUT}
    assert {"P", "R", "F", "Hit", "RR", "AP", "nDCG", "DCG", "ERR", "Judged", "Q", "AR"} <= names
    for notation in ("nDCG", "R(norm='retrieved_all')@5", "nDCG(ideal='retrieved')@5", "RR", "Rprec"):
        assert dh.parse_measure(notation).deepest is None


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_documents_below_make_no_difference(size: int) -> None:
    """Judged ones and others, of which the first list has none."""
    rng = random.Random(size)
    qrels, run = drawn(size)
    tops = {}
    for query, own in run.items():
        top: dict[str, float] = {}
        for doc in sorted(own, key=own.__getitem__, reverse=True):
            if len(top) < size or own[doc] == min(top.values()):
                top[doc] = own[doc]
        assert len(top) >= size
        tops[query] = top
    longer = {
        query: top | {doc: -1.0 - rng.randrange(3) for doc in [*qrels[query], "x", "y", "z"] if doc not in top}
        for query, top in tops.items()
    }
    measures = [one for one in CUT if (dh.parse_measure(one).deepest or 0) <= size]
    one, other = (dh.evaluate(qrels, found, measures) for found in (tops, longer))
    for name in measures:
        for field in ("values", "tie_std", "tie_min", "tie_max"):
            np.testing.assert_allclose(getattr(one[name], field), getattr(other[name], field), rtol=1e-9, err_msg=name)


@pytest.mark.slow
def test_documents_that_are_left_out_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many judged documents those below the cutoff are left out, if they are the most."""
    qrels, run = drawn(6, n_queries=12)
    found = []
    for least in (10**9, 1):
        monkeypatch.setattr("deadheat.core.measures.families.WORTH_DROPPING", least)
        found.append(dh.evaluate(qrels, run, CUT))
    whole, near = found
    n_fewer = 0
    for name in CUT:
        spread = near[name].spread
        n_fewer += len(spread.measure.near(spread.placements).query) < len(spread.placements.query) / 2
        for field in ("values", "tie_std", "tie_min", "tie_max"):
            assert getattr(near[name], field).tobytes() == getattr(whole[name], field).tobytes(), (name, field)
    assert n_fewer > 20


@pytest.mark.slow
@pytest.mark.parametrize("depth", [1, 2, 3, 5, 8])
def test_a_depth_that_cuts_ties_is_no_matter_above(depth: int) -> None:
    qrels, run = drawn(depth + 10)
    measures = [one for one in CUT if (dh.parse_measure(one).deepest or 0) <= depth]
    assert len(measures) > 10
    whole, cut = dh.evaluate(qrels, run, measures), dh.evaluate(qrels, run, measures, depth=depth)
    assert len(cut.placements.query) < len(whole.placements.query)
    for name in measures:
        for field in ("values", "tie_std", "tie_min", "tie_max"):
            np.testing.assert_allclose(getattr(cut[name], field), getattr(whole[name], field), rtol=1e-9, err_msg=name)


def test_what_looks_deeper_is_refused_with_the_remedy() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1, "b": 1, "c": 0}}
    assert dh.evaluate(qrels, run, "RR@1", depth=1).means() == {"RR@1": 0.5}
    told = "choose measures with a cutoff up to 1, or a rule that breaks ties"
    options: list[dict[str, object]] = [{}, {"judged_only": True}, {"unjudged": "bounds"}]
    for measures, option in [
        (["RR@1", "RR"], options[0]),
        (["RR@2"], options[0]),
        *((["RR@1"], one) for one in options[1:]),
    ]:
        with pytest.raises(ParameterError, match=told):
            dh.evaluate(qrels, run, measures, depth=1, **option)  # type: ignore[call-overload]


def test_facts_are_of_the_shorter_lists() -> None:
    """Of three documents that tie at the cut, one is judged: of a top 2, it is one third of what is looked at there."""
    qrels, run = {"q": {"a": 1, "top": 1}}, {"q": {"top": 2, "a": 1, "b": 1, "c": 1}}
    evaluation = dh.evaluate(qrels, run, "P@2", depth=2)
    assert evaluation.facts.unjudged_share == pytest.approx(1 / 3)
    assert "cut after 2 documents" in str(evaluation)


def test_comparisons_take_such_a_depth() -> None:
    qrels, run = drawn(3)
    _, other = drawn(4)
    found = dh.compare(qrels, {"one": run, "other": other}, ["nDCG@3", "P@5"], depth=5, n_resamples=99, rng=1)
    whole = dh.compare(qrels, {"one": run, "other": other}, ["nDCG@3", "P@5"], n_resamples=99, rng=1)
    for mine, theirs in zip(found.pairs, whole.pairs, strict=True):
        assert mine.difference == pytest.approx(theirs.difference, abs=1e-12)
        assert mine.p_value == theirs.p_value
