"""The figures of a page: drawn as SVG, which needs no script, and described once for the script that redraws them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice
from typing import Any

from deadheat.errors import MissingDependencyError
from deadheat.report.page.subject import Subject

ID = re.compile(r'(\bid="|url\(#|xlink:href="#|\bhref="#)')
TWICE = ("traditional", "overview")  # of ties: what is drawn of systems too, and what holds the other figures
TAG = re.compile(r"<\w[^<>]*>")
LABELS = re.compile(r' (?:aria-[a-z]+|role)="[^"]*"')
PLACES = re.compile(r' (?:d|transform)="[^"]*"')
DECIMALS = re.compile(r"(\.\d\d)\d+")
ACTIVE = re.compile(r"<(?:script|foreignObject|iframe|image|a)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Picture:
    """A figure, or the words why there is none.

    Attributes
    ----------
    name : str
        Of the figure.
    part : str
        Where it is shown: "figures", "strata", "ties" or "languages".
    svg : str
    spec : dict or None
        As Vega-Lite reads it.
    why_not : str
        Empty if there is a figure.
    number : int
        Its place among all figures of the page that can be drawn.
    """

    name: str
    part: str
    svg: str = ""
    spec: dict[str, Any] | None = None
    why_not: str = ""
    number: int = -1


def pictures_of(subject: Subject, numbers: Iterator[int], *, most: int | None = None) -> Iterator[Picture]:
    """Draw the figures that fit a subject, of its main measure.

    Parameters
    ----------
    subject : Subject
    numbers : iterator of int
        What figures that can be drawn are counted with.
    most : int, optional
        Figures of the systems, and of nothing else.

    Raises
    ------
    MissingDependencyError
        Altair or vl-convert is not installed.
    """
    of: list[tuple[str, Any]] = [("figures", subject.comparison or subject.first)]
    if most is None:
        ties = subject.tie_table()
        of += [("strata", subject.strata(columns)) for columns in subject.groupings]
        of += [("ties", ties)] if ties is not None else []
    for part, drawn in of:
        yield from islice(draw(part, drawn, subject.main.label, numbers), most)


def draw(part: str, of: Any, measure: str, numbers: Iterator[int]) -> Iterator[Picture]:  # noqa: ANN401 - what is drawn
    """Draw all figures of an object."""
    from deadheat.figures import drawings, rendered  # figures need Altair

    for one in drawings(of, [measure]):
        if part == "ties" and one.figure in TWICE:
            continue
        if one.chart is None:
            yield Picture(one.name, part, why_not=str(one.error))
            continue
        own = next(numbers)
        svg = rendered(one.chart, "svg").decode()
        yield Picture(one.name, part, compact(ID.sub(rf"\g<1>f{own}-", svg)), one.chart.to_dict(), number=own)


def compact(svg: str) -> str:
    """Return a drawing without the labels of its marks, which the table of its data has, and with two decimals.

    Raises
    ------
    ValueError
        It holds what runs or loads something, which no figure of ours does.
    """
    if found := ACTIVE.search(svg):
        raise ValueError(f"a figure holds {found[0]}")

    def short(tag: re.Match[str]) -> str:
        return PLACES.sub(lambda found: DECIMALS.sub(r"\1", found[0]), LABELS.sub("", tag[0]))

    return TAG.sub(short, svg[svg.index("<svg") :])


def vega() -> str:
    """Return the script that draws figures, with its licence, as the content of a script element."""
    import vl_convert

    script = str(vl_convert.javascript_bundle("window.deadheatEmbed = vegaEmbed;"))
    licence = (files("deadheat.report.page") / "vega-license.txt").read_text(encoding="utf-8")
    return f"/*\n{licence}*/\n(function () {{{script}}})();".replace("</script", r"<\/script").replace("<!--", r"<\!--")


def are_missing() -> str:
    """Return why there are no figures: empty if there can be some."""
    try:
        import deadheat.figures  # noqa: F401 - whether it can be imported
    except MissingDependencyError as error:
        return str(error)
    return ""
