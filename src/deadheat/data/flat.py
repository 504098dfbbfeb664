"""Numbers under flat names, as experiment trackers keep them: ``{"ndcg_at_10.tie_min": 0.41}``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from deadheat.io.forking import check_threads

if TYPE_CHECKING:
    import polars as pl

Label: TypeAlias = "str | tuple[str, ...]"
"""A part of a name: a text, or several that are read as "one vs other"."""
Numbers: TypeAlias = "Iterable[tuple[tuple[Label, ...], float | None]]"
"""Numbers with the parts of their names."""

LONGEST = 48  # characters of a part: five of them fit into the 250 that MLflow allows
DIGITS = 8  # of a hash
WORDS = (
    ("@", " at "),
    (">=", " ge "),
    ("<=", " le "),
    (">", " gt "),
    ("<", " lt "),
    (r"(?<!\w)-(?=[\d.])|(?<=\s)-(?=\s)", " minus "),
    ("%", " percent "),
)


def frame_of(rows: Any, schema: Any = None) -> pl.DataFrame:  # noqa: ANN401 - what a frame is made of
    """Return rows or columns as a frame; numbers that do not exist are null, not NaN."""
    import polars as pl  # slow to load

    check_threads()
    return pl.DataFrame(rows, schema, orient="row" if schema else None, infer_schema_length=None).with_columns(
        pl.col(pl.Float64).fill_nan(None)
    )


def flat_name(*parts: Label) -> str:
    """Return a name that experiment trackers accept: of small letters, digits and underscores, with points between.

    Letters that have no counterpart among these are replaced by a hash of the whole part, and so is what is too long.
    Different parts may have the same name, as "bm25" and "BM25" have; :func:`flat` tells them apart.

    Parameters
    ----------
    *parts : str or tuple of str

    Examples
    --------
    >>> flat_name("nDCG(gain='exp')@10", "tie_min"), flat_name("P(rel=2)@5", ("dense-v2", "BM25"), "difference")
    ('ndcg_gain_exp_at_10.tie_min', 'p_rel_2_at_5.dense_v2_vs_bm25.difference')
    >>> flat_name("RR >= 0.8", "margin"), flat_name("11pt_avg"), flat_name("naïve"), flat_name("木")
    ('rr_ge_0_8.margin', '_11pt_avg', 'naive', '_9213ab05')
    """
    return ".".join(map(_flat_part, parts))


def flat(numbers: Numbers) -> dict[str, float]:
    """Return numbers by flat names, all different; those that do not exist, NaN, None and infinity, are left out.

    Of several that would have the same name, each gets a hash of its parts behind the first one, but for one that is
    written so.

    Examples
    --------
    >>> flat([(("nDCG@10",), 0.5), (("nDCG@10", "tie_min"), 0.25), (("ERR",), float("nan"))])
    {'ndcg_at_10': 0.5, 'ndcg_at_10.tie_min': 0.25}
    >>> list(flat([(("RR", "bm25"), 1), (("RR", "BM25"), 0)]))
    ['rr.bm25', 'rr.bm25_9aecf153']
    """
    found = [(parts, float(number)) for parts, number in numbers if number is not None and math.isfinite(number)]
    # the names of a part are told apart wherever it is used, so that all its numbers have the same
    owners: dict[tuple[str, ...], dict[Label, None]] = {}
    for parts, _ in found:
        for place in range(len(parts)):
            owners.setdefault(_above(parts, place), {})[parts[place]] = None
    names: dict[str, float] = {}
    for parts, number in found:
        shown = [
            _flat_part(part) if len(owners[_above(parts, place)]) == 1 or part == _flat_part(part) else _hashed(part)
            for place, part in enumerate(parts)
        ]
        name = ".".join(shown)
        while name in names:  # a measure may have the name of another number, or that of a hash
            name += "_"
        names[name] = number
    return names


def _above(parts: tuple[Label, ...], place: int) -> tuple[str, ...]:
    """Return the flat name of a part with those above it: the parts that share it would be one."""
    return tuple(map(_flat_part, parts[: place + 1]))


def _flat_part(part: Label) -> str:
    text = part if isinstance(part, str) else " vs ".join(part)
    name, is_whole = _plain(text)
    return name if is_whole and 0 < len(name) <= LONGEST else _hashed(part)


def _plain(text: str) -> tuple[str, bool]:
    """Return a text in small letters, digits and underscores, and whether each letter has its counterpart."""
    if not text.isascii():
        import unicodedata  # rarely needed

        text = "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one))
    is_whole = not any(one.isalnum() and not one.isascii() for one in text)
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text)
    name = re.sub("[^a-z0-9]+", "_", text.lower()).strip("_")
    return f"_{name}" if name[:1].isdigit() else name, is_whole


def _hashed(part: Label) -> str:
    from hashlib import sha256  # rarely needed

    text = part if isinstance(part, str) else "\0".join(part)
    digest = sha256(text.encode(errors="surrogatepass")).hexdigest()[:DIGITS]
    name, _ = _plain(text)
    return f"{name[: LONGEST - DIGITS - 1].rstrip('_')}_{digest}"
