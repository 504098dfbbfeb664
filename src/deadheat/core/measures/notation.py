"""Reading the notation: ``nDCG@10``, ``P(rel=2)@5``, and names of other tools.

A text is split into notations (`split_notation`), and each is read by `parse_measure`: a cutoff behind ``_`` or ``.``
goes behind ``@``, Python parses the text, and the registry finds the class of the name. Names that are not read get a
suggestion.
"""

import ast
import inspect
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from deadheat.core import third_party
from deadheat.core.checks import as_list, read_literal
from deadheat.core.errors import ABSENT, MeasureError, MissingPluginError, ParameterError, UnknownMeasureError
from deadheat.core.hooks import missing_measure
from deadheat.core.measures.base import Measure
from deadheat.core.measures.registration import ALIASES, PRESETS, REGISTRY, load_measure
from deadheat.core.structures import copy_with
from deadheat.core.wording import did_you_mean, format_given, join_sentences

MeasureLike: TypeAlias = Measure | type[Measure] | str  # also a measure of ir_measures, which is read by its notation
Measures: TypeAlias = MeasureLike | Iterable[MeasureLike] | None

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")
LONGEST = 10_000  # characters of a notation
PLAINLY = "write numbers plainly, words in quotes and keys once"
AT_THE_END = "write a number behind @, and @ behind all parameters, as in nDCG(gain='exp')@10"

# Names of several words, or with a hyphen as ndeval and papers have them, which would be read as several measures
PHRASES = {
    "hit rate": "hit_rate",
    "f1 score": "F1",
    "f score": "F",
    "mean rank": "MR",
    "first relevant position": "FRP",
    "ideal dcg": "IDCG",
    "mean average recall": "MAR",
    "mean expected reciprocal rank": "MERR",
    "mean average precision": "MAP",
    "average precision": "AP",
    "mean reciprocal rank": "MRR",
    "reciprocal rank": "RR",
    "f measure": "F",
    "r precision": "Rprec",
    "r prec": "Rprec",
    "alpha dcg": "alpha_DCG",
    "alpha ndcg": "alpha_nDCG",
    "\N{GREEK SMALL LETTER ALPHA} dcg": "alpha_DCG",
    "\N{GREEK SMALL LETTER ALPHA} ndcg": "alpha_nDCG",
    "err ia": "ERR_IA",
    "nerr ia": "nERR_IA",
    "map ia": "MAP_IA",
    "ap ia": "AP_IA",
    "p ia": "P_IA",
    "f1 ma\N{LATIN SMALL LETTER SHARP S}": "F1",
    "f ma\N{LATIN SMALL LETTER SHARP S}": "F",
    "mittlerer rang": "MR",
    "mittlerer reziproker rang": "MRR",
    "reziproker rang": "RR",
    "durchschnittliche pr\N{LATIN SMALL LETTER A WITH DIAERESIS}zision": "AP",
}
# Not compiled on import, as few notations need it: that would take 5% of the time of evaluating twenty runs
ANY_PHRASE = r"(?i)(?<![\w'\"])(" + "|".join(phrase.replace(" ", "[ -]") for phrase in PHRASES) + r")(?![\w'\"])"

# What to suggest for names that are not read, where the nearest spelling would be another measure. The German names
# have two suggestions each, as authors differ
SUGGESTIONS = {
    "unjudged": "Hole",
    "roc_auc": "AUC",
    "auroc": "AUC",
    "avg_prec": "AP",
    "average_precision": "AP",
    "mean_average_precision": "MAP",
    "mean_reciprocal_rank": "MRR",
    "reciprocal_rank": "RR",
    "prec": "P",
    "rec": "R",
    "trefferquote": "R Hit",
    "genauigkeit": "P accuracy",
    "accuracy": "Hit Accuracy",
    "acc": "Hit Accuracy",
    "cosine_accuracy": "Hit",
    "all": "trec",
    "all_trec": "trec",
    "official": "trec",
}
MOST_SUGGESTED = 5  # names

BUNDLES = {
    "trec": (
        *("num_q", "num_ret", "num_rel", "num_rel_ret", "map", "Rprec", "bpref", "recip_rank"),
        *(f"P_{cutoff}" for cutoff in (5, 10, 15, 20, 30, 100, 200, 500, 1000)),
    ),
    "pr_curve": tuple(f"IPrec@{tenth / 10:g}" for tenth in range(11)),
}

# A notation: anything but separators outside parentheses; an unclosed parenthesis takes the rest.
NOTATION = re.compile(r"(?:[^\s,()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\(.*|\))+", re.DOTALL)
END_OF_NAME = re.compile(r"[@(\s]")
NAME_AND_NUMBER = re.compile(r"([^\W\d]+)(\d+)")  # as P10
TREC_CUTOFF = re.compile(r"[0-9]++(?:\.[0-9]++)?+|\.[0-9]++")
SUFFIX_OF_CUTOFF = re.compile("_(cut|at)$")

# Names for which trec_eval ignores a cutoff, though the measure takes one here
WHOLE_LIST = {"map", "recip_rank", "num_rel_ret", "set_P", "set_recall", "set_relative_P"}

TOO_DEEP = (RecursionError, MemoryError)  # Python's parser raises these for thousands of brackets or signs


def join_phrases(text: str) -> str:
    """Return a text in which names of several words are one word.

    Examples
    --------
    >>> join_phrases("Hit Rate@5, nDCG@10"), join_phrases("mean average precision")
    ('hit_rate@5, nDCG@10', 'MAP')
    """
    if " " not in text and "-" not in text:
        return text

    def join(match: re.Match[str]) -> str:
        phrase = match[1].lower().replace("-", " ")
        return PHRASES.get(phrase, match[1])

    return re.sub(ANY_PHRASE, join, text)


@lru_cache(1024)  # programs ask for the same few in a loop
def split_notation(text: str) -> tuple[str, ...]:
    """Return the single notations in a text: separated by spaces or commas, bundles unpacked.

    Examples
    --------
    >>> split_notation("nDCG@10 RR, nDCG(gain='exp', discount='zipf(1, 0)')@5")
    ('nDCG@10', 'RR', "nDCG(gain='exp', discount='zipf(1, 0)')@5")
    >>> split_notation("P(rel=2) @ 5 RR")
    ('P(rel=2)@5', 'RR')
    """
    text = join_phrases(" ".join(text.split()))
    text = text.replace(" @", "@").replace("@ ", "@")
    notations: list[str] = []
    for notation in NOTATION.findall(text):
        notations.extend(BUNDLES.get(notation, (notation,)))
    return tuple(notations)


def parse_measure(notation: MeasureLike) -> Measure:
    """Read a measure from its notation.

    Parameters
    ----------
    notation : str or Measure
        A name or an alias, then parameters in parentheses, then ``@`` and a cutoff; or a measure, which is returned.

    Returns
    -------
    Measure

    Raises
    ------
    UnknownMeasureError
        There is no measure of this name; the message names the nearest.
    MeasureError
        The notation cannot be read, or a parameter is wrong.

    Examples
    --------
    >>> parse_measure("nDCG(gain='exp')@10")
    nDCG(gain='exp')@10
    >>> parse_measure("ndcg_cut_10"), parse_measure("ndcg_cut_10").label
    (nDCG@10, 'ndcg_cut_10')
    >>> parse_measure("MAP( rel=2 ) @ 10").label
    'MAP(rel=2)@10'
    >>> parse_measure("rbp_resid"), parse_measure("rbp_resid").label
    (RBPResidual(p=0.9, tail='unjudged'), 'rbp_resid')
    """
    if isinstance(notation, Measure):
        return notation
    given: object = notation
    if isinstance(given, type) and issubclass(given, Measure) and not inspect.isabstract(given):
        return given()
    if type(given).__module__.partition(".")[0] == "ir_measures":
        given = str(given)
    if not isinstance(given, str):
        raise MeasureError(
            found=f"{format_given(given)} ({type(given).__module__}.{type(given).__name__})",
            allowed="a measure of deadheat or its notation, such as 'nDCG@10'",
        )
    measure = _parse_text(given)
    if REGISTRY.get(type(measure).__name__) is not type(measure):  # a class of this name was registered since
        _parse_text.cache_clear()
        return _parse_text(given)
    return measure


@lru_cache(1024)  # as above
def _parse_text(text: str) -> Measure:
    given = join_phrases(text.strip())
    if len(given) > LONGEST:
        raise MeasureError(
            f"a measure of {len(given):,} characters, {format_given(given)}", allowed=f"{LONGEST:,} or fewer"
        )
    with_cutoff = move_cutoff(given)
    notation = with_cutoff or given
    name = _cut_name(notation)
    load_measure(name)
    if name in ALIASES and not name.isidentifier():  # as 11pt_avg, which Python's parser does not read
        notation = ALIASES[name] + notation.removeprefix(name)
    measure = _read_measure(_parse_tree(notation, name), notation)
    if name not in REGISTRY and not _preset(name):
        measure = measure.with_alias(name)
    if with_cutoff is not None or notation in PRESETS:
        return measure.with_label(given)
    return measure


def _cut_name(notation: str) -> str:
    """Return what is before the parameters and the cutoff."""
    return END_OF_NAME.split(notation, maxsplit=1)[0]


def name_of_measure(notation: str) -> str:
    """Return the name in a notation, without the parameters and the cutoff, wherever that is.

    Examples
    --------
    >>> name_of_measure("P(rel=2)@5"), name_of_measure("ndcg_cut_10"), name_of_measure("success.5")
    ('P', 'ndcg', 'success')
    """
    return _cut_name(move_cutoff(notation) or notation)


def move_cutoff(text: str) -> str | None:
    """Return a text such as ``ndcg_cut_10`` as ``ndcg@10``; None if it is not the name of a measure and a number.

    Raises
    ------
    MeasureError
        The number may mean something other than a cutoff.
    """
    place = _find_mark(text)
    if place is None:
        return None
    before = text[:place]
    load_measure(before)
    number = text[place + 1 :]
    cutoff = number.lstrip("0") or "0"
    _refuse_ignored_number(before, cutoff, text)
    if before.casefold() == "f":  # papers write the weight of recall so
        raise MeasureError(
            f"the number in {format_given(text)} may be a cutoff or beta",
            hint=f"write 'F(beta={number})', or a cutoff behind @, as in 'F@10'",
        )
    name = SUFFIX_OF_CUTOFF.sub("", before)
    if name.casefold() in PRESETS:  # rbp.95 is ranx's p, and no cutoff
        return None
    if _find_class(name) is None and missing_measure(name) is None:
        return None
    return f"{name}@{cutoff}"


def _find_mark(text: str) -> int | None:
    """Return where the ``_`` or ``.`` is that separates a name from a number at the end; None if none does.

    It is the last one, or the last but one if the number has a decimal point.
    """
    last = _find_last_mark(text)
    last_but_one = _find_last_mark(text[: max(last, 0)])
    for place in (last_but_one, last):
        if place > 0 and TREC_CUTOFF.fullmatch(text, place + 1):
            return place
    return None


def _find_last_mark(text: str) -> int:
    return max(text.rfind("_"), text.rfind("."))


def _refuse_ignored_number(name: str, number: str, text: str) -> None:
    """Raise `MeasureError` for a name of trec_eval with a number that looks like a cutoff and is none there."""
    if name in WHOLE_LIST and name in ALIASES:
        raise MeasureError(
            f"{format_given(text)} has two meanings: trec_eval ignores the number and looks at the whole list",
            hint=f"write '{ALIASES[name]}@{number}' for the first {number}, or '{name}' for the whole list",
        )
    if name == "set_F":
        raise MeasureError(
            f"{format_given(text)} has two meanings: the number may be a cutoff, and in trec_eval is the square of"
            " beta",
            hint="write 'F(beta=...)', or a cutoff behind @, as in 'F@10'",
        )


def _parse_tree(notation: str, name: str) -> ast.expr:
    """Return a notation as Python reads it; a comment, which Python leaves out, is refused."""
    try:
        with warnings.catch_warnings(action="error", category=SyntaxWarning):  # of 10or, for instance
            tree = ast.parse(notation, mode="eval").body
    except (SyntaxError, ValueError, *TOO_DEEP):
        _require_class(name)
        raise _unreadable(notation) from None
    if "#" in notation:
        raise _unreadable(notation)
    return tree


def _unreadable(notation: str) -> MeasureError:
    several_cutoffs = "; name the measure at each cutoff, as in 'P@5 P@10'" if notation.isdecimal() else ""
    return MeasureError(
        f"cannot read the measure {format_given(notation)}; write it like 'nDCG@10' or 'P(rel=2)@5'{several_cutoffs}"
    )


def _read_measure(tree: ast.expr, notation: str) -> Measure:
    """Return the measure of a tree: a name, perhaps with parameters in parentheses, perhaps ``@`` a number."""
    cutoff: object = ABSENT  # not None, which somebody may write
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult):
        cutoff = _read_value(tree.right, notation, AT_THE_END)
        tree = tree.left
    parameters: dict[str, Any] = {}
    inside: str | None = None
    keywords: list[ast.keyword] = []
    if isinstance(tree, ast.Call):
        keywords = tree.keywords
        inside = _measure_inside(tree, notation)
        if inside is not None:
            tree = ast.Call(tree.func, [], tree.keywords)
        parameters = _read_parameters(tree, notation)
        tree = tree.func
    if not isinstance(tree, ast.Name):
        raise _unreadable(notation)
    measure = _require_class(tree.id)
    if inside is not None:
        parameters = {"measure": _parse_text(inside), **parameters}
    parameters = {**_preset(tree.id), **parameters}
    if cutoff is not ABSENT:
        if measure.at in parameters:
            raise MeasureError(f"{measure.at} appears twice in {format_given(notation)}")
        parameters[measure.at] = cutoff
    made = measure(**parameters)
    _refuse_words_without_quotes(keywords, notation)
    return made


def _measure_inside(call: ast.Call, notation: str) -> str | None:
    """Return the notation of the measure that another one takes, as in ``Adjusted(nDCG@10)``; None if it takes none."""
    if len(call.args) != 1 or not isinstance(call.func, ast.Name):
        return None
    measure = _find_class(call.func.id)
    if measure is None or "measure" not in measure.__dataclass_fields__:
        return None
    return ast.get_source_segment(notation, call.args[0])


def _read_parameters(call: ast.Call, notation: str) -> dict[str, Any]:
    if call.args or any(keyword.arg is None for keyword in call.keywords):
        raise MeasureError(f"name each parameter in {format_given(notation)}, as in 'P(rel=2)@5'")
    parameters: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg in parameters:
            raise MeasureError(f"{keyword.arg} appears twice in {format_given(notation)}")
        if isinstance(keyword.value, ast.Name):
            value = keyword.value.id  # refused later: the measure may have more to say about it
        else:
            value = _read_value(keyword.value, notation, PLAINLY)
        parameters[str(keyword.arg)] = value
    return parameters


def _refuse_words_without_quotes(keywords: list[ast.keyword], notation: str) -> None:
    """Raise `MeasureError` for values without quotes that the measure would take with them."""
    for keyword in keywords:
        if isinstance(keyword.value, ast.Name):
            word = keyword.value.id
            raise MeasureError(
                f"{format_given(word)} in {format_given(notation)} is not a value",
                hint=f"write {keyword.arg}={word!r}",
            )


def _read_value(node: ast.expr, notation: str, how: str) -> Any:  # noqa: ANN401 - the measure checks it
    """Return the value of a parameter or a cutoff; `how` says how to write it."""
    try:
        return read_literal(node, notation)
    except (ValueError, TypeError, *TOO_DEEP):
        value = ast.get_source_segment(notation, node)
        raise MeasureError(f"{format_given(value)} in {format_given(notation)} is not a value", hint=how) from None


def _preset(name: str) -> Mapping[str, Any]:
    """Return the parameters that a name implies, in whatever capitals it is written; mostly none."""
    if name in REGISTRY:
        return {}
    return PRESETS.get(name.casefold(), {})


def _find_class(name: str) -> type[Measure] | None:
    """Return the class of a name, or of the only one that differs from it in capitals; None if there is none."""
    load_measure(name)
    measure = REGISTRY.get(name) or REGISTRY.get(ALIASES.get(name, ""))
    if measure is not None:
        return measure
    if missing_measure(name):  # or Accuracy would be read as Hit, whose alias differs by a capital
        return None
    alike = set()
    for known in (*REGISTRY, *ALIASES):
        if known.casefold() == name.casefold():
            alike.add(ALIASES.get(known, known))
    if len(alike) == 1:
        return REGISTRY.get(alike.pop())
    if third_party.load("measures"):  # true only the first time, if measures were registered
        return _find_class(name)
    return None


def _require_class(name: str) -> type[Measure]:
    """Return the class of a name; raise if no class has it, or only one of a plugin that is not installed."""
    measure = _find_class(name)
    if measure is not None:
        return measure
    of_missing_plugin = missing_measure(name)
    if of_missing_plugin:
        raise of_missing_plugin
    raise UnknownMeasureError(
        f"unknown measure {format_given(name)}",
        hint=join_sentences(_suggest_names(name), "All: deadheat measures, or dh.measures() in Python"),
    )


def _suggest_names(name: str) -> str:
    """Return "Did you mean ...?": a name of the same meaning, the name with a cutoff, or names of similar spelling."""
    suggestions = SUGGESTIONS.get(name.casefold())
    if suggestions is not None:
        names = [repr(suggestion) for suggestion in suggestions.split()]
        return f"Did you mean {' or '.join(names)}?"
    match = NAME_AND_NUMBER.fullmatch(name)
    if match is not None and _find_class(match[1]) is not None:
        return f"Did you mean '{match[1]}@{match[2]}'?"
    return did_you_mean(name, [*REGISTRY, *ALIASES], MOST_SUGGESTED)


def measure_named(name: MeasureLike) -> Measure | None:
    """Return the measure of a name; None if the name cannot be read, as that of a custom measure."""
    try:
        return parse_measure(name)
    except (MeasureError, MissingPluginError):
        return None


def unit_of(name: MeasureLike) -> str:
    """Return what follows a difference of values in sentences: " in logarithms" of GMAP and GMbpref, else nothing."""
    measure = measure_named(name)
    if measure is not None and measure.geometric:
        return " in logarithms"
    return ""


def parse_measures(measures: Measures) -> tuple[Measure, ...]:
    """Return the given measures, each once; the default ones for None."""
    if measures is None:
        measures = DEFAULT_MEASURES
    if isinstance(measures, str | Measure | type):
        measures = [measures]
    listed = as_list("measures", measures, "a measure, its notation such as 'nDCG@10', or a list of them")
    by_value: dict[Measure, Measure] = {}
    for notation in _split_all(listed):
        measure = parse_measure(notation)
        first = by_value.setdefault(measure, measure)
        if measure.names_rel and not first.names_rel:  # AP and AP(rel=1) are equal, unless evaluate(rel=2) is asked for
            by_value[measure] = copy_with(first, names_rel=True)
    if not by_value:
        raise ParameterError("names no measure", hint="write one, such as 'nDCG@10'", argument="measures")
    chosen = tuple(by_value.values())
    _refuse_same_names(chosen)
    return chosen


def _split_all(listed: Iterable[MeasureLike]) -> Iterator[MeasureLike]:
    for notation in listed:
        if isinstance(notation, str):
            yield from split_notation(notation)
        else:
            yield notation


def _refuse_same_names(measures: Iterable[Measure]) -> None:
    """Raise `ParameterError` if two measures share a name: tables name their rows by it."""
    names: set[str] = set()
    for measure in measures:
        names_of_measure = {str(measure), measure.label}
        for name in names_of_measure:
            if name in names:
                raise ParameterError(
                    f"two different measures are named {name!r}", hint="give each custom measure a name of its own"
                )
        names |= names_of_measure
