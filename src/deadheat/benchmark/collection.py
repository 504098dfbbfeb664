"""Collections: the documents that a search goes through, each with an id, a text and perhaps synonyms."""

import hashlib
import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from deadheat.arrays import IntArray
from deadheat.benchmark.languages import base, checked_code, known, likely
from deadheat.benchmark.ontology import LABEL, Ontology, Translations, read_ontology, read_translations
from deadheat.data.tables import label_of
from deadheat.errors import (
    ColumnError,
    DataError,
    DeadheatWarning,
    DuplicateError,
    MalformedRowError,
    NoteWarning,
    ParameterError,
    Plain,
    SourceTypeError,
    as_given,
    check_choice,
    counted,
    did_you_mean,
)
from deadheat.io.objects import read_text
from deadheat.io.records import READERS, Records, Wanted, format_of_records, read_records, records_of_json
from deadheat.io.source import readable

SYNONYMS = ("exact", "all", "none")
# The first one present counts: BEIR has a title beside the text, pandas an index called id.
ID_NAMES = ("doc_id", "id", "_id")
TEXT_NAMES = ("text", "label", "name", "title")
LONGEST = 80  # characters of a value in a message
FEWEST_TEXTS = 20  # names of a table: the language of fewer is not guessed
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
                given=Plain(f"{len(self.ids)} ids, {len(self.texts)} texts and {len(self.synonyms)} of synonyms"),
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
        synonyms = counted(sum(map(len, self.synonyms)), "synonym")
        return f"<Collection {self.name}: {counted(len(self), 'document')}, {synonyms}>"

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
    if not isinstance(source, Ontology):
        path = readable(source)
        records = _read_table(path, format_of_records(path, format, WANTED))
        if records is not None:
            if tables:
                problem, hint = "are names of the terms of an ontology", "give a table of documents in their language"
                raise ParameterError(problem, argument="texts", given=Plain("a table"), hint=f"{hint} instead")
            found = _of_records(records, path, name or label_of(path), has_synonyms=synonyms != "none")
            return replace(found, languages=own)
        source = read_ontology(path)
    read = [read_translations(one) for one in tables]
    named = source.translated(*read, original=original, candidates=candidates) if read else source
    notes = (*named.notes, *_of_another_language(read))
    found = _of_ontology(named, synonyms, name)
    for note in notes:
        warnings.warn(note, NoteWarning, stacklevel=2)
    called = {term: label for term, label in zip(source.ids, source.labels, strict=True) if label.strip()}
    names = {} if original == "none" else {one.source_language: called for one in read}
    for one in reversed(read):  # the first of a language names a term
        names[one.language] = names.get(one.language, {}) | {
            term: rows[0].text for term, rows in one.by_term(candidates=candidates).items()
        }
    return replace(found, languages=own or named.languages, names=names, notes=notes)


def _of_another_language(tables: Sequence[Translations]) -> Iterator[str]:
    """Yield the tables whose names clearly look like another language than the one they are said to be in."""
    for table in tables:
        other = likely([row.text for row in table.rows]) if len(table.rows) >= FEWEST_TEXTS else None
        if other is not None and known(table.language) not in {None, other}:
            said = f"{table.path.name} ({table.language}): its names look like {other!r} (a guess by py3langid)"
            yield f"{said}; is it the table of another language?"


def _of_ontology(ontology: Ontology, synonyms: str, name: str | None) -> Collection:
    """Return the terms of an ontology that have a label."""
    terms = list(zip(ontology.ids, ontology.labels, ontology.synonyms, strict=True))
    kept = [term for term in terms if term[1].strip()]
    n_bare, where = len(terms) - len(kept), ontology.path or "ontology"
    if not kept:
        raise DataError(f"no term with a label among {n_bare:,}", allowed="at least one", path=where)
    if n_bare and not ontology.notes:  # of translations the notes say it
        first = next(term for term, label, _ in terms if not label.strip())
        warnings.warn(
            f"{where}: {n_bare:,} terms have no label, such as {first!r}, and are left out",
            DeadheatWarning,
            stacklevel=3,
        )
    taken = {"exact": ("EXACT",), "all": ("EXACT", "NARROW", "BROAD", "RELATED"), "none": ()}[synonyms]
    plain = label_of(ontology.path).removesuffix(".obo").removesuffix(".owl") if ontology.path else "ontology"
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
    is_ontology = text.lstrip().startswith("{") and '"graphs"' in text
    return None if is_ontology else records_of_json(text, path, WANTED)


def _check_columns(columns: Sequence[str], path: Path, line: int | None = None) -> None:
    for names in (ID_NAMES, TEXT_NAMES):
        if set(names).isdisjoint(columns):
            unused = [name for name in columns if name not in {*ID_NAMES, *TEXT_NAMES, "synonyms"}]
            near = next((name for name in unused if did_you_mean(name, names)), None)
            hint = f"If it is {near!r}, call it {names[0]!r}." if near else ""
            if not {"expected_ids", "expected_hpo_ids"}.isdisjoint(columns):
                hint = "Is this the file of cases? The collection is what is searched."
            held = ", ".join(map(repr, columns[:12])) or "nothing"
            raise ColumnError(
                f"documents without {names[0]!r}: found {held}",
                allowed=f"one of {', '.join(map(repr, names))}",
                hint=hint,
                path=path,
                line=line,
            )


def _of_records(records: Records, path: Path, name: str, *, has_synonyms: bool) -> Collection:
    if not isinstance(records.table, list):  # JSON has names in each record
        _check_columns(records.columns, path)
    seen: dict[str, int] = {}
    texts: list[str] = []
    synonyms: list[tuple[str, ...]] = []
    for place, fields in enumerate(records.rows({*ID_NAMES, *TEXT_NAMES, "synonyms"})):
        line = records.line(place)
        _check_columns(list(fields), path, line)
        key, text_key = (next(one for one in names if one in fields) for names in (ID_NAMES, TEXT_NAMES))
        given, text = fields[key], fields[text_key]
        row = "" if line else f" in row {place + 1}"
        if given is None or not str(given).strip():
            raise DataError(f"empty {key!r}{row}", allowed="an id", path=path, line=line)
        if isinstance(given, bool) or not isinstance(given, str | int):  # a whole number is an id too
            raise MalformedRowError(
                f"{key!r}{row} must be text or a whole number", given=_brief(given), path=path, line=line
            )
        doc_id = str(given)
        if doc_id in seen:
            raise DuplicateError(
                f"document {doc_id!r} appears {records.where(seen[doc_id], place)}",
                hint="each id may appear once",
                path=path,
                line=line,
            )
        if text is None or (isinstance(text, str) and not text.strip()):
            raise MalformedRowError(
                f"document {doc_id!r} has an empty {text_key!r}", allowed="text", path=path, line=line
            )
        if not isinstance(text, str):
            raise MalformedRowError(
                f"document {doc_id!r}: {text_key!r} must be text", given=_brief(text), path=path, line=line
            )
        others = fields.get("synonyms") or []
        parts = [part.strip() for part in others.split("|")] if isinstance(others, str) else others
        if has_synonyms and not (isinstance(parts, list) and all(isinstance(part, str) for part in parts)):
            raise MalformedRowError(
                f"document {doc_id!r}: synonyms must be a list of texts, or text with | between them",
                given=_brief(others),
                path=path,
                line=line,
            )
        seen[doc_id] = place
        texts.append(text)
        synonyms.append(tuple(part for part in parts if part.strip()) if has_synonyms else ())
    if not seen:
        raise DataError("no document in it", allowed="at least one with an id and a text", path=path)
    return Collection(name, tuple(seen), tuple(texts), tuple(synonyms), path)


def _brief(given: object) -> Plain:
    return Plain(as_given(given, LONGEST))
