"""Whether qrels and run were given in the wrong order, as the numbers of dicts show."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, islice

from deadheat.core.data.document_table import DocumentTable
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rows import MappingRows
from deadheat.core.data.run import Run
from deadheat.core.scalars import LARGEST_INTEGER

MAX_SAMPLE = 1000  # queries of a dict, and numbers of these, that are looked at
FEWEST_NUMBERS = 10  # fewer say nothing
HIGHEST_LEVEL = 4  # of most judgments


def looks_swapped(qrels: Qrels, run: Run) -> bool:
    """Tell whether dicts look swapped: many fractions as relevance, and as scores a few small whole numbers."""
    if not (isinstance(qrels.rows, MappingRows) and isinstance(run.rows, MappingRows)):
        return False
    n_judged = _mean_size(qrels.rows)
    n_retrieved = _mean_size(run.rows)
    if n_judged <= 2 * n_retrieved:
        return False  # the usual case, seen without a look at the numbers
    relevance = _sample_numbers(qrels.rows)
    n_fractions = sum(number % 1 != 0 for number in relevance)
    return n_fractions > len(relevance) / 2 and are_levels(run)


def are_levels(table: DocumentTable) -> bool:
    """Tell whether the numbers of a dict look like judgments: small whole numbers, and not just a few."""
    if not isinstance(table.rows, MappingRows):
        return False
    numbers = _sample_numbers(table.rows)
    if len(numbers) < FEWEST_NUMBERS:
        return False
    return all(number.is_integer() and 0 <= number <= HIGHEST_LEVEL for number in numbers)


def _mean_size(rows: MappingRows) -> float:
    """Return how many documents the first queries have on average; 0 without a query."""
    sizes = [len(documents) for documents in islice(rows.mapping.values(), MAX_SAMPLE)]
    if not sizes:
        return 0.0
    return sum(sizes) / len(sizes)


def _sample_numbers(rows: MappingRows) -> list[float]:
    """Return the first numbers of some queries; without values that are no numbers, which are refused later."""
    documents_of_queries = islice(rows.mapping.values(), MAX_SAMPLE)
    values: Iterable[object] = chain.from_iterable(documents.values() for documents in documents_of_queries)
    numbers = []
    for value in islice(values, MAX_SAMPLE):
        if isinstance(value, int | float) and -LARGEST_INTEGER < value < LARGEST_INTEGER:
            numbers.append(float(value))
    return numbers
