"""Collections: the documents that a search goes through, each with an id, a text and perhaps synonyms."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from deadheat.arguments import check_choice
from deadheat.arrays import IntArray
from deadheat.benchmark.languages import base, checked_code, guess, known
from deadheat.benchmark.ontology import LABEL, Ontology, Translations, read_ontology, read_translations
from deadheat.data.tables import label_of
from deadheat.errors import (
    ColumnError,
    DataError,
    DeadheatWarning,
    DuplicateError,
    MalformedRowError,
    MissingDependencyError,
    NoteWarning,
    ParameterError,
    SourceTypeError,
)
from deadheat.io.objects import read_text
from deadheat.io.records import READERS, Records, Wanted, format_of_records, read_records, records_of_json
from deadheat.io.source import readable
from deadheat.wording import Plain, counted, did_you_mean

SYNONYMS = ("exact", "all", "none")
# The first one present counts: BEIR has a title beside the text, pandas an index called id.
ID_NAMES = ("doc_id", "id", "_id")
TEXT_NAMES = ("text", "label", "name", "title")
BETWEEN_SYNONYMS = "|"
LONGEST = 80  # characters of a value in a message
SAMPLE, FEWEST_TEXTS = 300, 20  # names of a table, from which its language is guessed; and without which it is not
WANTED = Wanted(
    what="documents",
    expected="a list of documents such as {'id': ..., 'text': ...}, or an ontology as OBO Graphs ('graphs')",
    formats=("csv", "tsv", "json", "jsonl", "parquet", "obo", "owl"),
)


class _Row(NamedTuple):
    """A document as in its file, and the line on which it begins."""

    fields: Mapping[str, Any]
    line: int | None


@dataclass(frozen=True, eq=False, repr=False)
class Collection:
    """Documents, in the order of their file.

    Attributes
    ----------
    name : str
    ids : tuple of str
    texts : tuple of str
        For a term of an ontology, its label.
    synonyms : tuple of tuple of str
        Other texts by which a document may be found.
    path : pathlib.Path or None
    languages : tuple of str
        Of the texts; empty if nobody said.
    notes : tuple of str
        What to know about the texts, such as how many are translated.
    names : mapping of str to mapping of str to str
        Of translated terms, what each id is called in a language.

    Raises
    ------
    DataError
        Two documents have the same id, or the columns differ in length.

    Examples
    --------
    >>> terms = Collection("terms", ("HP:0001250",), ("Seizure",), (("Seizures", "seizure", "Fits"),))
    >>> texts, documents = terms.strings()
    >>> texts, documents.tolist()
    (['Seizure', 'Seizures', 'Fits'], [0, 0, 0])
    """

    name: str
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    synonyms: tuple[tuple[str, ...], ...]
    path: Path | None = None
    languages: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not len(self.ids) == len(self.texts) == len(self.synonyms):
            lengths = f"{len(self.ids)} ids, {len(self.texts)} texts and {len(self.synonyms)} of synonyms"
            raise DataError(
                f"{self.name} must have a text and synonyms, perhaps none, for each id", given=Plain(lengths)
            )
        if len(set(self.ids)) != len(self.ids):
            twice = next(one for one in self.ids if self.ids.count(one) > 1)
            raise DuplicateError(f"{self.name} has document {twice!r} more than once", hint="each id may appear once")
        given: tuple[object, ...] = self.synonyms
        for doc_id, own in zip(self.ids, given, strict=True):
            if isinstance(own, str):
                raise SourceTypeError(
                    f"synonyms of {doc_id!r} must be several texts",
                    given=Plain(f"the text {own!r}"),
                    hint=f"write ({own!r},)",
                )

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        n_synonyms = sum(map(len, self.synonyms))
        return f"<Collection {self.name}: {counted(len(self), 'document')}, {counted(n_synonyms, 'synonym')}>"

    def labels(self, language: str | None) -> dict[str, str]:
        """Return what each document is called: in the language, where it has a name in it.

        Parameters
        ----------
        language : str or None
            A code; a name in its base language, such as "pt" of "pt-br", counts too.
        """
        named = {} if language is None else self.names.get(language) or self.names.get(base(language), {})
        return dict(zip(self.ids, self.texts, strict=True)) | dict(named)

    def strings(self) -> tuple[list[str], IntArray]:
        """Return all texts by which documents are found.

        Returns
        -------
        list of str, length n_strings
            For each document its text, then its synonyms, without those that equal its text up to case.
        ndarray of int, shape (n_strings,)
            The position of the document of each.
        """
        strings: list[str] = []
        counts = np.zeros(len(self), np.int64)
        for place, (text, synonyms) in enumerate(zip(self.texts, self.synonyms, strict=True)):
            folded = text.casefold()
            own = [text, *(synonym for synonym in synonyms if synonym.casefold() != folded)]
            strings += own
            counts[place] = len(own)
        return strings, np.repeat(np.arange(len(self)), counts)

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 of the ids, texts and synonyms in their order, without name and file."""
        return hash_of([self.ids, self.texts, self.synonyms])


def hash_of(content: object) -> str:
    """Return a SHA-256 of something that JSON can hold."""
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def read_collection(
    source: str | os.PathLike[str] | Ontology,
    *,
    synonyms: str = "exact",
    format: str | None = None,  # noqa: A002 - the word that users look for
    name: str | None = None,
    texts: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    original: str = "fallback",
    candidates: bool = False,
    language: str | None = None,
) -> Collection:
    """Read the documents that a search goes through.

    Parameters
    ----------
    source : path-like or Ontology
        An ontology (.obo, .owl, or .json in OBO Graphs; its terms that are not obsolete), or a table: CSV, TSV,
        Parquet, JSON lines, or JSON with a list of objects. Columns: doc_id (or id, _id), text (or label, name,
        title), and synonyms if there are any: a list, or text with ``|`` between them. Other columns are not read.
        ``.gz`` is unpacked.
    synonyms : {"exact", "all", "none"}, default "exact"
        Which synonyms of a term count; its labels in other languages always do. Synonyms in a table have no scope: all
        of them count unless it is "none".
    format : {"obo", "owl", "json", "jsonl", "csv", "tsv", "parquet"}, optional
        Default: what the name says.
    name : str, optional
        By default that of the file.
    texts : path-like or sequence of them, optional
        Tables of translated names, for an ontology: see :meth:`Ontology.translated`.
    original, candidates
        As for :meth:`Ontology.translated`.
    language : str, optional
        The language of the documents, which a report names beside that of the cases: an ISO 639 code.

    Returns
    -------
    Collection

    Raises
    ------
    DataError
        The file is missing, malformed or empty; an id is missing or appears twice; a document has no text.

    Warns
    -----
    DeadheatWarning
        Terms without a label are left out.
    NoteWarning
        How many terms the tables name, and what becomes of the others.
    """
    check_choice("synonyms", synonyms, SYNONYMS)
    tables = [texts] if isinstance(texts, str | os.PathLike) else list(texts)
    own = () if language is None else (checked_code("language", language),)
    table = None
    if isinstance(source, str | os.PathLike):
        path = readable(source)
        if (records := _read_table(path, format_of_records(path, format, WANTED))) is None:
            source = read_ontology(path)
        else:
            table = records, path
    if isinstance(source, Ontology):
        read = [read_translations(one) for one in tables]
        named = source.translated(*read, original=original, candidates=candidates) if read else source
        found = _of_ontology(named, synonyms, name)
        found = replace(found, notes=(*found.notes, *filter(None, map(_other_language, read))))
        for note in found.notes:
            warnings.warn(note, NoteWarning, stacklevel=2)
        names = {} if original == "none" else {one.source_language: _called(source) for one in read}
        for one in reversed(read):  # the first of a language names a term
            own_names = {term: rows[0].text for term, rows in one.by_term(candidates=candidates).items()}
            names[one.language] = names.get(one.language, {}) | own_names
        return replace(found, languages=own or named.languages, names=names)
    if tables or table is None:
        hint = "give a table of documents in their language instead"
        raise ParameterError(
            "are names of the terms of an ontology", argument="texts", given=Plain("a table"), hint=hint
        )
    records, path = table
    return replace(_of_records(records, path, name or label_of(path), has_synonyms=synonyms != "none"), languages=own)


def _called(ontology: Ontology) -> dict[str, str]:
    return {term: label for term, label in zip(ontology.ids, ontology.labels, strict=True) if label.strip()}


def _other_language(table: Translations) -> str:
    """Say that the names in a table clearly look like another language than the one it is said to be in."""
    texts = [row.text for row in table.rows]
    try:
        other = guess(". ".join(texts[:: max(1, len(texts) // SAMPLE)])) if len(texts) >= FEWEST_TEXTS else None
        code = known(table.language)
    except MissingDependencyError:  # a guess is no result: without the package there is none
        return ""
    if other is None or code in {None, other}:
        return ""
    said = f"{table.path.name} ({table.language}): its names look like {other!r} (a guess by py3langid)"
    return f"{said}; is it the table of another language?"


def _of_ontology(ontology: Ontology, synonyms: str, name: str | None) -> Collection:
    """Return the terms of an ontology that have a label."""
    kept = [place for place, label in enumerate(ontology.labels) if label.strip()]
    where = ontology.path or "ontology"
    bare = [term for term, label in zip(ontology.ids, ontology.labels, strict=True) if not label.strip()]
    if not kept:
        raise DataError(f"no term with a label among {len(bare):,}", allowed="at least one", path=where)
    if bare and not ontology.notes:  # of translations the notes say it
        msg = f"{where}: {len(bare):,} terms have no label, such as {bare[0]!r}, and are left out"
        warnings.warn(msg, DeadheatWarning, stacklevel=3)
    taken = {"exact": {"EXACT"}, "all": {"EXACT", "NARROW", "BROAD", "RELATED"}, "none": set[str]()}[synonyms]
    plain = label_of(ontology.path).removesuffix(".obo").removesuffix(".owl") if ontology.path else "ontology"
    return Collection(
        name or plain + (f" ({', '.join(ontology.languages)})" if ontology.languages else ""),
        tuple(ontology.ids[place] for place in kept),
        tuple(ontology.labels[place] for place in kept),
        tuple(
            tuple(one.text for one in ontology.synonyms[place] if one.scope in taken or one.kind == LABEL)
            for place in kept
        ),
        ontology.path,
        ontology.languages,
        ontology.notes,
    )


def _read_table(path: Path, chosen: str) -> Records | None:
    """Return the records of a table; None for an ontology, which may be JSON too."""
    if chosen != "json":
        return read_records(path, chosen, WANTED) if chosen in READERS else None
    text = read_text(path, "documents")
    is_ontology = text.lstrip().startswith("{") and '"graphs"' in text
    return None if is_ontology else records_of_json(text, path, WANTED)


def _check_columns(columns: Sequence[str], path: Path, line: int | None = None) -> None:
    for names in (ID_NAMES, TEXT_NAMES):
        if not any(name in columns for name in names):
            held = ", ".join(map(repr, columns[:12])) or "nothing"
            expected = ", ".join(map(repr, names))
            hint = _rename(columns, names)
            if len(columns) == 1 and ";" in columns[0]:
                hint = "The fields are separated by ';': save the table with commas."
            raise ColumnError(
                f"documents without {names[0]!r}: found {held}",
                allowed=f"one of {expected}",
                hint=hint,
                path=path,
                line=line,
            )


def _rename(columns: Sequence[str], names: Sequence[str]) -> str:
    """Suggest what a file without a column may be, or which of its columns has a similar name."""
    if any(name in columns for name in ("expected_ids", "expected_hpo_ids")):
        return "Is this the file of cases? The collection is what is searched."
    unused = [name for name in columns if name not in {*ID_NAMES, *TEXT_NAMES, "synonyms"}]
    given = next((name for name in unused if did_you_mean(name, names)), None)
    return f"If it is {given!r}, call it {names[0]!r}." if given else ""


def _of_records(records: Records, path: Path, name: str, *, has_synonyms: bool) -> Collection:
    if not isinstance(records.table, list):  # JSON has names in each record
        _check_columns(records.columns, path)
    seen: dict[str, int] = {}
    texts: list[str] = []
    synonyms: list[tuple[str, ...]] = []
    for place, fields in enumerate(records.rows({*ID_NAMES, *TEXT_NAMES, "synonyms"})):
        row = _Row(fields, records.line(place))
        _check_columns(list(fields), path, row.line)
        doc_id = _id(row, place, path)
        if doc_id in seen:
            raise DuplicateError(
                f"document {doc_id!r} appears {records.where(seen[doc_id], place)}",
                hint="each id may appear once",
                path=path,
                line=row.line,
            )
        seen[doc_id] = place
        texts.append(_text(row, doc_id, path))
        synonyms.append(_synonyms(row, doc_id, path) if has_synonyms else ())
    if not seen:
        raise DataError("no document in it", allowed="at least one with an id and a text", path=path)
    return Collection(name, tuple(seen), tuple(texts), tuple(synonyms), path)


def _id(row: _Row, place: int, path: Path) -> str:
    """Return the id as text, unchanged; a whole number is an id too."""
    key = next(name for name in ID_NAMES if name in row.fields)
    given = row.fields[key]
    row_number = "" if row.line else f" in row {place + 1}"
    if given is None or (isinstance(given, str) and not given.strip()):
        raise DataError(f"empty {key!r}{row_number}", allowed="an id", path=path, line=row.line)
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise MalformedRowError(
            f"{key!r}{row_number} must be text or a whole number", given=Plain(_brief(given)), path=path, line=row.line
        )
    return str(given)


def _text(row: _Row, doc_id: str, path: Path) -> str:
    key = next(name for name in TEXT_NAMES if name in row.fields)
    given = row.fields[key]
    if given is None or (isinstance(given, str) and not given.strip()):
        raise MalformedRowError(f"document {doc_id!r} has an empty {key!r}", allowed="text", path=path, line=row.line)
    if not isinstance(given, str):
        raise MalformedRowError(
            f"document {doc_id!r}: {key!r} must be text", given=Plain(_brief(given)), path=path, line=row.line
        )
    return given


def _synonyms(row: _Row, doc_id: str, path: Path) -> tuple[str, ...]:
    """Return the synonyms of a document; an empty one between two separators is skipped."""
    given = row.fields.get("synonyms")
    if given is None:
        return ()
    parts = [part.strip() for part in given.split(BETWEEN_SYNONYMS)] if isinstance(given, str) else given
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise MalformedRowError(
            f"document {doc_id!r}: synonyms must be a list of texts, or text with | between them",
            given=Plain(_brief(given)),
            path=path,
            line=row.line,
        )
    return tuple(part for part in parts if part.strip())


def _brief(given: object) -> str:
    """Return a value for a message; a long one is cut."""
    text = repr(given)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
