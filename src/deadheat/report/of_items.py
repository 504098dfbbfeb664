"""The report of which items a run recommends."""

import math

import numpy as np

from deadheat.profile.items import OF_RUN, ItemProfile
from deadheat.report.model import (
    Cell,
    Column,
    Fact,
    Report,
    Span,
    note,
    said,
    shows,
    tabulate,
)
from deadheat.wording import counted

MEANINGS = {
    "coverage": "share of the catalogue that is in some top k",
    "gini": "concentration of exposure: 0 equal, 1 all on one item",
    "entropy": "spread of exposure, in bits",
    "average_popularity": "mean popularity of the top k",
    "tail_share": "share of the top k that is in the tail",
    "novelty": "mean of -log2(popularity / users) in the top k",
}


@shows(ItemProfile)
def of_items(profile: ItemProfile) -> Report:
    """Return the report of an item profile."""
    values = profile.means()
    columns = (
        Column("value", "value", values.get),
        Column("ties", "tie orders", lambda name: _range(profile, name), ("tie_min", "tie_max"), spare=1),
        Column("meaning", "", MEANINGS.get, spare=2),
    )
    table = tabulate("items", [Column("number", "number", str)], columns, values)
    heading = (
        f"{profile.name}: top {profile.cutoff} of {counted(profile.n_queries, 'list')},"
        f" catalogue of {counted(profile.n_items, 'item')}"
    )
    return Report((table,), _facts(profile), heading)


def _range(profile: ItemProfile, name: str) -> Cell:
    if name in OF_RUN:
        return None
    return Span(float(np.mean(profile.tie_min[name])), float(np.mean(profile.tie_max[name])))


def _facts(profile: ItemProfile) -> tuple[Fact, ...]:
    facts = (
        said("ties", "values are means over their orders; gini and entropy are of the expected exposure"),
        Fact("n_items", profile.n_items),
        Fact("cutoff", profile.cutoff),
    )
    if profile.n_users is None:
        return (*facts, said("popularity", "not given: no popularity, tail and novelty"))
    tail = f"{profile.n_items - profile.n_head:,} of {counted(profile.n_items, 'item')}"
    n_tied = math.floor(profile.head * profile.n_items + 1e-9) - profile.n_head
    among = f"; {n_tied:,} of those counted as tail, tied at its border" if n_tied else ""
    return (
        *facts,
        Fact("head", profile.head, "tail", f"{tail}: all but the {profile.head:.0%} most popular ones{among}"),
        Fact("n_head", profile.n_head),
        Fact(
            "n_users",
            profile.n_users,
            "users for novelty",
            f"{profile.n_users:g}; an item without any counts as with one",
        ),
        Fact("notes", list(profile.notes)),
        *(note("data", one) for one in profile.notes),
    )
