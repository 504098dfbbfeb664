"""From qrels and a run to placements: by relational steps over frames, or by look-ups in a dict of dicts."""

from __future__ import annotations

import math
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from deadheat.data.blocks import find_judged
from deadheat.data.precision import round_scores
from deadheat.data.tables import Qrels, Run
from deadheat.errors import NoCommonQueryError, ParameterError
from deadheat.io.guarding import guarded
from deadheat.io.mappings import check_ids
from deadheat.placements.counting import count
from deadheat.placements.placements import sort_rows
from deadheat.wording import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deadheat.arrays import BoolArray
    from deadheat.data.blocks import Blocks
    from deadheat.data.precision import ScorePrecision
    from deadheat.data.tables import Source
    from deadheat.io.mappings import Nested
    from deadheat.placements.placements import Placements

PLANS = ("count", "window")


def place(
    qrels: Source,
    run: Source,
    *,
    score_precision: ScorePrecision = None,
    check_duplicates: bool = True,
    plan: str | None = None,
) -> Placements:
    """Reduce a run to the placements of its judged documents.

    Parameters
    ----------
    qrels, run : path, dict of dict, tuples, dataframe, Qrels or Run
    score_precision : {"float32", "float16", "bfloat16"} or int, optional
        Round all scores first, to a floating-point format or to so many decimals.
    check_duplicates : bool, default True
        Whether a (query, document) pair that stands twice is looked for. Without it the result is undefined for
        such data.
    plan : {"count", "window"}, optional
        The relational plan; by default the faster one for this data. Both give the same placements. A dict of
        dicts needs none.

    Returns
    -------
    Placements

    Raises
    ------
    DataError
        Of its subclasses the one that says what is wrong with the data.

    Examples
    --------
    >>> place({"q1": {"d2": 1}}, {"q1": {"d1": 0.9, "d2": 0.5, "d3": 0.5}}).to_polars().row(0)
    ('q1', 'd2', 1.0, 1, 2)
    """
    if plan is not None and plan not in PLANS:
        raise ParameterError(
            argument="plan", given=plan, allowed="'count', 'window' or None", hint=did_you_mean(str(plan), PLANS)
        )
    qrels, run = open_pair(qrels, run, check_duplicates=check_duplicates)
    if run.mapping is not None:
        return _place_mapping(qrels, run, score_precision)
    return _place_frames(qrels, rounded(run, score_precision), plan)


def open_pair(qrels: Source, run: Source, *, check_duplicates: bool) -> tuple[Qrels, Run]:
    """Read both sources and check what does not need them together."""
    qrels, run = Qrels.of(qrels), Run.of(run)
    if check_duplicates:
        qrels.check_duplicates()
        run.check_duplicates()
    return qrels, run


def rounded(run: Run, precision: ScorePrecision) -> Run:
    """Return the run with its scores rounded; the rows of any engine go to Polars for it."""
    if precision is None:
        return run
    frame = run.to_polars()
    scores = round_scores(frame["score"].to_numpy(), precision)
    return Run(frame.with_columns(score=pl.Series(scores)), name=run.name)


def _place_frames(qrels: Qrels, run: Run, plan: str | None) -> Placements:
    with guarded(run.where):
        if run.blocks and plan is None:
            return _place_blocks(qrels, run, run.blocks)
        return _place_relations(qrels, run, plan)


def _place_relations(qrels: Qrels, run: Run, plan: str | None) -> Placements:
    """Join and count where the rows are, in any order and any engine."""
    import narwhals as nw

    from deadheat.io.frames import collect
    from deadheat.placements import relational

    judged, retrieved = relational.same_engine(qrels, run)
    counts = relational.count_retrieved(retrieved)
    lazy = relational.find_judged(judged, retrieved)
    found = collect(lazy)
    levels = found.select("query_id", "score").unique()
    plan = plan or relational.choose_plan(levels, counts)
    # Another engine cannot always take a frame of ours: there the levels are found again.
    in_polars = retrieved.implementation.is_polars()
    in_engine = nw.from_native(levels.lazy()) if in_polars else lazy.select("query_id", "score").unique()
    places = (relational.count_plan if plan == "count" else relational.window_plan)(retrieved, in_engine)
    return _coded(qrels, run, counts, found.join(places, on=["query_id", "score"], how="left"))


def _place_blocks(qrels: Qrels, run: Run, blocks: Blocks) -> Placements:
    """Count within each query's rows in memory."""
    found = find_judged(qrels.to_polars(), blocks)
    rows, scores = found["row"].to_numpy(), blocks.frame["score"].to_numpy()
    block = np.searchsorted(blocks.bounds, rows, side="right") - 1
    above, tied, ends_in_tie = count(scores, blocks.bounds, block, scores[rows])
    sizes = np.diff(blocks.bounds)
    counts = pl.DataFrame({"query_id": blocks.query_ids, "n_retrieved": sizes, "ends_in_tie": ends_in_tie})
    return _coded(qrels, run, counts, found.with_columns(above=above, tied=tied))


def _coded(qrels: Qrels, run: Run, counts: pl.DataFrame, rows: pl.DataFrame) -> Placements:
    """Give every query its code, and the columns to NumPy."""
    judgments = qrels.to_polars()
    queries = judgments.select(pl.col("query_id").unique().sort()).with_row_index("code")
    queries = queries.with_columns(pl.col("code").cast(pl.Int64))
    queries = queries.join(counts, on="query_id", how="left", maintain_order="left")
    unjudged = counts.join(queries, on="query_id", how="anti")["query_id"].sort().to_list()
    if not queries["n_retrieved"].count():
        raise no_common_query(qrels, run, queries["query_id"].to_list(), unjudged)
    codes = queries.select("query_id", "code")
    # other engines are not asked for it: it would be another pass over all rows
    ends_in_tie = queries["ends_in_tie"].fill_null(value=False).to_numpy() if "ends_in_tie" in counts else None
    rows, judgments = rows.join(codes, on="query_id"), judgments.join(codes, on="query_id")
    return sort_rows(
        np.array(queries["query_id"].to_list(), dtype=object),
        queries["n_retrieved"].fill_null(0).cast(pl.Int64).to_numpy(),
        judged_query=judgments["code"].to_numpy(),
        judged_relevance=judgments["relevance"].to_numpy(),
        rows=(
            rows["code"].to_numpy(),
            np.array(rows["doc_id"].to_list(), dtype=object),
            rows["relevance"].to_numpy(),
            rows["above"].cast(pl.Int64).to_numpy(),
            rows["tied"].cast(pl.Int64).to_numpy(),
        ),
        unjudged_queries=tuple(unjudged),
        ends_in_tie=ends_in_tie,
    )


def _place_mapping(qrels: Qrels, run: Run, precision: ScorePrecision) -> Placements:
    """Look the judged documents up and count scores: no frame of all rows is built."""
    if qrels.mapping is None:
        qrels = Qrels(qrels.to_dict(), name=qrels.where)
    judgments, retrieved = qrels.mapping or {}, run.mapping or {}
    query_ids = sorted(judgments)
    unjudged = sorted(retrieved.keys() - judgments.keys())
    if len(unjudged) == len(retrieved):
        raise no_common_query(qrels, run, query_ids, unjudged)
    run.all_numbers(unjudged)  # what cannot be evaluated is refused there too, as in a frame
    scores = run.all_numbers([query for query in query_ids if query in retrieved])
    looked_up: list[float] = []
    for query in query_ids:
        looked_up += map(retrieved.get(query, {}).get, judgments[query], repeat(math.nan))  # which no score is
    own = np.array(looked_up, np.float64)
    is_found = ~np.isnan(own)
    _check_ids_where_some_are_lacking(run, query_ids, judgments, is_found)
    n_judged, n_retrieved = (np.array([len(of.get(query, ())) for query in query_ids]) for of in (judgments, retrieved))
    code = np.repeat(np.arange(len(query_ids)), n_judged)
    doc_ids = np.array(list(chain.from_iterable(judgments[query] for query in query_ids)), dtype=object)
    relevance = qrels.all_numbers(query_ids)
    above, tied, ends_in_tie = count(
        round_scores(scores, precision),
        np.append(0, np.cumsum(n_retrieved)),
        code[is_found],
        round_scores(own[is_found], precision),
    )
    return sort_rows(
        np.array(query_ids, dtype=object),
        n_retrieved,
        judged_query=code,
        judged_relevance=relevance,
        rows=(code[is_found], doc_ids[is_found], relevance[is_found], above, tied),
        unjudged_queries=tuple(unjudged),
        ends_in_tie=ends_in_tie,
    )


def _check_ids_where_some_are_lacking(run: Run, query_ids: list[str], judgments: Nested, is_found: BoolArray) -> None:
    """Refuse retrieved ids that are no text: 10 is not "10", and what was judged would be missed in silence.

    To look at the ids of all queries would take as long as the rest.
    """
    ends = np.cumsum([len(judgments[query]) for query in query_ids])
    for number in sorted({*np.searchsorted(ends, np.flatnonzero(~is_found), side="right").tolist()}):
        check_ids(list((run.mapping or {}).get(query_ids[number], ())), run.where)


def no_common_query(qrels: Qrels, run: Run, judged: Sequence[str], retrieved: Sequence[str]) -> NoCommonQueryError:
    """Return the error that shows ids of both sides."""

    def three(ids: Sequence[str]) -> str:
        rest = len(ids) - 3
        return ", ".join(map(repr, islice(ids, 3))) + (f" and {rest:,} more" if rest > 0 else "")

    message = (
        f"qrels and run share no query: {qrels.where} has {three(judged)}; {run.where} has {three(retrieved)}."
        " Are they of the same collection, and are the ids written alike?"
    )
    return NoCommonQueryError(message)
