"""The report of coarser scores: what they cost, and what their ties decide."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from deadheat.evaluation.evaluation import Evaluation
from deadheat.report.conventions import COUNTED, LEFT_OUT, named, nothing_judged, of_runs, without_relevant
from deadheat.report.model import MEASURE, Cell, Column, Fact, Report, Row, Share, Table
from deadheat.simulation.coarse_profile import CoarseningProfile, CoarsePair, CoarseScores
from deadheat.wording import BY_DOC_ID, counted

RUN, SCORES = Column("run", "run"), Column("scores", "scores")
COLUMNS = (
    Column("n_queries", "queries", is_data=True),
    Column("n_distinct", "distinct", spare=6),
    Column("share_tied", "tied"),
    Column("value", "exact"),
    Column("tie_std", "tie std", spare=5),
    Column("tie_min", "tie min", spare=2),
    Column("tie_max", "tie max", spare=2),
    Column("doc_id", BY_DOC_ID, spare=4),
    Column("original", "original", is_data=True),
    Column("error", "error"),
    Column("change", "change", spare=3),
)
WRONG = Column("wrong_winner", "wrong winner")
PAIR = (
    Column("original", "difference as given"),
    Column("difference", "difference"),
    Column("wrong_winner", "wrong winner"),
    Column("no_winner", "no winner"),
    Column("method", "method", is_detail=True),
    Column("standard_error", "error", is_detail=True),
)
OF_ERROR = (
    f"exact: mean over all orders of the ties. error: the value with ties broken {BY_DOC_ID}, less the exact value of"
    " the scores as given. change: the exact value less that one."
)
OF_WINNER = (
    " wrong winner: the probability that ties broken at random put the run on the wrong side of another one, the"
    " highest over the others; the winner is that of the exact values of the scores as given. Whether these differ by"
    " more than chance, deadheat compare says."
)


def report_coarsening(found: CoarseningProfile, *, for_people: bool = True) -> Report:
    """Return the report of runs with coarser scores.

    Parameters
    ----------
    found : CoarseningProfile
    for_people : bool, default True
        Without the table of all pairs, and without the name of a single run beside each row.
    """
    runs = list(dict.fromkeys(row.run for row in found.rows))
    is_single = len(runs) == 1
    tables = [_scores(found.rows, has_run=not (is_single and for_people), has_winner=bool(found.pairs))]
    if found.pairs and not for_people:
        tables.append(_pairs(found.pairs))
    whose = runs[0] if is_single else counted(len(runs), "run")
    heading = f"{whose} with coarser scores: {counted(found.n_queries, 'query', 'queries')}"
    closing = OF_ERROR + (OF_WINNER if found.pairs else "")
    return Report(tuple(tables), tuple(_facts(found)), heading=heading, closing=closing, subject=found)


def _scores(rows: Sequence[CoarseScores], *, has_run: bool, has_winner: bool) -> Table:
    n_runs = len({row.run for row in rows})
    # of two runs, the other one is the rival
    rival = Column("rival", "against", is_data=n_runs < 3, spare=1)
    columns = (*COLUMNS, *((WRONG, rival) if has_winner else ()))
    of_pairs = {"wrong_winner"}
    listed = tuple(
        Row(
            (row.measure, row.run, row.scores) if has_run else (row.measure, row.scores),
            (tuple(_cell(row, column.key, of_pairs) for column in columns),),
        )
        for row in rows
    )
    labels = (MEASURE, RUN, SCORES) if has_run else (MEASURE, SCORES)
    return Table("scores", labels, columns, listed, main=3, has_blocks=True)


def _pairs(pairs: Sequence[CoarsePair]) -> Table:
    labels = (MEASURE, Column("system", "system"), Column("baseline", "baseline"), SCORES)
    rows = tuple(
        Row(
            (pair.measure, pair.system, pair.baseline, pair.scores),
            (tuple(_cell(pair, column.key, {"wrong_winner", "no_winner"}) for column in PAIR),),
        )
        for pair in pairs
    )
    return Table("pairs", labels, PAIR, rows, title="The winner of each pair")


def _cell(row: CoarseScores | CoarsePair, key: str, of_pairs: set[str]) -> Cell:
    value: Cell = getattr(row, key)
    if key == "share_tied" or (key in of_pairs and isinstance(value, float) and not math.isnan(value)):
        return Share(value)  # type: ignore[arg-type]  # a number
    return value


def _facts(found: CoarseningProfile) -> Iterator[Fact]:
    yield Fact("n_queries", found.n_queries)
    text = "between the lowest and the highest score of each query" if found.per_query else ""
    yield Fact("per_query", found.per_query, "levels", text)
    evaluations = list(found.evaluations.values())
    for one in evaluations:
        if not len(one.placements.query):
            yield Fact("nothing_judged", one.name, "WARNING", nothing_judged(one.name), is_warning=True)
    yield from _not_shared(evaluations)
    yield from without_relevant(evaluations)
    yield from of_runs(evaluations)
    if totals := [str(one) for one in evaluations[0].measures if one.total]:
        yield Fact("", None, "counts", f"{', '.join(totals)}: means over queries")
    if found.pairs and any(math.isnan(row.wrong_winner) for row in found.rows):
        yield Fact("", None, "winner", "-: the exact values of the scores as given are equal, so that neither wins")
    n_sampled = sum(pair.method == "sampled" for pair in found.pairs)
    if n_sampled:
        most = max(pair.standard_error for pair in found.pairs if pair.method == "sampled")
        text = (
            f"{n_sampled} of {counted(len(found.pairs), 'pair')} from drawn orders, standard error at most {most:.1%}"
        )
        yield Fact("", None, "wrong winner", text)


def _not_shared(evaluations: Sequence[Evaluation]) -> Iterator[Fact]:
    """Name the queries that only the qrels or only a run has, and say how they count."""
    effect = COUNTED[evaluations[0].conventions.missing]
    for key, heading, what in (
        ("missing_queries", "missing queries", effect),
        ("unjudged_queries", "unjudged queries", LEFT_OUT),
    ):
        ids = {one.name: getattr(one, key) for one in evaluations}
        told = [f"{name}: {named(own)}" for name, own in ids.items() if own]
        yield Fact(
            key, {name: list(own) for name, own in ids.items()}, heading, f"{'; '.join(told)}, {what}" if told else ""
        )
