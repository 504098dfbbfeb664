"""Draw the pictures of the docs anew, from the runs that come with the package: python docs/pictures/draw.py."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import deadheat as dh

HERE = Path(__file__).parent
DEMO = Path(dh.__file__).parent / "core" / "demo"


def main() -> None:
    """Draw each."""
    qrels, runs = DEMO / "qrels.human.txt.gz", sorted(DEMO.glob("*.run.gz"))
    compared = dh.compare(qrels, runs, ["nDCG@10", "RR"])
    coarse = DEMO / "TREMA-CoT.run.gz"
    profile = dh.tie_profile(coarse, qrels, measures=["RR", "Hit@3"])
    two = {name: compared.evaluations[name] for name in ("willia-umbrela1", "TREMA-CoT")}
    charts: dict[str, Any] = {
        "forest": compared.plot("forest"),
        "ranks": compared.plot("ranks"),
        "differences": compared.plot("differences", system="willia-umbrela1", baseline="TREMA-CoT"),
        "scatter": compared.plot("scatter", system="willia-umbrela1", baseline="TREMA-CoT"),
        "matrix": compared.plot("matrix"),
        "cutoffs": dh.figures.cutoffs(two),
        "power": compared.plot("power", system="willia-umbrela1", baseline="TREMA-CoT"),
        "largest_tie": profile.plot("largest_tie"),
        "tie_histogram": profile.plot("tie_histogram"),
    }
    charts["clinician"] = of_clinician()
    for name, chart in charts.items():
        dh.figures.save(chart, HERE / f"{name}.svg")
        svg = (HERE / f"{name}.svg").read_text(encoding="utf-8")
        if name != "matrix":  # whose text is on cells of many colours
            (HERE / f"{name}.svg").write_text(themed(svg, "@media(prefers-color-scheme:dark){{{}}}"), encoding="utf-8")
        if name == "forest":  # for the README, where a reader chooses the theme
            (HERE / f"{name}-light.svg").write_text(svg, encoding="utf-8")
            (HERE / f"{name}-dark.svg").write_text(themed(svg, "{}"), encoding="utf-8")


def themed(svg: str, when: str) -> str:
    """Return a picture with a dark theme, which has the colours of the page of deadheat report."""
    sheet = (Path(dh.__file__).parent / "report/templates/document.css").read_text(encoding="utf-8")
    rules = list[str]()
    for light, dark in re.findall(r"--fig-(\w+):(#\w+)", sheet):
        colour = light if light in {"white", "black"} else f"#{light}"
        parts = [part for part in ("fill", "stroke") if f'{part}="{colour}"' in svg.lower()]
        rules += [f'[{part}="{colour}" i]{{{part}:{dark}}}' for part in parts]
    return re.sub(r"(<svg[^>]*>)", rf"\1<style>{when.format(''.join(rules))}</style>", svg, count=1)


def of_clinician() -> object:
    """Return the forest plot of the page for clinicians, from the files that the page shows."""
    page = (HERE.parent / "for" / "clinician.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in re.findall(r"```\{code-block\} text\n:caption: (\S+)\n(.*?)```", page, re.DOTALL):
            Path(folder, name).write_text(text, encoding="utf-8")
        cases, terms, names = (str(Path(folder, name)) for name in ("phrases.csv", "small.obo", "small-de.tsv"))
        found = dh.bench(cases, terms, ["bm25", "string"], "RR", texts=names)
        return found.plot("forest")


if __name__ == "__main__":
    main()
