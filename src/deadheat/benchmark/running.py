"""From retrievers to evaluations: finished runs are taken from the folder, the others made by a search."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from deadheat.benchmark.collection import Collection
from deadheat.benchmark.ontology import Ontology
from deadheat.benchmark.parts import Part
from deadheat.benchmark.retrievers import Retriever, identity, key_of, retrieve, speaking
from deadheat.benchmark.store import Store
from deadheat.data.tables import Qrels, Run
from deadheat.errors import DeadheatWarning, UnknownExpectedWarning
from deadheat.evaluation.conventions import Conventions
from deadheat.evaluation.evaluate import evaluate_under
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.scores import Scores, TieSpread
from deadheat.evaluation.strata import NONE
from deadheat.measures import MaxRel, Measure
from deadheat.placements.placements import sort_rows
from deadheat.wording import counted, three

# Part of the key of a finished run. Raise it when one of our retrievers, or `retrieve`, finds something different for
# the same texts, documents and options, so that no outdated run is reused. The version of the package would discard
# runs that a release does not touch, and those of a model take hours. 2: BM25 finds what shares a word, not what scores
# above 0. 3: equal embeddings tie in any batch; bm25+ with k1=0; no NaN is dropped.
SEARCH = 3


@dataclass
class Search:
    """A retriever with what it searches; it takes the documents when the first run is to be made.

    Attributes
    ----------
    name : str
    retriever : Retriever
    documents : Collection
    k : int
    store : Store or None
    tell : callable
        Called with a line of text about each step.
    """

    name: str
    retriever: Retriever
    documents: Collection
    k: int
    store: Store | None
    tell: Callable[[str], None]
    ready: set[int] = field(default_factory=set)

    def run(self, part: Part) -> tuple[pl.DataFrame, bool]:
        """Return the run on the cases of a part, and whether it was finished before."""
        retriever = speaking(self.retriever, None if part.language == NONE else part.language)
        has_key = key_of(retriever) is not None  # without one we cannot know whether it is still the same
        key = {
            "search": SEARCH,
            "retriever": json.loads(identity(retriever)) if has_key else None,
            "collection": self.documents.fingerprint,
            "cases": part.searched,
            "k": self.k,
        }
        found = self.store.read(part, self.name, key) if self.store is not None and has_key else None
        if found is not None:
            self.tell(f"{self.name} on {part}: finished before")
            return found, True
        self._prepare(retriever)
        start = time.perf_counter()
        ids, texts = [case.case_id for case in part.cases], part.cases.texts()
        found = retrieve(retriever, ids, texts, self.k)
        seconds = time.perf_counter() - start
        self._warn_of_unknown(found)
        if self.store is not None:
            self.store.write(part, self.name, key, found, seconds)
        self.tell(f"{self.name} on {part}: {counted(len(ids), 'search', 'searches')} in {seconds:.1f} s")
        return found, False

    def _prepare(self, retriever: Retriever) -> None:
        if id(retriever) in self.ready:
            return
        start = time.perf_counter()
        retriever.index(self.documents)
        self.ready.add(id(retriever))
        self.tell(
            f"{self.name} has {len(self.documents.ids):,} documents of {self.documents.name}"
            f" after {time.perf_counter() - start:.1f} s"
        )

    def _warn_of_unknown(self, found: pl.DataFrame) -> None:
        """Warn of documents that the collection does not have."""
        unknown = sorted(set(found["doc_id"].to_list()) - set(self.documents.ids))
        if unknown:
            shown = three(unknown)
            warnings.warn(
                f"{self.name} found {len(unknown):,} documents that {self.documents.name} does not have ({shown}):"
                " are the ids written alike?",
                DeadheatWarning,
                stacklevel=4,
            )


def evaluate_part(
    part: Part,
    found: pl.DataFrame,
    measures: Sequence[Measure],
    *,
    name: str,
    ontology: Ontology | None = None,
    kind: str = "lin",
) -> tuple[Evaluation, list[Warning | str]]:
    """Evaluate a run on the cases of a part.

    Returns
    -------
    evaluation : Evaluation
        With an ontology, MaxRel uses its judgments of the retrieved documents, all else the expected ids.
    notes : list of Warning
        Warnings of the ontology about retrieved ids.
    """
    qrels = part.cases.qrels()
    graded = [one for one in measures if ontology is not None and isinstance(one, MaxRel)]
    plain = _evaluate(qrels, found, measures, name)
    if ontology is None or not graded or found.is_empty():  # an empty run's MaxRel is 0 on any judgments
        return plain, []
    judged, notes = _judged(ontology, qrels, Run(found, name=name), kind)
    return _merged(plain, _evaluate(judged, found, graded, name), qrels), notes


def _judged(ontology: Ontology, qrels: Qrels, run: Run, kind: str) -> tuple[Qrels, list[Warning | str]]:
    """Return the judgments of what was retrieved, which are all that MaxRel reads, and warnings about its ids."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DeadheatWarning)
        warnings.simplefilter("ignore", UnknownExpectedWarning)  # reported once, before the first search
        judged = ontology.judge(qrels, run, kind=kind, ideal=False)
    return judged, [one.message for one in caught]


def _evaluate(qrels: Qrels, found: pl.DataFrame, measures: Sequence[Measure], name: str) -> Evaluation:
    if found.is_empty():
        return _of_nothing(qrels, measures, name)
    return evaluate_under(Conventions(), qrels, Run(found, name=name), measures)


def _of_nothing(qrels: Qrels, measures: Sequence[Measure], name: str) -> Evaluation:
    """Evaluate a run without any document, which no reader accepts: every ranking is empty."""
    queries, codes, relevance = qrels.in_order
    ids = np.array(queries["query_id"].to_list(), dtype=object)
    none = np.zeros(0, np.int64)
    placements = sort_rows(
        ids,
        np.zeros(len(ids), np.int64),
        judged_query=codes,
        judged_relevance=relevance,
        rows=(none, np.zeros(0, dtype=object), np.zeros(0), none, none),
        unjudged_queries=(),
    )
    return Evaluation(
        [Scores(one, ids, one.mean(placements), TieSpread(one, placements)) for one in measures],
        name=name,
        query_ids=ids,
        conventions=Conventions(),
        missing_queries=tuple(ids.tolist()),
        placements=placements,
        qrels=qrels,
    )


def _merged(plain: Evaluation, graded: Evaluation, qrels: Qrels) -> Evaluation:
    """Take the measures that there are on an ontology's judgments from those."""
    scores = {one.measure: one for one in (*plain, *graded)}
    return Evaluation(scores.values(), **plain.parts() | {"graded": graded.placements, "qrels": qrels})
