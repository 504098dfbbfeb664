"""The cases of a benchmark by set and language: how they are grouped, named, and checked against the documents."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from deadheat.core.checks import name_items
from deadheat.core.data.sources import make_label
from deadheat.core.errors import ColumnError, DataError, ParameterError
from deadheat.core.evaluation.stratum import NONE, names_of
from deadheat.core.stats.joined_groups import joined_groups
from deadheat.core.wording import did_you_mean, format_count, format_list
from deadheat.plugins.bench.cases import Cases, folded, read_cases
from deadheat.plugins.bench.collection import Collection, hash_of
from deadheat.plugins.bench.ontology import Ontology

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
        if self.language == NONE:
            return self.name
        return f"{self.name} ({self.language})"

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
        return hash_of([[case.case_id, case.text, *case.expected_ids, *case.relevance] for case in self.cases])

    @property
    def strata(self) -> tuple[str, ...]:
        """The columns that some cases have labels in."""
        columns: list[str] = []
        for name in STRATA:
            if any(getattr(case, name) is not None for case in self.cases):
                columns.append(name)
        return tuple(columns)

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
            case_ids = [case.case_id for case in self.cases]
            return dict(zip(case_ids, self.shared(), strict=True))
        attribute = "folded_text" if column == "text" else column
        labels: dict[str, object] = {}
        for case in self.cases:
            if isinstance(attribute, Mapping):
                labels[case.case_id] = attribute.get(case.case_id)
            else:
                labels[case.case_id] = getattr(case, attribute)
        unlabelled = [case_id for case_id, label in labels.items() if label is None]
        if unlabelled:
            n_cases = format_count(len(labels), "case")
            raise ColumnError(
                argument="cluster",
                given=column,
                found="a mapping" if isinstance(column, Mapping) else None,
                allowed="a label that every case has",
                hint=f"{len(unlabelled)} of {n_cases} have none, such as {unlabelled[0]!r}",
                path=str(self),
            )
        return labels

    def shared(self) -> list[int]:
        """Return a number for each case, the same for those that share an expected id."""
        return joined_groups([case.expected_ids for case in self.cases])


def check_cluster(column: object) -> None:
    """Raise `ParameterError` if cases cannot be grouped by it."""
    if column is None or isinstance(column, Mapping) or column in COLUMNS:
        return
    raise ParameterError(argument="cluster", given=column, allowed=COLUMNS, python="or a dict of case id to cluster")


def check_by(columns: str | Sequence[str], parts: Iterable[CaseGroup]) -> tuple[str, ...]:
    """Return the columns of strata, none if there are none; raise `ParameterError` if no case has a label in one."""
    names = names_of(columns) if columns else []
    labelled_columns = sorted({name for part in parts for name in part.strata})
    for name in names:
        if name not in labelled_columns:
            allowed = f"a label that cases have ({', '.join(labelled_columns) or 'none has any'})"
            hint = did_you_mean(name, labelled_columns)
            raise ParameterError(argument="by", given=name, allowed=allowed, hint=hint)
    return tuple(names)


def split_into_parts(cases: object, limit: int | None) -> tuple[CaseGroup, ...]:
    """Return the parts of case sets.

    Parameters
    ----------
    cases : Cases, path, sequence of them, or mapping of name to one
    limit : int or None
        Cases of each language of each set: the first ones.
    """
    parts: list[CaseGroup] = []
    for name, case_set in _name_sets(cases):
        for language, cases_of_language in case_set.by_language().items():
            limited = cases_of_language if limit is None else cases_of_language.limit(limit)
            parts.append(CaseGroup(name, NONE if language is None else language, limited))
    if not parts:
        raise ParameterError("is empty", hint="give at least one set of cases, or the path of one", argument="cases")
    return tuple(parts)


def split_cells(parts: Sequence[CaseGroup], documents: Collection) -> tuple[tuple[CaseGroup, ...], list[str]]:
    """Return the parts with cells such as ``D1;D2`` as several ids, where all are documents, and notes on them."""
    known_ids = set(documents.ids)
    split_parts: list[CaseGroup] = []
    notes: list[str] = []
    for part in parts:
        cases, cells = part.cases.split(known_ids)
        split_parts.append(replace(part, cases=cases))
        if cells:
            n_cells = format_count(len(cells), "cell")
            notes.append(f"{part}: {n_cells} with another sign than | read as several ids: {format_list(cells)}")
    return tuple(split_parts), notes


def label_parts(
    parts: tuple[CaseGroup, ...], ontology: Ontology | None
) -> tuple[tuple[CaseGroup, ...], tuple[str, ...]]:
    """Return the parts with domains and categories from an ontology where cases have none, and what was assumed."""
    notes = list(dict.fromkeys(note for part in parts for note in part.cases.notes))
    if ontology is None:
        return parts, tuple(notes)
    labelled_parts: list[CaseGroup] = []
    for part in parts:
        labelled_part = replace(part, cases=part.cases.labelled(ontology))
        labelled_parts.append(labelled_part)
        changes: list[str] = []
        for column in ("domain", "category"):
            n_changed = _count_changed(part.cases, labelled_part.cases, column)
            if n_changed:
                changes.append(f"{column} of {format_count(n_changed, 'case')}")
        if changes:
            notes.append(f"{part}: {' and '.join(changes)} from the ontology, as the file has none")
    return tuple(labelled_parts), tuple(notes)


def _count_changed(cases: Cases, labelled_cases: Cases, column: str) -> int:
    """Count the cases that have another label than before."""
    n_changed = 0
    for case, labelled_case in zip(cases, labelled_cases, strict=True):
        if getattr(case, column) != getattr(labelled_case, column):
            n_changed += 1
    return n_changed


def check_expected(parts: Sequence[CaseGroup], documents: Collection, ontology: Ontology | None) -> Iterator[str]:
    """Yield notes on expected ids that collection or ontology lack; raise if the collection lacks all of a part."""
    known_ids = set(documents.ids)
    for part in parts:
        expected = sorted({doc_id for case in part.cases for doc_id in case.expected_ids})
        if expected and known_ids.isdisjoint(expected):
            raise DataError(
                f"none of the {len(expected)} expected ids of {part} is in {documents.name}: it expects "
                f"{format_list(expected)}; the documents are {', '.join(documents.ids[:3])}, ...",
                hint="Are they of the same collection, and are the ids written alike?",
            )
        terms: Container[str] = set(expected) if ontology is None else ontology
        # ids that both lack are named once
        ids_of_lack: dict[tuple[bool, bool], list[str]] = {}
        for doc_id in expected:
            lack = (doc_id not in known_ids, doc_id not in terms)
            if any(lack):
                ids_of_lack.setdefault(lack, []).append(doc_id)
        for (is_no_document, is_no_term), ids in ids_of_lack.items():
            places: list[str] = []
            effects: list[str] = []
            if is_no_document:
                places.append(f"not in {documents.name}")
                effects.append("no search finds them")
            if is_no_term:
                places.append("no terms of the ontology")
                effects.append("their similarity to everything is 0")
            names = [repr(doc_id) if ontology is None else ontology.named(doc_id) for doc_id in ids]
            yield (
                f"{part}: {len(ids)} of {len(expected)} expected ids are {' and '.join(places)};"
                f" {' and '.join(effects)}: {format_list(names)}"
            )


def count_verbatim(part: CaseGroup, documents: Collection) -> int:
    """Count the cases whose text is a text or synonym of an expected document, ignoring case and whitespace."""
    place_of = {doc_id: place for place, doc_id in enumerate(documents.ids)}
    n_verbatim = 0
    for case in part.cases:
        folded_texts: set[str] = set()
        for doc_id in case.expected_ids:
            place = place_of.get(doc_id)
            if place is not None:
                folded_texts.add(folded(documents.texts[place]))
                folded_texts.update(map(folded, documents.synonyms[place]))
        if case.folded_text in folded_texts:
            n_verbatim += 1
    return n_verbatim


def _name_sets(cases: object) -> list[tuple[str, Cases]]:
    """Return sets with their names: equal ones are languages of one set, or get that of file or folder too."""
    if isinstance(cases, Mapping):
        read_sets = ((name, _read(case_set)) for name, case_set in cases.items())
        return list(name_items(read_sets, what="sets of cases", hint="").items())
    sources = cases if isinstance(cases, list | tuple) else [cases]
    sets = [_read(source) for source in sources]
    counts = Counter(case_set.name for case_set in sets)
    if _are_languages_of_sets(sets, counts):
        return [(case_set.name, case_set) for case_set in sets]
    for form in ("{name}, {file}", "{folder}/{name}"):
        names = [_format_set_name(form, case_set, counts) for case_set in sets]
        if len(set(names)) == len(names):
            return list(zip(names, sets, strict=True))
    repeated_name = next(name for name, n_sets in counts.items() if n_sets > 1)
    raise ParameterError(
        f"two sets of cases are named {repeated_name!r}",
        hint="give one another dataset_id, or its file another name",
        python="or give a dict of name to cases",
    )


def _are_languages_of_sets(sets: Sequence[Cases], counts: Mapping[str, int]) -> bool:
    """Tell whether name and language tell all cases apart; sets of one name need a language each."""
    languages = [(case_set.name, language) for case_set in sets for language in case_set.by_language()]
    if len(set(languages)) < len(languages):
        return False
    return all(language is not None or counts[name] == 1 for name, language in languages)


def _format_set_name(form: str, case_set: Cases, counts: Mapping[str, int]) -> str:
    """Return the name of a set, with file or folder if others have the same name."""
    if counts[case_set.name] == 1 or case_set.path is None:
        return case_set.name
    folder = case_set.path.absolute().parent.name
    return form.format(name=case_set.name, file=make_label(case_set.path), folder=folder)


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
