"""What goes together: features that are asked of an evaluation, or of its result, and the refusal of all other pairs.

Each plugin declares in the registry what its features go with. A pair of which neither says so is refused here, before
anything is computed: a feature that nobody thought of beside another one is an error, and no wrong number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from deadheat.core import hooks
from deadheat.core.data.judging import find_kind_of_qrels
from deadheat.core.data.kind_of_judgments import DOCUMENTS
from deadheat.core.errors import ParameterError
from deadheat.core.plugin_records import Feature
from deadheat.core.settings import Conventions

if TYPE_CHECKING:
    from deadheat.core.data.kind_of_judgments import KindOfJudgments
    from deadheat.core.data.qrels import Qrels
    from deadheat.core.evaluation.evaluation import Evaluation


class Asked(NamedTuple):
    """A feature that is asked for.

    Attributes
    ----------
    feature : Feature
    value : object
        That of its argument, as it was given.
    """

    feature: Feature
    value: object = None

    @property
    def argument(self) -> str:
        """The argument that asks for it."""
        return self.feature.argument or self.feature.name

    @property
    def is_convention(self) -> bool:
        """Whether its argument is one of the conventions, which messages show as it was given."""
        return self.argument in Conventions.__dataclass_fields__


def feature_named(name: str) -> Feature:
    """Return a feature; one that nobody declared goes with nothing."""
    return hooks.features().get(name) or Feature(name, ())


def feature_of(kind: KindOfJudgments) -> Feature:
    """Return the feature that a kind of judgments is."""
    return hooks.features().get(kind.what) or Feature(kind.what, kind.goes_with, argument="qrels", kind="given")


def describe_kind(kind: KindOfJudgments) -> str:
    """Return what is judged, as messages say it.

    Examples
    --------
    >>> from deadheat.core.data.judging import find_kind_of_qrels
    >>> from deadheat import Qrels
    >>> describe_kind(find_kind_of_qrels(Qrels({"q": [["a", "b"], ["c"]]})))
    'relevant documents in groups'
    """
    return feature_of(kind).what or kind.what


def go_together(one: Asked, other: Asked) -> bool:
    """Tell whether two features go together.

    Examples
    --------
    >>> bounds = Asked(feature_named("bounds"), "bounds")
    >>> [go_together(bounds, Asked(feature_named("ties"), ties)) for ties in ("doc_id", "best")]
    [True, False]
    """
    return hooks.goes_with(one.feature, other.feature.name, other.value) or hooks.goes_with(
        other.feature, one.feature.name, one.value
    )


def asked_by(arguments: Mapping[str, object]) -> list[Asked]:
    """Return the features that arguments of `evaluate` ask for, in the order of the registry."""
    asked = []
    for feature in hooks.features().values():
        if feature.kind != "argument":
            continue
        name = feature.argument or feature.name
        value = arguments.get(name)
        if value is not None and not _is_default(name, value):
            asked.append(Asked(feature, value))
    return asked


def _is_default(argument: str, value: object) -> bool:
    """Tell whether a value asks for nothing; values may be of any type, as frames and arrays, which are not."""
    return value is False or (isinstance(value, str) and value == getattr(Conventions, argument, None))


def check_asked(arguments: Mapping[str, object], given: Collection[Feature] = ()) -> None:
    """Raise `ParameterError` if two features are asked for that do not go together.

    Parameters
    ----------
    arguments : mapping of str to object
        Of `evaluate`, or some of them; one that has its default asks for nothing.
    given : collection of Feature
        Those that are known by what was given, such as spans in the place of qrels.

    Examples
    --------
    >>> check_asked({"unjudged": "bounds", "judged_only": True})
    Traceback (most recent call last):
    ...
    deadheat.core.errors.ParameterError: judged_only must be False with unjudged='bounds', got True
    """
    asked = asked_by(arguments)
    for feature in given:
        asked.append(Asked(feature, feature.name))
    for one, other in combinations(asked, 2):
        if not go_together(one, other):
            refuse(one, other)


def refuse(one: Asked, other: Asked) -> None:
    """Raise the error for a pair that does not go together: what is given stays, and an argument is wrong beside it."""
    wrong, right = (other, one) if one.feature.kind == "given" else (one, other)
    entries = [entry.partition("=") for entry in right.feature.goes_with]
    allowed = [value for name, _, value in entries if name == wrong.feature.name and value]
    default = getattr(Conventions, wrong.argument, None)
    allowed_values = [repr(value) for value in allowed] or [repr(default)]
    problem = None
    beside = None
    if right.feature.kind == "given":
        problem = f"must be {' or '.join(allowed_values)} with {right.feature.what or right.feature.name}"
    else:
        beside = {right.argument: right.value if right.is_convention else None}
    raise ParameterError(
        problem,
        argument=wrong.argument,
        given=wrong.value if wrong.is_convention else None,
        found=None if wrong.is_convention else "some",
        allowed=allowed if len(allowed) > 1 else allowed_values[0],
        beside=beside,
        hint=right.feature.hints.get(wrong.feature.name) or wrong.feature.hints.get(right.feature.name),
    )


def check_use(name: str, evaluations: Iterable[Evaluation], *, is_named: bool = True) -> None:
    """Raise `ParameterError` if an evaluation has a feature that does not go with a use of it.

    Parameters
    ----------
    name : str
        The use, a feature such as ``leaderboard``.
    evaluations : iterable of Evaluation
    is_named : bool, default True
        Whether the error names the evaluation.
    """
    use = Asked(feature_named(name))
    for evaluation in evaluations:
        for asked in features_of(evaluation):
            if not go_together(use, asked):
                what = asked.feature.what or f"evaluations with {asked.feature.name}"
                raise ParameterError(
                    f"{use.feature.what or name} is not for {what}",
                    found=evaluation.name if is_named else None,
                    hint=asked.feature.hints.get(name) or asked.feature.hints.get(""),
                )


def check_of_documents(what: str, qrels: Qrels) -> None:
    """Raise `ParameterError` if judgments are of another kind than documents, for what knows no other.

    Parameters
    ----------
    what : str
        What was asked for, as the beginning of a sentence.
    qrels : Qrels

    Examples
    --------
    >>> from deadheat import Qrels
    >>> check_of_documents("an order", Qrels({"q": [["a", "b"], ["c"]]}))
    Traceback (most recent call last):
    ...
    deadheat.core.errors.ParameterError: an order is for judgments of documents, got relevant documents in groups
    """
    kind = find_kind_of_qrels(qrels)
    if kind is not DOCUMENTS:
        raise ParameterError(f"{what} is for judgments of documents", found=describe_kind(kind))


def features_of(evaluation: Evaluation) -> list[Asked]:
    """Return the features that an evaluation was made with: conventions, weights, and parts of its scores."""
    asked = asked_by(vars(evaluation.conventions))
    names = {one.feature.name for one in asked}
    parts = {*evaluation.features, *(key for scores in evaluation for key in scores.parts)}
    if evaluation.weights is not None:
        parts.add("weights")
    if evaluation.qrels.judging_rule is not None:
        asked.append(Asked(feature_of(evaluation.qrels.judging_rule.kind)))
    for name in sorted(parts - names):
        asked.append(Asked(feature_named(name)))
    return asked
