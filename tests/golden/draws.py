"""Whether a call depends on random numbers: it is made again with others."""

from __future__ import annotations

from functools import partial
from typing import Any
from unittest import mock

import numpy as np

from golden.comparing import differences
from golden.entries import Entry
from golden.running import result_of

make_generator = np.random.default_rng


def generator_of(number: int, seed: Any) -> np.random.Generator:
    """Return a generator that draws other numbers than NumPy's of the same seed, and others for each number."""
    if isinstance(seed, np.random.Generator):
        return seed
    entropy = np.asarray(np.random.SeedSequence(seed).entropy, dtype=object)
    return make_generator([20_201, number, *np.atleast_1d(entropy).tolist()])


def is_drawn(entry: Entry, result: Any) -> bool:
    """Whether a call returns something else with other random numbers; two others are tried."""
    for number in range(2):
        with mock.patch.object(np.random, "default_rng", partial(generator_of, number)):
            other = result_of(entry)
        if differences(result, other):
            return True
    return False
