"""Groups of items that share keys, directly or by way of other items."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

import numpy as np


def joined_groups(keys: Sequence[Collection[Hashable]]) -> list[int]:
    """Return the group of each item, as a number: items of a group share a key, directly or by way of other items.

    Parameters
    ----------
    keys : sequence of collections
        The keys of each item; an item without keys is a group by itself.

    Examples
    --------
    >>> joined_groups([{"a"}, {"b"}, {"b", "a"}, {"c"}, ()])
    [0, 0, 0, 1, 2]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not keys:
        return []
    # a graph whose nodes are the items, and behind them the keys
    n_items = len(keys)
    node_of_key: dict[Hashable, int] = {}
    items = []
    nodes = []
    for item, keys_of_item in enumerate(keys):
        for key in keys_of_item:
            node = node_of_key.setdefault(key, n_items + len(node_of_key))
            items.append(item)
            nodes.append(node)
    n_nodes = n_items + len(node_of_key)
    ends = (np.array(items, np.int64), np.array(nodes, np.int64))
    graph = coo_array((np.ones(len(items)), ends), shape=(n_nodes, n_nodes))
    _, labels = connected_components(graph)
    return [int(label) for label in labels[:n_items]]
