"""Ontology: terms and how similar they are, judgments made from that, and the score of random rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.arguments import check_choice
from deadheat.benchmark.ontology.chance import Chance, chance
from deadheat.benchmark.ontology.judging import judge
from deadheat.benchmark.ontology.kinds import KINDS
from deadheat.benchmark.ontology.similarity import Terms
from deadheat.data.tables import Qrels, Source


@dataclass(frozen=True, eq=False, repr=False)
class Ontology(Terms):
    """Terms and their is_a graph. Made by `read_ontology`, or by :meth:`from_parents` without a file.

    Its attributes are those of :class:`~deadheat.benchmark.ontology.similarity.Terms`.

    Examples
    --------
    >>> animals = Ontology.from_parents({"animal": [], "bird": ["animal"], "owl": ["bird"], "wren": ["bird"]})
    >>> round(animals.similarity("owl", "wren"), 4)
    0.2075
    >>> animals.similarity("owl", "wren", kind="path") == 1 / (1 + 2)
    True
    """

    def judge(
        self,
        qrels: Source,
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
        *runs : path, dict of dict, dataframe or Run
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
        return judge(self, qrels, runs, kind=kind, aggregate=aggregate, ideal=ideal, depth=depth)

    def chance(
        self,
        kind: str = "lin",
        *,
        qrels: Source | None = None,
        aggregate: str = "best",
        cutoffs: Sequence[int] = (1, 3, 5, 10),
        n: int = 1000,
        rng: np.random.Generator | int | None = 0,
    ) -> Chance:
        """Return the MaxRel that random rankings of the ontology would have: random terms do not score 0.

        Exact for each expected term, over all rankings of all terms; only the expected terms are sampled.

        Parameters
        ----------
        kind : str, default "lin"
            As for :meth:`similarities`.
        qrels : path, dict of dict, dataframe or Qrels, optional
            Take these queries' expected ids; then nothing is random. By default `n` random terms.
        aggregate : {"best", "mean"}
            As for :meth:`judge`.
        cutoffs : sequence of int
            Cutoffs of MaxRel; at 1 it is the mean similarity to a random term.
        n : int, default 1000
            How many terms are drawn, without replacement; all of them if there are fewer.
        rng : numpy.random.Generator, int or None, default 0

        Returns
        -------
        Chance

        Examples
        --------
        >>> chance = Ontology.from_parents({"A": [], "B": ["A"]}).chance("path", cutoffs=[1, 2])
        >>> chance.max_rel == {1: (1 + 1 / 2) / 2, 2: 1.0}
        True
        """
        check_choice("kind", kind, KINDS)
        return chance(self, kind, qrels=qrels, aggregate=aggregate, cutoffs=cutoffs, n=n, rng=rng)
