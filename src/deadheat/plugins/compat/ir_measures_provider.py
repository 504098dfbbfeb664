"""A provider for ir_measures: its measures by those of deadheat."""

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray
from deadheat.core.data.qrels import Qrels
from deadheat.core.errors import MeasureError, MissingDependencyError, UnknownMeasureError
from deadheat.core.io.nested import Nested
from deadheat.core.measures import (
    ERR,
    RBP,
    SDCG,
    Accuracy,
    F,
    Hit,
    Measure,
    NumRelRet,
    NumRet,
    P,
    R,
    RelP,
    SetAP,
    bpref,
    nDCG,
)
from deadheat.core.measures.registration import measures
from deadheat.core.placements.placements import Placements
from deadheat.plugins.compat.evaluating import OF_TREC_EVAL, TALLY, Evaluator, is_chosen, tie_policy
from deadheat.plugins.diversity.measures import TopicMeasure
from deadheat.plugins.more_measures.cwl import ScaledMeasure

try:
    import ir_measures
except ImportError as error:
    raise MissingDependencyError("ir_measures is not installed", hint="pip install ir-measures") from error

NOT_PROVIDED = ir_measures.providers.base.NOT_PROVIDED
CWL_RANKS = 1000  # that cwl_eval looks at
SAME = (
    *("P", "R", "RR", "AP", "Rprec", "IPrec", "infAP", "Judged", "NumQ", "NumRel", "Compat", "Accuracy"),
    *("BPM", "NERR8", "NERR9", "alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "AP_IA", "P_IA"),
    "StRecall",
)


class ReadTo1000(RBP):
    """Rank-biased precision of a user who reads at most 1,000 documents."""

    def weights(self, n_ranks: int) -> FloatArray:
        """Return the weights of these ranks, over their sum."""
        weights = super().weights(n_ranks) / (1 - float(self.p) ** CWL_RANKS)
        return np.where(np.arange(n_ranks) < CWL_RANKS, weights, 0.0)


class OfRetrieved(Accuracy):
    """Accuracy, without a value where the top k holds no relevant document."""

    def mean(self, placements: Placements) -> FloatArray:
        """Return the mean over all tie orders, NaN where none has a value."""
        return np.where(Hit(rel=self.rel, cutoff=self.cutoff).mean(placements) > 0, super().mean(placements), np.nan)


def _rbp(p: float, rel: int | None = None, cutoff: int | None = None) -> Measure:
    if rel is None:
        raise MeasureError(
            "without rel is graded, and ir_measures does not say what its gains are",
            measure="RBP",
            hint="RBP(rel=1), or deadheat.evaluate with RBP(graded=True)",
        )
    return RBP(p=p, rel=rel, cutoff=cutoff)


MEASURES = measures()

# What makes our measures of ir_measures' parameters, by its names
OURS: dict[str, Callable[..., Measure]] = {
    **{name: MEASURES[name] for name in SAME},
    **{name: partial(MEASURES[name], ranks=CWL_RANKS) for name in ("INSQ", "INST", "NERR10", "NERR11")},
    "Success": Hit,
    "Bpref": bpref,
    "nDCG": lambda dcg, cutoff=None: nDCG(cutoff=cutoff, gain={"log2": "linear", "exp-log2": "exp"}[dcg]),
    "ERR": partial(ERR, max_rel=4),  # the highest relevance that gdeval.pl knows
    "RBP": _rbp,
    "SDCG": lambda dcg, **given: SDCG(**given),  # noqa: ARG005 - dcg has one formulation
    "NumRet": lambda rel=None: NumRet() if rel is None else NumRelRet(rel=rel),
    "SetP": lambda rel, relative: (RelP if relative else P)(rel=rel),
    "SetR": R,
    "SetF": lambda rel, beta: F(rel=rel, beta=math.sqrt(beta)),  # as trec_eval, whose x is beta squared
    "SetAP": SetAP,
}

# The order in which tools of ir_measures leave documents of one score; pytrec_eval: by document id, as trec_eval
ORDERS: dict[str, Callable[[Mapping[str, float]], Iterable[tuple[str, float]]]] = {
    **dict.fromkeys(("cwl_eval", "accuracy", "ranx"), lambda own: own.items()),
    **dict.fromkeys(("compat", "judged", "msmarco", "pyndeval"), lambda own: sorted(own.items())),
    "gdeval": lambda own: sorted(own.items(), reverse=True),
}


def ours(measure: Any) -> Measure:  # noqa: ANN401 - ir_measures has no types
    """Return the measure of deadheat for one of ir_measures, with the parameters and defaults that it has there.

    Parameters
    ----------
    measure : ir_measures.Measure

    Raises
    ------
    UnknownMeasureError
        deadheat has no such measure.
    MeasureError
        It refuses a parameter.

    Examples
    --------
    >>> ours(ir_measures.nDCG @ 10), ours(ir_measures.Success(rel=2) @ 5), ours(ir_measures.INSQ(max_rel=3))
    (nDCG@10, Hit(rel=2)@5, INSQ(max_rel=3, ranks=1000))
    """
    make = OURS.get(measure.NAME)
    if make is None or hasattr(measure, "runtime_impl"):
        raise UnknownMeasureError(
            f"deadheat does not compute {str(measure)!r} of ir_measures", hint=f"here are {', '.join(sorted(OURS))}"
        )
    # these change the data that are measured
    given = {name: measure[name] for name in measure.SUPPORTED_PARAMS if name not in {"judged_only", "gains"}}
    return make(**{name: value for name, value in given.items() if value is not NOT_PROVIDED})


def _is_ours(measure: Any) -> bool:  # noqa: ANN401 - ir_measures has no types
    try:
        ours(measure)
    except MeasureError:
        return False
    return True


def _tool_of(measure: Any) -> str:  # noqa: ANN401 - ir_measures has no types
    """Return the name of the tool that ir_measures has for a measure; trec_eval if it has none."""
    known = {name: value for name, value in measure.params.items() if name in measure.SUPPORTED_PARAMS}
    others = (one for one in ir_measures.DefaultPipeline.providers if not isinstance(one, DeadheatProvider))
    return next((one.NAME for one in others if one.supports(type(measure)(**known))), "pytrec_eval")


class DeadheatProvider(ir_measures.providers.Provider):
    """Computes what deadheat has: all measures of ir_measures but `RBP` with graded gains.

    Parameters
    ----------
    ties : str, optional
        A tie policy, by default ``DEADHEAT_TIES`` in the environment, else the rule of the tool that ir_measures has
        for the measure.
    is_first : bool, default False
        Whether it is at the head of the pipeline, and computes as long as a tie policy is in the environment.
    """

    NAME = "deadheat"

    def __init__(self, ties: str | None = None, *, is_first: bool = False) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._ties, self._is_first = ties, is_first

    def supports(self, measure: Any) -> bool:  # noqa: ANN401 - ir_measures has no types
        """Tell whether deadheat has a measure, with these parameters."""
        measure.validate_params()
        return (is_chosen() or not self._is_first) and _is_ours(measure)

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> "DeadheatEvaluator":  # noqa: ANN401 - as above
        return DeadheatEvaluator(list(measures), qrels, self._ties)


class _Data(NamedTuple):
    """What measures are computed from; those that share it are computed together."""

    gains: tuple[tuple[float, float], ...]  # levels, and what each counts as
    low: float
    high: float
    judged_only: bool
    has_subtopics: bool
    tool: str  # whose order of ties counts; empty if a policy is chosen


class DeadheatEvaluator(ir_measures.providers.Evaluator):
    """Computes some measures of any number of runs.

    Parameters
    ----------
    measures : list of ir_measures.Measure
    qrels : whatever ir_measures takes
        With iterations, which are the subtopics of measures of diversity.
    ties : str, optional
        A tie policy, by default that of the environment, else the rule of each tool.
    """

    def __init__(self, measures: list[Any], qrels: Any, ties: str | None) -> None:  # noqa: ANN401 - as above
        groups: dict[_Data, dict[Any, Measure]] = {}
        for measure in measures:
            own = ours(measure)
            data = _Data(
                gains=tuple(sorted((measure.params.get("gains") or {}).items())),
                low=0 if measure.NAME == "Judged" else -math.inf,  # there, negative relevance is a judgment
                high=(own.max_rel or math.inf) if isinstance(own, ScaledMeasure) else math.inf,
                judged_only=bool(measure.params.get("judged_only")),
                has_subtopics=isinstance(own, TopicMeasure),
                tool="" if is_chosen(ties) else _tool_of(measure),
            )
            if isinstance(own, Accuracy):
                own = OfRetrieved(rel=own.rel, cutoff=own.cutoff)
            elif isinstance(own, RBP) and own.cutoff is None:
                own = ReadTo1000(p=own.p, rel=own.rel)
            groups.setdefault(data, {})[measure] = own
        first, second = ir_measures.util.QrelsConverter(qrels).tee(2)
        judged: Nested = first.as_dict_of_dict()
        super().__init__(measures, set(judged))
        subtopics = _subtopics(second) if any(data.has_subtopics for data in groups) else None
        highest = judged  # of a document over its subtopics; ir_measures' dicts have that of the last
        if subtopics is not None:
            of_docs = subtopics.group_by("query_id", "doc_id", maintain_order=True).agg(pl.max("relevance"))
            highest = Qrels.of_checked(of_docs, "qrels").to_dict()
        self.groups = []
        for data, named in groups.items():
            evaluator = Evaluator(
                _changed(highest if data.has_subtopics else judged, data),
                named,
                ties=tie_policy(ties, "input" if data.tool in ORDERS else OF_TREC_EVAL),
                judged_only=data.judged_only,
                subtopics=subtopics if data.has_subtopics else None,
            )
            self.groups.append((ORDERS.get(data.tool), evaluator))

    def iter_calc(self, run: Any) -> Iterator[Any]:  # noqa: ANN401 - ir_measures has no types
        """Yield the values of each query: 0 of one that the run lacks, but for Accuracy, which has none then."""
        return (one for one in super().iter_calc(run) if not math.isnan(one.value))

    def _iter_calc(self, run: Any) -> Iterator[Any]:  # noqa: ANN401 - as above
        scores: Nested = ir_measures.util.RunConverter(run).as_dict_of_dict()
        for order, evaluator in self.groups:
            own = scores if order is None else {query: dict(order(docs)) for query, docs in scores.items()}
            for query, values in evaluator.by_query(own).items():
                for measure, value in values.items():
                    yield ir_measures.Metric(query_id=query, measure=measure, value=value)
        for query, measure in product(self.qrel_qids - scores.keys(), self.measures):
            if measure.NAME == "Accuracy":
                yield ir_measures.Metric(query_id=query, measure=measure, value=math.nan)


def _changed(qrels: Nested, data: _Data) -> Nested:
    """Return the judgments as ir_measures and its tools change them: other levels, none outside of two limits."""
    if not data.gains and math.isinf(data.low) and math.isinf(data.high):
        return qrels
    gains = dict(data.gains)
    return {
        query: {doc: min(max(gains.get(level, level), data.low), data.high) for doc, level in own.items()}
        for query, own in qrels.items()
    }


def _subtopics(qrels: Any) -> pl.DataFrame | None:  # noqa: ANN401 - ir_measures has no types
    """Return the judgments by subtopic; None if all have the same."""
    rows = {
        (one.query_id, one.doc_id, str(getattr(one, "iteration", "0"))): float(one.relevance)
        for one in qrels.as_namedtuple_iter()
    }
    if len({topic for _, _, topic in rows}) < 2:
        return None
    names = ["query_id", "doc_id", "subtopic", "relevance"]
    return pl.DataFrame([(*key, relevance) for key, relevance in rows.items()], names, orient="row")


def _value(node: object) -> object:
    """Return the value of a parameter, which is what ir_measures allows: a number, a text, a bool, None or a dict."""
    if isinstance(node, ast.Constant) and not isinstance(node.value, (bytes, type(...))):
        return node.value
    if isinstance(node, ast.Dict):
        return dict(zip(map(_value, node.keys), map(_value, node.values), strict=True))
    raise ValueError("values must be str, float, int, bool, etc.")  # its command catches it, and names the measure


def _mend_parser() -> None:
    """Let ir_measures parse numbers: version 0.4.3 asks for ``ast.Num``, which Python 3.14 has no more."""
    try:
        ir_measures.parse_measure("P@1")
    except (AttributeError, DeprecationWarning):  # the warning where warnings are errors
        ir_measures.util._ast_to_value = _value  # noqa: SLF001 - nothing else of its parser is wrong


def register() -> None:
    """Put a provider into ir_measures' pipeline, once: first under a tie policy of the environment, else last."""
    _mend_parser()
    pipeline = ir_measures.DefaultPipeline.providers
    if all(one.NAME != DeadheatProvider.NAME for one in pipeline):
        pipeline[:] = [DeadheatProvider(is_first=True), *pipeline, ir_measures.providers.register(DeadheatProvider())]


def watch() -> None:
    """Let the tally count the values that ir_measures' tools compute; those of pytrec_eval are counted there."""
    for name, provider in ir_measures.providers.registry.items():
        if name not in {"pytrec_eval", "runtime"} and "_evaluator" not in vars(provider):
            vars(provider)["_evaluator"] = partial(_watched, provider._evaluator)  # noqa: SLF001 - all ways lead there


def _watched(make: Callable[..., Any], measures: Iterable[Any], qrels: Any) -> Any:  # noqa: ANN401 - as above
    """Return the evaluator of a tool, the values of which are counted."""
    if is_chosen():
        return make(measures, qrels)
    measures = list(measures)
    first, second = ir_measures.util.QrelsConverter(qrels).tee(2)
    found = make(measures, first.qrels)
    calc, known = found.iter_calc, [one for one in measures if _is_ours(one)]
    beside = cache(lambda: DeadheatEvaluator(known, second.qrels, "expected"))

    def iter_calc(run: Any) -> Iterator[Any]:  # noqa: ANN401 - as above
        one, other = ir_measures.util.RunConverter(run).tee(2)
        yield from calc(one.run)
        TALLY.add(lambda: ([evaluator for _, evaluator in beside().groups], other.as_dict_of_dict()))

    found.iter_calc = iter_calc
    return found
