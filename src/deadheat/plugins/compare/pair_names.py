"""The names of pairs of systems in reports."""

from collections.abc import Callable, Sequence

import numpy as np

from deadheat.core.arrays import BoolArray
from deadheat.core.wording import MOST_NAMED
from deadheat.plugins.compare.pair import Pair, Pairs

MOST_NAMED_IN_BRIEF = 3  # differences that a brief note names


def name_pair(place: str, pair: Pair, more: str = "") -> str:
    """Name a pair with its measure and, if it is of one, its stratum."""
    measure = f"{pair.measure}; {place}" if place else pair.measure
    return f"{pair.system} / {pair.baseline} ({measure}{more})"


def name_first(
    places: Sequence[str], pairs: Pairs, which: BoolArray, more: Callable[[Pair], str] = lambda _: ""
) -> tuple[int, list[str]]:
    """Return of how many pairs something holds, and the names of the first of them: more than any sentence names."""
    names = []
    for place in np.flatnonzero(which)[: MOST_NAMED + 1].tolist():
        pair = pairs[place]
        names.append(name_pair(places[place], pair, more(pair)))
    return int(which.sum()), names


def name_in_brief(places: Sequence[str], pairs: Pairs, which: BoolArray, verb: str = "lists") -> str:
    """Return the names of those pairs of which something holds, behind a colon; of many, the option that lists them."""
    chosen = np.flatnonzero(which).tolist()
    if not chosen:
        return ""
    if len(chosen) > MOST_NAMED_IN_BRIEF:
        return f"; --full {verb} them"
    has_one_pair = all((pairs.column(name) == pairs.column(name)[0]).all() for name in ("system", "baseline"))
    names = []
    for place in chosen:
        pair = pairs[place]
        if not has_one_pair:
            names.append(name_pair(places[place], pair))
        elif places[place]:
            names.append(f"{pair.measure} in {places[place]}")
        else:
            names.append(pair.measure)
    return f": {', '.join(names)}"
