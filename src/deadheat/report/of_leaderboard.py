"""The report of a leaderboard: models with ranks as intervals and tiers, and what is behind them."""

from collections.abc import Iterator
from typing import Any

from deadheat.comparison.leaderboard import Leaderboard
from deadheat.errors import counted, three
from deadheat.report.model import (
    Column,
    Fact,
    NumberCell,
    Report,
    Span,
    Table,
    format_cell,
    note,
    said,
    share,
    shows,
    tabulate,
    warning,
)

MODEL = Column("model", "model", is_name=True)
MOST = 5  # tasks without which the order is shown
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@shows(Leaderboard)
def report_leaderboard(found: Leaderboard, *, for_people: bool = True, compact: bool = False) -> Report:
    """Return the report of a leaderboard.

    Parameters
    ----------
    found : Leaderboard
    for_people : bool, default True
        Whether values by task are left out where there are many, and orders without a task are the first few.
    compact : bool, default False
        Whether it is one table, for a paper.
    """
    if compact:
        return _compact(found)
    tables = [_ranking(found), *_values(found)]
    without = found.leave_one_out().to_dicts()
    if without:
        columns = (Column("leader", "leader"), Column("tau_b", "tau_b"), Column("n_swapped", "pairs swapped"))
        rows = without[:MOST] if for_people else without
        left_out = f" (the {len(rows)} that change most)" if len(rows) < len(without) else ""
        title = f"The order without one task{left_out}"
        tables.append(tabulate("without_task", (Column("task", "without"),), columns, rows, title=title))
    return Report(tuple(tables), tuple(_facts(found)), opening=headline(found))


def _compact(found: Leaderboard) -> Report:
    """Return the table of a paper: models by groups or tasks, the best bold, and letters for tiers."""
    named = found.group_means if found.groups else {}
    columns = {"mean": found.mean_low, **named} if named else {"mean": found.mean_low}
    if not named and len(found.tasks) <= len(LETTERS) // 2:
        columns |= {f"{name}": found.values[:, n] for n, name in enumerate(found.tasks)}
    rows = []
    for n, row in enumerate(found.rows()[: len(found.models)]):
        cells = {name: float(values[n]) for name, values in columns.items()}
        best = {
            name: format_cell((max if found.higher_is_better else min)(values.tolist()))
            for name, values in columns.items()
        }
        rows.append(
            {
                "model": row["model"],
                "tier": letter(row["tier"]),
                "ranks": _ranks(row),
                **{
                    name: NumberCell(value, "ranked", is_best=format_cell(value) == best[name])
                    for name, value in cells.items()
                },
            }
        )
    shown = [Column("ranks", "ranks"), *(Column(name, name) for name in columns)]
    table = tabulate(
        "leaderboard", (Column("tier", "tier"), MODEL), shown, rows, caption=" ".join(_caption(found)), main=-1
    )
    return Report((table,), (), opening=headline(found))


def letter(tier: int | None) -> str:
    """Return the letter of a tier: a for the first, aa after z; empty for none.

    Examples
    --------
    >>> letter(1), letter(26), letter(27), letter(None)
    ('a', 'z', 'aa', '')
    """
    text, left = "", tier or 0
    while left:
        left, place = divmod(left - 1, len(LETTERS))
        text = LETTERS[place] + text
    return text


def headline(found: Leaderboard) -> str:
    """Return who cannot be told from the best, and what ties and single tasks can change."""
    best = found.models[0]
    if len(found.models) == 1:
        return f"{best} is the only model on all tasks."
    if found.tiers is None:
        first = [name for name, rank in zip(found.models, found.ranks, strict=True) if rank == 1]
        who = f"{three(first)} {'share' if len(first) > 1 else 'has'}" if first else "It is open which model has"
        return f"{who} the best mean {found.measure}; which differences are sure is not known: {found.unknown}."
    first = [name for name, tier in zip(found.models, found.tiers, strict=True) if tier == 1]
    told = (
        f"{best} is above all others by more than chance"
        if len(first) == 1
        else f"{len(first)} of {counted(len(found.models), 'model')} cannot be told from the best: {three(first)}"
    )
    neighbours = sum(not found.uncertainty.better[n, n + 1] for n in range(len(found.models) - 1) if found.uncertainty)
    pairs = counted(len(found.models) - 1, "pair")
    apart = f"Of {pairs} of neighbours {neighbours} cannot be told apart."
    text = f"{told}. {apart if neighbours else 'All neighbours are told apart.'}"
    if found.deciding_task:
        leader = found.leave_one_out().filter(task=found.deciding_task)["leader"][0]
        text += f" Without {found.deciding_task}, {leader} leads."
    return text


def _ranks(row: dict[str, Any]) -> str:
    """Return the interval of a rank as text; empty if it is not known."""
    low, high = row["rank_low"], row["rank_high"]
    return "" if low is None else f"{low}" if low == high else f"{low}-{high}"


def _ranking(found: Leaderboard) -> Table:
    """Return a row for each model."""
    rows: list[dict[str, Any]] = [
        row
        | {
            "letter": letter(row["tier"]),
            "ci": Span(row["low"], row["high"]) if row["rank_low"] is not None else None,
            "bounds": Span(row["mean_low"], row["mean_high"]) if row.get("mean_low") is not None else None,
            "ranks": _ranks(row),
            "p_best": share(row["p_best"]),
            "of_ties": Span(row["tie_min"], row["tie_max"]) if row["tie_min"] is not None else None,
        }
        for row in found.rows()
    ]
    columns = [
        Column("rank", "rank"),
        Column("mean", "mean"),
        *([Column("bounds", "mean is in", ends=("mean_low", "mean_high"))] if found.value_range else []),
        Column("ci", f"{found.confidence_level:.0%} CI", spare=2),
        Column("ranks", "ranks"),
        Column("rank_low", "rank low", is_data=True),
        Column("rank_high", "rank high", is_data=True),
        Column("letter", "tier"),
        Column("tier", "tier number", is_data=True),
        Column("mean_rank", "mean rank", spare=3),
        Column("p_best", "P(best)", spare=4),
        Column("resampled_rank_low", "resampled rank low", is_data=True),
        Column("resampled_rank_high", "resampled rank high", is_data=True),
        *([] if found.tie_min is None else [Column("of_ties", "tie orders", ends=("tie_min", "tie_max"), spare=5)]),
        Column("tie_rank_low", "tie rank low", is_data=True),
        Column("tie_rank_high", "tie rank high", is_data=True),
        Column("n_tasks", "tasks", is_data=not (found.incomplete or found.value_range)),
        *(Column(f"mean_{name}", name, spare=6) for name in found.group_means),
    ]
    return tabulate("leaderboard", (MODEL,), columns, rows, title=f"Models by mean {found.measure}", main=1)


def _values(found: Leaderboard) -> Iterator[Table]:
    """Yield the values by task: of many tasks for programs alone."""
    frame = found.task_values()
    columns = [Column(name, name, spare=n) for n, name in enumerate(found.tasks)]
    yield tabulate("tasks", (MODEL,), columns, frame.to_dicts(), title=f"{found.measure} by task")


def _sampled(found: Leaderboard) -> str:
    """Return what was resampled."""
    if found.sampling == "fixed":
        return "queries within each task; tasks are fixed"
    return "tasks, and queries within each" if found.has_queries else "tasks alone; their queries are not known"


def _caption(found: Leaderboard) -> Iterator[str]:
    over = counted(len(found.tasks), "task")
    what = "of groups of tasks" if found.groups else f"over {over}"
    yield f"Mean {found.measure} {what}; the best of each column is bold."
    if found.tiers is None:
        yield f"Which differences are sure is not known: {found.unknown}."
        return
    yield "Models of one tier (letter) cannot be told from the best of it."
    yield f"Ranks: simultaneous {found.confidence_level:.0%} intervals, resampling {_sampled(found)}."


def _facts(found: Leaderboard) -> Iterator[Fact]:
    yield Fact("n_tasks", len(found.tasks), "tasks", f"{len(found.tasks)}: {three(list(found.tasks))}")
    weights = dict(zip(found.tasks, found.shares.tolist(), strict=True))
    equal = len({round(one, 12) for one in weights.values()}) == 1
    names = list(dict.fromkeys(found.groups))
    text = "all tasks count the same" if equal and not names else "given"
    if names:
        text = f"{counted(len(names), 'group')} count the same: {three(names)}; within each, tasks by their weights"
    yield Fact("shares", weights, "weights", text)
    direction = "" if found.higher_is_better else "; less is better"
    yield said("mean", f"over tasks{' of a group, then over groups' if names else ''}, of {found.measure}{direction}")
    if found.uncertainty is None:
        yield warning("ranks", f"no intervals and tiers: {found.unknown}")
    else:
        yield from (
            Fact("resampled", found.sampling, "resampled", _sampled(found)),
            Fact(
                "critical",
                found.uncertainty.critical,
                "ranks",
                f"what simultaneous {found.confidence_level:.0%} intervals of all differences allow (Mogstad et al."
                " 2024)",
            ),
            said("tier", "all that cannot be told from the best of those left: a, b, ..."),
        )
    if found.reversible is not None:
        n, text = len(found.reversible), "no order of equal scores changes the order of two models"
        if n:
            pairs = [f"{one} over {other}" for one, other in found.reversible]
            text = f"tie order alone can reverse {counted(n, 'pair')} of models: {three(pairs)}"
            if found.tie_share is not None:
                what = "queries" if found.sampling == "fixed" else "tasks"
                text += f", {format_cell(share(found.tie_share))} of those that {what} or tie order may reverse"
        yield Fact("reversible", [list(one) for one in found.reversible], "ties", text)
        yield Fact("tie_share", found.tie_share)
    else:
        is_known = found.tie_min is not None
        yield said("ties", "not told where values are missing" if is_known else "not known of these values")
    if found.incomplete:
        of = {name: sorted(set(found.tasks) - set(own)) for name, own in found.incomplete.items()}
        text = f"{counted(len(of), 'model')} without all tasks, not ranked: {three(list(of))}"
        yield Fact("incomplete", of, "apart", text, is_note=True)
    if found.value_range:
        low, high = found.value_range
        yield note("missing", f"a missing value is taken to be anything from {low:g} to {high:g}")
    if found.deciding_task:
        yield Fact("deciding_task", found.deciding_task, "decides", f"{found.deciding_task}: without it another leads")
    for text in found.notes:
        yield note("results", text)
