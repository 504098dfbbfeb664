"""Names of files that are made of other names: short enough, and allowed on every system."""

from __future__ import annotations

import hashlib
import re
import unicodedata

MARK = 9  # bytes of a hash with its hyphen
LONGEST = 255  # bytes that file systems take; some count UTF-16 units, of which there are never more
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)  # devices of Windows
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f\ud800-\udfff]')
_HASHED = re.compile(r"-[0-9a-f]{8}$")


def cut(text: str, most: int) -> str:
    """Return the beginning of a text that takes at most so many bytes.

    Examples
    --------
    >>> cut("größe", 4), cut("größe", 3)
    ('grö', 'gr')
    """
    return text.encode(errors="ignore")[: max(most, 0)].decode(errors="ignore")


def hashed(plain: str, name: str, most: int) -> str:
    """Return `plain` with a hash of the whole name behind it, of at most `most` bytes."""
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
    return f"{cut(plain, most - MARK)}-{digest[: MARK - 1]}"


def file_name(name: str, most: int) -> str:
    """Return a name as one that files may have on every system; one that is changed by more than a _ has a hash.

    Parameters
    ----------
    name : str
        A ``/`` or a ``:`` becomes ``_``.
    most : int
        Bytes that it may take.

    Examples
    --------
    >>> file_name("b/dense", 247), file_name("who?", 247), file_name("aux", 247)
    ('b_dense', 'who_-1d8176d1', 'aux-321f6814')
    >>> file_name("字" * 90, 20)
    '字字字-cedf9328'
    """
    plain = re.sub(r"[/:]", "_", name)
    safe = _FORBIDDEN.sub("_", plain)
    if safe == plain and is_kept(plain) and not plain.endswith((".", " ")) and len(plain.encode()) <= most:
        return plain
    return hashed(safe, name, most)


def is_kept(name: str) -> bool:
    """Return whether a name is no device, looks like none with a hash, and is written in one way only."""
    return not (_RESERVED.fullmatch(name) or _HASHED.search(name)) and unicodedata.is_normalized("NFC", name)
