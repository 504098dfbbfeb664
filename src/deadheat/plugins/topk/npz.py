"""Runs in ``.npz`` files of NumPy: ``ids`` of shape (n_queries, k), and perhaps ``scores`` and ``query_ids``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from deadheat.core.errors import DataError, FileFormatError, ParameterError
from deadheat.core.io.columns import refuse_columns
from deadheat.core.io.content import Content
from deadheat.core.io.formats.base import Format, register
from deadheat.core.io.kinds import Kind
from deadheat.core.io.memory_limits import check_memory
from deadheat.core.io.results import RANKED
from deadheat.core.io.writing import Compression
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_list

if TYPE_CHECKING:
    import zipfile

    from numpy.typing import NDArray

ARRAYS = ("ids", "scores", "query_ids")
EXPECTED = "arrays ids (n_queries, k) and perhaps scores (n_queries, k) and query_ids (n_queries)"


def read(path: Path, kind: Kind, given: Mapping[str, str]) -> Content:
    """Read a run."""
    if kind == "qrels":
        raise FileFormatError(found="arrays of neighbours", allowed="a file of qrels: .npz holds runs alone", path=path)
    refuse_columns(given, kind, f"{path}, a file of arrays")
    from deadheat.plugins.topk.arrays import run_of_topk  # formats are loaded before runs are

    arrays = read_arrays(path)
    try:
        run = run_of_topk(arrays["ids"], arrays.get("scores"), arrays.get("query_ids"), ascending=False, name=str(path))
    except ParameterError as error:
        array = f"array {error.argument}"
        raise DataError(array, allowed=error.allowed, found=error.found, path=path) from None
    notes = () if "scores" in arrays else (RANKED,)
    return Content(run.to_polars(), notes)


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file by their names; raise for one that is damaged, or holds other things."""
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            n_bytes = sum(member.file_size for member in archive.infolist())
            check_memory(n_bytes, path.stat().st_size, path, is_all=True)
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            arrays = {name: _read_array(archive, name) for name in ARRAYS if name in names}
    except FileFormatError:
        raise
    except Exception as error:  # of a damaged file zipfile, zlib and NumPy raise a dozen kinds
        raise FileFormatError(found=f"no arrays of NumPy ({error})", allowed=EXPECTED, path=path) from error
    if "ids" not in arrays or len(names) > len(arrays):  # distances under another name would be lost in silence
        raise FileFormatError(found=f"arrays {format_list(names)}", allowed=EXPECTED, path=path)
    return arrays


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Return one array; objects, which would run code when they are read, are refused."""
    import numpy as np

    member = f"{name}.npy"
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read_header(file)
        n_declared = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if dtype.hasobject or n_declared > archive.getinfo(member).file_size:
            raise ValueError(f"{name} has shape {shape} and type {dtype}")
    with archive.open(member) as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array


def write(rows: pl.DataFrame, file: IO[bytes], kind: Kind, _tag: str, _compression: Compression) -> None:
    """Write a run; lists that are shorter than the longest end with -1, or an empty text, and NaN."""
    import numpy as np

    from deadheat.plugins.topk.by_position import NO_DOCUMENT

    if kind == "qrels":
        raise ParameterError("qrels are no arrays of neighbours", allowed="another format: .npz holds runs alone")
    lists = rows.group_by("query_id", maintain_order=True).agg("doc_id", "score")
    sizes = lists["doc_id"].list.len().to_numpy().astype(np.int64)
    is_there = np.arange(sizes.max(initial=0)) < sizes[:, np.newaxis]
    documents = _as_numbers(lists["doc_id"].explode())
    ids = np.full(is_there.shape, NO_DOCUMENT if documents.dtype.kind == "i" else "", documents.dtype)
    ids[is_there] = documents
    scores = np.full(is_there.shape, np.nan)
    scores[is_there] = lists["score"].explode().to_numpy()
    np.savez_compressed(file, ids=ids, scores=scores, query_ids=_as_numbers(lists["query_id"]))


def _as_numbers(texts: pl.Series) -> NDArray[Any]:
    """Return ids as whole numbers if all are written as such, from 0 on, else as texts."""
    import numpy as np

    numbers = texts.cast(pl.Int64, strict=False)
    if (numbers.cast(pl.String) == texts).all() and (numbers >= 0).all() and not numbers.has_nulls():
        return numbers.to_numpy()
    return np.array(texts.to_list(), np.str_)


register(Format(name="npz", suffixes=(".npz",), read=read, write=write, is_text=False))
