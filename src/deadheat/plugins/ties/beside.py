"""An evaluation beside a rule that breaks ties, to see what one reading of the scores makes of them."""

from collections.abc import Sequence

from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.evaluation.evaluate_runs import evaluate_many
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.rule_difference import traditional
from deadheat.core.measures import Measure
from deadheat.core.settings import Conventions


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
    ((exact, values),) = evaluate_many(conventions, qrels, [run], measures, rule=rule)
    return exact, traditional(exact, values, rule)
