"""The names of terms in other languages, in place of those of the ontology or beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from deadheat.benchmark.ontology.terms import Synonym, in_order
from deadheat.benchmark.ontology.translations import Translation, Translations
from deadheat.wording import counted

LABEL = "label"  # the type of a name that is a label too: that of another language, or a second one
ORIGINAL = ("fallback", "also", "none")


@dataclass(frozen=True, eq=False)
class Names:
    """What terms are called.

    Attributes
    ----------
    labels : tuple of str, shape (n_terms,)
        Empty where a term has no name.
    synonyms : tuple of tuple of Synonym, shape (n_terms,)
    languages : tuple of str
        The languages of the names, those of the tables first.
    notes : tuple of str
        How many terms have a name in each language, and what was left out.
    """

    labels: tuple[str, ...]
    synonyms: tuple[tuple[Synonym, ...], ...]
    languages: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())


def translated_names(
    ids: Sequence[str],
    labels: Sequence[str],
    synonyms: Sequence[tuple[Synonym, ...]],
    tables: Sequence[Translations],
    *,
    original: str,
    candidates: bool,
) -> Names:
    """Return the names that tables give to terms.

    Parameters
    ----------
    ids, labels, synonyms : sequence, shape (n_terms,)
        Of the ontology.
    tables : sequence of Translations
        The first that has a label for a term gives it its label; all others are synonyms.
    original : {"fallback", "also", "none"}
        Whether the ontology's own names stay: where no table has one, everywhere, or nowhere.
    candidates : bool
        Whether candidates count.
    """
    by_term = [table.by_term(candidates=candidates) for table in tables]
    names: list[tuple[str, tuple[Synonym, ...]]] = []
    n_own = n_bare = 0
    for term, label, own in zip(ids, labels, synonyms, strict=True):
        found = [row for table in by_term for row in table.get(term, ())]
        given = _named(found)
        if original == "also" or (original == "fallback" and not found):
            n_own += bool(label)
            given += [Synonym(label, "EXACT", LABEL)] * bool(label) + list(own)
        n_bare += not given
        head, *others = given or [Synonym("")]
        names.append((head.text, in_order(term, dict.fromkeys(one for one in others if one.text != head.text))))
    languages = [table.language for table in tables]
    if n_own:
        languages += [table.source_language for table in tables[:1] if table.source_language]
    notes = (*_notes(ids, tables, by_term, candidates=candidates), *_of_others(original, n_own, n_bare))
    return Names(
        tuple(label for label, _ in names), tuple(own for _, own in names), tuple(dict.fromkeys(languages)), notes
    )


def _named(rows: Sequence[Translation]) -> list[Synonym]:
    """Return the texts of a term, labels first; a second label is one more name of it."""
    ordered = sorted(rows, key=lambda row: row.scope != "LABEL")
    return [
        Synonym(row.text, "EXACT", LABEL) if row.scope == "LABEL" else Synonym(row.text, row.scope, row.kind)
        for row in ordered
    ]


def _notes(
    ids: Sequence[str],
    tables: Sequence[Translations],
    by_term: Sequence[dict[str, list[Translation]]],
    *,
    candidates: bool,
) -> Iterator[str]:
    """Say of each table how many terms it names, and which rows were not used."""
    known = set(ids)
    for table, found in zip(tables, by_term, strict=True):
        own = [rows for term, rows in found.items() if term in known]
        labels = [sum(row.scope == "LABEL" for row in rows) for rows in own]
        several = sum(n > 1 for n in labels)
        n_candidates = 0 if candidates else sum(row.is_candidate for row in table.rows)
        n_unknown = len({row.term for row in table.rows} - known)
        told = [
            f"{len(own):,} of {counted(len(ids), 'term')} have a name in it",
            f"{several:,} of them several labels, all of which count" if several else "",
            f"{counted(n_candidates, 'candidate')} left out" if n_candidates else "",
            f"{counted(n_unknown, 'id')} not of this release" if n_unknown else "",
        ]
        yield f"{table.path.name} ({table.language}): {'; '.join(filter(None, told))}"


def _of_others(original: str, n_own: int, n_bare: int) -> Iterator[str]:
    """Say what became of the terms without a translation."""
    if original == "fallback" and n_own:
        keep = "keeps" if n_own == 1 else "keep"
        yield f"{counted(n_own, 'term')} without a translation {keep} the names of the ontology"
    if n_bare:
        yield f"{counted(n_bare, 'term')} without a translation {'is' if n_bare == 1 else 'are'} left out"
