"""What is typed as one text and means several things: sizes, names, numbers, settings, grades."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(?:([kmgt])(i?)b?|b)?", re.IGNORECASE)
POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}


def n_bytes(text: str) -> int:
    """Return a number of bytes from 1 on, with a unit or without: ``GB`` is 10^9, ``GiB`` is 2^30.

    Examples
    --------
    >>> [n_bytes(text) for text in ("20000", "500MB", "1.5 GB", "2GiB", "3k")]
    [20000, 500000000, 1500000000, 2147483648, 3000]
    """
    found = SIZE.fullmatch(text.strip())
    if found is None:
        raise click.BadParameter(f"{text!r} is not a number of bytes: write 500000000, 500MB or 2GB")
    number, unit, is_binary = found.groups()
    factor = (1024 if is_binary else 1000) ** POWERS.get((unit or "").lower(), 0)
    size = int(float(number) * factor if "." in number else int(number) * factor)
    if size < 1:
        raise click.BadParameter(f"{text!r} is less than one byte")
    return size


def parsed_names(_: click.Context, option: click.Parameter, given: str | Sequence[str] | None) -> dict[str, str]:
    """Return the columns in ``doc_id=chunk,score=similarity`` by what they hold."""
    text = given if isinstance(given, str) else ",".join(given or ())
    pairs = [[word.strip() for word in part.partition("=")[::2]] for part in text.split(",") if part]
    if not all(name and found for name, found in pairs):
        example = "text=symptom,expected_ids=term" if option.metavar == "FIELD=COLUMN,..." else "doc_id=chunk,score=sim"
        raise click.BadParameter(f"write names as in {example}")
    if repeated := [name for n, (name, _) in enumerate(pairs) if name in dict(pairs[:n])]:
        raise click.BadParameter(f"{repeated[0]} is given more than once")
    return dict(pairs)


def parsed_formats(_ctx: click.Context, _option: click.Parameter, text: str | None) -> dict[str, str]:
    """Return the format in ``msmarco`` for qrels and runs, or those in ``qrels=csv,run=msmarco``, by kind."""
    formats: dict[str, str] = {}
    for part in (text or "").split(","):
        kind, is_of_kind, name = part.strip().rpartition("=")
        if not is_of_kind and name:
            formats = {"qrels": name, "run": name}
        elif kind in {"qrels", "run"} and name and kind not in formats:
            formats[kind] = name
        elif part:
            raise click.BadParameter("write one format, such as msmarco, or formats as in qrels=csv,run=msmarco")
    return formats


def parsed_numbers(_: click.Context, option: click.Parameter, text: str | None) -> tuple[int, ...] | None:
    """Read whole numbers such as ``1,5,10``: from 0 on for decimals, else from 1 on."""
    if text is None:
        return None
    parts, low = text.replace(",", " ").split(), int(option.name != "decimals")
    if not parts or not all(re.fullmatch("[0-9]{1,16}", part) and int(part) >= low for part in parts):
        raise click.BadParameter(f"expected whole numbers from {low} on, such as 1,5,10; got {text!r}")
    return tuple(sorted({int(part) for part in parts}))
