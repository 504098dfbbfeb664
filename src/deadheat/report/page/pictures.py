"""The figures of a page: drawn as SVG, which needs no script, and described once for the script that redraws them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from deadheat.errors import MissingDependencyError
from deadheat.report.page.subject import Subject

ID = re.compile(r'(\bid="|url\(#|xlink:href="#|\bhref="#)')
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
    svg : str
    spec : dict or None
        As Vega-Lite reads it.
    why_not : str
        Empty if there is a figure.
    """

    name: str
    svg: str = ""
    spec: dict[str, Any] | None = None
    why_not: str = ""


def pictures_of(subject: Subject, prefix: str) -> Iterator[Picture]:
    """Draw the figures that fit a subject, of its main measure.

    Parameters
    ----------
    subject : Subject
    prefix : str
        Of the ids inside the pictures, which must differ in a page.

    Raises
    ------
    MissingDependencyError
        Altair or vl-convert is not installed.
    """
    from deadheat.figures import drawings, rendered  # figures need Altair

    of = subject.comparison or subject.first
    for one in drawings(of, [subject.main.label]):
        if one.chart is None:
            yield Picture(one.name, why_not=str(one.error))
            continue
        svg = rendered(one.chart, "svg").decode()
        yield Picture(one.name, compact(ID.sub(rf"\g<1>{prefix}-{one.figure}-", svg)), one.chart.to_dict())


def compact(svg: str) -> str:
    """Return a drawing without the labels of its marks, which the table of its data has, and with two decimals.

    Raises
    ------
    ValueError
        It holds what runs or loads something, which no figure of ours does.
    """
    if found := ACTIVE.search(svg):
        raise ValueError(f"a figure holds {found[0]}")
    return TAG.sub(lambda tag: PLACES.sub(_rounded, LABELS.sub("", tag[0])), svg[svg.index("<svg") :])


def _rounded(found: re.Match[str]) -> str:
    return DECIMALS.sub(r"\1", found[0])


def vega() -> str:
    """Return the script that draws figures, as the content of a script element."""
    import vl_convert

    script = str(vl_convert.javascript_bundle("window.deadheatEmbed = vegaEmbed;"))
    return f"(function () {{{script}}})();".replace("</script", r"<\/script").replace("<!--", r"<\!--")


def are_missing() -> str:
    """Return why there are no figures: empty if there can be some."""
    try:
        import deadheat.figures  # noqa: F401 - whether it can be imported
    except MissingDependencyError as error:
        return str(error)
    return ""
