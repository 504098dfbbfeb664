"""Single numbers: what is one, which are whole, and what floating point leaves of a difference that is zero."""

from __future__ import annotations

import operator

NOISE = 1e-12  # what floating point leaves of a difference that is zero
ROUNDING = 1e-12  # relative: values closer than this are equal in theory
LARGEST_INTEGER = 2**53  # from here on a float has no fraction, and no neighbour less than 1 away


def as_integer(given: object) -> int | None:
    """Return an integer, Python's or NumPy's, as an int; None for anything else."""
    if isinstance(given, bool):
        return None
    try:
        return operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        return None


def is_number(given: object) -> bool:
    """Tell whether an argument is a single real number, Python's or NumPy's."""
    if type(given) in {float, int}:
        return True
    from numbers import Real

    return isinstance(given, Real) and not isinstance(given, bool)


def are_of_one_sign(low: float, high: float) -> bool:
    """Return whether both ends are above 0, or below it, by more than rounding."""
    return low > NOISE or high < -NOISE


def are_of_both_signs(low: float, high: float) -> bool:
    """Return whether the one end is below 0 and the other above, by more than rounding."""
    return low < -NOISE and high > NOISE
