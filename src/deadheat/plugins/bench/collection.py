"""What a benchmark searches in and for: documents with texts and perhaps synonyms; and the parts of sets of cases."""

import hashlib
import json
import os
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
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
from deadheat.plugins.bench.ontology import LABEL, ORIGINAL, Ontology, listed, read_ontology, read_translations

SYNONYMS = ("exact", "all", "none")
# The first one present counts: BEIR has a title beside the text, pandas an index called id.
ID_NAMES = ("doc_id", "id", "_id")
TEXT_NAMES = ("text", "label", "name", "title")
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
        for doc_id, own in zip(self.ids, self.synonyms, strict=True):
            listed(f"synonyms of {doc_id!r}", "texts", own)

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
        found = [
            [text, *(synonym for synonym in synonyms if synonym.casefold() != text.casefold())]
            for text, synonyms in zip(self.texts, self.synonyms, strict=True)
        ]
        return list(chain.from_iterable(found)), np.repeat(np.arange(len(self)), list(map(len, found)))

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
    own = () if language is None else (checked_code("language", language),)
    if not isinstance(source, Ontology):
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
            found = _of_records(records, path, name or make_label(path), has_synonyms=synonyms != "none")
            return replace(found, languages=own)
        source = read_ontology(path)
    read = [read_translations(one) for one in tables]
    named = source.translated(*read, original=original, candidates=candidates) if read else source
    found = _of_ontology(named, synonyms, name)
    for note in named.notes:
        warnings.warn(note, NoteWarning, stacklevel=2)
    called = {term: label for term, label in zip(source.ids, source.labels, strict=True) if label.strip()}
    names = {} if original == "none" else {one.source_language: called for one in read}
    for one in reversed(read):  # the first of a language names a term
        names[one.language] = names.get(one.language, {}) | {
            term: rows[0].text for term, rows in one.by_term(candidates=candidates).items()
        }
    return replace(found, languages=own or named.languages, names=names, notes=named.notes)


def _of_ontology(ontology: Ontology, synonyms: str, name: str | None) -> Collection:
    """Return the terms of an ontology that have a label."""
    terms = list(zip(ontology.ids, ontology.labels, ontology.synonyms, strict=True))
    kept = [term for term in terms if term[1].strip()]
    n_bare, where = len(terms) - len(kept), ontology.path or "ontology"
    if not kept:
        raise DataError(f"no term with a label among {n_bare:,}", allowed="at least one", path=where)
    if n_bare and not ontology.notes:  # with translations, the notes say it
        first = next(term for term, label, _ in terms if not label.strip())
        warnings.warn(
            f"{where}: {n_bare:,} terms have no label, such as {first!r}, and are left out",
            DeadheatWarning,
            stacklevel=3,
        )
    taken = {"exact": ("EXACT",), "all": ("EXACT", "NARROW", "BROAD", "RELATED"), "none": ()}[synonyms]
    plain = make_label(ontology.path).removesuffix(".obo").removesuffix(".owl") if ontology.path else "ontology"
    ids, labels, others = zip(*kept, strict=True)
    return Collection(
        name or plain + (f" ({', '.join(ontology.languages)})" if ontology.languages else ""),
        ids,
        labels,
        tuple(tuple(one.text for one in own if one.scope in taken or one.kind == LABEL) for own in others),
        ontology.path,
    )


def _read_table(path: Path, chosen: str) -> Records | None:
    """Return the records of a table; None for an ontology, which may be JSON too."""
    if chosen != "json":
        return read_records(path, chosen, WANTED) if chosen in READERS else None
    text = read_text(path, "documents")
    is_ontology = text.lstrip().startswith("{") and ('"graphs":' in text or '"graphs" :' in text)  # a key, no value
    return None if is_ontology else read_json_records(text, path, WANTED)


def _of_records(records: Records, path: Path, name: str, *, has_synonyms: bool) -> Collection:
    is_of_cases = not {"expected_ids", "expected_hpo_ids"}.isdisjoint(records.columns)
    hint = "Is this the file of cases? The collection is what is searched." * is_of_cases
    found: dict[str, tuple[int, str, tuple[str, ...]]] = {}  # the place, text and synonyms of each document
    for place, fields in enumerate(records.rows({*ID_NAMES, *TEXT_NAMES, "synonyms"})):
        held = fields if isinstance(records.table, list) else records.columns  # JSON has names in each record
        line = records.line(place)
        key, text_key = (
            find_column(names, held, f"documents without a column {names[0]!r}", path, line=line, hint=hint)
            for names in (ID_NAMES, TEXT_NAMES)
        )
        given, text = fields[key], fields[text_key]
        row = "" if line else f" in row {place + 1}"
        doc_id = str(given)
        if isinstance(given, bool) or not isinstance(given, str | int) or not doc_id.strip():
            raise MalformedRowError(f"{key!r}{row} must be text or a whole number", given=given, path=path, line=line)
        if doc_id in found:
            raise DuplicateError(
                f"document {doc_id!r} appears {records.where(found[doc_id][0], place)}",
                hint="each id may appear once",
                path=path,
                line=line,
            )
        if not isinstance(text, str) or not text.strip():
            raise MalformedRowError(f"document {doc_id!r}: {text_key!r} must be text", given=text, path=path, line=line)
        others = fields.get("synonyms") or []
        parts = [part.strip() for part in others.split("|")] if isinstance(others, str) else others
        if has_synonyms and not (isinstance(parts, list) and all(isinstance(part, str) for part in parts)):
            raise MalformedRowError(
                f"document {doc_id!r}: synonyms must be a list of texts, or text with | between them",
                given=others,
                path=path,
                line=line,
            )
        found[doc_id] = place, text, tuple(part for part in parts if part.strip()) if has_synonyms else ()
    if not found:
        raise DataError("no document in it", allowed="at least one with an id and a text", path=path)
    _, texts, synonyms = zip(*found.values(), strict=True)
    return Collection(name, tuple(found), texts, synonyms, path)
