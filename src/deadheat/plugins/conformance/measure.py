"""The check of a measure: against its definition, in every order of the ties of small rankings."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields
from functools import partial
from typing import Any, cast

import numpy as np

import deadheat as dh
from deadheat.core.arrays import FloatArray
from deadheat.core.checks import as_count
from deadheat.core.errors import DataError, DeadheatError, MeasureError, ParameterError
from deadheat.core.measures.base import Measure
from deadheat.core.measures.notation import parse_measure
from deadheat.core.measures.registration import REGISTRY, other_names, trec_names
from deadheat.core.placements.placements import Placements
from deadheat.plugins.conformance.failure import CheckFailedError
from deadheat.plugins.conformance.rankings import (
    Batch,
    Moments,
    Order,
    Reference,
    TiedRanking,
    draw_rankings,
    moments_of,
    show_orders,
    smallest_that_fails,
)

LEVELS = (-1, 0, 1, 2)
CUTOFFS = (None, 1, 2, 3, 100)
TOLERANCE = 1e-9
QUANTITIES = ("mean", "variance", "smallest value", "largest value")
HINTS = {  # what to write where one of these is wrong, though the mean is right
    "smallest value": "; write extremes(), as the order of relevance is not that of the values",
    "largest value": "; write extremes(), as the order of relevance is not that of the values",
}
OTHERS = ("nDCG", "DCG(gain='exp')", "RBP", "RBP(graded=True)", "RBPResidual", "P")  # which share sums by name
POLICIES = ("best", "worst", "doc_id", "input")
N_ALONE = 12  # rankings that are evaluated alone as well
MOST_EQUAL = 60  # documents of one tie, all alike: shares of n documents may add up to more than 1


@dataclass(frozen=True)
class Definition:
    """A measure with parameters and a cutoff, and its value for one order of one ranking.

    Attributes
    ----------
    measure : Measure
    reference : callable
    parameters : mapping of str to object
        What the reference takes as keywords; with the cutoff, if there is one.
    """

    measure: Measure
    reference: Reference
    parameters: Mapping[str, Any]
    _known: dict[TiedRanking, dict[Order, float]] = field(default_factory=dict, repr=False)

    @property
    def is_default(self) -> bool:
        """Whether all parameters but the cutoff have their defaults."""
        return self.parameters.keys() <= {self.measure.at}

    def value(self, order: Order, ranking: TiedRanking) -> float:
        """Return what the definition says of one order."""
        return float(self.reference(list(order), ranking.judged, **self.parameters))

    def values(self, ranking: TiedRanking) -> dict[Order, float]:
        """Return what the definition says of every order."""
        if ranking not in self._known:
            self._known[ranking] = {order: self.value(order, ranking) for order in ranking.orders}
        return self._known[ranking]

    def moments(self, ranking: TiedRanking) -> Moments:
        """Return the moments over all orders."""
        return moments_of(self.values(ranking), ranking.orders)


def check_measure(
    measure: type[Measure],
    reference: Callable[..., float],
    *,
    parameters: Sequence[Mapping[str, Any]] = ({},),
    cutoffs: Sequence[float | None] | None = None,
    levels: Sequence[float] = LEVELS,
    n_rankings: int = 60,
    most_documents: int = 6,
    rng: int = 0,
) -> None:
    """Check a measure: its moments over the orders of ties, its range, notation, parameters, cutoffs and policies.

    Measures with all given parameters are also computed of the same placements, after some that ship: a name under
    which one keeps its gains, without a parameter that they depend on, gives it the gains of another.

    Parameters
    ----------
    measure : type of Measure
        The class, registered.
    reference : callable
        The definition, for one ranking without ties: ``reference(ranking, judged, **parameters)``. `ranking` is the
        list of the relevance at each rank, None where the document is not judged. `judged` is the list of the relevance
        of all judged documents, retrieved or not, highest first. The cutoff is a keyword too, if there is one. Where
        no value is defined it returns NaN.
    parameters : sequence of mappings, default ({},)
        Parameters of the measure to try; the reference takes the same.
    cutoffs : sequence of numbers or None, optional
        What ``@`` sets, each tried with all parameters; None is no cutoff. By default None, 1, 2, 3 and 100 for a
        measure that can be cut, else None alone.
    levels : sequence of float, default (-1, 0, 1, 2)
        Relevances that judgments have; the highest is in all qrels that are tried.
    n_rankings : int, default 60
        How many rankings are drawn, besides the awkward ones that are always tried.
    most_documents : int, default 6
        Of a drawn ranking.
    rng : int, default 0
        The same number draws the same rankings.

    Raises
    ------
    CheckFailedError
        An AssertionError with what was found, what was expected, and the smallest ranking that shows it.
    ParameterError
        The measure sees more than relevance and rank, such as subtopics: its orders cannot be listed here.

    Examples
    --------
    >>> from deadheat import P
    >>> from deadheat.api import check_measure
    >>> def precision(ranking, judged, rel=1, cutoff=None):
    ...     k = len(ranking) if cutoff is None else cutoff
    ...     return sum(r is not None and r >= rel for r in ranking[:k]) / k if k else 0.0
    >>> check_measure(P, precision, parameters=[{}, {"rel": 2}])
    >>> check_measure(P, lambda ranking, judged, cutoff=None: float(ranking[:1] == [2]), cutoffs=[1])
    Traceback (most recent call last):
    deadheat.plugins.conformance.failure.CheckFailedError: P@1: the mean is 1, expected 0
      ranking: 1
      (a number is a relevance, - an unjudged document, = a tie)
      the definition by order:
      1: 0
    """
    given = cast("object", measure)
    if not (isinstance(given, type) and issubclass(given, Measure)):
        raise ParameterError(argument="measure", given=measure, allowed="a class of measures, such as deadheat.P")
    as_count("n_rankings", n_rankings)
    as_count("most_documents", most_documents)
    if cutoffs is None:
        cutoffs = CUTOFFS if measure.at in _parameter_names(measure) else (None,)
    rankings = draw_rankings(n_rankings, levels, most_documents, rng)
    _check_registration(measure)
    _check_refusals(measure)
    definitions = list(_definitions(measure, reference, parameters, cutoffs))
    for definition in definitions:
        _check_notation(definition.measure)
        _check_pickling(definition.measure)
        _check_moments(definition, rankings, levels)
        _check_range(definition, rankings)
        _check_variance_is_not_negative(definition.measure, max(levels))
    _check_direction(definitions[0].measure, rankings, max(levels))
    _check_together([definition.measure for definition in definitions], rankings, max(levels))
    for definition in definitions:
        _check_properties(definition, rankings, max(levels))
        _check_alone(definition, rankings, max(levels))
        _check_policies(definition, rankings, max(levels))
        _check_queries_left_out(definition, rankings, levels)


def _definitions(
    measure: type[Measure],
    reference: Reference,
    parameters: Sequence[Mapping[str, Any]],
    cutoffs: Sequence[float | None],
) -> Iterator[Definition]:
    for given in parameters:
        for cutoff in cutoffs:
            at = {} if cutoff is None else {measure.at: cutoff}
            yield Definition(measure(**given, **at), reference, {**given, **at})


def _parameter_names(measure: type[Measure]) -> list[str]:
    return [parameter.name for parameter in fields(measure)]


def _fail_unless(holds: object, subject: object, problem: str, example: str = "") -> None:
    if not holds:
        raise CheckFailedError(str(subject), problem, example)


def _agree(found: float, expected: float) -> bool:
    if math.isnan(found) or math.isnan(expected):
        return math.isnan(found) and math.isnan(expected)
    return math.isclose(found, expected, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


# The class


def _check_registration(measure: type[Measure]) -> None:
    """Check that the class is known by its names, and says what it is."""
    name = measure.__name__
    _fail_unless(REGISTRY.get(name) is measure, name, "it is not registered: decorate the class with @register_measure")
    _fail_unless(measure.title, name, "it has no title")
    docstring = measure.__doc__ or ""
    is_made = docstring.startswith(f"{name}(")  # by dataclasses, for a class without one
    _fail_unless(docstring.strip() and not is_made, name, "it has no docstring: deadheat measures shows it")
    low, high = measure.range
    _fail_unless(low < high, name, f"its range is {measure.range}, expected the lowest value and the highest")
    for alias in other_names(measure):
        read = parse_measure(alias)
        _fail_unless(type(read) is measure, name, f"its other name {alias!r} is read as {read!r}")
    for template in trec_names(measure):
        read = parse_measure(template.format(1))
        _fail_unless(type(read) is measure, name, f"its name {template!r} of trec_eval is read as {read!r}")


def _check_refusals(measure: type[Measure]) -> None:
    """Check that unknown parameters, wrong values and wrong cutoffs are refused."""
    name = measure.__name__
    _check_refused(lambda: measure(no_such_parameter=1), name, "an unknown parameter")
    _check_refused(lambda: parse_measure(f"{name}(no_such_parameter=1)"), name, "an unknown parameter in the notation")
    for parameter in _parameter_names(measure):
        _check_refused(partial(measure, **{parameter: object()}), name, f"{parameter}=object()")
    if "cutoff" in _parameter_names(measure):
        for cutoff in (0, -1):
            _check_refused(partial(measure, cutoff=cutoff), name, f"the cutoff {cutoff}")
    elif measure.at not in _parameter_names(measure):
        _check_refused(lambda: measure() @ 3, name, "a cutoff, which it does not have,")


def _check_refused(make: Callable[[], object], name: str, what: str) -> None:
    try:
        made = make()
    except MeasureError:
        return
    except Exception as error:
        problem = f"{what} raises {type(error).__name__}, expected MeasureError"
        raise CheckFailedError(name, problem) from error
    raise CheckFailedError(name, f"{what} is taken ({made!r}), expected MeasureError")


# A measure with its parameters


def _check_notation(measure: Measure) -> None:
    """Check that what prints can be read."""
    try:
        read = parse_measure(str(measure))
    except MeasureError as error:
        raise CheckFailedError(str(measure), f"its notation cannot be read: {error}") from error
    _fail_unless(read == measure and hash(read) == hash(measure), measure, f"its notation is read as {read!r}")
    _fail_unless(parse_measure(read.label) == measure, measure, f"its label {read.label!r} is read as another measure")


def _check_pickling(measure: Measure) -> None:
    """Check that it can be copied and sent to another process."""
    try:
        received = pickle.loads(pickle.dumps(measure))  # noqa: S301 - written by the line itself
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise CheckFailedError(str(measure), f"it cannot be pickled: {error}") from error
    _fail_unless(received == measure, measure, f"pickled and read again it is {received!r}")
    _fail_unless(copy.deepcopy(measure) == measure, measure, "its copy differs from it")


def _check_moments(definition: Definition, rankings: Sequence[TiedRanking], levels: Sequence[float]) -> None:
    """Compare mean, variance and extremes with those over all orders."""
    measure = definition.measure
    placements = Batch(rankings, max(levels)).place()
    if not measure.can_list_orders(placements):
        raise ParameterError(
            "it sees more than the relevance and the rank of documents, so that its orders cannot be listed",
            argument="measure",
            given=type(measure).__name__,
            allowed="a measure of relevance and rank",
        )
    found = _moments(measure, placements)
    _fail_unless(_is_unchanged(placements, rankings, max(levels)), measure, "it changes the placements in place")
    if measure.has_drawn_spread(placements).any():
        raise ParameterError("its variance is estimated, not exact", argument="measure", given=type(measure).__name__)
    failing = []
    for number, ranking in enumerate(rankings):
        if _difference(definition, ranking, found[number]):
            failing.append(ranking)
    if not failing:
        return

    def fails(ranking: TiedRanking) -> bool:
        return bool(_difference(definition, ranking, _moments_of_one(measure, ranking, max(levels))))

    first = min(failing, key=lambda ranking: ranking.size)
    if not fails(first):
        raise CheckFailedError(str(measure), "a query has other values alone than among others", str(first))
    smallest = smallest_that_fails(first, fails, levels)
    problem = _difference(definition, smallest, _moments_of_one(measure, smallest, max(levels)))
    by_order = f"  the definition by order:\n{show_orders(definition.values(smallest))}"
    raise CheckFailedError(str(measure), problem, f"{smallest}\n{by_order}")


def _moments(measure: Measure, placements: Placements) -> list[Moments]:
    """Return what a measure says of each query, without the last one, which all batches have."""
    columns = [measure.mean(placements), measure.variance(placements), *measure.extremes(placements)]
    for name, column in zip(QUANTITIES, columns, strict=True):
        shape = np.shape(column)
        expected = (placements.n_queries,)
        _fail_unless(shape == expected, measure, f"the {name} has the shape {shape}, expected {expected}")
    rows = np.column_stack(columns)[:-1].tolist()
    return [Moments(*row) for row in rows]


def _moments_of_one(measure: Measure, ranking: TiedRanking, highest: float) -> Moments:
    return _moments(measure, Batch([ranking], highest).place())[0]


def _difference(definition: Definition, ranking: TiedRanking, found: Moments) -> str:
    """Say what differs between what a measure says of a ranking and its definition; nothing if they agree."""
    expected = definition.moments(ranking)
    if math.isnan(expected.mean) and math.isnan(found.mean):
        return ""  # no value is defined, so it has no spread either
    pairs = (
        (found.mean, expected.mean),
        (found.variance, expected.variance),
        (found.min, expected.min),
        (found.max, expected.max),
    )
    for name, (value, right) in zip(QUANTITIES, pairs, strict=True):
        if not _agree(value, right):
            return f"the {name} is {value:.6g}, expected {right:.6g}{HINTS.get(name, '')}"
    return ""


def _is_unchanged(placements: Placements, rankings: Sequence[TiedRanking], highest: float) -> bool:
    """Tell whether placements are as they were before a measure looked at them."""
    fresh = Batch(rankings, highest).place()
    names = ("n_retrieved", "query", "relevance", "above", "tied", "judged_query", "judged_relevance")
    return all(np.array_equal(getattr(placements, name), getattr(fresh, name)) for name in names)


def _check_range(definition: Definition, rankings: Sequence[TiedRanking]) -> None:
    """Check that every value is in the range that the class states, and 0 or 1 where it says so."""
    low, high = definition.measure.range
    for ranking in sorted(rankings, key=lambda one: one.size):
        for order, value in definition.values(ranking).items():
            shown = show_orders({order: value})
            is_inside = math.isnan(value) or low - TOLERANCE <= value <= high + TOLERANCE
            problem = f"its range is {low:g} to {high:g}, and a value is {value:.6g}"
            _fail_unless(is_inside, definition.measure, problem, shown)
            if definition.measure.is_zero_or_one:
                is_either = math.isnan(value) or value in {0.0, 1.0}
                problem = f"is_zero_or_one is true, and a value is {value:.6g}"
                _fail_unless(is_either, definition.measure, problem, shown)


def _check_variance_is_not_negative(measure: Measure, highest: float) -> None:
    """Check that rounding takes no variance below 0: its square root, the standard deviation, would be NaN."""
    rankings = [TiedRanking(((highest,) * n_tied,)) for n_tied in range(2, MOST_EQUAL + 1)]
    variance = measure.variance(Batch(rankings, highest).place())
    for number, ranking in enumerate(rankings):
        problem = f"the variance is {variance[number]:.2g}, by rounding: write np.maximum(variance, 0)"
        _fail_unless(not variance[number] < 0, measure, problem, str(ranking))


def _check_properties(definition: Definition, rankings: Sequence[TiedRanking], highest: float) -> None:
    """Check what a measure says of itself beside its moments, each of which speeds something up or bounds it."""
    measure = definition.measure
    placements = Batch(rankings, highest).place()
    mean = measure.mean(placements)
    if measure.deepest is not None:
        problem = f"deepest is {measure.deepest}, and documents below that rank change the value"
        cut = placements.rows(placements.above < measure.deepest)
        _compare_queries(measure, measure.mean(cut), mean, rankings, problem)
    problem = "contributing() leaves out documents that change the value"
    _compare_queries(measure, measure.mean(measure.contributing(placements)), mean, rankings, problem)
    problem = "near() returns placements with another value"
    _compare_queries(measure, measure.mean(measure.near(placements)), mean, rankings, problem)
    _check_distributions(definition, placements, rankings)
    if measure.higher_is_better and not measure.total:
        _check_reachable(definition, placements, rankings)


def _check_reachable(definition: Definition, placements: Placements, rankings: Sequence[TiedRanking]) -> None:
    """Check that no order is better than the best value that the judgments are said to allow."""
    measure = definition.measure
    reachable = measure.reachable(placements)
    for number, ranking in enumerate(rankings):
        if not ranking.ties:
            continue  # it is the best value of a ranking that retrieves something
        best = max(definition.values(ranking).values())
        limit = float(reachable[number])
        is_reachable = math.isnan(limit) or math.isnan(best) or best <= limit + TOLERANCE
        problem = f"reachable() is {limit:.6g}, and an order has {best:.6g}"
        _fail_unless(is_reachable, measure, problem, str(ranking))


def _check_distributions(definition: Definition, placements: Placements, rankings: Sequence[TiedRanking]) -> None:
    """Compare the distributions of a measure that has some with those over all orders."""
    queries = np.arange(len(rankings))
    distributions = definition.measure.distributions(placements, queries)
    if distributions is None:
        return
    for ranking, (values, chances) in zip(rankings, distributions, strict=True):
        expected = definition.moments(ranking)
        mean = float(values @ chances)
        variance = float((values - mean) ** 2 @ chances)
        is_right = _agree(mean, expected.mean) and _agree(variance, expected.variance)
        _fail_unless(is_right, definition.measure, "distributions() has another mean or variance", str(ranking))


def _compare_queries(
    measure: Measure, found: FloatArray, expected: FloatArray, rankings: Sequence[TiedRanking], problem: str
) -> None:
    for ranking, value, right in zip(rankings, found.tolist(), expected.tolist(), strict=False):
        _fail_unless(_agree(value, right), measure, f"{problem}: {value:.6g}, expected {right:.6g}", str(ranking))


def _check_alone(definition: Definition, rankings: Sequence[TiedRanking], highest: float) -> None:
    """Check that the values of a query do not depend on the other queries, nor on the order of queries."""
    measure = definition.measure
    together = _moments(measure, Batch(rankings, highest).place())
    reversed_batch = Batch(list(reversed(rankings)), highest).place()
    for ranking, one, other in zip(rankings, together, reversed(_moments(measure, reversed_batch)), strict=True):
        is_same = _agree(one.mean, other.mean) and _agree(one.variance, other.variance)
        _fail_unless(is_same, measure, "its values depend on the order of the queries", str(ranking))
    for ranking, one in list(zip(rankings, together, strict=True))[:N_ALONE]:
        alone = _moments_of_one(measure, ranking, highest)
        is_same = _agree(one.mean, alone.mean) and _agree(one.variance, alone.variance)
        _fail_unless(is_same, measure, "a query has other values alone than among others", str(ranking))


def _check_together(measures: Sequence[Measure], rankings: Sequence[TiedRanking], highest: float) -> None:
    """Check that the values of a measure do not depend on what else was computed of the same placements."""
    shared = Batch(rankings, highest).place()
    for name in OTHERS:
        _moments(parse_measure(name), shared)
    for measure in measures:
        after_others = _moments(measure, shared)
        first = _moments(measure, Batch(rankings, highest).place())
        for ranking, one, other in zip(rankings, first, after_others, strict=True):
            is_same = all(_agree(value, right) for value, right in zip(astuple(one), astuple(other), strict=True))
            problem = (
                "it has other values after measures with other parameters: what it keeps of placements, such as the"
                " gains of a WeightedMeasure, needs a name with its class and all parameters that it depends on"
            )
            _fail_unless(is_same, measure, problem, str(ranking))


def _check_policies(definition: Definition, rankings: Sequence[TiedRanking], highest: float) -> None:
    """Check the value of the order that each tie policy picks."""
    batch = Batch(rankings, highest)
    for policy in POLICIES:
        scores = dh.evaluate(batch.qrels(), batch.run(), definition.measure, ties=policy)[definition.measure]
        for ranking, found in zip(rankings, scores.values.tolist()[:-1], strict=True):
            expected = definition.value(ranking.order_of(policy), ranking)
            problem = f"with ties={policy!r} its value is {found:.6g}, expected {expected:.6g}"
            is_right = _agree(found, expected)
            _fail_unless(is_right, definition.measure, problem, str(ranking))


def _check_queries_left_out(definition: Definition, rankings: Sequence[TiedRanking], levels: Sequence[float]) -> None:
    """Check queries without relevant documents, and those that the run lacks, under each policy for them."""
    measure = definition.measure
    batch = Batch(rankings, max(levels))
    has_relevant = measure.has_relevant(batch.place())[:-1].tolist()
    if measure.asks_for_relevant and definition.is_default:
        for ranking, has_some in zip(rankings, has_relevant, strict=True):
            if max(ranking.judged) <= 0:
                problem = "has_relevant() is true without a judgment above 0"
                _fail_unless(not has_some, measure, problem, str(ranking))
    skipped = _scores(batch, measure, no_relevant="skip", missing="empty")
    for ranking, value, has_some in zip(rankings, skipped, has_relevant, strict=True):
        mean = definition.moments(ranking).mean
        expected = mean if has_some else math.nan
        problem = f"with no_relevant='skip' its value is {value:.6g}, expected {expected:.6g}"
        _fail_unless(_agree(value, expected), measure, problem, str(ranking))
    without_missing = _scores(batch, measure, no_relevant="zero", missing="skip")
    for ranking, value in zip(rankings, without_missing, strict=True):
        expected = definition.moments(ranking).mean if ranking.ties else math.nan
        problem = f"with missing='skip' its value is {value:.6g}, expected {expected:.6g}"
        _fail_unless(_agree(value, expected), measure, problem, str(ranking))
    try:
        dh.evaluate(batch.qrels(), batch.run(), measure, missing="error")
    except DataError:
        return
    except DeadheatError as error:
        raise CheckFailedError(str(measure), f"missing='error' raises {type(error).__name__}") from error
    raise CheckFailedError(str(measure), "missing='error' takes a run that lacks a query")


def _scores(batch: Batch, measure: Measure, *, no_relevant: str, missing: str) -> list[float]:
    """Return the value of each query, NaN where it is left out."""
    evaluation: Any = dh.evaluate(batch.qrels(), batch.run(), measure, no_relevant=no_relevant, missing=missing)
    scores = evaluation[measure]
    values = dict(zip(scores.query_ids.tolist(), np.where(scores.kept, scores.values, np.nan).tolist(), strict=True))
    return [values.get(f"q{number:04}", math.nan) for number in range(len(batch.rankings))]


def _check_direction(measure: Measure, rankings: Sequence[TiedRanking], highest: float) -> None:
    """Check that relevant documents first are better on average than relevant documents last, if it is a quality."""
    if not measure.is_quality:
        return
    batch = Batch(rankings, highest)
    means = []
    for policy in ("best", "worst"):
        evaluation: Any = dh.evaluate(batch.qrels(), batch.run(), measure, ties=policy)
        means.append(evaluation[measure].mean)
    best, worst = means
    if math.isnan(best) or math.isnan(worst):
        return
    is_better = (best - worst) * measure.sign >= -TOLERANCE
    direction = "higher" if measure.higher_is_better else "lower"
    problem = (
        f"{direction} is better, and relevant documents first give {best:.6g}, last {worst:.6g}: register it with"
        " is_quality=False if that is meant"
    )
    _fail_unless(is_better, measure, problem)
