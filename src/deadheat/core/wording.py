"""Words and numbers as people read them: counts, lists of names, shares, p values, paths; and texts made harmless."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from deadheat.core.scalars import NOISE

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from deadheat.core.arrays import BoolArray, FloatArray


# Patterns are compiled where they are first used: to import this module takes a tenth less time.
# A workflow command in a GitHub build log: "::name::" where a line begins or may be wrapped, "##[name]" anywhere.
COMMAND = r"(?<![^\s-]):(?=:[a-z-]+(?: [^:]*)?::)|(?<=#)#(?=\[)"
# Letters and signs that nobody sees, though Unicode counts them as such: joiners, fillers and variation selectors.
INVISIBLE = (
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U0001d159\U00016fe4"
    "\U000e0100-\U000e01ef]"
)
BY_DOC_ID = "by document id, as trec_eval"  # what this rule of breaking ties is called wherever people read of it
BROKEN_BY = {"doc_id": BY_DOC_ID, "input": "in the order of the input"}
UNIT = ("query", "queries")  # what is averaged and drawn, in the singular and the plural, unless a caller has another
UNKNOWN = "unknown"

MOST_NAMED = 4  # ids that are all named; of more, three are
# Lengths in characters
LONGEST_LIST = 160  # of several names in brackets
LONGEST_GIVEN = 200  # of a value that a message shows
LONGEST_WORD = 300  # of a word in a sentence or a table, such as an id
LONGEST_TEXT = 10_000  # of a sentence or a cell
LONGEST_LABEL = 80  # of a name or an id beside an axis or in a cell

MOST_OFF = 0.05  # a share that may be off by more is unknown
SURELY = 3  # standard errors that a share is surely not off by


def format_given(value: object, limit: int = LONGEST_GIVEN) -> str:
    """Return the repr of what a user gave, cut if it is too long for a message.

    Examples
    --------
    >>> format_given("float23"), format_given(10**5000)
    ("'float23'", 'a number of thousands of digits')
    """
    if isinstance(value, str):
        return quote_text(value, limit)
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print integers of so many digits
        return "a number of thousands of digits"
    if len(text) <= limit:
        return text
    return f"{text[:limit]}..."


def quote_text(text: str, limit: int = 80) -> str:
    """Return `text` in quotes, cut to `limit` characters, for an error message."""
    if len(text) > limit:
        text = f"{text[: limit - 3]}..."
    return repr(text)


def format_count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun, singular or plural.

    Examples
    --------
    >>> format_count(1, "query", "queries"), format_count(1200, "run")
    ('1 query', '1,200 runs')
    """
    if number == 1:
        return f"{number:,} {noun}"
    return f"{number:,} {plural or f'{noun}s'}"


def format_seed(seed: int | None) -> str:
    """Return the seed for the end of a sentence about something that was drawn, so that it can be reproduced.

    Examples
    --------
    >>> format_seed(7), format_seed(None)
    (' (rng 7)', '')
    """
    if seed is None:
        return ""
    return f" (rng {seed})"


def format_rounded(number: float, digits: int = 4) -> str:
    """Return a number with so many decimals; one that they would show as zero has a power of ten.

    Examples
    --------
    >>> [format_rounded(value) for value in (0.71234, 0.00002, -0.0, 1e-17, float("nan"))]
    ['0.7123', '2e-05', '0.0000', '0.0000', 'nan']
    """
    if NOISE < abs(number) < 0.5 * 10**-digits:
        return f"{number:.0e}"  # 0.0000 would look like a zero
    zero = f"0.{'0' * digits}"
    return f"{number:.{digits}f}".replace(f"-{zero}", zero)


def is_shown_as_one(p: float, digits: int) -> bool:
    """Tell whether so many decimals would show a p value below 1 as 1."""
    return 1 - 0.5 * 10**-digits <= p < 1 - NOISE


def format_p_value(p: float, digits: int = 4, *, is_bound: bool = False) -> str:
    """Return a p value behind its sign: a bound where it is one, or where its decimals would be those of 0 or of 1.

    Examples
    --------
    >>> [format_p_value(p) for p in (0.03124, 0.00002, 0.99997, 1.0, float("nan"))]
    ['= 0.0312', '< 0.0001', '> 0.9999', '= 1.0000', 'unknown']
    >>> format_p_value(1 / 10_001, is_bound=True)  # none of 10,000 resamples is as extreme
    '<= 0.0001'
    """
    least = 10**-digits
    if math.isnan(p):
        return UNKNOWN
    if is_bound and p >= least / 2:
        return f"<= {p:.{digits}f}"
    if p < least:
        return f"< {least:.{digits}f}"
    if is_shown_as_one(p, digits):
        return f"> {1 - least:.{digits}f}"
    return f"= {p:.{digits}f}"


def format_level(level: float) -> str:
    """Return a confidence level as a percentage with all of its digits.

    Examples
    --------
    >>> format_level(0.95), format_level(0.995)
    ('95%', '99.5%')
    """
    return f"{100 * level:g}%"


def format_exactly(value: float) -> str:
    """Return a number with all of its digits: different numbers have different texts.

    Examples
    --------
    >>> format_exactly(1.0), format_exactly(0.5), format_exactly(1000001.0)
    ('1', '0.5', '1000001')
    """
    return str(float(value)).removesuffix(".0")


@overload
def is_share_known(share: float, error: float) -> bool: ...


@overload
def is_share_known(share: FloatArray, error: FloatArray) -> BoolArray: ...


def is_share_known(share: Any, error: Any) -> Any:
    """Return whether an estimated share says anything beside its error: of a number, or of each in an array.

    The error is at most five points, and no larger than the share; or the share is surely below five points.

    Parameters
    ----------
    share, error : float or ndarray of float

    Examples
    --------
    >>> is_share_known(0.39, 0.003), is_share_known(0.39, 0.43), is_share_known(0.03, 0.04), is_share_known(0, 0.004)
    (True, False, False, True)
    """
    is_precise = (error <= MOST_OFF) & (error <= share)
    is_surely_small = share + SURELY * error < MOST_OFF
    return is_precise | is_surely_small


def format_percentage(share: float, error: float = 0.0) -> str:
    """Return a share as a percentage, with its error if that shows; without one, 0% and 100% are exact.

    Examples
    --------
    >>> format_percentage(0.845), format_percentage(0.001)
    ('84%', '<1%')
    >>> format_percentage(0.845, 0.0041), format_percentage(0.001, 0.0041)
    ('84% ± 0.4%', '<2%')
    >>> format_percentage(0.39, 0.43)
    'unknown'
    """
    if not is_share_known(share, error):
        return UNKNOWN
    if error > share:
        largest = share + SURELY * error
        return f"<{math.ceil(100 * largest)}%"
    if error >= 0.0005:
        return f"{100 * share:.0f}% ± {format_percentage_error(error)}"
    if 0 < share < 0.01:
        return "<1%"
    if 0.99 < share < 1:
        return ">99%"
    return f"{100 * share:.0f}%"


def format_percentage_error(error: float) -> str:
    """Return how far a percentage may be off: with a decimal, unless the error is large."""
    digits = 0 if error >= 0.1 else 1
    return f"{100 * error:.{digits}f}%"


def format_list(ids: Sequence[str], between: str = ", ", *, n: int = 0) -> str:
    """Return up to four ids; of more ids the first three, and how many others there are.

    Parameters
    ----------
    ids : sequence of str
        All ids, or the first of them.
    between : str, default ", "
    n : int, default 0
        How many ids there are, if `ids` are the first of them.

    Examples
    --------
    >>> format_list(["q1", "q2", "q3", "q4"]), format_list(list("abcdef"))
    ('q1, q2, q3, q4', 'a, b, c and 3 more')
    """
    n_ids = max(n, len(ids))
    if n_ids <= MOST_NAMED:
        return between.join(ids)
    return f"{between.join(ids[:3])} and {n_ids - 3:,} more"


def format_names(names: Sequence[str]) -> str:
    """Return up to four names as the subject of a sentence; of more names the first three, and how many others.

    Examples
    --------
    >>> format_names(["a"]), format_names(["a", "b"]), format_names(list("abc")), format_names(list("abcdef"))
    ('a', 'a and b', 'a, b and c', 'a, b, c and 3 more')
    """
    if len(names) < 2 or len(names) > MOST_NAMED:
        return format_list(names)
    *first, last = names
    return f"{', '.join(first)} and {last}"


def format_in_brackets(names: Sequence[str], what: str = "", *, head: str = "") -> str:
    """Return up to four names in brackets; of more names, which would hide the sentence, their number.

    Parameters
    ----------
    names : sequence of str
    what : str, default ""
        What one of them is, for their number; without it, more names are left out.
    head : str, default ""
        Text in front of the names.

    Examples
    --------
    >>> format_in_brackets(["a", "b"], "interval"), format_in_brackets(list("abcde"), "interval")
    (' (a, b)', ' (5 intervals)')
    >>> format_in_brackets(list("abcde"))
    ''
    """
    listed = ", ".join(names)
    if len(names) <= MOST_NAMED and len(listed) <= LONGEST_LIST:
        return f" ({head}{listed})"
    if not what:
        return ""
    return f" ({format_count(len(names), what)})"


def did_you_mean(given: object, known: Iterable[str], n: int = 1) -> str:
    """Return ``"Did you mean 'x'?"`` for the nearest of `known`, up to `n` of them, or an empty string."""
    import difflib  # only a mistake needs it

    by_folded: dict[str, str] = {}
    for name in known:
        by_folded.setdefault(name.casefold(), name)
    nearest = difflib.get_close_matches(str(given).casefold(), by_folded, n=n, cutoff=0.6)
    if not nearest:
        return ""
    *first, last = [repr(by_folded[name]) for name in nearest]
    if not first:
        return f"Did you mean {last}?"
    return f"Did you mean {', '.join(first)} or {last}?"


def nearest_first(given: str, known: Iterable[str]) -> list[str]:
    """Return names, the most similar to a given one first; equally similar names stay in their order.

    Examples
    --------
    >>> nearest_first("scater", ["forest", "matrix", "scatter"])
    ['scatter', 'matrix', 'forest']
    """
    from difflib import SequenceMatcher  # only a mistake needs it

    folded = given.casefold()

    def similarity(name: str) -> float:
        return SequenceMatcher(None, folded, name.casefold()).ratio()

    return sorted(known, key=similarity, reverse=True)


def join_sentences(*sentences: str) -> str:
    """Join the sentences that are not empty, with a blank between them."""
    return " ".join(filter(None, sentences))


def escape_invisible(text: str, kept: str = "") -> str:
    r"""Return a text in which characters that control a terminal or are invisible are Python escapes.

    These are control characters, line ends, marks that change the direction of writing, zero-width characters, fillers,
    variation selectors and lone surrogates. Blanks of all widths stay.

    Parameters
    ----------
    text : str
    kept : str, default ""
        Characters to leave as they are.

    Examples
    --------
    >>> print(escape_invisible("q\x1b[2J\n\u202e1"))
    q\x1b[2J\n\u202e1
    """
    if is_visible(text):
        return text
    import unicodedata  # rarely needed

    escapes: dict[int, str] = {}
    for char in set(text):
        is_blank = unicodedata.category(char) == "Zs"
        if not is_visible(char) and not is_blank and char not in kept:
            escapes[ord(char)] = char.encode("unicode_escape").decode()
    return text.translate(escapes)


def is_visible(text: str) -> bool:
    """Return whether people see every character of a text as what it is; wide and narrow blanks are not seen so."""
    if not text.isprintable():
        return False
    return text.isascii() or re.search(INVISIBLE, text) is None


def cut_long_words(text: str) -> str:
    """Return a text for people: the middle of words of more than 300 characters, such as ids, is cut out.

    Of a text of more than 10,000 characters the middle is cut out, too.

    Examples
    --------
    >>> len(cut_long_words("document " + "x" * 10**6)), cut_long_words("document x")
    (309, 'document x')
    """
    if len(text) <= LONGEST_WORD:
        return text
    words = re.sub(rf"\S{{{LONGEST_WORD + 1},}}", lambda word: shorten(word[0], LONGEST_WORD), text)
    return shorten(words, LONGEST_TEXT)


def format_for_people(text: str) -> str:
    r"""Return a text for people, in one line: what cannot be seen as escapes, and long words and texts cut.

    Examples
    --------
    >>> print(format_for_people("q\n1"), len(format_for_people("x" * 10**6)))
    q\n1 300
    """
    return escape_invisible(cut_long_words(text))


def shorten(text: str, longest: int = LONGEST_LABEL) -> str:
    """Return a text of at most so many characters: the middle of a longer one is left out, as names differ at the ends.

    Examples
    --------
    >>> shorten("bm25"), shorten("msmarco-passage-dev-cross-encoder-large", 24)
    ('bm25', 'msmarco-pass…coder-large')
    """
    if len(text) <= longest:
        return text
    n_last = (longest - 1) // 2
    n_first = longest - 1 - n_last
    return f"{text[:n_first]}…{text[len(text) - n_last :]}"


def format_path(path: str | Path) -> str:
    """Return a path as reports name it: as it was given, but an absolute one without its folders, which are private.

    Examples
    --------
    >>> format_path("runs/bm25.run"), format_path("/home/ada/runs/bm25.run"), format_path("the qrels")
    ('runs/bm25.run', 'bm25.run', 'the qrels')
    """
    if not Path(path).is_absolute():
        return str(path)
    return Path(path).name or str(path)


def escape_for_terminal(text: str) -> str:
    r"""Return a one-line text that neither a terminal nor a GitHub build log takes for commands.

    Examples
    --------
    >>> print(escape_for_terminal("q\x1b[2J"), escape_for_terminal("::error::q"), escape_for_terminal("##[error]q"))
    q\x1b[2J \x3a:error::q #\x23[error]q
    """
    return escape_commands(format_for_people(text))


def escape_commands(text: str) -> str:
    r"""Return a text, of any number of lines, in which a GitHub build log finds no commands.

    Examples
    --------
    >>> print(escape_commands("::error::q"), escape_commands("##[error]q"), escape_commands("a::error::q"))
    \x3a:error::q #\x23[error]q a::error::q
    """
    return re.sub(COMMAND, lambda found: f"\\x{ord(found[0]):02x}", text)


def needs_no_escape(texts: Sequence[str]) -> bool:
    """Return whether :func:`escape_for_terminal` surely leaves all texts as they are, by one fast look at many."""
    longest = max(map(len, texts), default=0)
    all_texts = "".join(texts)
    has_command = "::" in all_texts or "#[" in all_texts
    return longest <= LONGEST_WORD and not has_command and is_visible(all_texts)


def format_record(record: DataclassInstance) -> str:
    """Return the repr of a dataclass with four decimals of each number."""
    from dataclasses import fields

    parts = []
    for field in fields(record):
        if field.repr:
            value = getattr(record, field.name)
            shown = round(value, 4) if isinstance(value, float) else value
            parts.append(f"{field.name}={shown!r}")
    return f"{type(record).__name__}({', '.join(parts)})"
