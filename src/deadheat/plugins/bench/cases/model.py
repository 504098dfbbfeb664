"""Labelled cases: texts with the ids that a search for each of them should find."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import polars as pl

from deadheat.core.checks import as_count
from deadheat.core.data.qrels import Qrels
from deadheat.core.errors import CasesError
from deadheat.core.io.records import as_text
from deadheat.core.structures import group_values
from deadheat.core.wording import escape_invisible, format_count
from deadheat.plugins.bench.cases.texts import are_written_alike, folded, is_grade
from deadheat.plugins.bench.ontology import LABEL, Ontology, Synonym

LABELS = ("language", "difficulty", "category", "domain")
_BETWEEN = re.compile(r"\s*[;,\n]\s*|\s+/\s+")  # ids in a cell, in the place of |
SMALL = 50  # cases: fewer are for a quick look


@dataclass(frozen=True)
class Case:
    """A text and what a search for it should find.

    Attributes
    ----------
    case_id : str
    text : str
        What is searched for.
    description : str
        A remark, such as the text in English; empty if there is none.
    expected_ids : tuple of str
        The documents to find; none if the collection has none for it.
    relevance : tuple of float, shape (n_expected_ids,)
        The grade of each of them, positive; 1 if the case gives none.
    language, difficulty, category, domain : str or None
    pair_id : str or None
        What cases of several languages share that ask for the same: they are compared one by one.
    line : int or None
        The line of the file on which it begins.

    Raises
    ------
    CasesError
        An id is expected twice, or the grades are not one positive number for each id.
    """

    case_id: str
    text: str
    expected_ids: tuple[str, ...]
    relevance: tuple[float, ...]
    description: str = ""
    language: str | None = None
    difficulty: str | None = None
    category: str | None = None
    domain: str | None = None
    pair_id: str | None = None
    line: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        ids, grades = self.expected_ids, self.relevance
        if isinstance(cast("object", ids), str):
            raise self._error(f"expected_ids must be several ids, got the text {ids!r}: write ({ids!r},)")
        if len(set(ids)) < len(ids):
            [(twice, n)] = Counter(ids).most_common(1)
            raise self._error(f"expected id {twice!r} appears {n} times, expected once")
        if len(grades) != len(ids):
            raise self._error(f"relevance must have a grade for each of the {len(ids)} expected ids, got {len(grades)}")
        if not all(map(is_grade, grades)):
            raise self._error(f"each grade of relevance must be a positive number, got {grades!r}")

    def _error(self, problem: str) -> CasesError:
        return CasesError(f"case {self.case_id!r}: {problem}")

    @property
    def folded_text(self) -> str:
        """The text with case and whitespace normalised, to recognise it in another case."""
        return folded(self.text)


@dataclass(frozen=True, repr=False)
class Cases:
    """Labelled cases, in the order of their file.

    Attributes
    ----------
    name : str
        The dataset_id of the metadata, or else the name of the file.
    metadata : mapping
        What the file says about itself: dataset_id, version, language, description and anything else.
    cases : tuple of Case
    path : pathlib.Path or None
    has_cells : bool
        Whether they are from a table, where several ids in a cell may have another sign than ``|`` between them.
    notes : tuple of str
        What was assumed of them, as that their folder says their language.

    Raises
    ------
    CasesError
        Two cases have the same id, or two of one language the same pair_id.

    Examples
    --------
    >>> cases = Cases("mine", {}, (Case("a", "Krampfanfälle", ("HP:0001250",), (1.0,), language="de"),))
    >>> cases, cases.languages, cases.qrels().to_dict()
    (<Cases mine: 1 case, languages de>, ('de',), {'a': {'HP:0001250': 1.0}})
    """

    note_on_qrels: ClassVar[str] = "judgments are the expected ids of labelled cases"  # where they are read as qrels

    name: str
    metadata: Mapping[str, Any]
    cases: tuple[Case, ...]
    path: Path | None = None
    has_cells: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        named: list[tuple[str, str | None]] = [
            *((f"case_id {case.case_id!r}: give each an id of its own", "") for case in self.cases),
            *(
                (f"pair_id {one.pair_id!r}: one of each language may have it", one.language and f" in {one.language}")
                for one in self.cases
                if one.pair_id is not None
            ),
        ]
        for (what, of), n in Counter(named).items():
            if n > 1:
                raise CasesError(f"{n} cases of {self.name}{of or ''} have the {what}", path=self.path)

    def __len__(self) -> int:
        return len(self.cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)

    def __repr__(self) -> str:
        languages = f", languages {', '.join(self.languages)}" if self.languages else ""
        return escape_invisible(f"<Cases {self.name}: {format_count(len(self), 'case')}{languages}>")

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the cases, sorted; those without one add none."""
        return tuple(sorted({case.language for case in self if case.language is not None}))

    def split(self, known: Collection[str]) -> "tuple[Cases, list[str]]":
        """Return the cases with cells such as ``D1;D2`` as several ids, where each is a document, and these cells.

        Raises
        ------
        CasesError
            A cell seems to hold several ids, and some are no documents.

        Examples
        --------
        >>> cases = Cases("mine", {}, (Case("a", "owl", ("D1;D2",), (1.0,)),), has_cells=True)
        >>> cases.split({"D1", "D2"})[0].qrels().to_dict()
        {'a': {'D1': 1.0, 'D2': 1.0}}
        """
        if not self.has_cells:
            return self, []
        found: list[Case] = []
        cells: list[str] = []
        for case in self:
            pairs: list[tuple[str, float]] = []
            for one, grade in zip(case.expected_ids, case.relevance, strict=True):
                parts = _BETWEEN.split(one)
                n_known = sum(part in known for part in parts)
                if one in known or not (n_known or are_written_alike(parts)):
                    parts = [one]
                elif n_known == len(parts):
                    cells.append(one)
                else:
                    what = f"{one!r} is read as one id; if it is several, write {'|'.join(parts)!r}"
                    raise CasesError(f"case {case.case_id!r}: {what}", path=self.path, line=case.line)
                pairs += [(part, grade) for part in parts]
            ids, grades = (tuple(own) for own in zip(*pairs, strict=True)) if pairs else ((), ())
            found.append(replace(case, expected_ids=ids, relevance=grades))
        return replace(self, cases=tuple(found), has_cells=False), cells

    def labelled(self, ontology: Ontology) -> "Cases":
        """Return the cases with a domain and a category, where they have none and the ontology says one.

        The domain is the branch of the first expected id (:meth:`Ontology.branch_of`), the category what the text is to
        an expected id there, ignoring case and whitespace: "exact_match" (its label), or an exact synonym,
        "abbreviation", "layperson" or "synonym"; a text that is no name of one keeps none.
        """
        return replace(self, cases=tuple(_labelled(case, ontology) for case in self))

    def qrels(self) -> Qrels:
        """Return the expected ids as judgments, with the case as query."""
        cases, _ = self.split(())  # which refuses cells that seem to hold several ids
        return Qrels(
            {case.case_id: dict(zip(case.expected_ids, case.relevance, strict=True)) for case in cases}, name=self.name
        )

    def queries(self) -> pl.DataFrame:
        """Return a table of query_id, text, language, difficulty, category and domain; null where a case has none.

        And pair_id, if a case has one.
        """
        names = ["text", *LABELS, *["pair_id"] * any(case.pair_id is not None for case in self)]
        columns = {name: [getattr(case, name) for case in self] for name in ("case_id", *names)}
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)).rename({"case_id": "query_id"})

    def by_language(self) -> "dict[str | None, Cases]":
        """Return the cases of each language, in order of appearance; None for those without one."""
        return {
            language: replace(self, cases=tuple(case for case in self if case.language == language))
            for language in dict.fromkeys(case.language for case in self)
        }

    def limit(self, n: int) -> "Cases":
        """Return the first `n` cases, for a quick look."""
        return replace(self, cases=self.cases[: as_count("a limit of cases", n)])

    def repeated_texts(self) -> tuple[tuple[Case, ...], ...]:
        """Return the groups of cases with the same text and language, ignoring case and whitespace."""
        return tuple(
            tuple(group)
            for group in group_values(((case.folded_text, case.language), case) for case in self).values()
            if len(group) > 1
        )


def summarise(cases: Cases) -> list[dict[str, Any]]:
    """Return the whole set in numbers, then its parts by each label that it has: the largest first, cases without last.

    Returns
    -------
    list of dict
        by, the label ("all" for the whole set); value, what it is (None for the cases that lack it, and for the whole
        set); n_cases; n_ids, expected ids of all cases together; n_distinct_ids: where they are fewer than ids, cases
        are not independent; n_repeated_texts, cases whose text an earlier one of the same language has.

    Examples
    --------
    >>> from deadheat.plugins.bench.cases import Case, Cases
    >>> cases = Cases("mine", {}, (Case("a", "fits", ("HP:0001250",), (1.0,)),))
    >>> [(one["by"], one["value"], one["n_cases"]) for one in summarise(cases)]
    [('all', None, 1)]
    """
    found = []
    for label in ("all", *LABELS):
        groups = group_values((getattr(case, label, None), case) for case in cases)
        if label != "all" and not any(groups):
            continue
        for value, own in sorted(groups.items(), key=lambda group: (group[0] is None, -len(group[1]), group[0] or "")):
            ids = [term for case in own for term in case.expected_ids]
            found.append(
                {
                    "by": label,
                    "value": value,
                    "n_cases": len(own),
                    "n_ids": len(ids),
                    "n_distinct_ids": len(set(ids)),
                    "n_repeated_texts": len(own) - len({(case.folded_text, case.language) for case in own}),
                }
            )
    return found


def _labelled(case: Case, ontology: Ontology) -> Case:
    terms = [one for one in case.expected_ids if one in ontology]
    return replace(
        case,
        domain=case.domain or next(map(ontology.branch_of, terms), None) or None,
        category=case.category
        or next(filter(None, (_category(case, ontology, ontology.index(one)) for one in terms)), None),
    )


def _category(case: Case, ontology: Ontology, place: int) -> str:
    """Return what the text of a case is to a term, or an empty string."""
    names = [Synonym(ontology.labels[place], kind=LABEL), *ontology.synonyms[place]]
    kinds = {one.kind for one in names if one.scope == "EXACT" and folded(one.text) == case.folded_text}
    named = {LABEL: "exact_match", "abbreviation": "abbreviation", "layperson": "layperson"}
    return next((name for kind, name in named.items() if kind in kinds), "synonym" if kinds else "")


def label(value: object) -> str | None:
    """Return a label as `Queries` reads it: stripped text, or None."""
    return (as_text(value) or "").strip() or None
