"""Matrices of scores: counted without a ranking, on a GPU too, whole or batch by batch, among samples, from vectors.

Adds the functions `deadheat.evaluate_dense` and `deadheat.evaluate_embeddings`, and the class `deadheat.Accumulator`,
with the files that it saves.

* `comparing` counts the scores of an array of any library that are above given ones, and equal to them.
* `counting` makes of that what an evaluation needs of a matrix; `tiles` does of vectors, whose scores are never whole.
* `lists` has the first documents of each list, which the plugin recommender profiles.
* `evaluating` evaluates what was counted; `sampled` does among sampled others, with the numbers in `hypergeometric`;
  `sampled_measure` is what it computes.
* `accumulator` does it batch by batch, and `saved_state` is its file.

A library of arrays is added in `comparing`, a similarity of vectors in `tiles.SIMILARITIES`.
"""
