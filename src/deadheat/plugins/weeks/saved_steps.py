"""What a history reads of a saved evaluation: less than the evaluation."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from deadheat.core.data.kind_of_judgments import DOCUMENTS, KindOfJudgments
from deadheat.core.evaluation.kept import parts_in_tables, rule_in
from deadheat.core.evaluation.origin import Origin
from deadheat.core.evaluation.packed_tables import NUMBERS, unpacked
from deadheat.core.evaluation.read_saved import measures_in, scores_in, weights_in
from deadheat.core.evaluation.shapes import (
    WrongValueError,
)
from deadheat.core.kernels.weighting import are_equal


def summary_in(document: dict[str, Any]) -> dict[str, Any]:
    """Return what a step of a history holds of a saved evaluation, of which no more is read."""
    data, means = document["data"], dict[str, dict[str, Any]]()
    for label, of_measure in measures_in(document).items():
        numbers = {name: of_measure[name] for name in ("mean", "low", "high", "tie_min", "tie_max")}
        numbers = {name: math.nan if number is None else float(number) for name, number in numbers.items()}
        means[of_measure["measure"]] = {"label": label, **of_measure, **numbers}
    ids = np.array(unpacked(data["queries"], "queries")["query_id"].to_list(), object)
    weights = weights_in(data, len(ids))
    if weights is not None and not are_equal(weights):
        for of_measure in means.values():
            if not of_measure["total"] and "n_effective" not in of_measure:
                raise WrongValueError(f"lacks 'n_effective' in measures.{of_measure['label']}")
    scores = scores_in(data, len(means), len(ids)).select(pl.col("value", *NUMBERS).fill_null(math.nan))
    columns = {one.name: one.to_numpy().reshape(len(means), len(ids)) for one in scores}
    return {
        "name": document["name"],
        "qrels_hash": document["qrels_hash"],
        "origin": Origin.stated_in(document),
        "conventions": document["conventions"],
        "judged": _judged_in(data["judgments"], document["qrels_hash"]),
        "unanswerable": tuple(data["judgments"].get("unanswerable", ())),
        "query_ids": ids,
        "weights": weights,
        "values": dict(zip(means, columns["value"], strict=True)),
        "ties": {name: {one: columns[one][n] for one in NUMBERS} for n, name in enumerate(means)},
        "means": means,
        "parts": dict(zip(means, parts_in_tables(data, len(means), len(ids)), strict=True)),
    }


def _judged_in(judgments: Mapping[str, Any], fingerprint: str) -> KindOfJudgments:
    """Return the kind of the judgments in a file, as :func:`find_kind_of_qrels` does."""
    rule = rule_in(judgments, fingerprint)
    return DOCUMENTS if rule is None else rule.kind
