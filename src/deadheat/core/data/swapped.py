"""Whether qrels and run were given in the wrong order, as the numbers of dicts show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from deadheat.core.data.document_table import DocumentTable
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rows import MappingRows
from deadheat.core.data.run import Run
from deadheat.core.scalars import LARGEST_INTEGER

LOOKED = 1000  # numbers of a dict that are looked at, to see whether qrels and run are swapped
FEW = 10  # numbers that say nothing
HIGHEST = 4  # level of most judgments


def looks_swapped(qrels: Qrels, run: Run) -> bool:
    """Return whether dicts look swapped: many fractions as relevance, beside few scores that are small integers."""
    if not (isinstance(qrels.rows, MappingRows) and isinstance(run.rows, MappingRows)):
        return False
    sizes = [len(documents) for documents in islice(qrels.rows.mapping.values(), LOOKED)]
    others = [len(documents) for documents in islice(run.rows.mapping.values(), LOOKED)]
    if not (sizes and others) or sum(sizes) / len(sizes) <= 2 * sum(others) / len(others):
        return False  # not more judged than retrieved: usual, and seen without a look at the numbers
    relevance = [*_some_numbers(qrels.rows)]
    return are_levels(run) and sum(one % 1 != 0 for one in relevance) > len(relevance) / 2


def are_levels(table: DocumentTable) -> bool:
    """Return whether the numbers of a dict look like judgments: small whole ones, of which there are some."""
    numbers = [*_some_numbers(table.rows)] if isinstance(table.rows, MappingRows) else []
    return len(numbers) >= FEW and all(float(one).is_integer() and 0 <= one <= HIGHEST for one in numbers)


def _some_numbers(rows: MappingRows) -> Iterator[float]:
    some: Iterable[object] = chain.from_iterable(
        documents.values() for documents in islice(rows.mapping.values(), LOOKED)
    )
    return (
        float(one)
        for one in islice(some, LOOKED)
        if isinstance(one, int | float) and -LARGEST_INTEGER < one < LARGEST_INTEGER
    )
