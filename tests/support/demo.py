"""The data that come with the package."""

from pathlib import Path

import deadheat as dh

DEMO = Path(dh.__file__).parent / "core" / "demo"
BENCH = ["bench", str(DEMO / "phrases.csv"), "--collection", str(DEMO / "documents.csv"), "--n-resamples", "200"]
