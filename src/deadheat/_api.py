"""The public names for type checkers; when the program runs, each is imported from its module when it is used."""

import deadheat.measures as _measures
from deadheat.benchmark import BenchResult, bench
from deadheat.cases import Cases, read_cases
from deadheat.collection import Collection, read_collection
from deadheat.comparing import compare, compare_evaluations
from deadheat.comparison import Comparison, Pair
from deadheat.confidence import Interval
from deadheat.data import Qrels, Run, read_qrels, read_run
from deadheat.errors import DeadheatError, DeadheatWarning
from deadheat.evaluating import evaluate
from deadheat.evaluation import Evaluation
from deadheat.gates import GateResult, gate
from deadheat.io import max_decompressed
from deadheat.measures import *  # noqa: F403 - every measure is public
from deadheat.measures import measures
from deadheat.ontology import Ontology, read_ontology
from deadheat.orders import TieComplexity, TieOrders, tie_complexity, tie_orders
from deadheat.placement import Placements
from deadheat.placing import place
from deadheat.profile import TieProfile, tie_profile
from deadheat.queries import Queries
from deadheat.retrievers import BM25, Embedding, Hits, Retriever, RunFile
from deadheat.saved import load_evaluation
from deadheat.scores import Scores
from deadheat.strata import Strata

__all__ = [
    "BM25",
    "BenchResult",
    "Cases",
    "Collection",
    "Comparison",
    "DeadheatError",
    "DeadheatWarning",
    "Embedding",
    "Evaluation",
    "GateResult",
    "Hits",
    "Interval",
    "Ontology",
    "Pair",
    "Placements",
    "Qrels",
    "Queries",
    "Retriever",
    "Run",
    "RunFile",
    "Scores",
    "Strata",
    "TieComplexity",
    "TieOrders",
    "TieProfile",
    "bench",
    "compare",
    "compare_evaluations",
    "evaluate",
    "gate",
    "load_evaluation",
    "max_decompressed",
    "measures",
    "place",
    "read_cases",
    "read_collection",
    "read_ontology",
    "read_qrels",
    "read_run",
    "tie_complexity",
    "tie_orders",
    "tie_profile",
]
__all__ += _measures.__all__  # pyright: ignore[reportFunctionMemberAccess] - it takes the package for its function
