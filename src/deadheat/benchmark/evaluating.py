"""From a run to an evaluation by all measures, those that use an ontology on its judgments."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import polars as pl

from deadheat.benchmark.ontology import Ontology
from deadheat.benchmark.parts import Part
from deadheat.data.tables import Qrels, Run
from deadheat.errors import DeadheatWarning, UnknownExpectedWarning
from deadheat.evaluation.conventions import Conventions
from deadheat.evaluation.evaluate import evaluate_under
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.scores import PlacedSpread, Scores
from deadheat.measures import MaxRel, Measure
from deadheat.placements.placements import sort_rows


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
    plain = [one for one in measures if one not in graded]
    found_by: list[Evaluation] = [_evaluate(qrels, found, plain, name)] if plain else []
    notes: list[Warning | str] = []
    if ontology is not None and graded:
        judged = qrels  # for a run without documents, whose MaxRel is 0 on any judgments
        if not found.is_empty():
            judged, notes = _judged(ontology, qrels, Run(found, name=name), kind)
        found_by.append(_evaluate(judged, found, graded, name))
    return (found_by[0] if not graded else _merged(found_by, measures, qrels)), notes


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


def _merged(evaluations: Sequence[Evaluation], measures: Sequence[Measure], qrels: Qrels) -> Evaluation:
    """Combine evaluations of one run by different measures, without placements: each measure has its own."""
    scores = {of_measure.measure: of_measure for one in evaluations for of_measure in one}
    first = evaluations[0]
    return Evaluation(
        [scores[one] for one in measures],
        name=first.name,
        query_ids=first.query_ids,
        conventions=first.conventions,
        missing_queries=first.missing_queries,
        unjudged_queries=first.unjudged_queries,
        qrels=qrels.fingerprint,
    )
