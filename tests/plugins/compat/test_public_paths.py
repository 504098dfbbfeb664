"""The public paths of the stand-ins: each is the module of the plugin, whichever is imported first."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

# Pairs of paths, to be imported in this order: neither may be there before its pair is
SCRIPT = """
import json, sys
from importlib import import_module

names = []
for paths in json.loads(sys.argv[1]):
    assert sys.modules.keys().isdisjoint(paths), paths
    first, second = map(import_module, paths)
    assert first is second, (first, second)
    for path in paths:
        parent, _, name = path.rpartition(".")
        assert getattr(import_module(parent), name) is first, path
    names.append(first.__name__)
print(json.dumps(names))
"""


@pytest.mark.parametrize("is_public_first", [True, False])
@pytest.mark.parametrize(
    "names",
    [
        ["pytrec_eval", "ranx", "ir_measures"],
        pytest.param(["ir_measures_provider"], marks=pytest.mark.slow),  # each is a process of a second
    ],
)
def test_public_paths_are_the_same_modules(names: list[str], *, is_public_first: bool) -> None:
    """ir_measures imports its provider, so that has a process of its own."""
    if find_spec("ir_measures") is None:
        names = [name for name in names if not name.startswith("ir_measures")]
    expected = [f"deadheat.plugins.compat.{name}" for name in names]
    pairs = [[f"deadheat.compat.{name}", f"deadheat.plugins.compat.{name}"] for name in names]
    if not is_public_first:
        pairs = [[inner, public] for public, inner in pairs]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(pairs)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected


def test_the_switch_is_that_of_the_plugin() -> None:
    from deadheat import compat
    from deadheat.plugins.compat import switch

    assert compat.install is switch.install
