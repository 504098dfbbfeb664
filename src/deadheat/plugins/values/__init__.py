"""Values: what other tools computed of each query, in the place of an evaluation, to compare, gate and follow.

* `table` is what all readers return: a value of a measure for a query in each row, and what was printed of all queries.
* `forms` knows files with values by their first bytes. `lines` reads what trec_eval -q and ir_measures -q print,
  `tables` CSV, TSV, JSON, Parquet, dicts and frames; `reading` chooses.
* `names` finds the measure of deadheat that a name of another tool stands for.
* `checks` holds the rows of all queries against the means of the single ones.
* `evaluations` makes an `Evaluation` of a table: `measure` has its measures, `origin` what stands for its judgments.
* `sources` is what the core asks; `saved` says what saved evaluations keep.

The output of another tool is a function that returns a `ValueTable`; `forms` has the order in which forms are tried.
"""
