"""--max-memory takes numbers of bytes with units."""

from __future__ import annotations

import click
import pytest

from deadheat.core.cli.parsing import n_bytes
from support.command import call, names_in


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("1", 1),
        ("123456789012345678", 123456789012345678),
        ("500MB", 500 * 10**6),
        ("500 mb", 500 * 10**6),
        ("1.5GB", 1_500_000_000),
        ("2GiB", 2 << 30),
        ("3k", 3000),
        ("1T", 10**12),
        ("7B", 7),
    ],
)
def test_units(given: str, expected: int) -> None:
    assert n_bytes(given) == expected


@pytest.mark.parametrize("given", ["", "0", "0.1", "-1", "GB", "2XB", "1e9", "1,5GB", "nan"])
def test_what_is_no_size(given: str) -> None:
    with pytest.raises(click.BadParameter, match="byte"):
        n_bytes(given)


def test_the_message_names_the_option() -> None:
    result = call("evaluate", "qrels.txt", "a.run", "--max-memory", "lots")
    assert result.exit_code == 2
    assert names_in(result.stderr) == ["--max-memory", "lots"]
    assert "500MB or 2GB" in result.stderr
