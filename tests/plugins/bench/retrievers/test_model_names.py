"""What a model in a folder is called: after its card, else after the folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deadheat.errors import ParameterError
from deadheat.plugins.bench.retrievers import make_retriever, make_retrievers

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "---\nlicense: mit\ntags:\n- sentence-transformers\n"
BASE = "base_model:\n- org/base\n"
INDEX = "model-index:\n- name: tuned-by-index\n  results:\n"


def folder(path: Path, card: str | None = None) -> Path:
    path.mkdir()
    if card is not None:
        (path / "README.md").write_text(card, encoding="utf-8")
    return path


@pytest.mark.usefixtures("letters")
@pytest.mark.parametrize(
    ("card", "name"),
    [
        (f"{HEAD}model_name: org/tuned\n{INDEX}{BASE}---\n# A title\n", "tuned"),
        (f"{HEAD}{INDEX}{BASE}---\n# A title\n", "tuned-by-index"),
        (f"{HEAD}{BASE}---\n\n# org/all-letters\n\ntext\n", "all-letters"),
        (f"{HEAD}---\n# **Letters** for `phrases`\n", "Letters for phrases"),
        ("# BioLORD-2023 #\n", "BioLORD-2023"),
        (f"{HEAD}{BASE}---\n# SentenceTransformer\n", "model"),
        (None, "model"),
        ("# <img src=x>\n", "model"),
        ("# \x1b[31mred\n", "model"),
        ("", "model"),
        ("---\nmodel_name: 'quoted'\r\n---\r\n", "quoted"),
    ],
)
def test_a_model_is_called_as_its_card_says(card: str | None, name: str, tmp_path: Path) -> None:
    assert make_retriever(folder(tmp_path / "model", card)).name == name


@pytest.mark.usefixtures("letters")
def test_models_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    one, two = (folder(tmp_path / name, "# letters\n") for name in ("one", "two"))
    assert list(make_retrievers([one, "bm25", two])) == [f"letters, {one}", "bm25", f"letters, {two}"]
    (tmp_path / "other").mkdir()
    same = folder(tmp_path / "other" / "one", "# letters\n")
    assert list(make_retrievers([one, same])) == [f"letters, {one}", f"letters, {same}"]
    with pytest.raises(ParameterError, match="two retrievers are named"):
        make_retrievers([one, one])
    assert list(make_retrievers({"a": one, "b": one})) == ["a", "b"]
