"""Sets of cases in numbers: how many, what they expect, and how often they repeat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deadheat.arguments import check_choice
from deadheat.benchmark.cases.model import LABELS, Case, Cases
from deadheat.errors import DataError

ALL = "all"


@dataclass(frozen=True)
class Part:
    """The cases of a set that share a label.

    Attributes
    ----------
    by : str
        The label, such as ``"difficulty"``; ``"all"`` for the whole set.
    value : str or None
        What it is; None for the cases that lack it, and for the whole set.
    n_cases : int
    n_ids : int
        Expected ids, of all cases together.
    n_distinct_ids : int
        Distinct ones among them; where they are fewer, cases are not independent.
    n_repeated_texts : int
        Cases whose text an earlier case of the same language has.
    """

    by: str
    value: str | None
    n_cases: int
    n_ids: int
    n_distinct_ids: int
    n_repeated_texts: int

    @property
    def ids_per_case(self) -> float:
        """Expected ids of a case, on average."""
        return self.n_ids / self.n_cases


def summarise(cases: Cases, by: Sequence[str] = LABELS) -> tuple[Part, ...]:
    """Return the whole set in numbers, then its parts by each label: the largest first, cases without it last.

    Examples
    --------
    >>> from deadheat.benchmark.cases import Case, Cases
    >>> cases = Cases("mine", {}, (Case("a", "fits", ("HP:0001250",), (1.0,)),))
    >>> [(part.by, part.value, part.n_cases) for part in summarise(cases, ["language"])]
    [('all', None, 1), ('language', None, 1)]
    """
    for label in by:
        check_choice("by", label, LABELS)
    if not cases:
        raise DataError("no case to summarise", allowed="at least one", path=cases.path or cases.name)
    parts = [_part(ALL, None, cases.cases)]
    for label in dict.fromkeys(by):
        groups: dict[str | None, list[Case]] = {}
        for case in cases:
            groups.setdefault(getattr(case, label), []).append(case)
        ordered = sorted(groups.items(), key=lambda group: (group[0] is None, -len(group[1]), group[0] or ""))
        parts += [_part(label, value, group) for value, group in ordered]
    return tuple(parts)


def _part(by: str, value: str | None, cases: Sequence[Case]) -> Part:
    ids = [term for case in cases for term in case.expected_ids]
    texts = {(case.folded_text, case.language) for case in cases}
    return Part(by, value, len(cases), len(ids), len(set(ids)), len(cases) - len(texts))
