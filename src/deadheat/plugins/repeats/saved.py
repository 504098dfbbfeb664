"""What saved evaluations keep of repeats: a table with a row for each measure, query and repeat."""

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from deadheat.core.evaluation.kept import Kept, KeptTable
from deadheat.core.evaluation.packed_tables import packed, unpacked
from deadheat.core.placements.beside import TableForm
from deadheat.plugins.repeats.repeated import REPEATS, Repeated

COLUMNS = ("values", "tie_variances")
FORM = TableForm(REPEATS, lambda: dict.fromkeys(COLUMNS, pl.Float64), {*COLUMNS})


def _write(of_measures: Sequence[Repeated]) -> str:
    columns = {name: np.concatenate([getattr(own, name).ravel() for own in of_measures]) for name in COLUMNS}
    return packed(pl.DataFrame(columns).fill_nan(None), FORM.schema())


def _read(text: str, n_measures: int, n_queries: int) -> list[Repeated]:
    rows = unpacked(text, FORM.name, FORM.schema(), FORM.nullable).fill_null(math.nan)
    values, tie_variances = (rows[name].to_numpy().reshape(n_measures, n_queries, -1) for name in COLUMNS)
    return [Repeated(values[place], tie_variances[place]) for place in range(n_measures)]


KEPT = Kept(table=KeptTable(REPEATS, _write, _read))
