"""Parquet as a frame of an engine that is chosen by name: one file, a folder of files, or a pattern of them."""

import glob
import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from deadheat.core.errors import DataError, MissingDependencyError
from deadheat.core.io.formats.parquet import check_file
from deadheat.core.io.guarding import give_stderr_back, note_file
from deadheat.core.libraries import import_package

ENGINES = ("polars", "duckdb", "spark")
_HADOOP_PATTERN = re.compile(r"[\\*?\[\]{}]")  # characters that stand for others in the names of Hadoop
QUIET = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
# else DuckDB keeps half a gigabyte that it has freed while this process makes placements of what it counted
GIVE_MEMORY_BACK = {"allocator_bulk_deallocation_flush_threshold": "16MB"}


@dataclass(frozen=True)
class FrameEngine:
    """What makes frames of Parquet.

    Attributes
    ----------
    frame : callable
        Takes a file, a folder or a pattern, and returns its rows as a lazy frame.
    close : callable
        Stops what was started.
    beside : callable
        Takes judgments, and returns them in the engine, as a frame of Narwhals; None if it takes those in memory.
    """

    frame: Callable[[str], object]
    close: Callable[[], object] = lambda: None
    beside: Callable[[pl.DataFrame], Any] = lambda _: None


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
        return _spark(master or "local[*]", conf or {})  # a local one needs no cluster
    return _duckdb() if name == "duckdb" else FrameEngine(_scan)


def parquet_files(path: str) -> list[str]:
    """Return the Parquet files that a path names, sorted: itself, those in a folder, or those of a pattern.

    A pattern may name folders. Within a folder, what begins with ``_`` or ``.`` is not data: Spark, for one, keeps
    there what jobs that failed have left.
    """
    if Path(path).exists():
        matches = [path]
    else:
        matches = glob.glob(path, recursive=True)  # noqa: PTH207 - it may be absolute
    files: set[str] = set()
    for match in matches:
        if Path(match).is_dir():
            files.update(map(str, _in_folder(Path(match))))
        else:
            files.add(str(match))
    return sorted(files)


def _in_folder(folder: Path) -> list[str]:
    files = (file for file in folder.rglob("*.parquet") if file.is_file())
    return [str(file) for file in files if not any(part[0] in "_." for part in file.relative_to(folder).parts)]


def is_remote(path: str) -> bool:
    """Tell whether a path is one of a store such as ``s3://``, which only the engine can read."""
    return "://" in path


def _files(path: str, engine: str) -> list[str]:
    """Return the files that an engine reads; raise for a file that is not Parquet."""
    if is_remote(path):
        return [path]
    found = parquet_files(path)
    if not found:
        raise DataError("no such file, and no folder with Parquet files", path=path)
    for file in found:
        with Path(file).open("rb") as opened:
            note_file(os.fstat(opened.fileno()))
            if opened.read(4) != b"PAR1":
                raise DataError(
                    f"is not a Parquet file, and the engine {engine} reads only those",
                    hint="deadheat convert RUN RUN.parquet makes one",
                    path=file,
                )
    return found


def _name_for_duckdb(file: str) -> str:
    """Return a file's name as DuckDB takes it literally, which would read ``*?[`` as a pattern and ``~`` as a home."""
    if is_remote(file):
        return file
    return glob.escape(os.path.abspath(file))  # noqa: PTH100 - Path.absolute() keeps ".."


def _name_for_spark(file: str) -> str:
    """Return a file's name as Hadoop takes it literally, on this machine whatever the default store of Spark is."""
    if is_remote(file):
        return file
    literal = _HADOOP_PATTERN.sub(r"\\\g<0>", str(Path(file).resolve()))
    return f"file://{literal}"


def _scan(path: str) -> object:
    return scan_files(_files(path, "polars"))


def scan_files(files: list[str]) -> pl.LazyFrame:
    """Return the rows of Parquet files as one lazy frame of Polars, with the columns of the first file.

    Numbers of later files are cast to its types where those are wider.
    """
    for file in files:
        if not is_remote(file):
            check_file(Path(file))
    wider = pl.ScanCastOptions(integer_cast="upcast", float_cast="upcast")
    # patterns of this machine are resolved by now
    return pl.scan_parquet(files, glob=any(map(is_remote, files)), extra_columns="ignore", cast_options=wider)


def _duckdb() -> FrameEngine:
    import_package(
        "pyarrow", "the engine duckdb needs the package pyarrow", "duckdb,pyarrow"
    )  # it brings results to Polars
    duckdb = import_package("duckdb", "the engine duckdb needs the package duckdb", "duckdb,pyarrow")
    connection = duckdb.connect(config=GIVE_MEMORY_BACK)

    def frame(path: str) -> object:
        files = [_name_for_duckdb(file) for file in _files(path, "duckdb")]
        # else numbers of later files become those of the first, and float64 that is read as float32 ties
        return connection.read_parquet(files, union_by_name=len(files) > 1 or is_remote(path))

    def beside(judgments: pl.DataFrame) -> object:
        import narwhals as nw  # only joins need it

        return nw.from_native(connection.from_arrow(judgments.to_arrow())).lazy()

    return FrameEngine(frame, connection.close, beside)


def _spark(master: str, conf: Mapping[str, str]) -> FrameEngine:
    # they are about versions of pandas, which makes no frame here
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    spark = import_package("pyspark.sql", "the engine spark needs the package pyspark", "spark").SparkSession
    is_server = master.startswith("sc://")
    if not (is_server or shutil.which("java") or os.environ.get("JAVA_HOME")):
        raise MissingDependencyError(
            "Spark needs Java, and there is none", hint="Debian, Ubuntu: apt-get install openjdk-17-jre-headless"
        )
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers are processes of this machine
    builder = spark.builder.appName("deadheat")
    builder = builder.remote(master) if is_server else builder.master(master).config(map=QUIET)
    give_stderr_back()  # Spark starts a process, which says there what is wrong with it
    session = builder.config(map=dict(conf)).getOrCreate()

    def frame(path: str) -> object:
        if not master.startswith("local") and not parquet_files(path):  # a cluster has files that this machine lacks
            return session.read.parquet(path)
        files = [_name_for_spark(file) for file in _files(path, "spark")]
        return session.read.parquet(*files)

    return FrameEngine(frame, session.stop)
