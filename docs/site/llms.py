"""docs/llms.txt, which tells language models what the pages of the site are about: each with its first sentence.

python docs/site/llms.py    # renews it
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parents[1]
HEAD = """# deadheat

> A Python library and command line that evaluates rankings (search, RAG, rerankers, recommenders) and is exact when
> scores tie: the mean over all orders of equal scores, its range, intervals, tests, and gates for CI.

Install: `pip install .` in a clone of the repository, until the package is published. Use:
`deadheat evaluate QRELS RUN... --format json`. Programs read `--format json`, whose keys `deadheat schema COMMAND`
describes, and exit codes: 0 done, 1 a gate failed, 2 usage, 3 bad data, 70 a bug.
"""
TREE = re.compile(r"^```\{toctree\}\n:caption: (?P<group>.+?)\n(?P<rest>.*?)^```$", re.DOTALL | re.MULTILINE)
PAGE = re.compile(r"^(?:(?P<title>[^:\n<]+?) <(?P<named>[\w/-]+)>|(?P<plain>[\w/-]+))$", re.MULTILINE)


def text() -> str:
    """Return the file: the pages in the order and the groups of the sidebar."""
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    groups = (f"\n## {tree['group']}\n\n{''.join(_lines(tree['rest']))}" for tree in TREE.finditer(index))
    return HEAD + "".join(groups)


def _lines(rest: str) -> Iterator[str]:
    for found in PAGE.finditer(rest):
        path = found["named"] or found["plain"]
        page = DOCS / f"{path}.md"
        written = page.read_text(encoding="utf-8") if page.is_file() and not path.startswith("made/") else ""
        heading, _, body = written.partition("\n")
        paragraphs = (one for one in body.split("\n\n") if re.match(r"\s*[A-Z*]", one))
        first = re.split(r"(?<=[.:?]) |\n", next(paragraphs, "").strip())[0].replace("**", "")
        first = re.sub(r"\[(.+?)\]\(.*?\)", r"\1", first)
        link = f"- [{found['title'] or heading.lstrip('# ')}]({path}.html)"
        yield f"{link}: {first}\n" if first else f"{link}\n"


if __name__ == "__main__":
    (DOCS / "llms.txt").write_text(text(), encoding="utf-8")
