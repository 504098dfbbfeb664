"""Runs of chunks held against spans: which measures are of spans, and what they are here."""

from collections.abc import Mapping, Sequence

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
    is_recall = type(measure) is R and measure.norm == "R"  # a list that ends early has no fewer spans to find
    if is_recall:
        level = {"rel": measure.rel} if measure.names_rel else {}  # one that nobody names is that of `evaluate`
        return StRecall(**level, cutoff=measure.cutoff).with_alias("R").with_label(measure.label)
    if type(measure).__name__ == "AllHit":  # of another plugin
        level = {"rel": measure.rel} if measure.names_rel else {}
        return StAllHit(**level, cutoff=measure.cutoff).with_alias("AllHit").with_label(measure.label)
    if isinstance(measure, (*OF_CHUNKS, TopicMeasure, CoverageMeasure)) or type(measure).__name__ in ALSO_OF_CHUNKS:
        return measure
    if type(measure).__name__ == "Adjusted":  # of another plugin, too
        return measure(measure=_of_spans(measure.measure)).with_label(measure.label)
    instead = OF_TOPICS.get(type(measure), "")
    raise MeasureError(
        f"{measure.label} counts relevant chunks, and a span counts once however many chunks hit it",
        allowed=ALLOWED,
        hint=f"use {instead}" if instead else "",
    )
