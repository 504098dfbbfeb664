# What `deadheat.measures` holds, for type checkers: the program finds it itself (tests/whole/test_layers.py compares).

from deadheat.measures.abstain import Abstain
from deadheat.measures.average import AP, AR, MAP, MAR
from deadheat.measures.averaged import RnDCG, nDCGRel
from deadheat.measures.base import CutMeasure, Measure, measures, register
from deadheat.measures.cascade import ERR, MERR, nERR
from deadheat.measures.compatibility import Compat
from deadheat.measures.counts import NumNonrelJudgedRet, NumQ, NumRel, NumRet, SetAP, Utility
from deadheat.measures.coverage import CharDensity, CharIoU, CharPrecision, CharRecall
from deadheat.measures.custom import Custom
from deadheat.measures.cwl import BPM, INSQ, INST, NERR8, NERR9, NERR10, NERR11, SDCG
from deadheat.measures.discounted import DCG, IDCG, RBP, RBPResidual, nDCG
from deadheat.measures.diversity import AP_IA, ERR_IA, NRBP, P_IA, StRecall, alpha_DCG, alpha_nDCG, nERR_IA, nNRBP
from deadheat.measures.first import ESL, FRP, HR, MR, MRR, MTRR, RR, Hit, Success, TMHits
from deadheat.measures.geometric import GMAP, GMbpref, yaap
from deadheat.measures.graded import GAP, Q
from deadheat.measures.interpolated import AP11, IPrec
from deadheat.measures.maximum import MaxRel
from deadheat.measures.notation import parse_measure
from deadheat.measures.preference import AUC, GAUC, Accuracy, binG, bpref
from deadheat.measures.prefix import AUPRC, G, infAP
from deadheat.measures.top import F, Hole, Judged, NumRelRet, P, R, RelP, Rprec, RprecMult

__all__ = [
    "AP",
    "AP11",
    "AP_IA",
    "AR",
    "AUC",
    "AUPRC",
    "BPM",
    "DCG",
    "ERR",
    "ERR_IA",
    "ESL",
    "FRP",
    "GAP",
    "GAUC",
    "GMAP",
    "HR",
    "IDCG",
    "INSQ",
    "INST",
    "MAP",
    "MAR",
    "MERR",
    "MR",
    "MRR",
    "MTRR",
    "NERR8",
    "NERR9",
    "NERR10",
    "NERR11",
    "NRBP",
    "P_IA",
    "RBP",
    "RR",
    "SDCG",
    "Abstain",
    "Accuracy",
    "CharDensity",
    "CharIoU",
    "CharPrecision",
    "CharRecall",
    "Compat",
    "Custom",
    "CutMeasure",
    "F",
    "G",
    "GMbpref",
    "Hit",
    "Hole",
    "IPrec",
    "Judged",
    "MaxRel",
    "Measure",
    "NumNonrelJudgedRet",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "Q",
    "R",
    "RBPResidual",
    "RelP",
    "RnDCG",
    "Rprec",
    "RprecMult",
    "SetAP",
    "StRecall",
    "Success",
    "TMHits",
    "Utility",
    "alpha_DCG",
    "alpha_nDCG",
    "binG",
    "bpref",
    "infAP",
    "measures",
    "nDCG",
    "nDCGRel",
    "nERR",
    "nERR_IA",
    "nNRBP",
    "parse_measure",
    "register",
    "yaap",
]
