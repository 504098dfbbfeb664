"""Sums down to each rank of ideal rankings."""

from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.segments import scan_before


@dataclass(frozen=True, eq=False)
class IdealSums:
    """Sums down to each rank of the ideal rankings, which list some or all judgments.

    Attributes
    ----------
    query, sums : ndarray of shape (n_rows,)
    starts, sizes : ndarray of shape (n_queries,)
        First row and number of rows of each query.
    """

    query: IntArray
    sums: FloatArray
    starts: IntArray
    sizes: IntArray

    @classmethod
    def of(cls, query: IntArray, values: FloatArray, n_queries: int) -> "IdealSums":
        """Add up the values of the ranks, those of each query after those of the one before."""
        sizes = np.bincount(query, minlength=n_queries)
        return cls(query, scan_before(values, query, np.add) + values, np.cumsum(sizes) - sizes, sizes)

    def at(self, rank: IntArray, query: IntArray) -> FloatArray:
        """Return the sums down to some ranks, or to the end of the ranking, of queries that have one."""
        return self.sums[self.starts[query] + np.minimum(rank, self.sizes[query]) - 1]
