"""The columns of qrels and runs, found among the columns of a table by their names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set as AbstractSet
from pathlib import Path
from typing import cast

from deadheat.core import hooks
from deadheat.core.checks import check_choice
from deadheat.core.errors import Advice, ColumnError, ParameterError, SwappedFilesError
from deadheat.core.io.kinds import (
    ADVICE_ON_DISTANCES,
    ALL_OFFSETS,
    ANSWERABLE,
    COLUMN_NAMES,
    EXPECTED_NAMES,
    GIVE_AS_SPANS,
    KEYS,
    KNOWN_NAMES,
    LIST_NAMES,
    NAMES_IN_CASES,
    OFFSET_NAMES,
    OTHER_KIND,
    RANK_NAMES,
    RELEVANCE_NAMES,
    SCORE_NAMES,
    SUBTOPIC,
    TEXTS,
    VALUE_COLUMN,
    WORDS_OF_RELEVANT,
    WORDS_OF_RETRIEVED,
    WRONG_ORDER,
    Kind,
)
from deadheat.core.io.texts import MATCH_TEXTS, NAMES_OF_TEXTS
from deadheat.core.wording import did_you_mean


def are_cases(names: Collection[object], kind: Kind, given: Mapping[str, str]) -> bool:
    """Tell whether a table in place of qrels holds labelled cases, by the names of its columns."""
    return kind == "qrels" and not given and "text" in names and not NAMES_IN_CASES.isdisjoint(names)


def resolve_columns(
    names: Sequence[object],
    kind: Kind,
    *,
    where: str | Path,
    given: Mapping[str, str] | None = None,
    lists: Collection[object] = (),
) -> dict[str, str]:
    """Find the columns of qrels or of a run among the names of a table.

    Parameters
    ----------
    names : sequence of str
        The column names of the table, in any order; other columns are ignored. Names that are not text, such as the
        numbers of pandas, match nothing.
    kind : {"qrels", "run"}
    where : str or path
        The table, for the error message: a path, or words such as ``"run"``.
    given : mapping of str to str, optional
        Names that the user gives, by canonical name.
    lists : collection of str, optional
        The columns that hold lists.

    Returns
    -------
    dict of str to str
        From canonical name to the name in the table: ``query_id``, ``doc_id``, of qrels perhaps ``subtopic``, and
        ``relevance``, ``score`` or (of a run without scores) ``rank``. Qrels whose rows are all relevant, and tables
        with lists of documents, may lack the last. If several names in the table match one column, deadheat's own name
        wins, then the more specific one.

    Raises
    ------
    ColumnError
        If a column is missing, or appears in the table more than once; if the user
        says that an offset of a passage is the relevance or the score.
    SwappedFilesError
        If the table can only be the other kind.

    Examples
    --------
    >>> resolve_columns(["query-id", "corpus-id", "score"], "qrels", where="BEIR")
    {'query_id': 'query-id', 'doc_id': 'corpus-id', 'relevance': 'score'}
    >>> resolve_columns(["user_id", "item_id", "rank"], "run", where="recommendations")
    {'query_id': 'user_id', 'doc_id': 'item_id', 'rank': 'rank'}
    """
    given = {canonical: name for canonical, name in (given or {}).items() if canonical in COLUMN_NAMES[kind]}
    _refuse_offsets(names, kind, given, where)
    columns: dict[str, str] = {}
    for canonical, accepted in COLUMN_NAMES[kind].items():
        if canonical == "score" and "rank" in given and "score" not in given:
            continue  # the ranks are read
        if canonical == "rank" and "score" in columns:
            continue  # the scores are read
        name = given.get(canonical) or _find_accepted_name(accepted, names, given)
        if name is not None:
            check_column(name, names, where)
            columns[canonical] = name
        elif not _may_lack(canonical, names, columns, kind, lists):
            missing = "score" if canonical == "rank" else canonical
            raise _make_missing_column_error(names, kind, missing, where, {*lists})
    if kind == "qrels" and columns.get("relevance") == "score" and "rank" in names and "relevance" not in given:
        raise SwappedFilesError(
            f"expected qrels, but the columns {_join_names(names)} are those of a run",
            hint=WRONG_ORDER[kind],
            path=where,
        )
    return columns


def _find_accepted_name(accepted: Iterable[str], names: Sequence[object], given: Mapping[str, str]) -> str | None:
    """Return the first accepted name that the table has, except those that the user gives to other columns."""
    for name in accepted:
        if name in names and name not in given.values():
            return name
    return None


def list_nearer_names(columns: Mapping[str, str], kind: Kind, given: Mapping[str, str]) -> list[str]:
    """Return the names that would have been chosen over the columns found, had the table had them too.

    Examples
    --------
    >>> list_nearer_names({"query_id": "qid", "doc_id": "doc_id", "score": "score"}, "run", {})
    ['query_id', 'query-id']
    >>> list_nearer_names({"query_id": "query_id", "doc_id": "doc_id", "relevance": "label"}, "qrels", {})[-3:]
    ['aspect', 'intent', 'relevance']
    """
    nearer: list[str] = []
    for canonical, accepted in COLUMN_NAMES[kind].items():
        if canonical in given:
            continue
        if canonical == "rank" and "score" in columns:
            continue
        n_nearer = len(accepted)
        if canonical in columns:
            n_nearer = accepted.index(columns[canonical])
        nearer += accepted[:n_nearer]
    return nearer


def check_column(name: str, names: Sequence[object], where: str | Path) -> None:
    """Raise `ColumnError` if a table has no such column, or several."""
    if name not in names:
        raise ColumnError(
            f"no column {name!r} in the table",
            allowed=f"one of {_join_names(names)}",
            hint=did_you_mean(name, _select_texts(names)),
            path=where,
        )
    n_columns = list(names).count(name)
    if n_columns > 1:
        raise ColumnError(f"column {name!r} appears {n_columns} times in the table", allowed="once", path=where)


def _select_texts(names: Iterable[object]) -> list[str]:
    return [name for name in names if isinstance(name, str)]


def find_column(
    known: Sequence[str],
    names: Collection[str],
    problem: str,
    where: str | Path | None,
    *,
    line: int | None = None,
    hint: str = "",
) -> str:
    """Return the first of several column names that a table has; raise, with a hint, if it has none."""
    for name in known:
        if name in names:
            return name
    raise ColumnError(
        f"{problem}: found {_join_names([*names]) or 'nothing'}",
        allowed=f"one of {_join_names(known)}",
        hint=hint or find_suggestion(names, known),
        path=where,
        line=line,
    )


def find_suggestion(names: Iterable[str], known: Sequence[str]) -> str:
    """Return ``Did you mean ...?`` for the first name that is like a known one; "" if none is."""
    for name in names:
        suggestion = did_you_mean(name, known)
        if suggestion:
            return suggestion
    return ""


def find_value_column(columns: Collection[str]) -> str | None:
    """Return the canonical name of the column of numbers; None where every row is a relevant document."""
    for name in columns:
        if name not in TEXTS:
            return name
    return None


def find_value_name(columns: Mapping[str, str]) -> str | None:
    """Return the name that the column of numbers has in the source, by the names of all columns; None without one."""
    canonical = find_value_column(columns)
    if canonical is None:
        return None
    return columns[canonical]


def check_given(given: Mapping[str, str]) -> dict[str, str]:
    """Return names of columns that the user gives; raise for one that neither qrels nor a run has."""
    if not isinstance(cast("object", given), Mapping):
        raise ParameterError(argument="columns", given=given, allowed="a dict such as {'doc_id': 'chunk'}")
    allowed = tuple({**COLUMN_NAMES["qrels"], **COLUMN_NAMES["run"]})
    for canonical, name in given.items():
        check_choice("columns", canonical, allowed)
        if not isinstance(name, str):
            raise ParameterError(argument="columns", given=name, allowed="a name for each column, as text")
    return dict(given)


def refuse_columns(given: Mapping[str, str], kind: Kind, what: str) -> None:
    """Raise `ParameterError` for names of columns that the user gives for something that is not a table."""
    if given:
        raise ParameterError(
            argument="columns",
            found=f"{what}, which has no names",
            allowed="given for tables only",
            hint=Advice("columns", given, of=OTHER_KIND[kind], when=f"for the {OTHER_KIND[kind]} alone, "),
        )


def _may_lack(
    canonical: str, names: Sequence[object], columns: Mapping[str, str], kind: Kind, lists: Collection[object]
) -> bool:
    """Tell whether a table can do without a column: a run with ranks without scores, one with lists without both."""
    if canonical == SUBTOPIC:
        return True
    doc = columns.get("doc_id")
    has_lists = doc is not None and (doc in LIST_NAMES[kind] or doc in lists)
    if canonical == "relevance":
        if "rank" in names:
            return False  # these are the columns of a run
        has_ids_alone = len({*names} - {ANSWERABLE}) == 2
        return has_lists or doc in EXPECTED_NAMES or has_ids_alone
    if canonical == "score" and not has_lists:
        return _has_ranks_alone(names)
    return has_lists


def _has_ranks_alone(names: Sequence[object]) -> bool:
    """Tell whether a run has ranks, and no column whose name is a misspelt score."""
    for name in _select_texts(names):
        if did_you_mean(name, ["score"]):
            return False
    return any(name in names for name in RANK_NAMES)


def _make_missing_column_error(
    names: Sequence[object], kind: Kind, canonical: str, where: str | Path, lists: AbstractSet[object]
) -> ColumnError:
    problem = f"{kind} without a column {canonical!r}: found {_join_names(names)}"
    if kind == "qrels" and have_offsets(names):
        return ColumnError(problem, hint=_advise_on_passages(), path=where)
    hint: str | Advice | None = _advise_on_format(names, kind)
    if not hint and canonical == "doc_id":
        hint = _advise_on_texts(names, kind)
    if not hint:
        hint = _advise_on_columns(names, kind, canonical, lists)
    python = None
    if isinstance(hint, Advice):
        python = f"dh.read_{kind} takes these"
    return ColumnError(
        problem,
        allowed=f"one of {_join_names(COLUMN_NAMES[kind][canonical])}",
        hint=hint,
        python=python,
        path=where,
    )


def _advise_on_texts(names: Sequence[object], kind: Kind) -> Advice | None:
    """Return how texts are matched, where a table has a column of them and none of ids; None for other tables."""
    column = _find_column_of_texts(names, kind)
    if column is None or any(map(_may_name_ids, _select_texts(names))):
        return None
    when = f"{column!r} holds texts, it seems, and {MATCH_TEXTS}; if only equal texts are one document, "
    return Advice("columns", {"doc_id": column}, of=kind, when=when)


def _find_column_of_texts(names: Iterable[object], kind: Kind) -> str | None:
    """Return the first column with texts of documents: of qrels no retrieved ones, of a run no relevant ones."""
    for name in names:
        if isinstance(name, str) and name in NAMES_OF_TEXTS and guess_kind(name) != OTHER_KIND[kind]:
            return name
    return None


def _may_name_ids(name: str) -> bool:
    """Tell whether an unknown column may hold the ids of documents, by its name."""
    if name in KNOWN_NAMES or name in NAMES_OF_TEXTS:
        return False
    return name.casefold().startswith("doc") or name.casefold().endswith(("id", "ids"))


def have_offsets(names: Collection[object]) -> bool:
    """Tell whether columns say where passages start and where they end.

    Examples
    --------
    >>> have_offsets(["doc_id", "start", "end"]), have_offsets(["doc_id", "start"])
    (True, False)
    """
    has_start = any(name in names for name in OFFSET_NAMES["start"])
    has_end = any(name in names for name in OFFSET_NAMES["end"])
    return has_start and has_end


def _refuse_offsets(names: Collection[object], kind: Kind, given: Mapping[str, str], where: str | Path) -> None:
    """Raise `ColumnError` where the user says that an offset of a passage is its relevance or score."""
    value = VALUE_COLUMN[kind]
    name = given.get(value)
    if name in ALL_OFFSETS and name in names and have_offsets(names):
        raise ColumnError(
            f"column {name!r} is an offset of a passage, and no {value}",
            hint=_advise_on_passages() if kind == "qrels" else None,
            path=where,
        )


def _advise_on_passages() -> str:
    """Return how to read passages; where the plugin that reads them is missing, which one that is."""
    return hooks.advise_on_missing("dh.Spans", "judgments") or GIVE_AS_SPANS


def _advise_on_format(names: Sequence[object], kind: Kind) -> Advice | None:
    """Return the format of a file whose columns were taken for one; None for another table."""
    if len(names) != 1:
        return None
    line = str(names[0])
    format_name = guess_format(line)
    if format_name is None and "\t" in line:
        format_name = "tsv"
    if format_name is None:
        return None
    separators = "commas" if format_name == "csv" else "tabs"
    when = f"its columns are separated by {separators}: "
    return Advice("format", format_name, f".{format_name}", of=kind, when=when)


def _advise_on_columns(
    names: Sequence[object], kind: Kind, canonical: str, lists: AbstractSet[object]
) -> str | Advice | None:
    """Return what may be the missing column, where one is likely: wrong advice is worse than none.

    Parameters
    ----------
    names, lists : collection of str
        All columns of the table, and those that hold lists.
    kind : {"qrels", "run"}
    canonical : str
        The column that is missing.
    """
    if _has_value_of_other_kind(names, canonical):
        return WRONG_ORDER[kind]
    known = {*KNOWN_NAMES, *ALL_OFFSETS, ANSWERABLE}
    unknown = [name for name in _select_texts(names) if name not in known]
    if not lists.isdisjoint(unknown):
        if canonical == "doc_id":
            return _advise_on_lists([name for name in unknown if name in lists], kind)
        unknown = [name for name in unknown if name not in lists]
    likely = [name for name in unknown if guess_kind(name) != OTHER_KIND[kind]]
    for name in likely:
        suggestion = did_you_mean(name, COLUMN_NAMES[kind][canonical])
        if suggestion:
            return Advice("columns", {canonical: name}, of=kind, when=f"{suggestion} Rename the column, or ")
    if len(names) < 2 or len(likely) < len(unknown):
        return None
    return _advise_on_all_columns(names, kind, canonical, unknown)


def _has_value_of_other_kind(names: Sequence[object], canonical: str) -> bool:
    """Tell whether a table without relevance has scores, or one without scores relevance."""
    other_names: tuple[str, ...] = ()
    if canonical == "score":
        other_names = RELEVANCE_NAMES
    elif canonical == "relevance":
        other_names = SCORE_NAMES
    return any(name in names for name in other_names)


def _advise_on_all_columns(
    names: Sequence[object], kind: Kind, canonical: str, unknown: Sequence[str]
) -> Advice | None:
    """Return advice that takes the unknown names for all columns that are missing, in their order."""
    missing = []
    for column in (*KEYS, VALUE_COLUMN[kind]):
        if not any(name in COLUMN_NAMES[kind][column] for name in names):
            missing.append(column)
    columns = dict(zip(missing, unknown, strict=False))
    if canonical not in columns:
        return None
    if any(_is_number(name) for name in unknown):
        when = "if that line is data, write a header above it; if these are names, "
    elif is_distance(columns.get("score", "")):
        when = f"{ADVICE_ON_DISTANCES.format(ascending='add ascending=True (--ascending)')}: in both cases "
    else:
        when = "if that is what they are, "
    return Advice("columns", columns, of=kind, when=when)


def _advise_on_lists(names: Sequence[str], kind: Kind) -> Advice | None:
    """Return advice that takes one of some columns with lists for the documents; None if several may hold them.

    Tables of questions have lists of retrieved documents beside those of relevant ones.
    """
    likely = [name for name in names if guess_kind(name) == kind]
    if not likely:
        likely = [name for name in names if guess_kind(name) is None]
    if len(likely) != 1:
        return None
    return Advice("columns", {"doc_id": likely[0]}, of=kind, when=f"if {likely[0]!r} holds them, ")


def _is_number(name: str) -> bool:
    """Tell whether the name of a column is a number: then the first row was taken for the header."""
    return name.lstrip("-").replace(".", "", 1).isdigit()


def is_distance(name: str) -> bool:
    """Tell whether the name of a column says that it holds distances."""
    return "distance" in name.casefold()


def guess_kind(name: str) -> Kind | None:
    """Return which documents a column holds, relevant or retrieved ones, if its name says it.

    Examples
    --------
    >>> guess_kind("ground_truths"), guess_kind("retrievedDocs"), guess_kind("chunk")
    ('qrels', 'run', None)
    >>> guess_kind("reference_contexts"), guess_kind("top_k_ids")
    ('qrels', 'run')
    """
    words = {word.casefold() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}
    if words & WORDS_OF_RELEVANT:
        return "qrels"
    if words & WORDS_OF_RETRIEVED:
        return "run"
    return None


def is_pattern(name: str) -> bool:
    """Return whether Polars and other engines take the name of a column for several columns.

    Examples
    --------
    >>> is_pattern("*"), is_pattern("^s.*$"), is_pattern("score *")
    (True, True, False)
    """
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def refuse_patterns(names: Iterable[str], where: str | Path) -> None:
    """Raise `ColumnError` for a column that an engine of dataframes would take for others."""
    for name in names:
        if is_pattern(name):
            raise ColumnError(
                f"the name of column {name!r} stands for several columns in dataframes, as * and ^...$ do",
                hint="rename the column",
                path=where,
            )


def has_semicolons(head: bytes, given: Iterable[str] = ()) -> bool:
    """Tell whether a table's header has semicolons between its names: between known ones, or where there is no comma.

    Examples
    --------
    >>> has_semicolons(b'"query_id";"doc_id";"score"'), has_semicolons(b"query_id,doc_id,a;b")
    (True, False)
    >>> has_semicolons(b"Suchanfrage;Artikelnummer;Bewertung")
    True
    """
    header = b""
    for line in head.splitlines():
        if line.strip(b' ,;"'):
            header = line
            break
    names = _split_header(header.decode(errors="replace"), ";")
    n_known = len(names & {*KNOWN_NAMES, *given})
    if n_known > 1:
        return True
    return len(names) > 1 and b"," not in header


def guess_format(header: str) -> str | None:
    """Return which table a line may be the header of, by the known names in it: csv, tsv or None."""
    if len(KNOWN_NAMES & _split_header(header, ",")) > 1:
        return "csv"
    if len(KNOWN_NAMES & _split_header(header, "\t")) > 1:
        return "tsv"
    return None


def _split_header(header: str, separator: str) -> set[str]:
    """Return the names in a header, without blanks and quotes around them."""
    return {name.strip(' "') for name in header.split(separator)}


def _join_names(names: Sequence[object], limit: int = 12) -> str:
    """Return names in quotes with commas between, and how many more there are."""
    shown = ", ".join(repr(name) for name in names[:limit])
    if len(names) > limit:
        return f"{shown} and {len(names) - limit} more"
    return shown
