"""What runs and judgments lack, and how that counts: queries, documents, and labels below the relevant ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from deadheat.core.evaluation.facts import NOTABLE, TOP, Facts
from deadheat.core.libraries import polars as pl
from deadheat.core.measures import Measure
from deadheat.core.measures.gains import LOWEST_POSITIVE
from deadheat.core.report.cells import format_cell, share_cell
from deadheat.core.report.model import Fact, note_fact
from deadheat.core.structures import group_values
from deadheat.core.wording import format_count, format_list

if TYPE_CHECKING:
    from deadheat.core.evaluation.evaluation import Evaluation
    from deadheat.core.evaluation.scores import Scores

EFFECTS_OF_MISSING = {"empty": "counted as empty rankings", "skip": "left out", "error": ""}
"""How the queries that a run lacks count, by the option --missing; where they are an error, it is raised."""
RUNS_AT_ONCE = 64


class Unshared(Protocol):
    """What was made of qrels and a run, and knows the queries that only one of both has: an evaluation, for example."""

    @property
    def name(self) -> str:
        """Label of the run."""

    @property
    def missing_queries(self) -> tuple[str, ...]:
        """Queries that the run lacks."""

    @property
    def unjudged_queries(self) -> tuple[str, ...]:
        """Queries that the qrels lack."""


def describe_queries(ids: Sequence[str]) -> str:
    """Return how many queries there are, and the first ones."""
    return f"{format_count(len(ids), 'query', 'queries')} ({format_list(ids)})"


def warn_of_nothing_judged(name: str) -> str:
    """Return the warning of a run without a judged document: the ids may be written in two ways."""
    return f"no document that {name} retrieves is judged: are the document ids written alike?"


def tell_data(evaluations: Sequence[Evaluation]) -> list[Fact]:
    """Say which queries count, what was assumed to read the data, what is not judged, and where runs may be cut."""
    facts_by_run = {evaluation.name: evaluation.facts for evaluation in evaluations}
    return [
        *tell_unshared(evaluations, evaluations[0].conventions.missing),
        *tell_without_relevant(evaluations),
        _tell_labels_below_level(evaluations[0]),
        _tell_notes(evaluations),
        _tell_self_retrieval(facts_by_run),
        *_tell_not_retrieved(evaluations),
        _tell_unjudged(facts_by_run),
        _tell_list_ends(facts_by_run),
    ]


def tell_unshared(
    sources: Sequence[Unshared], missing: str, *, is_alone: bool = False, is_note: bool = True
) -> Iterator[Fact]:
    """Name the queries that only the qrels or only a run has, and say how they count.

    Parameters
    ----------
    sources : sequence of Unshared
        Of each run.
    missing : str
        How the queries that a run lacks were counted.
    is_alone : bool, default False
        Whether JSON has the ids of the only run, or of each run by its name.
    is_note : bool, default True
    """
    effects = {"missing_queries": EFFECTS_OF_MISSING[missing], "unjudged_queries": "left out, not in the qrels"}
    for key, effect in effects.items():
        ids_by_run = {source.name: list(getattr(source, key)) for source in sources}
        yield Fact(key, ids_by_run[sources[0].name] if is_alone else ids_by_run)
        runs_by_ids = group_values((tuple(ids), run) for run, ids in ids_by_run.items() if ids)
        for ids, runs in runs_by_ids.items():
            text = f"{len(ids):,} ({format_list(ids)}), {effect}"
            if not is_alone:
                text = f"{format_list(runs)}: {text}"
            are_skipped = missing == "skip" and key == "missing_queries"
            yield Fact(
                "",
                None,
                key.replace("_", " "),
                text,
                is_warning=are_skipped and not is_note,
                is_note=is_note,
                brief=text,
            )


@dataclass(frozen=True)
class _EmptyQueries:
    """Queries without a relevant document, as they count for a measure: of several measures often the same ones.

    Attributes
    ----------
    query_ids : tuple of str
        Those that have a value in some run, sorted; all where they are left out.
    where : str
        In which runs they have one, for the end of a sentence; empty: in all.
    can_be_right : bool
        Whether a ranking that retrieves nothing is right for some of them.
    """

    query_ids: tuple[str, ...]
    where: str
    can_be_right: bool


def tell_without_relevant(evaluations: Sequence[Evaluation]) -> Iterator[Fact]:
    """Name the queries without a relevant document, and say how they count.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        Of the same measures, under the same conventions.
    """
    measures = evaluations[0].measures
    no_relevant = evaluations[0].conventions.no_relevant
    ids_by_measure: dict[str, list[str]] = {}
    measures_by_queries: dict[_EmptyQueries, list[Measure]] = {}
    for measure in measures:
        scores = [evaluation[measure] for evaluation in evaluations]
        ids = set[str]()
        for scores_of_run in scores:
            ids.update(scores_of_run.query_ids[~scores_of_run.has_relevant].tolist())
        ids_by_measure[measure.label] = sorted(ids)
        queries = _find_empty_queries(scores, ids, are_skipped=no_relevant == "skip")
        measures_by_queries.setdefault(queries, []).append(measure)
    yield Fact("queries_without_relevant", ids_by_measure)
    yield from _tell_unanswerable(evaluations)
    for queries, some_measures in measures_by_queries.items():
        if not queries.query_ids:
            continue
        effect = _describe_effect(no_relevant, some_measures, can_be_right=queries.can_be_right)
        text = f"{describe_queries(queries.query_ids)}, {effect}"
        if len(some_measures) < len(ids_by_measure):
            text += f" for {', '.join(measure.label for measure in some_measures)}"
        yield note_fact("nothing relevant", text + queries.where)


def _find_empty_queries(scores: Sequence[Scores], ids: set[str], *, are_skipped: bool) -> _EmptyQueries:
    """Return the queries without a relevant document that have a value, and in which runs.

    A query that a run lacks has none if the measure has no worst value, relevant documents or not: it is reported
    there.
    """
    can_be_right = any(scores_of_run.spread.is_right.any() for scores_of_run in scores)
    if are_skipped:
        return _EmptyQueries(tuple(sorted(ids)), "", can_be_right)
    lacking_by_run = []
    for scores_of_run in scores:
        lacking_by_run.append(set(scores_of_run.query_ids[~scores_of_run.kept].tolist()))
    ids_with_value = ids - set.intersection(*lacking_by_run)
    lack_in_some_run = not ids_with_value.isdisjoint(set().union(*lacking_by_run))
    where = " where a run has them" if lack_in_some_run else ""
    return _EmptyQueries(tuple(sorted(ids_with_value)), where, can_be_right)


def _describe_effect(no_relevant: str | None, measures: Sequence[Measure], *, can_be_right: bool) -> str:
    """Return how queries without a relevant document count."""
    if no_relevant == "skip":
        return "left out"
    if can_be_right and no_relevant == "one":
        return "count as 1"
    if can_be_right:
        return "count as 1 where nothing is retrieved, else as 0"
    if all(measure.higher_is_better for measure in measures):
        return "count as 0"
    return "count as the worst value"


def _tell_unanswerable(evaluations: Sequence[Evaluation]) -> Iterator[Fact]:
    """Name the queries that the judgments call unanswerable, unless a convention says how they count."""
    first = evaluations[0]
    if first.conventions.no_relevant is not None:
        return
    evaluated = set[str]()
    for evaluation in evaluations:
        evaluated.update(evaluation.query_ids.tolist())
    unanswerable = sorted(evaluated.intersection(first.unanswerable))
    if not unanswerable:
        return
    asking = [measure.label for measure in first.measures if measure.asks_for_relevant]
    text = ""
    if asking:
        text = f"{describe_queries(unanswerable)}, left out of {', '.join(asking)}; Abstain judges them"
    value = {"queries": unanswerable, "left_out_of": asking}
    yield Fact("queries_unanswerable", value, "no answer", text, brief=text)


def _tell_labels_below_level(evaluation: Evaluation) -> Fact:
    """Count the positive labels that are too low to be relevant by the level that measures have where none is named.

    Labels between 0 and 1 beside a 1 are such labels: shares of annotators, or scores of a judge.
    """
    relevance = evaluation.placements.judged_relevance
    measures_by_level: dict[float, list[str]] = {}
    if evaluation.conventions.rel is None:
        for measure in evaluation.measures:
            level = getattr(measure, "rel", None)
            if level is not None and not measure.names_rel:
                measures_by_level.setdefault(float(level), []).append(measure.label)
    n_positive = int((relevance > 0).sum())
    counts: list[dict[str, object]] = []
    texts: list[str] = []
    for level, names in measures_by_level.items():
        n_below = int(((relevance > 0) & (relevance < level)).sum())
        if n_below:
            counts.append({"rel": level, "n": n_below, "n_positive": n_positive, "measures": names})
            lie = "lies" if n_below == 1 else "lie"
            count = "counts" if len(names) == 1 else "count"
            texts.append(
                f"{n_below:,} of {format_count(n_positive, 'positive label')} {lie} below {level:g}, from which on"
                f" {format_list(names)} {count} a document as relevant"
            )
    text = f"{'; '.join(texts)}; rel sets another level" if texts else ""
    return Fact("below_rel", counts, "relevant", text, is_note=True)


def _tell_notes(evaluations: Sequence[Evaluation]) -> Fact:
    """Repeat what was noted when the data was read, each note once, with the runs that it is about unless all are."""
    runs_by_note = group_values((note, evaluation.name) for evaluation in evaluations for note in evaluation.notes)
    notes = []
    for note, runs in runs_by_note.items():
        is_of_all = len(runs) == len(evaluations)
        notes.append(note if is_of_all else f"{note} ({format_list(runs)})")
    value = {evaluation.name: list(evaluation.notes) for evaluation in evaluations}
    text = "; ".join(notes)
    return Fact("notes", value, "data", text, is_note=True, brief=text)


def _tell_self_retrieval(facts_by_run: Mapping[str, Facts]) -> Fact:
    """Name the queries that retrieve a document with their id, and how many do in each run."""
    queries_by_run = {}
    counts = []
    for run, facts in facts_by_run.items():
        ids = list(facts.own_queries)
        queries_by_run[run] = ids
        if ids:
            counts.append(f"{run} {len(ids):,} ({format_list(ids)})")
    text = ""
    if counts:
        text = (
            f"queries that retrieve a document with their own id: {format_list(counts, between='; ')}; if it is the"
            " query itself, --exclude self leaves it out, as BEIR does, and MTEB in some tasks"
        )
    return Fact("retrieving_themselves", queries_by_run, "same id", text, is_note=True)


def _tell_not_retrieved(evaluations: Sequence[Evaluation]) -> Iterator[Fact]:
    """Count the relevant documents that no run retrieved: ids that are out of date are among them."""
    if not _are_lists_whole(evaluations):
        return
    conventions = evaluations[0].conventions
    level = LOWEST_POSITIVE if conventions.rel is None else conventions.rel
    n_relevant = max(int(evaluation.placements.n_relevant(level).sum()) for evaluation in evaluations)
    n_lacking = n_relevant - _count_retrieved(evaluations, level)
    text = ""
    if n_lacking > 0:
        verb = "is" if n_lacking == 1 else "are"
        where = "not in the run" if len(evaluations) == 1 else "in no run"
        if conventions.exclude is not None:
            where += ", or excluded"  # "self" leaves judgments of documents that it excludes
        text = f"{n_lacking:,} of {format_count(n_relevant, 'relevant document')} {verb} {where}"
    is_notable = n_lacking >= NOTABLE * n_relevant
    value = {"n_relevant": n_relevant, "n": n_lacking}
    yield Fact("not_retrieved", value, "not found", text, brief=text if is_notable else "")


def _are_lists_whole(evaluations: Sequence[Evaluation]) -> bool:
    """Tell whether it is known of each relevant document whether some run retrieved it."""
    conventions = evaluations[0].conventions
    if conventions.depth is not None or any(evaluation.known_depth is not None for evaluation in evaluations):
        return False
    if len(evaluations) > 1 and conventions.missing == "skip":
        return False
    return evaluations[0].qrels.judging_rule is None  # of spans R says it


def _count_retrieved(evaluations: Sequence[Evaluation], level: float) -> int:
    """Return how many documents of this relevance or more some run retrieved, each query by itself."""
    placements_of_runs = [evaluation.placements for evaluation in evaluations]
    if len(placements_of_runs) == 1:
        return int((placements_of_runs[0].relevance >= level).sum())
    retrieved = placements_of_runs[0].pairs(np.zeros(0, np.int64))
    # of a thousand runs without all their rows in memory
    for start in range(0, len(placements_of_runs), RUNS_AT_ONCE):
        tables = [retrieved]
        for placements in placements_of_runs[start : start + RUNS_AT_ONCE]:
            tables.append(placements.pairs(np.flatnonzero(placements.relevance >= level)))
        retrieved = pl.concat(tables).unique()
    return len(retrieved)


def _tell_unjudged(facts_by_run: Mapping[str, Facts]) -> Fact:
    """Give the share of unjudged documents among the first of each run, and name the runs in which it is large."""
    share_by_run = {run: facts.unjudged_share for run, facts in facts_by_run.items()}
    large_shares = []
    for run, share in share_by_run.items():
        if share is not None and share >= NOTABLE:
            large_shares.append(f"{run} {format_cell(share_cell(share))}")
    text = f"of the top {TOP} documents: {format_list(large_shares)}" if large_shares else ""
    return Fact("unjudged_share", share_by_run, "unjudged", text, brief=text)


def _tell_list_ends(facts_by_run: Mapping[str, Facts]) -> Fact:
    """Count the queries of each run whose list ends in a tie, where the run may have been cut there."""
    counts_by_run: dict[str, dict[str, int | None] | None] = {}
    ties_at_end = []
    unknown = []
    for run, facts in facts_by_run.items():
        counts_by_run[run] = None
        if facts.n_cut is not None:
            counts_by_run[run] = {"n_queries": facts.n_cut, "depth": facts.depth, "n_ending_in_ties": facts.n_open}
        elif facts.n_queries:
            unknown.append(run)
        if facts.n_cut:
            ties_at_end.append(f"{run} {facts.n_open:,} of {format_count(facts.n_queries, 'query', 'queries')}")
    text = ""
    if ties_at_end:
        uncounted = f", not counted for {format_list(unknown)}" if unknown else ""
        text = f"in ties: {format_list(ties_at_end)}{uncounted}; retrieve more if a run was cut there"
    return Fact("cut_in_ties", counts_by_run, "list ends", text, brief=text)
