"""How far the core knows plugins: in how many of its functions their words stand. (It imports none: import-linter.)

    PYTHONPATH=tests:src python -m support.walls    # as CI prints it

The numbers only fall. A function counts once for a plugin, however often it mentions it, and so does a method whose
name is a plugin's word: docs/design.md lists these methods.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

import deadheat
from deadheat import registry

PACKAGE = Path(deadheat.__file__).parent
WITH_BOTH = {"registry.py", "__init__.py", "__init__.pyi"}  # they name the core and plugins

# Words of a plugin: attributes, parameters, keys and names in the core that begin so exist for it.
WORDS = {
    "bounds": ("unjudged_m", "outer_bound", "has_unjudged_bounds", "refuse_bounds", "open_to", "are_failures_open"),
    "columns": ("score_columns", "scoring", "letor"),
    "dense": ("is_sampled", "accumulator", "KeptLists"),
    "engines": ("spark", "duckdb", "engines"),
    "exports": ("chroma", "mteb", "is_quepid", "ir_datasets", "langchain", "haystack"),
    "gates": ("gate",),
    "figures": ("figure", "draw_figures", "with_figure", "claim_figures", "write_figures", "rule_of_figures"),
    "judges": ("judge_weight", "by_judge", "human_", "labels_of_judge", "is_own_judge", "predicted", "powered"),
    "languages": ("language",),
    "leaderboard": ("leaderboard",),
    "recommender": ("item_profile", "popularity", "exposure", "novelty"),
    "repeats": ("repeats", "Repeats", "plan_repeats", "REPEAT", "rerun", "variance_components"),  # not np.repeat
    "spans": ("span_rule", "spans_of", "of_spans", "Spans", "passage", "overlap_of"),  # Span is a range in a cell
    "ties": ("tie_profile", "coarse", "simulat", "stepped", "has_steps"),
    "weeks": ("rescor", "histor", "rejudg"),
}
# Such words that begin others too: they count whole, and not as methods, as kinds of judgments have a method `judge`.
WHOLE_WORDS = {"judges": {"judge"}}
MOST_MENTIONS = {  # lower a number when a wall has moved; never raise one
    "bounds": 6,
    "columns": 0,
    "dense": 1,
    "engines": 1,
    "exports": 0,
    "figures": 3,
    "gates": 0,
    "judges": 9,
    "languages": 12,
    "leaderboard": 0,
    "recommender": 1,
    "repeats": 3,
    "spans": 1,
    "ties": 0,
    "weeks": 3,
}


def plugin_of_file(path: Path) -> str | None:
    """Return the plugin that a file is part of; None for the core."""
    parts = path.relative_to(PACKAGE).parts
    return parts[1] if parts[0] == "plugins" and len(parts) > 2 else None


def core_files() -> list[Path]:
    """Return the files of the core, in order."""
    return sorted(path for path in PACKAGE.rglob("*.py") if plugin_of_file(path) is None and path.name not in WITH_BOTH)


@cache
def modules_imported_by(path: Path) -> set[str]:
    """Return what a file imports of deadheat, also inside functions."""
    imported = set()
    for node in _statements_in(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {module for module in imported if module.startswith("deadheat.")}


def _statements_in(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements in a node at any depth, and what holds them, without expressions: these are most nodes."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child
            yield from _statements_in(child)


def words_in(function: ast.AST, *, has_attributes: bool = True) -> set[str]:
    """Return the name of a function, and the names, parameters, attributes and texts of one word in it."""
    words = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            words.add(node.id)
        elif isinstance(node, ast.FunctionDef) and has_attributes:
            words.add(node.name)
        elif isinstance(node, ast.Attribute) and has_attributes:
            words.add(node.attr)
        elif isinstance(node, ast.arg | ast.keyword) and node.arg:
            words.add(node.arg)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            words.add(node.value)
    return words


def mentions_of_plugins() -> dict[str, int]:
    """Return in how many functions of the core the words of each plugin stand."""
    beginnings_of_all = [beginning for of_plugin in WORDS.values() for beginning in of_plugin]
    any_word = re.compile("|".join(sorted({*beginnings_of_all, *set().union(*WHOLE_WORDS.values())})))
    counts = dict.fromkeys(WORDS, 0)
    for path in core_files():
        text = path.read_text(encoding="utf-8")
        lines = {number for number, line in enumerate(text.split("\n"), 1) if any_word.search(line)}
        if not lines:
            continue
        for node in _statements_in(ast.parse(text)):
            if not isinstance(node, ast.FunctionDef) or lines.isdisjoint(_lines_of(node)):
                continue
            words, alone = words_in(node), words_in(node, has_attributes=False)
            for plugin, beginnings in WORDS.items():
                has_word = any(word.startswith(beginnings) for word in words)
                counts[plugin] += has_word or not alone.isdisjoint(WHOLE_WORDS.get(plugin, set()))
    return counts


def _lines_of(function: ast.FunctionDef) -> range:
    """Return the numbers of the lines of a function, with those of its decorators."""
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    return range(first, (function.end_lineno or first) + 1)


def methods_that_ask() -> dict[str, str]:
    """Return the public methods of core classes that ask a service of a plugin, such as "Evaluation.steps": "ties"."""
    services = {service.name: plugin.name for plugin in registry.PLUGINS for service in plugin.services}
    found = {}
    for name, method in _methods_of_core("hooks"):
        for node in ast.walk(method):
            if isinstance(node, ast.Call) and _is_of_hooks(node.func):
                asked = services.get(_text_of(node.args), "core")
                if asked != "core" and not method.name.startswith("_"):
                    found[name] = asked
    return found


def _is_of_hooks(function: ast.expr) -> bool:
    """Tell whether what is called begins with "hooks."; to write each call as text takes seconds."""
    inner = function
    while isinstance(inner, ast.Attribute | ast.Call | ast.Subscript):
        inner = inner.func if isinstance(inner, ast.Call) else inner.value
    return inner is not function and isinstance(inner, ast.Name) and inner.id == "hooks"


def count_statements(names: Collection[str]) -> dict[str, int]:
    """Return how many statements methods of core classes have, by names such as "Evaluation.steps"."""
    counts: dict[str, int] = {}
    classes = [name.partition(".")[0] for name in names]
    for name, method in _methods_of_core(*classes):
        if name in names and name not in counts:
            has_docstring = ast.get_docstring(method) is not None
            counts[name] = len(method.body) - has_docstring
    return counts


def _methods_of_core(*names: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the methods in files that have one of some names; to parse the others takes most of the time."""
    any_name = re.compile("|".join(map(re.escape, names)))
    for path in core_files():
        text = path.read_text(encoding="utf-8")
        if not any_name.search(text):
            continue
        for of_class in ast.parse(text).body:
            if isinstance(of_class, ast.ClassDef):
                for method in of_class.body:
                    if isinstance(method, ast.FunctionDef):
                        yield f"{of_class.name}.{method.name}", method


def _text_of(arguments: list[ast.expr]) -> str:
    """Return the first argument if it is a text, or the name of one in capitals."""
    first = arguments[0] if arguments else None
    if isinstance(first, ast.Constant):
        return str(first.value)
    return first.id.lower() if isinstance(first, ast.Name) else ""


if __name__ == "__main__":
    mentions = mentions_of_plugins()
    print(f"functions of the core that mention plugins: {sum(mentions.values())}")
    for plugin, number in mentions.items():
        print(f"  {plugin}: {number} (at most {MOST_MENTIONS[plugin]})")
