"""Facts on samples: whether queries with human labels look like a random sample of those that a judge labelled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.report.model import Fact, note_fact, warning_fact
from deadheat.core.wording import format_count, format_list, format_path
from deadheat.plugins.judges.sampling import strata_doubt


def of_judge(judge: Evaluation, human: Evaluation, n_others: int, n_queries: int, what: str) -> list[Fact]:
    """Say what was assumed of a judge's labels that help to estimate something, and to read them."""
    name = format_path(judge.qrels.where)
    text = (
        f"{name} labelled {format_count(n_others, 'query', 'queries')} beside {n_queries} with human labels, which must"
        f" be a random sample of all; {what} by prediction-powered inference"
    )
    known = {*human.notes, *judge.alike}
    return [
        Fact("judge", name, "judge", text, brief=text),
        *(note_fact("judge", one) for one in judge.notes if one not in known),
    ]


def tell_own_judges(systems: Sequence[str]) -> Fact:
    """Warn of systems whose scores are the labels of the judge."""
    text = f"the labels of the judge are the scores of {format_list(systems)}, which they favour"
    return warning_fact("judge", text if systems else "")


def not_a_sample(measure: str, p: float, what: str) -> Fact:
    """Warn of queries with human labels that a judge scores otherwise than others."""
    text = f"by {measure} the judge's values differ between queries with human labels and others (p = {p:.2g}): are"
    return warning_fact("sample", f"{text} these a random sample? If not, the {what} are off")


def strata_of_sample(counts: Iterable[tuple[int, int]], n_queries: int) -> Iterator[Fact]:
    """Warn where the queries with human labels are of other strata than those that a judge labelled.

    Parameters
    ----------
    counts : iterable of (int, int)
        Of each stratum that has human labels: the queries with these, and all that the judge labelled.
    n_queries : int
        All that the judge labelled; those of no such stratum are one more.
    """
    known, every = np.array([*counts, (0, 0)]).T
    every[-1] = max(n_queries - every.sum(), 0)
    known, every = known[every > 0], every[every > 0]
    if len(known) > 1 and (p := strata_doubt(known, np.maximum(every - known, 0))) is not None:
        text = f"queries with human labels are of other strata than those of the judge (p = {p:.2g})"
        yield warning_fact("sample", f"{text}: they are no random sample of all, and only strata by themselves hold")
