"""The choice of the best column in resamples, against a loop over the same draws."""

from __future__ import annotations

import numpy as np
import pytest

from deadheat.core.stats.selection import resample_choice


def test_several_batches_are_as_a_loop_over_all_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values are below 0, and one column has a single value: where its query is not drawn, it is not the best."""
    monkeypatch.setattr("deadheat.core.stats.selection.BATCH_CELLS", 7 * 60)  # 60 resamples at once
    values = -np.random.default_rng(3).random((3, 7))
    values[1] = np.nan
    values[1, 4] = -0.01
    found = resample_choice(values, n_resamples=200, rng=7)
    wins = np.zeros(3)
    optimism = 0.0
    for counts in np.random.default_rng(7).multinomial(7, np.full(7, 1 / 7), size=200):
        drawn = np.repeat(np.arange(7), counts)
        means = [
            row[drawn][~np.isnan(row[drawn])].mean() if counts[~np.isnan(row)].any() else -np.inf for row in values
        ]
        best = int(np.argmax(means))
        wins[best] += 1
        optimism += means[best] - np.nanmean(values[best])
    assert 0 < wins[1] < 200
    assert found.shares == pytest.approx(wins / 200)
    assert found.optimism == pytest.approx(optimism / 200)
