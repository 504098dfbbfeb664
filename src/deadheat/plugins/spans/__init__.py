"""Spans: judged passages of documents, which runs of chunks are held against, however documents are cut.

Adds `Spans`, which is given in the place of qrels, the option ``--spans`` and what goes with it, the measures
CharRecall, CharPrecision, CharIoU and CharDensity, and the table of passages beside qrels, in saved files too.

* `spans` reads spans and judges runs of chunks; `reading` finds passages in files, frames and results of libraries.
* `kind` says what is different with spans, `of_spans` which measures go with them; `rows` has the rows of passages.
* `passages` hands the offsets of chunks and spans on in placements; the measures of `coverage` look at them.
* `options` has the options of the command line, `saved` what saved evaluations keep.

A new measure of what chunks cover is a subclass of `CoverageMeasure` in `coverage.measures`; registry.py has its name.
"""
