"""What the core asks: whether a file holds values of another tool, and the evaluations in a file or an object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadheat.plugins.values import forms

if TYPE_CHECKING:
    from pathlib import Path

    from deadheat.core.data.sources import Source
    from deadheat.core.evaluation.evaluation import Evaluation


def is_values(path: Path) -> bool:
    """Tell whether a file holds values of another tool, by its first bytes."""
    return forms.is_values(path)


def read_values(source: Source) -> dict[str, Evaluation]:
    """Return the evaluation of each system whose values a file or an object holds, as `reading` does."""
    from deadheat.plugins.values import reading  # few files hold some

    return reading.read_values(source)
