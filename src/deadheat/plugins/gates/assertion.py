"""The assertion of gates in tests: what the fixture ``assert_ranking`` of pytest calls."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deadheat.core.data.sources import Source
    from deadheat.core.evaluation.evaluation import Evaluation
    from deadheat.plugins.gates.baseline import Baseline
    from deadheat.plugins.gates.notation import GateResult, Threshold


def check_ranking(*given: Any, **options: Any) -> GateResult:  # noqa: ANN401 - checked by `evaluate` and `gate`
    """Check a ranking as :func:`deadheat.gate` does; raise `AssertionError` with a table if a gate failed.

    Parameters
    ----------
    *given
        An `Evaluation` and gates; or qrels, a run and gates, of which the measures are evaluated, and those of the
        baseline. Gates may be left out where there is a baseline.
    **options
        Of :func:`deadheat.gate`, such as baseline, no_worse_than, by and queries; with qrels and run also ties,
        missing, no_relevant, score_precision, doc_id_of and duplicates of :func:`deadheat.evaluate`, which takes rng
        as well.

    Returns
    -------
    GateResult
        A pass that proves little, as of a loss that few queries cannot tell from chance, gives a warning.
    """
    __tracebackhide__ = True
    from deadheat.core.errors import DeadheatWarning
    from deadheat.core.evaluation.evaluation import Evaluation
    from deadheat.plugins.gates.baseline import open_baseline
    from deadheat.plugins.gates.gate import gate
    from deadheat.plugins.gates.notation import parse_all

    is_evaluated = bool(given) and isinstance(given[0], Evaluation)
    n_data = 1 if is_evaluated else 2
    if not n_data <= len(given) <= n_data + 1:
        raise TypeError(
            "assert_ranking takes an Evaluation and gates, or qrels, a run and gates, such as"
            f" assert_ranking(qrels, run, 'nDCG@10 >= 0.8'); got {', '.join(type(one).__name__ for one in given)}"
        )
    checks = parse_all(given[n_data] if len(given) > n_data else ())
    baseline = options.pop("baseline", None)
    if baseline is not None and is_evaluated:
        baseline = open_baseline(baseline, given[0].name, given[0])
    elif baseline is not None:
        baseline = open_baseline(baseline, _name_of(given[1]))
    evaluation = given[0] if is_evaluated else _evaluate(given[0], given[1], checks, baseline, options)
    result = gate(evaluation, checks, baseline=baseline, **options)
    if not result.passed:
        from deadheat.core.report.text import as_text
        from deadheat.plugins.gates.report import report_gate

        raise AssertionError(as_text(report_gate(result), width=100).plain)
    if result.proving_little:
        warnings.warn(result.summary, DeadheatWarning, stacklevel=2)
    if result.is_unchanged and result.baseline_file and _is_of_this_commit(baseline.evaluation):
        warnings.warn(
            f"every query has the same value as in the baseline {result.baseline_file}, which is of this commit too: is"
            " it a save of this run itself?",
            DeadheatWarning,
            stacklevel=2,
        )
    return result


def _is_of_this_commit(evaluation: Evaluation) -> bool:
    """Tell whether an evaluation was saved at the commit that is tested now."""
    from deadheat.core.evaluation.origin import Origin

    commit = "" if evaluation.origin is None else evaluation.origin.commit
    return bool(commit) and commit == Origin.here().commit


def _name_of(run: Source) -> str:
    """Return the name that the evaluation of a run has, without reading it: rows of a generator are read once."""
    from deadheat.core.data.run import Run
    from deadheat.core.data.sources import as_path, make_label
    from deadheat.core.evaluation.systems import is_system

    if isinstance(run, Run) or is_system(run):
        return run.name
    path = as_path(run)
    if path is not None:
        return make_label(path)
    return Run.of(run).name if isinstance(run, str) else Run.kind  # a text names data of the catalogue


def _evaluate(
    qrels: Source, run: Source, checks: Sequence[Threshold], baseline: Baseline | None, options: dict[str, Any]
) -> Evaluation:
    """Evaluate the measures that are wanted; take the options of that out of `options`."""
    from deadheat.core.errors import ParameterError
    from deadheat.core.evaluation.evaluate import evaluate
    from deadheat.core.settings import Conventions
    from deadheat.plugins.gates.notation import measures_of

    # a gate counts what a run lacks against it, and its report names it: no warning is needed
    names = [*(one.name for one in fields(Conventions)), "doc_id_of", "duplicates"]
    of_run = {"missing": "empty", **{name: options.pop(name) for name in names if name in options}}
    if "rng" in options:
        of_run["rng"] = options["rng"]  # the intervals of the gates need it too
    measures = measures_of(checks, None if baseline is None else baseline.evaluation)
    if not measures:
        raise ParameterError(
            "nothing to check", hint="give gates, as in assert_ranking(qrels, run, 'nDCG@10 >= 0.8'), or a baseline"
        )
    return evaluate(qrels, run, measures, **of_run)
