"""Golden numbers: what some hundred calls and commands returned, kept as floats and keys.

They hold while code moves: a wall may be moved, a number may not. Nobody says here that a number is right (the oracle
in `tests/oracle` does); here it is the same as before.

The rule: an entry is renewed only in a commit that names it and the issue that asks for it.

    PYTHONPATH=$PWD/src:$PWD/tests python -m golden.renew 'intervals.of_means[t]' 'gates.*'

`calls_FEATURE.py` has the calls of a feature, plain functions registered by `@entry`; `expected/FEATURE.json` has what
they returned. To add a call, write a function, and renew its name, which is new and changes no other. A call uses
public names of `deadheat` and commands alone, so that it outlives every move of an inner module.

Texts with a space are prose and not kept; of help there is a hash. Entries that depend on random numbers, which renewal
finds out by drawing others, hold with the NumPy of constraints.txt alone, and those of help with its click.
"""
