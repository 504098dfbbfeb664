"""Measures of diversity: beside all orders of the ties, and beside pyndeval where there are none."""

from __future__ import annotations

import itertools
import math
import random
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import DuplicateError
from oracle.orders import all_orders
from oracle.subtopics import diversity
from support.command import ok
from support.judged_by_subtopic import NAMES, Rows, Scored, drawn, frame_of, sets_of
from support.other_tools import of_ir_measures


@pytest.mark.slow
def test_all_orders_of_ties() -> None:
    """Mean, variance and extremes are those over the listed orders."""
    rows, run = drawn(1, 40, n_docs=6, n_scores=2)
    evaluation = dh.evaluate(frame_of(rows), run, list(NAMES))
    for name, parameters in NAMES.items():
        kind = name.partition("@")[0].partition("(")[0]
        for place, query in enumerate(evaluation.query_ids.tolist()):
            judged = sets_of(rows, query)
            values = [
                diversity(kind, [judged.get(doc, set()) for doc in order], judged, **parameters)  # type: ignore[arg-type]
                for order in all_orders(run[query])
            ]
            scores = evaluation[name]
            found = [scores.values[place], scores.tie_std[place], scores.tie_min[place], scores.tie_max[place]]
            assert found == pytest.approx([np.mean(values), np.std(values), min(values), max(values)], abs=1e-10), name


@pytest.mark.slow
def test_large_ties_have_an_exact_mean() -> None:
    """Whose variance is that of drawn orders: the closed form of the mean is beside a large sample of them."""
    rng = random.Random(2)
    docs = [f"d{n}" for n in range(120)]
    rows = [("q", doc, topic, 1) for doc in docs for topic in rng.sample("123456789", 3)]
    run = {"q": dict.fromkeys(docs, 1.0)}
    evaluation = dh.evaluate(frame_of(rows), run, ["alpha_DCG@10"])
    scores = evaluation["alpha_DCG@10"]
    told = "tie std, min and max of alpha_DCG@10 of run are of drawn orders for 1 query; its means are exact"
    assert told in " ".join(str(evaluation).split())
    judged = sets_of(rows, "q")
    drawn_values = []
    for _ in range(2_000):
        rng.shuffle(docs)
        drawn_values.append(diversity("alpha_DCG", [judged[doc] for doc in docs[:10]], judged, cutoff=10))
    error = float(np.std(drawn_values)) / 2_000**0.5
    assert scores.values[0] == pytest.approx(np.mean(drawn_values), abs=5 * error)
    assert scores.standard_error[0] == 0
    assert scores.tie_std[0] == pytest.approx(np.std(drawn_values), rel=0.1)
    assert scores.tie_min[0] < scores.values[0] < scores.tie_max[0]


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.5, 1.0])
def test_the_ideal_takes_many_documents_of_few_sets_one_by_one(alpha: float) -> None:
    """As the definition has it: each in turn that gains most, of equal ones the higher id. All gains are exact here."""
    rng = random.Random(5)
    topics = [(), ("1",), ("2",), ("1", "2"), ("2", "3", "4")]
    rows = [("q", f"d{n:02}", topic, 1) for n in range(30) for topic in rng.choice(topics)]
    run = {"q": {f"d{n:02}": float(-n) for n in range(20)}}
    judged = sets_of(rows, "q")
    lists = [judged.get(doc, set()) for doc in run["q"]]
    for kind, cutoff in itertools.product(("alpha_nDCG", "nERR_IA"), (None, 5, 40)):
        name = f"{kind}(alpha={alpha})" + (f"@{cutoff}" if cutoff else "")
        expected = diversity(kind, lists, judged, alpha=alpha, cutoff=cutoff)
        assert dh.evaluate(frame_of(rows), run, name)[name].mean == pytest.approx(expected, abs=1e-12)


PYNDEVAL = ["alpha_DCG@5", "alpha_nDCG@5", "alpha_nDCG@20", "ERR_IA@10", "nERR_IA@10", "NRBP", "nNRBP"]
PYNDEVAL += ["AP_IA", "P_IA@5", "StRecall@5", "alpha_nDCG(alpha=0.2)@10", "NRBP(alpha=0.3, beta=0.7)", "P_IA(rel=2)@5"]


def theirs_of(rows: Rows, run: Scored, names: list[str]) -> dict[str, dict[str, float]]:
    """Return the values of ir_measures by measure and query."""
    pytest.importorskip("pyndeval")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ir_measures = pytest.importorskip("ir_measures")
    qrels = [ir_measures.Qrel(query, doc, rel, topic) for query, doc, topic, rel in rows]
    found: dict[str, dict[str, float]] = {name: {} for name in names}
    for name in names:
        for one in ir_measures.iter_calc([of_ir_measures(name)], qrels, run):
            found[name][one.query_id] = one.value
    return found


def test_pyndeval_agrees_without_ties() -> None:
    rows, run = drawn(3, 50, n_docs=30, n_scores=10_000_000)
    evaluation = dh.evaluate(frame_of(rows), run, PYNDEVAL)
    for name, expected in theirs_of(rows, run, PYNDEVAL).items():
        own = dict(zip(evaluation[name].query_ids, evaluation[name].values.tolist(), strict=True))
        assert own == pytest.approx({query: expected.get(query, 0.0) for query in own}, abs=1e-6), name


def test_pyndeval_forgets_a_divisor_at_the_first_rank() -> None:
    """alpha-DCG@1 of a document of one of two subtopics is 1/2 of what a perfect one has; ndeval prints 1."""
    rows: Rows = [("q", "a", "1", 1), ("q", "b", "2", 1)]
    run = {"q": {"a": 2.0, "b": 1.0}}
    names = ["alpha_DCG@1", "ERR_IA@1"]
    assert dh.evaluate(frame_of(rows), run, names).means() == {"alpha_DCG@1": 0.5, "ERR_IA@1": 0.5}
    assert theirs_of(rows, run, names) == {"alpha_DCG@1": {"q": 1.0}, "ERR_IA@1": {"q": 1.0}}


def written(rows: Rows, path: Path) -> Path:
    path.write_text("".join(f"{query} {topic} {doc} {rel}\n" for query, doc, topic, rel in rows), encoding="utf-8")
    return path


def test_the_second_field_of_a_trec_file_is_the_subtopic(tmp_path: Path) -> None:
    rows, run = drawn(4, 10, n_docs=8, n_scores=3)
    path = written(rows, tmp_path / "diversity.qrels")
    from_frame, from_file = (dh.evaluate(one, run, list(NAMES)) for one in (frame_of(rows), path))
    for name in NAMES:
        np.testing.assert_array_equal(from_frame[name].values, from_file[name].values)
    assert "has 5 subtopics; without them a document has its highest relevance" in from_file.notes[0]


@pytest.mark.parametrize("blanks", [" ", "\t", "   "])
def test_all_ways_to_read_trec_files_see_subtopics(tmp_path: Path, blanks: str) -> None:
    (tmp_path / "x.qrels").write_text(
        blanks.join(["q", "1", "a", "1"]) + "\n" + blanks.join(["q", "2", "a", "0"]) + "\n", encoding="utf-8"
    )
    qrels = dh.read_qrels(tmp_path / "x.qrels")
    assert qrels.to_dict() == {"q": {"a": 1.0}}
    assert qrels.subtopics is not None
    assert qrels.subtopics.rows() == [("q", "a", "1", 1.0), ("q", "a", "2", 0.0)]


def test_one_subtopic_is_none_and_a_row_that_comes_twice_is_an_error(tmp_path: Path) -> None:
    plain = written([("q", "a", "0", 1), ("q", "b", "0", 0)], tmp_path / "plain.qrels")
    assert dh.read_qrels(plain).subtopics is None
    twice = written([("q", "a", "1", 1), ("q", "a", "1", 0), ("q", "b", "2", 0)], tmp_path / "twice.qrels")
    with pytest.raises(DuplicateError, match="'a' is judged 2 times"):
        dh.evaluate(twice, {"q": {"a": 1.0}})


def test_other_measures_take_the_highest_relevance() -> None:
    rows: Rows = [("q", "a", "1", 0), ("q", "a", "2", 2), ("q", "b", "1", 1)]
    run = {"q": {"b": 2.0, "a": 1.0}}
    plain = dh.evaluate({"q": {"a": 2, "b": 1}}, run, ["nDCG", "RR(rel=2)"])
    assert dh.evaluate(frame_of(rows), run, ["nDCG", "RR(rel=2)"]).means() == plain.means()


@pytest.mark.parametrize("ties", ["best", "worst", "doc_id", "input", "random"])
def test_policies_keep_the_subtopics(ties: str) -> None:
    rows, run = drawn(5, 20, n_docs=6, n_scores=2)
    evaluation = dh.evaluate(
        frame_of(rows), run, ["StRecall@2", "alpha_DCG"], ties=ties, rng=1 if ties == "random" else None
    )
    for scores in evaluation:
        assert (scores.values <= scores.tie_max + 1e-12).all()
        assert (scores.values >= scores.tie_min - 1e-12).all()


@pytest.mark.slow
def test_engines_agree() -> None:
    rows, run = drawn(6, 20, n_docs=6, n_scores=2)
    retrieved: list[tuple[str, str, float]] = [
        (query, doc, score) for query, docs in run.items() for doc, score in docs.items()
    ]
    random.Random(1).shuffle(retrieved)
    schema = ["query_id", "doc_id", "score"]
    frame = pl.DataFrame(retrieved, schema=schema, orient="row")
    sources: list[object] = [run, frame, frame.sort("query_id"), frame.lazy()]
    found: list[Mapping[str, float]] = [dh.evaluate(frame_of(rows), one, list(NAMES)).means() for one in sources]
    for one, other in itertools.pairwise(found):
        assert one == pytest.approx(other, abs=1e-12)


def test_a_selection_of_queries_and_a_saved_evaluation_keep_their_values(tmp_path: Path) -> None:
    rows, run = drawn(7, 10, n_docs=6, n_scores=2)
    whole = dh.evaluate(frame_of(rows), run, ["alpha_nDCG@3"])
    less = dh.evaluate(frame_of(rows), dict(list(run.items())[:4]), ["alpha_nDCG@3"], missing="skip")
    np.testing.assert_array_equal(less["alpha_nDCG@3"].values, whole["alpha_nDCG@3"].values[:4])
    whole.save(tmp_path / "saved.json")
    loaded = dh.load_evaluation(tmp_path / "saved.json")
    np.testing.assert_array_equal(loaded["alpha_nDCG@3"].values, whole["alpha_nDCG@3"].values)
    np.testing.assert_array_equal(loaded["alpha_nDCG@3"].tie_max, whole["alpha_nDCG@3"].tie_max)


@pytest.mark.slow
def test_a_saved_evaluation_keeps_its_subtopics(tmp_path: Path) -> None:
    """From its placements all measures can be found again."""
    rows, run = drawn(10, 12, n_docs=6, n_scores=2)
    whole = dh.evaluate(frame_of(rows), dict(list(run.items())[:9]), list(NAMES), missing="skip")
    whole.save(tmp_path / "saved.json")
    placements = dh.load_evaluation(tmp_path / "saved.json").placements
    for name in NAMES:
        found = dh.parse_measure(name).mean(placements)
        np.testing.assert_array_equal(found, whole[name].values)


def test_queries_of_other_names_keep_their_subtopics() -> None:
    """As when languages are compared, whose queries are matched by a column."""
    rows, run = drawn(11, 8, n_docs=6, n_scores=2)
    whole = dh.evaluate(frame_of(rows), run, list(NAMES))
    names = {query: f"q{9 - place}" for place, query in enumerate(whole.query_ids.tolist())}
    other = whole.renamed(names)
    backwards = np.argsort(list(names.values()))
    for name in NAMES:
        found = dh.parse_measure(name).mean(other.placements)
        np.testing.assert_array_equal(found, whole[name].values[backwards])


def test_shorter_lists() -> None:
    """Of the first documents, and of these the judged ones alone."""
    rows, run = drawn(12, 15, n_docs=8, n_scores=3)
    found = dh.evaluate(frame_of(rows), run, list(NAMES), ties="doc_id", depth=4, judged_only=True)
    for place, query in enumerate(found.query_ids.tolist()):
        judged = {doc for own, doc, _, _ in rows if own == query}
        scores = run[query]
        order = sorted(sorted(scores, reverse=True), key=scores.__getitem__, reverse=True)
        sets = sets_of(rows, query)
        ranking = [sets.get(doc, set()) for doc in order[:4] if doc in judged]
        for name, parameters in NAMES.items():
            kind = name.partition("@")[0].partition("(")[0]
            expected = diversity(kind, ranking, sets, **parameters)  # type: ignore[arg-type]
            assert found[name].values[place] == pytest.approx(expected, abs=1e-10), (name, query)


def test_the_command_reads_diversity_qrels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written([("q", "a", "1", 1), ("q", "b", "2", 1)], tmp_path / "x.qrels")
    Path("x.run").write_text("q Q0 a 1 2 t\nq Q0 b 2 1 t\n", encoding="utf-8")
    assert "StRecall@1" in (out := ok("evaluate", "x.qrels", "x.run", "-m", "StRecall@1"))
    assert "0.5000" in out


def test_a_comparison_does_not_list_orders_of_documents_that_only_relevance_tells_apart() -> None:
    """Documents of one relevance differ by their subtopics: chances of a reversal come from mean and variance."""
    rows, run = drawn(8, 12, n_docs=6, n_scores=2)
    rng = random.Random(9)
    other = {query: {doc: float(rng.randrange(3)) for doc in docs} for query, docs in run.items()}
    comparison = dh.compare(frame_of(rows), {"one": run, "other": other}, ["StRecall@2", "RR"], n_resamples=99)
    methods = {one.measure: one.flip_method for one in comparison.pairs}
    assert methods["StRecall@2"] == "normal"
    assert methods["RR"] != "normal"
    placements = comparison.evaluations["one"].placements
    assert not dh.parse_measure("StRecall@2").can_list_orders(placements)
    assert not dh.parse_measure("GAUC").can_list_orders(placements)


def test_a_second_score_of_large_noise_gives_the_means_over_all_orders() -> None:
    """Every order is as likely as another one then."""
    rows, run = drawn(13, 4, n_docs=6, n_scores=1)
    rng = random.Random(3)
    second = {query: {doc: rng.random() for doc in docs} for query, docs in run.items()}
    names = ["StRecall@2", "alpha_DCG@3"]
    exact = dh.evaluate(frame_of(rows), run, names)
    drawn_orders = dh.evaluate_with_confidence(frame_of(rows), run, second, names, scale=1e9, n_draws=1000)
    for name in names:
        error = drawn_orders[name].standard_error
        assert drawn_orders[name].mean == pytest.approx(exact[name].mean, abs=5 * error)
        assert 0 < error < 0.02


def test_fusion_is_tuned_by_the_values_that_an_evaluation_has() -> None:
    rows, run = drawn(14, 8, n_docs=6, n_scores=4)
    tuned = dh.tune_fusion(frame_of(rows), {"one": run, "other": run}, "StRecall@2", "rrf", grid=2, folds=2)
    again = dh.evaluate(frame_of(rows), tuned.run, ["StRecall@2"])["StRecall@2"]
    np.testing.assert_allclose(tuned.values[tuned.best], again.values, atol=1e-12)


def test_recall_of_large_ties_is_exact_where_orders_of_others_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is counted for large ties is, of small ones, what all orders give."""
    rows, run = drawn(15, 60, n_docs=7, n_scores=2)
    monkeypatch.setattr(dh.StRecall, "most_steps", 0)
    names = ["StRecall", "StRecall@1", "StRecall@2", "StRecall@3"]
    evaluation = dh.evaluate(frame_of(rows), run, names)
    n_moved = 0
    for name in names:
        cutoff = int(name.partition("@")[2] or 100)
        scores = evaluation[name]
        assert not scores.standard_error.any()
        for place, query in enumerate(evaluation.query_ids.tolist()):
            judged = sets_of(rows, query)
            values = [
                diversity("StRecall", [judged.get(doc, set()) for doc in order], judged, cutoff=cutoff)
                for order in all_orders(run[query])
            ]
            n_moved += len(set(values)) > 1
            found = [scores.values[place], scores.tie_std[place], scores.tie_min[place], scores.tie_max[place]]
            assert found == pytest.approx([np.mean(values), np.std(values), min(values), max(values)], abs=1e-12), name
    assert n_moved > 30


def test_recall_of_many_groups_in_one_large_tie_is_exact() -> None:
    """Of ten groups of three in a tie of sixty: pairs of groups are missed as three and six documents are."""
    groups = [[f"g{number}d{place}" for place in range(3)] for number in range(10)]
    docs = [doc for group in groups for doc in group] + [f"x{place}" for place in range(30)]
    scores = dh.evaluate({"q": groups}, {"q": dict.fromkeys(docs, 1.0)}, ["R@10"])["R@10"]

    def missed(n_documents: int) -> float:
        return math.comb(60 - n_documents, 10) / math.comb(60, 10)

    mean = 1 - missed(3)
    second = (10 * mean + 90 * (1 - 2 * missed(3) + missed(6))) / 100
    assert scores.values[0] == pytest.approx(mean, abs=1e-12)
    assert scores.tie_std[0] == pytest.approx((second - mean**2) ** 0.5, abs=1e-12)
    assert (scores.tie_min[0], scores.tie_max[0]) == (0, 1)
    assert scores.standard_error[0] == 0
