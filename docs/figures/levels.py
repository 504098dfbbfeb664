"""How often tests at the level 5% find equal systems different, by the shape of the differences."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np
from _families import families, table

from deadheat.core import stats

if TYPE_CHECKING:
    from _families import Draw

SIZES = (10, 25, 50, 100, 1000)
N_BATCHES, N_SETS, N_RESAMPLES = 10, 400, 999
TESTS = ("randomization", "bootstrap-t")
MARKED = "Share of the sets, in %, that the report marks as too skewed for `randomization`:"


def rates(draw: Draw, n: int, seed: int) -> dict[str, float]:
    """Return the shares, in percent, of sets of `n` differences that are found different, or that are marked."""
    found: dict[str, list[float]] = {}
    for batch in range(N_BATCHES):
        rng = np.random.default_rng([seed, n, batch])
        differences = draw(rng, (n, N_SETS))
        for side in ("two-sided", "less"):
            for test in TESTS:
                given = stats.p_values(differences, test=test, alternative=side, n_resamples=N_RESAMPLES, rng=rng)
                found.setdefault(side + test, []).append(100 * float((given.p_values <= 0.05).mean()))
        marked = stats.is_doubtful(*stats.skewness(differences), "randomization")
        found.setdefault("marked", []).append(100 * float(marked.mean()))
    return {name: float(np.mean(own)) for name, own in found.items()}


def main() -> None:
    """Print three tables."""
    found = {name: [rates(draw, n, zlib.crc32(name.encode())) for n in SIZES] for name, draw in families().items()}
    columns = ["differences with the mean 0", *(f"n = {n:,}" for n in SIZES)]
    for side, caption in (
        ("two-sided", "`randomization` / `bootstrap-t`, two-sided, rejections in %:"),
        ("less", "The same one-sided (`less`; the long tail is above):"),
    ):
        rows = [
            [name, *(" / ".join(f"{one[side + test]:.1f}" for test in TESTS) for one in own)]
            for name, own in found.items()
        ]
        print(f"{caption}\n\n{table(columns, rows)}\n")
    rows = [[name, *(f"{one['marked']:.0f}" for one in own)] for name, own in found.items()]
    print(f"{MARKED}\n\n{table(columns, rows)}")


if __name__ == "__main__":
    main()
