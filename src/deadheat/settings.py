"""What several functions and commands take: each setting's default, what it allows and what it means, said once.

Classes such as `Conventions` have these defaults and check against these words; the options of the command line are
made of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Setting:
    """A setting.

    Attributes
    ----------
    default : object
    help : str
        What it means, for the help of a command.
    allowed : tuple of str
        The words that it can be; empty if it is none.
    """

    default: Any
    help: str
    allowed: tuple[str, ...] = ()


SETTINGS = {
    "ties": Setting(
        "expected",
        "What a tie counts: expected (the exact mean over its orders), best, worst, doc_id (by document id, as"
        " trec_eval), input (the order of the file) or random.",
        ("expected", "best", "worst", "doc_id", "input", "random"),
    ),
    "missing": Setting(
        "empty",
        "Queries that a run lacks count as empty rankings, are left out, or are an error.",
        ("empty", "skip", "error"),
    ),
    "no_relevant": Setting("zero", "Queries without a relevant document score 0, or are left out.", ("zero", "skip")),
    "score_precision": Setting(None, "Round all scores first: float32, float16, bfloat16 or a number of decimals."),
    "rel": Setting(None, "Lowest relevance that counts as relevant, for all measures that name no other."),
    "judged_only": Setting(default=False, help="Take unjudged documents out of the lists first."),
    "depth": Setting(None, "Look at the first N documents of each list."),
    "unjudged": Setting(
        "zero",
        "Unjudged documents have no gain; or also give the least and greatest value for any relevance of theirs.",
        ("zero", "bounds"),
    ),
    "unjudged_max_rel": Setting(None, "The highest relevance of --unjudged bounds; default: the highest in the qrels."),
    "test": Setting(
        "randomization",
        "randomization, bootstrap-t, bootstrap, t, wilcoxon, sign or tukey.",
        ("randomization", "bootstrap-t", "bootstrap", "t", "wilcoxon", "sign", "tukey"),
    ),
    "correction": Setting(
        "holm", "Correction of p values for the number of rows of a measure.", ("none", "bonferroni", "holm", "bh")
    ),
    "alternative": Setting("two-sided", "Of the difference, system - baseline.", ("two-sided", "greater", "less")),
    "confidence_level": Setting(0.95, "Level of the intervals; 1 - LEVEL is the level of significance of tests."),
    "method": Setting(
        "auto",
        "auto (default): for means clopper-pearson of measures that are 0 or 1 (Hit, P@1; not with --cluster),"
        " bootstrap-t of those without limits (DCG), gaffke of others, bca from 50 queries on; for differences t."
        " bca, bootstrap-t, percentile: bootstrap; t: Student's t; gaffke: of few values between two limits;"
        " clopper-pearson: exact for proportions.",
        ("auto", "bca", "bootstrap-t", "percentile", "t", "gaffke", "clopper-pearson"),
    ),
    "save_depth": Setting(
        100,
        "Documents of each list that --save keeps, to score it again under other judgments; more where a measure needs"
        " it, 0 for none.",
    ),
    "n_resamples": Setting(10_000, "Resamples of bootstraps and tests, 99 or more."),
}
