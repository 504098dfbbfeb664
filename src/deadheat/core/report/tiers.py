"""Letters: of tiers, and of systems that marks name."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def letter(tier: int | None) -> str:
    """Return the letter of a tier: a for the first, aa after z; empty for none.

    Examples
    --------
    >>> letter(1), letter(26), letter(27), letter(None)
    ('a', 'z', 'aa', '')
    """
    text, left = "", tier or 0
    while left:
        left, place = divmod(left - 1, len(LETTERS))
        text = LETTERS[place] + text
    return text
