"""Which columns of a source qrels and runs were read from.

If both are read from one column, every retrieved document is relevant: that is refused.
"""

import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deadheat.core.errors import ABSENT, Advice, ColumnError
from deadheat.core.io.columns import find_value_name


@dataclass(frozen=True, eq=False)
class SourceColumns:
    """The columns that a table was read from.

    Attributes
    ----------
    source : pathlib.Path, weakref or object
        The file, the dataframe, or the first row of a list: a list itself may be large, and would be kept alive.
        ABSENT where nothing tells sources apart.
    doc_id : str
        The name of the column of documents.
    value : str or None
        The name of the column of numbers; None if there is none.
    """

    source: object
    doc_id: str
    value: str | None

    def __reduce__(self) -> tuple[type["SourceColumns"], tuple[object, ...]]:
        """Leave the source out of pickles: in another process it is another one."""
        return SourceColumns, (ABSENT, self.doc_id, self.value)

    def is_of_same_source(self, other: "SourceColumns") -> bool:
        """Tell whether both were read from one source."""
        if isinstance(self.source, Path):
            return self.source == other.source
        if self.source is None or self.source is ABSENT:
            return False
        if isinstance(self.source, weakref.ref) and isinstance(other.source, weakref.ref):
            frame = self.source()
            return frame is not None and frame is other.source()
        return self.source is other.source


def find_source_columns(source: object, path: Path | None, columns: Mapping[str, str]) -> SourceColumns | None:
    """Return the columns that a table was read from; None if the source has no columns.

    Parameters
    ----------
    source : object
        As the user gave it.
    path : pathlib.Path or None
        The file that was read, if it was one.
    columns : mapping of str to str
        The columns that were read, from canonical name to name in the source.
    """
    if not columns:
        return None
    value = find_value_name(columns)
    if path is None:
        return SourceColumns(_make_handle(source), columns["doc_id"], value)
    return SourceColumns(path.resolve(), columns["doc_id"], value)


def _make_handle(source: object) -> object:
    """Return something that tells a source apart from others without keeping all of it alive."""
    if isinstance(source, list | tuple):
        if not source:
            return ABSENT
        return source[0]
    try:
        return weakref.ref(source)
    except TypeError:  # not every class allows it
        return ABSENT


def refuse_one_column(qrels: SourceColumns | None, run: SourceColumns | None, where: str) -> None:
    """Raise `ColumnError` for qrels and a run that are read from one column.

    Parameters
    ----------
    qrels, run : SourceColumns or None
    where : str
        The qrels, for the message.
    """
    if qrels is None or run is None:
        return
    if qrels.doc_id != run.doc_id or not qrels.is_of_same_source(run):
        return
    if qrels.value is not None and qrels.value != run.value:
        return  # two columns of numbers for the retrieved documents, as recommenders write them
    columns = f"the column {qrels.doc_id!r}"
    if qrels.value is not None:
        columns = f"the columns {qrels.doc_id!r} and {qrels.value!r}"
    raise ColumnError(
        f"qrels and run are both read from {columns}: whatever is retrieved would count as relevant",
        allowed="a column for each",
        hint=Advice("columns", {"doc_id": "..."}, of="qrels", when="if another one holds the relevant documents, "),
        python="dh.read_qrels and dh.read_run take these",
        path=where,
    )
