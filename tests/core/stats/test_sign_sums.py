"""Sums under random signs: tables and matrices, against a loop over units and the bits themselves."""

import numpy as np
import pytest

from deadheat.core.stats import sign_sums
from deadheat.core.stats.sign_sums import FEW_ROWS, draw_signs
from deadheat.stats import sign_flip_sums


def sums_of_bits(rows: np.ndarray, drawn: bytes, n_resamples: int) -> list[list[float]]:
    """Return the sum of each row in each resample, sign by sign; the first unit is the highest bit of a byte."""
    n_units = rows.shape[1]
    n_bytes = len(drawn) // n_resamples
    sums = [[0.0] * n_resamples for _ in rows]
    for resample in range(n_resamples):
        for unit in range(n_units):
            byte = drawn[resample * n_bytes + unit // 8]
            sign = 1 if byte & (128 >> unit % 8) else -1
            for row in range(len(rows)):
                sums[row][resample] += sign * rows[row, unit]
    return sums


@pytest.mark.parametrize("n_units", [1, 7, 8, 9, 33, 515, 520])
@pytest.mark.parametrize("n_rows", [1, FEW_ROWS, FEW_ROWS + 1])
def test_sums_are_those_of_the_bits(n_rows: int, n_units: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_sums, "PIECE_RESAMPLES", 5)
    monkeypatch.setattr(sign_sums, "PIECE_BYTES", 3)
    rows = np.random.default_rng(1).normal(size=(n_rows, n_units))
    signs = draw_signs(12, n_units, np.random.default_rng(2))
    drawn = np.random.default_rng(2).bytes(12 * 4 * -(-n_units // 32))
    assert signs.sums(rows).tolist() == [pytest.approx(row, abs=1e-12) for row in sums_of_bits(rows, drawn, 12)]
    assert set(signs.matrix.ravel().tolist()) <= {-1.0, 1.0}


def test_batches_do_not_change_the_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).normal(size=(700, 2))
    whole = sign_flip_sums(values, n_resamples=50, rng=np.random.default_rng(3))
    monkeypatch.setattr(sign_sums, "BIT_CELLS", 30)  # two resamples at a time
    parts = sign_flip_sums(values, n_resamples=50, rng=np.random.default_rng(3))
    assert parts == pytest.approx(whole, abs=1e-12)
    wide = sign_flip_sums(np.repeat(values, FEW_ROWS, axis=1), n_resamples=50, rng=np.random.default_rng(3))
    assert wide[:, ::FEW_ROWS] == pytest.approx(whole, abs=1e-12)
