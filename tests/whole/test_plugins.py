"""Plugins: what imports them, what they require, and what is left when one is torn out."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest

import deadheat
from deadheat import registry
from deadheat.api import Plugin
from deadheat.core import hooks
from deadheat.core.io.formats import FORMATS
from deadheat.core.measures.registration import REGISTRY, other_names
from deadheat.core.report.formats import report_formats
from support.paths import ROOT
from support.walls import (
    MOST_MENTIONS,
    count_statements,
    mentions_of_plugins,
    methods_that_ask,
    modules_imported_by,
    plugin_of_file,
)

PACKAGE = Path(deadheat.__file__).parent
SHIPPED = [plugin for plugin in registry.PLUGINS if plugin.name != "core"]
NAMES = [plugin.name for plugin in SHIPPED]
DESIGN = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")


def test_the_registry_names_every_folder() -> None:
    folders = {path.name for path in (PACKAGE / "plugins").iterdir() if (path / "__init__.py").exists()}
    assert set(NAMES) == folders
    assert len(set(NAMES)) == len(NAMES)


def test_every_plugin_says_what_it_is_in_ten_lines() -> None:
    for name in NAMES:
        text = (PACKAGE / "plugins" / name / "__init__.py").read_text(encoding="utf-8")
        said = ast.get_docstring(ast.parse(text)) or ""
        assert 3 <= len(said.splitlines()) <= 14, name


def test_the_design_names_what_exists() -> None:
    files = [path for folder in ("src", "tests") for path in (ROOT / folder).rglob("*.py*")]
    named = re.findall(r"`([a-z_/]+\.pyi?)`", DESIGN)
    assert "registry.py" in named
    for name in named:
        assert any(path.as_posix().endswith(f"/{name}") for path in files), name
    source = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    decorators = re.findall(r"(?<!\w)@([a-z_]{3,})\b(?!\.)", DESIGN)
    assert "register" in decorators
    for name in decorators:
        assert re.search(rf"^def {name}\(", source, re.MULTILINE), name


def test_the_core_mentions_plugins_ever_less() -> None:
    mentions = mentions_of_plugins()
    assert mentions.keys() == MOST_MENTIONS.keys()
    for plugin, number in mentions.items():
        assert number <= MOST_MENTIONS[plugin], plugin


def test_methods_that_belong_to_plugins_are_listed_and_short() -> None:
    listed = dict[str, str]()
    for plugin, names in re.findall(r"^\* (\w+): (`\w+\.\w+`(?:, `\w+\.\w+`)*)$", DESIGN, re.MULTILINE):
        listed |= dict.fromkeys(re.findall(r"`([\w.]+)`", names), plugin)
    assert len(listed) <= 25  # a public name of a plugin that is a method is one more
    assert methods_that_ask().items() <= listed.items()
    assert set(listed.values()) <= set(NAMES)
    counts = count_statements(listed)
    assert counts.keys() == listed.keys()
    for name, n_statements in counts.items():
        assert n_statements <= 3, name


def is_for(other: str | None, path: Path, plugin: str) -> bool:
    """Tell whether a file is figures or a part of pairs of a plugin, which the plugin of these alone imports."""
    module = f"{hooks.FOLDER}.{plugin}.{path.stem}"
    record = hooks.find_plugin(plugin)
    return (other == "figures" and module in record.figures) or (other == "compare" and module in record.pairs)


def test_a_plugin_imports_only_those_that_it_requires() -> None:
    for path in (PACKAGE / "plugins").rglob("*.py"):
        own = plugin_of_file(path)
        for module in modules_imported_by(path):
            other = hooks.find_plugin_of_module(module)
            if own is not None and other not in {None, own} and not is_for(other, path, own):
                assert other in hooks.find_plugin(own).requires, f"{path}: {module}"


def test_a_plugin_imports_no_private_name_of_others() -> None:
    for path in (PACKAGE / "plugins").rglob("*.py"):
        for module in modules_imported_by(path):
            own = module.startswith(f"{hooks.FOLDER}.{plugin_of_file(path)}.")
            assert own or not re.search(r"\._(?!_)", module), f"{path}: {module}"


def test_requirements_have_no_circle() -> None:
    graph = {plugin.name: plugin.requires for plugin in SHIPPED}
    order = list(TopologicalSorter(graph).static_order())
    assert set(order) == set(NAMES)


def test_the_registry_states_the_order_of_formats() -> None:
    assert registry.ORDER_OF_FORMATS == hooks.list_formats() == tuple(FORMATS)
    for plugin in registry.PLUGINS:
        for file in plugin.readers:
            endings = [suffix for name in file.names for suffix in FORMATS[name].suffixes]
            assert endings == list(file.endings)


def test_the_registry_states_the_order_of_measures() -> None:
    assert registry.ORDER_OF_MEASURES == hooks.list_measures() == tuple(deadheat.measures()) == tuple(REGISTRY)
    for plugin in registry.PLUGINS:
        for file in plugin.measures:
            assert {REGISTRY[name].__module__ for name in file.names} == {file.module}


def test_plugins_state_the_aliases_of_their_measures() -> None:
    for plugin in SHIPPED:
        for file in plugin.measures:
            aliases = [alias for name in file.names for alias in other_names(deadheat.measures()[name])]
            assert sorted(file.aliases) == sorted(aliases)


def test_every_command_has_a_place() -> None:
    assert tuple(hooks.commands_by_name()) == registry.ORDER_OF_COMMANDS


# What needs a plugin without naming it: without the plugin each is an error that does.
NEEDS = {
    "bounds": (
        "dh.evaluate(qrels, first, 'RR', unjudged='bounds')",
        "dh.evaluate(qrels, first, 'RR', unjudged_max_rel=2)",
        "dh.compare(qrels, {'a': first, 'b': second}, 'RR', unjudged='bounds')",
        "dh.compare(qrels, {'a': first, 'b': second}, 'RR').unjudged_outer_bounds",
        "dh.evaluate(qrels, first, 'RR')['RR'].unjudged_min",
        "dh.read_judgments({'q1': {'a': 'Score: 1'}}, failed='bounds')",
        "call('evaluate', 'x.qrels', 'one.run', '--unjudged', 'bounds')",
        "call('compare', 'x.qrels', 'one.run', 'two.run', '--unjudged-max-rel', '2')",
    ),
    "columns": (
        "dh.Qrels('train.letor')",
        "dh.Run('train.svm')",
        "dh.Qrels('train.txt', format='letor')",
        "call('evaluate', 'train.letor')",
        "call('evaluate', 'train.txt', 'train.txt', '--score-columns', 'all')",
    ),
    "compat": ("__import__('deadheat.compat')", "__import__('deadheat.compat.pytrec_eval')", "dh.compat"),
    "dense": (
        "dh.Run({'kind': 'deadheat accumulator', 'format': 1})",
        "dh.Qrels('state.json')",
        "dh.Run('state.json')",
        "call('evaluate', 'state.json', 'state.json')",
    ),
    "diversity": (
        "dh.evaluate(qrels, first, 'ERR-IA@5')",
        "call('measures', 'alpha_nDCG')",
    ),
    "engines": (
        "call('evaluate', 'x.qrels', 'one.run', '--engine', 'polars')",
        "call('ties', 'one.run', '--engine', 'spark', '--spark-master', 'local')",
        "within_bound(lambda: dh.evaluate(qrels, dh.Run(frame(first).lazy()), 'RR'))",
        "within_bound(lambda: dh.tie_profile(dh.Run(frame(first).lazy())))",
    ),
    "exports": (
        "dh.Run({'q1': {'hits': {'hits': [{'_id': 'a', '_score': 1.0}]}}})",
        "dh.Run({'q1': {'source_nodes': [{'node': 1}]}})",
        "dh.Run.of_results({'q1': [{'node': 1, 'score': 0.5}]})",
        "dh.Qrels({'requests': [{'id': 'q1', 'ratings': [{'_id': 'a', 'rating': 1}]}]})",
        "dh.Qrels('ir_datasets:vaswani')",
        "dh.Run('one.run', format='msmarco')",
        "call('evaluate', 'x.qrels', 'one.run', '--input-format', 'msmarco')",
        "dh.Run(type('Run', (), {'run': {}, 'to_dict': lambda self: {}})())",  # as of ranx
        "dh.Run(__import__('pathlib').Path(dh.__file__).parent)",  # a folder
    ),
    "figures": (
        "dh.figures",
        "dh.evaluate(qrels, first, 'RR').plot()",
        "dh.compare(qrels, {'a': first, 'b': second}, 'RR').plot('forest')",
        "call('ties', 'one.run', '--figures', 'drawn')",
    ),
    "judges": (
        "dh.evaluate(qrels, first, 'RR', judge=qrels)",
        "dh.compare(qrels, {'a': first, 'b': second}, 'RR', judge=qrels)",
        "dh.compare_evaluations({'a': saved(qrels), 'b': saved(qrels)}, judge=qrels)",
        "call('evaluate', 'x.qrels', 'one.run', '--judge', 'x.qrels')",
        "call('compare', 'x.qrels', 'one.run', 'two.run', '--judge', 'x.qrels')",
        "call('gate', 'x.qrels', 'one.run', '-c', 'RR >= 0', '--judge', 'x.qrels')",
        "call('evaluate', 'x.qrels', 'one.run', '--grades', 'drop')",
    ),
    "more_measures": (
        "dh.evaluate(qrels, first, 'pr_curve')",
        "dh.parse_measure('Accuracy')",  # but accuracy is Hit
        "dh.parse_measure('ACCURACY')",
        "call('measures', 'infAP')",
    ),
    "repeats": (
        "dh.evaluate(qrels, several)",
        "dh.compare(qrels, {'several': several, 'first': first}, 'RR')",
        "dh.evaluate(qrels, 'several.csv')",
        "dh.evaluate(qrels, first, 'RR')['RR'].plan_repeats(0.1)",
        "dh.evaluate(qrels, first, 'RR')['RR'].variance_components",
        "call('evaluate', 'x.qrels', 'several.csv')",
        "call('evaluate', 'x.qrels', '--repeats', 'system=*.run')",
        "call('gate', 'saved-0.json', '--check', 'RR >= 0')",
        "call('compare', 'saved-0.json', 'saved-0.json')",
    ),
    "ties": (
        "dh.evaluate(qrels, first, 'RR').steps('RR', 'q1')",
        "dh.figures.plot_of(__import__('polars').DataFrame({'tie_ratio': [1.0]}))",
        "dh.figures.traditional(__import__('polars').DataFrame({'tie_ratio': [1.0]}))",
    ),
    "page": (
        "dh.evaluate(qrels, first, 'RR').to_html(full=True)",
        "dh.compare(qrels, {'a': first, 'b': second}, 'RR').to_html(full=True)",
        "call('report', 'x.qrels', 'one.run', '-o', 'page.html')",
    ),
    "topk": ("dh.Run.from_topk([[1, 2]])",),
    "alternatives": ("dh.evaluate({'q1': [['a', 'b'], ['c']]}, first, 'R@1')",),
    "spans": (
        "dh.evaluate({'q': {'d': 1}}, {'q': {'d': 1}}, 'CharRecall@5')",
        "dh.read_qrels('spans.csv')",
        "call('evaluate', '--spans', 'spans.csv', 'chunks.csv')",
        "call('compare', '--spans', 'spans.csv', 'chunks.csv', 'chunks.csv')",
        "call('gate', '--spans', 'spans.csv', 'chunks.csv', '-c', 'R@5 >= 0.8')",
        "call('report', '--spans', 'spans.csv', 'chunks.csv', '-o', 'x.html')",
        "call('rescore', 'x.json', 'spans.csv', '--documents', 'texts.csv')",
        "call('rescore', 'saved-0.json')",
    ),
    "recommender": ("dh.evaluate(qrels, first, 'RR').item_profile()",),
    "values": ("dh.load_evaluation({'q1': {'map': 0.5}})",),
    "weeks": (
        "dh.evaluate(qrels, first, 'RR').rescored({'q1': {'a': 2}})",
        "dh.compare_evaluations({'old': saved(qrels), 'new': dh.evaluate({'q1': {'a': 1}}, second, 'RR')})",
        "dh.compare_evaluations({'old': saved(qrels), 'new': saved(qrels)}, judge=qrels)",
        "call('report', '--history', '.', '-o', 'weeks.html')",
    ),
}


def evaluations_with_bounds() -> list[deadheat.Evaluation]:
    """Return evaluations with bounds over unjudged documents, over failures of a judge, and over places of them."""
    qrels, answers = {"q": {"a": 1}}, {"q": {"a": "Score: 1", "b": "no idea"}}
    judged = deadheat.read_judgments(answers, failed="bounds")
    graded = deadheat.read_judgments(answers, kind="run", failed="bounds")
    return [
        deadheat.evaluate(qrels, {"q": ["b", "a"]}, "RR", unjudged="bounds"),
        deadheat.evaluate(judged, {"q": ["b", "a"]}, "RR"),
        deadheat.evaluate(qrels, graded, "RR"),
    ]


def evaluations_of_samples() -> list[deadheat.Evaluation]:
    """Return an evaluation whose values are means over samples of the documents."""
    return [deadheat.evaluate_dense([[3, 2, 1, 0]], [[1]], "RR", sampled=2)]


def evaluations_of_chunks() -> list[deadheat.Evaluation]:
    """Return an evaluation of chunks that are held against spans."""
    return [deadheat.evaluate(deadheat.Spans([("q", "d", 0, 10)]), [("q", "d", 7, 20, 1.0)], "P@1")]


def evaluations_of_groups() -> list[deadheat.Evaluation]:
    """Return an evaluation of relevant documents in groups."""
    return [deadheat.evaluate({"q": [["a", "b"], ["c"]]}, {"q": {"a": 1.0}}, "RR")]


def evaluations_of_repeats() -> list[deadheat.Evaluation]:
    """Return an evaluation of two runs of one system."""
    return [deadheat.evaluate({"q": {"a": 1}}, deadheat.Repeats([{"q": {"a": 1.0}}] * 2), "RR")]


def evaluations_of_values() -> list[deadheat.Evaluation]:
    """Return an evaluation of values that another tool computed."""
    return [deadheat.load_evaluation({"q": {"map": 0.5}})]


# Evaluations of which a saved file needs a plugin, beside those by measures of it.
KEPT = {
    "alternatives": evaluations_of_groups,
    "bounds": evaluations_with_bounds,
    "dense": evaluations_of_samples,
    "judges": lambda: evaluations_with_bounds()[1:],
    "repeats": evaluations_of_repeats,
    "spans": evaluations_of_chunks,
    "values": evaluations_of_values,
}
SCRIPT = """
import json, sys
import deadheat as dh, deadheat.core.errors, deadheat.core.hooks

qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}, "q3": {"d": 2}, "q4": {"e": 1}, "q5": {"f": 1}}
first = {query: {doc: 1.0 for doc in [*judged, "x"]} for query, judged in qrels.items()}
second = {query: {doc: float(n) for n, doc in enumerate([*judged, "x"])} for query, judged in qrels.items()}
several = [{"query_id": "q1", "doc_id": "a", "score": 1, "repeat": repeat} for repeat in (1, 2)]
found = {"mean": dh.evaluate(qrels, first, "RR").means()["RR"], "errors": {}, "names": {}}
found["table"] = str(dh.evaluate(qrels, first, ["RR", "nDCG@10"]))
if hasattr(dh, "compare"):
    pairs = dh.compare(qrels, {"first": first, "second": second}, ["RR"]).pairs
    found["difference"] = pairs[0].difference
for name in json.loads(sys.argv[1]):
    found["names"][name] = hasattr(dh, name)
    try:
        getattr(dh, name)
    except AttributeError as error:
        found["errors"][name] = str(error)
for name in json.loads(sys.argv[2]):
    try:
        dh.evaluate(qrels, first, name)
    except dh.DeadheatError as error:
        found["errors"][name] = f"{type(error).__name__}: {error}"
from deadheat.core.cli import main
from click.testing import CliRunner

def call(*arguments):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code
    raise dh.DeadheatError(result.output)

def saved(qrels):
    dh.evaluate(qrels, first, "RR").save("weeks.json", replace=True)
    return "weeks.json"

def frame(run):
    rows = [(query, doc, score) for query, own in run.items() for doc, score in own.items()]
    return __import__("polars").DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")

def within_bound(make):
    with dh.max_memory(10**9):
        make()

found["lazily"] = dh.evaluate(qrels, frame(first).lazy(), "RR").means()["RR"]
for code in json.loads(sys.argv[5]):
    try:
        eval(code)
    except dh.DeadheatError as error:
        found["errors"][code] = str(error)

found["help"] = CliRunner().invoke(main, ["--help"]).output
found["help_all"] = {
    name: CliRunner().invoke(main, [name, "--help-all"]).output for name in dh.core.hooks.commands_by_name()
}
for name in json.loads(sys.argv[4]):
    try:
        dh.core.hooks.service(name)
    except dh.errors.MissingPluginError as error:
        found["errors"][f"service {name}"] = str(error)
for name in json.loads(sys.argv[3]):
    result = CliRunner().invoke(main, [name])
    found["errors"][f"command {name}"] = f"{result.exit_code}: {result.output}"
for path in json.loads(sys.argv[6]):
    try:
        dh.load_evaluation(path)
    except dh.errors.FileFormatError as error:  # exit code 3 of commands
        found["errors"][path] = str(error)
for name in json.loads(sys.argv[7]):
    try:
        getattr(dh.figures, name)
    except (AttributeError, deadheat.core.errors.MissingPluginError) as error:
        found["errors"][f"figures.{name}"] = str(error)
for words in json.loads(sys.argv[8]):
    result = CliRunner().invoke(main, words)
    found["errors"][" ".join(words)] = f"{result.exit_code}: {result.output}"
import deadheat.integrations.pytest_plugin
print(json.dumps(found))
"""


def names_of(plugin: str, stub: Path = PACKAGE / "__init__.pyi") -> list[str]:
    """Return the public names of a plugin, from the stub of the package or of that of figures."""
    names = []
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and hooks.find_plugin_of_module(node.module or "") == plugin:
            names += [alias.name for alias in node.names]
    return names


def copy_without(plugin: str, folder: Path) -> None:
    """Make a package of links to the files of deadheat, without the folder of a plugin."""
    (folder / "deadheat" / "plugins").mkdir(parents=True)
    for path in PACKAGE.iterdir():
        if path.name not in {"plugins", "__pycache__"}:
            (folder / "deadheat" / path.name).symlink_to(path)
    for path in (PACKAGE / "plugins").iterdir():
        if path.name not in {plugin, "__pycache__"}:
            (folder / "deadheat" / "plugins" / path.name).symlink_to(path)


def calls_of(plugin: Plugin, figures: list[str], folder: Path) -> tuple[list[list[str]], list[list[str]]]:
    """Write two runs and their queries; return calls for tables and figures of a plugin, and for columns of queries."""
    (folder / "x.qrels").write_text("a 0 d 1\nb 0 d 1\n", encoding="utf-8")
    for name in ("one", "two"):
        (folder / f"{name}.run").write_text(f"a Q0 d 1 2 {name}\nb Q0 d 1 2 {name}\n", encoding="utf-8")
    files = [str(folder / name) for name in ("x.qrels", "one.run", "two.run")]
    refused = []
    for added in plugin.tables:
        for name in added.names:
            refused.append([added.command, *files, "--format", "csv", "--table", name])
    figures_to = str(folder / "figures")
    for name in figures:
        refused.append(["compare", *files, "--figures", figures_to, "--figure", name])
    columns = []
    for column in plugin.query_columns:
        path = folder / f"{column.name}.csv"
        path.write_text(f"query_id,language,{column.name}\na,en,x\nb,fr,x\n", encoding="utf-8")
        columns.append(["compare", *files, "--queries", str(path), "--full"])
    return refused, columns


# Options that have the name of one of another plugin, by the commands whose help has them.
OTHER_OPTIONS = {"holes": ("--judge",), "convert": ("--judge",)}  # the file of holes, which people fill in


def check_help(plugin: Plugin, found: Mapping[str, Any]) -> None:
    """Check that the help of no command has what a plugin that is not there adds, not even in an example."""
    typed = [typed for group in plugin.options for typed in group.typed]
    for name, text in found["help_all"].items():
        others = [option for option in typed if option not in OTHER_OPTIONS.get(name, ())]
        assert not others or not re.search(rf"({'|'.join(others)})(?![\w-])", text), name
    for command in plugin.commands:
        assert f"  {command.name} " not in found["help"]


@pytest.mark.slow
@pytest.mark.parametrize("plugin", SHIPPED, ids=NAMES)
def test_without_a_plugin_the_rest_works_and_says_what_is_missing(plugin: Plugin, tmp_path: Path) -> None:
    copy_without(plugin.name, tmp_path)
    classes = [name for file in plugin.measures for name in file.names]
    names = [*names_of(plugin.name), *classes]
    aliases = [alias for file in plugin.measures for alias in file.aliases]
    measures = [*(f"{name}@5" for name in classes), *aliases, *(f"{alias}_5" for alias in aliases)]
    commands = [command.name for command in plugin.commands]
    services = [service.name for service in plugin.services]
    needs = NEEDS.get(plugin.name, ())
    saved = []
    for name in classes[:1]:
        saved.append(str(tmp_path / "saved.json"))
        deadheat.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, name).save(saved[0])
    for number, evaluation in enumerate(KEPT[plugin.name]() if plugin.name in KEPT else []):
        saved.append(str(evaluation.save(tmp_path / f"saved-{number}.json")))
    figures = names_of(plugin.name, PACKAGE / "plugins" / "figures" / "figures.pyi")
    refused, columns = calls_of(plugin, figures, tmp_path)
    given = (names, measures, commands, services, needs, saved, figures, [*refused, *columns])
    for name in ("train.letor", "train.svm", "train.txt"):
        (tmp_path / name).write_text("1 qid:q1 1:0.5\n", encoding="utf-8")
    (tmp_path / "spans.csv").write_text("query_id,doc_id,start,end\nq,d,0,10\n", encoding="utf-8")
    (tmp_path / "several.csv").write_text("query_id,doc_id,score,repeat\na,d,1,1\na,d,2,2\n", encoding="utf-8")
    for document in plugin.saved:
        (tmp_path / "state.json").write_text(json.dumps({"kind": document.kind, "format": 1}), encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, *map(json.dumps, given)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "200"},
        check=False,
    )
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    assert found["mean"] == pytest.approx((1 / 1 + 1 / 2 + 1 / 3) / 3 / 5 + 4 / 5 * 0.75)  # one of three, one of two
    assert found["lazily"] == found["mean"]
    assert "nDCG@10" in found["table"]
    assert found["names"] == dict.fromkeys(names, False)
    missing = f"is of the plugin {plugin.name}, which is not installed"
    keys = [f"{kind} {name}" for kind, of_kind in (("command", commands), ("service", services)) for name in of_kind]
    keys += [f"figures.{name}" for name in figures]
    for name in (*names, *measures, *needs, *saved, *keys):
        assert missing in found["errors"][name].replace("\n", " ")
    for words in refused:
        assert found["errors"][" ".join(words)].startswith("2: ")
        assert missing in " ".join(found["errors"][" ".join(words)].split())
    for words in columns:  # the rest is compared, and a note says what is not
        assert found["errors"][" ".join(words)].startswith("0: ")
        assert missing in " ".join(found["errors"][" ".join(words)].split())
    check_help(plugin, found)
    for command in commands:
        assert found["errors"][f"command {command}"].startswith("2: ")
    for path in saved:
        assert Path(path).name in found["errors"][path]


PAGES = """
import json
from pathlib import Path
import deadheat as dh
from click.testing import CliRunner
from deadheat.core.cli import main

Path("x.qrels").write_text("q1 0 a 1\\nq2 0 b 1\\n", encoding="utf-8")
Path("x.run").write_text("q1 Q0 a 1 1 t\\nq1 Q0 x 2 1 t\\nq2 Q0 b 1 2 t\\nq2 Q0 x 2 1 t\\n", encoding="utf-8")
result = CliRunner().invoke(main, ["report", "x.qrels", "x.run", "-m", "RR", "-o", "x.html"], catch_exceptions=False)
assert result.exit_code == 0, result.output
found = dh.evaluate({"q1": {"a": 1}}, {"q1": {"a": 1, "x": 1}}, "RR")
print(json.dumps([Path("x.html").read_text(encoding="utf-8"), found.to_html(full=True)]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("torn_out", ["ties", pytest.param("agree", marks=pytest.mark.slow)])
def test_a_page_shows_how_values_come_about_only_where_that_is_known(torn_out: str, tmp_path: Path) -> None:
    copy_without(torn_out, tmp_path)
    result = subprocess.run(
        [sys.executable, "-c", PAGES],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        check=False,
    )
    assert result.returncode == 0, result.stderr
    of_run, of_evaluation = json.loads(result.stdout)
    assert 'id="s0-rankings"' in of_run
    for page in (of_run, of_evaluation):
        assert ("How RR comes about" in page) == (torn_out != "ties")
    assert ('id="s0-steps"' in of_evaluation) == (torn_out != "ties")


@pytest.mark.slow
@pytest.mark.every_case
@pytest.mark.parametrize(
    ("torn_out", "states"),
    [
        ("judges", {"judges": "missing: there is no deadheat.plugins.judges", "bench": "ready"}),
        ("languages", {"bench": "left out: needs languages", "judges": "ready"}),
        ("dense", {"recommender": "left out: needs dense"}),
    ],
)
def test_the_list_of_plugins_says_which_is_gone_and_which_needs_it(
    torn_out: str, states: Mapping[str, str], tmp_path: Path
) -> None:
    copy_without(torn_out, tmp_path)
    command = [sys.executable, "-m", "deadheat", "plugins", "--format", "json"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    printed = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=True).stdout
    document = json.loads(printed)
    problems = {row["plugin"]: row["problem"] for row in document["added"]}
    for name, state in states.items():
        found = document["plugins"][name]["state"]
        problem = problems[name]
        assert (f"{found}: {problem}" if problem else found) == state


def test_every_format_of_reports_has_a_place_of_its_own() -> None:
    """Or which module was imported first would decide which of two is listed first."""
    places = [form.place for form in report_formats().values()]
    assert len(set(places)) == len(places)
