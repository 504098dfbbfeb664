"""deadheat measures: the catalogue, the page of a measure, and advice."""

from __future__ import annotations

import json

import pytest

from deadheat import measures
from support.command import ok

pytestmark = pytest.mark.usefixtures("folder")


def test_the_catalogue_is_the_registry() -> None:
    out = ok("measures")
    assert [name for name in measures() if f"\n{name} " not in out] == []
    document = json.loads(ok("measures", "--format", "json"))
    assert list(document["measures"]) == list(measures())
    assert document["parameters"]["P"]["rel"]["default"] == 1
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("name", list(measures()))
def test_every_measure_has_a_page(name: str) -> None:
    out = ok("measures", name)
    assert out.startswith(f"{name}: {measures()[name].title}")
    assert not {"\\", "``", ":math:"} & {part for part in ("\\", "``", ":math:") if part in out}
    assert max(map(len, out.splitlines())) <= 80


def test_a_page_is_found_by_any_name() -> None:
    assert ok("measures", "ndcg_cut_10").startswith("nDCG: normalised")
    assert ok("measures", "MAP").split("\n")[0].endswith("(asked for as MAP)")


def test_a_page_says_how_to_read_values() -> None:
    out = " ".join(ok("measures", "RR").split())
    assert "harmonic mean" in out
    assert "target RR > 0.80" in out


@pytest.mark.parametrize(("use", "measure"), [("top1", "RR"), ("top3", "P@3"), ("k=10", "nDCG@10"), ("10", "nDCG@10")])
def test_advice(use: str, measure: str) -> None:
    assert f"-m {measure}" in ok("measures", "--for", use)


def test_advice_without_a_use_lists_all() -> None:
    out = ok("measures", "--for")
    assert all(f"\n{use} " in out for use in ("voice", "ads", "mobile", "fact", "snippet", "autocomplete", "k=20"))


def test_advice_as_json_holds_lists_and_targets() -> None:
    held = json.loads(ok("measures", "--for", "top1", "--format", "json"))
    assert (held["measures"], held["targets"]) == (["RR", "Hit@1"], {"RR": 0.8})
    assert "target    RR > 0.80" in ok("measures", "--for", "top1")
    uses = json.loads(ok("measures", "--for", "--format", "json"))["uses"]
    assert uses["top1"]["measures"] == ["RR", "Hit@1"]
    catalogue = json.loads(ok("measures", "--format", "json"))["measures"]
    assert catalogue["RR"]["aliases"] == ["MRR", "mrr", "recip_rank"]
