"""One run made of several, and what tuning says of it."""

from __future__ import annotations

import deadheat as dh
from deadheat.plugins.fusion.base import METHODS
from deadheat.plugins.fusion.catalogue import make_method
from deadheat.plugins.fusion.norms import NORMS
from golden.data import QRELS, REAL_QRELS, REAL_RUNS, RUNS
from golden.entries import entry
from golden.plain import Numbers

TWO = {name: REAL_RUNS[name] for name in ("Olz-gpt4o", "willia-umbrela1")}


@entry({name: name for name in METHODS})
def by_method(name: str) -> Numbers:
    """Return the values of runs with ties, fused by each method."""
    learns = not make_method(name, list(RUNS), None, {}).is_fitted
    run = dh.fuse(RUNS, name, qrels=QRELS if learns else None)
    return dh.evaluate(QRELS, run, "nDCG@5 AP RR").means()


@entry({name: name for name in NORMS})
def by_norm(name: str) -> Numbers:
    """Return the values of runs with ties, summed after each normalization."""
    return dh.evaluate(QRELS, dh.fuse(RUNS, "sum", norm=name), "nDCG@5 AP RR").means()


@entry({"rrf": {}, "wsum": {"method": "wsum", "norm": "min-max"}, "mapfuse": {"method": "mapfuse"}})
def tuned(options: Numbers) -> Numbers:
    """Return what tuning says of two real runs."""
    return dh.tune_fusion(REAL_QRELS, TWO, **options).to_flat()
