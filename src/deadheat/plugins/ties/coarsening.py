"""coarsen(): a run with fewer different scores, as a reranker with few levels or a short number format gives."""

from collections.abc import Collection

import numpy as np
import polars as pl

from deadheat.core.checks import FLOATS, MAX_DECIMALS, as_count, check_choice
from deadheat.core.data.rounding import round_and_warn
from deadheat.core.data.rows import MemoryRows
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.errors import ParameterError
from deadheat.core.scalars import as_integer
from deadheat.core.structures import copy_with
from deadheat.core.wording import format_count

MOST_LEVELS = 2**31
LARGE = 2.0**1022  # two such numbers may differ by more than the largest one


def coarsen(
    run: Source,
    *,
    levels: int | None = None,
    decimals: int | None = None,
    dtype: str | None = None,
    per_query: bool = False,
) -> Run:
    """Return a run whose scores are coarser, so that more of them tie.

    Exactly one of `levels`, `decimals` and `dtype` says how.

    Parameters
    ----------
    run : path, dict, dataframe or Run
    levels : int, optional
        So many intervals of equal width between the lowest and the highest score; all scores of an interval become
        one. The lowest and the highest score stay, the others are spaced equally between them, so that a run with
        this many equally spaced scores does not change. With one level all become the lowest.
    decimals : int, optional
        Decimals to round to, from 0 to 15.
    dtype : {"float32", "float16", "bfloat16"}, optional
        The format of numbers to round to.
    per_query : bool, default False
        Whether the lowest and the highest score are those of each query, not of the run.

    Returns
    -------
    Run
        In memory; its name and its notes say what was done. Infinite scores stay infinite, beyond the levels of the
        others.

    Raises
    ------
    ParameterError
        None of the three is given, or two are; or a number is not allowed.
    DataError
        The run cannot be read.

    Examples
    --------
    >>> run = {"q": {"a": 0.0, "b": 0.3, "c": 0.4, "d": 0.9, "e": 1.0}}
    >>> coarsen(run, levels=3).to_dict()
    {'q': {'a': 0.0, 'b': 0.0, 'c': 0.5, 'd': 1.0, 'e': 1.0}}
    >>> found = coarsen(Run(run, name="fine"), decimals=0)
    >>> found.to_dict()
    {'q': {'a': 0.0, 'b': 0.0, 'c': 0.0, 'd': 1.0, 'e': 1.0}}
    >>> found.name, found.notes
    ('fine, 0 decimals', ('scores coarsened to 0 decimals: 5 different ones became 2',))
    """
    given = {"levels": levels, "decimals": decimals, "dtype": dtype}
    check_one_way([name for name, one in given.items() if one is not None], per_query=per_query)
    check_coarse(levels=levels, decimals=decimals, dtype=dtype)
    table = Run.of(run)
    if table.by_keys is not None:
        raise ParameterError(
            "scores by several keys are ranks, which cannot be coarsened", hint="coarsen each run first"
        )
    frame = table.to_polars()
    done, within = coarse_name(levels, decimals, dtype), " a query" if per_query else ""
    if levels is None:
        precision, how = dtype if decimals is None else decimals, done
        scores = pl.Series("score", round_and_warn(frame["score"].to_numpy(), precision))
    else:
        scores, how = _at_levels(frame, levels, per_query=per_query), f"{done} of equal width{within}"
    before, after = frame["score"].n_unique(), scores.n_unique()
    return copy_with(
        table,
        name=f"{table.name}, {done}{within}",
        rows=MemoryRows(frame.with_columns(scores)),
        notes=(*table.notes, f"scores coarsened to {how}: {before:,} different ones became {after:,}"),
    )


def check_one_way(given: Collection[str], *, per_query: bool) -> None:
    """Raise `ParameterError` unless one of the ways to make scores coarser is given."""
    if len(given) != 1:
        raise ParameterError(
            argument="levels, decimals and dtype",
            found=" and ".join(given) or "none of them",
            allowed="one of them, not the others",
        )
    if per_query and "levels" not in given:
        raise ParameterError("per_query is for levels", found=next(iter(given)))


def check_coarse(*, levels: int | None = None, decimals: int | None = None, dtype: str | None = None) -> None:
    """Raise `ParameterError` for a number of levels or decimals, or a format, that there is not."""
    if levels is not None and as_count("levels", levels) > MOST_LEVELS:
        raise ParameterError(argument="levels", given=levels, allowed=f"at most {MOST_LEVELS:,}")
    if dtype is not None:
        check_choice("dtype", dtype, FLOATS)
    if decimals is not None and as_integer(decimals) not in range(MAX_DECIMALS + 1):
        raise ParameterError(argument="decimals", given=decimals, allowed=f"a whole number from 0 to {MAX_DECIMALS}")


def coarse_name(levels: int | None = None, decimals: int | None = None, dtype: str | None = None) -> str:
    """Return what was done to scores, in words.

    Examples
    --------
    >>> coarse_name(levels=3), coarse_name(decimals=1), coarse_name(dtype="bfloat16")
    ('3 levels', '1 decimal', 'bfloat16')
    """
    if levels is not None:
        return format_count(levels, "level")
    return format_count(decimals, "decimal") if decimals is not None else str(dtype)


def _at_levels(frame: pl.DataFrame, levels: int, *, per_query: bool) -> pl.Series:
    """Return each finite score at its level, one of so many between the lowest and the highest score of its list."""
    score = pl.col("score")
    finite = pl.when(score.is_finite()).then(score)
    low, high = finite.min(), finite.max()
    if per_query:
        low, high = low.over("query_id"), high.over("query_id")
    # NumPy's division: Polars multiplies by the inverse of a number, which of the smallest ones is infinite
    ends = frame.select(score, low.alias("low"), high.alias("high")).fill_null(0.0)
    scores, lowest, highest = (ends[name].to_numpy() for name in ("score", "low", "high"))
    is_moved = np.isfinite(scores) & (highest > lowest)
    own, start, end = (np.where(is_moved, column, 0.0) for column in (scores, lowest, highest))
    # of large numbers the halves, as their span may be infinite
    factor = np.where(np.maximum(np.abs(start), np.abs(end)) > LARGE, 0.5, 1.0)
    span = np.where(is_moved, end * factor - start * factor, 1.0)
    place = (own * factor - start * factor) / span
    share = np.clip(np.floor(place * levels), 0, levels - 1) / max(levels - 1, 1)
    away = np.minimum(share, 1 - share) * span / factor
    moved = np.where(share <= 0.5, start + away, end - away)  # so that both ends are exact
    return pl.Series("score", np.where(is_moved, moved, scores) + 0.0)
