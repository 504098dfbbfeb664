"""How evaluations and intervals were made, in words that all reports share."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from deadheat.core import hooks
from deadheat.core.evaluation.facts import NOTABLE, TOP, Facts
from deadheat.core.evaluation.intervals import FEWEST_RESAMPLED, Interval
from deadheat.core.evaluation.query_columns import heavy
from deadheat.core.kernels.weighting import effective_number
from deadheat.core.libraries import polars as pl
from deadheat.core.measures import Measure
from deadheat.core.measures.gains import LOWEST_POSITIVE
from deadheat.core.measures.meanings import MEANINGS, is_doubted, meaning
from deadheat.core.measures.notation import unit_of
from deadheat.core.report.cells import DOUBT, Cell, Span, count_cell, format_cell, share_cell
from deadheat.core.report.model import Fact, first_true, note_fact, warning_fact
from deadheat.core.report.report_parts import tell_parts
from deadheat.core.structures import group_values
from deadheat.core.wording import BY_DOC_ID, UNIT, format_count, format_in_brackets, format_list

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from deadheat.core.arrays import BoolArray, FloatArray, TextArray
    from deadheat.core.evaluation.evaluation import Evaluation
    from deadheat.core.evaluation.reconciling import Reconciled
    from deadheat.core.evaluation.scores import Scores
    from deadheat.core.evaluation.shared_weights import SharedWeights

    Scaled = TypeVar("Scaled", bound=DataclassInstance)

COUNTED = {"empty": "counted as empty rankings", "skip": "left out", "error": ""}  # --missing; an error is raised
EXPLAINED = {
    "expected": "the exact mean over all orders of equal scores",
    "best": "the judged documents first in every tie, highest relevance first",
    "worst": "the judged documents last in every tie, lowest relevance first",
    "doc_id": f"{BY_DOC_ID} (descending)",
    "input": "in the order of the file",
    "random": "one order of every tie, drawn at random",
    "unknown": "the values came without rankings",
}
RULES = {"doc_id": BY_DOC_ID, "input": "input", "worst": "worst", "best": "best", "expected": "exact"}
"""What columns of values under a tie policy are headed."""
METHODS = {  # in the order in which they are named
    "clopper-pearson": "Clopper-Pearson",
    "gaffke": "Gaffke's bounds",
    "bootstrap-t": "bootstrap-t (no narrower than Student's t)",
    "percentile": "percentile bootstrap",
    "t": "Student's t",
    "skewed-t": "Student's t, corrected for skewness",
    "bca": "BCa bootstrap",
    "ppi": "prediction-powered inference",
}
BOOTSTRAPS = ("bca", "percentile")  # whose intervals of few queries are too narrow: docs/figures/coverage.py
AT_ONCE = 64  # runs
OF_TIES = ("tie_std", "tie_min", "tie_max")
OF_MEANS = {
    *("mean", "baseline_mean", "difference", "low", "high", "expected_difference", "doc_id_difference"),
    *("simultaneous_low", "simultaneous_high"),
    *("standard_error", "query_standard_error", "tie_standard_error", "tie_std", "tie_min", "tie_max"),
}  # numbers that are as many times as large of a total as it has queries; a test and its p value do not change


class Known(Protocol):
    """What has ends that may not be known: an interval, or an estimate with one."""

    @property
    def is_known(self) -> bool:
        """Whether the ends say where the number may lie."""
        ...

    @property
    def unknown(self) -> str:
        """Why the ends are not known; empty if they are."""
        ...


class WithEnds(Known, Protocol):
    """An interval, or something that has one, such as a pair of systems."""

    @property
    def low(self) -> float:
        """The lower end."""
        ...

    @property
    def high(self) -> float:
        """The upper end."""
        ...

    @property
    def method(self) -> str:
        """How the interval was made."""
        ...

    @property
    def n_queries(self) -> int:
        """How many queries it is of."""
        ...

    @property
    def n_clusters(self) -> int | None:
        """How many clusters these are; None without clusters."""
        ...


def span_of(one: WithEnds) -> Span:
    """Return the ends of an interval, or of that of a pair, as a cell."""
    return Span(one.low, one.high, one.is_known)


def few_units(found: Iterable[WithEnds], unit: tuple[str, str] = UNIT) -> str:
    """Return a warning if bootstrap intervals rest on few queries or clusters, or an empty string.

    Those that cannot be known are not counted: `cannot_be_known` reports them.
    """
    units = (
        (one.n_queries, *unit) if one.n_clusters is None else (one.n_clusters, "cluster", None)
        for one in found
        if one.is_known and one.method in BOOTSTRAPS
    )
    return too_narrow(*min(units, default=(FEWEST_RESAMPLED, *unit)))


def too_narrow(number: int, noun: str, plural: str | None = None) -> str:
    """Return the warning of a bootstrap of so few queries or clusters, or an empty string where they are enough."""
    if number >= FEWEST_RESAMPLED:
        return ""
    return (
        f"a bootstrap of {format_count(number, noun, plural)} gives intervals that are too narrow: the method auto is"
        " better there"
    )


def as_cell(scores: Scores, of_ties: str = "") -> Cell:
    """Return what `reported` does, of a count an int where it is a whole number."""
    value = scores.reported(of_ties)
    return count_cell(value) if scores.measure.total else value


def cell_of(measure: Measure, value: float) -> Cell:
    """Return a value of a measure as a cell, of a count as :func:`count_cell` does."""
    return count_cell(value) if measure.total else value


def span_of_ties(scores: Scores) -> Span:
    """Return the ends that tie orders give to the mean of scores, of a count to the total."""
    return Span(scores.reported("tie_min"), scores.reported("tie_max"))


def in_totals(of_mean: Scaled, n_queries: int) -> Scaled:
    """Return a pair or an interval with the numbers of the total over so many queries."""
    names = OF_MEANS.intersection(field.name for field in fields(of_mean))
    return replace(of_mean, **{name: n_queries * getattr(of_mean, name) for name in names})


def reported_interval(scores: Scores, interval: Interval) -> Interval:
    """Return the interval of the mean of scores, of a count that of the total."""
    return in_totals(interval, scores.n_queries) if scores.measure.total else interval


def totals_of_row(
    row: Mapping[str, Any], counts: Collection[str], n_queries: int, prefixes: Sequence[str] = ("",)
) -> dict[str, Any]:
    """Return a row with a field `total` if there are counts, and `baseline_total` of a pair.

    A row of a count has totals there, no means, and all its numbers are of the total. `prefixes` are what names of
    numbers may begin with, as those of a part of a comparison do.
    """
    means = [f"{prefix}{mean}" for prefix in prefixes for mean in ("mean", "baseline_mean")]
    of_means = {f"{prefix}{name}" for prefix in prefixes for name in OF_MEANS}
    totals = {mean: mean.replace("mean", "total") for mean in means if counts and mean in row}
    if row["measure"] not in counts:
        return {**row, **dict.fromkeys(totals.values())}
    own = {name: n_queries * row[name] for name in of_means.intersection(row) if row[name] is not None}
    return {**row, **own, **dict.fromkeys(totals), **{total: own.get(mean) for mean, total in totals.items()}}


def mean_heading(measures: Iterable[Measure]) -> str:
    """Return the heading of a column of means, or of totals if there is nothing else in it."""
    return "total" if all(one.total for one in measures) else "mean"


DRAWN = ("bca", "bootstrap-t", "percentile")  # methods whose intervals are of drawn samples


def nothing_judged(name: str) -> str:
    """Return the warning of a run without a judged document: the ids may be written in two ways."""
    return f"no document that {name} retrieves is judged: are the document ids written alike?"


def drawn_with(seed: int | None) -> str:
    """Return the seed for the end of a sentence about something that was drawn, so that it can be reproduced."""
    return "" if seed is None else f" (rng {seed})"


def broken_by(ties: str, seed: int | None) -> str:
    """Return how ties were counted or broken; `seed` is that of the draws, if they are random."""
    return EXPLAINED[ties] + (drawn_with(seed) if ties == "random" else "")


def tell_ties(ties: str, seed: int | None) -> list[Fact]:
    """Say how ties were counted or broken."""
    return [
        Fact("ties", ties, "ties", f"{ties}: {broken_by(ties, seed)}", is_note=ties != "expected"),
        *([Fact("rng", seed)] if ties == "random" else []),  # only its seed reproduces an order that was drawn
    ]


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


def tell_unshared(
    found: Sequence[Unshared], missing: str, *, is_alone: bool = False, is_note: bool = True
) -> Iterator[Fact]:
    """Name the queries that only the qrels or only a run has, and say how they count.

    Parameters
    ----------
    found : sequence of Unshared
        Of each run.
    missing : str
        How the queries that a run lacks were counted.
    is_alone : bool, default False
        Whether JSON has the ids of the only run, or of each run by its name.
    is_note : bool, default True
    """
    for key, effect in (("missing_queries", COUNTED[missing]), ("unjudged_queries", "left out, not in the qrels")):
        ids = {one.name: list(getattr(one, key)) for one in found}
        yield Fact(key, ids[found[0].name] if is_alone else ids)
        for own, runs in group_values((tuple(own), run) for run, own in ids.items() if own).items():
            whose = "" if is_alone else f"{format_list(runs)}: "
            text = f"{whose}{len(own):,} ({format_list(own)}), {effect}"
            yield Fact(
                "",
                None,
                key.replace("_", " "),
                text,
                is_warning=not is_note and missing == "skip" and key == "missing_queries",
                is_note=is_note,
                brief=text,
            )


def estimated_by(methods: Iterable[tuple[str, str]], units: str, n_resamples: int, seed: int | None) -> str:
    """Return how intervals were made.

    Parameters
    ----------
    methods : iterable of (str, str)
        The measure, or whatever else has intervals, and the method of each.
    units : str
        What was resampled.
    n_resamples : int
    seed : int or None
    """
    names = group_values((method, name) for name, method in dict.fromkeys(methods))
    drawn = f", {n_resamples:,} resamples{drawn_with(seed)}"
    told: list[str] = []
    for method in sorted(names, key=list(METHODS).index):
        of = "others" if len(told) == len(names) - 1 else format_list(names[method])
        text = METHODS[method] + (f" over {units}" if of == "others" else "") + (drawn if method in DRAWN else "")
        told.append(text if len(names) == 1 else f"{of}: {text}")
    return "; ".join(told)


def cannot_be_known(given: Iterable[tuple[str, Known]]) -> Iterator[Fact]:
    """Say which intervals have a question mark, and why; and of which means the values are so skewed that they may.

    Parameters
    ----------
    given : iterable of (str, Known)
        All that have ends, with what they are of.
    """
    having = list(given)
    found = group_values((one.unknown, name) for name, one in having if not one.is_known)
    are_all = len(found) == 1 and sum(map(len, found.values())) == len(having)
    told = [why + ("" if are_all else format_in_brackets(names, "interval")) for why, names in found.items()]
    text = f"cannot be known: {'; '.join(told)}" if told else ""
    yield note_fact(DOUBT, text, brief=f"cannot be known: {'; '.join(found)}" if told else "")
    skewed = [f"{name}: {one.skewness:+.1f}" for name, one in having if isinstance(one, Interval) and one.doubtful]
    text = "so few values may lack the rare extreme ones: intervals may cover less than they say" if skewed else ""
    yield note_fact("skewed", text + format_in_brackets(skewed, "interval") if skewed else "", brief=text)


def made_under(evaluations: Sequence[Evaluation]) -> list[Fact]:
    """Return the facts about the options of evaluations but for the ties."""
    first, conventions = evaluations[0], evaluations[0].conventions
    settings = [(one, getattr(conventions, one.name)) for one in fields(conventions) if one.metadata["told"]]
    return [
        *(
            Fact(one.name, value, one.metadata["heading"], text, is_note=value != one.default)
            for one, value in settings
            if (text := one.metadata["told"](value))
        ),
        *negatives_taken_out(evaluations),
        Fact("missing", conventions.missing),
        Fact("no_relevant", conventions.no_relevant or (None if first.unanswerable else "zero")),
        *weighted(first),
        *tell_parts(evaluations),
        *(fact for module in hooks.load("facts") for fact in module.facts_of_evaluations(evaluations)),
        *doubted_names(first.measures),
    ]


def negatives_taken_out(evaluations: Sequence[Evaluation]) -> list[Fact]:
    """Say that lists without unjudged documents also lack those of negative relevance, where there are some."""
    first = evaluations[0]
    if not first.conventions.judged_only:
        return []
    n_negative = max(int((one.placements.judged_relevance < 0).sum()) for one in evaluations)
    if not n_negative:
        return []
    text = f"documents of relevance below 0 are taken out, too ({n_negative:,} in the qrels), as trec_eval -J does"
    return [Fact("negative_taken_out", n_negative, "lists", text, is_note=True)]


def weighted(evaluation: Evaluation) -> list[Fact]:
    """Say that means are weighted, what the queries are worth, and which of them have much of the weight."""
    scores = next((one for one in evaluation if one.weights is not None), None)
    if scores is None or scores.weights is None:
        return []
    return tell_weights(evaluation.query_ids, scores.weights, scores.kept)


def tell_weights(query_ids: TextArray, weights: FloatArray, has_value: BoolArray) -> list[Fact]:
    """Say that means are weighted, what the queries with a value are worth, and which have much of the weight."""
    n_queries = int(has_value.sum())
    n_effective = effective_number(weights[has_value])
    n_out = int((weights == 0).sum())
    shares = heavy(query_ids, weights)
    worth = f"{format_count(n_queries, 'query is', 'queries are')} worth {n_effective:.1f} of equal weight"
    out = f"; {format_count(n_out, 'query', 'queries')} of weight 0 left out" if n_out else ""
    heaviest = format_list([f"{query} ({format_cell(share_cell(of_query))})" for query, of_query in shares.items()])
    value = {"n_effective": n_effective, "n_without": n_out, "shares": shares}
    return [
        Fact("weights", value, "weights", f"means are weighted: {worth}{out}", is_note=True),
        note_fact("weights", f"more than a tenth of the weight: {heaviest}" if shares else ""),
    ]


def finite(number: float) -> float | None:
    """Return a number as JSON can hold it."""
    return number if math.isfinite(number) else None


def doubted_names(measures: Iterable[Measure]) -> Iterator[Fact]:
    """Say how names were read that mean something else elsewhere."""
    for measure in measures:
        name = type(measure).__name__
        if name in MEANINGS and is_doubted(measure.label):
            yield note_fact("name", f"{measure.label} is read as {meaning(measure.label, name)}")


def brought_together(together: Reconciled | None) -> list[Fact]:
    """Say how the judgments of evaluations differ, and what was done about it."""
    if together is None:
        return []
    held = {
        **{of: getattr(together, of) for of in ("way", "reference", "n_queries")},
        **{of: list(getattr(together, of)) for of in ("not_asked", "left_out")},
        "changes": {
            name: {
                **{of: list(getattr(one, of)) for of in ("changed", "added", "gone", "rules")},
                "n_same": len(one.same),
            }
            for name, one in together.changes.items()
        },
    }
    return [
        Fact("together", held, "changes", "; ".join(together.told()), is_note=True),
        warning_fact("renamed?", together.renamed()),
    ]


def tell_shared_weights(shared: SharedWeights | None) -> list[Fact]:
    """Say under which weights evaluations of different ones were brought."""
    if shared is None:
        return []
    value = {
        "reference": shared.reference,
        "source": shared.source,
        "reweighted": list(shared.reweighted),
        "left_out": {name: list(queries) for name, queries in shared.left_out.items()},
    }
    text = shared.told()
    return [Fact("shared_weights", value, "weights", text, is_note=True, brief=text)]


def named(ids: Sequence[str]) -> str:
    """Return how many queries there are, and the first ones."""
    return f"{format_count(len(ids), 'query', 'queries')} ({format_list(ids)})"


def of_runs(evaluations: Sequence[Evaluation]) -> list[Fact]:
    """Say which queries count, what was assumed to read the data, what is not judged, and where runs may be cut."""
    runs = group_values((text, one.name) for one in evaluations for text in one.notes)
    notes = [
        text + ("" if len(names) == len(evaluations) else f" ({format_list(names)})") for text, names in runs.items()
    ]
    found = {one.name: one.facts for one in evaluations}
    shares = {name: facts.unjudged_share for name, facts in found.items()}
    high = [
        f"{name} {format_cell(share_cell(one))}" for name, one in shares.items() if one is not None and one >= NOTABLE
    ]
    unjudged = f"of the top {TOP} documents: {format_list(high)}" if high else ""
    cut = {
        name: {"n_queries": facts.n_cut, "depth": facts.depth, "n_ending_in_ties": facts.n_open}
        for name, facts in found.items()
        if facts.n_cut is not None
    }
    ties_at_end = [
        f"{name} {facts.n_open:,} of {format_count(facts.n_queries, 'query', 'queries')}"
        for name, facts in found.items()
        if facts.n_cut
    ]
    unknown = [name for name, facts in found.items() if facts.n_cut is None and facts.n_queries]
    ends = ""
    if ties_at_end:
        uncounted = f", not counted for {format_list(unknown)}" if unknown else ""
        ends = f"in ties: {format_list(ties_at_end)}{uncounted}; retrieve more if a run was cut there"
    return [
        *tell_unshared(evaluations, evaluations[0].conventions.missing),
        *without_relevant(evaluations),
        below_level(evaluations[0]),
        Fact(
            "notes",
            {one.name: list(one.notes) for one in evaluations},
            "data",
            "; ".join(notes),
            is_note=True,
            brief="; ".join(notes),
        ),
        *_retrieving_themselves(found),
        *_not_retrieved(evaluations),
        Fact("unjudged_share", shares, "unjudged", unjudged, brief=unjudged),
        Fact("cut_in_ties", dict.fromkeys(found) | cut, "list ends", ends, brief=ends),
    ]


def _retrieving_themselves(facts: Mapping[str, Facts]) -> Iterator[Fact]:
    """Name the queries that retrieve a document with their id, and how many do in each run."""
    queries = {run: list(one.own_queries) for run, one in facts.items()}
    counts = [f"{run} {len(ids):,} ({format_list(ids)})" for run, ids in queries.items() if ids]
    text = f"queries that retrieve a document with their own id: {format_list(counts, between='; ')}"
    advice = "; if it is the query itself, --exclude self leaves it out, as BEIR does, and MTEB in some tasks"
    yield Fact("retrieving_themselves", queries, "same id", text + advice if counts else "", is_note=True)


def _not_retrieved(evaluations: Sequence[Evaluation]) -> Iterator[Fact]:
    """Count the relevant documents that no run retrieved: ids that are out of date are among them."""
    first = evaluations[0]
    if (
        first.conventions.depth is not None
        or any(one.known_depth is not None for one in evaluations)
        or (len(evaluations) > 1 and first.conventions.missing == "skip")
        or first.qrels.judging_rule is not None  # of spans R says it
    ):
        return
    level = LOWEST_POSITIVE if first.conventions.rel is None else first.conventions.rel
    n_relevant = max(int(one.placements.n_relevant(level).sum()) for one in evaluations)
    rows = [(one.placements, np.flatnonzero(one.placements.relevance >= level)) for one in evaluations]
    lacking, where = n_relevant - len(rows[0][1]), "not in the run"
    if len(rows) > 1:
        found = first.placements.pairs(np.zeros(0, np.int64))
        for start in range(0, len(rows), AT_ONCE):  # of a thousand runs without all their rows in memory
            found = pl.concat([found, *(own.pairs(of) for own, of in rows[start : start + AT_ONCE])]).unique()
        lacking, where = n_relevant - len(found), "in no run"
    if first.conventions.exclude is not None:
        where += ", or excluded"  # "self" leaves judgments of documents that it excludes
    text = ""
    if lacking > 0:
        verb = "is" if lacking == 1 else "are"
        text = f"{lacking:,} of {format_count(n_relevant, 'relevant document')} {verb} {where}"
    is_notable = lacking >= NOTABLE * n_relevant
    yield Fact(
        "not_retrieved",
        {"n_relevant": n_relevant, "n": lacking},
        "not found",
        text,
        brief=text if is_notable else "",
    )


def without_relevant(evaluations: Sequence[Evaluation]) -> Iterator[Fact]:
    """Name the queries without a relevant document, and say how they count.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        Of the same measures, under the same conventions.
    """
    first = evaluations[0]
    are_skipped = first.conventions.no_relevant == "skip"
    found: dict[str, list[str]] = {}  # queries by measure
    alike: dict[tuple[tuple[str, ...], str, bool], list[Measure]] = {}  # measures of which the same is to be said
    for measure in first.measures:
        scores = [one[measure] for one in evaluations]
        ids = set[str]().union(*(one.query_ids[~one.has_relevant].tolist() for one in scores))
        found[measure.label] = sorted(ids)
        counting, where = (tuple(sorted(ids)), "") if are_skipped else _counting(scores, ids)
        is_right = any(one.spread.is_right.any() for one in scores)
        alike.setdefault((counting, where, is_right), []).append(measure)
    yield Fact("queries_without_relevant", found)
    unanswerable = sorted(
        set[str]().union(*(one.query_ids.tolist() for one in evaluations)).intersection(first.unanswerable)
    )
    if unanswerable and first.conventions.no_relevant is None:
        asking = [one.label for one in first.measures if one.asks_for_relevant]
        text = f"{named(unanswerable)}, left out of {', '.join(asking)}; Abstain judges them" if asking else ""
        held = {"queries": unanswerable, "left_out_of": asking}
        yield Fact("queries_unanswerable", held, "no answer", text, brief=text)
    for (counting, where, is_right), measures in alike.items():
        effects = {
            "left out": are_skipped,
            "count as 1": is_right and first.conventions.no_relevant == "one",
            "count as 1 where nothing is retrieved, else as 0": is_right,
            "count as 0": all(one.higher_is_better for one in measures),
        }
        of = "" if len(measures) == len(found) else f" for {', '.join(one.label for one in measures)}"
        if counting:
            yield note_fact(
                "nothing relevant", f"{named(counting)}, {first_true(effects, 'count as the worst value')}{of}{where}"
            )


def below_level(evaluation: Evaluation) -> Fact:
    """Count the positive labels that are too low to be relevant by the level that measures have where none is named.

    Labels between 0 and 1 beside a 1 are such labels: shares of annotators, or scores of a judge.
    """
    relevance = evaluation.placements.judged_relevance
    measures: dict[float, list[str]] = {}
    if evaluation.conventions.rel is None:
        for measure in evaluation.measures:
            level = getattr(measure, "rel", None)
            if level is not None and not measure.names_rel:
                measures.setdefault(float(level), []).append(measure.label)
    n_positive = int((relevance > 0).sum())
    held: list[dict[str, object]] = []
    texts: list[str] = []
    for level, names in measures.items():
        n_below = int(((relevance > 0) & (relevance < level)).sum())
        if n_below:
            held.append({"rel": level, "n": n_below, "n_positive": n_positive, "measures": names})
            are = "lies" if n_below == 1 else "lie"
            count = "counts" if len(names) == 1 else "count"
            texts.append(
                f"{n_below:,} of {format_count(n_positive, 'positive label')} {are} below {level:g}, from which on"
                f" {format_list(names)} {count} a document as relevant"
            )
    text = f"{'; '.join(texts)}; rel sets another level" if texts else ""
    return Fact("below_rel", held, "relevant", text, is_note=True)


def _counting(scores: Sequence[Scores], ids: set[str]) -> tuple[tuple[str, ...], str]:
    """Return those of the queries that have a value, and in which runs.

    A query that a run lacks has none if the measure has no worst value, relevant documents or not: it is reported
    there.
    """
    lacking = [set(one.query_ids[~one.kept].tolist()) for one in scores]
    counting = ids - set.intersection(*lacking)
    return tuple(sorted(counting)), "" if counting.isdisjoint(set().union(*lacking)) else " where a run has them"


def tell_counts(measures: Sequence[Measure]) -> Iterator[Fact]:
    """Say which numbers of a table are totals, if others are means, and which are geometric means."""
    if counts := [one.label for one in measures if one.total]:
        text = f"{', '.join(counts)}: totals over the queries, all else means" if len(counts) < len(measures) else ""
        yield Fact("counts", counts, "counts", text, brief=text)
    yield from tell_geometric([one.label for one in measures if one.geometric])


def tell_geometric(measures: Iterable[str]) -> Iterator[Fact]:
    """Say which numbers are in logarithms."""
    if found := [*dict.fromkeys(one for one in measures if unit_of(one))]:
        yield Fact(
            "geometric_means",
            found,
            "geometric means",
            f"{', '.join(found)}: the values of queries, and their differences, are in logarithms",
            is_note=True,
        )
