"""The report of a leaderboard: ranks as intervals, and tiers."""

import numpy as np

from deadheat.core.report.cells import Cell, Span, ranked, ranks, share_cell
from deadheat.core.report.model import (
    Column,
    Fact,
    Report,
    Table,
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
MOST = 5  # tasks without which people see the order
MOST_ON_PAGE = 5  # tasks or groups beside the mean that fit a page
MOST_COLUMNS = 13  # tasks beside the mean that the full report has


@registers_report(Leaderboard, in_brief=True)
def report_leaderboard(board: Leaderboard, *, for_people: bool = True, compact: bool = False) -> Report:
    """Return the report of a leaderboard.

    Parameters
    ----------
    board : Leaderboard
    for_people : bool, default True
        Whether orders without a task are the first few.
    compact : bool, default False
        Whether it is one table, for a paper.
    """
    facts = _list_facts(board)
    if compact:
        tables = [_list_models_compactly(board)]
        facts = [fact for fact in facts if fact.is_note]
    else:
        tables = [_list_models(board), _list_task_values(board)]
        if board.without_tasks:
            tables.append(_list_orders_without_task(board, for_people=for_people))
    return Report(
        tuple(tables), tuple(facts), headline=_make_headline(board), summary=summarise(_describe_order(board))
    )


def _list_task_values(board: Leaderboard) -> Table:
    """Return a row for each model and a column for each task; narrow tables leave out the last tasks first."""
    columns = [Column(task, task, spare=place) for place, task in enumerate(board.tasks)]
    rows = board.task_values().to_dicts()
    return tabulate("tasks", (MODEL,), columns, rows, title=f"{board.measure} by task", is_extra=True)


def _list_orders_without_task(board: Leaderboard, *, for_people: bool) -> Table:
    """Return what the order is without each task, that which changes most first."""
    rows = board.leave_one_out().to_dicts()
    title = "The order without one task"
    if for_people and len(rows) > MOST:
        rows = rows[:MOST]
        title += f" (the {MOST} that change most)"
    columns = (Column("leader", "leader"), Column("tau_b", "tau_b"), Column("n_swapped", "pairs swapped"))
    return tabulate("without_task", (Column("task", "without"),), columns, rows, title=title, is_extra=True)


def _list_models_compactly(board: Leaderboard) -> Table:
    """Return the table of a paper: models by groups or tasks, the best bold, and letters for tiers."""
    model_rows = board.rows()[: len(board.models)]  # without the incomplete ones
    values_by_column = {"mean": [row["mean"] for row in model_rows]}
    for group, means in board.group_means.items():
        values_by_column[group] = means.tolist()
    if not board.groups and len(board.tasks) <= MOST_COLUMNS:
        for place, task in enumerate(board.tasks):
            values_by_column[task] = board.values[:, place].tolist()
    sign = 1 if board.higher_is_better else -1
    cells_by_column = {}
    for name, values in values_by_column.items():
        cells_by_column[name] = ranked(sign, dict(zip(board.models, values, strict=True)))
    rows = []
    for place, model_row in enumerate(model_rows):
        row: dict[str, Cell] = {
            "model": model_row["model"],
            "tier": letter(model_row["tier"]),
            "ranks": ranks(model_row["rank_low"], model_row["rank_high"]),
            "bounds": Span(board.mean_low[place], board.mean_high[place]),
        }
        for name, cells in cells_by_column.items():
            row[name] = cells[model_row["model"]]
        rows.append(row)
    columns = [Column("ranks", "ranks")]
    if board.value_range:
        columns.append(Column("bounds", "mean is in"))
    columns.append(Column("mean", "mean"))
    others = [name for name in values_by_column if name != "mean"]
    is_extra = len(values_by_column) > MOST_ON_PAGE + 1  # with the mean
    for name in others:
        columns.append(Column(name, name, is_extra=is_extra))
    labels = (Column("tier", "tier"), MODEL)
    return tabulate("leaderboard", labels, columns, rows, caption=_make_caption(board), main=-1)


def _make_headline(board: Leaderboard) -> str:
    """Say who is first, and how many models cannot be told from it."""
    best = board.models[0]
    if len(board.models) == 1:
        return f"{best} is the only model on all tasks."
    if board.tiers is None:
        return _make_headline_without_tiers(board)
    n_best = max(board.ranks.count(1), 1)  # of a rank that a missing value leaves open the best model counts alone
    n_not_told_apart = board.tiers.count(1) - n_best
    if n_best > 1:
        finding = f"{format_names(board.models[:n_best])} share the best mean {board.measure}"
        pronoun = "them"
    elif not n_not_told_apart:
        return f"{best} is above all others by more than chance."
    else:
        verb = "is" if board.ranks[0] else "may be"
        finding = f"{best} {verb} first"
        pronoun = "it"
    if n_not_told_apart:
        n_others = format_count(len(board.models) - n_best, "other model")
        finding += f"; {n_not_told_apart} of {n_others} cannot be told from {pronoun}"
    return f"{finding}."


def _make_headline_without_tiers(board: Leaderboard) -> str:
    """Say who has the best mean, where intervals are not known."""
    best_models = [model for model, rank in zip(board.models, board.ranks, strict=True) if rank == 1]
    if not best_models:
        return f"It is open which model has the best mean {board.measure}."
    verb = "share" if len(best_models) > 1 else "has"
    names = format_names(best_models)
    return f"{names} {verb} the best mean {board.measure}; which differences are sure is not known."


def _describe_order(board: Leaderboard) -> dict[str, str]:
    """Return what the headline rests on: which models cannot be told from the first, and how many neighbours."""
    facts: dict[str, str] = {}
    n_pairs = len(board.models) - 1
    if n_pairs and board.tiers is not None and board.uncertainty is not None:
        n_best = max(board.ranks.count(1), 1)
        in_first_tier = [model for model, tier in zip(board.models, board.tiers, strict=True) if tier == 1]
        not_told_apart = in_first_tier[n_best:]
        if not_told_apart:
            facts["not told apart"] = format_list(not_told_apart)
        n_alike = sum(not board.uncertainty.better[place, place + 1] for place in range(n_pairs))
        facts["neighbours"] = f"{n_alike:,} of {format_count(n_pairs, 'pair')} cannot be told apart"
    if board.deciding_task:
        leader = board.leave_one_out().filter(task=board.deciding_task)["leader"][0]
        facts[f"without {board.deciding_task}"] = f"{leader} leads"
    return facts


def _list_models(board: Leaderboard) -> Table:
    """Return a row for each model."""
    rows = []
    for model_row in board.rows():
        row = dict(model_row)
        row["letter"] = letter(row["tier"])
        row["ci"] = None if row["rank_low"] is None else Span(row["low"], row["high"])
        row["bounds"] = None if row.get("mean_low") is None else Span(row["mean_low"], row["mean_high"])
        row["ranks"] = ranks(row["rank_low"], row["rank_high"])
        row["p_best"] = share_cell(row["p_best"])
        row["of_ties"] = None if row["tie_min"] is None else Span(row["tie_min"], row["tie_max"])
        rows.append(row)
    columns = _list_columns(board)
    return tabulate("leaderboard", (MODEL,), columns, rows, title=f"Models by mean {board.measure}", main=1)


def _list_columns(board: Leaderboard) -> list[Column]:
    """Return the columns of the table of models."""
    columns = [Column("rank", "rank"), Column("mean", "mean")]
    if board.value_range:
        columns.append(Column("bounds", "mean is in", ends=("mean_low", "mean_high")))
    columns += [
        Column("ci", f"{format_level(board.confidence_level)} CI", spare=2),
        Column("ranks", "ranks"),
        Column("rank_low", "rank low", is_data=True),
        Column("rank_high", "rank high", is_data=True),
        Column("letter", "tier"),
        Column("tier", "tier number", is_data=True),
        Column("mean_rank", "mean rank", spare=3, is_extra=True),
        Column("p_best", "P(best)", spare=4),
        Column("resampled_rank_low", "resampled rank low", is_data=True),
        Column("resampled_rank_high", "resampled rank high", is_data=True),
    ]
    if board.tie_min is not None:
        columns.append(Column("of_ties", "tie orders", ends=("tie_min", "tie_max"), spare=5, is_extra=True))
    may_lack_tasks = board.incomplete or board.value_range
    columns += [
        Column("tie_rank_low", "tie rank low", is_data=True),
        Column("tie_rank_high", "tie rank high", is_data=True),
        Column("n_tasks", "tasks", is_data=not may_lack_tasks),
    ]
    are_groups_extra = len(board.group_means) > MOST_ON_PAGE
    for group in board.group_means:
        columns.append(Column(f"mean_{group}", group, spare=6, is_extra=are_groups_extra))
    return columns


def _describe_sampling(board: Leaderboard) -> str:
    """Return what was resampled."""
    if board.sampling == "fixed":
        return "queries within each task; tasks are fixed"
    if board.has_queries:
        return "tasks, and queries within each"
    return "tasks alone; their queries are not known"


def _make_caption(board: Leaderboard) -> str:
    """Return the caption of the table of a paper."""
    over = "of groups of tasks" if board.groups else f"over {format_count(len(board.tasks), 'task')}"
    if board.tiers is None:
        certainty = f"Which differences are sure is not known: {board.unknown}."
    else:
        level = format_level(board.confidence_level)
        certainty = (
            "Models of one tier (letter) cannot be told from the best of it. Ranks: simultaneous"
            f" {level} intervals, resampling {_describe_sampling(board)}."
        )
    return f"Mean {board.measure} {over}; the best of each column is bold. {certainty}"


def _list_facts(board: Leaderboard) -> list[Fact]:
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
        Fact("resampled", board.sampling, "resampled", _describe_sampling(board)),
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
        Fact("reversible", reversible, "ties", _describe_reversible(board), brief=brief),
        Fact("tie_share", board.tie_share),
    ]


def _describe_deciding_tasks(board: Leaderboard) -> str:
    """Name the tasks without which another model leads."""
    tasks = [task for task, leader, *_ in board.leave_one_out().iter_rows() if leader != board.models[0]]
    these = "it" if len(tasks) == 1 else "each of these"
    return f"{format_list(tasks)}: without {these} another leads"


def _count_reversible(board: Leaderboard) -> str:
    """Say how many orders of two models tie order alone can reverse; empty if none."""
    if not board.reversible:
        return ""
    return f"their order alone can reverse {format_count(len(board.reversible), 'pair')} of models"


def _describe_reversible(board: Leaderboard) -> str:
    """Say which orders of two models tie order alone can reverse."""
    if not board.reversible:
        return "no order of equal scores changes the order of two models"
    pairs = [f"{better} over {worse}" for better, worse in board.reversible]
    return f"{_count_reversible(board)}: {format_list(pairs)}"
