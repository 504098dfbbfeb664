"""The table in docs/guide/conventions.md of what goes together, made of what features declare.

Where a declaration changed on purpose, this renews it:

    PYTHONPATH=tests:src python -m support.what_goes_together
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from deadheat.core import hooks
from deadheat.core.evaluation.together import Asked, go_together
from deadheat.core.plugin_records import Feature
from deadheat.core.settings import Conventions
from support.paths import ROOT

PAGE = ROOT / "docs" / "guide" / "conventions.md"
TABLE = re.compile(r"^\| asked for \|.*\n(?:\|.*\n)+", re.MULTILINE)
WORDS = {  # how the page calls features, where that is not the argument
    "bounds": '`unjudged="bounds"`',
    "failures": '`read_judgments(failed="bounds")`',
    "spans": "`Spans`",
    "alternatives": '`[["a", "b"], ["c"]]`',
    "repeats": "`Repeats`",
    "another tool": "values of another tool",
    "save": "`Evaluation.save`",
    "by": "strata (`by`)",
    "cluster": "clusters",
    "orders": "`Comparison.orders`",
    "ranks": "`Comparison.rank_intervals`",
    "margin": "`margin`, `equivalence`",
    "detect": "`detect`, `sample_sizes`",
    "rescore": "`Evaluation.rescored`",
    "gate": "`gate`: thresholds",
    "baseline": "`gate(baseline=)`",
    "gate by strata": "`gate(by=)`",
    "report": "a page",
    "steps": "`Evaluation.steps`",
    "abstention": "`Evaluation.abstention`",
}


def words_for(feature: Feature) -> str:
    """Return how the page calls a feature."""
    return WORDS.get(feature.name, f"`{feature.name}`")


def values_of(feature: Feature) -> list[str]:
    """Return the values that an argument can have beside its default; empty where any may be given."""
    settings = Conventions.__dataclass_fields__.get(feature.name)
    allowed = () if settings is None else settings.metadata["allowed"]
    return [value for value in allowed if value != getattr(Conventions, feature.name)] if type(allowed) is tuple else []


def refused_with(feature: Feature) -> Iterator[str]:
    """Yield what a feature does not go with, in the order of the registry."""
    for other in hooks.features().values():
        if other is feature or (other.kind == "use" and feature.kind == "use"):
            continue
        values = values_of(other)
        asked = [Asked(other, value) for value in values] or [Asked(other)]
        wrong = [one for one in asked if not go_together(Asked(feature), one)]
        if wrong and len(wrong) < len(asked):
            yield f"`{other.name}` {', '.join(f'`{one.value}`' for one in wrong)}"
        elif wrong:
            yield words_for(other)


def table() -> str:
    """Return the table: a row for each feature that does not go with all others."""
    rows = ["| asked for | does not go with |", "|---|---|"]
    for feature in hooks.features().values():
        if feature.kind == "use" or feature.name in Conventions.__dataclass_fields__:
            continue
        refused = list(refused_with(feature))
        if refused:
            rows.append(f"| {words_for(feature)} | {', '.join(refused)} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(TABLE.sub(lambda _: table(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
