"""A fixture for pytest that asserts on measures; pytest finds it by its entry point.

.. code-block:: python

    def test_retriever(assert_ranking):
        assert_ranking("qrels.txt", search_all(), ["nDCG@10 >= 0.8", "low(RR) > 0.7"])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from deadheat.core import hooks


@pytest.fixture(scope="session")
def assert_ranking() -> Callable[..., Any]:
    """Assert on measures: ``assert_ranking(qrels, run, "nDCG@10 >= 0.8")``, or of an Evaluation and gates."""
    check_ranking: Callable[..., Any] = hooks.service("assert_ranking").check_ranking
    return check_ranking
