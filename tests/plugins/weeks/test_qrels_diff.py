"""What differs between two sets of judgments, counted and summed another way."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.report.as_data import as_json
from deadheat.core.report.text import as_text
from deadheat.errors import DuplicateError, NotKeptError, ParameterError
from deadheat.plugins.weeks.report_diff import report_diff
from support.command import call, ok

Judged = dict[str, dict[str, float]]
MEASURES = ["nDCG@5", "RR", "NumRelRet@5", "FRP"]


def drawn(seed: int) -> tuple[Judged, Judged, dict[str, Judged]]:
    """Draw old and new judgments, and runs of which each lacks a query."""
    rng = random.Random(seed)
    docs = [f"d{n}" for n in range(12)]
    old: Judged = {f"q{n}": {doc: float(rng.randrange(3)) for doc in rng.sample(docs, 5)} for n in range(9)}
    new: Judged = {
        query: {doc: float(rng.choice((grade, grade, 2))) for doc, grade in own.items() if rng.random() < 0.9}
        | ({rng.choice(docs): 1.0} if rng.random() < 0.3 else {})
        for query, own in old.items()
        if rng.random() < 0.8
    }
    new = {query: own for query, own in new.items() if own} | {f"x{n}": {rng.choice(docs): 1.0} for n in range(2)}
    queries = sorted({*old, *new})
    runs = {
        name: {
            query: {doc: float(rng.randrange(4)) for doc in rng.sample(docs, 8)}
            for query in queries
            if rng.random() < 0.9
        }
        for name in "abc"
    }
    return old, new, runs


def test_no_judgment_is_lost_between_grades_that_agree_in_six_digits() -> None:
    found = dh.diff_qrels({"q": {"a": 1, "b": 1, "c": 2}}, {"q": {"a": 1000001, "b": 1000002, "c": 0.1234561}})
    held = json.loads(as_json(report_diff(found, for_people=False)))["grades"]
    assert held["1"] == {"0.1234561": None, "1000001": 1, "1000002": 1}
    assert held["2"] == {"0.1234561": 1, "1000001": None, "1000002": None}


@pytest.mark.parametrize("seed", range(12))
def test_queries_and_judgments_are_counted(seed: int) -> None:
    old, new, _ = drawn(seed)
    found = dh.diff_qrels(old, new)
    assert found.changes.added == tuple(sorted(new.keys() - old.keys()))
    assert found.changes.gone == tuple(sorted(old.keys() - new.keys()))
    assert found.changes.same == tuple(query for query in sorted(old) if old[query] == new.get(query))
    assert found.changes.changed == tuple(query for query in sorted(old) if query in new and old[query] != new[query])
    pairs = {(query, doc) for one in (old, new) for query, own in one.items() for doc in own}
    grades = [(query, doc, old.get(query, {}).get(doc), new.get(query, {}).get(doc)) for query, doc in sorted(pairs)]
    assert found.to_polars().rows() == [row for row in grades if row[2] != row[3]]
    counts: dict[tuple[float | None, float | None], int] = {}
    for row in grades:
        counts[row[2:]] = counts.get(row[2:], 0) + 1
    assert {(before, after): n for before, after, n in found.changes.grades.rows()} == counts


@pytest.mark.parametrize("seed", range(12))
def test_effects_are_those_of_two_evaluations_and_parts_add_up(seed: int) -> None:
    old, new, runs = drawn(seed)
    found = dh.diff_qrels(old, new, runs, MEASURES, missing="empty")
    before, after = (
        {name: dh.evaluate(one, run, MEASURES, missing="empty") for name, run in runs.items()} for one in (old, new)
    )
    for row in found.effects.iter_rows(named=True):
        own = [each[row["system"]][row["measure"]] for each in (before, after)]
        assert [row["old"], row["new"]] == [one.reported() for one in own]
        assert row["difference"] == pytest.approx(row["new"] - row["old"])
        better = [1 if one.measure.higher_is_better else -1 for one in own]
        for key, each, sign in (("old_rank", before, better[0]), ("new_rank", after, better[1])):
            values = [sign * each[name][row["measure"]].reported() for name in runs]
            assert row[key] == 1 + sum(
                value > sign * each[row["system"]][row["measure"]].reported() for value in values
            )
    parts = found.causes.group_by("measure", "system").agg(pl.col("part").sum())
    sums = {(measure, system): part for measure, system, part in parts.rows()}
    for row in found.effects.iter_rows(named=True):
        assert sums.get((row["measure"], row["system"]), 0.0) == pytest.approx(row["difference"], abs=1e-12)
    for row in found.causes.iter_rows(named=True):
        query = row["query_id"]
        assert row["kind"] == ("added" if query not in old else "gone" if query not in new else "changed")
    sizes = found.causes.group_by("measure", "system", maintain_order=True).agg(pl.col("part").abs())
    assert all(one == sorted(one, reverse=True) for one in sizes["part"].to_list())


def test_a_part_by_hand() -> None:
    """Of two queries one is gone and one is new: the mean was (1 + .75) / 2, and is (1 + 0) / 2."""
    run = {"a": {"x": 1.0}, "b": {"y": 1.0, "x": 1.0}, "c": {"z": 1.0}}
    found = dh.diff_qrels({"a": {"x": 1}, "b": {"x": 1}}, {"a": {"x": 1}, "c": {"x": 1}}, {"run": run}, "RR")
    assert found.effects.rows() == [("RR", "run", 0.875, 0.5, -0.375, 1, 1, 2, 2)]
    assert found.causes.rows() == [
        ("RR", "run", "c", "added", None, 0.0, (0 - 0.875) / 2),
        ("RR", "run", "b", "gone", 0.75, None, (0.875 - 0.75) / 2),
    ]


@pytest.mark.filterwarnings("ignore::deadheat.DeadheatWarning")
@pytest.mark.parametrize("seed", range(4))
def test_parts_add_up_with_weights(seed: int) -> None:
    old, new, runs = drawn(seed)
    weights = {query: 1.0 + n % 3 for n, query in enumerate(sorted({*old, *new}))}
    both = {**old, **new}
    ev = dh.evaluate(both, runs["a"], "nDCG@5", missing="empty").weighted(weights)
    found = dh.diff_qrels(old, new, {"a": ev})
    means = [
        dh.evaluate(one, runs["a"], "nDCG@5", missing="empty").weighted(weights).means()["nDCG@5"] for one in (old, new)
    ]
    assert found.effects.select("old", "new").row(0) == pytest.approx(means)
    assert found.causes["part"].sum() == pytest.approx(means[1] - means[0])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    old, new, runs = drawn(3)
    for name, table in {"old": old, "new": new, **runs}.items():
        Path(f"{name}.json").write_text(json.dumps(table))
    return tmp_path


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_saved_evaluations_are_scored_under_both() -> None:
    old, new, runs = drawn(3)
    ok("evaluate", "old.json", "a.json", "-m", "RR nDCG@5", "--save", "saved.json")
    plain = dh.diff_qrels(old, new, {"saved": runs["a"], "b": runs["b"]}, ["RR", "nDCG@5"], missing="empty")
    found = dh.diff_qrels(
        "old.json", "new.json", {"saved": "saved.json", "b": runs["b"]}, ["RR", "nDCG@5"], missing="empty"
    )
    assert found.effects.equals(plain.effects)
    assert dh.diff_qrels(old, new, [dh.load_evaluation("saved.json")]).effects["measure"].to_list() == ["RR", "nDCG@5"]
    out = json.loads(ok("diff", "old.json", "new.json", "saved.json", "b.json", "-m", "RR nDCG@5", "--format", "json"))
    assert out["effects"]["RR"]["saved"]["new"] == plain.effects["new"][0]
    assert out["judgments"]["regraded"] == plain.to_polars().drop_nulls().height
    for form in ("markdown", "html", "csv", "latex"):
        assert ok("diff", "old.json", "new.json", "saved.json", "-o", f"x.{form}", "--format", form) == ""
        assert Path(f"x.{form}").read_text()
    ok("evaluate", "old.json", "a.json", "-m", "RR", "--save", "bare.json", "--save-depth", "0")
    assert "bare was saved without its ranking" in call("diff", "old.json", "new.json", "bare.json").stderr.replace(
        "a was", "bare was"
    )


@pytest.mark.usefixtures("folder")
def test_what_it_says_in_words() -> None:
    old, new, runs = drawn(3)
    Path("ids.txt").write_text("d0\nd1\nd2\nd3\nd4\nd5\nd6\n")
    out = " ".join(
        ok("diff", "old.json", "new.json", "a.json", "b.json", "--collection", "ids.txt", "-m", "RR").split()
    )
    found = dh.diff_qrels(old, new, runs, "RR", collection=[f"d{n}" for n in range(7)])
    assert str(found.changes) in out
    assert found.unknown_ids == tuple(
        sorted({doc for own in new.values() for doc in own} - {f"d{n}" for n in range(7)})
    )
    assert f"lacks {len(found.unknown_ids)} document" in out
    assert "order" in out
    same = " ".join(ok("diff", "old.json", "old.json", "a.json", "b.json").split())
    assert "9 queries: 9 the same. The order of the systems stays." in same


@pytest.mark.usefixtures("folder")
def test_tables_fit_a_screen_with_long_names_and_many_grades() -> None:
    rng = np.random.default_rng(1)
    names = [f"a question as users ask it, with a number of words, {n}" for n in range(9)]
    old: dict[str, Any] = {
        name: {f"folder/{d}/document.html": int(rng.integers(0, 2)) for d in range(5)} for name in names
    }
    new = {name: {doc: round(1 + float(rng.random()), 2) for doc in own} for name, own in old.items()}
    runs = {f"NISTRetrieval-instruct{n}-reranked": {q: dict.fromkeys(own, 1) for q, own in old.items()} for n in (0, 1)}
    found = dh.diff_qrels(old, new, runs, ["RR", "nDCG@1000"])
    shown = str(as_text(report_diff(found), width=80))
    assert max(map(len, shown.splitlines())) <= 80
    grades = Counter((own[doc], new[query][doc]) for query, own in old.items() for doc in own)
    listed = {(one.labels[0], one.labels[1]): one.cells[0][0] for one in report_diff(found).tables[0].rows}
    assert listed == {(f"{a:g}", f"{b:g}"): n for (a, b), n in grades.items()}


def test_what_is_refused() -> None:
    qrels = {"q": {"a": 1}}
    for runs in ("x.run", dh.Run({"q": {"a": 1}}), 5):
        with pytest.raises(ParameterError, match="runs must be a dict of name to run, or a list of runs"):
            dh.diff_qrels(qrels, qrels, runs)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="two runs are named 'run'"):
        dh.diff_qrels(qrels, qrels, [dh.Run({"q": {"a": 1}}), dh.Run({"q": {"a": 1}})])
    with pytest.raises(DuplicateError):
        dh.diff_qrels([("q", "a", 1), ("q", "a", 2)], qrels)
    long: Any = {"q": {f"d{n}": -float(n) for n in range(50)}}
    kept = dh.evaluate({"q": {"d1": 1}}, long, "AP").keeping(10)
    with pytest.raises(NotKeptError):
        dh.diff_qrels({"q": {"d1": 1}}, {"q": {"d40": 1}}, [kept])


def test_grades_of_subtopics_count() -> None:
    frames = [
        pl.DataFrame(
            [("q", "a", one, 1), ("q", "b", "2", 1), ("r", "a", "1", 1)],
            ["query_id", "doc_id", "subtopic", "relevance"],
            orient="row",
        )
        for one in ("1", "2")
    ]
    found = dh.diff_qrels(frames[0], frames[1])
    assert (found.changes.changed, found.changes.same, found.to_polars().height) == (("q",), ("r",), 0)


def ranks_in_some_order(seed: int) -> tuple[Judged, Judged]:
    """Return judgments, and a run whose relevant documents have the ranks 1 to 9, each in a query that is drawn."""
    rng = random.Random(seed)
    ranks = rng.sample(range(1, 10), 9)
    qrels: Judged = {f"q{n}": {"a": 1.0} for n in range(9)}
    run: Judged = {
        query: {"a": 1.0} | {f"x{n}": 20.0 - n for n in range(rank - 1)}
        for query, rank in zip(qrels, ranks, strict=True)
    }
    return qrels, run


def test_equal_means_share_a_rank_though_rounding_separates_them() -> None:
    """The same reciprocal ranks in other orders of the queries: their sums differ in the last digit."""
    runs = {f"s{seed}": ranks_in_some_order(seed)[1] for seed in range(12)}
    old, _ = ranks_in_some_order(0)
    new = {query: own | {"y": 1.0} for query, own in old.items()}
    found = dh.diff_qrels(old, new, runs, ["RR", "nDCG"])
    assert len({*found.effects.filter(measure="RR")["old"].to_list()}) > 1  # by rounding alone
    assert found.effects["old_rank"].to_list() == found.effects["new_rank"].to_list() == [1] * 24
    assert "The order of the systems stays." in " ".join(str(found).split())


def test_a_system_without_a_mean_has_no_rank() -> None:
    qrels: Judged = {"q": {"a": 1.0}, "none": {"b": 0.0}}
    runs: dict[str, Judged] = {"has": {"q": {"a": 1.0}, "none": {"b": 1.0}}, "lacks": {"none": {"b": 1.0}}}
    new: Judged = {"q": {"a": 2.0}, "none": {"b": 0.0}}
    found = dh.diff_qrels(qrels, new, runs, "FRP", no_relevant="skip")
    assert found.effects.select("system", "old", "old_rank", "new_rank").rows() == [
        ("has", 1.0, 1, 1),
        ("lacks", None, None, None),
    ]
