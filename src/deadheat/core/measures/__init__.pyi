# What the measures are, for type checkers: the program finds them itself (tests/whole/test_layers.py compares).

from deadheat.core.measures.average import AP, AR, MAP, MAR
from deadheat.core.measures.base import Measure
from deadheat.core.measures.cascade import ERR, MERR, nERR
from deadheat.core.measures.custom import Custom
from deadheat.core.measures.discounted import DCG, IDCG, nDCG
from deadheat.core.measures.families import CutMeasure
from deadheat.core.measures.first import ESL, FRP, HR, MRR, MTRR, RR, Hit, Success, TMHits
from deadheat.core.measures.graded_average import GAP, Q
from deadheat.core.measures.mean_rank import MR
from deadheat.core.measures.notation import parse_measure, unit_of
from deadheat.core.measures.preference import bpref
from deadheat.core.measures.rank_biased import RBP, RBPResidual
from deadheat.core.measures.registration import measures, register
from deadheat.core.measures.top import F, Judged, P, R, Rprec
from deadheat.core.measures.totals import NumQ, NumRel, NumRelRet, NumRet
from deadheat.plugins.diversity.all_topics import StAllHit
from deadheat.plugins.diversity.measures import (
    AP_IA,
    ERR_IA,
    NRBP,
    P_IA,
    StRecall,
    alpha_DCG,
    alpha_nDCG,
    nERR_IA,
    nNRBP,
)
from deadheat.plugins.more_measures.abstention import Abstain
from deadheat.plugins.more_measures.adjusted import Adjusted
from deadheat.plugins.more_measures.all_hit import AllHit
from deadheat.plugins.more_measures.averaged_ndcg import RnDCG, nDCGRel
from deadheat.plugins.more_measures.compatibility import Compat
from deadheat.plugins.more_measures.cwl import BPM, INSQ, INST, NERR8, NERR9, NERR10, NERR11, SDCG
from deadheat.plugins.more_measures.geometric import GMAP, GMbpref, yaap
from deadheat.plugins.more_measures.interpolated import AP11, IPrec
from deadheat.plugins.more_measures.largest import MaxRel
from deadheat.plugins.more_measures.preference import AUC, GAUC, Accuracy, binG
from deadheat.plugins.more_measures.prefix import AUPRC, G, infAP
from deadheat.plugins.more_measures.sets import NumNonrelJudgedRet, SetAP, Utility
from deadheat.plugins.more_measures.top import Hole, RelP, RprecMult
from deadheat.plugins.spans.coverage.measures import CharDensity, CharIoU, CharPrecision, CharRecall

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
    "Adjusted",
    "AllHit",
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
    "StAllHit",
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
    "unit_of",
    "yaap",
]
