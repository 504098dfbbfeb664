"""How evaluations and intervals were made, in words that all reports share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadheat.io.values import counted
from deadheat.report.model import Fact
from deadheat.report.numbers import three

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deadheat.evaluation import Conventions, Evaluation
    from deadheat.measures import Measure
    from deadheat.precision import ScorePrecision

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
METHODS = {"bca": "BCa bootstrap", "percentile": "percentile bootstrap", "t": "Student's t"}


def nothing_judged(name: str) -> str:
    """Return the warning of a run without a judged document: the ids may be written in two ways."""
    return f"no document that {name} retrieves is judged: are the document ids written alike?"


def drawn_with(seed: int | None) -> str:
    """Return what follows a statement of something that was drawn, so that it can be had again."""
    return "" if seed is None else f" (--rng {seed})"


def broken_by(ties: str, seed: int | None) -> str:
    """Return what a tie counts; `seed` is that of the draws, if they are random."""
    return EXPLAINED[ties] + (drawn_with(seed) if ties == "random" else "")


def estimated_by(method: str, units: str, n_resamples: int, seed: int | None) -> str:
    """Return how intervals were made; `units` are what was resampled."""
    resamples = "" if method == "t" else f", {n_resamples:,} resamples{drawn_with(seed)}"
    return f"{METHODS[method]} over {units}{resamples}"


def made_under(conventions: Conventions) -> Iterator[Fact]:
    """Give the facts about the options of an evaluation but for the ties."""
    precision = conventions.score_precision
    yield Fact("score_precision", precision, "scores", _rounded_to(precision), is_note=precision is not None)
    yield Fact("missing", conventions.missing)
    yield Fact("no_relevant", conventions.no_relevant)


def _rounded_to(precision: ScorePrecision) -> str:
    if precision is None:
        return "compared as float64, not rounded"
    return f"rounded to {counted(precision, 'decimal') if isinstance(precision, int) else precision} first"


def named(ids: Sequence[str]) -> str:
    """Return how many queries there are, and the first ones."""
    return f"{counted(len(ids), 'query', 'queries')} ({three(ids)})"


def without_relevant(evaluations: Sequence[Evaluation]) -> Iterator[Fact]:
    """Name the queries without a relevant document, and say what they count.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        Of the same measures, under the same conventions.
    """
    first = evaluations[0]
    found: dict[str, list[str]] = {}
    alike: dict[tuple[tuple[str, ...], str], list[Measure]] = {}
    for measure in first.measures:
        ids = set[str]().union(*(evaluation.without_relevant(measure) for evaluation in evaluations))
        found[str(measure)] = sorted(ids)
        alike.setdefault(_counting(evaluations, measure, ids), []).append(measure)
    yield Fact("queries_without_relevant", found)
    for (alike_ids, where), measures in alike.items():
        if not alike_ids:
            continue
        worst = "count as 0" if all(one.higher_is_better for one in measures) else "count as the worst value"
        effect = worst if first.conventions.no_relevant == "zero" else "left out"
        of = "" if len(measures) == len(found) else f" for {', '.join(map(str, measures))}"
        yield Fact("", None, "nothing relevant", f"{named(alike_ids)}, {effect}{of}{where}", is_note=True)


def _counting(evaluations: Sequence[Evaluation], measure: Measure, ids: set[str]) -> tuple[tuple[str, ...], str]:
    """Return those of the queries that have a value, or would have, were they not skipped on demand; and of which runs.

    One that a run lacks has none where a measure has no worst value, whether anything is relevant to it or not: it is
    named there.
    """
    if evaluations[0].conventions.no_relevant == "skip":
        return tuple(sorted(ids)), ""
    lacking = [set(one.query_ids[~one[measure].kept].tolist()) for one in evaluations]
    counting = {query for query in ids if not all(query in own for own in lacking)}
    are_lacking = any(counting.intersection(own) for own in lacking)
    return tuple(sorted(counting)), " where a run has them" if are_lacking else ""
