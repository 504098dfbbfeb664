"""One SSL context for all clients of models, whose servers here speak without it."""

from __future__ import annotations

import ssl
from functools import cache

import pytest

make_context = cache(ssl.create_default_context)


@pytest.fixture(autouse=True)
def _one_ssl_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """To load the certificates takes longer than most calls of a server."""
    monkeypatch.setattr(ssl, "create_default_context", make_context)
