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

    number = as_integer(check_rng("rng", rng))
    return np.random.default_rng(rng if number is None else [number, *keys])


def check_rng(name: str, given: Rng) -> Rng:
    """Return what `generator` takes; to check a seed loads no generators of NumPy."""
    import numpy as np

    number = as_integer(given)
    is_allowed = given is None or isinstance(given, np.random.Generator) if number is None else number >= 0
    if not is_allowed:
        raise ParameterError(
            argument=name, given=given, allowed="a whole number from 0 on, a numpy.random.Generator or None"
        )
    return given
