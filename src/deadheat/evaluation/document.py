"""Files that deadheat writes and reads again: one JSON document, with a head for people, tables below, and a hash."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

from deadheat.errors import DataError, FileFormatError, MeasureError, ParameterError
from deadheat.io.forking import check_threads
from deadheat.io.naming import path_named
from deadheat.io.objects import parsed
from deadheat.io.source import decoded, read_all, readable
from deadheat.io.writing import replacing
from deadheat.version import __version__
from deadheat.wording import as_given

T = TypeVar("T")

HEAD = 1 << 10  # bytes, enough to recognise a document
ENCODING = "Parquet in base64"
FAULTS = (KeyError, TypeError, ValueError, MeasureError, ParameterError, pl.exceptions.PolarsError)


@dataclass(frozen=True)
class Kind:
    """A kind of documents.

    Attributes
    ----------
    kind : str
        What the document says that it is.
    format : int
        The one format that is written and read.
    called : str
        In messages, such as "a saved evaluation".
    hint : str
        What writes one.
    """

    kind: str
    format: int
    called: str
    hint: str

    def is_in(self, path: Path) -> bool:
        """Return whether a file begins as a document of this kind does."""
        with path.open("rb") as file:
            return re.match(rb'\s*\{\s*"kind"\s*:\s*"%b"' % self.kind.encode(), file.read(HEAD)) is not None

    def refuse_foreign(self, path: str | Path) -> None:
        """Raise `DataError` if to write would replace a file of another kind; an empty file may be replaced."""
        path = Path(path)
        if path.is_dir():
            raise DataError("is a folder", hint="name a file in it", path=path)
        if path.is_file() and path.stat().st_size and not self.is_in(path):
            raise DataError(
                f"exists and is not {self.called}: it would be replaced", hint="choose another name", path=path
            )

    def write(self, path: str | Path, head: Mapping[str, Any], data: Mapping[str, Any] | None) -> None:
        """Write a document. Missing folders are created, and an earlier one is replaced atomically.

        Parameters
        ----------
        path : path
        head : mapping of str to object
            What people read.
        data : mapping of str to object, or None
            Tables, as `packed`.
        """
        path = path_named(path)
        self.refuse_foreign(path)
        document = {"kind": self.kind, "format": self.format, "deadheat": __version__, **head}
        try:
            document |= {"sha256": checksum({**document, "data": data}), "data": data}
            written = f"{json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)}\n".encode()
        except UnicodeEncodeError:
            raise DataError("a name has half a surrogate pair, which UTF-8 cannot encode", path=path) from None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise DataError(
                "cannot be created as a folder: part of the path is a file", hint="choose another one", path=path.parent
            ) from None
        with replacing(path) as file:
            file.write(written)

    def read(self, path: str | Path, made: Callable[[dict[str, Any]], T]) -> T:
        """Read a document; raise if the file is another one, damaged, changed, or of another version.

        Parameters
        ----------
        path : path
        made : callable
            Makes of the document what is returned.
        """
        path = path_named(path)
        text = decoded(read_all(readable(path)), path)
        try:
            document = parsed(text, path)
        except DataError as error:
            raise FileFormatError(
                f"is damaged or incomplete ({error.told(has_place=False)})",
                allowed=self.called,
                hint=self.hint,
                path=path,
                line=error.line,
            ) from None
        if not isinstance(document, dict) or document.get("kind") != self.kind:
            raise FileFormatError("holds something else", allowed=self.called, hint=self.hint, path=path)
        if document.get("format") != self.format:
            raise FileFormatError(
                f"has format {as_given(document.get('format'))}, written by deadheat"
                f" {as_given(document.get('deadheat'))}; this is {__version__!r}, which reads {self.format}",
                hint="install that version, or save it again",
                path=path,
            )
        if document.get("sha256") != checksum(document):
            raise FileFormatError(
                "was changed since it was saved, or is damaged (its SHA-256 differs)", hint="save it again", path=path
            )
        try:
            return made(document)
        except FAULTS as error:
            raise FileFormatError(f"cannot be read as {self.called}: {error}", hint=self.hint, path=path) from None


def checksum(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a document, apart from the SHA-256 that it states itself."""
    rest = {key: value for key, value in document.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def packed(columns: Mapping[str, Any] | pl.DataFrame, schema: Mapping[str, type[pl.DataType]]) -> str:
    """Return a table as text that JSON can hold."""
    check_threads()
    held = io.BytesIO()
    pl.DataFrame(columns, schema=schema).write_parquet(held, compression="zstd")
    return base64.b64encode(held.getvalue()).decode()


def unpacked(text: str) -> pl.DataFrame:
    """Read what `packed` returned."""
    check_threads()
    return pl.read_parquet(io.BytesIO(base64.b64decode(text)))


def columns_of(text: str) -> dict[str, Any]:
    """Return the columns of a packed table; those of ids have their names in the plural, as in `Placements`."""
    plural = {"query_id": "query_ids", "doc_id": "doc_ids"}
    return {
        plural.get(one.name, one.name): np.array(one.to_list(), object) if one.name in plural else one.to_numpy()
        for one in unpacked(text)
    }
