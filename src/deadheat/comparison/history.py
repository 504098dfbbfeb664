"""history(): saved evaluations in order of time, on judgments that make them comparable where that can be."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from deadheat.arrays import TextArray, aligned
from deadheat.comparison.flips import Side
from deadheat.comparison.pairs import Pair, compare_sides
from deadheat.comparison.values import side_of_values
from deadheat.data.changes import changes
from deadheat.data.shown import Numbers, Plottable, Shown, frame_of
from deadheat.errors import DataError, ParameterError, Plain, as_count, counted, three
from deadheat.evaluation.evaluate import opened
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.origin import Origin
from deadheat.evaluation.reconciling import check_conventions, reconciled
from deadheat.evaluation.saved import SavedSummary, is_saved, read_summary, stated
from deadheat.io.source import path_named
from deadheat.measures.orders import StoredMeasure
from deadheat.settings import Design

NUMBERS = ("mean", "low", "high", "tie_min", "tie_max", "n_queries")


@dataclass(frozen=True, eq=False)
class Step(SavedSummary):
    """One evaluation of a history: what files hold of it, with values and means under the judgments of the history.

    Attributes
    ----------
    file : str
        Its path; of one that was given as such its name.
    changed : str
        What is different in its own judgments from those of the step before; empty if nothing is.
    is_comparable : bool
        Whether its values are under the same judgments as those of the last step.
    """

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
        Of all steps together.
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
    since: dict[str, tuple[Pair | None, ...]]
    to_reference: dict[str, tuple[Pair | None, ...]]
    reference: int | None
    design: Design
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        first, last = self.steps[0], self.steps[-1]
        name = self.measures[0]
        return (
            f"<History of {counted(len(self.steps), 'evaluation')}: {name} {first.means[name]['mean']:.4f} to"
            f" {last.means[name]['mean']:.4f}>"
        )

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each step and measure, in order of time.

        Columns: time, label, commit, name, measure, mean, low, high, tie_min, tie_max, n_queries, difference,
        difference_low, difference_high, p_adjusted and significant against the step before, the same behind
        ``reference_``, comparable, and what changed in the judgments.
        """
        return frame_of(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """Return the same as dicts."""
        rows = []
        for place, step in enumerate(self.steps):
            for measure in self.measures:
                own = step.means[measure]
                row = {**asdict(step.origin), "name": step.name, "measure": measure}
                row |= {name: own[name] for name in NUMBERS}
                row |= _of_pair("", self.since[measure][place])
                if self.to_reference:
                    row |= _of_pair("reference_", self.to_reference[measure][place])
                rows.append(row | {"comparable": step.is_comparable, "changed": step.changed})
        return rows

    def queries(self, n: int = 5, step: int = -1) -> pl.DataFrame:
        """Return the queries that fell and rose most at a step, by measure.

        Parameters
        ----------
        n : int, default 5
            So many of each kind.
        step : int, default -1
            Its place; by default the last.

        Returns
        -------
        polars.DataFrame
            measure, kind ("fell" or "rose"), query_id, difference, value.
        """
        n, place = as_count("n", n), range(len(self.steps))[step]
        if not place:
            raise ParameterError(argument="step", given=step, allowed="a step that has one before it")
        rows = []
        for measure in self.measures:
            values, before = (
                aligned(one.values[measure], one.query_ids, self.query_ids)
                for one in (self.steps[place], self.steps[place - 1])
            )
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
    ends = {"difference_low": "low", "difference_high": "high"}
    return {
        f"{prefix}{name}": None if pair is None else getattr(pair, ends.get(name, name))
        for name in ("difference", *ends, "p_adjusted", "significant")
    }


def _side(step: Step, measure: StoredMeasure, query_ids: TextArray) -> Side:
    side = side_of_values(measure, aligned(step.values[measure.notation], step.query_ids, query_ids))
    if (repeated := step.repeats[measure.notation]) is not None:
        side = replace(
            side, repeats=np.column_stack([aligned(one, step.query_ids, query_ids) for one in repeated.values.T])
        )
    if step.weights is None or measure.total:
        return side
    return replace(side, weights=np.nan_to_num(aligned(step.weights, step.query_ids, query_ids)))


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
    """Put saved evaluations in order of time, and say what changed at each step.

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
        There is no saved evaluation, they share no measure, or their conventions differ.

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
    measures = _shared_measures(found, notes)
    steps = _reconciled(found, [given[one.file] for one in found], measures, judgments, notes)
    at = None if known is None else [one.file for one in steps].index(known)
    ids = np.array(sorted({str(query) for step in steps for query in step.query_ids}), dtype=object)
    since = _compared(steps, measures, ids, [(n, n - 1) for n in range(1, len(steps))], design)
    others = [] if at is None else [(n, at) for n in range(len(steps)) if n != at]
    to_reference = _compared(steps, measures, ids, others, design) if others else {}
    return History(steps, measures, ids, since, to_reference, at, design, tuple(notes))


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
        return Step(**vars(read_summary(given)), file=file)
    return Step(
        given.name,
        given.qrels_hash,
        given.origin or now,
        vars(given.conventions),
        given.query_ids,
        given.weights,
        {str(one.measure): one.values for one in given},
        {str(one.measure): stated(one, one.interval()) for one in given},
        {str(one.measure): one.repeats for one in given},
        file,
    )


def _tell_times(steps: Sequence[Step], notes: list[str]) -> None:
    """Note evaluations without a time, and of one time."""
    times = [one.origin.time for one in steps]
    lacking = [one.file for one in steps if not one.origin.time]
    twice = [one.file for one in steps if one.origin.time and times.count(one.origin.time) > 1]
    if lacking:
        notes.append(f"{three(lacking)}: saved by an older version without the time, and taken as the first")
    if twice:
        notes.append(f"{three(twice)}: of the same time, in the order in which they were given")


def _shared_measures(steps: Sequence[Step], notes: list[str]) -> tuple[str, ...]:
    """Return the measures that all have; raise if there are none, or conventions differ."""
    first, *others = steps
    for one in others:
        check_conventions((first.name, one.name), (first.conventions, one.conventions))
    shared = tuple(name for name in first.means if all(name in one.means for one in steps))
    if not shared:
        raise DataError(
            "the evaluations have no measure in common",
            given=Plain(three(list(dict.fromkeys(", ".join(one.means) for one in steps)), between="; ")),
        )
    left = dict.fromkeys(name for one in steps for name in one.means if name not in shared)
    if left:
        notes.append(f"not in all evaluations, and left out: {', '.join(left)}")
    return shared


def _reconciled(
    steps: Sequence[Step], sources: Sequence[Any], measures: Sequence[str], judgments: str | None, notes: list[str]
) -> tuple[Step, ...]:
    """Return the steps under judgments that make them comparable, where that can be."""
    if len({one.qrels_hash for one in steps}) == 1:
        return tuple(steps)
    read = [opened(one) for one in sources]
    told = ["", *(_told(old, new) for old, new in pairwise(read))]
    steps = [replace(step, changed=text) for step, text in zip(steps, told, strict=True)]
    called = [one.origin.label or one.name for one in steps]
    names = [name if called.count(name) == 1 else f"{name} ({n})" for n, name in enumerate(called, start=1)]
    try:
        found, how = reconciled(dict(zip(names, read, strict=True)), judgments)
    except DataError as error:
        if judgments is not None:
            raise
        notes.append(f"judgments changed, and values are not comparable across that: {error}")
        return tuple(replace(step, is_comparable=step.qrels_hash == steps[-1].qrels_hash) for step in steps)
    if how is not None:
        notes += [f"judgments: {one}" for one in how.told()[-1:]]
    return tuple(
        replace(
            step,
            qrels_hash=scored.qrels_hash,
            query_ids=scored.query_ids,
            values={measure: scored[measure].values for measure in measures},
            means={measure: stated(scored[measure], scored[measure].interval()) for measure in measures},
            repeats={measure: scored[measure].repeats for measure in measures},
            weights=scored.weights,
        )
        for step, scored in zip(steps, (found[name] for name in names), strict=True)
    )


def _told(old: Evaluation, new: Evaluation) -> str:
    """Return what differs between the judgments of two evaluations; empty if nothing does."""
    if old.qrels_hash == new.qrels_hash:
        return ""
    return "other judgments, not kept" if old.qrels is None or new.qrels is None else str(changes(old.qrels, new.qrels))


def _compared(
    steps: Sequence[Step], measures: Sequence[str], ids: TextArray, places: Sequence[tuple[int, int]], design: Design
) -> dict[str, tuple[Pair | None, ...]]:
    """Return a pair for each step, by measure; None where it is compared with nothing, or cannot be."""
    can_be = [
        (one, other)
        for one, other in places
        if (steps[one].is_comparable and steps[other].is_comparable) or steps[one].qrels_hash == steps[other].qrels_hash
    ]
    found = {}
    for measure in measures:
        of_mean = steps[0].means[measure]
        own = StoredMeasure(notation=measure, higher_is_better=of_mean["higher_is_better"], total=of_mean["total"])
        sides = {n: _side(step, own, ids) for n, step in enumerate(steps)}
        pairs: dict[int, Pair] = {}
        if can_be:
            made = compare_sides([own], [sides], can_be, design=design, cluster=None)
            pairs = {one: pair for (one, _), pair in zip(can_be, made, strict=True)}
        found[measure] = tuple(map(pairs.get, range(len(steps))))
    return found
