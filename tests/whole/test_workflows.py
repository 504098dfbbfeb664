"""Recipes for schedulers and GitHub: their form is right, and their steps run, with stand-ins for what is not here."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import deadheat as dh
from support.command import command
from support.pages import ANY
from support.paths import ROOT

yaml = pytest.importorskip("yaml")
DOCS = ROOT / "docs"
SHOWN = {
    f"{path.relative_to(ROOT)}#{n}": block
    for path in sorted(DOCS.rglob("*.md"))
    for n, block in enumerate(
        re.findall(r"^```(?:\{code-block\} )?yaml\n(.*?)^```$", path.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    )
}
SHOWN = {name: re.sub(r"^:caption: .*\n", "", block) for name, block in SHOWN.items() if "runs-on" in block}
OWN = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")
}
FILES = SHOWN | OWN
CRON = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
QRELS, RUN = {"q1": ["a"], "q2": ["b"]}, {"q1": {"a": 1, "b": 1}, "q2": {"b": 2, "a": 1}}
OPTIONS_OF_GH = {"--body-file", "--edit-last", "--create-if-none"}  # of gh pr comment
needs_bash = pytest.mark.skipif(sys.platform == "win32" or shutil.which("bash") is None, reason="no bash")


def steps_of(text: str) -> list[dict[str, Any]]:
    return [step for job in yaml.safe_load(text)["jobs"].values() for step in job["steps"]]


def check_schedule(fields: str) -> None:
    parts = fields.split()
    assert len(parts) == 5, fields
    for part, (low, high) in zip(parts, CRON, strict=True):
        assert re.fullmatch(r"(\*|\d+(-\d+)?)(/\d+)?(,\d+)*", part), part
        assert all(low <= int(number) <= high for number in re.findall(r"\d+", part.partition("/")[0]))


def test_pages_show_workflows() -> None:
    assert len(SHOWN) >= 2


@pytest.mark.parametrize("name", FILES)
def test_a_workflow_has_the_form_that_github_reads(name: str) -> None:
    """Those parts of its schema that we use."""
    workflow = yaml.safe_load(FILES[name])
    events = workflow[True]  # YAML 1.1 takes `on` for true
    assert set(workflow) <= {True, "name", "permissions", "concurrency", "env", "jobs"}
    for one in events.get("schedule", []) if isinstance(events, dict) else []:
        check_schedule(one["cron"])
    for job in workflow["jobs"].values():
        assert set(job) <= {"name", "needs", "if", "runs-on", "strategy", "timeout-minutes", "env", "steps"}
        assert job["runs-on"]
        for step in job["steps"]:
            assert set(step) <= {"name", "id", "if", "uses", "with", "run", "env", "shell", "working-directory"}
            assert ("uses" in step) != ("run" in step)
            assert re.fullmatch(r"[\w-]+/[\w./-]+@v\d+", step.get("uses", "a/b@v1"))
            assert "with" not in step or "uses" in step
    assert FILES[name].count("${{") == len(re.findall(r"\$\{\{ [\w.=<>!' ()-]+ \}\}", FILES[name]))


@pytest.mark.parametrize("name", FILES)
def test_calls_of_deadheat_in_a_workflow_have_options_that_exist(name: str) -> None:
    for step in steps_of(FILES[name]):
        for line in step.get("run", "").splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["deadheat"]:
                known = {flag for one in command(words[1]).params for flag in (*one.opts, *one.secondary_opts)}
                assert {word for word in words if word.startswith("-")} <= known


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with judgments, where `deadheat` is this one, and `pip` and `gh` do nothing but take notes."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, does in (
        ("deadheat", f'exec {shlex.quote(sys.executable)} -W ignore -m deadheat "$@"'),
        ("python", f'exec {shlex.quote(sys.executable)} "$@"'),
        ("pip", 'echo "pip $*" >> notes.txt'),
        ("gh", 'printf "%s\\n" "$@" > gh.txt'),
    ):
        (programs / name).write_text(f"#!/bin/sh\n{does}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    (tmp_path / "gold.json").write_text(json.dumps(QRELS))
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    return tmp_path


def bash(script: str, folder: Path) -> None:
    subprocess.run(["bash", "-e", "-c", script], cwd=folder, check=True)


@needs_bash
@pytest.mark.slow
def test_the_line_for_cron_keeps_a_history(here: Path) -> None:
    (line,) = re.findall(
        r"^```text\n([\d*].* deadheat .*)\n```$", (DOCS / "guide/weeks.md").read_text("utf-8"), re.MULTILINE
    )
    schedule, script = re.split("  +", line, maxsplit=1)
    check_schedule(schedule)
    assert "%" not in script  # a line end to cron
    (here / "search-all").write_text("#!/bin/sh\necho run.json\n")
    (here / "search-all").chmod(0o755)
    for n in (1, 2):
        bash(script.replace("cd /srv/search", f"cd {shlex.quote(str(here))}"), here)
        assert len(list((here / "weeks").iterdir())) == n
    rows = [json.loads(one) for one in (here / "trend.jsonl").read_text("utf-8").splitlines()]
    assert len({row["time"] for row in rows}) == 2


@needs_bash
@pytest.mark.slow
def test_the_nightly_workflow_keeps_a_history(here: Path) -> None:
    (text,) = (text for name, text in SHOWN.items() if "weeks" in name)
    (here / "search_all.py").write_text("import sys; assert sys.argv[1:] == ['gold.json', 'run.json']")
    for step in steps_of(text):
        bash(step.get("run", "true"), here)
    (kept,) = (step["with"]["path"] for step in steps_of(text) if "upload-artifact" in step.get("uses", ""))
    assert len(dh.history(here / kept).steps) == 1
    assert "nDCG@10" in (here / "summary.md").read_text("utf-8")
    assert (here / "notes.txt").read_text("utf-8") == "pip install ./deadheat\n"


@needs_bash
@pytest.mark.parametrize(("relevant", "code"), [("a", 0), ("z", 1)])
def test_the_hook_of_pre_commit_lets_a_good_run_pass(here: Path, relevant: str, code: int) -> None:
    page = (DOCS / "guide/gate.md").read_text("utf-8")
    (text,) = re.findall(r"^```yaml\n(repos:.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (hook,) = (hook for repo in yaml.safe_load(text)["repos"] for hook in repo["hooks"])
    assert set(hook) == {"id", "name", "entry", "language", "pass_filenames", "files"}
    assert [bool(re.search(hook["files"], name)) for name in ("gold.json", "run.json", "a.py")] == [True, True, False]
    (here / "gold.json").write_text(json.dumps({"q1": [relevant]}))
    assert subprocess.run(shlex.split(hook["entry"]), cwd=here, check=False).returncode == code


@needs_bash
def test_the_step_that_comments_calls_gh_as_it_wants_to_be_called(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (DOCS / "for/rag.md").read_text("utf-8")
    (text,) = (found["code"] for found in ANY.finditer(page) if (found["name"] or "").startswith(".github/workflows/"))
    (step,) = (step for step in steps_of(text) if "gh " in step.get("run", ""))
    assert set(step["env"]) == {"GH_TOKEN", "PR"}  # of which gh reads the first
    assert yaml.safe_load(text)["permissions"]["pull-requests"] == "write"
    monkeypatch.setenv("PR", "7")
    bash(step["run"], here)
    words = (here / "gh.txt").read_text("utf-8").splitlines()
    assert words[:3] == ["pr", "comment", "7"]
    assert {word for word in words if word.startswith("-")} <= OPTIONS_OF_GH
    written = [one["run"] for one in steps_of(text) if f"-o {words[-1]}" in one.get("run", "")]
    assert words[-2] == "--body-file"
    assert len(written) == 1
    assert "always()" in step["if"]  # also where a gate failed
