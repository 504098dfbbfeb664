"""The numbers of a text, so that a test compares them and leaves the words to whoever writes them."""

from __future__ import annotations

import re

NUMBER = re.compile(r"(?<![\w@.])[+-]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?%?(?![\w@])")


def numbers_in(text: str) -> list[float]:
    """Return the numbers of a text in their order: a percentage as a share; those of names, such as q1, are none.

    Examples
    --------
    >>> numbers_in("q1: 1,200 of 2,000 (60%) by nDCG@10, +0.1, p = 2e-05 [-0.5, 3]")
    [1200.0, 2000.0, 0.6, 0.1, 2e-05, -0.5, 3.0]
    """
    numbers = []
    for word in NUMBER.findall(text):
        plain = word.replace(",", "")
        numbers.append(float(plain[:-1]) / 100 if plain.endswith("%") else float(plain))
    return numbers
