"""Settings of saved evaluations: what they hold, and what to do if their judgments differ."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from deadheat.core.checks import as_count, as_flag
from deadheat.core.settings import Settings, setting


@dataclass(frozen=True)
class Saving(Settings):
    """What a saved evaluation holds, as :meth:`Evaluation.save` takes it."""

    save_depth: int = setting(
        100,
        partial(as_count, low=0),
        "Documents of each list that --save keeps, to score it again under other judgments; more where a measure needs"
        " it, 0 for none.",
        metavar="N",
    )
    replace: bool = setting(
        default=False,
        allowed=as_flag,
        meaning="In a folder, keep one file a run, NAME.json, and replace what was saved there. By default every save"
        " into a folder is a new file.",
    )


@dataclass(frozen=True)
class Rejudging(Settings):
    """What to do with saved evaluations whose judgments differ."""

    judgments: str | None = setting(
        None,
        ("rescore", "shared", "strict"),
        "If the judgments of saved evaluations differ: rescore the earlier one under the newer judgments (the default,"
        " if its ranking was kept), compare the queries with equal judgments (shared), or fail (strict).",
    )
