"""Several sets of strata: a table for each --by, combinations by a:b, and queries that are in several strata."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import deadheat as dh
from support.command import call, ok

if TYPE_CHECKING:
    from pathlib import Path

QUERIES = {
    f"q{n}": {"device": ["phone", "desk", "phone|desk", ""][n % 4], "market": ["de", "fr"][n % 2]} for n in range(12)
}
QRELS = {query: {f"d{d}": (n * d) % 3 for d in range(5)} for n, query in enumerate(QUERIES)}
RUNS = {
    name: {query: {f"d{d}": float((n + d * step) % 4) for d in range(5)} for n, query in enumerate(QUERIES)}
    for name, step in (("a", 1), ("b", 3))
}

pytestmark = pytest.mark.filterwarnings("ignore::deadheat.core.errors.UnlabelledQueriesWarning")


def rr(queries: list[str]) -> float:
    ev = dh.evaluate(QRELS, RUNS["a"], "RR")["RR"]
    return float(np.mean([value for query, value in zip(ev.query_ids, ev.values, strict=True) if query in queries]))


def having(device: str, market: str = "") -> list[str]:
    return [
        query
        for query, own in QUERIES.items()
        if device in (own["device"] or "(none)").split("|") and market in {"", own["market"]}
    ]


@pytest.mark.plugins("compare")
def test_a_query_with_several_values_is_in_each_stratum() -> None:
    strata = dh.evaluate(QRELS, RUNS["a"], "RR").by("device", QUERIES)
    assert list(strata) == ["desk", "phone", "(none)"]
    assert {name: part["RR"].mean for name, part in strata.items()} == pytest.approx(
        {name: rr(having(str(name))) for name in strata}
    )
    (row,) = strata.averages().rows(named=True)
    assert row["micro"] == pytest.approx(rr(list(QUERIES)))  # each query once
    assert row["macro"] == pytest.approx((rr(having("desk")) + rr(having("phone"))) / 2)
    listed = {query: {"device": own["device"].split("|") if own["device"] else []} for query, own in QUERIES.items()}
    assert dh.evaluate(QRELS, RUNS["a"], "RR").by("device", listed).summary().equals(strata.summary())
    found = dh.compare(QRELS, RUNS, "RR").by("device", QUERIES)
    assert [part.pairs[0].n_queries for part in found.values()] == [6, 6, 3]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Qrels, two runs and two tables of queries, in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.json").write_text(json.dumps(QRELS))
    for name, run in RUNS.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(run))
    (tmp_path / "queries.json").write_text(json.dumps(QUERIES))
    rows = (f"{query},{own['device']},{own['market']}\n" for query, own in QUERIES.items())
    (tmp_path / "queries.csv").write_text("query_id,device,market\n" + "".join(rows))
    return tmp_path


def document(*arguments: str) -> Any:  # noqa: ANN401 - JSON
    return json.loads(ok(*arguments, "--queries", "queries.csv", "--format", "json"))


@pytest.mark.plugins("compare")
@pytest.mark.usefixtures("files")
def test_each_by_has_a_table_of_its_own() -> None:
    found = document("evaluate", "qrels.json", "a.json", "-m", "RR", "--by", "device", "--by", "market")
    assert found["strata_by_device"]["a"]["desk"]["RR"]["value"] == pytest.approx(rr(having("desk")))
    fr = rr([query for query, own in QUERIES.items() if own["market"] == "fr"])
    assert found["strata_by_market"]["a"]["fr"]["RR"]["value"] == pytest.approx(fr)
    assert found["overlap_by_device"] == 3
    assert "strata" not in found
    alone = document("evaluate", "qrels.json", "a.json", "-m", "RR", "--by", "market")
    assert alone["strata"] == found["strata_by_market"]
    both = document("compare", "qrels.json", "a.json", "b.json", "-m", "RR", "--by", "device", "--by", "market")
    one = document("compare", "qrels.json", "a.json", "b.json", "-m", "RR", "--by", "device")
    assert both["pairs_by_device"] == one["pairs"]


@pytest.mark.usefixtures("files")
def test_combinations_are_asked_for() -> None:
    found = document("evaluate", "qrels.json", "a.json", "-m", "RR", "--by", "device:market")
    assert list(found["strata"]["a"]["phone"]) == ["de"]  # phones of this table are all there
    assert found["strata"]["a"]["phone"]["de"]["RR"]["value"] == pytest.approx(rr(having("phone", "de")))
    told = ok(
        "evaluate",
        "qrels.json",
        "a.json",
        "-m",
        "RR",
        "--by",
        "device:market",
        "--queries",
        "queries.csv",
        "--per-query",
    )
    assert "phone|desk" in told


@pytest.mark.slow
@pytest.mark.plugins("gates")
@pytest.mark.usefixtures("files")
def test_gates_and_pages_have_them_too() -> None:
    gates = ("gate", "qrels.json", "a.json", "-c", "RR >= 0.01", "--queries", "queries.csv")
    told = ok(*gates, "--by", "device", "--by", "device:market", "--full")
    assert all(text in told for text in ("device, market", "phone, de", "(none)"))
    ok(
        "report",
        "qrels.json",
        "a.json",
        "b.json",
        "-m",
        "RR",
        "--queries",
        "queries.csv",
        "--by",
        "device",
        "--by",
        "market",
        "-o",
        "page.html",
    )


@pytest.mark.plugins("compare")
@pytest.mark.usefixtures("files")
def test_csv_has_room_for_one_set() -> None:
    options = ("-m", "RR", "--queries", "queries.csv", "--format", "csv", "--by", "device")
    assert "desk" in ok("evaluate", "qrels.json", "a.json", *options)
    for command in (("evaluate", "qrels.json", "a.json"), ("compare", "qrels.json", "a.json", "b.json")):
        result = call(*command, *options, "--by", "market")
        assert result.exit_code == 2
        assert "combine them as in --by a:b" in result.output
    result = call("evaluate", "qrels.json", "a.json", "--queries", "queries.csv", "--by", "device:markt")
    assert result.exit_code == 3
    assert "Did you mean 'market'?" in result.output


@pytest.mark.usefixtures("files")
def test_a_note_stays_under_its_heading() -> None:
    """A note without a heading goes on with the one above it, and another set of strata may part them."""
    by = ("--by", "device", "--by", "market")
    told = ok("evaluate", "qrels.json", "a.json", "-m", "RR", "--queries", "queries.csv", *by, "--full")
    about_ties = [line for line in told.splitlines() if "moves RR" in line]
    assert len(about_ties) > 1
    assert about_ties[0].startswith("tie order ")
