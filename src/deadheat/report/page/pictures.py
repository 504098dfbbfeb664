"""The figures of a page: drawn as SVG, which needs no script, and described once for the script that redraws them."""

import html
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any

from deadheat.errors import FigureError, MissingDependencyError
from deadheat.io.painter import in_background, wait_for
from deadheat.report.page.subject import MOST_SYSTEMS, Subject

ID = re.compile(r'(\bid="|url\(#|xlink:href="#|\bhref="#)')
TWICE = ("traditional", "overview")  # of ties: what is drawn of systems too, and what holds the other figures
FEW = 2  # systems, whose curves are drawn themselves; those of more as their distance from the baseline
TAG = re.compile(r"<\w[^<>]*>")
OF_FEW = ("cutoffs", "matrix", "power", "precision_recall", "scatter")  # figures that many systems take long
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
        Of the figure.
    part : str
        Where it is shown: "figures", "strata", "ties" or "languages".
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
    part: str
    drawing: Future[str] | None = None
    rows: Sequence[Mapping[str, Any]] = ()
    refusal: str = ""
    number: int = -1

    @property
    def svg(self) -> str:
        """The drawing, as soon as it is made; empty if there is no figure."""
        return "" if self.drawing is None or self.why_not else wait_for(self.drawing)

    @property
    def why_not(self) -> str:
        """Why there is no figure, as soon as that is known; empty if there is one."""
        if self.drawing is None:
            return self.refusal
        try:
            wait_for(self.drawing)
        except FigureError as error:
            return str(error)
        return ""


def pictures_of(subject: Subject, numbers: Iterator[int], *, most: int | None = None) -> list[Picture]:
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
    ties = subject.tie_table() if most is None else None
    of: list[tuple[str, Any]] = [
        ("figures", subject.comparison or subject.first),
        *(("strata", subject.strata(columns)) for columns in (subject.groupings if most is None else ())),
        *([] if ties is None else [("ties", ties)]),
    ]
    without = without_news(subject)
    against = subject.duel[1] if subject.duel and len(subject.ranked) > FEW else None
    of_few = Picture(", ".join(OF_FEW), "figures", refusal=f"of at most {MOST_SYSTEMS} systems")
    ranks = Picture("ranks", "figures", refusal="of all measures together: dh.figures.ranks(comparison) draws them")
    drawn = (draw(part, one, subject.main.label, numbers, without, most=most, against=against) for part, one in of)
    return [
        *chain.from_iterable(drawn),
        *([of_few] if len(subject.ranked) > MOST_SYSTEMS else []),
        *([] if against is None else [ranks]),
    ]


def draw(
    part: str,
    of: Any,  # noqa: ANN401 - what is drawn
    measure: str,
    numbers: Iterator[int],
    without: Collection[str] = (),
    *,
    most: int | None = None,
    **options: object,
) -> list[Picture]:
    """Draw the figures of an object, but for some by their names; each takes the options that it knows.

    They become SVG in threads, which wait for the process that draws, while the caller goes on.
    """
    from altair.utils.schemapi import debug_mode

    from deadheat.figures import drawings  # figures need Altair
    from deadheat.figures.base import WIDTH
    from deadheat.figures.saving import svg_of

    def drawn(spec: dict[str, Any], number: int, label: str) -> str:
        svg = compact(ID.sub(rf"\g<1>f{number}-", svg_of(spec)))
        svg = COLOUR.sub(lambda found: f'{found[1]}="var(--fig-{found[3].lower()},{found[2]}{found[3]})"', svg)
        width = WIDTH * READABLE / min(map(float, FONT.findall(svg)), default=READABLE)
        described = f'<svg role="img" aria-label="{html.escape(label)}" style="min-width:{width:.0f}px"'
        return svg.replace("<svg", described, 1)

    found: list[Picture] = []
    with debug_mode(False):  # noqa: FBT003 - figures of ours are valid; to check them takes a third of the time
        for one in islice(
            drawings(of, [measure], without=(*without, *TWICE) if part == "ties" else without, **options), most
        ):
            if one.chart is None:
                found.append(Picture(one.name, part, refusal=str(one.error)))
            else:
                number, spec = next(numbers), one.chart.to_dict(validate=False)
                drawing = in_background(partial(drawn, spec, number, " ".join(spec["title"]["text"])))
                rows: list[dict[str, Any]] = spec.get("data", {}).get("values") or next(
                    iter(spec.get("datasets", {}).values()), []
                )
                found.append(Picture(one.name, part, drawing, rows, number=number))
    return found


def without_news(subject: Subject) -> list[str]:
    """Return the names of the figures that would show nothing, such as the share of ties where all tie.

    And of ranks: they are of all measures together, which takes longer than the rest of the page. Of very many systems
    there are only those that are looked at first.
    """
    n, found = len(subject.ranked), map(subject.ties_of, subject.ranked[:2])
    all_tie = all((own["n_tied"] == own["n_documents"]).all() for own in found if own is not None)
    return [
        "ranks",
        *(["matrix"] if n < 3 else []),
        *(OF_FEW if n > MOST_SYSTEMS else []),
        *(["mean_tie_ratio", "tie_ratio"] if all_tie else []),
    ]


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
        import deadheat.figures  # noqa: F401 - whether it can be imported
    except MissingDependencyError as error:
        return str(error)
    return ""
