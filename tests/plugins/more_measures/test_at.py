"""What @ sets where it is no cutoff: a level of recall, a multiple of R; and names that Python would not read."""

import pytest

import deadheat as dh
from deadheat.errors import MeasureError


@pytest.mark.parametrize(
    ("text", "notation"),
    [
        ("IPrec@0.1", "IPrec@0.1"),
        ("IPrec@.10", "IPrec@0.1"),
        ("IPrec@0.0", "IPrec@0"),
        ("IPrec", "IPrec@0"),
        ("IPrec(recall=0.5, rel=2)", "IPrec(rel=2)@0.5"),
        ("iprec_at_recall_0.30", "IPrec@0.3"),
        ("iprec_at_recall.1.00", "IPrec@1"),
        ("RprecMult", "RprecMult@1"),
        ("Rprec_mult_0.20", "RprecMult@0.2"),
        ("11pt_avg", "AP11"),
        ("11pt_avg(rel=2)", "AP11(rel=2)"),
        ("SetRelP", "RelP"),
        ("relative_P_10", "RelP@10"),
        ("P_10", "P@10"),
    ],
)
def test_notation(text: str, notation: str) -> None:
    measure = dh.parse_measure(text)
    assert str(measure) == notation
    assert dh.parse_measure(notation) == measure


def test_in_python() -> None:
    assert dh.IPrec @ 0.1 == dh.parse_measure("IPrec@0.1")
    assert dh.IPrec(rel=2) @ 0.1 == dh.IPrec(rel=2, recall=0.1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("IPrec@2", r"IPrec: recall must be a number in \[0, 1\]"),
        ("IPrec(recall=0.1)@0.2", "recall appears twice"),
        ("P(cutoff=3)@5", "cutoff appears twice"),
        ("RprecMult@0", "multiple"),
        ("Rprec@0.2", "Rprec takes no cutoff"),
        ("P@0.2", "cutoff"),
        ("11pt_avg@5", "AP11 takes no cutoff"),
        ("12pt_avg", "unknown measure '12pt_avg'"),
        ("IPrec(rounding='up')", "trec_eval 9"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        dh.parse_measure(text)


def test_at_twice() -> None:
    with pytest.raises(MeasureError, match="has a recall already"):
        dh.IPrec(recall=0.5) @ 0.1
