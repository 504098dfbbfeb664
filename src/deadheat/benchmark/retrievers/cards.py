"""The name of a model in a folder: from its card and its configuration, as the folder may be called anything."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

LONGEST = 100  # characters of a name: a longer title is a sentence
FRONT = re.compile(r"\A---\s*\n(.*?)\n---\s*(?:\n|\Z)", re.DOTALL)
TITLE = re.compile(r"^#[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
FIELD = r"^{}:[ \t]*(?:\n[ \t]*-[ \t]*(?:name:)?)?[ \t]*(\S.*)$"  # of the head of a card, also the first of a list


def name_of(model: str) -> str:
    """Return the last part of the name of a model.

    For one in a folder, the first of these that exists: ``model_name``, ``model_id`` or ``model-index`` in the head of
    the card (README.md), the title of the card, ``model_name`` in config_sentence_transformers.json or config.json,
    ``_name_or_path`` there (the model that it was made from), ``base_model`` of the card, the folder.
    """
    folder = Path(model)
    if os.path.isdir(folder):  # noqa: PTH112 - of Path it raises for a text that is too long for a name
        for found in _named(folder):
            name = " ".join(re.sub("[*`]", "", found).split()).strip("'\"").rstrip("/")
            if " " not in name:
                name = name.rpartition("/")[2]
            if name and name.isprintable() and len(name) <= LONGEST and not re.search(r"[<>\[\]|]", name):
                return name
        return folder.absolute().name
    return folder.name


def _named(folder: Path) -> Iterator[str]:
    """Yield the names that the files of a folder give, the most reliable first."""
    card = _text(folder / "README.md")
    front = FRONT.match(card)
    head = front[1] if front else ""
    yield from _fields(head, "model_name", "model_id", "model-index")
    title = TITLE.search(card, front.end() if front else 0)
    if title and title[1].strip() != "SentenceTransformer":  # what the library writes if it knows no name
        yield title[1]
    configurations = [_configuration(folder / name) for name in ("config_sentence_transformers.json", "config.json")]
    for key in ("model_name", "_name_or_path"):
        for configuration in configurations:
            if isinstance(value := configuration.get(key), str) and not Path(value).is_absolute():
                yield value
    yield from _fields(head, "base_model")


def _fields(head: str, *names: str) -> Iterator[str]:
    for name in names:
        if found := re.search(FIELD.format(name), head, re.MULTILINE):
            yield found[1]


def _configuration(path: Path) -> dict[str, object]:
    try:
        found: object = json.loads(_text(path))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(path: Path) -> str:
    """Return the start of a file as text; empty if it cannot be read."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(1 << 20).replace("\r\n", "\n")
    except OSError:
        return ""
