"""Runs that are not held in memory: Parquet of DuckDB and Spark, rows at the workers of Spark, and very large files.

Adds the options ``--engine``, ``--spark-master`` and ``--spark-conf``, and passes over rows query by query. Without
it lazy frames of Polars and large files are held in memory, unless that is bounded. `deadheat.evaluate_spark` returns
means by group of a run in Spark, of which only sums come here.

* `options` are the options; `opening` opens the engine that a command was asked for.
* `frames` makes frames of Parquet: one function for each engine.
* `folders` reads a folder of Parquet files without ``--engine``.
* `by_query` passes over the rows of a run in Spark or in a large file, and finds placements so.
* `spark_sums` has `evaluate_spark`, `partition_sums` what a worker of Spark sends for it.
* `tables_beside_rows` puts a small table into the DuckDB of a run.

Another engine of ``--engine`` is a function in `frames` and a name in its `ENGINES`.
"""
