"""action.yml and .pre-commit-hooks.yaml: their steps run here as they do in a build of somebody else's repository."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import deadheat as dh
from support.paths import ROOT

yaml = pytest.importorskip("yaml")
pytestmark = pytest.mark.skipif(sys.platform == "win32" or shutil.which("bash") is None, reason="no bash")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
QUERIES = [f"q{number}" for number in range(30)]
QRELS = {query: [f"d-{query}"] for query in QUERIES}
GOOD = {query: {f"d-{query}": 2, "other": 1} for query in QUERIES}
LOST = {query: {f"d-{query}": 1, "other": 2} for query in QUERIES}
Action = Callable[..., tuple[int, str]]


def fill_in(text: str, values: dict[str, str]) -> str:
    """Return a text with the values of its expressions."""
    return re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda found: values[found[1]], text)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with judgments, runs and a baseline, where nothing is installed."""
    programs = tmp_path / "bin"
    programs.mkdir()
    calls = {
        "deadheat": f'exec {shlex.quote(sys.executable)} -W ignore -m deadheat "$@"',
        "python": (
            f'[ "$1 $2" != "-m pip" ] || {{ echo "$*" >> pip.txt; exit; }}; exec {shlex.quote(sys.executable)} "$@"'
        ),
    }
    for name, script in calls.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output.txt"))
    for name, content in {"gold": QRELS, "good run": GOOD, "lost": LOST}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    dh.evaluate(QRELS, GOOD, ["RR"]).save(tmp_path / "baseline.json")
    return tmp_path


@pytest.fixture
def act(folder: Path) -> Action:
    """Return a function that runs the steps of the action with inputs; it returns an exit code and the log."""

    def run_steps(**inputs: str) -> tuple[int, str]:
        given = {name: str(description.get("default", "")) for name, description in ACTION["inputs"].items()}
        values = {f"inputs.{name}": text for name, text in (given | inputs).items()}
        values["github.action_path"] = str(ROOT)
        code, log = 0, ""
        for step in ACTION["runs"]["steps"]:
            condition = step.get("if", "success()")
            if "run" not in step or (code and "always()" not in condition):
                continue
            if "inputs.page != ''" in condition and not values["inputs.page"]:
                continue
            if "outputs.passed != ''" in condition and not values.get("steps.gates.outputs.passed"):
                continue
            environment = {name: fill_in(text, values) for name, text in step.get("env", {}).items()}
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=folder,
                env={**os.environ, **environment},
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
            code = code or done.returncode
            log += done.stdout + done.stderr
            output = folder / "output.txt"
            if step.get("id") == "gates" and output.is_file():
                values["steps.gates.outputs.passed"] = output.read_text().strip().partition("=")[2]
        return code, log

    return run_steps


def test_the_action_has_the_form_that_github_reads() -> None:
    assert set(ACTION) == {"name", "description", "branding", "inputs", "outputs", "runs"}
    assert ACTION["runs"]["using"] == "composite"
    for step in ACTION["runs"]["steps"]:
        assert ("run" in step) != ("uses" in step)
        assert ("run" in step) == (step.get("shell") == "bash")
        assert "${{" not in step.get("run", ""), "what somebody else writes is no code"
    for description in ACTION["inputs"].values():
        assert description["description"]


@pytest.mark.slow
def test_a_planted_loss_goes_red(act: Action, folder: Path) -> None:
    code, log = act(
        qrels="gold.json", runs="good run.json\n  lost.json \n", checks="RR >= 0.9", baseline="baseline.json"
    )
    assert code == 1
    annotated = [line for line in log.splitlines() if line.startswith("::error ")]
    assert len(annotated) == 2  # the threshold and the baseline
    assert all(line.startswith("::error title=deadheat gate::lost.json: ") for line in annotated)
    assert not any(" :" in line for line in annotated)
    summary = (folder / "summary.md").read_text(encoding="utf-8")
    assert summary.count("RR >= 0.9") == 2  # a table for each run
    assert "<html" in (folder / "deadheat.html").read_text(encoding="utf-8")
    assert (folder / "pip.txt").read_text() == f"-m pip install --quiet {ROOT}[figures]\n"


@pytest.mark.slow
def test_new_judgments_alone_stay_green(act: Action, folder: Path) -> None:
    """They change the value of the run, and of the baseline with it."""
    harder = {query: ["other"] for query in QUERIES[:20]} | {query: QRELS[query] for query in QUERIES[20:]}
    (folder / "gold.json").write_text(json.dumps(harder))
    code, log = act(qrels="gold.json", runs="good run.json", baseline="baseline.json", page="")
    assert code == 0, log
    assert "::error" not in log
    assert not (folder / "deadheat.html").exists()


@pytest.mark.slow
def test_what_cannot_be_read_is_red_and_says_so(act: Action) -> None:
    code, log = act(qrels="absent.json", runs="good run.json", checks="RR >= 0.9", page="")
    assert code == 3
    assert "absent.json" in log


def test_no_run_is_red(act: Action) -> None:
    code, log = act(qrels="gold.json", runs=" \n", checks="RR >= 0.9")
    assert code == 2
    (said,) = log.splitlines()  # and no second error, of the page
    assert "runs is empty" in said


@pytest.mark.parametrize(("case", "code"), [('{"text": "a cough", "expected_ids": ["x"]}', 0), ('{"text": 1}', 3)])
def test_the_hook_refuses_cases_that_cannot_be_used(folder: Path, case: str, code: int) -> None:
    pytest.importorskip("jsonschema")
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert f"`{hook['id']}`" in (ROOT / "docs" / "bench.md").read_text(encoding="utf-8")
    assert re.search(hook["files"], "data/cases.json")
    assert not re.search(hook["files"], "data/run.json")
    (folder / "cases.json").write_text(f"[{case}]")
    done = subprocess.run([*shlex.split(hook["entry"]), "cases.json"], cwd=folder, capture_output=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
