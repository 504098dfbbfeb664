"""What reports of evaluations show of a judge, whose labels help to estimate means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.strata import Strata
from deadheat.core.report.cells import Span
from deadheat.core.report.interval_facts import interval_cell
from deadheat.core.report.model import MEASURE, SYSTEM, Column, Fact, Table, prose_fact, tabulate
from deadheat.core.report.report_parts import Part
from deadheat.core.report.score_tables import columns_of_strata, level_heading
from deadheat.core.wording import format_count
from deadheat.plugins.judges.columns import columns_of_judge
from deadheat.plugins.judges.prediction import FEWEST_OF_MEAN
from deadheat.plugins.judges.samples import not_a_sample, of_judge, strata_of_sample, tell_own_judges
from deadheat.plugins.judges.sampling import sample_doubt


class JudgeInReports:
    """What reports of evaluations show of a judge."""

    values_are_by = "human labels"

    def tabulate_means(
        self, parts: Sequence[Part], names: Sequence[str], columns: Sequence[str], level: float
    ) -> Table:
        """Return what the labels of a judge add to each mean."""
        rows = [
            {
                **vars(scores.powered),
                "stratum": part.labels,
                "system": names[part.run],
                "measure": scores.measure.label,
                "human": scores.human_mean,
                "alone": interval_cell(found.alone or found),
                "ties": Span(scores.human_tie_min, scores.human_tie_max),
                "with": scores.mean,
                "both": interval_cell(found),
            }
            for part in parts
            for scores, found in zip(
                part.evaluation,
                (part.intervals or part.evaluation.intervals(confidence_level=level)).values(),
                strict=True,
            )
            if scores.powered is not None
        ]
        heading = level_heading(level, set())
        return tabulate(
            "judge",
            (*columns_of_strata(columns), SYSTEM, MEASURE),
            (
                Column("human", "human"),
                Column("alone", heading, ends=("human_low", "human_high"), spare=1),
                Column("ties", "human tie orders", ends=("human_tie_min", "human_tie_max"), spare=2),
                *columns_of_judge(heading),
            ),
            rows,
            title="What the judge adds",
        )

    def tell(self, evaluations: Sequence[Evaluation]) -> list[Fact]:
        """Say what was assumed of a judge's labels, and where they add nothing."""
        judge = evaluations[0].judge
        scores = [one for evaluation in evaluations for one in evaluation if one.powered is not None]
        n_others = len({*judge.query_ids.tolist()}.difference(evaluations[0].query_ids.tolist()))
        total = format_count(len(scores), "mean")
        n_few = sum(one.n_effective < FEWEST_OF_MEAN for one in scores)
        n_useless = sum(not one.is_estimated for one in scores) - n_few
        few = f"human labels alone make {n_few} of {total}: the judge counts from {FEWEST_OF_MEAN} labelled queries on"
        useless = f"the judge adds nothing to {n_useless} of {total}: human labels alone make these"
        doubts = {
            one.measure.label: sample_doubt(*one.predicted[:2]) for one in evaluations[0] if one.predicted is not None
        }
        return [
            *of_judge(judge, evaluations[0], n_others, len(evaluations[0].query_ids), "means and their intervals"),
            tell_own_judges([one.name for one in evaluations if one.is_own_judge]),
            Fact("few_labels", n_few, "few labels", few if n_few else "", is_note=True, brief=few if n_few else ""),
            prose_fact("weight 0", useless if n_useless else ""),
            *(not_a_sample(measure, p, "means") for measure, p in doubts.items() if p is not None),
        ]

    def tell_of_strata(self, strata: Strata) -> Iterable[Fact]:
        """Warn where the queries with human labels are of other strata than those that the judge labelled."""
        counts = [(len(one.query_ids), len(one.judge.query_ids)) for one in strata.values() if one.judge]
        return strata_of_sample(counts, len(strata.whole.judge.query_ids))

    def describe_means(self, evaluation: Evaluation) -> str:
        """Say whose labels help."""
        return f"Means are estimated with the help of the labels of {evaluation.judge.qrels.where}."


PART = JudgeInReports()
