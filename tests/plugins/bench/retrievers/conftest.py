"""A model of embeddings where sentence-transformers is looked for."""

from __future__ import annotations

import sys
from importlib import machinery, metadata
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from support.letters import Letters

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> type[Letters]:
    module = ModuleType("sentence_transformers")
    module.__spec__ = machinery.ModuleSpec("sentence_transformers", None)
    vars(module)["SentenceTransformer"] = Letters
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    known = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "9" if name == "sentence-transformers" else known(name))
    monkeypatch.setenv("DEADHEAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(Letters, "loaded", [])
    for name in ("given", "encoded", "asked"):
        monkeypatch.setattr(Letters, name, [])
    return Letters
