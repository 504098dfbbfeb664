"""deadheat judges."""

from __future__ import annotations

import csv
import io
import json
import re
from itertools import product
from math import log2
from pathlib import Path

import pytest

import deadheat as dh
from support.command import call, names_in, ok
from support.numbers_in_text import numbers_in

HUMAN = "q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 2\nq2 0 d1 0\nq2 0 d3 1\n"
JUDGE = "q1 0 d1 1\nq1 0 d2 1\nq1 0 d3 2\nq2 0 d1 0\nq2 0 d3 0\n"


@pytest.fixture(autouse=True)
def labels(folder: Path) -> None:
    (folder / "human.txt").write_text(HUMAN, encoding="utf-8")
    (folder / "llm.txt").write_text(JUDGE, encoding="utf-8")
    (folder / "a.run").write_text("q1 Q0 d1 1 3 a\nq1 Q0 d2 2 3 a\nq2 Q0 d3 1 1 a\n", encoding="utf-8")
    (folder / "b.run").write_text("q1 Q0 d3 1 3 b\nq2 Q0 d1 1 1 b\n", encoding="utf-8")
    (folder / "queries.csv").write_text("query_id,type\nq1,short\nq2,long\n", encoding="utf-8")


def test_one_judge() -> None:
    out = ok("judges", "human.txt", "llm.txt", "--full")
    assert "kappa" in out
    assert "(rows) and grade of llm (columns)" in out
    assert "5 of 2 queries that both" in " ".join(out.split())


def test_the_numbers_are_those_of_python() -> None:
    document = json.loads(ok("judges", "human.txt", "llm.txt", "--format", "json"))
    found = dh.judge_agreement("human.txt", "llm.txt")
    values = {name: document["judges"]["llm"][name] for name in found.only.estimates}
    assert values == {name: pytest.approx(float(one), nan_ok=True) for name, one in found.only.estimates.items()}
    assert [list(row.values()) for row in document["confusion"]["llm"].values()] == found.confusion.tolist()
    rows = list(csv.DictReader(io.StringIO(ok("judges", "human.txt", "llm.txt", "--format", "csv"))))
    assert float(rows[0]["kappa"]) == pytest.approx(found.kappa)
    assert float(rows[0]["kappa_low"]) == pytest.approx(found.kappa.low)


def test_conclusions_strata_and_queries() -> None:
    out = ok("judges", "human.txt", "llm.txt", "--run", "a.run", "--run", "b.run", "-m", "nDCG@3", "--per-query")
    opening, _, first = out.splitlines()[:3]
    assert "says little about llm" in opening
    assert first.startswith("nDCG@3  confirms ")
    assert numbers_in(first.removeprefix("nDCG@3")) == [0, 0, 2]  # confirmed, of differences, queries
    assert "Systems by nDCG@3" in out
    assert "Queries" in out
    by = json.loads(
        ok("judges", "human.txt", "llm.txt", "--queries", "queries.csv", "--by", "type", "--format", "json")
    )
    assert by["stratum_type short"]["llm"]["n_documents"] == 3


def test_csv_has_every_query() -> None:
    out = ok("judges", "human.txt", "llm.txt", "human.txt", "--per-query", "--format", "csv")
    rows = [
        (row["judge"], row["query_id"], row["n_documents"], float(row["agreement"]))
        for row in csv.DictReader(io.StringIO(out))
    ]
    assert rows == [
        ("llm", "q1", "3", 2 / 3),
        ("llm", "q2", "2", 1 / 2),
        ("human", "q1", "3", 1),
        ("human", "q2", "2", 1),
    ]


@pytest.mark.slow
def test_several_judges_and_formats() -> None:
    document = json.loads(ok("judges", "human.txt", "llm.txt", "human.txt", "--format", "json"))
    assert document["judges"]["human"]["kappa"] == 1
    assert set(document["alpha_together"]) == {"nominal", "ordinal", "interval"}
    for form in ("markdown", "latex", "html"):
        assert "kappa" in ok("judges", "human.txt", "llm.txt", "--format", form)


def test_json_has_every_judge_and_measure() -> None:
    runs = ("--run", "a.run", "--run", "b.run", "-m", "nDCG@3 RR")
    document = json.loads(ok("judges", "human.txt", "llm.txt", "human.txt", *runs, "--format", "json"))
    for judge in ("llm", "human"):
        for measure in ("nDCG@3", "RR"):
            assert document[f"systems of {judge}, {measure}"][judge][measure]["a"]["human"] >= 0


@pytest.mark.usefixtures("folder")
def test_agree_leads_to_judges() -> None:
    assert "deadheat judges HUMAN JUDGE compares labels" in call("agree", "human.txt", "llm.txt").stderr


def test_grades_have_no_order_of_rank(folder: Path) -> None:
    lines = (line.split() for line in JUDGE.splitlines())
    (folder / "llm.run").write_text("".join(f"{q} Q0 {d} 1 {g} t\n" for q, _, d, g in lines), encoding="utf-8")
    found = [
        json.loads(ok("judges", "human.txt", "llm.run", *more, "--format", "json")) for more in ((), ("--ascending",))
    ]
    assert found[0]["judges"] == found[1]["judges"]


def test_what_does_not_go() -> None:
    assert call("judges", "human.txt", "llm.txt", "-m", "RR").exit_code == 2
    result = call("judges", "human.txt", "llm.txt", "--run", "a.run")
    assert result.exit_code == 2
    assert "two runs or more: give --run before each" in result.stderr
    assert call("judges", "human.txt", "llm.txt", "--by", "type").exit_code == 2


@pytest.mark.parametrize("judges", [["llm.txt"], ["llm.txt", "human.txt"]])
def test_the_level_of_intervals_is_that_which_was_asked_for(judges: list[str]) -> None:
    runs = ["--run", "a.run", "--run", "b.run", "--n-resamples", "99"]
    out = ok("judges", "human.txt", *judges, *runs, "--confidence-level", "0.999")
    assert "99.9% CI" in out
    assert "95% CI" not in out
    assert "100% CI" not in out


def test_a_comparison_with_a_judge_has_its_own_level() -> None:
    (Path("more.txt")).write_text(JUDGE + "q3 0 d1 1\nq4 0 d1 0\n", encoding="utf-8")
    out = ok("compare", "human.txt", "a.run", "b.run", "--judge", "more.txt", "--confidence-level", "0.9")
    assert "90% CI" in out
    assert "95% CI" not in out


@pytest.mark.slow
def test_figures_and_the_page() -> None:
    ok("judges", "human.txt", "llm.txt", "--run", "a.run", "--run", "b.run", "--figures", "figures")
    names = sorted(one.name for one in Path("figures").iterdir())
    assert names == ["confusion.svg", "judge_bias-nDCG@10.svg", "judged_means-nDCG@10.svg"]
    ok("judges", "human.txt", "llm.txt", "-o", "page.html")
    assert "<svg" in Path("page.html").read_text(encoding="utf-8")
    ok("judges", "human.txt", "llm.txt", "--figures", "figures", "--digits", "1", "-o", "page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "confusion.svg" in page
    assert not re.search(r">-?\d\.\d{4}<", page)


def test_what_judges_write_is_read_as_qrels_and_as_scores(folder: Path) -> None:
    rows = [
        {"query_id": "q1", "doc_id": "d1", "answer": "Score: 2"},
        {"query_id": "q1", "doc_id": "d2", "answer": "Not relevant"},
        {"query_id": "q1", "doc_id": "d3", "answer": ["1", "I cannot say", 2]},
        {"query_id": "q2", "doc_id": "d1", "answer": "I cannot say"},
    ]
    (folder / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    grades = {"q1": {"d1": 2, "d2": 0, "d3": 1.5}}
    told = ("--grades", "drop,not relevant=0", "--format", "json")
    document = json.loads(ok("judges", "human.txt", "answers.jsonl", *told))
    assert document["judges"]["answers"]["agreement"] == float(
        dh.judge_agreement("human.txt", grades).only.estimates["agreement"]
    )
    notes = " ".join(ok("judges", "human.txt", "answers.jsonl", *told[:2]).split())
    assert re.search(r"\b1 document with several answers [\w ]*\b1 hold", notes)
    assert "1 of 4 answers is no grade" in notes
    document = json.loads(ok("evaluate", "human.txt", "answers.jsonl", "-m", "nDCG", *told))
    assert document["scores"]["answers"]["nDCG"]["value"] == dh.evaluate("human.txt", grades, "nDCG").means()["nDCG"]
    assert call("evaluate", "answers.jsonl", "a.run", "--grades", "dorp").stderr.count("Did you mean 'drop'") == 1
    assert "write a number" in call("evaluate", "answers.jsonl", "a.run", "--grades", "Good=high").stderr
    bounds = "bounds,scale=3,not relevant=0"
    assert call("evaluate", "answers.jsonl", "a.run", "--grades", bounds).exit_code == 0
    run = dh.read_judgments("answers.jsonl", kind="run", failed="bounds", scale=3, grades={"not relevant": 0})
    found = dh.evaluate("human.txt", run, "nDCG")["nDCG"]
    own = json.loads(ok("evaluate", "human.txt", "answers.jsonl", "-m", "nDCG", "--grades", bounds, "--format=json"))
    assert own["unjudged"] == "bounds"
    ends = [own["scores"]["answers"]["nDCG"][name] for name in ("unjudged_min", "unjudged_max")]
    assert ends == [found.mean_unjudged_min, found.mean_unjudged_max]
    refused = call("evaluate", "human.txt", "answers.jsonl", "--grades", bounds, "--ascending").stderr
    assert names_in(refused) == ["--ascending", "--grades"]
    notes = " ".join(ok("judges", "human.txt", "answers.jsonl", "--grades", bounds).split())
    assert "('I cannot say'), left out; bounds " in notes
    assert dh.judge_agreement("human.txt", run).kappa == dh.judge_agreement("human.txt", grades).kappa


def test_runs_with_scores_are_no_answers(folder: Path) -> None:
    answers = {"q1": {"d1": "Score: 2", "d2": "0"}, "q2": {"d1": "Error 429", "d3": "1"}}
    (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
    run = {"q1": {"d2": 9.5, "d1": 7.0}, "q2": {"d3": 0.5}}
    (folder / "main.json").write_text(json.dumps(run), encoding="utf-8")
    rows = [(query, doc, score) for query, own in run.items() for doc, score in own.items()]
    for name, column in (("main.csv", "similarity"), ("score.csv", "score")):
        lines = [f"query,doc,{column}", *(f"{query},{doc},{score}" for query, doc, score in rows)]
        (folder / name).write_text("\n".join(lines), encoding="utf-8")
    wanted = dh.evaluate({"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}, run, "RR").means()["RR"]
    assert wanted == (1 / 2 + 1) / 2
    for name, more in product(("main.json", "main.csv", "score.csv"), ("drop", "drop,scale=3")):
        out = json.loads(ok("evaluate", "answers.json", name, "--grades", more, "-m", "RR", "--format", "json"))
        assert out["scores"][Path(name).stem]["RR"]["value"] == wanted
    own = ("--grades", "drop,grade=similarity", "-m", "DCG", "--format", "json")
    graded = json.loads(ok("evaluate", "main.csv", "answers.json", *own))
    assert graded["scores"]["answers"]["DCG"]["value"] == pytest.approx((7 + 9.5 / log2(3) + 0.5) / 2)


def test_files_have_one_form_for_one_judge_and_for_several() -> None:
    one, several = (
        json.loads(
            ok("judges", "human.txt", *names, "--run", "a.run", "--run", "b.run", "-m", "P@1", "--format", "json")
        )
        for names in (("llm.txt",), ("llm.txt", "human.txt"))
    )
    for name in ("judges", "confusion", "grades"):
        assert one[name]["llm"] == several[name]["llm"]
    assert {name for name in one if "llm" in name} <= several.keys()


def test_what_is_assumed_of_a_judge_that_is_a_run_is_told_where_it_helps(folder: Path) -> None:
    (folder / "people.txt").write_text("q1 0 d1 1\nq2 0 d1 0\nq2 0 d3 1\n", encoding="utf-8")
    judged = "".join(f"q{n} Q0 d{n % 3} 1 {n % 2} llm\n" for n in range(1, 8))
    (folder / "llm.run").write_text(judged, encoding="utf-8")
    found = "".join(f"q{n} Q0 d1 1 3 c\nq{n} Q0 d3 2 2 c\n" for n in range(1, 9))
    (folder / "c.run").write_text(found, encoding="utf-8")
    for command, *more in (("evaluate", "-m", "P@1"), ("compare", "a.run", "-m", "P@1"), ("gate", "-c", "P@1 >= 0")):
        out = " ".join(call(command, "people.txt", "c.run", *more, "--judge", "llm.run", "--full").stdout.split())
        assert re.search(r"\bjudge llm labelled 5 queries beside 2\b", out)
        assert "llm is a run: " in out
        assert "1 (q8), left out" in out, "no one has labelled it; the others help"


def test_a_missing_table_of_queries_is_named_before_anything_is_computed() -> None:
    result = call("judges", "human.txt", "nowhere.txt", "--queries", "no.csv", "--by", "level")
    assert all(f"{name}: no such file" in result.stderr for name in ("nowhere.txt", "no.csv")), result.stderr
