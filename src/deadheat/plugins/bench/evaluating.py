"""The runs of a benchmark: each retriever searches for each part of the cases, and what it found is evaluated."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.errors import DeadheatWarning, UnknownExpectedWarning
from deadheat.core.evaluation.evaluate_runs import evaluate_under
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.tie_spread import TieSpread
from deadheat.core.measures import Measure
from deadheat.core.placements.building import PlacedRows, RetrievedLists, build_placements
from deadheat.core.settings import Conventions
from deadheat.plugins.bench.case_groups import CaseGroup
from deadheat.plugins.bench.inputs import BenchInputs, Tell
from deadheat.plugins.bench.result import Failure, Key, failures_of, names_of
from deadheat.plugins.bench.retrievers import GradedAnswers
from deadheat.plugins.bench.searching import notes_of_run, search_parts
from deadheat.plugins.bench.store import Store


@dataclass(frozen=True)
class EvaluatedRuns:
    """The runs of all retrievers on all parts, evaluated.

    Attributes
    ----------
    evaluations : dict of Key to Evaluation
    failures : dict of Key to tuple of Failure
        The cases without an expected document that is first in every order of the ties.
    names : dict of (cases, language) to dict of str to str
        What documents are called, by part and id.
    answers : dict of Key to GradedAnswers
        Of rerankers.
    notes : list of Warning or str
        What is wrong with the documents that were found, and with answers.
    """

    evaluations: dict[Key, Evaluation] = field(default_factory=dict)
    failures: dict[Key, tuple[Failure, ...]] = field(default_factory=dict)
    names: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    answers: dict[Key, GradedAnswers] = field(default_factory=dict)
    notes: list[Warning | str] = field(default_factory=list)


def evaluate_searches(inputs: BenchInputs, store: Store | None, tell: Tell) -> EvaluatedRuns:
    """Run each retriever on each part, or take its run from the store, and evaluate it."""
    runs = EvaluatedRuns()
    documents = inputs.documents
    for key, part, searched in search_parts(inputs.systems, inputs.parts, documents, inputs.k, store, tell=tell):
        if searched.answers is not None:
            runs.answers[key] = searched.answers
        runs.notes.extend(notes_of_run(key, part, searched, documents))
        labels = documents.labels(part.language)
        runs.failures[key] = failures_of(part.cases.cases, searched.run, labels)
        names_of_part = runs.names.setdefault(part.key, {})
        names_of_part.update(names_of(part.cases.cases, searched.run, labels))
        runs.evaluations[key], notes = _evaluate_part(part, searched.run, inputs, name=key.retriever)
        runs.notes.extend(notes)
    return runs


@contextmanager
def collect_warnings() -> Iterator[list[Warning | str]]:
    """Collect the warnings of deadheat, and none of libraries."""
    messages: list[Warning | str] = []
    with warnings.catch_warnings(record=True, action="always", category=DeadheatWarning) as caught:
        yield messages
    messages += [warning.message for warning in caught if issubclass(warning.category, DeadheatWarning)]


def _evaluate_part(
    part: CaseGroup,
    rows: pl.DataFrame,
    inputs: BenchInputs,
    *,
    name: str,
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
    if rows.is_empty():  # its MaxRel is 0 on any judgments
        return _evaluate_no_documents(qrels, inputs.measures, name), []
    run = Run(rows, name=name)
    plain = evaluate_under(Conventions(), qrels, run, inputs.measures)
    if inputs.ontology is None or not inputs.graded_measures:
        return plain, []
    with collect_warnings() as notes:
        warnings.simplefilter("ignore", UnknownExpectedWarning)  # reported once, before the first search
        # MaxRel reads only what was retrieved
        judged = inputs.ontology.judge(qrels, run, kind=inputs.kind, ideal=False)
    graded = evaluate_under(Conventions(), judged, run, inputs.graded_measures)
    scores_by_measure = {scores.measure: scores for scores in (*plain, *graded)}
    parts = plain.parts() | {"graded": graded.placements, "qrels": qrels}
    return Evaluation(scores_by_measure.values(), **parts), notes


def _evaluate_no_documents(qrels: Qrels, measures: Sequence[Measure], name: str) -> Evaluation:
    """Evaluate a run without any document, which no reader accepts: every ranking is empty."""
    queries, codes, relevance = qrels.in_order
    ids = np.array(queries["query_id"].to_list(), dtype=object)
    none = np.zeros(0, np.int64)
    placements = build_placements(
        RetrievedLists(ids, np.zeros(len(ids), np.int64)),
        PlacedRows(none, np.zeros(0, dtype=object), np.zeros(0), none, none),
        judged_query=codes,
        judged_relevance=relevance,
    )
    scores = []
    for measure in measures:
        scores.append(Scores(measure, ids, measure.mean(placements), TieSpread(measure, placements)))
    return Evaluation(
        scores,
        name=name,
        query_ids=ids,
        conventions=Conventions(),
        missing_queries=tuple(ids.tolist()),
        placements=placements,
        qrels=qrels,
    )
