"""More measures: those of trec_eval, ir_measures and papers that few people name.

Adds the measures that registry.py lists, the figure of precision against recall, and what `Evaluation.abstention`
returns.

* `top`, `sets`, `abstention`, `all_hit`: counts, as of RelP, SetAP, Utility, Abstain and AllHit.
* `averaged_ndcg`, `interpolated`, `geometric`: averages over ranks and levels (RnDCG, IPrec), logarithms (GMAP).
* `preference`, `prefix`, `compatibility`: the order of pairs (binG, AUC), counts above each rank (infAP, G), Compat.
* `largest`: MaxRel, which an ontology's judgments are for.
* `adjusted`: Adjusted, of another measure.
* `cwl`: measures of a user who goes on with some probability (INSQ, INST). `kernels` has the formulas of several.

A new measure is a class in the file of its kind, and its name in registry.py.
"""

import deadheat.core.measures  # noqa: F401 - it imports the files with measures: none of them may come before it
