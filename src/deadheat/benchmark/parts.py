"""Parts of a benchmark: the cases of one set in one language. Parts are never mixed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from deadheat.benchmark.cases import Cases, folded, read_cases
from deadheat.benchmark.collection import Collection, hash_of
from deadheat.benchmark.ontology import Ontology
from deadheat.data.tables import label_of
from deadheat.errors import ColumnError, DataError, ParameterError
from deadheat.evaluation.strata import NONE, names_of
from deadheat.stats.joining import joined_groups
from deadheat.wording import Plain, counted, did_you_mean, joined, three

STRATA = ("difficulty", "category", "domain")
EXPECTED = "expected_ids"
COLUMNS = (EXPECTED, "text", *STRATA)


@dataclass(frozen=True)
class Part:
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
        if isinstance(column, Mapping):
            lacking = [case.case_id for case in self.cases if case.case_id not in column]
            if lacking:
                problem = f"must name the cluster of every case; {len(lacking)} have none, such as {lacking[0]!r}"
                raise ParameterError(problem, argument="cluster")
            return {case.case_id: column[case.case_id] for case in self.cases}
        if column == EXPECTED:
            return dict(zip((case.case_id for case in self.cases), self._shared(), strict=True))
        labels = {case.case_id: getattr(case, "folded_text" if column == "text" else column) for case in self.cases}
        lacking = [case_id for case_id, label in labels.items() if label is None]
        if lacking:
            hint = f"{len(lacking)} of {counted(len(labels), 'case')} have no {column}, such as {lacking[0]!r}"
            allowed = "a column that every case has"
            raise ColumnError(argument="cluster", given=column, allowed=allowed, hint=hint, path=str(self))
        return labels

    @property
    def n_independent(self) -> int:
        """Number of groups of cases that share no expected id."""
        return len(set(self._shared()))

    def _shared(self) -> list[int]:
        """Return a number for each case, the same for those that share an expected id."""
        return joined_groups([case.expected_ids for case in self.cases])


def check_cluster(column: object) -> None:
    """Raise `ParameterError` if cases cannot be grouped by it."""
    if column is None or isinstance(column, Mapping) or column in COLUMNS:
        return
    python = "or a dict of case id to cluster"
    raise ParameterError(argument="cluster", given=column, allowed=COLUMNS, python=python)


def check_by(columns: str | Sequence[str], parts: Iterable[Part]) -> tuple[str, ...]:
    """Return the columns of strata; raise `ParameterError` if no case has a label in one."""
    names, held = names_of(columns), sorted({name for part in parts for name in part.strata})
    for name in names:
        if name == "language":
            hint = "each language is reported by itself"
            raise ParameterError("must be another column", argument="by", given=name, hint=hint)
        if name not in held:
            has = f"those that have labels are {', '.join(map(repr, held))}" if held else "no case has labels"
            hint = joined(f"{has}.", did_you_mean(name, held))
            raise ParameterError(f"no case has a {name!r}", hint=hint)
    return tuple(names)


def parts_of(cases: object, limit: int | None) -> tuple[Part, ...]:
    """Return the parts of case sets.

    Parameters
    ----------
    cases : Cases, path, sequence of them, or mapping of name to one
    limit : int or None
        Cases of each language of each set: the first ones.
    """
    found = [
        Part(name, NONE if language is None else language, of_language if limit is None else of_language.limit(limit))
        for name, of_set in _named(cases)
        for language, of_language in of_set.by_language().items()
    ]
    if not found:
        raise ParameterError("is empty", hint="give at least one set of cases, or the path of one", argument="cases")
    return tuple(found)


def split_cells(parts: Sequence[Part], documents: Collection) -> tuple[tuple[Part, ...], list[str]]:
    """Return the parts with cells such as ``D1;D2`` as several ids, where all are documents, and notes on them."""
    held = set(documents.ids)
    found = [(part, *part.cases.split(held)) for part in parts]
    notes = [
        f"{part}: {counted(len(cells), 'cell')} with ; or , in place of | read as several ids: {three(cells)}"
        for part, _, cells in found
        if cells
    ]
    return tuple(replace(part, cases=cases) for part, cases, _ in found), notes


def check_expected(parts: Sequence[Part], documents: Collection, ontology: Ontology | None) -> Iterator[str]:
    """Yield notes on expected ids that collection or ontology lack; raise if the collection lacks all of a part."""
    held = set(documents.ids)
    for part in parts:
        expected = sorted({one for case in part.cases for one in case.expected_ids})
        if expected and held.isdisjoint(expected):
            first = ", ".join(documents.ids[:3])
            raise DataError(
                f"none of the {len(expected)} expected ids of {part} is in {documents.name}: it expects "
                f"{three(expected)}; the documents are {first}, ...",
                hint="Are they of the same collection, and are the ids written alike?",
            )
        alike: dict[tuple[str, str], list[str]] = {}  # an id that both lack is named once
        for one in expected:
            found = list(_lacks(one, held, documents.name, ontology))
            if found:
                where, effects = (" and ".join(texts) for texts in zip(*found, strict=True))
                status = "" if ontology is None else ontology.status(one)
                alike.setdefault((where, effects), []).append(f"{one!r}{status and f' ({status})'}")
        for (where, effects), ids in alike.items():
            yield f"{part}: {len(ids)} of {len(expected)} expected ids are {where}; {effects}: {three(ids)}"


def _lacks(expected: str, held: set[str], name: str, ontology: Ontology | None) -> Iterator[tuple[str, str]]:
    """Yield where an expected id is missing, and what follows from that."""
    if expected not in held:
        yield f"not in {name}", "no search finds them"
    if ontology is not None and expected not in ontology:
        yield "no terms of the ontology", "their similarity to everything is 0"


def count_verbatim(part: Part, documents: Collection) -> int:
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
    if isinstance(cases, Mapping):
        return [(str(name), _read(one)) for name, one in cases.items()]
    several = list(cases) if isinstance(cases, list | tuple) else [cases]
    sets = [_read(one) for one in several]
    plain = [one.name for one in sets]
    if _are_languages_of_sets(sets):
        return list(zip(plain, sets, strict=True))
    for name_of in (_by_file, _by_folder):
        names = [name_of(one) if plain.count(one.name) > 1 else one.name for one in sets]
        if len(set(names)) == len(names):
            return list(zip(names, sets, strict=True))
    twice = next(name for name in plain if plain.count(name) > 1)
    hint = "give one another dataset_id, or its file another name"
    raise ParameterError(f"two sets of cases are named {twice!r}", hint=hint, python="or give a dict of name to cases")


def _are_languages_of_sets(sets: Sequence[Cases]) -> bool:
    """Return whether files of one name have different languages: the languages of one set."""
    found = [(one.name, language) for one in sets for language in one.by_language()]
    return len(set(found)) == len(found) and all(
        language is not None or sum(name == other.name for other in sets) == 1 for name, language in found
    )


def _by_file(cases: Cases) -> str:
    """Return the name of a set with that of its file, for sets that call themselves the same."""
    return cases.name if cases.path is None else f"{cases.name}, {label_of(cases.path)}"


def _by_folder(cases: Cases) -> str:
    """Return the name of a set with that of its folder, for sets whose files are called the same."""
    return cases.name if cases.path is None else f"{cases.path.absolute().parent.name}/{cases.name}"


def _read(cases: object) -> Cases:
    if isinstance(cases, Cases):
        return cases
    if isinstance(cases, str | Path):
        return read_cases(cases)
    raise ParameterError(
        argument="cases",
        given=Plain(type(cases).__name__),
        allowed="Cases, a path, or several of them",
        hint="read_cases reads a file",
    )
