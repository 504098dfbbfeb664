"""Every exception and warning of deadheat, the words of their messages, and checks of arguments that raise them.

The errors are one tree, whose branches are also built-in types that callers catch. Options of commands need the checks,
and help must not wait for NumPy: it is imported where it is needed, as is what only mistakes and dataclasses need.
"""

from __future__ import annotations

import math
import operator
import re
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, overload

from deadheat.gone import instead_of

if TYPE_CHECKING:
    import ast

    import numpy as np
    from _typeshed import DataclassInstance
    from numpy.typing import DTypeLike

    from deadheat.arrays import AnyArray, ArrayLike, BoolArray, FloatArray


ABSENT: Any = object()  # "not given", where None may be the value that was given
# Patterns are compiled where they are first used: to import this module takes a tenth less time.
# A workflow command in a GitHub build log: "::name::" where a line begins or may be wrapped, "##[name]" anywhere.
COMMAND = r"(?<![^\s-]):(?=:[a-z-]+(?: [^:]*)?::)|(?<=#)#(?=\[)"
# Letters and signs that nobody sees, though Unicode counts them as such: joiners, fillers and variation selectors.
INVISIBLE = (
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U0001d159\U00016fe4"
    "\U000e0100-\U000e01ef]"
)
BY_DOC_ID = "by document id, as trec_eval"  # how that rule of breaking ties is called wherever people read of it
UNIT = ("query", "queries")  # of what is averaged and drawn, in words, unless a caller has another
BROKEN_BY = {"doc_id": BY_DOC_ID, "input": "in the order of the input"}
NOISE = 1e-12  # what floating point leaves of a difference that is zero
ROUNDING = 1e-12  # relative: values closer than this are equal in theory
LONGEST_LIST = 160  # characters of several names in brackets
MOST_NAMED = 4  # ids that are all named
LONGEST_GIVEN = 200  # characters of a value that a message shows
LONGEST_WORD = 300  # characters of a word in a sentence or a table, such as an id
LONGEST_TEXT = 10_000  # and of a whole one
LONGEST_LABEL = 80  # characters of a name or an id beside an axis or in a cell
MOST_OFF = 0.05  # a share that may be off by more is unknown
SURELY = 3  # errors that a share is surely not off by
UNKNOWN = "unknown"
STDIN = "/dev/stdin"
STREAM = r"/dev/stdin|/dev/fd/\d+|/proc/(self|\d+)/fd/\d+"  # what a shell makes up for a pipe
FORMATS = {"cases": "input_format", "documents": ""}  # the option with the format of what a file holds; else --from


class Advice(NamedTuple):
    """Advice to pass an argument, or to name a file so that the argument is not needed.

    Attributes
    ----------
    argument : str
    value : object, optional
        Such as ``"csv"`` for a format; None names the argument alone.
    endings : str, default ""
        File name endings that say the same, such as ``".json or .jsonl"``.
    of : str, default ""
        What the file holds, where a command has one option for each: ``"cases"``, ``"documents"``.
    when : str, default ""
        Text in front: a condition, or what the file looks like.
    """

    argument: str
    value: object = None
    endings: str = ""
    of: str = ""
    when: str = ""


Options: TypeAlias = Mapping[str, str] | None  # of a command, by the arguments that they are; None for a Python caller


def _named(options: Options, name: str, value: object = None) -> str:
    """Name an argument or its option, with its value if it has one; one without an option keeps its Python name."""
    if options is None or name not in options:
        return name if value is None else f"{name}={as_given(value)}"
    if isinstance(value, Mapping):
        value = ",".join(f"{key}={repr(one) if ' ' in one else one}" for key, one in value.items())  # for a shell
    return options[name] if value is None else f"{options[name]} {value}"


def _advised(options: Options, advice: Advice, path: Path | None) -> str:
    """Say what to do, about the file at `path` if there is one."""
    name, value = advice.argument, advice.value
    if options is None:
        named = _named(options, name, value)
        return advice.when + (f"name the file {advice.endings}, or pass {named}" if advice.endings else f"give {named}")
    if name == "format":
        name = FORMATS.get(advice.of, "from")
    if isinstance(value, Mapping):  # columns, of one kind of files: the other may have other names
        prefix = f"{advice.of}." if advice.of else ""
        value = {prefix + key: column for key, column in value.items()}
    steps = [f"give {_named(options, name, value)}"] if name in options else []
    if advice.endings:  # a stream has no name to change
        is_stream = re.fullmatch(STREAM, str(path))
        steps.insert(0, f"{'save it in a file that ends in' if is_stream else 'name the file'} {advice.endings}")
    return f"{advice.when}{', or '.join(steps)}" if steps else ""


def as_given(value: object, limit: int = LONGEST_GIVEN) -> str:
    """Return the repr of what a user gave, cut if it is too long for a message.

    Examples
    --------
    >>> as_given("float23"), as_given(10**5000)
    ("'float23'", 'a number of thousands of digits')
    """
    if isinstance(value, str):
        return shown(value, limit)
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print integers of so many digits
        return "a number of thousands of digits"
    return text if len(text) <= limit else f"{text[:limit]}..."


def shown(text: str, limit: int = 80) -> str:
    """Return `text` in quotes, cut to `limit` characters, for an error message."""
    return repr(text if len(text) <= limit else f"{text[: limit - 3]}...")


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun, singular or plural.

    Examples
    --------
    >>> counted(1, "query", "queries"), counted(1200, "run")
    ('1 query', '1,200 runs')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def rounded(number: float, digits: int = 4) -> str:
    """Return a number with so many decimals; one that they would show as zero has a power of ten.

    Examples
    --------
    >>> rounded(0.71234), rounded(0.00002), rounded(-0.0), rounded(1e-17), rounded(float("nan"))
    ('0.7123', '2e-05', '0.0000', '0.0000', 'nan')
    """
    if NOISE < abs(number) < 0.5 * 10**-digits:
        return f"{number:.0e}"  # 0.0000 would look like a zero
    return f"{number:.{digits}f}".replace("-0." + "0" * digits, "0." + "0" * digits)


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
        return "unknown"
    if is_bound and p >= least / 2:
        return f"<= {p:.{digits}f}"
    if p < least:
        return f"< {least:.{digits}f}"
    if is_shown_as_one(p, digits):
        return f"> {1 - least:.{digits}f}"
    return f"= {p:.{digits}f}"


def level_text(level: float) -> str:
    """Return a confidence level as a percentage with all of its digits.

    Examples
    --------
    >>> level_text(0.95), level_text(0.995)
    ('95%', '99.5%')
    """
    return f"{100 * level:g}%"


def exact_text(value: float) -> str:
    """Return a number with all of its digits: different numbers have different texts.

    Examples
    --------
    >>> exact_text(1.0), exact_text(0.5), exact_text(1000001.0)
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


def percentage(share: float, error: float = 0.0) -> str:
    """Return a share as a percentage, with its error where that shows; else 0% and 100% only if it is exactly that.

    Examples
    --------
    >>> percentage(0.845), percentage(0.001), percentage(0.845, 0.0041), percentage(0.001, 0.0041)
    ('84%', '<1%', '84% ± 0.4%', '<2%')
    >>> percentage(0.39, 0.43)
    'unknown'
    """
    if not is_share_known(share, error):
        return UNKNOWN
    if error > share:
        return f"<{math.ceil(100 * (share + SURELY * error))}%"
    text = f"{100 * share:.0f}%"
    if error < 0.0005 and (0 < share < 0.01 or 0.99 < share < 1):
        text = "<1%" if share < 0.5 else ">99%"
    return f"{text} ± {error_of_share(error)}" if error >= 0.0005 else text


def error_of_share(error: float) -> str:
    """Return how far a percentage may be off: with a decimal, unless the error is large."""
    return f"{100 * error:.{0 if error >= 0.1 else 1}f}%"


def three(ids: Sequence[str], between: str = ", ", *, n: int = 0) -> str:
    """Return up to four ids; of more the first three, and how many others there are of the `n` that `ids` begin.

    Examples
    --------
    >>> three(["q1", "q2", "q3", "q4"]), three(list("abcdef"))
    ('q1, q2, q3, q4', 'a, b, c and 3 more')
    """
    n = max(n, len(ids))
    return between.join(ids) if n <= MOST_NAMED else f"{between.join(ids[:3])} and {n - 3:,} more"


def format_names(names: Sequence[str]) -> str:
    """Return up to four names as the subject of a sentence; of more the first three, and how many others there are.

    Examples
    --------
    >>> format_names(["a"]), format_names(["a", "b"]), format_names(list("abc")), format_names(list("abcdef"))
    ('a', 'a and b', 'a, b and c', 'a, b, c and 3 more')
    """
    if len(names) < 2 or len(names) > MOST_NAMED:
        return three(names)
    *first, last = names
    return f"{', '.join(first)} and {last}"


def in_brackets(names: Sequence[str], what: str = "", *, head: str = "") -> str:
    """Return up to four names in brackets behind a head; of more, which would hide the sentence, their number alone.

    Examples
    --------
    >>> in_brackets(["a", "b"], "interval"), in_brackets(list("abcde"), "interval"), in_brackets(list("abcde"))
    (' (a, b)', ' (5 intervals)', '')
    """
    listed = ", ".join(names)
    if len(names) <= MOST_NAMED and len(listed) <= LONGEST_LIST:
        return f" ({head}{listed})"
    return f" ({counted(len(names), what)})" if what else ""


def did_you_mean(given: object, known: Iterable[str], n: int = 1) -> str:
    """Return ``"Did you mean 'x'?"`` for the nearest of `known`, up to `n` of them, or an empty string."""
    import difflib  # only a mistake needs it

    by_folded = {name.casefold(): name for name in reversed([*known])}  # of two, the first one
    near = difflib.get_close_matches(str(given).casefold(), by_folded, n=n, cutoff=0.6)
    if not near:
        return ""
    *others, last = [repr(by_folded[name]) for name in near]
    return f"Did you mean {', '.join(others)} or {last}?" if others else f"Did you mean {last}?"


def nearest_first(given: str, known: Iterable[str]) -> list[str]:
    """Return names, those that look most like a given one first; equal ones stay in their order.

    Examples
    --------
    >>> nearest_first("scater", ["forest", "matrix", "scatter"])
    ['scatter', 'matrix', 'forest']
    """
    from difflib import SequenceMatcher  # only a mistake needs it

    folded = given.casefold()
    return sorted(known, key=lambda name: -SequenceMatcher(None, folded, name.casefold()).ratio())


def joined(*sentences: str) -> str:
    """Join the sentences that are not empty, with a blank between them."""
    return " ".join(filter(None, sentences))


def printable(text: str, kept: str = "") -> str:
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
    >>> print(printable("q\x1b[2J\n\u202e1"))
    q\x1b[2J\n\u202e1
    """
    if is_visible(text):
        return text
    import unicodedata  # rarely needed

    raw = [one for one in set(text) if not (is_visible(one) or one in kept or unicodedata.category(one) == "Zs")]
    return text.translate({ord(one): one.encode("unicode_escape").decode() for one in raw})


def is_visible(text: str) -> bool:
    """Return whether people see every character of a text as what it is, but for blanks that are wide or narrow."""
    return text.isprintable() and (text.isascii() or re.search(INVISIBLE, text) is None)


def cut_words(text: str) -> str:
    """Return a text for people: of words of more than 300 characters, such as ids, and of long texts the middle is cut.

    Examples
    --------
    >>> len(cut_words("document " + "x" * 10**6)), cut_words("document x")
    (309, 'document x')
    """
    if len(text) <= LONGEST_WORD:
        return text
    words = re.sub(rf"\S{{{LONGEST_WORD + 1},}}", lambda word: shorten(word[0], LONGEST_WORD), text)
    return shorten(words, LONGEST_TEXT)


def presentable(text: str) -> str:
    r"""Return a text for people, in one line: what cannot be seen as escapes, and long words and texts cut.

    Examples
    --------
    >>> print(presentable("q\n1"), len(presentable("x" * 10**6)))
    q\n1 300
    """
    return printable(cut_words(text))


def shorten(text: str, longest: int = LONGEST_LABEL) -> str:
    """Return a text of at most so many characters: of a longer one the middle is left out, as names differ at its ends.

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


def reported_path(path: str | Path) -> str:
    """Return a path as reports name it: as it was given, but of an absolute one the name: its folders are private.

    Examples
    --------
    >>> reported_path("runs/bm25.run"), reported_path("/home/ada/runs/bm25.run"), reported_path("the qrels")
    ('runs/bm25.run', 'bm25.run', 'the qrels')
    """
    if not Path(path).is_absolute():
        return str(path)
    return Path(path).name or str(path)


def on_terminal(text: str) -> str:
    r"""Return a one-line text that neither a terminal nor a GitHub build log takes for commands.

    Examples
    --------
    >>> print(on_terminal("q\x1b[2J"), on_terminal("::error::q"), on_terminal("##[error]q"))
    q\x1b[2J \x3a:error::q #\x23[error]q
    """
    return without_commands(presentable(text))


def without_commands(text: str) -> str:
    r"""Return a text, of any number of lines, in which a GitHub build log finds no commands.

    Examples
    --------
    >>> print(without_commands("::error::q"), without_commands("##[error]q"), without_commands("a::error::q"))
    \x3a:error::q #\x23[error]q a::error::q
    """
    return re.sub(COMMAND, lambda found: f"\\x{ord(found[0]):02x}", text)


def is_plain(texts: Sequence[str]) -> bool:
    """Return whether :func:`on_terminal` would surely leave some texts as they are: a fast look."""
    whole = "".join(texts)
    is_short = max(map(len, texts), default=0) <= LONGEST_WORD
    return is_short and is_visible(whole) and "::" not in whole and "#[" not in whole


def short_repr(one: DataclassInstance) -> str:
    """Return the repr of a dataclass with four decimals of a number."""
    from dataclasses import fields

    parts = ((item.name, getattr(one, item.name)) for item in fields(one) if item.repr)
    values = (f"{name}={round(value, 4) if isinstance(value, float) else value!r}" for name, value in parts)
    return f"{type(one).__name__}({', '.join(values)})"


class DeadheatError(Exception):
    """Base of everything that deadheat raises on purpose.

    Its parts are attributes, None where they do not apply; ``str(error)`` joins them for a Python caller, as in
    ``argument must be allowed, got given: hint`` or ``path:line: problem, expected allowed, got given: hint``.

    Parameters
    ----------
    problem : str, optional
        What is wrong.
    argument : str, optional
        The argument that is wrong, the subject of the sentence.
    given : object, optional
        Its value, or whatever was found instead.
    found : object, optional
        What was given or found, in words where its repr says little: shown as it is, in place of `given`.
    allowed : str or collection of str, optional
        What is allowed; of a collection, the word nearest to `given` becomes the hint.
    beside : dict of str to object, optional
        Other arguments that rule the value out, with their values; None names the argument alone.
    hint : str or Advice, optional
        What to do.
    python : str, optional
        What else a Python caller can do.
    path : path-like, optional
        The file that holds the offending data.
    line : int, optional
        Its 1-based line.
    measure : str, optional
        The measure whose parameter or values it is about: its name comes first.
    """

    longest_given = LONGEST_GIVEN

    def __init__(
        self,
        problem: str | None = None,
        *,
        argument: str | None = None,
        given: object = ABSENT,
        found: object = None,
        allowed: str | Collection[str] | None = None,
        beside: Mapping[str, object] | None = None,
        hint: str | Advice | None = None,
        python: str | None = None,
        path: str | Path | None = None,
        line: int | None = None,
        measure: str | None = None,
    ) -> None:
        super().__init__(problem)  # `copy` and `pickle` call it with this alone; the other parts are in its dict
        self.problem = problem
        self.argument = argument
        self.is_given = given is not ABSENT or found is not None
        self.given = None if given is ABSENT else given
        self.found = found
        self.allowed = allowed
        self.beside = beside
        self.hint = hint or None
        self.python = python
        self.path = None if path is None else Path(path)
        self.line = line
        self.measure = measure

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self, options: Options = None, *, has_place: bool = True) -> str:
        """Return the message, worded for Python or with the options of a command, with or without path and line."""
        place = f"{self.measure}: " if self.measure else ""
        if self.path is not None and has_place:
            line = "" if self.line is None else f"{self.line}:"
            place = f"{printable(str(self.path))}:{line} {place}"
        choices = () if isinstance(self.allowed, str | None) else tuple(self.allowed)
        allowed = f"one of {', '.join(map(repr, choices))}" if choices else str(self.allowed or "")
        if self.argument:
            text = f"{_named(options, self.argument)} {self.problem or f'must be {allowed}'}"
        else:
            text = ", ".join(filter(None, [self.problem, allowed and f"expected {allowed}"]))
        if self.beside:
            text += f" with {', '.join(_named(options, *one) for one in self.beside.items())}"
        if self.is_given:  # several values of an option are shown as they are typed
            given = as_given(self.given, self.longest_given) if self.found is None else str(self.found)
            if options is not None and isinstance(self.given, list | tuple):
                given = ", ".join(map(as_given, self.given))
            text += f", got {given}"
        hint = _advised(options, self.hint, self.path) if isinstance(self.hint, Advice) else self.hint
        hint = hint or (did_you_mean(self.found or self.given, choices) if len(choices) > 1 else "")
        if hint and hint[0].isupper():
            text = f"{text.removesuffix('.')}. {hint}"
        elif hint:
            text += f"{';' if self.is_given else ':'} {hint}"
        sentence = place + text + (f"; {self.python}" if self.python and options is None else "")
        return "\n".join(map(cut_words, sentence.split("\n")))


class DataError(DeadheatError, ValueError):
    """The input data cannot be evaluated as it is."""

    longest_given = 80


class FileFormatError(DataError):
    """A file is not in the format that its name or its use implies (empty, binary, truncated, wrong encoding)."""


class MalformedRowError(FileFormatError):
    """A row has too few or too many fields, or a field that cannot be read."""


class SwappedFilesError(FileFormatError):
    """A run was given where qrels were expected, or the other way round."""


class ColumnError(DataError):
    """A table lacks a column that is needed, or the column has the wrong type."""


class DuplicateError(DataError):
    """A (query, document) pair appears more than once in a run or in the qrels."""


class CasesError(DataError):
    """Labelled cases cannot be used; the message names each of them and where it is.

    Attributes
    ----------
    findings : tuple of Finding
        What is wrong, one by one.
    """

    def __init__(self, problem: str | None = None, *, findings: Iterable[Any] = (), **parts: Any) -> None:  # noqa: ANN401 - those of its base
        super().__init__(problem, **parts)
        self.findings = tuple(findings)


class NotKeptError(DataError):
    """What a saved evaluation keeps of its ranking is too little to score it again.

    Attributes
    ----------
    queries : dict of str to tuple of str
        The measures that cannot be known, and for which queries.
    """

    def __init__(
        self,
        problem: str | None = None,
        *,
        queries: Mapping[str, tuple[str, ...]] | None = None,
        **parts: Any,  # noqa: ANN401 - those of its base
    ) -> None:
        super().__init__(problem, **parts)
        self.queries = dict(queries or {})


class UserCodeError(DataError):
    """Code that the user named, such as a reranker, raised an error, which is the `__cause__` of this one."""


class FigureError(DataError):
    """A figure cannot show these data: the message says why, and what would."""


class ParameterError(DeadheatError, ValueError):
    """An argument has a value that is not allowed."""


class MeasureError(ParameterError):
    """A measure's notation cannot be read, or one of its parameters is wrong."""


class UnknownMeasureError(MeasureError, KeyError):
    """No measure has this name, or an evaluation does not contain it."""


class SourceTypeError(DeadheatError, TypeError):
    """An object is of a type that deadheat cannot read."""


class MissingDependencyError(DeadheatError, ImportError):  # type: ignore[misc]  # its path is a file here too
    """An optional package is needed but not installed."""


class MissingPluginError(DeadheatError, ImportError):  # type: ignore[misc]  # as above
    """A plugin of deadheat is needed whose folder is not there."""


class DeadheatWarning(UserWarning):
    """The data can be evaluated, but the result is probably not what was meant.

    Parameters
    ----------
    text : str
        With the names of `fields` in braces, if there are any.
    where : str, default ""
        The file or run that it is about, which the message begins with.
    **fields : object
        What differs from file to file in the same warning.

    Attributes
    ----------
    text, where : str
        As given.
    """

    def __init__(self, text: str, where: str = "", **fields: object) -> None:
        self.text, self.where = text, where
        super().__init__(cut_words((f"{where}: " if where else "") + (text.format(**fields) if fields else text)))


class NothingJudgedWarning(DeadheatWarning):
    """No retrieved document is judged: usually the ids of run and qrels are written differently."""


class UnlabelledQueriesWarning(DeadheatWarning):
    """Queries without a value in a strata column form a stratum of their own."""


class NoteWarning(DeadheatWarning):
    """A warning that a benchmark repeats in the notes of its report."""


class UnknownExpectedWarning(NoteWarning):
    """Expected ids are not terms of the ontology that judges them."""


class DurationWarning(DeadheatWarning):
    """Something will take longer than ten seconds: said before the time is spent."""


LONG = 10.0  # seconds that are announced


def warn_of_time(what: str, seconds: float, then: str) -> bool:
    """Warn of what takes more than ten seconds, before the time is spent, and return whether it does.

    It is for what can be estimated by a formula; :func:`deadheat.phases.lasting` looks at the first steps.

    Parameters
    ----------
    what : str
    seconds : float
    then : str
        The end of the sentence.
    """
    if seconds > LONG:
        warnings.warn(f"{what} takes about {seconds:.0f} s{then}", DurationWarning, stacklevel=3)
    return seconds > LONG


K = TypeVar("K")
T = TypeVar("T")  # of every file that has a generic function
Rng: TypeAlias = "np.random.Generator | int | None"
LARGEST_INTEGER = 2**53  # from here on a float has no fraction, and no neighbour less than 1 away
FLOATS = ("float32", "float16", "bfloat16")  # that scores may be rounded to
MOST_DIGITS = 17  # of a float64
MAX_DECIMALS = 15
FEWEST_RESAMPLES = (
    99  # the smallest p-value is then 0.01, and two resampled means lie beyond either end of a 95% interval
)
# what Python reads as a number and nobody else writes: 1_0 and 0x10; and digits of other scripts in words
_ODD = re.compile(r"[0-9]_|_[0-9]|\b0[xobXOB]|(?![0-9])\d")


def literal(node: ast.expr, text: str) -> Any:  # noqa: ANN401 - what is written
    """Return the value of a part of a text that Python's parser read.

    Parameters
    ----------
    node : ast.expr
    text : str
        What was parsed.

    Raises
    ------
    ValueError
        It is no value, a number is not written plainly, or a dict has a key twice, of which Python takes the last.

    Examples
    --------
    >>> import ast
    >>> literal(ast.parse("{1: 10}", mode="eval").body, "{1: 10}")
    {1: 10}
    >>> literal(ast.parse("1_0", mode="eval").body, "1_0")
    Traceback (most recent call last):
        ...
    ValueError: 1_0
    """
    import ast

    found, written = ast.literal_eval(node), ast.get_source_segment(text, node) or ""
    if _ODD.search(written) or (isinstance(node, ast.Dict) and len(found) < len(node.keys)):
        raise ValueError(written)
    return found


def by_name(
    given: Iterable[tuple[object, T]],
    where: str = "",
    *,
    what: str = "runs",
    hint: str = "give a dict of name to run",
    python: str = "",
) -> dict[str, T]:
    """Return runs, or other things, by name, as text; raise for a name that two have, also as 1 and "1".

    The error says `where`, such as " in task x", and the advice, as `DeadheatError` has it.

    Examples
    --------
    >>> by_name([(1, "a run"), ("2", "another")])
    {'1': 'a run', '2': 'another'}
    """
    named: dict[str, T] = {}
    for name, one in given:
        if str(name) in named:
            raise ParameterError(f"two {what}{where} are named {str(name)!r}", hint=hint, python=python)
        named[str(name)] = one
    return named


def collected(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    """Return the values of each key, in order of appearance.

    Examples
    --------
    >>> collected([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    found: dict[K, list[T]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def changed(thing: T, **attributes: Any) -> T:  # noqa: ANN401 - of any object
    """Return a copy of an object with some other attributes."""
    found = copy(thing)
    vars(found).update(attributes)
    return found


def array_of(
    argument: str, given: ArrayLike, dtype: DTypeLike | None = None, allowed: str = "values, in rows of one length"
) -> AnyArray:
    """Return an array as NumPy makes it, of objects where it would make text of numbers; raise for one with a mask.

    Examples
    --------
    >>> array_of("groups", [1, "1"]).tolist(), array_of("groups", ["a", "b"]).dtype.kind
    ([1, '1'], 'U')
    """
    import numpy as np

    if np.ma.is_masked(given):  # NumPy would drop the mask
        raise ParameterError(
            argument=argument,
            found="a masked array",
            allowed="an array without a mask",
            hint="select what is not masked, or give array.data",
        )
    try:
        found = np.asarray(given, dtype)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(argument=argument, given=given, allowed=allowed) from None
    if found.dtype.kind == "U" and not isinstance(given, np.ndarray):
        objects = np.asarray(given, object)
        return found if all(isinstance(one, str) for one in objects.flat) else objects
    return found


def generator(rng: Rng, *keys: int) -> np.random.Generator:
    """Return a random generator; the same seed and keys give the same one.

    Parameters
    ----------
    rng : numpy.random.Generator, int or None
        A generator is returned as it is; None takes a new seed each time.
    *keys : int
        Tell apart generators that share a seed.
    """
    import numpy as np

    number = whole(as_rng("rng", rng))
    return np.random.default_rng(rng if number is None else [number, *keys])


def as_rng(name: str, given: Rng) -> Rng:
    """Return what `generator` takes; to check a seed loads no generators of NumPy."""
    import numpy as np

    number = whole(given)
    is_allowed = given is None or isinstance(given, np.random.Generator) if number is None else number >= 0
    if not is_allowed:
        raise ParameterError(
            argument=name, given=given, allowed="a whole number from 0 on, a numpy.random.Generator or None"
        )
    return given


def whole(given: object) -> int | None:
    """Return an integer, Python's or NumPy's, as an int; None for anything else."""
    try:
        return None if isinstance(given, bool) else operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        return None


def is_number(given: object) -> bool:
    """Tell whether an argument is a single real number, Python's or NumPy's."""
    if type(given) in {float, int}:
        return True
    from numbers import Real

    return isinstance(given, Real) and not isinstance(given, bool)


def as_count(name: str, given: int, low: int = 1) -> int:
    """Return an argument as a count: a whole number of at least `low`."""
    number = whole(given)
    if number is None or not low <= number <= LARGEST_INTEGER:
        raise ParameterError(argument=name, given=given, allowed=f"a whole number from {low} on")
    return number


def as_digits(given: int) -> int:
    """Return how many digits a table has behind the point."""
    digits = whole(given)
    if digits is None or not 0 <= digits <= MOST_DIGITS:
        raise ParameterError(argument="digits", given=given, allowed=f"a whole number from 0 to {MOST_DIGITS}")
    return digits


def as_text(name: str, given: str) -> str:
    """Return an argument that is text."""
    if not isinstance(given, str):
        raise ParameterError(argument=name, given=given, allowed="text")
    return given


def as_list(name: str, given: object, allowed: str) -> list[Any]:
    """Return an argument that has several values as a list of them; raise for text and for a single value."""
    is_single = isinstance(given, str | bytes) or getattr(given, "ndim", 1) == 0
    if is_single or not isinstance(given, Iterable):
        raise ParameterError(argument=name, given=given, allowed=allowed)
    return list(given)


def as_cutoffs(given: object) -> list[int]:
    """Return the cutoffs that were given as `at`."""
    return [as_count("each of at", one) for one in as_list("at", given, "a list of cutoffs, such as (1, 3, 5, 10)")]


def as_resamples(name: str, given: int) -> int:
    """Return a number of resamples, if it is large enough for intervals and p-values."""
    return as_count(name, given, FEWEST_RESAMPLES)


def as_flag(name: str, given: object) -> bool:
    """Return True or False, Python's or NumPy's, as a bool."""
    import numpy as np

    if not isinstance(given, bool | np.bool_):
        raise ParameterError(argument=name, given=given, allowed="True or False")
    return bool(given)


def load_libraries() -> None:
    """Import Polars and NumPy at once: deep inside other imports, each call in theirs may map memory for its frame."""
    for name in ("polars", "numpy.typing"):
        import_module(name)


def _finite(given: float) -> float:
    """Return a value as a float; NaN if it is not a number or is beyond floats."""
    with suppress(OverflowError):
        if is_number(given) and math.isfinite(given):
            return float(given)
    return math.nan


def as_pattern(name: str, given: object, example: str, flags: int = 0) -> re.Pattern[str]:
    """Return an argument as a regular expression; one that Python's parser gives up on is no bug of ours."""
    allowed = f"a regular expression such as {example!r}"
    try:
        pattern: re.Pattern[str] = re.compile(given, flags)  # type: ignore[call-overload]
    except (re.error, TypeError, OverflowError, RecursionError) as error:
        raise ParameterError(argument=name, given=given, allowed=allowed, hint=f"{error}") from error
    if not isinstance(pattern.pattern, str):  # of bytes, which matches no text
        raise ParameterError(argument=name, given=given, allowed=allowed)
    return pattern


def as_number(name: str, given: float, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a finite number from `low` to `high`; one without a fraction as an int."""
    number = _finite(given)
    if not low <= number <= high:
        end = "on" if high == math.inf else f"to {high:g}"
        allowed = "a number" if low == -math.inf else f"a number from {low:g} {end}"
        raise ParameterError(argument=name, given=given, allowed=allowed)
    return int(number) if number.is_integer() and abs(number) < LARGEST_INTEGER else number


def as_precision(name: str, given: str | int) -> str | int:
    """Return what scores are rounded to: a floating-point format, or a number of decimals, also one given as text."""
    if isinstance(given, str) and given in FLOATS:
        return given
    decimals = int(given) if isinstance(given, str) and re.fullmatch("[0-9]{1,2}", given) else whole(given)
    if decimals is None or not 0 <= decimals <= MAX_DECIMALS:
        raise ParameterError(
            argument=name,
            given=given,
            allowed=f"one of {', '.join(map(repr, FLOATS))} or a number of decimals from 0 to {MAX_DECIMALS}",
            hint=did_you_mean(as_given(given), FLOATS),
        )
    return decimals


def as_positive(name: str, given: float) -> float:
    """Return a finite number above 0."""
    number = _finite(given)
    if not number > 0:
        raise ParameterError(argument=name, given=given, allowed="a number above 0")
    return number


def as_level(name: str, given: float, high: float = 1.0, example: str = "0.95") -> float:
    """Return a probability, such as a confidence level, between 0 and `high`."""
    if not is_number(given) or not 0 < given < high:
        hint = f"Did you mean {given / 100:g}?" if is_number(given) and 2 <= given < 100 * high else None
        allowed = f"a number between 0 and {high:g}, such as {example}"
        raise ParameterError(argument=name, given=given, allowed=allowed, hint=hint)
    return float(given)


def check_choice(name: str, given: object, allowed: Collection[str]) -> None:
    """Raise `ParameterError` unless an argument is one of the allowed words."""
    if not isinstance(given, str) or given not in allowed:
        hint = instead_of(f"{name}={given!r}") or None
        raise ParameterError(argument=name, given=given, allowed=tuple(allowed), hint=hint)


def package(name: str, what: str, extra: str) -> Any:  # noqa: ANN401 - many are published without types
    """Return a module of a package that may not be installed; `what` needs it, and an extra installs it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(
            f"{what}, which is not installed", hint=f"pip install 'deadheat[{extra}]'"
        ) from error
