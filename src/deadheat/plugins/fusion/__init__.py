"""Fusion: one run made of several, by ranks, by scores, or by what judgments say; exact where scores tie.

Adds the functions `deadheat.fuse` and `deadheat.tune_fusion`, the class `deadheat.TunedFusion`, the command ``fuse``,
and the figure ``tuning``.

* `fuse` reads the runs and makes the result. `pool` has the documents of all runs in arrays, with their ranks and ties.
* Methods are a class each, in `of_scores`, `of_ranks`, `condorcet` and `learned`; `base` says what a method is, and
  `norms` has the normalizations.
* `judged` has the judged documents of a pool: for methods that learn, and to score many results fast.
* `orders` says what the order of equal scores in the inputs could have done; `report` and `command` show it.
* `tuning` finds the best parameters and holds values out, `tuned` is the record, `report_of_tuning` and `figures` show
  it.

A new method is a class with `@register` in one of these files, a row in ``docs/guide/fusion.md``, and its plain
definition in ``tests/oracle/fusion.py``.
"""
