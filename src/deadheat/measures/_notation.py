"""Reading the notation: ``nDCG@10``, ``P(rel=2)@5``, and the names that trec_eval gives."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from deadheat.errors import MeasureError, UnknownMeasureError, did_you_mean
from deadheat.measures._base import ALIASES, REGISTRY, Measure

if TYPE_CHECKING:
    from typing import TypeAlias

    MeasureLike: TypeAlias = Measure | type[Measure] | str

TREC_CUT = re.compile(r"(?P<name>.+?)(?:_cut)?[_.](?P<cutoff>\d+)")


def parse_measure(notation: MeasureLike) -> Measure:
    """Read a measure from its notation.

    Parameters
    ----------
    notation : str or Measure
        A name or an alias, then parameters in parentheses, then ``@`` and a cutoff; or a measure, which is returned.

    Returns
    -------
    Measure

    Raises
    ------
    UnknownMeasureError
        There is no measure of this name; the message names the nearest.
    MeasureError
        The notation cannot be read, or a parameter is wrong.

    Examples
    --------
    >>> parse_measure("nDCG(gain='exp')@10")
    nDCG(gain='exp')@10
    >>> parse_measure("ndcg_cut_10")
    nDCG@10
    """
    if isinstance(notation, Measure):
        return notation
    if isinstance(notation, type) and issubclass(notation, Measure):
        return notation()
    text: object = notation
    if not isinstance(text, str):
        kind = f"{type(text).__module__}.{type(text).__name__}"
        msg = f"expected a measure of deadheat or its notation, such as 'nDCG@10', got {text!r} ({kind})"
        raise MeasureError(msg)
    text = text.strip()
    trec = TREC_CUT.fullmatch(text)
    if trec and _find(trec["name"]):
        return _known(trec["name"])() @ int(trec["cutoff"])
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        _known(re.split(r"[@(\s]", text)[0])
        msg = f"cannot read the measure {text!r}; write it like 'nDCG@10' or 'P(rel=2)@5'"
        raise MeasureError(msg) from None
    return _read(tree, text)


def _read(tree: ast.expr, notation: str) -> Measure:
    parameters: dict[str, Any] = {}
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult):
        parameters["cutoff"] = _literal(tree.right, notation)
        tree = tree.left
    if isinstance(tree, ast.Call):
        if tree.args or any(keyword.arg is None for keyword in tree.keywords):
            msg = f"name each parameter in {notation!r}, as in 'P(rel=2)@5'"
            raise MeasureError(msg)
        for keyword in tree.keywords:
            if keyword.arg in parameters:
                msg = f"{keyword.arg} stands twice in {notation!r}"
                raise MeasureError(msg)
            parameters[str(keyword.arg)] = _literal(keyword.value, notation)
        tree = tree.func
    if not isinstance(tree, ast.Name):
        msg = f"cannot read the measure {notation!r}; write it like 'nDCG@10' or 'P(rel=2)@5'"
        raise MeasureError(msg)
    return _known(tree.id)(**parameters)


def _literal(node: ast.expr, notation: str) -> Any:  # noqa: ANN401 - the measure checks it
    try:
        return ast.literal_eval(node)
    except ValueError:
        msg = f"{ast.unparse(node)!r} in {notation!r} is not a value; write numbers plainly and words in quotes"
        raise MeasureError(msg) from None


def _find(name: str) -> type[Measure] | None:
    return REGISTRY.get(name) or REGISTRY.get(ALIASES.get(name, ""))


def _known(name: str) -> type[Measure]:
    found = _find(name)
    if found is None:
        msg = f"unknown measure {name!r}.{did_you_mean(name, [*REGISTRY, *ALIASES])} All: {', '.join(REGISTRY)}"
        raise UnknownMeasureError(msg)
    return found
