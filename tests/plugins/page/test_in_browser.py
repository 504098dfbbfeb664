"""A page in a browser: nothing is asked of a network, everything is drawn, and it is used by mouse and by keyboard."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

import deadheat as dh
from deadheat.core.report.cells import format_cell
from deadheat.plugins.page import Input, Subject, page_of
from support.browser import Browser, needs_browser
from support.random_runs import random_runs

pytestmark = [pytest.mark.slow, needs_browser]
EVIL = "</script><img src=x onerror=alert(1)>\"'&$_%\n\x1b[31m\u202ecba 🏇"
QRELS, RUNS = random_runs(30)
MEASURES = ["nDCG@5", "RR"]
TEXTS = {query: {"query": f"text of {query}", "kind": "ab"[n % 2]} for n, query in enumerate(QRELS)}


def written(folder: Path, subjects: list[Subject], name: str = "page.html") -> Path:
    path = folder / name
    path.write_text(page_of(subjects, inputs=[Input("qrels", EVIL)], command="deadheat report"), encoding="utf-8")
    return path


def subject_of(qrels: Any, runs: Any, **more: Any) -> Subject:  # noqa: ANN401 - what evaluations are made of
    comparison = dh.compare(qrels, runs, MEASURES, n_resamples=199)
    named = {name: dh.Run(run, name=name) for name, run in runs.items()}
    return Subject(evaluations=comparison.evaluations, comparison=comparison, runs=named, **more)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    subject = subject_of(QRELS, RUNS, queries=dh.Queries(TEXTS), groupings=(("kind",),))
    return written(tmp_path_factory.mktemp("page"), [subject])


@pytest.fixture(scope="module")
def contested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of two systems, of which the order of the ties decides who leads."""
    flat = {query: dict.fromkeys(scores, 1.0) for query, scores in RUNS["good"].items()}
    subject = subject_of(QRELS, {"good": RUNS["good"], "flat": flat}, queries=dh.Queries(TEXTS), groupings=(("kind",),))
    return written(tmp_path_factory.mktemp("contested"), [subject])


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 800, 1400])
def test_nothing_is_asked_for_and_all_is_drawn(browser: Browser, page: Path, width: int, theme: str) -> None:
    with browser.opened(page, width=width, theme=theme) as found:
        assert found.asked == []
        assert found.said == []
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width
        charts = found.page.locator("figure[data-chart]")
        assert charts.count() == found.page.locator("figure[data-drawn=yes]").count()
        if pytest.importorskip("altair", reason="figures need Altair"):
            assert charts.count() == 3  # the systems, their differences, and the strata


def test_a_click_and_a_key_sort_the_leaderboard(browser: Browser, page: Path) -> None:
    wanted = {name: dh.evaluate(QRELS, run, "RR")["RR"].mean for name, run in RUNS.items()}
    with browser.opened(page) as found:
        table = found.page.locator("#s0-leaderboard table")
        button = table.get_by_role("button", name="RR")
        button.click()
        assert table.locator("tbody th").all_inner_texts() == sorted(wanted, key=lambda name: -wanted[name])
        assert button.locator("xpath=..").get_attribute("aria-sort") == "descending"
        button.focus()
        found.page.keyboard.press("Enter")
        assert table.locator("tbody th").all_inner_texts() == sorted(wanted, key=lambda name: wanted[name])


def test_a_pair_that_was_not_tested_is_not_called_equal(browser: Browser, tmp_path: Path) -> None:
    comparison = dh.compare(QRELS, RUNS, "RR", n_resamples=199, baseline="weak")
    subject = Subject(evaluations=comparison.evaluations, comparison=comparison)
    with browser.opened(written(tmp_path, [subject])) as found:
        tab, board = found.page, found.page.locator("#s0-leaderboard table")
        tab.locator("[data-toolbar]").get_by_label("Baseline").focus()
        tab.keyboard.type("fair")
        cells = {}
        for name in RUNS:
            row = board.locator("tbody tr", has=tab.get_by_role("rowheader", name=name, exact=True))
            cells[name] = row.inner_text()
        assert "not tested" in cells["good"]
        assert "baseline" in cells["fair"]
        assert "not tested" not in cells["weak"]


def test_the_view_is_in_the_address(browser: Browser, page: Path) -> None:
    """By keyboard: measure, baseline, systems, stratum; reload and back keep it, and all numbers follow it."""
    comparison = dh.compare(QRELS, RUNS, MEASURES, n_resamples=199)
    of_a = [query for query, own in TEXTS.items() if own["kind"] == "a"]
    with browser.opened(page) as found:
        tab, board = found.page, found.page.locator("#s0-leaderboard table")
        names = board.locator("tbody th")
        bar = tab.locator("[data-toolbar]")
        bar.get_by_label("By measure").focus()
        tab.keyboard.type("RR")
        bar.get_by_label("Baseline").focus()
        tab.keyboard.type("weak")
        assert tab.locator("p.headline").inner_text() == comparison.judge(measure=comparison.measures[1]).headline
        by_mean = sorted(RUNS, key=lambda name: -comparison.evaluations[name]["RR"].mean)
        assert names.all_inner_texts() == by_mean
        two = {"weak", "good"}
        pair = next(one for one in comparison.pairs if one.measure == "RR" and {one.system, one.baseline} == two)
        told = board.locator("tbody tr", has=tab.get_by_role("rowheader", name="good", exact=True)).inner_text()
        assert ("better" in told) == (pair.significant and not pair.doubtful)
        bar.locator("summary").focus()
        tab.keyboard.press("Enter")
        bar.get_by_role("checkbox", name="fair").focus()
        tab.keyboard.press("Space")
        wanted = [name for name in by_mean if name != "fair"]
        assert names.all_inner_texts() == wanted
        bar.get_by_label("Stratum").focus()
        tab.keyboard.type("a")
        scores = comparison.evaluations["good"]["RR"]
        means = [value for query, value in zip(scores.query_ids.tolist(), scores.values, strict=True) if query in of_a]
        row = board.locator("tbody tr", has=tab.get_by_role("rowheader", name="good", exact=True))
        assert row.locator("td").first.inner_text() == format_cell(sum(means) / len(means))
        text = board.inner_text()
        assert tab.locator("#s0-deciding").get_by_role("status").inner_text().startswith("15 of 15 shown, of 30")
        tab.reload()
        tab.wait_for_selector("html[data-ready=yes]")
        assert board.inner_text() == text
        tab.go_back()
        assert names.all_inner_texts() == wanted
        assert row.locator("td").first.inner_text() == format_cell(float(scores.mean))
        tab.locator("#s0-deciding [data-queries] tbody button").nth(2).click()
        query = tab.locator("#s0-rankings").get_by_label("Query").input_value()
        tab.reload()
        tab.wait_for_selector("html[data-ready=yes]")
        assert tab.locator("#s0-rankings").get_by_label("Query").input_value() == query
        assert found.said == []


def test_a_page_of_geometric_means_alone_follows_a_stratum(browser: Browser, tmp_path: Path) -> None:
    comparison = dh.compare(QRELS, RUNS, "GMAP", n_resamples=199)
    evaluations, queries = comparison.evaluations, dh.Queries(TEXTS)
    subject = Subject(evaluations=evaluations, comparison=comparison, queries=queries, groupings=(("kind",),))
    file = written(tmp_path, [subject])
    with browser.opened(file) as found:
        board = found.page.locator("#s0-leaderboard table")
        found.page.locator("[data-toolbar]").get_by_label("Stratum").select_option("a (15)")
        part = evaluations["good"].by("kind", queries)["a"]["GMAP"]
        row = board.locator("tbody tr", has=found.page.get_by_role("rowheader", name="good", exact=True))
        assert row.locator("td").first.inner_text() == format_cell(part.mean)
        assert found.page.locator("#s0-deciding caption").last.inner_text().endswith(" in logarithms")
        assert "in logarithms, query by query" in found.page.locator("main").inner_text()
        assert found.said == []


def test_a_stratum_has_weighted_means_and_no_system_without_a_value(browser: Browser, tmp_path: Path) -> None:
    queries = dh.Queries({query: own | {"kind": "a" if query < "q10" else "b"} for query, own in TEXTS.items()})
    runs = {**RUNS, "part": {query: own for query, own in RUNS["good"].items() if query >= "q10"}}
    weights = {query: n % 4 for n, query in enumerate(QRELS)}
    comparison = dh.compare(QRELS, runs, MEASURES, missing="skip", weights=weights, n_resamples=199)
    evaluations = comparison.evaluations
    subject = Subject(evaluations=evaluations, comparison=comparison, queries=queries, groupings=(("kind",),))
    file = written(tmp_path, [subject])
    with browser.opened(file) as found:
        found.page.locator("[data-toolbar]").get_by_label("Stratum").select_option(index=1)
        for name, one in evaluations.items():
            row = found.page.locator("#s0-leaderboard tbody tr").filter(
                has=found.page.get_by_role("rowheader", name=name, exact=True)
            )
            part = one.by("kind", queries)
            shown = format_cell(part["a"][MEASURES[0]].mean) if "a" in part else "-"
            assert row.locator("td").first.inner_text() == shown
        title = found.page.locator("figure[data-live$=forest] figcaption strong").inner_text()
        best = max(RUNS, key=lambda name: evaluations[name].by("kind", queries)["a"][MEASURES[0]].mean)
        assert title == f"{best} has the best {MEASURES[0]} of {len(RUNS)} systems"
        assert found.said == []


CONTROLS = """() => [...document.querySelectorAll("a[href], button, select, input, summary, [tabindex='0']")]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled)"""
FOCUSED = """() => {
    const one = document.activeElement;
    one.dataset.reached = "yes";
    const bar = one.closest("[data-toolbar]") || document.querySelector("[data-toolbar]");
    const under = bar.getBoundingClientRect().top <= 0 && !bar.contains(one) ? bar.getBoundingClientRect().bottom : 0;
    const box = one.getBoundingClientRect();
    const isSeen = box.bottom > under + 1 && box.top < innerHeight && one.matches(":focus-visible");
    const isFolded = one.tagName === "SUMMARY" && !one.parentNode.open;
    const isClosed = isFolded || one.getAttribute("aria-expanded") === "false";
    return [one.tagName, one.outerHTML.slice(0, 90), isSeen, isClosed];
}"""
HEAR = """() => {
    for (const name of ["click", "change", "input"]) addEventListener(name, () => { window.heard.add(name); }, true);
}"""
USE = f"""(n) => {{
    for (const one of document.querySelectorAll("details")) one.open = true;
    const one = ({CONTROLS})()[n];
    if (!one) return "NONE"; // as all rows are shown
    window.heard = new Set();
    one.focus();
    return one.type === "checkbox" ? "BOX" : one.tagName;
}}"""
KEYS = {
    "SELECT": (["ArrowDown", "ArrowUp"], "change"),
    "INPUT": (["a", "Backspace"], "input"),
    "BOX": (["Space", "Space"], "change"),
    "SUMMARY": (["Enter", "Enter"], "click"),
    "BUTTON": (["Enter"], "click"),
    "A": (["Enter"], "click"),
}


@pytest.mark.parametrize("width", [360, 1400])
def test_every_control_is_reached_and_used_by_keyboard(browser: Browser, page: Path, width: int) -> None:
    """Tab comes to each, where it is seen; then keys use it, and what it does is called."""
    with browser.opened(page, width=width) as found:
        tab, hidden = found.page, []
        for _ in range(999):
            tab.keyboard.press("Tab")
            tag, start, is_seen, is_closed = tab.evaluate(FOCUSED)
            if tag == "BODY":
                break
            hidden += [] if is_seen else [start]
            if is_closed:
                tab.keyboard.press("Enter")
                tab.evaluate("new Promise((done) => setTimeout(done, 20))")  # what it holds is made when it opens
        assert hidden == []
        tab.evaluate(USE, 0)
        controls = tab.evaluate(f"({CONTROLS})().map((one) => [one.dataset.reached || '', one.outerHTML.slice(0, 90)])")
        assert [start for is_reached, start in controls if not is_reached] == []
        assert len(controls) > 100
        tab.evaluate(HEAR)
        for n in range(len(controls) if width == 1400 else 0):
            keys, heard = KEYS.get(tab.evaluate(USE, n), ([], ""))  # others only scroll or have a tip
            for key in keys:
                tab.keyboard.press(key)
            assert not heard or tab.evaluate("(name) => window.heard.has(name)", heard), controls[n]
        assert found.said == []


def test_on_paper_what_matters_is_open_and_the_rest_left_out(browser: Browser, page: Path) -> None:
    comparison = dh.compare(QRELS, RUNS, MEASURES, n_resamples=199)
    with browser.opened(page) as found:
        tab, folded = found.page, found.page.locator("details:not([open])")
        before = folded.count()
        tab.emulate_media(media="print")
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        text = " ".join(tab.locator("main").inner_text().split())
        for sentence in comparison.judge().facts.values():
            assert sentence in text
        folded_away = tab.locator("#s0-strata table, #s0-all table")
        assert folded_away.count() == tab.locator("#s0-strata table:visible, #s0-all table:visible").count() > 2
        assert tab.locator("figure[data-live] svg:visible").count() == 2
        for name in ("nav", "[data-toolbar]", ".live table", "select", ".files button"):
            assert tab.locator(f"{name} >> visible=true").count() == 0, name
        tab.evaluate("dispatchEvent(new Event('afterprint'))")
        assert folded.count() == before


LONG = "".join(f"-{n:03d}" for n in range(15))  # 60 characters
HEBREW, JAPANESE = "\u05de\u05e2\u05e8\u05db\u05ea" * 6, "\u691c\u7d22\u30b7\u30b9\u30c6\u30e0" * 8
WIDE = {HEBREW: "good", JAPANESE: "weak", LONG: "fair", "b": "fair"}
DRAWN = """() => [...document.querySelectorAll("figure[data-live] svg")].map((svg) => {
    const box = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].map((one) => [one.getBoundingClientRect(), one]);
    const cut = texts.filter(([a]) => a.left < box.left - 1 || a.right > box.right + 1 || a.bottom > box.bottom + 1);
    const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
    const over = texts.filter(([a], n) => texts.some(([b], m) => m > n && overlap(a, b)));
    const small = texts.filter(([, one]) => parseFloat(getComputedStyle(one).fontSize) < 12);
    const named = [cut, over, small].map((all) => all.map(([, one]) => one.textContent));
    return [svg.getAttribute("role"), Boolean(svg.getAttribute("aria-label")), ...named];
})"""
PAINTED = """() => {
    const parse = (text) => (text.startsWith("rgb") ? [...text.match(/[\\d.]+/g).map(Number), 1].slice(0, 4) : null);
    const over = (top, below, alpha) => below.map((one, n) => alpha * top[n] + (1 - alpha) * one);
    const linear = (one) => (one <= 10.02 ? one / 3294.6 : ((one / 255 + 0.055) / 1.055) ** 2.4);
    const light = (colour) => colour.reduce((sum, one, n) => sum + [0.2126, 0.7152, 0.0722][n] * linear(one), 0.05);
    const contrast = (a, b) => Math.max(light(a) / light(b), light(b) / light(a));
    const paper = parse(getComputedStyle(document.body).backgroundColor).slice(0, 3);
    const painted = (one, kind, below) => {
        const colour = parse(getComputedStyle(one)[kind]);
        let alpha = colour ? colour[3] * getComputedStyle(one)[`${kind}Opacity`] : 0;
        for (let up = one; up instanceof SVGElement; up = up.parentNode) alpha *= getComputedStyle(up).opacity;
        return alpha < 0.02 ? null : over(colour, below, alpha);
    };
    const found = [];
    for (const svg of document.querySelectorAll("figure svg")) {
        const figure = svg.closest("figure");
        const name = figure.dataset.live || figure.querySelector(".canvas").getAttribute("aria-label");
        const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        for (const one of svg.querySelectorAll("text, path, rect, circle, line")) {
            const [kind] = one.closest("[class]").getAttribute("class").match(/grid|background|mark-rect/) || ["mark"];
            const isText = one.tagName === "text";
            if (!one.checkVisibility() || (isText && !one.textContent.trim())) continue;
            const { left, top, width, height } = one.getBoundingClientRect();
            const [x, y] = [left + width / 2, top + height / 2];
            let below = paper;
            for (const cell of isText ? svg.querySelectorAll("rect, path") : []) {
                const own = cell.getBoundingClientRect();
                const isUnder = own.left < x && x < own.right && own.top < y && y < own.bottom;
                if (isUnder && cell.compareDocumentPosition(one) & 4) below = painted(cell, "fill", below) || below;
            }
            const colours = (isText ? ["fill"] : ["fill", "stroke"]).map((part) => painted(one, part, below));
            const best = Math.max(...colours.filter(Boolean).map((colour) => contrast(colour, below)));
            const size = isText ? scale * parseFloat(getComputedStyle(one).fontSize) : null;
            if (best > 1 || (isText && colours[0])) found.push([name, isText ? "label" : kind, best, size]);
        }
    }
    return found;
}"""
POOR = """() => [...document.querySelectorAll("#s0-strata .canvas svg")].flatMap((svg) => {
    const box = svg.getBoundingClientRect();
    const scale = box.width / svg.viewBox.baseVal.width;
    const isPoor = (one, own) => own.left < box.left - 0.5 || own.right > box.right + 0.5
        || scale * parseFloat(getComputedStyle(one).fontSize) < 11.99;
    return [...svg.querySelectorAll("text")].filter((one) => isPoor(one, one.getBoundingClientRect()))
        .map((one) => one.textContent);
})"""
SMALL = """() => [...document.querySelectorAll("main *")]
    .filter((one) => !one.closest("figure:not([data-live])")) // which are scaled: POOR
    .filter((one) => one.checkVisibility())
    .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .filter((one) => parseFloat(getComputedStyle(one).fontSize) < 12)
    .map((one) => one.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_figures_are_readable_and_nothing_is_cut(browser: Browser, tmp_path: Path, width: int) -> None:
    """Names of 60 characters, right to left and of wide letters, and many systems."""
    many = {f"s{n}": RUNS["good"] for n in range(17 if width == 360 else 0)}
    runs = {name: RUNS[of] for name, of in WIDE.items()} | many
    comparison = dh.compare(QRELS, runs, "RR", n_resamples=99, baseline="b")
    subject = Subject(
        evaluations=comparison.evaluations,
        comparison=comparison,
        queries=dh.Queries(TEXTS),
        groupings=(("kind",),),
    )
    path = written(tmp_path, [subject])
    with browser.opened(path, width=width) as found:
        figures = found.page.evaluate(DRAWN)
        assert len(figures) >= 2
        assert figures == [["img", True, [], [], []]] * len(figures)
        assert found.page.evaluate(SMALL) == []
        assert found.page.evaluate(POOR) == []
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_figure_is_as_wide_as_its_letters(browser: Browser, page: Path, tmp_path: Path) -> None:
    wide = page.read_text(encoding="utf-8").replace(
        "</head>", "<style>svg text{font-family:monospace!important}</style></head>"
    )
    (tmp_path / "wide.html").write_text(wide, encoding="utf-8")
    with browser.opened(tmp_path / "wide.html") as found:
        assert found.page.locator("#s0-strata .canvas svg").count() > 0
        assert found.page.evaluate(POOR) == []


def test_titles_of_figures_name_no_leader_where_systems_are_equal(browser: Browser, tmp_path: Path) -> None:
    subject = subject_of(QRELS, {"a": RUNS["good"], "b": RUNS["good"], "c": RUNS["weak"]})
    with browser.opened(written(tmp_path, [subject])) as found:
        forest, differences = (found.page.locator(f"figure[data-live$={name}]") for name in ("forest", "differences"))
        assert forest.locator("figcaption strong").inner_text() == "a and b share the best nDCG@5 of 3 systems"
        found.page.locator("[data-toolbar]").get_by_label("Baseline").select_option("b")
        assert (
            differences.locator("figcaption strong").inner_text() == f"a and b are equal on all of {len(QRELS)} queries"
        )


@pytest.mark.parametrize(("theme", "width"), [("light", 360), ("dark", 1400)])
def test_each_mark_and_label_of_all_figures_has_contrast(
    browser: Browser, contested: Path, theme: str, width: int
) -> None:
    """Computed where it is painted: labels 4.5 to what is behind them, marks 3 to the page; labels have 12 pixels."""
    pytest.importorskip("altair", reason="figures need Altair")
    painted = []
    for scripts in (True, False):  # the drawings of the script, and those in whose place they are
        with browser.opened(contested, theme=theme, width=width, scripts=scripts) as found:
            painted += found.page.evaluate(PAINTED)
    assert {name.split("-")[0] for name, *_ in painted} == {"0:forest", "0:differences", "0:ties", "strata"}
    shown = [one for one in painted if one[1] not in {"grid", "background"}]
    assert [one for one in shown if one[2] < (4.5 if one[1] == "label" else 3)] == []
    assert [one for one in shown if one[1] == "label" and one[3] < 11.9] == []
    assert len(shown) > 300


def test_files_of_a_figure_and_of_the_leaderboard(browser: Browser, page: Path, tmp_path: Path) -> None:
    with browser.opened(page) as found:
        for name in ("SVG", "PNG"):
            with found.page.expect_download() as saved:
                found.page.locator("figure[data-live] .files").get_by_text(name).first.click()
            saved.value.save_as(tmp_path / f"f.{name}")
        with found.page.expect_download() as saved:
            found.page.get_by_role("button", name="CSV").click()
        saved.value.save_as(tmp_path / "board.csv")
        assert found.said == []
    assert (tmp_path / "f.SVG").read_text().startswith("<svg")
    assert (tmp_path / "f.PNG").read_bytes().startswith(b"\x89PNG")
    rows = (tmp_path / "board.csv").read_text().splitlines()
    assert rows[0].startswith("system,nDCG@5,")
    assert len(rows) == 4


def test_csv_of_a_page_has_no_formula(browser: Browser, tmp_path: Path) -> None:
    """As that of Python: an apostrophe before what a spreadsheet would work out, and numbers as they are."""
    subject = subject_of(QRELS, {"=1+1": RUNS["good"], "-x": RUNS["fair"], "a\rb": RUNS["weak"]})
    with browser.opened(written(tmp_path, [subject])) as found:
        with found.page.expect_download() as saved:
            found.page.get_by_role("button", name="CSV").click()
        saved.value.save_as(tmp_path / "board.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "board.csv").read_bytes().decode(), newline="")))
    assert [row[0] for row in rows[1:]] == ["'=1+1", "'-x", "a\\rb"]
    mean = dh.evaluate(QRELS, RUNS["good"], MEASURES[0])[MEASURES[0]].mean
    assert rows[1][1] == format_cell(mean)


def test_queries_are_searched_and_show_what_evaluate_says(browser: Browser, page: Path) -> None:
    one, other = (dh.evaluate(QRELS, RUNS[name], "nDCG@5")["nDCG@5"] for name in ("good", "fair"))
    place = one.query_ids.tolist().index("q07")
    with browser.opened(page) as found:
        section = found.page.locator("#s0-deciding")
        section.get_by_label("System").select_option(label="good")
        section.get_by_label("Against").select_option(label="fair")
        section.get_by_label("Search queries").focus()
        found.page.keyboard.type("TEXT of q07")
        row = section.locator("[data-queries] tbody tr")
        assert row.count() == 1
        difference = one.values[place] - other.values[place]
        low, high = one.tie_min[place] - other.tie_max[place], one.tie_max[place] - other.tie_min[place]
        shown = [
            format_cell(float(value)) for value in (one.values[place], other.values[place], difference, abs(difference))
        ]
        span = f"[{format_cell(float(low))}, {format_cell(float(high))}]"
        assert row.locator("th, td").all_inner_texts() == ["q07", "text of q07", *shown, span]
        assert "1 of 1 shown, of 30 queries" in section.get_by_role("status").inner_text()


def test_rankings_hold_ties_together_and_mark_what_is_not_judged(browser: Browser, tmp_path: Path) -> None:
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}
    runs = {
        "one": {"q1": {"b": 3, "a": 2, "x": 2, "y": 2}, "q2": {"a": 1}},
        "two": {"q1": {"a": 3, "x": 1}, "q2": {"b": 1, "a": 1}},
    }
    with browser.opened(written(tmp_path, [subject_of(qrels, runs)])) as found:
        section = found.page.locator("#s0-rankings")
        section.get_by_label("Query").select_option(label="q1")
        section.get_by_label("Left").select_option(label="one")
        ranking = section.locator("table.ranking").first
        assert ranking.locator("tbody.tie").count() == 1
        assert ranking.locator("tbody.tie .doc").all_inner_texts() == ["a", "x", "y"]
        assert ranking.locator("tbody.tie .rank").inner_text() == "2\N{EN DASH}4: tie of 3"
        assert ranking.locator("tr.unjudged .doc").all_inner_texts() == ["x", "y"]
        assert ranking.locator("tr.unjudged .rel").first.inner_text() == "not judged"
        assert ranking.locator("tr.relevant .doc").all_inner_texts() == ["a"]
        orders = section.locator("table.orders").first
        listed = dh.tie_orders({"b": 3, "a": 2, "x": 2, "y": 2}, {"a": 1, "b": 0}, "nDCG@5")
        assert orders.locator("caption").inner_text() == "The 6 orders of its ties"
        found_orders = zip(
            orders.locator("tbody th").all_inner_texts(), orders.locator("tbody td").all_inner_texts(), strict=True
        )
        wanted = zip(map(format_cell, listed.values.tolist()), map(" ".join, listed.orders), strict=True)
        assert sorted(found_orders) == sorted(wanted)
        # a query in the table of those that decide leads here
        found.page.locator("#s0-deciding").get_by_role("button", name="q2").click()
        assert section.get_by_label("Query").input_value() == section.get_by_label("Query").locator(
            "option", has_text="q2"
        ).get_attribute("value")


def test_a_key_on_a_query_shows_how_its_value_comes_about(browser: Browser, page: Path) -> None:
    with browser.opened(page) as found:
        button = found.page.locator("#s0-deciding [data-queries] tbody button").first
        query = button.inner_text()
        button.focus()
        found.page.keyboard.press("Enter")
        side = found.page.locator("#s0-rankings .side").first
        system = side.locator("h3").inner_text()
        steps = dh.evaluate(QRELS, RUNS[system], "nDCG@5").steps("nDCG@5", query)
        rows = side.locator("details table tbody tr")
        assert rows.count() == steps.documents.height
        for n, row in enumerate(steps.documents.iter_rows(named=True)):
            ranks = f"{row['first']}" + (f"\N{EN DASH}{row['last']}" if row["last"] > row["first"] else "")
            shown = [ranks, row["doc_id"], f"{row['relevance']:g}", f"{row['gain']:g}"]
            shown += [format_cell(row[name]) for name in ("weight", "part", "sum")]
            assert rows.nth(n).locator("th, td").all_inner_texts() == shown
        last = format_cell(steps.documents["sum"][-1])
        how = f"{last} / {format_cell(steps.divisor)} = {format_cell(steps.value)}"
        assert side.locator("details .hint").inner_text() == how
        side.locator("details summary").focus()
        found.page.keyboard.press("Enter")
        rows.first.wait_for(state="hidden")


def test_keys_go_through_the_bars_of_differences(browser: Browser, page: Path) -> None:
    """One tab stop for all; each key says the bar's query and values, and Enter opens its rankings as a click does."""
    comparison = dh.compare(QRELS, RUNS, MEASURES, n_resamples=199)
    leader, other = sorted(RUNS, key=lambda name: -comparison.evaluations[name]["nDCG@5"].mean)[:2]
    scores = [comparison.evaluations[name]["nDCG@5"] for name in (leader, other)]
    values = [dict(zip(one.query_ids.tolist(), one.values.tolist(), strict=True)) for one in scores]
    with browser.opened(page) as found:
        tab = found.page
        bars = tab.locator("figure[data-live$=differences] [role=slider]")
        bars.focus()
        n = int(bars.get_attribute("aria-valuemax") or 0)
        seen = [bars.get_attribute("aria-valuetext")]
        for _ in range(n):
            tab.keyboard.press("ArrowRight")
            seen.append(bars.get_attribute("aria-valuetext"))
        assert seen[-1] == seen[-2] != seen[-3]  # at the end it stays
        told = dict(text.split(",")[0].split(": ") for text in filter(None, seen))
        assert told == {query: format_cell(values[0][query] - values[1][query]) for query in values[0]}
        tab.keyboard.press("Home")
        assert bars.get_attribute("aria-valuetext") == seen[0]
        assert tab.locator(".tip").inner_text() == seen[0]
        assert tab.locator(".row.at").count() == 1
        tab.keyboard.press("Enter")
        chosen = tab.locator("#s0-rankings").get_by_label("Query")
        assert chosen.evaluate("(one) => one === document.activeElement")
        assert chosen.evaluate("(one) => one.selectedOptions[0].textContent").startswith(str(seen[0]).split(":")[0])
        assert tab.locator(".row.at").count() == 0
        assert found.said == []


def test_the_data_of_a_figure_is_a_table(browser: Browser, page: Path) -> None:
    pytest.importorskip("altair", reason="figures need Altair")
    with browser.opened(page) as found:
        figure = found.page.locator("figure[data-chart='0']")
        figure.locator("summary").focus()
        found.page.keyboard.press("Enter")
        rows = figure.locator(".numbers table tbody tr")
        rows.first.wait_for()  # the table is made when the browser says that it was opened
        assert rows.count() >= 3
        assert "good" in figure.locator(".numbers table").inner_text()


def test_without_scripts_verdict_tables_and_figures_are_there(browser: Browser, page: Path) -> None:
    with browser.opened(page, scripts=False) as found:
        text = found.page.locator("main").inner_text()
        comparison = dh.compare(QRELS, RUNS, MEASURES, n_resamples=199)
        for sentence in comparison.judge().facts.values():
            assert sentence in " ".join(text.split())
        assert found.page.locator("#s0-leaderboard tbody tr").count() == 3
        assert found.page.locator("#s0-deciding .static tbody tr").count() == 20
        assert found.page.locator(".live:visible").count() == 0
        if pytest.importorskip("altair", reason="figures need Altair"):
            assert found.page.locator("figure svg:visible").count() == 3


def test_evil_names_are_text(browser: Browser, tmp_path: Path) -> None:
    """Of systems, queries, documents, texts and files; two that differ in what cannot be seen stay apart."""
    documents = {f"{EVIL}{n}": float(n // 2) for n in range(6)}
    qrels = {f"{EVIL}{n}": {f"{EVIL}1": 1, f"{EVIL}4": 2} for n in range(4)}
    runs = {f"{EVIL}a": dict.fromkeys(qrels, documents), "</td><b>b": {query: {f"{EVIL}4": 1.0} for query in qrels}}
    texts = {query: {"query": f"<script>alert(2)</script>{EVIL}"} for query in qrels}
    subject = subject_of(qrels, runs, queries=dh.Queries(texts), name=EVIL)
    with browser.opened(written(tmp_path, [subject, subject])) as found:
        assert found.said == []
        assert found.asked == []
        assert found.page.locator("img, main script, b").count() == 0
        assert "</script><img src=x onerror=alert(1)>" in found.page.locator("#s0-rankings .doc").first.inner_text()
        assert "\u202e" not in found.page.locator("main").inner_text()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 800, 1400])
def test_no_finding_of_axe(browser: Browser, page: Path, theme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    with browser.opened(page, theme=theme, width=width) as found:
        found.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        found.page.wait_for_timeout(100)
        results = axe.Axe().run(found.page).response
        assert [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in results["violations"]] == []


COLOURS = """() => Object.fromEntries(["gain", "loss"].map((kind) => {
    const marks = [...document.querySelectorAll(`figure[data-live$=differences] .${kind}`)];
    return [kind, [...new Set(marks.map((one) => getComputedStyle(one).fill))]];
}))"""
BEHIND = """() => [...document.querySelectorAll("figure[data-live$=differences] .row")].map((row) => {
    const kinds = [...row.children].map((one) => one.getAttribute("class"));
    return kinds.filter((kind) => kind !== "target");
})"""


def test_gains_and_losses_have_the_colours_of_the_figures(browser: Browser, page: Path) -> None:
    pytest.importorskip("altair", reason="figures need Altair")
    from deadheat.plugins.figures.style import GAIN, LOSS

    with browser.opened(page) as found:
        colours = found.page.evaluate(COLOURS)
    for kind, colour in (("gain", GAIN), ("loss", LOSS)):
        red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
        assert colours[kind] == [f"rgb({red}, {green}, {blue})"]


def test_the_range_of_a_difference_is_behind_its_bar(browser: Browser, contested: Path) -> None:
    with browser.opened(contested) as found:
        rows = found.page.evaluate(BEHIND)
    assert len(rows) == len(QRELS)
    assert {tuple(row) for row in rows} <= {
        (*before, kind, *after)
        for kind in ("gain", "loss", "equal")
        for before, after in ((("reach",), ("cap",)), ((), ()))
    }
    assert any(row[0] == "reach" for row in rows)


def test_a_page_of_one_query_shows_no_single_points(browser: Browser, tmp_path: Path) -> None:
    query = next(iter(QRELS))
    runs = {name: {query: RUNS[name][query]} for name in RUNS}
    subject = subject_of({query: QRELS[query]}, runs)
    with browser.opened(written(tmp_path, [subject])) as found:
        assert found.page.locator("figure svg:visible").count() == 0
        assert "None: of one query a figure would show single points." in found.page.locator("#s0-figures").inner_text()
