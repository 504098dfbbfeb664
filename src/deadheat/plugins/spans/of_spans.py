"""Runs of chunks held against spans: which measures are of spans, and what they are here."""

from collections.abc import Mapping, Sequence
from typing import Any

from deadheat.core.errors import MeasureError
from deadheat.core.measures import (
    AP,
    AP_IA,
    AR,
    DCG,
    ERR,
    FRP,
    RBP,
    RR,
    Custom,
    Hit,
    Measure,
    NumQ,
    NumRet,
    P,
    R,
    StAllHit,
    StRecall,
    alpha_nDCG,
    nDCG,
    nERR,
)
from deadheat.plugins.diversity.measures import TopicMeasure
from deadheat.plugins.spans.coverage.measures import CoverageMeasure

OF_CHUNKS = (P, Hit, RR, FRP, NumQ, NumRet, Custom, StAllHit)  # ask of chunks whether they hit a span, not how many do
ALSO_OF_CHUNKS = {"Abstain"}  # likewise, of another plugin
OF_TOPICS: Mapping[type[Measure], str] = {
    AP: "AP_IA",
    AR: "R",
    nDCG: "alpha_nDCG",
    DCG: "alpha_DCG",
    ERR: "ERR_IA",
    nERR: "nERR_IA",
    RBP: "NRBP",
}
SPAN_MEASURES: tuple[Measure, ...] = (alpha_nDCG() @ 10, AP_IA(), RR(), P() @ 10, R() @ 100)
ALLOWED = (
    "P, R, Hit, AllHit, RR, FRP, those by subtopic (alpha_nDCG, AP_IA), CharRecall, CharPrecision, CharIoU, CharDensity"
)


def measures_of_spans(measures: Sequence[Measure]) -> tuple[Measure, ...]:
    """Return measures as they are of spans, each of which counts once: R is the share of spans that chunks hit.

    Raises
    ------
    MeasureError
        A measure depends on how many chunks are relevant, which is another number for each way to cut documents.

    Examples
    --------
    >>> from deadheat.core.measures import R
    >>> measures_of_spans([R @ 5])[0], measures_of_spans([R @ 5])[0].label
    (StRecall@5, 'R@5')
    """
    return tuple(map(_of_spans, measures))


def _of_spans(measure: Measure) -> Measure:
    if isinstance(measure, R) and measure.norm == "R":  # a list that ends early has no fewer spans to find
        return StRecall(**_parameters_of(measure)).with_alias("R").with_label(measure.label)
    name = type(measure).__name__
    if name == "AllHit":  # of another plugin, as Adjusted
        return StAllHit(**_parameters_of(measure)).with_alias("AllHit").with_label(measure.label)
    if isinstance(measure, (*OF_CHUNKS, TopicMeasure, CoverageMeasure)) or name in ALSO_OF_CHUNKS:
        return measure
    if name == "Adjusted":
        inside: Measure = vars(measure)["measure"]
        return measure(measure=_of_spans(inside)).with_label(measure.label)
    instead = OF_TOPICS.get(type(measure), "")
    raise MeasureError(
        f"{measure.label} counts relevant chunks, and a span counts once however many chunks hit it",
        allowed=ALLOWED,
        hint=f"use {instead}" if instead else "",
    )


def _parameters_of(measure: Measure) -> dict[str, Any]:
    """Return the cutoff of a measure, and its lowest relevance: one that nobody names is that of `evaluate`."""
    parameters = vars(measure)
    if measure.names_rel:
        return {"cutoff": parameters["cutoff"], "rel": parameters["rel"]}
    return {"cutoff": parameters["cutoff"]}
