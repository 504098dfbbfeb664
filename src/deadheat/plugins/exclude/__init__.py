"""Excluded documents: left out of a run, and out of its judgments, before anything is counted.

Adds ``exclude=`` of `evaluate`, `compare`, `place` and `leaderboard`, the option ``--exclude``, and what saved
evaluations keep of it.

* `exclusion` reads what is to be excluded, and leaves it out of qrels and runs; its notes say how many documents.
* `rows` leaves documents out of each kind of rows: dicts, frames, rows of another engine; `reading` out of rows that
  are not read yet; `matching` finds the rows.
* `unmatched` says what may be wrong where no pair is retrieved or judged.
* `again` leaves them out of other judgments, under which a saved ranking is scored again.
* `beside` is the table of excluded pairs beside the judgments, which is saved with them.
* `options` and `conventions` have the option, and the name of an exclusion among the conventions.

Another way to name documents, beside "self" and pairs, is another branch of `Exclusion` and of `matching`.
"""
