"""Plugins of other distributions: found by their entry points, used, and left out when they are broken.

A distribution is a folder with a package and a dist-info on the path, as pip installs one.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from support.command import names_in
from support.paths import ROOT, SOURCE

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

EXAMPLE = ROOT / "examples" / "deadheat-novelty"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_files(tmp_path)
    return tmp_path


def write_files(folder: Path) -> None:
    (folder / "x.qrels").write_text("q1 0 a 2\nq1 0 b 1\nq2 0 c 1\n", encoding="utf-8")
    (folder / "x.run").write_text("q1 Q0 a 1 0.5 t\nq1 Q0 b 2 0.5 t\nq2 Q0 c 1 1 t\n", encoding="utf-8")


def install(folder: Path, name: str, record: str, **modules: str) -> None:
    """Write a distribution into a folder on the path; its package has the record of its plugin."""
    package = folder / name.replace("-", "_")
    package.mkdir()
    (package / "__init__.py").write_text(f"from deadheat import api\n\n{dedent(record)}\n", encoding="utf-8")
    for module, text in modules.items():
        (package / f"{module}.py").write_text(f"from deadheat import api\n\n{dedent(text)}\n", encoding="utf-8")
    describe(folder, name, package.name)


def describe(folder: Path, name: str, package: str) -> None:
    """Write the dist-info of a distribution."""
    info = folder / f"{name.replace('-', '_')}-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n", encoding="utf-8")
    entry = name.removeprefix("deadheat-")
    (info / "entry_points.txt").write_text(f"[deadheat.plugins]\n{entry} = {package}:PLUGIN\n", encoding="utf-8")


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), str(SOURCE)])
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


CALLS = """
import json, sys
from click.testing import CliRunner
from deadheat.core.cli import main
print(json.dumps([CliRunner().invoke(main, arguments).output for arguments in json.loads(sys.argv[1])]))
"""


def calls(folder: Path, *commands: str) -> list[str]:
    """Return what each of some commands prints, in one process."""
    arguments = json.dumps([shlex.split(command) for command in commands])
    done = run(folder, sys.executable, "-c", CALLS, arguments)
    assert done.returncode == 0, done.stderr
    printed: list[str] = json.loads(done.stdout)
    return printed


def call(folder: Path, command: str) -> str:
    done = run(folder, sys.executable, "-m", "deadheat", *shlex.split(command))
    return done.stdout + done.stderr


@pytest.mark.slow
def test_the_example_is_found_by_all_that_is_unknown(folder: Path) -> None:
    shutil.copytree(EXAMPLE / "src" / "deadheat_novelty", folder / "deadheat_novelty")
    describe(folder, "deadheat-novelty", "deadheat_novelty")
    printed = call(folder, "evaluate x.qrels x.run -m 'Novelty@1 new_share_2' --format json")
    means = {measure: row["value"] for measure, row in json.loads(printed)["scores"]["x"].items()}
    assert means == pytest.approx({"Novelty@1": 0.4, "new_share_2": 0.35})
    assert "x.pipes: 3 rows " in call(folder, "convert x.run x.pipes")
    assert (folder / "x.pipes").read_text(encoding="utf-8") == "q1|a|0.5\nq1|b|0.5\nq2|c|1.0\n"
    assert "0.4000" in call(folder, "novelty x.qrels x.pipes --cutoff 1")
    listed, near, page = calls(folder, "plugins --format json", "novelti x.qrels", "measures Novelty")
    assert json.loads(listed)["plugins"]["novelty"] == {
        "distribution": "deadheat-novelty",
        "version": "0.1.0",
        "state": "ready",
        "adds": "commands novelty; measures Novelty; files pipes",
    }
    assert "Did you mean 'novelty'?" in near
    assert "Novelty: novelty" in page


@pytest.mark.slow
def test_the_tests_of_the_example_pass(folder: Path) -> None:
    for part in ("src/deadheat_novelty", "tests"):
        shutil.copytree(EXAMPLE / part, folder / Path(part).name)
    describe(folder, "deadheat-novelty", "deadheat_novelty")
    done = run(folder, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "tests")
    assert "3 passed" in done.stdout, done.stdout + done.stderr


KNOWN = """
import deadheat as dh
from deadheat.core import third_party
qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
dh.evaluate("x.qrels", "x.run", "nDCG@10").means()
dh.evaluate(qrels, run).means()
dh.evaluate({"q": ["a"]}, {"q": ["a", "b"]}, "map").means()
dh.evaluate(qrels, {"q": [{"id": "a", "score": 0.5}]}, "RR").means()
dh.evaluate([("q", "a", 1)], [("q", "a", 0.5)], "RR").means()
print(dh.evaluate(qrels, run, "RR"))
from deadheat.core.cli import main
main(["--help"], standalone_mode=False)
main(["evaluate", "x.qrels", "x.run"], standalone_mode=False)
assert third_party._find_plugins.cache_info().misses == 0
"""


@pytest.mark.slow
def test_nothing_is_looked_up_for_what_is_known(folder: Path) -> None:
    done = run(folder, sys.executable, "-c", KNOWN)
    assert done.returncode == 0, done.stderr


def record(name: str = "broken", **fields: str) -> str:
    """Return the text of a record."""
    added = "".join(f", {field}={value}" for field, value in fields.items())
    return f"PLUGIN = api.Plugin(name={name!r}, help='Of a test.'{added})"


# The record of a plugin, and why it is left out; {name} is the name of the plugin
REFUSED = {
    "import": ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
    "exit": ("raise SystemExit(3)", "SystemExit: 3"),
    "no plugin": ("PLUGIN = 3", "deadheat_{name}:PLUGIN is no deadheat.api.Plugin, but of type int"),
    "options": (
        record("{name}", options="(('x', 'y', ()),)"),
        "it adds options, which only plugins that ship with deadheat can",
    ),
    "missing": (record("{name}", requires="('nonsense',)"), "it needs the plugin nonsense, which is not installed"),
    "name": (record("gates"), "its name gates is taken by deadheat"),
    "command": (
        record("{name}", commands="(api.Command('gate', 'm', 'h'),)"),
        "its command gate is taken by deadheat",
    ),
    "measure": (
        record("{name}", measures="(api.MeasureFile('m', ('NDCG',)),)"),
        "its measure ndcg is taken by deadheat",
    ),
    "alias": (
        record("{name}", measures="(api.MeasureFile('m', ('Mine',), ('strec',)),)"),
        "its measure strec is taken by deadheat",
    ),
    "format": (
        record("{name}", readers="(api.FileFormats('m', ('csv',), ('.mine',)),)"),
        "its file format csv is taken by deadheat",
    ),
    "ending": (
        record("{name}", readers="(api.FileFormats('m', ('mine',), ('.run',)),)"),
        "its file ending .run is taken by deadheat",
    ),
    "no comma": (
        record("{name}", measures="(api.MeasureFile('m', ('Mine',)))"),
        "measures= is one MeasureFile, where a tuple of them is due: write a comma behind it, (MeasureFile,)",
    ),
    "no comma behind a text": (
        record("{name}", objects="('m')"),
        "objects= is one text, where a tuple of them is due: write a comma behind it, (text,)",
    ),
    "no comma behind a name": (
        record("{name}", measures="(api.MeasureFile('m', ('Mine')),)"),
        "names= of a MeasureFile in measures= is one text, where a tuple of them is due: write a comma",
    ),
    "list": (record("{name}", commands="[]"), "commands= is no tuple, but of type list"),
    "items": (record("{name}", commands="('m',)"), "commands= holds a str, where each is a Command"),
    "help": (record("{name}", commands="(api.Command('mine', 'm', 3),)"), "help= of a Command in commands= is no text"),
}


@pytest.fixture(scope="module")
def printed_beside_refused(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Install a plugin of each kind that is refused; return what two evaluations and the list of plugins print."""
    folder = tmp_path_factory.mktemp("refused")
    write_files(folder)
    for case, (text, _) in REFUSED.items():
        install(folder, f"deadheat-{name_of(case)}", text.replace("{name}", name_of(case)))
    evaluate = "evaluate x.qrels x.run -m"
    return calls(folder, f"{evaluate} RR", f"{evaluate} Nonsense", "plugins")


def name_of(case: str) -> str:
    """Return the name of the plugin of a case."""
    return "broken_" + case.replace(" ", "_")


@pytest.mark.every_case
@pytest.mark.parametrize("case", REFUSED)
def test_a_plugin_that_cannot_be_used_is_left_out_with_a_warning(case: str, printed_beside_refused: list[str]) -> None:
    name = name_of(case)
    problem = REFUSED[case][1].replace("{name}", name)
    plugin = "gates" if case == "name" else name
    warning = f"Warning: the plugin {plugin} of deadheat-{name} 0.1.0 is left out: {problem}"
    known, unknown, listed = printed_beside_refused
    assert "Warning" not in known
    assert warning in unknown
    assert "unknown measure 'Nonsense'" in unknown
    assert f"left out: {problem}" in listed


MODULES = {
    "import": ("import no_such_module", "importing deadheat_broken.measure failed: ModuleNotFoundError"),
    "name": (
        "@api.register_measure('mine')\nclass RR(api.CutMeasure):\n    '''Mine.'''",
        "MeasureError: RR: its name is taken by deadheat.core.measures.first.RR",
    ),
    "alias": (
        "@api.register_measure('mine', aliases=('MAP',))\nclass Mine(api.CutMeasure):\n    '''Mine.'''",
        "MeasureError: Mine: its other name 'MAP' is taken by AP",
    ),
    "not to its end": (
        "@api.register_measure('mine')\nclass Mine(api.CutMeasure):\n    '''Mine.'''\n\nimport no_such_module",
        "importing deadheat_broken.measure failed: ModuleNotFoundError",
    ),
    "another name": (
        "@api.register_measure('mine')\nclass Min(api.CutMeasure):\n    '''Mine.'''",
        "deadheat_broken.measure registers no measure Mine",
    ),
    "one text of aliases": (
        "@api.register_measure('mine', aliases='my')\nclass Mine(api.CutMeasure):\n    '''Mine.'''",
        "MeasureError: aliases must be a tuple of names",
    ),
}


def cases_of_modules() -> list[ParameterSet]:
    """Return the modules that fail; two processes each take long, so three are left to the rest of the tests."""
    cases = []
    for name in MODULES:
        marks = () if name in {"import", "name", "one text of aliases"} else pytest.mark.slow
        cases.append(pytest.param(name, marks=marks))
    return cases


@pytest.mark.slow
@pytest.mark.parametrize("name", cases_of_modules())
def test_a_module_that_fails_leaves_the_plugin_out(name: str, folder: Path) -> None:
    text, problem = MODULES[name]
    install(
        folder,
        "deadheat-broken",
        record(measures="(api.MeasureFile('deadheat_broken.measure', ('Mine',)),)"),
        measure=text,
    )
    evaluate = "evaluate x.qrels x.run -m"
    printed, shipped = calls(folder, f"{evaluate} Mine", f"{evaluate} MAP")
    assert "deadheat-broken 0.1.0 is left out: " in printed
    assert problem in printed.replace("\n", " ")
    assert "unknown measure 'Mine'. All: " in printed  # and no question whether Mine was meant
    assert "MAP       1.0000" in shipped
    done = run(folder, sys.executable, "-m", "deadheat", "plugins", "--format", "json")
    assert json.loads(done.stdout)["plugins"]["broken"]["state"] == "left out"


@pytest.mark.slow
def test_a_format_that_is_not_registered_leaves_the_plugin_out(folder: Path) -> None:
    files = "(api.FileFormats('deadheat_broken.pipes', ('pipe',), ('.pipe',)),)"
    pipes = (EXAMPLE / "src" / "deadheat_novelty" / "pipes.py").read_text(encoding="utf-8")
    install(folder, "deadheat-broken", record(readers=files))
    (folder / "deadheat_broken" / "pipes.py").write_text(pipes, encoding="utf-8")
    problem = "deadheat_broken.pipes registers no file format pipe"
    converted, unknown, listed = calls(folder, "convert x.run x.pipe", "convert x.run x.pipes", "plugins")
    assert f"is left out: {problem}" in converted
    assert "--to trec, csv, tsv" in unknown
    assert "pipe" not in unknown.partition("--to")[2]
    assert f"left out: {problem}" in listed


@pytest.mark.slow
def test_the_list_of_plugins_tries_commands(folder: Path) -> None:
    install(folder, "deadheat-broken", record(commands="(api.Command('mine', 'deadheat_broken.command', 'Mine.'),)"))
    (folder / "deadheat_broken" / "command.py").write_text("", encoding="utf-8")
    assert "left out: deadheat_broken.command " in call(folder, "plugins")


@pytest.mark.slow
def test_an_id_that_a_format_splits_is_refused_by_what_splits_it(folder: Path) -> None:
    shutil.copytree(EXAMPLE / "src" / "deadheat_novelty", folder / "deadheat_novelty")
    describe(folder, "deadheat-novelty", "deadheat_novelty")
    (folder / "y.csv").write_text("query_id,doc_id,score\nq1,a|b,0.5\n", encoding="utf-8")
    printed = call(folder, "convert y.csv y.pipes")
    assert names_in(printed) == ["|", "a|b"]
    assert "format pipes" in printed


def test_of_two_plugins_with_one_command_the_second_is_left_out(folder: Path) -> None:
    for name in ("first", "second"):
        install(
            folder,
            f"deadheat-{name}",
            record(name, commands=f"(api.Command('shared', 'deadheat_{name}.command', 'Mine.'),)"),
            command=f"@api.command('deadheat shared')\ndef shared():\n    '''Mine.'''\n    print('of {name}')",
        )
    printed = call(folder, "shared")
    assert "of first\n" in printed
    left_out, _, reason = printed.partition(" is left out: ")
    assert left_out.endswith("deadheat-second 0.1.0")
    assert "shared" in reason
    assert "deadheat-first 0.1.0" in reason


@pytest.mark.parametrize(
    ("text", "message", "code"),
    [
        (
            "import no_such_module",
            "the command mine of the plugin broken of deadheat-broken 0.1.0 cannot be imported",
            2,
        ),
        ("", "the command mine of the plugin broken of deadheat-broken 0.1.0 cannot be imported", 2),
        (
            "@api.command('deadheat mine')\ndef mine():\n    '''Mine.'''\n    raise RuntimeError('no')",
            "RuntimeError: no\nThis is a bug in the plugin broken of deadheat-broken 0.1.0; please report it",
            70,
        ),
        (
            "@api.command('deadheat mine')\ndef mine():\n    '''Mine.'''\n    raise api.DataError('bad', path='x')",
            "Error: x: bad",
            3,
        ),
    ],
)
def test_a_command_that_fails_says_whose_it_is(text: str, message: str, code: int, folder: Path) -> None:
    commands = "(api.Command('mine', 'deadheat_broken.command', 'Mine.'),)"
    install(folder, "deadheat-broken", record(commands=commands), command=text)
    done = run(folder, sys.executable, "-m", "deadheat", "mine")
    assert message in done.stderr
    assert done.returncode == code


OTHERS = """
PLUGIN = api.Plugin(
    name="others",
    help="Readers of objects and documents, reports and their formats.",
    objects=("deadheat_others.objects",),
    formats=("deadheat_others.formats",),
    reports=("deadheat_others.reports",),
)


class Box:
    rows = {"q": {"a": 1.0}}


class Result(api.Renderable):
    value = 3
"""
OBJECTS = """
from deadheat.core.io.sources import RECOGNISERS

from deadheat_others import Box


@api.register_document("a document of a box", "run", lambda held: "box" in held)
def read_box(held, where):
    return api.Listing({held["box"]: {"a": 1.0}}, ("a box is read",))


def recognise(source, kind, where, given):
    return api.Content(source.rows) if isinstance(source, Box) else None


RECOGNISERS.append(recognise)
"""
FORMATS = """
def write(report, digits):
    return f"{len(report.tables)} tables"


api.register_report_format(api.ReportFormat(name="count", suffixes=(".count",), write=write))
"""
REPORTS = """
from deadheat_others import Result


@api.register_report(Result)
def report(result):
    return api.Report((), (api.prose_fact("value", str(result.value)),))
"""
USES = """
import deadheat as dh
import deadheat_others

print(dh.Run(deadheat_others.Box()).to_dict())
print(dh.Run({"box": "q"}).to_dict())
print(deadheat_others.Result())
"""


@pytest.mark.slow
def test_objects_documents_reports_and_formats_are_found(folder: Path) -> None:
    install(folder, "deadheat-others", OTHERS, objects=OBJECTS, formats=FORMATS, reports=REPORTS)
    done = run(folder, sys.executable, "-c", USES)
    assert done.returncode == 0, done.stderr
    run_of_box, run_of_document, shown = done.stdout.splitlines()[:3]
    assert run_of_box == run_of_document == "{'q': {'a': 1.0}}"
    assert shown.split() == ["value", "3"]
    (folder / "box.json").write_text('{"box": "q1"}', encoding="utf-8")
    assert "a box is read" in call(folder, "evaluate x.qrels box.json -m RR")
    assert call(folder, "evaluate x.qrels x.run --format count") == "1 tables\n"
    assert call(folder, "evaluate x.qrels x.run -o out.count") == ""
    assert (folder / "out.count").read_text(encoding="utf-8") == "1 tables\n"


SECTION = """
def section(evaluations):
    if "x" not in evaluations:
        raise RuntimeError("no x")
    rows = [{"system": name, "n": len(one.query_ids)} for name, one in evaluations.items()]
    table = api.tabulate("mine", [api.Column("system", "system")], [api.Column("n", "queries")], rows)
    return api.Report((table,), (api.prose_fact("note", "counted by mine"),), heading="Mine <b>")
"""


@pytest.mark.slow
def test_a_page_has_the_section_of_a_plugin(folder: Path) -> None:
    install(folder, "deadheat-mine", record("mine", sections="('deadheat_mine.section',)"), section=SECTION)
    shutil.copy(folder / "x.run", folder / "y.run")
    first, other = calls(folder, "report x.qrels x.run -m RR -o x.html", "report x.qrels y.run -m RR -o y.html")
    assert "Warning" not in first
    page = (folder / "x.html").read_text(encoding="utf-8")
    assert "Mine &lt;b&gt;" in page
    assert "counted by mine" in page
    assert "deadheat-mine 0.1.0 is left out: RuntimeError: no x" in other
    assert "counted by mine" not in (folder / "y.html").read_text(encoding="utf-8")


JUDGMENTS = """
import deadheat as dh
from deadheat import api

KIND = api.KindOfJudgments("thresholds")


class Thresholds:
    kind_of_judgments = KIND

    def judge(self, run, *, name=None, ascending=False):
        run = dh.Run(run, name=name, ascending=ascending)
        rows = [(query, doc, int(score > 0.5)) for query, docs in run.to_dict().items() for doc, score in docs.items()]
        return dh.Qrels(rows), run


print(dh.evaluate(Thresholds(), {"q": {"a": 0.4, "b": 0.7, "c": 0.9}}, "P@3").means())
"""


@pytest.mark.slow
def test_a_class_of_others_may_judge_runs(folder: Path) -> None:
    done = run(folder, sys.executable, "-c", JUDGMENTS)
    assert done.stdout.split() == ["{'P@3':", "0.6666666666666666}"], done.stderr
