"""The measures that conformance is tested on: every name, with its parameters and cutoffs, written as notation."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from oracle.binary import Judged, Ranking
from oracle.reference import REFERENCE

Parameters: TypeAlias = Mapping[str, object]

CUTOFFS = (None, 1, 2, 3, 5, 100)
NO_CUTOFF = (None,)
ONLY_CUTOFFS = (1, 2, 3, 5, 100)
RELS: list[Parameters] = [{}, {"rel": 2}, {"rel": 3}]
MULTIPLES = (None, 0.4, 0.5, 0.7, 1.2, 2, 3)
LEVELS = (None, 0.1, 0.3, 0.5, 0.7, 1)
ROUNDINGS: list[Parameters] = [{"rounding": "trec_eval 10"}, {"rounding": "ceil"}]
RISING_GAIN = {0.25: 0.5, 0.5: 0.75, 1: 1, 1.5: 2, 2: 5, 3: 6.5}
UNEVEN_GAIN = {-1: 0.25, 0: 0.5, 0.25: 2, 0.5: 0, 1: 3, 1.5: 1, 2: 0.125, 3: 5}
"""A mapping may lower the gain of a higher level, and may give one to those that are not relevant."""


@dataclass(frozen=True)
class Variant:
    """One measure with parameters, to be evaluated at several cutoffs."""

    name: str
    parameters: Parameters
    cutoffs: tuple[float | None, ...]

    def notation(self, cutoff: float | None) -> str:
        """Write the measure as deadheat reads it."""
        inside = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return self.name + (f"({inside})" if inside else "") + ("" if cutoff is None else f"@{cutoff}")

    def reference(self, cutoff: float | None, judged: Judged, scale: float) -> Callable[[Ranking], float]:
        """Bind everything but the ranking."""
        options = dict(self.parameters) if cutoff is None else {**self.parameters, "cutoff": cutoff}
        return lambda ranking: REFERENCE[self.name](ranking, judged, scale, **options)


def cross(*choices: Iterable[Parameters]) -> list[Parameters]:
    """Combine one of each."""
    return [{name: value for part in parts for name, value in part.items()} for parts in itertools.product(*choices)]


NORMS: list[Parameters] = [{}, {"norm": "min"}, {"norm": "retrieved"}, {"norm": "retrieved_all"}]
GAINS: list[Parameters] = [{}, {"gain": "exp"}, {"gain": RISING_GAIN}, {"gain": UNEVEN_GAIN}]
DISCOUNTS: list[Parameters] = [
    {},
    {"discount": "log(10)"},
    {"discount": "log(1.5)"},
    {"discount": "linear"},
    {"discount": "zipf(1.5, 2)"},
    {"discount": "exp(0.7)"},
    {"discount": "none"},
]
NEGATIVE: list[Parameters] = [{"negative": "gain"}, {"negative": "gain", "gain": "exp"}]

GRID: list[tuple[str, list[Parameters], tuple[float | None, ...]]] = [
    ("P", [*RELS, {"norm": "retrieved"}, {"norm": "retrieved", "rel": 2}], CUTOFFS),
    ("R", [*RELS, {"norm": "retrieved_all"}, {"norm": "retrieved_all", "rel": 2}], CUTOFFS),
    ("F", [*RELS, {"beta": 2}, {"beta": 0.5, "norm": "retrieved_all"}], CUTOFFS),
    ("Hit", RELS, CUTOFFS),
    ("AllHit", RELS, CUTOFFS),
    ("RR", RELS, CUTOFFS),
    ("AP", cross(RELS[:2], NORMS), CUTOFFS),
    ("AP", cross(RELS[:2], [{"norm": "k"}]), ONLY_CUTOFFS),
    ("AR", cross(RELS[:2], NORMS), CUTOFFS),
    ("DCG", [*GAINS, {"discount": "zipf(2, 0)"}], CUTOFFS),
    ("nDCG", [*GAINS, *DISCOUNTS[1:], {"gain": "exp", "discount": "linear"}], CUTOFFS),
    ("IDCG", [*GAINS, {"discount": "zipf(2, 0)"}, {"ideal": "retrieved", "gain": UNEVEN_GAIN}], CUTOFFS),
    ("nDCG", [{"ideal": "retrieved"}, {"ideal": "retrieved", "gain": UNEVEN_GAIN}], CUTOFFS),
    ("DCG", NEGATIVE, CUTOFFS),
    ("nDCG", cross(NEGATIVE, [{}, {"floor": "worst"}, {"floor": "worst", "ideal": "retrieved"}]), CUTOFFS),
    *((name, RELS[:2], CUTOFFS) for name in ("CharRecall", "CharPrecision", "CharIoU", "CharDensity")),
    ("Abstain", cross(RELS[:2], [{}, {"of": "precision"}, {"of": "recall"}]), NO_CUTOFF),
    ("RBP", [*RELS[:2], {"p": 0.5}, {"graded": True}, {"graded": True, "max_rel": 4, "p": 0.95}], CUTOFFS),
    ("RBP", [{"p": 0.9, "graded": True, "top": "query"}], CUTOFFS),
    ("RBPResidual", [{}, {"p": 0.5}], CUTOFFS),
    ("RBPResidual", [{"p": 0.9, "tail": "unjudged"}], NO_CUTOFF),
    ("ERR", [{}, {"max_rel": 4}, {"stop": "sigmoid(1, 1.5)"}, {"stop": "sigmoid(3, 2)"}], CUTOFFS),
    ("nERR", [{}, {"max_rel": 4}, {"stop": "sigmoid(1, 1.5)"}], CUTOFFS),
    ("MR", RELS, CUTOFFS),
    ("MR", [{"missing": "last"}, {"missing": "last", "rel": 2}], NO_CUTOFF),
    ("MR", [{"missing": "capped"}, {"missing": "capped", "rel": 2}], ONLY_CUTOFFS),
    ("FRP", RELS, CUTOFFS),
    ("GAP", [{}], CUTOFFS),
    ("Q", [*RELS[:2], {"beta": 0.1}, {"beta": 10, "rel": 2}], CUTOFFS),
    ("Rprec", RELS, NO_CUTOFF),
    ("bpref", RELS, NO_CUTOFF),
    ("Judged", [{}], CUTOFFS),
    ("NumQ", [{}], NO_CUTOFF),
    ("NumRet", [{}], NO_CUTOFF),
    ("NumRel", RELS, NO_CUTOFF),
    ("NumRelRet", RELS, CUTOFFS),
    ("NumNonrelJudgedRet", RELS, NO_CUTOFF),
    ("SetAP", RELS, NO_CUTOFF),
    ("RelP", RELS, CUTOFFS),
    ("RprecMult", RELS, MULTIPLES),
    ("Utility", [*RELS, {"a": 3.5, "b": -2, "c": -0.5, "d": 0.25, "N": 100}], NO_CUTOFF),
    ("IPrec", [*RELS, *ROUNDINGS], LEVELS),
    ("AP11", [*RELS, *ROUNDINGS], NO_CUTOFF),
    ("binG", RELS, NO_CUTOFF),
    ("RnDCG", [*GAINS, {"rel": 2}], NO_CUTOFF),
    ("nDCGRel", GAINS, NO_CUTOFF),
    ("infAP", RELS, NO_CUTOFF),
    ("G", GAINS, NO_CUTOFF),
    ("GMAP", RELS, NO_CUTOFF),
    ("GMbpref", RELS, NO_CUTOFF),
    ("yaap", RELS, NO_CUTOFF),
    ("MTRR", RELS[:2], NO_CUTOFF),
    ("TMHits", RELS[:2], ONLY_CUTOFFS),
    ("MaxRel", [{}], CUTOFFS),
    ("INSQ", [{}, {"T": 2.5}, {"T": 0.25, "max_rel": 4, "min_rel": 0.5}, {"ranks": 6}], CUTOFFS),
    ("SDCG", [{}, {"min_rel": 1, "max_rel": 4}], CUTOFFS),
    ("BPM", [{}, {"T": 0.5}, {"T": 2, "max_rel": 4}], CUTOFFS),
    ("INST", [{}, {"T": 0.5}, {"T": 3, "max_rel": 4, "min_rel": 1}, {"ranks": 5}], NO_CUTOFF),
    ("NERR8", [{}, {"max_rel": 4}], CUTOFFS),
    ("NERR9", [{}, {"max_rel": 4}], CUTOFFS),
    ("NERR10", [{}, {"p": 0.5, "max_rel": 4}, {"ranks": 4}, {"p": 0}], NO_CUTOFF),
    ("NERR11", [{}, {"T": 0.25, "max_rel": 4}, {"ranks": 4}], NO_CUTOFF),
    ("Compat", [{}, {"p": 0.5}, {"normalize": False}, {"depth": 40}, {"depth": 2, "normalize": False}], NO_CUTOFF),
    ("alpha_DCG", [{}, {"alpha": 0}, {"alpha": 1, "rel": 2}], CUTOFFS),
    ("alpha_nDCG", [{}, {"alpha": 0.3}], CUTOFFS),
    ("ERR_IA", [{}], CUTOFFS),
    ("nERR_IA", [{}, {"rel": 2}], CUTOFFS),
    ("NRBP", [{}, {"alpha": 0.2, "beta": 0.8}], NO_CUTOFF),
    ("nNRBP", [{}], NO_CUTOFF),
    ("AP_IA", RELS[:2], NO_CUTOFF),
    ("P_IA", [{}], CUTOFFS),
    ("StRecall", RELS[:2], CUTOFFS),
    ("StAllHit", RELS[:2], CUTOFFS),
    ("AUC", RELS, NO_CUTOFF),
    ("GAUC", [*RELS[:2], {"weight": "relevant"}], NO_CUTOFF),
    ("Accuracy", RELS, CUTOFFS),
    ("ESL", [*RELS, {"wanted": 2}, {"wanted": 3, "rel": 2}], NO_CUTOFF),
    ("Hole", [{}], CUTOFFS),
    ("AUPRC", RELS, NO_CUTOFF),
    ("Adjusted", [{"measure": name} for name in ("nDCG@3", "AP", "RR", "P@1", "FRP@2", "ERR")], NO_CUTOFF),
]

VARIANTS = [Variant(name, parameters, cutoffs) for name, options, cutoffs in GRID for parameters in options]
