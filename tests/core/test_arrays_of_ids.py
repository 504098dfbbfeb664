"""Which ids are among others, against a loop."""

from __future__ import annotations

import numpy as np
import pytest

from deadheat.core.arrays import are_same_ids, is_member

SOME = [[], ["a"], ["a", "b"], ["b", "a"], ["a", "c"], ["a", "b", "c"]]


@pytest.mark.parametrize("ids", SOME)
@pytest.mark.parametrize("others", SOME)
def test_ids_among_others(ids: list[str], others: list[str]) -> None:
    first, second = np.array(ids, object), np.array(others, object)
    assert is_member(first, second).tolist() == [text in others for text in ids]
    assert is_member(first, second).dtype == np.bool_
    assert are_same_ids(first, second) == (ids == others)
