"""A saved ranking is scored again as the run itself would be, wherever what was kept allows; else it is refused."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.evaluation.origin import BRANCHES, COMMITS, Origin
from deadheat.core.measures.orders import OrdersMeasure
from deadheat.core.settings import Conventions
from deadheat.errors import DataError, FileFormatError, MeasureError, NotKeptError, ParameterError
from deadheat.plugins.weeks.rescoring import rescore
from oracle.variants import VARIANTS
from support.shared_data import HPO_RUNS, LLM_RUNS, needs_shared_data, sources_of
from support.tampering import seal

if TYPE_CHECKING:
    from pathlib import Path

    from deadheat import Evaluation

Judged = dict[str, dict[str, float]]
NOTATIONS = list(dict.fromkeys(one.notation(cutoff) for one in VARIANTS for cutoff in one.cutoffs))
DEFAULTS = list(
    dict.fromkeys(
        one.notation(cutoff) for one in VARIANTS for cutoff in one.cutoffs if cutoff in {None, 5} and not one.parameters
    )
)
WHOLE = {"de.minilm-2dec", "Olz-gpt4o"}  # runs on which slow measures are tried too
FIELDS = ("values", "tie_mean", "tie_std", "tie_min", "tie_max", "has_relevant")
POLICIES = ("expected", "best", "worst", "doc_id", "input")
DEPTH = 10
LARGEST = 10 * DEPTH  # of a tie at the end
CHOICES: dict[str, tuple[Any, ...]] = {
    "ties": (*POLICIES, "expected"),
    "missing": ("empty", "empty", "skip"),
    "no_relevant": ("zero", "skip"),
    "score_precision": (None, None, None, 0, "float16"),
    "rel": (None, None, 2),
    "judged_only": (False, False, False, True),
    "depth": (None, None, None, 5, 30),
    "unjudged": ("zero", "zero", "zero", "bounds"),
}


def kept_through(path: Path, evaluation: Evaluation, save_depth: int = DEPTH) -> Evaluation:
    """Return an evaluation as a file keeps it."""
    evaluation.save(path, save_depth=save_depth, method="t")
    return dh.load_evaluation(path)


def assert_equal(found: Evaluation, anew: Evaluation, fields: tuple[str, ...] = FIELDS) -> None:
    """Assert that two evaluations are equal but for rounding, for the measures of the first."""
    assert found.query_ids.tolist() == anew.query_ids.tolist()
    assert found.missing_queries == anew.missing_queries
    assert found.unjudged_queries == anew.unjudged_queries
    assert found.conventions == anew.conventions
    assert found.qrels_hash == anew.qrels_hash
    for own in found:
        other = anew[own.measure]
        names = (*fields, *(("unjudged_min", "unjudged_max") if other.has_unjudged_bounds else ()))
        for name in names:
            note = f"{own.measure} {name} {anew.conventions}"
            np.testing.assert_allclose(getattr(own, name), getattr(other, name), rtol=1e-9, atol=1e-12, err_msg=note)


def drawn(rng: random.Random) -> tuple[Judged, Judged]:
    """Draw judgments, and lists of up to 40 documents, or of 150 of which most tie; some lists have few scores."""
    docs = [f"d{n}" for n in range(160)]
    qrels: Judged = {}
    run: Judged = {}
    for n in range(rng.randrange(2, 7)):
        size = rng.choice((3, 12, 25, 40, 150))
        levels = rng.choice((1, 2, 4, 12, 60))
        retrieved = rng.sample(docs, size)
        judged = rng.sample(retrieved, min(size, rng.choice((1, 3, 8)))) + rng.sample(docs, rng.choice((0, 2)))
        if n < 5:
            qrels[f"q{n}"] = {doc: float(rng.choice((-1, 0, 1, 1, 2, 3))) for doc in judged}
        if n:
            run[f"q{n}"] = {doc: rng.randrange(levels) / 4 for doc in retrieved}
    return qrels, run


def changed(rng: random.Random, qrels: Judged) -> Judged:
    """Return judgments with other grades, without some and with others, for other queries too."""
    found = {
        query: {doc: float(rng.choice((grade, grade, 0, 2))) for doc, grade in own.items() if rng.random() < 0.8}
        | {f"d{rng.randrange(160)}": 1.0 for _ in range(rng.choice((0, 1, 3)))}
        for query, own in qrels.items()
        if rng.random() < 0.8
    }
    return {**{query: own for query, own in found.items() if own}, "q1": {"d1": 1.0, "d2": 2.0}, "q5": {"d3": 1.0}}


def ranks_kept(scores: dict[str, float], precision: Any) -> int | None:  # noqa: ANN401 - any precision
    """Return how many ranks a file keeps of a list, counted from its scores; None: all."""
    numbers = [float(np.float16(one)) if precision else one for one in scores.values()]
    if precision == 0 and precision is not None:
        numbers = [float(round(one)) for one in scores.values()]
    n_kept = 0
    for _, tie in groupby(sorted(numbers, reverse=True)):
        size = len(list(tie))
        if n_kept >= DEPTH or (n_kept + size > DEPTH and size > LARGEST):
            return n_kept
        n_kept += size
    return None


def check_case(seed: int, path: Path) -> tuple[int, int]:
    """Check a random case; return how many values were equal, and how many measures refused."""
    rng = random.Random(seed)
    qrels, run = drawn(rng)
    precision = rng.choice(CHOICES["score_precision"])
    original = dh.evaluate(qrels, run, "P@5", score_precision=precision, missing="empty")
    loaded = original.keeping(DEPTH) if seed % 10 else kept_through(path, original)
    other = changed(rng, qrels)
    options = {name: rng.choice(values) for name, values in CHOICES.items()}
    options["score_precision"] = rng.choice((precision, options["score_precision"]))
    if options["unjudged"] == "bounds":
        options |= {"ties": rng.choice(("expected", "doc_id")), "no_relevant": "zero", "judged_only": False}
    names = rng.sample(NOTATIONS, 10)
    try:
        conventions = Conventions(**options)
        anew = dh.evaluate(other, run, names, **options)
    except (ParameterError, MeasureError):  # what cannot be evaluated anew either
        return 0, 0
    found, unknown = rescore(loaded, dh.Qrels(other), anew.measures, conventions)
    assert_equal(found, anew)
    assert {str(one.measure) for one in found} | unknown.keys() >= {one.label for one in anew.measures}
    # what was kept, counted another way: nothing more is refused
    if options["score_precision"] == precision and not options["judged_only"]:
        ranks = {query: ranks_kept(own, precision) for query, own in run.items()}
        for name, queries in unknown.items():
            cutoff = getattr(anew[name].measure, "cutoff", None)
            for query in queries:
                known = ranks[query]
                assert known is not None
                assert cutoff is None or cutoff > known or options["unjudged"] == "bounds" or "retrieved" in name
    return len(found) * len(found.query_ids), len(unknown)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::deadheat.DeadheatWarning")
@pytest.mark.parametrize("seeds", [range(10), pytest.param(range(10, 2_000), marks=pytest.mark.slow)], ids=str)
def test_random_cases_with_ties_at_the_kept_depth(tmp_path: Path, seeds: range) -> None:
    found = [check_case(seed, tmp_path / "x.json") for seed in seeds]
    n_equal, n_refused = (sum(each) for each in zip(*found, strict=True))
    assert n_equal > 15 * len(seeds)
    assert n_refused > len(seeds)


@needs_shared_data
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::deadheat.DeadheatWarning")
@pytest.mark.parametrize("name", [*HPO_RUNS, *LLM_RUNS])
def test_real_runs_for_every_measure_and_policy(tmp_path: Path, name: str) -> None:
    qrels, run = sources_of(name)
    loaded = kept_through(tmp_path / "x.json", dh.evaluate(qrels, run, "nDCG@10"), 100)
    rng, judged = random.Random(name), dh.Qrels(qrels).to_dict()
    other = dh.Qrels(
        {
            query: {doc: rng.choice((grade, grade, grade, 1.0)) for doc, grade in own.items()}
            for query, own in judged.items()
        }
    )
    for ties in POLICIES:
        names = [
            one
            for one in DEFAULTS
            if ties != "expected" or name in WHOLE or not isinstance(dh.parse_measure(one), OrdersMeasure)
        ]
        anew = dh.evaluate(other, run, names, ties=ties)
        found, unknown = rescore(loaded, other, anew.measures, replace(loaded.conventions, ties=ties))
        assert_equal(found, anew, FIELDS if ties == "expected" else ("values",))  # the spread is that of all orders
        assert len(found) + len(unknown) == len(anew)
        assert all(dh.parse_measure(one).deepest is None for one in unknown)


QRELS: Judged = {f"q{n}": {f"d{n}": 1.0, f"d{n + 30}": 2.0} for n in range(4)}
RUN: Judged = {f"q{n}": {f"d{m}": float(60 - m // 2) for m in range(60)} for n in range(4)}


def test_what_was_not_kept_is_refused_by_measure_and_query(tmp_path: Path) -> None:
    loaded = kept_through(tmp_path / "x.json", dh.evaluate(QRELS, RUN, "P@5"))
    assert loaded.rescored(measures=["P@10", "RR", "NumRet", "NumQ"]).to_dict() == (
        dh.evaluate(QRELS, RUN, ["P@10", "RR", "NumRet", "NumQ"]).to_dict()
    )
    other = {**QRELS, "q2": {"d40": 1, "d50": 1}}  # neither is kept
    with pytest.raises(NotKeptError) as refused:
        loaded.rescored(other, ["RR", "P@11", "P@10", "AP"])
    everything = ("q0", "q1", "q2", "q3")
    assert refused.value.queries == {"RR": ("q2",), "P@11": everything, "AP": everything}
    found = {"q0": {"d1": 1, "d2": 0}, "q1": {"d0": 1}}  # all that is judged is kept
    assert loaded.rescored(found, ["AP", "bpref"]).to_dict() == dh.evaluate(found, RUN, ["AP", "bpref"]).to_dict()


def test_what_cannot_be_scored_again(tmp_path: Path) -> None:
    custom = dh.Custom("mine", len)
    loaded = kept_through(tmp_path / "x.json", dh.evaluate(QRELS, RUN, [custom, "P@5"]))
    with pytest.raises(NotKeptError) as refused:
        loaded.rescored(QRELS)
    assert list(refused.value.queries) == ["mine"]
    assert loaded.rescored({"q0": {"d59": 1, "d3": 1}}, ["P@5"]).means() == {"P@5": 0.2}
    with pytest.raises(ParameterError, match="ties must be another policy"):
        loaded.rescored(QRELS, "P@5", ties="random")
    with pytest.raises(DataError, match="share no query"):
        loaded.rescored({"other": {"d1": 1}}, "P@5")
    bare = kept_through(tmp_path / "bare.json", dh.evaluate(QRELS, RUN, "P@5"), 0)
    assert bare.run is None
    assert bare.qrels.to_dict() == QRELS
    with pytest.raises(DataError, match=r"^run .*without its ranking"):
        bare.rescored(QRELS)
    part = loaded.select(np.array([0]))
    with pytest.raises(DataError, match="without its ranking"):
        part.rescored(QRELS)
    with pytest.raises(ParameterError, match=r"^run .*judge's labels"):
        dh.evaluate(QRELS, RUN, "P@5", judge=QRELS | {"more": {"d1": 1}}).rescored()


@pytest.mark.parametrize("name", ["time", "label", "commit", "known_depth", "judgments"])
def test_a_file_that_lacks_a_part_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    dh.evaluate(QRELS, RUN, "P@5").save(path, method="t")
    document = json.loads(path.read_text())
    del (document if name in document else document["data"])[name]
    seal(document)
    path.write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match=f"cannot be read as a saved evaluation: lacks '{name}'"):
        dh.load_evaluation(path)


def test_queries_without_judgments_second_keys_subtopics_and_the_order_are_kept(tmp_path: Path) -> None:
    run = {**RUN, "new": {"a": 1.0, "b": 1.0, "c": 0.5}}
    loaded = kept_through(tmp_path / "x.json", dh.evaluate(QRELS, run, "RR"))
    other = {"new": {"b": 1}, "q1": {}}
    for ties in POLICIES:
        anew = dh.evaluate(other, run, "RR", ties=ties)
        assert_equal(loaded.rescored(other, ties=ties), anew)
        assert anew["RR"].values[0] == {"expected": 0.75, "worst": 0.5, "input": 0.5}.get(ties, 1.0)
    keyed = kept_through(tmp_path / "y.json", dh.evaluate(QRELS, run, "RR", then_by={"new": {"a": 2, "b": 3}}))
    assert keyed.rescored(other).to_dict()["new"] == {"RR": 1.0}
    with pytest.raises(ParameterError, match="ranks, which cannot be rounded"):
        keyed.rescored(other, score_precision=1)
    topics = tmp_path / "topics.txt"
    topics.write_text("new 1 a 1\nnew 2 b 1\nnew 2 c 1\n")
    by_topic = kept_through(tmp_path / "z.json", dh.evaluate(topics, run, "StRecall@2"))
    assert_equal(
        by_topic.rescored(measures=["StRecall@1", "alpha_nDCG@3"]),
        dh.evaluate(topics, run, ["StRecall@1", "alpha_nDCG@3"]),
    )
    bare = kept_through(tmp_path / "b.json", dh.evaluate({"new": {"a": 1}, "none": {}}, run, "RR"))
    assert bare.rescored().query_ids.tolist() == ["new", "none"]
    assert bare.qrels.fingerprint == dh.Qrels({"new": {"a": 1}, "none": {}}).fingerprint


def test_documents_without_a_grade_are_kept(tmp_path: Path) -> None:
    """They may have any grade, or be anywhere, as before; other unjudged documents may not."""
    raw: Any = {"q": {"a": "1", "z": "no idea", "b": "0"}}
    run = {"q": {"c": 2, "a": 1, "z": 1, "b": 1}}
    found = dh.evaluate(dh.read_judgments(raw, failed="bounds"), run, "RR")
    more = dh.read_judgments({**raw, "new": {"a": "1", "z": "?"}}, failed="bounds")
    for one in (found.rescored(more), kept_through(tmp_path / "x.json", found).rescored()):
        assert (one["RR"].unjudged_min[0], one["RR"].unjudged_max[0]) == pytest.approx((13 / 36, 4 / 9))
    graded: Any = dh.read_judgments({"q": {"a": 1, "z": "?", "b": 3}}, kind="run", failed="bounds")
    anywhere = kept_through(tmp_path / "y.json", dh.evaluate({"q": {"a": 1, "z": 1}}, graded, "RR"))
    assert_equal(anywhere.rescored(), dh.evaluate({"q": {"a": 1, "z": 1}}, graded, "RR"))
    assert (anywhere.rescored()["RR"].unjudged_min[0], anywhere.rescored()["RR"].unjudged_max[0]) == (1 / 2, 1)
    other = {"q": {"a": 1, "new": 1}}
    assert anywhere.rescored(other, ids={"z": "new"})["RR"].unjudged_max[0] == 1
    long = {"q": {"z": "?"} | {f"d{n}": n for n in range(30)}}
    graded = dh.read_judgments(long, kind="run", failed="bounds")
    cut = kept_through(tmp_path / "z.json", dh.evaluate({"q": {"z": 1}}, graded, "P@1"), save_depth=1)
    with pytest.raises(NotKeptError):
        cut.rescored()


def test_documents_that_were_renamed_since(tmp_path: Path) -> None:
    loaded = kept_through(tmp_path / "x.json", dh.evaluate(QRELS, RUN, ["P@5", "RR"]))
    new = {doc: f"new{doc}" for own in RUN.values() for doc in own if doc != "d3"}
    other = {query: {new.get(doc, doc): grade for doc, grade in own.items()} for query, own in QRELS.items()}
    run = {query: {new.get(doc, doc): score for doc, score in own.items()} for query, own in RUN.items()}
    assert_equal(loaded.rescored(other, ids=new), dh.evaluate(other, run, ["P@5", "RR"]))
    assert_equal(
        dh.evaluate(QRELS, RUN, ["P@5", "RR"]).rescored(other, ids=new), dh.evaluate(other, run, ["P@5", "RR"])
    )
    table = tmp_path / "ids.csv"
    table.write_text("old,new\n" + "".join(f"{old},{one}\n" for old, one in new.items()))
    assert_equal(loaded.rescored(other, ids=table), dh.evaluate(other, run, ["P@5", "RR"]))
    wrong: list[tuple[Any, str]] = [
        ({"newd1": "d1"}, "none of the 1 old ids is in the ranking"),
        ({"d1": ""}, "renames an id twice, or lacks one"),
    ]
    table.write_text("old,new\nd1,a\nd1,b\n")
    wrong.append((table, "renames an id twice"))
    names = tmp_path / "names.csv"
    names.write_text("d1,a\nd2,b\n")
    wrong.append((names, "expected columns old and new"))
    for ids, told in wrong:
        with pytest.raises(DataError, match=told):
            loaded.rescored(other, ids=ids)
    with pytest.raises(DataError, match="'d1' is retrieved 2 times"):
        loaded.rescored(other, ids={"d2": "d1"})
    with pytest.raises(ParameterError, match="ids needs the judgments"):
        loaded.rescored(ids=new)


def test_ties_larger_than_the_bound_are_left_out_and_the_rest_is_known(tmp_path: Path) -> None:
    run = {
        "q": {"top": 9.0, "next": 8.0, **{f"d{n}": 1.0 for n in range(150)}},
        "r": {f"d{n}": 1.0 for n in range(100)},
    }
    qrels = {"q": {"next": 1, "d3": 1}, "r": {"d3": 1}}
    loaded = kept_through(tmp_path / "x.json", dh.evaluate(qrels, run, "P@2"))
    assert loaded.run is not None
    assert {query: len(own) for query, own in loaded.run.to_dict().items()} == {"q": 2, "r": 100}
    assert_equal(loaded.rescored(measures=["P@2", "RR", "NumRet"]), dh.evaluate(qrels, run, ["P@2", "RR", "NumRet"]))
    with pytest.raises(NotKeptError) as refused:
        loaded.rescored(measures="P@3")
    assert refused.value.queries == {"P@3": ("q",)}
    assert loaded.rescored({"r": {"d4": 1}}, "AP").means() == pytest.approx(
        dh.evaluate({"r": {"d4": 1}}, run, "AP").means()
    )
    alone = kept_through(
        tmp_path / "y.json", dh.evaluate({"q": {"d1": 1}}, {"q": {f"d{n}": 1.0 for n in range(101)}}, "P@2")
    )
    assert alone.rescored({"q": {"d2": 1}}, "NumRet").means() == {"NumRet": 101.0}


def test_a_file_knows_its_time_label_and_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*BRANCHES, *COMMITS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.setenv("GITHUB_SHA", "abc")
    monkeypatch.setenv("GITHUB_REF_NAME", "main")
    evaluation, path = dh.evaluate(QRELS, RUN, "P@5"), tmp_path / "x.json"
    evaluation.save(path)
    assert dh.load_evaluation(path).origin == Origin("2023-11-14T22:13:20.000Z", "main", "abc", label_is_branch=True)
    evaluation.save(path, label="try", commit="")
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    dh.load_evaluation(path).save(path)
    assert dh.load_evaluation(path).origin == Origin("2023-11-14T22:13:20.000Z", "try", "")
    assert dh.load_evaluation(path).rescored({"q1": {"d1": 1}}).origin == Origin("2023-11-14T22:13:20.000Z", "try", "")
    monkeypatch.delenv("GITHUB_SHA")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert Origin.here().commit == ""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    assert Origin.here().time > "2026"
    monkeypatch.setenv("PATH", "")
    assert (Origin.here().label, Origin.here().commit) == ("", "")


@pytest.mark.slow
def test_6980_rankings_of_100_documents_fit_in_15_mb(tmp_path: Path) -> None:
    """As of MS MARCO's development set, with scores that do not compress."""
    drawn_from = np.random.default_rng(1)
    n_queries, path = 6_980, tmp_path / "x.json"
    docs = drawn_from.integers(0, 8_841_823, (n_queries, 100))
    scores = np.sort(drawn_from.normal(20, 5, (n_queries, 100)), axis=1)[:, ::-1]
    queries = np.repeat(np.arange(n_queries) * 151, 100).astype(str)
    run = pl.DataFrame({"query_id": queries, "doc_id": docs.ravel().astype(str), "score": scores.ravel()})
    run = run.unique(["query_id", "doc_id"], keep="first", maintain_order=True)
    qrels = run.gather_every(100).select("query_id", "doc_id", relevance=1)
    evaluation = dh.evaluate(qrels, dh.Run(run), "RR@10", missing="empty")
    evaluation.save(path, method="t")
    assert 3e6 < path.stat().st_size < 15e6
    assert dh.load_evaluation(path).rescored().means() == evaluation.means()
