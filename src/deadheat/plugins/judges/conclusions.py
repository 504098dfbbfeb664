"""Conclusions: what a judge does to the comparison of systems by one measure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray, IntArray, TextArray
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.design import Design
from deadheat.core.evaluation.evaluate_runs import evaluate_under
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.kernels import agreement
from deadheat.core.kernels.ranks import first_ranks
from deadheat.core.measures import Measure
from deadheat.core.phases import phase
from deadheat.core.settings import Conventions
from deadheat.core.stats.intervals import interval_bounds
from deadheat.plugins.compare.of_values import side_of_values
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.compare.pairs import compare_sides, list_pairs
from deadheat.plugins.judges.label_agreement import LabelAgreement
from deadheat.plugins.judges.values_by_system import values_of


@dataclass(frozen=True, eq=False)
class Conclusions:
    """What a judge does to the comparison of systems by one measure, over the queries that both labelled.

    Attributes
    ----------
    judge : str
    measure : Measure
    systems : tuple of str
    query_ids : tuple of str
    biases : tuple of Pair
        Of each system, the mean under the judge's labels (`mean`) and under the human ones (`baseline_mean`).
    favours : tuple of Pair
        Of each system, its bias (`mean`; of geometric means a ratio) against the mean bias of the others; p values are
        corrected (Holm).
    human, by_judge : tuple of Pair
        Every pair of systems under either labels.
    tau_b, tau_ap : float
        Of the order of systems, with the humans' as the reference; tau_ap is the mean over the orders of equal means.
    tie_std : tuple of two float
        Standard deviation of the mean over tie orders under human labels and the judge's, averaged over systems.
    ends : ndarray of float, shape (2, n_systems, 2)
        Of the intervals of the means under human labels and the judge's (Student's t).
    n_labels : tuple of two int
        Human labels and the judge's for these queries. If they are of other documents, the bias is also due to that.
    """

    judge: str
    measure: Measure
    systems: tuple[str, ...]
    query_ids: tuple[str, ...]
    biases: tuple[Pair, ...]
    favours: tuple[Pair, ...]
    human: tuple[Pair, ...]
    by_judge: tuple[Pair, ...]
    tau_b: float
    tau_ap: float
    tie_std: tuple[float, float]
    ends: FloatArray
    n_labels: tuple[int, int]

    def _where(self, differ: Callable[[Pair, Pair], bool]) -> tuple[tuple[str, str], ...]:
        """Return the pairs of systems on which the labels differ in some way."""
        return tuple(
            (human.system, human.baseline)
            for human, judge in zip(self.human, self.by_judge, strict=True)
            if differ(human, judge)
        )

    @property
    def n_separated(self) -> int:
        """Pairs that the human labels tell apart."""
        return sum(one.significant for one in self.human)

    @property
    def reversed(self) -> tuple[tuple[str, str], ...]:
        """Pairs that the human labels tell apart and the judge orders the other way."""
        return self._where(lambda human, judge: human.significant and human.difference * judge.difference < 0)

    @property
    def lost(self) -> tuple[tuple[str, str], ...]:
        """Pairs that the human labels tell apart, and the judge orders likewise, but not by more than chance."""
        return self._where(
            lambda human, judge: (
                human.significant and not judge.significant and human.difference * judge.difference >= 0
            )
        )

    @property
    def false(self) -> tuple[tuple[str, str], ...]:
        """Pairs that the judge tells apart and the human labels do not."""
        return self._where(lambda human, judge: judge.significant and not human.significant)

    @property
    def favoured(self) -> tuple[str, ...]:
        """Systems that the judge helps more than the others, by more than chance; of two it cannot be told which."""
        can_tell, sign = len(self.systems) > 2, self.measure.sign
        return tuple(one.system for one in self.favours if can_tell and one.significant and sign * one.difference > 0)


def conclude(
    judged: Qrels,
    judges: Mapping[str, Qrels],
    agreements: Mapping[str, LabelAgreement],
    *,
    runs: Mapping[str, Run],
    measures: Sequence[Measure],
    rel: float,
    design: Design,
) -> Iterator[Conclusions]:
    """Yield what each judge does to the comparison of systems, by each measure.

    Parameters
    ----------
    judged : Qrels
        Labels of the humans.
    judges : mapping of str to Qrels
    agreements : mapping of str to LabelAgreement
        Of each judge, which says on which queries both labelled documents.
    runs : mapping of str to Run
    measures : sequence of Measure
    rel : float
        The lowest grade that counts as relevant.
    design : Design
    """
    conventions = Conventions(rel=None if rel == 1 else rel)
    for name, judge in judges.items():
        query_ids = agreements[name].query_ids
        kept = pl.col("query_id").is_in(query_ids.tolist())
        tables = [Qrels.of_checked(one.to_polars().filter(kept), one.name) for one in (judged, judge)]
        n_labels = (len(tables[0].to_polars()), len(tables[1].to_polars()))
        with phase(f"evaluating by the labels of {name}"):
            both = [
                {system: evaluate_under(conventions, table, run, measures, None) for system, run in runs.items()}
                for table in tables
            ]
        for measure in measures:
            yield _of_measure(name, measure, query_ids, both, design, n_labels=n_labels)


def _orders_of(human: FloatArray, by_judge: FloatArray) -> list[IntArray]:
    """Return how many systems are above each by both labels, of those that have a mean by both; higher is better."""
    has_mean = ~(np.isnan(human).all(axis=0) | np.isnan(by_judge).all(axis=0))
    means = [np.nanmean(values[:, has_mean], axis=0) for values in (human, by_judge)]
    return [first_ranks(of_systems).astype(np.int64) - 1 for of_systems in means]


def _of_measure(
    name: str,
    measure: Measure,
    query_ids: TextArray,
    both: list[dict[str, Evaluation]],
    design: Design,
    *,
    n_labels: tuple[int, int],
) -> Conclusions:
    """Return what a judge does to one measure; `both` has the evaluations by human labels and by the judge's."""
    systems = tuple(both[0])
    human = values_of(both[0], measure, query_ids)[0]
    by_judge = values_of(both[1], measure, query_ids)[0]
    bias = by_judge - human
    mean_of_others = (bias.sum(1, keepdims=True) - bias) / (len(systems) - 1)
    human_above, judge_above = _orders_of(measure.sign * human, measure.sign * by_judge)
    tie_std = [float(np.mean([one[system][measure].mean_tie_std for system in systems])) for one in both]
    level = design.confidence_level
    ends = [np.transpose(interval_bounds(one, method="t", confidence_level=level)) for one in (human, by_judge)]
    return Conclusions(
        judge=name,
        measure=measure,
        systems=systems,
        query_ids=tuple(query_ids.tolist()),
        biases=_against(measure, systems, by_judge, human, replace(design, correction="none")),
        favours=_against(measure, systems, bias, mean_of_others, design),
        human=_pairs_of(measure, systems, human, design),
        by_judge=_pairs_of(measure, systems, by_judge, design),
        tau_b=agreement.tau(human_above, judge_above).tau_b,
        tau_ap=agreement.tau_ap(human_above, judge_above),
        tie_std=(tie_std[0], tie_std[1]),
        ends=measure.level_of(np.array(ends)),
        n_labels=n_labels,
    )


def _pairs_of(measure: Measure, systems: Sequence[str], values: FloatArray, design: Design) -> tuple[Pair, ...]:
    """Return every pair of systems, of values with a column for each."""
    columns = zip(systems, values.T, strict=True)
    sides = {system: side_of_values(measure, column) for system, column in columns}
    return compare_sides([measure], [sides], list_pairs(systems, ()), design=design, cluster=None)[:]


def _against(
    measure: Measure, systems: Sequence[str], values: FloatArray, baselines: FloatArray, design: Design
) -> tuple[Pair, ...]:
    """Return a pair for each system: one column of values against another."""
    sides = {}
    for place, system in enumerate(systems):
        sides[system, "own"] = side_of_values(measure, values[:, place])
        sides[system, "other"] = side_of_values(measure, baselines[:, place])
    return compare_sides(
        [measure],
        [sides],
        [((system, "own"), (system, "other")) for system in systems],
        name_of=lambda key: key[0],
        design=design,
        cluster=None,
    )[:]
