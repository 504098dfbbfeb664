"""Run the scripts beside this file, and hold the figures of the docs against what they print: `make figures`.

A script is a file NAME.py here that prints Markdown, seeded, within about a minute. A page of docs/, or the README,
shows what it printed between two lines:

    <!-- figures: NAME, to 0.5 -->
    <!-- end of figures -->

A number of the page may differ by as much as the first line says (other versions and processors round differently);
all other text must be the same. `make figures FIGURES=--write` writes it anew, `FIGURES=NAME` runs one script.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PAGES = (HERE.parents[1] / "README.md", *sorted(HERE.parent.glob("*.md")), *sorted(HERE.parent.glob("guide/*.md")))
BLOCK = re.compile(
    r"(?P<start><!-- figures: (?P<name>\w+), to (?P<error>[\d.]+) -->\n)(?P<shown>.*?)(?P<end><!-- end of figures -->)",
    re.DOTALL,
)
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?|-?\.\d+")
ROUNDING = 1e-9  # 0.3 - 0.2 is more than 0.1


def main() -> int:
    """Return the exit code: 1 if a script fails, or a page shows other figures than it prints."""
    names = scripts()
    parser = argparse.ArgumentParser(prog="python docs/figures", description="Check the figures in the docs.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}; all by default")
    parser.add_argument("--write", action="store_true", help="write what the scripts print into the pages")
    options = parser.parse_args()
    if unknown := set(options.names) - set(names):
        parser.error(f"no such script: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    problems = [f"{page.name}: no script {name}.py" for page, name in shown_names() if name not in names]
    for name in options.names or names:
        done = subprocess.run([sys.executable, HERE / f"{name}.py"], stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            problems.append(f"{name}.py: exit code {done.returncode}")
            continue
        print(f"{name}\n\n{done.stdout}", flush=True)
        for page in PAGES:
            problems += written(page, name, done.stdout) if options.write else checked(page, name, done.stdout)
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if problems else 0


def scripts() -> list[str]:
    """Return the names of all scripts."""
    return sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))


def shown_names() -> list[tuple[Path, str]]:
    """Return each page with each name that it shows the figures of."""
    return [(page, match["name"]) for page in PAGES for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def checked(page: Path, name: str, printed: str) -> list[str]:
    """Return what a page shows otherwise than a script printed it."""
    blocks = [match for match in BLOCK.finditer(page.read_text(encoding="utf-8")) if match["name"] == name]
    return [
        f"{page.name}: {difference}; make figures FIGURES='--write {name}' writes it anew"
        for match in blocks
        if (difference := differs(match["shown"], printed, float(match["error"])))
    ]


def written(page: Path, name: str, printed: str) -> list[str]:
    """Put what a script printed between its lines on a page."""

    def renewed(match: re.Match[str]) -> str:
        return f"{match['start']}{printed}{match['end']}" if match["name"] == name else match[0]

    text = page.read_text(encoding="utf-8")
    if (new := BLOCK.sub(renewed, text)) != text:
        page.write_text(new, encoding="utf-8")
    return []


def differs(shown: str, printed: str, error: float) -> str:
    """Return the first difference of two texts, or an empty string; numbers may differ by `error`."""
    lines = [text.strip("\n").splitlines() for text in (shown, printed)]
    if len(lines[0]) != len(lines[1]):
        return f"{len(lines[0])} lines are shown, {len(lines[1])} were printed"
    for one, other in zip(*lines, strict=True):
        numbers = [[float(number.replace(",", "")) for number in NUMBER.findall(line)] for line in (one, other)]
        near = len(numbers[0]) == len(numbers[1]) and all(
            abs(a - b) <= error + ROUNDING for a, b in zip(*numbers, strict=True)
        )
        if not near or NUMBER.sub("#", one) != NUMBER.sub("#", other):
            return f"{one!r} is shown, {other!r} was printed"
    return ""


if __name__ == "__main__":
    sys.exit(main())
