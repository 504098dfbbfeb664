"""How often each test at the level 5% finds equal systems different, where the differences are normal."""

from __future__ import annotations

import numpy as np
from _families import table

from deadheat.core import stats

SIZES = (5, 10, 25, 40, 100)
N_BATCHES, N_SETS, N_RESAMPLES = 10, 400, 999
TESTS = ("randomization", "bootstrap-t", "bootstrap", "t", "wilcoxon", "sign")


def main() -> None:
    """Print one table."""
    rows = []
    for test in TESTS:
        cells = []
        for n in SIZES:
            rejected = []
            for batch in range(N_BATCHES):
                rng = np.random.default_rng([n, batch])  # the same differences for each test
                found = stats.p_values(rng.normal(0, 1, (n, N_SETS)), test=test, n_resamples=N_RESAMPLES, rng=rng)
                rejected.append(100 * float((found.p_values <= 0.05).mean()))
            cells.append(f"{np.mean(rejected):.1f}")
        rows.append([f"`{test}`", *cells])
    print(table(["test", *(f"n = {n}" for n in SIZES)], rows))


if __name__ == "__main__":
    main()
