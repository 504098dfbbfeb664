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
    ALL_OFFSETS,
    ANSWERABLE,
    CASES,
    COLUMN_NAMES,
    EITHER_WAY,
    EXPECTED_NAMES,
    GIVE_AS_SPANS,
    KEYS,
    KNOWN_NAMES,
    LIST_NAMES,
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
from deadheat.core.wording import did_you_mean


def are_cases(names: Collection[object], kind: Kind, given: Mapping[str, str]) -> bool:
    """Tell whether a table in place of qrels holds labelled cases, by the names of its columns."""
    return kind == "qrels" and not given and "text" in names and not CASES.isdisjoint(names)


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
        Names that the user says, by canonical name.
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
    found: dict[str, str] = {}
    for canonical, accepted in COLUMN_NAMES[kind].items():
        # ranks do for scores, and scores for ranks
        if (canonical == "score" and "rank" in given and "score" not in given) or (
            canonical == "rank" and "score" in found
        ):
            continue
        others = (name for name in accepted if name not in given.values())  # that nobody says are another column
        actual = given.get(canonical) or next((name for name in others if name in names), None)
        if actual is not None:
            check_column(actual, names, where)
            found[canonical] = actual
        elif not _may_lack(canonical, names, found, kind, lists):
            raise _missing_column(names, kind, "score" if canonical == "rank" else canonical, where, {*lists})
    if kind == "qrels" and found.get("relevance") == "score" and "rank" in names and "relevance" not in given:
        raise SwappedFilesError(
            f"expected qrels, but the columns {_listed(names)} are those of a run", hint=WRONG_ORDER[kind], path=where
        )
    return found


def list_nearer_names(columns: Mapping[str, str], kind: Kind, given: Mapping[str, str]) -> list[str]:
    """Return the names that would be other columns than those found, if the table had them too.

    Examples
    --------
    >>> nearer_names({"query_id": "qid", "doc_id": "doc_id", "score": "score"}, "run", {})
    ['query_id', 'query-id']
    >>> nearer_names({"query_id": "query_id", "doc_id": "doc_id", "relevance": "label"}, "qrels", {})[-3:]
    ['aspect', 'intent', 'relevance']
    """
    return [
        name
        for canonical, accepted in COLUMN_NAMES[kind].items()
        if canonical not in given and not (canonical == "rank" and "score" in columns)
        for name in accepted[: accepted.index(columns[canonical]) if canonical in columns else None]
    ]


def check_column(name: str, names: Sequence[object], where: str | Path) -> None:
    """Raise `ColumnError` if a table has no such column, or several."""
    if name not in names:
        raise ColumnError(
            f"no column {name!r} in the table",
            allowed=f"one of {_listed(names)}",
            hint=did_you_mean(name, [one for one in names if isinstance(one, str)]),
            path=where,
        )
    if (n := list(names).count(name)) > 1:
        raise ColumnError(f"column {name!r} appears {n} times in the table", allowed="once", path=where)


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
    found = next((name for name in known if name in names), None)
    if found is None:
        raise ColumnError(
            f"{problem}: found {_listed([*names]) or 'nothing'}",
            allowed=f"one of {_listed(known)}",
            hint=hint or next(filter(None, (did_you_mean(name, known) for name in names)), ""),
            path=where,
            line=line,
        )
    return found


def find_value_column(columns: Collection[str]) -> str | None:
    """Return which of the canonical columns holds the numbers; None where every row is a relevant document."""
    return next((name for name in columns if name not in TEXTS), None)


def check_given(given: Mapping[str, str]) -> dict[str, str]:
    """Return names of columns that the user says; raise for one that neither qrels nor a run has."""
    if not isinstance(cast("object", given), Mapping):
        raise ParameterError(argument="columns", given=given, allowed="a dict such as {'doc_id': 'chunk'}")
    allowed = tuple(dict.fromkeys(canonical for columns in COLUMN_NAMES.values() for canonical in columns))
    for canonical, name in given.items():
        check_choice("columns", canonical, allowed)
        if not isinstance(name, str):
            raise ParameterError(argument="columns", given=name, allowed="a name for each column, as text")
    return dict(given)


def refuse_columns(given: Mapping[str, str], kind: Kind, what: str) -> None:
    """Raise `ParameterError` for names of columns that the user says of something that is no table."""
    if given:
        raise ParameterError(
            argument="columns",
            found=f"{what}, which has no names",
            allowed="given for tables only",
            hint=Advice("columns", given, of=OTHER_KIND[kind], when=f"for the {OTHER_KIND[kind]} alone, "),
        )


def _may_lack(
    canonical: str, names: Sequence[object], found: Mapping[str, str], kind: Kind, lists: Collection[object]
) -> bool:
    """Tell whether a table needs no such column: scores have ranks beside them, lists are ranked, and so on."""
    doc = found.get("doc_id")
    has_lists = doc is not None and (doc in LIST_NAMES[kind] or doc in lists)
    if canonical == "relevance":
        return (has_lists or doc in EXPECTED_NAMES or len({*names} - {ANSWERABLE}) == 2) and "rank" not in names
    if canonical == "score" and not has_lists:  # ranks are not taken for a score that is misspelt
        near = any(did_you_mean(name, COLUMN_NAMES["run"]["score"][:1]) for name in names if isinstance(name, str))
        return not near and any(name in names for name in RANK_NAMES)
    return has_lists or canonical == SUBTOPIC


def _missing_column(
    names: Sequence[object], kind: Kind, canonical: str, where: str | Path, lists: AbstractSet[object]
) -> ColumnError:
    problem = f"{kind} without a column {canonical!r}: found {_listed(names)}"
    if kind == "qrels" and have_offsets(names):
        return ColumnError(problem, hint=_hint_of_passages(), path=where)
    hint = _hint_of_form(names) or _hint_of_columns(names, kind, canonical, lists)
    return ColumnError(
        problem,
        allowed=f"one of {_listed(COLUMN_NAMES[kind][canonical])}",
        hint=hint,
        python=f"dh.read_{kind} takes these" if isinstance(hint, Advice) else None,
        path=where,
    )


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
            hint=_hint_of_passages() if kind == "qrels" else None,
            path=where,
        )


def _hint_of_passages() -> str:
    """Return how to read passages, or which plugin does that is not there."""
    return hooks.advice_on_missing("dh.Spans", "judgments") or GIVE_AS_SPANS


def _hint_of_form(names: Sequence[object]) -> str:
    """Return how to name a file whose columns were taken for one."""
    form = guess_format(str(names[0])) if len(names) == 1 else None
    if form is None:
        return ""
    return f"Its columns are separated by {'commas' if form == 'csv' else 'tabs'}: name it .{form}."


def _hint_of_columns(
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
    of_other_kind = {"score": RELEVANCE_NAMES, "relevance": SCORE_NAMES}.get(canonical, ())
    if any(name in names for name in of_other_kind):
        return WRONG_ORDER[kind]
    no_values = {*KNOWN_NAMES, *ALL_OFFSETS, ANSWERABLE}
    unknown = [name for name in names if isinstance(name, str) and name not in no_values]
    if not lists.isdisjoint(unknown):
        if canonical == "doc_id":
            return _hint_of_lists([name for name in unknown if name in lists], kind)
        unknown = [name for name in unknown if name not in lists]
    likely = [name for name in unknown if guess_kind(name) != OTHER_KIND[kind]]
    for name in likely:
        if meant := did_you_mean(name, COLUMN_NAMES[kind][canonical]):
            return Advice("columns", {canonical: name}, of=kind, when=f"{meant} Rename the column, or ")
    lacking = [one for one in (*KEYS, VALUE_COLUMN[kind]) if not any(name in COLUMN_NAMES[kind][one] for name in names)]
    columns = dict(zip(lacking, unknown, strict=False))
    if len(names) < 2 or canonical not in columns or len(likely) < len(unknown):
        return None
    if any(_is_of_data(name) for name in unknown):
        when = "if that line is data, write a header above it; if these are names, "
    elif is_distance(columns.get("score", "")):
        when = f"{EITHER_WAY.format(ascending='add ascending=True (--ascending)')}: in both cases "
    else:
        when = "if that is what they are, "
    return Advice("columns", columns, of=kind, when=when)


def _hint_of_lists(names: Sequence[str], kind: Kind) -> Advice | None:
    """Return which of some columns with lists may hold the documents: one, or none.

    Tables of questions have lists of retrieved documents beside those of relevant ones.
    """
    of_kind = [name for name in names if guess_kind(name) == kind]
    likely = of_kind or [name for name in names if guess_kind(name) is None]
    if len(likely) != 1:
        return None
    return Advice("columns", {"doc_id": likely[0]}, of=kind, when=f"if {likely[0]!r} holds them, ")


def _is_of_data(name: str) -> bool:
    """Tell whether the name of a column is a number."""
    return name.lstrip("-").replace(".", "", 1).isdigit()


def is_distance(name: str) -> bool:
    """Tell whether the name of a column says that it holds distances."""
    return "distance" in name.casefold()


def guess_kind(name: str) -> Kind | None:
    """Return which documents a column holds, relevant or retrieved ones, if its name says it.

    Examples
    --------
    >>> kind_of_name("ground_truths"), kind_of_name("retrievedDocs"), kind_of_name("chunk")
    ('qrels', 'run', None)
    >>> kind_of_name("reference_contexts"), kind_of_name("top_k_ids")
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
    for name in filter(is_pattern, names):
        raise ColumnError(
            f"the name of column {name!r} stands for several columns in dataframes, as * and ^...$ do",
            hint="rename the column",
            path=where,
        )


def has_semicolons(head: bytes, given: Iterable[str] = ()) -> bool:
    """Return whether the first line of a table that is not blank has names between semicolons: known ones, or no comma.

    Examples
    --------
    >>> has_semicolons(b'"query_id";"doc_id";"score"'), has_semicolons(b"query_id,doc_id,a;b")
    (True, False)
    >>> has_semicolons(b"Suchanfrage;Artikelnummer;Bewertung")
    True
    """
    first = next((line for line in head.splitlines() if line.strip(b' ,;"')), b"")
    names = {name.strip(' "') for name in first.decode(errors="replace").split(";")}
    return len({*KNOWN_NAMES, *given} & names) > 1 or (len(names) > 1 and b"," not in first)


def guess_format(header: str) -> str | None:
    """Return which table a line may be the header of, by the known names in it: csv, tsv or None."""
    names = {form: {name.strip(' "') for name in header.split(mark)} for form, mark in (("csv", ","), ("tsv", "\t"))}
    return next((form for form, own in names.items() if len(KNOWN_NAMES & own) > 1), None)


def _listed(names: Sequence[object], limit: int = 12) -> str:
    shown = ", ".join(repr(name) for name in names[:limit])
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown
