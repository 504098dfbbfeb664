"""Reports of item profiles and of exposure."""

from collections.abc import Iterator
from typing import Any

from deadheat.core.report.cells import Cell, Span, share_cell
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
    ranges = {}
    for name in values:
        if name not in OF_RUN:
            ranges[name] = Span(mean_of_queries(profile.tie_min[name]), mean_of_queries(profile.tie_max[name]))
    columns = (
        Column("value", "value", values.get),
        Column("ties", "tie orders", ranges.get, ("tie_min", "tie_max"), spare=1),
        Column("meaning", "", MEANINGS.get, spare=2),
    )
    table = tabulate("items", [Column("number", "number", str)], columns, values)
    heading = (
        f"{profile.name}: top {profile.cutoff} of {format_count(profile.n_queries, 'list')},"
        f" catalogue of {format_count(profile.n_items, 'item')}"
    )
    return Report((table,), _facts_of_items(profile), heading)


def _facts_of_items(profile: ItemProfile) -> tuple[Fact, ...]:
    facts = [
        prose_fact("ties", "values are means over their orders; gini and entropy are of the expected exposure"),
        Fact("n_items", profile.n_items),
        Fact("cutoff", profile.cutoff),
    ]
    if profile.n_users is None:
        facts.append(prose_fact("popularity", "not given: no popularity, tail and novelty"))
        return tuple(facts)
    facts += [
        Fact("head", profile.head, "tail", _describe_tail(profile)),
        Fact("n_head", profile.n_head),
        Fact(
            "n_users",
            profile.n_users,
            "users for novelty",
            f"{profile.n_users:,.15g}; an item without any counts as with one",
        ),
        Fact("notes", list(profile.notes)),
    ]
    facts += [note_fact("data", note) for note in profile.notes]
    return tuple(facts)


def _describe_tail(profile: ItemProfile) -> str:
    n_tail = profile.n_items - profile.n_head
    text = f"{n_tail:,} of {format_count(profile.n_items, 'item')}: all but the {profile.head:.0%} most popular ones"
    n_tied = int(profile.head * profile.n_items + 1e-9) - profile.n_head  # 0.2 of 5 items is 1, but for rounding
    if n_tied:
        text += f"; {n_tied:,} of those counted as tail, tied at its border"
    return text


@registers_report(Exposure)
def of_exposure(exposure: Exposure, *, for_people: bool = True) -> Report:
    """Return the report of exposure.

    Parameters
    ----------
    exposure : Exposure
    for_people : bool, default True
        Whether to list the most exposed items only.
    """
    items = exposure.to_polars()
    shown = items.head(MOST) if for_people else items
    means = []
    for name, mean in exposure.means().items():
        means.append({"measure": name, "mean": mean, "amortised": exposure.amortised[name]})
    table_of_means = tabulate(
        "expected_exposure",
        (Column("measure", "measure"),),
        (Column("mean", "mean"), Column("amortised", "amortised")),
        means,
    )
    table_of_items = tabulate(
        "exposure",
        (Column("doc_id", "item"),),
        [Column(name, name.replace("_", " ")) for name in items.columns[1:]],
        shown.to_dicts(),
        title="Items",
    )
    tables = (*_tables_of_groups(exposure), table_of_means, table_of_items)
    lists = format_count(exposure.n_queries, "query", "queries")
    opening = f"{exposure.name}: exposure of {format_count(len(items), 'item')} in {lists}"
    if exposure.n_runs != 1:
        opening += f", mean of {exposure.n_runs} runs"
    return Report(tables, _facts_of_exposure(exposure, len(shown), len(items)), opening)


def _tables_of_groups(exposure: Exposure) -> Iterator[Table]:
    """Yield the table of groups of items, and that of pairs of them, if there are any."""
    if exposure.groups is not None:
        columns = [Column("n_items", "items")]
        for name in exposure.groups.columns[2:]:
            as_cell = _share_cell if name == "share" else None
            columns.append(Column(name, name.replace("_", " "), as_cell))
        yield tabulate("groups", (GROUP,), columns, exposure.groups.to_dicts(), title="Groups")
    if exposure.pairs is not None:
        columns = []
        for name in ("disparity", "ratio", "ratio_of_target"):
            if name in exposure.pairs.columns:
                columns += _columns_with_interval(exposure, name)
        yield tabulate(
            "pairs",
            (GROUP, Column("other", "other")),
            columns,
            exposure.pairs.to_dicts(),
            title=f"Between groups, with {format_level(exposure.confidence_level)} intervals over queries",
        )


def _share_cell(row: dict[str, Any]) -> Cell:
    return share_cell(row["share"])  # of all exposure


def _columns_with_interval(exposure: Exposure, name: str) -> list[Column]:
    """Return the column of a number, and that of its interval."""
    if name == "disparity":
        low, high = "low", "high"
        spare = 1  # narrow screens leave it out first
    else:
        low, high = f"{name}_low", f"{name}_high"
        spare = 0
    interval = Column(
        f"{name}_ends",
        "interval",
        lambda row: None if row[low] is None else Span(row[low], row[high], not exposure.unknown),
        (low, high),
        spare=2 * spare,
    )
    return [Column(name, name.replace("_", " "), spare=spare), interval]


def _facts_of_exposure(exposure: Exposure, n_shown: int, n_items: int) -> tuple[Fact, ...]:
    ranks = "all ranks" if exposure.cutoff is None else f"the top {exposure.cutoff}"
    discount = f"the discount {exposure.discount} of a rank, over {ranks}; of tied items the mean over their order"
    facts = [
        Fact("discount", exposure.discount, "exposure", discount),
        Fact("exposure_cutoff", exposure.cutoff),
        Fact("n_runs", exposure.n_runs),
        Fact("exposure_n_queries", exposure.n_queries),
    ]
    if n_shown < n_items:
        facts.append(prose_fact("items", f"the {n_shown} most exposed of {n_items:,}"))
    if exposure.n_judged is not None:
        queries = format_count(exposure.n_judged, "query", "queries")
        facts.append(
            Fact("n_judged", exposure.n_judged, "EE", f"target: ideal rankings, in {queries} with a relevant item")
        )
    facts += [
        Fact("exposure_gini", exposure.gini, "gini", f"{exposure.gini:.4f}, of exposure over these items"),
        prose_fact("amortised", "EE of the mean exposure over queries"),
    ]
    if exposure.groups is not None:
        facts.append(
            prose_fact(
                "between groups",
                "disparity: exposure per item of the first less that of the other; ratio: of both",
            )
        )
    if exposure.unknown and exposure.pairs is not None:
        facts.append(
            Fact("unknown", exposure.unknown, "intervals", f"{exposure.unknown}: they say nothing about other queries")
        )
    facts.append(Fact("exposure_notes", list(exposure.notes)))
    facts += [note_fact("data", note) for note in exposure.notes]
    return tuple(facts)
