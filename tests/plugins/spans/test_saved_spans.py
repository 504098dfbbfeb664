"""Saved runs of chunks against spans that changed: each chunk of an earlier run is held against the new spans.

What is right is counted here from sets of characters, of the run that was saved and the spans that are asked for.
"""

from __future__ import annotations

import json
import math
import random
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import deadheat as dh
from deadheat import gate
from deadheat.core.evaluation.documents import checksum
from deadheat.errors import DataError, MeasureError, NotKeptError, ParameterError
from deadheat.plugins.compare.report import report_comparison
from deadheat.plugins.gates.assertion import check_ranking
from oracle.passages import Case, Place, drawn, is_hit, moments
from support.command import call, ok
from support.error_parts import raises_parts
from support.paths import TESTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deadheat import Evaluation

N_QUESTIONS = 76
SIZE = 50  # characters of a chunk
LENGTH = 400  # of a document
MEASURES = "R@5 RR"
OLD_SPANS = TESTS / "support" / "saved-format-2-spans.json"

Spans = dict[str, list[Place]]
Run = dict[str, list[Place]]  # the chunks of each question, best first


def draw_spans() -> Spans:
    """Return one or two passages for each question, the last of which is asked since yesterday."""
    rng = random.Random(5)
    return {
        f"q{n:02}": [(f"d{n}-{place}", 100 * place, 100 * place + 60) for place in range(rng.choice((1, 1, 2)))]
        for n in range(N_QUESTIONS)
    }


SPANS = draw_spans()
NEWEST = max(SPANS)
ONE_LESS = {query: places for query, places in SPANS.items() if query != NEWEST}


def draw_run(size: int, *, loses_hits: bool = False) -> Run:
    """Return six chunks for each question; `loses_hits` takes those that hit a span from every second question."""
    run: Run = {}
    for n, (query, spans) in enumerate(SPANS.items()):
        rng = random.Random(query)
        docs = [*(doc for doc, *_ in spans), f"x{n}"]
        chunks = [(doc, start, start + size) for doc in docs for start in range(0, LENGTH, size)]
        rng.shuffle(chunks)
        hits = [chunk for chunk in chunks if hits_one(spans, chunk)]
        others = [chunk for chunk in chunks if not hits_one(spans, chunk)]
        listed = [hits.pop() if hits and rng.random() < 0.6 else others.pop() for _ in range(6)]
        run[query] = [chunk for chunk in listed if not (loses_hits and n % 2 == 0 and hits_one(spans, chunk))]
    return run


def hits_one(spans: Sequence[Place], chunk: Place, overlap: float = 0.5) -> bool:
    return any(is_hit(span, chunk, overlap, "span") for span in spans)


NEW, BAD, COARSE = draw_run(SIZE), draw_run(SIZE, loses_hits=True), draw_run(80)


def true_values(spans: Spans, run: Run, overlap: float = 0.5) -> dict[str, dict[str, float]]:
    """Return R@5 and RR of each question, counted from characters."""
    values: dict[str, dict[str, float]] = {"R@5": {}, "RR": {}}
    for query, places in spans.items():
        ranked = run.get(query, [])
        found = {span for span in places for chunk in ranked[:5] if is_hit(span, chunk, overlap, "span")}
        first = next((rank for rank, chunk in enumerate(ranked, 1) if hits_one(places, chunk, overlap)), math.inf)
        values["R@5"][query] = len(found) / len(places)
        values["RR"][query] = 1 / first
    return values


def true_means(spans: Spans, run: Run, overlap: float = 0.5) -> dict[str, float]:
    return {name: float(np.mean([*own.values()])) for name, own in true_values(spans, run, overlap).items()}


def spans_of(spans: Spans, **options: Any) -> dh.Spans:  # noqa: ANN401 - as Spans takes them
    return dh.Spans([(query, *place) for query, places in spans.items() for place in places], **options)


def rows_of(run: Run) -> list[tuple[Any, ...]]:
    return [(query, *chunk, -float(rank)) for query, chunks in run.items() for rank, chunk in enumerate(chunks)]


def made(spans: Spans, run: Run, name: str = "run", **options: Any) -> Evaluation:  # noqa: ANN401 - as Spans takes them
    return dh.evaluate(spans_of(spans, **options), rows_of(run), MEASURES).called(name)


def saved(path: Path, evaluation: Evaluation, time: str = "2026-01-01T00:00:00.000Z", **options: Any) -> Path:  # noqa: ANN401 - of save
    """Save an evaluation as if that had been done at a time."""
    evaluation.save(path, method="t", **options)
    document = json.loads(path.read_text(encoding="utf-8")) | {"time": time}
    document["sha256"] = checksum(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write spans, runs and the save of the good run under the spans of yesterday."""
    folder = tmp_path_factory.mktemp("spans")
    for name, spans in (("spans", SPANS), ("one_less", ONE_LESS)):
        rows = {query: [{"doc_id": doc, "start": a, "end": b} for doc, a, b in own] for query, own in spans.items()}
        (folder / f"{name}.json").write_text(json.dumps(rows))
    for name, run in (("new", NEW), ("bad", BAD), ("coarse", COARSE)):
        fields = ("query_id", "doc_id", "start", "end", "score")
        lines = [json.dumps(dict(zip(fields, row, strict=True))) for row in rows_of(run)]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    return folder


@pytest.fixture
def folder(files: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(files)
    if not (files / "base.json").exists():
        ok("evaluate", "--spans", "one_less.json", "new.jsonl", "-m", MEASURES, "--save", "base.json")
        ok("evaluate", "--spans", "spans.json", "bad.jsonl", "-m", MEASURES, "--save", "bad.json")
        ok("evaluate", "--spans", "spans.json", "coarse.jsonl", "-m", MEASURES, "--save", "coarse.json")
    return files


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("name", "run", "code"), [("bad", BAD, 1), ("coarse", COARSE, 0), ("new", NEW, 0)])
def test_a_gate_credits_the_baseline_for_its_own_chunks(name: str, run: Run, code: int) -> None:
    """After one new question a loss of half of all spans fails; other chunks are compared."""
    arguments = ("gate", "--spans", "spans.json", f"{name}.jsonl", "--baseline", "base.json", "--no-worse-than", "0.05")
    result = call(*arguments, "--format", "json")
    assert result.exit_code == code, result.output
    document = json.loads(result.stdout)
    assert document["together"]["changes"]["new (baseline)" if name == "new" else "new"]["n_same"] == N_QUESTIONS - 1
    for measure, checked in document["no_worse_than"].items():
        assert checked["n_queries"] == N_QUESTIONS
        assert checked["baseline"] == pytest.approx(true_means(SPANS, NEW)[measure])
        assert checked["mean"] == pytest.approx(true_means(SPANS, run)[measure])
    assert true_means(SPANS, NEW)["R@5"] - true_means(SPANS, BAD)["R@5"] > 0.4
    assert "--ids" not in call(*arguments).output


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_history_compare_and_pages_have_the_true_values() -> None:
    means = {"new": true_means(SPANS, NEW), "bad": true_means(SPANS, BAD)}
    document = json.loads(ok("history", "base.json", "bad.json", "--format", "json"))
    for step, name in (("1", "new"), ("2", "bad")):
        for measure in ("R@5", "RR"):
            assert document["history"][step][measure]["mean"] == pytest.approx(means[name][measure])
    fell = means["bad"]["R@5"] - means["new"]["R@5"]
    assert document["history"]["2"]["R@5"]["difference"] == pytest.approx(fell)
    text = ok("history", "base.json", "bad.json")
    assert text.startswith(f"R@5 fell by {-fell:.4f}")
    assert "StRecall" not in text
    compared = json.loads(ok("compare", "base.json", "bad.json", "--format", "json"))
    assert compared["verdict"]["difference"] == pytest.approx(-fell)
    assert compared["systems"]["base"]["R@5"]["mean"] == pytest.approx(means["new"]["R@5"])
    ok("report", "base.json", "bad.json", "--diff", "-o", "page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert f"{means['new']['R@5']:.4f}" in page
    assert f"{means['bad']['R@5']:.4f}" in page


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_rescoring_holds_the_saved_chunks_against_new_spans() -> None:
    document = json.loads(ok("rescore", "base.json", "spans.json", "--save", "again.json", "--format", "json"))
    for measure, mean in true_means(SPANS, NEW).items():
        assert document["scores"]["new"][measure]["value"] == pytest.approx(mean)
    assert ok("rescore", "base.json", "spans.json") == ok(
        "evaluate", "--spans", "spans.json", "new.jsonl", "-m", MEASURES
    )
    again = dh.load_evaluation("again.json")
    assert again.qrels_hash == spans_of(SPANS).fingerprint == dh.Spans("spans.json").fingerprint
    assert dh.compare_evaluations(["again.json", "bad.json"], judgments="strict").pairs[0].difference == pytest.approx(
        true_means(SPANS, BAD)["R@5"] - true_means(SPANS, NEW)["R@5"]
    )
    before = dh.load_evaluation("base.json")
    for overlap in (0.2, 1.0):
        found = before.rescored(spans_of(SPANS, overlap=overlap)).means()
        assert found == pytest.approx(true_means(SPANS, NEW, overlap))
    fewer = {query: places for query, places in ONE_LESS.items() if query != "q00"}
    assert before.rescored(spans_of(fewer)).means() == pytest.approx(true_means(fewer, NEW))


@pytest.mark.usefixtures("folder")
def test_equal_spans_are_equal_judgments_whatever_the_chunks() -> None:
    for other, run in (("bad.json", BAD), ("coarse.json", COARSE)):
        found = dh.compare_evaluations(["base.json", other], judgments="shared", n_resamples=99)
        assert found.query_ids.tolist() == sorted(ONE_LESS)
        difference = true_means(ONE_LESS, run)["R@5"] - true_means(ONE_LESS, NEW)["R@5"]
        assert found.pairs[0].difference == pytest.approx(difference)
    strict = call("compare", "base.json", "bad.json", "--judgments", "strict")
    assert "75 the same, 1 new" in " ".join(strict.output.split())
    assert strict.exit_code == 3


def test_an_overlap_that_changed_is_said_and_the_newest_counts(tmp_path: Path) -> None:
    before = saved(tmp_path / "before.json", made(SPANS, NEW, "before"))
    after = made(SPANS, COARSE, "after", overlap=0.9)
    found = dh.compare_evaluations([before, after], n_resamples=99)
    assert found.together is not None
    told = "a chunk had to cover at least 0.5 of the span, and has to cover at least 0.9 of the span now"
    assert str(found.together.changes["before"]).endswith(told)
    facts: dict[str, Any] = {fact.key: fact.value for fact in report_comparison(found, qrels="x").facts}
    rules = facts["together"]["changes"]["before"]["rules"]
    assert rules == ["at least 0.5 of the span", "at least 0.9 of the span"]
    means = [one.means()["R@5"] for one in found.evaluations.values()]
    assert means == pytest.approx([true_means(SPANS, run, 0.9)["R@5"] for run in (NEW, COARSE)])
    with pytest.raises(DataError, match="no query with equal judgments"):
        dh.compare_evaluations([before, after], judgments="shared")


@pytest.mark.slow
def test_a_question_that_an_earlier_run_was_not_asked_is_left_out(tmp_path: Path) -> None:
    asked = {query: chunks for query, chunks in NEW.items() if query in ONE_LESS}
    before = saved(tmp_path / "before.json", made(ONE_LESS, asked, "before"))
    result = gate(made(SPANS, BAD), baseline=before, no_worse_than=0.05)
    assert [check.n_queries for check in result.checks] == [N_QUESTIONS - 1] * 2
    assert [check.baseline_mean for check in result.checks] == pytest.approx([*true_means(ONE_LESS, NEW).values()])
    assert dh.load_evaluation(before).rescored(spans_of(SPANS)).query_ids.tolist() == sorted(ONE_LESS)
    again = saved(tmp_path / "again.json", dh.load_evaluation(before).rescored(spans_of(SPANS)))
    assert gate(made(SPANS, BAD), baseline=again, no_worse_than=0.05).checks == result.checks


def test_assert_ranking_takes_spans_and_a_baseline(tmp_path: Path) -> None:
    """A name means the same for the gates and for what was saved."""
    before = saved(tmp_path / "base.json", made(ONE_LESS, NEW))
    result = check_ranking(spans_of(SPANS), rows_of(NEW), ["R@5 >= 0.85"], baseline=before, no_worse_than=0.05)
    assert [check.measure for check in result.checks] == ["R@5", "R@5", "RR"]
    assert result.checks[1].baseline_mean == pytest.approx(true_means(SPANS, NEW)["R@5"])
    with pytest.raises(AssertionError, match=r"R@5 > baseline - 0\.05"):
        check_ranking(spans_of(SPANS), rows_of(BAD), ["R@5 >= 0.4"], baseline=before, no_worse_than=0.05)
    with pytest.raises(DataError, match=r"documents.*\(baseline\) of spans"):
        check_ranking({"q": {"d": 1}}, {"q": {"d": 1}}, ["R@5 >= 0.4"], baseline=before)


def test_saved_measures_have_the_names_that_were_asked_for(tmp_path: Path) -> None:
    path = saved(tmp_path / "x.json", dh.evaluate(spans_of(SPANS), rows_of(NEW), ["R@5", "MRR", "StRecall@3"]))
    names = ["R@5", "MRR", "StRecall@3"]
    assert list(json.loads(path.read_text())["measures"]) == names
    loaded = dh.load_evaluation(path)
    assert list(loaded.means()) == names
    assert [str(measure) for measure in loaded.measures] == ["StRecall@5", "RR", "StRecall@3"]
    assert loaded[dh.R @ 5].mean == loaded["R@5"].mean
    found = dh.history([path, dh.evaluate(spans_of(SPANS), rows_of(BAD), ["StRecall@3", "R@5", "RR"])])
    assert found.measures == ("StRecall@3", "R@5", "RR")
    assert list(found.since) == [*found.measures]
    assert found.since["MRR"] is found.since["RR"]
    assert found.steps[0].means["RR"]["mean"] == loaded["MRR"].mean
    assert set(found.to_polars()["measure"]) == {*found.measures}


@pytest.mark.slow
def test_span_saves_of_format_2_are_read_and_refused_in_pairs(tmp_path: Path) -> None:
    """They do not say which overlap their spans ask for."""
    assert json.loads(OLD_SPANS.read_text())["format"] == 2
    old = dh.load_evaluation(OLD_SPANS)
    assert old.means() == {"R@5": 0.25, "RR": 0.5}
    assert old.rescored(measures="R@1").means() == {"R@1": 0.25}
    assert dh.history([OLD_SPANS]).measures == ("R@5", "RR")
    spans = dh.Spans([("q1", "d", 0, 10), ("q1", "e", 0, 10), ("q2", "d", 0, 10)])
    new = dh.evaluate(spans, [("q1", "e", 0, 9, 1.0)], MEASURES)
    told = "was saved in format 2, which does not keep how much of a span a chunk has to cover"
    pairs: list[list[Any]] = [[OLD_SPANS, new.called("new")], [OLD_SPANS, old.called("again")]]
    for pair in pairs:
        with pytest.raises(DataError, match=told):
            dh.compare_evaluations(pair)
    for judgments in (None, "shared", "strict"):
        with pytest.raises(DataError, match=told):
            gate(new, baseline=OLD_SPANS, judgments=judgments)
    with pytest.raises(DataError, match=told):
        dh.history([OLD_SPANS, new])
    with pytest.raises(DataError, match=told):
        old.rescored(spans)
    # saved again it is no better
    old.save(tmp_path / "again.json")
    with pytest.raises(DataError, match=told):
        dh.history([tmp_path / "again.json", new])
    for name in ("before", "after"):
        saved(tmp_path / f"{name}.json", new.called(name))
    found = dh.history([OLD_SPANS, tmp_path / "before.json", tmp_path / "after.json", new])
    assert [step.name for step in found.steps] == ["before", "after", "run"]
    assert any(note.startswith(f"{OLD_SPANS} left out: run {told}") for note in found.notes)


def test_spans_and_judgments_of_documents_are_not_mixed() -> None:
    chunks = [("q", "d", 0, 10, 1.0)]
    of_spans = dh.evaluate(dh.Spans([("q", "d", 0, 10)]), chunks, MEASURES)
    of_documents = dh.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, MEASURES)
    with pytest.raises(DataError, match=r"of spans.* new .*of documents"):
        of_spans.rescored({"q": {"d[0:10]": 1}})
    with pytest.raises(DataError, match=r"of documents.* new .*of spans"):
        of_documents.rescored(dh.Spans([("q", "d", 0, 10)]))
    with pytest.raises(DataError, match=r"^a .*spans, and b of documents"):
        dh.compare_evaluations({"a": of_spans, "b": of_documents})
    with pytest.raises(DataError, match="documents, and run of spans"):
        dh.history([of_documents, of_spans])
    with raises_parts(ParameterError, argument="ids", hint="evaluate the run again"):
        of_spans.rescored(dh.Spans([("q", "e", 0, 10)]), ids={"d": "e"})


def test_measures_of_a_rescored_run_are_of_spans() -> None:
    """Two chunks of one span are one of two that are found, and not two of three."""
    spans = dh.Spans([("q", "d", 0, 10), ("q", "e", 0, 10)])
    evaluation = dh.evaluate(spans, [("q", "d", 0, 9, 2.0), ("q", "d", 1, 10, 1.0)], "RR")
    assert evaluation.rescored(measures=["R@5", "P@2"]).means() == {"R@5": 0.5, "P@2": 1.0}
    with pytest.raises(MeasureError, match="use AP_IA"):
        evaluation.rescored(measures="AP")


def test_a_baseline_of_other_documents_is_refused_and_moved_spans_are_told() -> None:
    """All its values would be 0, and every gate pass."""
    renamed: Spans = {query: [(f"new-{doc}", a, b) for doc, a, b in places] for query, places in SPANS.items()}
    run: Run = {query: [(f"new-{doc}", a, b) for doc, a, b in chunks] for query, chunks in BAD.items()}
    before = made(SPANS, NEW, "before").keeping(100)
    before.origin = dh.load_evaluation(OLD_SPANS).origin
    after = made(renamed, run, "after")
    with (
        pytest.warns(dh.DeadheatWarning, match="no chunk is of a document with a span"),
        pytest.raises(DataError, match=r"no chunk .*old .*after"),
    ):
        gate(after, baseline=before)
    alone = next(query for query, places in SPANS.items() if len(places) == 1)
    moved = {**SPANS, alone: [(doc, a + 7, b + 7) for doc, a, b in SPANS[alone]]}
    found = dh.compare_evaluations([before, made(moved, BAD, "after")], n_resamples=99)
    assert found.together is not None
    assert (
        "if the documents were changed or renamed, the offsets of the earlier chunks"
        in found.together.warn_of_renamed()
    )
    assert "--ids" not in str(found)


def test_chunks_that_were_not_kept_are_not_guessed(tmp_path: Path) -> None:
    """A chunk below what was kept may be the first that hits a new span."""
    rows = [("q", "d", 10 * rank, 10 * rank + 10, -float(rank)) for rank in range(30)]
    for depth, measure in ((10, "RR"), (0, "RR")):
        path = tmp_path / f"{depth}.json"
        dh.evaluate(dh.Spans([("q", "d", 0, 10)]), rows, measure).save(path, save_depth=depth)
        kept = dh.load_evaluation(path)
        with pytest.raises(NotKeptError if depth else DataError):
            kept.rescored(dh.Spans([("q", "d", 200, 210)]))
    kept = dh.load_evaluation(tmp_path / "10.json")
    assert kept.rescored(dh.Spans([("q", "d", 90, 100)])).means()["RR"] == pytest.approx(0.1)


def test_repeats_of_chunks_are_not_scored_again(tmp_path: Path) -> None:
    repeats = dh.Repeats([rows_of(NEW), rows_of(BAD)])
    path = saved(tmp_path / "repeats.json", dh.evaluate(spans_of(ONE_LESS), repeats, MEASURES).called("before"))
    after = dh.evaluate(spans_of(SPANS), repeats, MEASURES)
    with pytest.raises(DataError, match="different qrels"):
        dh.compare_evaluations([path, after])
    found = dh.compare_evaluations([path, after], judgments="shared", n_resamples=99)
    assert found.query_ids.tolist() == sorted(ONE_LESS)
    assert found.pairs[0].difference == pytest.approx(0)


def values_of(name: str, case: Case, overlap: float, order: Sequence[Place]) -> float:
    """Return a measure of one ranking, by sets of characters."""
    hit = [{span for span in case.spans if is_hit(span, chunk, overlap, "span")} for chunk in order]
    if name == "R@3":
        return len(set().union(*hit[:3])) / len(case.spans)
    if name == "P@2":
        return sum(map(bool, hit[:2])) / 2
    return next((1 / rank for rank, found in enumerate(hit, 1) if found), 0.0)


@pytest.mark.parametrize("overlap", [0.5, 0.9])
def test_random_chunks_with_ties_against_other_spans(tmp_path: Path, overlap: float) -> None:
    """Mean, variance and extremes over tie orders are those of the saved chunks under the new spans."""
    rng = random.Random(int(10 * overlap))
    old, new = ([drawn(rng) for _ in range(60)] for _ in range(2))
    cases = [Case(other.spans, one.chunks) for one, other in zip(old, new, strict=True)]

    def rows(spans: Mapping[int, Sequence[Place]]) -> list[tuple[Any, ...]]:
        return [(f"q{n:02}", *span) for n, own in spans.items() for span in own]

    chunks = [(f"q{n:02}", *chunk, score) for n, case in enumerate(old) for chunk, score in case.chunks.items()]
    names = ["R@3", "P@2", "RR"]
    before = dh.evaluate(dh.Spans(rows(dict(enumerate(case.spans for case in old)))), chunks, names)
    before.save(tmp_path / "x.json")
    spans = dh.Spans(rows(dict(enumerate(case.spans for case in new))), overlap=overlap)
    after = dh.load_evaluation(tmp_path / "x.json").rescored(spans)
    for name in names:
        scores = after[name]
        for n, case in enumerate(cases):
            wanted = moments(partial(values_of, name, case, overlap), case)
            found = [scores.values[n], scores.tie_std[n] ** 2, scores.tie_min[n], scores.tie_max[n]]
            assert found == pytest.approx([wanted.mean, wanted.variance, wanted.minimum, wanted.maximum], abs=1e-12)
