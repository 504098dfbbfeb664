"""The measures: importing this package fills the registry."""

import sys
from types import ModuleType

from deadheat.measures.average import AP, AR
from deadheat.measures.base import CutMeasure, Measure, measures, register
from deadheat.measures.cascade import ERR, nERR
from deadheat.measures.counts import NumQ, NumRel, NumRet
from deadheat.measures.custom import Custom
from deadheat.measures.discounted import DCG, RBP, RBPResidual, nDCG
from deadheat.measures.first import FRP, MTRR, RR, Hit, TMHits
from deadheat.measures.graded import GAP, Q
from deadheat.measures.maximum import MaxRel
from deadheat.measures.notation import parse_measure
from deadheat.measures.preference import bpref
from deadheat.measures.rank import MR
from deadheat.measures.top import F, Judged, NumRelRet, P, R, Rprec


class _CallableModule(ModuleType):
    """The package, which is also the function that it is named after."""

    def __call__(self) -> dict[str, type[Measure]]:
        return measures()


# `deadheat.measures` is this package as soon as anything imports it; `deadheat.measures()` is the registry.
sys.modules[__name__].__class__ = _CallableModule

MAP, MAR, MRR, MERR = AP, AR, RR, ERR
HR = Success = Hit

__all__ = [
    "AP",
    "AR",
    "DCG",
    "ERR",
    "FRP",
    "GAP",
    "HR",
    "MAP",
    "MAR",
    "MERR",
    "MR",
    "MRR",
    "MTRR",
    "RBP",
    "RR",
    "Custom",
    "CutMeasure",
    "F",
    "Hit",
    "Judged",
    "MaxRel",
    "Measure",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "Q",
    "R",
    "RBPResidual",
    "Rprec",
    "Success",
    "TMHits",
    "bpref",
    "measures",
    "nDCG",
    "nERR",
    "parse_measure",
    "register",
]
