"""Parts of a benchmark, the cases of one set in one language, which are never mixed; and families of them.

A family are parts that ask for the same in several languages, case by case.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path

from deadheat.benchmark.cases import Cases, folded, read_cases
from deadheat.benchmark.collection import Collection, hash_of
from deadheat.benchmark.ontology import Ontology
from deadheat.data.tables import label_of
from deadheat.errors import (
    ColumnError,
    DataError,
    ParameterError,
    Plain,
    collected,
    counted,
    did_you_mean,
    joined,
    three,
)
from deadheat.evaluation.strata import NONE, names_of
from deadheat.stats.units import joined_groups

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
    def key(self) -> tuple[str, str]:
        """The names of set and language."""
        return self.name, self.language

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
        ids = [case.case_id for case in self.cases]
        if column is None:
            return None
        if column == EXPECTED:
            return dict(zip(ids, self.shared(), strict=True))
        if isinstance(column, Mapping):
            if lacking := [one for one in ids if one not in column]:
                raise ParameterError(
                    f"must name the cluster of every case; {len(lacking)} have none, such as {lacking[0]!r}",
                    argument="cluster",
                )
            return {one: column[one] for one in ids}
        labels = {case.case_id: getattr(case, "folded_text" if column == "text" else column) for case in self.cases}
        if lacking := [one for one, label in labels.items() if label is None]:
            raise ColumnError(
                argument="cluster",
                given=column,
                allowed="a column that every case has",
                hint=f"{len(lacking)} of {counted(len(labels), 'case')} have no {column}, such as {lacking[0]!r}",
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
    parts : dict of str to Part
        By language.
    """

    name: str
    parts: Mapping[str, Part]

    @property
    def pairs(self) -> dict[str, dict[str, str]]:
        """By language, the pair id of each case that has one."""
        return {
            language: {case.case_id: case.pair_id for case in part.cases if case.pair_id is not None}
            for language, part in self.parts.items()
        }

    @property
    def unlike(self) -> tuple[str, ...]:
        """The pair ids whose cases expect other ids in one language than in another."""
        found = collected(
            (case.pair_id, frozenset(case.expected_ids))
            for part in self.parts.values()
            for case in part.cases
            if case.pair_id is not None
        )
        return tuple(sorted(pair for pair, expected in found.items() if len(set(expected)) > 1))

    def covers(self, parts: Iterable[Part]) -> bool:
        """Return whether these parts are its own, and each case of one has one in every other."""
        ids = [{case.pair_id for case in part.cases} for part in self.parts.values()]
        is_same = {id(part) for part in parts} == {id(part) for part in self.parts.values()}
        return is_same and all(own == ids[0] and None not in own for own in ids)

    def labels(self, column: str | Mapping[str, object] | None) -> dict[str, dict[str, tuple[Hashable, ...]]] | None:
        """Return, by language, what the case of each pair id shares with others; None without clusters."""
        if column is None:
            return None
        found: dict[str, dict[str, tuple[Hashable, ...]]] = {}
        for language, pairs in self.pairs.items():
            part = self.parts[language]
            if column == EXPECTED:
                own: dict[str, tuple[Hashable, ...]] = {case.case_id: case.expected_ids for case in part.cases}
            else:
                own = {one: (str(label),) for one, label in (part.clusters(column) or {}).items()}
            found[language] = {pair: own[one] for one, pair in pairs.items()}
        return found


def families_of(parts: Sequence[Part]) -> tuple[tuple[Family, ...], str]:
    """Return the families among parts, and what to know of the languages that are not paired.

    Parts of one name belong together, and those of other names if each language is there once: a language that is there
    twice would have to be chosen. A language that shares no pair id with another is not paired.
    """
    able = [part for part in parts if part.language != NONE and any(case.pair_id is not None for case in part.cases)]
    counts = Counter(part.name for part in able)
    groups = [[part for part in able if part.name == name] for name, n in counts.items() if n > 1]
    others = [part for part in able if counts[part.name] == 1]
    if len({part.language for part in others}) == len(others) > 1:
        groups.append(others)
    found = []
    for group in groups:
        ids = Counter(case.pair_id for part in group for case in part.cases if case.pair_id is not None)
        shared = {one for one, n in ids.items() if n > 1}
        paired = [part for part in group if any(case.pair_id in shared for case in part.cases)]
        if len(paired) > 1:
            found.append(
                Family(
                    " and ".join(dict.fromkeys(part.name for part in paired)), {part.language: part for part in paired}
                )
            )
    inside = {id(part) for family in found for part in family.parts.values()}
    named = [part for part in parts if part.language != NONE]
    alone = ", ".join(str(part) for part in named if id(part) not in inside)
    if len({part.language for part in named}) < 2 or not alone:
        return tuple(found), ""
    # cases that expect what those of another language expect, and lack a pair id
    lacking = [
        (part.language, frozenset(case.expected_ids)) for part in parts for case in part.cases if case.pair_id is None
    ]
    languages = Counter(expected for _, expected in set(lacking) if expected)
    n_alike = sum(languages[expected] > 1 for _, expected in lacking)
    is_common = n_alike > 0 and 2 * n_alike >= sum(len(part.cases) for part in parts)
    text = f"{alone}: not paired with another language (no pair id that both have); a difference to it is one between"
    advice = "; cases that ask for the same are paired by a common pair_id" * is_common
    return tuple(found), f"{text} cases too{advice}"


def check_cluster(column: object) -> None:
    """Raise `ParameterError` if cases cannot be grouped by it."""
    if not (column is None or isinstance(column, Mapping) or column in COLUMNS):
        raise ParameterError(
            argument="cluster", given=column, allowed=COLUMNS, python="or a dict of case id to cluster"
        )


def check_by(columns: str | Sequence[str], parts: Iterable[Part]) -> tuple[str, ...]:
    """Return the columns of strata, none if there are none; raise `ParameterError` if no case has a label in one."""
    names = names_of(columns) if columns else []
    held = sorted({name for part in parts for name in part.strata})
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
        f"{part}: {counted(len(cells), 'cell')} with another sign than | read as several ids: {three(cells)}"
        for part, _, cells in found
        if cells
    ]
    return tuple(replace(part, cases=cases) for part, cases, _ in found), notes


def labelled(parts: tuple[Part, ...], ontology: Ontology | None) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """Return the parts with domains and categories from an ontology where cases have none, and what was assumed."""
    notes = list(dict.fromkeys(note for part in parts for note in part.cases.notes))
    if ontology is None:
        return parts, tuple(notes)
    found = tuple(replace(part, cases=part.cases.labelled(ontology)) for part in parts)
    for part, own in zip(parts, found, strict=True):
        pairs = list(zip(part.cases, own.cases, strict=True))
        counts = {name: sum(getattr(a, name) != getattr(b, name) for a, b in pairs) for name in ("domain", "category")}
        told = [f"{name} of {counted(n, 'case')}" for name, n in counts.items() if n]
        notes += [f"{part}: {' and '.join(told)} from the ontology, as the file has none"] if told else []
    return found, tuple(notes)


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
        alike: dict[tuple[bool, bool], list[str]] = {}  # an id that both lack is named once
        for one in expected:
            status = ontology.status(one) if ontology is not None else ""
            lacking = one not in held, ontology is not None and one not in ontology
            alike.setdefault(lacking, []).append(f"{one!r}{status and f' ({status})'}")
        alike.pop((False, False), None)
        texts = f"not in {documents.name}", "no terms of the ontology"
        effects = "no search finds them", "their similarity to everything is 0"
        for lacking, ids in alike.items():
            where, effect = (" and ".join(compress(said, lacking)) for said in (texts, effects))
            yield f"{part}: {len(ids)} of {len(expected)} expected ids are {where}; {effect}: {three(ids)}"


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
    """Return sets with their names: those of one name are the languages of one set, or get that of file or folder."""
    if isinstance(cases, Mapping):
        return [(str(name), _read(one)) for name, one in cases.items()]
    sets = [_read(one) for one in (cases if isinstance(cases, list | tuple) else [cases])]
    counts = Counter(one.name for one in sets)
    languages = [(one.name, language) for one in sets for language in one.by_language()]
    if len(set(languages)) == len(languages) and all(own is not None or counts[name] == 1 for name, own in languages):
        return [(one.name, one) for one in sets]

    def name_of(one: Cases, *, by_folder: bool) -> str:
        if counts[one.name] == 1 or one.path is None:
            return one.name
        return f"{one.path.absolute().parent.name}/{one.name}" if by_folder else f"{one.name}, {label_of(one.path)}"

    for by_folder in (False, True):
        names = [name_of(one, by_folder=by_folder) for one in sets]
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
            given=Plain(type(cases).__name__),
            allowed="Cases, a path, or several of them",
            hint="read_cases reads a file",
        )
    return cases
