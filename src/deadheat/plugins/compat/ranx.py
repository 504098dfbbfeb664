"""ranx's `evaluate`, `compare`, `fuse` and `optimize_fusion`, computed by deadheat.

The values are ranx's: its rbp and dcg count the relevance of documents at the level of ``-l`` or above, its other
metrics 0 and 1. So is the order of ties, which ranx leaves to an unstable sort. ``ties="expected"``, or
``DEADHEAT_TIES=expected`` in the environment, gives exact means over the orders of the ties instead.
"""

import itertools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from typing import Any

import numpy as np

from deadheat.core import hooks
from deadheat.core.arrays import FloatArray
from deadheat.core.checks import check_choice, name_items
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.errors import DataError, ParameterError, SourceTypeError, UnknownMeasureError
from deadheat.core.io.nested import Nested
from deadheat.core.measures import AP, DCG, RR, F, Hit, Measure, NumRelRet, P, R, Rprec, bpref, nDCG
from deadheat.core.wording import did_you_mean, format_count, format_list
from deadheat.plugins.compare import compare as comparing
from deadheat.plugins.compare.comparison import Comparison
from deadheat.plugins.compat.evaluating import TALLY, Evaluator, is_chosen, tie_policy
from deadheat.plugins.compat.tools import order_of

__all__ = ["compare", "evaluate", "fuse", "optimize_fusion"]


METRIC = re.compile(r"(?P<name>[a-z_0-9-]+?)(?:@(?P<cutoff>[0-9]+))?(?:-l(?P<level>[0-9]+))?")
RBP = re.compile(r"rbp[.@](?P<digits>[0-9]+)(?:-l(?P<level>[0-9]+))?")
BINARY: dict[str, Callable[..., Measure]] = {
    "hits": NumRelRet,
    "hit_rate": Hit,
    "precision": P,
    "recall": R,
    "f1": F,
    "r-precision": Rprec,
    "mrr": RR,
    "map": AP,
    "bpref": bpref,
}
GRADED: dict[str, tuple[Callable[..., Measure], str]] = {
    "dcg": (DCG, "linear"),
    "ndcg": (nDCG, "linear"),
    "dcg_burges": (DCG, "exp"),
    "ndcg_burges": (nDCG, "exp"),
}
TESTS = {"student": "t", "fisher": "randomization", "tukey": "tukey"}


def metric_of(text: str, levels: Collection[float]) -> tuple[Measure, float]:
    """Return the measure that computes a metric, and a constant that its value is multiplied by.

    Parameters
    ----------
    text : str
        Such as ``"ndcg@10"``, ``"ndcg_burges@10"``, ``"rbp.95"``, ``"recall@100-l2"``.
    levels : collection of float
        Of relevance in the qrels.

    Examples
    --------
    >>> metric_of("recall@100-l2", [0, 1]), metric_of("mrr", [0, 1])
    ((R(rel=2)@100, 1.0), (RR, 1.0))
    """
    rbp, found = RBP.fullmatch(text), METRIC.fullmatch(text)
    if rbp:
        p = float(f"0.{rbp['digits']}")
        gain = _gains(levels, int(rbp["level"] or 1), "linear")
        return DCG(gain=gain, discount=f"exp({p})"), (1 - p) / p
    names = [*BINARY, *GRADED, "rbp.95"]
    if found is None or found["name"] not in names[:-1]:
        raise UnknownMeasureError(
            f"ranx has no metric {text!r}",
            hint=did_you_mean(text.partition("@")[0], names) or f"All: {', '.join(names)}",
        )
    name, level = found["name"], int(found["level"] or 1)
    cutoff = {} if name in {"r-precision", "bpref"} else {"cutoff": int(found["cutoff"] or 0) or None}
    if name in BINARY:
        return BINARY[name](rel=level, **cutoff), 1.0
    measure, gain = GRADED[name]
    return measure(gain=_gains(levels, level, gain), **cutoff), 1.0


def _gains(levels: Collection[float], least: float, gain: str) -> str | dict[float, float]:
    """Return a gain that is 0 below a level of relevance."""
    if not any(0 < level < least for level in levels):
        return gain
    return {level: 0.0 if level < least else level if gain == "linear" else 2**level - 1 for level in levels}


def evaluate(  # noqa: PLR0917 - ranx's order of arguments
    qrels: Any,  # noqa: ANN401 - a dict, or an object of ranx
    run: Any,  # noqa: ANN401 - as above
    metrics: str | Sequence[str],
    return_mean: bool = True,  # noqa: FBT001, FBT002 - as ranx has it
    return_std: bool = False,  # noqa: FBT001, FBT002 - as above
    threads: int = 0,  # noqa: ARG001 - as above
    save_results_in_run: bool = True,  # noqa: FBT001, FBT002 - as above
    make_comparable: bool = False,  # noqa: FBT001, FBT002 - as above
    *,
    ties: str | None = None,
) -> Any:  # noqa: ANN401 - a number for one metric, a dict for several
    """Evaluate a run.

    Parameters
    ----------
    qrels, run : dict of dict, ranx.Qrels, ranx.Run, array of shape (n_queries, n, 2), list of arrays of shape (n, 2)
        Arrays hold documents, numbers, with their relevance or score; a run has them in the order of the ranking.
    metrics : str or sequence of str
    return_mean, return_std : bool
        Whether to return means, with standard deviations, instead of values by query (sorted by their ids).
    threads : int
        Not needed.
    save_results_in_run : bool, default True
        Whether a `ranx.Run` keeps the results.
    make_comparable : bool, default False
        Whether queries that the run lacks count as empty, and others than those of the qrels are left out.
    ties : str, optional
        A tie policy, by default ``DEADHEAT_TIES`` in the environment, else the order that ranx has.

    Returns
    -------
    float or dict
        The value of one metric, or ``{metric: value}`` for several.

    Raises
    ------
    DataError
        Qrels and run have different queries.
    UnknownMeasureError
        ranx has no such metric.

    Examples
    --------
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}
    >>> evaluate(qrels, run, ["mrr", "precision@1"])
    {'mrr': 0.5, 'precision@1': 0.0}
    >>> evaluate(qrels, run, ["mrr", "precision@1"], ties="expected")
    {'mrr': 0.75, 'precision@1': 0.5}
    """
    judged, retrieved = _dicts(qrels, "qrels"), _dicts(run, "run", sort=not is_chosen(ties))
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    if not make_comparable and judged.keys() != retrieved.keys():
        raise _different_queries(judged, retrieved)
    whole = {query: retrieved.get(query, {}) for query in sorted(judged)}
    found = _evaluator(judged, names, tie_policy(ties, "input")).by_query(whole)
    values = {
        name: factor * np.array([found[query][name] if query in found else 0.0 for query in whole])
        for name, (_, factor) in _metrics(judged, names).items()
    }
    results = {name: _summary(own, mean=return_mean, std=return_std) for name, own in values.items()}
    if save_results_in_run and hasattr(run, "mean_scores"):
        for name, own in values.items():
            run.mean_scores[name] = float(own.mean())
            if return_mean and return_std:
                run.std_scores[name] = float(own.std())
            run.scores[name] = dict(zip(sorted(judged), own.tolist(), strict=True))
    return results[names[0]] if len(names) == 1 else results


def beside(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Return ranx's own `evaluate`, whose values are counted; under a tie policy of the environment, ours."""

    @wraps(theirs)
    def own(qrels: Any, run: Any, metrics: Any, *options: Any, **named: Any) -> Any:  # noqa: ANN401 - as ranx has them
        if is_chosen():
            return evaluate(qrels, run, metrics, *options, **named)
        found = theirs(qrels, run, metrics, *options, **named)
        TALLY.add(lambda: ([_evaluator(_dicts(qrels, "qrels"), metrics)], _dicts(run, "run")))
        return found

    return own


def _metrics(qrels: Nested, metrics: str | Sequence[str]) -> dict[str, tuple[Measure, float]]:
    """Return what computes metrics, by their names."""
    levels = {float(level) for own in qrels.values() for level in own.values()}
    return {name: metric_of(name, levels) for name in ([metrics] if isinstance(metrics, str) else metrics)}


def _evaluator(qrels: Nested, metrics: str | Sequence[str], ties: str = "input") -> Evaluator[str]:
    """Return what computes metrics, without the constants that their values are multiplied by."""
    return Evaluator(
        qrels, {name: measure for name, (measure, _) in _metrics(qrels, metrics).items()}, ties=ties, judged_only=False
    )


def _summary(values: FloatArray, *, mean: bool, std: bool) -> Any:  # noqa: ANN401 - as `evaluate` returns it
    if not mean:
        return values
    return {"mean": float(values.mean()), "std": float(values.std())} if std else float(values.mean())


def _dicts(source: Any, kind: str, *, sort: bool = False) -> Nested:  # noqa: ANN401 - whatever the caller has
    """Return a dict of dicts; a run perhaps in the order that ranx brings it into."""
    if hasattr(source, "to_dict"):
        if not getattr(source, "sorted", True):
            source.sort()
        return source.to_dict()
    if isinstance(source, Mapping):
        return {query: _sorted(own) for query, own in source.items()} if sort else source
    arrays = [] if isinstance(source, str) else [np.asarray(own) for own in source]
    if not arrays or any(own.ndim != 2 or own.shape[1] != 2 for own in arrays):
        raise SourceTypeError(
            found=f"{type(source).__name__} as {kind}",
            allowed=f"a dict of dicts, arrays of documents and numbers, or what ranx.{kind.capitalize()} is",
        )
    if kind == "run":  # ranx ignores its scores; of a document that comes twice, the first place counts
        arrays = [np.column_stack((own[:, 0], -np.arange(len(own))))[::-1] for own in arrays]
    return {f"{n:09}": {str(doc): value for doc, value in own.tolist()} for n, own in enumerate(arrays)}


def _sorted(own: Mapping[str, float]) -> Mapping[str, float]:
    """Return the documents of a query in the order of ranx, if scores tie: those of a dict are sorted ascending."""
    try:
        docs, scores = list(own), list(own.values())
        if len(set(scores)) < len(scores):
            return {docs[n]: scores[n] for n in reversed(order_of(scores))}
    except (AttributeError, TypeError):  # no dict, or no numbers: refused where they are read
        pass
    return own


def _different_queries(qrels: Nested, run: Nested) -> DataError:
    lacking, more = sorted(qrels.keys() - run.keys()), sorted(run.keys() - qrels.keys())
    parts = [
        f"{what} {format_count(len(ids), 'query', 'queries')} ({format_list([*map(repr, ids)])})"
        for what, ids in (("the run lacks", lacking), ("the qrels lack", more))
        if ids
    ]
    return DataError(
        " and ".join(parts),
        hint="make_comparable=True counts the first as empty and leaves the others out",
    )


def compare(  # noqa: PLR0917 - ranx's order of arguments
    qrels: Any,  # noqa: ANN401 - a dict, or an object of ranx
    runs: Sequence[Any],
    metrics: str | Sequence[str],
    stat_test: str = "student",
    n_permutations: int = 10_000,
    max_p: float = 0.01,
    random_seed: int = 42,
    *,
    ties: str | None = None,
) -> Comparison:
    """Compare runs by pairs.

    Parameters
    ----------
    qrels : dict of dict or ranx.Qrels
    runs : sequence of dict of dict or ranx.Run
        A dict goes by the name ``run_1``, ``run_2``, and so on.
    metrics : str or sequence of str
        All but rbp.
    stat_test : {"student", "fisher", "tukey"}, default "student"
    n_permutations : int, default 10,000
    max_p : float, default 0.01
        Level of significance.
    random_seed : int, default 42
    ties : str, optional
        As for :func:`evaluate`.

    Returns
    -------
    Comparison
        That of :func:`deadheat.compare`: it prints as a table, and says what ties could make of every difference.

    Raises
    ------
    ParameterError
        The test is unknown.

    Examples
    --------
    >>> qrels = {f"q{n}": {"a": 1} for n in range(9)}
    >>> good, tied = ({f"q{n}": {"a": score, "b": 1} for n in range(9)} for score in (2, 1))
    >>> (pair,) = compare(qrels, [tied, good], "mrr", stat_test="fisher", ties="expected").pairs
    >>> pair.baseline, pair.system, pair.difference
    ('run_1', 'run_2', 0.25)
    """
    check_choice("stat_test", stat_test.lower(), TESTS)
    judged = _dicts(qrels, "qrels")
    chosen = _metrics(judged, metrics).values()
    if any(factor != 1.0 for _, factor in chosen):
        raise ParameterError("has rbp, which deadheat compares as RBP", argument="metrics", hint="use deadheat.compare")
    named = name_items(
        (getattr(run, "name", None) or f"run_{n}", _dicts(run, "run", sort=not is_chosen(ties)))
        for n, run in enumerate(runs, 1)
    )
    return comparing.compare(
        judged,
        named,
        [measure for measure, _ in chosen],
        test=TESTS[stat_test.lower()],
        n_resamples=n_permutations,
        confidence_level=1 - max_p,
        rng=random_seed,
        ties=tie_policy(ties, "input"),
        missing="empty",
    )


def fuse(
    runs: Sequence[Any],
    norm: str | None = "min-max",
    method: str = "wsum",
    params: Mapping[str, Any] | None = None,
    *,
    ties: str | None = None,
) -> Run:
    """Fuse runs by ranx's names, with its order of ties; condorcet and w_condorcet count wins (see `deadheat.fuse`).

    Parameters
    ----------
    runs : sequence of dict of dict or ranx.Run
        Two or more. A query that one of them lacks is fused from the others, where ranx stops.
    norm : {"min-max", "min-max-inverted", "max", "sum", "zmuv", "rank", "borda"}, default "min-max"
        None for none. Methods that look at ranks alone ignore it.
    method : str, default "wsum"
        As of `deadheat.fuse`.
    params : dict, optional
        As of ranx, such as ``{"weights": [0.3, 0.7]}``, or what `optimize_fusion` returns.
    ties : {"expected", "doc_id", "input"}, optional
        By default ``DEADHEAT_TIES`` in the environment, else the order that ranx has.

    Returns
    -------
    Run

    Examples
    --------
    >>> bm25, dense = {"q": {"x": 1, "y": 1, "z": 0}}, {"q": {"z": 2, "x": 1}}
    >>> fuse([bm25, dense], params={"weights": [0.3, 0.7]}).to_dict()
    {'q': {'z': 0.7, 'x': 0.3, 'y': 0.3}}
    """
    fusion = hooks.service("fusion")
    given, scale = _runs_to_fuse(runs, norm, ties)
    setting = {key: value for key, value in (params or {}).items() if key not in TRAINED}
    learned = None
    for key in TRAINED:
        if key in (params or {}):
            learned = [_learned_of(method, own) for own in (params or {})[key]]
    if learned and method == "probfuse":
        setting["n_segments"] = len(learned[0])
    norm = scale if fusion.looks_at_scores(method) else None
    (fused,) = fusion.fuse_settings(
        given, method, [setting], norm=norm, ties=tie_policy(ties, "input"), learned=learned
    )
    return _in_ranx_order(fused)


def optimize_fusion(  # noqa: PLR0917 - ranx's order of arguments
    qrels: Any,  # noqa: ANN401 - a dict, or an object of ranx
    runs: Sequence[Any],
    norm: str | None = "min-max",
    method: str = "wsum",
    metric: str = "ndcg",
    return_optimization_report: bool = False,  # noqa: FBT001, FBT002 - as ranx has it
    *,
    ties: str | None = None,
    **kwargs: Any,  # noqa: ANN401 - of the method
) -> Any:  # noqa: ANN401 - a dict, or with a report
    """Return the parameters that are best on the very queries they are judged by; `deadheat.tune_fusion` holds out.

    Parameters
    ----------
    qrels : dict of dict or ranx.Qrels
    runs, norm, method, ties
        As for :func:`fuse`.
    metric : str, default "ndcg"
    return_optimization_report : bool, default False
        Whether to return the value of each setting, too.
    **kwargs
        Of ranx: ``step``, ``min_k``, ``max_k`` and so on.

    Returns
    -------
    dict, or dict and dict of str to float
        Of equal settings the last, as in ranx. What methods learned has ranx's form.

    Examples
    --------
    >>> qrels = {"q1": {"x": 1}, "q2": {"z": 1}}
    >>> good, bad = ({query: {"x": s, "z": 1 - s} for query in qrels} for s in (0.9, 0.5))
    >>> optimize_fusion(qrels, [good, bad], method="wsum", metric="mrr")
    {'weights': (1.0, 0.0)}
    """
    fusion = hooks.service("fusion")
    judged = _dicts(qrels, "qrels")
    given, scale = _runs_to_fuse(runs, norm, ties)
    policy = tie_policy(ties, "input")
    scale = scale if fusion.looks_at_scores(method) else None
    trials = _trials_of(method, len(given), kwargs)
    best: dict[str, Any] = {}
    best_value = 0.0
    values: dict[str, float] = {}
    for trial in trials:
        setting, learned = trial, None
        params = dict(trial)
        if method in LEARNED:
            learned = fusion.learn(given, method, Qrels(judged), norm=scale, ties=policy, parameters=_but(trial, "w"))
            params = {LEARNED[method]: [_as_ranx(method, own) for own in learned], **_but(trial, "n_segments")}
        (fused,) = fusion.fuse_settings(given, method, [setting], norm=scale, ties=policy, learned=learned)
        value = evaluate(judged, _in_ranx_order(fused), metric, ties=ties, make_comparable=True)
        values[str(next(iter(trial.values()), method))] = value
        if value >= best_value:
            best_value, best = value, params
    return (best, values) if return_optimization_report else best


LEARNED = {
    "mapfuse": "map_scores",
    "bayesfuse": "log_odds",
    "posfuse": "probs",
    "probfuse": "probs",
    "segfuse": "probs",
    "slidefuse": "probs",
}
TRAINED = ("map_scores", "log_odds", "probs")
BAYES_BOUNDS = (0, 5, 10, 15, 20, 30, 100, 200, 500, 1000)
RANGES = {  # what ranx tries of a parameter: the first, the last, the step
    "rrf": ("k", 10, 100, 10),
    "gmnz": ("gamma", 0.01, 1.0, 0.01),
    "logn_isr": ("sigma", 0.01, 1.0, 0.01),
    "rbc": ("phi", 0.01, 1.0, 0.01),
    "probfuse": ("n_segments", 1, 100, 1),
    "slidefuse": ("w", 1, 100, 1),
}


def _runs_to_fuse(runs: Sequence[Any], norm: str | None, ties: str | None) -> tuple[list[Run], str | None]:
    """Return the runs in ranx's order, and the normalization by our name: an inverted one has scores negated."""
    found = []
    for number, run in enumerate(runs, 1):
        own = _dicts(run, "run")
        if not is_chosen(ties) and not hasattr(run, "to_dict"):
            own = {query: _ranked(of) for query, of in own.items()}
        if norm in {"min-max-inverted", "min_max_inverted"}:
            own = {query: {doc: -score for doc, score in reversed(list(of.items()))} for query, of in own.items()}
        found.append(Run(own, name=getattr(run, "name", None) or f"run_{number}"))
    names = {"min_max": "min-max", "min_max_inverted": "min-max", "min-max-inverted": "min-max"}
    return found, norm if norm is None else names.get(norm, norm)


def _in_ranx_order(fused: Run) -> Run:
    """Return a fused run sorted as ranx sorts it, equal scores in the order that its sort leaves them in."""
    return Run({query: _ranked(own) for query, own in fused.to_dict().items()}, name=fused.name)


def _ranked(own: Mapping[str, float]) -> dict[str, float]:
    """Return the documents of a query as a `ranx.Run` sorts them."""
    docs, scores = list(own), list(own.values())
    return {docs[place]: scores[place] for place in order_of([-score for score in scores])}


def _trials_of(method: str, n_runs: int, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the settings that ranx tries."""
    if method in RANGES:
        name, low, high, step = RANGES[method]
        low, high = given.get(f"min_{name}", low), given.get(f"max_{name}", high)
        step = given.get("step", step)
        digits = 0 if float(step).is_integer() else len(str(step).partition(".")[2])
        values = [round(float(value), digits) for value in np.arange(low, high + step / 2, step)]
        return [{name: int(value) if digits == 0 else value} for value in values]
    if method in LEARNED:
        return [{}]
    step = given.get("step", 0.1)
    n_steps = round(1 / step)
    parts = itertools.product(range(n_steps + 1), repeat=n_runs)
    return [{"weights": tuple(part / n_steps for part in one)} for one in parts if sum(one) == n_steps]


def _but(setting: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a setting without one parameter."""
    return {key: value for key, value in setting.items() if key != name}


def _learned_of(method: str, own: Any) -> FloatArray:  # noqa: ANN401 - of ranx
    """Return what ranx learned of a run as deadheat has it."""
    values = np.atleast_1d(np.asarray(own, np.float64))
    return values[list(BAYES_BOUNDS[:-1])] if method == "bayesfuse" else values


def _as_ranx(method: str, own: FloatArray) -> Any:  # noqa: ANN401 - as ranx has it
    """Return what was learned of a run as ranx has it."""
    if method == "mapfuse":
        return float(own[0])
    return np.repeat(own, np.diff(BAYES_BOUNDS)) if method == "bayesfuse" else own
