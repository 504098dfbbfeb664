"""A model of embeddings that needs no library."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from deadheat.api import FloatArray


class Letters:
    """Stands for a sentence-transformers model: the embedding of a text counts its letters a to e, and its prompt."""

    loaded: ClassVar[list[str]] = []
    given: ClassVar[list[dict[str, object]]] = []
    encoded: ClassVar[list[str]] = []
    asked: ClassVar[list[tuple[str | None, int]]] = []
    prompts: ClassVar[dict[str, str]] = {"query": "", "document": ""}

    def __init__(self, model: str, **options: object) -> None:
        if model == "un-known":
            raise OSError("un-known is not a local folder\nand not on the hub")
        self.loaded.append(model)
        self.given.append(options)

    def encode(
        self, texts: list[str], *, prompt: str | None, normalize_embeddings: bool, batch_size: int, **_: object
    ) -> FloatArray:
        self.encoded.extend(texts)
        self.asked.append((prompt, batch_size))
        given = [(prompt or "") + text for text in texts]
        counts = np.array([[text.casefold().count(letter) for letter in "abcde"] for text in given], np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True) if normalize_embeddings else counts
