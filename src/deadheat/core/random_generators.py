"""Random generators: the same seed and keys give the same one."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from deadheat.core.errors import ParameterError
from deadheat.core.scalars import as_integer

if TYPE_CHECKING:
    import numpy as np

Rng: TypeAlias = "np.random.Generator | int | None"


def random_generator(rng: Rng, *keys: int) -> np.random.Generator:
    """Return a random generator; the same seed and keys give the same one.

    Parameters
    ----------
    rng : numpy.random.Generator, int or None
        A generator is returned as it is; None takes a new seed each time.
    *keys : int
        Tell apart generators that share a seed.
    """
    import numpy as np

    check_rng("rng", rng)
    seed = as_integer(rng)
    if seed is None:
        return np.random.default_rng(rng)
    return np.random.default_rng([seed, *keys])


def check_rng(name: str, given: Rng) -> Rng:
    """Return what :func:`random_generator` takes, or raise; to check a seed loads no generators of NumPy."""
    import numpy as np

    seed = as_integer(given)
    if seed is not None:
        is_allowed = seed >= 0
    else:
        is_allowed = given is None or isinstance(given, np.random.Generator)
    if not is_allowed:
        raise ParameterError(
            argument=name, given=given, allowed="a whole number from 0 on, a numpy.random.Generator or None"
        )
    return given
