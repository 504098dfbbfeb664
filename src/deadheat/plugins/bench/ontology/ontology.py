"""Ontology: terms, how similar they are, and judgments made from that."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Self

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.checks import as_count, check_choice
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.errors import DataError, NoteWarning, ParameterError, SourceTypeError, UnknownExpectedWarning
from deadheat.core.wording import escape_invisible, format_list
from deadheat.plugins.bench.ontology.graph import KINDS, Graph, build, checked, intrinsic
from deadheat.plugins.bench.ontology.judging import UNKNOWN, Expected, best_of_random, codes_of, pairs_of, relevance_of
from deadheat.plugins.bench.ontology.names import Synonym, in_order, listed, near_id
from deadheat.plugins.bench.ontology.translations import ORIGINAL, Translations, read_translations, translated_names


@dataclass(frozen=True, eq=False, repr=False)
class Ontology:
    """Terms and their is_a graph. Made by `read_ontology`, or by :meth:`from_parents` without a file.

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
    information_content : ndarray of shape (n_terms,)
        Of each term: the intrinsic one unless another was given.
    languages : tuple of str
        Of the labels and synonyms, if they were translated; empty if nobody said.
    notes : tuple of str
        How many terms have a name in each language.

    Examples
    --------
    >>> animals = Ontology.from_parents({"animal": [], "bird": ["animal"], "owl": ["bird"], "wren": ["bird"]})
    >>> round(animals.similarity("owl", "wren"), 4)
    0.2075
    >>> animals.similarity("owl", "wren", kind="path") == 1 / (1 + 2)
    True
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
    information_content: FloatArray
    languages: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

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
        if not parents:
            raise DataError("an ontology needs at least one term that is not obsolete", found="none", path=path)
        terms: Iterable[object] = parents
        for wrong in (term for term in terms if not isinstance(term, str)):
            raise SourceTypeError("the id of a term must be text", found=f"{wrong!r} ({type(wrong).__name__})")
        ids = tuple(sorted(parents))
        place = {term: number for number, term in enumerate(ids)}
        own: list[tuple[int, ...]] = []
        for term in ids:
            direct = dict.fromkeys(listed(f"the parents of {term!r}", "ids", parents[term]))
            for unknown in (parent for parent in direct if parent not in place):
                raise DataError(
                    f"term {term!r} has the parent {unknown!r}, which is not a term",
                    hint=near_id(str(unknown), ids),
                    path=path,
                )
            own.append(tuple(sorted(place[parent] for parent in direct)))
        graph = build(ids, own, path)
        labels, synonyms = labels or {}, synonyms or {}
        return cls(
            ids=ids,
            labels=tuple(labels.get(term) or "" for term in ids),
            synonyms=tuple(in_order(term, synonyms.get(term, ())) for term in ids),
            parents=tuple(own),
            obsolete={
                term: listed(f"what replaces {term!r}", "ids", instead) for term, instead in (obsolete or {}).items()
            },
            alternatives={other: term for other, term in (alternatives or {}).items() if other not in parents},
            version=version,
            path=path,
            graph=graph,
            information_content=intrinsic(graph),
        )

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, term: object) -> bool:
        return term in self._index

    @property
    def summary(self) -> str:
        """Its file and version, if they are known, and how many terms it has."""
        name = " ".join(part for part in (self.path.name if self.path else "", self.version or "") if part)
        return f"{type(self).__name__} {name + ': ' if name else ''}{len(self):,} terms"

    def __repr__(self) -> str:
        return escape_invisible(f"<{self.summary}>")

    def index(self, term: str) -> int:
        """Return the index of a term in `ids`, or raise `ParameterError` with its status."""
        if term not in self:
            status = self.status(term)
            raise ParameterError(
                f"{term!r} is not a term of {self!r}",
                hint=f"it {status}" if status else near_id(str(term), self.ids, self.labels),
            )
        return self._index[term]

    def status(self, term: str) -> str:
        """Return in words why an id is not a current term: obsolete or merged; empty if it is unknown.

        Examples
        --------
        >>> Ontology.from_parents({"A": []}, obsolete={"B": ["A"]}).status("B")
        "is obsolete: use 'A'"
        """
        if term in self.alternatives:
            return f"is an alternative id: use {self.called(self.alternatives[term])}"
        if term in self.obsolete:
            instead = " or ".join(map(self.called, self.obsolete[term]))
            return f"is obsolete: use {instead}" if instead else "is obsolete, without a replacement"
        return ""

    def called(self, term: str) -> str:
        """Return an id for a message, with its label if it has one."""
        label = self.labels[self._index[term]] if term in self else ""
        return f"{term!r} ({label})" if label else repr(term)

    def named(self, term: str) -> str:
        """Return an id for a message, with its status if it has one."""
        status = self.status(term)
        return f"{term!r} ({status})" if status else repr(term)

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
        >>> pair = Ontology.from_parents({"A": [], "B": ["A"]}).with_information_content({"A": 0, "B": 2.5})
        >>> pair.similarity("B", "B", kind="resnik")
        2.5
        """
        return replace(
            self,
            information_content=intrinsic(self.graph)
            if information_content is None
            else checked(information_content, self.ids, self.graph),
        )

    def translated(
        self,
        table: str | os.PathLike[str] | Translations,
        *tables: str | os.PathLike[str] | Translations,
        original: str = "fallback",
        candidates: bool = False,
    ) -> Self:
        r"""Return the ontology with names in another language, or several; graph and ids stay.

        Parameters
        ----------
        table, *tables : path-like
            Tables of translated names, one or more for each language, as `hp-fr.babelon.tsv`: subject_id,
            predicate_id, translation_value, ...; or hpo_id, text, kind, status. The first table with a label for a term
            gives it its label; what else it is called are synonyms. Each text of a term counts once.
        original : {"fallback", "also", "none"}, default "fallback"
            The names of the ontology itself: for terms without a translation; for all terms, beside the translations;
            or for none, and then terms without a translation have no label and make no document.
        candidates : bool, default False
            Whether names of the status CANDIDATE count, as those that a machine made.

        Returns
        -------
        Ontology
            Its `notes` say how many terms have names in which language.

        Raises
        ------
        DataError
            A table lacks a column, has an unknown kind or language, or an id that is written like none here.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> birds = Ontology.from_parents({"B:1": [], "B:2": ["B:1"]}, labels={"B:1": "bird", "B:2": "owl"})
        >>> with TemporaryDirectory() as folder:
        ...     table = Path(folder, "birds-fr.tsv")
        ...     _ = table.write_text("id\ttext\tkind\nB:2\tchouette\tlabel\nB:2\thibou\tsynonym\n")
        ...     french = birds.translated(table)
        >>> french.labels, french.synonyms[1][0].text
        (('bird', 'chouette'), 'hibou')
        >>> french.notes[1]
        '1 term without a translation keeps the names of the ontology'
        """
        check_choice("original", original, ORIGINAL)
        read = [one if isinstance(one, Translations) else read_translations(one) for one in (table, *tables)]
        for one in read:
            one.check_ids([*self.ids, *self.alternatives, *self.obsolete])
        labels, synonyms, languages, notes = translated_names(
            self.ids, self.labels, self.synonyms, read, original=original, candidates=candidates
        )
        return replace(self, labels=labels, synonyms=synonyms, languages=languages, notes=(*self.notes, *notes))

    def branch_of(self, term: str) -> str:
        """Return the label of the branch that a term is in, itself perhaps; empty for one that is above all.

        Branches are the children of the term with the fewest terms below it that are more than half of all (or the
        roots): in HPO those of Phenotypic abnormality. A term in several is in the one that most of its ancestors are
        in; of those, in the one with the fewest terms, then with the lowest id.

        Examples
        --------
        >>> parents = {"animal": [], "bird": ["animal"], "owl": ["bird"], "wren": ["bird"], "fish": ["animal"]}
        >>> animals = Ontology.from_parents(parents)
        >>> [animals.branch_of(term) for term in ("owl", "bird", "fish")]
        ['owl', '', '']
        """
        lineages = [self.graph.ancestors(one)[0].tolist() for one in self.graph.ancestors(self.index(term))[0].tolist()]
        counts = {branch: sum(branch in one for one in lineages) for branch in self._branches if branch in lineages[0]}
        found = min(counts, key=lambda one: (-counts[one], self._branches[one], one), default=None)
        return "" if found is None else self.labels[found] or self.ids[found]

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
        return float(self.similarities(term, kind)[self.index(other)])

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
        Formulas with references: the functions of ``deadheat.plugins.bench.ontology.KINDS``.

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
        return KINDS[kind](self.graph, self.information_content, self.index(term))

    def judge(
        self,
        qrels: Source,
        run: Source,
        *runs: Source,
        kind: str = "lin",
        aggregate: str = "best",
        ideal: bool = True,
        depth: int | None = None,
    ) -> Qrels:
        """Give every retrieved document its similarity to what the query expects, as its relevance.

        On these judgments `MaxRel` is MaxOntSim, and `nDCG` is graded by the ontology. For each query of
        the qrels, the judged documents are those that any run retrieved, those of the qrels, and (`ideal`) the `depth`
        most similar terms of the whole ontology. So the ideal ranking is that of the whole ontology for
        every cutoff up to `depth`; nDCG without a cutoff treats the judged documents as all there are.

        Parameters
        ----------
        qrels : path, dict of dict, dataframe or Qrels
            Documents of positive relevance are the expected ids, all alike.
        run, *runs : path, dict of dict, dataframe or Run
            Give all runs that will be compared: evaluations on different judgments are not comparable.
        kind : str, default "lin"
            As for :meth:`similarities`.
        aggregate : {"best", "mean"}
            The highest similarity to an expected id, or the mean over them.
        ideal : bool, default True
            Whether the best terms of the ontology are judged even if they are not retrieved.
        depth : int, optional
            How many; by default as many as the longest list of the runs has documents, and at least 100.

        Returns
        -------
        Qrels

        Warns
        -----
        DeadheatWarning
            Expected ids that the ontology lacks: they have similarity 0 to everything, themselves included (and count
            in the mean). Retrieved ids that it lacks: their relevance is 0. Obsolete ones with what replaces them.

        Examples
        --------
        >>> animals = Ontology.from_parents({"animal": [], "bird": ["animal"], "owl": ["bird"], "wren": ["bird"]})
        >>> judged = animals.judge({"q": {"owl": 1}}, {"q": {"wren": 0.9, "animal": 0.5}}, ideal=False)
        >>> {term: round(value, 4) for term, value in judged.to_dict()["q"].items()}
        {'animal': 0.0, 'owl': 1.0, 'wren': 0.2075}
        """
        check_choice("kind", kind, KINDS)
        depth = None if depth is None else as_count("depth", depth)
        qrels = Qrels.of(qrels)
        qrels.check_duplicates()
        expected = self._expected(qrels, kind, aggregate)
        pairs, longest = pairs_of(qrels, [Run.of(one) for one in (run, *runs)])
        codes = codes_of(self.ids, pairs["doc_id"])
        others = set(pairs["doc_id"].filter(codes == UNKNOWN)) - expected.unknown
        self._warn_of(others, "retrieved", "are given relevance 0", NoteWarning)
        depth = (depth or max(longest, 100)) if ideal else 0
        found = Qrels(relevance_of(expected, pairs, codes.to_numpy(), depth), name=f"{qrels.name} ({kind})")
        judged = set(pairs["query_id"])
        found.bare = tuple(query for query in qrels.bare if query not in judged)
        return found

    def chance(self, qrels: Source, kind: str = "lin", *, cutoffs: Sequence[int] = (1, 3, 5, 10)) -> dict[int, float]:
        """Return the MaxRel that random rankings of the ontology would have: random terms do not score 0.

        Exact, over all rankings of all terms.

        Parameters
        ----------
        qrels : path, dict of dict, dataframe or Qrels
            Documents of positive relevance are the expected ids.
        kind : str, default "lin"
            As for :meth:`similarities`.
        cutoffs : sequence of int
            Cutoffs of MaxRel; at 1 it is the mean similarity to a random term.

        Returns
        -------
        dict of int to float
            By cutoff, the mean over the queries.

        Examples
        --------
        >>> Ontology.from_parents({"A": [], "B": ["A"]}).chance({"q": {"A": 1}}, "path", cutoffs=[1, 2])
        {1: 0.75, 2: 1.0}
        """
        check_choice("kind", kind, KINDS)
        cutoffs = [as_count("each of cutoffs", cutoff) for cutoff in cutoffs]
        expected, probability = self._expected(Qrels.of(qrels), kind, "best"), best_of_random(len(self), cutoffs)
        values = [probability @ np.sort(expected.relevance(terms))[::-1] for terms in expected.of_query.values()]
        return dict(zip(cutoffs, np.mean(values, axis=0).tolist(), strict=True))

    def _expected(self, qrels: Qrels, kind: str, aggregate: str) -> Expected:
        """Return what each query expects, for a method that a user calls; warn of ids that are not terms."""
        found = Expected(
            self.ids,
            qrels,
            partial(KINDS[kind], self.graph, self.information_content),
            ontology=repr(self),
            aggregate=aggregate,
        )
        self._warn_of(found.unknown, "expected", "have similarity 0 to everything", UnknownExpectedWarning, level=4)
        return found

    def _warn_of(self, ids: set[str], which: str, effect: str, cause: type[Warning], *, level: int = 3) -> None:
        """Warn of ids that are not terms."""
        if ids:
            what = f"{which} id is not a term" if len(ids) == 1 else f"{which} ids are not terms"
            named = format_list([self.named(term) for term in sorted(ids)])
            warnings.warn(f"{len(ids):,} {what} of {self!r}; such ids {effect}: {named}", cause, stacklevel=level)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {term: place for place, term in enumerate(self.ids)}

    @cached_property
    def _branches(self) -> dict[int, int]:
        """The branches, each with the number of terms in it."""
        below = self.graph.n_descendants()
        trunk = min(np.flatnonzero(2 * below > len(self)), key=below.__getitem__, default=None)
        children, roots = self.graph.child[self.graph.parent == trunk], np.flatnonzero(self.graph.depth == 0)
        return {int(one): int(below[one]) for one in (roots if trunk is None else children)}
