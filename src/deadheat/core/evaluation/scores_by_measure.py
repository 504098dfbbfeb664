"""The scores of one run by measure: a key is the measure, its notation or another of its names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property

from deadheat.core.errors import MeasureError, UnknownMeasureError
from deadheat.core.evaluation.scores import Scores
from deadheat.core.measures import Measure, parse_measure
from deadheat.core.measures.notation import MeasureLike
from deadheat.core.measures.selection import with_rel
from deadheat.core.settings import Conventions
from deadheat.core.wording import did_you_mean


class ScoresByMeasure:
    """The base of an evaluation: its `Scores`, which a measure or one of its names finds.

    Parameters
    ----------
    scores : iterable of Scores

    Attributes
    ----------
    measures : tuple of Measure
    conventions : Conventions
        Its `rel` is that of a name that has none: under ``rel=2``, "AP" finds "AP(rel=2)".
    """

    conventions: Conventions

    def __init__(self, scores: Iterable[Scores]) -> None:
        self._scores = {scores_of_measure.measure: scores_of_measure for scores_of_measure in scores}
        self.measures = tuple(self._scores)

    def __iter__(self) -> Iterator[Scores]:
        return iter(self._scores.values())

    def __len__(self) -> int:
        return len(self._scores)

    def __contains__(self, measure: object) -> bool:
        with suppress(MeasureError):
            return self[measure] is not None  # type: ignore[index]
        return False

    def __getitem__(self, measure: MeasureLike) -> Scores:
        if isinstance(measure, Measure) and measure in self._scores:
            return self._scores[measure]
        if isinstance(measure, str) and measure in self._by_name:  # first: the name of a custom measure is not parsed
            return self._scores[self._by_name[measure]]
        wanted = parse_measure(measure)
        scores = self._find_scores(wanted)
        if scores is None:
            wanted = with_rel(wanted, self.conventions.rel)
            scores = self._find_scores(wanted)
        if scores is None and str(wanted) in self._by_name:
            scores = self._scores[
                self._by_name[str(wanted)]
            ]  # of a class whose function is not known, as its values are
        if scores is None:
            labels = [own_measure.label for own_measure in self.measures]
            raise UnknownMeasureError(
                f"{wanted.label} was not evaluated; this evaluation holds {', '.join(labels)}",
                hint=did_you_mean(wanted.label, labels),
            )
        return scores

    def _find_scores(self, measure: Measure) -> Scores | None:
        """Return the scores of the measure with the same label, such as R of spans for R, or else of an equal one."""
        return self._scores.get(self._by_name.get(measure.label, measure))

    @cached_property
    def _by_name(self) -> dict[str, Measure]:
        """The measures by their notation and by their label."""
        by_name = {str(measure): measure for measure in self.measures}
        for measure in self.measures:
            by_name[measure.label] = measure
        return by_name
