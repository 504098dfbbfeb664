"""The report of a leaderboard: ranks as intervals, and tiers."""

from typing import Any

import numpy as np

from deadheat.core.report.cells import Span, ranked, ranks, share_cell
from deadheat.core.report.model import (
    Column,
    Fact,
    Report,
    Table,
    first_true,
    note_fact,
    prose_fact,
    registers_report,
    summarise,
    tabulate,
    warning_fact,
)
from deadheat.core.report.tiers import letter
from deadheat.core.wording import format_count, format_level, format_list, format_names
from deadheat.plugins.leaderboard.board import Leaderboard

MODEL = Column("model", "model", is_name=True)
MOST = 5  # tasks without which the order is shown
MOST_ON_PAGE, MOST_COLUMNS = 5, 13  # tasks or groups beside the mean: that fit a page, and that --full has


@registers_report(Leaderboard, in_brief=True)
def report_leaderboard(found: Leaderboard, *, for_people: bool = True, compact: bool = False) -> Report:
    """Return the report of a leaderboard.

    Parameters
    ----------
    found : Leaderboard
    for_people : bool, default True
        Whether orders without a task are the first few.
    compact : bool, default False
        Whether it is one table, for a paper.
    """
    if compact:
        return _compact(found)
    values = tabulate(
        "tasks",
        (MODEL,),
        [Column(name, name, spare=n) for n, name in enumerate(found.tasks)],
        found.task_values().to_dicts(),
        title=f"{found.measure} by task",
        is_extra=True,
    )
    without, task = found.leave_one_out().to_dicts(), Column("task", "without")
    columns = (Column("leader", "leader"), Column("tau_b", "tau_b"), Column("n_swapped", "pairs swapped"))
    rows = without[:MOST] if for_people else without
    title = "The order without one task" + f" (the {len(rows)} that change most)" * (len(rows) < len(without))
    orders = [tabulate("without_task", (task,), columns, rows, title=title, is_extra=True)] if rows else []
    tables = (_ranking(found), values, *orders)
    return Report(tables, tuple(_facts(found)), headline=headline(found), summary=summarise(_describe_order(found)))


def _compact(found: Leaderboard) -> Report:
    """Return the table of a paper: models by groups or tasks, the best bold, and letters for tiers."""
    listed = found.rows()[: len(found.models)]
    columns = {
        "mean": [row["mean"] for row in listed],
        **{name: own.tolist() for name, own in found.group_means.items()},
    }
    if not found.groups and len(found.tasks) <= MOST_COLUMNS:
        columns |= {name: found.values[:, n].tolist() for n, name in enumerate(found.tasks)}
    cells = {
        name: ranked(1 if found.higher_is_better else -1, dict(zip(found.models, values, strict=True)))
        for name, values in columns.items()
    }
    rows = [
        {
            "model": row["model"],
            "tier": letter(row["tier"]),
            "ranks": ranks(row["rank_low"], row["rank_high"]),
            "bounds": Span(found.mean_low[n], found.mean_high[n]),
        }
        | {name: own[row["model"]] for name, own in cells.items()}
        for n, row in enumerate(listed)
    ]
    table = tabulate(
        "leaderboard",
        (Column("tier", "tier"), MODEL),
        [
            Column("ranks", "ranks"),
            *([Column("bounds", "mean is in")] if found.value_range else []),
            Column("mean", "mean"),
            *(Column(name, name, is_extra=len(columns) > MOST_ON_PAGE + 1) for name in columns if name != "mean"),
        ],
        rows,
        caption=_caption(found),
        main=-1,
    )
    notes = tuple(fact for fact in _facts(found) if fact.is_note)
    return Report((table,), notes, headline=headline(found), summary=summarise(_describe_order(found)))


def headline(found: Leaderboard) -> str:
    """Say who is first, and how many models cannot be told from it."""
    best, n_others = found.models[0], len(found.models) - 1
    if not n_others:
        return f"{best} is the only model on all tasks."
    if found.tiers is None:
        first = [name for name, rank in zip(found.models, found.ranks, strict=True) if rank == 1]
        if not first:
            return f"It is open which model has the best mean {found.measure}."
        verb = "share" if len(first) > 1 else "has"
        return f"{format_names(first)} {verb} the best mean {found.measure}; which differences are sure is not known."
    n_equal = max(found.ranks.count(1), 1)
    n_open = found.tiers.count(1) - n_equal
    if n_equal > 1:
        told = f"{format_names(found.models[:n_equal])} share the best mean {found.measure}"
    elif not n_open:
        return f"{best} is above all others by more than chance."
    else:
        told = f"{best} {'is' if found.ranks[0] else 'may be'} first"
    if n_open:
        others = format_count(len(found.models) - n_equal, "other model")
        told += f"; {n_open} of {others} cannot be told from {'it' if n_equal == 1 else 'them'}"
    return f"{told}."


def _describe_order(found: Leaderboard) -> dict[str, str]:
    """Return what the headline rests on: which models cannot be told from the first, and how many neighbours."""
    facts: dict[str, str] = {}
    n_pairs = len(found.models) - 1
    if n_pairs and found.tiers is not None and found.uncertainty is not None:
        n_equal = max(found.ranks.count(1), 1)
        in_first_tier = [name for name, tier in zip(found.models, found.tiers, strict=True) if tier == 1]
        if in_first_tier[n_equal:]:
            facts["not told apart"] = format_list(in_first_tier[n_equal:])
        n_alike = sum(not found.uncertainty.better[n, n + 1] for n in range(n_pairs))
        facts["neighbours"] = f"{n_alike:,} of {format_count(n_pairs, 'pair')} cannot be told apart"
    if found.deciding_task:
        leader = found.leave_one_out().filter(task=found.deciding_task)["leader"][0]
        facts[f"without {found.deciding_task}"] = f"{leader} leads"
    return facts


def _ranking(found: Leaderboard) -> Table:
    """Return a row for each model."""
    rows: list[dict[str, Any]] = [
        row
        | {
            "letter": letter(row["tier"]),
            "ci": Span(row["low"], row["high"]) if row["rank_low"] is not None else None,
            "bounds": Span(row["mean_low"], row["mean_high"]) if row.get("mean_low") is not None else None,
            "ranks": ranks(row["rank_low"], row["rank_high"]),
            "p_best": share_cell(row["p_best"]),
            "of_ties": Span(row["tie_min"], row["tie_max"]) if row["tie_min"] is not None else None,
        }
        for row in found.rows()
    ]
    columns = [
        Column("rank", "rank"),
        Column("mean", "mean"),
        *([Column("bounds", "mean is in", ends=("mean_low", "mean_high"))] if found.value_range else []),
        Column("ci", f"{format_level(found.confidence_level)} CI", spare=2),
        Column("ranks", "ranks"),
        Column("rank_low", "rank low", is_data=True),
        Column("rank_high", "rank high", is_data=True),
        Column("letter", "tier"),
        Column("tier", "tier number", is_data=True),
        Column("mean_rank", "mean rank", spare=3, is_extra=True),
        Column("p_best", "P(best)", spare=4),
        Column("resampled_rank_low", "resampled rank low", is_data=True),
        Column("resampled_rank_high", "resampled rank high", is_data=True),
        *(
            []
            if found.tie_min is None
            else [Column("of_ties", "tie orders", ends=("tie_min", "tie_max"), spare=5, is_extra=True)]
        ),
        Column("tie_rank_low", "tie rank low", is_data=True),
        Column("tie_rank_high", "tie rank high", is_data=True),
        Column("n_tasks", "tasks", is_data=not (found.incomplete or found.value_range)),
        *(
            Column(f"mean_{name}", name, spare=6, is_extra=len(found.group_means) > MOST_ON_PAGE)
            for name in found.group_means
        ),
    ]
    return tabulate("leaderboard", (MODEL,), columns, rows, title=f"Models by mean {found.measure}", main=1)


def _sampled(found: Leaderboard) -> str:
    """Return what was resampled."""
    return first_true(
        {
            "queries within each task; tasks are fixed": found.sampling == "fixed",
            "tasks, and queries within each": found.has_queries,
        },
        "tasks alone; their queries are not known",
    )


def _caption(found: Leaderboard) -> str:
    what = "of groups of tasks" if found.groups else f"over {format_count(len(found.tasks), 'task')}"
    sure = (
        "Models of one tier (letter) cannot be told from the best of it. Ranks: simultaneous"
        f" {format_level(found.confidence_level)} intervals, resampling {_sampled(found)}."
    )
    of_ranks = f"Which differences are sure is not known: {found.unknown}." if found.tiers is None else sure
    return f"Mean {found.measure} {what}; the best of each column is bold. {of_ranks}"


def _facts(board: Leaderboard) -> list[Fact]:
    """Return what is said below the tables."""
    n_tasks = len(board.tasks)
    facts: list[Fact] = []
    facts.append(Fact("n_tasks", n_tasks, "tasks", f"{n_tasks}: {format_list(list(board.tasks))}"))
    weights = dict(zip(board.tasks, board.shares.tolist(), strict=True))
    facts.append(Fact("shares", weights, "weights", _describe_weights(board)))
    facts.append(prose_fact("mean", _describe_mean(board)))
    facts += _tell_ranks(board)
    facts += _tell_ties(board)
    lacking = {model: sorted(set(board.tasks) - set(tasks)) for model, tasks in board.incomplete.items()}
    if lacking:
        models = format_count(len(lacking), "model")
        apart = f"{models} without all tasks, not ranked: {format_list(list(lacking))}"
        facts.append(Fact("incomplete", lacking, "apart", apart, is_note=True))
    if board.value_range and np.isnan(board.values).any():
        low, high = board.value_range
        facts.append(note_fact("missing", f"a missing value is taken to be anything from {low:g} to {high:g}"))
    if board.deciding_task:
        facts.append(Fact("deciding_task", board.deciding_task, "decides", _describe_deciding_tasks(board)))
    for text in board.notes:
        facts.append(note_fact("results", text))
    return facts


def _describe_weights(board: Leaderboard) -> str:
    """Say how much tasks count."""
    groups = list(dict.fromkeys(board.groups))
    if groups:
        n_groups = format_count(len(groups), "group")
        return f"{n_groups} count the same: {format_list(groups)}; within each, tasks by their weights"
    are_equal = len({round(share, 12) for share in board.shares.tolist()}) == 1
    if are_equal:
        return "all tasks count the same"
    return "given"


def _describe_mean(board: Leaderboard) -> str:
    """Say what is averaged, and over what."""
    over = "tasks of a group, then over groups" if board.groups else "tasks"
    direction = "" if board.higher_is_better else "; less is better"
    return f"over {over}, of {board.measure}{direction}"


def _tell_ranks(board: Leaderboard) -> list[Fact]:
    """Say how ranks and tiers were made, or why there are none."""
    if board.uncertainty is None:
        return [warning_fact("ranks", f"no intervals and tiers: {board.unknown}")]
    intervals = f"simultaneous {format_level(board.confidence_level)} intervals of all differences"
    by_intervals = f"by {intervals} (Mogstad et al. 2024)"
    return [
        Fact("resampled", board.sampling, "resampled", _sampled(board)),
        Fact("critical", board.uncertainty.critical, "ranks", by_intervals),
        prose_fact("tier", "not told from the best of those left"),
        prose_fact("CI", "of each mean by itself: Student's t"),
    ]


def _tell_ties(board: Leaderboard) -> list[Fact]:
    """Say which differences of means ties could reverse, or why that is not known."""
    if board.tie_min is None:
        return [prose_fact("ties", "not known of these values")]
    if board.reversible is None:
        return [prose_fact("ties", "not told where values are missing")]
    reversible = [list(pair) for pair in board.reversible]
    brief = _count_reversible(board)
    return [
        Fact("reversible", reversible, "ties", _reversible(board), brief=brief),
        Fact("tie_share", board.tie_share),
    ]


def _describe_deciding_tasks(board: Leaderboard) -> str:
    """Name the tasks without which another model leads."""
    tasks = [task for task, leader, *_ in board.leave_one_out().iter_rows() if leader != board.models[0]]
    these = "it" if len(tasks) == 1 else "each of these"
    return f"{format_list(tasks)}: without {these} another leads"


def _count_reversible(found: Leaderboard) -> str:
    """Say how many orders of two models tie order alone can reverse; empty if none."""
    if not found.reversible:
        return ""
    return f"their order alone can reverse {format_count(len(found.reversible), 'pair')} of models"


def _reversible(found: Leaderboard) -> str:
    """Say which orders of two models tie order alone can reverse."""
    if not found.reversible:
        return "no order of equal scores changes the order of two models"
    pairs = [f"{one} over {other}" for one, other in found.reversible]
    return f"{_count_reversible(found)}: {format_list(pairs)}"
