"""The order of strata: levels from low to high, then numbers by size, then other values, then queries without one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain

import numpy as np

from deadheat.core.arrays import BoolArray, IntArray
from deadheat.core.evaluation.stratum import NONE, Stratum, keys_of
from deadheat.core.libraries import polars as pl

# Words with an order of their own, which is not alphabetical
LEVELS = (("very easy",), ("easy", "low"), ("medium", "moderate"), ("hard", "difficult", "high"), ("very hard",))
# What may be one of these words: letters beyond ASCII may stand for others, as a ligature does
LIKE_LEVELS = r"(?i)easy|low|medium|moderate|hard|difficult|high|[^\x00-\x7f]"
NUMBERS = r"^[+-]?[0-9]+(\.[0-9]+)?$"


def order_labels(labels: pl.Series) -> IntArray:
    """Return the places of distinct labels of one column, in the order of strata.

    Examples
    --------
    >>> labels = pl.Series(["hard", "(none)", "Medium", "k10", "easy", "k9", "10", "9.5"])
    >>> labels.gather(order_labels(labels)).to_list()
    ['easy', 'Medium', 'hard', '9.5', '10', 'k9', 'k10', '(none)']
    """
    is_number = labels.str.contains(NUMBERS).to_numpy()
    is_none = (labels == NONE).to_numpy()
    levels = _find_levels(labels)
    is_level: BoolArray = np.zeros(len(labels), np.bool_)
    is_level[list(levels)] = True
    numbers = _sort_by(labels, is_number, lambda texts: pl.Series([float(text) for text in texts.to_list()]))
    others = _sort_by(labels, ~(is_number | is_none | is_level), _encode_numbers)
    level_places = sorted(levels, key=lambda place: (levels[place], labels[place]))
    return np.concatenate([np.array(level_places, np.int64), numbers, others, np.flatnonzero(is_none)])


def _sort_by(labels: pl.Series, keep: BoolArray, make_keys: Callable[[pl.Series], pl.Series]) -> IntArray:
    """Return the places of some labels in the order of their keys; labels with the same key by code point."""
    places = np.flatnonzero(keep)
    texts = labels.gather(places)
    frame = pl.DataFrame({"key": make_keys(texts), "label": texts, "place": places})
    return frame.sort("key", "label")["place"].to_numpy()


def _find_levels(labels: pl.Series) -> dict[int, int]:
    """Return the rank of each label that is a level, by its place."""
    ranks = {}
    for place in np.flatnonzero(labels.str.contains(LIKE_LEVELS).to_numpy()).tolist():
        rank = _find_level(labels[place])
        if rank is not None:
            ranks[place] = rank
    return ranks


def _find_level(label: str) -> int | None:
    """Return the place of a label among the levels; None if it is none of them."""
    word = " ".join(label.casefold().replace("_", " ").replace("-", " ").split())
    for rank, words in enumerate(LEVELS):
        if word in words:
            return rank
    return None


def _encode_numbers(labels: pl.Series) -> pl.Series:
    """Return texts whose order by code point is that of the labels with each number in them by its size.

    Before the digits of a number comes their count, as a longer number is larger. A NUL, which comes before all other
    letters, stands where a number begins and ends: so the text before it is compared first.
    """
    part = pl.element()
    digits = part.str.strip_chars_start("0")
    size = digits.str.len_bytes().cast(pl.String).str.zfill(9)
    number = pl.format("\0{}{}\0", size, digits)
    encoded = pl.when(part.str.contains("^[0-9]")).then(number).otherwise(part)
    return labels.str.extract_all("[0-9]+|[^0-9]+").list.eval(encoded).list.join("")


def rank_strata(strata: Collection[Stratum]) -> IntArray:
    """Return the rank of each of some distinct strata of the same columns, from 0."""
    keys = [keys_of(stratum) for stratum in strata]
    ranks_by_column = []
    for column in zip(*keys, strict=True):
        labels = pl.Series(list(dict.fromkeys(column)), dtype=pl.String)
        in_order = labels.gather(order_labels(labels)).to_list()
        rank_of_label = {label: rank for rank, label in enumerate(in_order)}
        ranks_by_column.append([rank_of_label[label] for label in column])
    ranks: IntArray = np.zeros(len(keys), np.int64)
    if ranks_by_column:
        ranks[np.lexsort(ranks_by_column[::-1])] = np.arange(len(keys))
    return ranks


def sort_strata(strata: Iterable[Stratum]) -> list[Stratum]:
    """Return distinct strata of the same columns in their order, each once.

    Examples
    --------
    >>> sort_strata([("de", "hard"), ("de", "easy"), ("cs", "hard")])
    [('cs', 'hard'), ('de', 'easy'), ('de', 'hard')]
    """
    distinct = list(dict.fromkeys(strata))
    by_rank = np.argsort(rank_strata(distinct), kind="stable")
    return [distinct[place] for place in by_rank.tolist()]


def union_of_strata(strata_of_runs: Sequence[Collection[Stratum]]) -> list[Stratum]:
    """Return the strata that some run has, in their order; those of each run are in their order, too."""
    first, *others = [list(strata) for strata in strata_of_runs]
    if all(strata == first for strata in others):
        return first
    return sort_strata(chain(first, *others))
