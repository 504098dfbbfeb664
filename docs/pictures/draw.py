"""Draw the pictures of the docs anew, from the runs that come with the package: python docs/pictures/draw.py."""

from __future__ import annotations

from pathlib import Path

import deadheat as dh

HERE = Path(__file__).parent
DEMO = Path(dh.__file__).parent / "demo"


def main() -> None:
    """Draw each."""
    qrels, runs = DEMO / "qrels.human.txt.gz", sorted(DEMO.glob("*.run.gz"))
    compared = dh.compare(qrels, runs, ["nDCG@10", "RR"])
    coarse = DEMO / "TREMA-CoT.run.gz"
    profile = dh.tie_profile(coarse, qrels, measures=["RR", "Hit@3"])
    two = {name: compared.evaluations[name] for name in ("willia-umbrela1", "TREMA-CoT")}
    charts = {
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
    for name, chart in charts.items():
        dh.figures.save(chart, HERE / f"{name}.svg")


if __name__ == "__main__":
    main()
