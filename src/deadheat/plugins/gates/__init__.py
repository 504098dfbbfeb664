"""Gates: whether an evaluation reaches its thresholds, and is no worse than a baseline.

Adds the function `deadheat.gate`, the command ``gate``, and the formats ``junit`` and ``github`` of its report.

* `notation` reads gates such as ``nDCG@10 >= 0.8`` and has the presets.
* `gate` checks them; `baseline` opens the saved evaluation that a run is compared with.
* `report` shows the result, `formats` writes it for build servers, `command` is the command line.

A new kind of gate begins in `notation` (how it is written) and ends in `gate` (how it is checked).
"""
