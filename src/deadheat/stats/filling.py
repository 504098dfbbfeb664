"""What a judge's grades mean in human ones, and human grades drawn for documents that the judge alone has labelled."""

import numpy as np

from deadheat.arrays import FloatArray, IntArray

CONCENTRATIONS = 2.0 ** np.arange(11)
OF_BAND = 0.25  # documents with which a band leans on what the grade means over all bands


def meanings(table: FloatArray) -> FloatArray:
    """Return the distribution of human levels of each grade of a judge in each band.

    A grade has one document more, spread as levels are over all: one that was never doubly labelled means any level.

    Parameters
    ----------
    table : ndarray of shape (n_grades, n_bands, n_levels)
        Documents that both labelled.

    Examples
    --------
    >>> meanings(np.array([[[2.0, 1.0]], [[0.0, 0.0]]])).round(3).tolist()
    [[[0.667, 0.333]], [[0.667, 0.333]]]
    """
    over_all = table.sum((0, 1)) / table.sum()
    of_grade = table.sum(1, keepdims=True) + over_all
    found: FloatArray = table + OF_BAND * of_grade / of_grade.sum(-1, keepdims=True)
    return found / found.sum(-1, keepdims=True)


def concentration_of(counts: FloatArray) -> float:
    """Return how alike queries are in what a judge's grades mean, one of `CONCENTRATIONS`; the highest: no difference.

    By maximum likelihood of a Dirichlet-multinomial distribution of levels in each query, around that of all.

    Parameters
    ----------
    counts : ndarray of shape (n_queries, n_grades, n_bands, n_levels)
        Documents that both labelled.

    Examples
    --------
    >>> apart, alike = np.array([[[[9.0, 0.0]]], [[[0.0, 9.0]]]]), np.full((4, 1, 1, 2), 5.0)
    >>> concentration_of(apart), concentration_of(alike)
    (1.0, 1024.0)
    """
    from scipy import special

    whole, totals = CONCENTRATIONS, counts.sum(-1)
    meant = meanings(counts.sum(0))
    likelihood = [
        (special.gammaln(one * meant + counts) - special.gammaln(one * meant)).sum()
        + (special.gammaln(one) - special.gammaln(one + totals)).sum()
        for one in whole
    ]
    return float(whole[np.argmax(likelihood)])


def drawn_levels(
    counts: FloatArray, cells: tuple[IntArray, ...], concentration: float, rng: np.random.Generator
) -> IntArray:
    """Draw a human level for each document that a judge alone has labelled.

    What grades mean is estimated from queries drawn with replacement; what they mean in a query differs from it as the
    concentration says, given the documents of the query that both labelled.

    Parameters
    ----------
    counts : ndarray of shape (n_queries, n_grades, n_bands, n_levels)
        Documents that both labelled.
    cells : tuple of three ndarrays of int, shape (n_documents,)
        Query, grade and band of each.
    concentration : float
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int, shape (n_documents,)
        Indices of levels.
    """
    known = np.flatnonzero(counts.any((1, 2, 3)))
    meant = meanings(counts[rng.choice(known, len(known))].sum(0))
    weights = rng.standard_gamma(concentration * meant + counts)
    shares = weights.cumsum(-1)[cells]
    return np.asarray((rng.random((len(shares), 1)) * shares[:, -1:] >= shares[:, :-1]).sum(1))
