"""What functions and commands take: each class says once the name, type, default, check and help of its settings.

A function takes them as keywords and makes the class of them, which checks them; the options of commands, the words of
errors and what is saved follow from the fields.
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

_POLICIES = {  # and what help says of each
    "expected": "expected (the exact mean over its orders)",
    "best": "best",
    "worst": "worst",
    "doc_id": "doc_id (by document id, as trec_eval)",
    "input": "input (the order of the file)",
    "random": "random",
}
TIES = tuple(_POLICIES)
SKEWED = "skewed-t"
OF_ANY_MEANS = ("bca", "bootstrap-t", "percentile", "t", SKEWED)
BOUNDED = "gaffke"  # of means of values with a lowest and a highest one
PROPORTION = "clopper-pearson"
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
        If it is None, the setting may be None.
    allowed : tuple of str, or callable
        The words that it can be; or a function of the argument's name and of what was given, which returns the value
        in its normal form or raises `ParameterError`, as `as_count`.
    meaning : str, default ""
        The help of the option; without it a command has none.
    option : str, default ""
        The option as it is typed, such as ``"-l --rel"``, if it is not the name of the field.
    metavar : str, default ""
        What help calls its value; by default the words.
    heading : str, default ""
        The heading of the note in reports that says how it was set.
    help_heading : str, default ""
        The heading of --help-all that its option stands under, if it is not that of the other settings.
    group : str, default ""
        The group of options of a plugin that its option is in.
    rank : int, optional
        How early its option comes among those that --help shows.
    told : callable, optional
        Its text, given the value; there is no note where it is empty.
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


def meaning_of_ties(policies: Sequence[str]) -> str:
    """Return the help of an option for some tie policies."""
    *others, last = (_POLICIES[one] for one in policies)
    return f"What a tie counts: {', '.join(others)} or {last}."


@dataclass(frozen=True)
class Settings:
    """Settings that check themselves when they are created."""

    def __post_init__(self) -> None:
        """Bring every setting to its normal form; raise `ParameterError` for what is not allowed.

        Settings of a plugin raise `MissingPluginError` where that is not there, and are checked by it where it is.
        """
        changed = {}
        for name, own in self.__dataclass_fields__.items():
            given = getattr(self, name)
            if given is not own.default:
                changed[name] = self.checked(name, given)
                object.__setattr__(self, name, changed[name])
        for module in hooks.load_modules_for_settings(changed):
            module.check_settings(self)

    @classmethod
    def checked(cls, name: str, given: Any) -> Any:  # noqa: ANN401 - whatever a setting may be
        """Return the value of one setting in its normal form; raise `ParameterError` if it is not allowed."""
        own = cls.__dataclass_fields__[name]
        allowed = own.metadata.get("allowed")
        if allowed is None or given is own.default is None:
            return given
        if isinstance(allowed, tuple):
            check_choice(name, given, allowed)
            return given
        return allowed(name, given)

    @classmethod
    def of(cls, given: Mapping[str, Any], **changed: Any) -> Self:  # noqa: ANN401 - checked as it is made
        """Return the settings that are among named values, such as the arguments of a function: ``locals()``.

        Parameters
        ----------
        given : mapping of str to object
            Other names are left out; a setting that it lacks has its default.
        **changed
            Settings to have in place of those given.

        Examples
        --------
        >>> Conventions.of({"ties": "best", "run": "x.run"}, rel=2).rel
        2
        """
        found = {**given, **changed}
        return cls(**{one.name: found[one.name] for one in fields(cls) if one.name in found})


@dataclass(frozen=True)
class Conventions(Settings):
    """How an evaluation treats ties, queries without documents, unjudged documents, and scores that nearly tie.

    Attributes
    ----------
    ties, missing, no_relevant, score_precision, rel, judged_only, depth, unjudged, unjudged_max_rel
        As given to :func:`evaluate`.
    """

    ties: str = setting(
        "expected",
        TIES,
        meaning_of_ties(TIES),
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
        told=lambda given: (
            "compared as float64, not rounded"
            if given is None
            else f"rounded to {format_count(given, 'decimal') if isinstance(given, int) else given} first"
        ),
    )
    rel: float | None = setting(
        None,
        as_number,
        "Lowest relevance that counts as relevant, for all measures that name no other.",
        option="-l --rel",
        metavar="LEVEL",
        heading="relevant",
        told=lambda given: "" if given is None else f"from relevance {given:g} on, where a measure names no other",
    )
    judged_only: bool = setting(
        default=False,
        allowed=as_flag,
        meaning="Take unjudged documents out of the lists first.",
        option="-J --judged-only",
        heading="lists",
        told=lambda given: "without unjudged documents" if given else "",
    )
    depth: int | None = setting(
        None,
        as_count,
        "Look at the first N documents of each list.",
        option="-M --depth",
        metavar="N",
        heading="lists",
        told=lambda given: "" if given is None else f"cut after {format_count(given, 'document')}",
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

    @classmethod
    def of(cls, given: Mapping[str, Any], **changed: Any) -> Self:  # noqa: ANN401 - as above
        """Return the conventions among named values; `missing` may be None, where nobody confirmed the default."""
        unsaid = {"missing": cls.missing} if given.get("missing") is None else {}
        return super().of({**given, **unsaid}, **changed)


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
