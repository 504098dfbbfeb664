"""Wilcoxon's signed-rank test in whole numbers."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np


def signed_rank(column: Any, alternative: str) -> float:  # noqa: ANN401 - passed on
    """Count in whole numbers how many sign patterns give each sum of ranks, one rank after the other."""
    differences = [Fraction(one) for one in np.asarray(column).tolist() if one]
    sizes = sorted(abs(one) for one in differences)
    twice = {size: 2 * sizes.index(size) + sizes.count(size) + 1 for size in sizes}  # the mean rank, doubled
    ways = Counter({0: 1})
    for one in differences:
        ways = Counter(ways) + Counter({total + twice[abs(one)]: n for total, n in ways.items()})
    observed, everything = sum(twice[abs(one)] for one in differences if one > 0), 2 ** len(differences)
    greater = Fraction(sum(n for total, n in ways.items() if total >= observed), everything)
    less = Fraction(sum(n for total, n in ways.items() if total <= observed), everything)
    return float({"two-sided": min(2 * min(greater, less), Fraction(1)), "greater": greater, "less": less}[alternative])
