"""Settings of functions and commands: each class says once the name, type, default, check and help of its settings.

A function takes settings as keywords and makes an object of the class of them, which checks them. The options of
commands, the words of errors and what is saved follow from the fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, Self, TypedDict

from deadheat.core import hooks
from deadheat.core.checks import as_count, as_flag, as_level, as_number, as_precision, as_resamples, check_choice
from deadheat.core.random_generators import Rng, check_rng
from deadheat.core.wording import format_count

_POLICIES = {  # the words of help, by the name of the policy
    "expected": "expected (the exact mean over its orders)",
    "best": "best",
    "worst": "worst",
    "doc_id": "doc_id (by document id, as trec_eval)",
    "input": "input (the order of the file)",
    "random": "random",
}
TIES = tuple(_POLICIES)
SKEWED = "skewed-t"
OF_ANY_MEANS = ("bca", "bootstrap-t", "percentile", "t", SKEWED)  # methods of intervals, whatever the values are
BOUNDED = "gaffke"  # for values with a lowest and a highest one
PROPORTION = "clopper-pearson"  # for values of 0 and 1
METHODS = ("auto", *OF_ANY_MEANS, BOUNDED, PROPORTION)


def setting(
    default: object,
    allowed: tuple[str, ...] | Callable[[str, Any], object],
    meaning: str = "",
    *,
    option: str = "",
    metavar: str = "",
    heading: str = "",
    help_heading: str = "",
    group: str = "",
    rank: int | None = None,
    told: Callable[[Any], str] | None = None,
) -> Any:  # noqa: ANN401 - typed by its field
    """Return a dataclass field that knows its check and its option.

    Parameters
    ----------
    default : object
        A setting whose default is None may be None.
    allowed : tuple of str, or callable
        The words that are allowed; or a function as `as_count`, which takes the argument's name and its value, and
        returns the value in its normal form or raises `ParameterError`.
    meaning : str, default ""
        The help of the option; a setting without help has no option.
    option : str, default ""
        The option as it is typed, such as ``"-l --rel"``, if it is not the name of the field.
    metavar : str, default ""
        What help calls the value of the option; by default the words.
    heading : str, default ""
        The heading of the note in reports that says how the setting was set.
    help_heading : str, default ""
        The heading of --help-all that the option stands under, if it is not that of the other settings.
    group : str, default ""
        The group of options of a plugin that the option is in.
    rank : int, optional
        How early the option comes among those that --help shows.
    told : callable, optional
        Takes the value, and returns the text of the note in reports; there is no note if the text is empty.
    """
    metadata = {
        "allowed": allowed,
        "help": meaning,
        "option": option,
        "metavar": metavar,
        "heading": heading,
        "help_heading": help_heading,
        "group": group,
        "rank": rank,
        "told": told,
    }
    return field(default=default, metadata=metadata)


def describe_policies(policies: Sequence[str]) -> str:
    """Return the help of an option that takes some of the tie policies."""
    *others, last = (_POLICIES[policy] for policy in policies)
    return f"What a tie counts: {', '.join(others)} or {last}."


def _describe_precision(precision: str | int | None) -> str:
    if precision is None:
        return "compared as float64, not rounded"
    if isinstance(precision, int):
        return f"rounded to {format_count(precision, 'decimal')} first"
    return f"rounded to {precision} first"


def _describe_rel(rel: float | None) -> str:
    if rel is None:
        return ""
    return f"from relevance {rel:g} on, where a measure names no other"


def _describe_judged_only(judged_only: bool) -> str:  # noqa: FBT001 - the value of a setting
    return "without unjudged documents" if judged_only else ""


def _describe_depth(depth: int | None) -> str:
    if depth is None:
        return ""
    return f"cut after {format_count(depth, 'document')}"


def _as_name_of_exclusion(_: str, given: object) -> str:
    name: str = hooks.service("exclude").name_exclusion(given)
    return name


@dataclass(frozen=True)
class Settings:
    """Settings that check themselves when they are created."""

    def __post_init__(self) -> None:
        """Bring every setting to its normal form; raise `ParameterError` for what is not allowed.

        Settings of a plugin raise `MissingPluginError` where that is not there, and are checked by it where it is.
        """
        changed = {}
        for name, own_field in self.__dataclass_fields__.items():
            given = getattr(self, name)
            if given is not own_field.default:
                changed[name] = self.checked(name, given)
                object.__setattr__(self, name, changed[name])
        for module in hooks.load_modules_for_settings(changed):
            module.check_settings(self)

    @classmethod
    def checked(cls, name: str, given: Any) -> Any:  # noqa: ANN401 - whatever a setting may be
        """Return the value of one setting in its normal form; raise `ParameterError` if it is not allowed."""
        own_field = cls.__dataclass_fields__[name]
        allowed = own_field.metadata.get("allowed")
        if allowed is None:
            return given
        if given is None and own_field.default is None:
            return None
        if isinstance(allowed, tuple):
            check_choice(name, given, allowed)
            return given
        return allowed(name, given)

    @classmethod
    def of(cls, given: Mapping[str, Any], **changed: Any) -> Self:  # noqa: ANN401 - checked as it is made
        """Return settings made of those named values that are settings, such as the arguments of a function.

        Parameters
        ----------
        given : mapping of str to object
            Values by name, as ``locals()`` has them. Names of no setting are left out; a setting that is not among
            them has its default.
        **changed
            Settings that take the place of those given.

        Examples
        --------
        >>> Conventions.of({"ties": "best", "run": "x.run"}, rel=2).rel
        2
        """
        values = {**given, **changed}
        own_values = {}
        for own_field in fields(cls):
            if own_field.name in values:
                own_values[own_field.name] = values[own_field.name]
        return cls(**own_values)


@dataclass(frozen=True)
class Conventions(Settings):
    """How an evaluation treats ties, queries without documents, unjudged documents, and scores that nearly tie.

    Attributes
    ----------
    ties, missing, no_relevant, score_precision, rel, judged_only, depth, unjudged, unjudged_max_rel
        As given to :func:`evaluate`.
    exclude : str or None
        What was excluded: "self", or the number of pairs and the beginning of their SHA-256.
    """

    ties: str = setting(
        "expected",
        TIES,
        describe_policies(TIES),
        metavar="POLICY",
        help_heading="ties",
        rank=80,
    )
    missing: str = setting(
        "empty",
        ("empty", "skip", "error"),
        "Queries that a run lacks count as empty rankings, are left out, or are an error.",
    )
    no_relevant: str | None = setting(
        None,
        ("zero", "skip", "one", "correct_if_empty"),
        "Queries without a relevant document score 0, are left out, score 1 (as in LightGBM and XGBoost), or score 1 if"
        " nothing is retrieved for them; the last two are for measures from 0 to 1. Default: zero, but queries that the"
        " qrels call unanswerable are left out.",
    )
    score_precision: str | int | None = setting(
        None,
        as_precision,
        "Round all scores first: float32, float16, bfloat16 or a number of decimals.",
        metavar="PRECISION",
        help_heading="ties",
        heading="scores",
        told=_describe_precision,
    )
    rel: float | None = setting(
        None,
        as_number,
        "Lowest relevance that counts as relevant, for all measures that name no other.",
        option="-l --rel",
        metavar="LEVEL",
        heading="relevant",
        told=_describe_rel,
    )
    judged_only: bool = setting(
        default=False,
        allowed=as_flag,
        meaning="Take unjudged documents out of the lists first.",
        option="-J --judged-only",
        heading="lists",
        told=_describe_judged_only,
    )
    depth: int | None = setting(
        None,
        as_count,
        "Look at the first N documents of each list.",
        option="-M --depth",
        metavar="N",
        heading="lists",
        told=_describe_depth,
    )
    unjudged: str = setting(
        "zero",
        ("zero", "bounds"),
        "Unjudged documents have no gain; or also give the least and greatest value for any relevance of theirs.",
        group="bounds",
    )
    unjudged_max_rel: float | None = setting(
        None,
        partial(as_number, low=0),
        "The highest relevance that an unjudged document can have, with --unjudged; default: the highest in the qrels.",
        metavar="LEVEL",
        group="bounds",
    )
    exclude: str | None = setting(None, _as_name_of_exclusion)

    @classmethod
    def of(cls, given: Mapping[str, Any], **changed: Any) -> Self:  # noqa: ANN401 - as above
        """Return the conventions among named values; `missing` may be None, where nobody confirmed the default."""
        if given.get("missing") is None:
            given = {**given, "missing": cls.missing}
        return super().of(given, **changed)


class ConventionArguments(TypedDict, total=False):
    """The fields of `Conventions` as keyword arguments, for type checkers; `missing` is None if it was not given."""

    ties: str
    missing: str | None
    no_relevant: str | None
    score_precision: str | int | None
    rel: float | None
    judged_only: bool
    depth: int | None
    unjudged: str
    unjudged_max_rel: float | None
    exclude: object


@dataclass(frozen=True, kw_only=True)
class Estimation(Settings):
    """How confidence intervals are computed, whatever they are of.

    Attributes
    ----------
    method : {"auto", "bca", "bootstrap-t", "percentile", "t", "skewed-t", "gaffke", "clopper-pearson"}
    confidence_level : float
    n_resamples : int
    rng : numpy.random.Generator, int or None
    """

    confidence_level: float = setting(
        0.95,
        as_level,
        "Level of the intervals; 1 - LEVEL is the level of significance of tests.",
        metavar="LEVEL",
    )
    method: str = setting(
        "auto",
        METHODS,
        "auto (default): for means clopper-pearson of measures that are 0 or 1 (Hit, P@1; not with --cluster),"
        " skewed-t of those without limits (DCG), gaffke of all others; for differences t. bca, bootstrap-t,"
        " percentile: bootstrap; t: Student's t; skewed-t: corrected for skewness; gaffke: for values between limits;"
        " clopper-pearson: exact for proportions.",
        option="--ci-method",
        metavar="METHOD",
    )
    n_resamples: int = setting(
        10_000,
        as_resamples,
        "Resamples of bootstraps and tests, 99 or more; if it is not given, more sign flips are drawn, up to a million,"
        " where these leave it open whether a difference is significant.",
        metavar="N",
    )
    rng: Rng = setting(0, check_rng)
