"""Flat names of numbers, as experiment trackers keep them: ``{"ndcg_at_10.tie_min": 0.41}``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import TypeAlias

Label: TypeAlias = "str | tuple[str, ...]"  # a part of a name: a text, or several that are read as "one vs other"
Numbers: TypeAlias = "Iterable[tuple[tuple[Label, ...], float | None]]"  # numbers with the parts of their names

MAX_LENGTH = 48  # characters of a part: five of them fit into the 250 that MLflow allows
HASH_DIGITS = 8
WORDS = (
    ("@", " at "),
    (">=", " ge "),
    ("<=", " le "),
    (">", " gt "),
    ("<", " lt "),
    (r"(?<!\w)-(?=[\d.])|(?<=\s)-(?=\s)", " minus "),
    ("%", " percent "),
)


def flatten_name(*parts: Label) -> str:
    """Return a name that experiment trackers accept: of small letters, digits and underscores, with points between.

    A part with letters that have no counterpart among these becomes a hash, and so does a part that is too long.
    Different parts may have the same name, such as "bm25" and "BM25"; :func:`flatten` tells them apart.

    Parameters
    ----------
    *parts : str or tuple of str

    Examples
    --------
    >>> flatten_name("nDCG(gain='exp')@10", "tie_min"), flatten_name("P(rel=2)@5", ("dense-v2", "BM25"), "difference")
    ('ndcg_gain_exp_at_10.tie_min', 'p_rel_2_at_5.dense_v2_vs_bm25.difference')
    >>> flatten_name("RR >= 0.8", "margin"), flatten_name("11pt_avg"), flatten_name("naïve"), flatten_name("木")
    ('rr_ge_0_8.margin', '_11pt_avg', 'naive', '_9213ab05')
    """
    return ".".join(map(_flatten_part, parts))


def flatten(numbers: Numbers) -> dict[str, float]:
    """Return numbers by flat names, all different; NaN, None and infinity are left out.

    Parts that would have the same name get a hash, except one that is already written like the name.

    Examples
    --------
    >>> flatten([(("nDCG@10",), 0.5), (("nDCG@10", "tie_min"), 0.25), (("ERR",), float("nan"))])
    {'ndcg_at_10': 0.5, 'ndcg_at_10.tie_min': 0.25}
    >>> list(flatten([(("RR", "bm25"), 1), (("RR", "BM25"), 0)]))
    ['rr.bm25', 'rr.bm25_9aecf153']
    """
    finite = []
    for parts, number in numbers:
        if number is not None and math.isfinite(number):
            finite.append((parts, float(number)))
    ambiguous = _find_ambiguous(parts for parts, _ in finite)
    flat: dict[str, float] = {}
    for parts, number in finite:
        flat_parts = []
        for place, part in enumerate(parts):
            flat_part = _flatten_part(part)
            if flat_part != part and _flatten_start(parts, place) in ambiguous:
                flat_part = _hash_part(part)
            flat_parts.append(flat_part)
        name = ".".join(flat_parts)
        while name in flat:  # a measure may have the name of another number, or that of a hash
            name += "_"
        flat[name] = number
    return flat


def _find_ambiguous(names: Iterable[tuple[Label, ...]]) -> set[tuple[str, ...]]:
    """Return the starts of flat names whose last part has several spellings, such as "bm25" and "BM25".

    All names with that start get a hash, so that a part has the same name for all its numbers.
    """
    labels: dict[tuple[str, ...], set[Label]] = {}
    for parts in names:
        for place, part in enumerate(parts):
            labels.setdefault(_flatten_start(parts, place), set()).add(part)
    return {start for start, parts in labels.items() if len(parts) > 1}


def _flatten_start(parts: tuple[Label, ...], place: int) -> tuple[str, ...]:
    """Return the flat names of the parts up to a place, which is included."""
    return tuple(map(_flatten_part, parts[: place + 1]))


def _flatten_part(part: Label) -> str:
    """Return a part in small letters, digits and underscores: a hash of it if letters are lost, or if it is long."""
    text = _drop_accents(part if isinstance(part, str) else " vs ".join(part))
    name = _replace_signs(text)
    has_other_letters = any(character.isalnum() and not character.isascii() for character in text)
    if has_other_letters or not 0 < len(name) <= MAX_LENGTH:
        return _hash_part(part)
    return name


def _drop_accents(text: str) -> str:
    """Return a text with the base letters of those that have accents."""
    if text.isascii():
        return text
    import unicodedata  # rarely needed

    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def _replace_signs(text: str) -> str:
    """Return the ASCII letters of a text, small, and its digits: signs are words, anything else is an underscore."""
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text)
    name = re.sub("[^a-z0-9]+", "_", text.lower()).strip("_")
    if name[:1].isdigit():
        return f"_{name}"
    return name


def _hash_part(part: Label) -> str:
    """Return the start of a part's flat name, and a hash of the whole part."""
    from hashlib import sha256  # rarely needed

    text = part if isinstance(part, str) else "\0".join(part)
    digest = sha256(text.encode(errors="surrogatepass")).hexdigest()[:HASH_DIGITS]
    name = _replace_signs(_drop_accents(text))
    start = name[: MAX_LENGTH - HASH_DIGITS - 1].rstrip("_")
    return f"{start}_{digest}"
