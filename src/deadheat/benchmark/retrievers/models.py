"""Models in folders, by name and content; and embeddings that are kept: a file for each model, way and collection."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import numpy as np

from deadheat.arrays import FloatArray
from deadheat.errors import DataError, DeadheatWarning
from deadheat.io.writing import replacing

ENVIRONMENT = "DEADHEAT_CACHE"
LONGEST = 100  # characters of a name: a longer title is a sentence
FRONT = re.compile(r"\A---\s*\n(.*?)\n---\s*(?:\n|\Z)", re.DOTALL)
TITLE = re.compile(r"^#[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
FIELD = r"^{}:[ \t]*(?:\n[ \t]*-[ \t]*(?:name:)?)?[ \t]*(\S.*)$"  # of the head of a card, also the first of a list


def folder_of(cache: str | Path | Literal[False] | None) -> Path | None:
    """Return the folder of embeddings; None to keep none."""
    if cache is False:
        return None
    return (default_folder() if cache is None else Path(cache)) / "embeddings"


def default_folder() -> Path:
    """Return the user's cache folder on this platform, or that of the environment."""
    environ, home = os.environ, Path.home()
    if sys.platform == "darwin":
        base = home / "Library" / "Caches"
    elif os.name == "nt":
        base = Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    else:
        base = Path(environ.get("XDG_CACHE_HOME") or home / ".cache")
    return Path(environ.get(ENVIRONMENT) or base / "deadheat")


def identity_of(model: str) -> str:
    """Return what distinguishes a model: the name of one on the hub, a hash of the whole files of one in a folder."""
    folder = Path(model)
    if not os.path.isdir(folder):  # noqa: PTH112 - of Path it raises for a text that is too long for a name
        return model
    found = hashlib.sha256()
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found.update(json.dumps([path.relative_to(folder).as_posix(), digest]).encode())
    return found.hexdigest()


def path_of(folder: Path | None, key: Mapping[str, object]) -> Path | None:
    """Return the file of a key, which JSON can hold."""
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
    return None if folder is None else folder / f"{digest}.npy"


def part_of(path: Path | None, start: int) -> Path | None:
    """Return the file of a part of embeddings that are still being made."""
    return None if path is None else path.with_suffix(f".{start:09}.part")


def remove_parts(path: Path | None) -> None:
    """Remove the parts, which the whole file holds."""
    for part in path.parent.glob(f"{path.stem}.*.part") if path is not None and path.is_file() else ():
        part.unlink(missing_ok=True)


def read(path: Path | None, n_rows: int) -> FloatArray | None:
    """Return kept embeddings; None if there are none, or if the file is damaged."""
    if path is None:
        return None
    try:
        found = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    is_whole = found.ndim == 2 and len(found) == n_rows and found.dtype == np.float32
    return found if is_whole else None


def write(path: Path | None, vectors: FloatArray) -> None:
    """Keep embeddings; warn if that fails."""
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            np.save(file, vectors, allow_pickle=False)
    except (OSError, DataError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        warnings.warn(
            f"embeddings cannot be kept in {path.parent} ({reason}): set ${ENVIRONMENT} or cache=",
            DeadheatWarning,
            stacklevel=4,
        )


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
    found = (re.search(FIELD.format(name), head, re.MULTILINE) for name in names)
    yield from (one[1] for one in found if one)


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
