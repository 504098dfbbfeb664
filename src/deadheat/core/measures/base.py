"""What a measure is: one class that says everything about it, whose fields are its parameters.

`MeasureType` lets the class stand for the measure with its defaults, as in ``nDCG @ 10``; `Measure` has what all
measures share. What most are made from is in `families.py`, and names are in `registration.py`.
"""

import math
from abc import ABC, ABCMeta, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import cached_property
from inspect import Parameter, Signature, signature
from typing import Any, ClassVar, Self

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.errors import MeasureError, ParameterError
from deadheat.core.measures.parameters import make_parameter_error, parameters, translate_gain
from deadheat.core.placements import policies
from deadheat.core.placements.placements import Placements
from deadheat.core.scalars import ROUNDING
from deadheat.core.structures import copy_with
from deadheat.core.wording import format_given

MOST_LEVELS = 16  # levels of relevance that `_ideal_lists` tries as the lowest of a list


class MeasureType(ABCMeta):
    """The type of classes of measures: ``nDCG @ 10`` is ``nDCG() @ 10``, and an unknown parameter is an error."""

    __instancecheck__ = type.__instancecheck__  # nothing is registered, and ABCMeta asks each of the classes

    def __call__(cls, /, *values: Any, **given: Any) -> Any:  # noqa: ANN401 - typed by the dataclass
        """Make a measure. An alias, such as MAP, makes a measure of its class; an unknown parameter is an error."""
        alias_of: type[Measure] | None = vars(cls).get("alias_of")
        if alias_of is not None:
            return alias_of(*values, **given).with_alias(cls.__name__)
        names = [parameter.name for parameter in fields(cls)]  # type: ignore[arg-type]  # each is a dataclass
        if not given.keys() <= set(names):
            given = translate_gain(given, names)
        for name, value in given.items():
            if name not in names:
                raise make_parameter_error(cls.__name__, name, value, names)
        if values and not cls._has_own_init():
            example = f"{cls.__name__} @ 10" if "cutoff" in names else f"{cls.__name__}(rel=2)"
            raise MeasureError(
                f"name each parameter and write a cutoff behind @, as in {example}", measure=cls.__name__, given=values
            )
        measure = super().__call__(*values, **given)
        if "rel" in given:
            object.__setattr__(measure, "names_rel", True)
        return measure

    def _get_init(cls) -> Callable[..., None]:
        return cls.__init__  # type: ignore[misc]  # of this class, which is no instance of another

    def _has_own_init(cls) -> bool:
        """Tell whether the class takes arguments in its own way, as `Custom` does."""
        return cls._get_init() is not Measure.__init__

    @property
    def __signature__(cls) -> Signature:
        """The parameters, as help and notebooks show them."""
        if cls._has_own_init():
            _, *arguments = signature(cls._get_init()).parameters.values()
            return Signature(arguments)
        arguments = []
        for parameter in fields(cls):  # type: ignore[arg-type]  # as above
            argument = Parameter(
                parameter.name, Parameter.KEYWORD_ONLY, default=parameter.default, annotation=parameter.type
            )
            arguments.append(argument)
        return Signature(arguments)

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
        Whether it uses the judgments of an ontology, where an evaluation has some.
    of_whole_lists : bool
        Whether its values are of whole lists, and not of samples of their documents.
    knows_ties : bool
        Whether values over the orders of ties are known; of values alone, without a function, they are not.
    is_quality : bool
        Whether it says how good a ranking is; others say what the data hold, and no system wins by them.
    at : str
        The parameter that ``@`` sets.
    alias : str
        The name by which its class was asked for, as "MAP"; empty if that was the name of the class. It stays when the
        measure is called with other parameters. Equality does not look at it, nor at `names_rel` and `label`.
    names_rel : bool
        Whether the lowest relevant level was named, even if it is the default.

    Notes
    -----
    Five members say how deep a measure looks. A measure that looks at whole lists needs none of them.

    * `deepest` is the rank below which nothing counts. The other four follow from it.
    * `looked_at` is how many documents of each list count.
    * `inside` is how many ranks of each tie count.
    * `contributing` drops every document that changes no value.
    * `near` drops them only where that saves time.
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
    of_whole_lists: ClassVar[bool] = True
    knows_ties: ClassVar[bool] = True
    is_quality: ClassVar[bool] = True
    at: ClassVar[str] = "cutoff"
    alias: ClassVar[str] = ""
    names_rel: ClassVar[bool] = False

    def __init__(self, **parameters: Any) -> None:  # noqa: ANN401 - checked against the fields
        """Set the given parameters, and the others to their defaults."""
        for parameter in fields(self):
            value = parameters.get(parameter.name, parameter.default)
            object.__setattr__(self, parameter.name, value)
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check every parameter and bring it to its normal form."""
        for parameter in fields(self):
            check = parameter.metadata["check"]
            value = getattr(self, parameter.name)
            try:
                normal = check(value)
            except (ValueError, TypeError) as error:
                hint = error.hint if isinstance(error, ParameterError) else None
                raise MeasureError(
                    measure=type(self).__name__,
                    argument=parameter.name,
                    given=value,
                    allowed=check.allowed,
                    hint=hint,
                ) from None
            object.__setattr__(self, parameter.name, normal)

    def __call__(self, **parameters: Any) -> Self:  # noqa: ANN401 - checked against the fields
        """Return the measure with other parameters."""
        present = {parameter.name: getattr(self, parameter.name) for parameter in fields(self)}
        changed = translate_gain(parameters, list(present))
        measure = type(self)(**(present | changed)).with_alias(self.alias)
        names_rel = self.names_rel or "rel" in parameters  # a level that was only copied was not named
        object.__setattr__(measure, "names_rel", names_rel)
        return measure

    def __matmul__(self, cutoff: float) -> Self:
        """Return the measure with the parameter that ``@`` sets, which mostly is the cutoff."""
        if getattr(self, self.at, None) != getattr(type(self), self.at, None):
            raise MeasureError(f"{self} has a {self.at} already", found=f"another: {format_given(cutoff)}")
        return self.__call__(**{self.at: cutoff})

    def __repr__(self) -> str:
        """Return the notation: what prints can be parsed."""
        return self._notation

    @cached_property
    def _notation(self) -> str:
        shown = []
        for parameter in fields(self):
            value = getattr(self, parameter.name)
            if parameter.name != self.at and value != parameter.default:
                shown.append(f"{parameter.name}={value!r}")
        notation = type(self).__name__
        if shown:
            notation += f"({', '.join(shown)})"
        cutoff = getattr(self, self.at, None)
        if cutoff is not None:
            notation += f"@{cutoff}"
        return notation

    def __eq__(self, other: object) -> bool:
        """Tell whether it is the same measure with the same parameters."""
        if not isinstance(other, Measure):
            return NotImplemented
        return self.key == other.key

    def __hash__(self) -> int:
        """Return a number that equal measures share."""
        return hash(self.key)

    @cached_property
    def key(self) -> tuple[object, ...]:
        """The class and the parameters, which equal measures share. A dict finds it faster than the measure."""
        return (type(self), *(getattr(self, parameter.name) for parameter in fields(self)))

    @cached_property
    def label(self) -> str:
        """What tables and keys call it: the name by which it was asked for, as ``"MAP"``; else the notation."""
        return str(self)

    @property
    def asked(self) -> str:
        """The label, if it is another name than the notation; else empty."""
        if self.label == str(self):
            return ""
        return self.label

    def with_alias(self, alias: str) -> Self:
        """Return the same measure under another name of its class, which stays when it is called with parameters.

        Examples
        --------
        >>> from deadheat.core.measures import AP
        >>> (AP @ 10).with_alias("MAP").label, (AP().with_alias("MAP") @ 10).label
        ('MAP@10', 'MAP@10')
        """
        if not alias:
            return self
        label = alias + str(self).removeprefix(type(self).__name__)
        return copy_with(self, alias=alias, label=label)

    def with_label(self, label: str) -> Self:
        """Return the same measure under a name that includes cutoff and parameters, as ``ndcg_cut_10``.

        Called with other parameters, it loses this name.
        """
        return copy_with(self, label=label)

    def level_of(self, mean: Any) -> Any:  # noqa: ANN401 - a float, or an array of them
        """Return the mean to report: for a geometric measure, whose values are logarithms, the exponential."""
        if self.geometric:
            return np.exp(mean)
        return mean

    @property
    def has_limits(self) -> bool:
        """Whether a value has a lowest and a highest possible one, on given judgments at least."""
        return math.isfinite(self.range[0]) and math.isfinite(self.range[1])

    def limits(self, placements: Placements) -> tuple[float, float]:  # noqa: ARG002 - some measures need it
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
        """1 where higher is better, else -1: times this sign, the larger value is the better one."""
        if self.higher_is_better:
            return 1.0
        return -1.0

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
        with_worst_first = self.mean(policies.arrange_extreme(placements, best=False))
        with_best_first = self.mean(policies.arrange_extreme(placements, best=True))
        return np.minimum(with_worst_first, with_best_first), np.maximum(with_worst_first, with_best_first)

    def reachable(self, placements: Placements) -> FloatArray:
        """Return the best value that the judgments of each query allow a ranking; NaN where they set no limit.

        For most measures the best list has all judged documents in the ideal order. A measure that also looks at how
        many are retrieved may prefer a shorter list: the first document, the first k, or the upper classes of
        relevance. There is no limit where an unjudged document adds to the value, as to a number of retrieved
        documents, and none is known for a measure that sees more than relevance and rank.
        """
        if not self.can_list_orders(placements):
            return np.full(placements.n_queries, np.nan)

        all_judged, *shorter_lists = self._ideal_lists(placements)
        best = self._best_of_list(placements, all_judged)
        if self._may_improve(placements, best).any():
            for is_listed in shorter_lists:
                best = np.fmax(best, self._best_of_list(placements, is_listed))
        with_unjudged = self._best_of_list(placements, all_judged, n_unjudged=1)
        grows_with_unjudged = with_unjudged > best + ROUNDING * np.abs(best)
        return np.where(grows_with_unjudged, np.nan, self.sign * best)

    def _best_of_list(self, placements: Placements, is_listed: BoolArray, n_unjudged: int = 0) -> FloatArray:
        """Return the best value of a list of some judged documents, times `sign`, so that the larger is the better."""
        low, high = self.extremes(tie_judged_documents(placements, is_listed, n_unjudged))
        if self.higher_is_better:
            return high
        return -low

    def _may_improve(self, placements: Placements, best: FloatArray) -> BoolArray:
        """Tell for which queries another list may have a better value than `best`, which has been multiplied by `sign`.

        None has where the value is at the limit of the range, where it is NaN, and where it is 0 because no document
        is relevant.
        """
        limit = self.range[1] if self.higher_is_better else -self.range[0]
        may_improve = best < limit
        if self.higher_is_better and self.range[0] == 0:
            may_improve &= self.has_relevant(placements)
        return may_improve

    def _ideal_lists(self, placements: Placements) -> Iterator[BoolArray]:
        """Yield the lists that may be the best, as masks of judgments: all, each query's first, the upper classes."""
        query = placements.judged_query
        classes = self.classes(placements.judged_relevance)
        yield np.ones(len(query), np.bool_)
        is_first_of_query = np.diff(query, prepend=-1) > 0
        yield is_first_of_query
        levels = np.unique(classes)[1:]  # those from the lowest level up are all judgments, which were yielded
        step = max(1, math.ceil(len(levels) / MOST_LEVELS))
        for lowest_level in levels[::step]:
            yield classes >= lowest_level

    def distributions(
        self,
        placements: Placements,  # noqa: ARG002 - measures with a closed form need it
        queries: IntArray,  # noqa: ARG002 - and this one
    ) -> list[tuple[FloatArray, FloatArray]] | None:
        """Return the possible values of some queries and their probabilities.

        None: there is no closed form, and the orders of the ties have to be listed.
        """
        return None

    @property
    def deepest(self) -> int | None:
        """The rank below which documents change no value; None if all ranks count."""
        return None

    def looked_at(self, placements: Placements) -> IntArray:
        """Return how many documents of each list count; those below change no value in any order."""
        if self.deepest is None:
            return placements.n_retrieved
        return np.minimum(placements.n_retrieved, self.deepest)

    def inside(self, above: IntArray, tied: IntArray) -> IntArray:  # noqa: ARG002 - a cutoff needs it
        """Return how many ranks of each tie can change the value."""
        return tied

    def near(self, placements: Placements) -> Placements:
        """Return placements with the same values, from which documents are dropped if that saves time."""
        return placements

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a document that counts as relevant for this measure."""
        return np.ones(placements.n_queries, np.bool_)

    def contributing(self, placements: Placements) -> Placements:
        """Return the placements without the documents that change no value, as if these were unjudged."""
        if self.deepest is None:
            return placements
        return placements.within(self.deepest)

    def classes(self, relevance: FloatArray) -> FloatArray:
        """Return a class for each relevance, rising with it; the measure cannot tell documents of one class apart.

        A binary measure has three: 0 for negative relevance, 1 for others that are not relevant, 2 for relevant ones.
        (With ``rel`` below 0, the documents of relevance 0 or more have 2, and relevant ones below 0 have 1.)
        """
        if not self.binary:
            return relevance
        is_relevant = relevance >= getattr(self, "rel", 1)
        is_judged = relevance >= 0
        return 1.0 * is_relevant + is_judged

    def standard_error(self, placements: Placements) -> FloatArray:
        """Return the standard error of :meth:`mean`: 0, as it is exact (but for a `Custom` measure)."""
        return np.zeros(placements.n_queries)

    def can_list_orders(self, placements: Placements) -> bool:  # noqa: ARG002 - measures of diversity need it
        """Whether it sees only the relevance and rank of a document, and only the documents of a query.

        Then orders of ties can be listed or drawn, each as a query of its own.
        """
        return True

    def has_drawn_spread(self, placements: Placements) -> BoolArray:
        """Tell for which queries variance and extremes are those of drawn orders, though the mean is exact."""
        return np.zeros(placements.n_queries, np.bool_)


def tie_judged_documents(placements: Placements, is_listed: BoolArray, n_unjudged: int = 0) -> Placements:
    """Return placements in which each query retrieves some of its judged documents, all in one tie.

    The best order of the tie is the best ranking of these documents.

    Parameters
    ----------
    placements : Placements
    is_listed : ndarray of bool, shape (n_judged,)
        Which judged documents are retrieved.
    n_unjudged : int, default 0
        Unjudged documents that are in the tie, too.
    """
    query = placements.judged_query[is_listed]
    n_retrieved = np.bincount(query, minlength=placements.n_queries) + n_unjudged
    return replace(
        placements,
        n_retrieved=n_retrieved,
        query=query,
        documents=np.full(len(query), "", dtype=object),
        relevance=placements.judged_relevance[is_listed],
        above=np.zeros_like(query),
        tied=n_retrieved[query],
        before=None,
    )
