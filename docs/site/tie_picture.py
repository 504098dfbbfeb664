"""The picture of *Why ties matter*: what the order of equal scores alone makes of the demo's systems."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

import deadheat as dh

DATA = Path(dh.__file__).parent / "core" / "demo"
SYSTEMS = ("willia-umbrela1", "Olz-gpt4o", "TREMA-CoT", "NISTRetrieval-instruct0")
MEASURE = "nDCG@10"
LEFT, WIDTH, ROW, TOP = 20, 380, 52, 66  # of the drawing, in pixels: narrow, so that a telephone shows its text
BLUE, ORANGE, GREY = "#1d5c99", "#b65a00", "#767676"


def picture() -> str:
    """Return an SVG: of each system the range over orders, the exact mean, and by document id, as trec_eval."""
    qrels = dh.read_qrels(DATA / "qrels.human.txt.gz")
    runs = {name: dh.read_run(DATA / f"{name}.run.gz") for name in SYSTEMS}
    exact = dh.evaluate(qrels, runs, MEASURE)
    by_id = dh.evaluate(qrels, runs, MEASURE, ties="doc_id")
    bottom = TOP + ROW * len(SYSTEMS)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="560" viewBox="0 0 420 {bottom + 40}">',
        "<style>text { font: 13px sans-serif; }</style>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        *_legend(),
        *_axis(bottom),
    ]
    for row, name in enumerate(SYSTEMS):
        scores, rule = exact[name][MEASURE], by_id[name].means()[MEASURE]
        y = TOP + ROW * row + 30
        low, mean, high, trec = map(_x, (scores.mean_tie_min, scores.mean, scores.mean_tie_max, rule))
        parts += [
            f'<text x="{LEFT}" y="{y - 14}" fill="#222222">{escape(name)}</text>',
            f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" stroke="{GREY}" stroke-width="3"/>',
            f'<line x1="{trec:.1f}" x2="{trec:.1f}" y1="{y - 9}" y2="{y + 9}" stroke="{ORANGE}" stroke-width="3"/>',
            f'<circle cx="{mean:.1f}" cy="{y}" r="5.5" fill="{BLUE}"/>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def _x(value: float) -> float:
    return LEFT + WIDTH * value


def _legend() -> list[str]:
    return [
        f'<line x1="20" x2="44" y1="16" y2="16" stroke="{GREY}" stroke-width="3"/>',
        '<text x="52" y="20" fill="#222222">all orders of equal scores</text>',
        f'<circle cx="32" cy="38" r="5.5" fill="{BLUE}"/>',
        '<text x="52" y="42" fill="#222222">exact mean</text>',
        f'<line x1="218" x2="218" y1="29" y2="47" stroke="{ORANGE}" stroke-width="3"/>',
        '<text x="228" y="42" fill="#222222">by document id, as trec_eval</text>',
    ]


def _axis(bottom: float) -> list[str]:
    parts = []
    for tenth in range(0, 11, 2):
        x = _x(tenth / 10)
        parts += [
            f'<line x1="{x}" x2="{x}" y1="{TOP - 8}" y2="{bottom}" stroke="#dddddd"/>',
            f'<text x="{x}" y="{bottom + 16}" text-anchor="middle" fill="#222222">{tenth / 10:g}</text>',
        ]
    return [*parts, f'<text x="{_x(0.5)}" y="{bottom + 34}" text-anchor="middle" fill="#222222">{MEASURE}</text>']
