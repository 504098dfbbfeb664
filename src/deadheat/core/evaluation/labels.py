"""What saved evaluations are called beside each other: by their labels, where these tell them apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deadheat.core.evaluation.evaluation import Evaluation


@dataclass(frozen=True)
class Labelled:
    """What a saved evaluation says of its name.

    Attributes
    ----------
    run : str
        The name of the system.
    label : str
        Empty without one.
    label_is_branch : bool
        Whether nobody gave the label.
    """

    run: str
    label: str = ""
    label_is_branch: bool = False

    @classmethod
    def of(cls, evaluation: Evaluation) -> "Labelled":
        """Return what an evaluation says; one that was not saved has no label."""
        origin = evaluation.origin
        if origin is None:
            return cls(evaluation.name)
        return cls(evaluation.name, origin.label, origin.label_is_branch)


def distinct_labels(saves: Sequence[Labelled]) -> list[str] | None:
    """Return the labels of saved evaluations; None where these do not tell them apart.

    A label that nobody gave is the branch: that tells saves of one run apart, but not runs.

    Examples
    --------
    >>> distinct_labels([Labelled("bm25", "week 4"), Labelled("bm25", "week 5")])
    ['week 4', 'week 5']
    >>> distinct_labels([Labelled("bm25", "main", True), Labelled("dense", "feature", True)])
    """
    labels = [save.label for save in saves]
    if "" in labels or len(set(labels)) < len(labels):
        return None
    is_one_run = len(saves) > 1 and len({save.run for save in saves}) == 1
    if any(save.label_is_branch for save in saves) and not is_one_run:
        return None
    return labels


def name_by_labels(evaluations: Sequence[Evaluation]) -> dict[str, Evaluation] | None:
    """Return evaluations by their labels; None where these do not tell them apart."""
    labels = distinct_labels([Labelled.of(evaluation) for evaluation in evaluations])
    if labels is None:
        return None
    return dict(zip(labels, evaluations, strict=True))


def find_later(evaluations: Mapping[str, Evaluation]) -> str | None:
    """Return which of two saves, named by their labels, is the later one; None of others."""
    times: dict[str, str] = {}
    for name, evaluation in evaluations.items():
        if evaluation.origin is None or evaluation.origin.label != name:
            return None
        times[name] = evaluation.origin.time
    if len(times) != 2 or len(set(times.values())) == 1:
        return None
    return max(times, key=lambda name: times[name])
