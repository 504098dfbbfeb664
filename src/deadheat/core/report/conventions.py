"""Under which conventions evaluations were made: ties, options, weights and judgments, in words that reports share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from deadheat.core import hooks
from deadheat.core.evaluation.query_columns import heavy
from deadheat.core.kernels.weighting import effective_number
from deadheat.core.measures import Measure
from deadheat.core.measures.meanings import MEANINGS, is_doubted, meaning
from deadheat.core.report.cells import format_cell, share_cell
from deadheat.core.report.model import Fact, note_fact, warning_fact
from deadheat.core.report.report_parts import tell_parts
from deadheat.core.wording import BY_DOC_ID, format_count, format_list, format_seed

if TYPE_CHECKING:
    from deadheat.core.arrays import BoolArray, FloatArray, TextArray
    from deadheat.core.data.changes import Changes
    from deadheat.core.evaluation.evaluation import Evaluation
    from deadheat.core.evaluation.reconciling import Reconciled
    from deadheat.core.evaluation.shared_weights import SharedWeights

TIE_POLICIES = {
    "expected": "the exact mean over all orders of equal scores",
    "best": "the judged documents first in every tie, highest relevance first",
    "worst": "the judged documents last in every tie, lowest relevance first",
    "doc_id": f"{BY_DOC_ID} (descending)",
    "input": "in the order of the file",
    "random": "one order of every tie, drawn at random",
    "unknown": "the values came without rankings",
}
"""How each policy counts or breaks ties."""
TIE_HEADINGS = {"doc_id": BY_DOC_ID, "input": "input", "worst": "worst", "best": "best", "expected": "exact"}
"""What columns of values under a tie policy are headed."""


def describe_ties(ties: str, seed: int | None) -> str:
    """Return how ties were counted or broken; `seed` is that of the draws, if they are random."""
    description = TIE_POLICIES[ties]
    if ties == "random":
        description += format_seed(seed)
    return description


def tell_ties(ties: str, seed: int | None) -> list[Fact]:
    """Say how ties were counted or broken."""
    facts = [Fact("ties", ties, "ties", f"{ties}: {describe_ties(ties, seed)}", is_note=ties != "expected")]
    if ties == "random":
        facts.append(Fact("rng", seed))  # only its seed reproduces an order that was drawn
    return facts


def tell_conventions(evaluations: Sequence[Evaluation]) -> list[Fact]:
    """Return the facts about the options of evaluations but for the ties."""
    first = evaluations[0]
    conventions = first.conventions
    no_relevant = conventions.no_relevant
    if no_relevant is None and not first.unanswerable:
        no_relevant = "zero"
    facts = [
        *_tell_options(first),
        *_tell_negatives(evaluations),
        Fact("missing", conventions.missing),
        Fact("no_relevant", no_relevant),
        *tell_weights_of(first),
        *tell_parts(evaluations),
    ]
    for feature in hooks.load("facts"):
        facts += feature.facts_of_evaluations(evaluations)
    facts += tell_doubted_names(first.measures)
    return facts


def _tell_options(evaluation: Evaluation) -> Iterator[Fact]:
    """Say what each option of the evaluation does; an option says nothing where its value changes nothing."""
    for field in fields(evaluation.conventions):
        describe = field.metadata["told"]
        if describe is None:
            continue
        value = getattr(evaluation.conventions, field.name)
        description = describe(value)
        if description:
            is_changed = value != field.default
            yield Fact(field.name, value, field.metadata["heading"], description, is_note=is_changed)


def _tell_negatives(evaluations: Sequence[Evaluation]) -> list[Fact]:
    """Say that lists without unjudged documents also lack those of negative relevance, where there are some."""
    if not evaluations[0].conventions.judged_only:
        return []
    n_negative = max(int((evaluation.placements.judged_relevance < 0).sum()) for evaluation in evaluations)
    if not n_negative:
        return []
    text = f"documents of relevance below 0 are taken out, too ({n_negative:,} in the qrels), as trec_eval -J does"
    return [Fact("negative_taken_out", n_negative, "lists", text, is_note=True)]


def tell_weights_of(evaluation: Evaluation) -> list[Fact]:
    """Say that the means of an evaluation are weighted, if they are: all of its measures have the same weights."""
    for scores in evaluation:
        if scores.weights is not None:
            return tell_weights(evaluation.query_ids, scores.weights, scores.kept)
    return []


def tell_weights(query_ids: TextArray, weights: FloatArray, has_value: BoolArray) -> list[Fact]:
    """Say that means are weighted, what the queries with a value are worth, and which have much of the weight."""
    n_queries = int(has_value.sum())
    n_effective = effective_number(weights[has_value])
    n_without = int((weights == 0).sum())
    large_shares = heavy(query_ids, weights)
    worth = f"{format_count(n_queries, 'query is', 'queries are')} worth {n_effective:.1f} of equal weight"
    text = f"means are weighted: {worth}"
    if n_without:
        text += f"; {format_count(n_without, 'query', 'queries')} of weight 0 left out"
    heaviest = []
    for query_id, share in large_shares.items():
        heaviest.append(f"{query_id} ({format_cell(share_cell(share))})")
    text_of_heaviest = f"more than a tenth of the weight: {format_list(heaviest)}" if heaviest else ""
    value = {"n_effective": n_effective, "n_without": n_without, "shares": large_shares}
    return [
        Fact("weights", value, "weights", text, is_note=True),
        note_fact("weights", text_of_heaviest),
    ]


def tell_doubted_names(measures: Iterable[Measure]) -> Iterator[Fact]:
    """Say how names were read that mean something else elsewhere."""
    for measure in measures:
        name = type(measure).__name__
        if name in MEANINGS and is_doubted(measure.label):
            yield note_fact("name", f"{measure.label} is read as {meaning(measure.label, name)}")


def tell_reconciled(reconciled: Reconciled | None) -> list[Fact]:
    """Say how the judgments of evaluations differ, and what was done about it; nothing where they are the same."""
    if reconciled is None:
        return []
    value = {
        "way": reconciled.way,
        "reference": reconciled.reference,
        "n_queries": reconciled.n_queries,
        "not_asked": list(reconciled.not_asked),
        "left_out": list(reconciled.left_out),
        "changes": {name: _changes_as_data(changes) for name, changes in reconciled.changes.items()},
    }
    return [
        Fact("together", value, "changes", "; ".join(reconciled.describe()), is_note=True),
        warning_fact("renamed?", reconciled.warn_of_renamed()),
    ]


def _changes_as_data(changes: Changes) -> dict[str, object]:
    """Return what JSON holds of changes of judgments."""
    return {
        "changed": list(changes.changed),
        "added": list(changes.added),
        "gone": list(changes.gone),
        "rules": list(changes.rules),
        "n_same": len(changes.same),
    }


def tell_shared_weights(shared: SharedWeights | None) -> list[Fact]:
    """Say under which weights evaluations of different ones were brought."""
    if shared is None:
        return []
    value = {
        "reference": shared.reference,
        "source": shared.source,
        "reweighted": list(shared.reweighted),
        "left_out": {name: list(queries) for name, queries in shared.left_out.items()},
    }
    text = shared.describe()
    return [Fact("shared_weights", value, "weights", text, is_note=True, brief=text)]
