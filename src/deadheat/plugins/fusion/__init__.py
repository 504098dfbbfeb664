"""Fusion: one run made of several, by ranks, by scores, or by what judgments say; exact where scores tie.

Adds the functions `deadheat.fuse` and the command ``fuse``.

* `fuse` reads the runs and makes the result. `pool` has the documents of all runs in arrays, with their ranks and ties.
* Methods are a class each, in `of_scores`, `of_ranks`, `condorcet` and `learned`; `base` says what a method is, and
  `norms` has the normalizations.
* `judged` has the judged documents of a pool: for methods that learn, and to score many results fast.
* `orders` says what the order of equal scores in the inputs could have done; `report` and `command` show it.

A new method is a class with `@register` in one of these files, a row in ``docs/guide/fusion.md``, and its plain
definition in ``tests/plugins/fusion/by_hand.py``.
"""
