"""The guide is true: what its pages show is what a reader gets who does all that they say."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support.pages import FILE, Reader
from support.paths import ROOT

pytestmark = pytest.mark.slow  # a command is a process of its own, and pages have many

DOCS = ROOT / "docs"
FOUND = [
    DOCS / "index.md",
    DOCS / "agents.md",
    *(path for folder in ("for", "de", "guide") for path in (DOCS / folder).glob("*.md")),
]
PAGES = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in FOUND}
READERS = ("agents-and-conversations", "clinician", "judges", "paper", "rag", "recommender", "search", "training")


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted(PAGES))
def test_a_page_shows_what_a_reader_gets(page: str, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    assert reader.read(PAGES[page]) == PAGES[page]
    assert reader.n_done >= 2


def test_a_file_that_a_command_wrote_is_compared_with_what_a_page_shows(tmp_path: Path) -> None:
    page = """
```{code-block} text
:caption: a.run

q1 Q0 d1 1 0.9 new
q1 Q0 d2 2 0.5 new
```

```{code-block} text
:caption: a.qrels

q1 0 d2 1
```

```console
$ deadheat holes a.qrels a.run -m RR --judge to-judge.csv -o holes.txt
```

```{code-block} text
:caption: to-judge.csv

query_id,doc_id,relevance,weight,rank a
q1,d1,2,WEIGHT,1
```
"""
    right = page.replace("WEIGHT", "0.5")
    assert Reader(tmp_path / "right").read(right) == right  # what somebody filled in is theirs
    assert Reader(tmp_path / "wrong").read(page.replace("WEIGHT", "0.4")) == right


@pytest.mark.parametrize("name", READERS)
def test_a_page_goes_from_what_a_reader_holds_to_what_they_share(name: str) -> None:
    headings = re.findall(r"^## (.*)$", PAGES[f"for/{name}.md"], flags=re.MULTILINE)
    assert headings[0] == "What you hold"
    assert headings[-1] == "What you share"


def test_every_reader_has_a_page() -> None:
    assert {f"for/{name}.md" for name in READERS} == {page for page in PAGES if page.startswith("for/")}


def test_the_workflow_of_the_page_for_rag_runs(tmp_path: Path) -> None:
    """Its steps, but for those that need GitHub, in the folder that the page makes."""
    yaml = pytest.importorskip("yaml")
    page = PAGES["for/rag.md"]
    Reader(tmp_path).read(page)
    (text,) = [found["code"] for found in FILE.finditer(page) if found["name"].startswith(".github/workflows/")]
    ran = []
    for step in yaml.safe_load(text)["jobs"]["retrieval"]["steps"]:
        program, *arguments = shlex.split(step.get("run", "none"), comments=True)
        if program in {"python", "deadheat"}:
            module = [] if program == "python" else ["-m", program]
            subprocess.run([sys.executable, *module, *arguments], cwd=tmp_path, check=True)
            ran.append(program)
    assert ran == ["python", "deadheat"]
    assert (tmp_path / "gates.md").read_text(encoding="utf-8").count("passed") >= 4
