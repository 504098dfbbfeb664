"""The docstring of a measure, taken apart for its page."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deadheat.report.formula import readable

if TYPE_CHECKING:
    from deadheat.measures import Measure

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
MATH = re.compile(r"^\.\. math::[ \t]*((?:.+\n?)(?:[ \t]+\S.*\n?)*|\n+(?:[ \t]+\S.*\n?)+)", re.MULTILINE)


@dataclass(frozen=True)
class Doc:
    """What a docstring says.

    Attributes
    ----------
    summary : str
    formulas : tuple of str
        As plain text.
    text : tuple of str
        The paragraphs below the summary, without the formulas.
    references : str
    """

    summary: str
    formulas: tuple[str, ...]
    text: tuple[str, ...]
    references: str


def read_doc(measure: type[Measure]) -> Doc:
    """Return the parts of a measure's docstring."""
    lead, *sections = SECTION.split(inspect.cleandoc(measure.__doc__ or "") + "\n")
    named = dict(zip(sections[::2], sections[1::2], strict=True))
    formulas = tuple(readable(found) for found in MATH.findall(lead))
    summary, *text = [part for part in re.split(r"\n{2,}", MATH.sub("", lead).strip()) if part.strip()]
    return Doc(plain(summary), formulas, tuple(map(plain, text)), plain(named.get("References", "")))


def plain(text: str) -> str:
    r"""Return reStructuredText as a plain paragraph.

    Examples
    --------
    >>> plain(r"with :math:`C_k` of ``rel`` or more; as `RR`")
    'with C_k of rel or more; as RR'
    """
    text = re.sub(r":math:`([^`]*)`", lambda found: readable(found[1]), text)
    text = re.sub(r":\w+:`~?([^`]*)`", r"\1", text)
    return " ".join(text.replace("``", "").replace("`", "").split())
