"""Names, numbers and sentences in figures."""

import math
import textwrap
from collections.abc import Iterable

from deadheat.core.scalars import NOISE
from deadheat.core.wording import escape_invisible, format_count, format_p_value, format_rounded

LONGEST_NAME = 26  # characters of a system's name in a sentence
SIGNS, FIXED = "=<", "\u00a0"


def left_out(n_shown: int, n_all: int, things: str = "systems", which: str = "best") -> str:
    """Say how many of several things a figure shows; empty if it shows all."""
    return f"The {which} {n_shown} of {n_all:,} {things}." if n_shown < n_all else ""


def wrapped(text: str, width: int) -> list[str]:
    """Return a text as lines of about the same length; names are not split at their hyphens, nor `n = 5`."""
    for sign in SIGNS:
        text = text.replace(f" {sign} ", f"{FIXED}{sign}{FIXED}")
    n_lines = len(textwrap.wrap(text, width, break_on_hyphens=False))
    while len(textwrap.wrap(text, width - 1, break_on_hyphens=False)) == n_lines and width > 2:
        width -= 1
    return [line.replace(FIXED, " ") for line in textwrap.wrap(text, width, break_on_hyphens=False)]


def short(name: str) -> str:
    r"""Return a name as one line of a sentence: invisible characters as escapes, and not too long.

    Examples
    --------
    >>> print(short("a\nb"), short("a" * 40))
    a\nb aaaaaaaaaaaaaaaaaaaaaaaaa…
    """
    text = escape_invisible(name)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def unique_labels(names: Iterable[str]) -> list[str]:
    r"""Return names as labels: one line each, and different if the names are.

    Examples
    --------
    >>> print(*unique_labels(["a", "b\n", "b\\n"]), sep=" | ")
    a | b\n | b\n (2)
    """
    found: dict[str, None] = {}
    for name in names:
        text = escape_invisible(name) or "(empty)"
        label = text
        n_alike = 1
        while label in found:
            n_alike += 1
            label = f"{text} ({n_alike})"
        found[label] = None
    return list(found)


def format_number(value: float) -> str:
    """Return a number for a sentence.

    Examples
    --------
    >>> format_number(0.71234), format_number(-0.00004), format_number(123.456), format_number(0.0)
    ('0.712', '-4e-05', '123.5', '0')
    """
    if not math.isfinite(value):
        return "no value"
    if abs(value) <= NOISE:
        return "0"
    return format_rounded(value, 3 if abs(value) < 10 else 1)


def format_signed(value: float) -> str:
    """Return a difference for a sentence, with its sign.

    Examples
    --------
    >>> format_signed(0.02), format_signed(-0.02), format_signed(0.0)
    ('+0.020', '-0.020', '0')
    """
    text = format_number(value)
    return f"+{text}" if value > NOISE else text


def p_text(value: float) -> str:
    """Return a p value for a sentence.

    Examples
    --------
    >>> p_text(0.0421), p_text(0.00002), p_text(float("nan"))
    ('p = 0.042', 'p < 0.001', 'no p value')
    """
    return f"p {format_p_value(value, 3)}" if math.isfinite(value) else "no p value"


def n_queries(*numbers: int) -> str:
    """Return how many queries there are, or from how many to how many.

    Examples
    --------
    >>> n_queries(25, 25), n_queries(7, 25), n_queries(1)
    ('25 queries', '7 to 25 queries', '1 query')
    """
    low, high = min(numbers), max(numbers)
    return format_count(low, "query", "queries") if low == high else f"{low:,} to {high:,} queries"
