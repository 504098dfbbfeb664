"""What the replacements share: the tie policy, judgments made ready once, runs as dicts, values by query.

And a tally of how many values the order of ties could change, while other tools compute them by their own rules.
"""

import atexit
import os
import sys
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from itertools import repeat
from typing import Any, Generic, TypeVar

import numpy as np
import polars as pl

from deadheat.core.checks import check_choice
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.errors import DeadheatError, DeadheatWarning, SourceTypeError
from deadheat.core.io.ids import check_ids
from deadheat.core.io.nested import Nested, check_mapping, read_numbers
from deadheat.core.measures import Measure
from deadheat.core.placements import policies
from deadheat.core.placements.place import choose_engine
from deadheat.core.placements.placements import Placements
from deadheat.core.placements.shorter_lists import condense
from deadheat.core.scalars import NOISE
from deadheat.core.settings import TIES
from deadheat.core.wording import format_count

VARIABLE = "DEADHEAT_TIES"
OF_TREC_EVAL = "doc_id"
Key = TypeVar("Key", bound=Hashable)


def is_chosen(given: str | None = None) -> bool:
    """Return whether a tie policy was given, or is in the environment."""
    return bool(given or os.environ.get(VARIABLE))


def tie_policy(given: str | None, default: str) -> str:
    """Return the tie policy: what was given, else ``DEADHEAT_TIES`` in the environment, else the default of the tool.

    Parameters
    ----------
    given : str, optional
    default : str

    Raises
    ------
    ParameterError
        There is no such policy.
    """
    chosen = given or os.environ.get(VARIABLE) or default
    check_choice("ties" if given else f"{VARIABLE} in the environment", chosen, TIES)
    return chosen


class Evaluator(Generic[Key]):
    """Values of runs against the same judgments.

    Parameters
    ----------
    qrels : mapping of mapping
    named : mapping of key to Measure
        The measures by what the values are called; None for a value that is always 0.
    ties : str
        A tie policy.
    judged_only : bool
        Whether unjudged documents are taken out of the runs first.
    subtopics : polars.DataFrame, optional
        Of the judgments, as `Qrels.subtopics`.
    """

    def __init__(
        self,
        qrels: Nested,
        named: Mapping[Key, Measure | None],
        *,
        ties: str,
        judged_only: bool,
        subtopics: pl.DataFrame | None = None,
    ) -> None:
        self._named, self._ties, self._judged_only, self._subtopics = named, ties, judged_only, subtopics
        is_empty = hasattr(qrels, "values") and all(own == {} for own in qrels.values())
        self._judged: Nested = {} if is_empty else _checked_judgments(qrels)
        self._max_relevance = max((max(own.values()) for own in self._judged.values()), default=0.0)

    def by_query(self, run: Nested) -> dict[str, dict[Key, float]]:
        """Return ``{query: {key: value}}`` of the queries of a run that have judgments, in its order."""
        queries = self._common(run)
        if not queries:
            return {}
        placements = self._place(run, queries, self._ties)
        zeros = [0.0] * len(queries)
        values = [zeros if one is None else one.mean(placements).tolist() for one in self._named.values()]
        rows: Iterable[tuple[float, ...]] = zip(*values, strict=True) if values else repeat((), len(queries))
        of_queries: Iterable[dict[Key, float]] = map(dict, map(zip, repeat(tuple(self._named)), rows))
        found = dict(zip(placements.query_ids.tolist(), of_queries, strict=True))
        return found if list(found) == queries else {query: found[query] for query in queries}

    def count(self, run: Nested) -> tuple[int, int]:
        """Return how many values a run has, and how many of them the order of its ties could change."""
        measures = [one for one in self._named.values() if one is not None]
        queries = self._common(run)
        if not queries:
            return 0, 0
        placements = self._place(run, queries, "expected")
        has_ties = np.bincount(placements.query[placements.tied > 1], minlength=placements.n_queries) > 0
        extremes = [one.extremes(placements.select(has_ties)) for one in measures] if has_ties.any() else []
        return len(queries) * len(measures), sum(int((high - low > NOISE).sum()) for low, high in extremes)

    def _common(self, run: Nested) -> list[str]:
        """Return the queries of a run that have judgments, in the order of the run."""
        _check_is_mapping(run, "score")
        queries = [query for query in run if query in self._judged]
        if len(queries) < len(run):
            check_ids([query for query in run if query not in self._judged], "run")
        return queries

    def _place(self, run: Nested, queries: list[str], ties: str) -> Placements:
        """Return the placements of some queries after a tie policy; trec_eval's looks at 32 bits of a score."""
        held = {query: run[query] for query in queries if run[query]}
        of_queries: list[object] = list(held.values())
        # numbers are no ids here, as in pytrec_eval; a mix of both is refused with the ids of all documents
        check_ids([next(iter(own)) for own in of_queries if isinstance(own, Mapping)], "run")
        held = check_mapping(held, "run", "run") if held else {}
        qrels = Qrels.of_checked({query: self._judged[query] for query in queries}, "qrels")
        qrels.subtopics = self._subtopics
        retrieved = Run.of_checked({query: held.get(query, {}) for query in queries}, "run")
        with warnings.catch_warnings(action="ignore", category=DeadheatWarning):  # pytrec_eval does not warn either
            engine = choose_engine(qrels, retrieved, "float32" if ties == OF_TREC_EVAL else None)
        placements = policies.apply(replace(engine.place(), max_relevance=self._max_relevance), ties, engine=engine)
        return condense(placements) if self._judged_only else placements


def _checked_judgments(qrels: Nested) -> dict[str, Mapping[str, float]]:
    """Return judgments that are checked once, without queries that have none."""
    _check_is_mapping(qrels, "relevance")
    mapping = {query: own for query, own in check_mapping(qrels, "qrels", "qrels").items() if own}
    firsts = [next(iter(own)) for own in qrels.values() if own]
    check_ids([*qrels, *firsts], "qrels")  # numbers are no ids here, as in pytrec_eval
    read_numbers(mapping, list(mapping), "qrels", "qrels")
    return mapping


def _check_is_mapping(source: object, value: str) -> None:
    if not isinstance(source, Mapping):
        raise SourceTypeError(
            found=f"{source!r:.80} ({type(source).__name__})",
            allowed=f"a dict of dicts {{query: {{document: {value}}}}}",
        )


class Tally:
    """Counts values since the switch, and says in one line how many of them ties could change.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.n_values, tally.n_open, tally.n_unknown = 40, 12, 0
    >>> tally.sentence()
    'ties could change 12 of 40 values; DEADHEAT_TIES=expected shows the exact means over their orders'
    """

    def __init__(self) -> None:
        self._is_on = False
        self.n_values = self.n_open = self.n_unknown = 0

    def start(self) -> None:
        """Count from now on, and say it at the end of the program; in a notebook, after each cell."""
        if self._is_on:
            return
        self._is_on = True
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        if shell is None:
            atexit.register(self.say)
        else:
            shell.events.register("post_run_cell", lambda _result: self.say())

    def add(self, evaluate: Callable[[], tuple[Iterable[Evaluator[Any]], Nested]]) -> None:
        """Count the values of a run, if the tally was started.

        Parameters
        ----------
        evaluate : callable
            Returns what evaluates, and the run.
        """
        if not self._is_on:
            return
        try:
            with warnings.catch_warnings(action="ignore"):  # the program did not ask deadheat to look at its data
                evaluators, run = evaluate()
                counts = [evaluator.count(run) for evaluator in evaluators]
        except DeadheatError:  # data that the tool takes and deadheat refuses
            self.n_unknown += 1
        else:
            self.n_values += sum(n_values for n_values, _ in counts)
            self.n_open += sum(n_open for _, n_open in counts)

    def say(self) -> None:
        """Write the line on standard error, if there is something to say, and count from 0 again."""
        if self.n_values or self.n_unknown:
            sys.stderr.write(f"deadheat: {self.sentence()}\n")
        self.n_values = self.n_open = self.n_unknown = 0

    def sentence(self) -> str:
        """Say how many values ties could change, and what shows it."""
        how = f"; {VARIABLE}=expected shows the exact means over their orders" if self.n_open else ""
        doubt = f"; of {format_count(self.n_unknown, 'evaluation')} it is unknown" if self.n_unknown else ""
        return f"ties could change {self.n_open:,} of {format_count(self.n_values, 'value')}{how}{doubt}"


TALLY = Tally()
