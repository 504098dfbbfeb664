"""Which measure of deadheat the name of another tool stands for."""

from __future__ import annotations

import re
from functools import cache

from deadheat.core.measures import Measure
from deadheat.core.measures.notation import measure_named
from deadheat.core.measures.registration import measures

NUMBER = r"[0-9]+(?:\.[0-9]+)?"
TREC_PRESETS = ("rbp", "rbp_resid")  # of trec_eval 10, whose parameters are not those of our defaults


def find_same_measure(name: str) -> Measure | None:
    """Return the measure that a name stands for if it is the same one there as here; else None.

    That is so of the exact names of trec_eval, and of names that are our own notation, as those of ir_measures are.
    What a name means that is only like one of ours, as "accuracy" or "mrr@10", the tool alone knows.

    Examples
    --------
    >>> [str(find_same_measure(name)) for name in ("map", "ndcg_cut_10", "recip_rank", "success_1", "AP(rel=2)@5")]
    ['AP', 'nDCG@10', 'RR', 'Hit@1', 'AP(rel=2)@5']
    >>> find_same_measure("accuracy"), find_same_measure("mrr@10"), find_same_measure("BLEU")
    (None, None, None)
    """
    of_trec_eval = _compile_trec_names().fullmatch(name) is not None
    if not of_trec_eval and re.split(r"[@(]", name, maxsplit=1)[0] not in measures():
        return None  # without a search in plugins of other distributions, which takes long
    measure = measure_named(name)
    if measure is None or measure.geometric:  # values of single queries are logarithms in some tools, and not in others
        return None
    return measure if of_trec_eval or str(measure) == name else None


@cache
def _compile_trec_names() -> re.Pattern[str]:
    """Return a pattern of the names that trec_eval prints."""
    names = [*TREC_PRESETS]
    for measure in measures().values():
        for template in measure.trec_eval:
            names.append(re.escape(template).replace(re.escape("{}"), NUMBER))
    return re.compile("|".join(names))
