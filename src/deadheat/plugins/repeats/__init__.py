"""Repeats: several runs of one system that answers differently each time, and the noise between them.

They are given in the place of a run (`repeats.py`), by ``--repeats`` (`options.py`), or as a table with a column
``repeat``. Registered are that column, the option, the table of repeats in saved evaluations (`saved.py`), what repeats
make of pairs in comparisons (`pairs.py`), facts of reports (`report.py`), and services for `Scores` (`planning.py`). A
part of scores keeps the values of each run and widens intervals (`repeated.py`); its arithmetic is in `variances.py`.
A test that carries the noise of repeats goes into `pairs.py`; what else a plan should say, into `planning.py`.
"""
