"""Gates: whether an evaluation reaches its thresholds, and is no worse than a baseline.

Adds the function `deadheat.gate`, the command ``gate``, and the formats ``junit`` and ``github`` of its report.

* `notation` reads gates such as ``nDCG@10 >= 0.8``, has the presets, and says what a result is (`GateResult`, `Check`).
* `gate` checks them; `baseline` opens the saved evaluation that a run is compared with; `settings` has the options.
* `report` shows the result, `formats` writes it for build servers, `command` is the command line, `assertion` is for
  tests (`assert_ranking`).

A new kind of gate begins in `notation.QUANTITIES`; in `gate`, `check_family` refuses what it is not for, `_reached`
finds its value, `_limits` its best one, and `_worst` the queries behind a failure.
"""
