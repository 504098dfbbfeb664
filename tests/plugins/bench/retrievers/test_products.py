"""Scores of embeddings: those of two vectors are the same bits in any batch, block, order and number of threads."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from operator import mul
from typing import TYPE_CHECKING

import numpy as np
import pytest

from deadheat import Collection, Embedding
from deadheat.plugins.bench.retrievers.embedding import ROWS, products, rounded
from support.drawn_embeddings import N_DOCUMENTS, N_TEXTS, drawn
from support.letters import Letters
from support.paths import TESTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deadheat.api import FloatArray


class Searched:
    """Embeddings that were drawn, as a retriever whose documents are named by their numbers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, n_dimensions: int) -> None:
        self.documents, self.texts = drawn(n_dimensions)

        def encode(_: Letters, texts: Sequence[str], **__: object) -> FloatArray:
            return np.stack([(self.documents if text[0] == "d" else self.texts)[int(text[1:])] for text in texts])

        monkeypatch.setattr(Letters, "encode", encode)
        ids = tuple(f"d{number}" for number in range(N_DOCUMENTS))
        self.retriever = Embedding("m", cache=False)
        self.retriever.index(Collection("drawn", ids, ids, ((),) * N_DOCUMENTS))

    def scores(self, numbers: Sequence[int]) -> FloatArray:
        """Return the score of every document for some texts, of shape (n_texts, n_documents)."""
        hits = self.retriever.search([f"t{number}" for number in numbers], N_DOCUMENTS)
        found = np.full((len(numbers), N_DOCUMENTS), np.nan)
        found[hits.text, [int(doc[1:]) for doc in hits.doc_id]] = hits.score
        return found


@pytest.mark.slow
@pytest.mark.usefixtures("letters")
@pytest.mark.parametrize("n_dimensions", [5, 100, 384])
def test_equal_embeddings_tie_in_any_batch_and_block(n_dimensions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    searched = Searched(monkeypatch, n_dimensions)
    whole = searched.scores(range(N_TEXTS))
    exact = searched.texts.astype(np.float64) @ searched.documents.T.astype(np.float64)
    np.testing.assert_allclose(whole, exact, atol=1e-4)
    for vectors, scores in ((searched.documents, whole.T), (searched.texts, whole)):
        for number in (7, 11, 3):
            same = (vectors == vectors[number]).all(axis=1)
            assert (scores[same] == scores[number]).all()
    for cells in (1, 1000, 100 * N_DOCUMENTS, 1 << 30):
        monkeypatch.setattr("deadheat.plugins.bench.retrievers.embedding.MAX_CELLS", cells)
        assert np.array_equal(searched.scores(range(N_TEXTS)), whole)
    shuffled = np.random.default_rng(1).permutation(N_TEXTS)
    assert np.array_equal(searched.scores(shuffled.tolist()), whole[shuffled])
    for batch in ([0], [5, 3], [*range(20, 37)], [N_TEXTS - 1, 3, 3]):
        assert np.array_equal(searched.scores(batch), whole[batch])


@pytest.mark.usefixtures("letters")
def test_threads_find_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = Searched(monkeypatch, 100)
    whole = searched.scores(range(N_TEXTS))
    batches = [[*range(start, min(start + 37, N_TEXTS))] for start in range(0, N_TEXTS, 37)]
    with ThreadPoolExecutor(4) as pool:
        assert np.array_equal(np.concatenate(list(pool.map(searched.scores, batches))), whole)


PROGRAM = """
import hashlib
from support.drawn_embeddings import drawn
from deadheat.plugins.bench.retrievers.embedding import products, rounded
documents, texts = drawn(100)
print(hashlib.sha256(products(rounded(texts), rounded(documents)).tobytes()).hexdigest())
"""


@pytest.mark.slow
@pytest.mark.parametrize("n_threads", ["1", "2"])
def test_another_number_of_threads_gives_the_same_bits(n_threads: str) -> None:
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, **dict.fromkeys(names, n_threads), "PYTHONPATH": path}
    told = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    documents, texts = drawn(100)
    assert told.stdout.strip() == hashlib.sha256(products(rounded(texts), rounded(documents)).tobytes()).hexdigest()


@pytest.mark.parametrize("n_dimensions", [1, 2, 7, 64, 65, 384, 1000, 4096])
def test_products_need_no_rounding(n_dimensions: int) -> None:
    """They are those of whole numbers in Python, rounded once, and close to those of the vectors as given."""
    rng = np.random.default_rng(n_dimensions)
    scale = np.array([[1.0], [1e-12], [1e15]])
    left, right = ((rng.standard_normal((3, n_dimensions)) * scale).astype(np.float32) for _ in range(2))
    right[1] = np.abs(right[1]).max()  # the largest sums
    one, other = rounded(left), rounded(right)
    expected = [
        [float(np.float32(float(sum(map(mul, row, column))))) for column in fractions(other)] for row in fractions(one)
    ]
    assert products(one, other).tolist() == expected
    exact = left.astype(np.float64) @ right.T.astype(np.float64)
    sizes = np.linalg.norm(left.astype(np.float64), axis=1)[:, None] * np.linalg.norm(right.astype(np.float64), axis=1)
    assert (np.abs(products(one, other) - exact) <= 2e-6 * sizes).all()


def fractions(vectors: FloatArray) -> list[list[Fraction]]:
    return [[Fraction(number) for number in row] for row in vectors.tolist()]


def test_products_of_more_than_a_block() -> None:
    rng = np.random.default_rng(2)
    left, right = (rounded(rng.standard_normal((size, 7)).astype(np.float32)) for size in (5, ROWS + 5))
    found = products(left, right)
    np.testing.assert_allclose(found, left.astype(np.float64) @ right.T.astype(np.float64), rtol=1e-6)
    assert np.array_equal(products(left[-2:], right[-3:]), found[-2:, -3:])


def test_rounding_keeps_zeros_and_the_smallest_numbers() -> None:
    small = np.array([[1e-45, 3e-45], [0.0, -0.0]], np.float32)
    assert rounded(small).tolist() == small.tolist()
    assert rounded(np.zeros((0, 3), np.float32)).shape == (0, 3)
    assert not np.signbit(products(small[1:], small[1:])).any()
