"""Charts as files: SVG, PNG, PDF, HTML in one piece, Vega-Lite JSON, by the ending of the name."""

from __future__ import annotations

import html
import json
import os
import re
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from deadheat.errors import ParameterError
from deadheat.io.writing import replacing

FORMATS = ("svg", "png", "pdf", "html", "json")
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
LIBRARIES = "window.vegaEmbed = vegaEmbed;"
IDS = re.compile(r'\bid="([^"]+)"')
USES = re.compile(r'((?:\bid="|="#|url\(#))([^")]+)("|\))')
"""What Vega numbers on from one picture to the next of a process."""


def save(chart: alt.TopLevelMixin, path: str | Path) -> None:
    """Write a chart to a file, whole or not at all.

    Parameters
    ----------
    chart : altair.Chart
    path : path
        Its ending says the format: .svg, .png, .pdf, .html (in one piece, draws without a network), .json (Vega-Lite).

    Raises
    ------
    ParameterError
        The ending is none of these.
    DataError
        The folder does not exist, or the file is read-only.
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise ParameterError(
            argument="path", given=str(path), allowed=f"a name that ends in {', '.join(f'.{one}' for one in FORMATS)}"
        )
    with replacing(os.fspath(path)) as file:
        file.write(rendered(chart, suffix))


def _version() -> str | None:
    """Return the version of Vega-Lite that charts are written for; None: the newest."""
    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    return version if version in vl_convert.get_vegalite_versions() else None


def svg_of(spec: dict[str, Any]) -> str:
    """Return a chart, given as Vega-Lite reads it, as SVG; its ids are the same each time."""
    svg = str(vl_convert.vegalite_to_svg(spec, vl_version=_version()))
    names = {name: f"i{number}" for number, name in enumerate(dict.fromkeys(IDS.findall(svg)))}
    return USES.sub(lambda own: f"{own[1]}{names.get(own[2], own[2])}{own[3]}", svg)


def rendered(chart: alt.TopLevelMixin, form: str) -> bytes:
    """Return a chart in a format, as the bytes of a file.

    Parameters
    ----------
    chart : altair.Chart
    form : {"svg", "png", "pdf", "html", "json"}
        "html" is a page with the chart as SVG; the scripts in it draw it anew, with numbers under the mouse.
    """
    spec = chart.to_dict()
    text = json.dumps(spec, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if form == "json":
        return f"{text}\n".encode()
    version = _version()
    if form == "png":
        return bytes(vl_convert.vegalite_to_png(spec, vl_version=version, scale=SCALE))
    if form == "pdf":
        return bytes(vl_convert.vegalite_to_pdf(spec, vl_version=version))
    svg = svg_of(spec)
    if form == "svg":
        return svg.encode()
    libraries = vl_convert.javascript_bundle(LIBRARIES, vl_version=version)
    title = html.escape(" ".join(spec["title"]["text"])) if "title" in spec else "deadheat"
    # no </script> in a name ends the script
    return PAGE.format(title=title, svg=svg, libraries=libraries, spec=text.replace("<", "\\u003c")).encode()
