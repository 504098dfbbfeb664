"""What is compared beside the systems of a comparison, where the table of queries has a column for it.

A plugin states the column and a module with two functions, ``find(comparison, queries)``, which returns a `Companion`
or None, and ``tell_absent(comparison, queries)``, which returns facts that say why there is none. The column
``pair_id``, for one, says which queries are the same in several languages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from deadheat.core import hooks
from deadheat.core.data.queries import Queries
from deadheat.core.data.renderable import Plottable
from deadheat.core.report.model import Fact, Report, Table, note_fact
from deadheat.plugins.compare.comparison import Comparison


@dataclass(frozen=True)
class Section:
    """What a page says of a companion.

    Attributes
    ----------
    heading : str
    verdict : sequence of str
        Sentences.
    tables : sequence of Table
    n_open : int
        How many tables are not folded.
    facts : sequence of Fact
    """

    heading: str
    verdict: Sequence[str]
    tables: Sequence[Table]
    n_open: int
    facts: Sequence[Fact]


class Companion(Protocol):
    """Something that is compared beside systems.

    Attributes
    ----------
    key : str
        Its short name, which its section of a page has as id.
    name : str
        What its queries are called, where there are several sets of them.
    subject : Plottable
        What figures are drawn of.
    measure : str
        Which figures of a page are of; empty if there is nothing to draw.
    """

    @property
    def key(self) -> str: ...  # noqa: D102 - above

    @property
    def name(self) -> str: ...  # noqa: D102 - above

    @property
    def subject(self) -> Plottable: ...  # noqa: D102 - above

    @property
    def measure(self) -> str: ...  # noqa: D102 - above

    def extend(self, report: Report, margin: float | None, *, for_people: bool) -> Report:
        """Return the report of the comparison with the tables and facts of the companion."""

    def section(self, margin: float | None) -> Section:
        """Return what a page says of it."""


def find_companions(comparison: Comparison, queries: Queries) -> list[Companion]:
    """Return what can be compared beside the systems of a comparison."""
    found = []
    for module in hooks.load_modules_for_queries(queries.columns):
        companion: Companion | None = module.find(comparison, queries)
        if companion is not None:
            found.append(companion)
    return found


def tell_absent(comparison: Comparison, queries: Queries) -> list[Fact]:
    """Say what is not compared although the table of queries has a column for it, and why."""
    facts: list[Fact] = []
    for module in hooks.load_modules_for_queries(queries.columns):
        facts += module.tell_absent(comparison, queries)
    facts += [note_fact("not compared", text) for text in hooks.describe_missing_for_queries(queries.columns)]
    return facts
