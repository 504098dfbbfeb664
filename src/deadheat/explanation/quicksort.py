"""The order in which a quicksort leaves equal numbers, as that of Numba does, with which ranx sorts."""

from collections.abc import Sequence

SMALL = 15  # a shorter stretch is sorted by insertion, which keeps equal numbers in their order


def order_of(keys: Sequence[float]) -> list[int]:
    """Return the indices that sort numbers, equal ones in the order that the swaps leave them in.

    The pivot is the median of the first, the middle and the last number of a stretch, and numbers equal to it are
    swapped from both sides.

    Parameters
    ----------
    keys : sequence of float

    Examples
    --------
    >>> order_of([2, 1, 1, 3])
    [1, 2, 0, 3]
    >>> order_of([0] * 20)[:4]
    [18, 17, 16, 15]
    """
    order = list(range(len(keys)))
    stretches = [(0, len(keys) - 1)]
    while stretches:
        low, high = stretches.pop()
        if high - low < SMALL:
            order[low : high + 1] = sorted(order[low : high + 1], key=keys.__getitem__)
            continue
        middle = _split(keys, order, low, high)
        stretches += [(low, middle - 1), (middle + 1, high)]
    return order


def _split(keys: Sequence[float], order: list[int], low: int, high: int) -> int:
    """Put smaller numbers before the pivot and larger ones behind it; return its place."""
    middle = (low + high) // 2
    for one, other in ((low, middle), (middle, high), (low, middle)):
        if keys[order[other]] < keys[order[one]]:
            order[one], order[other] = order[other], order[one]
    pivot = keys[order[middle]]
    order[high], order[middle] = order[middle], order[high]
    left, right = low, high - 1
    while True:
        while left < high and keys[order[left]] < pivot:
            left += 1
        while right >= low and pivot < keys[order[right]]:
            right -= 1
        if left >= right:
            break
        order[left], order[right] = order[right], order[left]
        left += 1
        right -= 1
    order[left], order[high] = order[high], order[left]
    return left
