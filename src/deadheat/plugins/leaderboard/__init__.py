"""Leaderboards: models over many tasks, with ranks as intervals and tiers instead of 1 to N.

Adds the function `deadheat.leaderboard`, the class `deadheat.Leaderboard`, the command ``leaderboard``, and four
figures.

* `sources` reads results in any form: runs, saved evaluations (`evaluated_tasks`), tables (`tables`), result files of
  MTEB (`mteb`), as `results`; `task_labels` reads weights and groups; `scales` checks that values go together.
* `ranking` makes the board, `board` is the record and its derived numbers.
* `separation` says which models differ, at one level for all pairs; `resampling` draws queries and tasks.
* `report`, `page` and `figures` show it; `command` is the command line.

A new form of results begins in `sources.read_results`; a new number of a model is a column in `board.Leaderboard.rows`
and in `report`.
"""
