"""Where things are."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
SOURCE = ROOT / "src"
FIRST_FORMAT = TESTS / "evaluation" / "saved_by_format_1"
"""Evaluations that were saved by the first and the last version that wrote format 1."""
