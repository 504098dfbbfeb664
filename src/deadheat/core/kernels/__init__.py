"""Pure NumPy kernels: the mean and the variance of each family of measures over all orders of the ties.

Arrays in, arrays out. The words are those of the placements: a *group* is one tie of one query, with `above`
documents before it, `tied` documents in it and `inside` of its ranks within the cutoff.
"""
