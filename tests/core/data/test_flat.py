"""Flat names: what MLflow and Weights & Biases accept, and never the same for two numbers."""

from __future__ import annotations

import math
import re

import pytest

import deadheat as dh
from deadheat.core.data.flat_names import flatten, flatten_name
from deadheat.core.measures.registration import other_names
from oracle.variants import VARIANTS

# mlflow/utils/validation.py: names of metrics; and what may be no path
MLFLOW = re.compile(r"^[/\w.\- :]*$", re.ASCII)
LONGEST = 250
# docs.wandb.ai: letters, digits and underscores, and no digit first; nested names have points between
WANDB = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*(?:\.[_a-zA-Z][_a-zA-Z0-9]*)*")

EVIL = [
    *("", " ", ".", "..", "/", "//a", "../../etc/passwd", "a/../b", "a//b", "木", "🎯", "ü", "naïve", "naive", "NAIVE"),
    *("a b", "a_b", "a-b", "a.b", "A B", "a\tb", "a\nb", "a\x00b", "<script>", "</script>", "%s", "$x", "\u202ea"),
    *("x" * 400, "x" * 401, "tie_min", "n_queries", "1", "\uff11", "½", "ﬁ", "İ", "\udcff", "a_b_", "_", "__"),
]


def check(names: object) -> None:
    found = list(names)  # type: ignore[call-overload]
    assert len(set(found)) == len(found)
    assert len({name.casefold() for name in found}) == len(found)  # files of some systems
    for name in found:
        assert MLFLOW.match(name)
        assert 0 < len(name) <= LONGEST
        assert WANDB.fullmatch(name), name


@pytest.mark.plugins("spans")
def test_every_measure_and_variant_has_a_name_of_its_own() -> None:
    notations = {dh.parse_measure(one.notation(cutoff)) for one in VARIANTS for cutoff in one.cutoffs}
    measures = {str(one): one for one in notations} | dict.fromkeys(dh.measures())
    assert len(measures) > 500
    plain = [flatten_name(label) for label in measures]
    check(plain)
    check(flatten([((label,), 1.0) for label in measures]))


def test_every_name_that_can_be_asked_for_is_accepted() -> None:
    for measure in dh.measures().values():
        for name in (measure.__name__, *other_names(measure)):
            check([flatten_name(name)])
            check([flatten_name(f"{name}@10")])


def test_the_names_of_the_issue() -> None:
    assert flatten_name("nDCG@10") == "ndcg_at_10"
    assert flatten_name("nDCG@10", "tie_min") == "ndcg_at_10.tie_min"
    assert flatten_name("nDCG@10", ("dense", "bm25"), "difference") == "ndcg_at_10.dense_vs_bm25.difference"


@pytest.mark.parametrize("text", EVIL, ids=ascii)
def test_any_text_becomes_a_name(text: str) -> None:
    check([flatten_name(text)])
    check([flatten_name("RR", (text, text), "difference")])
    assert flatten_name(text) == flatten_name(text)


@pytest.mark.slow
def test_all_texts_together_have_different_names() -> None:
    check(flatten([((text,), 1.0) for text in EVIL]))
    check(flatten([(("RR", text, number), 1.0) for text in EVIL for number in ("tie_min", "tie_max")]))
    check(flatten([(("RR", (one, other), "low"), 1.0) for one in EVIL for other in EVIL]))
    check(flatten([((*[text] * 5,), 1.0) for text in EVIL]))


def test_texts_that_imitate_the_name_of_another_have_different_names() -> None:
    first = next(iter(flatten([(("BM25",), 1.0), (("bm-25",), 1.0), (("bm25",), 1.0)])))
    texts = ["BM25", "bm25", first, first.upper(), f"{first}_"]
    found = flatten([((text,), float(n)) for n, text in enumerate(texts)])
    check(found)
    assert sorted(found.values()) == [0.0, 1.0, 2.0, 3.0, 4.0]
    twice = flatten([(("n_queries",), 1.0), (("n_queries",), 2.0)])
    check(twice)
    assert list(twice.values()) == [1.0, 2.0]


def test_a_name_is_the_same_whatever_others_there_are() -> None:
    alone = flatten([(("RR", "Dense v2"), 1.0)])
    among = flatten([(("RR", "Dense v2"), 1.0), (("RR", "bm25"), 2.0), (("AP", "dense-v2"), 3.0)])
    assert alone.items() <= among.items()
    assert list(among) == ["rr.dense_v2", "rr.bm25", "ap.dense_v2"]


def test_all_numbers_of_a_system_share_its_name() -> None:
    found = flatten([(("RR", name, number), 1.0) for name in ("BM25", "bm25") for number in ("low", "high")])
    assert len({name.rpartition(".")[0] for name in found}) == 2


def test_numbers_that_do_not_exist_are_left_out() -> None:
    numbers = [(("a",), math.nan), (("b",), math.inf), (("c",), -math.inf), (("d",), None), (("e",), 0), (("f",), True)]
    found = flatten(numbers)
    assert found == {"e": 0.0, "f": 1.0}
    assert all(type(number) is float for number in found.values())
