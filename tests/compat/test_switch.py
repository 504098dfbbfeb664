"""Unmodified programs, run by python -m deadheat.compat or after install(), get the values of deadheat."""

import subprocess
import sys
from importlib.util import find_spec
from math import log2
from pathlib import Path

import pytest

from support.other_tools import why_ir_measures_cannot_read

README = """\
import pytrec_eval
import json

qrel = {
    'q1': {
        'd1': 0,
        'd2': 1,
        'd3': 0,
    },
    'q2': {
        'd2': 1,
        'd3': 1,
    },
}

run = {
    'q1': {
        'd1': 1.0,
        'd2': 0.0,
        'd3': 1.5,
    },
    'q2': {
        'd1': 1.5,
        'd2': 0.2,
        'd3': 0.5,
    }
}

evaluator = pytrec_eval.RelevanceEvaluator(
    qrel, {'map', 'ndcg'})

print(json.dumps(evaluator.evaluate(run), indent=1))
"""
TIED = """\
from pytrec_eval import RelevanceEvaluator, parse_run
import sys
qrels = {"q": {"a": 1}}
print(RelevanceEvaluator(qrels, {"recip_rank"}).evaluate({"q": {"a": 0.5, "b": 0.5}}), sys.argv[1:], __name__)
"""
IR_MEASURES = """\
import ir_measures
from ir_measures import RR, nDCG
qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}
print(ir_measures.calc_aggregate([RR], qrels, run))
"""
COMMAND = """\
import sys
from ir_measures.__main__ import main_cli
if __name__ == "__main__":
    sys.exit(main_cli())
"""
BEIR = """\
from beir.retrieval.evaluation import EvaluateRetrieval
qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}
print(EvaluateRetrieval.evaluate(qrels, run, [1, 10])[0]["NDCG@1"])
"""

MTEB = """\
from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores
qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}
print(calculate_retrieval_scores(run, qrels, [1, 10]).ndcg["NDCG@1"])
"""


def python(folder: Path, *arguments: str, ties: str | None = None) -> str:
    import os

    environment = {name: value for name, value in os.environ.items() if name != "DEADHEAT_TIES"}
    environment |= {} if ties is None else {"DEADHEAT_TIES": ties}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def saved(folder: Path, text: str) -> str:
    (folder / "program.py").write_text(text, encoding="utf-8")
    return "program.py"


def test_the_example_of_pytrec_evals_readme(tmp_path: Path) -> None:
    pytest.importorskip("pytrec_eval")
    program = saved(tmp_path, README)
    found = python(tmp_path, "-m", "deadheat.compat", program)
    assert '"map": 0.3333333333333333' in found
    assert found == python(tmp_path, program)


def test_ties_are_averaged_when_the_environment_asks(tmp_path: Path) -> None:
    program = saved(tmp_path, TIED)
    run = ("-m", "deadheat.compat", program, "-x", "y")
    assert python(tmp_path, *run) == "{'q': {'recip_rank': 0.5}} ['-x', 'y'] __main__\n"
    assert python(tmp_path, *run, ties="expected") == "{'q': {'recip_rank': 0.75}} ['-x', 'y'] __main__\n"


def test_a_program_without_pytrec_eval_installed(tmp_path: Path) -> None:
    block = "import sys\nsys.modules['pytrec_eval_ext'] = None\n"
    assert "0.75" in python(tmp_path, "-m", "deadheat.compat", saved(tmp_path, block + TIED), ties="expected")


def test_ir_measures_is_computed_by_deadheat(tmp_path: Path) -> None:
    pytest.importorskip("pytrec_eval")
    program = saved(tmp_path, IR_MEASURES)
    assert python(tmp_path, program) == "{RR: 0.5}\n"
    assert python(tmp_path, "-m", "deadheat.compat", program) == "{RR: 0.75}\n"
    (tmp_path / "x.qrels").write_text("q 0 a 1\n", encoding="utf-8")
    (tmp_path / "x.run").write_text("q Q0 a 1 0.5 t\nq Q0 b 2 0.5 t\n", encoding="utf-8")
    command = ("x.qrels", "x.run", "RR", "P(rel=1)@1")
    for started in (["-m", "ir_measures"], [saved(tmp_path, COMMAND)]):
        assert python(tmp_path, "-m", "deadheat.compat", *started, *command) == "RR\t0.7500\nP@1\t0.5000\n"


def test_the_command_of_ir_measures_prints_the_same_where_nothing_ties(tmp_path: Path) -> None:
    pytest.importorskip("ir_measures")
    (tmp_path / "x.qrels").write_text("q 0 a 1\nq 0 b 2\nq 0 c 0\n", encoding="utf-8")
    (tmp_path / "x.run").write_text("q Q0 c 1 0.9 t\nq Q0 b 2 0.5 t\nq Q0 a 3 0.4 t\n", encoding="utf-8")
    command = ("-m", "ir_measures", "x.qrels", "x.run", "nDCG@10 AP(rel=2)", "P@2", "nDCG(gains={1:2,2:5})@3")
    found = python(tmp_path, "-m", "deadheat.compat", *command)
    ideal, ideal_of_gains = 2 + 1 / log2(3), 5 + 2 / log2(3)
    assert found.split() == [
        *("nDCG@10", f"{(2 / log2(3) + 1 / 2) / ideal:.4f}", "AP(rel=2)", "0.5000", "P@2", "0.5000"),
        *("nDCG(gains={1:2,2:5})@3", f"{(5 / log2(3) + 2 / 2) / ideal_of_gains:.4f}"),
    ]
    if why := why_ir_measures_cannot_read():
        pytest.skip(why)
    assert found == python(tmp_path, *command)


@pytest.mark.parametrize("before", ["import pytrec_eval", "from pytrec_eval import RelevanceEvaluator"])
def test_install_reaches_modules_that_were_imported_before(before: str, tmp_path: Path) -> None:
    pytest.importorskip("pytrec_eval")
    (tmp_path / "library.py").write_text(f"{before}\n", encoding="utf-8")
    evaluator = "library." + ("pytrec_eval." if before.startswith("import") else "") + "RelevanceEvaluator"
    lines = [
        "import library, pytrec_eval, ir_measures, deadheat.compat",
        "deadheat.compat.install()",
        "deadheat.compat.install()",
        "tied = {'q': {'a': 0.5, 'b': 0.5}}",
        f"print({evaluator}({{'q': {{'a': 1}}}}, {{'recip_rank'}}).evaluate(tied))",
        "print(pytrec_eval.RelevanceEvaluator.__module__)",
        "print(ir_measures.calc_aggregate([ir_measures.RR], {'q': {'a': 1}}, tied))",
        "print(sum(one.NAME == 'deadheat' for one in ir_measures.DefaultPipeline.providers))",
    ]
    found = python(tmp_path, saved(tmp_path, "\n".join(lines)), ties="expected")
    assert found == "{'q': {'recip_rank': 0.75}}\ndeadheat.compat.pytrec_eval\n{RR: 0.75}\n1\n"


@pytest.mark.parametrize(("package", "text"), [("beir", BEIR), ("mteb", MTEB)])
def test_evaluations_of_beir_and_mteb(package: str, text: str, tmp_path: Path) -> None:
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    program = saved(tmp_path, text)
    assert python(tmp_path, program) == "0.0\n"
    assert python(tmp_path, "-m", "deadheat.compat", program) == "0.0\n"
    assert python(tmp_path, "-m", "deadheat.compat", program, ties="expected") == "0.5\n"


@pytest.mark.parametrize(("arguments", "code"), [((), 2), (("--help",), 0), (("no.py",), 1), (("-m",), 1)])
def test_usage(arguments: tuple[str, ...], code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "deadheat.compat", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert "python -m deadheat.compat" in done.stdout + done.stderr
