"""Columns: many scorings of one collection, such as features, each evaluated as a run of its own.

Adds `deadheat.evaluate_columns`, the option ``--score-columns`` of the command ``evaluate``, and the format ``letor``
of files (SVMlight with query ids), which that command evaluates so without being asked.

* `tables` reads the scores of each format, `letor` its files; `score_columns` is what they return.
* `scorings` evaluates the columns, `report` lists them, the best first.
* `command` and `options` are the command line.

Another format with several scores a document is a reader in `tables`.
"""
