"""A browser for all tests of pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.browser import Browser, started


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with started() as found:
        yield found
