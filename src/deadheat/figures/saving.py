"""Charts as files: SVG, PNG, PDF, HTML in one piece, Vega-Lite JSON, by the ending of the name."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from deadheat.errors import ParameterError
from deadheat.io.writing import replacing

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
    content = rendered(chart, format_of(path))
    with replacing(os.fspath(path)) as file:
        file.write(content)


def format_of(path: str | Path) -> str:
    """Return the format that the ending of a name says."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise ParameterError(
            argument="path", given=str(path), allowed=f"a name that ends in {', '.join(f'.{one}' for one in FORMATS)}"
        )
    return suffix


def rendered(chart: alt.TopLevelMixin, form: str) -> bytes:
    """Return a chart in a format, as the bytes of a file.

    Parameters
    ----------
    chart : altair.Chart
    form : {"svg", "png", "pdf", "html", "json"}
    """
    return FORMATS[form](chart.to_dict())


def _json(spec: dict[str, Any]) -> bytes:
    return (json.dumps(spec, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n").encode()


def _svg(spec: dict[str, Any]) -> bytes:
    svg = str(vl_convert.vegalite_to_svg(spec, vl_version=_version()))
    names = {name: f"i{number}" for number, name in enumerate(dict.fromkeys(IDS.findall(svg)))}
    return USES.sub(lambda own: f"{own[1]}{names.get(own[2], own[2])}{own[3]}", svg).encode()


def _png(spec: dict[str, Any]) -> bytes:
    return bytes(vl_convert.vegalite_to_png(spec, vl_version=_version(), scale=SCALE))


def _pdf(spec: dict[str, Any]) -> bytes:
    return bytes(vl_convert.vegalite_to_pdf(spec, vl_version=_version()))


def _html(spec: dict[str, Any]) -> bytes:
    """Return a page with the chart as SVG; the scripts in it draw it anew, with numbers under the mouse."""
    # no </script> in a name ends the script
    text = json.dumps(spec, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    libraries = vl_convert.javascript_bundle(LIBRARIES, vl_version=_version())
    title = html.escape(" ".join(spec["title"]["text"])) if "title" in spec else "deadheat"
    return PAGE.format(title=title, svg=_svg(spec).decode(), libraries=libraries, spec=text).encode()


def _version() -> str | None:
    """Return Altair's version of Vega-Lite if vl-convert has it too; None: its newest."""
    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    return version if version in vl_convert.get_vegalite_versions() else None


FORMATS: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "svg": _svg,
    "png": _png,
    "pdf": _pdf,
    "html": _html,
    "json": _json,
}
