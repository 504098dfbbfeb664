"""Translated names of terms: babelon tables of the HPO, the templates of their synonyms, and shorter ones alike."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from deadheat.core.errors import DataError, FileFormatError, MalformedRowError
from deadheat.core.io.columns import find_column
from deadheat.core.io.files import check_readable
from deadheat.core.io.records import Wanted, read_records
from deadheat.core.wording import format_count, format_list
from deadheat.plugins.bench.languages import ALLOWED, is_code, near_code
from deadheat.plugins.bench.ontology.names import LABEL, Synonym, in_order, near_id

WANTED = Wanted(what="translations", formats=("tsv", "csv"))
NEEDED = ("term", "text")
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

# what a text is to its term: whether its label, and else scope and type of the synonym; None is no name
TEXT_KINDS: dict[str, tuple[str, str] | None] = {
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
ORIGINAL = ("fallback", "also", "none")

_MARK = re.compile(r"AL oboInOwl:has(\w+)Synonym@([A-Za-z-]+)( SPLIT=\|)?")  # the second line of a ROBOT template


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
        """Whether it is a proposal, such as a machine's, that nobody has accepted yet."""
        return self.status.upper() == "CANDIDATE"


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
        """Raise an error, with its line, for an id whose form no known id has.

        An id that is only unknown, as of a term that is newer than a release, is not an error.
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
        if set(known).isdisjoint(row.term for row in self.rows):
            ids = format_list(sorted({repr(row.term) for row in self.rows}))
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
    file = check_readable(path)
    records = read_records(file, None, WANTED)
    columns = _find_columns(records.columns, file)
    table = []
    for row in records.rows(set(columns.values())):
        table.append({field: str(row[name] or "") for field, name in columns.items()})
    template = None
    if table and table[0]["term"] == "ID":
        template = _read_template(table[0]["text"])
    n_heads = 0 if template is None else 1
    language = table[n_heads].get("language", "") if len(table) > n_heads else ""
    rows: list[Translation] = []
    for place, fields in enumerate(table[n_heads:], n_heads):
        line = records.line(place) or 0
        _check_language(fields, language, file, line)
        rows += _rows(fields, template or Template(), file, line)
    if not rows:
        raise DataError("no translated name in it", path=file)
    if not language and template is not None:
        language = template.language
    return Translations(
        path=file,
        language=language or _language_in_name(file),
        source_language=_source_language(table, is_english="english" in records.columns),
        rows=tuple(rows),
    )


@dataclass(frozen=True)
class Template:
    """What the second line of a ROBOT template says of its rows; by default what holds of other tables.

    Attributes
    ----------
    scope : str
        Of the synonyms.
    is_split : bool
        Whether a cell may hold several, with ``|`` between them.
    language : str
    """

    scope: str = "EXACT"
    is_split: bool = False
    language: str = ""


def _find_columns(names: Sequence[str], file: Path) -> dict[str, str]:
    """Return the column of each field that a table has; raise an error if it lacks ids or texts."""
    columns = {}
    for field, usual_names in COLUMNS.items():
        if field in NEEDED:
            what = f"translations without a column {usual_names[0]!r}"
            columns[field] = find_column(usual_names, names, what, file, line=1)
            continue
        for name in usual_names:
            if name in names:
                columns[field] = name
                break
    return columns


def _read_template(text: str) -> Template | None:
    """Return what a cell of the second line of a ROBOT template says; None if it is another text."""
    mark = _MARK.match(text)
    if mark is None:
        return None
    return Template(scope=mark[1].upper(), is_split=bool(mark[3]), language=mark[2].lower())


def _check_language(fields: Mapping[str, str], language: str, file: Path, line: int) -> None:
    """Raise `MalformedRowError` for a row with no language where there is a column, or another than the first row."""
    language_of_row = fields.get("language", "")
    if "language" in fields and not is_code(language_of_row):
        raise MalformedRowError(
            "no language",
            given=language_of_row,
            allowed=ALLOWED,
            hint=near_code(language_of_row),
            path=file,
            line=line,
        )
    if language_of_row != language:
        raise MalformedRowError(
            "a table has one language",
            given=language_of_row,
            allowed=f"{language!r} as in the first row",
            hint="make a table of each language",
            path=file,
            line=line,
        )


def _language_in_name(file: Path) -> str:
    """Return the language that the name of a file says, as hp-fr.tsv does; raise `FileFormatError` without one."""
    for code in re.findall(r"-([a-z]{2})(?=\.)", file.name):
        if is_code(code):
            return str(code)
    raise FileFormatError(
        "no language: no column translation_language, and the name does not say it",
        allowed="a name such as hp-fr.tsv",
        found=file.name,
        hint="name the language",
        path=file,
    )


def _source_language(table: Iterable[Mapping[str, str]], *, is_english: bool) -> str:
    """Return the language of the names that were translated; empty if the table does not say one."""
    languages = {fields.get("source_language", "").strip().lower() for fields in table} - {""}
    if len(languages) == 1:
        return languages.pop()
    return "en" if is_english else ""


def _rows(fields: Mapping[str, str], template: Template, path: Path, line: int) -> Iterator[Translation]:
    """Give the names in a row; none if it is not translated."""
    term = fields["term"].strip()
    status = fields.get("status", "")
    kind = fields.get("kind", "")
    if not term:
        raise MalformedRowError("empty id of a term", allowed="an id", path=path, line=line)
    if kind and kind not in TEXT_KINDS:
        raise MalformedRowError("unknown kind of text", given=kind, allowed=tuple(TEXT_KINDS), path=path, line=line)
    meaning = TEXT_KINDS[kind] if kind else (template.scope, "")
    if meaning is None or status.upper() == "NOT_TRANSLATED":
        return
    texts = fields["text"].split("|") if template.is_split else [fields["text"]]
    for text in texts:
        if text.strip():
            yield Translation(term, text, *meaning, status, fields.get("source", ""), line)


def _form(given: str) -> str:
    """Return how an id is written: with a 0 for each digit."""
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
    n_original = 0
    n_without = 0
    for term, label, own_synonyms in zip(ids, labels, synonyms, strict=True):
        translated = _names_of_tables(term, by_term)
        term_names = list(translated)
        if original == "also" or (original == "fallback" and not translated):
            if label:
                n_original += 1
                term_names.append(Synonym(label, "EXACT", LABEL))
            term_names += own_synonyms
        if not term_names:
            n_without += 1
            term_names.append(Synonym(""))
        new_label = term_names[0].text
        others = dict.fromkeys(name for name in term_names[1:] if name.text != new_label)
        names.append((new_label, in_order(term, others)))
    languages = [table.language for table in tables]
    if n_original:
        languages += [table.source_language for table in tables[:1] if table.source_language]
    new_labels, new_synonyms = zip(*names, strict=True)
    notes = []
    known_ids = set(ids)
    for table, names_of_terms in zip(tables, by_term, strict=True):
        notes.append(_describe_table(table, names_of_terms, known_ids, candidates=candidates))
    if original == "fallback" and n_original:
        notes.append(
            format_count(
                n_original,
                "term without a translation keeps the names of the ontology",
                "terms without a translation keep the names of the ontology",
            )
        )
    if n_without:
        notes.append(
            format_count(
                n_without, "term without a translation is left out", "terms without a translation are left out"
            )
        )
    return new_labels, new_synonyms, tuple(dict.fromkeys(languages)), tuple(notes)


def _names_of_tables(term: str, tables: Sequence[Mapping[str, Sequence[Translation]]]) -> list[Synonym]:
    """Return the names that tables give a term: labels first, and a second label is one more name of it."""
    labels = []
    others = []
    for table in tables:
        for row in table.get(term, ()):
            if row.scope == "LABEL":
                labels.append(Synonym(row.text, "EXACT", LABEL))
            else:
                others.append(Synonym(row.text, row.scope, row.kind))
    return labels + others


def _describe_table(
    table: Translations, names_of_terms: Mapping[str, Sequence[Translation]], ids: AbstractSet[str], *, candidates: bool
) -> str:
    """Return how many terms a table names, and which of its rows were not used."""
    n_named = 0
    n_several = 0
    for term, rows in names_of_terms.items():
        if term in ids:
            n_named += 1
            n_labels = sum(row.scope == "LABEL" for row in rows)
            n_several += n_labels > 1
    parts = [f"{n_named:,} of {format_count(len(ids), 'term')} have a name in it"]
    if n_several:
        parts.append(f"{n_several:,} of them several labels, all of which count")
    n_candidates = sum(row.is_candidate for row in table.rows)
    if n_candidates:
        fate = "among their names" if candidates else "left out (--candidates counts them)"
        parts.append(f"{format_count(n_candidates, 'candidate')} {fate}")
    n_unknown = len({row.term for row in table.rows} - ids)
    if n_unknown:
        parts.append(f"{format_count(n_unknown, 'id')} not of this release")
    return f"{table.path.name} ({table.language}): {'; '.join(parts)}"
