"""A value that a user sets for the length of a with statement."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from contextvars import ContextVar, Token
from typing import Generic

from deadheat.core.errors import DeadheatWarning
from deadheat.core.structures import T


class WithValue(AbstractContextManager[None], Generic[T]):
    """A value that holds inside a with statement; it warns if it is never entered, as it then holds nowhere."""

    def __init__(self, variable: ContextVar[T | None], value: T) -> None:
        self._variable, self._value = variable, value
        self._token: Token[T | None] | None = None

    def __enter__(self) -> None:
        self._token = self._variable.set(self._value)

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            self._variable.reset(self._token)

    def __del__(self) -> None:
        if self._token is None:
            name = self._variable.name
            warnings.warn(
                f"dh.{name}() has no effect outside a with statement: write with dh.{name}(...):", DeadheatWarning, 2
            )
