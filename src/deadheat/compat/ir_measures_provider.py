"""A provider for ir_measures: its measures by those of deadheat."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from deadheat.compat.defaults import tie_policy
from deadheat.compat.evaluating import Evaluator
from deadheat.errors import MissingDependencyError
from deadheat.measures import (
    AP,
    ERR,
    RBP,
    RR,
    Compat,
    F,
    Hit,
    IPrec,
    Judged,
    Measure,
    NumQ,
    NumRel,
    NumRelRet,
    NumRet,
    P,
    R,
    RelP,
    Rprec,
    SetAP,
    bpref,
    nDCG,
)
from deadheat.measures.base import REGISTRY

try:
    import ir_measures
except ImportError as error:
    raise MissingDependencyError("ir_measures is not installed", hint="pip install ir-measures") from error

Parameters = dict[str, Any]

GDEVAL_TOP = 4  # the highest relevance that gdeval.pl knows


def _cut(measure: Callable[..., Measure]) -> Callable[[Parameters], Measure]:
    """Return a function from ir_measures' parameters to a measure that takes some of the same names."""
    return lambda given: measure(**{name: given[name] for name in ("cutoff", "rel") if name in given})


def _ndcg(given: Parameters) -> Measure:
    gain = {"log2": "linear", "exp-log2": "exp"}[given.get("dcg", "log2")]
    return nDCG(cutoff=given.get("cutoff"), gain=gain)


def _set_f(given: Parameters) -> Measure:
    return F(rel=given.get("rel", 1), beta=math.sqrt(given.get("beta", 1.0)))  # as trec_eval, whose x is beta squared


def _set_p(given: Parameters) -> Measure:
    own: Callable[..., Measure] = RelP if given.get("relative") else P
    return own(rel=given.get("rel", 1))


def _rbp(given: Parameters) -> Measure | None:
    return RBP(p=given.get("p", 0.8), rel=given["rel"], cutoff=given.get("cutoff")) if "rel" in given else None


def _registered(name: str) -> Callable[..., Measure]:
    """Return a measure by its name; KeyError if deadheat does not have it."""
    return REGISTRY[name]


OURS: dict[str, Callable[[Parameters], Measure | None]] = {
    "P": _cut(P),
    "R": _cut(R),
    "RR": _cut(RR),
    "AP": _cut(AP),
    "Rprec": _cut(Rprec),
    "Success": _cut(Hit),
    "Bpref": _cut(bpref),
    "Judged": _cut(Judged),
    "nDCG": _ndcg,
    "ERR": lambda given: ERR(cutoff=given.get("cutoff"), max_rel=GDEVAL_TOP),
    "RBP": _rbp,
    "NumQ": _cut(NumQ),
    "NumRel": _cut(NumRel),
    "NumRet": lambda given: NumRelRet(rel=given["rel"]) if "rel" in given else NumRet(),
    "SetP": _set_p,
    "SetR": _cut(R),
    "SetF": _set_f,
    "SetAP": lambda given: SetAP(rel=given.get("rel", 1)),
    "IPrec": lambda given: IPrec(recall=given["recall"], rel=given.get("rel", 1)),
    "Compat": lambda given: Compat(**{name: given[name] for name in ("p", "normalize") if name in given}),
    "infAP": lambda given: _registered("infAP")(rel=given.get("rel", 1)),
}
"""Our measures by the names of ir_measures."""


def ours(measure: Any) -> Measure | None:  # noqa: ANN401 - ir_measures has no types
    """Return the measure of deadheat for one of ir_measures, or None if there is none.

    Parameters
    ----------
    measure : ir_measures.Measure

    Examples
    --------
    >>> ours(ir_measures.nDCG @ 10), ours(ir_measures.Success(rel=2) @ 5), ours(ir_measures.alpha_nDCG @ 5)
    (nDCG@10, Hit(rel=2)@5, None)
    """
    make = OURS.get(measure.NAME)
    if make is None or hasattr(measure, "runtime_impl"):
        return None
    given = {name: value for name, value in measure.params.items() if name in measure.SUPPORTED_PARAMS}
    try:
        return make(given)
    except KeyError:  # a measure that deadheat does not have
        return None


class DeadheatProvider(ir_measures.providers.Provider):
    """Computes what deadheat has.

    Parameters
    ----------
    ties : str, optional
        A tie policy, by default ``DEADHEAT_TIES`` in the environment, else ``"expected"``.
    """

    NAME = "deadheat"

    def __init__(self, ties: str | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._ties = ties

    def supports(self, measure: Any) -> bool:  # noqa: ANN401 - ir_measures has no types
        """Tell whether deadheat has a measure, with these parameters."""
        measure.validate_params()
        return ours(measure) is not None

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> DeadheatEvaluator:  # noqa: ANN401 - as above
        judgments: Any = ir_measures.util.QrelsConverter(qrels).as_dict_of_dict()
        return DeadheatEvaluator(list(measures), judgments, tie_policy(self._ties, "expected"))


class DeadheatEvaluator(ir_measures.providers.Evaluator):
    """Computes some measures of any number of runs.

    Parameters
    ----------
    measures : list of ir_measures.Measure
    qrels : dict of dict
    ties : str
    """

    def __init__(self, measures: list[Any], qrels: dict[str, dict[str, float]], ties: str) -> None:
        super().__init__(measures, set(qrels))
        self._evaluators = [
            Evaluator(_with_gains(qrels, gains), named, ties=ties, judged_only=judged_only)
            for (gains, judged_only), named in _groups(measures).items()
        ]

    def _iter_calc(self, run: Any) -> Iterator[Any]:  # noqa: ANN401 - ir_measures has no types
        scores: Any = ir_measures.util.RunConverter(run).as_dict_of_dict()
        for evaluator in self._evaluators:
            for query, values in evaluator.by_query(scores).items():
                for measure, value in values.items():
                    yield ir_measures.Metric(query_id=query, measure=measure, value=value)


Gains = tuple[tuple[float, float], ...]


def _groups(measures: Iterable[Any]) -> dict[tuple[Gains, bool], dict[Any, Measure | None]]:
    """Return the measures by what they change of the data: the gains of relevances, and whether unjudged count."""
    found: dict[tuple[Gains, bool], dict[Any, Measure | None]] = {}
    for measure in measures:
        gains = tuple(sorted((measure.params.get("gains") or {}).items()))
        key = gains, bool(measure.params.get("judged_only"))
        found.setdefault(key, {})[measure] = ours(measure)
    return found


def _with_gains(qrels: dict[str, dict[str, float]], gains: Gains) -> dict[str, dict[str, float]]:
    """Return the judgments with some levels of relevance replaced, as ir_measures replaces them."""
    if not gains:
        return qrels
    of = dict(gains)
    return {query: {doc: of.get(level, level) for doc, level in own.items()} for query, own in qrels.items()}


def _value(node: object) -> object:
    """Return the value of a parameter, which is what ir_measures allows: a number, a text, a bool, None or a dict."""
    if isinstance(node, ast.Constant) and not isinstance(node.value, (bytes, type(...))):
        return node.value
    if isinstance(node, ast.Dict):
        return dict(zip(map(_value, node.keys), map(_value, node.values), strict=True))
    raise ValueError("values must be str, float, int, bool, etc.")  # its command catches it, and names the measure


def _mend_parser() -> None:
    """Let ir_measures read numbers on Python 3.14, too: version 0.4.3 asks for ``ast.Num``, which is gone there."""
    try:
        ir_measures.parse_measure("P@1")
    except (AttributeError, DeprecationWarning):  # the warning where warnings are errors
        ir_measures.util._ast_to_value = _value  # noqa: SLF001 - nothing else of its parser is wrong


def register() -> None:
    """Put a provider at the head of ir_measures' pipeline, once, and mend its parser where that fails."""
    _mend_parser()
    if all(one.NAME != DeadheatProvider.NAME for one in ir_measures.DefaultPipeline.providers):
        provider = ir_measures.providers.register(DeadheatProvider())
        ir_measures.DefaultPipeline.providers.insert(0, provider)
