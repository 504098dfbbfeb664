"""What every test shares: hypothesis draws the same cases on every machine."""

from __future__ import annotations

import os
import sys
from importlib import machinery, metadata
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from support.command import QRELS, RUN
from support.letters import Letters

if TYPE_CHECKING:
    from pathlib import Path

# `HYPOTHESIS_PROFILE=explore make test` searches on, with new cases every time
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None, database=None, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "bm25.run").write_text(RUN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


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
