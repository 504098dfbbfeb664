"""The report of evaluations: scores by measure and run, and everything that was silently the case."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING

from deadheat.report.model import Column, Fact, Marked, Report, Row, Table
from deadheat.report.numbers import MARK, NOISE, counted, format_cell, three

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from deadheat.evaluation import Evaluation
    from deadheat.measures import Measure
    from deadheat.precision import ScorePrecision
    from deadheat.report.model import Cell
    from deadheat.scores import Scores

MEASURE, QUERY = Column("measure", "measure"), Column("query_id", "query")
SPREAD = (Column("tie_std", "tie std"), Column("tie_min", "tie min"), Column("tie_max", "tie max"))
COUNTED = {"empty": "counted as empty rankings", "skip": "left out", "error": ""}  # --missing; an error is raised
LEFT_OUT = "left out, not in the qrels"
EXPLAINED = {
    "expected": "expected: the exact mean over all orders of equal scores",
    "best": "best: the judged documents first in every tie, highest relevance first",
    "worst": "worst: the judged documents last in every tie, lowest relevance first",
    "doc_id": "doc_id: by document id, descending, as trec_eval does",
    "input": "input: in the order of the file",
    "random": "random: one order of every tie, drawn at random",
}


@dataclass(frozen=True)
class Settings:
    """How the evaluations were made, as far as they do not say it themselves.

    Attributes
    ----------
    qrels : str
        The name of the qrels.
    missing, no_relevant : str
    score_precision : {"float32", "float16", "bfloat16"}, int or None
    seed : int, optional
        Of ``ties="random"``.
    digits : int, optional
        Decimals of the numbers in sentences.
    unmatched : mapping of str to (str, str)
        A document of the run and one of the qrels, by the name of each run that retrieves no judged document.
    """

    qrels: str
    missing: str = "empty"
    no_relevant: str = "zero"
    score_precision: ScorePrecision = None
    seed: int | None = None
    digits: int | None = None
    unmatched: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def report_evaluations(evaluations: Sequence[Evaluation], settings: Settings, *, per_query: bool = False) -> Report:
    """Return the report of evaluations of the same measures.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        With different names.
    settings : Settings
    per_query : bool, default False
        Whether a table of all queries stands before the one of their means.
    """
    tables = [_summarise(evaluations, settings)]
    if per_query:
        tables.insert(0, list_queries(evaluations))
    return Report(tuple(tables), tuple(_facts(evaluations, settings)))


def _summarise(evaluations: Sequence[Evaluation], settings: Settings) -> Table:
    """Return a table with a row a measure and a group of columns a run: mean (of a count: the total) and tie spread."""
    rows = [
        Row((str(measure),), tuple(_summary(evaluation, measure, settings) for evaluation in evaluations))
        for measure in evaluations[0].measures
    ]
    columns = (Column("value", "mean"), *SPREAD)
    return Table("scores", (MEASURE,), columns, tuple(rows), tuple(evaluation.name for evaluation in evaluations))


def list_queries(evaluations: Sequence[Evaluation]) -> Table:
    """Return a table with a row a query and measure; a query that a run leaves out is empty there."""
    queries = sorted(set().union(*(evaluation.query_ids.tolist() for evaluation in evaluations)))
    columns = [_by_query(evaluation) for evaluation in evaluations]
    rows = [
        Row((query, str(measure)), tuple(column.get((query, str(measure)), (None,) * 4) for column in columns))
        for query in queries
        for measure in evaluations[0].measures
    ]
    names = tuple(evaluation.name for evaluation in evaluations)
    return Table("per_query", (QUERY, MEASURE), (Column("value", "value"), *SPREAD), tuple(rows), names)


def _summary(evaluation: Evaluation, measure: Measure, settings: Settings) -> tuple[Cell, ...]:
    scores = evaluation[measure]
    mean = (scores.mean, scores.mean_tie_std, scores.mean_tie_min, scores.mean_tie_max)
    if measure.total:
        return tuple(_count(value * scores.n_queries) for value in mean)
    return (Marked(scores.mean), *mean[1:]) if _unexplained(evaluation, scores, settings) else mean


def _unexplained(evaluation: Evaluation, scores: Scores, settings: Settings) -> list[str]:
    """Return the queries without a value that were not skipped on demand."""
    ids: list[str] = scores.query_ids[~scores.kept].tolist()
    skipped = set(evaluation.without_relevant(scores.measure)) if settings.no_relevant == "skip" else set()
    return [query for query in ids if query not in skipped]


def _count(value: float) -> Cell:
    """Return a count as an int; over ties it may have a fraction."""
    whole = round(value) if math.isfinite(value) else None
    return whole if whole is not None and abs(value - whole) < 1e-9 * max(1.0, abs(value)) else value


def _by_query(evaluation: Evaluation) -> dict[tuple[str, str], tuple[Cell, ...]]:
    found: dict[tuple[str, str], tuple[Cell, ...]] = {}
    for scores in evaluation:
        columns = (scores.values, scores.tie_std, scores.tie_min, scores.tie_max)
        name, as_cell = str(scores.measure), _count if scores.measure.total else _number
        for query, *cells in zip(scores.query_ids.tolist(), *(column.tolist() for column in columns), strict=True):
            found[query, name] = tuple(map(as_cell, cells))
    return found


def _number(value: float) -> Cell:
    return None if math.isnan(value) else value


def _facts(evaluations: Sequence[Evaluation], settings: Settings) -> Iterator[Fact]:
    first = evaluations[0]
    n_queries = len(first.query_ids) + (len(first.missing_queries) if settings.missing == "skip" else 0)
    yield from _unmatched(settings)
    yield Fact("deadheat", version("deadheat"))
    yield Fact("qrels", settings.qrels)
    yield Fact("n_queries", n_queries, "queries", f"{n_queries:,} in {settings.qrels}{_nothing_wrong(evaluations)}")
    drawn = "" if settings.seed is None else f" (--rng {settings.seed})"
    yield Fact("ties", first.ties, "ties", EXPLAINED[first.ties] + drawn)
    if first.ties == "random":
        yield Fact("rng", settings.seed)
    value, heading, text = _effect(evaluations, settings.digits)
    yield Fact("effect_of_ties", value, heading, "" if len(settings.unmatched) == len(evaluations) else text)
    yield Fact("score_precision", settings.score_precision, "scores", _precision(settings.score_precision))
    yield Fact("missing", settings.missing)
    yield Fact("no_relevant", settings.no_relevant)
    yield from _queries_missing(evaluations, settings)
    yield from _by_run(
        "unjudged_queries",
        "unjudged queries",
        evaluations,
        lambda one: one.unjudged_queries,
        LEFT_OUT,
    )
    yield from _without_relevant(evaluations, settings)
    yield from _without_value(evaluations, settings)


def _unmatched(settings: Settings) -> Iterator[Fact]:
    """Warn of runs that retrieve no judged document: the ids may be written in two ways."""
    found = {run: {"run": of_run, "qrels": of_qrels} for run, (of_run, of_qrels) in settings.unmatched.items()}
    yield Fact("nothing_judged", found)
    for run, (of_run, of_qrels) in settings.unmatched.items():
        text = (
            f"no document that {run} retrieves is judged: are the document ids written alike?"
            f" (run: {of_run!r}; qrels: {of_qrels!r})"
        )
        yield Fact("", None, "WARNING", text, is_warning=True)


def _nothing_wrong(evaluations: Sequence[Evaluation]) -> str:
    """Say what is not the case; what is gets a line of its own."""
    several = len(evaluations) > 1
    lacking = any(one.without_relevant(measure) for one in evaluations for measure in one.measures)
    said = {
        f"all in {'every' if several else 'the'} run": any(one.missing_queries for one in evaluations),
        "all with a relevant document": lacking,
        f"{'no run has' if several else 'the run has no'} others": any(one.unjudged_queries for one in evaluations),
    }
    absent = [text for text, is_so in said.items() if not is_so]
    return f": {', '.join(absent)}" if absent else ""


def _effect(evaluations: Sequence[Evaluation], digits: int | None) -> tuple[dict[str, object] | None, str, str]:
    """Return the value that tie orders move most: for JSON, and as heading and text."""
    spans = [
        (
            math.isfinite(scores.measure.range[1]),
            scores.mean_tie_max - scores.mean_tie_min,
            str(scores.measure),
            one.name,
        )
        for one in evaluations
        for scores in one
    ]
    # measures without an upper bound, such as ranks, are of another scale: they count if no other moves
    _, span, measure, run = max((found for found in spans if found[1] > NOISE), default=(False, 0.0, "", ""))
    if not span:
        return None, "", "none: no order of equal scores changes any value"
    text = f"tie order alone moves {measure} of {run} by up to {format_cell(span, digits)}"
    return {"run": run, "measure": measure, "range": span}, "", text


def _precision(precision: ScorePrecision) -> str:
    if precision is None:
        return "compared as float64, not rounded"
    if isinstance(precision, int) or precision.isdigit():
        return f"rounded to {counted(int(precision), 'decimal')} first"
    return f"rounded to {precision} first"


def _queries_missing(evaluations: Sequence[Evaluation], settings: Settings) -> Iterator[Fact]:
    effect = COUNTED[settings.missing]
    return _by_run("missing_queries", "missing queries", evaluations, lambda one: one.missing_queries, effect)


def _by_run(
    key: str,
    heading: str,
    evaluations: Sequence[Evaluation],
    queries_of: Callable[[Evaluation], tuple[str, ...]],
    effect: str,
) -> Iterator[Fact]:
    """Give one fact for JSON with all ids, and a line for each run that has any."""
    found = {evaluation.name: list(queries_of(evaluation)) for evaluation in evaluations}
    yield Fact(key, found)
    alike: dict[tuple[str, ...], list[str]] = {}
    for run, ids in found.items():
        alike.setdefault(tuple(ids), []).append(run)
    alike.pop((), None)
    for alike_ids, runs in alike.items():
        yield Fact("", None, heading, f"{', '.join(runs)}: {len(alike_ids):,} ({three(alike_ids)}), {effect}")


def _queries(ids: Sequence[str]) -> str:
    return f"{counted(len(ids), 'query', 'queries')} ({three(ids)})"


def _without_relevant(evaluations: Sequence[Evaluation], settings: Settings) -> Iterator[Fact]:
    heading = "nothing relevant"
    found = {
        str(measure): sorted(set().union(*(evaluation.without_relevant(measure) for evaluation in evaluations)))
        for measure in evaluations[0].measures
    }
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, ids in found.items():
        alike.setdefault(tuple(ids), []).append(name)
    alike.pop((), None)
    yield Fact("queries_without_relevant", found)
    higher = {str(measure): measure.higher_is_better for measure in evaluations[0].measures}
    for alike_ids, names in alike.items():
        worst = "count as 0" if all(higher[name] for name in names) else "count as the worst value"
        effect = worst if settings.no_relevant == "zero" else "left out"
        of = "" if len(names) == len(found) else f" for {', '.join(names)}"
        yield Fact("", None, heading, f"{_queries(alike_ids)}, {effect}{of}")


def _without_value(evaluations: Sequence[Evaluation], settings: Settings) -> Iterator[Fact]:
    """Give the queries without a value: skipped on demand, or not in the run where a measure has no worst value."""
    found: dict[str, dict[str, list[str]]] = {}
    alike: dict[tuple[tuple[str, ...], tuple[str, ...], bool], list[str]] = {}
    for evaluation in evaluations:
        marked: dict[tuple[str, ...], list[str]] = {}
        for scores in evaluation:
            ids = scores.query_ids[~scores.kept].tolist()
            if ids:
                found.setdefault(evaluation.name, {})[str(scores.measure)] = ids
            if unexplained := _unexplained(evaluation, scores, settings):
                marked.setdefault(tuple(unexplained), []).append(str(scores.measure))
        for alike_ids, names in marked.items():
            are_lacking = set(evaluation.missing_queries).issuperset(alike_ids)
            alike.setdefault((tuple(names), alike_ids, are_lacking), []).append(evaluation.name)
    yield Fact("queries_without_value", found)
    for (measures, alike_ids, are_lacking), runs in alike.items():
        lack = f" that {', '.join(runs)} lack{'s' if len(runs) == 1 else ''}" if are_lacking else ""
        has = "has" if len(alike_ids) == 1 else "have"
        them = "it" if len(measures) == 1 else "them"
        yield Fact(
            "",
            None,
            MARK,
            f"{', '.join(measures)}: without the {_queries(alike_ids)}{lack}, which {has} no value for {them}",
        )
