"""What a benchmark searches in and for: documents with texts and perhaps synonyms; and the parts of sets of cases."""

import hashlib
import json
import os
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from deadheat.core.arrays import IntArray
from deadheat.core.checks import check_choice
from deadheat.core.data.sources import make_label
from deadheat.core.errors import (
    DataError,
    DeadheatWarning,
    DuplicateError,
    MalformedRowError,
    NoteWarning,
    ParameterError,
)
from deadheat.core.io.columns import find_column
from deadheat.core.io.files import check_readable
from deadheat.core.io.objects import read_text
from deadheat.core.io.records import READERS, Records, Wanted, choose_record_format, read_json_records, read_records
from deadheat.core.wording import escape_invisible, format_count
from deadheat.plugins.bench.languages import base, checked_code
from deadheat.plugins.bench.ontology import (
    LABEL,
    ORIGINAL,
    Ontology,
    Translations,
    listed,
    read_ontology,
    read_translations,
)

SYNONYMS = ("exact", "all", "none")
# The first one present counts: BEIR has a title beside the text, pandas an index called id.
ID_NAMES = ("doc_id", "id", "_id")
TEXT_NAMES = ("text", "label", "name", "title")
MISSING = "documents without a column {!r}"
SCOPES: dict[str, tuple[str, ...]] = {  # of the synonyms that count, by the choice of them
    "exact": ("EXACT",),
    "all": ("EXACT", "NARROW", "BROAD", "RELATED"),
    "none": (),
}
WANTED = Wanted(
    what="documents",
    expected="a list of documents such as {'id': ..., 'text': ...}, or an ontology as OBO Graphs ('graphs')",
    formats=("csv", "tsv", "json", "jsonl", "parquet", "xlsx", "obo", "owl"),
)


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
            raise DataError(
                f"{self.name} must have a text and synonyms, perhaps none, for each id",
                found=f"{len(self.ids)} ids, {len(self.texts)} texts and {len(self.synonyms)} of synonyms",
            )
        if len(set(self.ids)) != len(self.ids):
            twice = max(self.ids, key=Counter(self.ids).__getitem__)
            raise DuplicateError(f"{self.name} has document {twice!r} more than once", hint="each id may appear once")
        for doc_id, synonyms in zip(self.ids, self.synonyms, strict=True):
            listed(f"synonyms of {doc_id!r}", "texts", synonyms)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        n_synonyms = sum(map(len, self.synonyms))
        return escape_invisible(
            f"<Collection {self.name}: {format_count(len(self), 'document')}, {format_count(n_synonyms, 'synonym')}>"
        )

    def labels(self, language: str | None) -> dict[str, str]:
        """Return what each document is called: in the language, where it has a name in it.

        Parameters
        ----------
        language : str or None
            A code; a name in its base language, such as "pt" of "pt-br", counts too.
        """
        labels = dict(zip(self.ids, self.texts, strict=True))
        if language is not None:
            labels |= self.names.get(language) or self.names.get(base(language), {})
        return labels

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
        n_strings: list[int] = []  # of each document
        for text, synonyms in zip(self.texts, self.synonyms, strict=True):
            other_texts = [synonym for synonym in synonyms if synonym.casefold() != text.casefold()]
            strings += [text, *other_texts]
            n_strings.append(1 + len(other_texts))
        return strings, np.repeat(np.arange(len(self)), n_strings)

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
    check_choice("original", original, ORIGINAL)
    tables = [texts] if isinstance(texts, str | os.PathLike) else list(texts)
    languages = () if language is None else (checked_code("language", language),)
    if isinstance(source, Ontology):
        ontology = source
    else:
        path = check_readable(source)
        records = _read_table(path, choose_record_format(path, format, WANTED))
        if records is not None:
            if tables:
                raise ParameterError(
                    "are names of the terms of an ontology",
                    argument="texts",
                    found="a table",
                    hint="give a table of documents in their language instead",
                )
            collection = _collect_documents(records, path, name or make_label(path), has_synonyms=synonyms != "none")
            return replace(collection, languages=languages)
        ontology = read_ontology(path)
    translations = [read_translations(table) for table in tables]
    translated = ontology
    if translations:
        translated = ontology.translated(*translations, original=original, candidates=candidates)
    collection = _collect_terms(translated, synonyms, name)
    for note in translated.notes:
        warnings.warn(note, NoteWarning, stacklevel=2)
    names = _name_terms(ontology, translations, has_originals=original != "none", candidates=candidates)
    return replace(collection, languages=languages or translated.languages, names=names, notes=translated.notes)


def _name_terms(
    ontology: Ontology, translations: Sequence[Translations], *, has_originals: bool, candidates: bool
) -> dict[str, dict[str, str]]:
    """Return what each term is called in each language: by its label in the original one, if that is kept."""
    names: dict[str, dict[str, str]] = {}
    if has_originals:
        pairs = zip(ontology.ids, ontology.labels, strict=True)
        labels = {term: label for term, label in pairs if label.strip()}
        for translation in translations:
            names[translation.source_language] = labels
    for translation in reversed(translations):  # the first of a language names a term
        names_in_language = dict(names.get(translation.language, {}))
        for term, rows in translation.by_term(candidates=candidates).items():
            names_in_language[term] = rows[0].text
        names[translation.language] = names_in_language
    return names


def _collect_terms(ontology: Ontology, synonyms: str, name: str | None) -> Collection:
    """Return the terms of an ontology that have a label. Warns the caller of :func:`read_collection`."""
    ids: list[str] = []
    labels: list[str] = []
    synonyms_of_terms: list[tuple[str, ...]] = []
    bare_terms: list[str] = []
    scopes = SCOPES[synonyms]
    for term, label, synonyms_of_term in zip(ontology.ids, ontology.labels, ontology.synonyms, strict=True):
        if not label.strip():
            bare_terms.append(term)
            continue
        ids.append(term)
        labels.append(label)
        texts = [synonym.text for synonym in synonyms_of_term if synonym.scope in scopes or synonym.kind == LABEL]
        synonyms_of_terms.append(tuple(texts))
    where = ontology.path or "ontology"
    if not ids:
        raise DataError(f"no term with a label among {len(bare_terms):,}", allowed="at least one", path=where)
    if bare_terms and not ontology.notes:  # with translations, the notes say it
        warnings.warn(
            f"{where}: {len(bare_terms):,} terms have no label, such as {bare_terms[0]!r}, and are left out",
            DeadheatWarning,
            stacklevel=3,
        )
    return Collection(name or _make_name(ontology), tuple(ids), tuple(labels), tuple(synonyms_of_terms), ontology.path)


def _make_name(ontology: Ontology) -> str:
    """Return the name of an ontology's file without its ending, and the languages of its texts."""
    name = "ontology"
    if ontology.path:
        name = make_label(ontology.path).removesuffix(".obo").removesuffix(".owl")
    if ontology.languages:
        name += f" ({', '.join(ontology.languages)})"
    return name


def _read_table(path: Path, format_name: str) -> Records | None:
    """Return the records of a table; None for an ontology, which may be JSON too."""
    if format_name == "json":
        text = read_text(path, "documents")
        has_key_graphs = '"graphs":' in text or '"graphs" :' in text  # a key, no value
        if text.lstrip().startswith("{") and has_key_graphs:
            return None
        return read_json_records(text, path, WANTED)
    if format_name in READERS:
        return read_records(path, format_name, WANTED)
    return None


def _collect_documents(records: Records, path: Path, name: str, *, has_synonyms: bool) -> Collection:
    """Return the documents of a table."""
    hint = ""
    if "expected_ids" in records.columns or "expected_hpo_ids" in records.columns:
        hint = "Is this the file of cases? The collection is what is searched."
    place_of: dict[str, int] = {}
    texts: list[str] = []
    synonyms_of_documents: list[tuple[str, ...]] = []
    for place, fields in enumerate(records.rows({*ID_NAMES, *TEXT_NAMES, "synonyms"})):
        # JSON has names in each record
        columns = fields if isinstance(records.table, list) else records.columns
        line = records.line(place)
        id_key = find_column(ID_NAMES, columns, MISSING.format(ID_NAMES[0]), path, line=line, hint=hint)
        text_key = find_column(TEXT_NAMES, columns, MISSING.format(TEXT_NAMES[0]), path, line=line, hint=hint)
        doc_id = str(fields[id_key])
        if not _is_id(fields[id_key]):
            row = "" if line else f" in row {place + 1}"
            raise MalformedRowError(
                f"{id_key!r}{row} must be text or a whole number", given=fields[id_key], path=path, line=line
            )
        if doc_id in place_of:
            raise DuplicateError(
                f"document {doc_id!r} appears {records.where(place_of[doc_id], place)}",
                hint="each id may appear once",
                path=path,
                line=line,
            )
        text = fields[text_key]
        if not isinstance(text, str) or not text.strip():
            raise MalformedRowError(f"document {doc_id!r}: {text_key!r} must be text", given=text, path=path, line=line)
        synonyms: tuple[str, ...] = ()
        if has_synonyms:
            synonyms = _read_synonyms(fields.get("synonyms"), doc_id, path, line)
        place_of[doc_id] = place
        texts.append(text)
        synonyms_of_documents.append(synonyms)
    if not place_of:
        raise DataError("no document in it", allowed="at least one with an id and a text", path=path)
    return Collection(name, tuple(place_of), tuple(texts), tuple(synonyms_of_documents), path)


def _is_id(value: object) -> bool:
    """Tell whether a value is a text that is not blank, or a whole number."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return False
    return bool(str(value).strip())


def _read_synonyms(value: object, doc_id: str, path: Path, line: int | None) -> tuple[str, ...]:
    """Return the synonyms of a document: a list, or text with ``|`` between them; blank ones are left out."""
    synonyms = value or []
    if isinstance(synonyms, str):
        synonyms = [synonym.strip() for synonym in synonyms.split("|")]
    if not isinstance(synonyms, list) or not all(isinstance(synonym, str) for synonym in synonyms):
        raise MalformedRowError(
            f"document {doc_id!r}: synonyms must be a list of texts, or text with | between them",
            given=value,
            path=path,
            line=line,
        )
    return tuple(synonym for synonym in synonyms if synonym.strip())
