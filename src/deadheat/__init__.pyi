# The public names. What imports them is read when the program runs, too.

import deadheat.core.measures as _measures
from deadheat import errors as errors, figures as figures, stats as stats
from deadheat.core.data.from_arrays import from_arrays
from deadheat.core.data.pareto import pareto_levels
from deadheat.core.data.qrels import Qrels, read_qrels
from deadheat.core.data.queries import Queries
from deadheat.core.data.run import Run, read_run
from deadheat.core.errors import DeadheatError, DeadheatWarning
from deadheat.core.evaluation.evaluate import evaluate
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.evaluations import Evaluations
from deadheat.core.evaluation.intervals import Interval
from deadheat.core.evaluation.open_evaluations import load_evaluation
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.strata import Strata
from deadheat.core.io.decimals import decimal
from deadheat.core.io.memory_limits import max_memory
from deadheat.core.io.records import encoding
from deadheat.core.measures import *  # noqa: F403 - every measure is public
from deadheat.core.measures import measures
from deadheat.core.placements.place import place
from deadheat.core.placements.placements import Placements
from deadheat.plugins.agree.rankings import Agreement, agree
from deadheat.plugins.agree.systems import agree_systems
from deadheat.plugins.bench.bench import bench
from deadheat.plugins.bench.cases import Cases, read_cases
from deadheat.plugins.bench.collection import Collection, read_collection
from deadheat.plugins.bench.ontology import Ontology, read_ontology
from deadheat.plugins.bench.result import BenchResult
from deadheat.plugins.bench.retrievers import BM25, LLM, Embedding, Hits, Retriever, RunFile, StringSimilarity
from deadheat.plugins.columns.scorings import evaluate_columns
from deadheat.plugins.compare.compare import compare, compare_evaluations
from deadheat.plugins.compare.comparison import Comparison
from deadheat.plugins.compare.of_values import interval, paired_test
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.compare.robustness import SystemOrders
from deadheat.plugins.compat.explain import explain
from deadheat.plugins.compat.explanation import Explanation
from deadheat.plugins.dense.accumulator import Accumulator
from deadheat.plugins.dense.evaluating import evaluate_dense, evaluate_embeddings
from deadheat.plugins.engines.spark_sums import evaluate_spark
from deadheat.plugins.fusion.fuse import fuse
from deadheat.plugins.fusion.tuned import TunedFusion
from deadheat.plugins.fusion.tuning import tune_fusion
from deadheat.plugins.gates.gate import gate
from deadheat.plugins.gates.notation import GateResult
from deadheat.plugins.judges.answers import read_judgments
from deadheat.plugins.judges.judge_agreement import JudgeAgreement, judge_agreement
from deadheat.plugins.languages.across import Languages
from deadheat.plugins.languages.comparing import compare_languages
from deadheat.plugins.leaderboard.board import Leaderboard
from deadheat.plugins.leaderboard.ranking import leaderboard
from deadheat.plugins.recommender.exposure import Exposure, exposure
from deadheat.plugins.recommender.item_profile import ItemProfile, item_profile
from deadheat.plugins.recommender.popularity import popularity
from deadheat.plugins.repeats.repeats import Repeats
from deadheat.plugins.spans.spans import Spans
from deadheat.plugins.ties.coarsening import coarsen
from deadheat.plugins.ties.coarsening_profile import CoarseningProfile, coarsening_profile
from deadheat.plugins.ties.confidence import ConfidenceEvaluation, evaluate_with_confidence
from deadheat.plugins.ties.orders import TieComplexity, TieOrders, tie_complexity, tie_orders
from deadheat.plugins.ties.profile import TieProfile, tie_profile
from deadheat.plugins.ties.rerankers import QueryType, Reranker, Simulation, simulate_rerankers, simulate_scenarios
from deadheat.plugins.ties.steps import Steps
from deadheat.plugins.weeks.diff import QrelsDiff, diff_qrels
from deadheat.plugins.weeks.history import History, history
from deadheat.plugins.weeks.holes import Holes, holes

__version__: str

__all__ = [
    "BM25",
    "LLM",
    "Accumulator",
    "Agreement",
    "BenchResult",
    "Cases",
    "CoarseningProfile",
    "Collection",
    "Comparison",
    "ConfidenceEvaluation",
    "DeadheatError",
    "DeadheatWarning",
    "Embedding",
    "Evaluation",
    "Evaluations",
    "Explanation",
    "Exposure",
    "GateResult",
    "History",
    "Hits",
    "Holes",
    "Interval",
    "ItemProfile",
    "JudgeAgreement",
    "Languages",
    "Leaderboard",
    "Ontology",
    "Pair",
    "Placements",
    "Qrels",
    "QrelsDiff",
    "Queries",
    "QueryType",
    "Repeats",
    "Reranker",
    "Retriever",
    "Run",
    "RunFile",
    "Scores",
    "Simulation",
    "Spans",
    "Steps",
    "Strata",
    "StringSimilarity",
    "SystemOrders",
    "TieComplexity",
    "TieOrders",
    "TieProfile",
    "TunedFusion",
    "agree",
    "agree_systems",
    "bench",
    "coarsen",
    "coarsening_profile",
    "compare",
    "compare_evaluations",
    "compare_languages",
    "decimal",
    "diff_qrels",
    "encoding",
    "evaluate",
    "evaluate_columns",
    "evaluate_dense",
    "evaluate_embeddings",
    "evaluate_spark",
    "evaluate_with_confidence",
    "explain",
    "exposure",
    "from_arrays",
    "fuse",
    "gate",
    "history",
    "holes",
    "interval",
    "item_profile",
    "judge_agreement",
    "leaderboard",
    "load_evaluation",
    "max_memory",
    "measures",
    "paired_test",
    "pareto_levels",
    "place",
    "popularity",
    "read_cases",
    "read_collection",
    "read_judgments",
    "read_ontology",
    "read_qrels",
    "read_run",
    "simulate_rerankers",
    "simulate_scenarios",
    "tie_complexity",
    "tie_orders",
    "tie_profile",
    "tune_fusion",
]
__all__ += _measures.__all__
