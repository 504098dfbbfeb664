"""The option --grades: tables that hold what judges wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from deadheat.core.checks import check_choice
from deadheat.core.cli.help import option


def parsed_grades(_: click.Context, __: click.Parameter, text: str | None) -> dict[str, Any] | None:
    """Return how to read what judges wrote, of ``drop,scale=10,Highly relevant=3``."""
    if text is None:
        return None
    found: dict[str, Any] = {"failed": "error", "grades": {}}
    for part in filter(None, (one.strip() for one in text.split(","))):
        words, is_given, value = (one.strip() for one in part.rpartition("="))
        if not is_given:
            check_choice("grades", value, ("error", "drop", "lowest", "bounds"))
            found["failed"] = value
        elif words == "grade":
            found["grade"] = value
        else:
            try:
                number = float(value)
            except ValueError:
                raise click.BadParameter(f"{part!r}: write a number, as in 'Highly relevant=3' or scale=10") from None
            found |= {"scale": number} if words == "scale" else {"grades": {**found["grades"], words: number}}
    return found


OPTIONS: dict[str, Callable[[Any], Any]] = {
    "grades": option(
        "--grades",
        callback=parsed_grades,
        metavar="FAILED,...",
        help="Files that are tables (CSV, JSON Lines, ...) hold what judges wrote, such as 'Score: 2'; runs only if"
        " their scores are no numbers. What becomes of answers that are no grade: error, drop, lowest or bounds (values"
        " have a range); then, with commas, scale=10, grade=COLUMN, and what words mean: 'Highly relevant=3'.",
        heading="input",
    ),
}
