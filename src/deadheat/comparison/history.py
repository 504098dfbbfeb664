"""history(), diff_qrels(), holes(): results over time, what differs between judgments, and which are missing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import combinations, groupby
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np
import polars as pl

from deadheat.arrays import FloatArray, IntArray, TextArray, aligned, members
from deadheat.comparison.compare import named_runs
from deadheat.comparison.flips import Side, over_all
from deadheat.comparison.pairs import Pair, compare_sides, side_of_values
from deadheat.data.changes import Changes, changes
from deadheat.data.known_ids import ids_of
from deadheat.data.rows import ScorePrecision
from deadheat.data.shown import Numbers, Plottable, Shown, frame_of
from deadheat.data.tables import Qrels, Run, Source, check_each
from deadheat.errors import (
    DataError,
    MeasureError,
    ParameterError,
    as_count,
    as_list,
    check_choice,
    collected,
    counted,
    three,
)
from deadheat.evaluation.evaluate import by_own_name, evaluate_under, opened, shared_measures
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.origin import Origin
from deadheat.evaluation.reconciling import check_conventions, check_weights, reconciled
from deadheat.evaluation.saved import NUMBERS, SAVED, is_saved, measure_of, stated, summary_in
from deadheat.evaluation.scores import PlacedBounds, Repeated, Scores
from deadheat.io.files import path_named
from deadheat.io.guarding import phase
from deadheat.io.kinds import KEYS
from deadheat.measures import Measure, parse_measure
from deadheat.measures.notation import MeasureLike, Measures, parse_measures
from deadheat.measures.unjudged import (
    Unjudged,
    answered,
    deepest_counted,
    ends,
    has_ends,
    left_after,
    unjudged_documents,
)
from deadheat.placements.placements import Placements
from deadheat.settings import ConventionArguments, Conventions, Design

OF_MEAN = ("mean", "low", "high", "tie_min", "tie_max", "n_queries")


@dataclass(frozen=True, eq=False)
class Step:
    """One evaluation of a history: what files hold of it, with values and means under the judgments of the history.

    Attributes
    ----------
    name : str
        Of the system.
    qrels_hash : str
        Of the judgments that the values are under.
    origin : Origin
        Time, label and commit.
    conventions : dict
        As written.
    unanswerable : tuple of str
        The queries that the judgments say no document answers.
    query_ids : ndarray of str, shape (n_queries,)
    weights : ndarray of shape (n_queries,), or None
        Of the queries.
    values : dict of str to ndarray of shape (n_queries,)
        By measure; NaN where a query has no value.
    ties : dict of str to dict of str to ndarray of shape (n_queries,)
        By measure: tie_mean, tie_std, tie_min, tie_max, and standard_error where the moments are sampled.
    means : dict of str to dict
        Of each measure: mean, low, high, known, unknown, tie_min, tie_max, n_queries and other numbers.
    repeats : dict of str to Repeated or None
        By measure.
    file : str
        Its path; of one that was given as such its name.
    changed : str
        What is different in its own judgments from those of the step before; empty if nothing is.
    is_comparable : bool
        Whether its values are under the same judgments as those of the last step.
    """

    name: str
    qrels_hash: str
    origin: Origin
    conventions: Mapping[str, object]
    unanswerable: tuple[str, ...]
    query_ids: TextArray
    weights: FloatArray | None = field(repr=False)
    values: dict[str, FloatArray] = field(repr=False)
    ties: dict[str, dict[str, FloatArray]] = field(repr=False)
    means: dict[str, dict[str, Any]] = field(repr=False)
    repeats: dict[str, Repeated | None] = field(repr=False)
    file: str
    changed: str = ""
    is_comparable: bool = True


@dataclass(frozen=True, eq=False)
class History(Plottable, Shown):
    """Evaluations in order of time. Made by :func:`history`.

    Attributes
    ----------
    steps : tuple of Step
    measures : tuple of str
        Those that all have.
    query_ids : ndarray of str, shape (n_queries,)
        Of all steps together; a step compares those that its two evaluations share.
    before : tuple of (int or None)
        The place of the step before each: if a system comes again after others, its own last one; None for the first.
    since : dict of str to tuple of (Pair or None)
        By measure, each step against the one before; None for the first, and where they cannot be compared.
    to_reference : dict of str to tuple of (Pair or None)
        By measure, each step against the reference; empty without one.
    reference : int or None
        The place of the reference.
    design : Design
        Of the tests; p values are corrected over the steps.
    notes : tuple of str
    """

    steps: tuple[Step, ...]
    measures: tuple[str, ...]
    query_ids: TextArray
    before: tuple[int | None, ...]
    since: dict[str, tuple[Pair | None, ...]]
    to_reference: dict[str, tuple[Pair | None, ...]]
    reference: int | None
    design: Design
    notes: tuple[str, ...] = ()

    @property
    def take_turns(self) -> bool:
        """Whether there are several systems, each with steps of its own."""
        return self.before.count(None) > 1

    def __repr__(self) -> str:
        return f"<History of {counted(len(self.steps), 'evaluation')} by {', '.join(self.measures)}>"

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each step and measure, in order of time.

        Columns: time, label, commit, name, measure, mean, low, high, tie_min, tie_max, n_queries, difference,
        difference_low, difference_high, n_shared, p_adjusted and significant against the step before, the same behind
        ``reference_``, comparable, and what changed in the judgments.
        """
        return frame_of(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """Return the same as dicts."""
        return [
            {
                **asdict(step.origin),
                "name": step.name,
                "measure": measure,
                **{name: step.means[measure][name] for name in OF_MEAN},
                **_of_pair("", self.since[measure][place]),
                **(_of_pair("reference_", self.to_reference[measure][place]) if self.to_reference else {}),
                "comparable": step.is_comparable,
                "changed": step.changed,
            }
            for place, step in enumerate(self.steps)
            for measure in self.measures
        ]

    def queries(self, n: int = 5) -> pl.DataFrame:
        """Return the queries that fell and rose most at the last step, by measure; none without a step before it.

        Parameters
        ----------
        n : int, default 5
            So many of each kind.

        Returns
        -------
        polars.DataFrame
            measure, kind ("fell" or "rose"), query_id, difference, value.
        """
        n, place = as_count("n", n), self.before[-1]
        both = [] if place is None else [self.steps[place], self.steps[-1]]
        rows = []
        for measure in self.measures if both else ():
            before, values = (aligned(one.values[measure], one.query_ids, self.query_ids) for one in both)
            apart = values - before
            order = np.argsort(np.nan_to_num(apart), kind="stable")
            for kind, sign, places in (("fell", -1, order[:n]), ("rose", 1, order[::-1][:n])):
                rows += [
                    (measure, kind, str(self.query_ids[one]), float(apart[one]), float(values[one]))
                    for one in places
                    if sign * apart[one] > 0
                ]
        return pl.DataFrame(rows, ["measure", "kind", "query_id", "difference", "value"], orient="row")

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names: those of the last step."""
        for measure in self.measures:
            yield (measure,), self.steps[-1].means[measure]["mean"]
            if pair := self.since[measure][-1]:
                yield (measure, "difference"), pair.difference


def _of_pair(prefix: str, pair: Pair | None) -> dict[str, Any]:
    others = {"difference_low": "low", "difference_high": "high", "n_shared": "n_queries"}
    return {
        f"{prefix}{name}": None if pair is None else getattr(pair, others.get(name, name))
        for name in ("difference", *others, "p_adjusted", "significant")
    }


def _side(step: Step, measure: Measure, query_ids: TextArray) -> Side:
    name, own = str(measure), members(query_ids, step.query_ids)
    repeated, weights = step.repeats[name], None if measure.total else step.weights
    ties = {column: over_all(known, own, np.nan) for column, known in step.ties[name].items()}
    return replace(
        side_of_values(measure, over_all(step.values[name], own, np.nan)),
        mean=ties["tie_mean"],
        variance=ties["tie_std"] ** 2,
        low=ties["tie_min"],
        high=ties["tie_max"],
        is_exact=not np.nan_to_num(ties["standard_error"]).any(),
        repeats=None if repeated is None else over_all(repeated.values, own, np.nan),
        weights=None if weights is None else over_all(weights, own, 0.0),
    )


def history(
    source: str | Path | Iterable[str | Path | Evaluation],
    *,
    reference: str | Path | Evaluation | None = None,
    judgments: str | None = None,
    test: str = "randomization",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    rng: int = 0,
) -> History:
    """Put saved evaluations in order of time, and say what changed at each step: over the queries that its two share.

    Parameters
    ----------
    source : path of a folder, or iterable of paths and evaluations
        What ``deadheat evaluate --save`` wrote; other files of a folder are left out, and named.
    reference : path or Evaluation, optional
        Each step is compared with it too; it need not be among them.
    judgments : {"rescore", "shared", "strict"}, optional
        Where judgments changed: score earlier rankings again under the newest ones; or take the queries whose
        judgments are the same in all; or raise. By default "rescore" where the rankings were kept; else values stay
        as they are, and steps under other judgments are marked and not compared.
    test : str, default "randomization"
        As for :func:`compare`; p values are corrected (Holm) over the steps of a measure.
    confidence_level : float, default 0.95
    n_resamples : int, default 10,000
    rng : int, default 0

    Returns
    -------
    History

    Raises
    ------
    DataError
        There is no saved evaluation; or none, or not the reference, has the conventions and a measure of the last one.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> qrels = {f"q{n}": {"a": 1} for n in range(6)}
    >>> runs = [{query: {"a": 1, "b": score} for query in qrels} for score in (2, 1, 0)]
    >>> found = history([evaluate(qrels, run, "RR") for run in runs])
    >>> [step.means["RR"]["mean"] for step in found.steps], [pair and pair.difference for pair in found.since["RR"]]
    ([0.5, 0.75, 1.0], [None, 0.25, 0.25])
    """
    design = Design(test=test, confidence_level=confidence_level, n_resamples=n_resamples, rng=rng)
    notes: list[str] = []
    given = dict(_given(source, notes))
    known = None
    if reference is not None:
        ((known, one),) = _given([reference], notes)
        given.setdefault(known, one)
    now = Origin.here()  # of all that were not saved: they stay in their order
    with ThreadPoolExecutor(4) as beside:  # of which each waits for Polars' threads
        found = sorted(beside.map(lambda file: _step(file, given[file], now), given), key=lambda one: one.origin.time)
    _tell_times(found, notes)
    found, measures = _alike(found, known, notes)
    steps = _reconciled(found, [given[one.file] for one in found], judgments, notes)
    measures = [one for one in measures if one in steps[0].means]
    at = None if known is None else [one.file for one in steps].index(known)
    ids = np.array(sorted({str(query) for step in steps for query in step.query_ids}), dtype=object)
    before = _before(steps)
    since = _compared(steps, measures, ids, before, design)
    to_it = [None if n == at else at for n in range(len(steps))]
    to_reference = {} if at is None else _compared(steps, measures, ids, to_it, design)
    return History(steps, tuple(measures), ids, before, since, to_reference, at, design, tuple(notes))


def _given(source: Any, notes: list[str]) -> Iterable[tuple[str, Any]]:  # noqa: ANN401 - paths or evaluations
    """Yield the file and what to open of each evaluation."""
    if isinstance(source, str | Path) and path_named(source).is_dir():
        folder = path_named(source)
        files = sorted(one for one in folder.iterdir() if one.is_file())
        others = [one.name for one in files if not is_saved(one)]
        if others:
            notes.append(f"{counted(len(others), 'file')} of {folder} left out, no saved evaluations: {three(others)}")
        source = [one for one in files if one.name not in others]
    elif isinstance(source, str | Path | Evaluation):
        source = [source]
    found = list(source)
    if not found:
        raise DataError("there is no saved evaluation", hint="deadheat evaluate QRELS RUN --save FOLDER/ writes them")
    for one in found:
        yield (f"{one.name} ({id(one)})", one) if isinstance(one, Evaluation) else (str(path_named(one)), one)


def _step(file: str, given: Evaluation | str | Path, now: Origin) -> Step:
    if not isinstance(given, Evaluation):
        return Step(**SAVED.read(given, summary_in), file=file)
    return Step(
        given.name,
        given.qrels_hash,
        given.origin or now,
        vars(given.conventions),
        given.unanswerable,
        given.query_ids,
        given.weights,
        {str(one.measure): one.values for one in given},
        {str(one.measure): {name: getattr(one, name) for name in NUMBERS} for one in given},
        {str(one.measure): stated(one, one.interval()) for one in given},
        {str(one.measure): one.repeats for one in given},
        file,
    )


def _before(steps: Sequence[Step]) -> tuple[int | None, ...]:
    """Return the place of the step before each: of its system's last one, if a system comes again after others."""
    names = [one.name for one in steps]
    is_one = len(set(names)) == len([*groupby(names)])
    return tuple(
        next((place for place in reversed(range(n)) if is_one or names[place] == name), None)
        for n, name in enumerate(names)
    )


def _tell_times(steps: Sequence[Step], notes: list[str]) -> None:
    """Note evaluations without a time, and of one time."""
    by_time = collected((one.origin.time, one.file) for one in steps)
    if lacking := by_time.pop("", None):
        notes.append(f"{three(lacking)}: saved by an older version without the time, and taken as the first")
    if twice := [file for files in by_time.values() if len(files) > 1 for file in files]:
        notes.append(f"{three(twice)}: of the same time, in the order in which they were given")


def _alike(steps: Sequence[Step], reference: str | None, notes: list[str]) -> tuple[list[Step], list[str]]:
    """Return the steps that can be compared with the last, and the measures that all of these have."""
    last, *earlier = reversed(steps)
    is_any = any(one.unanswerable for one in steps)
    alike, shared, errors = [last], list(last.means), dict[str | None, DataError]()
    for one in earlier:
        try:
            check_conventions((one.name, last.name), (one.conventions, last.conventions), is_any=is_any)
            check_weights((one.name, last.name), (one.query_ids, one.weights), (last.query_ids, last.weights))
            shared = shared_measures([(last.name, shared), (one.name, list(one.means))])
        except DataError as error:
            errors[one.file] = error
        else:
            alike.insert(0, one)
    if reference in errors or len(errors) == len(earlier) > 0:
        raise errors.get(reference) or errors[earlier[0].file]
    notes += [f"{file} left out: {error}" for file, error in errors.items()]
    if left := dict.fromkeys(name for one in alike for name in one.means if name not in shared):
        notes.append(f"not in all evaluations, and left out: {', '.join(left)}")
    return alike, shared


def _reconciled(
    steps: Sequence[Step], sources: Sequence[Any], judgments: str | None, notes: list[str]
) -> tuple[Step, ...]:
    """Return the steps under judgments that make them comparable, where that can be."""
    if len({one.qrels_hash for one in steps}) == 1:
        return tuple(steps)
    read = [opened(one) for one in sources]
    steps = [
        step if place is None else replace(step, changed=_told(read[place], new))
        for step, place, new in zip(steps, _before(steps), read, strict=True)
    ]
    called = [one.origin.label or one.name for one in steps]
    names = [name if called.count(name) == 1 else f"{name} ({n})" for n, name in enumerate(called, start=1)]
    try:
        found, how = reconciled(dict(zip(names, read, strict=True)), judgments, are_pairs=True)
    except DataError as error:
        if judgments is not None:
            raise
        notes.append(f"judgments changed, and values are not comparable across that: {error}")
        return tuple(replace(step, is_comparable=step.qrels_hash == steps[-1].qrels_hash) for step in steps)
    if how is not None:
        notes += [f"judgments: {one}" for one in how.told()[len(how.changes) :]]
    return tuple(
        replace(_step(step.file, found[name], step.origin), changed=step.changed)
        for step, name in zip(steps, names, strict=True)
    )


def _told(old: Evaluation, new: Evaluation) -> str:
    """Return what differs between the judgments of two evaluations; empty if nothing does."""
    if old.qrels_hash == new.qrels_hash:
        return ""
    return "other judgments, not kept" if old.qrels is None or new.qrels is None else str(changes(old.qrels, new.qrels))


def _compared(
    steps: Sequence[Step], measures: Sequence[str], ids: TextArray, others: Sequence[int | None], design: Design
) -> dict[str, tuple[Pair | None, ...]]:
    """Return a pair of each step and its other, by measure; None where it has none, or they cannot be compared."""
    can_be = [
        (one, other)
        for one, other in enumerate(others)
        if other is not None
        and (
            (steps[one].is_comparable and steps[other].is_comparable)
            or steps[one].qrels_hash == steps[other].qrels_hash
        )
    ]
    found = {}
    for measure in measures:
        own = measure_of(measure, steps[0].means[measure] | {"asked": measure})
        sides = {n: _side(step, own, ids) for n, step in enumerate(steps)}
        made = compare_sides([own], [sides], can_be, design=design, cluster=None) if can_be else ()
        pairs = {one: pair for (one, _), pair in zip(can_be, made, strict=True)}
        found[measure] = tuple(map(pairs.get, range(len(steps))))
    return found


EFFECTS: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(("measure", "system"), pl.String),
    **dict.fromkeys(("old", "new", "difference"), pl.Float64),
    **dict.fromkeys(("old_rank", "new_rank", "n_old", "n_new"), pl.Int64),
}
CAUSES: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(("measure", "system", "query_id", "kind"), pl.String),
    **dict.fromkeys(("old", "new", "part"), pl.Float64),
}


@dataclass(frozen=True, eq=False)
class QrelsDiff(Shown):
    """What differs between two sets of judgments. Made by :func:`diff_qrels`.

    Attributes
    ----------
    old, new : str
        What the two are called.
    changes : Changes
        Queries (`same`, `changed`, `added`, `gone`), and the judgments that differ (`documents`).
    unknown_ids : tuple of str or None
        Documents of the new judgments that are not in the collection; None without one.
    evaluations : dict of str to tuple of Evaluation
        Each system under the old and under the new judgments.
    """

    old: str
    new: str
    changes: Changes
    unknown_ids: tuple[str, ...] | None
    evaluations: Mapping[str, tuple[Evaluation, Evaluation]]

    def __repr__(self) -> str:
        return f"<QrelsDiff of {self.old} and {self.new}: {self.changes}>"

    def to_polars(self) -> pl.DataFrame:
        """Return query_id, doc_id, old and new relevance of the judgments that differ."""
        return self.changes.documents.sort("query_id", "doc_id")

    @cached_property
    def effects(self) -> pl.DataFrame:
        """What the new judgments do to each measure and system.

        measure, system, old and new (the mean, of counts the total), difference, the ranks of the system by both, and
        the queries with a value under both.
        """
        rows = []
        for measure, both in self._scores():
            sign = next(iter(both.values()))[0].measure.sign
            means = {system: [one.reported() for one in pair] for system, pair in both.items()}
            for system, (old, new) in means.items():
                ranks = [1 + sum(sign * one[n] > sign * means[system][n] for one in means.values()) for n in (0, 1)]
                rows.append((measure, system, old, new, new - old, *ranks, *(one.n_queries for one in both[system])))
        return frame_of(rows, EFFECTS)

    @cached_property
    def causes(self) -> pl.DataFrame:
        """Which queries cause the differences, those with the largest part first.

        measure, system, query_id, kind ("changed", "added" or "gone"; "" of a query whose own judgments are the same),
        old and new value, and the part of the difference, of which the sum is the whole: of m queries under the new
        judgments (new - old) / m; a query that was added moves the mean by (new - old mean) / m, one that is gone by
        (old mean - old) / m. Weights multiply a part, and m is their sum. Without geometric means, whose differences
        have no such parts.
        """
        rows = [
            (measure, system, *row)
            for measure, both in self._scores()
            for system, pair in both.items()
            if not pair[0].measure.geometric
            for row in sorted(self._parts(*pair), key=lambda row: -abs(row[-1]))
        ]
        return frame_of(rows, CAUSES)

    def _scores(self) -> Iterator[tuple[str, dict[str, tuple[Scores, Scores]]]]:
        """Yield each measure with the scores of the systems that have it."""
        for label in dict.fromkeys(one.label for pair in self.evaluations.values() for one in pair[0].measures):
            yield (
                label,
                {name: (old[label], new[label]) for name, (old, new) in self.evaluations.items() if label in old},
            )

    def _parts(self, before: Scores, after: Scores) -> Iterator[tuple[str, str, float, float, float]]:
        """Yield a row of :attr:`causes` for each query that moves the mean."""
        kinds = {query: kind for kind in ("changed", "added", "gone") for query in getattr(self.changes, kind)}
        ids = np.array(sorted({*before.query_ids.tolist(), *after.query_ids.tolist()}), object)
        old, new = (aligned(one.values, one.query_ids, ids) for one in (before, after))
        each = [np.ones(len(one.values)) if one.weights is None else one.weights for one in (before, after)]
        was, weights = (aligned(own, one.query_ids, ids) for own, one in zip(each, (before, after), strict=True))
        mean, size = (0.0, 1.0) if before.measure.total else (before.mean, float(each[1][after.kept].sum()))
        moved = np.where(np.isnan(new), mean, new) - np.where(np.isnan(old), mean, old)
        # a query that is gone has the weight that it had
        parts = np.where(np.isnan(weights), was, weights) * moved / (size or np.nan)
        for n in np.flatnonzero(moved).tolist():
            yield str(ids[n]), kinds.get(ids[n], ""), float(old[n]), float(new[n]), float(parts[n])

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        yield from (((f"n_{kind}",), len(getattr(self.changes, kind))) for kind in ("same", "changed", "added", "gone"))
        for row in self.effects.iter_rows(named=True):
            yield from (((row["measure"], row["system"], name), row[name]) for name in ("old", "new", "difference"))


def diff_qrels(
    old: Source,
    new: Source,
    runs: Mapping[str, Source] | Sequence[Source] = (),
    measures: Measures = None,
    *,
    collection: Source | None = None,
    **conventions: Unpack[ConventionArguments],
) -> QrelsDiff:
    """Say what differs between two sets of judgments; with systems, what that does to them and to their order.

    Parameters
    ----------
    old, new : path, dict of dict, dataframe or Qrels
    runs : dict of str to run, or sequence of runs, optional
        Runs, or evaluations (also the paths of saved ones), whose rankings are scored again.
    measures : measure or iterable of measures, optional
        By default those of :func:`evaluate`, or of the evaluations.
    collection : path, dataframe, mapping or iterable of ids, optional
        All documents that exist, as for :func:`evaluate`: documents of the new judgments that it lacks are named.
    **conventions
        As for :func:`evaluate`; those of an evaluation by default.

    Returns
    -------
    QrelsDiff

    Raises
    ------
    NotKeptError
        Too little of the ranking of a saved evaluation was kept.

    Examples
    --------
    >>> found = diff_qrels({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 2, "b": 1}, "q2": {"a": 1}})
    >>> found
    <QrelsDiff of qrels and qrels: 2 queries: 1 the same, 1 with changed judgments, 0 new, 0 gone>
    >>> found.to_polars().rows()
    [('q1', 'a', 1.0, 2.0), ('q1', 'b', None, 1.0)]
    """
    before, after = Qrels.of(old), Qrels.of(new)
    check_each(before, after)
    unknown = None if collection is None else tuple(sorted({*after.to_polars()["doc_id"]} - ids_of(collection)))
    named = by_own_name(
        runs if isinstance(runs, Mapping) else as_list("runs", runs, "a dict of name to run, or a list of runs"),
        lambda run: _evaluated(run, before, measures),
    )
    evaluations = {
        name: (one.rescored(before, measures, **conventions), one.rescored(after, measures, **conventions))
        for name, one in named.items()
    }
    return QrelsDiff(before.where, after.where, changes(before, after), unknown, evaluations)


def _evaluated(given: Source, qrels: Qrels, measures: Measures) -> Evaluation:
    """Return an evaluation, a saved one, or that of a run, whose ranking is to be scored again."""
    if isinstance(given, Evaluation) or (isinstance(given, str | Path) and is_saved(given)):
        return opened(given)
    run = Run.of(given)
    run.check_duplicates()
    return evaluate_under(Conventions(), qrels, run, parse_measures(measures))


DEEPEST = 100  # ranks that are looked at where all documents count
AT_ONCE = 1 << 20  # rows of copied judgments, placements and ties that are held at a time


@dataclass(frozen=True, eq=False, repr=False)
class Holes(Shown):
    """The unjudged documents of some runs, those first that should be judged first.

    Attributes
    ----------
    measure : Measure
    by : {"range", "decision"}
    names : tuple of str
        Of the runs.
    documents : polars.DataFrame
        query_id, doc_id, relevance (empty, to be filled in), weight, and for each run ``rank NAME``: the rank, of a
        tie its first one.
    ranges : dict of str to (float, float)
        Of each run, the least and the greatest mean over all labels of its unjudged documents.
    depth : int
        Ranks that were looked at.
    n_unjudged : int
        Unjudged documents that a run has up to that depth, by query.
    n_below : int
        Those below it in all runs that count too, but are not in `documents`.
    n_queries : int
        Queries of the qrels, over which all means are.
    missing_queries : dict of str to tuple of str
        Of each run, the queries of the qrels that it lacks: they count as empty rankings.
    unjudged_queries : dict of str to tuple of str
        Of each run, its queries that the qrels lack: they are left out.
    """

    measure: Measure
    by: str
    names: tuple[str, ...]
    documents: pl.DataFrame
    ranges: Mapping[str, tuple[float, float]]
    depth: int
    n_unjudged: int
    n_below: int
    n_queries: int
    missing_queries: Mapping[str, tuple[str, ...]]
    unjudged_queries: Mapping[str, tuple[str, ...]]

    def __repr__(self) -> str:
        return (
            f"<Holes of {', '.join(self.names)} by {self.measure.label}: {counted(len(self.documents), 'document')} of"
            f" {self.n_unjudged:,} unjudged>"
        )

    def to_polars(self) -> pl.DataFrame:
        """Return :attr:`documents`."""
        return self.documents

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        yield ("n_unjudged",), self.n_unjudged
        for name, both in self.ranges.items():
            yield from zip(((name, "unjudged_min"), (name, "unjudged_max")), both, strict=True)


def holes(
    qrels: Source,
    runs: Mapping[str, Source] | Sequence[Source] | str | Path | Run,
    measure: MeasureLike = "nDCG@10",
    *,
    by: str = "range",
    n: int | None = None,
    depth: int | None = None,
    unjudged_max_rel: float | None = None,
    score_precision: ScorePrecision = None,
    check_duplicates: bool = True,
    ascending: bool = False,
) -> Holes:
    """Rank the unjudged documents of runs by how much a judgment would tell.

    Parameters
    ----------
    qrels : path, dict of dict, dataframe or Qrels
    runs : dict of str to run, sequence of runs, or path or Run of a single one
    measure : measure or str, default "nDCG@10"
        One that has bounds over unjudged documents.
    by : {"range", "decision"}, default "range"
        By "range", the weight of a document is how much its judgment takes off the range of the mean (the greatest
        minus the least over all labels), averaged over the answers 0 and `unjudged_max_rel`, and over the runs. A
        run that did not retrieve the document counts too: a relevant one that it lacks changes its R or its ideal, and
        may widen its range, so that weights below 0 are possible. By
        "decision", with two runs or more, it is how far these two answers are apart in the difference of two runs,
        while other unjudged documents have no gain; averaged over the pairs of runs.
    n : int, optional
        The first ones only.
    depth : int, optional
        Documents that a run has up to this rank; by default the cutoff of the measure if documents below it do not
        count. They do in R@k, F@k, AP@k and nDCG@k, through R or the ideal: then, and without a cutoff, it is 100 (or
        the cutoff, if that is deeper), and `Holes.n_below` says how many more there are.
    unjudged_max_rel : float, optional
        The highest relevance that a document can have; by default the highest in the qrels.
    score_precision, check_duplicates, ascending
        As for :func:`evaluate`.

    Returns
    -------
    Holes

    Raises
    ------
    MeasureError
        The measure has no bounds.
    ParameterError
        Another option is out of its range.

    Examples
    --------
    >>> qrels = {"q": {"a": 1}}
    >>> found = holes(qrels, {"one": {"q": {"x": 3, "a": 2, "y": 1}}}, "RR")
    >>> found.to_polars().select("doc_id", "weight").rows()
    [('x', 0.5), ('y', 0.0)]
    """
    parsed = parse_measure(measure)
    if not has_ends(parsed):
        raise MeasureError("there are no bounds over unjudged documents for it", measure=str(parsed))
    check_choice("by", by, ("range", "decision"))
    named = named_runs([runs] if isinstance(runs, str | Path | Run) else runs, ascending=ascending)
    if not named:
        raise ParameterError(argument="runs", given=runs, allowed="one run or more")
    if by == "decision" and len(named) < 2:
        raise ParameterError(argument="by", given=by, allowed="'range' for a single run")
    deepest = deepest_counted(parsed)
    depth = as_count("depth", deepest or max(parsed.deepest or 0, DEEPEST) if depth is None else depth)
    limit = None if n is None else as_count("n", n)
    judged = Qrels.of(qrels)
    conventions = Conventions(score_precision=score_precision, unjudged="bounds", unjudged_max_rel=unjudged_max_rel)
    check_each(judged, *named.values(), is_asked=check_duplicates)
    evaluations = {name: evaluate_under(conventions, judged, run, [parsed]) for name, run in named.items()}
    scores = {name: one[parsed] for name, one in evaluations.items()}
    sides = {
        name: _run_bounds(
            unjudged_documents(judged, run, conventions.score_precision), cast("PlacedBounds", scores[name].unjudged)
        )
        for name, run in named.items()
    }
    highest = pl.concat([side.frame for side in sides.values()]).group_by(*KEYS).agg(pl.col("rank").min())
    with phase("weighing documents"):
        weighed = _weighed(sides, highest.filter(pl.col("rank") <= depth).select(*KEYS).sort(*KEYS), by)
    return Holes(
        measure=parsed,
        by=by,
        names=tuple(named),
        documents=weighed.head(limit or len(weighed)),
        ranges={name: (one.mean_unjudged_min, one.mean_unjudged_max) for name, one in scores.items()},
        depth=depth,
        n_unjudged=len(weighed),
        n_below=len(highest.filter(pl.col("rank").is_between(depth, deepest or pl.col("rank"), closed="right"))),
        n_queries=len(next(iter(evaluations.values())).query_ids),
        missing_queries={name: one.missing_queries for name, one in evaluations.items()},
        unjudged_queries={name: one.unjudged_queries for name, one in evaluations.items()},
    )


@dataclass(frozen=True, eq=False)
class _RunBounds:
    """A run: its bounds, and a frame of its unjudged documents: query_id, doc_id, rank, a tie of equal judgments."""

    bounds: PlacedBounds
    frame: pl.DataFrame

    def effects(self, by: str) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return what a judgment changes: of a document in each tie, and by query of one that is not retrieved.

        By range, what it takes off the range, over both answers; by decision, how far the answers are apart.
        """
        placements, unjudged = self.bounds.placements, self.bounds.unjudged
        ties, queries = np.unique(self.frame["tie"].to_numpy()), np.arange(placements.n_queries)
        of_queries, nowhere = np.zeros(len(queries)), np.zeros_like(queries)
        if by == "range":
            of_queries -= 2 * self._told(by, placements, unjudged, 0)
        of_ties = of_queries[unjudged.query[ties]]
        for label, sign in ((self.bounds.top, 1), (0.0, -1)):
            for part in self._parts(ties):
                own = ties[part]
                judged = answered(placements, unjudged.query[own], label, unjudged.above[own], unjudged.tied[own])
                of_ties[part] += self._told(by, judged, left_after(unjudged, own), sign)
            judged = answered(placements, queries, label, nowhere, nowhere)
            of_queries += self._told(by, judged, unjudged, sign)
        if by == "range":  # fewer labels are left: what is below 0 is rounding error
            of_ties = np.maximum(of_ties, 0.0)
        return pl.DataFrame({"tie": ties, "effect": of_ties}), pl.DataFrame(
            {"query_id": pl.Series(placements.query_ids.tolist(), dtype=pl.String), "effect": of_queries}
        )

    def _told(self, by: str, placements: Placements, unjudged: Unjudged, sign: int) -> FloatArray:
        """Return what one answer adds to an effect."""
        if by == "decision":
            return sign * self.bounds.measure.mean(placements)
        low, high = ends(self.bounds.measure, placements, unjudged, self.bounds.top)
        return (low - high) / 2

    def _parts(self, ties: IntArray) -> Iterator[slice]:
        """Give ranges of ties, of whose queries copies fit into memory."""
        placements, unjudged = self.bounds.placements, self.bounds.unjudged
        copied = np.concatenate((placements.judged_query, placements.query, unjudged.query))
        sizes = np.bincount(copied, minlength=placements.n_queries)[unjudged.query[ties]] + 1
        stops = np.cumsum(sizes)
        start = 0
        while start < len(ties):
            stop = max(start + 1, int(np.searchsorted(stops, (stops[start] - sizes[start]) + AT_ONCE, side="right")))
            yield slice(start, stop)
            start = stop


def _run_bounds(documents: pl.DataFrame, bounds: PlacedBounds) -> _RunBounds:
    """Return the bounds of a run with its unjudged documents, each with a tie in which a judgment does the same."""
    placements, unjudged, deepest = bounds.placements, bounds.unjudged, bounds.measure.deepest
    codes = pl.DataFrame(
        {"query_id": pl.Series(placements.query_ids.tolist(), dtype=pl.String), "code": np.arange(placements.n_queries)}
    )
    ties = pl.DataFrame({"code": unjudged.query, "above": unjudged.above, "tie": np.arange(len(unjudged.query))})
    if deepest is not None:  # one tie is as good as another below
        ties = ties.with_columns(pl.col("tie").min().over("code", pl.col("above").clip(upper_bound=deepest)))
    return _RunBounds(
        bounds,
        documents.join(codes, on="query_id")
        .join(ties, on=["code", "above"])
        .select("query_id", "doc_id", "tie", rank=pl.col("above") + 1),
    )


def _weighed(sides: Mapping[str, _RunBounds], every: pl.DataFrame, by: str) -> pl.DataFrame:
    """Return documents with their weights, and the rank that each run has them at."""
    effects: list[FloatArray] = []
    for side in sides.values():
        own = replace(side, frame=side.frame.join(every, on=["query_id", "doc_id"], how="semi"))
        of_ties, of_queries = own.effects(by)
        joined = every.join(
            own.frame.join(of_ties, on="tie"), on=["query_id", "doc_id"], how="left", maintain_order="left"
        ).join(of_queries, on="query_id", how="left", suffix="_lost", maintain_order="left")
        effects.append(joined.select(pl.coalesce("effect", "effect_lost")).to_series().to_numpy())
    n_queries = next(iter(sides.values())).bounds.placements.n_queries
    told = effects if by == "range" else [np.abs(one - other) for one, other in combinations(effects, 2)]
    found = every.with_columns(
        relevance=pl.lit(None, pl.Float64), weight=sum(told, np.zeros(len(every))) / (len(told) * n_queries)
    )
    for name, side in sides.items():
        ranks = side.frame.select("query_id", "doc_id", pl.col("rank").alias(f"rank {name}"))
        found = found.join(ranks, on=["query_id", "doc_id"], how="left")
    return found.sort("weight", "query_id", "doc_id", descending=[True, False, False])
