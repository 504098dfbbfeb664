"""pytrec_eval, computed by deadheat: ``import deadheat.compat.pytrec_eval as pytrec_eval``.

Every value is that of pytrec_eval, ties broken by document id, as trec_eval. ``ties="expected"``, or
``DEADHEAT_TIES=expected`` in the environment, gives exact means over the orders of the ties instead.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from deadheat.core.errors import DuplicateError, ParameterError
from deadheat.core.io.formats.trec import read_lines
from deadheat.core.io.kinds import VALUE_COLUMN, Kind
from deadheat.core.measures import Measure
from deadheat.plugins.compat.evaluating import OF_TREC_EVAL, TALLY, Evaluator, is_chosen, tie_policy
from deadheat.plugins.compat.trec_measures import NICKNAMES, list_members, list_printed_values, parse_requests

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]
__version__ = "0.5.11"  # of pytrec_eval-terrier, whose interface this is; ir_measures asks for one

supported_measures = set(list_members("all_trec"))
supported_nicknames = {nickname: set(list_members(nickname)) for nickname in NICKNAMES}


class RelevanceEvaluator:
    """Evaluates runs against the same judgments; the work on these is done once.

    Parameters
    ----------
    query_relevance : dict of dict
        ``{query: {document: relevance}}``.
    measures : iterable of str
        trec_eval's names: ``"map"``, ``"ndcg_cut.5,10"`` or ``"ndcg_cut_10"``, and nicknames such as ``"official"``.
    relevance_level : int, default 1
        Lowest relevance that counts as relevant.
    judged_docs_only_flag : bool, default False
        Whether documents without a judgment are taken out of the runs first.
    ties : str, optional
        By default ``DEADHEAT_TIES`` in the environment, else ``"doc_id"``: by document id, as trec_eval, with its 32
        bits of a score. Under any other policy of :func:`deadheat.evaluate` all bits count.

    Raises
    ------
    DataError, SourceTypeError
        The judgments cannot be used.
    MeasureError
        There is no such measure.

    Examples
    --------
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}
    >>> RelevanceEvaluator(qrels, {"map", "P.1"}).evaluate(run)
    {'q': {'map': 0.5, 'P_1': 0.0}}
    >>> RelevanceEvaluator(qrels, {"map", "P.1"}, ties="expected").evaluate(run)
    {'q': {'map': 0.75, 'P_1': 0.5}}
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, float]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,  # noqa: FBT001, FBT002 - as pytrec_eval has it
        *,
        ties: str | None = None,
    ) -> None:
        if relevance_level < 1:
            raise ParameterError(argument="relevance_level", given=relevance_level, allowed="a number from 1 on")
        if isinstance(measures, str):
            measures = [measures]
        measures_by_name: dict[str, Measure | None] = {}
        for value in list_printed_values(parse_requests(measures), relevance_level):
            # parameters that together make one value are not named
            name = value.name if value.trec_measure.has_values else value.trec_measure.name
            measures_by_name[name] = value.measure
        self._is_counted = not is_chosen(ties)
        self._evaluator = Evaluator(
            query_relevance,
            measures_by_name,
            ties=tie_policy(ties, OF_TREC_EVAL),
            judged_only=bool(judged_docs_only_flag),
        )

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Evaluate a run.

        Parameters
        ----------
        scores : dict of dict
            ``{query: {document: score}}``.

        Returns
        -------
        dict of dict
            ``{query: {measure: value}}`` of the queries that have judgments, in the order of `scores`.
        """
        found = self._evaluator.by_query(scores)
        if self._is_counted:
            TALLY.add(lambda: ([self._evaluator], scores))
        return found


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """Return a value for all queries: the sum of counts, the geometric mean of ``gm_``, else the mean.

    Parameters
    ----------
    measure : str
    values : sequence of float
        By query; logarithms for ``gm_``. Of none the mean is NaN.

    Examples
    --------
    >>> compute_aggregated_measure("map", [0.5, 1.0]), compute_aggregated_measure("num_ret", [2, 3])
    (0.75, 5.0)
    """
    total = math.fsum(values)
    if measure.startswith("num_"):
        return total
    mean = total / len(values) if len(values) else math.nan
    return math.exp(mean) if measure.startswith("gm_") else mean


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Read the lines of a TREC run.

    Parameters
    ----------
    f_run : iterable of str
        Such as an open file.

    Raises
    ------
    DataError
        A line is malformed, or a document appears twice for a query.

    Examples
    --------
    >>> parse_run(["q Q0 a 1 0.5 tag"])
    {'q': {'a': 0.5}}
    """
    return _parsed(f_run, "run")


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, float]]:
    """Read the lines of TREC qrels; whole relevances are integers.

    Parameters
    ----------
    f_qrel : iterable of str
        Such as an open file.

    Raises
    ------
    DataError
        A line is malformed, or a document is judged twice for a query.

    Examples
    --------
    >>> parse_qrel(["q 0 a 1"])
    {'q': {'a': 1}}
    """
    parsed = _parsed(f_qrel, "qrels")
    return {
        query: {doc: int(level) if level.is_integer() else level for doc, level in documents.items()}
        for query, documents in parsed.items()
    }


def _parsed(lines: Iterable[str], kind: Kind) -> dict[str, dict[str, float]]:
    text = "".join(line.rstrip("\n") + "\n" for line in lines)
    found: dict[str, dict[str, float]] = {}
    rows = read_lines(text.encode(), kind, Path(kind), 1).select("query_id", "doc_id", VALUE_COLUMN[kind])
    for query, doc, value in rows.iter_rows():
        own = found.setdefault(query, {})
        if doc in own:
            raise DuplicateError(f"document {doc!r} appears twice for query {query!r}; each pair may appear only once")
        own[doc] = value
    return found
