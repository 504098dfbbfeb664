"""Figures: each a function that returns an Altair chart, drawn beside a report, in a page, or by hand.

Adds the options ``--figures`` and kin. People import `deadheat.figures`, which is the module `figures` here.

* `registration` has the figures by their names, `style` and `texts` how they look and speak, `systems` what they show.
* `draw_rows`, `draw_lines` and `draw_pairs` have a figure in each function; other features have theirs
  in a file of their own, which the registry lists: it is imported when figures are drawn, and may import this plugin.
* `choice` says which are drawn by default, `companion`, `options` and `files` draw those of a command into files.
* `saving` makes files of charts, by the process that `painter` starts and `painter_process` is.

A figure is a function with `@figure` in one of these files.
"""
