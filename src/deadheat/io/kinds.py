"""The two kinds of data, qrels and runs, their columns, and the names that other tools give these."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from deadheat.errors import ColumnError, SwappedFilesError
from deadheat.wording import did_you_mean

Kind = Literal["qrels", "run"]

VALUE_COLUMN: dict[Kind, str] = {"qrels": "relevance", "run": "score"}

OTHER_KIND: dict[Kind, Kind] = {"qrels": "run", "run": "qrels"}

TREC_FIELDS: dict[Kind, tuple[str, ...]] = {
    "qrels": ("query_id", "iter", "doc_id", "relevance"),
    "run": ("query_id", "Q0", "doc_id", "rank", "score", "tag"),
}

# Nearest first: PyTerrier's frames carry `qid` beside `query` (the text) and `docno` beside `docid` (a row number).
_ID_NAMES: dict[str, tuple[str, ...]] = {
    "query_id": ("query_id", "query-id", "qid", "q_id", "query"),
    "doc_id": ("doc_id", "doc-id", "corpus-id", "corpus_id", "docno", "docid", "doc", "document_id", "pid"),
}
_RELEVANCE_NAMES = ("relevance", "label", "rel", "relevance_label")
_NAMES: dict[Kind, dict[str, tuple[str, ...]]] = {
    # BEIR calls the relevance of its qrels `score`.
    "qrels": {**_ID_NAMES, "relevance": (*_RELEVANCE_NAMES, "score")},
    "run": {**_ID_NAMES, "score": ("score",)},
}


def known_names() -> frozenset[str]:
    """Return every column name that is recognised in qrels or in a run."""
    return frozenset(name for columns in _NAMES.values() for names in columns.values() for name in names)


def resolve_columns(names: Sequence[object], kind: Kind, *, where: str | Path) -> dict[str, str]:
    """Find the columns of qrels or of a run among the names of a table.

    Parameters
    ----------
    names : sequence of str
        The column names of the table, in any order; other columns are ignored. Names that are not text, such as the
        numbers of pandas, match nothing.
    kind : {"qrels", "run"}
    where : str or path
        The table, for the error message: a path, or words such as ``"run"``.

    Returns
    -------
    dict of str to str
        From canonical name (``query_id``, ``doc_id``, and ``relevance`` or ``score``) to the name in the table. If
        several names in the table match one column, deadheat's own name wins, then the more specific one.

    Raises
    ------
    ColumnError
        If a column is missing, or appears in the table more than once.
    SwappedFilesError
        If the table can only be the other kind.

    Examples
    --------
    >>> resolve_columns(["query-id", "corpus-id", "score"], "qrels", where="BEIR")
    {'query_id': 'query-id', 'doc_id': 'corpus-id', 'relevance': 'score'}
    """
    found: dict[str, str] = {}
    for canonical, accepted in _NAMES[kind].items():
        actual = next((name for name in accepted if name in names), None)
        if actual is None:
            raise _missing_column(names, kind, canonical, where)
        if list(names).count(actual) > 1:
            raise ColumnError(
                f"column {actual!r} appears {list(names).count(actual)} times in the table", allowed="once", path=where
            )
        found[canonical] = actual
    if kind == "qrels" and found["relevance"] == "score" and "rank" in names:
        raise SwappedFilesError(
            f"expected qrels, but the columns {_listed(names)} are those of a run",
            hint="were qrels and run given in the wrong order?",
            path=where,
        )
    return found


def _missing_column(names: Sequence[object], kind: Kind, canonical: str, where: str | Path) -> ColumnError:
    accepted = _NAMES[kind][canonical]
    unknown = [name for name in names if isinstance(name, str) and name not in known_names()]
    hint = next((near for name in unknown if (near := did_you_mean(name, accepted))), "")
    if kind == "run" and canonical == "score" and any(name in names for name in _RELEVANCE_NAMES):
        hint = "This looks like qrels; were qrels and run given in the wrong order?"
    if len(names) == 1:
        hint = _other_separator(str(names[0])) or hint
    return ColumnError(
        f"{kind} without a column {canonical!r}: found {_listed(names)}",
        allowed=f"one of {_listed(accepted)}",
        hint=hint,
        path=where,
    )


def _other_separator(header: str) -> str:
    """Say which separator a header that was read as a single name has; empty if it has none."""
    for separator, advice in (
        ("\t", "tabs: name it .tsv"),
        (",", "commas: name it .csv"),
        (";", "';': use commas or tabs"),
    ):
        if len(known_names() & set(header.split(separator))) > 1:
            return f"Its columns are separated by {advice}."
    return ""


def _listed(names: Sequence[object], limit: int = 12) -> str:
    shown = ", ".join(repr(name) for name in names[:limit])
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown
