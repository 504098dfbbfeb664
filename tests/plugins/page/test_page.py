"""What a page holds, read without a browser: the numbers of evaluate and compare, and nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import html
import math
import re
import sys
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

import deadheat as dh
from deadheat.core import hooks
from deadheat.core.report.cells import format_cell
from deadheat.errors import NothingJudgedWarning, ParameterError
from deadheat.plugins.page import Input, Subject, page_of
from deadheat.plugins.page.data import data_of, gathered
from deadheat.plugins.page.pictures import compact
from oracle.orders import all_orders
from support.page_data import held_in
from support.random_runs import QRELS, RUNS, random_runs
from support.shared_data import LLM_RUNS, llm_qrels, llm_run, needs_shared_data

MEASURES = ["nDCG@5", "RR", "MR", "NumRelRet"]


def subject_of(qrels: Any = QRELS, runs: Any = RUNS, measures: Any = MEASURES, **more: Any) -> Subject:  # noqa: ANN401 - sources
    comparison = dh.compare(qrels, runs, measures, n_resamples=99)
    named = {name: dh.Run(run, name=name) for name, run in runs.items()}
    return Subject(evaluations=comparison.evaluations, comparison=comparison, runs=named, **more)


@pytest.fixture(scope="module")
def subject() -> Subject:
    return subject_of()


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "deadheat.plugins.figures.figures", raising=False)
    monkeypatch.setitem(sys.modules, "altair", None)


class Reader(HTMLParser):
    """Collects the addresses that a page names, its ids and its tables."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - as its base
        named = {name: value or "" for name, value in attrs}
        self.ids += [named["id"]] if "id" in named else []
        self.addresses += [named[name] for name in ("src", "href", "action", "xlink:href", "data") if name in named]


def test_the_data_are_the_values_of_evaluate(subject: Subject) -> None:
    data = data_of(subject)
    assert [one["name"] for one in data["measures"]] == MEASURES
    for measure, of_systems in zip(MEASURES, data["values"], strict=True):
        for name, held in zip(data["systems"], of_systems, strict=True):
            scores = dh.evaluate(QRELS, RUNS[name], measure)[measure]
            assert data["queries"] == scores.query_ids.tolist()
            assert held["v"] == scores.values.tolist()
            assert held.get("low", held["v"]) == pytest.approx(scores.tie_min.tolist(), abs=1e-12)
            assert held.get("high", held["v"]) == pytest.approx(scores.tie_max.tolist(), abs=1e-12)
            by_id = dh.evaluate(QRELS, RUNS[name], measure, ties="doc_id")[measure].values.tolist()
            assert held.get("id", held["v"]) == pytest.approx(by_id, abs=1e-12)


@pytest.mark.slow
def test_many_values_are_rounded_where_no_one_sees_it(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = data_of(subject)["values"]
    monkeypatch.setattr("deadheat.plugins.page.data.MOST_VALUES", 0)
    for one, other in zip(exact, data_of(subject)["values"], strict=True):
        for own, rounded in zip(one, other, strict=True):
            np.testing.assert_allclose(rounded["v"], own["v"], rtol=0, atol=0.5e-7)


@pytest.mark.slow
def test_rankings_are_those_of_the_runs(subject: Subject) -> None:
    data = data_of(subject)
    assert len(data["rankings"]) == 20
    leader, second = (data["systems"][place] for place in data["duel"])
    values = [dh.evaluate(QRELS, RUNS[name], "nDCG@5")["nDCG@5"].values for name in (leader, second)]
    apart = np.abs(values[0] - values[1])
    chosen = [ranking["query"] for ranking in data["rankings"]]
    assert min(apart[chosen]) >= max(np.delete(apart, chosen)) - 1e-12
    n_listed = 0
    for ranking in data["rankings"]:
        query = data["queries"][ranking["query"]]
        for name, own in zip(data["systems"], ranking["of"], strict=True):
            scores = RUNS[name][query]
            docs = [ranking["docs"][n] for n in own["docs"]]
            assert docs == sorted(scores, key=lambda doc: (-scores[doc], doc))
            assert own["scores"] == [scores[doc] for doc in docs]
            assert (own["n"], own["below"]) == (len(scores), 0)
            assert [ranking["relevance"][n] for n in own["docs"]] == [QRELS[query].get(doc) for doc in docs]
            listed = dh.tie_orders(scores, QRELS[query], "nDCG@5", max_orders=10**6)
            orders = own["orders"]
            mean = sum(value * chance for value, chance in zip(orders["values"], orders["chances"], strict=True))
            width = (listed.max - listed.min) / len(orders["values"]) if orders["bins"] else 0
            assert mean == pytest.approx(listed.mean, abs=width / 2 + 1e-9)
            assert sum(orders["chances"]) == pytest.approx(1)
            each = {tuple(ranking["docs"][n] for n in one["docs"]): one["value"] for one in own["each"]}
            is_few = 1 < len(listed.orders) <= 24 and listed.max - listed.min > 1e-9
            wanted = dict(zip(listed.orders, listed.values.tolist(), strict=True)) if is_few else {}
            assert each == pytest.approx(wanted, abs=1e-12)
            assert [one["value"] for one in own["each"]] == sorted(each.values(), reverse=True)
            n_listed += bool(each)
    assert n_listed


@pytest.mark.slow
def test_steps_are_the_mean_contributions_over_all_orders(subject: Subject) -> None:
    """Of nDCG@5: from its definition, in each order of the ties."""
    data, n_seen = data_of(subject), 0
    for ranking in data["rankings"]:
        query = data["queries"][ranking["query"]]
        gains = sorted(QRELS[query].values(), reverse=True)[:5]
        best = math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
        for name, own in zip(data["systems"], ranking["of"], strict=True):
            steps, orders = own["steps"], list(all_orders(RUNS[name][query]))
            assert own["stepped"]
            if steps is None:
                assert QRELS[query].keys().isdisjoint(orders[0])
                continue
            places = {doc: [order.index(doc) + 1 for order in orders] for doc in orders[0] if doc in QRELS[query]}
            weights = {
                doc: math.fsum(1 / math.log2(rank + 1) for rank in ranks if rank <= 5) / len(orders)
                for doc, ranks in places.items()
            }
            total = math.fsum(QRELS[query][doc] * weight for doc, weight in weights.items())
            assert steps["names"] == ["gain", "weight", "adds", "sum"]
            for first, last, number, gain, weight, adds, _ in steps["rows"]:
                doc = ranking["docs"][number]
                assert (first, last) == (min(places[doc]), max(places[doc]))
                assert (gain, weight) == pytest.approx((QRELS[query][doc], weights[doc]), abs=1e-7)
                assert adds == pytest.approx(gain * weights[doc], abs=1e-7)
            assert {ranking["docs"][row[2]] for row in steps["rows"]} >= {doc for doc, own in weights.items() if own}
            ends = (steps["sum"], steps["divisor"], steps["value"], steps["left"])
            assert ends == pytest.approx((total, best, total / best, 0), abs=1e-7)
            n_seen += len(steps["rows"])
    assert n_seen > 100


def test_steps_are_bounded_and_the_rest_is_counted() -> None:
    run = {"q": {f"d{n:03d}": -float(n) for n in range(60)}}
    judged = {f"d{n:03d}": 1 for n in range(60)}
    (ranking,) = data_of(subject_of({"q": judged}, {f"s{n}": run for n in range(8)}, ["AP"]))["rankings"]
    assert [own["stepped"] for own in ranking["of"]] == [True] * 5 + [False] * 3
    assert [own["steps"] is None for own in ranking["of"]] == [False] * 5 + [True] * 3
    steps = ranking["of"][0]["steps"]
    assert (len(steps["rows"]), steps["left"], steps["sum"], steps["divisor"], steps["value"]) == (25, 35, 60, 60, 1)
    by_rule = Subject(evaluations={"run": dh.evaluate({"q": judged}, run, "AP", ties="doc_id")})
    (ranking,) = data_of(by_rule)["rankings"]
    assert ranking["of"][0]["steps"] is None
    assert "step by step" not in page_of([by_rule])


def test_without_runs_a_page_has_the_steps_of_judged_documents() -> None:
    evaluation = dh.evaluate({"q": {"a": 1, "c": 1}}, {"q": {"a": 2, "b": 2, "c": 1}}, "AP")
    subject = Subject(evaluations={"run": evaluation})
    page = page_of([subject])
    assert "Values, step by step" in page
    assert 'id="s0-rankings"' not in page
    (ranking,) = data_of(subject)["rankings"]
    (own,) = ranking["of"]
    assert (own["n"], own["docs"], ranking["docs"]) == (None, [], ["a", "c"])
    assert own["steps"]["names"] == ["P at rank", "adds", "sum"]
    assert [row[:3] for row in own["steps"]["rows"]] == [(1, 2, 0), (3, 3, 1)]


def test_a_long_ranking_ends_in_the_middle_of_a_tie() -> None:
    run = {"q": {f"d{n:03d}": 1.0 for n in range(150)} | {"top": 2.0}}
    (ranking,) = data_of(subject_of({"q": {"d003": 1}}, {"a": run, "b": {"q": {"d003": 1}}}, ["RR"]))["rankings"]
    own = ranking["of"][1]
    assert (len(own["docs"]), own["n"], own["below"]) == (100, 151, 51)


def test_orders_are_gathered() -> None:
    found = gathered(np.linspace(0, 1, 101), np.full(101, 1 / 101))
    assert found["bins"]
    assert len(found["values"]) == 12
    assert sum(found["chances"]) == pytest.approx(1)


@pytest.mark.slow
def test_the_page_asks_for_nothing_and_ids_are_unique(subject: Subject) -> None:
    page = page_of([subject, subject], inputs=[Input("run", "a.run", 12, "ab" * 32)], command="deadheat report x")
    reader = Reader()
    reader.feed(page)
    assert [one for one in reader.addresses if not one.startswith("#")] == []
    assert len(reader.ids) == len(set(reader.ids))
    assert "default-src &#x27;none&#x27;" in page or "default-src 'none'" in page
    for text in ("deadheat report x", "ab" * 32, dh.__version__):
        assert text in page


@pytest.mark.slow
def test_only_the_script_of_the_page_may_run(subject: Subject) -> None:
    page = page_of([subject])
    policy = html.unescape(re.findall(r'Content-Security-Policy" content="(.*?)">', page)[0])
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy
    assert "unsafe-eval" not in policy
    assert policy.count("unsafe-inline") == 1  # of styles
    assert not re.search(r"<[^<>]* on[a-z]+=", page)


@pytest.mark.slow
def test_the_leaderboard_has_the_numbers_of_compare(subject: Subject) -> None:
    page = page_of([subject])
    board = page[page.index('id="s0-leaderboard"') : page.index('id="s0-figures"')]
    assert subject.comparison is not None
    for name in RUNS:
        (row,) = re.findall(rf'<tr><th scope="row">{name}</th>(.*?)</tr>', board)
        cells = re.findall(r"<td[^>]*>(.*?)</td>", row)
        interval = subject.comparison.intervals[name, "nDCG@5"]
        scores = dh.evaluate(QRELS, RUNS[name], MEASURES)
        by_id = dh.evaluate(QRELS, RUNS[name], "nDCG@5", ties="doc_id")["nDCG@5"].mean
        first = scores["nDCG@5"]
        assert cells[0] == format_cell(first.mean)
        assert cells[1].rstrip("?") == f"[{format_cell(interval.low)}, {format_cell(interval.high)}]"
        assert cells[2] == f"[{format_cell(first.mean_tie_min)}, {format_cell(first.mean_tie_max)}]"
        assert cells[3] == format_cell(by_id)
        assert cells[4:] == [
            format_cell(scores["RR"].mean),
            format_cell(scores["MR"].mean),
            f"{scores['NumRelRet'].total:.0f}",
        ]


@pytest.mark.slow
def test_the_same_data_make_the_same_page(subject: Subject) -> None:
    assert page_of([subject]) == page_of([subject])


@pytest.mark.slow
@pytest.mark.usefixtures("no_figures")
def test_without_altair_the_page_says_so(subject: Subject) -> None:
    page = page_of([subject])
    assert "pip install &#x27;deadheat[figures]&#x27;" in page
    assert held_in(page)["charts"] == []
    assert len(page) < 300_000


@pytest.mark.slow
def test_without_the_plugin_of_figures_the_page_says_so(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    is_installed = hooks.is_installed
    monkeypatch.setattr(hooks, "is_installed", lambda name: name != "figures" and is_installed(name))
    page = page_of([subject])
    assert "Others were not drawn, as a figure is of the plugin figures, which is not installed" in page
    assert held_in(page)["charts"] == []


@pytest.mark.usefixtures("no_figures")
@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ({"q": {"a": 1}}, {"q": {"a": 1, "b": 1}}),
        ({"q": {"a": 0}}, {"q": {"a": 1}}),
        ({"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 1, "b": 2}}),
    ],
)
def test_one_system(qrels: Any, run: Any) -> None:  # noqa: ANN401 - dicts
    """With one query; without a relevant document; a query that it lacks."""
    evaluation = dh.evaluate(qrels, run, ["RR", "AP"])
    page = page_of([Subject(evaluations={"one": evaluation}, runs={"one": dh.Run(run)})])
    assert f"one has a mean RR of {format_cell(evaluation['RR'].mean)}" in page
    data = held_in(page)["subjects"][0]
    assert data["duel"] == [0]
    assert data["queries"] == sorted(qrels)


@pytest.mark.usefixtures("no_figures")
def test_nothing_is_judged() -> None:
    with pytest.warns(NothingJudgedWarning):
        evaluation = dh.evaluate({"q": {"z": 1}}, {"q": {"a": 1}}, ["RR"])
    assert "0.0000" in page_of([Subject(evaluations={"one": evaluation})])


@pytest.mark.slow
@pytest.mark.usefixtures("no_figures")
def test_a_thousand_systems() -> None:
    """All are in the leaderboard; the values of the best forty are there to be searched."""
    runs = {f"s{n:04d}": {"q1": {"a": 1, "b": n / 500}, "q2": {"a": 1, "b": 0.5}} for n in range(1_000)}
    evaluations = {name: dh.evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, run, ["RR"]) for name, run in runs.items()}
    page = page_of([Subject(evaluations=evaluations)])
    assert page.count('<th scope="row">s0') >= 1_000
    assert len(held_in(page)["subjects"][0]["systems"]) == 40
    assert "1000 systems by RR" in page


@pytest.mark.slow
def test_the_baseline_is_held_however_many_are_better() -> None:
    runs = {f"s{n:02d}": {f"q{m}": {"a": 1.0, "b": 2.0 * (m > n)} for m in range(45)} for n in range(45)}
    comparison = dh.compare({f"q{m}": {"a": 1} for m in range(45)}, runs, ["RR"], baseline="s00", test="t", method="t")
    data = data_of(Subject(evaluations=comparison.evaluations, comparison=comparison))
    assert len(data["systems"]) == 40
    assert data["left"] == 5
    assert [data["systems"][n] for n in data["duel"]] == ["s44", "s00"]
    assert data["systems"][data["baseline"]] == "s00"
    # mean RR: 1 where the document is not behind another one, else 1/2
    board = {name: one["mean"] for name, one in zip(data["systems"], data["board"][0], strict=True)}
    assert board == pytest.approx({name: (45 + min(int(name[1:]) + 1, 45)) / 90 for name in data["systems"]})
    pairs = {(data["systems"][one], data["systems"][other]): size for _, one, other, size, *_ in data["pairs"]}
    assert pairs["s44", "s00"] == pytest.approx(44 / 90, abs=1e-7)
    assert len(pairs) == 39


@pytest.mark.slow
@pytest.mark.usefixtures("no_figures")
def test_tables_of_very_many_pairs_have_those_of_the_first_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    """And say how many there are; smaller tables are whole."""
    runs = {f"s{n:02d}": {"q1": {"a": 1, "b": n / 8}, "q2": {"a": 1, "b": 0.5}} for n in range(16)}
    subject = subject_of({"q1": {"a": 1}, "q2": {"a": 1}}, runs, ["RR"])
    duel = subject.duel
    assert duel is not None
    rows = {}
    for most in (1_000, 50):
        monkeypatch.setattr("deadheat.plugins.compare.report.MOST_PAIRS", most)
        page = page_of([subject])
        section = page[page.index('id="s0-all"') : page.index('id="s0-conventions"')]
        *_, table = (one for one in section.split("<table") if "system - baseline" in one)  # the first has its heading
        found = re.findall(r'<th scope="row"[^>]*>(s\d\d)</th><th scope="row"[^>]*>(s\d\d)</th>', table)
        rows[most] = {frozenset(pair) for pair in found}
        assert len(found) == len(rows[most])
        assert ("the two best against all; CSV and JSON have every pair" in section) == (most == 50)
    assert len(rows[1_000]) == 16 * 15 / 2
    assert rows[50] == {pair for pair in rows[1_000] if pair & set(duel)}
    assert len(rows[50]) == 29


@pytest.mark.slow
def test_each_headline_is_of_the_margin() -> None:
    """Also those of measures of ranks, of which more is worse, by scipy's one-sided t tests."""
    measures = ["RR", "FRP", "MR"]
    runs = {f"r{seed}": random_runs(seed=seed)[1]["good"] for seed in (2, 3)}
    compared = dh.compare(QRELS, runs, measures, margin=0.5)
    headlines = held_in(compared.to_html(full=True))["subjects"][0]["headlines"]
    for name, headline in zip(measures, headlines, strict=True):
        one, other = (compared.evaluations[own][name].values for own in runs)
        gains = (one - other) * (1 if name == "RR" else -1)
        p = [scipy_stats.ttest_1samp(sign * gains, -0.5, alternative="greater").pvalue for sign in (1, -1)]
        assert ("equivalent within 0.5" in headline) == (max(p) < 0.05)


@pytest.mark.slow
def test_objects_make_pages(subject: Subject) -> None:
    assert subject.comparison is not None
    page = subject.comparison.to_html(full=True)
    assert "Leaderboard" in page
    assert "s0-rankings" not in page  # the runs are not at hand
    assert "Leaderboard" in subject.first.to_html(full=True)
    with pytest.raises(ParameterError, match="False for a TieProfile"):
        dh.tie_profile({"q": {"a": 1}}).to_html(full=True)
    with pytest.raises(ParameterError, match="None for a page"):
        subject.comparison.to_html(full=True, digits=2)


@pytest.mark.slow
def test_strata_and_texts_are_shown() -> None:
    texts = {query: {"text": f"words of {query}", "kind": "ab"[n % 2]} for n, query in enumerate(QRELS)}
    page = page_of([subject_of(measures=["RR"], queries=dh.Queries(texts), groupings=(("kind",),))])
    assert 'id="s0-strata"' in page
    assert held_in(page)["subjects"][0]["texts"][3] == "words of q03"


def test_drawings_that_run_something_are_refused() -> None:
    assert compact('<svg><text>0.12345</text><path aria-label="x" d="M0.12345,1"/></svg>') == (
        '<svg><text>0.12345</text><path d="M0.12,1"/></svg>'
    )
    with pytest.raises(ValueError, match="holds <script"):
        compact("<svg><script>1</script></svg>")


@pytest.mark.slow
@needs_shared_data
def test_twelve_runs_of_twenty_five_queries_fit_an_attachment() -> None:
    pytest.importorskip("altair", reason="figures need Altair")
    runs = {name: dh.read_run(llm_run(name)) for name in LLM_RUNS}
    comparison = dh.compare(llm_qrels(), runs, n_resamples=99)
    page = page_of([Subject(evaluations=comparison.evaluations, comparison=comparison, runs=runs)])
    assert len(page.encode()) <= 1_000_000
    assert page.count("<figure") == 3


@pytest.mark.parametrize(
    ("names", "title"),
    [
        (("good",), "good by RR"),
        (("good", "poor"), "good against poor by RR"),
        (("good", "poor", "fair"), "good, poor and fair by RR"),
        (("good", "poor", "fair", "next"), "4 systems by RR"),
    ],
)
def test_the_title_is_what_was_compared(names: tuple[str, ...], title: str, no_figures: None) -> None:  # noqa: ARG001 - a fixture
    qrels = {f"q{n}": {"a": 1} for n in range(6)}
    runs = {name: {key: {"a": 1.0 + n, "b": 2.5} for key in qrels} for n, name in enumerate(names)}
    if len(names) == 1:
        page = dh.evaluate(qrels, dh.Run(runs["good"], name="good"), "RR").to_html(full=True)
    else:
        page = dh.compare(qrels, runs, "RR").to_html(full=True)
    assert f"<h1>{title}</h1>" in page


def test_what_no_order_of_ties_reverses_has_no_box(no_figures: None) -> None:  # noqa: ARG001 - a fixture
    qrels = {f"q{n}": {"a": 1} for n in range(6)}
    first = {key: {"a": 2.0, "b": 1.0} for key in qrels}
    second = {key: {"a": 1.0, "b": 2.0} for key in qrels}
    tied = second | {query: {"a": 1.0, "b": 1.0} for query in ("q0", "q1", "q2")}
    still = dh.compare(qrels, {"first": first, "second": second}, "RR").to_html(full=True)
    assert '<dl class="glance" hidden><dt>reversed by ties</dt>' in still
    moved = dh.compare(qrels, {"tied": tied, "once": second | {"q5": {"a": 2.0, "b": 1.0}}}, "RR")
    assert moved.pairs[0].can_flip
    assert '<dl class="glance"><dt>reversed by ties</dt>' in moved.to_html(full=True)
