"""Judges: labels of others than the people whose labels count, such as a language model.

Adds `deadheat.judge_agreement` and `deadheat.JudgeAgreement`, the command ``judges`` and three figures.

* `judge_agreement` says how far judges agree with people: `label_agreement` of one judge, by `label_statistics`, each
  an `estimate` with its interval (of `shares` Gaffke's bounds); `conclusions` is what follows for systems.
* `report`, `page` and `figures` show it, `command` is the command line.

A new statistic of labels is a function in `label_statistics` and a line in `label_agreement.STATISTICS`.
"""
