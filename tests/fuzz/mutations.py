"""Damage to bytes: what transfers, editors, spreadsheets and attackers do to files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

TOKENS = tuple(
    token if isinstance(token, bytes) else token.encode()
    for token in (
        *(
            '"',
            '""',
            '"""',
            ",",
            ",,",
            "\t",
            " ",
            "  ",
            ";",
            "\n",
            "\n\n",
            "\r",
            "\r\n",
            "\r\r\n",
            '"\n',
            '\n"',
            '",',
            ',"',
        ),
        *(
            "\0",
            "\x01",
            "\x0b",
            "\x0c",
            "\x1b[31m",
            "\x1f",
            "\x7f",
            "\x80",
            "\x85",
            "\xa0",
            "\u2028",
            "\ufeff",
            "é",
            "😀",
        ),
        *(
            "nan",
            "inf",
            "-Infinity",
            "1e999",
            "9007199254740993",
            "0x10",
            "1_0",
            "\uff11",
            "-0.0",
            "1,5",
            "+",
            "-",
            ".",
            "e5",
        ),
        *(
            "{",
            "}",
            "[",
            "]",
            ":",
            "\\",
            '\\"',
            "\\n",
            "\\u0000",
            "\\ud800",
            "null",
            "true",
            "NaN",
            "[" * 2000,
            "9" * 5000,
        ),
        *("#", "'", "=1+1", "query_id", "score", "x" * 500),
        *(b"\xff", b"\xc3", b"\xfe\xff", b"\x1f\x8b", b"PAR1", b"\x28\xb5\x2f\xfd"),
    )
)
SEPARATORS = b',\t ;\n":{}[]'


def damaged(data: bytes, rng: Random, most: int = 3) -> bytes:
    """Return the bytes after one to `most` accidents."""
    for _ in range(rng.randint(1, most)):
        data = rng.choice(ACCIDENTS)(data, rng)
    return data


def insert_token(data: bytes, rng: Random) -> bytes:
    at = rng.choice((_place(data, rng), rng.randint(0, len(data)), 0, len(data)))
    return data[:at] + rng.choice(TOKENS) + data[at:]


def replace_byte(data: bytes, rng: Random) -> bytes:
    at = rng.randrange(max(len(data), 1))
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def flip_bit(data: bytes, rng: Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def delete_span(data: bytes, rng: Random) -> bytes:
    at = rng.randrange(max(len(data), 1))
    return data[:at] + data[at + rng.choice((1, 1, 2, rng.randint(1, 40))) :]


def repeat_span(data: bytes, rng: Random) -> bytes:
    at = rng.randrange(max(len(data), 1))
    end = at + rng.choice((1, 2, rng.randint(1, 60)))
    return data[:end] + data[at:end] + data[end:]


def truncate(data: bytes, rng: Random) -> bytes:
    return data[: rng.choice((rng.randint(0, len(data)), max(len(data) - rng.randint(1, 8), 0)))]


def repeat_field(data: bytes, rng: Random) -> bytes:
    """Write a field twice, with its separator."""
    start, end = _field(data, rng)
    return data[:end] + data[start:end] + data[end:]


def remove_field(data: bytes, rng: Random) -> bytes:
    start, end = _field(data, rng)
    return data[:start] + data[end:]


def quote_field(data: bytes, rng: Random) -> bytes:
    start, end = _field(data, rng)
    return data[: start + 1] + b'"' + data[start + 1 : end] + rng.choice((b'"', b'"', b"", b'"x', b'" ')) + data[end:]


def rename_key(data: bytes, rng: Random) -> bytes:
    """Change a letter of a key of JSON, or of a name in the first line."""
    keys = [*re.finditer(rb'"(\w+)"\s*:', data), *re.finditer(rb"(\w+)", data.partition(b"\n")[0])]
    if not keys:
        return data
    start, end = rng.choice(keys).span(1)
    at, name = rng.randrange(start, end), data[start:end]
    letter = bytes([rng.choice(b"abcdehinorst_SX")])
    ways = (data[start:at] + data[at + 1 : end], data[start:at] + letter + data[at:end], name.swapcase(), name + b"s")
    return data[:start] + rng.choice(ways) + data[end:]


def move_line(data: bytes, rng: Random) -> bytes:
    lines = data.split(b"\n")
    line = lines.pop(rng.randrange(len(lines)))
    lines.insert(rng.randint(0, len(lines)), line)
    return b"\n".join(lines)


def change_line_ends(data: bytes, rng: Random) -> bytes:
    end = rng.choice((b"\r\n", b"\r", b"\r\r\n", b"\n\r", b"\n\n", b"\x0b", "\u2028".encode(), b"\x85"))
    return data.replace(b"\n", end, rng.choice((-1, -1, 1, 2)))


def change_separators(data: bytes, rng: Random) -> bytes:
    return data.replace(
        rng.choice((b",", b"\t", b" ")), rng.choice((b",", b"\t", b" ", b";", b"  ")), rng.choice((-1, 1, 3))
    )


def change_encoding(data: bytes, rng: Random) -> bytes:
    text = data.decode("utf-8", "replace")
    return text.encode(rng.choice(("latin-1", "utf-16", "utf-16-le", "utf-8-sig", "cp1252")), "replace")


def mix_up_quotes(data: bytes, rng: Random) -> bytes:
    return data.replace(b'"', rng.choice((b'""', b"'", b"", b'\\"')), rng.choice((1, 2, -1)))


ACCIDENTS = (
    *(insert_token,) * 6,
    *(replace_byte, flip_bit, delete_span, repeat_span, truncate, truncate),
    *(repeat_field, remove_field, quote_field, quote_field, move_line, rename_key, rename_key),
    *(change_line_ends, change_separators, change_encoding, mix_up_quotes),
)


def _place(data: bytes, rng: Random) -> int:
    """Return a place beside a separator, where accidents tell most."""
    places = [at for at, byte in enumerate(data) if byte in SEPARATORS]
    return rng.choice(places) + rng.randint(0, 1) if places else 0


def _field(data: bytes, rng: Random) -> tuple[int, int]:
    """Return start and end of a field, with the separator before it."""
    places = [at for at, byte in enumerate(data) if byte in SEPARATORS] or [0]
    at = rng.randrange(len(places))
    return places[at], places[at + 1] if at + 1 < len(places) else len(data)
