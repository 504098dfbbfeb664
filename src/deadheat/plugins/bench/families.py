"""Parts of a benchmark in different languages whose cases are paired."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from deadheat.core.evaluation.stratum import NONE
from deadheat.core.structures import group_values
from deadheat.plugins.bench.case_groups import EXPECTED, CaseGroup


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
        pairs: dict[str, dict[str, str]] = {}
        for language, part in self.parts.items():
            pairs[language] = {case.case_id: case.pair_id for case in part.cases if case.pair_id is not None}
        return pairs

    @property
    def unlike(self) -> tuple[str, ...]:
        """The pair ids whose cases expect different ids in different languages."""
        expected_of: dict[str, set[frozenset[str]]] = {}
        for part in self.parts.values():
            for case in part.cases:
                if case.pair_id is not None:
                    expected_of.setdefault(case.pair_id, set()).add(frozenset(case.expected_ids))
        return tuple(sorted(pair_id for pair_id, expected in expected_of.items() if len(expected) > 1))

    def covers(self, parts: Iterable[CaseGroup]) -> bool:
        """Return whether these are exactly its parts, and each case has a counterpart in every other part."""
        if set(map(id, parts)) != set(map(id, self.parts.values())):
            return False
        first, *others = ({case.pair_id for case in part.cases} for part in self.parts.values())
        return None not in first and all(pair_ids == first for pair_ids in others)

    def labels(self, column: str | Mapping[str, object] | None) -> dict[str, dict[str, tuple[Hashable, ...]]] | None:
        """Return, by language, what the case of each pair id shares with others; None without clusters."""
        if column is None:
            return None
        labels: dict[str, dict[str, tuple[Hashable, ...]]] = {}
        for language, part in self.parts.items():
            clusters = part.clusters(column) or {}
            labels[language] = {}
            for case in part.cases:
                if case.pair_id is None:
                    continue
                if column == EXPECTED:
                    labels[language][case.pair_id] = case.expected_ids
                else:
                    labels[language][case.pair_id] = (str(clusters[case.case_id]),)
        return labels


def find_families(parts: Sequence[CaseGroup]) -> tuple[Family, ...]:
    """Return the families among parts.

    Parts of one name belong together. So do parts of different names if no language is there twice: nobody says which
    of the two would count. A language that shares no pair id with another is not paired.
    """
    families: list[Family] = []
    for group in _group_parts(parts):
        paired_parts = _select_paired(group)
        if len(paired_parts) > 1:
            name = " and ".join(dict.fromkeys(part.name for part in paired_parts))
            families.append(Family(name, {part.language: part for part in paired_parts}))
    return tuple(families)


def _group_parts(parts: Sequence[CaseGroup]) -> list[list[CaseGroup]]:
    """Return the groups of parts with pair ids that may be languages of the same cases."""
    pairable_parts: list[CaseGroup] = []
    for part in parts:
        if part.language != NONE and any(case.pair_id is not None for case in part.cases):
            pairable_parts.append(part)
    groups: list[list[CaseGroup]] = []
    single_parts: list[CaseGroup] = []
    for parts_of_name in group_values((part.name, part) for part in pairable_parts).values():
        if len(parts_of_name) > 1:
            groups.append(parts_of_name)
        else:
            single_parts += parts_of_name
    languages = {part.language for part in single_parts}
    if len(single_parts) > 1 and len(languages) == len(single_parts):
        groups.append(single_parts)
    return groups


def _select_paired(group: Sequence[CaseGroup]) -> list[CaseGroup]:
    """Return the parts of a group that share a pair id with another; an id is in a part at most once."""
    n_cases_of = Counter(case.pair_id for part in group for case in part.cases)
    paired_parts: list[CaseGroup] = []
    for part in group:
        if any(case.pair_id is not None and n_cases_of[case.pair_id] > 1 for case in part.cases):
            paired_parts.append(part)
    return paired_parts


def describe_unpaired(parts: Sequence[CaseGroup], families: Iterable[Family]) -> str:
    """Say which languages are not paired with another; empty if all are, or there is one language alone."""
    languages = {part.language for part in parts} - {NONE}
    if len(languages) < 2:
        return ""
    paired_keys = {part.key for family in families for part in family.parts.values()}
    unpaired = [str(part) for part in parts if part.language != NONE and part.key not in paired_keys]
    if not unpaired:
        return ""
    return (
        f"{', '.join(unpaired)}: not paired with another language (no pair id that both have); a difference to it is"
        " one between cases too; cases that ask for the same are paired by a common pair_id"
    )
