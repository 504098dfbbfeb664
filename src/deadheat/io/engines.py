"""Parquet as a frame of an engine that is chosen by name: one file, a folder of files, or a pattern of them."""

from __future__ import annotations

import glob
import os
import shutil
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from deadheat.errors import ColumnError, DataError, MissingDependencyError

if TYPE_CHECKING:
    import narwhals as nw

ENGINES = ("polars", "duckdb", "spark")
LOCAL = "local[*]"  # the cluster that needs none
QUIET = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}


class FrameEngine(Protocol):
    """What makes frames of Parquet, and takes judgments to where they are joined with them."""

    def frame(self, path: str) -> object:
        """Return the rows of a file, a folder or a pattern as a lazy frame."""
        ...

    def beside(self, judgments: pl.DataFrame) -> nw.LazyFrame[Any] | None:
        """Return judgments in the engine; None if it takes those in memory."""
        ...

    def close(self) -> None:
        """Stop what was started."""
        ...


def open_engine(name: str, master: str | None = None, conf: Mapping[str, str] | None = None) -> FrameEngine:
    """Return an engine.

    Parameters
    ----------
    name : {"polars", "duckdb", "spark"}
    master : str, optional
        Of Spark: by default all cores of this machine. ``sc://`` is a server of Spark Connect.
    conf : dict of str to str, optional
        Settings of Spark.

    Raises
    ------
    MissingDependencyError
        The engine is not installed.
    """
    if name == "spark":
        return _Spark(master or LOCAL, conf or {})
    return _DuckDB() if name == "duckdb" else _Polars()


def parquet_files(path: str) -> list[str]:
    """Return the Parquet files that a path names, sorted: itself, those in a folder, or those of a pattern.

    A pattern may name folders. Within a folder, what begins with ``_`` or ``.`` is not data: Spark, for one, keeps
    there what jobs that failed have left.
    """
    if Path(path).is_dir():
        return sorted(_in_folder(Path(path)))
    if Path(path).is_file():
        return [path]
    found = glob.glob(path, recursive=True)  # noqa: PTH207 - it may be absolute
    files = {str(one) for name in found for one in (_in_folder(Path(name)) if Path(name).is_dir() else [name])}
    return sorted(files)


def _in_folder(folder: Path) -> list[str]:
    files = (file for file in folder.rglob("*.parquet") if file.is_file())
    return [str(file) for file in files if not any(part[0] in "_." for part in file.relative_to(folder).parts)]


def is_remote(path: str) -> bool:
    """Tell whether a path is one of a store such as ``s3://``, which only the engine can read."""
    return "://" in path


def _files(path: str, engine: str) -> list[str]:
    """Return the files that an engine reads; raise for what is no Parquet."""
    if is_remote(path):
        return [path]
    found = parquet_files(path)
    if not found:
        raise DataError("no such file, and no folder with Parquet files", path=path)
    for file in found:
        with Path(file).open("rb") as opened:
            if opened.read(4) != b"PAR1":
                raise DataError(
                    f"is no Parquet file, which is what the engine {engine} reads",
                    hint="deadheat convert RUN RUN.parquet makes one",
                    path=file,
                )
    return found


def _refuse_cases(file: str) -> None:
    """Raise for columns that differ only in case: DuckDB gives one of them another name."""
    seen: dict[str, str] = {}
    for name in pl.scan_parquet(file, glob=False).collect_schema():
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            problem = f"columns {other!r} and {name!r} differ only in case, which the engine duckdb does not tell apart"
            raise ColumnError(problem, hint="rename one of them, or take the engine polars", path=file)


_WIDER = pl.ScanCastOptions(integer_cast="upcast", float_cast="upcast")  # no number changes


class _Polars:
    def frame(self, path: str) -> object:
        # its names are no patterns any more; of several files the first says which columns there are
        return pl.scan_parquet(
            _files(path, "polars"), glob=is_remote(path), extra_columns="ignore", cast_options=_WIDER
        )

    def beside(self, judgments: pl.DataFrame) -> None: ...

    def close(self) -> None: ...


class _DuckDB:
    def __init__(self) -> None:
        try:
            import duckdb  # optional
            import pyarrow as pa  # optional; it brings results to Polars
        except ImportError as error:
            raise MissingDependencyError(
                f"the engine duckdb needs the package {error.name}", hint='pip install "deadheat[duckdb,pyarrow]"'
            ) from None
        self._connection, self._arrow = duckdb.connect(), pa

    def frame(self, path: str) -> object:
        files = _files(path, "duckdb")
        # else numbers of later files become those of the first, and float64 that is read as float32 ties
        rows = self._connection.read_parquet(files, union_by_name=len(files) > 1 or is_remote(path))
        if not is_remote(path):
            _refuse_cases(files[0])
        return rows

    def beside(self, judgments: pl.DataFrame) -> nw.LazyFrame[Any]:
        import narwhals as nw  # only joins need it

        return nw.from_native(self._connection.from_arrow(judgments.to_arrow())).lazy()

    def close(self) -> None:
        self._connection.close()


class _Spark:
    def __init__(self, master: str, conf: Mapping[str, str]) -> None:
        # of versions of pandas, which no frame here comes from
        warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
        try:
            from pyspark.sql import SparkSession  # pyright: ignore[reportMissingImports] - optional
        except ImportError as error:
            raise MissingDependencyError(
                f"the engine spark needs the package {error.name}", hint='pip install "deadheat[spark]"'
            ) from None
        if not (master.startswith("sc://") or shutil.which("java") or os.environ.get("JAVA_HOME")):
            raise MissingDependencyError(
                "Spark needs Java, and there is none", hint="Debian, Ubuntu: apt-get install openjdk-17-jre-headless"
            )
        if master.startswith("local"):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers are processes of this machine
        builder: Any = SparkSession.builder.appName("deadheat")
        builder = builder.remote(master) if master.startswith("sc://") else builder.master(master)
        own = {} if master.startswith("sc://") else QUIET
        self._master, self._session = master, builder.config(map={**own, **conf}).getOrCreate()

    def frame(self, path: str) -> object:
        # a cluster has files that this machine lacks
        is_theirs = not self._master.startswith("local") and not parquet_files(path)
        files = [path] if is_theirs else _files(path, "spark")
        return self._session.read.parquet(*(files if is_theirs else map(_in_spark, files)))

    def beside(self, judgments: pl.DataFrame) -> None: ...

    def close(self) -> None:
        self._session.stop()


def _in_spark(path: str) -> str:
    """Return a path as Spark takes one of this machine, whatever its default store."""
    return path if is_remote(path) else f"file://{Path(path).resolve()}"
