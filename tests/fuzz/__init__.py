"""A fuzzer: valid files are damaged, and what deadheat makes of them is compared with strict readers in plain Python.

``make fuzz SECONDS=60`` runs it; ``SEED=7`` makes it do the same again. A kind of file is one class in `kinds`.
"""
