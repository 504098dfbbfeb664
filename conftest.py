"""What every test shares: `--quick` and `--rest` divide the tests, hypothesis draws the same cases on every machine.

`--quick` and `--rest` keep in pytest's cache which tests they skipped; `--skipped` runs these, where more is installed.
"""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Generator, Iterator
from contextlib import suppress
from importlib import import_module
from inspect import isfunction
from pathlib import Path
from typing import TypeVar

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

Case = TypeVar("Case")
# Images of containers forbid it, and then each process that a test starts compiles every module anew: a fifth of the
# processor time of tests/golden
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

pytest.register_assert_rewrite("support")  # so that an assertion there shows its values as one in a test does

# `HYPOTHESIS_PROFILE=explore make test-all` searches on, with new cases every time
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("quick", derandomize=True, deadline=None, database=None, max_examples=20)
settings.register_profile("explore", deadline=None, database=None, max_examples=2_000)

MOST_CASES = 2  # of a test in `--quick`
REST = pytest.StashKey[set[int]]()
SKIPPED = "deadheat/skipped"  # in the cache
REPORTED: dict[str, bool] = {}  # whether it was skipped, by the id of a test, or of a file that is skipped as a whole
ALL_SLOW = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.slow", re.MULTILINE)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--quick` and `--rest`."""
    parser.addoption(
        "--quick",
        action="store_true",
        help=f"what `make test` runs: no slow test, at most {MOST_CASES} cases of a test, 20 examples of hypothesis",
    )
    parser.addoption("--rest", action="store_true", help="what --quick leaves out, which `make test-all` runs after it")
    parser.addoption("--skipped", action="store_true", help="what --quick and --rest skipped; all if they have not run")


def pytest_plugin_registered(manager: pytest.PytestPluginManager) -> None:
    """Rewrite no asserts of deadheat, which has none: as it registers a plugin, pytest would parse all of its modules.

    From here on, and not from `pytest_configure` on: the next conftest.py imports a third of them.
    """
    manager.rewrite_hook._must_rewrite.discard("deadheat")  # type: ignore[attr-defined]  # noqa: SLF001


def pytest_configure(config: pytest.Config) -> None:
    """Choose the profile of hypothesis."""
    config.stash[REST] = set()
    profile = "quick" if config.getoption("--quick") else "fixed"
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", profile))
    if config.getoption("--quick"):
        draw_no_constants_of_modules()


def draw_no_constants_of_modules() -> None:
    """Let hypothesis draw no constants of the modules that are loaded, as the rest of the tests does.

    It parses all of them for it, which takes seconds in every process; and which these are depends on the tests before.
    """
    with suppress(ImportError):
        providers = import_module("hypothesis.internal.conjecture.providers")
        none = getattr(providers, "_local_constants", None)
        if none is not None:  # as of versions that look for constants
            providers._get_local_constants = lambda: none  # type: ignore[attr-defined]  # noqa: SLF001


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no module for examples that it does not have, and in a hurry none whose tests are all slow."""
    if collection_path.suffix != ".py":
        return None
    is_a_test = collection_path.name.startswith("test_")
    wanted = "def test" if is_a_test else ">>>"
    text = collection_path.read_text(encoding="utf-8")
    if wanted not in text or (is_a_test and config.getoption("--quick") and ALL_SLOW.search(text)):
        return True
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without the garbage collector, which finds nothing among tests and takes a sixth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for no examples in the docstrings of tests that have none: it takes a second in every process."""
    collectors = yield
    if file_path.suffix == ".py" and ">>>" not in file_path.read_text(encoding="utf-8"):
        return [collector for collector in collectors if not isinstance(collector, DoctestModule)]
    return collectors


def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class, obj: object) -> list[pytest.Item] | None:
    """Make no items of slow tests in a hurry: they are a quarter of all."""
    if collector.config.getoption("--quick") and isfunction(obj):
        return [] if any(mark.name == "slow" for mark in getattr(obj, "pytestmark", ())) else None
    return None


def is_drawn(function: object) -> bool:
    """Whether hypothesis draws the examples: the rest has more of them, so such a test is in both."""
    return getattr(function, "is_hypothesis_test", False)


def first_and_last(cases: list[Case]) -> list[Case]:
    """Return two of many cases: of a grid of parameters these differ in all of them."""
    return [cases[0], cases[-1]]


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Divide the cases of a test that has many: `--quick` takes some, `--rest` the others.

    Here, before they are collected: ten thousand that are thrown away later cost five seconds in every process.
    """
    cases = metafunc._calls  # noqa: SLF001
    fast = [case for case in cases if all(mark.name != "slow" for mark in case.marks)]
    if len(fast) <= MOST_CASES or metafunc.definition.get_closest_marker("slow"):
        return
    if metafunc.definition.get_closest_marker("every_case"):
        return
    quick = first_and_last(fast)
    if metafunc.config.getoption("--quick"):
        cases[:] = quick
    elif metafunc.config.getoption("--rest") and not is_drawn(metafunc.function):
        kept = {id(case) for case in quick}
        cases[:] = [case for case in cases if id(case) not in kept]
        metafunc.config.stash[REST].update(map(id, cases))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Divide all other tests: `--quick` takes those that are not slow, `--rest` the slow ones."""
    if config.getoption("--quick"):
        kept = [item for item in items if not item.get_closest_marker("slow")]
    elif config.getoption("--rest"):
        rest = config.stash[REST]
        kept = [
            item
            for item in items
            if item.get_closest_marker("slow")
            or is_drawn(getattr(item, "obj", None))
            or id(getattr(item, "callspec", None)) in rest
        ]
    elif config.getoption("--skipped") and (skipped := set(config.cache.get(SKIPPED, ()))):
        kept = [item for item in items if not skipped.isdisjoint({item.nodeid, item.nodeid.partition("::")[0]})]
    else:
        return
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note whether a test is skipped."""
    REPORTED[report.nodeid] = REPORTED.get(report.nodeid, False) or report.skipped


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note a file that is skipped as a whole."""
    if report.skipped:
        REPORTED[report.nodeid] = True


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep which tests were skipped."""
    config = session.config
    if hasattr(config, "workerinput") or not (config.getoption("--quick") or config.getoption("--rest")):
        return
    if config.pluginmanager.hasplugin("cacheprovider"):
        before = {one for one in config.cache.get(SKIPPED, ()) if one not in REPORTED}
        config.cache.set(SKIPPED, sorted(before | {one for one, is_skipped in REPORTED.items() if is_skipped}))
