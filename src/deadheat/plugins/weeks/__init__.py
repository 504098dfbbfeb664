"""What changes from week to week: rankings scored again, judgments compared, a history, and what to judge next.

Adds `Evaluation.rescored`, the functions `diff_qrels`, `history` and `holes` with their classes, the commands
``rescore``, ``diff``, ``history`` and ``holes``, the option ``report --history``, and the figure of a history.

* `rescoring` scores what was kept of a ranking under other judgments; `compare`, `gate` and `history` ask for it, and
  for `lost_values` where queries that had weight 0 get another one.
* `diff` says what differs between two sets of judgments; `holes` which unjudged documents tell most.
* `history` puts saved evaluations in order of time: `steps` reads them, of files what `saved_steps` says, and `alike`
  brings them under the same weights and judgments.
* `report_diff`, `report_holes`, `report_history`, `page` and `figures` show them; `saved_commands` and
  `judgment_commands` are the command line, `options` is what they add to other commands.

A new number of a step is a field of `history.Step` and a column of `report_history`.
"""
