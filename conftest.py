"""What every test shares: `--quick` and `--rest` divide the tests, hypothesis draws the same cases on every machine."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("support")  # so that an assertion there shows its values as one in a test does

# `HYPOTHESIS_PROFILE=explore make test-all` searches on, with new cases every time
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("quick", derandomize=True, deadline=None, database=None, max_examples=20)
settings.register_profile("explore", deadline=None, database=None, max_examples=2_000)

MOST_CASES = 8
ALL_SLOW = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.slow", re.MULTILINE)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--quick` and `--rest`."""
    parser.addoption(
        "--quick",
        action="store_true",
        help=f"what `make test` runs: no slow test, at most {MOST_CASES} cases of a test, 20 examples of hypothesis",
    )
    parser.addoption("--rest", action="store_true", help="what --quick leaves out, which `make test-all` runs after it")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the profile of hypothesis."""
    profile = "quick" if config.getoption("--quick") else "fixed"
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", profile))
    # deadheat registers a plugin, so pytest would rewrite the asserts that its modules do not have: 5 s of collecting
    config.pluginmanager.rewrite_hook._must_rewrite.discard("deadheat")  # type: ignore[attr-defined]  # noqa: SLF001


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


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Divide the tests: of a test with many cases `--quick` takes each n-th, and `--rest` the others."""
    rest = config.getoption("--rest")
    if not (rest or config.getoption("--quick")):
        return
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("slow") is None:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    quick = {id(item) for of_one in cases.values() for item in of_one[:: -(-len(of_one) // MOST_CASES)]}
    # hypothesis draws more examples in the rest, so its tests are in both
    drawn = {id(item) for item in items if getattr(getattr(item, "obj", None), "is_hypothesis_test", False)}
    kept = {id(item) for item in items} - quick | drawn if rest else quick
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = [item for item in items if id(item) in kept]
