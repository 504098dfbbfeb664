"""The variance over tie orders of the gain of a user who stops, as in ERR.

docs/math.md, section 9. The gain of a group is a sum over its *stoppers*, the documents that can stop the user:
w(T_a) Z_a, with T_a the rank of the a-th stopper and Z_a the probability of stopping just there. The order of the
stoppers and the ranks that they take are independent. So the second moment is a sum over pairs of stoppers of a mean
over their order (:func:`find_stop_moments`) times a mean over their ranks (:func:`find_gain_moments`). Stoppers are
numbered from 0 here, so that a is how many are above stopper a.
"""

from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.errors import MeasureError
from deadheat.core.kernels.cascade import Groups, announce_duration, batch_groups, count_documents_read

# The tables hold means over the choices of a documents, b others, and one or two *marked* ones: of the product of q^2
# over the a, of q over the b, and of a factor for each marked one
READ = 0  # none is marked
LATE = 1  # s of one: the later stopper of a pair, or a stopper by itself
EARLY = 2  # s q of one: the earlier stopper of a pair, where one user stops and the other reads on
BOTH = 3  # s q of one and s of another: the pair
N_TABLES = 4
# Numbers of marked documents, each with the tables that have so many
MARKED = ((0, slice(READ, LATE)), (1, slice(LATE, BOTH)), (2, slice(BOTH, N_TABLES)))

MAX_TABLE = 1 << 28  # cells of the tables of one group: 2 GB, and about as much again while a document is added
FEWEST_ALIKE = 64  # documents from which it is worth taking them together
MAX_DEVIATION = 4.0  # sum of squared deviations of q^2 up to which documents are taken together
# Powers of the deviations in the expansion: those beyond are below 1e-24, (e MAX_DEVIATION / DEGREE)^(DEGREE / 2)
DEGREE = 64
NEGLIGIBLE_CHANCE = 1e-25  # of a number of stoppers above a rank


@dataclass(frozen=True)
class PairTables:
    """Means over the choices of documents from a group: tables with a row for each a and a column for each b, from 0.

    Attributes
    ----------
    tables : ndarray of shape (4, b, n_early, n_late)
        The four tables READ, LATE, EARLY and BOTH by group, a and b.
    twice : ndarray of shape (b, n_early)
        The mean of the product of q^2 over a documents and s^2 of one more: the same stopper in both factors.
    """

    tables: FloatArray
    twice: FloatArray


def variance(groups: Groups, *, weights: FloatArray) -> FloatArray:
    """Return the variance of the gain of a user who arrives at each group.

    Parameters
    ----------
    groups, weights
        As for :func:`deadheat.core.kernels.cascade.mean`.

    Returns
    -------
    ndarray of shape (n_groups,)

    Raises
    ------
    MeasureError
        If the tables of a group need more than 2 GB.
    """
    part = np.zeros(len(groups.tied))
    n_stoppers = groups.n_listed
    if groups.plain_stop:
        n_stoppers = n_stoppers + groups.n_plain
    n_late, n_early = _count_stoppers_read(groups, n_stoppers)
    n_cells = N_TABLES * n_late * n_early
    n_alike = count_alike(groups, n_late * n_early)
    _refuse_huge_tables(n_cells)
    announce_duration(n_cells, groups.n_listed - n_alike, "spread")
    is_added_one_by_one = (n_late > 0) & (n_alike == 0)
    batches_of_groups = batch_groups(groups.inside * is_added_one_by_one, groups.n_listed, n_cells)
    single_groups = np.flatnonzero(n_alike)[:, None]
    for index in chain(batches_of_groups, single_groups):
        most_late = int(n_late[index].max())
        most_early = int(n_early[index].max())
        stop_mean, stop_pairs = find_stop_moments(groups, index, (most_early, most_late), int(n_alike[index[0]]))
        gain_mean, gain_pairs = find_gain_moments(groups, index, n_stoppers[index], most_late, weights)
        mean = (stop_mean * gain_mean).sum(axis=1)
        second_moment = (stop_pairs * gain_pairs[:, :most_early]).sum(axis=(1, 2))
        part[index] = np.maximum(second_moment - mean**2, 0.0)
    return part


def _count_stoppers_read(groups: Groups, n_stoppers: IntArray) -> tuple[IntArray, IntArray]:
    """Return how many stoppers of a group are read, and how many of them can be the earlier one of a pair.

    The earlier one and all above count in both factors, so that their products decay twice as fast. Both numbers are
    0 for a group without variance.
    """
    limit = np.where(_have_variance(groups), np.minimum(groups.inside, n_stoppers), 0)
    documents_a_stopper = groups.tied / np.maximum(n_stoppers, 1)  # turns a mean over documents into one over stoppers
    s, plain_s = groups.stop, groups.plain_stop
    squared = replace(groups, stop=s * (2 - s), plain_stop=plain_s * (2 - plain_s))  # q^2 in place of q: 1 - q^2
    n_late = count_documents_read(limit, groups.mean_stop() * documents_a_stopper)
    n_early = count_documents_read(limit, squared.mean_stop() * documents_a_stopper)
    return n_late, n_early


def _have_variance(groups: Groups) -> BoolArray:
    """Return which groups hold documents of different stop probabilities.

    The others get a variance of 0, not a rounding error.
    """
    is_change = np.diff(groups.stop, append=0.0) != 0  # from a row to the next one
    n_changes_above = np.append(0, np.cumsum(is_change))
    last_listed = groups.first_listed + groups.n_listed - 1
    differ = n_changes_above[last_listed] != n_changes_above[groups.first_listed]
    is_mixed = differ | (groups.n_plain > 0)
    return is_mixed & (groups.n_listed > 0) & (groups.tied > 1) & (groups.inside > 0)


def _refuse_huge_tables(n_cells: IntArray) -> None:
    """Raise an error if the tables of a group do not fit into memory."""
    most = int(n_cells.max(initial=0))
    if most > MAX_TABLE:
        raise MeasureError(
            f"the spread of a tie whose documents hardly ever stop the reading needs {most * 8 / 1e9:.0f}"
            f" GB (allowed: {MAX_TABLE * 8 / 1e9:.0f})",
            hint="cut the measure at a rank, such as @100; its mean needs no tables",
        )


def find_stop_moments(
    groups: Groups, index: IntArray, shape: tuple[int, int], n_alike: int
) -> tuple[FloatArray, FloatArray]:
    """Return the means over the order of the stoppers.

    Parameters
    ----------
    groups : Groups
    index : ndarray of shape (b,)
        Groups; only one if `n_alike` is not 0.
    shape : tuple of int
        n_early and n_late: how many stoppers can be the earlier and the later one of a pair.
    n_alike : int
        Listed documents that are taken together, of :func:`count_alike`.

    Returns
    -------
    mean : ndarray of shape (b, n_late)
        E[Z_a].
    pairs : ndarray of shape (b, n_early, n_late)
        E[Z_a Z_a'], doubled above the diagonal, for both orders of the pair, and 0 below it.
    """
    n_early, n_late = shape
    if n_alike:
        filled = _fill_tables_one_group(groups, int(index[0]), shape, n_alike)
    else:
        n_listed = groups.n_listed[index]
        n_plain = groups.n_plain[index] if groups.plain_stop else np.zeros(len(index), np.int64)
        stop = groups.pad_stops(index, int(n_listed.max()))
        filled = _add_documents(_tables_of_plain(n_plain, groups.plain_stop, shape), stop, n_listed, n_plain)
    pairs = np.zeros((len(index), n_early, n_late))
    for early in range(n_early):
        pairs[:, early, early] = filled.twice[:, early]
        pairs[:, early, early + 1 :] = 2 * filled.tables[BOTH, :, early, : n_late - early - 1]
    return filled.tables[LATE, :, 0], pairs


def _tables_of_plain(n_plain: IntArray, plain_stop: float, shape: tuple[int, int]) -> PairTables:
    """Return the tables of plain documents alone, of which there are `n_plain`, of shape (b,)."""
    s, q = plain_stop, 1 - plain_stop
    a, b = np.arange(shape[0])[:, None], np.arange(shape[1])
    n = n_plain[:, None, None]
    read = np.where(a + b <= n, q ** (2 * a + b), 0.0)
    with_one_more = np.where(a + b < n, read, 0.0)
    both = np.where(a + b + 1 < n, read * s * s * q, 0.0)
    tables = np.stack([read, with_one_more * s, with_one_more * s * q, both])
    return PairTables(tables, with_one_more[:, :, 0] * s * s)


def _add_documents(start: PairTables, stop: FloatArray, n_listed: IntArray, n_before: IntArray) -> PairTables:
    """Return the tables with the listed documents of each group, added one by one.

    Parameters
    ----------
    start : PairTables
        Changed in place.
    stop : ndarray of shape (b, n_steps)
    n_listed, n_before : ndarray of shape (b,)
        Documents to add to each group, and those that `start` has.
    """
    tables, twice = start.tables, start.twice
    n = n_before[:, None, None]
    for n_added in range(stop.shape[1]):
        used = int(n.max()) + 2  # n + 1 documents fill the rows and columns 0 to n + 1; beyond, all is 0
        has_document = n_added < n_listed
        part = PairTables(tables[:, has_document, :used, :used], twice[has_document, :used])
        added = _add_document(part, stop[has_document, n_added], n[has_document])
        tables[:, has_document, :used, :used] = added.tables
        twice[has_document, :used] = added.twice
        n = n + 1
    return PairTables(tables, twice)


def _add_document(part: PairTables, stop: FloatArray, n: IntArray) -> PairTables:
    """Return the tables with one document more.

    Parameters
    ----------
    part : PairTables
        Of `n` documents.
    stop : ndarray of shape (b,)
        Stop probability of the new document.
    n : ndarray of shape (b, 1, 1)
    """
    tables, twice = part.tables, part.twice
    a, b = np.arange(tables.shape[-2])[:, None], np.arange(tables.shape[-1])
    s, q = stop[:, None, None], 1 - stop[:, None, None]
    size = n + 1.0
    # Documents beside the a and b, the marked ones and the new one too where a table is not 0
    n_beside = size - (a + b)
    added = np.empty_like(tables)
    for n_marked, rows in MARKED:
        np.multiply(tables[rows], (n_beside - n_marked) / size, out=added[rows])
    added[..., 1:, :] += a[1:] * (q**2 / size) * tables[..., :-1, :]
    added[..., :, 1:] += b[1:] * (q / size) * tables[..., :, :-1]
    added[LATE] += s / size * tables[READ]
    added[EARLY] += s * q / size * tables[READ]
    added[BOTH] += s / size * tables[EARLY] + s * q / size * tables[LATE]
    # `twice` has no axis for b, which is 0: it is the first column of a table.
    s, q, size = s[..., 0], q[..., 0], size[..., 0]
    added_twice = (n_beside[..., 0] - 1) / size * twice + s**2 / size * tables[READ, ..., 0]
    added_twice[:, 1:] += a[1:, 0] / size * q**2 * twice[:, :-1]
    return PairTables(added, added_twice)


def count_alike(groups: Groups, table_size: IntArray) -> IntArray:
    """Return how many listed documents of each group can be taken together, 0 where that is not worth it.

    They are those that stop the user least, and so much alike that :func:`expand_tables` has few terms.

    Parameters
    ----------
    groups : Groups
    table_size : ndarray of shape (n_groups,)
        Cells of one table of each group.

    Returns
    -------
    ndarray of shape (n_groups,)
    """
    n_alike = np.zeros(len(table_size), np.int64)
    is_large = (table_size > DEGREE**2) & (groups.n_listed >= FEWEST_ALIKE)
    for group in np.flatnonzero(is_large).tolist():
        n_plain = int(groups.n_plain[group]) if groups.plain_stop else 0
        plain = np.full(n_plain, groups.plain_stop)
        stop = np.append(plain, np.sort(groups.stops_of(group)))
        n_taken = _count_within_deviation((1 - stop) ** 2) - n_plain
        if n_taken >= FEWEST_ALIKE:
            n_alike[group] = n_taken
    return n_alike


def _count_within_deviation(squares: FloatArray) -> int:
    """Return how many of the first values have a sum of squared relative deviations of at most MAX_DEVIATION."""
    size = np.arange(1, len(squares) + 1)
    sums = np.maximum(np.cumsum(squares), np.finfo(np.float64).tiny)
    deviation = size * (size * np.cumsum(squares**2) / sums**2 - 1)  # sum of (square / mean - 1)^2
    return int(np.flatnonzero(deviation <= MAX_DEVIATION)[-1]) + 1  # the first value by itself does not deviate


def _fill_tables_one_group(groups: Groups, group: int, shape: tuple[int, int], n_alike: int) -> PairTables:
    """Return the tables of one group, of which `n_alike` listed documents and the plain ones are taken together."""
    n_plain = int(groups.n_plain[group]) if groups.plain_stop else 0
    stop = np.sort(groups.stops_of(group))
    plain = np.full(n_plain, groups.plain_stop)
    start = expand_tables(np.append(plain, stop[:n_alike]), shape)
    rest = stop[n_alike:]
    return _add_documents(start, rest[None], np.array([len(rest)]), np.array([n_plain + n_alike]))


def expand_tables(stop: FloatArray, shape: tuple[int, int]) -> PairTables:
    r"""Return the tables of one group of documents with similar stop probabilities, without a step for each cell.

    "Documents that are alike" of section 9: with :math:`q^2 = \rho (1 + \varepsilon)` and :math:`q = \pi (1 + \eta)`,
    a table is :math:`\rho^a \pi^b \sum_{ij} c_{ij}\, (a)_i (b)_j / (n)_{i+j+\mu}`, with :math:`\mu` marked documents,
    falling factorials, and the coefficients c of :func:`_expand_product`. Numerator and denominator are divided by
    powers of n, so that they stay near 1.

    Parameters
    ----------
    stop : ndarray of shape (n,)
    shape : tuple of int
        n_early and n_late.

    Returns
    -------
    PairTables
        Of one group.
    """
    n = len(stop)
    q = 1 - stop
    mean_square, mean_q = (q**2).mean(), q.mean()
    coefficients, coefficients_twice = _expand_product(stop, q**2 / mean_square - 1, q / mean_q - 1)
    a, b, i = np.arange(shape[0]), np.arange(shape[1]), np.arange(DEGREE)
    falling_a, falling_b = _falling_over_powers(a, n), _falling_over_powers(b, n)
    powers_over_falling = _powers_over_falling(n)
    decay = np.power.outer(mean_square, a)[:, None] * np.power.outer(mean_q, b)  # rho^a pi^b
    degree = np.add.outer(i, i)
    n_chosen = np.add.outer(a, b)
    tables = np.empty((N_TABLES, 1, *shape))
    for n_marked, rows in MARKED:
        scale = powers_over_falling[degree + n_marked]
        for table in range(rows.start, rows.stop):
            scaled = coefficients[table] * scale / n**n_marked
            values = (falling_a.T @ scaled @ falling_b) * decay
            tables[table, 0] = np.where(n_chosen + n_marked <= n, np.maximum(values, 0.0), 0.0)
    twice = (coefficients_twice * powers_over_falling[i + 1] / n) @ falling_a * decay[:, 0]
    return PairTables(tables, np.where(a < n, np.maximum(twice, 0.0), 0.0)[None])


def _falling_over_powers(x: IntArray, n: int) -> FloatArray:
    """Return the falling factorials (x)_i over n^i, of shape (DEGREE, len(x))."""
    i = np.arange(DEGREE - 1)[:, None]
    factors: FloatArray = np.vstack([np.ones(len(x)), (x - i) / n])
    return np.cumprod(factors, axis=0)


def _powers_over_falling(n: int) -> FloatArray:
    """Return n^i over the falling factorials (n)_i, of shape (2 * DEGREE + 3,); 0 for i > n."""
    i = np.arange(2 * DEGREE + 2)
    factors = np.where(i < n, n / np.maximum(n - i, 1), 0.0)
    return np.append(1.0, np.cumprod(factors))


def _expand_product(
    stop: FloatArray, deviations: FloatArray, q_deviations: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""Return the coefficients of a product over documents, with and without marked ones.

    Parameters
    ----------
    stop, deviations, q_deviations : ndarray of shape (n,)
        s, :math:`\varepsilon` and :math:`\eta` of each document.

    Returns
    -------
    coefficients : ndarray of shape (4, DEGREE, DEGREE)
        Of :math:`x^i y^j` in the product of :math:`1 + \varepsilon x + \eta y`, by table.
    coefficients_twice : ndarray of shape (DEGREE,)
        The same with s^2 of a marked document, for j = 0.
    """
    coefficients, twice = np.zeros((N_TABLES, DEGREE, DEGREE)), np.zeros(DEGREE)
    coefficients[READ, 0, 0] = 1.0
    for s, deviation, q_deviation in zip(stop.tolist(), deviations.tolist(), q_deviations.tolist(), strict=True):
        q = 1 - s
        grown, grown_twice = coefficients.copy(), twice.copy()
        grown[:, 1:] += deviation * coefficients[:, :-1]
        grown[:, :, 1:] += q_deviation * coefficients[:, :, :-1]
        grown[LATE] += s * coefficients[READ]
        grown[EARLY] += s * q * coefficients[READ]
        grown[BOTH] += s * coefficients[EARLY] + s * q * coefficients[LATE]
        grown_twice[1:] += deviation * twice[:-1]
        grown_twice += s * s * coefficients[READ, :, 0]
        coefficients, twice = grown, grown_twice
    return coefficients, twice


def find_gain_moments(
    groups: Groups, index: IntArray, n_stoppers: IntArray, n_late: int, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the means over the ranks that the stoppers take.

    A walk from rank to rank. It carries a table whose columns say how many stoppers were seen above the rank. Row 0
    has the chance of each number, and row a + 1 has E[w(T_a); so many seen], the gain of stopper a in that case. Where
    c were seen, the next one is stopper c. So where it comes, column c moves into column c + 1, and its rows times w
    of the rank go to the mean of stopper c (row 0) and to its pairs with the stoppers above it (the other rows).

    Parameters
    ----------
    groups : Groups
    index : ndarray of shape (b,)
    n_stoppers : ndarray of shape (b,)
        Documents of each group that can stop the user.
    n_late : int
        How many of them are looked at.
    weights : ndarray of shape (n_ranks,)

    Returns
    -------
    mean : ndarray of shape (b, n_late)
        E[w(T_a)].
    pairs : ndarray of shape (b, n_late, n_late)
        E[w(T_a) w(T_a')] for a <= a', 0 below the diagonal.
    """
    inside, tied = groups.inside[index], groups.tied[index, None]
    # One stopper more than is looked at, so that those who saw n_late can go on like all; its values are not returned
    carried = np.zeros((len(index), n_late + 2, n_late + 2))
    carried[:, 0, 0] = 1.0
    moments = np.zeros((len(index), n_late + 2, n_late + 1))
    low, high = 0, 1  # the numbers seen from low to high - 1 are not negligible
    for place in range(int(inside.max())):
        likely = np.flatnonzero((carried[:, 0, low:high] > NEGLIGIBLE_CHANCE).any(axis=0))
        if not len(likely):
            break  # every order has more stoppers above
        low, high = low + int(likely[0]), min(low + int(likely[-1]) + 2, n_late + 1)
        n_seen = np.arange(low, high)
        stopper_on_rank = np.clip((n_stoppers[:, None] - n_seen) / np.maximum(tied - place, 1), 0.0, 1.0)
        rank = np.minimum(groups.above[index] + place, len(weights) - 1)
        w = np.where(place < inside, weights[rank], 0.0)[:, None]
        # Where high - 1 were seen, the last of them is stopper high - 2, in row high - 1: the rows below have 0
        moved = carried[:, :high, low:high] * stopper_on_rank[:, None, :]
        moments[:, :high, low:high] += moved * w[:, :, None]
        carried[:, :high, low:high] -= moved
        carried[:, :high, low + 1 : high + 1] += moved
        # The next stopper is now one of those seen, with its gain, and a pair with itself
        gain = moved[:, 0] * w
        carried[:, n_seen + 1, n_seen + 1] += gain
        moments[:, n_seen + 1, n_seen] += gain * w
    return moments[:, 0, :n_late], moments[:, 1 : n_late + 1, :n_late]
