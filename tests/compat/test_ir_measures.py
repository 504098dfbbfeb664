"""ir_measures through the provider: its own numbers where no scores tie, exact means where some do."""

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
from support.shared_data import HPO_RUNS, hpo_qrels, hpo_run, needs_shared_data, qrels_dict, run_dict

pytest.importorskip("ir_measures")

import ir_measures

from deadheat.compat.ir_measures_provider import DeadheatProvider, register

TEXTS = [
    *("P@5", "P(rel=2)@10", "P(judged_only=True)@5", "RR", "RR(rel=2)", "Rprec", "AP", "AP(rel=2)@10"),
    *("nDCG", "nDCG@10", "nDCG(gains={1:2,2:5})@10", "nDCG(judged_only=True)@10", "R@10", "R(rel=2)@100"),
    *("Bpref", "Bpref(rel=2)", "NumRet", "NumRet(rel=1)", "NumQ", "NumRel", "SetF", "SetF(beta=2.0)", "SetP"),
    *("SetP(rel=2)", "SetR", "Success@1", "Success(rel=2)@10", "SetAP", "SetP(relative=True)", "IPrec@0.1"),
    *("IPrec@0.5", "Judged@10", "AP(judged_only=True)", "infAP"),
]


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


@needs_shared_data
@pytest.mark.parametrize("name", HPO_RUNS)
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


def test_the_pipeline_has_it_first_and_computes_exact_means(ours: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401 - a module
    assert ir_measures.DefaultPipeline.providers[0].NAME == "deadheat"
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}
    assert ir_measures.calc_aggregate([ir_measures.RR], qrels, run) == {ir_measures.RR: 0.75}
    assert ours.calc_aggregate([ours.RR, ours.P @ 1], qrels, run) == {ours.RR: 0.75, ours.P @ 1: 0.5}
    monkeypatch.setenv("DEADHEAT_TIES", "doc_id")
    assert ir_measures.calc_aggregate([ir_measures.RR], qrels, run) == {ir_measures.RR: 0.5}


@pytest.mark.usefixtures("ours")
def test_what_deadheat_lacks_is_computed_as_before() -> None:
    own = ir_measures.define_byquery(lambda _, run: len(run), name="Mine")
    result = ir_measures.calc_aggregate([own, ir_measures.AP], {"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}})
    assert result == {own: 2, ir_measures.AP: 0.75}
    assert not DeadheatProvider().supports(ir_measures.alpha_nDCG @ 5)
    assert not DeadheatProvider().supports(ir_measures.RBP)  # graded, and no provider says what its gains are


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


@needs_shared_data
def test_exact_means_are_those_of_evaluate(ours: Any) -> None:  # noqa: ANN401 - a module
    qrels, run = qrels_dict(hpo_qrels("en.bm25")), run_dict(hpo_run("en.bm25"))
    pairs = {"nDCG@10": "nDCG@10", "AP": "AP", "Success@5": "Hit@5", "Bpref": "bpref", "P(rel=2)@5": "P(rel=2)@5"}
    found = ours.calc_aggregate([of_ir_measures(text) for text in pairs], qrels, run)
    means = dh.evaluate(qrels, run, list(pairs.values())).means()
    assert {pairs[str(measure)]: value for measure, value in found.items()} == pytest.approx(means, abs=1e-12)
