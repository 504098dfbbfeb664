"""ir_measures through the provider: the numbers of its tools, with their order of ties; or exact means."""

import contextlib
import io
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import deadheat as dh
from support.other_tools import of_ir_measures, why_ir_measures_cannot_read
from support.shared_data import SOME_HPO_RUNS, hpo_qrels, hpo_run, needs_shared_data, qrels_dict, run_dict

pytest.importorskip("ir_measures")

import ir_measures

from deadheat.plugins.compat.ir_measures_provider import DeadheatProvider, ours as our_measure, register

TEXTS = [
    *("P@5", "P(rel=2)@10", "P(judged_only=True)@5", "RR", "RR(rel=2)", "Rprec", "AP", "AP(rel=2)@10"),
    *("nDCG", "nDCG@10", "nDCG(gains={1:2,2:5})@10", "nDCG(judged_only=True)@10", "R@10", "R(rel=2)@100"),
    *("Bpref", "Bpref(rel=2)", "NumRet", "NumRet(rel=1)", "NumQ", "NumRel", "SetF", "SetF(beta=2.0)", "SetP"),
    *("SetP(rel=2)", "SetR", "Success@1", "Success(rel=2)@10", "SetAP", "SetP(relative=True)", "IPrec@0.1"),
    *("IPrec@0.5", "Judged@10", "AP(judged_only=True)", "infAP"),
]
OF_TOOLS = {  # by each tool that ir_measures asks
    "pytrec_eval": [text for text in TEXTS if not text.startswith("Judged")],
    "judged": ["Judged", "Judged@1", "Judged@10"],
    "msmarco": ["RR@10", "RR(rel=2)@3"],
    "gdeval": ["nDCG(dcg='exp-log2')@5", "ERR@5", "ERR@20"],
    "accuracy": ["Accuracy", "Accuracy@5", "Accuracy(rel=2)"],
    "compat": ["Compat", "Compat(p=0.5)", "Compat(normalize=False)"],
    "cwl_eval": [
        *("RBP(rel=1)", "RBP(rel=2,p=0.95)", "RBP(rel=1,p=0.999)", "INSQ(max_rel=3)", "INSQ(T=2.5,max_rel=3)"),
        *("INSQ(min_rel=1,max_rel=3)", "INSQ(max_rel=2)", "SDCG(max_rel=3)@10", "SDCG(max_rel=2)@10"),
        *("SDCG(max_rel=4,min_rel=1)@5", "BPM(max_rel=4)@10", "BPM(T=2.0,max_rel=4)@5", "INST(max_rel=3)"),
        *("INST(T=2.0,max_rel=3)", "NERR8(max_rel=3)@10", "NERR8(max_rel=2)@10", "NERR9(max_rel=3)@10"),
        *("NERR10(max_rel=3)", "NERR10(p=0.5,max_rel=3)", "NERR11(max_rel=3)", "NERR11(T=2.0,max_rel=4)"),
    ],
    "pyndeval": [
        *("ERR_IA@5", "ERR_IA(rel=2)@10", "nERR_IA@1", "nERR_IA(rel=2)@10", "alpha_DCG@5", "alpha_DCG(alpha=0.2)@5"),
        *("alpha_nDCG@5", "alpha_nDCG(alpha=0.9)@20", "NRBP", "NRBP(rel=2)", "NRBP(alpha=0.3,beta=0.7)", "nNRBP"),
        *("nNRBP(rel=2)", "AP_IA", "AP_IA(rel=2)", "P_IA@5", "P_IA(rel=2)@10", "StRecall@5", "StRecall(rel=2)@10"),
    ],
}


PEERS = ir_measures.providers.FallbackProvider(
    [ir_measures.providers.registry[one] for one in ("pytrec_eval", "judged")]
)


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Import the module, whose changes are taken back afterwards: other tests ask ir_measures itself."""
    monkeypatch.setattr(ir_measures.util, "_ast_to_value", ir_measures.util._ast_to_value)
    module = import_module("deadheat.compat.ir_measures")
    register()
    yield module
    pipeline = ir_measures.DefaultPipeline
    pipeline.providers[:] = [one for one in pipeline.providers if one.NAME != "deadheat"]


def by_query(provider: Any, qrels: Any, run: Any, measures: list[Any]) -> dict[tuple[str, str], float]:  # noqa: ANN401 - ir_measures has no types
    return {(str(one.measure), one.query_id): one.value for one in provider.iter_calc(measures, qrels, run)}


def expected_of(qrels: Any, run: Any, measures: list[Any]) -> dict[tuple[str, str], float]:  # noqa: ANN401 - as above
    """Ask for one measure at a time: together, some get the value of another, depending on the order of a set."""
    return {key: value for one in measures for key, value in by_query(PEERS, qrels, run, [one]).items()}


def without_ties(run: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return the run with scores that differ even in 32 bits, in an order of its own."""
    return {
        query: {doc: float(-n) for n, (doc, _) in enumerate(sorted(own.items(), key=lambda one: (-one[1], one[0])))}
        for query, own in run.items()
    }


def compared() -> list[Any]:
    found = [of_ir_measures(text) for text in TEXTS]
    return [one for one in found if DeadheatProvider().supports(one)]


@pytest.mark.slow
@needs_shared_data
@pytest.mark.parametrize("name", SOME_HPO_RUNS)
def test_it_is_itself_where_no_scores_tie(name: str) -> None:
    qrels, run = qrels_dict(hpo_qrels(name)), without_ties(run_dict(hpo_run(name)))
    measures = compared()
    expected = expected_of(qrels, run, measures)
    assert by_query(DeadheatProvider(), qrels, run, measures) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_random_cases(seed: int) -> None:
    rng = random.Random(seed)
    docs = [f"d{n}" for n in range(20)]
    qrels = {f"q{n}": {doc: rng.choice([0, 0, 1, 1, 2, 3]) for doc in rng.sample(docs, 8)} for n in range(4)}
    run = without_ties({f"q{n}": {doc: rng.random() for doc in rng.sample(docs, 12)} for n in range(1, 6)})
    measures = compared()
    expected = expected_of(qrels, run, measures)
    found = by_query(DeadheatProvider(), qrels, run, measures)
    assert found == pytest.approx(expected, abs=1e-12)
    assert by_query(DeadheatProvider(ties="doc_id"), qrels, run, measures) == pytest.approx(expected, abs=1e-12)


def judged_and_retrieved(seed: int) -> tuple[list[Any], dict[str, dict[str, float]]]:
    """Draw judgments by subtopic, negative ones in every third case, and a run whose scores tie in every second."""
    rng = random.Random(seed)
    docs, levels = [f"d{n}" for n in range(30)], [0, 0, 1, 1, 2, 3, *([-1] if seed % 3 == 0 else [])]
    qrels = [
        ir_measures.Qrel(str(query), doc, rng.choice(levels), topic)
        for query in range(1, 5)
        for doc in rng.sample(docs, 12)
        for topic in rng.sample("123", rng.choice([1, 1, 2]))
    ]
    run = {str(query): rng.sample(docs, rng.randint(1, 20)) for query in range(2, 7)}
    return qrels, {
        query: {doc: rng.choice([1.0, 2.0, 3.0]) if seed % 2 else n + 1.5 for n, doc in enumerate(own)}
        for query, own in run.items()
    }


@pytest.mark.parametrize("tool", OF_TOOLS)
@pytest.mark.parametrize("seed", range(6))
def test_it_has_the_numbers_of_each_tool_with_its_order_of_ties(tool: str, seed: int) -> None:
    theirs = ir_measures.providers.registry[tool]
    if not theirs.is_available():
        pytest.skip(f"{tool} is not installed")
    by_topic, run = judged_and_retrieved(seed)
    if tool == "compat":  # which orders equal documents of the ideal ranking as the qrels have them
        run = without_ties(run)
        run = {query: {doc: score + 100 for doc, score in own.items()} for query, own in run.items()}
    last = {(one.query_id, one.doc_id): one.relevance for one in by_topic}
    qrels = by_topic if tool == "pyndeval" else [ir_measures.Qrel(*key, relevance) for key, relevance in last.items()]
    for measure in map(of_ir_measures, OF_TOOLS[tool]):
        with contextlib.redirect_stderr(io.StringIO()):  # of scales beyond the judgments
            try:
                expected = by_query(theirs, iter(qrels), run, [measure])
            except ZeroDivisionError:  # of Accuracy, where all that is retrieved is relevant
                continue
        found = by_query(DeadheatProvider(), iter(qrels), run, [measure])
        assert found == pytest.approx(expected, abs=6e-6 if tool == "gdeval" else 1e-9), measure  # it prints 5 decimals


def test_a_document_of_several_subtopics_counts_for_each() -> None:
    """Whichever of its judgments is the last: two of three subtopics have a relevant document, of five ranks."""
    rows = [("q", "a", 2, "1"), ("q", "a", 0, "2"), ("q", "b", 1, "3"), ("q", "other", 1, "2")]
    measures = [ir_measures.P_IA @ 5, ir_measures.StRecall @ 5, ir_measures.ERR_IA @ 5]
    run = {"q": {"a": 2.0, "b": 1.0}}
    best = sum(0.5**rank / (rank + 1) for rank in range(5))  # of documents that have all subtopics
    expected = [2 / 15, 2 / 3, (1 + 1 / 2) / 3 / best]
    for qrels in (rows, rows[::-1]):
        found = DeadheatProvider().calc_aggregate(measures, [ir_measures.Qrel(*row) for row in qrels], run)
        assert [found[one] for one in measures] == pytest.approx(expected)


def needed(measure: Any) -> Any:  # noqa: ANN401 - as above
    """Return a measure of ir_measures with what it must be told."""
    values = {"cutoff": 10, "max_rel": 3, "recall": 0.5}
    return measure(**{name: values[name] for name, one in measure.SUPPORTED_PARAMS.items() if one.required})


def test_all_measures_of_ir_measures_are_served() -> None:
    measures = {needed(one) for one in ir_measures.measures.registry.values() if one.NAME != "RBP"}
    measures.add(ir_measures.RBP(rel=1))  # without rel it is graded, and no provider says what its gains are
    assert len({one.NAME for one in measures}) == 39
    qrels, run = judged_and_retrieved(1)
    assert all(DeadheatProvider().supports(one) for one in measures)
    values = {one.measure for one in DeadheatProvider().iter_calc(measures, qrels, run)}
    assert values == measures
    assert our_measure(needed(ir_measures.INST)) == dh.parse_measure("INST(max_rel=3, ranks=1000)")


def test_a_relevance_beyond_the_scale_is_that_of_its_end() -> None:
    qrels, run = {"q": {"a": 5, "b": 1}}, {"q": {"b": 2.0, "a": 1.0}}
    measure = ir_measures.SDCG(max_rel=2) @ 2
    expected = dh.evaluate({"q": {"a": 2, "b": 1}}, run, ["SDCG@2"]).means()["SDCG@2"]
    assert DeadheatProvider().calc_aggregate([measure], qrels, run) == {measure: pytest.approx(expected)}


@pytest.mark.parametrize("measure", [ir_measures.RBP, ir_measures.define_byquery(lambda _, run: len(run), name="Mine")])
def test_what_deadheat_lacks_is_an_error_at_once(measure: Any) -> None:  # noqa: ANN401 - as above
    assert not DeadheatProvider().supports(measure)
    with pytest.raises(ValueError, match=r"Mine|without rel"):
        DeadheatProvider().iter_calc([ir_measures.AP, measure], {"q": {"a": 1}}, {"q": {"a": 0.5}})


def test_measures_of_diversity_average_over_ties_of_subtopics() -> None:
    rows = [("q", "a", "1", 1), ("q", "a", "2", 1), ("q", "b", "1", 1)]
    qrels = [ir_measures.Qrel(query, doc, relevance, topic) for query, doc, topic, relevance in rows]
    run = {"q": {"a": 0.5, "b": 0.5}}
    for ties, expected in (("expected", 0.81), ("doc_id", 0.7398)):  # 0.81: the example of alpha_DCG
        found = DeadheatProvider(ties).calc_aggregate([ir_measures.alpha_DCG @ 2], qrels, run)
        assert next(iter(found.values())) == pytest.approx(expected, abs=1e-4)


def test_numbers_stay_until_the_environment_chooses(ours: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401 - a module
    assert [one.NAME for one in ir_measures.DefaultPipeline.providers].count("deadheat") == 2
    qrels, run = {"q": {"b": 1}}, {"q": {"a": 0.5, "b": 0.5}}
    measures = [ours.RR, ours.RR @ 10, ours.P @ 1, ours.Accuracy]

    def values() -> list[float]:
        found = ir_measures.calc_aggregate(measures, qrels, run)
        return [found[one] for one in measures]

    assert values() == [1, 0.5, 1, 0]  # each tool has its own order
    for ties, expected in (("expected", [0.75, 0.75, 0.5, 0.5]), ("best", [1, 1, 1, 1])):
        monkeypatch.setenv("DEADHEAT_TIES", ties)
        assert values() == expected


@pytest.mark.usefixtures("ours")
def test_a_tool_that_is_not_installed_is_stood_in_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ir_measures.cwl_eval, "_is_available", False)
    measure = ir_measures.BPM(max_rel=1) @ 2
    for first, value in (("a", 1.0), ("b", 0.5)):  # cwl_eval has ties in the order of the rows
        run = {"q": dict.fromkeys([first, "a", "b"], 0.5)}
        assert ir_measures.calc_aggregate([measure], {"q": {"a": 1}}, run) == {measure: value}


@pytest.mark.usefixtures("ours")
def test_what_deadheat_lacks_is_computed_as_before() -> None:
    own = ir_measures.define_byquery(lambda _, run: len(run), name="Mine")
    result = ir_measures.calc_aggregate([own, ir_measures.AP], {"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}})
    assert result == {own: 2, ir_measures.AP: 0.5}


@pytest.mark.slow
def test_its_command_uses_the_provider(tmp_path: Path) -> None:
    (tmp_path / "x.qrels").write_text("q 0 a 1\n", encoding="utf-8")
    (tmp_path / "x.run").write_text("q Q0 a 1 0.5 t\nq Q0 b 2 0.5 t\n", encoding="utf-8")
    (tmp_path / "program.py").write_text(
        "import deadheat.compat.ir_measures\nimport ir_measures.__main__ as command\ncommand.main_cli()\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "program.py", "x.qrels", "x.run", "RR", "P@1"],
        cwd=tmp_path,
        env=os.environ | {"DEADHEAT_TIES": "expected"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "RR\t0.7500\nP@1\t0.5000\n"


def without_num(_: object) -> object:
    """As ir_measures 0.4.3 reads a value on Python 3.14."""
    raise AttributeError("module 'ast' has no attribute 'Num'")


@pytest.fixture
def on_new_python(monkeypatch: pytest.MonkeyPatch, ours: Any) -> None:  # noqa: ARG001, ANN401 - taken back first
    """Let ir_measures fail as on Python 3.14, on every Python, then switch to deadheat."""
    monkeypatch.setattr(ir_measures.util, "_ast_to_value", without_num)
    with pytest.raises(AttributeError):
        ir_measures.parse_measure("nDCG@10")
    register()


@pytest.mark.usefixtures("on_new_python")
@pytest.mark.parametrize("text", [*TEXTS, "nDCG(dcg='exp-log2')@5", "MRR", "alpha_nDCG(alpha=0.2)@10"])
def test_its_notation_is_read_where_its_parser_fails(text: str) -> None:
    found, expected = ir_measures.parse_measure(text), of_ir_measures(text)
    assert (str(found), found.params) == (str(expected), expected.params)


REFUSED = [
    *("P@-1", "P(rel=x)@1", 'P(rel=b"1")@1', "P(rel=...)@1", "P(rel=[1])@1"),
    *("nDCG(gains={1:-1})", "nDCG(gains={**x})"),
]


@pytest.mark.usefixtures("on_new_python")
@pytest.mark.parametrize("text", REFUSED)
def test_what_its_parser_refuses_is_refused_where_it_fails(text: str) -> None:
    with pytest.raises(ValueError, match="values must be str, float, int, bool"):
        ir_measures.parse_measure(text)


def test_its_own_parser_reads_the_same_where_it_works() -> None:
    if why := why_ir_measures_cannot_read():
        pytest.skip(why)
    assert [ir_measures.parse_measure(text).params for text in TEXTS] == [of_ir_measures(text).params for text in TEXTS]
    for text in REFUSED:
        with pytest.raises(ValueError, match="values must be str, float, int, bool"):
            ir_measures.parse_measure(text)


@pytest.mark.slow
@needs_shared_data
def test_exact_means_are_those_of_evaluate() -> None:
    qrels, run = qrels_dict(hpo_qrels("en.bm25")), run_dict(hpo_run("en.bm25"))
    pairs = {"nDCG@10": "nDCG@10", "AP": "AP", "Success@5": "Hit@5", "Bpref": "bpref", "P(rel=2)@5": "P(rel=2)@5"}
    measures = [of_ir_measures(text) for text in pairs]
    found = DeadheatProvider(ties="expected").calc_aggregate(measures, qrels, run)
    means = dh.evaluate(qrels, run, list(pairs.values())).means()
    assert {pairs[str(measure)]: value for measure, value in found.items()} == pytest.approx(means, abs=1e-12)
