"""The documentation as a site: it builds without a warning, needs no network, and what is looked for is found.

It is built where Sphinx is: `make docs` installs it (the extra docs).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from support.paths import ROOT, SOURCE

BUILDERS = ("furo", "latex2mathml", "myst_parser", "numpydoc", "sphinx")
MISSING = [name for name in BUILDERS if find_spec(name) is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} not installed: make docs installs the extra docs"),
]
BUILT = ROOT / "build" / "docs" / ".whole"  # the last that `make docs` writes
QUESTIONS = {
    "nDCG ties": "guide/why",
    "langchain": "from/langchain",
    "tie_std": "guide/start",
    "reproduce trec_eval number": "guide/moving",
    "fail a build": "for/rag",
    "gate": "guide/gate",
    "interval test": "statistics",
}


class Page(HTMLParser):
    """What a page links to, what it loads, and the anchors that it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in {"script", "img", "iframe", "source"} and "src" in given:
            self.loaded.append(given["src"])
        elif tag == "link" and given.get("rel") in {"stylesheet", "preload", "icon", "prefetch"}:
            self.loaded.append(given["href"])


def is_built() -> bool:
    """Tell whether `make docs` has gone to its end since the last change."""
    sources = [ROOT / "bench" / "RESULTS.md", *(ROOT / "docs").rglob("*"), *SOURCE.rglob("*")]
    made = {ROOT / "docs" / "made", *(ROOT / "docs" / "made").rglob("*")}
    return BUILT.is_file() and all(
        one.stat().st_mtime < BUILT.stat().st_mtime
        for one in sources
        if one.is_file() and one not in made and one.suffix != ".pyc"
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Take what `make docs` has built of these sources, or build it, from a copy: pages are made in it."""
    if is_built():
        return BUILT.parent
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("made"))
    shutil.copytree(ROOT / "tests" / "support", folder / "tests" / "support")
    (folder / "bench").mkdir()
    shutil.copy(ROOT / "bench" / "RESULTS.md", folder / "bench")
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "-b", "html"]
    command += ["-d", str(folder / "doctrees"), str(folder / "docs"), str(folder / "html")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


@cache
def page(path: Path) -> Page:
    return Page(path)


def test_links_inside_lead_to_what_is_there(site: Path) -> None:
    broken = []
    n_links = 0
    for path in site.rglob("*.html"):
        for link in page(path).links:
            url = urlsplit(link)
            assert url.scheme != "mailto", f"{path}: {link}"  # nDCG@10 is no address
            if url.scheme or url.netloc:
                continue
            n_links += 1
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            lacks_anchor = url.fragment and target.suffix == ".html" and target.is_file()
            if not target.is_file() or (lacks_anchor and unquote(url.fragment) not in page(target).anchors):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert n_links > 1000
    assert not broken


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        outside = [url for url in page(path).loaded if urlsplit(url).scheme or urlsplit(url).netloc]
        assert not outside, path
        assert all((path.parent / urlsplit(url).path).resolve().is_file() for url in page(path).loaded), path
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert not re.search(r"url\([\"']?(https?:)?//|@import", text), style


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_search_finds_the_page(site: Path, question: str) -> None:
    """By the index that the search reads: a script beside the page, so that it works from file://."""
    stem = pytest.importorskip("snowballstemmer").stemmer("english").stemWord
    index = json.loads((site / "searchindex.js").read_text(encoding="utf-8").removeprefix("Search.setIndex(")[:-1])
    found: list[Counter[int]] = []
    for word in re.findall(r"\w\w+", question.lower()):
        pages = Counter(_listed(index["terms"].get(stem(word), [])))
        found.append(pages + Counter(_listed(index["titleterms"].get(stem(word), [])) * 3))
    in_all = set.intersection(*(set(pages) for pages in found))
    ranked = sorted(in_all, key=lambda one: -sum(pages[one] for pages in found))
    assert QUESTIONS[question] in [index["docnames"][one] for one in ranked]


def _listed(pages: int | list[int]) -> list[int]:
    return [pages] if isinstance(pages, int) else pages


def test_formulas_are_drawn_by_the_browser(site: Path) -> None:
    assert (site / "math.html").read_text(encoding="utf-8").count("<math") >= 50
    pages = (path.read_text(encoding="utf-8") for path in (site / "made" / "measures").glob("*.html"))
    assert sum("<math" in one for one in pages) >= 30
