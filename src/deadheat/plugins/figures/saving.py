"""Charts as files: SVG, PNG, PDF, HTML in one piece, Vega-Lite JSON, by the ending of the name."""

import html
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from deadheat.core.checks import as_number
from deadheat.core.errors import ParameterError
from deadheat.core.io.writing import replace_file
from deadheat.plugins.figures.painter import painter

FORMATS = ("svg", "png", "pdf", "html", "json")
WITHOUT_WIDTH = ("json", "html")  # forms whose reader decides it
WIDTHS = (1, 100)  # centimetres, from an icon to a poster
SCALE = 3  # of PNG: in a column of 84 mm, 380 dots per inch
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 1rem; background: #fff; font-family: Arial, Helvetica, sans-serif; }}
svg {{ max-width: 100%; height: auto; }}
</style>
</head>
<body>
<div id="figure">{svg}</div>
<script>{libraries}</script>
<script>
const actions = {{export: true, source: false, compiled: false, editor: false}};
vegaEmbed("#figure", {spec}, {{renderer: "svg", actions}}).catch(console.error);
</script>
</body>
</html>
"""
PIXELS, POINTS = 96, 72  # of an inch, on a page and in PDF
SIZE = re.compile(r'width="([0-9.]+)" height="([0-9.]+)"')
LIBRARIES = "window.vegaEmbed = vegaEmbed;"
NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
IDS = re.compile(r'\bid="([^"]+)"')
USES = re.compile(r'((?:\bid="|="#|url\(#))([^")]+)("|\))')
"""What Vega numbers on from one picture to the next of a process."""


def save(chart: alt.TopLevelMixin, path: str | Path, *, has_title: bool = True, width: float | None = None) -> None:
    """Write a chart to a file, whole or not at all.

    Parameters
    ----------
    chart : altair.Chart
    path : path
        Its ending says the format: .svg, .png, .pdf, .html (in one piece, draws without a network), .json (Vega-Lite).
    has_title : bool, default True
        Without a title, a paper says in its caption what the figure shows.
    width : float, optional
        In centimetres, from 1 to 100, such as 8.4 of a column; by default as drawn, at 96 dots per inch. Not for .json
        and .html.

    Raises
    ------
    ParameterError
        The ending is none of these, or the width is out of range.
    DataError
        The folder does not exist, or the file is read-only.
    FigureError
        It takes longer than 30 seconds to draw, or vl-convert cannot draw it.
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise ParameterError(
            argument="path", given=str(path), allowed=f"a name that ends in {', '.join(f'.{one}' for one in FORMATS)}"
        )
    with replace_file(str(path)) as file:
        file.write(rendered(chart, suffix, has_title=has_title, width=width))


def _version() -> str | None:
    """Return the version of Vega-Lite that charts are written for; None: the newest."""
    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    return version if version in vl_convert.get_vegalite_versions() else None


@cache
def _bundle_libraries(version: str | None) -> str:
    """Return the scripts of a page that draws, which take seconds to bundle and are the same for every chart."""
    bundle: str = painter.call("javascript_bundle", snippet=LIBRARIES, vl_version=version)
    return bundle


def svg_of(spec: dict[str, Any]) -> str:
    """Return a chart, given as Vega-Lite reads it, as SVG; its ids are the same each time."""
    svg = painter.call("vegalite_to_svg", vl_spec=spec, vl_version=_version())
    svg = NO_XML.sub(_as_escape, svg)
    names = {name: f"i{number}" for number, name in enumerate(dict.fromkeys(IDS.findall(svg)))}
    return USES.sub(lambda own: f"{own[1]}{names.get(own[2], own[2])}{own[3]}", svg)


def _as_escape(found: re.Match[str]) -> str:
    """Return a character that XML cannot hold as an escape.

    Vega reads the escapes that stand in titles, for what it says to people who do not see them.
    """
    return f"\\u{ord(found[0]):04x}"


def rendered(chart: alt.TopLevelMixin, form: str, *, has_title: bool = True, width: float | None = None) -> bytes:
    """Return a chart in a format, as the bytes of a file.

    Parameters
    ----------
    chart : altair.Chart
    form : {"svg", "png", "pdf", "html", "json"}
        "html" is a page with the chart as SVG; the scripts in it draw it anew, with numbers under the mouse.
    has_title, width
        As for :func:`save`.
    """
    spec = chart.to_dict()
    if not has_title:
        spec.pop("title", None)
    text = json.dumps(spec, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if width is not None and form in WITHOUT_WIDTH:
        raise ParameterError(argument="width", given=width, allowed="None for JSON and HTML")
    if width is not None:
        width = as_number("width", width, *WIDTHS)
    if form == "json":
        return f"{text}\n".encode()
    version, svg = _version(), svg_of(spec)
    scale = 1.0
    if width is not None:  # drawn as before in its own coordinates
        drawn, height = map(float, SIZE.findall(svg)[0])
        scale = width / 2.54 * (POINTS if form == "pdf" else PIXELS) / drawn
        svg = SIZE.sub(f'width="{drawn * scale:.6g}" height="{height * scale:.6g}"', svg, count=1)
    if form == "png":
        return painter.call("vegalite_to_png", vl_spec=spec, vl_version=version, scale=SCALE * scale)
    if form == "pdf":
        return painter.call("svg_to_pdf", svg=svg)
    if form == "svg":
        return svg.encode()
    title = spec.get("title", "deadheat")
    lines = title["text"] if isinstance(title, dict) else title
    title = html.escape(lines if isinstance(lines, str) else " ".join(lines))
    # no </script> in a name ends the script
    return PAGE.format(
        title=title,
        svg=svg,
        libraries=_bundle_libraries(version),
        spec=text.replace("<", "\\u003c"),
    ).encode()
