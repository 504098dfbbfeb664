"""Mutation testing: small changes of the code, one at a time, that some test should notice.

    PYTHONPATH=tests:src python -m support.mutants core/kernels --number 60    # as `make mutants` runs it

A copy of the package is changed, never the sources. A change that no test notices survives, and is printed as a line of
the code before and after. Some survivors are no fault of the tests: a bound of a memory block, a shortcut, a message.
Which mutants are drawn depends on --seed alone, so that a night that failed can be run again.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from support.paths import ROOT, SOURCE

COPY = ROOT / "build" / "mutants"
# Tests that notice a change of these folders, the fastest first
TESTS = {
    "core/kernels": ("tests/core/kernels", "tests/plugins/agree/test_agreement.py", "tests/whole/test_conformance.py"),
    "core/placements": (
        *("tests/core/placements", "tests/core/kernels", "tests/plugins/ties/test_profile.py"),
        *("tests/core/evaluation/test_facts.py", "tests/whole/test_several.py", "tests/whole/test_conformance.py"),
    ),
    "core/stats": ("tests/core/stats",),
    "core/measures": (
        *("tests/core/measures", "tests/plugins/weeks/test_rescored.py", "tests/whole/test_conformance.py"),
        "tests/golden/test_golden.py",
    ),
    "core/evaluation": (
        *("tests/core/evaluation", "tests/core/data/test_doubts.py", "tests/core/io/test_texts.py"),
        *("tests/whole/test_unanswerable.py", "tests/plugins/judges/test_means.py", "tests/plugins/spans"),
        *("tests/plugins/weeks", "tests/golden/test_golden.py"),
    ),
}
COMPARISONS = ((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq))
OPERATORS = ((ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.BitAnd, ast.BitOr))
FUNCTIONS = (("maximum", "minimum"), ("max", "min"), ("any", "all"))
SWAPS: dict[Any, Any] = {}
for left, right in (*COMPARISONS, *OPERATORS, *FUNCTIONS):
    SWAPS |= {left: right, right: left}
SECONDS = 300  # after which tests that do not end have noticed the mutant


@dataclass(frozen=True)
class Mutant:
    """A file with one change.

    Attributes
    ----------
    path : Path
        The file, relative to the package.
    line : int
    before, after : str
        The changed expression.
    source : str
        The whole changed file.
    """

    path: Path
    line: int
    before: str
    after: str
    source: str


def change(node: ast.AST) -> Iterator[None]:
    """Change a node in each way that there is, and restore it after each."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        original = node.ops[0]
        node.ops[0] = SWAPS[type(original)]()
        yield
        node.ops[0] = original
    elif isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
        operator = node.op
        node.op = SWAPS[type(operator)]()
        yield
        node.op = operator
    elif isinstance(node, ast.Attribute) and node.attr in SWAPS:
        name = node.attr
        node.attr = SWAPS[name]
        yield
        node.attr = name
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        value = node.value
        node.value = not value if isinstance(value, bool) else value + 1
        yield
        node.value = value


def list_mutants(path: Path) -> Iterator[Mutant]:
    """Yield the mutants of a file, given relative to the package: changes inside its functions."""
    tree = ast.parse((SOURCE / "deadheat" / path).read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    nodes = {id(node): node for function in functions for part in function.body for node in ast.walk(part)}
    for node in nodes.values():
        before = ast.unparse(node)
        for _ in change(node):
            yield Mutant(path, getattr(node, "lineno", 0), before, ast.unparse(node), ast.unparse(tree))


def is_noticed(mutant: Mutant, tests: tuple[str, ...], stamp: int) -> bool:
    """Run the tests on the copy with one change, until one fails.

    Python uses a compiled file if the source has the same time and size, so each changed file gets another time.
    """
    target = COPY / "deadheat" / mutant.path
    target.write_text(mutant.source, encoding="utf-8")
    os.utime(target, (stamp, stamp))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(COPY), str(ROOT / "tests")])}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "--quick", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, timeout=SECONDS, capture_output=True, check=False)
    except subprocess.TimeoutExpired:
        return True
    finally:
        shutil.copy2(SOURCE / "deadheat" / mutant.path, target)
    return done.returncode != 0


def main() -> None:
    """Draw mutants of a folder, test each one, and print those that survive."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", default=list(TESTS), choices=list(TESTS), metavar="FOLDER")
    parser.add_argument("--number", type=int, default=60, help="mutants of each folder")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(SOURCE / "deadheat", COPY / "deadheat", ignore=shutil.ignore_patterns("__pycache__"))
    compileall.compile_dir(COPY, quiet=1)
    stamps = count(1)
    for folder in options.folders:
        files = sorted((SOURCE / "deadheat" / folder).glob("*.py"))
        mutants = [mutant for path in files for mutant in list_mutants(path.relative_to(SOURCE / "deadheat"))]
        drawn = random.Random(options.seed).sample(mutants, min(options.number, len(mutants)))
        n_survivors = 0
        for mutant in drawn:
            if not is_noticed(mutant, TESTS[folder], next(stamps)):
                n_survivors += 1
                print(f"{mutant.path}:{mutant.line}: {mutant.before}  ->  {mutant.after}", flush=True)
        print(f"{folder}: {n_survivors} of {len(drawn)} mutants survive ({len(mutants)} in all)", flush=True)


if __name__ == "__main__":
    main()
