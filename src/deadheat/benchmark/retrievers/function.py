"""Any function as a retriever."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from deadheat.benchmark.collection import Collection
from deadheat.benchmark.retrievers.protocol import Hits


class Function:
    """A function ``f(texts, k)`` that returns a dict ``{doc_id: score}`` for each text.

    Parameters
    ----------
    function : callable
    name : str, optional
        By default the function's.

    Notes
    -----
    Finished runs are reused by the function's attribute ``key``, see `Retriever`. Without one they are always made
    again: we cannot see what a function reads from elsewhere.
    """

    def __init__(
        self, function: Callable[[Sequence[str], int], Hits | Sequence[Mapping[str, float]]], *, name: str | None = None
    ) -> None:
        self.function = function
        self.name = name or str(getattr(function, "__name__", type(function).__name__))

    def __repr__(self) -> str:
        return f"Function({self.name})"

    @property
    def key(self) -> dict[str, object] | None:
        """What its results depend on, if the function says so."""
        key: object = getattr(self.function, "key", None)
        return None if key is None else {"retriever": "function", "key": key}

    def index(self, documents: Collection) -> None:
        """Do nothing: the function knows its documents."""

    def search(self, texts: Sequence[str], k: int) -> Hits | Sequence[Mapping[str, float]]:
        """Return what the function returns."""
        return self.function(texts, k)
