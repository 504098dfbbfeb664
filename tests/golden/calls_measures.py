"""Every measure under every tie policy, with its spread over the orders of ties."""

from __future__ import annotations

import re

import deadheat as dh
from golden.data import GRADED, GRADED_RUN, REAL_QRELS, REAL_RUNS
from golden.entries import entry
from golden.plain import Numbers
from golden.results import means_of, spread_of, sum_of

POLICIES = ["best", "worst", "doc_id", "input"]
NAMES = """
P P@1 P@3 P(rel=2)@5 P(norm='retrieved')@20
R R@3 R(rel=2) R(norm='retrieved_all')@3
F F@3 F(beta=2)@5 F(beta=0.5,norm='retrieved_all')@3
Rprec Rprec(rel=2) RprecMult@0.5 RprecMult(rel=2)@2
NumRelRet NumRelRet(rel=2)@3 NumQ NumRet NumRel NumRel(rel=2) NumNonrelJudgedRet
Judged Judged@3 Hole@3 RelP RelP(rel=2)@3 SetAP Utility Utility(a=3.5,b=-2,c=-0.5,d=0.25,N=100)
Abstain Abstain(of='precision') Abstain(of='recall')
DCG DCG@3 DCG(gain='exp') DCG(discount='zipf(2,0)') DCG(negative='gain')@5 DCG(gain={1:1,2:5,3:6.5})@5
nDCG nDCG@1 nDCG@3 nDCG(gain='exp')@5 nDCG(discount='log(10)') nDCG(discount='log(1.5)') nDCG(discount='linear')@5
nDCG(discount='zipf(1.5,2)') nDCG(discount='exp(0.7)')@5 nDCG(discount='none')@5 nDCG(ideal='retrieved')
nDCG(negative='gain') nDCG(negative='gain',floor='worst')@5 IDCG IDCG(gain='exp')@3 RnDCG nDCGRel
RBP RBP(p=0.5)@3 RBP(graded=True) RBP(graded=True,max_rel=4,p=0.95) RBP(p=0.9,graded=True,top='query')
RBPResidual RBPResidual(p=0.5)@3 RBPResidual(p=0.9,tail='unjudged')
AP AP@3 AP(rel=2) AP(norm='min')@3 AP(norm='retrieved')@3 AP(norm='retrieved_all')@3
AR AR@3 AR(norm='min')@3 AR(norm='retrieved')@3 AR(norm='retrieved_all')@3
GAP GAP@3 Q Q@3 Q(beta=10,rel=2) IPrec@0.5 IPrec(rounding='ceil')@0.7 AP11 AP11(rel=2)
ERR ERR@3 ERR(max_rel=4) ERR(stop='sigmoid(1,1.5)') nERR nERR@3 nERR(stop='sigmoid(1,1.5)') MaxRel MaxRel@3
infAP infAP(rel=2) G AUPRC AUPRC(rel=2) Compat Compat(p=0.5) Compat(normalize=False) Compat(depth=2,normalize=False)
INSQ INSQ(T=2.5)@3 INSQ(T=0.25,max_rel=4,min_rel=0.5) SDCG@3 BPM BPM(T=0.5) BPM(T=2,max_rel=4)@5
INST INST(T=3,max_rel=4) NERR8@3 NERR9@3 NERR10 NERR10(p=0.5) NERR11 NERR11(T=0.25)
alpha_DCG@3 alpha_nDCG@3 alpha_nDCG(alpha=0.3) ERR_IA@3 nERR_IA nERR_IA(rel=2)@3
NRBP NRBP(alpha=0.2,beta=0.8) nNRBP AP_IA P_IA@3 StRecall StRecall@3 StAllHit StAllHit@3
RR RR@2 RR(rel=2) Hit@1 Hit@3 Hit(rel=2)@5 FRP FRP@3 MTRR MTRR(rel=2) TMHits@3 ESL ESL(wanted=2)
MR MR@3 MR(missing='last') MR(missing='capped')@3
bpref bpref(rel=2) GMAP GMAP(rel=2) GMbpref yaap binG binG(rel=2) AUC AUC(rel=2) GAUC GAUC(weight='relevant')
Accuracy Accuracy@3 Adjusted(nDCG@3) AllHit@1 AllHit@3 AP(norm='k')@3
"""
NOTATIONS = NAMES.split()
NOTATIONS += ["IPrec(rounding='trec_eval 10')@0.3", "AP11(rounding='trec_eval 10')"]
BY_MEASURE: dict[str, list[str]] = {}
for one in NOTATIONS:
    BY_MEASURE.setdefault(re.split("[@(]", one)[0], []).append(one)
REAL = "nDCG@10 AP RR P@10 R@100 bpref ERR@20 RBP Q GAP Rprec AUC MTRR TMHits@5 nDCG(gain='exp')@5"
LARGE_TIES = "infAP binG RnDCG nDCGRel"


@entry()
def graded() -> Numbers:
    """Values of each query, of judgments with negative and missing grades."""
    evaluation = dh.evaluate(GRADED, GRADED_RUN, NOTATIONS)
    return {notation: evaluation[notation].values for notation in NOTATIONS}


@entry([*POLICIES, "random"])
def graded_under(policy: str) -> Numbers:
    """Under each policy, a sum of the values."""
    rng = 5 if policy == "random" else None
    evaluation = dh.evaluate(GRADED, GRADED_RUN, NOTATIONS, ties=policy, rng=rng)
    return {notation: sum_of(evaluation[notation].values) for notation in NOTATIONS}


@entry(BY_MEASURE)
def spread(notations: list[str]) -> Numbers:
    """What the orders of ties can make of a measure."""
    evaluation = dh.evaluate(GRADED, GRADED_RUN, notations)
    return {notation: spread_of(evaluation[notation]) for notation in notations}


@entry(REAL_RUNS)
def real(run: object) -> Numbers:
    """Means of real runs, in which nearly every document ties with others."""
    return means_of(dh.evaluate(REAL_QRELS, run, REAL))


@entry(LARGE_TIES.split())
def large_ties(measure: str) -> Numbers:
    """Measures that look at many orders of a large tie."""
    return means_of(dh.evaluate(REAL_QRELS, REAL_RUNS["TREMA-CoT"], measure))


@entry(POLICIES)
def real_under(policy: str) -> Numbers:
    """Means of a real run under each policy."""
    return dh.evaluate(REAL_QRELS, REAL_RUNS["TREMA-CoT"], REAL, ties=policy).means()
