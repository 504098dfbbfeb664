"""The figures of a page: drawn as SVG, which needs no script, and described once for the script that redraws them."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

from deadheat.core import hooks
from deadheat.core.errors import FigureError, MissingDependencyError, MissingPluginError
from deadheat.plugins.page.subject import Subject

ID = re.compile(r'(\bid="|url\(#|xlink:href="#|\bhref="#)')
TAG = re.compile(r"<\w[^<>]*>")
LABELS = re.compile(r' (?:aria-[a-z]+|role)="[^"]*"')
PLACES = re.compile(r' (?:d|transform)="[^"]*"')
COLOUR = re.compile(r'(fill|stroke)="(#?)([0-9a-fA-F]{3,6}|white|black)"')  # which the style sheet of the page changes
FONT = re.compile(r'font-size="([\d.]+)px"')
READABLE = 12  # pixels of the smallest text
DECIMALS = re.compile(r"(\.\d\d)\d+")
ACTIVE = re.compile(r"<(?:script|foreignObject|iframe|image|a)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Picture:
    """A figure, or the words why there is none.

    Attributes
    ----------
    name : str
        Of its file: that of the figure, with the measure.
    figure : str
    part : str
        Where it is shown: "figures", "strata", or the key of a companion.
    drawing : Future of str, or None
        None if there is no figure.
    rows : sequence of mapping
        Its data.
    refusal : str
        Why there is no chart to draw; empty if there is one.
    number : int
        Its place among all figures of the page that can be drawn.
    """

    name: str
    figure: str
    part: str
    drawing: Future[str] | None = None
    rows: Sequence[Mapping[str, Any]] = ()
    refusal: str = ""
    number: int = -1

    @property
    def svg(self) -> str:
        """The drawing, as soon as it is made; empty if there is no figure."""
        if self.drawing is None or self.why_not:
            return ""
        return str(hooks.service("painter").wait_for(self.drawing))

    @property
    def why_not(self) -> str:
        """Why there is no figure, as soon as that is known; empty if there is one."""
        if self.drawing is None:
            return self.refusal
        try:
            hooks.service("painter").wait_for(self.drawing)
        except FigureError as error:
            return str(error)
        return ""


def pictures_of(subject: Subject, numbers: Iterator[int], *, has_strata: bool = True) -> list[Picture]:
    """Draw the figures that a page shows of a subject, by its main measure.

    Parameters
    ----------
    subject : Subject
    numbers : iterator of int
        What figures that can be drawn are counted with.
    has_strata : bool, default True
        Whether its strata are drawn, too.

    Raises
    ------
    MissingDependencyError
        Altair or vl-convert is not installed.
    """
    measure = subject.main.label
    drawn = draw("figures", subject.comparison or subject.first, measure, numbers)
    if has_strata:
        for columns in subject.groupings:
            drawn += draw("strata", subject.strata(columns), measure, numbers)
    return drawn


def draw(
    part: str,
    of: Any,  # noqa: ANN401 - what is drawn
    measure: str,
    numbers: Iterator[int],
) -> list[Picture]:
    """Draw the figures of an object that a page shows, as --figures does.

    They become SVG in threads, which wait for the process that draws, while the caller goes on.
    """
    from altair.utils.schemapi import debug_mode

    in_background = hooks.service("painter").in_background
    drawings = hooks.service("figures").drawings
    shown = hooks.service("figure_choice").figures_to_show(of, measure)
    found: list[Picture] = []
    with debug_mode(False):  # noqa: FBT003 - figures of ours are valid; to check them takes a third of the time
        for one in drawings(of, [measure], names=shown):
            if one.chart is None:
                found.append(Picture(one.name, one.figure, part, refusal=str(one.error)))
                continue
            number, spec = next(numbers), one.chart.to_dict(validate=False)
            drawing = in_background(partial(_svg, spec, number, " ".join(spec["title"]["text"])))
            rows: list[dict[str, Any]] = spec.get("data", {}).get("values") or next(
                iter(spec.get("datasets", {}).values()), []
            )
            found.append(Picture(one.name, one.figure, part, drawing, rows, number=number))
    return found


def _svg(spec: dict[str, Any], number: int, label: str) -> str:
    """Return a chart as SVG with ids of its own, the colours of the page, and letters that can be read."""
    drawn: str = hooks.service("figure_svg").svg_of(spec)
    svg = compact(ID.sub(rf"\g<1>f{number}-", drawn))
    svg = COLOUR.sub(lambda found: f'{found[1]}="var(--fig-{found[3].lower()},{found[2]}{found[3]})"', svg)
    width = hooks.service("figure_style").WIDTH * READABLE / min(map(float, FONT.findall(svg)), default=READABLE)
    described = f'<svg role="img" aria-label="{html.escape(label)}" style="min-width:{width:.0f}px"'
    return svg.replace("<svg", described, 1)


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


def are_missing() -> str:
    """Return why there are no figures: empty if there can be some."""
    try:
        hooks.service("figures")
    except (MissingDependencyError, MissingPluginError) as error:
        return str(error)
    return ""
