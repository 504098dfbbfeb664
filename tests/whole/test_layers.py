"""What import-linter cannot say of imports (its contracts are in pyproject.toml): which wait, and what is loaded."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

import deadheat
from deadheat import registry
from deadheat.core import hooks
from support.paths import ROOT, TESTS

PACKAGE = Path(deadheat.__file__).parent

FLOORS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"][0]
(CONTAINER,) = FLOORS["containers"]  # the package of the floors
CORE = PACKAGE.parent.joinpath(*CONTAINER.split("."))
HEIGHTS = {name: height for height, names in enumerate(reversed(FLOORS["layers"])) for name in names.split(" : ")}


class Import(NamedTuple):
    """One import of a module of the core."""

    module: str  # that imports, as "measures.linear"
    where: str  # the function, "TYPE_CHECKING" or "module"
    imported: str  # the first part of what is imported, as "kernels"
    line: int

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.imported} in {self.where}"


class Imports(ast.NodeVisitor):
    """Collect the imports of one module of the core that stay inside the core."""

    def __init__(self, path: Path, root: Path) -> None:
        parts = path.relative_to(root).with_suffix("").parts
        self.root = root
        self.module = ".".join(parts)
        self.package = parts[:-1]
        self.scope: list[str] = []
        self.found: list[Import] = []

    def add(self, parts: tuple[str, ...], line: int) -> None:
        first = parts[0] if parts else ""
        is_module = (self.root / first).is_dir() or (self.root / f"{first}.py").is_file()
        where = ".".join(self.scope) or "module"
        self.found.append(Import(self.module, where, first if first and is_module else "__init__", line))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.add_absolute(alias.name, node.lineno)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            if node.level:
                base = self.package[: len(self.package) - node.level + 1]
                named = tuple(node.module.split(".")) if node.module else ()
                self.add((*base, *named, alias.name), node.lineno)
            else:
                self.add_absolute(f"{node.module}.{alias.name}", node.lineno)

    def add_absolute(self, module: str, line: int) -> None:
        if module == CONTAINER or module.startswith(f"{CONTAINER}."):
            parts = module.removeprefix(CONTAINER).split(".")[1:]
            self.add(tuple(parts), line)

    def visit_scope(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self.scope.append(node.name)
        self.generic_visit(node)
        self.scope.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_scope  # noqa: N815 - the names that ast calls

    def visit_If(self, node: ast.If) -> None:
        for statements, scope in ((node.body, ast.unparse(node.test)), (node.orelse, "")):
            self.scope += ["TYPE_CHECKING"] * scope.endswith("TYPE_CHECKING")
            for statement in statements:
                self.visit(statement)
            del self.scope[len(self.scope) - scope.endswith("TYPE_CHECKING") :]


def imports_of(path: Path, root: Path = CORE) -> list[Import]:
    """Return the imports inside the core that the file at `path` makes."""
    visitor = Imports(path, root)
    visitor.visit(ast.parse(path.read_text(encoding="utf-8"), str(path)))
    return visitor.found


SOURCES = sorted(path for name in HEIGHTS for path in [*CORE.glob(f"{name}.py"), *CORE.glob(f"{name}/**/*.py")])


# What a function of the core imports of the core, outside commands (which import what they call when they are called),
# and why it is not imported at the top.
LATE = {
    "data.query_tables imports io in convert_records": "Narwhals",
    "data.rows imports io in Rows.repeated_pairs": "Narwhals",
    "data.unread_rows imports io in UnreadRows.batches": "few rows are read in batches",
    "data.unread_trec imports io in UnreadTrec.__init__": "Narwhals",
    "data.rows imports io in collect_rows": "Narwhals",
    "data.known_ids imports io in collect_ids": "Narwhals",
    "data.document_table imports data in DocumentTable._store": "few files are larger than memory",
    "data.document_table imports data in DocumentTable.facts": "few ask for them",
    "data.document_table imports io in DocumentTable.__init__": "dicts need no formats of files",
    "data.document_table imports io in DocumentTable._load_file": "dicts need no formats of files",
    "data.document_table imports io in DocumentTable.make_duplicate_error": "dicts need no formats of files",
    "data.sources imports io in make_label": "dicts need no formats of files",
    "data.sources imports io in find_run_column": "Narwhals",
    "data.qrels imports data in Qrels.fingerprint": "asked of few judgments",
    "evaluation.evaluate imports data in check_collection": "few evaluations have a collection",
    "evaluation.evaluate imports io in _list_batches": "few evaluations are of several runs",
    "evaluation.evaluation imports data in Evaluation.weighted": "few evaluations are weighted",
    "evaluation.evaluation imports evaluation in Evaluation.weighted": "few evaluations are weighted",
    "evaluation.evaluation imports evaluation in Evaluation.facts": "few evaluations are shown",
    "evaluation.evaluation imports evaluation in Evaluation.intervals": "few evaluations have intervals",
    "evaluation.scores imports evaluation in Scores.interval": "few scores have intervals",
    "evaluation.scores imports evaluation in Scores.quantile": "few scores have intervals",
    "evaluation.evaluate_runs imports measures in _can_be_evaluated_together": "few evaluations are of several runs",
    "evaluation.query_columns imports data in _column_of": "few evaluations have a table of queries",
    "evaluation.stratum_places imports data in groups": "few evaluations have a table of queries",
    "evaluation.systems imports io in _table_in": "dicts need no formats of files",
    "evaluation.warned imports io in _has_all": "dicts need no formats of files",
    "evaluation.open_evaluations imports evaluation in is_evaluation": "few evaluations are loaded",
    "evaluation.open_evaluations imports evaluation in load_evaluation": "few evaluations are loaded",
    "evaluation.evaluation imports evaluation in Evaluation.by": "a stratum is an evaluation, too",
    "evaluation.evaluate_runs imports placements in _evaluate_together": "few evaluations are of several runs",
    "evaluation.evaluate_runs imports placements in shorten_lists": "few evaluations cut lists",
    "evaluation.evaluate_runs imports placements in _can_be_evaluated_together": "few evaluations are of several runs",
    "evaluation.evaluation imports data in Evaluation.queries_hash": "asked of few evaluations",
    "evaluation.evaluation imports placements in Evaluation.keeping": "few evaluations are saved",
    "evaluation.evaluation imports evaluation in Evaluation.keeping": "few evaluations are saved",
    "evaluation.evaluation imports evaluation in Evaluation.save": "few evaluations are saved",
    "evaluation.systems imports io in find_systems": "Narwhals",
    "evaluation.systems imports io in runs_by": "Narwhals",
    "evaluation.interval_estimates imports stats in estimate_quantile": "SciPy",
    "evaluation.interval_estimates imports stats in _estimate_ends": "SciPy",
    "evaluation.interval_estimates imports stats in _estimate_skewness": "SciPy",
    "evaluation.interval_estimates imports stats in estimate_intervals": "SciPy",
    "evaluation.strata_intervals imports stats in estimate_bounded_ends": "SciPy",
    "io.formats.__init__ imports io in _add_values": "Narwhals",
    "io.formats.parquet imports io in read_parquet": "few files are Parquet",
    "io.records imports io in read_rows": "Narwhals",
    "io.sources imports io in read_frame": "Narwhals",
    "io.splitting imports io in _begin_together": "NumPy",
    "placements.place imports placements in choose_engine": "a run needs one engine; Narwhals",
    "placements.place imports placements in hold_in_memory": "a run needs one engine",
    "report.as_data imports measures in _run": "help names the format, and needs no NumPy",
    "report.as_data imports measures in trec_name": "help names the format, and needs no NumPy",
    "report.model imports measures in notation_of": "help names the formats, and needs no NumPy",
    "report.as_table imports report in _draw": "Rich",
    "report.shown imports report in text_of": "Rich",
}


@pytest.mark.slow
def test_an_import_waits_for_its_call_only_for_a_reason() -> None:
    """That is listed above, but for those of the command line."""
    late = set()
    for path in SOURCES:
        for found in imports_of(path):
            if found.where not in {"module", "TYPE_CHECKING"} and not found.module.startswith("cli"):
                late.add(f"{found.module} imports {found.imported} in {found.where}")
    assert late == set(LATE)


# A floor that is named in a text.
FLOOR = re.compile(rf"{re.escape(CONTAINER)}\.(\w+)[\w.]*")


def test_what_lower_floors_ask_of_higher_ones() -> None:
    """The core asks by a name, of which the registry says what answers."""
    need_a_package = {"sentence_transformers", "ir_measures"}
    for plugin in registry.PLUGINS:
        for entry in plugin.services:
            if entry.name not in need_a_package:
                assert hooks.service(entry.name).__name__ == entry.module


def test_no_higher_floor_is_named_in_a_string() -> None:
    """What one asks of a higher floor is a service, of which the registry says who does it."""
    found = set()
    outside_of_imports = re.compile(r"^(?!\s*(?:from|import) ).*deadheat", re.MULTILINE)
    for path in SOURCES:
        own, *_ = path.relative_to(CORE).with_suffix("").parts
        text = path.read_text(encoding="utf-8")
        if not outside_of_imports.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named = FLOOR.fullmatch(node.value)
                if named and HEIGHTS.get(named[1], 0) > HEIGHTS[own]:
                    found.add(f"{path.relative_to(CORE).as_posix()} names {node.value}")
    assert not found


def test_every_class_that_shows_itself_has_a_report() -> None:
    import_module("deadheat.plugins.bench.bench")
    import_module("deadheat.core.report.shown")
    hooks.load("reports")
    hooks.load("pages")
    reports = import_module("deadheat.core.report.model")
    shown = set(import_module("deadheat.core.data.renderable").Renderable.__subclasses__())
    of_notebooks = {one for one in reports.REPORTS if one.__name__ in {"DocumentTable", "Interval", "Pair", "Scores"}}
    assert shown == set(reports.REPORTS) - of_notebooks
    assert {one.__name__ for one in reports.PAGES} == {
        "BenchResult",
        "Comparison",
        "Evaluation",
        "History",
        "JudgeAgreement",
        "Leaderboard",
    }


@pytest.mark.parametrize(
    ("source", "where", "imported"),
    [
        (f"from {CONTAINER}.cli import main", "module", "cli"),
        (f"import {CONTAINER}.cli", "module", "cli"),
        (f"from {CONTAINER} import evaluation", "module", "evaluation"),
        ("from ..evaluation import evaluate", "module", "evaluation"),
        ("from .linear import P", "module", "measures"),
        (f"class A:\n    def b(self):\n        from {CONTAINER}.report.text import table", "A.b", "report"),
        (f"if TYPE_CHECKING:\n    from {CONTAINER} import stats", "TYPE_CHECKING", "stats"),
    ],
)
def test_the_reader_of_imports_sees(source: str, where: str, imported: str, tmp_path: Path) -> None:
    for name in ("cli", "evaluation", "report/text", "stats", "measures/linear", "measures/probe"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
    found = imports_of(tmp_path / "measures" / "probe.py", tmp_path)
    assert [(one.where, one.imported) for one in found] == [(where, imported)]


def test_the_stub_has_the_names_that_there_are() -> None:
    statements = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8")).body
    (listed,) = (node.value for node in statements if isinstance(node, ast.Assign))
    names = {*ast.literal_eval(listed), *import_module("deadheat.core.measures").__all__}
    assert names == set(dir(deadheat))
    for node in statements:
        if isinstance(node, ast.ImportFrom):
            named = {alias.name for alias in node.names} - {"*", "measures"}  # the latter is a package, called
            assert all(getattr(deadheat, name) is getattr(import_module(str(node.module)), name) for name in named)


def test_the_stub_of_measures_has_every_measure_and_where_it_is() -> None:
    """The package finds its measures by itself; type checkers read the stub."""
    measures = import_module("deadheat.core.measures")
    statements = ast.parse((PACKAGE / "core" / "measures" / "__init__.pyi").read_text(encoding="utf-8")).body
    (listed,) = (ast.literal_eval(node.value) for node in statements if isinstance(node, ast.Assign))
    files = {alias.name: node.module for node in statements if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert sorted(files) == sorted(listed) == sorted(measures.__all__)
    assert all(getattr(measures, name) is getattr(import_module(str(file)), name) for name, file in files.items())
    assert set(deadheat.measures()) <= set(listed)


FILES = "'x.qrels', 'x.run'"
# modules of which dicts, lists and arrays need none: what reads files, and measures and results that nobody asked for
OF_FILES = {"deadheat.core.io.formats", "deadheat.core.io.records", "deadheat.core.io.writing", "concurrent.futures"}
OF_OTHER_MEASURES = {
    *(f"deadheat.core.measures.{name}" for name in ("cascade", "orders", "rank_biased", "totals")),
    "deadheat.plugins.more_measures",
    "deadheat.plugins.diversity",
}
OF_OTHER_RESULTS = {f"deadheat.core.evaluation.{name}" for name in ("facts", "intervals", "origin", "stratum")}
UNUSED = {"polars", "numpy.ma", "subprocess", "hashlib", *OF_FILES, *OF_OTHER_MEASURES, *OF_OTHER_RESULTS}
DICTS = "{'q': {'d': 1}}, {'q': {'d': 2.5, 'e': 2.5, 'f': 3}}"
LISTS = "{'q': ['d']}, {'q': ['e', 'd']}"
ARRAYS = "{'q': numpy.array(['d'])}, {'q': numpy.array(['e', 'd'])}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "unused"),
    [
        (f"evaluate({FILES})", OF_OTHER_MEASURES),
        (f"evaluate({DICTS})", UNUSED),
        (f"evaluate({DICTS}, ['nDCG@10', 'AP', 'RR', 'bpref', 'P@5'])", UNUSED - {"numpy.ma"}),
        (f"evaluate({LISTS})", UNUSED),
        (f"evaluate({ARRAYS})", UNUSED),
    ],
    ids=["files", "dicts", "measures", "lists", "arrays"],
)
def test_an_evaluation_loads_nothing_that_it_does_not_use(call: str, unused: set[str], tmp_path: Path) -> None:
    """Each takes 5 to 100 ms; numpy.ma comes with the first np.unique, and where Polars takes an array."""
    (tmp_path / "x.qrels").write_text("q 0 d 1\n", encoding="utf-8")
    (tmp_path / "x.run").write_text("q Q0 d 1 2.5 t\nq Q0 e 2 2.5 t\n", encoding="utf-8")
    code = f"import sys, numpy, deadheat; deadheat.{call}.means(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "polars" in loaded | unused
    assert not (unused | {"narwhals", "numpy.random", "scipy", "difflib", "rich", "click"}) & loaded


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "unused"),
    [
        ("evaluate x.qrels x.run", {"numpy.random", "deadheat.core.stats"}),
        ("evaluate x.qrels x.run --format csv", {"numpy.random", "deadheat.core.stats", "rich"}),
        ("evaluate x.qrels x.run --ties doc_id", {"numpy.random", "deadheat.core.stats"}),
        ("evaluate x.qrels x.run --ties input --score-precision 1", {"numpy.random", "deadheat.core.stats"}),
        ("ties x.run", {"numpy.random", "deadheat.core.stats"}),
        ("ties x.run x.qrels", {"numpy.random", "deadheat.core.stats"}),
        ("convert x.run x.parquet --force", {"numpy.random", "deadheat.core.stats", "deadheat.core.measures"}),
    ],
)
def test_a_command_loads_nothing_that_it_does_not_use(command: str, unused: set[str], tmp_path: Path) -> None:
    (tmp_path / "x.qrels").write_text("q 0 d 1\n", encoding="utf-8")
    (tmp_path / "x.run").write_text("q Q0 d 1 2.5 t\nq Q0 e 2 2.5 t\n", encoding="utf-8")
    code = (
        "import sys\nfrom deadheat.core.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit as end:\n    print('exit', end.code)\nprint(*sys.modules)"
    )
    arguments = [sys.executable, "-c", code, *command.split()]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=True)
    *_, end, loaded = done.stdout.splitlines()
    assert end == "exit 0"
    assert "polars" in loaded.split()
    others = {
        "narwhals",
        "scipy",
        "difflib",
        "deadheat.comparison",
        "deadheat.plugins.gates.gate",
        "deadheat.plugins.bench",
    }
    others |= {"deadheat.plugins.judges.command", "deadheat.plugins.ties.simulate_command"}
    assert not (unused | others) & set(loaded.split())


def test_dicts_are_compared_and_shown_without_polars() -> None:
    code = (
        f"import sys, deadheat; print(deadheat.evaluate({DICTS}));"
        "runs = {'a': {'q': {'d': 1}, 'r': {'d': 1}}, 'b': {'q': {'e': 1}, 'r': {'d': 1}}};"
        "deadheat.compare({'q': {'d': 1}, 'r': {'d': 1}}, runs); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "polars" not in done.stdout.splitlines()[-1].split()


def test_the_core_imports_polars_when_something_of_it_is_asked_for() -> None:
    """It takes it from its module of libraries."""
    plain = re.compile(r"^(import|from) polars\b", re.MULTILINE)
    assert not [str(path) for path in SOURCES if plain.search(path.read_text(encoding="utf-8"))]


def test_help_loads_neither_numpy_nor_polars() -> None:
    code = (
        "import sys, deadheat.core.cli as cli; cli.main(['evaluate', '-h'], standalone_mode=False); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "polars", "rich"} & set(done.stdout.splitlines()[-1].split())


def test_a_rule_that_is_silenced_on_a_line_has_its_reason_there() -> None:
    """CONTRIBUTING asks for it."""
    bare = [
        f"{path.relative_to(ROOT)}:{number}"
        for folder in ("src", "tests", "bench", "datasets", "docs")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r"# no[q]a(?!: [A-Z0-9, ]+ - \w)", line)
    ]
    assert bare == []


TEST_FILES = sorted(TESTS.rglob("test_*.py"))
WITHOUT_A_ROOM = {"fuzz", "golden", "oracle", "support", "whole"}  # all other folders are those of src/deadheat


@pytest.mark.slow
def test_no_file_imports_tests() -> None:
    """What several need is in tests/support or tests/oracle; pytest finds fixtures in conftest.py."""
    imported = [
        f"{path.relative_to(ROOT)}:{node.lineno} imports {name}"
        for path in sorted(TESTS.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path)))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in names_of(node)
        if any(part.startswith("test_") or part == "conftest" for part in name.split("."))
    ]
    assert imported == []


def names_of(node: ast.Import | ast.ImportFrom) -> list[str]:
    base = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
    return [base + alias.name for alias in node.names]


def test_tests_are_in_the_rooms_of_what_they_test() -> None:
    folders = {path.parent.relative_to(TESTS) for path in TEST_FILES}
    rooms = {folder for folder in folders if not (folder.parts and folder.parts[0] in WITHOUT_A_ROOM)}
    assert Path() not in rooms, "a file of tests is in no folder"
    assert [str(room) for room in sorted(rooms) if not (PACKAGE / room / "__init__.py").is_file()] == []
