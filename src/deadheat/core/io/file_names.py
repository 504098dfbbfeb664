"""Names as file names that every system takes."""

from __future__ import annotations

import hashlib
import re
import unicodedata

HASH_BYTES = 9  # bytes of a hash and its hyphen
LONGEST_NAME = 255  # bytes that file systems allow; some count UTF-16 units, which are never more
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)  # devices of Windows
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f\ud800-\udfff]')
_HASHED = re.compile(r"-[0-9a-f]{8}$")


def cut_bytes(text: str, most: int) -> str:
    """Return the beginning of a text, in at most `most` bytes.

    Examples
    --------
    >>> cut_bytes("größe", 4), cut_bytes("größe", 3)
    ('grö', 'gr')
    """
    return text.encode(errors="ignore")[: max(most, 0)].decode(errors="ignore")


def append_hash(plain: str, name: str, most: int) -> str:
    """Return `plain` followed by a hash of the whole name, in at most `most` bytes."""
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
    return f"{cut_bytes(plain, most - HASH_BYTES)}-{digest[: HASH_BYTES - 1]}"


def make_file_name(name: str, most: int) -> str:
    """Return a name as a file name for every system; if it changes by more than a ``_``, a hash is added.

    Parameters
    ----------
    name : str
        A ``/`` or a ``:`` becomes ``_``.
    most : int
        Bytes that the result may take.

    Examples
    --------
    >>> make_file_name("b/dense", 247), make_file_name("who?", 247), make_file_name("aux", 247)
    ('b_dense', 'who_-1d8176d1', 'aux-321f6814')
    >>> make_file_name("字" * 90, 20)
    '字字字-cedf9328'
    """
    plain = re.sub(r"[/:]", "_", name)
    safe = _FORBIDDEN.sub("_", plain)
    has_wrong_end = plain.endswith((".", " "))
    if safe != plain or has_wrong_end or not is_portable(plain) or len(plain.encode()) > most:
        return append_hash(safe, name, most)
    return plain


def is_portable(name: str) -> bool:
    """Return whether a name can stay: it is not a device, does not end like a hash, and is normalised Unicode (NFC)."""
    if _RESERVED.fullmatch(name) or _HASHED.search(name):
        return False
    return unicodedata.is_normalized("NFC", name)
