"""Fusion: one run made of several, by ranks, by scores, or by what judgments say; exact where scores tie.

Adds the functions `deadheat.fuse` and `deadheat.tune_fusion`, the class `deadheat.TunedFusion`, the command ``fuse``,
and the figure ``tuning``.

* `fuse` makes the result, of a `pool` of the documents of all runs in arrays, with their ranks and ties.
* Methods are a class each, in `of_scores`, `of_ranks`, `condorcet` and `learned` (`base`); `norms` has normalizations.
* `judged` has the judged documents of a pool; `orders` draws orders of the ties of the inputs.
* `tuning` finds the best parameters and holds values out, `tuned` is the record; reports, a figure, `command`.

A new method is a class with `@register` in one of these files, a row in ``docs/guide/fusion.md``, and its plain
definition in ``tests/oracle/fusion.py``.
"""
