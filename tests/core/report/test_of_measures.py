"""The page of a measure: its formula is a line of text that its class has, and LaTeX stays in the documentation."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from deadheat import P, measures
from deadheat.core.cli.printing import ASCII
from deadheat.core.report.as_data import as_json
from deadheat.core.report.as_markdown import as_markdown
from deadheat.core.report.of_measures import report_measure
from deadheat.core.report.text import as_text

if TYPE_CHECKING:
    from deadheat import Measure


@pytest.mark.parametrize("name", list(measures()))
def test_every_measure_has_a_formula_of_its_own(name: str) -> None:
    formula = vars(measures()[name]).get("formula", "")
    assert re.match(rf"{name}(@\w|\(M\))? = ", formula)  # (M): a measure of another one
    assert len(formula) < 100
    assert formula.isprintable()
    assert not set("\\{}$`") & set(formula)
    assert all(formula.count(left) == formula.count(right) for left, right in ("()", "[]"))
    assert formula.translate(ASCII).isascii()


@pytest.mark.parametrize("name", list(measures()))
def test_a_page_has_no_latex(name: str) -> None:
    held = json.loads(as_json(report_measure(measures()[name])))
    assert not set("\\{}$`") & set(" ".join([held["summary"], *held["text"], held["references"]]))


def test_the_formula_is_in_every_format() -> None:
    report = report_measure(measures()["F"])
    assert json.loads(as_json(report))["formula"] == "F@k = (1 + β^2) C_k / (k + β^2 R)"
    assert "\nformula       F@k = (1 + β^2) C_k / (k + β^2 R)\n" in as_text(report).plain
    assert "\n- formula: F@k = (1 + β^2) C\\_k / (k + β^2 R)\n" in as_markdown(report)


@dataclass(frozen=True, kw_only=True, repr=False)
class Own(P):
    r"""A measure of one's own.

    .. math:: C_k^2

    Between two formulas.


    .. math::

        \frac{C_k}{k}

    With :math:`C_k` of :meth:`~P.mean`
    and ``rel``.
    """


class Silent(P):
    __doc__ = None


class OnlyLatex(P):
    """.. math:: C_k."""


@pytest.mark.parametrize(
    ("measure", "summary", "text"),
    [
        (Own, "A measure of one's own.", ["Between two formulas.", "With C_k of P.mean and rel."]),
        (Silent, "", []),
        (OnlyLatex, "", []),
    ],
)
def test_a_measure_without_a_formula_shows_none(measure: type[Measure], summary: str, text: list[str]) -> None:
    """Also if the class above has one."""
    report = report_measure(measure)
    held = json.loads(as_json(report))
    assert (held["summary"], held["formula"], held["text"], held["references"]) == (summary, "", text, "")
    assert "formula  " not in as_text(report).plain


@pytest.mark.parametrize("name", list(measures()))
def test_texts_are_whole_sentences_without_their_formulas(name: str) -> None:
    """A formula in the middle of a sentence is lost in plain text: it belongs into the line, or before the text."""
    (text,) = (fact.value for fact in report_measure(measures()[name]).facts if fact.key == "text")
    assert isinstance(text, list)
    assert all(one.rstrip(")").endswith((".", ":")) for one in text)
