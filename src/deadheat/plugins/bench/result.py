"""BenchResult, what bench() returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import polars as pl

from deadheat.core import hooks
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.renderable import Renderable, make_frame
from deadheat.core.design import Design
from deadheat.core.errors import ParameterError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.intervals import KNOWN, Interval, IntervalOptions
from deadheat.core.evaluation.strata import Strata
from deadheat.core.evaluation.stratum import NONE, NUMBERS, Stratum, strata_of
from deadheat.core.measures import Measure
from deadheat.core.scalars import NOISE
from deadheat.core.structures import group_values
from deadheat.core.wording import format_count
from deadheat.plugins.bench.case_groups import CaseGroup, check_by
from deadheat.plugins.bench.cases import Case
from deadheat.plugins.bench.families import Family, find_families
from deadheat.plugins.bench.retrievers import GradedAnswers
from deadheat.plugins.compare.comparison import Comparison
from deadheat.plugins.languages.across import Languages
from deadheat.plugins.languages.comparing import languages_of

if TYPE_CHECKING:
    import altair as alt

MOST_ABOVE = 3  # documents that are named
MOST_NAMED = 10  # documents of a case whose names are kept


class Key(NamedTuple):
    """What an evaluation is of: a set of cases, its language ("(none)" without one) and a retriever."""

    cases: str
    language: str
    retriever: str


@dataclass(frozen=True, kw_only=True)
class BenchSettings:
    """How a benchmark was made.

    Attributes
    ----------
    collection : str
    spoken : tuple of str
        The languages of its texts; empty if nobody knows.
    is_guess : bool
        Whether they are a guess from the texts, as nobody named them.
    n_documents : int
    k : int
    measures : tuple of Measure
    design : Design
    cluster : str, mapping or None
    limit : int or None
    ontology : str or None
    kind : str
        Of similarity.
    by : tuple of str
        Columns of the strata that the reports show, one by one or, if there are several, by their combinations.
    systems : dict of str to str
        What each retriever is, in words.
    margin : float or None
        Within which languages are tested for equivalence.
    words : dict of str to dict of str to list of str
        How each retriever that matches words takes them, with the languages for which it does so.
    english : set of str
        The retrievers that take words as English for all cases, with no more than stop words.
    assumed : tuple of str
        What was assumed of cases because their file does not say it.
    """

    collection: str
    n_documents: int
    k: int
    measures: tuple[Measure, ...]
    design: Design
    cluster: str | Mapping[str, object] | None = None
    limit: int | None = None
    ontology: str | None = None
    kind: str = "lin"
    by: tuple[str, ...] = ()
    systems: Mapping[str, str] = field(default_factory=dict)
    spoken: tuple[str, ...] = ()
    is_guess: bool = False
    margin: float | None = None
    words: Mapping[str, Mapping[str, list[str]]] = field(default_factory=dict)
    english: AbstractSet[str] = frozenset()
    assumed: tuple[str, ...] = ()


@dataclass(frozen=True)
class LabelledDocument:
    """A document with its label.

    Attributes
    ----------
    doc_id, label : str
        The label is empty for a document that the collection lacks.
    """

    doc_id: str
    label: str

    def __str__(self) -> str:
        return f"{self.doc_id} {self.label}".strip()


@dataclass(frozen=True)
class Failure:
    """A case of which no expected document is first in every order of the ties.

    Attributes
    ----------
    case_id, text : str
    line : int or None
        The line of the file on which the case begins.
    expected : tuple of LabelledDocument
    best : LabelledDocument or None
        The expected document that ranks highest; None if none was found.
    low, high : int or None
        The first and the last rank that the best expected document may have, over all orders of the ties.
    above : tuple of LabelledDocument
        The first documents that rank above it, or share its score, and are not expected; at most three.
    n_above : int
        How many there are.
    """

    case_id: str
    text: str
    line: int | None
    expected: tuple[LabelledDocument, ...]
    best: LabelledDocument | None
    low: int | None
    high: int | None
    above: tuple[LabelledDocument, ...]
    n_above: int

    @property
    def rank(self) -> str:
        """The rank as people read it."""
        if self.low is None or self.high is None:
            return "not found"
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,} to {self.high:,}"

    @classmethod
    def of_dict(cls, given: Mapping[str, Any]) -> Self:
        """Return the failure that JSON holds."""
        expected, above = (tuple(LabelledDocument(**one) for one in given[name]) for name in ("expected", "above"))
        return cls(
            given["case_id"],
            given["text"],
            given.get("line"),
            expected,
            next((one for one in expected if one.doc_id == given["best"]), None),
            given["rank_low"],
            given["rank_high"],
            above,
            given["n_above"],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "case_id": self.case_id,
            "text": self.text,
            "line": self.line,
            "expected": [vars(one) for one in self.expected],
            "best": None if self.best is None else self.best.doc_id,
            "rank_low": self.low,
            "rank_high": self.high,
            "above": [vars(one) for one in self.above],
            "n_above": self.n_above,
        }


def failures_of(cases: Sequence[Case], found: pl.DataFrame, labels: Mapping[str, str]) -> tuple[Failure, ...]:
    """Return the failures of a run, the worst first; among equals in the order of the cases.

    Parameters
    ----------
    cases : sequence of Case
    found : polars.DataFrame
        query_id, doc_id and score.
    labels : mapping of str to str
        What documents are called in the language of the cases.
    """
    rows = found.sort("score", "doc_id", descending=[True, False]).select("query_id", "score", "doc_id").iter_rows()
    ranked = group_values((query, (score, doc)) for query, score, doc in rows)
    failed = []
    for case in cases:
        own = ranked.get(case.case_id, [])
        score, best = next(((score, doc) for score, doc in own if doc in case.expected_ids), (float("-inf"), None))
        others = [(other, doc) for other, doc in own if doc not in case.expected_ids and other >= score]
        if not case.expected_ids or (best is not None and not others):
            continue  # an expected document is first in every order
        above = tuple(LabelledDocument(doc, labels.get(doc, "")) for _, doc in others[:MOST_ABOVE])
        expected = tuple(LabelledDocument(doc, labels.get(doc, "")) for doc in case.expected_ids)
        first = next((one for one in expected if one.doc_id == best), None)
        low, high = (sum(other > score for other, _ in others) + 1, len(others) + 1) if first else (None, None)
        failed.append(Failure(case.case_id, case.text, case.line, expected, first, low, high, above, len(others)))
    return tuple(sorted(failed, key=lambda one: (one.low is not None, -(one.low or 0) - (one.high or 0))))


def names_of(cases: Sequence[Case], found: pl.DataFrame, labels: Mapping[str, str]) -> dict[str, str]:
    """Return what the documents are called that cases expect, or that are among the first ten of a run."""
    first = found.sort("score", "doc_id", descending=[True, False]).group_by("query_id").head(MOST_NAMED)
    ids = {*first["doc_id"].to_list(), *(one for case in cases for one in case.expected_ids)}
    return {one: labels[one] for one in sorted(ids) if labels.get(one)}


@dataclass(frozen=True)
class PartStrata:
    """The cases of a part by the values of columns.

    Attributes
    ----------
    part : CaseGroup
    columns : tuple of str
    strata : dict of Key to Strata
        Of each retriever.
    intervals : dict of Key to dict of stratum to dict of str to Interval
        By measure.
    """

    part: CaseGroup
    columns: tuple[str, ...]
    strata: Mapping[Key, Strata]
    intervals: Mapping[Key, Mapping[Stratum, Mapping[str, Interval]]]

    def __str__(self) -> str:
        return f"{self.part} by {' and '.join(self.columns)}"

    def select(self, measures: Sequence[Measure]) -> Self:
        """Return it with the intervals of some measures."""
        names = [one.label for one in measures]
        return replace(
            self,
            intervals={
                key: {stratum: {name: own[name] for name in names} for stratum, own in strata.items()}
                for key, strata in self.intervals.items()
            },
        )


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class BenchResult(Renderable):
    """Retrievers on labelled cases, each set and each language by itself. Made by :func:`bench`.

    Attributes
    ----------
    evaluations : dict of Key to Evaluation
        By (cases, language, retriever).
    comparisons : dict of (cases, language) to Comparison
        Empty with a single retriever.
    parts : dict of (cases, language) to CaseGroup
        The cases.
    retrievers : tuple of str
    settings : BenchSettings
    chance : dict of (cases, language) to dict of str to float
        With an ontology: the mean that random terms have, by MaxRel measure.
    verbatim : dict of (cases, language) to int
        Cases whose text is that of an expected document, ignoring case and whitespace: any search for words finds them.
    failures : dict of Key to tuple of Failure
        The cases without an expected document that is first in every order of the ties, the worst first.
    names : dict of (cases, language) to dict of str to str
        What documents are called in the language of the cases: those that cases expect, and the first ten found.
    answers : dict of Key to GradedAnswers
        Of rerankers: how many of their answers hold a grade.
    notes : tuple of str
        What is wrong with ids, and with answers of rerankers.
    """

    evaluations: Mapping[Key, Evaluation]
    comparisons: Mapping[tuple[str, str], Comparison]
    parts: Mapping[tuple[str, str], CaseGroup]
    retrievers: tuple[str, ...]
    settings: BenchSettings
    chance: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)
    verbatim: Mapping[tuple[str, str], int] = field(default_factory=dict)
    failures: Mapping[Key, tuple[Failure, ...]] = field(default_factory=dict)
    names: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    answers: Mapping[Key, GradedAnswers] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    _groupings: dict[tuple[str, ...], tuple[PartStrata, ...]] = field(default_factory=dict, init=False, repr=False)

    def __repr__(self) -> str:
        measure = self.measures[0].label
        means = "; ".join(
            f"{part}: "
            + ", ".join(f"{name} {self.evaluations[Key(*key, name)][measure].mean:.4f}" for name in self.retrievers)
            for key, part in self.parts.items()
        )
        return f"<BenchResult by {measure}: {means}>"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures."""
        return self.settings.measures

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages, sorted; cases without one add none."""
        return tuple(sorted({language for _, language in self.parts if language != NONE}))

    @cached_property
    def intervals(self) -> dict[Key, dict[str, Interval]]:
        """The confidence intervals of each evaluation, by measure."""
        return {
            key: one.intervals(**vars(self.interval_options(self.parts[key[:2]])))
            for key, one in self.evaluations.items()
        }

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """The parts that ask for the same in several languages."""
        return find_families(list(self.parts.values()))

    @cached_property
    def across(self) -> dict[str, Languages]:
        """Retrievers on the same cases in several languages, case by case; by the names of the sets.

        Cases belong together by their pair_id. Empty where no set has any in several languages.
        """
        return {
            family.name: languages_of(
                {language: self.of_part(part) for language, part in family.parts.items()},
                family.pairs,
                design=self.settings.design,
                name=family.name,
                shared_labels=family.labels(self.settings.cluster),
            )
            for family in self.families
        }

    def of_part(self, part: CaseGroup) -> dict[str, Evaluation]:
        """Return the evaluations of a part by retriever."""
        return {name: self.evaluations[Key(*part.key, name)] for name in self.retrievers}

    def failed(self) -> list[dict[str, Any]]:
        """Return all failures as JSON holds them."""
        return [
            {"cases": key.cases, "language": key.language, "retriever": key.retriever, **one.to_dict()}
            for key, found in self.failures.items()
            for one in found
        ]

    def list_answers(self) -> list[dict[str, Any]]:
        """Return how many answers of each reranker hold a grade, as JSON holds it."""
        rows = []
        for key, answers in self.answers.items():
            rows.append({**key._asdict(), **answers.to_dict(), "share_ungraded": answers.share_ungraded})
        return rows

    def interval_options(self, part: CaseGroup) -> IntervalOptions:
        """Return the options of the intervals of a part."""
        return IntervalOptions.of(vars(self.settings.design), cluster=part.clusters(self.settings.cluster))

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each set, language, retriever and measure.

        Returns
        -------
        polars.DataFrame
            cases, language, retriever, measure, n_cases, mean, low, high, standard_error, tie_std, tie_min, tie_max,
            chance (what random terms have; null but for MaxRel with an ontology), and of the interval ci_method, known
            and unknown (why not; else empty).
        """
        rows = [
            (
                *key,
                scores.measure.label,
                scores.n_queries,
                *(scores.mean, interval.low, interval.high, interval.standard_error),
                *(scores.mean_tie_std, scores.mean_tie_min, scores.mean_tie_max),
                self.chance.get(key[:2], {}).get(scores.measure.label),
                *(getattr(interval, attribute) for attribute in KNOWN.values()),
            )
            for key, evaluation in self.evaluations.items()
            for scores, interval in zip(evaluation, self.intervals[key].values(), strict=True)
        ]
        return make_frame(
            rows,
            {
                **dict.fromkeys(["cases", "language", "retriever", "measure"], pl.String),
                "n_cases": pl.Int64,
                **dict.fromkeys([*NUMBERS, "chance"], pl.Float64),
                "ci_method": pl.String,
                "known": pl.Boolean,
                "unknown": pl.String,
            },
        )

    def averages(self) -> pl.DataFrame:
        """Return the mean and the variance across languages; each language counts the same.

        Returns
        -------
        polars.DataFrame
            retriever, measure, mean, variance and std (the divisor is n_languages, as in ``np.var``), n_languages,
            lowest and highest (the languages with these means; null where all are equal), and pooled (how many cases of
            how many sets each language has). The mean of a language is over all its cases; one that appears in several
            sets, with the same case_id and text, counts once. No row with fewer than two languages.
        """
        schema: dict[str, Any] = {
            **dict.fromkeys(["retriever", "measure"], pl.String),
            **dict.fromkeys(["mean", "variance", "std"], pl.Float64),
            "n_languages": pl.Int64,
            **dict.fromkeys(["lowest", "highest", "pooled"], pl.String),
        }
        rows = []
        cases = group_values(
            (part.language, {(one.case_id, one.text) for one in part.cases}) for part in self.parts.values()
        )
        pooled = ", ".join(
            f"{language}: {format_count(len(set.union(*own)), 'case')}" + f" of {len(own)} sets" * (len(own) > 1)
            for language, own in sorted(cases.items())
            if language != NONE
        )
        for name, measure in product(self.retrievers, self.measures) if len(self.languages) > 1 else ():
            means = {language: self._mean_of(language, name, measure) for language in self.languages}
            values = np.array(list(means.values()))
            differ = values.max() - values.min() > NOISE
            ends = [pick(means, key=means.__getitem__) if differ else None for pick in (min, max)]
            row = float(values.mean()), float(values.var()), float(values.std()), len(values)
            rows.append((name, measure.label, *row, *ends, pooled))
        return make_frame(rows, schema)

    def by(self, columns: str | Sequence[str]) -> dict[Key, Strata]:
        """Return the strata of each evaluation by difficulty, category or domain.

        Parameters
        ----------
        columns : str or sequence of str
            Of several, every combination that occurs is a stratum. Sets without a label in one are left out.

        Returns
        -------
        dict of Key to Strata
        """
        names = check_by(columns, self.parts.values())
        return {key: strata for one in self.parts.values() for key, strata in self._by(names, one).items()}

    def groupings(self, columns: Sequence[str]) -> tuple[PartStrata, ...]:
        """Return the strata of each part that has labels in some columns, with the intervals of all measures."""
        names = tuple(columns)
        if names not in self._groupings:
            self._groupings[names] = tuple(
                PartStrata(part, names, strata, {key: one.intervals(**vars(options)) for key, one in strata.items()})
                for part, options in ((part, self.interval_options(part)) for part in self.parts.values())
                if (strata := self._by(names, part))
            )
        return self._groupings[names]

    def _by(self, columns: Sequence[str], part: CaseGroup) -> dict[Key, Strata]:
        """Return the strata of a part by retriever; none if it has no labels in a column."""
        if not set(columns) <= set(part.strata):
            return {}
        keys, queries = (Key(*part.key, name) for name in self.retrievers), part.cases.queries()
        return {key: strata_of(self.evaluations[key], columns, queries) for key in keys}

    def by_strata(self, part: CaseGroup) -> dict[Stratum, Comparison]:
        """Compare the retrievers within each stratum of a part, by the columns that were asked for."""
        found = self.comparisons.get(part.key)
        return {} if found is None else dict(strata_of(found, self.settings.by, part.cases.queries()))

    def report(self) -> str:
        """Return everything as Markdown: means with intervals, comparisons, languages and strata."""
        return self._render("markdown", None, full=True)

    def plot(
        self,
        kind: str | None = None,
        *,
        cases: str | None = None,
        language: str | None = None,
        **options: Any,  # noqa: ANN401 - of the figure
    ) -> alt.LayerChart | alt.ConcatChart:
        """Draw a figure of one set of cases in one language, or of one set across its languages ("slopes").

        Parameters
        ----------
        kind : str, optional
            Its name, such as "forest", which is the default.
        cases, language : str, optional
            The set and its language, where there are several.
        **options
            Of the figure, such as `measure`: see the function of this name in :mod:`deadheat.figures`.

        Returns
        -------
        altair.LayerChart

        Raises
        ------
        ParameterError
            There is no such figure or set, or several sets.
        FigureError
            The figure cannot show these retrievers.
        """
        figures = hooks.service("figures")
        if kind in figures.figures_of("languages"):
            found: list[Any] = [one for name, one in self.across.items() if cases in {None, name}]
        else:
            found = [
                self.comparisons.get(key, self.of_part(part))
                for key, part in self.parts.items()
                if cases in {None, key[0]} and language in {None, key[1]}
            ]
        if len(found) != 1:
            raise ParameterError(
                "a figure is of one set of cases: in one language, or across languages that a pair_id pairs",
                found=f"{len(found)} of them",
                hint=f"give {' or '.join(f'cases={name!r}, language={of!r}' for name, of in self.parts)}",
            )
        chart: alt.LayerChart | alt.ConcatChart = figures.plot_of(found[0], kind, **options)
        return chart

    def _mean_of(self, language: str, retriever: str, measure: Measure) -> float:
        """Return the mean over all cases of a language; one of several sets counts once, with its mean over them."""
        found: dict[tuple[str, str], list[float]] = {}
        for key, one in self.evaluations.items():
            if key[1:] == (language, retriever):
                texts = {case.case_id: case.text for case in self.parts[key[:2]].cases}
                for case_id, value in zip(one.query_ids.tolist(), one[measure].values.tolist(), strict=True):
                    found.setdefault((case_id, texts[case_id]), []).append(value)
        values = np.array([sum(own) / len(own) for own in found.values()])
        return float(measure.level_of(np.nanmean(values))) if not np.isnan(values).all() else float("nan")

    def named_numbers(self) -> Numbers:
        """Give those of each evaluation behind its cases, language and retriever, and those of each pair."""
        for of_run, evaluation in self.evaluations.items():
            yield from (((*of_run, *parts), number) for parts, number in evaluation.named_numbers())
        for key, comparison in self.comparisons.items():
            for parts, number in comparison.named_numbers():
                if len(parts) > 1 and isinstance(parts[1], tuple):  # those of single retrievers are given above
                    yield (*key, parts[1], parts[0], *parts[2:]), number
