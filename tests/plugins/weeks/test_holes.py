"""holes(): the weight of every unjudged document is what an evaluation with its judgment added says."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import deadheat as dh
from deadheat.errors import MeasureError, ParameterError
from support.command import call, ok
from support.numbers_in_text import numbers_in
from support.report_facts import facts_of_object

Nested = dict[str, dict[str, float]]
MEASURES = ["nDCG@3", "AP", "RR", "R@2", "P@2"]


def drawn(seed: int) -> tuple[Nested, dict[str, Nested]]:
    """Judgments of some of eight documents, and two runs with ties."""
    rng = random.Random(seed)
    documents, queries = [f"d{n}" for n in range(8)], ["q1", "q2", "q3"]
    qrels = {query: {one: float(rng.randrange(4)) for one in rng.sample(documents, 4)} for query in queries}
    qrels["q1"]["top"] = 3.0
    runs = {
        name: {query: {one: float(rng.randrange(3)) for one in rng.sample(documents, 5)} for query in queries}
        for name in ("a", "b")
    }
    return qrels, runs


def with_answer(qrels: Nested, query: str, document: str, label: float) -> Nested:
    """The judgments with one more."""
    return {one: own | ({document: label} if one == query else {}) for one, own in qrels.items()}


def widths(qrels: Nested, run: Nested, name: str) -> dict[str, float]:
    """The range of each query over all labels up to 3."""
    scores = dh.evaluate(qrels, run, name, unjudged="bounds", unjudged_max_rel=3, missing="empty")[name]
    apart = scores.unjudged_max - scores.unjudged_min
    return dict(zip(scores.query_ids.tolist(), apart.tolist(), strict=True))


def some_documents(rng: random.Random, most: int) -> list[str]:
    return rng.sample([f"d{n}" for n in range(7)], rng.randrange(most))


@pytest.mark.slow
@pytest.mark.parametrize("n_runs", [1, 2, 3])
@pytest.mark.parametrize("name", [*MEASURES, "R", "F@2", "AP@2", "AP(norm='min')@2", "Rprec", "nDCG", "ERR@2", "DCG"])
def test_a_weight_by_range_is_what_a_judgment_takes_off_it(name: str, n_runs: int) -> None:
    """In 2,028 cases, each a query: every answer is judged, and the ranges of all runs are computed anew."""
    rng = random.Random(f"{name} {n_runs}")
    queries, runs = [f"q{n}" for n in range(52)], [f"run{n}" for n in range(n_runs)]
    qrels = {query: {one: float(rng.randrange(4)) for one in some_documents(rng, 4)} | {"x": 1.0} for query in queries}
    ranked: dict[str, Nested] = {
        run: {query: {one: float(rng.randrange(3)) for one in some_documents(rng, 5)} for query in queries}
        for run in runs
    }
    found = dh.holes(qrels, ranked, name, unjudged_max_rel=3, depth=7).documents
    weights = {(query, one): weight * len(queries) for query, one, _, weight, *_ in found.rows()}
    assert set(weights) == {
        (query, one) for run in ranked.values() for query in queries for one in run[query] if one not in qrels[query]
    }
    answers = {f"{query} {one} {label}": (query, one, label) for query, one in weights for label in (0.0, 3.0)}
    known = {key: qrels[query] | {one: label} for key, (query, one, label) in answers.items()}
    taken = dict.fromkeys(weights, 0.0)
    for run in ranked.values():
        before = widths(qrels, run, name)
        after = widths(known, {key: run[query] for key, (query, *_) in answers.items()}, name)
        for key, (query, one, _) in answers.items():
            taken[query, one] += (before[query] - after[key]) / (2 * n_runs)
    assert weights == pytest.approx(taken, abs=1e-12)
    assert found["weight"].is_sorted(descending=True)
    shallow = dh.holes(qrels, ranked, name, unjudged_max_rel=3, depth=1)
    for query, one, _, weight, *_ in shallow.documents.rows():
        assert weight * len(queries) == weights[query, one]
    is_of_top = name in {"P@2", "ERR@2"}
    assert is_of_top or len(shallow.documents) + shallow.n_below == len(found)


def test_documents_below_the_cutoff_are_listed_where_they_count() -> None:
    qrels, run = {"q": {"d1": 1, "d2": 1}}, dh.Run({"q": [f"d{n}" for n in range(1, 120)]})
    found = dh.holes(qrels, run, "R@2")
    assert (found.depth, len(found.documents), found.n_below) == (100, 98, 19)
    assert (found.documents["weight"] > 0).all()
    text = " ".join(str(found).split())
    assert "the first 20 are shown; 19 more" in text
    for name in ("P@3", "RR@3", "DCG@3"):
        found = dh.holes(qrels, run, name)
        assert (found.depth, found.documents["doc_id"].to_list(), found.n_below) == (3, ["d3"], 0)


def test_a_judgment_may_widen_the_range_of_runs_that_lack_the_document() -> None:
    """R@2 of the first two is 1 whatever d2 is; with d5 relevant it is 1/2 to 2/3. The third goes from 2/3 to 1/2."""
    runs = {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d1", "d2"]}, "c": {"q": ["d3", "d4", "d5"]}}
    weights = dict(dh.holes({"q": {"d1": 1}}, runs, "R@2").documents.select("doc_id", "weight").rows())
    assert weights["d5"] == pytest.approx((-2 * (2 / 3 - 1 / 2) + (2 / 3 - 1 / 2)) / 2 / 3)


@pytest.mark.parametrize("depth", [1, 8])
@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("seed", range(3))
def test_a_weight_by_decision_is_how_far_its_answers_are_apart(seed: int, name: str, depth: int) -> None:
    qrels, runs = drawn(seed)
    found = dh.holes(qrels, runs, name, by="decision", depth=depth)
    for query, document, _, weight, *_ in found.documents.rows():
        apart = []
        for label in (0.0, 3.0):
            known = with_answer(qrels, query, document, label)
            one, other = (dh.evaluate(known, run, name)[name].mean for run in runs.values())
            apart.append(one - other)
        assert weight == pytest.approx(abs(apart[1] - apart[0]), abs=1e-12)


def test_ranks_depth_and_number() -> None:
    qrels, runs = {"q": {"a": 1}}, {"one": {"q": {"x": 3, "a": 2, "y": 2, "z": 1}}, "two": {"q": {"z": 2, "a": 1}}}
    found = dh.holes(qrels, runs, "AP")
    assert found.documents.select("doc_id", "rank one", "rank two").sort("doc_id").rows() == [
        ("x", 1, None),
        ("y", 2, None),
        ("z", 4, 1),
    ]
    assert dh.holes(qrels, runs, "AP", depth=1).documents["doc_id"].sort().to_list() == ["x", "z"]
    assert len(dh.holes(qrels, runs, "AP", n=1).documents) == 1
    assert dh.holes(qrels, runs, "P@2").depth == 2
    assert "one, two by AP" in repr(found)
    assert numbers_in(repr(found)) == [3, 3]  # listed, and unjudged
    assert "Documents to judge first" in str(found)
    assert found.to_flat()["n_unjudged"] == 3


def test_what_cannot_be_weighed_is_refused() -> None:
    qrels, runs = {"q": {"a": 1}}, {"one": {"q": {"x": 3}}}
    with pytest.raises(MeasureError, match="no bounds"):
        dh.holes(qrels, runs, "bpref")
    with pytest.raises(ParameterError, match="by"):
        dh.holes(qrels, runs, by="decision")
    with pytest.raises(ParameterError, match="by"):
        dh.holes(qrels, runs, by="effort")
    with pytest.raises(ParameterError, match="runs must be one run or more"):
        dh.holes(qrels, [])
    for top in (-1, float("nan")):
        with pytest.raises(ParameterError, match="unjudged_max_rel"):
            dh.holes(qrels, runs, "RR", unjudged_max_rel=top)


def test_weights_are_the_same_in_small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, runs = drawn(5)
    whole = {by: dh.holes(qrels, runs, "AP", by=by).documents for by in ("range", "decision")}
    monkeypatch.setattr("deadheat.plugins.weeks.holes.AT_ONCE", 20)
    for by, documents in whole.items():
        assert dh.holes(qrels, runs, "AP", by=by).documents.equals(documents)


def test_everything_judged_leaves_nothing() -> None:
    found = dh.holes({"q": {"a": 1}}, {"one": {"q": {"a": 3}}})
    assert not len(found.documents)
    assert found.ranges["one"] == (1.0, 1.0)


def test_the_file_for_annotators_is_read_as_qrels(tmp_path: Path) -> None:
    qrels, run, file = tmp_path / "qrels.txt", tmp_path / "a.run", tmp_path / "judge.csv"
    qrels.write_text("q 0 a 1\np 0 x 2\n")
    run.write_text("q Q0 u 1 3 t\nq Q0 a 2 2 t\np Q0 x 1 1 t\np Q0 w 2 0 t\n")
    text = ok("holes", qrels, run, "-m", "RR", "--depth", "5", "--judge", file, "--full")
    assert "what a judgment takes off" in " ".join(text.split())
    header, first, *_ = file.read_text().splitlines()
    assert header.split(",") == ["query_id", "doc_id", "relevance", "weight", "rank a"]
    assert first.startswith("q,u,,")
    file.write_text(file.read_text().replace("q,u,,", "q,u,1,").replace("p,w,,", "p,w,0,"))
    judged = dh.read_qrels(file).to_dict()
    assert judged == {"q": {"u": 1.0}, "p": {"w": 0.0}}
    result = call("holes", qrels, run, "--judge", tmp_path / "judge.txt")
    assert result.exit_code == 2
    assert ".csv or .tsv" in result.output


def test_a_single_run_and_what_it_lacks(tmp_path: Path) -> None:
    """A path is enough; a query that the run lacks counts 0 in the range, and is named."""
    path = tmp_path / "one.run"
    path.write_text("q Q0 u 1 3 t\nq Q0 a 2 2 t\n")
    qrels = {"q": {"a": 1}, "p": {"x": 1}, "r": {"y": 1}}
    found = dh.holes(qrels, path, "RR")
    assert found.documents.rows() == dh.holes(qrels, {"one": path}, "RR").documents.rows()
    assert found.ranges["one"] == pytest.approx((0.5 / 3, 1 / 3))
    assert (found.n_queries, found.missing_queries) == (3, {"one": ("p", "r")})
    missing = facts_of_object(found)["missing queries"]
    assert " ".join(missing.split()).startswith("one 2 queries (p, r); of 3")
    assert "missing queries" not in str(dh.holes({"q": {"a": 1}}, dh.read_run(path), "RR"))


def test_queries_without_judgments_are_named_where_nothing_is_left_to_judge() -> None:
    run = {"q": {"a": 2.0}, "p": {"x": 1.0}, "r": {"y": 1.0}}
    found = dh.holes({"q": {"a": 1}}, {"one": run, "two": {"q": {"a": 1.0}}}, "RR")
    assert found.unjudged_queries == {"one": ("p", "r"), "two": ()}
    told = str(found)
    assert "Nothing to judge up to rank 100" in told
    assert "queries in the qrels" in told
    unjudged = facts_of_object(found)["unjudged queries"]
    assert " ".join(unjudged.split()).startswith("one 2 queries (p, r); left out")
    told = str(dh.holes({"q": {"a": 1}}, {"two": {"q": {"a": 1.0}}}, "RR"))
    assert "Nothing to judge up to rank 100" in told
    assert "queries in the qrels" not in told
    assert "unjudged queries" not in told


def test_a_narrow_terminal_shows_the_ranks_of_the_first_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, runs = tmp_path / "qrels.txt", [tmp_path / f"a-run-with-a-name-{n}.run" for n in range(3)]
    qrels.write_text("q 0 a 1\n")
    for path in runs:
        path.write_text("q Q0 u 1 3 t\nq Q0 a 2 2 t\n")
    monkeypatch.setenv("COLUMNS", "60")
    out = ok("holes", qrels, *runs, "-m", "RR")
    assert max(map(len, out.splitlines())) <= 60
    assert ": rank a-run-with-a-name-1" in " ".join(out.split())  # what is not shown at this width
