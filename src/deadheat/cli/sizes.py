"""Numbers of bytes on the command line: 500000000, 500MB or 2GB."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    _OfInteger = click.ParamType[int]
else:
    _OfInteger = click.ParamType  # no generic class in older versions

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(?:([kmgt])(i?)b?|b)?", re.IGNORECASE)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}


class Size(_OfInteger):
    """A number of bytes from 1 on, with a unit or without: ``GB`` is 10^9, ``GiB`` is 2^30."""

    name = "bytes"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number, whole.

        Examples
        --------
        >>> [Size().convert(text, None, None) for text in ("20000", "500MB", "1.5 GB", "2GiB", "3k")]
        [20000, 500000000, 1500000000, 2147483648, 3000]
        """
        found = _SIZE.fullmatch(str(value).strip())
        if found is None:
            self.fail(f"{value!r} is not a number of bytes: write 500000000, 500MB or 2GB", param, ctx)
        number, unit, is_binary = found.groups()
        factor = (1024 if is_binary else 1000) ** _POWERS.get((unit or "").lower(), 0)
        n_bytes = int(float(number) * factor if "." in number else int(number) * factor)
        if n_bytes < 1:
            self.fail(f"{value!r} is less than one byte", param, ctx)
        return n_bytes
