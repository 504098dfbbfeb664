"""The public paths of the stand-ins: each is the module of the plugin, whichever is imported first."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import sys
from importlib import import_module

first, second = (import_module(name) for name in sys.argv[1:])
assert first is second, (first, second)
parent, _, name = sys.argv[1].rpartition(".")
assert getattr(import_module(parent), name) is first
print(first.__name__)
"""


@pytest.mark.parametrize("name", ["pytrec_eval", "ranx", "ir_measures", "ir_measures_provider"])
@pytest.mark.parametrize("is_public_first", [True, False])
def test_a_public_path_is_the_same_module(name: str, *, is_public_first: bool) -> None:
    if name.startswith("ir_measures"):
        pytest.importorskip("ir_measures")
    paths = [f"deadheat.compat.{name}", f"deadheat.plugins.compat.{name}"]
    if not is_public_first:
        paths.reverse()
    done = subprocess.run([sys.executable, "-c", SCRIPT, *paths], capture_output=True, text=True, check=False)
    assert done.stdout == f"deadheat.plugins.compat.{name}\n", done.stderr


def test_the_switch_is_that_of_the_plugin() -> None:
    from deadheat import compat
    from deadheat.plugins.compat import switch

    assert compat.install is switch.install
