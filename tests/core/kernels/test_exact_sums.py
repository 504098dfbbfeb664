"""Sums over segments are those of the segments alone, to the last bit."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from deadheat.core.kernels.exact_sums import sum_segments


@pytest.mark.parametrize("longest", [1, 9, 40, 300, 3000])
def test_sums_are_those_of_each_segment_alone(longest: int) -> None:
    rng = np.random.default_rng(longest)
    lengths = rng.integers(0, longest + 1, 50)
    bounds = np.append(0, np.cumsum(lengths))
    values = rng.random(bounds[-1]) * 10.0 ** rng.integers(-5, 6, bounds[-1])
    alone = [float(values[first:last].sum()) for first, last in pairwise(bounds.tolist())]
    assert sum_segments(values, bounds).tolist() == alone


def test_no_segments_have_no_sums() -> None:
    assert sum_segments(np.zeros(0), np.array([0])).tolist() == []
