"""Terms with labels and synonyms, and how similar they are on the is_a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Self

from deadheat.arguments import check_choice
from deadheat.arrays import FloatArray
from deadheat.benchmark.ontology import terms
from deadheat.benchmark.ontology.graph import Graph, build
from deadheat.benchmark.ontology.information import checked, intrinsic
from deadheat.benchmark.ontology.kinds import KINDS
from deadheat.benchmark.ontology.terms import Synonym
from deadheat.errors import ParameterError


@dataclass(frozen=True, eq=False, repr=False)
class Terms:
    """Terms, their is_a graph, and how similar they are by it.

    Attributes
    ----------
    ids : tuple of str
        The terms that are not obsolete, sorted by code point: the same for every format of an ontology.
    labels : tuple of str
        Their names, aligned with `ids`; empty where a term has none.
    synonyms : tuple of tuple of Synonym
        Aligned with `ids`; sorted by scope, text and kind.
    parents : tuple of tuple of int
        Indices of the direct is_a parents, aligned with `ids`. Other relations are not used.
    obsolete : dict of str to tuple of str
        Obsolete terms, each with the ids that replace it or are to be considered instead (perhaps none).
    alternatives : dict of str to str
        Further ids of a term, such as those of terms that were merged into it, each with the term's id in `ids`.
    version : str or None
    path : pathlib.Path or None
    graph : Graph
    """

    ids: tuple[str, ...]
    labels: tuple[str, ...]
    synonyms: tuple[tuple[Synonym, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    obsolete: Mapping[str, tuple[str, ...]]
    alternatives: Mapping[str, str]
    version: str | None
    path: Path | None
    graph: Graph
    given_information: FloatArray | None = None

    @classmethod
    def from_parents(
        cls,
        parents: Mapping[str, Iterable[str]],
        *,
        labels: Mapping[str, str] | None = None,
        synonyms: Mapping[str, Iterable[Synonym]] | None = None,
        obsolete: Mapping[str, Iterable[str]] | None = None,
        alternatives: Mapping[str, str] | None = None,
        version: str | None = None,
        path: Path | None = None,
    ) -> Self:
        """Build an ontology from the parents of each term.

        Parameters
        ----------
        parents : mapping of str to iterable of str
            Every term with its direct parents; a root has none.
        labels, synonyms, obsolete, alternatives : mapping, optional
            By id, as the attributes.
        version : str, optional
        path : pathlib.Path, optional
            Where it comes from, for messages.

        Returns
        -------
        Ontology

        Raises
        ------
        DataError
            No term, a parent that is not a term, or a cycle.
        """
        ids = terms.ids_of(parents, path)
        own = terms.indices(ids, parents, path)
        labels, synonyms = labels or {}, synonyms or {}
        return cls(
            ids=ids,
            labels=tuple(labels.get(term) or "" for term in ids),
            synonyms=tuple(terms.in_order(term, synonyms.get(term, ())) for term in ids),
            parents=own,
            obsolete={
                term: terms.listed(f"what replaces {term!r}", "ids", instead)
                for term, instead in (obsolete or {}).items()
            },
            alternatives={other: term for other, term in (alternatives or {}).items() if other not in parents},
            version=version,
            path=path,
            graph=build(ids, own, path),
        )

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, term: object) -> bool:
        return term in self._index

    def __repr__(self) -> str:
        name = " ".join(part for part in (self.path.name if self.path else "", self.version or "") if part)
        return f"<{type(self).__name__} {name + ': ' if name else ''}{len(self):,} terms>"

    def index(self, term: str) -> int:
        """Return the index of a term in `ids`, or raise `ParameterError` with its status."""
        found = self._index.get(term)
        if found is not None:
            return found
        status = self.status(term)
        hint = f"it {status}" if status else terms.near_id(str(term), self.ids, self.labels)
        raise ParameterError(f"{term!r} is not a term of {self!r}", hint=hint)

    def status(self, term: str) -> str:
        """Return in words why an id is not a current term: obsolete or merged; empty if it is unknown.

        Examples
        --------
        >>> Terms.from_parents({"A": []}, obsolete={"B": ["A"]}).status("B")
        "is obsolete: use 'A'"
        """
        if term in self.alternatives:
            return f"is an alternative id: use {self.alternatives[term]!r}"
        if term in self.obsolete:
            instead = " or ".join(map(repr, self.obsolete[term]))
            return f"is obsolete: use {instead}" if instead else "is obsolete, without a replacement"
        return ""

    @property
    def information_content(self) -> FloatArray:
        """The information content of each term, of shape (n_terms,): the intrinsic one unless another was given."""
        return self._intrinsic if self.given_information is None else self.given_information

    def with_information_content(self, information_content: Mapping[str, float] | None) -> Self:
        r"""Return the ontology with another information content, for instance from annotations: -log(frequency).

        Parameters
        ----------
        information_content : mapping of str to float, or None
            A finite value of 0 or more for every term, and for nothing else; no term has less than its parent.
            None brings back the intrinsic one of Seco, Veale and Hayes 2004,
            https://dl.acm.org/doi/10.5555/3000001.3000272:
            :math:`1 - \log(\text{descendants, itself included}) / \log(\text{terms})`.

        Returns
        -------
        Ontology

        Examples
        --------
        >>> pair = Terms.from_parents({"A": [], "B": ["A"]}).with_information_content({"A": 0, "B": 2.5})
        >>> pair.similarity("B", "B", kind="resnik")
        2.5
        """
        if information_content is None:
            return replace(self, given_information=None)
        return replace(self, given_information=checked(information_content, self.ids, self.graph))

    def similarity(self, term: str, other: str, kind: str = "lin") -> float:
        """Return how similar two terms are.

        Parameters
        ----------
        term, other : str
            Ids.
        kind : str, default "lin"
            As for :meth:`similarities`.

        Returns
        -------
        float
        """
        place = self.index(other)
        return float(self.similarities(term, kind)[place])

    def similarities(self, term: str, kind: str = "lin") -> FloatArray:
        """Return how similar every term is to a given one.

        ====================== ======================================================= ======= ==================
        kind                   of terms a and b with a common ancestor c               range   of a with itself
        ====================== ======================================================= ======= ==================
        ``lin``                2 IC(c) / (IC(a) + IC(b))                               0 to 1  1, and only there
        ``resnik``             IC(c)                                                   0 to 1  IC(a)
        ``jiang_conrath``      1 - (IC(a) + IC(b) - 2 IC(c)) / (2 max IC)              0 to 1  1, and only there
        ``wu_palmer``          2 d(c) / (d(a) + d(b)), d: terms on the longest path    0 to 1  1, and only there
        ``path``               1 / (1 + edges on the shortest path via an ancestor)     0 to 1  1, and only there
        ``simple_resnik_like`` depth(c) / D, depth: edges on the shortest path         0 to 1  1
        ``hybrid``             0.7 depth(c) / D + 0.3 (1 - p / (depth(a) + depth(b)))  0 to 1  1
        ====================== ======================================================= ======= ==================

        IC is the information content; one that was given may exceed 1 (so then may ``resnik``), and may be the same
        for parent and child (which then have 1 by ``jiang_conrath``, and by ``lin`` if it is above 0). c is the common
        ancestor with the most information, or the deepest. Terms without a common ancestor have 0, of every kind.

        ``simple_resnik_like`` and ``hybrid`` are phentrieve's formulas, kept exactly as published for comparison with
        its numbers; D is the largest depth, p = depth(a) + depth(b) - 2 depth(c). ``hybrid`` is 1.0 if p <= 0, and as
        depth by the shortest path is not monotone, **some different terms get 1.0**; use ``lin`` for anything else.
        Formulas with references: the functions of ``deadheat.benchmark.ontology.KINDS``.

        Parameters
        ----------
        term : str
            Id.
        kind : str, default "lin"

        Returns
        -------
        ndarray of shape (n_terms,)
            Aligned with `ids`.
        """
        check_choice("kind", kind, KINDS)
        return self.similarities_at(self.index(term), kind)

    def similarities_at(self, index: int, kind: str = "lin") -> FloatArray:
        """Return the same for a term given by its index in `ids`, unchecked."""
        return KINDS[kind](self.graph, self.information_content, index)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {term: place for place, term in enumerate(self.ids)}

    @cached_property
    def _intrinsic(self) -> FloatArray:
        return intrinsic(self.graph)
