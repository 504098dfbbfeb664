"""Evaluations of several systems by their names, what evaluate() returns of several runs."""

from __future__ import annotations

from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.renderable import Renderable, make_frame
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_count, format_for_people, format_list


class Evaluations(Renderable, dict[str, Evaluation]):
    """A dict of evaluations by the names of the systems, which prints as a table. Returned by :func:`evaluate`.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> found = evaluate({"q": {"a": 1}}, {"one": {"q": {"a": 2}}, "two": {"q": {"a": 1, "b": 1}}}, "RR")
    >>> found
    <Evaluations of one, two: RR; 1 query>
    >>> found.to_polars()["mean"].to_list()
    [1.0, 0.75]
    """

    def __repr__(self) -> str:
        first = next(iter(self.values()), None)
        if first is None:
            return "<Evaluations of nothing>"
        measures = format_list([one.label for one in first.measures])
        n_queries = format_count(len(first.query_ids), "query", "queries")
        return format_for_people(f"<Evaluations of {format_list(list(self))}: {measures}; {n_queries}>")

    def to_polars(self) -> pl.DataFrame:
        """Return the means of all systems: a row for each system and measure.

        Returns
        -------
        polars.DataFrame
            system, measure, n_queries, mean (of counts the total), tie_std, tie_min and tie_max (of the mean).
        """
        return make_frame(
            {
                "system": name,
                "measure": scores.measure.label,
                "n_queries": scores.n_queries,
                "mean": scores.reported(),
                **{key: scores.reported(key) for key in ("tie_std", "tie_min", "tie_max")},
            }
            for name, one in self.items()
            for scores in one
        )

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        return (((name, *parts), number) for name, one in self.items() for parts, number in one.named_numbers())
