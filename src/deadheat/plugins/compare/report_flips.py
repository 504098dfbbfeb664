"""How many differences of a comparison the order of ties can reverse, as facts of a report."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from deadheat.core import stats
from deadheat.core.arrays import BoolArray
from deadheat.core.report.model import Fact, note_fact, prose_fact
from deadheat.core.wording import (
    BY_DOC_ID,
    MOST_OFF,
    format_count,
    format_list,
    format_percentage_error,
    is_share_known,
)
from deadheat.plugins.compare.pair import Pairs
from deadheat.plugins.compare.pair_names import MOST_NAMED_IN_BRIEF, name_first, name_in_brief
from deadheat.plugins.compare.pairs import LIKELY

FLIP_METHODS = {
    "exact": "exact",
    "grid": "to about 0.0001, as sums on a grid",
    "sampled": "from random orders",
    "normal": "by the normal distribution with the exact variance",
}
FLIP_ERRORS = {"sampled": "with a standard error of up to", "normal": "off by up to"}
LEAST_ERROR = 0.0005  # of a probability: a smaller one would be shown as 0.0%


def tell_flips(places: Sequence[str], pairs: Pairs) -> list[Fact]:
    """Say how many differences ties can reverse.

    Parameters
    ----------
    places : sequence of str, of length n_pairs
        The stratum of each pair, empty for the whole.
    pairs : Pairs
    """
    total = _count_pairs(pairs)
    can_flip = pairs.column("can_flip")
    n_open = can_flip.sum()
    if not n_open:
        return [_tell_no_flip(pairs, total)]
    chance = pairs.column("flip_probability")
    is_known = can_flip & is_share_known(chance, pairs.column("flip_standard_error"))
    is_likely = is_known & (chance >= LIKELY)
    n_likely = int(is_likely.sum())
    n_unknown = int((can_flip & ~is_known).sum())
    methods = _describe_methods(pairs, is_known)
    unknown = ""
    if n_unknown:
        methods.append(f"{n_unknown:,} unknown")
        unknown = (
            f"the probability of {n_unknown:,} of {total} is not known, as its error is above {MOST_OFF:.0%} or larger"
            " than the probability: no orders are drawn of saved evaluations, nor of many runs of many documents but"
            " for those that lead; of fewer runs or measures they are"
        )
    text = (
        f"{n_open:,} of {total} by some order of the ties; {n_likely:,} with a probability of {LIKELY:.0%} or more if"
        f" ties are broken at random ({'; '.join(methods)})"
    )
    n_by_id, names_by_id = name_first(places, pairs, pairs.column("doc_id_reverses"))
    by_id = ""
    if names_by_id:
        n_pairs = format_count(n_by_id, "pair")
        by_id = f"ties broken {BY_DOC_ID}, reverse {n_pairs}: {format_list(names_by_id, n=n_by_id)}"
    brief = ""
    if len(pairs) > 1 and (n_likely or n_by_id):  # of one pair the verdict says it
        brief = _tell_likely_in_brief(places, pairs, is_likely, total)
    return [
        replace(prose_fact("reversed", text), brief=brief),
        note_fact("reversed", unknown),
        prose_fact("by id", by_id),
    ]


def _count_pairs(pairs: Pairs) -> str:
    """Return how many differences there are, and by whose values, if a judge's labels help to estimate them."""
    total = format_count(len(pairs), "difference")
    estimated = np.flatnonzero(pairs.column("method") == "ppi")
    if len(estimated):
        total += f" by {pairs[int(estimated[0])].values_are_by}"
    return total


def _tell_no_flip(pairs: Pairs, total: str) -> Fact:
    """Say that no order of ties reverses a difference; those of 0, which have no sign to reverse, may move."""
    is_zero = np.abs(pairs.column("expected_difference")) <= stats.NEGLIGIBLE_DIFFERENCE
    n_moved = int((is_zero & (pairs.column("tie_standard_error") > 0)).sum())
    text = f"none: no order of equal scores reverses any of {total}"
    if not n_moved:
        return prose_fact("reversed", text)
    moved = f"orders of equal scores move {format_count(n_moved, 'difference')} of 0 either way"
    return replace(prose_fact("reversed", f"{text}; {moved}"), brief=moved)


def _describe_methods(pairs: Pairs, is_known: BoolArray) -> list[str]:
    """Return how known probabilities were found: for each method how many, and how far they can be off."""
    method = pairs.column("flip_method")
    error = pairs.column("flip_standard_error")
    n_open = pairs.column("can_flip").sum()
    descriptions = []
    for name, text in FLIP_METHODS.items():
        errors_of_method = error[is_known & (method == name)]
        if not len(errors_of_method):
            continue
        description = text
        if len(errors_of_method) != n_open:
            description = f"{len(errors_of_method):,} {text}"
        largest_error = float(errors_of_method.max())
        if name in FLIP_ERRORS and largest_error >= LEAST_ERROR:
            description += f", {FLIP_ERRORS[name]} {format_percentage_error(largest_error)}"
        descriptions.append(description)
    return descriptions


def _tell_likely_in_brief(places: Sequence[str], pairs: Pairs, is_likely: BoolArray, total: str) -> str:
    """Say how many differences many tie orders reverse, how many ties by document id do, and which."""
    is_by_id = pairs.column("doc_id_reverses").astype(np.bool_)
    n_likely = int(is_likely.sum())
    n_by_id = int(is_by_id.sum())
    likely = f"{n_likely:,} of {total} in {LIKELY:.0%} of tie orders or more"
    if np.isnan(pairs.column("doc_id_difference").astype(np.float64)).all():  # the runs are not here
        return f"{likely}{name_in_brief(places, pairs, is_likely)}"
    if (is_likely == is_by_id).all():
        return f"{likely}, and {BY_DOC_ID}{name_in_brief(places, pairs, is_likely)}"
    if max(n_likely, n_by_id) > MOST_NAMED_IN_BRIEF:
        return f"{likely}, {n_by_id:,} {BY_DOC_ID}; --full lists them"
    likely += name_in_brief(places, pairs, is_likely)
    return f"{likely}; {n_by_id:,} {BY_DOC_ID}{name_in_brief(places, pairs, is_by_id)}"
