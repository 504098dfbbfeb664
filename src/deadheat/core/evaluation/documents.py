"""JSON documents that deadheat writes and reads again: what kind of document a file is, and whether it is whole.

Each has a head that people and programs read, tables below it, and a hash, which finds damage; what is read is trusted
beyond that.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadheat.core.errors import DataError, DeadheatError, FileFormatError, MissingPluginError, ParameterError
from deadheat.core.evaluation.shapes import FIELDS, Shape
from deadheat.core.io.files import check_path, check_readable, decode_utf8, read_all
from deadheat.core.io.guarding import guard_polars
from deadheat.core.io.objects import parse_json
from deadheat.core.io.writing import make_folder, replace_file
from deadheat.core.structures import T
from deadheat.core.wording import format_given
from deadheat.version import __version__

HEAD = 1 << 10  # bytes, enough to recognise a document


@dataclass(frozen=True)
class DocumentKind:
    """A kind of documents.

    Attributes
    ----------
    kind : str
        What the document says that it is.
    format : int
        The format that is written and read.
    called : str
        In messages, such as "a saved evaluation".
    hint : str
        What writes one.
    shape : Shape
        Of the documents.
    earlier_formats : tuple of int
        Those that are read too.
    """

    kind: str
    format: int
    called: str
    hint: str
    shape: Shape = FIELDS
    earlier_formats: tuple[int, ...] = ()

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
        path = check_path(path)
        self.refuse_foreign(path)
        document = {"kind": self.kind, "format": self.format, "deadheat": __version__, **head}
        try:
            document |= {"sha256": checksum({**document, "data": data}), "data": data}
            written = f"{json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)}\n".encode()
        except UnicodeEncodeError:
            raise DataError("a name has half a surrogate pair, which UTF-8 cannot encode", path=path) from None
        make_folder(path.parent)
        with replace_file(path) as file:
            file.write(written)

    def read(self, path: str | Path, made: Callable[[dict[str, Any]], T]) -> T:
        """Read a document; raise if the file is another one, damaged, changed, or of another version.

        Parameters
        ----------
        path : path
        made : callable
            Makes of the document what is returned.
        """
        path = check_path(path)
        text = decode_utf8(read_all(check_readable(path)), path)
        try:
            document = parse_json(text, path)
        except DataError as error:
            if text.strip() and self.kind not in text:  # such as a run
                raise self._is_another(path) from None
            error.hint = None  # to read it in another format is no help
            raise FileFormatError(
                f"is damaged or incomplete ({error.sentence(has_place=False)})",
                allowed=self.called,
                hint=self.hint,
                path=path,
                line=error.line,
            ) from None
        if not isinstance(document, dict) or document.get("kind") != self.kind:
            raise self._is_another(path)
        known = (*self.earlier_formats, self.format)
        if document.get("format") not in known:
            raise FileFormatError(
                f"has format {format_given(document.get('format'))}, written by deadheat"
                f" {format_given(document.get('deadheat'))}; this is {__version__!r}, which reads"
                f" {' and '.join(map(str, known))}",
                hint="install that version, or save it again",
                path=path,
            )
        if document.get("sha256") != checksum(document):
            raise FileFormatError(
                "was changed since it was saved, or is damaged (its SHA-256 differs)", hint="save it again", path=path
            )
        try:
            with guard_polars(path):
                self.shape.check(document, "")
                return made(document)
        except Exception as error:
            of_the_file = ParameterError | DataError | MissingPluginError
            if isinstance(error, DeadheatError) and not isinstance(error, of_the_file):
                raise
            what = str(error)
            if isinstance(error, KeyError):
                what = f"lacks {what}"
            raise FileFormatError(
                f"cannot be read as {self.called}: {what}",
                hint=self.hint,
                path=path,
            ) from None

    def _is_another(self, path: Path) -> FileFormatError:
        """Return the error for a file that is no such document."""
        return FileFormatError("holds something else", allowed=self.called, hint=self.hint, path=path)


def checksum(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a document, apart from the SHA-256 that it states itself."""
    rest = {key: value for key, value in document.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
