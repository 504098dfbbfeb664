"""Writing files: to a temporary file beside the target, which is renamed when it is complete; names for them."""

import filecmp
import hashlib
import io
import os
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, Literal

import polars as pl

from deadheat.errors import LARGEST_INTEGER, DataError, three
from deadheat.io.kinds import VALUE_COLUMN, Kind
from deadheat.io.source import path_named

MARK = 9  # bytes of a hash and its hyphen
LONGEST = 255  # bytes that file systems allow; some count UTF-16 units, which are never more
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)  # devices of Windows
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f\ud800-\udfff]')
_HASHED = re.compile(r"-[0-9a-f]{8}$")


def cut(text: str, most: int) -> str:
    """Return the beginning of a text, in at most `most` bytes.

    Examples
    --------
    >>> cut("größe", 4), cut("größe", 3)
    ('grö', 'gr')
    """
    return text.encode(errors="ignore")[: max(most, 0)].decode(errors="ignore")


def hashed(plain: str, name: str, most: int) -> str:
    """Return `plain` followed by a hash of the whole name, in at most `most` bytes."""
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
    return f"{cut(plain, most - MARK)}-{digest[: MARK - 1]}"


def file_name(name: str, most: int) -> str:
    """Return a name as a file name for every system; if it changes by more than a ``_``, a hash is added.

    Parameters
    ----------
    name : str
        A ``/`` or a ``:`` becomes ``_``.
    most : int
        Bytes that the result may take.

    Examples
    --------
    >>> file_name("b/dense", 247), file_name("who?", 247), file_name("aux", 247)
    ('b_dense', 'who_-1d8176d1', 'aux-321f6814')
    >>> file_name("字" * 90, 20)
    '字字字-cedf9328'
    """
    plain = re.sub(r"[/:]", "_", name)
    safe = _FORBIDDEN.sub("_", plain)
    if safe == plain and is_kept(plain) and not plain.endswith((".", " ")) and len(plain.encode()) <= most:
        return plain
    return hashed(safe, name, most)


def is_kept(name: str) -> bool:
    """Return whether a name can stay: it is not a device, does not end like a hash, and is normalised Unicode (NFC)."""
    return not (_RESERVED.fullmatch(name) or _HASHED.search(name)) and unicodedata.is_normalized("NFC", name)


Compression = Literal["uncompressed", "gzip", "zstd"]

_SLICE = 1 << 18  # rows written together


def write_text(
    table: pl.DataFrame,
    file: IO[bytes],
    compression: Compression,
    separator: str | None = None,
) -> None:
    """Write a table with a header; without a separator, write each row of its one column as an unquoted line.

    Compressed output is written in slices, plain output directly to `file`: Polars before 2.0 does not report that it
    lost the last bytes.
    """
    has_header, separator = separator is not None, separator or ","
    quote_style: Literal["necessary", "never"] = "necessary" if has_header else "never"
    if compression != "uncompressed":
        table.write_csv(
            file,
            separator=separator,
            include_header=has_header,
            quote_style=quote_style,
            compression=compression,
        )
        return
    for start in range(0, max(table.height, 1), _SLICE):
        held = io.BytesIO()
        table[start : start + _SLICE].write_csv(
            held, separator=separator, include_header=has_header and not start, quote_style=quote_style
        )
        file.write(held.getbuffer())


def value_as_text(kind: Kind) -> pl.Expr:
    """Return values as text: whole relevances as integers, everything else as the shortest text of its float64."""
    value = pl.col(VALUE_COLUMN[kind])
    text = value.cast(pl.String)
    if kind == "run":
        return text
    is_level = (value == value.round()) & (value.abs() <= LARGEST_INTEGER)
    levels = value.cast(pl.Int64, strict=False).cast(pl.String)
    return pl.when(is_level).then(levels).otherwise(text).alias(VALUE_COLUMN[kind])


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that becomes `path` when it is complete, and is deleted on any failure.

    Until then it is ``.NAME.deadheat-*.tmp`` in the same folder. A leftover one is from a process that was killed:
    nothing reads it, and it may be deleted.

    A symbolic link is kept, and its target is replaced; so is the mode of an existing file. Anything there that is not
    a regular file (a pipe, a device) is not replaced, but gets the bytes when they are complete.

    Raises
    ------
    DataError
        If the folder does not exist, or the file is read-only.
    """
    path = path_named(path)
    if _is_stream(path):
        with tempfile.TemporaryFile() as held:
            yield held
            held.seek(0)
            with path.open("ab") as stream:  # append: standard output may be a file that others write to
                shutil.copyfileobj(held, stream)
        return
    target = Path(os.path.realpath(path))
    if target.exists() and not target.stat().st_mode & 0o222:
        raise DataError(
            "is read-only, so it is not replaced", hint="choose another name, or make it writable", path=path
        )
    if not target.parent.is_dir():
        raise DataError(f"no such folder: {str(target.parent if path.is_symlink() else path.parent)!r}", path=path)
    ending = f".deadheat-{os.urandom(4).hex()}.tmp"
    temporary = target.with_name(f".{cut(target.name, LONGEST - len(ending) - 1)}{ending}")
    try:
        with temporary.open("xb") as file:
            if target.exists():
                shutil.copymode(target, temporary)
            yield file
            file.flush()
            os.fsync(file.fileno())  # before renaming, after a crash of the machine the name is on a complete file
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_files(folder: Path, files: Mapping[str, Callable[[IO[bytes]], Any]], *, force: bool) -> list[Path]:
    """Write several files of a folder, which is made if need be: all of them or none.

    Parameters
    ----------
    folder : Path
    files : mapping of str to callable
        What writes each into an open file, by its name.
    force : bool
        Replace files that are there and differ.

    Raises
    ------
    DataError
        A file is there already and differs, or the folder cannot be made.
    """
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be made: {error.strerror}", hint="name a folder", path=folder) from None
    with ExitStack() as stack:  # on any error all temporary files are removed, and no file is replaced
        differing = []
        for name, write_to in files.items():
            path = folder / name
            file = stack.enter_context(replacing(path))
            write_to(file)
            file.flush()
            if path.exists() and not (path.is_file() and filecmp.cmp(path, file.name, shallow=False)):
                differing += [name] if path.is_dir() or not force else []
        if differing:
            raise DataError(
                f"{three(differing)} in it would be replaced",
                hint="choose another folder, or replace with --force (in Python: force=True)",
                path=folder,
            )
    return [folder / name for name in files]


def _is_stream(path: Path) -> bool:
    """Return whether a path is a pipe, a device or the like, which must not be replaced by a file."""
    if path.exists() and not path.is_file():
        return True
    return str(path.absolute()).startswith(("/dev/fd/", "/dev/std", "/proc/"))  # redirected, these may be files
