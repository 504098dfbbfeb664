"""Any function as a retriever."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import CodeType

    from deadheat.collection import Collection
    from deadheat.retrievers._protocol import Hits


class Function:
    """A function ``f(texts, k)`` that returns a dict ``{doc_id: score}`` for each text.

    Parameters
    ----------
    function : callable
    name : str, optional
        By default the function's.

    Notes
    -----
    Finished work is found again by the function's name and code. What it reads from elsewhere is not seen: when that
    changes, give another name.
    """

    def __init__(
        self, function: Callable[[Sequence[str], int], Hits | Sequence[Mapping[str, float]]], *, name: str | None = None
    ) -> None:
        self.function = function
        self.name = name or str(getattr(function, "__name__", type(function).__name__))

    def __repr__(self) -> str:
        return f"Function({self.name})"

    @property
    def key(self) -> dict[str, object]:
        """What its results depend on, as far as that can be seen."""
        code: CodeType | None = getattr(self.function, "__code__", None)
        what = getattr(self.function, "__qualname__", type(self.function).__qualname__)
        return {"retriever": "function", "function": what, "code": None if code is None else _hash_of(code)}

    def index(self, documents: Collection) -> None:
        """Do nothing: the function knows its documents."""

    def search(self, texts: Sequence[str], k: int) -> Hits | Sequence[Mapping[str, float]]:
        """Return what the function returns."""
        return self.function(texts, k)


def _hash_of(code: CodeType) -> str:
    """Return a SHA-256 of what a function does, wherever it stands."""
    return hashlib.sha256(repr(_parts(code)).encode()).hexdigest()


def _parts(code: CodeType) -> tuple[Any, ...]:
    inner = tuple(_parts(one) if hasattr(one, "co_code") else repr(one) for one in code.co_consts)
    return code.co_code, code.co_names, inner
