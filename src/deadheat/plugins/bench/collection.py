"""What a benchmark searches in and for: documents with texts and perhaps synonyms; and the parts of sets of cases."""

import hashlib
import json
import os
import warnings
from collections import Counter
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, compress
from pathlib import Path

import numpy as np

from deadheat.core.arrays import IntArray
from deadheat.core.checks import check_choice, name_items
from deadheat.core.data.sources import make_label
from deadheat.core.errors import (
    ColumnError,
    DataError,
    DeadheatWarning,
    DuplicateError,
    MalformedRowError,
    NoteWarning,
    ParameterError,
)
from deadheat.core.evaluation.stratum import NONE, names_of
from deadheat.core.io.columns import find_column
from deadheat.core.io.files import check_readable
from deadheat.core.io.objects import read_text
from deadheat.core.io.records import READERS, Records, Wanted, choose_record_format, read_json_records, read_records
from deadheat.core.stats.joined_groups import joined_groups
from deadheat.core.structures import group_values
from deadheat.core.wording import did_you_mean, escape_invisible, format_count, format_list
from deadheat.plugins.bench.cases import Cases, folded, read_cases
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


STRATA = ("difficulty", "category", "domain")
EXPECTED = "expected_ids"
COLUMNS = (EXPECTED, "text", *STRATA)


@dataclass(frozen=True)
class CaseGroup:
    """The cases of one set in one language.

    Attributes
    ----------
    name : str
        Of the set.
    language : str
        "(none)" for cases without one.
    cases : Cases
    """

    name: str
    language: str
    cases: Cases

    def __str__(self) -> str:
        return self.name if self.language == NONE else f"{self.name} ({self.language})"

    @property
    def key(self) -> tuple[str, str]:
        """The names of set and language."""
        return self.name, self.language

    @property
    def language_code(self) -> str | None:
        """The language as retrievers take it; None for cases without one."""
        if self.language == NONE:
            return None
        return self.language

    @property
    def searched(self) -> str:
        """A SHA-256 of the ids and texts: what a search sees."""
        return hash_of([[case.case_id, case.text] for case in self.cases])

    @property
    def judged(self) -> str:
        """A SHA-256 of the ids, texts and expected ids: what an evaluation sees."""
        return hash_of([[one.case_id, one.text, *one.expected_ids, *one.relevance] for one in self.cases])

    @property
    def strata(self) -> tuple[str, ...]:
        """The columns that some cases have labels in."""
        return tuple(name for name in STRATA if any(getattr(case, name) is not None for case in self.cases))

    def clusters(self, column: str | Mapping[str, object] | None) -> dict[str, object] | None:
        """Return the cluster of each case; None without clusters.

        Parameters
        ----------
        column : str, mapping of case id to cluster, or None
            "expected_ids": cases that share an expected id, directly or by way of others, are one cluster.
        """
        if column is None:
            return None
        if column == EXPECTED:
            return dict(zip([case.case_id for case in self.cases], self.shared(), strict=True))
        source = "folded_text" if column == "text" else column
        labels = {
            case.case_id: source.get(case.case_id) if isinstance(source, Mapping) else getattr(case, source)
            for case in self.cases
        }
        lacking = [one for one, label in labels.items() if label is None]
        if lacking:
            raise ColumnError(
                argument="cluster",
                given=column,
                found="a mapping" if isinstance(column, Mapping) else None,
                allowed="a label that every case has",
                hint=f"{len(lacking)} of {format_count(len(labels), 'case')} have none, such as {lacking[0]!r}",
                path=str(self),
            )
        return labels

    def shared(self) -> list[int]:
        """Return a number for each case, the same for those that share an expected id."""
        return joined_groups([case.expected_ids for case in self.cases])


@dataclass(frozen=True)
class Family:
    """Parts in different languages whose cases share pair ids.

    Attributes
    ----------
    name : str
    parts : dict of str to CaseGroup
        By language.
    """

    name: str
    parts: Mapping[str, CaseGroup]

    @property
    def pairs(self) -> dict[str, dict[str, str]]:
        """By language, the pair id of each case that has one."""
        return {
            language: {case.case_id: case.pair_id for case in part.cases if case.pair_id is not None}
            for language, part in self.parts.items()
        }

    @property
    def unlike(self) -> tuple[str, ...]:
        """The pair ids whose cases expect different ids in different languages."""
        found = group_values(
            (case.pair_id, frozenset(case.expected_ids))
            for part in self.parts.values()
            for case in part.cases
            if case.pair_id is not None
        )
        return tuple(sorted(pair for pair, expected in found.items() if len(set(expected)) > 1))

    def covers(self, parts: Iterable[CaseGroup]) -> bool:
        """Return whether these are exactly its parts, and each case has a counterpart in every other part."""
        ids = [{case.pair_id for case in part.cases} for part in self.parts.values()]
        is_own = set(map(id, parts)) == set(map(id, self.parts.values()))
        return is_own and all(own == ids[0] and None not in own for own in ids)

    def labels(self, column: str | Mapping[str, object] | None) -> dict[str, dict[str, tuple[Hashable, ...]]] | None:
        """Return, by language, what the case of each pair id shares with others; None without clusters."""
        if column is None:
            return None
        found: dict[str, dict[str, tuple[Hashable, ...]]] = {}
        for language, part in self.parts.items():
            labels = part.clusters(column) or {}
            found[language] = {
                case.pair_id: case.expected_ids if column == EXPECTED else (str(labels[case.case_id]),)
                for case in part.cases
                if case.pair_id is not None
            }
        return found


def families_of(parts: Sequence[CaseGroup]) -> tuple[tuple[Family, ...], str]:
    """Return the families among parts, and what to know of the languages that are not paired.

    Parts of one name belong together. So do parts of different names if no language is there twice: nobody says which
    of the two would count. A language that shares no pair id with another is not paired.
    """
    able = [part for part in parts if part.language != NONE and any(case.pair_id is not None for case in part.cases)]
    named = group_values((part.name, part) for part in able).values()
    groups = [own for own in named if len(own) > 1]
    others = [own[0] for own in named if len(own) == 1]
    if len({part.language for part in others}) == len(others) > 1:
        groups.append(others)
    found = []
    for group in groups:
        counts = Counter(case.pair_id for part in group for case in part.cases)
        paired = [
            part for part in group if any(case.pair_id is not None and counts[case.pair_id] > 1 for case in part.cases)
        ]
        if len(paired) > 1:
            name = " and ".join(dict.fromkeys(part.name for part in paired))
            found.append(Family(name, {part.language: part for part in paired}))
    inside = {part.key for family in found for part in family.parts.values()}
    alone = ", ".join(str(part) for part in parts if part.language != NONE and part.key not in inside)
    if len({part.language for part in parts} - {NONE}) < 2 or not alone:
        return tuple(found), ""
    return tuple(found), (
        f"{alone}: not paired with another language (no pair id that both have); a difference to it is one between"
        " cases too; cases that ask for the same are paired by a common pair_id"
    )


def check_cluster(column: object) -> None:
    """Raise `ParameterError` if cases cannot be grouped by it."""
    if not (column is None or isinstance(column, Mapping) or column in COLUMNS):
        raise ParameterError(
            argument="cluster", given=column, allowed=COLUMNS, python="or a dict of case id to cluster"
        )


def check_by(columns: str | Sequence[str], parts: Iterable[CaseGroup]) -> tuple[str, ...]:
    """Return the columns of strata, none if there are none; raise `ParameterError` if no case has a label in one."""
    names = names_of(columns) if columns else []
    held = sorted({name for part in parts for name in part.strata})
    for name in names:
        if name not in held:
            allowed = f"a label that cases have ({', '.join(held) or 'none has any'})"
            raise ParameterError(argument="by", given=name, allowed=allowed, hint=did_you_mean(name, held))
    return tuple(names)


def parts_of(cases: object, limit: int | None) -> tuple[CaseGroup, ...]:
    """Return the parts of case sets.

    Parameters
    ----------
    cases : Cases, path, sequence of them, or mapping of name to one
    limit : int or None
        Cases of each language of each set: the first ones.
    """
    found = [
        CaseGroup(
            name, NONE if language is None else language, of_language if limit is None else of_language.limit(limit)
        )
        for name, of_set in _named(cases)
        for language, of_language in of_set.by_language().items()
    ]
    if not found:
        raise ParameterError("is empty", hint="give at least one set of cases, or the path of one", argument="cases")
    return tuple(found)


def split_cells(parts: Sequence[CaseGroup], documents: Collection) -> tuple[tuple[CaseGroup, ...], list[str]]:
    """Return the parts with cells such as ``D1;D2`` as several ids, where all are documents, and notes on them."""
    held = set(documents.ids)
    found = [(part, *part.cases.split(held)) for part in parts]
    return tuple(replace(part, cases=cases) for part, cases, _ in found), [
        f"{part}: {format_count(len(cells), 'cell')} with another sign than | read as several ids: {format_list(cells)}"
        for part, _, cells in found
        if cells
    ]


def labelled(parts: tuple[CaseGroup, ...], ontology: Ontology | None) -> tuple[tuple[CaseGroup, ...], tuple[str, ...]]:
    """Return the parts with domains and categories from an ontology where cases have none, and what was assumed."""
    notes = list(dict.fromkeys(note for part in parts for note in part.cases.notes))
    if ontology is None:
        return parts, tuple(notes)
    found = tuple(replace(part, cases=part.cases.labelled(ontology)) for part in parts)
    for part, own in zip(parts, found, strict=True):
        pairs = list(zip(part.cases, own.cases, strict=True))
        counts = {name: sum(getattr(a, name) != getattr(b, name) for a, b in pairs) for name in ("domain", "category")}
        told = [f"{name} of {format_count(n, 'case')}" for name, n in counts.items() if n]
        notes += [f"{part}: {' and '.join(told)} from the ontology, as the file has none"] if told else []
    return found, tuple(notes)


def check_expected(parts: Sequence[CaseGroup], documents: Collection, ontology: Ontology | None) -> Iterator[str]:
    """Yield notes on expected ids that collection or ontology lack; raise if the collection lacks all of a part."""
    held = set(documents.ids)
    for part in parts:
        expected = sorted({one for case in part.cases for one in case.expected_ids})
        if expected and held.isdisjoint(expected):
            raise DataError(
                f"none of the {len(expected)} expected ids of {part} is in {documents.name}: it expects "
                f"{format_list(expected)}; the documents are {', '.join(documents.ids[:3])}, ...",
                hint="Are they of the same collection, and are the ids written alike?",
            )
        terms: Container[str] = set(expected) if ontology is None else ontology
        alike = group_values(((one not in held, one not in terms), one) for one in expected)  # both lack it: named once
        alike.pop((False, False), None)
        texts = f"not in {documents.name}", "no terms of the ontology"
        effects = "no search finds them", "their similarity to everything is 0"
        for lacking, ids in alike.items():
            where, effect = (" and ".join(compress(said, lacking)) for said in (texts, effects))
            named = format_list([repr(one) if ontology is None else ontology.named(one) for one in ids])
            yield f"{part}: {len(ids)} of {len(expected)} expected ids are {where}; {effect}: {named}"


def count_verbatim(part: CaseGroup, documents: Collection) -> int:
    """Count the cases whose text is a text or synonym of an expected document, ignoring case and whitespace."""
    places = {doc: place for place, doc in enumerate(documents.ids)}
    return sum(
        any(
            case.folded_text in {folded(text) for text in (documents.texts[place], *documents.synonyms[place])}
            for place in (places[doc] for doc in case.expected_ids if doc in places)
        )
        for case in part.cases
    )


def _named(cases: object) -> list[tuple[str, Cases]]:
    """Return sets with their names: equal ones are languages of one set, or get that of file or folder too."""
    if isinstance(cases, Mapping):
        return [*name_items(((name, _read(one)) for name, one in cases.items()), what="sets of cases", hint="").items()]
    sets = [_read(one) for one in (cases if isinstance(cases, list | tuple) else [cases])]
    counts = Counter(one.name for one in sets)
    languages = [(one.name, language) for one in sets for language in one.by_language()]
    if len(set(languages)) == len(languages) and all(own is not None or counts[name] == 1 for name, own in languages):
        return [(one.name, one) for one in sets]
    for form in ("{name}, {file}", "{folder}/{name}"):
        names = [
            form.format(name=one.name, file=make_label(one.path), folder=one.path.absolute().parent.name)
            if counts[one.name] > 1 and one.path is not None
            else one.name
            for one in sets
        ]
        if len(set(names)) == len(names):
            return list(zip(names, sets, strict=True))
    raise ParameterError(
        f"two sets of cases are named {next(name for name, n in counts.items() if n > 1)!r}",
        hint="give one another dataset_id, or its file another name",
        python="or give a dict of name to cases",
    )


def _read(cases: object) -> Cases:
    if isinstance(cases, str | Path):
        return read_cases(cases)
    if not isinstance(cases, Cases):
        raise ParameterError(
            argument="cases",
            found=type(cases).__name__,
            allowed="Cases, a path, or several of them",
            hint="read_cases reads a file",
        )
    return cases
