"""Embeddings of documents and texts, drawn at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from deadheat.api import FloatArray

N_DOCUMENTS, N_TEXTS = 517, 301


def drawn(n_dimensions: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Return embeddings of documents and texts, many of them equal, at random places."""
    rng = np.random.default_rng(seed)
    documents = rng.standard_normal((N_DOCUMENTS, n_dimensions)).astype(np.float32)
    texts = rng.standard_normal((N_TEXTS, n_dimensions)).astype(np.float32)
    documents[rng.integers(0, N_DOCUMENTS, 150)] = documents[7]
    documents[rng.integers(0, N_DOCUMENTS, 50)] = documents[11]
    texts[rng.integers(0, N_TEXTS, 60)] = texts[3]
    return documents, texts
