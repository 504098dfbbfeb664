"""How unequal exposure is: its Gini coefficient and its entropy."""

import numpy as np

from deadheat.core.arrays import FloatArray


def gini(exposure: FloatArray, size: int) -> float:
    """Return the Gini coefficient of numbers, with zeros up to `size` of them; NaN if all are 0."""
    if not exposure.any():
        return np.nan
    ordered = np.append(np.zeros(size - len(exposure)), np.sort(exposure))
    return float(((2 * np.arange(1, size + 1) - size - 1) * ordered).sum() / (size * ordered.sum()))


def entropy(exposure: FloatArray) -> float:
    """Return the entropy of the shares of the exposure, in bits; NaN if all are 0."""
    if not exposure.any():
        return np.nan
    share = exposure[exposure > 0] / exposure.sum()
    return max(float(-(share * np.log2(share)).sum()), 0.0)
