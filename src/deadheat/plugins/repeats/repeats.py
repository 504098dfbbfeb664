"""Repeats: several runs of one system, and the scores of their queries over all of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, is_member
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source, as_path, find_run_column, make_label
from deadheat.core.errors import ParameterError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.systems import runs_by
from deadheat.core.evaluation.tie_spread import TieSpread
from deadheat.core.structures import copy_with
from deadheat.core.wording import escape_invisible, format_count
from deadheat.plugins.repeats.repeated import REPEATS, Repeated

REPEAT = "repeat"  # the column that tells several runs of one system apart


class Repeats(Sequence[Source]):
    """Several runs of one system that answers differently each time.

    Give it to :func:`deadheat.evaluate` or :func:`deadheat.compare` in place of a run: values are means over the
    repeats, and intervals and tests carry their noise.

    Parameters
    ----------
    runs : sequence of run, or a table
        Two or more; or the path of a table, a dataframe, or rows as dicts, with a column ``repeat``.
    name : str, default "repeats"

    Attributes
    ----------
    is_ascending : bool
        Whether the runs were read with the lowest scores first.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    >>> one = {"q1": ["a", "b"], "q2": ["b", "a"], "q3": ["a"]}
    >>> other = {"q1": ["a", "b"], "q2": ["a", "b"], "q3": ["a"]}
    >>> ev = evaluate(qrels, Repeats([one, other]), "RR")
    >>> ev["RR"].values.tolist(), round(ev["RR"].variance_components.repeats, 4)
    ([1.0, 0.75, 1.0], 0.0417)
    """

    kind_of_system: ClassVar[str] = "repeats"

    def __init__(self, runs: Source, name: str = "repeats") -> None:
        runs = _runs_in(runs) or runs
        if not isinstance(runs, list | tuple) or len(runs) < 2:
            raise ParameterError(
                argument="runs",
                given=len(runs) if isinstance(runs, list | tuple) else runs,
                allowed="a list of two runs or more, or a table with a column 'repeat'",
            )
        self.runs: Sequence[Source] = tuple(runs)
        self.name = name
        self.is_ascending = False

    def __repr__(self) -> str:
        return escape_invisible(f"<Repeats {self.name}: {len(self)} runs>")

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401 - an index or a slice
        return self.runs[place]

    def together(self, evaluations: Sequence[Evaluation], missing: str) -> Evaluation:
        """Return the evaluation of the system: means over its runs, which are evaluated under ``missing="empty"``."""
        return together(self.name, evaluations, missing)


def system_of(runs: Sequence[Run], *, is_ascending: bool) -> Repeats:
    """Return the repeats that a table has, by its column ``repeat``."""
    return copy_with(Repeats(runs, runs[0].name), is_ascending=is_ascending)


def _runs_in(source: Source) -> list[Run]:
    """Return the runs of a table with a column ``repeat``; none of whatever else."""
    path = as_path(source)
    where = "run" if path is None else make_label(path)
    return runs_by(REPEAT, source) if find_run_column(source, where) == REPEAT else []


def together(name: str, evaluations: Sequence[Evaluation], missing: str) -> Evaluation:
    """Return the evaluation of a system from those of its repeats, under ``missing="empty"``.

    Parameters
    ----------
    name : str
    evaluations : sequence of Evaluation
        Of the same qrels, measures and conventions; documents are counted in the first.
    missing : str
        What becomes of a query that a repeat lacks: with "skip" its mean is over the others.

    Raises
    ------
    ParameterError
        Ties are not expected, bounds over unjudged documents were asked for, or a judge's labels help.
    """
    first, n = evaluations[0], len(evaluations)
    given = {**vars(first.conventions), "judge": first.judge and "some"}
    for argument, allowed in (("ties", "expected"), ("unjudged", "zero"), ("judge", None)):
        if given[argument] != allowed:
            raise ParameterError(
                argument=argument,
                given=given[argument],
                found="some" if argument == "judge" else None,
                allowed=repr(allowed),
                beside={"run": "repeats"},
            )
    lacks = np.column_stack([is_member(one.query_ids, np.array(one.missing_queries, object)) for one in evaluations])
    left_out: BoolArray = lacks if missing == "skip" else np.zeros_like(lacks)
    scores = [_of_measure([one[own.measure] for one in evaluations], left_out) for own in first]
    n_lacking = int((lacks.any(axis=1) & ~lacks.all(axis=1)).sum())
    lacking = f"; {format_count(n_lacking, 'query lacks', 'queries lack')} some of them" if n_lacking else ""
    found = Evaluation(
        scores,
        **first.parts()
        | {
            "name": name,
            "conventions": replace(first.conventions, missing=missing),
            "missing_queries": tuple(sorted(set().union(*(one.missing_queries for one in evaluations)))),
            "unjudged_queries": tuple(sorted(set().union(*(one.unjudged_queries for one in evaluations)))),
            "notes": (*first.notes, f"means over {n} repeats{lacking}; documents are counted in the first"),
            "run": None,
        },
    )
    is_lost: BoolArray = np.asarray(left_out.all(axis=1))
    return found.select(~is_lost) if is_lost.any() else found


def _of_measure(each: Sequence[Scores], left_out: BoolArray) -> Scores:
    """Return the means over repeats of one measure, and what ties do to them: each repeat breaks its own."""

    def beside(name: str) -> FloatArray:
        return np.where(left_out, np.nan, np.column_stack([getattr(one, name) for one in each]))

    first, values, variances = each[0], beside("values"), beside("tie_std") ** 2
    counts = (~np.isnan(values)).sum(axis=1)

    def mean(columns: FloatArray) -> FloatArray:
        return np.divide(np.nansum(columns, axis=1), counts, out=np.full(len(counts), np.nan), where=counts > 0)

    return replace(
        first,
        values=mean(values),
        spread=TieSpread.known(
            first.measure,
            first.spread.placements,
            mean=mean(values),
            std=np.sqrt(np.nansum(variances, axis=1)) / np.maximum(counts, 1),
            extremes=(mean(beside("tie_min")), mean(beside("tie_max"))),
            standard_error=np.sqrt(np.nansum(beside("standard_error") ** 2, axis=1)) / np.maximum(counts, 1),
            has_relevant=first.has_relevant,
            reachable=first.spread.reachable,
        ),
        parts={REPEATS: Repeated(values, variances)},  # no other: bounds over places are of one run
    )
