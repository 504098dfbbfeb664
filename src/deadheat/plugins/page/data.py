"""What the script of a page reads: values by query in columns, rankings of some queries, and figures, once each."""

import base64
import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, groupby, permutations, product
from operator import itemgetter
from typing import Any

import numpy as np
import polars as pl

from deadheat.core import hooks
from deadheat.core.arrays import FloatArray, align_values, is_member
from deadheat.core.data.rounding import round_scores
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.intervals import IntervalOptions
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.stratum import label
from deadheat.core.measures import Measure, unit_of
from deadheat.core.placements.policies import POLICIES
from deadheat.core.report.score_tables import level_heading
from deadheat.core.scalars import NOISE
from deadheat.core.settings import Conventions
from deadheat.core.wording import format_for_people
from deadheat.plugins.compare.deciding import explain_doubt, find_favourite
from deadheat.plugins.compare.orders import MAX_ORDERS, list_order_values
from deadheat.plugins.page.subject import MOST_SYSTEMS, Subject, glance, headline_of

LONGEST_TEXT = 200  # characters of a document, below its id
N_RANKS = 100  # of each ranking
N_STEPS = 25  # judged documents of each ranking, of which it is shown what they add to the value
STEPPED = 5  # systems, the best first, of whose rankings it is shown
MOST_VALUES = 50_000  # that are kept with all digits; more are rounded
ROUNDED = 7  # decimals
MOST_EXACT, ROUNDED_MORE = 400_000, 5  # of still more values, of which a page shows four decimals
N_CURVE = 600  # of many queries, the differences that a figure shows
MOST_STRATA = 200  # of many queries, the largest strata of each grouping that can be looked at
FEW_ORDERS = 24  # of the ties of a query, which are listed one by one
MOST_LISTED = 12  # different values over the orders of ties that are listed; more are gathered in as many bins


def encoded(data: object) -> str:
    """Return data as the content of a script element: compressed JSON, in which no character can end the element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    packed = base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode()
    return json.dumps({"encoding": "deflate, base64", "data": packed}).replace("<", "\\u003c")


def data_of(subject: Subject) -> dict[str, Any]:
    """Return what the script shows of a subject."""
    systems = _select_systems(subject)
    shown = [measure for measure in subject.measures if not measure.only_total] or [subject.main]
    duel = subject.duel or systems[:1]
    baseline = None if subject.comparison is None else subject.comparison.design.baseline
    data: dict[str, Any] = {}
    data["systems"] = [format_for_people(name) for name in systems]
    data["duel"] = [systems.index(name) if name in systems else 0 for name in duel]
    data["total"] = len(subject.query_ids)
    data["queries"] = [format_for_people(query_id) for query_id in subject.held_ids]
    data["texts"] = _texts(subject)
    data["measures"] = [_describe_measure(measure) for measure in shown]
    data["left"] = len(subject.ranked) - len(systems)
    data["baseline"] = systems.index(baseline) if baseline in systems else None
    data["levels"] = _head_levels(subject, shown)
    data["weights"] = _weights(subject)
    data["headlines"] = [format_for_people(headline_of(subject, measure)) for measure in shown]
    data["glances"] = [_glance(subject, measure) for measure in shown]
    data["board"] = _of_each(shown, systems, partial(_level_of, subject))
    data["pairs"] = list(_pairs(subject, systems, shown))
    data["strata"] = list(_strata(subject, systems, shown))
    data["curves"] = _curves(subject, systems, shown)
    digits = _choose_digits(3 * len(systems) * len(subject.held) * len(subject.measures))
    data["values"] = _of_each(shown, systems, partial(_values, subject, digits=digits))
    data["ties"] = [_ties(subject, name) for name in systems]
    data["rankings"] = _rankings(subject, systems)
    return data


def _texts(subject: Subject) -> list[str] | None:
    """Return the texts of the queries that are held; None without any."""
    if subject.texts is None:
        return None
    return [format_for_people(subject.texts[place]) for place in subject.held.tolist()]


def _of_each(
    measures: Iterable[Measure], systems: Sequence[str], find: Callable[[str, Measure], Any]
) -> list[list[Any]]:
    """Return for each measure what there is of each system by it."""
    rows = []
    for measure in measures:
        rows.append([find(system, measure) for system in systems])
    return rows


def _select_systems(subject: Subject) -> tuple[str, ...]:
    """Return the systems that a page shows: the best, and those that are looked at first."""
    best = subject.ranked[: MOST_SYSTEMS - 1]
    names = dict.fromkeys((*best, *(subject.duel or ()), *subject.ranked))
    return tuple(names)[:MOST_SYSTEMS]


def _choose_digits(n_values: int) -> int | None:
    """Return to how many digits values are rounded, the fewer the more there are; None where they are exact."""
    if n_values <= MOST_VALUES:
        return None
    return ROUNDED if n_values <= MOST_EXACT else ROUNDED_MORE


def _describe_measure(measure: Measure) -> dict[str, Any]:
    """Return what the script needs to know of a measure."""
    return {
        "name": measure.label,
        "up": measure.higher_is_better,
        "total": measure.total,
        "unit": unit_of(measure),
    }


def _head_levels(subject: Subject, shown: Sequence[Measure]) -> list[str]:
    """Return the heading of the intervals of each measure."""
    options = IntervalOptions() if subject.comparison is None else subject.comparison.design
    headings = []
    for measure in shown:
        counts = {evaluation[measure].n_queries for evaluation in subject.evaluations.values()}
        headings.append(level_heading(options.confidence_level, counts))
    return headings


def _glance(subject: Subject, measure: Measure) -> list[list[str]]:
    """Return what a glance at the queries shows by a measure."""
    return [[format_for_people(text) for text in texts] for texts in glance(subject, measure)]


def _weights(subject: Subject) -> list[float | None] | None:
    """Return the weights of the queries that are held; None without any."""
    weights = np.full(len(subject.query_ids), np.nan)
    for evaluation in subject.evaluations.values():
        if evaluation.weights is not None:
            given = align_values(evaluation.weights, evaluation.query_ids, np.array(subject.query_ids, dtype=object))
            weights = np.where(np.isnan(given), weights, given)
    if np.isnan(weights).all():
        return None
    return [None if math.isnan(weight) else weight for weight in weights[subject.held].tolist()]


def _curves(subject: Subject, systems: Sequence[str], shown: Sequence[Measure]) -> list[Any] | None:
    """Return by measure and system what a figure shows of the differences where not all queries are held; else None.

    Differences are from the system that others are compared with when the page is opened.
    """
    if not subject.is_summary or subject.duel is None:
        return None
    baseline = subject.comparison and subject.comparison.design.baseline
    other = baseline or subject.duel[1]
    curves = []
    for measure in shown:
        values_by_system = {}
        for name in {*systems, other}:
            scores = subject.evaluations[name][measure]
            values_by_system[name] = subject.of_all_queries(scores, scores.values)
        curves_of_measure = []
        for name in systems:
            curve = None
            if name != other:
                curve = _curve(values_by_system[name] - values_by_system[other])
            if curve is not None:
                curve["against"] = systems.index(other)
            curves_of_measure.append(curve)
        curves.append(curves_of_measure)
    return curves


def _curve(differences: FloatArray) -> dict[str, Any] | None:
    """Return differences at evenly spaced queries, the highest first, and of all how many are above and below 0.

    Examples
    --------
    >>> _curve(np.array([0.5, np.nan, -0.25, 0.0]))
    {'values': [0.5, 0, -0.25], 'up': 1, 'down': 1, 'n': 3}
    """
    descending = np.sort(differences[~np.isnan(differences)])[::-1]
    if not len(descending):
        return None
    places = np.linspace(0, len(descending) - 1, min(N_CURVE, len(descending))).astype(np.int64)
    return {
        "values": _numbers(descending[places], ROUNDED_MORE),
        "up": int(np.count_nonzero(descending > NOISE)),
        "down": int(np.count_nonzero(descending < -NOISE)),
        "n": len(descending),
    }


def _level_of(subject: Subject, system: str, measure: Measure) -> dict[str, float | None]:
    """Return the mean (of counts the total) of a system, its interval, and what ties and a rule make of it."""
    scores, interval = subject.evaluations[system][measure], subject.intervals.get((system, measure.label))
    held = _means(scores)
    if interval is not None and interval.is_known and not measure.total:
        held |= {"low": interval.low, "high": interval.high}
    if (by_doc_id := subject.by_doc_id(system, measure)) is not None:
        held["id"] = by_doc_id.reported()
    return {name: value if math.isfinite(value) else None for name, value in held.items()}


def _means(scores: Scores) -> dict[str, float]:
    """Return the mean, of counts the total, and its ends over tie orders."""
    return {"mean": scores.reported(), "least": scores.reported("tie_min"), "most": scores.reported("tie_max")}


def _pairs(subject: Subject, systems: Sequence[str], shown: Sequence[Measure]) -> Iterator[list[float | bool | None]]:
    """Give each pair: measure, system, baseline, difference, its ends, p, whether it is shown, how often ties reverse.

    A difference in doubt is not shown, as in the verdict.
    """
    if subject.comparison is None:
        return
    places, measures = {name: n for n, name in enumerate(systems)}, {one.label: n for n, one in enumerate(shown)}
    for pair in subject.comparison.pairs:
        if pair.measure in measures and pair.system in places and pair.baseline in places:
            measure, design = shown[measures[pair.measure]], subject.comparison.design
            is_shown = find_favourite(pair, measure, design) is not None and not explain_doubt(pair, design)
            scale = pair.n_queries if measure.total else 1
            ends = [scale * end for end in (pair.difference, *pair.ends)]
            *numbers, chance = _numbers(np.array([*ends, pair.p_adjusted, pair.flip_probability]), ROUNDED)
            yield [measures[pair.measure], places[pair.system], places[pair.baseline], *numbers, is_shown, chance]


def _strata(subject: Subject, systems: Sequence[str], shown: Sequence[Measure]) -> Iterator[dict[str, Any]]:
    """Give the queries of each stratum, of all groupings; of many queries the means, and the queries that are held."""
    place = {query: n for n, query in enumerate(subject.held_ids)}
    for columns in subject.groupings:
        strata = subject.strata(columns)
        largest = [*next(iter(strata.values())).items()]
        if subject.is_summary:
            largest = sorted(largest, key=lambda item: -len(item[1].query_ids))[:MOST_STRATA]
        for stratum, part in largest:
            queries = [place[query] for query in part.query_ids.tolist() if query in place]
            found: dict[str, Any] = {"name": format_for_people(label(stratum)), "queries": queries}
            if subject.is_summary:
                found["n"] = len(part.query_ids)
                found["board"] = [
                    [_board_cell(strata[name][stratum][one]) if stratum in strata[name] else {} for name in systems]
                    for one in shown
                ]
            yield found


def _board_cell(scores: Scores) -> dict[str, float | None]:
    """Return the means of a stratum as the script reads them; None where there is none."""
    return {name: value if math.isfinite(value) else None for name, value in _means(scores).items()}


def _values(subject: Subject, system: str, measure: Measure, digits: int | None) -> dict[str, Any]:
    """Return the value of each query that is held, and its smallest and largest over tie orders where they differ."""
    scores = subject.evaluations[system][measure]
    columns = {"v": scores.values, "low": scores.tie_min, "high": scores.tie_max}
    found = {name: subject.of_all_queries(scores, column) for name, column in columns.items()}
    if not (found["high"] - found["low"] > NOISE).any():
        del found["low"], found["high"]
    by_doc_id = subject.by_doc_id(system, measure)
    if by_doc_id is not None and not np.allclose(by_doc_id.values, scores.values, rtol=0, atol=NOISE, equal_nan=True):
        found["id"] = subject.of_all_queries(scores, by_doc_id.values)
    return {name: _numbers(column[subject.held], digits) for name, column in found.items()}


def _numbers(column: FloatArray, digits: int | None) -> list[float | None]:
    """Return numbers as JSON holds them, whole ones without a point; None for a value that is not finite."""
    rounded = column if digits is None else np.round(column, digits)
    numbers: list[float | None] = []
    for value in rounded.tolist():
        if not math.isfinite(value):
            numbers.append(None)
        elif value == int(value):
            numbers.append(int(value))
        else:
            numbers.append(value)
    return numbers


def _ties(subject: Subject, system: str) -> dict[str, list[int]] | None:
    """Return the documents of each query held, those that tie, its ties and the largest; None without the run."""
    found = subject.ties_of(system)
    columns = {"docs": "n_documents", "tied": "n_tied", "ties": "n_ties", "largest": "largest_tie"}
    return None if found is None else {name: found[column].to_list() for name, column in columns.items()}


@dataclass(frozen=True, eq=False)
class _ShownQuery:
    """A query whose rankings a page shows: its documents once, and the rankings by their numbers.

    Attributes
    ----------
    place : int
        Among the queries that are held.
    names : mapping of str to str
        Of documents, in the whole subject.
    numbers : dict of str to int
        Of each document of this query.
    relevance : list
        Of the documents, by their numbers.
    rankings : list of dict
        Of each system.
    """

    place: int
    names: Mapping[str, str]
    numbers: dict[str, int] = field(default_factory=dict)
    relevance: list[float | None] = field(default_factory=list)
    rankings: list[dict[str, Any]] = field(default_factory=list)

    def add_documents(self, documents: pl.DataFrame) -> None:
        """Give numbers to documents that have none."""
        for doc, relevance in documents.select("doc_id", "relevance").iter_rows():
            if doc not in self.numbers:
                self.numbers[doc] = len(self.numbers)
                self.relevance.append(relevance)

    def number(self, docs: Iterable[str]) -> list[int]:
        """Return the numbers of documents."""
        return [self.numbers[doc] for doc in docs]

    def to_data(self) -> dict[str, Any]:
        """Return what the script reads."""
        return {
            "query": self.place,
            "docs": [format_for_people(doc) for doc in self.numbers],
            "names": [_shorten_name(self.names.get(doc, "")) for doc in self.numbers],
            "relevance": self.relevance,
            "of": self.rankings,
        }


def _shorten_name(name: str) -> str:
    """Return the name of a document as a page has room for it."""
    shown = format_for_people(name)
    return f"{shown[:LONGEST_TEXT]}..." if len(shown) > LONGEST_TEXT else shown


def _rankings(subject: Subject, systems: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the rankings of the queries that decide most: documents once, those of each system by their number."""
    places = np.searchsorted(subject.held, subject.deciding).tolist()  # among the queries that are held
    queries = [_ShownQuery(place, subject.names) for place in places]
    with_steps = {*systems[:STEPPED], *(subject.duel or ())}
    for system in systems:
        ranked = _ranked(subject, system)
        evaluation = subject.evaluations[system]
        evaluation = evaluation.select(is_member(evaluation.query_ids, np.array([*ranked], dtype=object)))
        has_run = system in subject.runs
        orders: dict[str, dict[str, Any] | None] = {}
        if system in with_steps:
            orders = _orders(evaluation, subject.main, ranked)
        for shown, (query_id, top) in zip(queries, ranked.items(), strict=True):
            steps = _steps(evaluation, subject.main, query_id) if system in with_steps else None
            shown.add_documents(top)
            if steps is not None:
                shown.add_documents(steps.documents[:N_STEPS])
            each_order = []
            for value, order in _each_order(evaluation, subject.main, query_id, top):
                each_order.append({"value": value, "docs": shown.number(order)})
            shown.rankings.append(
                {
                    "docs": shown.number(top["doc_id"]),
                    **_describe_ranking(top, has_run=has_run),
                    "steps": None if steps is None else _listed(steps, shown.numbers),
                    "stepped": system in with_steps or not has_steps(),
                    "orders": orders.get(query_id),
                    "each": each_order,
                }
            )
    return [shown.to_data() for shown in queries]


def _describe_ranking(top: pl.DataFrame, *, has_run: bool) -> dict[str, Any]:
    """Return the scores of the first documents, how many there are (None without a run), and how many tie below."""
    n = None
    if has_run:
        n = top["n"][0] if top.height else 0
    return {
        "scores": [score if math.isfinite(score) else str(score) for score in top["score"]],
        "n": n,
        "below": top["below"][-1] if top.height else 0,
    }


def has_steps() -> bool:
    """Tell whether the plugin is there that says how values come about."""
    return hooks.find_service("steps") is not None


def _steps(evaluation: Evaluation, measure: Measure, query: str) -> Any:  # noqa: ANN401 - Steps, of a plugin
    """Return how the value of a query comes about; None without a judged document, or where there is no one order.

    That is so of repeats, and where a rule breaks ties, whose order is not in the placements. Without the plugin that
    makes them there are none.
    """
    if not has_steps() or evaluation.ties not in POLICIES or evaluation[measure].several_runs:
        return None
    if not (evaluation.query_ids == query).any():
        return None
    found = evaluation.steps(measure, query)
    return found if found.documents.height else None


def _listed(steps: Any, numbers: Mapping[str, int]) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Return the steps as the script shows them: of each document its ranks, its number, and what is made of it."""
    headings = hooks.service("steps").HEADINGS
    frame, shown = steps.documents, steps.documents[:N_STEPS]
    names = frame.columns[frame.columns.index("relevance") + 1 :]
    columns = [_numbers(shown[name].cast(pl.Float64).to_numpy(), ROUNDED) for name in names]  # NaN: not known
    docs = [numbers[doc] for doc in shown["doc_id"]]
    total = next((one for one in reversed(frame["sum"].to_list()) if one is not None), math.nan)
    value, divisor, last = _numbers(np.array([steps.value, steps.divisor, total]), ROUNDED)
    return {
        "names": [headings.get(name, name) for name in names],
        "rows": list(zip(shown["first"], shown["last"], docs, *columns, strict=True)),
        "left": max(0, frame.height - N_STEPS),
        "value": value,
        "divisor": divisor,
        "sum": last,
        "is_sum": "part" in names or steps.divisor != 1,
    }


def _ranked(subject: Subject, system: str) -> dict[str, pl.DataFrame]:
    """Return the first documents of the queries that decide most.

    Columns doc_id, score, relevance (null: not judged), n (documents retrieved) and below (documents after the row that
    tie with it).
    """
    queries = [subject.query_ids[n] for n in subject.deciding]
    empty = pl.DataFrame(
        schema={"doc_id": pl.String, "score": pl.Float64, "relevance": pl.Float64, "n": pl.Int64, "below": pl.Int64}
    )
    rows = subject.rows_of(system)
    if rows is None:
        return dict.fromkeys(queries, empty)
    evaluation = subject.evaluations[system]
    rows = rows.filter(pl.col("query_id").is_in(queries))
    scores = round_scores(rows["score"].to_numpy(), evaluation.conventions.score_precision)
    rows = rows.with_columns(score=pl.Series(scores, dtype=pl.Float64))
    placements = evaluation.placements_of(subject.main)
    placements = placements.select(is_member(placements.query_ids, np.array(queries, dtype=object)))
    judged = placements.to_polars().select("query_id", "doc_id", "relevance")
    rows = rows.join(judged, on=["query_id", "doc_id"], how="left")
    rows = _shortened(rows.sort("query_id", "score", "doc_id", descending=[False, True, False]), evaluation.conventions)
    rows = rows.with_columns(
        n=pl.len().over("query_id").cast(pl.Int64),
        below=(pl.len() - pl.int_range(pl.len()) - 1).over("query_id", "score").cast(pl.Int64),
    )
    found = rows.group_by("query_id", maintain_order=True).head(N_RANKS).partition_by("query_id", as_dict=True)
    return {query: found.get((query,), empty) for query in queries}


def _shortened(rows: pl.DataFrame, conventions: Conventions) -> pl.DataFrame:
    """Return the rows, which are in their order, of the lists that were evaluated."""
    if conventions.depth is not None:
        if conventions.ties == "doc_id":
            rows = rows.sort("query_id", "score", "doc_id", descending=[False, True, True])
        rows = rows.group_by("query_id", maintain_order=True).head(conventions.depth)
    return rows.filter(pl.col("relevance") >= 0) if conventions.judged_only else rows


def _orders(evaluation: Evaluation, measure: Measure, queries: Iterable[str]) -> dict[str, dict[str, Any] | None]:
    """Return the values that the orders of the ties can give each query, and their probabilities; None: too many."""
    found: dict[str, dict[str, Any] | None] = dict.fromkeys(queries)
    if not len(evaluation.placements.query):
        return found
    placements = evaluation.placements_of(measure)
    for code, query in enumerate(placements.query_ids.tolist()):
        listed = list_order_values(measure, placements, np.array([code]), MAX_ORDERS)
        found[query] = None if listed is None else gathered(*listed[0])
    return found


def _each_order(
    evaluation: Evaluation, measure: Measure, query: str, top: pl.DataFrame
) -> Iterator[tuple[float, tuple[str, ...]]]:
    """Give each order of a query's documents with its value, from the highest; none if they are many, or not all here.

    The value is that of the measure without ties, so it does not rest on what the measure knows of ties.
    """
    # what remains of a tie that a depth cuts depends on the rule
    if not top.height or top.height < top["n"][0] or evaluation.conventions.depth is not None:
        return
    ties = [[doc for doc, _ in tie] for _, tie in groupby(top.select("doc_id", "score").rows(), itemgetter(1))]
    n_orders = math.prod(math.factorial(min(len(tie), FEW_ORDERS)) for tie in ties)
    if not 1 < n_orders <= FEW_ORDERS:
        return
    orders = [tuple(chain.from_iterable(choice)) for choice in product(*map(permutations, ties))]
    (code,) = np.flatnonzero(evaluation.query_ids == query)
    placements = evaluation.placements_of(measure).select(np.repeat(code, len(orders)))  # a query for each order
    above: list[int] = []
    for order, docs in zip(orders, placements.doc_ids.reshape(len(orders), -1).tolist(), strict=True):
        above.extend(order.index(doc) for doc in docs)
    values = measure.mean(placements.moved(np.array(above, np.int64)))
    if np.ptp(values) > NOISE:  # else their order decides nothing
        yield from sorted(zip(values.tolist(), orders, strict=True), key=lambda valued_order: -valued_order[0])


def gathered(values: FloatArray, probabilities: FloatArray) -> dict[str, Any]:
    """Return the different values and their probabilities, or if they are many the middles of bins.

    Examples
    --------
    >>> gathered(np.array([0.5, 1.0, 0.5]), np.array([0.25, 0.5, 0.25]))
    {'values': [0.5, 1.0], 'chances': [0.5, 0.5], 'bins': False}
    """
    distinct, place = np.unique(np.round(values, 12), return_inverse=True)
    is_binned = len(distinct) > MOST_LISTED
    if is_binned:
        low, high = distinct[0], distinct[-1]
        place = np.minimum((values - low) / (high - low) * MOST_LISTED, MOST_LISTED - 1).astype(np.int64)
        distinct = low + (np.arange(MOST_LISTED) + 0.5) * (high - low) / MOST_LISTED
    chances = np.bincount(place.ravel(), probabilities, len(distinct))
    return {"values": distinct.tolist(), "chances": chances.tolist(), "bins": is_binned}
