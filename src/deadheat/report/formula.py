"""Formulas of docstrings as a line of plain text."""

from __future__ import annotations

import re

SYMBOLS = {
    r"\sum": "∑",
    r"\prod": "∏",
    r"\le": "≤",
    r"\ge": "≥",
    r"\in": "∈",
    r"\cdot": "·",
    r"\times": "\N{MULTIPLICATION SIGN}",
    r"\alpha": "\N{GREEK SMALL LETTER ALPHA}",
    r"\beta": "β",
    r"\gamma": "\N{GREEK SMALL LETTER GAMMA}",
    r"\infty": "∞",
    r"\left": "",
    r"\right": "",
    r"\quad": "  ",
    r"\max": "max ",
    r"\min": "min ",
    r"\log": "log",
    r"\,": " ",
    r"\ ": " ",
    r"\!": "",
    r"\;": " ",
}
WORDS = {
    r"\sum": "sum",
    r"\prod": "prod",
    r"\le": "<=",
    r"\ge": ">=",
    r"\cdot": "*",
    r"\times": "x",
    r"\infty": "infinity",
}
GREEK = (r"\alpha", r"\beta", r"\gamma", r"\in")
ASCII = (
    {SYMBOLS[name]: word for name, word in WORDS.items()}
    | {SYMBOLS[name]: name[1:] for name in GREEK}
    | {"─": "-", "…": "~", "├": "|", "┤": "|", "●": "o", "┊": ":", "┼": "+"}
)
GROUP = r"\{((?:[^{}]|\{[^{}]*\})*)\}"  # braces, which may hold braces once more
NAMED = re.compile(r"\\(?:text|mathrm|operatorname)" + GROUP)
FRACTION = re.compile(r"\\[dt]?frac" + GROUP + GROUP)
LIMITS = re.compile(r"(∑|∏)_(?:" + GROUP + r"|(\w))(?:\^(?:" + GROUP + r"|(\w)))?")
SCRIPT = re.compile(r"([_^])" + GROUP)
COMMAND = re.compile(r"\\[A-Za-z]+|\\[^A-Za-z]")
SIMPLE = re.compile(r"[\w@|.^*]+|[\w.]+\([^()]*\)")


def readable(formula: str) -> str:
    r"""Return a LaTeX formula as people would type it.

    Examples
    --------
    >>> readable(r"AP@k = \frac{1}{N} \sum_{i \le k} C_i / i")
    'AP@k = 1/N ∑[i ≤ k] C_i / i'
    >>> readable(r"\frac{(1 + \beta^2)\, C_k}{k + \beta^2 R}")
    '((1 + β^2) C_k) / (k + β^2 R)'
    """
    text = NAMED.sub(r"\1", formula)
    text = COMMAND.sub(lambda found: SYMBOLS.get(found[0], found[0]), text.replace("\n", " "))
    while (unfolded := FRACTION.sub(_fraction, text)) != text:
        text = unfolded
    text = LIMITS.sub(_limits, text)
    text = SCRIPT.sub(lambda found: found[1] + (found[2] if SIMPLE.fullmatch(found[2]) else f"({found[2]})"), text)
    text = re.sub(r"(max|min) +\(", r"\1(", text.replace("{", "").replace("}", ""))
    return re.sub(r" *([,)\]])", r"\1", re.sub(r"([(\[]) +", r"\1", re.sub(r"\s+", " ", text))).strip()


def ascii_only(text: str) -> str:
    """Return a text without the symbols of formulas and tables, for an output that cannot print them."""
    return "".join(ASCII.get(character, character) for character in text)


def _fraction(found: re.Match[str]) -> str:
    parts = [part.strip() for part in found.groups()]
    if all(SIMPLE.fullmatch(part) for part in parts):
        is_factor = re.match(r"\s*\w+\(", found.string[found.end() :])
        return f"({'/'.join(parts)})" if is_factor else "/".join(parts)
    return " / ".join(part if SIMPLE.fullmatch(part) else f"({part})" for part in parts)


def _limits(found: re.Match[str]) -> str:
    low, high = found[2] or found[3], found[4] or found[5]
    return f"{found[1]}[{low.strip()}{f' .. {high.strip()}' if high else ''}] "
