"""Tables of saves whose rows name what is not there."""

from __future__ import annotations

import numpy as np
import pytest

from deadheat.core.evaluation.packed_tables import check_codes
from deadheat.core.evaluation.shapes import WrongValueError


@pytest.mark.parametrize("codes", [[], [0], [0, 2, 1]])
def test_codes_of_what_is_there(codes: list[int]) -> None:
    check_codes("scores", np.array(codes, np.int64), 3)


@pytest.mark.parametrize("codes", [[3], [-1], [0, 1, 2, 3], [2, -1]])
def test_codes_of_what_is_not_there(codes: list[int]) -> None:
    with pytest.raises(WrongValueError, match="scores"):
        check_codes("scores", np.array(codes, np.int64), 3)
