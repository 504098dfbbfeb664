"""The public path of the evaluators, also where neither PyTorch nor sentence-transformers is installed."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
from importlib import import_module
from types import ModuleType

class Stub(ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})

for name in ("torch", "sentence_transformers"):
    sys.modules[name] = Stub(name)
for name in ("cross_encoder", "sentence_transformer"):
    library = sys.modules[f"sentence_transformers.{name}"] = Stub(name)
    library.evaluation = Stub("evaluation")

from deadheat.integrations import sentence_transformers as public
assert public is import_module("deadheat.integrations.sentence_transformers")
assert public is import_module("deadheat.plugins.sentence_transformers.evaluators")
print(public.InformationRetrievalEvaluator.__mro__[1].__name__)
"""


def test_the_public_path_is_the_same_module() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.stdout == "WithTies\n", done.stderr
