"""Pure NumPy kernels: the mean and the variance of each family of measures over all orders of the ties.

Arrays in, arrays out. docs/math.md derives the formulas; each file names its section. A *group* is one tie of one
query, with `above` documents before it, `tied` documents in it and `inside` of its ranks within the cutoff. Groups of
similar size are rows of one matrix, a batch: its arrays have the shape (b, w), or (b,) with a number a group.
"""
