"""The files of judges' labels that the options of a command name."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import deadheat as dh
from deadheat.core.cli.inputs import changed_qrels, changed_run, named_columns, named_format, open_qrels
from deadheat.core.cli.paths import named_runs
from deadheat.core.errors import SwappedFilesError
from deadheat.plugins.judges.labels import Labels, labels_of


def labels_in(path: str) -> Labels:
    """Read the labels of the one judge that an option names."""
    labels = labels_of(read_labels(path, next(iter(named_runs([path])))))
    return Labels(changed_qrels(labels.qrels))


def read_labels(path: str, name: str) -> Any:  # noqa: ANN401 - qrels or a run
    """Read what a judge said, which may be written as a run."""
    with suppress(SwappedFilesError):
        return open_qrels(path)
    run = dh.Run(path, name=name, format=named_format("run"), columns=named_columns("run"))
    return changed_run(run)  # of grades, which do not rank
