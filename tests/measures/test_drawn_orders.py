"""Which means are those of drawn orders: what the README says of them, and no others."""

from __future__ import annotations

import random

import pytest

import deadheat as dh

EARLY = {"INST", "NERR8", "NERR9", "NERR10", "NERR11"}
LATE = {"infAP", "G", "IPrec", "AP11", "GMAP", "GMbpref", "yaap", "BPM"}


def drawn(n_documents: int, names: set[str]) -> set[str]:
    """The measures whose mean over one tie of documents of four levels has a standard error."""
    rng = random.Random(n_documents)
    qrels = {"q": {f"d{n}": float(rng.randrange(4)) for n in range(n_documents)}}
    placements = dh.place(qrels, {"q": dict.fromkeys(qrels["q"], 1.0)})
    return {name for name in names if dh.parse_measure(name).standard_error(placements).any()}


@pytest.mark.parametrize(("n_documents", "expected"), [(7, set()), (12, EARLY), (150, EARLY)])
def test_small_ties_are_exact_but_for_adaptive_users(n_documents: int, expected: set[str]) -> None:
    """Seven documents have 5,040 orders at most; twelve of four levels have more than 10,000."""
    assert drawn(n_documents, set(dh.measures())) == expected


def test_eight_others_may_be_drawn_in_ties_of_some_hundred_documents() -> None:
    assert drawn(300, set(dh.measures()) - EARLY - LATE) == set()
    some = {"IPrec", "AP11", "yaap", "BPM", "G"}
    assert drawn(300, some) == some
