"""Ties in GAP and Q whose documents are alike: no order changes the value, so nothing of a rounding error may stay."""

from __future__ import annotations

import numpy as np
import pytest

from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.measures.notation import parse_measure
from deadheat.core.placements.place import place


@pytest.mark.parametrize("notation", ["GAP", "GAP@3", "Q", "Q(beta=10)@3"])
@pytest.mark.parametrize("n_above", [0, 2, 5])
def test_a_tie_of_documents_that_are_alike_has_no_variance(notation: str, n_above: int) -> None:
    for n_tied in range(2, 20):
        above = [f"a{n}" for n in range(n_above)]
        tied = [f"t{n}" for n in range(n_tied)]
        qrels = Qrels.of({"q": dict.fromkeys(above, 1) | dict.fromkeys(tied, 2) | {"not retrieved": 3}})
        run = Run.of({"q": {doc_id: 100.0 - n for n, doc_id in enumerate(above)} | dict.fromkeys(tied, 1.0)})
        variance = parse_measure(notation).variance(place(qrels, run))
        np.testing.assert_array_equal(variance, [0.0])


# Of two relevant documents on ranks 1 and 2, 1 and 3, 2 and 3. GAP is AP of one relevance; Q on the first relevant rank
# i is (1 + 1) / (i + min(i, 2)), on the second (2 + 2) / (i + 2).
@pytest.mark.parametrize(
    ("notation", "values"),
    [
        ("GAP", [(1 + 2 / 2) / 2, (1 + 2 / 3) / 2, (1 / 2 + 2 / 3) / 2]),
        ("Q", [(2 / 2 + 4 / 4) / 2, (2 / 2 + 4 / 5) / 2, (2 / 4 + 4 / 5) / 2]),
    ],
)
def test_a_tie_of_one_relevance_and_an_unjudged_document_has_a_variance(notation: str, values: list[float]) -> None:
    placements = place(Qrels.of({"q": {"a": 1, "b": 1}}), Run.of({"q": dict.fromkeys("abc", 1.0)}))
    measure = parse_measure(notation)
    np.testing.assert_allclose(measure.mean(placements), [np.mean(values)], rtol=1e-12)
    np.testing.assert_allclose(measure.variance(placements), [np.var(values)], rtol=1e-12)
