"""The tools whose numbers are explained: what they differ in, and what each is known to do, as tests with them show.

Each setting is one choice for one question; a measure is another one under other settings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.kernels.segments import divide_or_zero
from deadheat.core.measures import (
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
from deadheat.core.measures.registration import trec_names
from deadheat.core.placements.placements import Placements
from deadheat.core.structures import group_values

# what each setting can be, in words; a number that is not here says it itself
WORDS: dict[str, dict[Any, str]] = {
    "ties": {
        "doc_id": "equal scores by document id, descending",
        "doc_id ascending": "equal scores by document id, ascending",
        "input": "equal scores in the order of the file",
        "input reversed": "equal scores in the reverse order of the file",
        "quicksort": "equal scores as an unstable quicksort leaves them",
        "quicksort twice": "equal scores as an unstable quicksort leaves them, sorted twice",
        "unstable": "equal scores in an order that is not repeated here",
        "expected": "the mean over all orders of equal scores",
        "best": "relevant documents first among equal scores",
        "worst": "relevant documents last among equal scores",
    },
    "gain": {
        "linear": "gain rel",
        "exp": "gain 2^rel - 1",
        "binary": "gain 1 for every relevant document",
        "linear_from": "gain rel of relevant documents, 0 below",
        "exp_from": "gain 2^rel - 1 of relevant documents, 0 below",
    },
    "discount": {"log(2)": "discount log2(rank + 1)", "linear": "discount 1 / rank"},
    "ideal": {"cutoff": "ideal cut at k", "whole": "ideal not cut at k"},
    "ap_norm": {
        "R": "AP divided by all relevant documents",
        "min": "AP divided by min(R, k)",
        "retrieved": "AP divided by the relevant documents in the top k",
        "steps": "AP by steps: precision at the end of each tie",
    },
    "p_norm": {"k": "P divided by k", "retrieved": "P divided by min(k, retrieved)"},
    "r_norm": {"R": "R divided by all relevant documents", "min": "R divided by min(R, k)"},
    "score_precision": {None: "scores in all bits", "float32": "scores in 32 bits"},
    "depth": {None: "whole lists"},
    "max_rel": {None: "a scale up to the highest relevance", 4: "a scale up to relevance 4"},
    "judged_only": {False: "unjudged documents stay in the lists", True: "unjudged documents taken out"},
    "judgments": {
        "all": "all judgments known",
        "retrieved": "only the judgments of retrieved documents known",
        "above 0": "only the judgments of retrieved documents known, of which scores of 0 or below find nothing",
    },
    "missing": {"empty": "queries that the run lacks count 0", "skip": "queries that the run lacks left out"},
    "identical_ids": {
        "kept": "documents with the id of their query stay",
        "dropped": "documents with the id of their query taken out",
    },
    "no_relevant": {
        "zero": "queries without a relevant document count 0",
        "skip": "queries without a relevant document left out",
        "one": "queries without a relevant document count 1",
        "answerable": "queries that the qrels call unanswerable left out",
    },
}


@dataclass(frozen=True, kw_only=True)
class ToolSettings:
    """How a tool computes measures.

    Attributes
    ----------
    ties : str
        One of ``WORDS["ties"]``.
    score_precision : str or None
        To which scores are rounded.
    depth : int or None
        Documents of a list that are looked at.
    judged_only : bool
        Whether unjudged documents are taken out.
    judgments : {"all", "retrieved", "above 0"}
        Whether a tool knows the judgments of documents that were not retrieved; of those retrieved, whether only scores
        above 0 make a document relevant.
    identical_ids : {"kept", "dropped"}
        Whether documents that have the id of their query are taken out of the lists; they stay judged.
    missing, no_relevant : str
        As for :func:`deadheat.evaluate`.
    rel : float
        Lowest relevance that counts.
    gain, discount, ideal : str
        Of DCG and nDCG.
    ap_norm, p_norm, r_norm : str
        What AP, P and R are divided by.
    max_rel : float or None
        Top of the scale of ERR, whatever the judgments are; None: the highest relevance in them.
    """

    ties: str = "doc_id"
    score_precision: str | None = None
    depth: int | None = None
    judged_only: bool = False
    judgments: str = "all"
    identical_ids: str = "kept"
    missing: str = "empty"
    no_relevant: str = "zero"
    rel: float = 1
    gain: str = "linear"
    discount: str = "log(2)"
    ideal: str = "cutoff"
    ap_norm: str = "R"
    p_norm: str = "k"
    r_norm: str = "R"
    max_rel: float | None = None

    def differences(self, other: "ToolSettings") -> dict[str, Any]:
        """Return what is set otherwise than in other settings."""
        return {name: own for name, own in vars(self).items() if own != getattr(other, name)}


def describe(name: str, value: Any) -> str:  # noqa: ANN401 - of any setting
    """Return a setting in words.

    Examples
    --------
    >>> describe("gain", "exp"), describe("depth", 100), describe("missing", "skip")
    ('gain 2^rel - 1', 'lists cut after 100 documents', 'queries that the run lacks left out')
    """
    if value in WORDS.get(name, {}):
        return WORDS[name][value]
    return f"lists cut after {value:,} documents" if name == "depth" else f"relevant from {value:g} on"


def open_settings(measure: Measure) -> list[str]:
    """Return the settings that change what a measure is: those of its parameters that have their defaults."""
    own = {one.name: getattr(measure, one.name) == one.default for one in fields(measure)}
    has_cutoff = getattr(measure, "cutoff", None) is not None
    matters = {
        "rel": own.get("rel", False) or (isinstance(measure, DCG) and own["gain"]),  # of a binary gain
        "gain": own.get("gain", False),
        "discount": own.get("discount", False),
        "max_rel": isinstance(measure, ERR) and own["max_rel"],
        "ideal": isinstance(measure, nDCG) and has_cutoff,
        "ap_norm": isinstance(measure, AP) and own["norm"],
        "p_norm": isinstance(measure, P) and own["norm"] and has_cutoff,
        "r_norm": isinstance(measure, R) and own["norm"] and has_cutoff,
    }
    return [name for name, does in matters.items() if does]


def under(measure: Measure, settings: ToolSettings, levels: Sequence[float]) -> Measure:
    """Return the measure with its parameters as settings say.

    Parameters
    ----------
    measure : Measure
    settings : ToolSettings
    levels : sequence of float
        The relevance that occurs in the judgments.
    """
    gain: Any = settings.gain
    if gain not in {"linear", "exp"}:
        of_level = {level: {"binary": 1.0, "linear_from": level, "exp_from": 2.0**level - 1}[gain] for level in levels}
        gain = {level: own if level >= settings.rel else 0.0 for level, own in of_level.items()} or "linear"
    known = {
        "rel": settings.rel if hasattr(measure, "rel") and settings.rel != 1 else None,
        "gain": gain,
        "discount": settings.discount,
        "max_rel": settings.max_rel,
        "ap_norm": settings.ap_norm if settings.ap_norm in {"min", "retrieved"} else None,
        "p_norm": settings.p_norm,
    }
    changes: dict[str, Any] = {
        "norm" if name in {"ap_norm", "p_norm"} else name: known[name]
        for name in open_settings(measure)
        if known.get(name) is not None
    }
    return measure(**changes) if changes else measure


def values_of(measure: Measure, settings: ToolSettings, placements: Placements) -> FloatArray:
    """Return the values by query of a measure whose parameters are as settings say; NaN where there is none.

    Parameters
    ----------
    measure : Measure
        What :func:`under` returned.
    settings : ToolSettings
    placements : Placements
    """
    if isinstance(measure, AP) and settings.ap_norm == "steps" and measure.cutoff is None:
        return _steps(placements, measure.rel)
    values = measure.mean(placements)
    cutoff = getattr(measure, "cutoff", None)
    if cutoff is None:
        return values
    if isinstance(measure, nDCG) and settings.ideal == "whole":
        return divide_or_zero(values * measure.divisor(placements), measure(cutoff=None).divisor(placements))
    if isinstance(measure, R) and settings.r_norm == "min":
        n_relevant = placements.n_relevant(measure.rel)
        return divide_or_zero(values * n_relevant, np.minimum(cutoff, n_relevant))
    return values


def _steps(placements: Placements, rel: float) -> FloatArray:
    """Return AP with the precision at the end of each tie for all relevant documents in it, as scikit-learn has it."""
    found = placements.relevant(rel)
    part = found.count * (found.before + found.count) / (found.above + found.tied)
    return divide_or_zero(placements.by_query(part, found.query), placements.n_relevant(rel))


@dataclass(frozen=True)
class Tool:
    """A tool and its conventions.

    Attributes
    ----------
    name : str
    settings : ToolSettings
        What it does when nothing is said.
    options : tuple of str
        Settings that its users choose.
    measures : tuple of type
        What it computes in this way; empty: all that deadheat does.
    has_cutoff : bool or None
        Whether only for measures with a cutoff, or only for those without.
    parameters : dict
        Those that a measure must have to be the tool's own.
    words : dict
        What an option can be, where it is not anything.
    """

    name: str
    settings: ToolSettings
    options: tuple[str, ...] = ()
    measures: tuple[type[Measure], ...] = ()
    has_cutoff: bool | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    words: Mapping[str, Sequence[object]] = field(default_factory=dict)

    def computes(self, measure: Measure) -> bool:
        """Tell whether the tool computes a measure in this way."""
        return (
            (not self.measures or type(measure) in self.measures)
            and all(getattr(measure, name) == value for name, value in self.parameters.items())
            and self.has_cutoff in {None, getattr(measure, "cutoff", None) is not None}
        )


OF_TREC = ToolSettings(ties="doc_id", score_precision="float32", missing="skip")
OF_BEIR = replace(OF_TREC, identical_ids="dropped")  # ignore_identical_ids=True, the default
OF_TREC_10 = replace(OF_TREC, score_precision=None)
BY_TREC = ("missing", "rel", "judged_only", "depth")
BY_ARRAY = ("no_relevant", "missing")  # who fills arrays decides whether a query that the run lacks is among them
LEFT_OUT: Mapping[str, Sequence[object]] = {"no_relevant": ("zero", "skip", "answerable")}
# from version 6 on by document id, before in the order in which documents were found
OF_SENTENCES = ToolSettings(ties="doc_id ascending", gain="binary", no_relevant="skip", ap_norm="min", missing="skip")
# of a score of 0 or below, such as a logit, nothing is relevant
OF_TORCH = ToolSettings(ties="unstable", judgments="above 0", ap_norm="retrieved")
BINARY = (P, R, Hit, RR, AP)
IN_TREC = tuple(one for one in measures().values() if trec_names(one) and one is not Hole)
# labels of a query without a relevant document count 1; map takes labels of 0 and 1
OF_BOOSTING = ToolSettings(ties="input", gain="exp", ap_norm="min", no_relevant="one")
TO_4 = ToolSettings(ties="doc_id", gain="exp", missing="skip", max_rel=4)  # gdeval refuses judgments above 4

TOOLS: tuple[Tool, ...] = (  # likeliest first
    Tool("trec_eval", OF_TREC, BY_TREC, IN_TREC),
    Tool("ir_measures", replace(OF_TREC, missing="empty"), ("rel", "judged_only"), (P, R, Hit, AP, Rprec, nDCG)),
    Tool("ir_measures", replace(OF_TREC, missing="empty"), ("rel",), (RR, bpref, DCG), has_cutoff=False),
    Tool("ir_measures", ToolSettings(ties="doc_id ascending"), ("rel",), (RR,), has_cutoff=True),
    Tool("ir_measures", replace(TO_4, missing="empty"), (), (ERR,), has_cutoff=True),  # asks gdeval
    # asks cwl_eval
    Tool("ir_measures", ToolSettings(ties="input"), ("rel",), (RBP,), has_cutoff=False, parameters={"graded": False}),
    Tool("BEIR", OF_BEIR, ("identical_ids",), (nDCG, AP, R, P), has_cutoff=True),
    Tool("BEIR", ToolSettings(ties="input"), (), (RR, Hit), has_cutoff=True),
    Tool("BEIR", ToolSettings(ties="input", r_norm="min"), (), (R,), has_cutoff=True),
    Tool("ranx", ToolSettings(ties="quicksort"), ("rel", "gain"), (*BINARY, F, Rprec, nDCG, DCG, bpref)),
    # make_comparable=True sorts once more
    Tool("ranx", ToolSettings(ties="quicksort twice"), ("rel", "gain"), (*BINARY, F, Rprec, nDCG, DCG, bpref)),
    Tool(
        "scikit-learn",
        ToolSettings(ties="expected", judgments="retrieved"),
        (*BY_ARRAY, "gain"),
        (nDCG, DCG),
        words=LEFT_OUT,
    ),
    Tool(
        "scikit-learn",
        ToolSettings(ties="expected", judgments="retrieved", ap_norm="steps"),
        (*BY_ARRAY, "rel"),
        (AP,),
        has_cutoff=False,
        words=LEFT_OUT,
    ),
    Tool("torchmetrics", ToolSettings(ties="expected", judgments="retrieved"), BY_ARRAY, (nDCG,), words=LEFT_OUT),
    Tool("torchmetrics", OF_TORCH, (*BY_ARRAY, "rel"), (RR, P, R, AP), words=LEFT_OUT),
    Tool("torchmetrics", replace(OF_TORCH, judgments="retrieved"), (*BY_ARRAY, "rel"), (Hit, Rprec), words=LEFT_OUT),
    Tool("sentence-transformers", OF_SENTENCES, ("rel",), (*BINARY, nDCG), has_cutoff=True),
    Tool("sentence-transformers", replace(OF_SENTENCES, ties="input"), ("rel",), (*BINARY, nDCG), has_cutoff=True),
    Tool("LightGBM", OF_BOOSTING, ("gain",), (nDCG, AP), has_cutoff=True),
    Tool(
        "XGBoost",
        replace(OF_BOOSTING, score_precision="float32"),
        ("gain", "no_relevant"),
        (nDCG, AP),
        words={"gain": ("linear", "exp"), "no_relevant": ("zero", "one")},  # ndcg_exp_gain; ndcg- and map-
    ),
    Tool("gdeval", TO_4, ("missing",), (nDCG, ERR), has_cutoff=True),
    Tool("trec_eval 10", OF_TREC_10, BY_TREC, (*IN_TREC, Hole)),
    Tool("trec_eval 10", OF_TREC_10, BY_TREC, (RBP,), parameters={"graded": True, "top": "query"}),
    Tool("trec_eval 10", OF_TREC_10, BY_TREC, (RBPResidual,), parameters={"tail": "unjudged"}),
    Tool(
        "deadheat",
        ToolSettings(ties="expected"),
        ("missing", "rel", "no_relevant", "gain", "ap_norm", "p_norm", "judged_only"),
    ),
)


def entries_of(measures: Sequence[Measure]) -> list[tuple[Tool, ...]]:
    """Return, for each tool that computes all measures, what it does for each; likeliest first.

    A tool that computes a measure in several ways is there several times.

    Parameters
    ----------
    measures : sequence of Measure

    Examples
    --------
    >>> from deadheat.core.measures import RR, nDCG
    >>> found = {own[0].name: own for own in entries_of([nDCG @ 10, RR @ 10])}
    >>> [one.settings.ties for one in found["ir_measures"]]
    ['doc_id', 'doc_id ascending']
    """
    found = []
    for own in group_values((tool.name, tool) for tool in TOOLS).values():
        ways = [[tool for tool in own if tool.computes(one)] for one in measures]
        if all(ways):
            found += [tuple(each[min(n, len(each) - 1)] for each in ways) for n in range(max(map(len, ways)))]
    return found


SMALL = 15  # a shorter stretch is sorted by insertion, which keeps equal numbers in their order


def order_of(keys: Sequence[float]) -> list[int]:
    """Return the indices that sort numbers, equal ones in the order that the swaps leave them in.

    The pivot is the median of the first, the middle and the last number of a stretch, and numbers equal to it are
    swapped from both sides.

    Parameters
    ----------
    keys : sequence of float

    Examples
    --------
    >>> order_of([2, 1, 1, 3])
    [1, 2, 0, 3]
    >>> order_of([0] * 20)[:4]
    [18, 17, 16, 15]
    """
    order = list(range(len(keys)))
    stretches = [(0, len(keys) - 1)]
    while stretches:
        low, high = stretches.pop()
        if high - low < SMALL:
            order[low : high + 1] = sorted(order[low : high + 1], key=keys.__getitem__)
            continue
        middle = _split(keys, order, low, high)
        stretches += [(low, middle - 1), (middle + 1, high)]
    return order


def _split(keys: Sequence[float], order: list[int], low: int, high: int) -> int:
    """Put smaller numbers before the pivot and larger ones behind it; return its place."""
    middle = (low + high) // 2
    for one, other in ((low, middle), (middle, high), (low, middle)):
        if keys[order[other]] < keys[order[one]]:
            order[one], order[other] = order[other], order[one]
    pivot = keys[order[middle]]
    order[high], order[middle] = order[middle], order[high]
    left, right = low, high - 1
    while True:
        while left < high and keys[order[left]] < pivot:
            left += 1
        while right >= low and pivot < keys[order[right]]:
            right -= 1
        if left >= right:
            break
        order[left], order[right] = order[right], order[left]
        left += 1
        right -= 1
    order[left], order[high] = order[high], order[left]
    return left
