"""What is said of evaluations that were brought together."""

from __future__ import annotations

from typing import Any

import pytest

from deadheat.core.evaluation.reconciling import Reconciled


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"old": "1 judgment is new"}, ["1 judgment is new"]),  # there is no doubt whose
        ({"old": "1 is new", "older": "2 are new"}, ["old: 1 is new", "older: 2 are new"]),
    ],
)
def test_changes_of_several_evaluations_have_their_names(changes: dict[str, Any], expected: list[str]) -> None:
    together = Reconciled("rescore", "new", tuple(changes), changes, (), (), 5)
    *lines, how = together.describe()
    assert lines == expected
    assert all(name in how for name in changes)
