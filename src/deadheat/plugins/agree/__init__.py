"""Agreement: how far two rankings agree without judgments, or two orders of the same systems.

Adds the functions `deadheat.agree` and `deadheat.agree_systems`, the class `deadheat.Agreement`, and the command
``agree``.

* `rankings` compares two runs query by query; `agreement` and `overlap` of `deadheat.core.kernels` have the formulas.
* `systems` compares the order of systems in two sets of saved evaluations.
* `report` shows rankings (`deadheat.plugins.compare.report_orders` shows orders); `command` is the command line.

A new statistic of two rankings begins in the kernel, gets its name in `rankings.KINDS`, its value in
`rankings._of_query`, and its explanation in `report.TEXTS`.
"""
