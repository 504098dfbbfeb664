"""Families: parts of a benchmark that ask for the same in several languages, case by case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from deadheat.benchmark.parts import EXPECTED, Part
from deadheat.evaluation.strata import NONE


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
        found: dict[str, set[frozenset[str]]] = {}
        for part in self.parts.values():
            for case in part.cases:
                if case.pair_id is not None:
                    found.setdefault(case.pair_id, set()).add(frozenset(case.expected_ids))
        return tuple(sorted(pair for pair, expected in found.items() if len(expected) > 1))

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
        for language, part in self.parts.items():
            pairs = self.pairs[language]
            if column == EXPECTED:
                held = {pairs[case.case_id]: case.expected_ids for case in part.cases if case.case_id in pairs}
            else:
                own = part.clusters(column) or {}
                held = {pair: (str(own[case_id]),) for case_id, pair in pairs.items()}
            found[language] = {**held}
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
            names = " and ".join(dict.fromkeys(part.name for part in paired))
            found.append(Family(names, {part.language: part for part in paired}))
    inside = {id(part) for family in found for part in family.parts.values()}
    alone = [str(part) for part in parts if part.language != NONE and id(part) not in inside]
    if len({part.language for part in parts if part.language != NONE}) < 2 or not alone:
        return tuple(found), ""
    text = (
        f"{', '.join(alone)}: not paired with another language (no pair id that both have); a difference to it is one"
    )
    advice = "; cases that ask for the same are paired by a common pair_id" if _expect_alike(parts) else ""
    return tuple(found), f"{text} between cases too{advice}"


def _expect_alike(parts: Sequence[Part]) -> bool:
    """Tell whether at least half of the cases expect what those of another language expect, and lack a pair id."""
    languages: dict[frozenset[str], set[str]] = {}
    lacking = [
        (case, part.language) for part in parts for case in part.cases if case.pair_id is None and case.expected_ids
    ]
    for case, language in lacking:
        languages.setdefault(frozenset(case.expected_ids), set()).add(language)
    shared = sum(len(languages[frozenset(case.expected_ids)]) > 1 for case, _ in lacking)
    return shared > 0 and 2 * shared >= sum(len(part.cases) for part in parts)
