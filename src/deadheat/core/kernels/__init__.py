"""Pure NumPy kernels: the mean and the variance of each family of measures over all orders of the ties.

Arrays in, arrays out. docs/math.md derives the formulas; each file names its section. A *group*, or tie, is the
documents of one query with the same score, with `above` documents before it, `tied` documents in it and `inside` of its
ranks within the cutoff. Groups of similar size are rows of one matrix, a batch: arrays of the shape (b, w) have a row
for each of its b groups, those of the shape (b,) a number.
"""
