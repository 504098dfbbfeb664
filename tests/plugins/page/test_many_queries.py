"""Pages of more queries than they hold values of: what is held, what is told of all, and that nothing else changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.core.report.cells import format_cell
from deadheat.plugins.page import Subject, page_of, subject
from deadheat.plugins.page.data import data_of
from support.browser import Browser, needs_browser
from support.random_runs import random_runs

if TYPE_CHECKING:
    from pathlib import Path

QRELS, RUNS = random_runs(40)
MEASURES = ["nDCG@5", "RR"]
KINDS = {query: {"kind": "ab"[n % 3 == 0], "text": f"text of {query}"} for n, query in enumerate(QRELS)}


@pytest.fixture
def few_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "MOST_QUERIES", 30)
    monkeypatch.setattr(subject, "N_HELD", 12)
    monkeypatch.setattr(subject, "N_DECIDING", 4)


def make_subject(names: list[str] | None = None, **options: Any) -> Subject:  # noqa: ANN401 - as for `compare`
    runs = {name: run for name, run in RUNS.items() if names is None or name in names}
    named = {name: dh.Run(run, name=name) for name, run in runs.items()}
    groupings: Any = {"queries": dh.Queries(KINDS), "groupings": (("kind",),)}
    if len(runs) == 1:
        ((name, run),) = runs.items()
        return Subject(evaluations={name: dh.evaluate(QRELS, run, MEASURES)}, runs=named, **groupings)
    comparison = dh.compare(QRELS, runs, MEASURES, n_resamples=199, **options)
    return Subject(evaluations=comparison.evaluations, comparison=comparison, runs=named, **groupings)


def values_of(name: str, measure: str, attribute: str = "values") -> dict[str, float]:
    scores = dh.evaluate(QRELS, RUNS[name], measure)[measure]
    return dict(zip(scores.query_ids.tolist(), getattr(scores, attribute).tolist(), strict=True))


@pytest.mark.parametrize("weights", [None, {query: n % 4 for n, query in enumerate(QRELS)}])
@pytest.mark.usefixtures("few_held")
def test_values_are_held_of_the_queries_that_decide(weights: dict[str, int] | None) -> None:
    one = make_subject(weights=weights)
    data = data_of(one)
    held = data["queries"]
    assert data["total"] == 40
    assert 4 < len(held) < 30
    duel = [data["systems"][place] for place in data["duel"]]
    for number, measure in enumerate(MEASURES):
        for name, columns in zip(data["systems"], data["values"][number], strict=True):
            values: dict[str, float | None] = {}
            for query, value in values_of(name, measure).items():
                if query in held:
                    values[query] = None if weights and not weights[query] else value
            assert dict(zip(held, columns["v"], strict=True)) == values
        left, right = (values_of(name, measure) for name in duel)
        span = {name: [values_of(name, measure, end) for end in ("tie_min", "tie_max")] for name in duel}
        counted = [query for query in left if not weights or weights[query]]
        apart = max(counted, key=lambda query: abs(left[query] - right[query]))
        moved = max(counted, key=lambda query: sum(high[query] - low[query] for low, high in span.values()))
        failed = min(counted, key=lambda query: max(left[query], right[query]))
        assert {apart, moved, failed} <= set(held)
    assert data["texts"] == [f"text of {query}" for query in held]
    assert data["weights"] == (None if weights is None else [weights[query] for query in held])
    shown = {held[ranking["query"]] for ranking in data["rankings"]}
    assert shown == {one.query_ids[place] for place in one.deciding}
    for ranking in data["rankings"]:
        for name, column in zip(data["systems"], ranking["of"], strict=True):
            docs = [ranking["docs"][doc] for doc in column["docs"]]
            assert set(docs) == set(RUNS[name].get(held[ranking["query"]], {}))
    for name, ties in zip(data["systems"], data["ties"], strict=True):
        assert ties["docs"] == [len(RUNS[name].get(query, {})) for query in held]


@pytest.mark.slow
@pytest.mark.usefixtures("few_held")
def test_strata_have_the_means_of_all_queries() -> None:
    data = data_of(make_subject())
    for stratum in data["strata"]:
        key = stratum["name"].removeprefix("kind ")
        queries = [query for query, own in KINDS.items() if own["kind"] == key]
        assert stratum["n"] == len(queries)
        assert {data["queries"][place] for place in stratum["queries"]} == set(queries) & set(data["queries"])
        for measure, cells in zip(MEASURES, stratum["board"], strict=True):
            for name, cell in zip(data["systems"], cells, strict=True):
                for key, attribute in (("mean", "values"), ("least", "tie_min"), ("most", "tie_max")):
                    values = values_of(name, measure, attribute)
                    assert cell[key] == pytest.approx(np.mean([values[query] for query in queries]), abs=1e-12)


@pytest.mark.usefixtures("few_held")
def test_a_curve_is_of_the_differences_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.plugins.page.data.N_CURVE", 14)  # each third of 40
    data = data_of(make_subject())
    for measure, curves in zip(MEASURES, data["curves"], strict=True):
        for name, curve in zip(data["systems"], curves, strict=True):
            if curve is None:
                assert name == data["systems"][data["duel"][1]]
                continue
            left, right = values_of(name, measure), values_of(data["systems"][curve["against"]], measure)
            differences = sorted((left[query] - right[query] for query in left), reverse=True)
            assert curve["values"] == pytest.approx(differences[::3], abs=1e-5)
            assert curve["n"] == 40
            assert curve["up"] == sum(difference > 1e-12 for difference in differences)
            assert curve["down"] == sum(difference < -1e-12 for difference in differences)


def test_a_page_of_all_queries_has_no_summary() -> None:
    data = data_of(make_subject())
    assert data["curves"] is None
    assert len(data["queries"]) == data["total"] == 40
    assert all("board" not in stratum for stratum in data["strata"])


@pytest.mark.usefixtures("few_held")
def test_one_system_holds_its_worst_queries() -> None:
    (name,) = [*RUNS][:1]
    data = data_of(make_subject([name]))
    values = values_of(name, MEASURES[0])
    worst = sorted(values, key=lambda query: values[query])[:3]
    assert set(worst) <= set(data["queries"])
    assert data["curves"] is None


@pytest.mark.usefixtures("few_held")
def test_a_run_in_a_large_file_gives_the_same_page(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    whole = make_subject()
    lazy = {}
    for name, run in RUNS.items():
        rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
        path = tmp_path / f"{name}.parquet"
        pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row").write_parquet(path)
        lazy[name] = dh.Run(pl.scan_parquet(path), name=name)
    parts = {"evaluations": whole.evaluations, "comparison": whole.comparison, "queries": whole.queries}
    other: Any = Subject(**parts, groupings=whole.groupings, runs=lazy)  # type: ignore[arg-type]
    assert data_of(other) == data_of(whole)


@pytest.mark.slow
@needs_browser
@pytest.mark.usefixtures("few_held")
def test_the_page_follows_strata_and_says_what_it_holds(browser: Browser, tmp_path: Path) -> None:
    one = make_subject()
    file = tmp_path / "page.html"
    file.write_text(page_of([one]), encoding="utf-8")
    assert f"{len(one.held)} of 40 queries" in file.read_text(encoding="utf-8")
    with browser.opened(file) as found:
        page = found.page
        title = page.locator("figure[data-live$=differences] figcaption strong").inner_text()
        leader, other = one.duel or ("", "")
        left, right = values_of(leader, MEASURES[0]), values_of(other, MEASURES[0])
        n_better = sum(left[query] - right[query] > 1e-12 for query in left)
        n_worse = sum(left[query] - right[query] < -1e-12 for query in left)
        assert title == f"{leader} is better than {other} on {n_better} of 40 queries, worse on {n_worse}"
        assert page.locator("#s0-deciding [role=status]").inner_text().endswith("of 40 queries")
        page.locator("[data-toolbar]").get_by_label("Stratum").select_option(index=1)
        part = one.evaluations[leader].by("kind", one.queries)["a"]
        row = page.locator("#s0-leaderboard tbody tr").filter(
            has=page.get_by_role("rowheader", name=leader, exact=True)
        )
        assert row.locator("td").first.inner_text() == format_cell(part[MEASURES[0]].mean)
        assert page.locator("figure[data-live$=differences]").is_hidden()
        assert found.said == []
