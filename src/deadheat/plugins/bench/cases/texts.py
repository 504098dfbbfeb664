"""The texts of cases: written alike, and grades beside them."""

import re
import sys
from collections.abc import Sequence

from deadheat.core.scalars import is_number


def folded(text: str) -> str:
    """Return a text with case and whitespace normalised.

    Examples
    --------
    >>> folded(" Heart  Attack")
    'heart attack'
    """
    return " ".join(text.split()).casefold()


def are_written_alike(parts: Sequence[str]) -> bool:
    """Return whether several texts are written alike but for their digits, as D1 and D22: they are ids, it seems."""
    forms = {re.sub(r"[0-9]+", "0", part) for part in parts}
    return len(parts) > 1 and len(forms) == 1 and "0" in forms.pop()


def is_grade(given: object) -> bool:
    """Return whether something is a positive finite number; one of hundreds of digits is not."""
    return is_number(given) and 0 < given <= sys.float_info.max  # type: ignore[operator]
