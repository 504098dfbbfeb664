"""Recommenders: which items their lists show, how popular these are, and how exposure is shared.

Adds the functions `deadheat.item_profile`, `deadheat.popularity` and `deadheat.exposure`, the classes
`deadheat.ItemProfile` and `deadheat.Exposure`, what `Evaluation.item_profile` does, and the command ``items``.

* `item_profile` counts the items of the top k: coverage, concentration, popularity, tail and novelty.
* `popularity` counts the users of items, and reads the popularity that somebody has; `concentration` has the Gini
  coefficient and the entropy.
* `exposure` is the attention that ranks give to items and to groups of them, which `groups` reads.
* `report` shows both; `command` is the command line.

A new number of a list begins in `item_profile`: its name in OF_QUERIES, its value of an item in `_values`, its
explanation in `report.MEANINGS`.
"""
