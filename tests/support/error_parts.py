"""Errors of deadheat, told apart by their parts instead of by their sentence."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import pytest

from deadheat.errors import DeadheatError

if TYPE_CHECKING:
    from collections.abc import Iterator

Raised = TypeVar("Raised", bound=DeadheatError)


@contextmanager
def raises_parts(
    kind: type[Raised], match: str | None = None, **parts: object
) -> Iterator[pytest.ExceptionInfo[Raised]]:
    """Expect an error of a class whose attributes, such as `argument` and `found`, have these values.

    `match` is for a word of the sentence, where no part holds it alone. Where the block itself raises, use
    `pytest.raises`: mypy takes what follows this one for unreachable then.
    """
    with pytest.raises(kind, match=match) as caught:
        yield caught
    assert {name: getattr(caught.value, name) for name in parts} == parts
