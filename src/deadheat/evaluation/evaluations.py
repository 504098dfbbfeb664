"""Evaluations: those of several systems by name, which show themselves as one table."""

import polars as pl

from deadheat.data.shown import Numbers, Shown
from deadheat.evaluation.evaluation import Evaluation
from deadheat.wording import counted, printable, three


class Evaluations(Shown, dict[str, Evaluation]):
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
        measures = three([one.label for one in first.measures])
        n_queries = counted(len(first.query_ids), "query", "queries")
        return printable(f"<Evaluations of {three(list(self))}: {measures}; {n_queries}>")

    def to_polars(self) -> pl.DataFrame:
        """Return the means of all systems: a row for each system and measure.

        Returns
        -------
        polars.DataFrame
            system, measure, n_queries, mean (of counts the total), tie_std, tie_min and tie_max (of the mean).
        """
        rows = [
            {
                "system": name,
                "measure": scores.measure.label,
                "n_queries": scores.n_queries,
                "mean": scores.reported(),
                **{key: scores.reported(key) for key in ("tie_std", "tie_min", "tie_max")},
            }
            for name, one in self.items()
            for scores in one
        ]
        return pl.DataFrame(rows)

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        for name, one in self.items():
            yield from (((name, *parts), number) for parts, number in one.named_numbers())
