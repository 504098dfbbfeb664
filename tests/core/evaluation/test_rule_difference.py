"""What separates values under a rule from the exact ones, and what is a rounding error beside them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import deadheat as dh
from deadheat.core.evaluation.rule_difference import difference_of, differences


@pytest.mark.parametrize(
    ("exact", "by_rule", "expected"),
    [
        (0.5, 0.5 + 1e-13, 0.0),  # a rounding error
        (0.5, 0.5 + 1e-11, 1e-11),
        (1e4, 1e4 + 1e-9, 0.0),  # of large values it is larger
        (1e4, 1e4 + 1e-7, 1e-7),
        (-1e4, -1e4 - 1e-9, 0.0),
    ],
)
def test_rounding_errors_are_no_differences(exact: float, by_rule: float, expected: float) -> None:
    scores = dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "DCG")["DCG"]
    exact_scores = replace(scores, values=np.array([exact]))
    scores_by_rule = replace(scores, values=np.array([by_rule]))
    np.testing.assert_allclose(differences(exact_scores, scores_by_rule), [expected], rtol=1e-3)
    difference = difference_of(exact_scores, scores_by_rule, "doc_id")
    assert difference.max == pytest.approx(abs(expected), rel=1e-3)
    assert difference.query_id == ("q" if expected else "")
