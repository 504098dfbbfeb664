"""deadheat: evaluate rankings, exactly where scores tie.

>>> import deadheat as dh
>>> qrels = {"q1": {"d1": 1}}
>>> run = {"q1": {"d1": 0.5, "d2": 0.5}}
>>> dh.evaluate(qrels, run, ["RR", "P@1"]).means()
{'RR': 0.75, 'P@1': 0.5}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from deadheat import forking as _forking  # noqa: F401 - it watches forks from the first import on

if TYPE_CHECKING:
    from deadheat._api import *  # noqa: F403 - all of them, by its __all__


# Where the public names are that are neither measures nor modules: each is imported when it is first used, so that
# --help does not wait for NumPy and Polars, nor evaluate() for the statistics. `_api` says the same to type checkers.
_HOMES = {
    "benchmark": ("BenchResult", "bench"),
    "cases": ("Cases", "read_cases"),
    "collection": ("Collection", "read_collection"),
    "comparing": ("compare", "compare_evaluations"),
    "comparison": ("Comparison", "Pair"),
    "confidence": ("Interval",),
    "data": ("Qrels", "Run", "read_qrels", "read_run"),
    "errors": ("DeadheatError", "DeadheatWarning"),
    "evaluating": ("evaluate",),
    "evaluation": ("Evaluation",),
    "gates": ("GateResult", "gate"),
    "io": ("max_decompressed",),
    "ontology": ("Ontology", "read_ontology"),
    "orders": ("TieComplexity", "TieOrders", "tie_complexity", "tie_orders"),
    "placement": ("Placements",),
    "placing": ("place",),
    "profile": ("TieProfile", "tie_profile"),
    "queries": ("Queries",),
    "retrievers": ("BM25", "Embedding", "Hits", "Retriever", "RunFile"),
    "saved": ("load_evaluation",),
    "scores": ("Scores",),
    "strata": ("Strata",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name == "__version__":
        from importlib.metadata import version

        return version("deadheat")
    if name in _HOME_OF:
        return getattr(import_module(f"deadheat.{_HOME_OF[name]}"), name)
    try:
        return import_module(f"deadheat.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"deadheat.{name}":
            raise
    measures = import_module("deadheat.measures")
    if not hasattr(measures, name):
        msg = f"module 'deadheat' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(measures, name)


def __dir__() -> list[str]:
    return sorted({*_HOME_OF, *import_module("deadheat.measures").__all__})
