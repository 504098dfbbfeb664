"""Judges: labels of others than the people whose labels count, such as a language model.

Adds `judge_agreement`, `JudgeAgreement` and `read_judgments`, the command ``judges`` and its figures, ``judge=`` of
evaluate() and compare(), and the options ``--judge`` and ``--grades``.

* `judge_agreement` says how far judges agree with people: `label_agreement` of one judge, by `label_statistics`, each
  an `estimate` with its interval (`shares`); `conclusions` is what follows for systems. `report` (with
  `report_of_conclusions`), `page`, `figures` and `command` show it. A new statistic is a function in
  `label_statistics` and a line in `label_agreement.STATISTICS`.
* `labels` are what judge= takes. `by_labels` and `predicted` estimate means with them, `differences` those of pairs, by
  `prediction`; `sampling` doubts that the labelled queries are a sample. `report_of_means` and `report_of_differences`
  show that, with `columns` and `samples`.
* `answers` reads what judges wrote, and keeps `failures`, the answers that are no grade; `files` and both modules of
  options are the command line.
"""
