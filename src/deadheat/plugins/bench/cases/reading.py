"""Files of labelled cases: their rows as cases, and every reason why one is unusable, with its place."""

import json
import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from deadheat.core.checks import as_pattern, check_choice
from deadheat.core.data.sources import make_label
from deadheat.core.errors import Advice, CasesError, ColumnError, DataError, ParameterError
from deadheat.core.io.content import Content
from deadheat.core.io.files import check_readable
from deadheat.core.io.kinds import CASES_KEYS, COLUMN_NAMES
from deadheat.core.io.records import Records, Wanted, as_text, read_records
from deadheat.core.wording import did_you_mean, format_count, quote_text
from deadheat.plugins.bench.cases.model import Case, Cases, label
from deadheat.plugins.bench.cases.texts import is_grade
from deadheat.plugins.bench.languages import code_of, normalised

HPO_IDS = "expected_hpo_ids"
IDS = ("expected_ids", HPO_IDS)
DOMAINS = ("domain", "hpo_domain")
FIELDS = (
    *("case_id", "text", "description", *IDS, "relevance"),
    *("language", "difficulty", "category", *DOMAINS, "pair_id"),
)
# Nearest first. A table of qrels may call its documents so too; but `doc_id` beside a text is no expected document.
_EXPECTED = tuple(
    name for name in COLUMN_NAMES["qrels"]["doc_id"] if name.startswith(("expected", "relevant", "reference", "ground"))
)
_NAMES: dict[str, tuple[str, ...]] = {  # upper case and the marks between words do not count
    "case_id": ("query_id", "qid", "question_id"),
    "text": (
        *("phrase", "query", "question", "user_input", "input", "query_text", "search_term", "utterance"),
        *("begriff", "ausdruck", "terme", "expression", "término", "frase"),
    ),
    HPO_IDS: ("hpo_id", "hpo_ids", "hpo", "hpo_term", "hpo_code", "code_hpo"),
    "expected_ids": (*_EXPECTED, "gold", "gold_id", "gold_ids", "gold_doc_id", "gold_doc_ids", "target", "target_id"),
    "language": ("lang", "sprache", "langue", "idioma", "lingua"),
    "difficulty": ("schwierigkeit", "schwierigkeitsgrad", "difficulté", "dificultad", "difficoltà"),
    "category": ("kategorie", "catégorie", "categoría", "categoria"),
}
_WORDS = {  # of difficulty
    word: level
    for level, words in {
        "easy": "leicht einfach facile fácil",
        "medium": "mittel mittelschwer moyen moyenne medio media",
        "hard": "schwer schwierig difficile difícil",
    }.items()
    for word in words.split()
}

TEXT_NAMES = ("text", *_NAMES["text"])  # what columns of texts are called

_WORDS_FOR_TEXT = frozenset((*TEXT_NAMES, "term", "label", "name", "bezeichnung", "befund", "symptom", "finding"))
_NO_LANGUAGES = frozenset(("id", "no"))  # a number or an id, not Indonesian and Norwegian
_TEXT_IN = re.compile(r"text_[a-z]{2,3}(-[a-z0-9]{2,8})*")  # the texts in one language, of a table that has several

WANTED = Wanted(
    what="cases",
    record='a case such as {"text": ..., "expected_ids": [...]}',
    expected="a list of cases, or an object with 'cases' (or 'test_cases') and 'metadata'",
    formats=("json", "jsonl", "csv", "tsv", "xlsx"),
    keys=CASES_KEYS,
    keeps_misfits=True,
)
HPO_PATTERN = re.compile(r"^HP:\d{7}$", re.ASCII)
_LIKE_HPO = re.compile(r"\s*HPO?\s*[:_]", re.IGNORECASE)  # an id of HPO, in whatever field
_BETWEEN_IDS = re.compile(r"(?:[\s,;/+&|]|\b(?:and|und|et|y)\b)+")  # ids in a cell that are recognised by their pattern

_ONE_PER_ID = "Give one positive number for each expected id: a list in their order, or {id: grade}."

Level = Literal["error", "warning"]
# what is wrong with a field: a word for programs; the field and the position in it, empty for what is missing; what is
# wrong; and what to do about it
Wrong: TypeAlias = "tuple[str, tuple[str | int, ...], str, str]"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a file of cases.

    Attributes
    ----------
    level : {"error", "warning"}
        An error makes its case unusable, or the file; `deadheat.read_cases` refuses it.
    place : str
        The file, and the line if it is about one: ``cases.json:12``.
    case_id : str
        The case; empty if it is about the file, or about several cases.
    message : str
        What is wrong, and what was given.
    advice : str
        What to do about it.
    kind : str
        A word for programs, such as ``"malformed_id"``.
    line : int or None
    """

    level: Level
    place: str
    case_id: str
    message: str
    advice: str
    kind: str
    line: int | None = None

    def __str__(self) -> str:
        case = f"case {self.case_id!r}: " if self.case_id else ""
        return f"{self.place}: {case}{self.text}"

    @property
    def text(self) -> str:
        """Message and advice as sentences."""
        return " ".join(
            part if part.endswith((".", "?")) else f"{part}." for part in filter(None, (self.message, self.advice))
        )


@dataclass(frozen=True, eq=False)
class CaseFile:
    """A file of cases: its rows, the cases that can be used, and what is wrong with the others.

    Attributes
    ----------
    path : pathlib.Path
    records : Records
    rows : list of dict, shape (n_cases,)
        The fields of each case, as JSON holds them.
    places : list of int, shape (n_cases,)
        The place in `records` of each case: a row with texts in several languages is a case of each.
    named : dict of str to str
        What the file calls the fields that it calls otherwise, by field.
    language : str or None
        That of cases for which neither they nor the file say one.
    found : list of Case
        The usable ones.
    errors : list of Finding
        What is wrong with the others.
    unusable : set of int
        The places of the others.
    """

    path: Path
    records: Records
    rows: list[dict[str, Any]]
    places: list[int]
    named: Mapping[str, str]
    language: str | None
    found: list[Case] = field(default_factory=list)
    errors: list[Finding] = field(default_factory=list)
    unusable: set[int] = field(default_factory=set)

    @property
    def name(self) -> str:
        """Its dataset_id, or else the name of the file without its format."""
        given = self.records.metadata.get("dataset_id")
        return (given.strip() if isinstance(given, str) else "") or make_label(self.path)

    @cached_property
    def cases(self) -> Cases:
        """Those that can be used."""
        notes = (f"{self.name}: {self.said_by_folder}",) if self.said_by_folder else ()
        has_cells = not isinstance(self.records.table, list)
        return Cases(self.name, self.records.metadata, tuple(self.found), self.path, has_cells, notes)

    @cached_property
    def of_folder(self) -> str | None:
        """The language that the file's folder is named after, as ``german`` or ``de``."""
        return code_of(self.path.absolute().parent.name)

    @cached_property
    def said_by_folder(self) -> str:
        """How many cases have the language of their folder, as nobody else says one; empty if none has."""
        if self.of_folder is None or self.language or label(self.records.metadata.get("language")):
            return ""
        n = sum(label(row.get("language")) is None for row in self.rows)
        return (
            f"{format_count(n, 'case')} of language {self.of_folder}, as the folder {self.path.absolute().parent.name}"
            " says"
            if n
            else ""
        )

    def warning(self, kind: str, message: str, advice: str, about: Case | int | None = None) -> Finding:
        """Return a finding about the file, or about a line or a case of it."""
        line, case_id = (about.line, about.case_id) if isinstance(about, Case) else (about, "")
        return finding(self.path, line, kind, message, advice, case_id=case_id)

    def line(self, place: int) -> int | None:
        """Return the line on which a case begins."""
        return self.records.line(self.places[place])

    def line_of(self, place: int, *keys: str | int) -> int | None:
        """Return the line on which a case, or a part of it, begins."""
        if not (self.records.json and keys):
            return self.line(place)
        row: Any = self.records.table[self.places[place]]
        head = self.named.get(str(keys[0]), keys[0])
        head = head if head in row else keys[0]
        if head not in row:  # of a text in one of several languages
            return self.line(place)
        inside = keys[1:] if isinstance(row[head], list | dict) else ()  # an id may be no list
        return self.records.json.line_of([*self.records.keys, self.places[place], head, *inside])


def content_of_qrels(path: Path, format: str | None) -> Content:  # noqa: A002 - as read_cases has it
    """Return the judgments of a file of labelled cases that was given as qrels."""
    cases = read_cases(path, format=format)
    return Content(cases.qrels().to_dict(), (cases.note_on_qrels,))


def read_cases(
    path: str | os.PathLike[str],
    *,
    id_pattern: str | None = None,
    format: str | None = None,  # noqa: A002 - the word that users look for
    language: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Cases:
    r"""Read labelled cases: texts with the ids that a search for each of them should find.

    JSON is an object with ``metadata`` and ``cases`` (or ``test_cases``), or a list of cases; JSON lines have a case a
    line, the first line may be ``{"metadata": {...}}``; CSV and TSV have a column for each field, and ``|`` between
    ids, or a JSON list of them (``[]`` where nothing is to be found); ``;`` and ``,`` separate ids only where a
    benchmark's collection has each of them. Fields: text (also called phrase, query, question or input) and
    expected_ids (expected, expected_id, gold, ...; or expected_hpo_ids, each ``HP:`` and seven digits); and, where
    there are any, case_id, description, relevance (a grade for each id: a list in their order, or ``{id: grade}``; 1
    by default), language (``EN`` is read as ``en``, ``en_GB`` as ``en-gb``), difficulty, category, domain (or
    hpo_domain), pair_id (what cases of several languages share that ask for the same).
    ``deadheat validate`` reports more than this reader refuses.

    Parameters
    ----------
    path : path-like
        ``.gz`` and ``.zst`` are unpacked.
    id_pattern : str, optional
        A regular expression that every expected id must match as a whole, such as ``"MONDO:\d{7}"``. Default: that of
        HPO for expected_hpo_ids, and for an id that begins with HP: in expected_ids, where all else is allowed.
    format : {"json", "jsonl", "csv", "tsv"}, optional
        Default: what the name says.
    language : str, optional
        The language of cases for which neither they nor the metadata say one; by default that of the folder, if it is
        named after one, as ``german/cases.json`` or ``de/cases.json`` (then `Cases.notes` say so).
    columns : dict of str to str, optional
        Names of fields that are not recognised, such as ``{"text": "symptom"}``.

    Returns
    -------
    Cases
        A case without an id is called by the name of the set (the dataset_id, or else the file's name) and its place
        among the cases, from 0: ``tiny_v1-003``.

    Raises
    ------
    CasesError
        Unusable cases, each named with its place: an expected id that is malformed or repeated in
        its case, no expected id, grades that do not fit them, no text, a case_id that another case has, a row that is
        not a case.
    DataError
        The file is missing or malformed.
    """
    reading = examine(path, id_pattern=id_pattern, format=format, language=language, columns=columns)
    if reading.errors:
        head = f"{len(reading.unusable):,} of {format_count(len(reading.rows), 'case')} cannot be used:"
        raise CasesError(
            "\n  ".join([head, *map(str, reading.errors)]),
            path=reading.path,
            findings=tuple(reading.errors),
        )
    return reading.cases


def examine(
    path: str | os.PathLike[str],
    *,
    id_pattern: str | None = None,
    format: str | None = None,  # noqa: A002 - as read_cases
    language: str | None = None,
    columns: Mapping[str, str] | None = None,
    terms: Container[str] | None = None,
) -> CaseFile:
    """Read every row of a file as a case, or find what is wrong with it; an empty cell is a missing field.

    Parameters
    ----------
    path, id_pattern, format, language, columns
        As for :func:`read_cases`.
    terms : container of str, optional
        The ids that exist: what is suggested for a malformed one is one of them.

    Raises
    ------
    DataError
        The file is missing, empty or malformed; with the line, where there is one.
    """
    pattern = None if id_pattern is None else as_pattern("id_pattern", id_pattern, "HP:[0-9]{7}", re.ASCII)
    path = check_readable(path)
    records = read_records(path, format, WANTED)
    named = fields_in(records.columns, columns, path)
    rows = _rows(records, named, path, pattern or HPO_PATTERN)
    if not rows:
        raise DataError("no case in it", allowed="at least one text with its expected ids", path=path)
    rows, places = _split_languages(rows, "_".join(make_label(path).split()))
    reading = CaseFile(path, records, rows, places, named, language)
    seen: dict[object, int] = {}  # the place of each case_id, and of each pair_id with its language
    for place in range(len(rows)):
        _examine(reading, place, pattern, seen, terms)
    return reading


def fields_in(
    columns: Sequence[object], given: Mapping[str, str] | None = None, path: Path | None = None
) -> dict[str, str]:
    """Return the name in a file of each field that it calls otherwise, by field.

    Parameters
    ----------
    columns : sequence of str
        The names in the file.
    given : dict of str to str, optional
        What the user says, by field.
    path : pathlib.Path, optional
        The file, for messages.

    Examples
    --------
    >>> fields_in(["phrase", "expected_id", "language"])
    {'text': 'phrase', 'expected_ids': 'expected_id'}
    >>> fields_in(["text", "query", "expected_term"], {"text": "query"})
    {'text': 'query', 'expected_ids': 'expected_term'}
    """
    names = [name for name in columns if isinstance(name, str)]
    written = {_folded(name): name for name in reversed(names)}
    if not isinstance(given, Mapping | None):
        raise ParameterError(argument="columns", given=given, allowed="a dict such as {'text': 'phrase'}")
    found = dict(given or {})
    _check_named(found, names, path)
    if _is_of_hpo(found.get(IDS[0])):  # its ids are checked, whatever it is called here
        found[HPO_IDS] = found.pop(IDS[0])
    for own, accepted in _NAMES.items():
        if not {own, *(IDS if own in IDS else ())}.isdisjoint((*names, *found)):
            continue
        known = [written[name] for name in map(_folded, (own, *accepted)) if name in written][:1]
        if not known and own == IDS[0]:  # the one column that may hold the ids
            known = [name for name in names if name.startswith(("expected_", "gold_")) and name not in found.values()]
        if len(known) == 1 and known[0] not in found.values():
            found[own] = known[0]
    if "text" not in {*names, *found} and not any(map(_TEXT_IN.fullmatch, found)):
        found |= _texts_by_language([name for name in names if name not in found.values()])
    return found


def _check_named(given: Mapping[str, str], names: Sequence[str], path: Path | None) -> None:
    """Raise for a field that cases do not have, and for a column that the file does not have."""
    for own, name in given.items():
        if not _TEXT_IN.fullmatch(own):
            check_choice("columns", own, FIELDS)
        if name not in names:
            raise ColumnError(
                f"no column {name!r} in the cases",
                allowed=f"one of {', '.join(map(repr, names))}",
                hint=did_you_mean(name, names),
                path=path,
            )


def _is_of_hpo(name: str | None) -> bool:
    """Tell whether a column is named after ids of HPO."""
    return name is not None and _folded(name) in map(_folded, (HPO_IDS, *_NAMES[HPO_IDS]))


def _texts_by_language(names: Sequence[str]) -> dict[str, str]:
    """Return the columns of texts in several languages, by fields such as text_de; empty if there are not two.

    Examples
    --------
    >>> _texts_by_language(["Nr", "Begriff deutsch", "Begriff (englisch)"])
    {'text_de': 'Begriff deutsch', 'text_en': 'Begriff (englisch)'}
    >>> _texts_by_language(["de", "en", "question_id"]), _texts_by_language(["Deutsch", "HPO"])
    ({'text_de': 'de', 'text_en': 'en'}, {})
    """
    found: dict[str, str] = {}
    for name in names:
        code = language_in_name(name)
        if code is None:
            continue
        if f"text_{code}" in found:  # which of them is the text is not known
            return {}
        found[f"text_{code}"] = name
    return found if len(found) > 1 else {}


def language_in_name(name: str) -> str | None:
    """Return the language of a column that is named after one, perhaps beside a word for text; else None.

    Examples
    --------
    >>> [language_in_name(name) for name in ("Deutsch", "text_en", "phrase (FR)", "query_id", "Begriff")]
    ['de', 'en', 'fr', None, None]
    """
    words = re.findall(r"[^\W_]+", name.casefold())
    others = [word for word in words if word not in _WORDS_FOR_TEXT]
    if len(others) != 1 or others[0] in _NO_LANGUAGES:
        return None
    return code_of(others[0])


def _folded(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def _rows(records: Records, named: Mapping[str, str], path: Path, pattern: re.Pattern[str]) -> list[dict[str, Any]]:
    """Return the rows by the names of fields, as JSON holds them; languages and difficulties in usual words."""
    others = {name: own for own, name in named.items()}
    fields = {name: others.get(name, name) for name in records.columns if name in others or name not in named}
    rows = [
        {fields[name]: value for name, value in row.items() if name in fields} for row in records.rows(records.columns)
    ]
    if isinstance(records.table, list):  # a single id in a field of another name is a list of it
        rows = [
            row | {name: [row[name]] for name in IDS if name in named and isinstance(row.get(name), str)}
            for row in rows
        ]
    else:
        _check_columns(rows, fields, path)
        mark = "," if records.separator == ";" else "."  # of decimals
        rows = [
            {name: _cell(name, cell, pattern, mark) for name, cell in row.items() if cell and cell.strip()}
            for row in rows
        ]
    for row in rows:
        for name, usual in (("language", code_of), ("difficulty", lambda word: _WORDS.get(word.strip().casefold()))):
            if isinstance(word := row.get(name), str):
                row[name] = usual(word) or word
    return rows


def _check_columns(rows: Sequence[Mapping[str, str | None]], fields: Mapping[str, str], path: Path) -> None:
    """Raise for columns that are needed and not recognised: all of them at once, with what the others may be."""
    lacking = [names[0] for names in (("text",), IDS) if set(names).isdisjoint(fields.values())]
    of_languages = [own for own in fields.values() if _TEXT_IN.fullmatch(own)]
    if of_languages:
        lacking = [name for name in lacking if name != "text"]
        _check_languages(fields, path)
    if not lacking:
        return
    unknown = [name for name in fields.values() if name not in FIELDS]
    near = next((near for name in unknown if (near := did_you_mean(name, lacking))), "")

    def look(name: str) -> tuple[bool, int]:
        cells = [row[name] or "" for row in rows]
        return any(map(_LIKE_HPO.match, cells)), -sum(map(len, cells))

    found: dict[str, str] = {}
    for name, most in (("text", min), (IDS[0], max)):  # texts are the longest, ids the shortest or like those of HPO
        left = [one for one in unknown if one not in found.values()]
        found |= {name: most(left, key=look) if left else "..."} if name in lacking else {}
    raise ColumnError(
        f"cases without a column {' and without '.join(map(repr, lacking))}: found {', '.join(map(repr, fields))};"
        " expected case_id, text, expected_ids, ...",
        hint=Advice("columns", found, when=f"{near} Or " if near else ""),
        path=path,
    )


def _check_languages(fields: Mapping[str, str], path: Path) -> None:
    """Raise for columns of languages beside a column that says the language of each row, or beside a text."""
    for other in ("language", "text"):
        if other in fields.values():
            column = next(name for name, own in fields.items() if own == other)
            raise ColumnError(
                f"texts in columns of their languages, and a column of {other}s {column!r} as well",
                allowed="one of both",
                path=path,
            )


def _split_languages(rows: Sequence[dict[str, Any]], name: str) -> tuple[list[dict[str, Any]], list[int]]:
    """Return a case for each text of a row with texts in several languages, which are a pair; and their rows.

    Parameters
    ----------
    rows : sequence of dict
    name : str
        Of the set: what cases without an id are called by.
    """
    if not any(_TEXT_IN.fullmatch(own) for row in rows for own in row):
        return list(rows), list(range(len(rows)))
    cases: list[dict[str, Any]] = []
    places: list[int] = []
    for place, row in enumerate(rows):
        texts = {own.removeprefix("text_"): text for own, text in row.items() if _TEXT_IN.fullmatch(own)}
        others = {own: value for own, value in row.items() if not _TEXT_IN.fullmatch(own)}
        case_id = others.get("case_id") or f"{name}-{place:03d}"
        if not texts:
            cases.append(others | {"case_id": case_id})
            places.append(place)
        for language, text in texts.items():
            pair = {"case_id": f"{case_id}-{language}", "pair_id": others.get("pair_id") or case_id}
            cases.append(others | pair | {"text": text, "language": language})
            places.append(place)
    return cases, places


def _cell(name: str, cell: str, pattern: re.Pattern[str], mark: str) -> object:
    """Return what JSON would hold for a cell: ids and grades are lists; `mark` may be the decimal one of grades."""
    if name == "case_id":
        return cell  # ids are exact
    if name not in {*IDS, "relevance"}:
        return cell.strip()
    parts: Any = [part.strip() for part in cell.split("|")]
    if name in IDS and (found := list(filter(None, _BETWEEN_IDS.split(cell)))) and all(map(pattern.fullmatch, found)):
        return found
    if cell.strip().startswith("["):
        with suppress(ValueError, RecursionError):
            found = json.loads(cell)
            parts = [str(one) if isinstance(one, int) and not isinstance(one, bool) else one for one in found]
    return parts if name in IDS else [_number(part, mark) for part in parts]


def _number(given: object, mark: str) -> object:
    try:
        return float(str(given).strip().replace(mark, "."))
    except ValueError:
        return given  # reported where grades are checked


def _examine(
    reading: CaseFile,
    place: int,
    pattern: re.Pattern[str] | None,
    seen: dict[object, int],
    terms: Container[str] | None,
) -> None:
    """Add the case of a row to a reading, or what is wrong with it."""
    row, misfit = reading.rows[place], reading.records.misfits.get(reading.places[place])
    given, case_id = row.get("case_id"), ""
    wrong: list[Wrong] = []
    if misfit:
        wrong.append(("malformed_row", (), misfit.sentence(has_place=False), ""))
    else:
        is_id = isinstance(given, str | int) and not isinstance(given, bool)
        # one that is made from name and place has no spaces, which would split a TREC field
        case_id = str(given) if is_id and str(given).strip() else f"{'_'.join(reading.name.split())}-{place:03d}"
        if given is not None and not is_id:
            wrong.append(("malformed_case_id", ("case_id",), f"case_id must be text, got {quoted(given)}", ""))
        labels = {name: label(row.get(name)) for name in ("difficulty", "category", "pair_id")}
        said = label(row.get("language")) or label(reading.records.metadata.get("language")) or reading.language
        language = normalised(said or reading.of_folder)
        ids, grades, unexpected = _expected(row, pattern, terms)
        wrong += _repeated(reading, place, seen, case_id=case_id, pair=labels["pair_id"], language=language)
        wrong += [*_wrong_text(row), *unexpected]
    if wrong:
        reading.unusable.add(place)
        reading.errors.extend(
            finding(reading.path, reading.line_of(place, *keys), kind, what, advice, case_id=case_id, level="error")
            for kind, keys, what, advice in wrong
        )
        return
    reading.found.append(
        Case(
            case_id,
            row["text"],
            ids,
            grades,
            as_text(row.get("description")) or "",
            language,
            domain=next(filter(None, (label(row.get(name)) for name in DOMAINS)), None),
            line=reading.line(place),
            **labels,
        )
    )


def _repeated(
    reading: CaseFile, place: int, seen: dict[object, int], *, case_id: str, pair: str | None, language: str | None
) -> Iterator[Wrong]:
    """Give what an earlier case has too: the case_id, or the pair_id in its language."""
    rule = "One case of each language may have it: name the language of each, or leave pair_id out."
    for name, key, of, advice in (
        ("case_id", case_id, "", "Give each case an id of its own, or none at all."),
        ("pair_id", pair and (language, pair), f", also in {language}" if language else "", rule),
    ):
        first = place if key is None else seen.setdefault(key, place)
        if first != place:
            keys = (name,) if reading.rows[place].get(name) is not None else ()
            yield (
                f"repeated_{name}",
                keys,
                f"the case on line {reading.line(first)} has this {name} too{of}",
                advice,
            )


def _wrong_text(row: Mapping[str, Any]) -> Iterator[Wrong]:
    text = row.get("text")
    if not isinstance(text, str | None):
        yield "malformed_text", ("text",), f"text must be in quotes, got {quoted(text)}", ""
    elif not (text or "").strip():
        what = "text is empty" if "text" in row else "no field 'text'"
        yield "no_text", ("text",) * ("text" in row), what, "Write what is searched for."


def _expected(
    row: Mapping[str, Any], pattern: re.Pattern[str] | None, terms: Container[str] | None
) -> tuple[tuple[str, ...], tuple[float, ...], list[Wrong]]:
    """Return the expected ids, their grades (1 without any), and what is wrong with them."""
    name, *others = [name for name in IDS if row.get(name) is not None] or IDS[:1]
    if others:
        both = f"both {IDS[0]} and {IDS[1]} are given, expected one of them"
        return (), (), [("no_expected_id", (IDS[1],), both, "Keep one list.")]
    given, grades = row.get(name), row.get("relevance")
    if name == HPO_IDS and pattern is None:
        pattern = HPO_PATTERN
    wrong = list(_wrong_ids(given, name, pattern, terms))
    ids = () if wrong or given is None else tuple(given)
    if wrong or grades is None:
        return ids, (1.0,) * len(ids), wrong
    wrong = list(_wrong_grades(grades, ids))
    keys: Sequence[Any] = ids if isinstance(grades, dict) else range(len(ids))
    return ids, () if wrong else tuple(float(grades[key]) for key in keys), wrong


def _wrong_ids(
    given: object, name: str, pattern: re.Pattern[str] | None, terms: Container[str] | None
) -> Iterator[Wrong]:
    """Give what is wrong with the expected ids in a field; None if it is not there."""
    if given is None:
        yield "no_expected_id", (), f"no field {name!r}", "List the ids that a search for the text should find."
    elif not isinstance(given, list):
        got = quoted(given)
        advice = f"Write [{got}].".replace("'", '"') if isinstance(given, str) else ""
        yield "malformed_id", (name,), f"{name} must be a list of ids, got {got}", advice
    else:
        for place, one in enumerate(given):
            problem, advice = _problem(one, pattern, terms)
            where = "" if len(given) == 1 else f" (number {place + 1} of {len(given)})"
            if problem:
                yield "malformed_id", (name, place), f"expected id {quoted(one)}{where} {problem}", advice
            elif given[:place].count(one) == 1:
                yield (
                    "repeated_id",
                    (name, place),
                    f"expected id {one!r} appears {given.count(one)} times",
                    "Keep it once.",
                )


def _wrong_grades(given: Any, ids: Sequence[str]) -> Iterator[Wrong]:  # noqa: ANN401 - what JSON holds
    kind, keys = "malformed_relevance", ("relevance",)
    if not isinstance(given, dict | list):
        yield kind, keys, f"relevance must be a list of grades or {{id: grade}}, got {quoted(given)}", _ONE_PER_ID
    elif isinstance(given, list) and len(given) != len(ids):
        what = f"relevance has {format_count(len(given), 'grade')} for {format_count(len(ids), 'expected id')}"
        yield kind, keys, what, _ONE_PER_ID
    else:
        graded: dict[Any, Any] = given if isinstance(given, dict) else dict(zip(ids, given, strict=True))
        for place, one in enumerate(ids):
            if one not in graded:
                yield kind, keys, f"relevance has no grade for {one!r}", _ONE_PER_ID
            elif not is_grade(graded[one]):
                yield (
                    kind,
                    (*keys, one if isinstance(given, dict) else place),
                    f"relevance of {one!r} is {quoted(graded[one])}, expected a positive number",
                    "Leave out an id that should not be found.",
                )
        for one in (one for one in graded if one not in ids):
            yield (
                kind,
                (*keys, one),
                f"relevance grades {one!r}, which is not an expected id",
                did_you_mean(str(one), ids),
            )


def _problem(given: object, pattern: re.Pattern[str] | None, terms: Container[str] | None) -> tuple[str, str]:
    """Return what is wrong with an id, and how to fix it; empty texts if nothing is."""
    if not isinstance(given, str):
        return "is not text", "Write it in quotes."
    plain = given.strip()
    if not plain:
        return "is empty", "Remove it."
    if pattern is None and not _LIKE_HPO.match(given):
        return ("", "") if given == plain else ("has spaces around it", f"Write {plain!r}.")
    pattern = pattern or HPO_PATTERN
    if pattern.fullmatch(given):
        return "", ""
    # a similar one that matches: without spaces, in upper case, or with the missing zeros
    upper = plain.upper()
    number = re.sub(r"^(HPO?)?[:_\- ]*", "", upper)
    tries = [plain, upper, upper.replace("_", ":").replace("-", ":"), f"HP:{number:0>7}"]
    first_word = upper.split(maxsplit=1)[0]  # the name of the term may stand behind its id
    near = [one for one in (*tries, first_word) if pattern.fullmatch(one)]
    if terms is None:  # whether there is such an id is not known
        advice = f"In that form it is {near[0]!r}." if near else ""
    else:
        advice = next((f"Did you mean {one!r}?" for one in near if one in terms), "")
    return f"does not match {pattern.pattern}", advice


def finding(
    path: str | Path,
    line: int | None,
    kind: str,
    message: str,
    advice: str = "",
    *,
    case_id: str = "",
    level: Level = "warning",
) -> Finding:
    """Return a finding about a file, or about a line of it."""
    return Finding(level, str(path) if line is None else f"{path}:{line}", case_id, message, advice, kind, line)


def quoted(value: object) -> str:
    """Return a value for a message: text in quotes, all else as JSON has it."""
    return quote_text(value) if isinstance(value, str) else quote_text(json.dumps(value, ensure_ascii=False))[1:-1]
