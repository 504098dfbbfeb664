"""The tools whose numbers are explained: what each is known to do, as tests with the tools themselves show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from deadheat.explanation.settings import Settings
from deadheat.measures import (
    AP,
    DCG,
    ERR,
    RBP,
    RR,
    F,
    Hit,
    Hole,
    Measure,
    P,
    R,
    RBPResidual,
    Rprec,
    bpref,
    measures,
    nDCG,
)
from deadheat.measures.base import trec_names


@dataclass(frozen=True)
class Tool:
    """A tool and its conventions.

    Attributes
    ----------
    name : str
    settings : Settings
        What it does when nothing is said.
    options : tuple of str
        Settings that its users choose.
    measures : tuple of type
        What it computes in this way; empty: all that deadheat does.
    has_cutoff : bool or None
        Whether only for measures with a cutoff, or only for those without.
    parameters : dict
        Those that a measure must have to be the tool's own.
    """

    name: str
    settings: Settings
    options: tuple[str, ...] = ()
    measures: tuple[type[Measure], ...] = ()
    has_cutoff: bool | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)

    def computes(self, measure: Measure) -> bool:
        """Tell whether the tool computes a measure in this way."""
        has_cutoff = getattr(measure, "cutoff", None) is not None
        return (
            (not self.measures or type(measure) in self.measures)
            and all(getattr(measure, name) == value for name, value in self.parameters.items())
            and self.has_cutoff in {None, has_cutoff}
        )


OF_TREC = Settings(ties="doc_id", score_precision="float32", missing="skip")
OF_TREC_10 = replace(OF_TREC, score_precision=None)
BY_TREC = ("missing", "rel", "judged_only", "depth")
BY_ARRAY = ("no_relevant", "missing")  # who fills arrays decides whether a query that the run lacks is among them
# from version 6 on by document id, before in the order in which documents were found
OF_SENTENCES = Settings(ties="doc_id ascending", gain="binary", no_relevant="skip", ap_norm="min", missing="skip")
# of a score of 0 or below, such as a logit, nothing is relevant
OF_TORCH = Settings(ties="unstable", judgments="above 0", ap_norm="retrieved")
BINARY = (P, R, Hit, RR, AP)
IN_TREC = tuple(one for one in measures().values() if trec_names(one) and one is not Hole)
TO_4 = Settings(ties="doc_id", gain="exp", missing="skip", max_rel=4)  # gdeval refuses judgments above 4

TOOLS: tuple[Tool, ...] = (
    Tool("trec_eval", OF_TREC, BY_TREC, IN_TREC),
    Tool("ir_measures", replace(OF_TREC, missing="empty"), ("rel", "judged_only"), (P, R, Hit, AP, Rprec, nDCG)),
    Tool("ir_measures", replace(OF_TREC, missing="empty"), ("rel",), (RR, bpref, DCG), has_cutoff=False),
    Tool("ir_measures", Settings(ties="doc_id ascending"), ("rel",), (RR,), has_cutoff=True),
    Tool("ir_measures", replace(TO_4, missing="empty"), (), (ERR,), has_cutoff=True),  # asks gdeval
    # asks cwl_eval
    Tool("ir_measures", Settings(ties="input"), ("rel",), (RBP,), has_cutoff=False, parameters={"graded": False}),
    Tool("BEIR", OF_TREC, (), (nDCG, AP, R, P), has_cutoff=True),
    Tool("BEIR", Settings(ties="input"), (), (RR, Hit), has_cutoff=True),
    Tool("BEIR", Settings(ties="input", r_norm="min"), (), (R,), has_cutoff=True),
    Tool("ranx", Settings(ties="quicksort"), ("rel", "gain"), (*BINARY, F, Rprec, nDCG, DCG, bpref)),
    # make_comparable=True sorts once more
    Tool("ranx", Settings(ties="quicksort twice"), ("rel", "gain"), (*BINARY, F, Rprec, nDCG, DCG, bpref)),
    Tool("scikit-learn", Settings(ties="expected", judgments="retrieved"), (*BY_ARRAY, "gain"), (nDCG, DCG)),
    Tool(
        "scikit-learn",
        Settings(ties="expected", judgments="retrieved", ap_norm="steps"),
        (*BY_ARRAY, "rel"),
        (AP,),
        has_cutoff=False,
    ),
    Tool("torchmetrics", Settings(ties="expected", judgments="retrieved"), BY_ARRAY, (nDCG,)),
    Tool("torchmetrics", OF_TORCH, (*BY_ARRAY, "rel"), (RR, P, R, AP)),
    Tool("torchmetrics", replace(OF_TORCH, judgments="retrieved"), (*BY_ARRAY, "rel"), (Hit, Rprec)),
    Tool("sentence-transformers", OF_SENTENCES, ("rel",), (*BINARY, nDCG), has_cutoff=True),
    Tool("sentence-transformers", replace(OF_SENTENCES, ties="input"), ("rel",), (*BINARY, nDCG), has_cutoff=True),
    Tool("gdeval", TO_4, ("missing",), (nDCG, ERR), has_cutoff=True),
    Tool("trec_eval 10", OF_TREC_10, BY_TREC, (*IN_TREC, Hole)),
    Tool("trec_eval 10", OF_TREC_10, BY_TREC, (RBP,), parameters={"graded": True, "top": "query"}),
    Tool("trec_eval 10", OF_TREC_10, BY_TREC, (RBPResidual,), parameters={"tail": "unjudged"}),
    Tool("deadheat", Settings(ties="expected"), ("missing", "rel", "no_relevant", "gain", "ap_norm", "judged_only")),
)
"""Likeliest first."""


def entries_of(measures: Sequence[Measure]) -> list[tuple[Tool, ...]]:
    """Return, for each tool that computes all measures, what it does for each; likeliest first.

    A tool that computes a measure in several ways is there several times.

    Parameters
    ----------
    measures : sequence of Measure

    Examples
    --------
    >>> from deadheat.measures import RR, nDCG
    >>> found = {own[0].name: own for own in entries_of([nDCG @ 10, RR @ 10])}
    >>> [one.settings.ties for one in found["ir_measures"]]
    ['doc_id', 'doc_id ascending']
    """
    found = []
    for name in dict.fromkeys(tool.name for tool in TOOLS):
        own = [tool for tool in TOOLS if tool.name == name]
        ways = [[tool for tool in own if tool.computes(one)] for one in measures]
        if all(ways):
            found += [tuple(each[min(n, len(each) - 1)] for each in ways) for n in range(max(map(len, ways)))]
    return found
