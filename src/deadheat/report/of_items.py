"""The reports of which items a run recommends, and how exposure is shared between items and groups."""

import math
from typing import Any

import numpy as np

from deadheat.errors import counted
from deadheat.profile.exposure import Exposure
from deadheat.profile.items import OF_RUN, ItemProfile
from deadheat.report.model import Cell, Column, Fact, Report, Span, note, said, share, shows, tabulate

MEANINGS = {
    "coverage": "share of the catalogue that is in some top k",
    "gini": "concentration of exposure: 0 equal, 1 all on one item",
    "entropy": "spread of exposure, in bits",
    "average_popularity": "mean popularity of the top k",
    "tail_share": "share of the top k that is in the tail",
    "novelty": "mean of -log2(popularity / users) in the top k",
}
MOST = 10  # items that people are shown
GROUP = Column("group", "group")


@shows(ItemProfile)
def of_items(profile: ItemProfile) -> Report:
    """Return the report of an item profile."""
    values = profile.means()
    columns = (
        Column("value", "value", values.get),
        Column("ties", "tie orders", lambda name: _range(profile, name), ("tie_min", "tie_max"), spare=1),
        Column("meaning", "", MEANINGS.get, spare=2),
    )
    heading = (
        f"{profile.name}: top {profile.cutoff} of {counted(profile.n_queries, 'list')},"
        f" catalogue of {counted(profile.n_items, 'item')}"
    )
    return Report((tabulate("items", [Column("number", "number", str)], columns, values),), _facts(profile), heading)


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


@shows(Exposure)
def of_exposure(found: Exposure, *, for_people: bool = True) -> Report:
    """Return the report of exposure.

    Parameters
    ----------
    found : Exposure
    for_people : bool, default True
        Whether to list the most exposed items only.
    """
    items = found.to_polars()
    columns = [Column(name, name.replace("_", " ")) for name in items.columns[1:]]
    shown = items.head(MOST) if for_people else items
    means = [
        {"measure": name, "mean": mean, "amortised": found.amortised[name]} for name, mean in found.means().items()
    ]
    tables = [
        tabulate(
            "expected_exposure",
            (Column("measure", "measure"),),
            (Column("mean", "mean"), Column("amortised", "amortised")),
            means,
        ),
        tabulate("exposure", (Column("doc_id", "item"),), columns, shown.to_dicts(), title="Items"),
    ]
    if found.groups is not None:
        names = found.groups.columns[2:]
        numbers = [Column(name, name.replace("_", " ")) for name in names]
        numbers[names.index("share")] = Column("share", "share", lambda row: share(row["share"]))  # of all exposure
        own = (Column("n_items", "items"), *numbers)
        tables.insert(0, tabulate("groups", (GROUP,), own, found.groups.to_dicts(), title="Groups"))
    if found.pairs is not None:
        between = [
            column
            for name in ("disparity", "ratio", "ratio_of_target")
            if name in found.pairs.columns
            for column in _with_ends(found, name)
        ]
        title = f"Between groups, with {found.confidence_level:.0%} intervals over queries"
        tables.insert(
            1, tabulate("pairs", (GROUP, Column("other", "other")), between, found.pairs.to_dicts(), title=title)
        )
    runs = "" if found.n_runs == 1 else f", mean of {found.n_runs} runs"
    lists = counted(found.n_queries, "query", "queries")
    heading = f"{found.name}: exposure of {counted(len(items), 'item')} in {lists}{runs}"
    return Report(tuple(tables), _facts_of_exposure(found, len(shown), len(items)), heading)


def _with_ends(found: Exposure, name: str) -> list[Column]:
    """Return the column of a number, and that of its interval."""
    low, high = ("low", "high") if name == "disparity" else (f"{name}_low", f"{name}_high")

    def ends(row: dict[str, Any]) -> Span | None:
        return None if row[low] is None else Span(row[low], row[high], not found.unknown)

    spare = int(name == "disparity")  # what narrow screens leave out first
    return [
        Column(name, name.replace("_", " "), spare=spare),
        Column(f"{name}_ends", "interval", ends, (low, high), spare=2 * spare),
    ]


def _facts_of_exposure(found: Exposure, n_shown: int, n_items: int) -> tuple[Fact, ...]:
    ranks = "all ranks" if found.cutoff is None else f"the top {found.cutoff}"
    facts = [
        Fact(
            "discount",
            found.discount,
            "exposure",
            f"the discount {found.discount} of a rank, over {ranks}; of tied items the mean over their order",
        ),
        Fact("exposure_cutoff", found.cutoff),
        Fact("n_runs", found.n_runs),
        Fact("exposure_n_queries", found.n_queries),
        said("items", f"the {n_shown} most exposed of {n_items:,}" if n_shown < n_items else ""),
    ]
    if found.n_judged is not None:
        facts.append(
            Fact(
                "n_judged",
                found.n_judged,
                "EE",
                f"target: ideal rankings, in {counted(found.n_judged, 'query', 'queries')} with a relevant item",
            )
        )
    facts.append(Fact("exposure_gini", found.gini, "gini", f"{found.gini:.4f}, of exposure over these items"))
    facts.append(said("amortised", "EE of the mean exposure over queries"))
    if found.groups is not None:
        facts.append(
            said("between groups", "disparity: exposure per item of the first less that of the other; ratio: of both")
        )
    if found.unknown and found.pairs is not None:
        facts.append(
            Fact("unknown", found.unknown, "intervals", f"{found.unknown}: they say nothing about other queries")
        )
    return (*facts, Fact("exposure_notes", list(found.notes)), *(note("data", one) for one in found.notes))
