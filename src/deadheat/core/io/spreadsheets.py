"""Texts in CSV that a spreadsheet would work out, or a build log obey: an apostrophe guards them, and can go."""

import re
from functools import lru_cache

# After apostrophes and blanks, a formula, in wide letters too, or a tab or a carriage return, which spreadsheets skip;
# a line that begins with two colons is a command in a build log of GitHub.
_BEGINNING = re.compile(r"'*(?:\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r]|\s*::)")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_COMMAND = re.compile(r"##('*)\[")
_GUARDED_COMMAND = re.compile(r"##'('*)\[")


@lru_cache(maxsize=1_000)  # a column of runs or measures has the same few texts in all rows
def guard_text(text: str) -> str:
    """Return a text for a field of CSV that no spreadsheet takes for a formula, and no build log for a command.

    One that begins like a formula, and is no number, gets an apostrophe; one that begins so after apostrophes gets one
    more, so that :func:`unguard_text` restores every text. ``##[``, a command anywhere in a line, becomes ``##'[``.

    Examples
    --------
    >>> [guard_text(text) for text in ("=1+1", "-x", "-1.5", "'=1", "q-1", "'q", "::error::q", "##[error]q")]
    ["'=1+1", "'-x", '-1.5', "''=1", 'q-1', "'q", "'::error::q", "##'[error]q"]
    """
    text = _COMMAND.sub(r"##'\1[", text)
    return f"'{text}" if _BEGINNING.match(text) and not _NUMBER.fullmatch(text) else text


def unguard_text(text: str) -> str:
    """Return what :func:`guard_text` made a text of.

    Examples
    --------
    >>> [unguard_text(text) for text in ("'=1+1", "-1.5", "''=1", "'q", "##'[error]q")]
    ['=1+1', '-1.5', "'=1", "'q", '##[error]q']
    """
    if text.startswith("'") and _BEGINNING.match(text):
        text = text[1:]
    return _GUARDED_COMMAND.sub(r"##\1[", text)
