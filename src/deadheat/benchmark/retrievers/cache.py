"""Embeddings that are kept: a file for each model, way of embedding and content of a collection."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np

from deadheat.arrays import FloatArray
from deadheat.errors import DataError, DeadheatWarning
from deadheat.io.writing import replacing

ENVIRONMENT = "DEADHEAT_CACHE"
ATTEMPTS = 20  # to write into a folder that others remove


def folder_of(cache: str | Path | Literal[False] | None) -> Path | None:
    """Return the folder of embeddings; None to keep none."""
    if cache is False:
        return None
    return (default_folder() if cache is None else Path(cache)) / "embeddings"


def default_folder() -> Path:
    """Return the user's cache folder on this platform, or that of the environment."""
    if given := os.environ.get(ENVIRONMENT):
        return Path(given)
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "deadheat"


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
    return None if path is None else path.with_suffix(".parts") / f"{start:09}.npy"


def remove_parts(path: Path | None) -> None:
    """Remove the parts, which the whole file holds."""
    if path is not None and path.is_file():
        shutil.rmtree(path.with_suffix(".parts"), ignore_errors=True)


def read(path: Path | None, n_rows: int) -> FloatArray | None:
    """Return kept embeddings; None if there are none, or if the file is damaged."""
    if path is None or not path.is_file():
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
    for attempt in range(ATTEMPTS):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as file:
                np.save(file, vectors, allow_pickle=False)
        except (OSError, DataError) as error:
            # another process that has all embeddings may have removed the folder of parts since it was made
            if attempt + 1 < ATTEMPTS and isinstance(error, FileNotFoundError | FileExistsError | DataError):
                continue
            reason = (isinstance(error, OSError) and error.strerror) or error
            msg = f"embeddings cannot be kept in {path.parent} ({reason}): set ${ENVIRONMENT} or cache="
            warnings.warn(msg, DeadheatWarning, stacklevel=4)
        return
