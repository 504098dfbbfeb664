"""Several runs at once and each alone, the forms that data may have, conventions, strata and weights."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import polars as pl

import deadheat as dh
from golden.data import GRADED, GRADED_RUN, HUMAN_LABELS, JUDGE_LABELS, QRELS, QUERIES, RUNS, WEIGHTS
from golden.entries import entry
from golden.plain import Numbers, attributes
from golden.results import means_of

MEASURES = ["nDCG@3", "AP", "RR", "NumRelRet"]
FILES = {name: f"{name}.run" for name in RUNS}
CONVENTIONS: dict[str, Numbers] = {
    "plain": {},
    "best": {"ties": "best"},
    "worst": {"ties": "worst"},
    "doc_id": {"ties": "doc_id"},
    "input": {"ties": "input"},
    "random": {"ties": "random", "rng": 3},
    "rel": {"rel": 2},
    "depth": {"ties": "doc_id", "depth": 3},
    "judged only": {"judged_only": True},
    "rounded": {"score_precision": 0},
    "float16": {"score_precision": "float16"},
    "skip": {"missing": "skip", "no_relevant": "skip"},
    "one": {"no_relevant": "one"},
    "empty": {"no_relevant": "correct_if_empty"},
    "bounds": {"unjudged": "bounds"},
    "weights": {"weights": WEIGHTS},
    "then by": {"then_by": RUNS["weak"]},
    "ascending": {"ascending": True},
}
OF_SHARES = ["nDCG@3", "AP", "RR"]  # from 0 to 1
PLACEMENTS = "query_ids n_retrieved query relevance above tied judged_query judged_relevance max_relevance"


@entry(CONVENTIONS)
def files(options: Numbers) -> Numbers:
    """Runs in files are placed and scored together, where the conventions allow it."""
    measures = OF_SHARES if options.get("no_relevant") in {"one", "correct_if_empty"} else MEASURES
    together: Any = dh.evaluate("qrels.txt", FILES, measures, **options)
    differ = []
    for name, path in FILES.items():
        alone = dh.evaluate("qrels.txt", path, measures, **options)
        if alone.means() != together[name].means():
            differ.append(name)
    return {"differ_from_alone": differ, **{name: together[name].means() for name in FILES}}


@entry()
def dicts() -> Numbers:
    found: Any = dh.evaluate(GRADED, {"first": GRADED_RUN, "second": GRADED_RUN}, MEASURES)
    return {name: means_of(evaluation) for name, evaluation in found.items()}


@entry()
def with_judge() -> Numbers:
    runs = {name: f"labelled-{name}.run" for name in RUNS}
    found: Any = dh.evaluate(HUMAN_LABELS, runs, "nDCG@3", judge=JUDGE_LABELS)
    return {name: evaluation["nDCG@3"].mean for name, evaluation in found.items()}


@entry(["trec", "csv", "tsv", "jsonl", "json", "parquet"])
def formats(suffix: str) -> Numbers:
    """Files of each format; a converted file has the numbers of the one that it was made from."""
    written = Path(f"formats.{suffix}")
    rows = pl.DataFrame(rows_of(GRADED_RUN), schema=["query_id", "doc_id", "score"], orient="row")
    if suffix == "trec":
        written = Path("graded.run")
    elif suffix == "csv":
        rows.write_csv(written)
    elif suffix == "tsv":
        rows.write_csv(written, separator="\t")
    elif suffix == "jsonl":
        rows.write_ndjson(written)
    elif suffix == "json":
        written.write_text(json.dumps(GRADED_RUN), encoding="utf-8")
    else:
        rows.write_parquet(written)
    return dh.evaluate("graded.txt", written, MEASURES, ties="doc_id").means()


def rows_of(nested: dict[str, dict[str, float]]) -> list[tuple[str, str, float]]:
    """Return the rows of a dict of dicts."""
    return [(query, doc, value) for query, docs in nested.items() for doc, value in docs.items()]


@entry(["polars", "lazy", "pandas", "tuples", "lists"])
def objects(form: str) -> Numbers:
    """Frames, rows, and lists that are ranked already."""
    rows = rows_of(GRADED_RUN)
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    runs: dict[str, Any] = {
        "polars": frame,
        "lazy": frame.lazy(),
        "tuples": rows,
        "lists": {query: list(docs) for query, docs in GRADED_RUN.items()},
    }
    if form == "pandas":
        import pandas as pd  # 0.4 s, here alone

        runs["pandas"] = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    return dh.evaluate(GRADED, runs[form], MEASURES, ties="input").means()


@entry()
def placements() -> Numbers:
    """What all measures see of a run."""
    placed = dh.place(GRADED, GRADED_RUN)
    return attributes(placed, PLACEMENTS)


@entry({"one": "device", "two": ["device", "market"]})
def strata(columns: Any) -> Numbers:
    found = dh.evaluate(QRELS, RUNS["fair"], MEASURES).by(columns, QUERIES, smallest=1)
    return {"averages": found.averages(), "means": {str(key): part.means() for key, part in found.items()}}


@entry()
def summary_of_strata() -> object:
    return dh.evaluate(QRELS, RUNS["fair"], ["nDCG@3", "GMAP"]).by("market", QUERIES).summary("t")


@entry()
def weighted_strata() -> Numbers:
    found = dh.evaluate(QRELS, RUNS["fair"], MEASURES, weights="traffic", queries=QUERIES).by("device", QUERIES)
    return {"averages": found.averages(), "means": {str(key): means_of(part) for key, part in found.items()}}


@entry()
def abstention() -> Numbers:
    evaluation = dh.evaluate("unanswerable.csv", "fair.run", ["RR", "Abstain", "NumRet"])
    return {"table": evaluation.abstention(), "means": evaluation.means()}


@entry({"decimals": "d1;0,5", "semicolons": "d1;0.5"})
def decimal_marks(row: str) -> Numbers:
    text = f"query_id;doc_id;score\nq01;{row}\nq01;d2;0\n"
    with dh.decimal("," if "," in row else "."):
        Path("marks.csv").write_text(text, encoding="utf-8")
        return dh.read_run("marks.csv").to_dict()


@entry()
def flat_names() -> Numbers:
    return dh.evaluate(QRELS, RUNS["fair"], ["MAP", "MRR@10", "ndcg_cut_10", "P(rel=2)@5"], rel=2).to_flat()


@entry()
def long_table() -> object:
    return dh.evaluate(GRADED, GRADED_RUN, ["MAP", "nDCG@3"]).to_polars()


@entry()
def written_again() -> Numbers:
    """A run that is written and read keeps its scores."""
    buffer = io.StringIO()
    dh.Run(GRADED_RUN).to_polars().write_csv(buffer)
    rows = pl.read_csv(io.StringIO(buffer.getvalue()))
    return dh.evaluate(GRADED, rows, MEASURES).means()
