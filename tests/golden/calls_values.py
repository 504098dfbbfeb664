"""Values that another tool computed: those of ties by document id, with four decimals, as trec_eval prints them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import deadheat as dh
from golden.data import QRELS, RUNS
from golden.entries import entry
from golden.plain import Numbers

NAMES = {"AP": "map", "RR": "recip_rank", "P@5": "P_5", "NumRelRet": "num_rel_ret"}


def printed(run: str) -> dh.Evaluation:
    """Write what trec_eval -q prints of a run, and read it."""
    lines = []
    for scores in dh.evaluate(QRELS, RUNS[run], [*NAMES], ties="doc_id"):
        name = NAMES[scores.measure.label]
        is_count = scores.measure.total
        for query, value in zip(scores.query_ids.tolist(), scores.values.tolist(), strict=True):
            lines.append(f"{name:<22}\t{query}\t{value:.0f}" if is_count else f"{name:<22}\t{query}\t{value:.4f}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{run}.eval"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return dh.load_evaluation(path)


@entry()
def compared() -> Numbers:
    found = dh.compare_evaluations({"weak": printed("weak"), "good": printed("good")}, test="t")
    return {
        "means": printed("good").means(),
        "p_values": {pair.measure: pair.p_value for pair in found.pairs},
        "columns": found.to_polars(details=True).columns,
    }
