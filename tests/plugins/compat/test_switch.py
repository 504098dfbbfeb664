"""Programs run by python -m deadheat.compat, or after install(), keep their numbers until a tie policy is chosen."""

import math
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from math import log2
from pathlib import Path
from types import SimpleNamespace

import pytest

import deadheat as dh
from deadheat import RR
from deadheat.plugins.compat.evaluating import Evaluator, Tally
from support.numbers_in_text import numbers_in
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


ALL = """\
import ir_measures
from ir_measures import *
from ir_measures.util import QrelsConverter
import pytrec_eval
qrels = {str(q): {f"d{n * q % 7}": n % 3 for n in range(5)} for q in range(1, 9)}
run = {str(q): {f"d{n}": float(n % 3) for n in range(7)} for q in range(1, 9)}
measures = [RR, RR @ 10, nDCG @ 3, AP, Judged @ 2, Accuracy, Compat, P @ 1]
print(sorted(map(repr, ir_measures.iter_calc(measures, qrels, run))))
for measure in measures:
    print(measure, ir_measures.calc_aggregate([measure], QrelsConverter(qrels).as_namedtuple_iter(), run))
print(pytrec_eval.RelevanceEvaluator(qrels, {"map", "P"}).evaluate(run))
"""
RANX = """\
from ranx import Run, evaluate
run = {"q": {"a": 0.5, "b": 0.5}, "r": {"a": 0.5}}
print(evaluate({"q": {"a": 1}, "r": {"a": 1}}, run, "mrr"), evaluate.__name__)
"""
STAND_IN = """\
class Run:
    pass

def evaluate(qrels, run, metrics, return_mean=True):
    return "as ranx"
"""


def python(folder: Path, *arguments: str, ties: str | None = None) -> str:
    return finished(folder, *arguments, ties=ties)[0]


def finished(folder: Path, *arguments: str, ties: str | None = None) -> tuple[str, str]:
    """Run Python, and return what it writes on standard output and standard error."""
    import os

    environment = {name: value for name, value in os.environ.items() if name != "DEADHEAT_TIES"}
    environment |= {} if ties is None else {"DEADHEAT_TIES": ties}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def saved(folder: Path, text: str) -> str:
    (folder / "program.py").write_text(text, encoding="utf-8")
    return "program.py"


@pytest.mark.slow
def test_the_example_of_pytrec_evals_readme(tmp_path: Path) -> None:
    pytest.importorskip("pytrec_eval")
    program = saved(tmp_path, README)
    found = python(tmp_path, "-m", "deadheat.compat", program)
    assert '"map": 0.3333333333333333' in found
    assert found == python(tmp_path, program)


@pytest.mark.slow
def test_ties_are_averaged_when_the_environment_asks(tmp_path: Path) -> None:
    program = saved(tmp_path, TIED)
    run = ("-m", "deadheat.compat", program, "-x", "y")
    assert python(tmp_path, *run) == "{'q': {'recip_rank': 0.5}} ['-x', 'y'] __main__\n"
    assert python(tmp_path, *run, ties="expected") == "{'q': {'recip_rank': 0.75}} ['-x', 'y'] __main__\n"


@pytest.mark.slow
def test_a_program_without_pytrec_eval_installed(tmp_path: Path) -> None:
    block = "import sys\nsys.modules['pytrec_eval_ext'] = None\n"
    assert "0.75" in python(tmp_path, "-m", "deadheat.compat", saved(tmp_path, block + TIED), ties="expected")


@pytest.mark.slow
def test_ir_measures_keeps_its_numbers_until_ties_are_chosen(tmp_path: Path) -> None:
    pytest.importorskip("pytrec_eval")
    program, switch = saved(tmp_path, IR_MEASURES), ("-m", "deadheat.compat")
    assert python(tmp_path, program) == python(tmp_path, *switch, program) == "{RR: 0.5}\n"
    assert python(tmp_path, *switch, program, ties="expected") == "{RR: 0.75}\n"
    assert python(tmp_path, *switch, "--ties", "expected", program) == "{RR: 0.75}\n"
    assert python(tmp_path, *switch, "--ties=best", program, ties="expected") == "{RR: 1.0}\n"
    (tmp_path / "x.qrels").write_text("q 0 a 1\n", encoding="utf-8")
    (tmp_path / "x.run").write_text("q Q0 a 1 0.5 t\nq Q0 b 2 0.5 t\n", encoding="utf-8")
    command = ("x.qrels", "x.run", "RR", "P(rel=1)@1")
    for started in (["-m", "ir_measures"], [saved(tmp_path, COMMAND)]):
        assert python(tmp_path, *switch, *started, *command) == "RR\t0.5000\nP@1\t0.0000\n"
        assert python(tmp_path, *switch, "--ties", "expected", *started, *command) == "RR\t0.7500\nP@1\t0.5000\n"
        if not why_ir_measures_cannot_read():
            assert python(tmp_path, *started, *command) == "RR\t0.5000\nP@1\t0.0000\n"


@pytest.mark.slow
def test_the_command_of_ir_measures_prints_the_same_where_nothing_ties(tmp_path: Path) -> None:
    pytest.importorskip("ir_measures")
    (tmp_path / "x.qrels").write_text("q 0 a 1\nq 0 b 2\nq 0 c 0\n", encoding="utf-8")
    (tmp_path / "x.run").write_text("q Q0 c 1 0.9 t\nq Q0 b 2 0.5 t\nq Q0 a 3 0.4 t\n", encoding="utf-8")
    # in two calls: beside nDCG with gains, its lowest version may give plain nDCG the same gains, by the seed of hashes
    data, plain, with_gains = ("x.qrels", "x.run"), ("nDCG@10 AP(rel=2)", "P@2"), "nDCG(gains={1:2,2:5})@3"
    calls = [("-m", "ir_measures", *data, *plain), ("-m", "ir_measures", *data, with_gains)]
    found = [python(tmp_path, "-m", "deadheat.compat", *call) for call in calls]
    ideal, ideal_of_gains = 2 + 1 / log2(3), 5 + 2 / log2(3)
    assert "".join(found).split() == [
        *("nDCG@10", f"{(2 / log2(3) + 1 / 2) / ideal:.4f}", "AP(rel=2)", "0.5000", "P@2", "0.5000"),
        *(with_gains, f"{(5 / log2(3) + 2 / 2) / ideal_of_gains:.4f}"),
    ]
    if why := why_ir_measures_cannot_read():
        pytest.skip(why)
    assert found == [python(tmp_path, *call) for call in calls]


@pytest.mark.slow
def test_every_number_stays_and_one_line_says_what_ties_could_change(tmp_path: Path) -> None:
    pytest.importorskip("pytrec_eval")
    program = saved(tmp_path, ALL)
    found, said = finished(tmp_path, "-m", "deadheat.compat", program)
    assert found == python(tmp_path, program)
    n_open = sum(
        not math.isclose(low, high, abs_tol=1e-12) for low, high, times in extremes_of_all() for _ in range(times)
    )
    assert numbers_in(said) == [n_open, 208]
    assert "; DEADHEAT_TIES=expected " in said
    assert finished(tmp_path, "-m", "deadheat.compat", "--ties", "expected", program)[1] == ""


def extremes_of_all() -> Iterator[tuple[float, float, int]]:
    """Yield lowest and highest value of each query and measure of the program above, and how often it is computed."""
    qrels = {str(q): {f"d{n * q % 7}": n % 3 for n in range(5)} for q in range(1, 9)}
    run = {str(q): {f"d{n}": float(n % 3) for n in range(7)} for q in range(1, 9)}
    cuts = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
    names = {"RR": 2, "RR@10": 2, "nDCG@3": 2, "AP": 3, "Judged@2": 2, "Accuracy": 2, "Compat": 2, "P@1": 2}
    names |= {f"P@{k}": 1 for k in cuts}
    evaluation = dh.evaluate(qrels, run, list(names))
    for name, times in names.items():
        scores = evaluation[name]
        for low, high in zip(scores.tie_min.tolist(), scores.tie_max.tolist(), strict=True):
            yield low, high, times


@pytest.mark.slow
def test_the_line_of_a_program_without_ties_and_of_data_that_deadheat_refuses(tmp_path: Path) -> None:
    pytest.importorskip("pytrec_eval")
    switch = ("-m", "deadheat.compat")
    untied = IR_MEASURES.replace('"b": 0.5', '"b": 0.25')
    found, said = finished(tmp_path, *switch, saved(tmp_path, untied))
    assert found == "{RR: 1.0}\n"
    assert numbers_in(said) == [0, 1]
    assert "DEADHEAT_TIES" not in said
    odd = untied.replace("0.5", "float('nan')").replace("[RR]", "[RR @ 10]")
    found, said = finished(tmp_path, *switch, saved(tmp_path, odd))
    assert found == python(tmp_path, "program.py")
    assert numbers_in(said) == [0, 0, 1]  # values, of all, and evaluations of which it is unknown
    assert said.endswith("unknown\n")
    assert finished(tmp_path, *switch, saved(tmp_path, "print(1)")) == ("1\n", "")


@pytest.mark.slow
def test_what_stands_in_for_a_tool_is_counted_too(tmp_path: Path) -> None:
    program = """\
import sys
sys.modules["cwl"] = None
import ir_measures
print(ir_measures.calc_aggregate([ir_measures.SDCG(max_rel=1) @ 1], {"q": {"a": 1}}, {"q": {"b": 0.5, "a": 0.5}}))
"""
    found, said = finished(tmp_path, "-m", "deadheat.compat", saved(tmp_path, program))
    assert found == "{SDCG(max_rel=1)@1: 0.0}\n"
    assert numbers_in(said)[:2] == [1, 1]


def test_a_notebook_says_it_after_each_cell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said_after = []
    events = SimpleNamespace(register=lambda name, function: said_after.append((name, function)))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace(events=events)))
    tally = Tally()
    tally.start()
    tally.start()
    [(name, say)] = said_after
    evaluator = Evaluator({"q": {"a": 1}}, {"RR": RR()}, ties="doc_id", judged_only=False)
    tally.add(lambda: ([evaluator], {"q": {"a": 1.0, "b": 1.0}}))
    for _ in range(2):
        say(None)
    assert name == "post_run_cell"
    assert capsys.readouterr().err.count(" 1 of 1 value;") == 1


@pytest.mark.slow
def test_ranx_is_asked_itself_until_ties_are_chosen(tmp_path: Path) -> None:
    (tmp_path / "ranx").mkdir()
    (tmp_path / "ranx" / "__init__.py").write_text(STAND_IN, encoding="utf-8")
    program, switch = saved(tmp_path, RANX), ("-m", "deadheat.compat")
    found, said = finished(tmp_path, *switch, program)
    assert found == "as ranx evaluate\n"
    assert numbers_in(said)[:2] == [1, 2]
    assert python(tmp_path, *switch, program, ties="expected") == "0.875 evaluate\n"
    lines = ["import ranx", RANX, "import deadheat.compat", "deadheat.compat.install('expected')"]
    lines += ["print(evaluate is not ranx.evaluate, ranx.evaluate({'q': {'a': 1}}, {'q': run['q']}, 'mrr'))"]
    assert python(tmp_path, saved(tmp_path, "\n".join(lines))).splitlines()[1] == "False 0.75"


@pytest.mark.slow
@pytest.mark.parametrize("before", ["import pytrec_eval", "from pytrec_eval import RelevanceEvaluator"])
def test_install_reaches_modules_that_were_imported_before(before: str, tmp_path: Path) -> None:
    pytest.importorskip("pytrec_eval")
    (tmp_path / "library.py").write_text(f"{before}\n", encoding="utf-8")
    evaluator = "library." + ("pytrec_eval." if before.startswith("import") else "") + "RelevanceEvaluator"
    lines = [
        "import library, pytrec_eval, ir_measures, deadheat.compat",
        "deadheat.compat.install()",
        "deadheat.compat.install(ties='expected')",
        "tied = {'q': {'a': 0.5, 'b': 0.5}}",
        f"print({evaluator}({{'q': {{'a': 1}}}}, {{'recip_rank'}}).evaluate(tied))",
        "print(pytrec_eval.RelevanceEvaluator.__module__)",
        "print(ir_measures.calc_aggregate([ir_measures.RR], {'q': {'a': 1}}, tied))",
        "print(sum(one.NAME == 'deadheat' for one in ir_measures.DefaultPipeline.providers))",
    ]
    found = python(tmp_path, saved(tmp_path, "\n".join(lines)))
    assert found == "{'q': {'recip_rank': 0.75}}\ndeadheat.plugins.compat.pytrec_eval\n{RR: 0.75}\n2\n"


@pytest.mark.parametrize(("package", "text"), [("beir", BEIR), ("mteb", MTEB)])
def test_evaluations_of_beir_and_mteb(package: str, text: str, tmp_path: Path) -> None:
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    program = saved(tmp_path, text)
    assert python(tmp_path, program) == "0.0\n"
    assert python(tmp_path, "-m", "deadheat.compat", program) == "0.0\n"
    assert python(tmp_path, "-m", "deadheat.compat", program, ties="expected") == "0.5\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        *(((), 2), (("--help",), 0), (("no.py",), 1), (("-m",), 1), (("--ties",), 1), (("--ties", "best"), 1)),
        *((("--ties=best", "-m"), 1), (("--ties", "bst", "-m", "this"), 1)),
    ],
)
def test_usage(arguments: tuple[str, ...], code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "deadheat.compat", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert "python -m deadheat.compat" in done.stdout + done.stderr
