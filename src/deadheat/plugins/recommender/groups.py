"""Groups of items, such as producers or genres: a table with a row for each item, or for each of its groups."""

from collections.abc import Iterable, Iterator, Mapping

from deadheat.core.data.known_ids import ID_NAMES
from deadheat.core.data.sources import Source, as_path
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.io.columns import find_column
from deadheat.core.io.records import as_text, read_rows
from deadheat.core.structures import group_values

BETWEEN = "|"  # several groups of an item in one field


def read_groups(source: Source) -> dict[str, list[str]]:
    """Return the items of each group, sorted by group.

    Parameters
    ----------
    source : path, dict, list of dict or dataframe
        A table with a column of items and a column ``group``, or one other column; an item with several groups has
        several rows, or ``a|b``. An item without a group is in none. Also ``{item: group}`` and ``{group: [item]}``.

    Raises
    ------
    ColumnError
        The table has no such columns.
    DataError
        A row has no item.
    ParameterError
        A group has no items, or there is no group.

    Examples
    --------
    >>> read_groups({"a": "new", "b": "old", "c": "new"}), read_groups({"new": ["a", "c"], "old": ["b"]})
    ({'new': ['a', 'c'], 'old': ['b']}, {'new': ['a', 'c'], 'old': ['b']})
    """
    if isinstance(source, Mapping) and any(not isinstance(one, str | int | float | None) for one in source.values()):
        given: Mapping[object, Iterable[object]] = source
        if empty := [group for group, items in given.items() if not list(items)]:
            raise ParameterError(f"group {empty[0]!r} has no items", argument="groups", hint="leave it out")
        rows: Iterable[tuple[str, str | None]] = [(str(one), str(group)) for group in given for one in given[group]]
    elif isinstance(source, Mapping):
        rows = [(str(item), as_text(group)) for item, group in source.items()]
    else:
        rows = _rows(source)
    pairs = dict.fromkeys(
        (name, item) for item, field in rows for group in (field or "").split(BETWEEN) if (name := group.strip())
    )
    if not pairs:
        raise ParameterError("names no group of any item", argument="groups")
    return dict(sorted(group_values(pairs).items()))


def _rows(source: Source) -> Iterator[tuple[str, str | None]]:
    """Yield the item and the field of its groups of each row of a table."""
    path = as_path(source)
    where, names = str(path or "groups"), ("", "")
    for place, row in enumerate(read_rows(source, path, "groups"), start=1):
        names = names if names[0] else _columns(list(row), where)
        item, group = (row.get(name) for name in names)
        if not (text := as_text(item)):
            raise DataError(f"row {place} of the groups has no item", path=where)
        yield text, BETWEEN.join(map(str, group)) if isinstance(group, list | tuple) else as_text(group)


def _columns(columns: list[str], where: str) -> tuple[str, str]:
    """Return which columns hold the item and its group."""
    item = find_column(ID_NAMES, columns, "no column of items in the table of groups", where)
    others = [name for name in columns if name != item]
    problem = "no column group in the table of groups"
    return item, others[0] if len(others) == 1 else find_column(["group"], others, problem, where)
