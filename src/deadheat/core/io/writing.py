"""Tables written as text, and files that are replaced only when the new ones are complete.

What is written goes to a temporary file beside the target, which is renamed when it is complete.
"""

from __future__ import annotations

import filecmp
import io
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal

from deadheat.core.errors import DataError
from deadheat.core.io.file_names import LONGEST_NAME, cut_bytes
from deadheat.core.io.files import check_path
from deadheat.core.io.guarding import name_file_in_errors
from deadheat.core.io.kinds import VALUE_COLUMN, Kind
from deadheat.core.libraries import polars as pl
from deadheat.core.scalars import LARGEST_INTEGER
from deadheat.core.wording import format_list

Compression = Literal["uncompressed", "gzip", "zstd"]


def write_text(
    table: pl.DataFrame,
    file: IO[bytes],
    compression: Compression,
    separator: str | None = None,
) -> None:
    """Write a table with a header; without a separator, write each row of its one column as an unquoted line.

    Polars writes into memory, and plain text slice by slice: before 2.0 it does not report if a file misses its end.
    """
    quoted: Literal["always", "necessary", "never"] = "necessary"
    if separator is None:
        quoted = "never"
    elif table.width and _begins_like_a_command(table):
        quoted = "always"
    n_rows = max(table.height, 1)  # a table without rows has a header
    n_at_once = 1 << 18 if compression == "uncompressed" else n_rows
    for start in range(0, n_rows, n_at_once):
        text = io.BytesIO()
        table[start : start + n_at_once].write_csv(
            text,
            separator=separator or ",",
            include_header=separator is not None and not start,
            quote_style=quoted,
            compression=compression,
        )
        file.write(text.getbuffer())


def _begins_like_a_command(table: pl.DataFrame) -> bool:
    """Return whether a first field begins like a command in a build log; in quotes it does not."""
    first = table.to_series(0)
    return first.dtype == pl.String and bool(first.str.starts_with("::").any())


def value_as_text(kind: Kind) -> pl.Expr:
    """Return values as text: whole relevances as integers, everything else as the shortest text of its float64."""
    value = pl.col(VALUE_COLUMN[kind])
    text = value.cast(pl.String)
    if kind == "run":
        return text
    is_level = (value == value.round()) & (value.abs() <= LARGEST_INTEGER)
    levels = value.cast(pl.Int64, strict=False).cast(pl.String)
    return pl.when(is_level).then(levels).otherwise(text).alias(VALUE_COLUMN[kind])


def make_folder(path: Path) -> None:
    """Create a folder and those above it, where they are missing; raise `DataError` where a file is in the way."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise DataError(
            "cannot be created as a folder: part of the path is a file", hint="choose another one", path=path
        ) from None


@contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that becomes `path` when it is complete, and is deleted on any failure.

    Until then its name is ``.NAME.deadheat-*.tmp``, in the same folder. If such a file stays, its process was killed:
    nothing reads it, and it may be deleted.

    A symbolic link stays, and its target is replaced. A new file gets the mode of the one that it replaces. What is not
    a regular file, such as a pipe or a device, is not replaced, but gets the bytes when they are complete.

    Raises
    ------
    DataError
        If the folder does not exist, or the file is read-only.
    """
    path_given = path
    path = check_path(path)
    may_be_redirected = str(path.absolute()).startswith(("/dev/fd/", "/dev/std", "/proc/"))
    if may_be_redirected or (path.exists() and not path.is_file()):
        with tempfile.TemporaryFile() as temporary_file:
            with name_file_in_errors(tempfile.gettempdir()):
                yield temporary_file
            temporary_file.seek(0)
            with path.open("ab") as stream:  # append: standard output may be a file that others write to
                shutil.copyfileobj(temporary_file, stream)
        return
    target = Path(os.path.realpath(path))
    mode = None
    with suppress(FileNotFoundError, NotADirectoryError):  # another process may remove it at any time
        mode = target.stat().st_mode
    if mode is not None and not mode & 0o222:
        raise DataError(
            "is read-only, so it is not replaced", hint="choose another name, or make it writable", path=path
        )
    if os.fspath(path_given).endswith(os.sep):
        raise DataError("is written as a folder", allowed="a file", path=path)
    if not target.parent.is_dir():
        missing = target.parent if path.is_symlink() else path.parent
        raise DataError(f"no such folder: {str(missing)!r}", path=path)
    ending = f".deadheat-{os.urandom(4).hex()}.tmp"
    temporary = target.with_name(f".{cut_bytes(target.name, LONGEST_NAME - len(ending) - 1)}{ending}")
    try:
        with name_file_in_errors(path, temporary):
            with temporary.open("xb") as file:
                if mode is not None:
                    temporary.chmod(stat.S_IMODE(mode))
                yield file
                file.flush()
                os.fsync(file.fileno())  # before renaming: the name is on a complete file even if the machine crashes
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
        By the name of each file the function that writes it into an open file.
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
            file = stack.enter_context(replace_file(path))
            write_to(file)
            file.flush()
            is_same = path.is_file() and filecmp.cmp(path, file.name, shallow=False)
            if path.exists() and not is_same and (path.is_dir() or not force):
                differing.append(name)
        if differing:
            raise DataError(
                f"{format_list(differing)} in it would be replaced",
                hint="choose another folder, or replace with --force (in Python: force=True)",
                path=folder,
            )
    return [folder / name for name in files]
