"""From a run to an evaluation by all measures, those of an ontology on its judgments."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from deadheat.benchmark import _invariants
from deadheat.data import Run
from deadheat.errors import DeadheatWarning
from deadheat.evaluating import evaluate
from deadheat.evaluation import Conventions, Evaluation
from deadheat.measures import RR, MaxRel
from deadheat.placement import sort_rows
from deadheat.scores import Scores
from deadheat.spread import PlacedSpread

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from deadheat.benchmark._parts import Part
    from deadheat.data import Qrels
    from deadheat.measures import Measure
    from deadheat.ontology import Ontology


def evaluate_part(
    part: Part,
    found: pl.DataFrame,
    measures: Sequence[Measure],
    *,
    name: str,
    ontology: Ontology | None = None,
    kind: str = "lin",
) -> tuple[Evaluation, list[str]]:
    """Evaluate a run on the cases of a part.

    Returns
    -------
    evaluation : Evaluation
        With an ontology, MaxRel is on its judgments of the retrieved documents, all else on the expected ids.
    notes : list of str
        What the ontology has to say of ids.
    """
    qrels = part.cases.qrels()
    graded = [one for one in measures if ontology is not None and isinstance(one, MaxRel)]
    plain = _evaluate(qrels, found, [one for one in measures if one not in graded] or [RR()], name)
    if ontology is None or not graded:
        _invariants.check(plain)
        return plain, []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DeadheatWarning)
        judged = ontology.judge(qrels, *([] if found.is_empty() else [Run(found, name=name)]), kind=kind)
    by_ontology = _evaluate(judged, found, graded, name)
    evaluation = _merged(plain, by_ontology, measures)
    _invariants.check(evaluation)
    return evaluation, [str(one.message) for one in caught]


def _evaluate(qrels: Qrels, found: pl.DataFrame, measures: Sequence[Measure], name: str) -> Evaluation:
    if found.is_empty():
        return _of_nothing(qrels, measures, name)
    with warnings.catch_warnings():
        # that the ids are of the same collection was checked before: here it means that nothing good was found
        warnings.filterwarnings("ignore", "no retrieved document is judged", DeadheatWarning)
        return evaluate(qrels, Run(found, name=name), measures, check_duplicates=False)


def _of_nothing(qrels: Qrels, measures: Sequence[Measure], name: str) -> Evaluation:
    """Evaluate a run without a single document, which is no table that can be read: every ranking is empty."""
    judgments = qrels.to_polars()
    query_ids, codes = np.unique(judgments["query_id"].to_numpy().astype(str), return_inverse=True)
    ids = query_ids.astype(object)
    none = np.zeros(0, np.int64)
    placements = sort_rows(
        ids,
        np.zeros(len(ids), np.int64),
        judged_query=codes,
        judged_relevance=judgments["relevance"].to_numpy(),
        rows=(none, np.zeros(0, dtype=object), np.zeros(0), none, none),
        unjudged_queries=(),
    )
    return Evaluation(
        [Scores(one, ids, one.mean(placements), PlacedSpread(one, placements)) for one in measures],
        name=name,
        query_ids=ids,
        conventions=Conventions(),
        missing_queries=tuple(ids.tolist()),
        placements=placements,
        qrels=qrels,
    )


def _merged(plain: Evaluation, by_ontology: Evaluation, measures: Sequence[Measure]) -> Evaluation:
    """Put two evaluations of one run together, without placements: each measure has its own."""
    return Evaluation(
        [by_ontology[one] if one in by_ontology.measures else plain[one] for one in measures],
        name=plain.name,
        query_ids=plain.query_ids,
        conventions=plain.conventions,
        missing_queries=plain.missing_queries,
        unjudged_queries=plain.unjudged_queries,
        qrels=plain.qrels_hash,
    )
