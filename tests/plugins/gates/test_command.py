"""deadheat gate: what it prints in each format, and with which exit code."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

import deadheat as dh
from deadheat.plugins.gates.formats import as_junit
from deadheat.plugins.gates.notation import PRESETS
from deadheat.plugins.gates.report import report_gate
from support.command import call, facts_of, ok
from support.numbers_in_text import numbers_in
from support.shared_data import llm_qrels, llm_run, needs_shared_data

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

QRELS = "".join(f"q{n} 0 a 1\n" for n in range(12))
RUNS = {  # the relevant document first, tied with another, or second
    "best": "".join(f"q{n} Q0 a 1 2 t\nq{n} Q0 b 2 1 t\n" for n in range(12)),
    "tied": "".join(f"q{n} Q0 a 1 1 t\nq{n} Q0 b 2 1 t\n" for n in range(12)),
    "some": "".join(f"q{n} Q0 a 1 {n} t\nq{n} Q0 b 2 1 t\n" for n in range(12)),
}
AGAINST_BEST = ("results/tied.json", "--baseline", "results/best.json")
PYPROJECT = """[tool.deadheat.gates]
checks = ["RR > 0.7", "tie_min(RR) >= 0.6"]
"""


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of judgments, runs and saved evaluations, which each test has a copy of."""
    folder = tmp_path_factory.mktemp("evaluated")
    (folder / "qrels.txt").write_text(QRELS)
    for name, text in RUNS.items():
        (folder / f"{name}.run").write_text(text)
        evaluation = dh.evaluate(folder / "qrels.txt", folder / f"{name}.run", ["RR", "P@1", "MR"])
        evaluation.save(folder / "results" / f"{name}.json")
    (folder / "results" / "old.parquet").touch()
    return folder


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, evaluated: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(evaluated, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def failed(*arguments: object) -> str:
    result = call("gate", *arguments)
    assert result.exit_code == 1, result.output
    assert not result.stderr
    return result.stdout


def refused(code: int, *arguments: object) -> str:
    result: Result = call("gate", *arguments)
    assert result.exit_code == code, result.output
    assert not result.stdout
    return result.stderr


BCA = ("--ci-method", "bca")


def test_a_table_of_gates() -> None:
    gates = ("results/tied.json", "-c", "RR >= 0.75", "-c", "tie_min(RR) > 0.5", "-c", "low(RR) > .7", *BCA)
    out = failed(*gates, "--full")
    assert out.splitlines()[:8] == [
        "tied: 2 of 3 gates failed",
        "",
        "gate                 value  threshold  at best  queries  result",
        "───────────────────────────────────────────────────────────────",
        "RR >= 0.75          0.7500     0.7500   1.0000       12  passed",
        "tie_min(RR) > 0.5   0.5000     0.5000   1.0000       12  failed",
        "low(RR) > 0.7       0.7500     0.7000   1.0000       12  failed",
        "",
    ]
    facts = facts_of("gate", *gates, "--full", exit_code=1)
    named = [line.partition(": ")[0] for line in facts["note"].splitlines()]
    assert named == ["tie_min(RR) > 0.5", "low(RR) > 0.7"]
    assert facts["queries"] == "12"
    assert facts["ties"].startswith("expected: ")
    assert facts["intervals"].startswith("95%, BCa bootstrap over queries")
    assert numbers_in(facts["intervals"])[:2] == [0.95, 10_000]
    assert "interval" in facts["at best"]
    out = ok("gate", "results/tied.json", "-c", "low(RR) > .7", "--allow-unknown", *BCA)
    assert out.partition("\n")[0].endswith(", 1 of which proves nothing")


def test_all_passed() -> None:
    out = ok("gate", "results/best.json", "-c", "RR >= 1")
    assert out.startswith("best: 1 gate passed\n")
    assert "failed" not in out
    assert "intervals" not in out


def test_qrels_and_run_are_evaluated_with_the_measures_of_the_gates() -> None:
    out = failed("qrels.txt", "tied.run", "-c", "P@1 < 0.4", "-c", "low(nDCG@3) > 0", "-c", "mean(P@1) <= .5")
    assert re.search(r"^P@1 < 0\.4 +0\.5000 +0\.4000 +1\.0000 +12  failed$", out, re.MULTILINE)
    facts = facts_of("gate", "qrels.txt", "tied.run", "-c", "RR >= 1", "--ties", "best", "--full")
    assert facts["ties"].startswith("best: ")


def test_missing_queries_are_told(folder: Path) -> None:
    (folder / "part.run").write_text("q1 Q0 a 1 1 t\nq99 Q0 a 1 1 t\n")
    facts = facts_of("gate", "qrels.txt", "part.run", "-c", "RR > 0")
    assert facts["missing queries"].startswith("11 (q0, q10, q11 and 8 more), ")
    assert facts["unjudged queries"].startswith("1 (q99), left out")


def test_documents_of_other_names_give_a_warning(folder: Path) -> None:
    (folder / "other.run").write_text("q1 Q0 A 1 1 t\n")
    result = call("gate", "qrels.txt", "other.run", "-c", "RR >= 0")
    assert result.exit_code == 0
    assert result.stderr.count("Warning: ") == 1
    assert " other retrieves is judged" in result.stderr


def test_a_preset(folder: Path) -> None:
    result = call("gate", "qrels.txt", "best.run", "--preset", "rag", "--format", "json", "-o", folder / "out.json")
    assert result.exit_code == 1
    assert result.stderr == "best: 4 of 11 gates failed\n"
    document = json.loads((folder / "out.json").read_text())
    assert tuple(document["checks"]) == PRESETS["rag"]
    assert document["checks"]["P@3 > 0.8"]["result"] == "failed"
    assert document["checks"]["P@10 > 0.6"]["reachable"] == pytest.approx(0.1)
    assert "cannot be reached" in document["checks"]["P@10 > 0.6"]["reason"]
    out = failed("qrels.txt", "best.run", "--preset", "rag")
    assert re.search(r"^P@10 > 0\.6 +0\.1000 +0\.6000! +0\.1000 +12  failed$", out, re.MULTILINE)
    assert "!" in facts_of("gate", "qrels.txt", "best.run", "--preset", "rag", exit_code=1)


def test_presets_are_printed() -> None:
    listed = ok("gate", "--list-presets")
    assert listed.startswith("rag: ")
    assert "2^rel - 1" in listed
    assert tuple(line.strip() for line in listed.splitlines()[1:]) == PRESETS["rag"]


def test_a_margin_has_to_be_ruled_out() -> None:
    out = failed("results/tied.json", "--baseline", "results/best.json", "--no-worse-than", "0.2")
    lines = out.splitlines()
    assert lines[2] == "No loss of 0.2 or more against best"
    assert lines[3].split()[:5] == ["measure", "baseline", "mean", "difference", "bound"]
    assert [line.split() for line in lines[5:8]] == [
        ["RR", "1.0000", "0.7500", "-0.2500", "-0.2500", "1.0000", "12", "failed"],
        ["P@1", "1.0000", "0.5000", "-0.5000", "-0.5000", "1.0000", "12", "failed"],
        ["MR", "1.0000", "1.5000", "0.5000", "0.5000", "1.0000", "12", "failed"],
    ]
    failed("results/tied.json", "--baseline", "results/best.json", "--no-worse-than", "0.5")
    ok("gate", "results/tied.json", "--baseline", "results/best.json", "--no-worse-than", "0.51")
    ok("gate", "results/best.json", "--baseline", "results/tied.json", "--no-worse-than", "0.01", "--no-regression")


def test_a_loss_that_may_be_chance_passes_and_says_so_first(folder: Path) -> None:
    against = ("results/some.json", "--baseline", "results/best.json")
    result = dh.gate("results/some.json", baseline="results/best.json")
    first = result.summary
    assert first.startswith("some: 3 gates passed, but RR >= baseline proves little: ")
    assert first.endswith(", and 2 more")
    heading = ok("gate", *against).partition("\n")[0]
    assert heading.startswith("some: 3 gates passed, 3 of which ")
    assert ok("gate", *against, "--no-regression") == ok("gate", *against)
    document = json.loads(ok("gate", *against, "--format", "json"))
    assert list(document)[:5] == ["deadheat", "name", "passed", "summary", "proves_little"]
    assert document["summary"] == first
    assert document["proves_little"] == {check.gate: check.reason for check in result.checks}
    assert document["regressions"]["RR"]["proves_little"] is True
    assert document["regressions"]["RR"]["detectable"] == pytest.approx(0.1191, abs=1e-4)
    assert ok("gate", *against, "--format", "github").startswith("**⚠ some: ")
    assert "⚠ passed, proves little" in ok("gate", *against, "--format", "github")
    assert call("gate", *against, "-o", "gates.xml").stderr == first + "\n"
    root = ET.parse(folder / "gates.xml").getroot()  # noqa: S314 - our own file
    (summary,) = root.iter("property")
    assert summary.get("value") == first
    assert (root.findtext("testsuite/system-out") or "").startswith(f"{heading}\n")
    assert (root.findtext("testsuite/testcase/system-out") or "").startswith(f"{result.checks[0].reason}\n")
    failed(*against, "--alpha", "0.1")
    out = " ".join(ok("gate", "results/some.json", "--baseline", "results/some.json").split())
    assert "against some (baseline)" in out
    assert "little" not in out


def test_both_questions_may_be_asked() -> None:
    against = ("results/some.json", "--baseline", "results/best.json")
    document = json.loads(failed(*against, "--no-regression", "--no-worse-than", "0.1", "--format", "json"))
    assert {check["result"] for check in document["regressions"].values()} == {"weak pass"}
    assert {check["result"] for check in document["no_worse_than"].values()} == {"failed"}
    failed(*against, "--no-worse-than", "0.1")


def test_gates_by_stratum(folder: Path) -> None:
    rows = [f"q{n},{'easy' if n % 2 else 'hard'},{'de' if n < 6 else 'en'}\n" for n in range(12)]
    (folder / "levels.csv").write_text("query_id,level\n" + "".join(row.rsplit(",", 1)[0] + "\n" for row in rows))
    (folder / "languages.csv").write_text("query_id,level,language\n" + "".join(rows))
    arguments = ["results/some.json", "-c", "RR >= 0.92", "--queries", "levels.csv", "--by", "level"]
    out = failed(*arguments)
    lines = out.splitlines()
    assert lines[0] == "some: 1 of 3 gates failed"
    assert lines[2].split()[:4] == ["gate", "stratum", "value", "threshold"]
    assert [line.split()[-6:] for line in lines[4:7]] == [
        ["(all)", "0.9375", "0.9200", "1.0000", "12", "passed"],
        ["easy", "0.9583", "0.9200", "1.0000", "6", "passed"],
        ["hard", "0.9167", "0.9200", "1.0000", "6", "failed"],
    ]
    assert facts_of("gate", *arguments, "--full", exit_code=1)["strata"].startswith("by level; corrected ")
    document = json.loads(failed(*arguments, "--baseline", "results/best.json", "--format", "json"))
    assert list(document["checks"]["RR >= 0.92"]) == list(document["regressions"]["RR"]) == ["(all)", "easy", "hard"]
    assert document["regressions"]["RR"]["hard"]["p_adjusted"] >= document["regressions"]["RR"]["hard"]["p_value"]
    call("gate", *arguments, "-o", "gates.xml")
    names = [case.get("name") for case in ET.parse(folder / "gates.xml").getroot().iter("testcase")]  # noqa: S314 - our own file
    assert names == ["RR >= 0.92", "RR >= 0.92 [level: easy]", "RR >= 0.92 [level: hard]"]
    each = ["results/some.json", "-c", "each(level): low(RR) > 0.5", "--queries", "languages.csv"]
    facts = facts_of("gate", *each, *BCA, "--full", exit_code=1)
    assert "low(RR) > 0.5 [language, level: de, easy]" in facts["note"]
    assert facts["languages"].startswith("de, en: checked apart")
    pooled = ("gate", *each, *BCA, "--pool-languages", "--full")
    assert "de, easy" not in ok(*pooled)
    assert facts_of(*pooled)["languages"].startswith("de, en: checked together")


def test_strata_of_a_file(folder: Path) -> None:
    (folder / "levels.csv").write_text("id,level\n" + "".join(f"q{n},{n % 2}\n" for n in range(12)))
    (folder / "pyproject.toml").write_text(
        "[tool.deadheat.gates]\nqueries = 'levels.csv'\nby = ['level']\nchecks = ['RR > 0.5']\n"
        "no_regression = true\nno_worse_than = 0.5\nallow_unknown = true\n"
    )
    document = json.loads(ok("gate", "results/some.json", "--format", "json"))
    assert list(document["checks"]["RR > 0.5"]) == ["(all)", "0", "1"]
    assert document["not_asked"] == ["no_regression", "no_worse_than"]
    unasked = facts_of("gate", "results/some.json")["not checked"]
    assert unasked.startswith("no_regression and no_worse_than of pyproject.toml: ")
    assert " ".join(ok("gate", "results/some.json").split()).startswith(f"some: 3 gates passed; not checked: {unasked}")
    assert document["summary"].endswith(f"; not checked: {unasked}")
    summary = ok("gate", "results/some.json", "--format", "github").splitlines()[0]
    assert summary.startswith("**⚠ some: ")
    assert "not checked" in summary
    xml = ET.fromstring(ok("gate", "results/some.json", "--format", "junit"))  # noqa: S314 - our own
    assert str(xml.find(".//property").get("value")).endswith(f"; not checked: {unasked}")  # type: ignore[union-attr]
    document = json.loads(ok("gate", "results/best.json", "--baseline", "results/some.json", "--format", "json"))
    assert list(document["no_worse_than"]["RR"]) == list(document["regressions"]["RR"]) == ["(all)", "0", "1"]
    assert document["options"]["allow_unknown"] is True


def test_a_run_is_evaluated_with_the_measures_of_its_baseline() -> None:
    out = failed("qrels.txt", "tied.run", "--baseline", "results/best.json", "-c", "R@1 > 0")
    assert re.findall(r"^(\S+) .*[0-9] +(passed|failed)$", out, re.MULTILINE) == [
        ("R@1", "passed"),
        ("RR", "failed"),
        ("P@1", "failed"),
        ("MR", "failed"),
    ]
    document = json.loads(
        failed("qrels.txt", "tied.run", "--baseline", "results/best.json", "-c", "R@1 > 0", "--format", "json")
    )
    assert document["not_compared"] == ["R@1"]
    assert re.search("^not compared +R@1: ", out, re.MULTILINE)


def test_json() -> None:
    document = json.loads(
        failed("results/tied.json", "-c", "low(RR) > 0.8", "--baseline", "results/best.json", *BCA, "--format", "json")
    )
    assert (document["name"], document["passed"], document["baseline"]) == ("tied", False, "best")
    assert document["checks"] == {
        "low(RR) > 0.8": {
            "value": 0.75,
            "threshold": 0.8,
            "reachable": 1.0,
            "n_queries": 12,
            "result": "failed",
            "measure": "RR",
            "quantity": "low",
            "operator": ">",
            "confidence_level": 0.95,
            "method": "bca",
            "reason": dh.gate("results/tied.json", "low(RR) > 0.8", method="bca").checks[0].reason,
            "proves_little": False,
            "worst": "",
        }
    }
    assert document["regressions"]["RR"]["difference"] == -0.25
    assert document["regressions"]["RR"]["p_value"] == 0.0
    assert document["options"]["alpha"] == 0.05


def test_junit(folder: Path) -> None:
    result = call("gate", "results/tied.json", "-c", "RR > 0.8", "-c", "P@1 <= 0.5", "-o", "gates.xml")
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "tied: 1 of 2 gates failed\n")
    root = ET.parse(folder / "gates.xml").getroot()  # noqa: S314 - our own file
    (suite,) = root
    assert (root.tag, suite.tag, suite.get("name")) == ("testsuites", "testsuite", "deadheat gate tied")
    for element in (root, suite):
        assert {key: element.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
            "tests": "2",
            "failures": "1",
            "errors": "0",
            "skipped": "0",
        }
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == ["RR > 0.8", "P@1 <= 0.5"]
    assert {case.get("classname") for case in cases} == {"deadheat.tied"}
    failure = cases[0].find("failure")
    assert failure is not None
    assert failure.get("message") == "0.75 is not above 0.8"
    assert cases[1].find("failure") is None
    assert "tied: 1 of 2 gates failed" in (suite.findtext("system-out") or "")


def test_junit_holds_no_character_that_xml_forbids() -> None:
    evaluation = dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, [dh.Custom("be\x07ll <&>", lambda _: 1.0)])
    result = dh.gate(evaluation, "be\x07ll <&> > 1")
    root = ET.fromstring(as_junit(result, report_gate(result)).encode())  # noqa: S314 - our own output
    case = root.find("testsuite/testcase")
    assert case is not None
    assert case.get("name") == r"be\x07ll <&> > 1"


def test_github() -> None:
    out = failed("results/tied.json", "-c", "RR > 0.8", "-c", "P@1 <= 0.5", "--format", "github")
    heading, _, header, _, *rows = out.splitlines()[:6]
    assert heading == "**❌ tied: 1 of 2 gates failed**"
    assert header.strip("| ").split(" | ")[:3] == ["gate", "value", "threshold"]
    assert [row.strip("| ").split(" | ") for row in rows] == [
        ["RR > 0.8", "0.7500", "0.8000", "1.0000", "12", "❌ failed"],
        ["P@1 \\<= 0.5", "0.5000", "0.5000", "1.0000", "12", "✅ passed"],
    ]
    assert ok("gate", "results/tied.json", "-c", "RR > 0.7", "--format", "github").startswith(
        "**✅ tied: 1 gate passed"
    )


def test_the_name_of_the_output_says_the_format(folder: Path) -> None:
    for name, start in (("a.md", "**✅"), ("a.json", "{"), ("a.xml", "<?xml"), ("a.txt", "best: 1 gate")):
        assert call("gate", "results/best.json", "-c", "RR > 0", "-o", name).exit_code == 0
        assert (folder / name).read_text(encoding="utf-8").startswith(start)
    assert "names csv, " in refused(2, "results/best.json", "-c", "RR > 0", "-o", "a.csv")
    assert "is the input" in refused(2, "results/best.json", "-c", "RR > 0", "-o", "results/best.json")
    assert "is the input" in refused(
        2, "results/tied.json", "-o", "results/best.json", "--baseline", "results/best.json"
    )


def test_the_gates_of_the_project(folder: Path) -> None:
    assert "no gate: give -c" in refused(2, "results/tied.json")
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert "  checks = ['nDCG@10 >= 0.8'" in refused(2, "results/tied.json")
    (folder / "pyproject.toml").write_text(PYPROJECT)
    out = failed("results/tied.json")
    assert re.search(r"^tie_min\(RR\) >= 0\.6 +0\.5000 +0\.6000 +1\.0000 +12  failed$", out, re.MULTILINE)
    assert facts_of("gate", "results/tied.json", "--full", exit_code=1)["gates"] == "from pyproject.toml"
    for arguments in (["-c", "RR > 0"], ["--preset", "rag"]):
        assert "pyproject" not in call("gate", "qrels.txt", "best.run", *arguments).stdout
    out = failed("results/tied.json", "-c", "P@1 > 0.3", "--config", "pyproject.toml")
    assert re.findall(r"^(\S+) .*[0-9] +(passed|failed)$", out, re.MULTILINE) == [
        ("RR", "passed"),
        ("tie_min(RR)", "failed"),
        ("P@1", "passed"),
    ]


def test_options_go_before_those_of_the_file(folder: Path) -> None:
    (folder / "ci").mkdir()
    (folder / "ci" / "gates.toml").write_text(
        "[tool.deadheat.gates]\nbaseline = '../results/best.json'\n"
        "no_worse_than = 0.6\nalpha = 0.1\nconfidence_level = 0.9\n"
    )
    out = json.loads(ok("gate", "results/tied.json", "--config", "ci/gates.toml", "--format", "json"))
    assert (out["baseline"], out["sources"]) == ("best", "ci/gates.toml")
    assert out["options"] == {
        "no_regression": False,
        "no_worse_than": 0.6,
        "alpha": 0.1,
        "rng": 0,
        "confidence_level": 0.9,
        "method": "auto",
        "n_resamples": 10_000,
        "cluster": None,
        "by": [],
        "pool_languages": False,
        "allow_unknown": False,
    }
    failed("results/tied.json", "--config", "ci/gates.toml", "--no-worse-than", "0.1")
    ok("gate", "results/tied.json", "--config", "ci/gates.toml", "--baseline", "results/tied.json")
    (folder / "margin.toml").write_text("[tool.deadheat.gates]\nno_worse_than = 0.6\nchecks = 'RR >= 0.5'\n")
    ok("gate", "results/tied.json", "--config", "margin.toml")  # a baseline may come with some calls only


def test_thresholds_are_checked_as_they_were_read() -> None:
    text = "0.12345678901234568"
    out = ok("gate", "results/tied.json", "-c", f"RR > {text}", "--format", "json")
    assert re.findall('"threshold": (.*),', out) == [text]


def test_clusters_are_resampled_and_tested_whole(folder: Path) -> None:
    (folder / "queries.csv").write_text("query_id,doc\n" + "".join(f"q{n},d{n // 2}\n" for n in range(12)))
    arguments = ["results/some.json", "-c", "low(RR) > 0.9", "--cluster", "doc", "--queries", "queries.csv"]
    asked = (*arguments, "--confidence-level", "0.9", "--ci-method", "t", "--full")
    intervals = facts_of("gate", *asked, exit_code=1)["intervals"]
    assert intervals.startswith("90%, Student's t over clusters")
    assert intervals.endswith(": doc")
    out = " ".join(failed(*asked).split())
    evaluation = dh.load_evaluation("results/some.json")
    low = evaluation["RR"].interval("t", confidence_level=0.9, cluster="doc", queries="queries.csv").low
    assert f"low(RR) > 0.9 {low:.4f} 0.9000 1.0000 12 failed" in out
    against = ("results/some.json", "--baseline", "results/best.json", *arguments[3:], "--alpha", "0.1", "--full")
    assert facts_of("gate", *against)["test"].endswith(", by clusters: doc")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "arguments", "message"),
    [
        (2, [], "Missing argument"),
        (
            2,
            ["a", "b", "c", "-c", "RR > 0"],
            "expected one saved evaluation, or QRELS or --spans and one RUN; got 3 files",
        ),
        (2, ["results/tied.json", "-c", "RR = 1"], "cannot read the gate 'RR = 1'"),
        (
            2,
            ["results/tied.json", "-c", "RR => 1"],
            "cannot read the gate 'RR => 1': it needs one of >=, <=, >, <",
        ),
        (
            2,
            ["results/tied.json", "-c", "low(P(rel=2)@5 > 1"],
            "cannot read the gate 'low(P(rel=2)@5 > 1': close the bracket",
        ),
        (2, ["results/tied.json", "-c", "low (RR > 1"], "cannot read the gate 'low (RR > 1': close the bracket"),
        (2, ["results/tied.json", "-c", "AP > 0"], "AP was not evaluated; this evaluation holds RR, P@1, MR"),
        (2, ["results/tied.json", "-c", "RRR > 0"], "Did you mean 'RR', 'MRR' or 'ERR'?"),
        (2, ["qrels.txt", "tied.run", "-c", "RRR > 0"], "unknown measure 'RRR'"),
        (2, ["results/tied.json", "--preset", "rga"], "--preset must be one of 'rag', got 'rga'"),
        (2, ["results/tied.json", "-c", "RR > 0", "--alpha", "0.05"], "--alpha needs a baseline"),
        (2, ["results/tied.json", "-c", "RR > 0", "--no-worse-than", "1"], "give --baseline FILE too"),
        (2, ["results/tied.json", "-c", "RR > 0", "--no-regression"], "--no-regression needs a baseline: give"),
        (2, [*AGAINST_BEST, "--no-worse-than", "0"], "above 0, got 0.0; --no-regression asks for a significant loss"),
        (2, [*AGAINST_BEST, "--no-worse-than", "nan"], "--no-worse-than must be a number above 0, got nan"),
        (2, ["results/tied.json", "-c", "RR > 0", "--by", "level"], "--by needs a table of queries: give --queries"),
        (2, ["results/tied.json", "-c", "each(level): RR > 0"], "each(...) needs a table of queries"),
        (2, ["results/tied.json", "-c", "RR > 0", "--pool-languages"], "--pool-languages needs a table of queries"),
        (3, ["results/tied.json", "-c", "each(level): RR > 0", "--queries", "no.csv"], "no.csv: no such file"),
        (2, ["results/tied.json", "-c", "RR > 0", "--ci-method", "t"], "--ci-method is for intervals: give a gate"),
        (2, [*AGAINST_BEST, "--ci-method", "percentile"], "--ci-method is for intervals: give a gate"),
        (2, [*AGAINST_BEST, "--confidence-level", "0.5"], "--confidence-level is for intervals: give a gate"),
        (2, ["results/tied.json", "-c", "RR > 0", "--cluster", "doc"], "--cluster is for intervals: give a gate"),
        (2, ["results/tied.json", "-c", "low(RR) > 0", "--cluster", "doc"], "give --queries FILE too"),
        (
            2,
            ["results/tied.json", "-c", "low(RR) > 0", "--queries", "q.csv"],
            "--by, each(...), --cluster and --weights: give",
        ),
        (
            2,
            ["results/tied.json", "-c", "RR > 0", "--ties", "best"],
            "--ties is for QRELS RUN: results/tied.json is already evaluated",
        ),
        (2, ["results/tied.json", "-c", "RR > 0", "--ascending"], "--ascending is for QRELS RUN"),
        (2, ["results/tied.json", "-c", "RR > 0", "--duplicates", "trust"], "--duplicates is for QRELS RUN"),
        (2, ["qrels.txt", "tied.run", "-c", "RR > 0", "--ties", "random"], "--ties must be one of"),
        (2, ["qrels.txt", "qrels.txt", "-c", "RR > 0", "--missing", "emtpy"], "Did you mean 'empty'"),
        (2, ["qrels.txt", "qrels.txt", "-c", "RR > 0", "--score-precision", "99"], "decimals from 0 to 15"),
        (
            2,
            ["results/tied.json", "results/best.json", "-c", "RR > 0"],
            "is checked by itself, as in deadheat gate results/tied.json --baseline results/best.json",
        ),
        (2, ["results/tied.json", "tied.run", "-c", "RR > 0"], "results/tied.json: a saved evaluation is checked by"),
        (2, ["qrels.txt", "results/tied.json", "-c", "RR > 0"], "checked by itself, as in deadheat gate results/tied"),
        (3, ["results/tied.jsn", "-c", "RR > 0"], "no such file. Did you mean 'tied.json'?"),
        (3, ["results/tied.json", "--baseline", "results/bst.json"], "no such file. Did you mean 'best.json'?"),
        (3, ["results/tied.json", "--config", "no.toml"], "no.toml: no such file"),
        (3, ["results/old.parquet", "-c", "RR > 0"], "invalid JSON, Expecting value, column 1), expected a saved"),
        (3, ["tied.run", "-c", "RR > 0"], "holds something else, expected a saved evaluation"),
        (3, ["qrels.txt", "none.run", "-c", "RR > 0"], "none.run: no such file"),
        (3, ["tied.run", "qrels.txt", "-c", "RR > 0"], "were qrels and run given in the wrong order?"),
        (
            3,
            ["qrels.txt", "tied.run", "--ties", "doc_id", "--baseline", "results/best.json"],
            "tied and best were evaluated under different conventions (ties 'doc_id' and 'expected')",
        ),
    ],
)
def test_what_is_wrong_is_said(code: int, arguments: list[str], message: str) -> None:
    assert message in " ".join(refused(code, *arguments).split())


def test_other_qrels_are_refused_if_they_must_be_the_same(folder: Path) -> None:
    (folder / "new.txt").write_text(QRELS + "q0 0 b 1\n")
    message = refused(3, "new.txt", "tied.run", "--baseline", "results/best.json", "--judgments", "strict")
    assert "different qrels" in message
    assert numbers_in(message.partition("from best to tied: ")[2])[:3] == [12, 11, 1]  # the same, and changed
    assert "--judgments needs a baseline" in refused(2, "new.txt", "tied.run", "-c", "RR > 0", "--judgments", "strict")


@needs_shared_data
def test_real_runs_fit_a_screen(folder: Path) -> None:
    dh.evaluate(llm_qrels(), llm_run("willia-umbrela1"), ["nDCG@10", "RR", "P(rel=2)@5"]).save(folder / "base.json")
    out = failed(llm_qrels(), llm_run("TREMA-CoT"), "--preset", "rag", "--baseline", "base.json")
    assert max(map(len, out.splitlines())) <= 80
    assert re.search(r"^nDCG@10 +0\.6701 +0\.5006 +-0\.1696 .* failed$", out, re.MULTILINE)


def test_what_weights_are_worth_is_told(folder: Path) -> None:
    rows = "".join(f"q{n},{60 if n == 3 else 1}\n" for n in range(12))
    (folder / "traffic.csv").write_text(f"query_id,searches\n{rows}", encoding="utf-8")
    more = ("--queries", "traffic.csv", "--weights", "searches")
    weights = facts_of("gate", "qrels.txt", "tied.run", "-c", "RR > 0.5", *more)["weights"]
    worth = round((60 + 11) ** 2 / (60**2 + 11), 1)
    assert [12, worth] in [numbers_in(part)[:2] for part in re.split("[;,] ", weights)]


@pytest.mark.parametrize("name", ["qrels.txt", "tied.run", "numbers.txt", "chunks.jsonl", "run.json"])
def test_a_baseline_that_is_no_saved_evaluation(folder: Path, name: str) -> None:
    """What it should be is said, and no advice on how to name the file; the command that is named works."""
    (folder / "numbers.txt").write_text("1 0 a 1\n2 0 a 1\n")
    (folder / "chunks.jsonl").write_text('{"query_id": "q1"}\n{"query_id": "q2"}\n')
    (folder / "run.json").write_text('{"q1": ["a"]}')
    asked = ("qrels.txt", "tied.run", "-c", "RR > 0", "--baseline")
    said = refused(3, *asked, name)
    assert said.startswith(f"Error: {name}: ")
    assert "expected a saved evaluation" in said
    assert "deadheat evaluate QRELS RUN --save FILE.json" in said
    assert "--format" not in said
    ok("evaluate", "qrels.txt", "tied.run", "-m", "RR", "--save", "FILE.json")
    ok("gate", *asked, "FILE.json")
