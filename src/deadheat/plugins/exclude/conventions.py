"""The name of an exclusion among the conventions: any goes with all of them."""

from __future__ import annotations

from deadheat.core.settings import Conventions


def check_settings(conventions: Conventions) -> None:
    """Accept the conventions; what exclusions do not go with is declared in the registry."""
