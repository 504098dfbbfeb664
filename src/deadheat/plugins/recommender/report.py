"""Reports of item profiles and of exposure."""

from collections.abc import Iterator

from deadheat.core.report.cells import Span, share_cell
from deadheat.core.report.model import Column, Fact, Report, Table, note_fact, prose_fact, registers_report, tabulate
from deadheat.core.wording import format_count, format_level
from deadheat.plugins.recommender.exposure import Exposure
from deadheat.plugins.recommender.item_profile import OF_RUN, ItemProfile, mean_of_queries

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


@registers_report(ItemProfile)
def of_items(profile: ItemProfile) -> Report:
    """Return the report of an item profile."""
    values = profile.means()
    ranges = {
        name: Span(mean_of_queries(profile.tie_min[name]), mean_of_queries(profile.tie_max[name]))
        for name in values
        if name not in OF_RUN
    }
    columns = (
        Column("value", "value", values.get),
        Column("ties", "tie orders", ranges.get, ("tie_min", "tie_max"), spare=1),
        Column("meaning", "", MEANINGS.get, spare=2),
    )
    heading = (
        f"{profile.name}: top {profile.cutoff} of {format_count(profile.n_queries, 'list')},"
        f" catalogue of {format_count(profile.n_items, 'item')}"
    )
    return Report(
        (tabulate("items", [Column("number", "number", str)], columns, values),), _facts_of_items(profile), heading
    )


def _facts_of_items(profile: ItemProfile) -> tuple[Fact, ...]:
    facts = (
        prose_fact("ties", "values are means over their orders; gini and entropy are of the expected exposure"),
        Fact("n_items", profile.n_items),
        Fact("cutoff", profile.cutoff),
    )
    if profile.n_users is None:
        return (*facts, prose_fact("popularity", "not given: no popularity, tail and novelty"))
    tail = f"{profile.n_items - profile.n_head:,} of {format_count(profile.n_items, 'item')}"
    n_tied = int(profile.head * profile.n_items + 1e-9) - profile.n_head
    among = f"; {n_tied:,} of those counted as tail, tied at its border" if n_tied else ""
    return (
        *facts,
        Fact("head", profile.head, "tail", f"{tail}: all but the {profile.head:.0%} most popular ones{among}"),
        Fact("n_head", profile.n_head),
        Fact(
            "n_users",
            profile.n_users,
            "users for novelty",
            f"{profile.n_users:,.15g}; an item without any counts as with one",
        ),
        Fact("notes", list(profile.notes)),
        *(note_fact("data", one) for one in profile.notes),
    )


@registers_report(Exposure)
def of_exposure(found: Exposure, *, for_people: bool = True) -> Report:
    """Return the report of exposure.

    Parameters
    ----------
    found : Exposure
    for_people : bool, default True
        Whether to list the most exposed items only.
    """
    items = found.to_polars()
    shown = items.head(MOST) if for_people else items
    means = [
        {"measure": name, "mean": mean, "amortised": found.amortised[name]} for name, mean in found.means().items()
    ]
    tables = [
        *_of_groups(found),
        tabulate(
            "expected_exposure",
            (Column("measure", "measure"),),
            (Column("mean", "mean"), Column("amortised", "amortised")),
            means,
        ),
        tabulate(
            "exposure",
            (Column("doc_id", "item"),),
            [Column(name, name.replace("_", " ")) for name in items.columns[1:]],
            shown.to_dicts(),
            title="Items",
        ),
    ]
    lists = format_count(found.n_queries, "query", "queries")
    runs = "" if found.n_runs == 1 else f", mean of {found.n_runs} runs"
    return Report(
        tuple(tables),
        _facts_of_exposure(found, len(shown), len(items)),
        f"{found.name}: exposure of {format_count(len(items), 'item')} in {lists}{runs}",
    )


def _of_groups(found: Exposure) -> Iterator[Table]:
    """Yield the table of groups of items, and that of pairs of them, if there are any."""
    if found.groups is not None:
        of_all = {"share": lambda row: share_cell(row["share"])}  # of all exposure
        numbers = [Column(name, name.replace("_", " "), of_all.get(name)) for name in found.groups.columns[2:]]
        yield tabulate(
            "groups", (GROUP,), (Column("n_items", "items"), *numbers), found.groups.to_dicts(), title="Groups"
        )
    if found.pairs is not None:
        names = [name for name in ("disparity", "ratio", "ratio_of_target") if name in found.pairs.columns]
        yield tabulate(
            "pairs",
            (GROUP, Column("other", "other")),
            [column for name in names for column in _with_ends(found, name)],
            found.pairs.to_dicts(),
            title=f"Between groups, with {format_level(found.confidence_level)} intervals over queries",
        )


def _with_ends(found: Exposure, name: str) -> list[Column]:
    """Return the column of a number, and that of its interval."""
    low, high = ("low", "high") if name == "disparity" else (f"{name}_low", f"{name}_high")
    spare = int(name == "disparity")  # what narrow screens leave out first
    return [
        Column(name, name.replace("_", " "), spare=spare),
        Column(
            f"{name}_ends",
            "interval",
            lambda row: None if row[low] is None else Span(row[low], row[high], not found.unknown),
            (low, high),
            spare=2 * spare,
        ),
    ]


def _facts_of_exposure(found: Exposure, n_shown: int, n_items: int) -> tuple[Fact, ...]:
    ranks = "all ranks" if found.cutoff is None else f"the top {found.cutoff}"
    how = f"the discount {found.discount} of a rank, over {ranks}; of tied items the mean over their order"
    judged = f"target: ideal rankings, in {format_count(found.n_judged or 0, 'query', 'queries')} with a relevant item"
    between = "disparity: exposure per item of the first less that of the other; ratio: of both"
    unknown = f"{found.unknown}: they say nothing about other queries"
    gini = f"{found.gini:.4f}, of exposure over these items"
    return (
        Fact("discount", found.discount, "exposure", how),
        Fact("exposure_cutoff", found.cutoff),
        Fact("n_runs", found.n_runs),
        Fact("exposure_n_queries", found.n_queries),
        prose_fact("items", f"the {n_shown} most exposed of {n_items:,}" if n_shown < n_items else ""),
        *([] if found.n_judged is None else [Fact("n_judged", found.n_judged, "EE", judged)]),
        Fact("exposure_gini", found.gini, "gini", gini),
        prose_fact("amortised", "EE of the mean exposure over queries"),
        prose_fact("between groups", "" if found.groups is None else between),
        *([Fact("unknown", found.unknown, "intervals", unknown)] if found.unknown and found.pairs is not None else []),
        Fact("exposure_notes", list(found.notes)),
        *(note_fact("data", one) for one in found.notes),
    )
