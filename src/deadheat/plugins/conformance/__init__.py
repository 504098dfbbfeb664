"""Checks for authors of plugins: a measure against its definition, a format of files against what it wrote.

`check_measure` lists every order of the ties of small rankings, and compares mean, variance and extremes; it checks the
notation, the parameters and the policies as well. `check_reader` writes files, reads them again and damages them.
Both raise `CheckFailedError` with the smallest example that fails. They are names of `deadheat.api`, for the tests of
plugins, and the core asks neither: there is nothing to register.

`failure.py` has the error, `rankings.py` the rankings that are tried and their orders, `measure.py` and `reader.py` one
check each. What else should hold for every measure is a function in `measure.py`, named in `check_measure`.
"""
