"""deadheat report: one page of runs, of saved evaluations, and of a benchmark's folder."""

from __future__ import annotations

import hashlib
import html
import json
import re
import sys
from pathlib import Path

import pytest

import deadheat as dh
from deadheat.core.report.cells import format_cell
from deadheat.plugins.bench.report import report_bench
from support.command import call, ok
from support.page_data import held_in
from support.random_runs import QRELS, RUNS
from support.small_bench import CASES, DOCUMENTS, known


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "judged.json").write_text(json.dumps(QRELS))
    for name, run in RUNS.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(run))
    monkeypatch.setitem(sys.modules, "altair", None)  # figures take long, and have tests of their own
    monkeypatch.delitem(sys.modules, "deadheat.plugins.figures.figures", raising=False)
    return tmp_path


@pytest.mark.slow
def test_report_of_runs_names_its_inputs_and_its_command(files: Path) -> None:
    arguments = ("report", "judged.json", "weak.json", "good.json", "-m", "RR", "--n-resamples", "99", "-o", "r.html")
    assert call(*arguments).stderr.startswith("r.html: 0.")
    page = (files / "r.html").read_text(encoding="utf-8")
    assert "deadheat report judged.json weak.json good.json -m RR --n-resamples 99 -o r.html" in page
    for name in ("judged.json", "weak.json", "good.json"):
        assert hashlib.sha256((files / name).read_bytes()).hexdigest() in page
    verdict = dh.compare(QRELS, {name: RUNS[name] for name in ("weak", "good")}, "RR", n_resamples=99).verdict
    for text in (verdict.headline, *verdict.facts.values()):
        assert html.escape(text) in page
    again = ok(*arguments[:-1], "-")
    assert again.replace("-o -", "-o r.html").strip() == page.strip()


@pytest.mark.slow
def test_report_of_one_run(files: Path) -> None:
    ok("report", "judged.json", "good.json", "-m", "RR", "-o", "one.html")
    assert "good has a mean RR of" in (files / "one.html").read_text(encoding="utf-8")
    for given in (["--baseline", "good"], ["--margin", ".1"], ["--test", "t"], ["--confidence-level", ".9"]):
        refused = call("report", "judged.json", "good.json", *given, "-o", "x.html")
        assert (refused.exit_code, f"{given[0]} needs another run" in refused.output) == (2, True), given


def test_what_a_page_does_not_show_is_refused(files: Path) -> None:
    (files / "texts.csv").write_text("doc_id,text\na,b\n")
    ok("evaluate", "judged.json", "good.json", "-m", "RR", "--save", "saved.json")
    for arguments, message in (
        (["judged.json", "good.json", "--fragment", "--title", "T"], "--title is of a page"),
        (["judged.json", "good.json", "--fragment", "--texts", "texts.csv"], "--texts is of a page"),
        (["saved.json", "--texts", "texts.csv"], "--texts is for QRELS RUN..."),
    ):
        result = call("report", *arguments, "-o", "x.html")
        assert (result.exit_code, message in result.output) == (2, True), result.output


@pytest.mark.slow
def test_many_runs_are_compared_with_one(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.plugins.page.command.MOST_PAIRED", 2)
    runs = [f"{name}.json" for name in ("fair", "weak", "good")]
    said = call("report", "judged.json", *runs, "-m", "RR", "--test", "t", "--ci-method", "t", "-o", "r.html").stderr
    assert "3 systems: each is compared with the first, fair; --baseline takes another" in " ".join(said.split())
    (subject,) = held_in((files / "r.html").read_text(encoding="utf-8"))["subjects"]
    assert {subject["systems"][baseline] for _, _, baseline, *_ in subject["pairs"]} == {"fair"}


@pytest.mark.slow
def test_report_of_saved_evaluations(files: Path) -> None:
    ok("evaluate", "judged.json", "weak.json", "good.json", "-m", "RR", "--save", "saved/", "--replace")
    arguments = ("report", "saved/weak.json", "saved/good.json", "-o", "s.html")
    ok(*arguments)
    page = (files / "s.html").read_text(encoding="utf-8")
    assert "saved evaluation" in page
    assert "s0-rankings" not in page
    assert "AP was not evaluated; this evaluation holds RR" in call(*arguments, "-m", "AP").output


@pytest.mark.slow
def test_report_by_strata(files: Path) -> None:
    rows = "".join(f"{query},{'ab'[n % 2]},words {n}\n" for n, query in enumerate(QRELS))
    (files / "queries.csv").write_text(f"query_id,kind,text\n{rows}")
    ok(
        *("report", "judged.json", "weak.json", "good.json", "-m", "RR", "--n-resamples", "99", "-o", "q.html"),
        *("--queries", "queries.csv", "--by", "kind"),
    )
    page = (files / "q.html").read_text(encoding="utf-8")
    assert 'id="s0-strata"' in page
    assert "words 3" in page


@pytest.mark.usefixtures("files")
def test_what_report_refuses() -> None:
    for arguments, said in {
        "judged.json good.json -o r.txt": "ends in .html",
        "judged.json -o r.html": "give QRELS RUN",
        "judged.json good.json -o judged.json": "ends in .html",
        "judged.json good.json -o no/r.html": "no such folder",
        "judged.json good.json": "Missing option",
    }.items():
        found = call("report", *arguments.split())
        assert found.exit_code == 2, found.output
        assert said in found.output


@pytest.mark.slow
def test_two_evaluations_before_and_after(files: Path) -> None:
    """What fell and rose, and the judgments that changed; no folder of this machine is in the page."""
    changed = {query: {**own, "new": 1} if query == "q03" else own for query, own in QRELS.items()}
    (files / "later.json").write_text(json.dumps(changed))
    ok("evaluate", "judged.json", "weak.json", "-m", "RR", "--save", "before.saved.json")
    ok("evaluate", "later.json", "good.json", "-m", "RR", "--save", "after.saved.json")
    paths = [str(files / f"{name}.saved.json") for name in ("before", "after")]
    ok("report", *paths, "--diff", "--n-resamples", "99", "-o", "r.html")
    page = (files / "r.html").read_text(encoding="utf-8")
    assert str(files) not in page
    assert "Judgments that changed since before.saved: 1 judgment" in page
    part = page[page.index("what fell and rose") : page.index('id="s0-leaderboard"')]
    rows = re.findall(r'<tr><th scope="row".*?>(fell|rose)</th><th scope="row">(.*?)</th><td.*?>(.*?)</td>', part)
    values = {name: dh.evaluate(changed, RUNS[name], "RR")["RR"] for name in ("weak", "good")}
    apart = values["good"].values - values["weak"].values
    moved = dict(zip(values["good"].query_ids.tolist(), apart.tolist(), strict=True))
    n_fell, n_rose = sum(one < -1e-12 for one in moved.values()), sum(one > 1e-12 for one in moved.values())
    cut = f"; the first 10 of {n_fell} loss{'es' * (n_fell != 1)} and of {n_rose} win{'s' * (n_rose != 1)}"
    assert (cut in part) == (max(n_fell, n_rose) > 10)
    expected = [("fell", one) for one in sorted(moved.values()) if one < -1e-12][:10]
    expected += [("rose", one) for one in sorted(moved.values(), reverse=True) if one > 1e-12][:10]
    assert [(kind, shown) for kind, _, shown in rows] == [(kind, format_cell(one)) for kind, one in expected]
    assert all(format_cell(moved[query]) == shown for _, query, shown in rows)
    assert "two saved evaluations" in call("report", "judged.json", "good.json", "--diff", "-o", "x.html").output


def test_a_value_that_grew_rose_also_where_less_is_better(files: Path) -> None:
    for name in ("weak", "good"):
        ok("evaluate", "judged.json", f"{name}.json", "-m", "FRP", "--save", f"{name}.saved.json")
    ok("report", "good.saved.json", "weak.saved.json", "--diff", "--n-resamples", "99", "-o", "r.html")
    page = (files / "r.html").read_text(encoding="utf-8")
    part = page[page.index("what fell and rose") : page.index('id="s0-leaderboard"')]
    rows = re.findall(
        r'<tr><th scope="row".*?>(fell|rose) \(less.*?</th><th scope="row">.*?</th><td.*?>(.*?)</td>', part
    )
    assert {kind for kind, _ in rows} == {"fell", "rose"}
    assert all((kind == "rose") == (float(shown) > 0) for kind, shown in rows)


def test_rankings_have_the_texts_of_documents(files: Path) -> None:
    docs = {doc for own in RUNS["good"].values() for doc in own}
    long = "word " * 60
    texts = [{"doc_id": doc, "text": f"{long if n == 0 else 'title'} of {doc}"} for n, doc in enumerate(sorted(docs))]
    (files / "docs.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in texts))
    ok("report", "judged.json", "good.json", "-m", "RR", "--texts", "docs.jsonl", "-o", "r.html")
    page = (files / "r.html").read_text(encoding="utf-8")
    held = held_in(page)["subjects"][0]["rankings"]
    named = {doc: name for one in held for doc, name in zip(one["docs"], one["names"], strict=True)}
    for one in texts:
        if one["doc_id"] in named:
            text = one["text"] if len(one["text"]) <= 200 else f"{one['text'][:200]}..."
            assert named[one["doc_id"]] == text
    assert "Texts are cut after 200 characters." in page
    (files / "others.csv").write_text("doc_id,text\nelsewhere,other\n")
    told = call("report", "judged.json", "good.json", "-m", "RR", "--texts", "others.csv", "-o", "no.html")
    assert told.exit_code == 3
    assert "others.csv: no document of the runs, such as" in told.output
    assert not (files / "no.html").exists()


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_fragment_has_headline_three_figures_and_ten_systems(files: Path, form: str) -> None:
    names = [f"s{n}" for n in range(12)]
    for n, name in enumerate(names):
        own = {query: docs for place, (query, docs) in enumerate(RUNS["good"].items()) if place >= n}
        (files / f"{name}.json").write_text(json.dumps(own))
    arguments = ("judged.json", *(f"{name}.json" for name in names), "-m", "RR", "--n-resamples", "99")
    out = ok("report", *arguments, "--format", form, "--fragment", "-o", "-")
    lines = html.unescape(out).splitlines()
    assert len(lines) < 30
    runs = {name: json.loads((files / f"{name}.json").read_text()) for name in names}
    comparison = dh.compare(QRELS, runs, "RR", n_resamples=99, missing="empty")
    verdict = comparison.judge()
    assert verdict.headline in lines[0]
    assert verdict.detectable is not None
    row = comparison.sample_sizes().filter(system=verdict.system, baseline=verdict.baseline).row(0, named=True)
    assert verdict.n_tests == 66
    assert verdict.detectable > row["detectable_difference"]  # which is not corrected
    said = [f"lead: +{verdict.difference:.4f} RR, {verdict.leader} over {verdict.runner_up}; 95% interval"]
    said += [f"detectable difference: {verdict.detectable:.4f} the smallest that 30 queries would show (power 80%,"]
    assert all(any(text in line for line in lines) for text in said)
    assert sum(any(f"{mark}{name}" in line for line in lines) for name in names for mark in ("| ", ">")) == 10
    assert "The first 10 of 12 systems." in lines[-1] or any("The first 10 of 12 systems." in line for line in lines)
    ok("report", "judged.json", "good.json", "-m", "RR", "--format", form, "--fragment", "-o", "-")
    refused = call("report", "judged.json", "good.json", "--format", "markdown", "-o", "x.md")
    assert "is for --fragment" in refused.output


def test_options_of_every_command_go_with_a_history(files: Path) -> None:
    dh.evaluate("judged.json", "good.json", "RR").save("saved.json")
    given = ["report", "--history", "saved.json", "-o", "h.html"]
    assert call(*given, "--quiet", "--debug", "--max-memory", "1GB").output == ""
    assert (files / "h.html").is_file()
    assert "-m is not for --history" in call(*given, "-m", "RR").output


@pytest.mark.slow
def test_report_of_a_benchmark(files: Path) -> None:
    """Each set and language is a part; the runs that the folder keeps are its rankings."""
    result = dh.bench(
        CASES, DOCUMENTS, {"known": known, "other": lambda texts, _: [{"D1": 1.0} for _ in texts]}, output="out"
    )
    assert "Verdict (mine (en))" in result.to_html(full=True)
    ok("report", "out", "--verbose", "--max-memory", "1GB", "-o", "b.html")
    page = (files / "b.html").read_text(encoding="utf-8")
    for text in ("Verdict (mine (de))", "Verdict (mine (en))", 'id="s1-rankings"', "run of known"):
        assert text in page
    asked = {case: f"asked by {case}" for one in result.evaluations.values() for case in one.query_ids.tolist()}
    rows = "".join(f"{case},{text},{'xy'[n % 2]}\n" for n, (case, text) in enumerate(asked.items()))
    (files / "asked.csv").write_text(f"query_id,text,team\n{rows}")
    ok("report", "out", "--queries", "asked.csv", "--by", "team", "-o", "b.html")
    for one in held_in((files / "b.html").read_text(encoding="utf-8"))["subjects"]:
        assert one["texts"] == [asked[case] for case in one["queries"]]
        assert {stratum["name"] for stratum in one["strata"]} <= {"x", "y"}
        assert sum(len(stratum["queries"]) for stratum in one["strata"]) == len(one["queries"])
    assert "-m is for QRELS RUN" in call("report", "out", "-m", "RR", "-o", "b.html").output
    assert "give it alone" in call("report", "out", "good.json", "-o", "b.html").output


@pytest.mark.slow
def test_the_page_of_a_folder_has_phrases_names_failures_and_facts(files: Path) -> None:
    (files / "cases.csv").write_text(
        "Begriff,expected_ids,Sprache,Schwierigkeit\nFieber nachts,D1,deutsch,leicht\nHusten,D2,deutsch,schwer\n"
    )
    (files / "docs.csv").write_text("doc_id,text\nD1,Fieber\nD2,trockener Husten\nD3,Husten mit Auswurf\n")
    given = "cases.csv", "docs.csv", {"first": lambda texts, _: [{"D3": 1.0} for _ in texts], "bm25": "bm25"}
    result = dh.bench(*given, measures=["RR", "Hit@1"], by="difficulty", n_resamples=99, output="out")
    ok("report", "out", "-o", "b.html")
    pages = [html.unescape((files / "b.html").read_text(encoding="utf-8")), html.unescape(result.to_html(full=True))]
    for page in pages:
        for fact in report_bench(result).shown:
            assert fact.text in page
        for failed in result.failures.values():
            for one in failed:
                assert all(f">{text}</t" in page for text in (one.text, "; ".join(map(str, one.expected)), one.line))
        assert all(text in page for text in ("Fieber nachts", "D3 Husten mit Auswurf", "Which retriever is best"))
        assert "easy" in page
    (rankings, *_) = (one["rankings"] for one in held_in(pages[0])["subjects"])
    labels = {"D1": "Fieber", "D2": "trockener Husten", "D3": "Husten mit Auswurf"}
    assert {doc: name for one in rankings for doc, name in zip(one["docs"], one["names"], strict=True)} == labels
    assert [one["texts"] for one in held_in(pages[0])["subjects"]] == [["Fieber nachts", "Husten"]]
