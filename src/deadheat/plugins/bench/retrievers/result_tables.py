"""Results of a search engine of one's own, as a table: its columns may be called as people call them.

Where it has phrases in the place of ids of cases, the cases are found by their texts.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from deadheat.core.data.run import Run
from deadheat.core.errors import Advice, ColumnError, DataError, FileFormatError, MalformedRowError
from deadheat.core.io.kinds import COLUMN_NAMES
from deadheat.core.io.records import Wanted, read_records
from deadheat.core.structures import group_values
from deadheat.core.wording import format_list
from deadheat.plugins.bench.cases.reading import TEXT_NAMES
from deadheat.plugins.bench.cases.texts import folded

WORKBOOK = ".xlsx"
RESULTS = Wanted(
    what="results",
    expected="a list of objects with query_id, doc_id and score",
    formats=("csv", "tsv", "jsonl", "json", "parquet", "xlsx"),
)
NUMBERS = ("score", "rank")
PHRASES = "text"  # the column that has phrases in the place of ids of cases
NAMES: dict[str, tuple[str, ...]] = {  # upper case and the marks between words do not count
    "query_id": COLUMN_NAMES["run"]["query_id"],
    PHRASES: TEXT_NAMES,
    "doc_id": (
        *COLUMN_NAMES["run"]["doc_id"],
        *("hpo_id", "hpo", "hpo_term", "hpo_code", "code_hpo", "term_id", "id", "code", "kode"),
        *("hit", "result", "treffer", "ergebnis", "résultat", "resultado"),
    ),
    "score": (*COLUMN_NAMES["run"]["score"], "punkte", "punktzahl", "ähnlichkeit", "similarité", "similitud"),
    "rank": (*COLUMN_NAMES["run"]["rank"], "rang", "platz", "position", "posición"),
}


def open_results(path: Path, name: str, columns: Mapping[str, str], *, ascending: bool) -> Run:
    """Read a run, or a table of results whose columns have other names.

    Parameters
    ----------
    path : pathlib.Path
    name : str
    columns : mapping of str to str
        The columns that hold query_id, doc_id, score and rank, as far as the user says; and that of phrases, "text",
        which is looked at where there is no query_id.
    ascending : bool
        Whether lower scores rank first.

    Raises
    ------
    ColumnError
        There is no column for one of them.
    """
    if path.suffix.lower() == WORKBOOK:
        return Run(_read_table(path, columns, None), name=name, ascending=ascending)
    named = {what: column for what, column in columns.items() if what != PHRASES}
    try:
        return Run(path, name=name, columns=named, ascending=ascending)
    except (ColumnError, FileFormatError) as error:
        table = _read_table(path, columns, error)
    return Run(table, name=name, ascending=ascending)


def _read_table(path: Path, columns: Mapping[str, str], error: DataError | None) -> pl.DataFrame:
    """Return query_id, doc_id and score or rank of a table of results.

    Parameters
    ----------
    path : pathlib.Path
    columns : mapping of str to str
    error : DataError or None
        Why it is no run; raised again where it is no table of results either.
    """
    try:
        records = read_records(path, None, RESULTS)
    except DataError:
        if error is None or isinstance(error, ColumnError):  # it is a table, and what is wrong with it is said here
            raise
        raise error from None
    found = _find_columns(records.columns, columns)
    is_known = all(column in records.columns for what, column in columns.items() if what != PHRASES)
    if not is_known or not {"query_id", "doc_id"} <= set(found) or {"score", "rank"}.isdisjoint(found):
        raise error or _lacking(records.columns, found, path)
    numbers = [what for what in NUMBERS if what in found]
    frame, _ = records.with_points([found[what] for what in numbers], path)
    texts = frame.select(pl.col(column).cast(pl.String).alias(what) for what, column in found.items())
    table = texts.with_columns(pl.col(numbers).str.strip_chars().cast(pl.Float64, strict=False))
    for what in numbers:
        is_wrong = table[what].is_null() & texts[what].is_not_null()
        if is_wrong.any():
            place = int(is_wrong.arg_true()[0])
            raise MalformedRowError(
                f"the {what} is no number", given=texts[what][place], path=path, line=records.line(place)
            )
    return table


def _find_columns(names: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Return the columns that are known by their names, by what they hold; those that the user names come first.

    Examples
    --------
    >>> _find_columns(["Begriff", "Treffer", "Score"], {})
    {'doc_id': 'Treffer', 'score': 'Score', 'query_id': 'Begriff'}
    """
    by_folded = {_folded(name): name for name in reversed(names)}
    found = {what: name for what, name in columns.items() if name in names}
    for what, known in NAMES.items():
        if what in found:
            continue
        for own in known:
            name = by_folded.get(_folded(own))
            if name is not None and name not in found.values():
                found[what] = name
                break
    phrases = found.pop(PHRASES, None)
    if phrases is not None:
        found.setdefault("query_id", phrases)
    return found


def _folded(name: str) -> str:
    """Return a name without upper case and the marks between words."""
    return re.sub(r"[\W_]+", "", name.casefold())


def _lacking(names: Sequence[str], found: Mapping[str, str], path: Path) -> ColumnError:
    """Return the error for a sheet that lacks a column of a run."""
    lacking = [what for what in ("query_id", "doc_id", "score") if what not in found]
    return ColumnError(
        f"results without a column {lacking[0]!r}: found {', '.join(map(repr, names))}",
        hint=Advice("columns", dict.fromkeys(lacking, "..."), of="run"),
        path=path,
    )


def find_by_phrase(rows: pl.DataFrame, query_ids: Sequence[str], texts: Sequence[str]) -> dict[str, str]:
    """Return, of cases whose ids a run lacks, the query of the run that is their text, by the ids of the cases.

    Upper case and blanks do not count, unless several queries of the run differ in these alone.

    Parameters
    ----------
    rows : polars.DataFrame
        query_id, doc_id and score.
    query_ids, texts : sequence of str, shape (n_cases,)
        Of the cases.

    Raises
    ------
    DataError
        Several queries of the run are one text, and none is written as it is.
    """
    queries = rows["query_id"].unique(maintain_order=True).to_list()
    known = set(queries)
    by_text = group_values((folded(query), query) for query in queries)
    found: dict[str, str] = {}
    for query_id, text in zip(query_ids, texts, strict=True):
        if query_id in known:
            continue
        alike = by_text.get(folded(text), [])
        if text in alike:
            alike = [text]
        if len(alike) > 1:
            raise DataError(f"{format_list([*map(repr, alike)])} are one phrase", hint="write it in one way")
        if alike:
            found[query_id] = alike[0]
    return found
