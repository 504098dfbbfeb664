"""Ties: how many there are in a run, what they decide, and how often scores would tie if they were coarser.

Adds the commands ``ties``, ``steps`` and ``simulate``, their functions and classes in `deadheat`, `Evaluation.steps`,
and the figures of ties.

* `profile` describes the ties of a run with `levels` of its scores; `decided` and `stability` say what they decide.
* `orders` lists the orders of one ranking; `steps` shows how the value of one query comes about.
* `coarsening` makes scores coarser, `coarsening_profile` says what that costs; `rerankers` makes up runs that tie.
* `confidence` orders ties by an uncertain second score; `beside` evaluates beside a rule.
* `report`, `report_of_steps`, `report_of_simulation`, `figures`, `figure_of_coarsening` show it.

A new number of a run's ties begins in `profile.TieProfile` and gets its fact in `report`.
"""
