"""Values that were lost as their queries had weight 0: the service ``lost_values`` computes them of a kept ranking."""

from typing import Any

from deadheat.core import hooks
from deadheat.core.arrays import FloatArray
from deadheat.core.errors import DataError
from deadheat.core.wording import format_count, format_list


def restore_values(evaluation: Any, weights: FloatArray) -> Any:  # noqa: ANN401 - an Evaluation, which asks for it
    """Return an evaluation that has the values of all queries to which new weights give one.

    Parameters
    ----------
    evaluation : Evaluation
        Its queries of weight 0 have no values.
    weights : ndarray of float, shape (n_queries,)

    Raises
    ------
    DataError
        The ranking was not kept, or too little of it.
    """
    if evaluation.weights is None:
        return evaluation
    is_lost = (evaluation.weights == 0) & (weights > 0)
    if not is_lost.any():
        return evaluation
    service = hooks.find_service("lost_values")
    again = None if service is None else service.score_again(evaluation)
    if again is None:
        queries = evaluation.query_ids[is_lost].tolist()
        raise DataError(
            f"{evaluation.name} keeps no values of {format_count(len(queries), 'query', 'queries')} that had weight 0:"
            f" {format_list([*map(repr, queries)])}",
            hint="evaluate the run again, with these weights",
        )
    return again
