"""A run under a rule that breaks ties, beside its exact values: what one reading of the same scores makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from deadheat.arguments import check_choice
from deadheat.arrays import FloatArray
from deadheat.data.tables import Qrels, Run
from deadheat.errors import ParameterError
from deadheat.evaluation.conventions import Conventions
from deadheat.evaluation.evaluate import engine_under, evaluate_under
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.scores import Scores
from deadheat.measures import Measure
from deadheat.placements import policies
from deadheat.placements.place import engine_of
from deadheat.wording import NOISE

RULES = policies.LOOK_AT_RUN
"""The rules by which tools break ties: by document id, or in the order of the input."""


@dataclass(frozen=True)
class Difference:
    """How far a rule that breaks ties is from the exact values of a measure.

    Attributes
    ----------
    measure : Measure
    rule : {"doc_id", "input"}
    exact, traditional : float
        The mean over queries (of counts the total), exact over all orders of the ties and under the rule.
    mean, max : float
        Mean and largest distance of the two in a query; NaN without queries.
    query_id : str
        The first query with the largest distance; empty without queries, or where no query has any.
    std, traditional_std : float
        Standard deviation over queries (the divisor is n - 1) of the exact values and of those under the rule.
    n_queries : int
        Queries with a value.
    """

    measure: Measure
    rule: str
    exact: float
    traditional: float
    mean: float
    max: float
    query_id: str
    std: float
    traditional_std: float
    n_queries: int

    @property
    def difference(self) -> float:
        """The mean under the rule minus the exact mean."""
        return self.traditional - self.exact


def check_rule(rule: object) -> None:
    """Raise `ParameterError` unless a rule breaks ties without chance, as tools do."""
    check_choice("beside", rule, RULES)


def evaluate_beside(
    conventions: Conventions, qrels: Qrels, run: Run, measures: Sequence[Measure], rule: str
) -> tuple[Evaluation, Evaluation]:
    """Evaluate a run exactly, and with its ties broken by a rule; the run is placed once.

    Parameters
    ----------
    conventions : Conventions
        With ``ties="expected"``.
    qrels, run : Qrels, Run
    measures : sequence of Measure
    rule : {"doc_id", "input"}

    Returns
    -------
    exact, traditional : Evaluation
        Of the same queries; they share placements and spread.
    """
    check_rule(rule)
    if conventions.ties != "expected":
        raise ParameterError(argument="ties", given=conventions.ties, allowed="'expected' beside a rule")
    policies.check_row_order(run, rule)
    engine = engine_under(conventions, engine_of(qrels, run, conventions.score_precision), measures)
    exact = evaluate_under(conventions, qrels, run, measures, engine=engine)
    ranked = policies.by_rule(exact.placements, engine, rule)
    traditional = Evaluation(
        [replace(own, values=np.where(own.kept, own.measure.mean(ranked), np.nan)) for own in exact],
        **exact.parts() | {"conventions": replace(conventions, ties=rule)},
    )
    return exact, traditional


def differences(exact: Scores, traditional: Scores) -> FloatArray:
    """Return the value under the rule minus the exact one, of shape (n_queries,); 0 where rounding alone differs."""
    found = traditional.values - exact.values
    return np.where(np.abs(found) > NOISE * np.maximum(1.0, np.abs(exact.values)), found, found * 0.0)


def difference_of(exact: Scores, traditional: Scores, rule: str) -> Difference:
    """Return how far the values under a rule are from the exact ones of the same queries."""
    apart = np.abs(differences(exact, traditional))
    kept = apart[~np.isnan(apart)]
    furthest = int(np.nanargmax(apart)) if len(kept) else 0
    return Difference(
        exact.measure,
        rule,
        exact.reported(),
        traditional.reported(),
        float(kept.mean()) if len(kept) else float("nan"),
        float(kept.max()) if len(kept) else float("nan"),
        str(exact.query_ids[furthest]) if len(kept) and kept.max() > 0 else "",
        exact.std,
        traditional.std,
        exact.n_queries,
    )
