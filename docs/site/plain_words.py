"""Words in docstrings that reStructuredText takes for something else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from pygments.lexers.special import TextLexer

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def initials(*event: Any) -> None:  # noqa: ANN401 - what autodoc-process-docstring sends
    """Keep a reference that begins with an initial, as in "B. Efron", from being read as item B of a list."""
    lines: list[str] = event[-1]
    lines[:] = [re.sub(r"^(\s*)([A-Z])\. ", r"\1\2\\. ", line) for line in lines]


def measures(app: Sphinx, doctree: nodes.document) -> None:  # noqa: ARG001 - Sphinx calls it so
    """Keep nDCG@10 from being an address to write to."""
    for link in list(doctree.findall(nodes.reference)):
        if link.get("refuri", "").startswith("mailto:"):
            link.replace_self(nodes.Text(link.astext()))


def setup(app: Sphinx) -> dict[str, Any]:
    """Mend docstrings before numpydoc reads them, and pages after they were read."""
    app.add_lexer("letor", TextLexer)  # the tests read what such a block holds
    app.connect("autodoc-process-docstring", initials, priority=1)
    app.connect("doctree-read", measures)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
