"""What a measure is: one class that says everything about it, found by its name in the registry.

Its fields are its parameters: each names its default, what it may be, and what it means.
"""

import math
import re
from abc import ABC, ABCMeta, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import cached_property, partial, wraps
from inspect import Parameter, Signature
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeAlias, TypeVar, cast, dataclass_transform

import numpy as np

from deadheat.core import third_party
from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.checks import as_count, as_flag, as_number
from deadheat.core.errors import MeasureError, ParameterError
from deadheat.core.kernels.segments import divide_or_zero
from deadheat.core.placements import policies
from deadheat.core.placements.placements import Placements
from deadheat.core.scalars import ROUNDING
from deadheat.core.structures import T, copy_with
from deadheat.core.wording import did_you_mean, format_given

M = TypeVar("M", bound="type[Measure]")
GAINS = {"log2": "linear", "exp-log2": "exp"}  # ir_measures' forms of DCG, and the gain that each has
CALL = re.compile(r"(\w+)(?:\((.*)\))?")


def parameter(default: Any, check: "Check", meaning: str) -> Any:  # noqa: ANN401 - typed by its field
    """Return a dataclass field that knows its check and its meaning.

    A check says what is `allowed`. Called with a value, it returns its normal form, or raises ValueError; with a hint,
    if there is one, ParameterError.
    """
    return field(default=default, metadata={"check": check, "meaning": meaning})


@dataclass_transform(kw_only_default=True, frozen_default=True)
def parameters(measure: type[T]) -> type[T]:
    """Make the fields of a measure its parameters; the base class of all measures has the methods for them.

    A dataclass would compile methods for each class, which took a quarter of the time of imports.
    """
    return dataclass(frozen=True, kw_only=True, init=False, eq=False, repr=False)(measure)


@dataclass(frozen=True)
class Number:
    """A real number between two bounds; `name` is what a formula calls it."""

    name: str = ""
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    optional: bool = False

    @property
    def allowed(self) -> str:
        """Describe the interval."""
        left, right = (
            "(" if self.open_low or self.low == -math.inf else "[",
            (")" if self.open_high or self.high == math.inf else "]"),
        )
        return f"a number in {left}{self.low:g}, {self.high:g}{right}{' or None' if self.optional else ''}"

    def bounds(self, name: str) -> str:
        """Write the bounds around a name; nothing if there are none."""
        low = "" if self.low == -math.inf else f"{name} {'>' if self.open_low else '>='} {self.low:g}"
        if self.high == math.inf:
            return low
        high = f"{name} {'<' if self.open_high else '<='} {self.high:g}"
        return f"{self.low:g} {'<' if self.open_low else '<='} {high}" if low else high

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - a check takes whatever the user gave
        """Return a plain int or float."""
        if value is None and self.optional:
            return None
        number = as_number(self.name, value, self.low)
        if (
            not number <= self.high
            or (self.open_low and number == self.low)
            or (self.open_high and number == self.high)
        ):
            raise ValueError
        return number


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def allowed(self) -> str:
        """List the words."""
        return " or ".join(map(repr, self.words))

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - a check takes whatever the user gave
        """Return the word."""
        if not isinstance(value, str) or value not in self.words:
            raise ParameterError(hint=did_you_mean(value, self.words))
        return value


@dataclass(frozen=True)
class Only:
    """A value that a function accepts and brings to its normal form; `allowed` says in words which ones."""

    allowed: str
    normal: Callable[[Any], Any]

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - a check takes whatever the user gave
        """Return the value in its normal form."""
        return self.normal(value)


FLAG = Only("True or False", partial(as_flag, ""))
COUNT = Only("a whole number from 1 on", partial(as_count, ""))
CUTOFF = Only("a whole number from 1 on, or None", lambda value: None if value is None else as_count("", value))


@dataclass(frozen=True)
class Call:
    """A word, some with numbers behind it: ``"log(2)"``, ``"sigmoid(1, 2)"``."""

    forms: dict[str, tuple[Number, ...]]
    mapping: bool = False

    @property
    def allowed(self) -> str:
        """Show every form, with the bounds of its numbers."""
        shown = [self._shown(word, numbers) for word, numbers in self.forms.items()]
        return " or ".join([*shown, Gains.allowed] if self.mapping else shown)

    @staticmethod
    def _shown(word: str, numbers: tuple[Number, ...]) -> str:
        named = [(number.name or letter, number) for letter, number in zip("abcd", numbers, strict=False)]
        if not named:
            return f"'{word}'"
        bounds = ", ".join(filter(None, (number.bounds(name) for name, number in named)))
        return f"'{word}({', '.join(name for name, _ in named)})'" + (f" ({bounds})" if bounds else "")

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - a check takes whatever the user gave
        """Return the text in its normal form, or the mapping as sorted pairs."""
        if self.mapping and isinstance(value, dict):
            return Gains(value)
        word, numbers = self.split(value)
        return f"{word}({', '.join(map(repr, numbers))})" if numbers else word

    def split(self, value: Any) -> tuple[str, tuple[float, ...]]:  # noqa: ANN401 - a check takes whatever the user gave
        """Return the word and its numbers."""
        match = CALL.fullmatch(value.replace(" ", "")) if isinstance(value, str) else None
        if not match or match[1] not in self.forms:
            raise ParameterError(hint=did_you_mean(value, self.forms))
        given = [float(part) for part in match[2].split(",")] if match[2] else []
        if match[2] and ("_" in match[2] or not match[2].isascii()):
            raise ValueError  # Python reads 1_0 as 10
        return match[1], tuple(check(number) for check, number in zip(self.forms[match[1]], given, strict=True))


class Gains(dict[float, float]):
    """A mapping from relevance to gain that can be hashed, as measures are."""

    allowed = "a mapping of relevance to gain (>= 0), such as {1: 1, 2: 3}"

    def __init__(self, gains: dict[float, float]) -> None:
        if not gains:
            raise ValueError
        level, gain = Number(), Number(low=0)
        super().__init__(sorted((level(key), gain(value)) for key, value in gains.items()))

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))


Check: TypeAlias = Number | Choice | Only | Call
REGISTRY: "dict[str, type[Measure]]" = {}
ALIASES: dict[str, str] = {}
PRESETS: dict[str, Mapping[str, Any]] = {}
MANY = 1 << 13  # judged documents: with so many it is faster to leave out those ranked too low to count
MOST_SUMMED = 10_000_000  # ranks, also below a list, over which a divisor is summed
MOST_LEVELS = 16  # of relevance, at which an ideal list is tried to end


class MeasureType(ABCMeta):
    """Lets a class be used as the measure with its defaults: ``nDCG @ 10`` is ``nDCG() @ 10``."""

    __instancecheck__ = type.__instancecheck__  # nothing is registered, and ABCMeta asks each of the classes

    def __call__(cls, /, *values: Any, **parameters: Any) -> Any:  # noqa: ANN401 - typed by the dataclass
        """Make a measure, and say which parameters it has if one is unknown; another name makes what it stands for."""
        if (meant := vars(cls).get("stands_for")) is not None:
            return meant(*values, **parameters).called(cls.__name__)
        own = fields(cls) if is_dataclass(cls) else ()
        known = [one.name for one in own]
        if not parameters.keys() <= {*known}:
            parameters = renamed(parameters, known)
        for name, value in parameters.items():
            if name not in known:
                raise unknown_parameter(cls.__name__, name, value, known)
        if values and all(one.kw_only for one in own):
            example = f"{cls.__name__} @ 10" if "cutoff" in known else f"{cls.__name__}(rel=2)"
            raise MeasureError(
                f"name each parameter and write a cutoff behind @, as in {example}", measure=cls.__name__, given=values
            )
        made = super().__call__(*values, **parameters)
        if "rel" in parameters:
            object.__setattr__(made, "names_rel", True)
        return made

    @property
    def __signature__(cls) -> Signature:
        """The parameters, as help and notebooks show them."""
        own = [
            Parameter(
                one.name,
                Parameter.KEYWORD_ONLY if one.kw_only else Parameter.POSITIONAL_OR_KEYWORD,
                default=Parameter.empty if one.default is MISSING else one.default,
                annotation=one.type,
            )
            for one in (fields(cls) if is_dataclass(cls) else ())
        ]
        return Signature(sorted(own, key=lambda one: one.kind))

    def __matmul__(cls, cutoff: float) -> "Measure":
        return cls() @ cutoff

    def __repr__(cls) -> str:
        return cls.__name__


@parameters
class Measure(ABC, metaclass=MeasureType):
    """A measure of one ranking, with exact moments over all orders of its ties.

    Every array that a measure returns has shape (n_queries,), aligned with ``placements.query_ids``.

    Attributes
    ----------
    title : str
        Its name in words.
    formula : str
        What it computes, as one line of plain text; empty if there is none.
    range : tuple of float
        Lowest and highest possible value.
    higher_is_better : bool
    aliases : tuple of str
        Other names that are read, with a cutoff behind ``@``, ``_`` or ``.``.
    trec_eval : tuple of str
        What trec_eval calls it with its default parameters; ``{}`` is the cutoff. They are read too.
    presets : dict of str to dict
        Names that stand for it with other parameters than its defaults.
    total : bool
        Whether its values are counts, whose sum over queries is reported, not their mean.
    geometric : bool
        Whether its values are logarithms, and the exponential of their mean is reported.
    only_total : bool
        Whether its value says nothing about a single query.
    binary : bool
        Whether judged documents differ to it only by ``relevance >= rel`` and ``relevance >= 0``.
    by_ontology : bool
        Whether judgments of an ontology, where an evaluation has some, are for it.
    is_quality : bool
        Whether it says how good a ranking is; others say what the data hold, and no system wins by them.
    at : str
        The parameter that ``@`` sets.
    """

    title: ClassVar[str]
    formula: ClassVar[str] = ""
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    higher_is_better: ClassVar[bool] = True
    aliases: ClassVar[tuple[str, ...]] = ()
    trec_eval: ClassVar[tuple[str, ...]] = ()
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    total: ClassVar[bool] = False
    geometric: ClassVar[bool] = False
    only_total: ClassVar[bool] = False
    binary: ClassVar[bool] = False
    by_ontology: ClassVar[bool] = False
    of_whole_lists: ClassVar[bool] = True  # whether values are of the lists, and not of samples of their documents
    is_quality: ClassVar[bool] = True
    at: ClassVar[str] = "cutoff"
    names_rel: ClassVar[bool] = False  # whether the lowest relevant level was named, even if it is the default
    # How it is called: `called` sets these and the label of one measure, which equality does not look at
    asked: ClassVar[str] = ""  # the label, if it is another name than the notation
    _alias: ClassVar[str] = ""  # what replaces the name of the class in it, also once it has other parameters

    def __init__(self, **parameters: Any) -> None:  # noqa: ANN401 - checked against the fields
        """Take the parameters; others have their defaults."""
        for own in fields(self):
            object.__setattr__(self, own.name, parameters.get(own.name, own.default))
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check every parameter and bring it to its normal form."""
        for own in fields(self):
            value, check = getattr(self, own.name), own.metadata["check"]
            try:
                object.__setattr__(self, own.name, check(value))
            except (ValueError, TypeError) as error:
                raise MeasureError(
                    measure=type(self).__name__,
                    argument=own.name,
                    given=value,
                    allowed=check.allowed,
                    hint=error.hint if isinstance(error, ParameterError) else None,
                ) from None

    def __call__(self, **parameters: Any) -> Self:  # noqa: ANN401 - checked against the fields
        """Return the measure with other parameters."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        made = type(self)(**(own | renamed(parameters, list(own)))).called(self._alias)
        object.__setattr__(made, "names_rel", self.names_rel or "rel" in parameters)
        return made

    def __matmul__(self, cutoff: float) -> Self:
        """Return the measure at a cutoff, or at what else its ``@`` sets."""
        if getattr(self, self.at, None) != getattr(type(self), self.at, None):
            raise MeasureError(f"{self} has a {self.at} already", found=f"another: {format_given(cutoff)}")
        return self.__call__(**{self.at: cutoff})

    def __repr__(self) -> str:
        """Return the notation: what prints can be parsed."""
        shown = [
            f"{own.name}={getattr(self, own.name)!r}"
            for own in fields(self)
            if own.name != self.at and getattr(self, own.name) != own.default
        ]
        at = getattr(self, self.at, None)
        name = type(self).__name__ + (f"({', '.join(shown)})" if shown else "")
        return name if at is None else f"{name}@{at}"

    def __eq__(self, other: object) -> bool:
        """Tell whether it is the same measure with the same parameters."""
        return self.key == other.key if isinstance(other, Measure) else NotImplemented

    def __hash__(self) -> int:
        """Return a number that equal measures share."""
        return hash(self.key)

    @cached_property
    def key(self) -> tuple[object, ...]:
        """What equal measures share: the class and the parameters. As a key it is looked up faster than the measure."""
        return (type(self), *(getattr(self, own.name) for own in fields(self)))

    @cached_property
    def label(self) -> str:
        """What tables and keys call it: the name by which it was asked for, as ``"MAP"``; else the notation."""
        return str(self)

    def called(self, alias: str, asked: str = "") -> Self:
        """Return the same measure, equal to this one, under another name: its `label`.

        Parameters
        ----------
        alias : str
            In the place of the name of the class, also once the measure is called with other parameters; empty: none.
        asked : str, default ""
            The whole name, if the cutoff and parameters are in it, as in ``ndcg_cut_10``: of these parameters alone.
        """
        if not (alias or asked):
            return self
        notation = str(self)
        label = asked or alias + notation.removeprefix(type(self).__name__)
        return copy_with(self, _alias=alias, label=label, asked="" if label == notation else label)

    def level_of(self, mean: Any) -> Any:  # noqa: ANN401 - a float, or an array of them
        """Return what is reported of a mean of values: of logarithms the geometric mean."""
        return np.exp(mean) if self.geometric else mean

    @property
    def has_limits(self) -> bool:
        """Whether a value has a lowest and a highest possible one, on given judgments at least."""
        return math.isfinite(self.range[0]) and math.isfinite(self.range[1])

    def limits(self, placements: Placements) -> tuple[float, float]:  # noqa: ARG002 - of those that judgments limit
        """Return the lowest and the highest possible value on judgments such as these: by default `range`."""
        return self.range

    @property
    def asks_for_relevant(self) -> bool:
        """Whether it looks for relevant documents, so that an unanswerable query has no value."""
        return type(self).has_relevant is not Measure.has_relevant

    @property
    def is_share(self) -> bool:
        """Whether its values go from 0, the worst, to 1, the best."""
        return self.range == (0.0, 1.0) and self.higher_is_better

    @property
    def sign(self) -> float:
        """1 where higher is better, else -1: what a value is multiplied by to be the larger, the better it is."""
        return 1.0 if self.higher_is_better else -1.0

    @property
    def is_zero_or_one(self) -> bool:
        """Whether the value is 0 or 1 in every order of every ranking, so that a mean over queries is a proportion."""
        return False

    @abstractmethod
    def mean(self, placements: Placements) -> FloatArray:
        """Return the exact mean over all tie orders; NaN where no value is defined."""

    @abstractmethod
    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders."""

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value that an order of the ties can give."""
        one, other = (self.mean(policies.extreme(placements, best=best)) for best in (False, True))
        return np.minimum(one, other), np.maximum(one, other)

    def reachable(self, placements: Placements) -> FloatArray:
        """Return the best value that the judgments of each query allow a ranking; NaN where they set no limit.

        The ideal ranking of all judged documents is the best one for most measures; one that also looks at how many
        are retrieved may prefer the first document or the first k alone, or its upper classes. There is no limit
        where an unjudged document adds to the value, as to a number of retrieved documents, and none is known of a
        measure that sees more than relevance and rank.
        """
        if not self.can_list_orders(placements):
            return np.full(placements.n_queries, np.nan)

        def best(keep: BoolArray, unjudged: int = 0) -> FloatArray:
            low, high = self.extremes(ideal_ties(placements, keep, unjudged))
            return high if self.higher_is_better else -low

        everything, *others = self._ideal_lists(placements)
        found = best(everything)
        is_open = found < (self.range[1] if self.higher_is_better else -self.range[0])  # NaN stays NaN in any list
        if self.higher_is_better and self.range[0] == 0:
            is_open &= self.has_relevant(placements)  # others have 0 in every list
        if is_open.any():
            for keep in others:
                found = np.fmax(found, best(keep))
        return np.where(best(everything, unjudged=1) > found + ROUNDING * np.abs(found), np.nan, self.sign * found)

    def _ideal_lists(self, placements: Placements) -> Iterator[BoolArray]:
        """Yield the judgments that a list may be made of: all, each query's first, and those from each class up."""
        query, classes = placements.judged_query, self.classes(placements.judged_relevance)
        yield np.ones(len(query), np.bool_)
        yield np.diff(query, prepend=-1) > 0
        levels = np.unique(classes)[1:]  # from the lowest one up: that is all of them
        for level in levels[:: max(1, -(-len(levels) // MOST_LEVELS))]:
            yield classes >= level

    def distributions(
        self,
        placements: Placements,  # noqa: ARG002 - of the measures that have one
        queries: IntArray,  # noqa: ARG002 - as above
    ) -> list[tuple[FloatArray, FloatArray]] | None:
        """Return the values that each of some queries can take and their probabilities, where they are in closed form.

        None: they are not, and the orders of the ties have to be listed.
        """
        return None

    @property
    def deepest(self) -> int | None:
        """Rank below which it makes no difference what was retrieved; None: it does everywhere."""
        return None

    def looked_at(self, placements: Placements) -> IntArray:
        """Return how many documents of each list it looks at: the others change no value, wherever they are."""
        return placements.n_retrieved if self.deepest is None else np.minimum(placements.n_retrieved, self.deepest)

    def inside(self, above: IntArray, tied: IntArray) -> IntArray:  # noqa: ARG002 - of those with a cutoff
        """Return how many ranks of each tie may add to the value."""
        return tied

    def near(self, placements: Placements) -> Placements:
        """Return placements that give the same values, of fewer documents if that is faster."""
        return placements

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a document that counts as relevant for this measure."""
        return np.ones(placements.n_queries, np.bool_)

    def contributing(self, placements: Placements) -> Placements:
        """Return the placements without documents that change no value wherever they are; these count as unjudged."""
        return placements if self.deepest is None else placements.within(self.deepest)

    def classes(self, relevance: FloatArray) -> FloatArray:
        """Return numbers that are equal where the measure cannot tell judged documents apart; they fall as it does."""
        if not self.binary:
            return relevance
        return 1.0 * (relevance >= getattr(self, "rel", 1)) + (relevance >= 0)

    def standard_error(self, placements: Placements) -> FloatArray:
        """Return the standard error of :meth:`mean`: 0, as it is exact (but for a `Custom` measure)."""
        return np.zeros(placements.n_queries)

    def can_list_orders(self, placements: Placements) -> bool:  # noqa: ARG002 - of measures of diversity
        """Whether it sees only the relevance and rank of a document, and only the documents of a query.

        Then orders of ties can be listed or drawn, each as a query of its own.
        """
        return True

    def has_drawn_spread(self, placements: Placements) -> BoolArray:
        """Tell for which queries variance and extremes are those of drawn orders, though the mean is exact."""
        return np.zeros(placements.n_queries, np.bool_)


def ideal_ties(placements: Placements, keep: BoolArray, unjudged: int = 0) -> Placements:
    """Return placements in which each query retrieves some of its judged documents, all tied.

    Parameters
    ----------
    placements : Placements
    keep : ndarray of bool, shape (n_judged,)
        The best order of such a tie is the best ranking of these documents.
    unjudged : int, default 0
        How many others are in the tie.
    """
    query = placements.judged_query[keep]
    n_retrieved = np.bincount(query, minlength=placements.n_queries) + unjudged
    return replace(
        placements,
        n_retrieved=n_retrieved,
        query=query,
        documents=np.full(len(query), "", dtype=object),
        relevance=placements.judged_relevance[keep],
        above=np.zeros_like(query),
        tied=n_retrieved[query],
        before=None,
    )


@parameters
class CutMeasure(Measure):
    """A measure that can be cut at a rank."""

    cutoff: int | None = parameter(None, CUTOFF, "rank at which the list is cut; what @ sets")

    @property
    def deepest(self) -> int | None:
        """The cutoff; a measure whose divisor looks at the whole list has none."""
        return self.cutoff

    def _ideal_lists(self, placements: Placements) -> Iterator[BoolArray]:
        """Yield those of every measure, and each query's first k where what is below them takes something away."""
        yield from super()._ideal_lists(placements)
        if self.cutoff is not None and self.deepest is None:
            query = placements.judged_query
            first_of_query = np.searchsorted(query, query)
            yield np.arange(len(query)) - first_of_query < self.cutoff

    def inside(self, above: IntArray, tied: IntArray) -> IntArray:
        """Return how many ranks of each tie are within the cutoff."""
        return tied if self.cutoff is None else np.clip(self.cutoff - above, 0, tied)

    def k(self, placements: Placements) -> IntArray:
        """Return the cutoff, or the number of documents retrieved, of shape (n_queries,)."""
        return placements.n_retrieved if self.cutoff is None else np.full(placements.n_queries, self.cutoff)

    def depth(self, placements: Placements) -> IntArray:
        """Return the number of documents looked at in each list, the cutoff included."""
        return placements.n_retrieved if self.cutoff is None else np.minimum(placements.n_retrieved, self.cutoff)


class JointMeasure(Measure):
    """A measure whose mean and variance are computed together, once for the same placements."""

    @abstractmethod
    def find_moments(self, placements: Placements) -> tuple[FloatArray, ...]:
        """Compute mean and variance over all tie orders, and what else comes with them."""

    def moments(self, placements: Placements) -> tuple[FloatArray, ...]:
        """Return what :meth:`find_moments` finds."""
        return placements.cached(("moments", self.key), lambda: self.find_moments(placements))

    def mean(self, placements: Placements) -> FloatArray:
        """Return the exact mean over all tie orders."""
        return self.moments(placements)[0]

    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders."""
        return self.moments(placements)[1]


class SumMeasure(Measure):
    """A sum over the ranked documents, divided by a number that no tie order changes."""

    def near(self, placements: Placements) -> Placements:
        """Return the placements within its cutoff, which are few of many."""
        if len(placements.query) < MANY or self.deepest is None:
            return placements
        return placements.within(self.deepest)

    @abstractmethod
    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean of each query's sum over all tie orders, or its variance (`squares`)."""

    def divisor(self, placements: Placements) -> FloatArray | IntArray:
        """Return what each query's sum is divided by, 1 unless a measure has its own; the value is 0 where it is 0."""
        return np.ones(placements.n_queries)

    def mean(self, placements: Placements) -> FloatArray:
        """Return the exact mean over all tie orders, computed once for the same placements."""
        return placements.cached(
            ("mean", self.key), lambda: divide_or_zero(self.moment(placements, squares=False), self.divisor(placements))
        )

    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders."""
        return divide_or_zero(self.moment(placements, squares=True), self.divisor(placements) ** 2)


def ranks_to(measure: Measure, last: int) -> FloatArray:
    """Return the ranks from 1 to the last one that a measure sums over; raise if they are more than memory may hold."""
    if last > MOST_SUMMED:
        raise MeasureError(
            "its divisor is a sum over more ranks than memory may hold",
            measure=str(measure),
            found=f"{last:,}",
            allowed=f"at most {MOST_SUMMED:,}",
        )
    return np.arange(1.0, last + 1)


def divided(
    placements: Placements, parts: Iterable[FloatArray], query: IntArray, divisor: FloatArray | IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of each query's sum over its divisor, from those of the parts that add up to it."""
    mean, variance = (placements.by_query(part, query) for part in parts)
    return divide_or_zero(mean, divisor), divide_or_zero(variance, divisor**2)


def computed_once(*names: str) -> Callable[[Callable[[Any, Placements], T]], Callable[[Any, Placements], T]]:
    """Let a method look at the same placements once for all measures that share the parameters of these names.

    Parameters
    ----------
    *names : str
        Of the parameters that it looks at.
    """

    def remembered(find: Callable[[Any, Placements], T]) -> Callable[[Any, Placements], T]:
        @wraps(find)
        def found(measure: Any, placements: Placements) -> T:  # noqa: ANN401 - of any class
            key = (find.__qualname__, *(getattr(measure, name) for name in names))
            return placements.cached(key, lambda: find(measure, placements))

        return found

    return remembered


@dataclass_transform(kw_only_default=True, frozen_default=True)
def register(
    title: str,
    formula: str = "",
    *,
    aliases: tuple[str, ...] = (),
    trec_eval: tuple[str, ...] = (),
    presets: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    range: tuple[float, float] | None = None,  # noqa: A002 - as `Measure` has it
    higher_is_better: bool | None = None,
    total: bool | None = None,
    only_total: bool | None = None,
    is_quality: bool | None = None,
    at: str | None = None,
) -> Callable[[M], M]:
    """Make a measure known by its class name and its other names, and its fields its parameters.

    A class that is defined again, as in a notebook, takes the place of the one before; no other has its name.

    Parameters
    ----------
    title, formula, aliases, trec_eval, presets
        As `Measure` has them; those of the class that it is made from are not its own.
    range, higher_is_better, total, only_total, is_quality, at : optional
        As `Measure` has them, by default those of the class that it is made from.
    """
    for argument, names in (("aliases", aliases), ("trec_eval", trec_eval)):
        if isinstance(cast("object", names), str):
            raise MeasureError(argument=argument, given=names, allowed="a tuple of names", hint=f"write ({names!r},)")
    own = {"title": title, "formula": formula, "aliases": aliases, "trec_eval": trec_eval, "presets": presets}
    kinds = {
        "range": range,
        "higher_is_better": higher_is_better,
        "total": total,
        "only_total": only_total,
        "is_quality": is_quality,
        "at": at,
    }

    def registered(measure: M) -> M:
        known = REGISTRY.get(ALIASES.get(measure.__name__, measure.__name__), measure)
        if (known.__module__, known.__qualname__) != (measure.__module__, measure.__qualname__):
            raise MeasureError(
                f"its name is taken by {known.__module__}.{known.__qualname__}",
                measure=measure.__name__,
                hint="choose another for the class",
            )
        for name, value in (own | {kind: value for kind, value in kinds.items() if value is not None}).items():
            setattr(measure, name, value)
        if "__dataclass_fields__" not in vars(measure):
            parameters(measure)
        for name in other_names(measure):
            owner = name if name in REGISTRY else ALIASES.get(name, measure.__name__)
            if owner != measure.__name__:
                raise MeasureError(
                    f"its other name {name!r} is taken by {owner}", measure=measure.__name__, hint="choose another"
                )
        REGISTRY[measure.__name__] = measure
        ALIASES.update(dict.fromkeys(other_names(measure), measure.__name__))
        PRESETS.update(presets)
        return measure

    return registered


def also_called(measure: M, name: str) -> M:
    """Return a class that makes the same measures, under another name.

    Examples
    --------
    >>> from deadheat.core.measures import AP, MAP
    >>> (MAP @ 10).label, MAP @ 10, MAP @ 10 == AP @ 10
    ('MAP@10', AP@10, True)
    """
    return MeasureType(  # type: ignore[return-value]  # a class of the same kind
        name, (measure,), {"stands_for": measure, "__module__": measure.__module__, "__doc__": measure.__doc__}
    )


def other_names(measure: type[Measure]) -> list[str]:
    """Return the other names by which a measure is read."""
    in_trec = (template.removesuffix("_{}").removesuffix("_cut") for template in measure.trec_eval)
    return [name for name in dict.fromkeys((*measure.aliases, *in_trec, *measure.presets)) if name != measure.__name__]


def trec_names(measure: type[Measure]) -> list[str]:
    """Return the templates of trec_eval's names of a measure, first that without a cutoff."""
    return sorted(measure.trec_eval, key=lambda name: "{}" in name)


def measures() -> dict[str, type[Measure]]:
    """Return the registry: every measure's class by its name.

    Returns
    -------
    dict of str to type

    Examples
    --------
    >>> measures()["RR"].title
    'reciprocal rank'
    """
    return dict(REGISTRY)


def registered_names() -> set[str]:
    """Return the names and the other names of all measures that are registered."""
    return {*REGISTRY, *ALIASES}


def forget_module(module: str) -> None:
    """Forget the measures of a module that could not be imported to its end."""
    for name in [name for name, measure in REGISTRY.items() if measure.__module__ == module]:
        for other in other_names(REGISTRY.pop(name)):
            ALIASES.pop(other, None)
            PRESETS.pop(other, None)


third_party.add_registry("measures", third_party.NamedRegistry("measure", registered_names, forget_module))


def unknown_parameter(measure: str, name: str, value: object, names: list[str]) -> MeasureError:
    """Return the error for a parameter that a measure does not have."""
    if name == "cutoff":
        return MeasureError(f"{measure} takes no cutoff", found=f"@{format_given(value)}")
    hint = did_you_mean(name, names)
    if name == "judged_only":
        hint = "It is an option of evaluate, for all measures: judged_only=True, or deadheat evaluate -J"
    if name in {"dcg", "gains"} and "gain" in names:
        hint = "What ir_measures calls dcg='log2' or dcg='exp-log2' is gain='linear' or gain='exp'"
    if not hint and name in {"k", "at", "top"} and "cutoff" in names:
        hint = f"Write the cutoff behind @: {measure}@{format_given(value)}"
    return MeasureError(f"{measure} has no parameter {name!r}; it takes {', '.join(names) or 'none'}", hint=hint)


def renamed(parameters: Mapping[str, object], known: list[str]) -> dict[str, object]:
    """Return parameters under our names, if a measure has these: ``dcg="exp-log2"`` and ``gains={...}`` are gains.

    Both together, and a form of DCG that is not known, are left as they are.
    """
    found = dict(parameters)
    if "gain" in known and "gain" not in found:
        if "gains" in found and found.get("dcg", "log2") == "log2":
            found["gain"] = found.pop("gains")
            found.pop("dcg", None)
        elif "gains" not in found and str(found.get("dcg")) in GAINS:
            found["gain"] = GAINS[str(found.pop("dcg"))]
    return found
