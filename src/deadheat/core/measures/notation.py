"""Reading the notation: ``nDCG@10``, ``P(rel=2)@5``, and names of other tools, some of which mean two things.

And which measures an evaluation has: those that are named, or the default ones, at its lowest relevant level.
"""

import ast
import inspect
import re
import warnings
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

from deadheat.core import third_party
from deadheat.core.checks import as_list, literal
from deadheat.core.data.kind_of_judgments import KindOfJudgments
from deadheat.core.errors import ABSENT, MeasureError, MissingPluginError, ParameterError, UnknownMeasureError
from deadheat.core.hooks import missing_measure
from deadheat.core.measures.base import Measure
from deadheat.core.measures.registration import ALIASES, PRESETS, REGISTRY
from deadheat.core.structures import copy_with
from deadheat.core.wording import did_you_mean, format_given, join_sentences

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")
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
# not compiled at once: that takes a twentieth of the time of evaluating twenty runs, and few notations need it
IN_TEXT = r"(?i)(?<![\w'\"])(" + "|".join(one.replace(" ", "[ -]") for one in PHRASES) + r")(?![\w'\"])"

# Names that are not read, and what is nearest in meaning, where the nearest spelling is something else. The German
# ones each mean two measures, depending on the author
MOST_MEANT = 5  # names that are asked for
MEANT = {
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


# By what names are read as, and the names in small letters: how that is, and what else they mean somewhere
MEANINGS = {
    "Hit": {
        "hits": "Hit, whether a relevant document is in the top k, as for knowledge graphs; ranx's hits is how many"
        " are: NumRelRet@k",
        "accuracy": "Hit, whether a relevant document is in the top k, as sentence-transformers has it; ir_measures'"
        " Accuracy is the share of pairs of documents in the right order",
    },
    "Accuracy": {
        "Accuracy": "Accuracy, the share of pairs of documents that are in the right order, as ir_measures has it; in"
        " BEIR and sentence-transformers accuracy is whether a relevant document is in the top k: Hit@k",
    },
    "RBP": {
        "rbp": "rbp of trec_eval 10, with graded=True and top='query', and p = 0.9 unless it is named; RBP in capitals"
        " has gains of 0 and 1, and p = 0.8",
        "RBP": "RBP, with gains of 0 and 1, and p = 0.8; rbp in small letters is that of trec_eval 10,"
        " RBP(p=0.9, graded=True, top='query')",
    },
    "RBPResidual": {
        "rbp_resid": "rbp_resid of trec_eval 10, with tail='unjudged', and p = 0.9 unless it is named",
    },
    "RR": {
        "mrr": "RR, of the first relevant document; in the G-RAG paper MRR is a mean over all relevant documents",
    },
    "MTRR": {
        "mtrr": "the mean reciprocal rank over the orders of ties; MTRR(definition='mid_rank') is that of the G-RAG"
        " paper, which is no mean over orders",
    },
    "TMHits": {
        "tmhits": "the probability of a hit over the orders of ties; TMHits(definition='mid_rank') is that of the G-RAG"
        " paper, which is no mean over orders",
    },
    "F": {
        "f1": "F, of the relevant documents in the top k; scikit-learn's f1 is of labels, not of rankings",
    },
    "AP": {
        "map": "AP, whose mean is reported; without a cutoff, trec_eval's map; tools that divide by min(R, k), as"
        " sentence-transformers does, have AP(norm='min')@k",
    },
    "R": {
        "mhits": "R, as the G-RAG paper defines it: a mean over all relevant documents; hits are elsewhere Hit, whether"
        " any is found",
        "recall": "R, the share of the relevant documents that is in the top k; where it is capped at 1 by min(R, k),"
        " the name is R_cap",
    },
}
# Those of them that a report mentions, as tools differ in what they count
DOUBTED = {"hits", "accuracy", "rbp", "rbp_resid"}


def without_spaces(text: str) -> str:
    """Return a text with names of several words as one.

    Examples
    --------
    >>> without_spaces("Hit Rate@5, nDCG@10"), without_spaces("mean average precision")
    ('hit_rate@5, nDCG@10', 'MAP')
    """
    if " " not in text and "-" not in text:
        return text
    return re.sub(IN_TEXT, lambda found: PHRASES.get(found[1].lower().replace("-", " "), found[1]), text)


def meaning(name: str, measure: str) -> str:
    """Return how a name is read as a measure, and what else it means; empty if it means one thing.

    Examples
    --------
    >>> meaning("Hits@5", "Hit").partition(";")[0]
    'Hit, whether a relevant document is in the top k, as for knowledge graphs'
    """
    word, known = _word(_cut(name) or name), MEANINGS.get(measure, {})
    return known.get(word) or known.get(word.lower(), "")


def is_doubted(name: str) -> bool:
    """Tell whether a report says how a name was read.

    Examples
    --------
    >>> [is_doubted(name) for name in ("Hits@5", "hits_at_5", "Accuracy@3", "accuracy.3", "rbp", "RBP", "Hit@5")]
    [True, True, True, True, True, False, False]
    """
    word = _word(_cut(name) or name)
    return word != "RBP" and word.lower() in DOUBTED


def _word(name: str) -> str:
    """Return what is before the parameters and the cutoff."""
    return WORD.split(name, maxsplit=1)[0]


MeasureLike: TypeAlias = Measure | type[Measure] | str  # also a measure of ir_measures, which is read by its notation
Measures: TypeAlias = MeasureLike | Iterable[MeasureLike] | None

V = TypeVar("V")

BUNDLES = {
    "trec": (
        *("num_q", "num_ret", "num_rel", "num_rel_ret", "map", "Rprec", "bpref", "recip_rank"),
        *(f"P_{cutoff}" for cutoff in (5, 10, 15, 20, 30, 100, 200, 500, 1000)),
    ),
    "pr_curve": tuple(f"IPrec@{tenth / 10:g}" for tenth in range(11)),
}
LONGEST = 10_000  # characters of a notation
# A notation: anything but separators outside parentheses; an unclosed parenthesis takes the rest.
NOTATION = re.compile(r"(?:[^\s,()]|\((?:[^()]|\([^()]*\))*\)|\(.*|\))+", re.DOTALL)

# Names of trec_eval that take no cutoff there, of measures that take one here
WHOLE_LIST = {"map", "recip_rank", "num_rel_ret", "set_P", "set_recall", "set_relative_P"}

WORD = re.compile(r"[@(\s]")  # what ends a name
TREC_CUT = re.compile(r"[0-9]++(?:\.[0-9]++)?+|\.[0-9]++")
TOO_DEEP = (RecursionError, MemoryError)  # what Python's parser raises for thousands of brackets or signs


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
    found = NOTATION.findall(without_spaces(" ".join(text.split())).replace(" @", "@").replace("@ ", "@"))
    return tuple(part for notation in found for part in BUNDLES.get(notation, (notation,)))


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
    text: object = notation
    if isinstance(text, type) and issubclass(text, Measure) and not inspect.isabstract(text):
        return text()
    if type(text).__module__.partition(".")[0] == "ir_measures":
        text = str(text)
    if not isinstance(text, str):
        raise MeasureError(
            found=f"{format_given(text)} ({type(text).__module__}.{type(text).__name__})",
            allowed="a measure of deadheat or its notation, such as 'nDCG@10'",
        )
    found = _parsed(text)
    if REGISTRY.get(type(found).__name__) is not type(found):  # a class of this name was registered since
        _parsed.cache_clear()
        return _parsed(text)
    return found


@lru_cache(1024)  # as above
def _parsed(text: str) -> Measure:
    given = text = without_spaces(text.strip())
    if len(text) > LONGEST:
        raise MeasureError(
            f"a measure of {len(text):,} characters, {format_given(text)}", allowed=f"{LONGEST:,} or fewer"
        )
    cut = _cut(text)
    text = cut or text
    name = _word(text)
    if name in ALIASES and not name.isidentifier():  # as 11pt_avg, which Python's parser does not read
        text = ALIASES[name] + text.removeprefix(name)
    found = _read(_tree(text, name), text)
    alias = "" if name in REGISTRY or _preset(name) else name
    if cut is not None or text in PRESETS:
        return found.with_alias(alias).with_label(given)
    return found.with_alias(alias)


def _tree(text: str, name: str) -> ast.expr:
    """Return the text as Python reads it; a comment, which it leaves out, is refused."""
    try:
        with warnings.catch_warnings(action="error", category=SyntaxWarning):  # of 10or, for instance
            tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, *TOO_DEEP):
        _known(name)
        raise _unreadable(text) from None
    if "#" in text:
        raise _unreadable(text)
    return tree


def _cut(text: str) -> str | None:
    """Return a name such as ``ndcg_cut_10`` with its cutoff behind ``@``; None if it is no measure's and a number.

    A number has at most one point, so that it begins behind the last mark or the one before.
    """
    last = max(text.rfind("_"), text.rfind("."))
    for place in (max(text.rfind("_", 0, max(last, 0)), text.rfind(".", 0, max(last, 0))), last):
        if place > 0 and TREC_CUT.fullmatch(text, place + 1):
            name, cutoff = re.sub("_(cut|at)$", "", text[:place]), text[place + 1 :].lstrip("0") or "0"
            _refuse_ignored_number(text[:place], cutoff, text)
            if text[:place].casefold() == "f":  # papers write the weight of recall so
                raise MeasureError(
                    f"the number in {format_given(text)} may be a cutoff or beta",
                    hint=f"write 'F(beta={text[place + 1 :]})', or a cutoff behind @, as in 'F@10'",
                )
            # rbp.95 is ranx's p, and no cutoff
            is_name = _find(name) is not None or missing_measure(name) is not None
            return f"{name}@{cutoff}" if is_name and name.casefold() not in PRESETS else None
    return None


def _refuse_ignored_number(name: str, number: str, text: str) -> None:
    """Raise `MeasureError` for a name of trec_eval in which the number is no cutoff there, though it looks like one."""
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


class ByMeasure(dict[str, V]):
    """Values by the names by which measures were asked for; other names of the same measures find them too.

    Parameters
    ----------
    values : mapping of str to value, or iterable of pairs
    rel : float, optional
        The lowest relevant level of measures that name none: under ``rel=2``, "AP" finds "AP(rel=2)".

    Examples
    --------
    >>> means = ByMeasure({"MAP": 0.5, "mine": 0.25})
    >>> means["MAP"], means["AP"], means["map"], "AP@10" in means, means.get("AP@10"), dict(means)
    (0.5, 0.5, 0.5, False, None, {'MAP': 0.5, 'mine': 0.25})
    >>> ByMeasure({"MAP(rel=2)": 0.5}, rel=2)["AP"]
    0.5
    """

    def __init__(self, values: Mapping[str, V] | Iterable[tuple[str, V]] = (), *, rel: float | None = None) -> None:
        super().__init__(values)
        self._rel = rel

    def __missing__(self, name: MeasureLike) -> V:
        wanted = measure_named(name)
        if wanted is None:
            raise KeyError(name)
        for measure in (wanted, leveled(wanted, self._rel)):
            for label, value in self.items():
                if measure_named(label) == measure:
                    return value
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return self.get(name, ABSENT) is not ABSENT  # type: ignore[arg-type]

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 - as of every dict
        """Return the value of a measure, or something else where there is none."""
        try:
            return self[name]
        except KeyError:
            return default


def measure_named(name: MeasureLike) -> Measure | None:
    """Return the measure of a name; None for the name of a custom measure."""
    try:
        return parse_measure(name)
    except (MeasureError, MissingPluginError):
        return None


def unit_of(name: MeasureLike) -> str:
    """Return what follows a difference of values in sentences: " in logarithms" of GMAP and GMbpref, else nothing."""
    return " in logarithms" if getattr(measure_named(name), "geometric", False) else ""


def _unreadable(notation: str) -> MeasureError:
    alone = "; name the measure at each cutoff, as in 'P@5 P@10'" if notation.isdecimal() else ""
    return MeasureError(
        f"cannot read the measure {format_given(notation)}; write it like 'nDCG@10' or 'P(rel=2)@5'{alone}"
    )


def _read(tree: ast.expr, notation: str) -> Measure:
    parameters: dict[str, Any] = {}
    at: list[Any] = []
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult):
        at = [_literal(tree.right, notation)]
        tree = tree.left
    if isinstance(tree, ast.Call):
        if tree.args or any(keyword.arg is None for keyword in tree.keywords):
            raise MeasureError(f"name each parameter in {format_given(notation)}, as in 'P(rel=2)@5'")
        for keyword in tree.keywords:
            if keyword.arg in parameters:
                raise MeasureError(f"{keyword.arg} appears twice in {format_given(notation)}")
            parameters[str(keyword.arg)] = _literal(keyword.value, notation)
        tree = tree.func
    if not isinstance(tree, ast.Name):
        raise _unreadable(notation)
    measure, parameters = _known(tree.id), {**_preset(tree.id), **parameters}
    if not at:
        return measure(**parameters)
    if measure.at in parameters:
        raise MeasureError(f"{measure.at} appears twice in {format_given(notation)}")
    return measure(**parameters, **{measure.at: at[0]})


def _preset(name: str) -> Mapping[str, Any]:
    """Return the parameters that a name stands for, also with other small and large letters; mostly none."""
    return {} if name in REGISTRY else PRESETS.get(name.casefold(), {})


def _literal(node: ast.expr, notation: str) -> Any:  # noqa: ANN401 - the measure checks it
    try:
        return literal(node, notation)
    except (ValueError, TypeError, *TOO_DEEP):
        raise MeasureError(
            f"{format_given(ast.get_source_segment(notation, node))} in {format_given(notation)} is not a value",
            hint="write numbers plainly, words in quotes and keys once",
        ) from None


def _find(name: str) -> type[Measure] | None:
    """Return the measure of a name, also where its letters are written large or small in another way."""
    if found := REGISTRY.get(name) or REGISTRY.get(ALIASES.get(name, "")):
        return found
    if missing_measure(name):  # or Accuracy would be read as Hit, whose alias differs by a capital
        return None
    alike = {ALIASES.get(one, one) for one in (*REGISTRY, *ALIASES) if one.casefold() == name.casefold()}
    if len(alike) == 1:
        return REGISTRY.get(alike.pop())
    return _find(name) if third_party.load("measures") else None


def _known(name: str) -> type[Measure]:
    found = _find(name)
    if found is None:
        if missing := missing_measure(name):
            raise missing
        raise UnknownMeasureError(
            f"unknown measure {format_given(name)}",
            hint=join_sentences(_meant(name), "All: deadheat measures, or dh.measures() in Python"),
        )
    return found


def _meant(name: str) -> str:
    """Return the question whether another name was meant: of the same meaning, with a cutoff, or spelt nearly so."""
    if name.casefold() in MEANT:
        return f"Did you mean {' or '.join(map(repr, MEANT[name.casefold()].split()))}?"
    cut = re.fullmatch(r"([^\W\d]+)(\d+)", name)
    if cut is not None and _find(cut[1]) is not None:
        return f"Did you mean {cut[1] + '@' + cut[2]!r}?"
    return did_you_mean(name, [*REGISTRY, *ALIASES], MOST_MEANT)


def parse_measures(measures: Measures) -> tuple[Measure, ...]:
    """Return the given measures, each once; the default ones for None."""
    measures = DEFAULT_MEASURES if measures is None else measures
    if isinstance(measures, str | Measure | type):
        measures = [measures]
    listed = as_list("measures", measures, "a measure, its notation such as 'nDCG@10', or a list of them")
    parts = (part for one in listed for part in (split_notation(one) if isinstance(one, str) else (one,)))
    by_value: dict[Measure, Measure] = {}
    for measure in map(parse_measure, parts):
        first = by_value.setdefault(measure, measure)
        if measure.names_rel and not first.names_rel:  # AP and AP(rel=1) are one, but not under rel=2
            by_value[measure] = copy_with(first, names_rel=True)
    chosen = tuple(by_value.values())
    if not chosen:
        raise ParameterError("names no measure", hint="write one, such as 'nDCG@10'", argument="measures")
    names = [name for measure in chosen for name in {str(measure), measure.label}]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ParameterError(
            f"two different measures are named {twice!r}", hint="give each custom measure a name of its own"
        )
    return chosen


def measures_under(kind: KindOfJudgments, measures: Measures) -> tuple[Measure, ...]:
    """Return the given measures, or the default ones for None, as they are under judgments of a kind.

    Examples
    --------
    >>> from deadheat.core.data.kind_of_judgments import DOCUMENTS
    >>> measures_under(DOCUMENTS, "P@5")
    (P@5,)
    """
    if measures is None and kind.default_measures is not None:
        measures = kind.default_measures()
    return kind.as_judged(parse_measures(measures))


def at_level(measures: Iterable[Measure], rel: float | None) -> tuple[Measure, ...]:
    """Return the measures that are computed: those with a lowest relevant level that they do not name have `rel`.

    Parameters
    ----------
    measures : iterable of Measure
    rel : float or None
        None: measures stay as they are.

    Examples
    --------
    >>> from deadheat import parse_measure
    >>> at_level(map(parse_measure, ["P@5", "AP(rel=3)", "nDCG@10"]), 2)
    (P(rel=2)@5, AP(rel=3), nDCG@10)
    """
    listed = tuple(dict.fromkeys(measures))
    if rel is None:
        return listed
    for measure in listed:
        own, default = getattr(measure, "rel", None), default_rel(measure)
        if measure.names_rel and own == default != rel:
            raise ParameterError(
                f"cannot be combined with {measure}, which names the default, rel={default:g}",
                argument="rel",
                given=rel,
                hint="leave it out, and name each level that is not the default in its measure",
            )
    return tuple(dict.fromkeys(leveled(one, rel) for one in listed))


def leveled(measure: Measure, rel: float | None) -> Measure:
    """Return a measure with the lowest relevant level `rel`, if it has one and names none."""
    default = default_rel(measure)
    if rel is None or default in {None, rel} or measure.names_rel or getattr(measure, "rel", None) != default:
        return measure
    return measure(rel=rel)


def default_rel(measure: Measure) -> float | None:
    """Return the lowest relevant level that a measure has by default; None if it has no such level."""
    of_class = type(measure).__dataclass_fields__.get("rel")
    return None if of_class is None else float(of_class.default)
