"""Names of terms: ids, synonyms, and tables of translated names.

These are babelon tables of the HPO, the templates of their synonyms, and shorter ones alike.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from deadheat.benchmark.languages import ALLOWED, is_code, near_code
from deadheat.errors import (
    ColumnError,
    DataError,
    FileFormatError,
    MalformedRowError,
    Plain,
    SourceTypeError,
    counted,
    did_you_mean,
    three,
)
from deadheat.io.records import Wanted, read_records
from deadheat.io.source import readable

T = TypeVar("T")
SCOPES = ("EXACT", "NARROW", "BROAD", "RELATED")
WANTED = Wanted(what="translations", formats=("tsv", "csv"))
# babelon's name of a column comes first; the others are those of shorter tables
COLUMNS = {
    "term": ("subject_id", "hpo_id", "term_id", "id"),
    "text": ("translation_value", "text", "translation"),
    "kind": ("predicate_id", "kind"),
    "language": ("translation_language", "language"),
    "status": ("translation_status", "status"),
    "source": ("source_value", "english"),
    "source_language": ("source_language",),
}
NEEDED = ("term", "text")
# what a text is to its term: whether its label, and else scope and type of the synonym; None is no name
KINDS: dict[str, tuple[str, str] | None] = {
    "label": ("LABEL", ""),
    "rdfs:label": ("LABEL", ""),
    "synonym": ("EXACT", ""),
    "layperson": ("EXACT", "layperson"),
    "oboInOwl:hasExactSynonym": ("EXACT", ""),
    "oboInOwl:hasNarrowSynonym": ("NARROW", ""),
    "oboInOwl:hasBroadSynonym": ("BROAD", ""),
    "oboInOwl:hasRelatedSynonym": ("RELATED", ""),
    "IAO:0000115": None,  # a definition
    "definition": None,
}
LABEL = "label"  # the type of a name that is a label too: that of another language, or a second one
ORIGINAL = ("fallback", "also", "none")
CANDIDATE, UNTRANSLATED = "CANDIDATE", "NOT_TRANSLATED"
BETWEEN = "|"
_MARK = re.compile(r"AL oboInOwl:has(\w+)Synonym@([A-Za-z-]+)( SPLIT=\|)?")  # the second line of a ROBOT template
_OF_NAME = re.compile(r"-([a-z]{2,3})(?=\.)")


class Synonym(NamedTuple):
    """Another name of a term.

    Attributes
    ----------
    text : str
    scope : {"EXACT", "NARROW", "BROAD", "RELATED"}
    kind : str
        The type that the ontology gives it, such as ``layperson``, ``abbreviation``, ``plural_form`` or
        ``uk_spelling``; empty if it gives none.
    """

    text: str
    scope: str = "EXACT"
    kind: str = ""


def listed(what: str, of: str, given: Iterable[T]) -> tuple[T, ...]:
    """Return several of something, or raise for a text, which Python would take as several letters."""
    if isinstance(given, str):
        raise SourceTypeError(
            f"{what} must be a list of {of}", given=Plain(f"the text {given!r}"), hint=f"write [{given!r}]"
        )
    return tuple(given)


def in_order(term: str, synonyms: Iterable[Synonym]) -> tuple[Synonym, ...]:
    """Return synonyms of a term sorted by scope, text and kind; their order in files has no meaning."""
    what, fields = f"a synonym of {term!r}", "its text, scope and kind"
    checked = [
        Synonym(*listed(what, fields, synonym)) for synonym in listed(f"the synonyms of {term!r}", "Synonym", synonyms)
    ]
    wrong = next((synonym for synonym in checked if synonym.scope not in SCOPES), None)
    if wrong is not None:
        raise DataError(f"the scope of a synonym must be one of {', '.join(map(repr, SCOPES))}", given=wrong)
    return tuple(sorted(checked, key=lambda synonym: (SCOPES.index(synonym.scope), synonym.text, synonym.kind)))


def near_id(given: str, ids: Sequence[str], labels: Sequence[str] = ()) -> str:
    """Return ``"Did you mean 'x'?"`` for a similarly spelt id or one with this label, or an empty string.

    Numbers close to each other mean nothing: they are never proposed.
    """
    folded = given.strip().casefold()
    for place, term in enumerate(ids):
        if term.casefold().replace("_", ":") == folded.replace("_", ":"):
            return f"Did you mean {term!r}?"
        if labels and labels[place].casefold() == folded:
            return f"Did you mean {term!r} ({labels[place]})?"
    return "" if re.search(r"\d{3}", given) else did_you_mean(given, ids)


class Translation(NamedTuple):
    """A name of a term in another language.

    Attributes
    ----------
    term : str
    text : str
        Letter for letter.
    scope : {"LABEL", "EXACT", "NARROW", "BROAD", "RELATED"}
    kind : str
        The type of a synonym, such as ``layperson``; empty without one.
    status : str
        As in the table, such as ``OFFICIAL`` or ``CANDIDATE``; empty if it says none.
    source : str
        The name that was translated, if the table has it.
    line : int
    """

    term: str
    text: str
    scope: str
    kind: str
    status: str
    source: str
    line: int

    @property
    def is_candidate(self) -> bool:
        """Whether it is a proposal that nobody has accepted yet, as of a machine."""
        return self.status.upper() == CANDIDATE


@dataclass(frozen=True, eq=False, repr=False)
class Translations:
    """The names in a table, in its order.

    Attributes
    ----------
    path : pathlib.Path
    language : str
    source_language : str
        Of the names that were translated; empty if the table does not say it.
    rows : tuple of Translation
        Without empty texts and those that are marked as not translated.
    """

    path: Path
    language: str
    source_language: str
    rows: tuple[Translation, ...]

    def by_term(self, *, candidates: bool = False) -> dict[str, list[Translation]]:
        """Return the names of each term: labels first, each text once.

        Parameters
        ----------
        candidates : bool, default False
            Whether candidates count.
        """
        found: dict[str, dict[str, Translation]] = {}
        for row in sorted(self.rows, key=lambda row: row.scope != "LABEL"):
            if candidates or not row.is_candidate:
                found.setdefault(row.term, {}).setdefault(row.text, row)
        return {term: list(own.values()) for term, own in found.items()}

    def check_ids(self, known: Sequence[str]) -> None:
        """Raise an error, with its line, for an id that is written like none of some known ones.

        An id that is only unknown, as of a term that is newer than a release, is none of these.
        """
        forms = {_form(one) for one in known}
        for row in self.rows:
            if _form(row.term) not in forms:
                raise MalformedRowError(
                    "the id is written like no id of the ontology",
                    given=row.term,
                    allowed=f"one such as {known[0]!r}",
                    hint=near_id(row.term, known) or "is it a table of another ontology?",
                    path=self.path,
                    line=row.line,
                )
        held = set(known)
        if not any(row.term in held for row in self.rows):
            ids = three(sorted({repr(row.term) for row in self.rows}))
            raise FileFormatError(f"no id in it is one of the ontology: {ids}", path=self.path)


def read_translations(path: str | os.PathLike[str]) -> Translations:
    """Read a table of translated names.

    Parameters
    ----------
    path : path-like
        A babelon table (subject_id, predicate_id, translation_value, translation_language, translation_status, ...), a
        ROBOT template of synonyms (subject_id, translation_value), or a table with hpo_id (or term_id, id), text, and
        perhaps kind (label, synonym or layperson), status, english and language. ``.gz`` is unpacked.

    Returns
    -------
    Translations
        Its language is that of the column, else that of the template, else that of the file's name: ``hp-fr.tsv`` is
        ``fr``.

    Raises
    ------
    DataError
        A column is missing, a row has an unknown kind or another language, or nobody says which language it is.
    """
    file = readable(path)
    records = read_records(file, None, WANTED)
    columns = _columns(records.columns, file)
    table = [
        {field: str(row[name] or "") for field, name in columns.items()} for row in records.rows(set(columns.values()))
    ]
    # of a ROBOT template the first row says language and scope, and whether cells hold several
    mark = _MARK.match(table[0]["text"]) if table and table[0]["term"] == "ID" else None
    scope, split = (mark[1].upper(), bool(mark[3])) if mark else ("EXACT", False)
    code, first = "", 0
    rows: list[Translation] = []
    for place, fields in list(enumerate(table))[1 if mark else 0 :]:
        line, own = records.line(place) or 0, fields.get("language", "")
        if "language" in columns and not is_code(own):
            raise MalformedRowError(
                "no language", given=own, allowed=ALLOWED, hint=near_code(own), path=file, line=line
            )
        if not code:
            code, first = own, line
        if own != code:
            raise MalformedRowError(
                "a table has one language",
                given=own,
                allowed=f"{code!r} as on line {first}",
                hint="make a table of each language",
                path=file,
                line=line,
            )
        rows += _rows(fields, file, line, scope=scope, split=split)
    if not rows:
        raise DataError("no translated name in it", path=file)
    code = code or (mark[2].lower() if mark else _of_name(file))
    source = {fields.get("source_language", "").strip().lower() for fields in table} - {""}
    english = "en" if "english" in records.columns else ""
    return Translations(file, code, source.pop() if len(source) == 1 else english, tuple(rows))


def _columns(held: Sequence[str], path: Path) -> dict[str, str]:
    """Return the column of each field that the table has."""
    found = {field: name for field, names in COLUMNS.items() if (name := next((n for n in names if n in held), None))}
    for field in NEEDED:
        if field not in found:
            names = COLUMNS[field]
            near = next((near for name in held if (near := did_you_mean(name, names))), "")
            raise ColumnError(
                f"translations without a column {names[0]!r}: found {', '.join(map(repr, held)) or 'nothing'}",
                allowed=f"one of {', '.join(map(repr, names))}",
                hint=near,
                path=path,
                line=1,
            )
    return found


def _rows(fields: Mapping[str, str], path: Path, line: int, *, scope: str, split: bool) -> Iterator[Translation]:
    """Give the names in a row; none of one that is not translated."""
    term, status, kind = fields["term"].strip(), fields.get("status", ""), fields.get("kind", "")
    if not term:
        raise MalformedRowError("empty id of a term", allowed="an id", path=path, line=line)
    if kind and kind not in KINDS:
        raise MalformedRowError("unknown kind of text", given=kind, allowed=tuple(KINDS), path=path, line=line)
    meaning = KINDS[kind] if kind else (scope, "")
    if meaning is None or status.upper() == UNTRANSLATED:
        return
    for text in fields["text"].split(BETWEEN) if split else [fields["text"]]:
        if text.strip():
            yield Translation(term, text, *meaning, status, fields.get("source", ""), line)


def _of_name(path: Path) -> str:
    """Return the language that the name of a file says."""
    found = [code for code in _OF_NAME.findall(path.name) if is_code(code)]
    if not found:
        raise FileFormatError(
            "no language: no column translation_language, and the name does not say it",
            allowed="a name such as hp-fr.tsv",
            given=Plain(path.name),
            hint="name the language",
            path=path,
        )
    return found[0]


def _form(given: str) -> str:
    return re.sub(r"\d", "0", given)


def translated_names(
    ids: Sequence[str],
    labels: Sequence[str],
    synonyms: Sequence[tuple[Synonym, ...]],
    tables: Sequence[Translations],
    *,
    original: str,
    candidates: bool,
) -> tuple[tuple[str, ...], tuple[tuple[Synonym, ...], ...], tuple[str, ...], tuple[str, ...]]:
    """Return the names that tables give to terms: labels, empty where a term has none; synonyms; languages; and notes.

    Parameters
    ----------
    ids, labels, synonyms : sequence, shape (n_terms,)
        Of the ontology.
    tables : sequence of Translations
        The first that has a label for a term gives it its label; all others are synonyms.
    original : {"fallback", "also", "none"}
        Whether the ontology's own names stay: where no table has one, everywhere, or nowhere.
    candidates : bool
        Whether candidates count.

    Returns
    -------
    labels, synonyms : tuple, shape (n_terms,)
    languages : tuple of str
        Of the names, those of the tables first.
    notes : tuple of str
        How many terms have a name in each language, and what was left out.
    """
    by_term = [table.by_term(candidates=candidates) for table in tables]
    names: list[tuple[str, tuple[Synonym, ...]]] = []
    n_own = n_bare = 0
    for term, label, own in zip(ids, labels, synonyms, strict=True):
        found = [row for table in by_term for row in table.get(term, ())]
        # labels first; a second label is one more name of a term
        given = [
            Synonym(row.text, *(("EXACT", LABEL) if row.scope == "LABEL" else (row.scope, row.kind)))
            for row in sorted(found, key=lambda row: row.scope != "LABEL")
        ]
        if original == "also" or (original == "fallback" and not found):
            n_own += bool(label)
            given += [Synonym(label, "EXACT", LABEL)] * bool(label) + list(own)
        n_bare += not given
        head, *others = given or [Synonym("")]
        names.append((head.text, in_order(term, dict.fromkeys(one for one in others if one.text != head.text))))
    languages = [table.language for table in tables]
    if n_own:
        languages += [table.source_language for table in tables[:1] if table.source_language]
    found_labels, found_synonyms = zip(*names, strict=True)
    notes = list(_notes(ids, tables, by_term, candidates=candidates))
    if original == "fallback" and n_own:
        keep = "keeps" if n_own == 1 else "keep"
        notes.append(f"{counted(n_own, 'term')} without a translation {keep} the names of the ontology")
    if n_bare:
        notes.append(f"{counted(n_bare, 'term')} without a translation {'is' if n_bare == 1 else 'are'} left out")
    return found_labels, found_synonyms, tuple(dict.fromkeys(languages)), tuple(notes)


def _notes(
    ids: Sequence[str],
    tables: Sequence[Translations],
    by_term: Sequence[dict[str, list[Translation]]],
    *,
    candidates: bool,
) -> Iterator[str]:
    """Say of each table how many terms it names, and which rows were not used."""
    known = set(ids)
    for table, found in zip(tables, by_term, strict=True):
        own = [rows for term, rows in found.items() if term in known]
        several = sum(sum(row.scope == "LABEL" for row in rows) > 1 for rows in own)
        n_candidates = sum(row.is_candidate for row in table.rows)
        fate = "among their names" if candidates else "left out (--candidates counts them)"
        n_unknown = len({row.term for row in table.rows} - known)
        told = [
            f"{len(own):,} of {counted(len(ids), 'term')} have a name in it",
            f"{several:,} of them several labels, all of which count" if several else "",
            f"{counted(n_candidates, 'candidate')} {fate}" if n_candidates else "",
            f"{counted(n_unknown, 'id')} not of this release" if n_unknown else "",
        ]
        yield f"{table.path.name} ({table.language}): {'; '.join(filter(None, told))}"
