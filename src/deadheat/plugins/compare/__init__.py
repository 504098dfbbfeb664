"""The plugin compare: who is better, whether by more than chance, and whether the order of ties can reverse it.

It registers the command ``compare``, its reports, and the figures of pairs and ranks.

The way of a comparison: `compare.py` reads and evaluates, `comparison.py` is the result; of all pairs of systems
`pairs.py` and `stack.py` make differences, `testing.py` and `least_p.py` p values, `margins.py` equivalence, `flips.py`
and `orders.py` what ties can reverse; parts of other features (`pair_parts.py`) change them before they are corrected.
`deciding.py` says who leads, `verdict.py` is the record of it, and `verdict_facts.py` its words. `report.py` shows the
result, `report_tests.py` says how it was tested and `report_flips.py` what ties can reverse. `report_compact.py` makes
one table of it, with the marks of `report_marks.py`, and `report_tables.py` shows what is asked for beside it. A test
of significance is added in `testing.py`; what is compared beside systems in `companions.py`.
"""
