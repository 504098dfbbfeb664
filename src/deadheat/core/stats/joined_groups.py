"""Groups of items that share keys, directly or by way of others."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

import numpy as np


def joined_groups(keys: Sequence[Collection[Hashable]]) -> list[int]:
    """Return a number for each item, the same for those that share a key, directly or by way of others.

    Parameters
    ----------
    keys : sequence of collections
        What each item has; one that has nothing is alone.

    Examples
    --------
    >>> joined_groups([{"a"}, {"b"}, {"b", "a"}, {"c"}, ()])
    [0, 0, 0, 1, 2]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not keys:
        return []
    places: dict[Hashable, int] = {}
    ends = [(n, places.setdefault(key, len(keys) + len(places))) for n, own in enumerate(keys) for key in own]
    size = len(keys) + len(places)
    rows, columns = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    labels = connected_components(coo_array((np.ones(len(ends)), (rows, columns)), shape=(size, size)))[1]
    return [int(label) for label in labels[: len(keys)]]
