"""Data sets of ir_datasets: by their name, such as ``ir_datasets:vaswani``, or as the package loads them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from deadheat.core.errors import DataError
from deadheat.core.io.content import Content
from deadheat.core.io.files import CATALOGUE, is_in_catalogue
from deadheat.core.io.kinds import Kind
from deadheat.core.io.sources import RECOGNISERS, read_frame
from deadheat.core.libraries import import_package

_DATA_SETS: dict[Kind, tuple[str, str, str]] = {  # of ir_datasets
    "qrels": ("has_qrels", "qrels_iter", "judgments (qrels)"),
    "run": ("has_scoreddocs", "scoreddocs_iter", "run (scoreddocs)"),
}


def read_data_set(source: Any, kind: Kind, where: str, given: Mapping[str, str]) -> Content | None:  # noqa: ANN401 - anything
    """Read a data set of ir_datasets, or its name; its tuples have names too."""
    if is_in_catalogue(source):
        where = source
        data_sets = import_package("ir_datasets", f"{source} needs the package ir_datasets", "ir-datasets")
        try:
            source = data_sets.load(source.removeprefix(CATALOGUE))
        except KeyError:
            raise DataError(
                "ir_datasets has no data set of this name",
                hint="names are listed at https://ir-datasets.com",
                path=where,
            ) from None
    if not all(hasattr(source, has) for has, _, _ in _DATA_SETS.values()):
        return None
    has, rows, what = _DATA_SETS[kind]
    if not getattr(source, has)():
        raise DataError(
            f"this data set of ir_datasets has no {what}",
            hint="other data sets below it may, such as one that ends in /test or /judged",
            path=where,
        )
    try:
        found = list(getattr(source, rows)())
    except (OSError, RuntimeError) as error:  # ir_datasets fetches files when they are needed
        raise DataError(
            "ir_datasets cannot fetch it",
            found=f"{error!s:.80}",
            hint="the cause is in the messages above",
            path=where,
        ) from error
    return replace(read_frame(found, kind, where, given), is_trec=True)


RECOGNISERS.append(read_data_set)
